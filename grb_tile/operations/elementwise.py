"""Element-wise operations: union (eWiseAdd, eWiseUnion) and intersection (eWiseMult).

Spec: GraphBLAS C API 2.1, sections 4.3.4 and 4.3.5; GxB_eWiseUnion: SuiteSparse:GraphBLAS 9.4 user guide, 11.6.
A vector and a matrix: the vector is broadcast, as in python-graphblas.  On the right it is a row (its size is the
number of columns), on the left a column (its size is the number of rows).
"""

from ..backends.select import current
from ..dtypes import BOOL
from ..operators import get_typed_op
from ..storage.constructors import column_matrix, full_matrix, full_vector, row_matrix
from ..storage.store import Dense
from . import checks
from .record import Record


def _spread(call, x, y, xt, yt):
    """Shape of the result, and which side (None, 0 or 1) is a vector to spread over the other's rows or columns."""
    left = checks.oriented(x.shape, xt)
    right = checks.oriented(y.shape, yt)
    if len(left) == len(right):
        checks.same_shape(call, left, right)
        return left, None
    if len(left) == 2:
        checks.same_shape(call, left, (left[0],) + right)
        return left, 1
    checks.same_shape(call, left + (right[1],), right)
    return right, 0


def _everywhere(store, shape, side):
    """The matrix whose every row (side 1) or column (side 0) is the vector: dense, so as large as its shape.

    Raises: OutOfMemory, before anything is made, when it does not fit.
    """
    backend = current()
    if store.format == "bitmap" and store.words is None and min(shape):
        return backend.broadcast(store, full_matrix(*shape, BOOL, True), side)
    first = get_typed_op("first", store.dtype, kind="binary")
    store, ones = map(backend.to_device, (store, full_vector(shape[1 - side], store.dtype, 1)))
    if side == 1:
        return backend.kronecker(column_matrix(ones), row_matrix(store), first.flip())
    return backend.kronecker(column_matrix(store), row_matrix(ones), first)


class _ElementWise(Record):
    __slots__ = ("x", "y", "xt", "yt", "side")
    intersects = False

    def __init__(self, x, y, op, xt=False, yt=False):
        shape = x.shape
        if shape == y.shape and not xt and not yt:
            self.shape, self.side = shape, None
        else:
            self.shape, self.side = _spread(self.name, x, y, xt, yt)
        self.x, self.y, self.op, self.xt, self.yt = x, y, op, xt, yt
        self.dtype = op.return_type

    def stores(self, mask):
        """Both operands as stores of one shape, whole at least inside `mask` and where both have entries.

        A vector is broadcast over the entries that can matter: those of the other operand for an intersection, those of
        the mask for a union.  Only a union without a mask, or under a complement, makes all rows (or columns) where the
        vector has entries: the result has all of them outside the mask, so that it costs what the result and the mask
        have entries.
        """
        x, y = self.x._store, self.y._store
        if self.xt:
            x = current().transpose(x)
        if self.yt:
            y = current().transpose(y)
        if self.side is not None:
            vector, matrix = (y, x) if self.side == 1 else (x, y)
            if self.intersects:
                if mask is not None:
                    matrix = current().restrict(matrix, mask)
                matrix, vector = current().broadcast_over(vector, matrix, self.side)
            elif mask is None or mask.complement:
                vector = _everywhere(vector, self.shape, self.side)
            else:
                vector = current().broadcast(vector, mask.pattern, self.side)
            x, y = (matrix, vector) if self.side == 1 else (vector, matrix)
        return x, y

    def compute(self, mask=None):
        if self.side is None and not self.xt and not self.yt:
            return self.combine(self.x._store, self.y._store, mask)
        C = None if self.side is None else self.broadcast_full(mask)
        return self.combine(*self.stores(mask), mask) if C is None else C

    def broadcast_full(self, mask):
        """The result where a full matrix meets a full vector and most positions are admitted; None elsewhere."""
        if mask is not None and not mask.complement and type(mask.pattern) is not Dense:
            return None
        (vector, _), (matrix, transposed) = ((self.y, self.yt), (self.x, self.xt))[:: 1 if self.side == 1 else -1]
        A, u = matrix._store, vector._store
        if type(A) is not Dense or A.flat.words is not None or u.format != "bitmap" or u.words is not None:
            return None
        backend = current()
        C = backend.broadcast_combine(backend.transpose(A) if transposed else A, u, self.op, self.side)
        if C is NotImplemented:
            return None
        return C if mask is None else backend.restrict(C, mask)

    def operands(self):
        return ((self.x, self.xt), (self.y, self.yt))

    @property
    def c_name(self):
        return f"GrB_{'Matrix' if len(self.shape) == 2 else 'Vector'}_{self.c_stem}"


class EWiseAdd(_ElementWise):
    """C = A (+) B on the union; an entry of one operand is copied without the operator."""

    __slots__ = ()
    name = "ewise_add"
    c_stem = "eWiseAdd_BinaryOp"

    def combine(self, x, y, mask):
        """The union of two stores of one shape."""
        return current().union(x, y, self.op, mask)


class EWiseMult(_ElementWise):
    """C = A (x) B on the intersection."""

    __slots__ = ()
    name = "ewise_mult"
    intersects = True
    c_stem = "eWiseMult_BinaryOp"

    def combine(self, x, y, mask):
        """The intersection of two stores of one shape; `stores` has applied the mask where one was a vector."""
        return current().intersect(x, y, self.op, mask if self.side is None else None)


class EWiseUnion(_ElementWise):
    """C = A (+) B on the union, where a missing operand is its default."""

    __slots__ = ("left_default", "right_default")
    name = "ewise_union"
    c_stem = "eWiseUnion"

    def __init__(self, x, y, op, left_default, right_default, xt=False, yt=False):
        super().__init__(x, y, op, xt, yt)
        self.left_default, self.right_default = left_default, right_default

    def combine(self, x, y, mask):
        """The union of two stores of one shape, with defaults."""
        return current().union(x, y, self.op, mask, self.left_default, self.right_default)

    @property
    def c_name(self):
        return super().c_name.replace("GrB_", "GxB_", 1)

    def names(self):
        x, y = super().names()
        return [x, str(self.left_default), y, str(self.right_default)]
