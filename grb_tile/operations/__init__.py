"""The operations of the specification: records that compute, and the write step.

Builders check shapes and return a record (see record.py); `write` computes it into an output under mask, accumulator
and replace; `assign` does the same for the indexed forms.  Operators are typed.
"""

from .elementwise import EWiseAdd, EWiseMult, EWiseUnion
from .indexing import EMPTY, Extract, assign, fill
from .mapping import Apply, ApplyBind, ApplyIndex, Select
from .multiply import Inner, MxM, MxV, Outer, VxM
from .product_chains import SelectedProduct, chained
from .record import Record
from .reduction import ReduceRows, ReduceScalar
from .shaping import (
    Copy,
    Kronecker,
    Transpose,
    concat_matrices,
    concat_vectors,
    diagonal,
    diagonal_matrix,
    resize_matrix,
    resize_vector,
    shift_matrix,
    shift_vector,
    split_matrix,
    split_vector,
)
from .write import (
    PLAIN,
    Descriptor,
    accumulate_chains,
    accumulate_scalar,
    compute,
    finish,
    replace_entries,
    stored_mask,
    write,
)
from .written_region import can_keep_changes, part_of_assign, part_of_write

__all__ = [
    "EMPTY",
    "PLAIN",
    "Descriptor",
    "MxM",
    "Record",
    "SelectedProduct",
    "accumulate_chains",
    "accumulate_scalar",
    "stored_mask",
    "apply",
    "apply_bind",
    "apply_index",
    "assign",
    "can_keep_changes",
    "chained",
    "compute",
    "concat_matrices",
    "concat_vectors",
    "copy",
    "diagonal",
    "diagonal_matrix",
    "ewise_add",
    "ewise_mult",
    "ewise_union",
    "extract",
    "fill",
    "finish",
    "inner",
    "kronecker",
    "mxm",
    "mxv",
    "outer",
    "part_of_assign",
    "part_of_write",
    "reduce_rows",
    "reduce_scalar",
    "replace_entries",
    "resize_matrix",
    "resize_vector",
    "select",
    "shift_matrix",
    "shift_vector",
    "split_matrix",
    "split_vector",
    "transpose",
    "vxm",
    "write",
]


def mxm(A, B, op, at=False, bt=False):
    """Record of C = A (+.x) B; `at`, `bt` transpose the operands."""
    return MxM(A, B, op, at, bt)


def mxv(A, u, op, at=False, reuse=None):
    """Record of w = A (+.x) u; `reuse` may take u's place row-wise (multiply.matvec)."""
    return MxV(A, u, op, at, reuse)


def vxm(u, A, op, at=False, reuse=None):
    """Record of w' = u' (+.x) A; `reuse` as for mxv."""
    return VxM(u, A, op, at, reuse)


def inner(u, v, op):
    """Record of s = u' (+.x) v."""
    return Inner(u, v, op)


def outer(u, v, op):
    """Record of C(i, j) = op(u(i), v(j))."""
    return Outer(u, v, op)


def ewise_add(x, y, op, xt=False, yt=False):
    """Record of the union of x and y by op."""
    return EWiseAdd(x, y, op, xt, yt)


def ewise_mult(x, y, op, xt=False, yt=False):
    """Record of the intersection of x and y by op."""
    return EWiseMult(x, y, op, xt, yt)


def ewise_union(x, y, op, left_default, right_default, xt=False, yt=False):
    """Record of the union of x and y by op, with defaults for the missing operand."""
    return EWiseUnion(x, y, op, left_default, right_default, xt, yt)


def apply(x, op, xt=False):
    """Record of op at every entry."""
    return Apply(x, op, xt)


def apply_bind(x, op, left=None, right=None, xt=False):
    """Record of op(left, x) or op(x, right) at every entry; exactly one side is given, as a NumPy scalar."""
    return ApplyBind(x, op, left, right, xt)


def apply_index(x, op, thunk, xt=False):
    """Record of op(x(i, j), i, j, thunk) at every entry."""
    return ApplyIndex(x, op, thunk, xt)


def select(x, op, thunk, xt=False):
    """Record of the entries where op(x(i, j), i, j, thunk) is true."""
    return Select(x, op, thunk, xt)


def reduce_rows(A, monoid, at=False):
    """Record of w(i) = (+)_j A(i, j)."""
    return ReduceRows(A, monoid, at)


def reduce_scalar(x, monoid):
    """Record of the monoid over all entries."""
    return ReduceScalar(x, monoid)


def extract(x, I, J=None, xt=False):
    """Record of x(I, J)."""
    return Extract(x, I, J, xt)


def transpose(A, at=False):
    """Record of A' (of A when `at`)."""
    return Transpose(A, at)


def copy(x):
    """Record of x itself."""
    return Copy(x)


def kronecker(A, B, op, at=False, bt=False):
    """Record of the Kronecker product."""
    return Kronecker(A, B, op, at, bt)
