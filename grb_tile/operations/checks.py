"""One function per shape rule.  Each raises before anything is computed, and names argument, shape and remedy."""

from ..exceptions import DimensionMismatch, InvalidValue


def oriented(shape, transposed):
    return (shape[1], shape[0]) if transposed else shape


def _text(shape):
    return " x ".join(str(n) for n in shape)


def same_shape(call, left, right):
    """Element-wise operands and a result have one shape."""
    if left != right:
        raise DimensionMismatch(
            f"{call}: the operands have different shapes, {_text(left)} and {_text(right)}; resize one of them, or "
            "extract the part that matches"
        )


def size_limit(call, shape):
    """No dimension of a result exceeds 2^60 (GrB_INDEX_MAX + 1)."""
    if max(shape) > 2**60:
        raise InvalidValue(f"{call}: the result would be {_text(shape)}; a dimension is at most 2^60 (gb.MAX_SIZE)")


def inner_sizes(call, left_name, left, right_name, right):
    """The last dimension of the left factor equals the first dimension of the right one."""
    if left[-1] != right[0]:
        raise DimensionMismatch(
            f"{call}: {left_name} is {_text(left)} and {right_name} is {_text(right)}; the inner dimensions "
            f"{left[-1]} and {right[0]} must be equal (transpose with .T or resize an operand)"
        )


def reused(call, u, reuse):
    """A vector that may take u's place has its size."""
    if reuse.shape != u.shape:
        raise DimensionMismatch(
            f"{call}: reuse has size {_text(reuse.shape)} and the vector {_text(u.shape)}; give one of the same size"
        )


def output_shape(call, out, shape):
    """The output has the shape of the result."""
    if out != shape:
        raise DimensionMismatch(
            f"{call}: the output has shape {_text(out)} but the result has shape {_text(shape)}; create the output "
            "with that shape, or resize it"
        )


def mask_shape(call, mask, shape):
    """A mask has the shape of the output (subassign: of the region)."""
    if mask != shape:
        raise DimensionMismatch(
            f"{call}: the mask has shape {_text(mask)} but must have the shape {_text(shape)} of what it controls"
        )


def region_shape(call, value, region):
    """An assigned value has the shape of the region."""
    if value != region:
        raise DimensionMismatch(
            f"{call}: the value has shape {_text(value)} but the indexed region has shape {_text(region)}"
        )


def symmetric(call, is_symmetric):
    """A loop found that a graph declared symmetric is not."""
    if not is_symmetric:
        raise InvalidValue(
            f"{call}: A has entries A(i, j) without A(j, i), but was promised to be symmetric; call G.forget() after "
            "changing the matrix of a Graph, and give Graph.of_symmetric symmetric matrices alone (A | A.T makes one)"
        )
