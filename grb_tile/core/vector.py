"""Vector: a sparse vector of a GraphBLAS type.

Spec: GraphBLAS C API 2.1, sections 3.5.2 (vectors) and 4.2.4 (their methods).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from .. import operations as ops
from ..backends.select import current
from ..dtypes import FP64, lookup_dtype
from ..operators import get_typed_op
from ..storage.constructors import column_matrix, empty_vector, full_vector
from ..storage.store import BitmapVector
from ..storage.turn_array import TurnArray
from . import elements, kinds, recipes, recorder, tracing, turn_arrays
from .arguments import (
    check_options,
    dimension,
    expect_op,
    expect_type,
    indices_array,
    own_array,
    scalar_of,
    type_argument,
    values_array,
    whole_number,
)
from .base import ToolsProperty
from .build import (
    build_operator,
    check_bounds,
    check_empty,
    check_lengths,
    fill_dtype,
    filled,
    full_array,
    guarded,
    leave_out,
    refuse_with_scalar,
)
from .collection import aggregate, bound_scalar, default_op, find_aggregator, reduce_expression, refuse_empty
from .expression import MatrixExpression, ScalarExpression, VectorExpression, forward_public
from .index import Resolved, position
from .indexed import VectorIndexExpr, VectorItems
from .infix import VectorInfixExpr
from .stored import Stored
from .updater import Updater

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Self

    from .annotations import Array, ArrayLike, DTypeLike, MatrixLike, OperatorLike, ScalarLike, VectorLike
    from .matrix import Matrix
    from .ss import VectorTools


@kinds.register
class Vector(VectorItems, Stored):
    """A vector of size `size` and type `dtype`, empty at first.

    >>> import grb_tile as gb
    >>> v = gb.Vector.from_coo([0, 2], [1.5, 2.5], size=4)
    >>> v.nvals, v.size, v.dtype
    (2, 4, FP64)
    """

    __slots__ = ("_dtype", "name", "_shape", "_size", "_store", "_pending", "_base", "_exported", "__weakref__")
    ndim = 1
    _name_counter = itertools.count()
    if TYPE_CHECKING:
        ss: VectorTools
    else:
        ss = ToolsProperty("VectorTools")
    _expression_type = VectorExpression

    def __init__(self, dtype: DTypeLike = FP64, size: int = 0, *, name: str | None = None) -> None:
        self._dtype = dtype = type_argument(dtype, "Vector")
        self._size = size = dimension(size, "size")
        self._shape = (size,)
        self.name = f"v_{next(Vector._name_counter)}" if name is None else name
        self._pending, self._store = None, empty_vector(size, dtype)
        if recorder.active is not None:
            recorder.note_new(self)

    @classmethod
    def _from_store(cls, store, dtype=None, name=None):
        self = cls.__new__(cls)
        self._dtype = store.dtype if dtype is None else dtype
        self._size = size = store.size
        self._shape = (size,)
        self.name = f"v_{next(Vector._name_counter)}" if name is None else name
        self._pending = None
        self._store = store
        return self

    # ---------------------------------------------------------------- what it is

    @property
    def size(self) -> int:
        """The size."""
        return self._size

    # ---------------------------------------------------------------- elements and indexing

    def __setitem__(self, keys: Any, value: Any, **opts: Any) -> None:
        """Write an element or several: a scalar, a Vector of the indices' size, or an expression.

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> v[0] = 9
        >>> v[[1]] << 4
        >>> v.to_dict()
        {0: 9, 1: 4}
        """
        if opts:
            check_options(opts)
        if type(keys) is int and type(value) in (int, float, bool) and recorder.active is None:
            elements.put(self, position(keys, self._size), scalar_of(value, self.dtype))
        else:
            Updater(self)[keys] = value

    def __contains__(self, index):
        resolved = Resolved(self, index)
        if resolved.shape:
            raise TypeError(
                f"Invalid index to Vector contains: {index!r}.  An integer is expected.  "
                "Doing `index in my_vector` checks whether a value is present at that index."
            )
        return elements.get(self, resolved.key) is not None

    def __iter__(self):
        """The positions of the entries, ascending.

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> [int(i) for i in v]
        [0, 1]
        """
        return self.to_coo(values=False)[0].flat

    def get(self, index: int, default: Any = None) -> Any:
        """The element at `index` as a Python scalar, `default` where there is none.

        Examples:
        >>> gb.Vector.from_dict({0: 1}, size=3).get(2, default=-1)
        -1
        """
        resolved = Resolved(self, index)
        if resolved.shape:
            raise ValueError(
                "Bad index in Vector.get(...).  A single index should be given, and the result will be a Python scalar."
            )
        value = elements.get(self, resolved.key)
        return default if value is None else value if self.dtype._is_udt else value.item()

    # ---------------------------------------------------------------- whole-object changes

    def clear(self) -> None:
        """Remove all entries."""
        elements.note_write(self)
        elements.reset(self, empty_vector(self._size, self.dtype))
        self._log("clear")

    def resize(self, size: int) -> None:
        """Change the size; entries beyond a smaller one are dropped."""
        size = dimension(size, "size")
        elements.note_write(self)
        self._store = ops.resize_vector(self._store, size)
        self._size, self._shape = size, (size,)
        self._log("resize", size)

    def build(
        self,
        indices: ArrayLike,
        values: ArrayLike,
        *,
        dup_op: OperatorLike | None = None,
        clear: bool = False,
        size: int | None = None,
    ) -> None:
        """Put entries into an empty vector; `from_coo` is the usual way.

        dup_op: combines values of equal indices; without it they are an error.
        clear: remove the present entries first.  size: change the size first.
        Raises: ValueError for lengths that differ or duplicates; OutputNotEmpty; IndexOutOfBound.
        The vector is then unchanged: it is cleared and resized only if the entries can be built.

        Examples:
        >>> v = gb.Vector(int, 4)
        >>> v.build([1, 3, 3], [5, 6, 7], dup_op=gb.binary.plus)
        >>> v.to_dict()
        {1: 5, 3: 13}
        """
        if type(indices) is TurnArray or type(values) is TurnArray:
            return turn_arrays.build(self, indices, values, dup_op, clear, size)
        indices = indices_array(indices, "indices")
        values, _ = values_array(values, self.dtype)
        check_lengths(indices, values)
        resized = size is not None
        size = dimension(size, "size") if resized else self._size
        store = empty_vector(size, self.dtype) if clear else self._store
        if resized and not clear:
            store = ops.resize_vector(store, size)
        if indices.size:
            dup = build_operator(self, dup_op)
            check_bounds(indices, size, "index")
            check_empty(self, store)
            store = guarded(lambda: current().build_vector(size, indices, values, dup, self.dtype))
        elements.reset(self, store)
        self._size, self._shape = size, (size,)
        if clear:
            self._log("clear")
        if resized:
            self._log("resize", size)
        if indices.size:
            self._log(f"build_{self.dtype}", f"..., {indices.size}")

    def _build(self, indices, values, dup):
        """Build into a new, empty vector."""
        check_bounds(indices, self._size, "index")
        self._store = guarded(current().build_vector, self._size, indices, values, dup, self._dtype)
        if recorder.active is not None:
            self._log(f"build_{self.dtype}", f"..., {indices.size}")

    # ---------------------------------------------------------------- constructors

    @classmethod
    def from_coo(
        cls,
        indices: ArrayLike,
        values: ArrayLike = 1.0,
        dtype: DTypeLike | None = None,
        *,
        size: int | None = None,
        dup_op: OperatorLike | None = None,
        name: str | None = None,
    ) -> Self:
        """A vector of entries values[k] at indices[k]; a scalar stands for all values and stores one.

        size: one more than the greatest index by default.  dup_op: combines values of equal indices (error without).

        Examples:
        >>> gb.Vector.from_coo([0, 2, 2], [1, 5, 6], size=4, dup_op=gb.binary.max).to_dict()
        {0: 1, 2: 6}
        """
        if type(indices) is TurnArray or type(values) is TurnArray:
            return turn_arrays.from_coo(cls, indices, values, dtype, size, dup_op, name)
        indices = indices_array(indices, "indices")
        values, dtype = values_array(values, dtype, subarray_after=1)
        if size is None:
            if indices.size == 0:
                raise ValueError("No indices provided. Unable to infer size.")
            size = int(indices.max()) + 1
        out = cls(dtype, size, name=name)
        if values.ndim == 0:
            refuse_with_scalar(dup_op)
            values = values.reshape(1)
            if indices.size:
                out._build(indices, values, get_typed_op("any", dtype, kind="binary"))
        else:
            check_lengths(indices, values)
            if indices.size:
                out._build(indices, values, None if dup_op is None else build_operator(out, dup_op))
        return out

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[Any],
        dtype: DTypeLike | None = None,
        *,
        size: int | None = None,
        dup_op: OperatorLike | None = None,
        name: str | None = None,
    ) -> Self:
        """A vector of (index, value) pairs; see from_coo."""
        if isinstance(pairs, np.ndarray):
            raise TypeError("pairs as NumPy array is not supported; use `Vector.from_coo` instead")
        columns = list(zip(*pairs, strict=True))
        if columns and len(columns) != 2:
            raise ValueError(f"Each item in the pairs must have two elements (for index and value); got {len(columns)}")
        indices, values = columns or ((), ())
        return cls.from_coo(indices, values, dtype, size=size, dup_op=dup_op, name=name)

    @classmethod
    def from_dict(
        cls, d: Mapping[int, Any], dtype: DTypeLike | None = None, *, size: int | None = None, name: str | None = None
    ) -> Self:
        """A vector of {index: value}.

        Examples:
        >>> gb.Vector.from_dict({0: 5, 2: 6}, size=4).to_coo()[0].tolist()
        [0, 2]
        """
        if size is None and not d:
            size = 0
        return cls.from_coo(list(d.keys()), list(d.values()), dtype, size=size, name=name)

    @classmethod
    def from_scalar(
        cls, value: Any, size: int, dtype: DTypeLike | None = None, *, name: str | None = None, **opts: Any
    ) -> Self:
        """A vector with `value` everywhere; one value is stored."""
        if opts:
            check_options(opts)
        value, found, _ = bound_scalar(cls.__new__(cls), value, "from_scalar", "value", None, dtype)
        dtype = found if dtype is None else lookup_dtype(dtype)
        return cls._from_store(full_vector(dimension(size, "size"), dtype, scalar_of(value, dtype)), dtype, name)

    @classmethod
    def from_dense(
        cls,
        values: ArrayLike,
        missing_value: ScalarLike | None = None,
        *,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Self:
        """A vector of an array or a list; elements equal to `missing_value` are left out.

        Examples:
        >>> gb.Vector.from_dense([1, 0, 3], missing_value=0).to_dict()
        {0: 1, 2: 3}
        """
        if opts:
            check_options(opts)
        if type(values) is TurnArray:
            return leave_out(turn_arrays.of_dense(values, dtype, name), missing_value, "Vector.from_dense")
        given = values
        values, dtype = values_array(given, dtype, subarray_after=1)
        if values.ndim == 0:
            raise TypeError(
                "values must be an array or list, not a scalar. "
                "To create a dense Vector from a scalar, use `Vector.from_scalar`."
            )
        if dtype.np_type.subdtype is None and values.ndim > 1:
            raise ValueError(f"values array must be 1d to create dense Vector with dtype {dtype}")
        if dtype.np_type.subdtype is not None and values.ndim == 1:
            raise ValueError("A >1d array is required to create a dense Vector with subdtype")
        size = values.shape[0]
        store = BitmapVector(size, dtype, None, own_array(values, given), size) if size else empty_vector(0, dtype)
        return leave_out(cls._from_store(store, dtype, name), missing_value, "Vector.from_dense")

    # ---------------------------------------------------------------- exporters

    def _lined(self):
        return self._store

    def _tuples(self):
        return current().tuples_vector(self._store)

    def to_coo(
        self, dtype: DTypeLike | None = None, *, indices: bool = True, values: bool = True, sort: bool = True
    ) -> tuple[Any, ...]:
        """(indices uint64, values); None for parts that are not requested.

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> [x.tolist() for x in v.to_coo()]
        [[0, 1], [1, 2]]
        """
        return self._positions_and_values((indices,), values, dtype)

    def to_dict(self) -> dict[int, Any]:
        """{index: value}

        Examples:
        >>> gb.Vector.from_coo([0, 2], [5, 6]).to_dict()
        {0: 5, 2: 6}
        """
        indices, values = self._tuples()
        return dict(zip(indices.tolist(), values.tolist(), strict=True))

    def to_dense(self, fill_value: ScalarLike | None = None, dtype: DTypeLike | None = None, **opts: Any) -> Array:
        """An array of `size` values, `fill_value` standing for what is missing (required when something is).

        Examples:
        >>> gb.Vector.from_dict({0: 1, 2: 3}).to_dense(0).tolist()
        [1, 0, 3]
        """
        if opts:
            check_options(opts)
        if tracing.active is not None and turn_arrays.in_turn(self):
            return turn_arrays.dense(self, fill_value, dtype)
        if self.nvals == self._size:
            return full_array(self._store, dtype)
        if fill_value is None:
            raise TypeError("fill_value must be given in `to_dense` when there are missing values")
        fill, fill_type, _ = bound_scalar(self, fill_value, "to_dense", "fill_value", None, fill_dtype(self))
        return filled(self._store, fill, fill_type, dtype)

    def diag(self, k: int = 0, *, name: str | None = None) -> Matrix:
        """The square Matrix with this vector on its k-th diagonal.

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> v.diag().to_dense(0).tolist()
        [[1, 0], [0, 2]]
        """
        return kinds.Matrix._from_store(ops.diagonal_matrix(self._store, whole_number(k, "k")), self.dtype, name)

    def _as_matrix(self, *, name=None):
        """The size x 1 Matrix of this vector."""
        self._store.shared = True
        return kinds.Matrix._from_store(column_matrix(self._store), self.dtype, self.name if name is None else name)

    # ---------------------------------------------------------------- operations

    def vxm(
        self, other: MatrixLike, op: OperatorLike | None = None, *, reuse: VectorLike | None = None
    ) -> VectorExpression:
        """w' = v' (+.x) A.

        Shapes: v has A.nrows places, w has A.ncols.  Types: `op` (semiring.plus_times by default) decides.
        reuse: a vector that may take v's place row-wise, as for Matrix.mxv.
        Raises: DimensionMismatch; TypeError when `op` is no semiring.
        Spec: GraphBLAS C API 2.1, section 4.3.2.

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> v.vxm(A).new().to_dict()
        {0: 1, 1: 8}
        """
        if type(other) is not kinds.Matrix:
            accepted = kinds.Matrix, kinds.TransposedMatrix
            other = expect_type(self, other, accepted, within="vxm", argname="other", op=op)
        op = get_typed_op(op or default_op("semiring", "plus_times"), self.dtype, other.dtype, kind="semiring")
        if op.opclass != "Semiring":
            expect_op(self, op, "Semiring", within="vxm", argname="op")
        if reuse is not None:
            reuse = expect_type(self, reuse, kinds.Vector, within="vxm", argname="reuse", op=op)
        if other._is_transposed:
            record = ops.vxm(self, other._matrix, op, True, reuse)
        else:
            record = ops.vxm(self, other, op, False, reuse)
        return VectorExpression(record, ("{0.name}.vxm({1.name}, op={2})", self, other, op))

    def inner(self, other: VectorLike, op: OperatorLike | None = None) -> ScalarExpression:
        """s = v' (+.x) w, a ScalarExpression; empty when no position has an entry in both.

        Examples:
        >>> v, w = gb.Vector.from_dict({0: 1, 1: 2}), gb.Vector.from_dict({1: 3})
        >>> v.inner(w).new().value
        6
        """
        if type(other) is not Vector:
            other = expect_type(self, other, Vector, within="inner", argname="other", op=op)
        op = get_typed_op(op or default_op("semiring", "plus_times"), self.dtype, other.dtype, kind="semiring")
        if op.opclass != "Semiring":
            expect_op(self, op, "Semiring", within="inner", argname="op")
        return ScalarExpression(ops.inner(self, other, op), ("{0.name}.inner({1.name}, op={2})", self, other, op))

    def outer(self, other: VectorLike, op: OperatorLike | None = None) -> MatrixExpression:
        """C(i, j) = op(v(i), w(j)), a MatrixExpression; binary.times by default.

        Examples:
        >>> v, w = gb.Vector.from_dict({0: 1, 1: 2}), gb.Vector.from_dict({1: 3})
        >>> v.outer(w).new().to_dicts()
        {0: {1: 3}, 1: {1: 6}}
        """
        other = expect_type(self, other, Vector, within="outer", argname="other", op=op)
        op = get_typed_op(op or default_op("binary", "times"), self.dtype, other.dtype, kind="binary")
        expect_op(self, op, ("BinaryOp", "Monoid"), within="outer", argname="op")
        op = op.binaryop if op.opclass == "Monoid" else op
        return MatrixExpression(ops.outer(self, other, op), ("{0.name}.outer({1.name}, op={2})", self, other, op))

    def reduce(self, op: OperatorLike | None = None, *, allow_empty: bool = True) -> ScalarExpression:
        """s = (+)_i v(i); empty when v is, or the monoid's identity with allow_empty=False.

        op: Monoid (monoid.plus by default), a BinaryOp that belongs to one, or an Aggregator.
        Spec: GraphBLAS C API 2.1, section 4.3.10.

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> v.reduce().new().value, v.reduce(gb.agg.mean).new().value
        (3, 1.5)
        """
        aggregator = None if op is None else find_aggregator(op)
        if aggregator is not None:
            if not allow_empty:
                return refuse_empty(self, aggregator, "reduce")
            return aggregate(self, aggregator, "scalar", "reduce")
        return reduce_expression(self, op or default_op("monoid", "plus"), allow_empty, "reduce")

    def reposition(self, offset: int, *, size: int | None = None) -> VectorExpression:
        """w(i + offset) = v(i), of the same size or of `size`; what falls outside is dropped."""
        return recipes.reposition_vector(self, offset, size)


for _cls in (VectorExpression, VectorIndexExpr, VectorInfixExpr):
    forward_public(_cls, Vector)
