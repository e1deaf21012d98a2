"""reduce: to a vector (as a product with a full iso vector, multiply `first`) and to a scalar.

Spec: GraphBLAS C API 2.1, section 4.3.10.
"""

from ..backends.select import current
from ..operators import typed_semiring
from ..storage.embed import full_vector
from ..storage.store import Dense
from . import checks
from .multiply import matvec
from .record import Record


class ReduceRows(Record):
    """w(i) = (+)_j A(i, j); over columns when A is transposed.  Empty rows have no entry in w."""

    __slots__ = ("A", "at")
    name = "reduce_rowwise"
    c_name = "GrB_Matrix_reduce_Monoid"

    def __init__(self, A, monoid, at):
        self.A, self.op, self.at = A, monoid, at
        self.shape = (checks.oriented(A.shape, at)[0],)
        self.dtype = monoid.return_type

    def compute(self, allow=None):
        if type(self.A._store) is Dense:
            w = current().reduce_lines(self.A._store, self.op, 0 if self.at else 1)
            if w is not NotImplemented:
                return w if allow is None else current().restrict(w, allow)
        ones = full_vector(checks.oriented(self.A.shape, self.at)[1], self.op.type, 1)
        return matvec(self.A._store, self.at, ones, typed_semiring(self.op, "first"), allow)

    def operands(self):
        return ((self.A, self.at),)


class ReduceScalar(Record):
    """s = (+)_ij A(i, j); None when there is no entry."""

    __slots__ = ("x",)
    name = "reduce"

    def __init__(self, x, monoid):
        self.x, self.op = x, monoid
        self.shape = ()
        self.dtype = monoid.return_type

    def compute(self, allow=None):
        return current().reduce(self.x._store, self.op)

    def operands(self):
        return ((self.x, False),)

    @property
    def c_name(self):
        return f"GrB_{'Matrix' if len(self.x.shape) == 2 else 'Vector'}_reduce_Monoid_Scalar"
