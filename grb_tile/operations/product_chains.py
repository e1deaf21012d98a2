"""Chains on a product of two matrices that is not kept: select, then reduce, in one call of the backend.

    C = A (+.x) B     at the entries where a mask allows and select(operator, thunk) is true
    s = (+)_ij C(i, j),   w(i) = (+)_j C(i, j),   w(j) = (+)_i C(i, j)

Each record has the result of the separate operations.  Without mask and select, and where (x) distributes over (+)
exactly (integers, selections), a sum over the rows of C is a product of a matrix and a vector:

    w(i) = (+)_j (+)_k A(i, k) (x) B(k, j) = (+)_k A(i, k) (x') v(k),   v(k) = (+)_j B(k, j)
"""

from ..backends.select import current
from ..operators import typed_semiring
from ..storage.constructors import full_vector
from .distribution import distributed
from .mapping import Select
from .multiply import MxM, matmul, matvec
from .record import Record
from .reduction import ReduceRows, ReduceScalar
from .shaping import Kronecker
from .structured_sums import kronecker_sums, power_sums
from .write import stored_mask


class SelectedProduct(MxM):
    """C<mask> = A (+.x) B, at the entries where op(C(i, j), i, j, thunk); mask or keep may be None."""

    __slots__ = ("mask", "keep")

    def __init__(self, product, mask=None, keep=None):
        super().__init__(product.A, product.B, product.op, product.at, product.bt)
        self.mask, self.keep = mask, keep

    def compute(self, mask=None):
        first, second = stored_mask(self.mask), mask
        if first is None or (second is not None and first.complement and not second.complement):
            first, second = second, first
        C = matmul(self.A._store, self.at, self.B._store, self.bt, self.op, first, self.keep)
        return C if second is None else current().restrict(C, second)

    def notation(self, out="C", mask="NULL", accum="NULL", flags=""):
        """The calls of the C API: product, then select."""
        inner, inner_flags = "NULL", ""
        if self.mask is not None:
            inner = self.mask.parent.name or "M_temp"
            inner_flags = ("S" if self.mask.structure else "") + ("C" if self.mask.complement else "")
        product = super().notation("C_temp", inner, "NULL", inner_flags)
        if self.keep is None:
            call, op, thunk = "GrB_Matrix_apply", "GrB_IDENTITY", ""
        else:
            call, op, thunk = "GrB_Matrix_select", _name(self.keep[0]), f", {self.keep[1]}"
        descriptor = f"GrB_DESC_{flags}" if flags else "NULL"
        return f"{product} {call}({out}, {mask}, {accum}, {op}, C_temp{thunk}, {descriptor});"


class ReducedProduct(Record):
    """s = (+)_ij C(i, j) (axis None), w(i) = (+)_j C(i, j) (axis 1) or w(j) = (+)_i C(i, j) (axis 0) of a product C."""

    __slots__ = ("product", "axis")

    def __init__(self, product, monoid, axis):
        self.product, self.op, self.axis = product, monoid, axis
        self.shape = () if axis is None else (product.shape[1 - axis],)
        self.dtype = monoid.return_type

    @property
    def name(self):
        return {None: "reduce", 1: "reduce_rowwise", 0: "reduce_columnwise"}[self.axis]

    def compute(self, mask=None):
        product = self.product
        if type(product) is MxM and (multiplies := distributed(product.op, self.op)) is not None:
            return _by_vectors(product, self.op, self.axis, multiplies, mask)
        inside, keep = (stored_mask(product.mask), product.keep) if type(product) is SelectedProduct else (None, None)
        result = current().reduce_mxm(
            product.A._store, product.at, product.B._store, product.bt, product.op, inside, keep, self.op, self.axis
        )
        return result if mask is None else current().restrict(result, mask)

    def operands(self):
        return self.product.operands()

    def notation(self, out="C", mask="NULL", accum="NULL", flags=""):
        """The calls of the C API: product, then reduction."""
        call = "GrB_Matrix_reduce_Monoid" + ("_Scalar" if self.axis is None else "")
        flags += "T0" if self.axis == 0 else ""
        inputs = f"{accum}, {_name(self.op)}, temp" if self.axis is None else f"{mask}, {accum}, {_name(self.op)}, temp"
        descriptor = f"GrB_DESC_{flags}" if flags else "NULL"
        return f"{self.product.notation('temp')} {call}({out}, {inputs}, {descriptor});"


def _by_vectors(product, monoid, axis, multiplies, mask):
    """The reduction of a product without mask and select, by products of matrices and vectors."""
    backend = current()
    over = 0 if axis == 0 else 1
    (multiply, line) = multiplies[1 - over]
    outer, outer_at = (product.A, product.at) if over == 1 else (product.B, not product.bt)
    inner, inner_at = (product.B, product.bt) if over == 1 else (product.A, not product.at)
    store = inner._store
    ones = full_vector(store.nrows if inner_at else store.ncols, monoid.type, 1)
    v = matvec(store, inner_at, ones, typed_semiring(monoid, "first" if line == "sum" else "pair"), None)
    semiring = typed_semiring(monoid, multiply)
    if over == 0:  # w = (B' with the operands of (x) swapped) v
        semiring = semiring.flip()
    w = matvec(outer._store, outer_at, v, semiring, mask)
    return backend.reduce(w, monoid) if axis is None else w


def _name(op):
    return getattr(op, "gb_name", None) or repr(op)


def chained(product, record):
    """The record of `record`, whose operand stands for the record `product`, as a chain; None where there is none."""
    axis = None if type(record) is ReduceScalar else 0 if getattr(record, "at", False) else 1
    if not isinstance(product, MxM):
        if type(record) not in (ReduceScalar, ReduceRows):
            return None
        if type(product) is Kronecker:
            return kronecker_sums(product, record.op, axis)
        return power_sums(product, *product.factors, product.op, record.op, axis)
    if type(record) is Select:
        if type(product) is SelectedProduct:
            return None if product.keep else SelectedProduct(product, product.mask, (record.op, record.thunk))
        return SelectedProduct(product, None, (record.op, record.thunk))
    return ReducedProduct(product, record.op, axis) if type(record) in (ReduceScalar, ReduceRows) else None
