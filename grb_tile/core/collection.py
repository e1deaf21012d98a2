"""Methods that Matrix, Vector and TransposedMatrix share: element-wise operations, apply, select, comparison."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import operations as ops
from ..backends.select import current
from ..dtypes import BOOL, cast, lookup_dtype, unify
from ..exceptions import DimensionMismatch, EmptyObject
from ..operators import find_opclass, from_string, get_typed_op, op_from_string, registered
from ..storage.dense import in_order
from ..storage.place import arrays_of, backend_of, host_array, is_host, wait_stream
from ..storage.store import Dense
from . import kinds, tracing, turn_arrays
from .arguments import check_options, expect_op, expect_type, literal, output_type
from .comparisons import match_select
from .expression import MatrixExpression, ScalarExpression, VectorExpression
from .mask import Mask, check_mask
from .number import Number, combined, selected
from .recipes import Recipe

if TYPE_CHECKING:
    from .annotations import MaskLike, MatrixLike, OperatorLike, ScalarLike, VectorLike

_INDEXED = ("IndexUnaryOp", "SelectOp")
_APPLY_HINT = (
    "apply only accepts UnaryOp with no scalars or BinaryOp with `left` or `right` scalar"
    "or IndexUnaryOp with `right` thunk."
)
_LITERALS = "Literal scalars also accepted."


default_op = functools.cache(registered)  # (namespace, name) -> operator


def bound_scalar(self, x, within, keyword, op, dtype=None):
    """(NumPy scalar, DataType, what shows it) of a scalar argument: a Scalar, an expression of one or a literal."""
    if output_type(x) is kinds.Scalar:
        if type(x) is not kinds.Scalar:
            x = expect_type(self, x, kinds.Scalar, within=within, keyword_name=keyword, extra_message=_LITERALS, op=op)
        if x._value is None:
            raise EmptyObject(f"the Scalar {x.name} given to {within} as `{keyword}` is empty; give it a value first")
        return x._value, x.dtype, x._expr_name
    try:
        value, dtype = literal(x, dtype)
    except TypeError:
        expect_type(self, x, kinds.Scalar, within=within, keyword_name=keyword, extra_message=_LITERALS, op=op)
    return value, dtype, repr(value) if dtype._is_udt else value.item()


def binary_op(self, other, op, within):
    """(op as given, typed BinaryOp) for an element-wise method."""
    op = get_typed_op(op, self.dtype, other.dtype, kind="binary")
    opclass = op.opclass
    if opclass == "Monoid":
        return op, op.binaryop
    if opclass != "BinaryOp":
        expect_op(self, op, ("BinaryOp", "Monoid"), within=within, argname="op")
    return op, op


class Collection:
    """Mixin of Vector, Matrix and TransposedMatrix."""

    __slots__ = ()

    # ---------------------------------------------------------------- element-wise

    def _positions_and_values(self, wanted, values, dtype):
        """(positions of each dimension, values): copies on the host; None for what is not wanted, which stays there."""
        if tracing.active is not None and turn_arrays.in_turn(self):
            return turn_arrays.entries(self, *wanted, values, dtype)
        store = self._lined()
        backend = backend_of(store) or current()
        *positions, held = backend.tuples(store)
        found = [host_array(x).view(np.uint64) if want else None for x, want in zip(positions, wanted, strict=True)]
        if not values:
            return *found, None
        if dtype is not None and type(held) is not np.ndarray:
            want = lookup_dtype(dtype)
            held = backend.run_reported(lambda: backend.cast_array(held, store.dtype, want), "cast")
        held = host_array(held)
        return *found, np.ascontiguousarray(held if dtype is None else cast(held, lookup_dtype(dtype)))

    def ewise_add(self, other: VectorLike | MatrixLike, op: OperatorLike | None = None) -> Any:
        """C = A (op) B on the union; a lone entry is copied.

        Shapes: equal, or a Vector beside a Matrix: along the rows on the right, down the columns on the left.
        Types: `op` (monoid.plus by default) decides; a lone entry is cast to its result type.
        Raises: DimensionMismatch; TypeError when `op` is no BinaryOp or Monoid.
        Spec: GraphBLAS C API 2.1, section 4.3.5.

        Examples:
        >>> v, w = gb.Vector.from_dict({0: 1, 1: 2}), gb.Vector.from_dict({1: 3})
        >>> v.ewise_add(w, gb.monoid.plus).new().to_dict()
        {0: 1, 1: 5}
        """
        if type(other) is not type(self):
            other = self._expect_collection(other, "ewise_add", op)
        shown, op = binary_op(self, other, default_op("monoid", "plus") if op is None else op, "ewise_add")
        text = ("{0.name}.ewise_add({1.name}, op={2})", self, other, shown)
        if self.ndim == other.ndim == 1:
            return VectorExpression(ops.ewise_add(self, other, op), text)
        x, xt, y, yt = _pair(self, other, "ewise_add")
        return _expression(ops.ewise_add(x, y, op, xt, yt), text)

    def ewise_mult(self, other: VectorLike | MatrixLike, op: OperatorLike | None = None) -> Any:
        """C = A (op) B on the intersection.

        Shapes, Raises: as ewise_add.  Types: `op` (binary.times by default) decides.
        Spec: GraphBLAS C API 2.1, section 4.3.4.

        Examples:
        >>> v, w = gb.Vector.from_dict({0: 1, 1: 2}), gb.Vector.from_dict({1: 3})
        >>> v.ewise_mult(w, gb.binary.times).new().to_dict()
        {1: 6}
        """
        if type(other) is not type(self):
            other = self._expect_collection(other, "ewise_mult", op)
        shown, op = binary_op(self, other, default_op("binary", "times") if op is None else op, "ewise_mult")
        text = ("{0.name}.ewise_mult({1.name}, op={2})", self, other, shown)
        if self.ndim == other.ndim == 1:
            return VectorExpression(ops.ewise_mult(self, other, op), text)
        x, xt, y, yt = _pair(self, other, "ewise_mult")
        return _expression(ops.ewise_mult(x, y, op, xt, yt), text)

    def ewise_union(
        self, other: VectorLike | MatrixLike, op: OperatorLike, left_default: ScalarLike, right_default: ScalarLike
    ) -> Any:
        """C = A (op) B on the union; `left_default` stands for a missing A(i, j), `right_default` for a missing B.

        Shapes, Raises: as ewise_add.
        Spec: SuiteSparse:GraphBLAS 9.4 user guide, section 11.6 (GxB_eWiseUnion).

        Examples:
        >>> v, w = gb.Vector.from_dict({0: 1, 1: 2}), gb.Vector.from_dict({1: 3})
        >>> v.ewise_union(w, gb.binary.minus, 0, 0).new().to_dict()
        {0: 1, 1: -1}
        """
        other = self._expect_collection(other, "ewise_union", op)
        left, left_type, left_text = bound_scalar(self, left_default, "ewise_union", "left_default", op)
        right, right_type, right_text = bound_scalar(self, right_default, "ewise_union", "right_default", op)
        op1 = get_typed_op(op, self.dtype, right_type, kind="binary")
        op2 = get_typed_op(op, left_type, other.dtype, kind="binary")
        if op1 is not op2:
            joined = unify(op1.type, op2.type, is_right_scalar=True), unify(op1.type2, op2.type2, is_left_scalar=True)
            op = get_typed_op(op, *joined, kind="binary")
        else:
            op = op1
        expect_op(self, op, ("BinaryOp", "Monoid"), within="ewise_union", argname="op")
        if op.opclass == "Monoid":
            op = op.binaryop
        x, xt, y, yt = _pair(self, other, "ewise_union")
        record = ops.ewise_union(x, y, op, left, right, xt, yt)
        text = ("{0.name}.ewise_union({1.name}, {2}, {3}, {4})", self, other, op, left_text, right_text)
        return _expression(record, text)

    def _expect_collection(self, other, within, op):
        accepted = [kinds.Matrix, kinds.TransposedMatrix]
        accepted.insert(0 if self.ndim == 1 else 2, kinds.Vector)
        return expect_type(self, other, tuple(accepted), within=within, argname="other", op=op)

    # ---------------------------------------------------------------- apply and select

    def apply(self, op: OperatorLike, right: ScalarLike | None = None, *, left: ScalarLike | None = None) -> Any:
        """C(i, j) = op(A(i, j)), op(A(i, j), right) or op(left, A(i, j)); an IndexUnaryOp: op(A(i, j), i, j, right).

        Raises: TypeError when the operator's class does not go with the scalars given.
        Spec: GraphBLAS C API 2.1, section 4.3.8.

        Examples:
        >>> v = gb.Vector.from_dict({0: -1, 2: 4})
        >>> v.apply(gb.unary.abs).new().to_dict()
        {0: 1, 2: 4}
        >>> v.apply(gb.binary.plus, right=10).new().to_dict()
        {0: 9, 2: 14}
        """
        if type(op) is str:
            op = op_from_string(op)
        op, opclass = find_opclass(op)
        if opclass in _INDEXED:
            if right is None:
                right = False  # the zero that decides no type
            if left is not None:
                raise TypeError("Do not pass `left` when applying IndexUnaryOp")
        elif isinstance(right, Number) and left is None or isinstance(left, Number) and right is None:
            return combined(self, right, op) if left is None else combined(left, self, op)
        x, xt = (self._matrix, True) if self._is_transposed else (self, False)
        if left is None and right is None:
            op = get_typed_op(op, self.dtype, kind="unary")
            if op.opclass != "UnaryOp":
                expect_op(self, op, "UnaryOp", within="apply", argname="op", extra_message=_APPLY_HINT)
            return _expression(ops.apply(x, op, xt), ("{0.name}.apply({1})", self, op))
        if right is None:
            value, dtype, text = bound_scalar(self, left, "apply", "left", op, self._udt())
            op = get_typed_op(op, dtype, self.dtype, is_left_scalar=True, kind="binary")
            op = self._bindable(op)
            record: Any = ops.apply_bind(x, op, left=value, xt=xt)
            return _expression(record, ("{0.name}.apply({1}, left={2})", self, op, text))
        if left is not None:
            raise TypeError("Cannot provide both `left` and `right` to apply")
        value, dtype, text = bound_scalar(self, right, "apply", "right", op, self._udt(op))
        if opclass in _INDEXED:
            op = get_typed_op(op, self.dtype, dtype, is_right_scalar=True, kind="indexunary")
            record = ops.apply_index(x, op, value, xt)
        else:
            op = get_typed_op(op, self.dtype, dtype, is_right_scalar=True, kind="binary")
            op = self._bindable(op)
            record = ops.apply_bind(x, op, right=value, xt=xt)
        return _expression(record, ("{0.name}.apply({1}, right={2})", self, op, text))

    def _udt(self, op=None):
        return self.dtype if self.dtype._is_udt and not getattr(op, "is_positional", False) else None

    def _bindable(self, op):
        if op.opclass == "Monoid":
            return op.binaryop
        expect_op(self, op, "BinaryOp", within="apply", argname="op", extra_message=_APPLY_HINT)
        return op

    def select(self, op: OperatorLike | MaskLike, thunk: ScalarLike | None = None) -> Any:
        """C = A at the entries where op(A(i, j), i, j, thunk) is true.

        op: a SelectOp or IndexUnaryOp or its name ("tril", ">="), a mask, a Boolean object, or a comparison (`A < 5`).
        Spec: GraphBLAS C API 2.1, section 4.3.9.

        Examples:
        >>> v = gb.Vector.from_dict({0: -1, 2: 4})
        >>> v.select(">", 0).new().to_dict()
        {2: 4}
        """
        if type(op) is str:
            op = from_string(op, "select")
        elif not hasattr(op, "opclass"):
            is_object = isinstance(op, Mask) or hasattr(op, "output_type")
            op, opclass = (op, "UnknownOpClass") if is_object else find_opclass(op)
            if opclass == "UnknownOpClass":
                if thunk is not None:
                    raise TypeError("thunk argument not None when calling select with mask or boolean object")
                matched = match_select(self, op) if hasattr(op, "_record") else None
                return self._select_mask(op) if matched is None else matched
        if isinstance(thunk, Number):
            return selected(self, op, thunk)
        value, dtype, text = bound_scalar(self, False if thunk is None else thunk, "select", "thunk", op, self._udt(op))
        op = get_typed_op(op, self.dtype, dtype, is_right_scalar=True, kind="select")
        expect_op(self, op, ("SelectOp", "IndexUnaryOp"), within="select", argname="op")
        x, xt = (self._matrix, True) if self._is_transposed else (self, False)
        return _expression(ops.select(x, op, value, xt), ("{0.name}.select({1}, thunk={2})", self, op, text))

    def _select_mask(self, mask):
        mask = check_mask(mask)
        if mask.parent.ndim != self.ndim:
            expect_type(self, mask.parent, (_concrete(self), Mask), within="select", argname="op")
        ops.checks.mask_shape("select", mask.parent.shape, self.shape)

        def compute():
            source = self.T if self._is_transposed else self
            store = current().transpose(source._store) if self._is_transposed else source._store
            return current().restrict(store, ops.stored_mask(mask))

        return _expression(Recipe("select", self.shape, self.dtype, compute), ("{0.name}.select({1.name})", self, mask))

    # ---------------------------------------------------------------- comparison

    def isequal(self, other: VectorLike | MatrixLike, *, check_dtype: bool = False, **opts: Any) -> bool:
        """Same shape, same structure, equal values (and the same type with check_dtype=True).

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> v.isequal(v.dup()), v.isequal(v.dup(float), check_dtype=True)
        (True, False)
        """
        return self._compare(other, "isequal", check_dtype, opts, None)

    def isclose(
        self,
        other: VectorLike | MatrixLike,
        *,
        rel_tol: float = 1e-7,
        abs_tol: float = 0.0,
        check_dtype: bool = False,
        **opts: Any,
    ) -> bool:
        """Same shape and structure, and abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol) at every entry.

        Examples:
        >>> v, w = gb.Vector.from_dense([1.0, 2.0]), gb.Vector.from_dense([1.0, 2.00001])
        >>> v.isclose(w), v.isclose(w, rel_tol=1e-4)
        (False, True)
        """
        return self._compare(other, "isclose", check_dtype, opts, (rel_tol, abs_tol))

    def _compare(self, other, within, check_dtype, opts, tolerance):
        if opts:
            check_options(opts)
        if type(other) is not type(self):
            accepted = kinds.Vector if self.ndim == 1 else (kinds.Matrix, kinds.TransposedMatrix)
            other = expect_type(self, other, accepted, within=within, argname="other")
        if check_dtype and self.dtype is not other.dtype or self.shape != other.shape:
            return False
        op = get_typed_op("eq", self.dtype, other.dtype, kind="binary")
        backend = current()
        x = backend.transpose(self._matrix._store) if self._is_transposed else self._store
        y = backend.transpose(other._matrix._store) if other._is_transposed else other._store
        found = backend.is_equal(x, y, op, tolerance)
        if tracing.active is not None and (trace := tracing.current()) is not None:
            return trace.compared(x, y, found) if tolerance is None else trace.number(found, BOOL)
        return found

    # ---------------------------------------------------------------- conversion to NumPy

    def __array__(self, dtype=None, *, copy=None):
        """The dense array; every position must have an entry.

        copy=False: a view of the values of a full matrix, read-only because other objects may share them.
        Raises: TypeError where an entry is absent; ValueError where copy=False would copy.
        """
        if self._nvals != np.prod(self.shape, dtype=object):
            raise TypeError(
                f"{type(self).__name__} can't be directly converted to a numpy array; "
                f"perhaps use `{self.name}.to_coo()` method instead."
            )
        if copy is False:
            return _view(self, dtype)
        return self.to_dense() if dtype is None else self.to_dense().astype(dtype)

    def __dlpack__(self, **kwargs):
        """A DLPack capsule of the dense array of a full object: shared on a device, a copy on the host."""
        array = self._on_device()
        return (np.ascontiguousarray(self.__array__()) if array is None else array).__dlpack__(**kwargs)

    def __dlpack_device__(self):
        array = self._on_device()
        return (1, 0) if array is None else array.__dlpack_device__()  # (kDLCPU, 0)

    @property
    def __cuda_array_interface__(self):
        """The interface of the dense array on a device, shared; every position must have an entry.

        A consumer keeps a reference to this object, not to the array, so the object keeps the arrays it has exported.
        """
        holder = self._matrix if self._is_transposed else self
        if (
            not hasattr(type(holder), "_exported")
            or self._nvals != np.prod(self.shape, dtype=object)
            or is_host(holder._store)
        ):
            raise AttributeError(f"{self.name} does not lie on a device, or not every place holds an entry")
        given = getattr(holder, "_exported", None)
        if given is None:
            given = holder._exported = {}
        key = holder._store, self._is_transposed
        if key not in given:
            given[key] = self._on_device()
        wait_stream(given[key])
        return given[key].__cuda_array_interface__

    def _on_device(self):
        """The device's dense array, None when the store is on the host.  Raises: TypeError when an entry is absent."""
        if self._is_transposed:
            return self.new()._on_device()
        store = self._store
        if is_host(store):
            return None
        if store.nvals != np.prod(self.shape, dtype=object):
            raise TypeError(
                f"{self.name} can't be shared as an array: it has {store.nvals} entries, its shape is {self.shape}; "
                "use gb.io.to_cupy(v, fill_value) or gb.io.entries_on_device(x)"
            )
        store = in_order(store, False).flat if type(store) is Dense else store
        store.shared = True
        wait_stream(store.values)
        return (store.values.repeat(store.nvals) if store.iso else store.values).reshape(self.shape)


