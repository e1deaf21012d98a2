"""Products over a semiring: mxm, mxv, vxm, inner, outer.

Spec: GraphBLAS C API 2.1, sections 4.3.1 to 4.3.3.
"""

from time import perf_counter

from ..backends.select import current
from ..operators import typed_semiring
from ..planner import choose_matmul, choose_matvec, forced, record_plan
from ..storage.constructors import column_matrix, full_vector, row_matrix
from ..storage.convert import cached_transpose
from ..storage.dense import by_rows, compressed
from ..storage.store import Dense
from . import checks
from .record import Record


def matvec(A, transposed, u, semiring, mask, reuse=None):
    """w = E (+.x) u, where E is A or its transpose; the planner chooses the method.

    rows: row-wise (dot, pull), one dot product for each row that `mask` admits; needs E by rows.
    cols: column-wise (saxpy, push), the columns of E at u's entries; needs E's transpose by rows.
    reuse: a vector that replaces u row-wise; the caller guarantees that w is the same (operand reuse,
    push_pull_graphblas_icpp18, section 5.4).
    """
    if type(A) is Dense:
        w = _dense_matvec(A, transposed, u if reuse is None else reuse, semiring, mask)
        if w is not NotImplemented:
            return w
    backend = current()
    A, u, mask = backend.operands_to_device(A if type(A) is not Dense else by_rows(A), u, mask)
    plan = choose_matvec(A, transposed, u, mask, semiring, backend)
    if (plan.method == "rows") == transposed:  # the rows of the transpose are wanted
        A = cached_transpose(A) or backend.transpose(A)
    if plan.method == "rows":
        if reuse is not None:
            u = backend.to_device(reuse)
        w = backend.matvec_rows(A, u, semiring, mask, plan)
    else:
        w = backend.matvec_cols(A, u, semiring, mask, plan)
    plan.done(backend)
    return w


def matmul(A, at, B, bt, semiring, mask, keep=None):
    """C = A (+.x) B over stores, each transposed first if its flag is set; the planner chooses dot or Gustavson.

    keep: (select operator, thunk) of the entries of C that are wanted, or None for all.
    """
    if type(A) is Dense or type(B) is Dense:
        C = _dense_product(A, at, B, bt, semiring, mask)
        if C is not None:
            return C if keep is None else current().select(C, *keep)
    backend, C = current(), _inner_product(A, at, B, bt, semiring, mask)
    if C is not None:
        return C if keep is None else backend.select(C, *keep)
    left, right, BT, mask, plan = _planned(A, at, B, bt, semiring, mask)
    C = backend.matmul(left, right, semiring, mask, plan, BT, keep)
    plan.done(backend)
    return C


def reduce_matmul(A, at, B, bt, semiring, mask, keep, monoid, axis):
    """The C of `matmul`, reduced: (+)_ij C(i, j), None where C is empty; or over axis 1 (each row) or 0 (each column).

    C is not formed where the backend reduces it directly.
    """
    if type(A) is Dense or type(B) is Dense:
        C = _dense_product(A, at, B, bt, semiring, mask)
        if C is not None:
            return reduced(C if keep is None else current().select(C, *keep), False, monoid, axis)
    backend, C = current(), _inner_product(A, at, B, bt, semiring, mask)
    if C is not None:
        return reduced(C if keep is None else backend.select(C, *keep), False, monoid, axis)
    left, right, BT, mask, plan = _planned(A, at, B, bt, semiring, mask)
    result = backend.reduce_matmul(left, right, semiring, monoid, axis, mask, plan, BT, keep)
    plan.done(backend)
    return result


