"""CpuBackend: each primitive asks the Numba walks first (accelerate.py) and does it in NumPy when they decline."""
from ...storage import convert
from ..protocol import Backend
from . import numpy_elementwise, numpy_mapping, numpy_matmul, numpy_matvec, numpy_structure, numpy_tiles

try:
    from . import accelerate
except ImportError:  # pragma: no cover
    accelerate = None

_TILED = ("tiled", "bittiled", "bitblock")


class CpuBackend(Backend):
    """NumPy for everything, Numba where `accelerate` finds it worth while.  Meanings: backends/protocol.py."""

    name = "cpu"

    # ------------------------------------------------------------------ structure

    def build_vector(self, size, indices, values, dup, dtype):
        return numpy_structure.build_vector(size, indices, values, dup, dtype)

    def build_matrix(self, nrows, ncols, rows, cols, values, dup, dtype):
        return numpy_structure.build_matrix(nrows, ncols, rows, cols, values, dup, dtype)

    def tuples_vector(self, u):
        return numpy_structure.tuples_vector(u)

    def tuples_matrix(self, A):
        return numpy_structure.tuples_matrix(A)

    def convert(self, store, format):
        return convert.convert(store, format)

    def transpose(self, A):
        known = convert.cached_transpose(A)
        if known is not None:
            return known
        result = _transpose(A)
        if result is NotImplemented:
            return convert.transpose_of(A)
        return convert.keep_transpose(A, result)

    def cast(self, store, dtype):
        return numpy_structure.cast_store(store, dtype)

    def gather_vector(self, u, I):
        return numpy_structure.gather_vector(u, I)

    def gather_matrix(self, A, I, J):
        return numpy_structure.gather_matrix(A, I, J)

    def expand_vector(self, u, I, size):
        return numpy_structure.expand_vector(u, I, size)

    def expand_matrix(self, A, I, J, nrows, ncols):
        return numpy_structure.expand_matrix(A, I, J, nrows, ncols)

    # ------------------------------------------------------------------ products

    def matvec_rows(self, A, x, semiring, allow=None, plan=None):
        if plan is not None and getattr(plan, "format", plan) in _TILED:
            return numpy_tiles.matvec(A, x, semiring, allow, getattr(plan, "format", plan))
        result = _matvec_rows(A, x, semiring, allow, plan)
        if result is NotImplemented:
            return numpy_matvec.matvec_rows(A, x, semiring, allow, plan)
        return result

    def matvec_cols(self, AT, x, semiring, allow=None, plan=None):
        result = _matvec_cols(AT, x, semiring, allow, plan)
        if result is NotImplemented:
            return numpy_matvec.matvec_cols(AT, x, semiring, allow, plan)
        return result

    def matmul(self, A, B, semiring, allow=None, plan=None, BT=None):
        result = _matmul(A, B, semiring, allow, plan, BT)
        if result is NotImplemented:
            return numpy_matmul.matmul(A, B, semiring, allow, plan, BT)
        return result

    # ------------------------------------------------------------------ element-wise

    def union(self, x, y, op, allow=None, left_default=None, right_default=None, dtype=None):
        if left_default is None and right_default is None and (dtype is None or op is None or dtype is op.return_type):
            result = _union(x, y, op, allow)
            if result is not NotImplemented and (dtype is None or result.dtype is dtype):
                return result
        return numpy_elementwise.union(x, y, op, allow, left_default, right_default, dtype)

    def intersect(self, x, y, op, allow=None):
        result = _intersect(x, y, op, allow)
        return numpy_elementwise.intersect(x, y, op, allow) if result is NotImplemented else result

    def restrict(self, x, allow):
        return numpy_elementwise.restrict(x, allow)

    def select(self, x, op, thunk, allow=None):
        return numpy_mapping.select(x, op, thunk, allow)

    def apply(self, x, op, allow=None, left=None, right=None, thunk=None):
        return numpy_mapping.apply(x, op, allow, left, right, thunk)

    def reduce(self, x, monoid):
        result = _reduce(x, monoid)
        return numpy_mapping.reduce(x, monoid) if result is NotImplemented else result

    def kronecker(self, A, B, op, allow=None):
        result = numpy_structure.kronecker(A, B, op)
        return result if allow is None else numpy_elementwise.restrict(result, allow)


def _declines(*_):
    return NotImplemented


_matvec_rows = getattr(accelerate, "matvec_rows", _declines)
_matvec_cols = getattr(accelerate, "matvec_cols", _declines)
_matmul = getattr(accelerate, "matmul", _declines)
_union = getattr(accelerate, "union", _declines)
_intersect = getattr(accelerate, "intersect", _declines)
_reduce = getattr(accelerate, "reduce", _declines)
_transpose = getattr(accelerate, "transpose", _declines)
