"""Sums of Kronecker products and of powers that are not formed, where the multiply distributes over the monoid exactly.

C = A (x) B (Kronecker):  w(i p + k) = u(i) (x) v(k),  u and v the sums of the rows of A and of B;  s = (+) u (x) (+) v
C = A (+.x) ... (+.x) A:  w = A (A ... (A e)),  A e the sums of the rows of A
"""

from ..backends.select import current
from ..operators import typed_semiring
from ..planner import tuning
from ..storage.constructors import column_matrix, full_vector, vector_of_column
from .distribution import distributed
from .multiply import matvec, reduced
from .record import Record
from .shaping import Kronecker


class StructuredSum(Record):
    """A reduction of `whole`, the record of a Kronecker product or a power; sums() is its result."""

    __slots__ = ("whole", "axis", "sums")
    c_name = "GrB_Matrix_reduce_Monoid"

    def __init__(self, whole, monoid, axis, sums):
        self.whole, self.op, self.axis, self.sums = whole, monoid, axis, sums
        self.shape = () if axis is None else (whole.shape[1 - axis],)
        self.dtype = monoid.return_type

    @property
    def name(self):
        return {None: "reduce", 1: "reduce_rowwise", 0: "reduce_columnwise"}[self.axis]

    def compute(self, mask=None):
        w = self.sums()
        return w if mask is None else current().restrict(w, mask)

    def operands(self):
        return self.whole.operands()

    def notation(self, out="C", mask="NULL", accum="NULL", flags=""):
        """The calls of the C API: what is reduced, then the reduction."""
        op = getattr(self.op, "gb_name", None) or repr(self.op)
        inputs = f"{accum}, {op}, temp" if self.axis is None else f"{mask}, {accum}, {op}, temp"
        flags += "T0" if self.axis == 0 else ""
        descriptor = f"GrB_DESC_{flags}" if flags else "NULL"
        call = self.c_name + ("_Scalar" if self.axis is None else "")
        return f"{self.whole.notation('temp')} {call}({out}, {inputs}, {descriptor});"


def kronecker_sums(product, monoid, axis):
    """The record of the sums of a Kronecker product, or None where they are not those of its factors."""
    if type(product) is not Kronecker or product.op.positional or product.op.return_type is not monoid.type:
        return None
    try:
        semiring = typed_semiring(monoid, product.op.name)
    except (KeyError, TypeError):
        return None
    rules = distributed(semiring, monoid) if semiring.binaryop is product.op else None
    if rules is None:
        return None
    lines = rules[1][1], rules[0][1]  # what is taken of the lines of A and of B
    op = typed_semiring(monoid, "times").binaryop if "count" in lines else product.op

    def sums():
        backend = current()
        factors = ((product.A, product.at), (product.B, product.bt))
        u, v = (_of_lines(x._store, xt, axis, monoid, line) for (x, xt), line in zip(factors, lines, strict=True))
        if axis is None:
            u, v = backend.reduce(u, monoid), backend.reduce(v, monoid)
            if u is None or v is None:
                return None
            u, v = (full_vector(1, monoid.type, x) for x in (u, v))
            return backend.reduce(backend.intersect(u, v, op), monoid)
        u, v = column_matrix(backend.convert(u, "sparse")), column_matrix(backend.convert(v, "sparse"))
        return vector_of_column(backend.kronecker(u, v, op))

    return StructuredSum(product, monoid, axis, sums)


def power_sums(whole, A, at, n, semiring, monoid, axis):
    """The record of the sums of A^n (A transposed first if `at`), or None where they are not products with a vector."""
    rules = distributed(semiring, monoid) if 0 < n <= tuning.POWER_FACTORS and A.dtype is monoid.type else None
    if rules is None or semiring.binaryop.kind in ("first", "second", "pair"):
        return None  # those are not associative with the sums

    def sums():
        transposed = at != (axis == 0)
        v = reduced(A._store, transposed, monoid, 1)
        for _ in range(n - 1):
            v = matvec(A._store, transposed, v, semiring, None)
        return current().reduce(v, monoid) if axis is None else v

    return StructuredSum(whole, monoid, axis, sums)


def _of_lines(store, transposed, axis, monoid, line):
    """The sums, or the counts of entries, of the columns (axis 0) or the rows of a factor."""
    by_columns = (axis == 0) != transposed
    if line == "sum":
        return reduced(store, by_columns, monoid, 1)
    ones = full_vector(store.nrows if by_columns else store.ncols, monoid.type, 1)
    return matvec(store, by_columns, ones, typed_semiring(monoid, "pair"), None)