def _view(x, dtype):
    """The values of a full object as a read-only NumPy array.  Raises: ValueError where they must be copied."""
    transposed = x._is_transposed
    store = (x._matrix if transposed else x)._store
    flat = arrays_of(store)
    if not is_host(store):
        reason = "is on a device"
    elif flat.format != "bitmap":
        reason = f"is stored as {store.format}"
    elif flat.iso:
        reason = "stores one value for all positions"
    elif dtype is not None and np.dtype(dtype) not in (flat.values.dtype, store.dtype.np_type):
        reason = f"has values of type {store.dtype.np_type}, not {np.dtype(dtype)}"
    else:
        reason = None
    if reason is not None:
        raise ValueError(f"{x.name or type(x).__name__} {reason}: its array needs a copy (copy=None)")
    flat.shared = True
    if x.ndim == 2:
        by_columns, inner = store.by_columns != transposed, flat.values.shape[1:]  # of a sub-array type
        shape = x.shape[::-1] if by_columns else x.shape
        values = flat.values.reshape(*shape, *inner)
        values = values.swapaxes(0, 1) if by_columns else values
    else:
        values = flat.values.view()
    values.flags.writeable = False
    return values


def _concrete(self):
    return kinds.Vector if self.ndim == 1 else kinds.Matrix


