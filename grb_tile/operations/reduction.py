"""reduce: to a vector (as a product with a full iso vector, multiply `first`) and to a scalar.

Spec: GraphBLAS C API 2.1, section 4.3.10.
"""

from ..backends.select import current
from . import checks
from .multiply import reduced
from .record import Record


class ReduceRows(Record):
    """w(i) = (+)_j A(i, j); over columns when A is transposed.  Empty rows have no entry in w."""

    __slots__ = ("A", "at")
    name = "reduce_rowwise"
    c_name = "GrB_Matrix_reduce_Monoid"

    def __init__(self, A, monoid, at=False):
        self.A, self.op, self.at = A, monoid, at
        self.shape = (checks.oriented(A.shape, at)[0],)
        self.dtype = monoid.return_type

    def compute(self, mask=None):
        return reduced(self.A._store, self.at, self.op, 1, mask)

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

    def compute(self, mask=None):
        return current().reduce(self.x._store, self.op)

    def operands(self):
        return ((self.x, False),)

    @property
    def c_name(self):
        return f"GrB_{'Matrix' if len(self.x.shape) == 2 else 'Vector'}_reduce_Monoid_Scalar"