def reduced(C, ct, monoid, axis, mask=None):
    """(+)_ij C(i, j), or over axis 1 (each row) or 0 (each column) of C, which is transposed first if `ct`."""
    if axis is None:
        return current().reduce(C, monoid)
    by_columns = (axis == 0) != ct
    if type(C) is Dense:
        w = current().reduce_lines(C, monoid, 0 if by_columns else 1)
        if w is not NotImplemented:
            return w if mask is None else current().restrict(w, mask)
    ones = full_vector(C.nrows if by_columns else C.ncols, monoid.type, 1)
    return matvec(C, by_columns, ones, typed_semiring(monoid, "first"), mask)


def _dense_product(A, at, B, bt, semiring, mask):
    """The product where an operand is dense, or None where its CSR serves as well or a method is forced."""
    if forced().product is not None:
        return None
    start, backend = perf_counter(), current()
    A = backend.transpose(A) if at else A
    B = backend.transpose(B) if bt else B
    notes: list = []
    found = backend.dense_product(A, B, semiring, mask, notes)
    if found is None:
        return None
    C, method = found
    rule, figure = {
        "sddmm": ("dense_at_mask", C.nvals_if_read),
        "spmm": ("dense_operand", B.ncols if type(B) is Dense else A.nrows),
        "dense": ("dense_product", C.nrows * C.ncols),
    }[method]
    plan = record_plan("matmul", method, C.format, rule, (figure,))
    if notes:
        plan.use_precision(notes[-1])
    plan.done(backend)
    plan.seconds = perf_counter() - start
    return C


def _inner_product(A, at, B, bt, semiring, mask):
    """The product by windows of inner indices, where C has no mask and few rows and columns; else None."""
    if mask is not None or type(A) is Dense or type(B) is Dense:
        return None
    backend = current()
    found = backend.matmul_inner(backend.to_device(A), at, backend.to_device(B), bt, semiring)
    if found is None:
        return None
    C, plan = found
    plan.done(backend)
    return C


def _dense_matvec(A, transposed, u, semiring, mask):
    """w of `matvec` for a dense A; NotImplemented where its CSR serves or a method over CSR is forced."""
    rules = forced()
    if rules.method is not None or rules.format is not None or rules.kernel is not None:
        return NotImplemented
    start, backend = perf_counter(), current()
    w = backend.dense_matvec(backend.transpose(A) if transposed else A, u, semiring, mask)
    if w is not NotImplemented:
        plan = record_plan("matvec", "dense", A.format, "dense_array", (A.nrows, A.ncols))
        plan.done(backend)
        plan.seconds = perf_counter() - start
    return w


def _planned(A, at, B, bt, semiring, mask):
    """(A, B or None, B's transpose or None, mask, plan) as the planned method reads them."""
    backend = current()
    if type(A) is Dense or type(B) is Dense or mask is not None:
        A, B, mask = compressed(A), compressed(B), compressed(mask)
    A, B, mask = backend.to_device(A), backend.to_device(B), backend.to_device(mask)
    plan = choose_matmul(A, at, B, bt, mask, semiring)
    left = backend.transpose(A) if at else A
    if plan.method == "dot":
        return left, None, B if bt else backend.transpose(B), mask, plan
    return left, backend.transpose(B) if bt else B, None, mask, plan


class MxM(Record):
    """C = A (+.x) B.  used: has a chain (product_chains.py) begun with this record?"""

    __slots__ = ("A", "B", "at", "bt", "used")
    name = "mxm"
    c_name = "GrB_mxm"

    def __init__(self, A, B, op, at, bt):
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

    def __init__(self, A, u, op, at, reuse=None):
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
        return matvec(self.A._store, self.at, self.u._store, self.op, mask, reuse)

    def operands(self):
        return ((self.A, self.at), (self.u, False))


class VxM(Record):
    """w' = u' (+.x) A, computed as w = A' u with the operands (and positions) of the multiply swapped."""

    __slots__ = ("u", "A", "at", "reuse")
    name = "vxm"
    c_name = "GrB_vxm"

    def __init__(self, u, A, op, at, reuse=None):
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
        return matvec(self.A._store, not self.at, self.u._store, self.op.flip(), mask, reuse)

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
