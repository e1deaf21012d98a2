"""Products over a semiring: mxm, mxv, vxm, inner, outer.

Spec: GraphBLAS C API 2.1, sections 4.3.1 to 4.3.3.
"""

from ..backends.select import current
from ..storage.constructors import column_matrix, row_matrix
from . import checks
from .record import Record


def matvec(A, transposed, u, semiring, mask, reuse=None):
    """w = E (+.x) u, where E is A or its transpose: backends/planned.py."""
    return current().mxv(A, transposed, u, semiring, mask, reuse)


def matmul(A, at, B, bt, semiring, mask, keep=None):
    """C = A (+.x) B over stores, each transposed first if its flag is set: backends/planned.py."""
    return current().mxm(A, at, B, bt, semiring, mask, keep)


def reduced(C, ct, monoid, axis, mask=None):
    """(+)_ij C(i, j), or over axis 1 (each row) or 0 (each column) of C, which is transposed first if `ct`."""
    return current().reduced(C, ct, monoid, axis, mask)


class MxM(Record):
    """C = A (+.x) B.  used: has a chain (product_chains.py) begun with this record?"""

    __slots__ = ("A", "B", "at", "bt", "used")
    name = "mxm"
    c_name = "GrB_mxm"

    def __init__(self, A, B, op, at=False, bt=False):
        left, right = checks.oriented(A.shape, at), checks.oriented(B.shape, bt)
        checks.inner_sizes("mxm", "A", left, "B", right)
        self.A, self.B, self.op, self.at, self.bt = A, B, op, at, bt
        self.used = False
        self.shape = (left[0], right[1])
        self.dtype = op.return_type

    def compute(self, mask=None):
        return matmul(self.A._store, self.at, self.B._store, self.bt, self.op, mask)

    def operands(self):
        return ((self.A, self.at), (self.B, self.bt))


class MxV(Record):
    """w = A (+.x) u."""

    __slots__ = ("A", "u", "at", "reuse")
    name = "mxv"
    c_name = "GrB_mxv"

    def __init__(self, A, u, op, at=False, reuse=None):
        nrows, ncols = A.shape
        if at:
            nrows, ncols = ncols, nrows
        if ncols != u.shape[0]:
            checks.inner_sizes("mxv", "A", (nrows, ncols), "u", u.shape)
        if reuse is not None:
            checks.reused("mxv", u, reuse)
        self.reuse = reuse
        self.A = A
        self.u = u
        self.op = op
        self.at = at
        self.shape = (nrows,)
        self.dtype = op.return_type

    def compute(self, mask=None):
        reuse = None if self.reuse is None else self.reuse._store
        return current().mxv(self.A._store, self.at, self.u._store, self.op, mask, reuse)

    def operands(self):
        return ((self.A, self.at), (self.u, False))


class VxM(Record):
    """w' = u' (+.x) A, computed as w = A' u with the operands (and positions) of the multiply swapped."""

    __slots__ = ("u", "A", "at", "reuse")
    name = "vxm"
    c_name = "GrB_vxm"

    def __init__(self, u, A, op, at=False, reuse=None):
        nrows, ncols = A.shape
        if at:
            nrows, ncols = ncols, nrows
        if nrows != u.shape[0]:
            checks.inner_sizes("vxm", "u", u.shape, "A", (nrows, ncols))
        if reuse is not None:
            checks.reused("vxm", u, reuse)
        self.reuse = reuse
        self.u = u
        self.A = A
        self.op = op
        self.at = at
        self.shape = (ncols,)
        self.dtype = op.return_type

    def compute(self, mask=None):
        reuse = None if self.reuse is None else self.reuse._store
        op = self.op._flipped or self.op.flip()
        return current().mxv(self.A._store, not self.at, self.u._store, op, mask, reuse)

    def operands(self):
        return ((self.u, False), (self.A, self.at))


class Inner(Record):
    """s = u' (+.x) v; empty when no position is present in both."""

    __slots__ = ("u", "v")
    name = "inner"
    c_name = "GrB_vxm"

    def __init__(self, u, v, op):
        if u.shape != v.shape:
            checks.inner_sizes("inner", "u", u.shape, "v", v.shape)
        self.u, self.v, self.op = u, v, op
        self.shape = ()
        self.dtype = op.return_type

    def compute(self, mask=None):
        return current().inner(self.u._store, self.v._store, self.op)

    def operands(self):
        return ((self.u, False), (self.v, False))

    def notation(self, out="C", mask="NULL", accum="NULL", flags=""):
        """C has no inner product of vectors: it is vxm with a vector of size 1 and a matrix of one column."""
        names = [x.name or "temp" for x in (self.u, self.v)]
        op = getattr(self.op, "gb_name", None) or repr(self.op)
        return f"GrB_vxm((GrB_Vector){out}, {mask}, {accum}, {op}, {names[0]}, (GrB_Matrix){names[1]}, NULL);"


class Outer(Record):
    """C(i, j) = op(u(i), v(j))."""

    __slots__ = ("u", "v")
    name = "outer"
    c_name = "GrB_mxm"

    def __init__(self, u, v, op):
        self.u, self.v, self.op = u, v, op
        self.shape = (u.shape[0], v.shape[0])
        self.dtype = op.return_type

    def compute(self, mask=None):
        backend, u, v = current(), self.u._store, self.v._store
        if mask is not None and not mask.complement and self.op.positional is None:  # the cost follows the mask
            left = backend.broadcast(u, mask.pattern, 0)
            return backend.intersect(left, backend.broadcast(v, left, 1), self.op)
        return backend.kronecker(column_matrix(u), row_matrix(v), self.op, mask)

    def operands(self):
        return ((self.u, False), (self.v, False))