def _expression(record, text):
    return (VectorExpression if len(record.shape) == 1 else MatrixExpression)(record, text)


def _pair(self, other, within):
    """(x, xt, y, yt) of two operands, after the check of shapes that names the broadcasting rule."""
    if self.ndim != other.ndim:
        if self.ndim == 2:
            if self.shape[1] != other.shape[0]:
                raise DimensionMismatch(
                    f"Dimensions not compatible for broadcasting Vector from the right to rows of Matrix in {within}.  "
                    f"Matrix.ncols (={self.shape[1]}) must equal Vector.size (={other.shape[0]})."
                )
        elif other.shape[0] != self.shape[0]:
            raise DimensionMismatch(
                f"Dimensions not compatible for broadcasting Vector from the left to columns of Matrix in {within}.  "
                f"Matrix.nrows (={other.shape[0]}) must equal Vector.size (={self.shape[0]})."
            )
    x, xt = (self._matrix, True) if self._is_transposed else (self, False)
    y, yt = (other._matrix, True) if other._is_transposed else (other, False)
    return x, xt, y, yt


def reduce_expression(self, op, allow_empty, within):
    """The ScalarExpression of a reduction by a Monoid (or the BinaryOp of one)."""
    op = get_typed_op(op, self.dtype, kind="binary")
    if op.opclass != "Monoid":
        if op.opclass == "BinaryOp" and op.monoid is not None:
            op = op.monoid
        else:
            expect_op(self, op, ("Monoid", "Aggregator"), within=within, argname="op")
    x = self._matrix if self._is_transposed else self  # the order of entries does not matter to a monoid
    identity = None if allow_empty else op.identity
    return ScalarExpression(
        ops.reduce_scalar(x, op), (f"{{0.name}}.{within}({{1}})", self, op), identity, is_cscalar=not allow_empty
    )


