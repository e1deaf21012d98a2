"""Element-wise operations on matrices through compiled kernels (merging.py): union, intersection, mask."""

from grb_tile.operators import get_typed_op
from grb_tile.planner import tuning
from grb_tile.storage.store import Compressed, same_structure

from ..jit import cache as jit
from ..vectorised.elementwise import (
    _iso_union,
    combine,
    intersect as intersect_in_numpy,
    restrict as restrict_in_numpy,
    union as union_in_numpy,
)
from .merging import Merge, merge_matrices


def _suits(*stores):
    """Have all stores values of a built-in type?"""
    for store in stores:
        if store.values.dtype.names is not None:
            return False
    return True


def _is_looked_up(A, B, mask):
    """Are the entries of the mask looked up in both operands at once?  Operands of one structure need one look-up."""
    if mask is None or mask.complement or not (mask.pattern.nvals and A.nvals and B.nvals):
        return False
    return not same_structure(A, B)


def union(A, B, op, mask=None, left_default=None, right_default=None, dtype=None):
    """C[i,j] = A[i,j] (op) B[i,j] where both are present; see backends/protocol.py."""
    if dtype is None:
        dtype = A.dtype if op is None else op.return_type
    if not _suits(A, B) or op is not None and op.positional or (left_default is None) != (right_default is None):
        return NotImplemented
    if op is None:
        op, left_default, right_default = get_typed_op("second", dtype, kind="binary"), None, None
    if mask is not None:
        if _is_looked_up(A, B, mask):
            result = merge_matrices(A, B, _union(A, B, op, left_default, right_default, dtype), mask.pattern)
            if result is not NotImplemented:
                return result
        if mask.complement or mask.pattern.nvals * tuning.UNION_MASK > A.nvals + B.nvals:
            return within(union(A, B, op, None, left_default, right_default, dtype), mask)  # one restriction, not two
        A, B = within(A, mask), within(B, mask)
    if A.nvals and B.nvals and not same_structure(A, B):
        result = merge_matrices(A, B, _union(A, B, op, left_default, right_default, dtype))
        if result is not NotImplemented:
            return result
    return jit.in_numpy(union_in_numpy, A, B, op, None, left_default, right_default, dtype)


def intersect(A, B, op, mask=None):
    """C[i,j] = A[i,j] (op) B[i,j] where both are present."""
    if op.positional or not _suits(A, B):
        return NotImplemented
    if mask is not None:
        looked_up = _is_looked_up(A, B, mask)
        result = merge_matrices(A, B, _intersection(A, B, op), mask.pattern) if looked_up else NotImplemented
        return intersect(within(A, mask), B, op) if result is NotImplemented else result
    if A.nvals == 0 or B.nvals == 0 or same_structure(A, B):
        return jit.in_numpy(intersect_in_numpy, A, B, op)
    result = merge_matrices(A, B, _intersection(A, B, op))
    return jit.in_numpy(intersect_in_numpy, A, B, op) if result is NotImplemented else result


def _union(A, B, op, left_default, right_default, dtype):
    one = _iso_union(A, B, op, dtype, left_default, right_default, True)
    return Merge.of(op, "union", dtype, one, left_default, right_default)


def _intersection(A, B, op):
    reads_a, reads_b = op.kind not in ("pair", "second", "any"), op.kind not in ("pair", "first")
    one = None
    if (A.iso or not reads_a) and (B.iso or not reads_b):
        one = combine(op, op.return_type, A, None, B, None, None)[0]
    return Merge(op, "meet", op.return_type, one)


def restrict(A, mask):
    """C[i,j] = A[i,j] where the mask `mask` admits (i,j)."""
    pattern = mask.pattern
    if A.nvals == 0 or pattern.nvals == 0 or same_structure(A, pattern) or not _suits(A):
        return NotImplemented
    lone = Compressed(A.nrows, A.ncols, A.dtype, pattern.indptr, pattern.indices, A.values[:1], True, pattern.rows)
    op = get_typed_op("first", A.dtype, kind="binary")
    mode = "difference" if mask.complement else "meet"
    return merge_matrices(A, lone, Merge(op, mode, A.dtype, A.values[:1] if A.iso else None))


def within(A, mask):
    """`A` inside the mask."""
    found = restrict(A, mask)
    return jit.in_numpy(restrict_in_numpy, A, mask) if found is NotImplemented else found
