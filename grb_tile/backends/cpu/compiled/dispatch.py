"""Compiled forms of primitives that choose among modules, and their plans: a store, or NotImplemented (NumPy runs).

NotImplemented means: no kernel for this operator, type or form; or none compiled yet and the work is too small to pay
for it (jit/cache.py).  Meanings of the primitives: backends/protocol.py.
"""

from ....planner.record import UNRECORDED
from ....storage.convert import keep_transpose
from . import (
    binned,
    elementwise as accelerate_rows,
    hypersparse,
    matmul as accelerate_matmul,
    matvec as accelerate_matvec,
    selection,
    transpose_and_merge,
)


def _record(plan, result):
    """Record in the plan which engine does the work; returns `result`."""
    if plan is not None:
        plan.engine = "numpy" if result is NotImplemented else "numba"
    return result


def matvec_rows(A, x, semiring, mask=None, plan=None):
    """w<mask>[i] = (+)_k A[i,k] (x) x[k], A by rows."""
    w = binned.matvec_rows(A, x, semiring, mask, UNRECORDED if plan is None else plan)
    return _record(plan, accelerate_matvec.matvec_rows(A, x, semiring, mask) if w is NotImplemented else w)


def matvec_cols(AT, x, semiring, mask=None, plan=None):
    """w<mask>[i] = (+)_k A[i,k] (x) x[k], A given by columns."""
    return _record(plan, accelerate_matvec.matvec_cols(AT, x, semiring, mask))


def matmul(A, B, semiring, mask=None, plan=None, BT=None, chain=None):
    """C<mask>[i,j] = (+)_k A[i,k] (x) B[k,j], or its chain's result; plan.method is "dot" or "gustavson"."""
    if A.rows is not None or (BT if B is None else B).rows is not None:
        plain = mask is None and chain is None and A.indices.shape[0] and (BT if B is None else B).indices.shape[0]
        return _record(plan, hypersparse.matmul(A, B, semiring, BT) if plain else NotImplemented)
    return _record(plan, accelerate_matmul.matmul(A, B, semiring, mask, plan, BT, chain))


_KERNELS = {
    "matvec_rows": accelerate_matvec.rows_kernel,
    "matvec_cols": accelerate_matvec.cols_kernel,
    "matmul": accelerate_matmul.kernel_of,
    "transpose": transpose_and_merge.transpose_kernel,
}


def ready(primitive, *operands, **options):
    """Is a compiled kernel ready for this primitive?  None: there is none.  Compiles nothing and counts nothing."""
    kernel = _KERNELS[primitive](*operands, **options)
    return None if kernel is None else kernel.is_ready()


def count_saving(seconds, primitive, *operands):
    """Add to the break-even counter of the kernel of this primitive."""
    kernel = _KERNELS[primitive](*operands)
    if kernel is not None:
        kernel.count(seconds)


def transpose(A):
    """T[j,i] = A[i,j], kept with A."""
    result = transpose_and_merge.transpose(A)
    return result if result is NotImplemented else keep_transpose(A, result)


_MATRICES = ("csr", "dcsr")


def union(x, y, op, mask=None, left_default=None, right_default=None, dtype=None):
    """t[p] = x[p] (op) y[p] where both are present, the one entry where only one is; op None: y's entry wins."""
    module = accelerate_rows if x.format in _MATRICES else transpose_and_merge
    return module.union(x, y, op, mask, left_default, right_default, dtype)


def intersect(x, y, op, mask=None):
    """t[p] = x[p] (op) y[p] where both are present."""
    return (accelerate_rows if x.format in _MATRICES else transpose_and_merge).intersect(x, y, op, mask)


def restrict(x, mask):
    """t[p] = x[p] where p is in mask; matrices only."""
    return accelerate_rows.restrict(x, mask) if x.format in _MATRICES else NotImplemented


def select(x, op, thunk):
    """t[p] = x[p] where the operator keeps it; matrices only."""
    return selection.select(x, op, thunk) if x.format in _MATRICES and x.nvals else NotImplemented