def find_aggregator(op):
    """`op` when it is an Aggregator or the name of one (and of no BinaryOp), else None."""
    if type(op) is str:
        op = from_string(op, "binary|aggregator")
    return op if getattr(op, "opclass", None) == "Aggregator" else None


def aggregate(self, op, kind, within):
    """The expression of a reduction by an Aggregator; `kind` is "rowwise", "columnwise" or "scalar"."""
    from .aggregate import reduce_expression as aggregate_record

    op = get_typed_op(op, self.dtype, kind="binary|aggregator")
    if tracing.active is not None and kind == "scalar" and op.name in turn_arrays.EXTREMES:
        found = turn_arrays.place_of_extreme(self, turn_arrays.EXTREMES[op.name])
        if found is not None:
            return found
    x, xt = (self._matrix, True) if self._is_transposed else (self, False)
    cls = ScalarExpression if kind == "scalar" else VectorExpression
    return cls(aggregate_record(x, op, kind, xt), (f"{{0.name}}.{within}({{1}})", self, op))


def refuse_empty(self, op, within):
    """allow_empty=False is for aggregators that are a monoid and nothing more, such as agg.sum."""
    name = getattr(getattr(op, "parent", op), "monoid", None)
    if name is None:
        raise ValueError("allow_empty=False not allowed when using Aggregators")
    return reduce_expression(self, name if not isinstance(name, str) else from_string(name, "monoid"), False, within)
