"""`v[i]`, `v[I]`, `A[i, j]`, `A[I, J]`, ...: an extract when read, an assignment when `<<` follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from .. import operations as ops
from ..dtypes import cast_scalar, lookup_dtype
from ..storage.turn_array import TurnArray
from . import elements, recorder, tracing, turn_arrays
from .arguments import check_options
from .expression import (
    COLLECTION_DUNDERS,
    SCALAR_DUNDERS,
    Computable,
    MatrixExpression,
    MatrixShaped,
    VectorExpression,
    VectorShaped,
    forward,
    new_or_empty,
    refuse_in_place,
)
from .index import Resolved
from .mask import check_mask
from .operand import ScalarOperand, VectorOperand
from .updater import Assigner, Updater

if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DataType
    from .annotations import DTypeLike, MaskLike, Position, Positions
    from .scalar import Scalar


_NUMBERS = frozenset((bool, int, float))


class IndexExpr(Computable):
    """Base of the indexed forms; python-graphblas calls it AmbiguousAssignOrExtract."""

    __slots__ = ("parent", "resolved_indexes", "_value", "__weakref__")

    def __init__(self, parent, resolved):
        self.parent = parent
        self.resolved_indexes = resolved
        self._value = None

    @property
    def dtype(self) -> DataType:
        return self.parent.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.resolved_indexes.shape

    def __call__(self, *args: Any, **kwargs: Any) -> Assigner:
        updater = self.parent(*args, **kwargs)
        return Assigner(updater, self.resolved_indexes, is_submask=updater.mask is not None)

    def update(self, expr: Any, **opts: Any) -> None:
        """`C[I, J] << expr` as a method."""
        if opts:
            check_options(opts)
        if getattr(self.parent, "_is_transposed", False):
            raise TypeError("'TransposedMatrix' object does not support item assignment")
        Updater(self.parent)._assign(self.resolved_indexes, expr, False)

    def __lshift__(self, expr: Any) -> None:
        parent = self.parent
        if type(expr) in _NUMBERS and parent.ndim == 1 and not parent.dtype._is_udt:
            axis = self.resolved_indexes.indices[0]
            if axis.index is None:  # v[:] << 5 is v << 5
                parent << expr
                return
        self.update(expr)

    _takes_input_mask = True

    def _to_expr(self):
        """The expression of the extract."""
        parent, (first, *rest) = self.parent, self.resolved_indexes.indices
        if rest and TurnArray in (type(first.index), type(rest[0].index)):
            return turn_arrays.line(parent, first, rest[0])
        if not rest:
            return VectorExpression(ops.extract(parent, first.index), ("{0.name}[{1._expr_name}]", parent, first))
        second = rest[0]
        matrix, transposed = (parent._matrix, True) if parent._is_transposed else (parent, False)
        record = ops.extract(matrix, first.index, second.index, transposed)
        cls = MatrixExpression if len(record.shape) == 2 else VectorExpression
        return cls(record, ("{0.name}[{1._expr_name}, {2._expr_name}]", parent, first, second))

    def new(
        self,
        dtype: DTypeLike | None = None,
        *,
        mask: MaskLike | None = None,
        input_mask: MaskLike | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Any:
        """Extract into a new object.

        mask        of the result's shape
        input_mask  of the shape of the object extracted from; its own extract is the mask then
        """
        if input_mask is not None:
            if mask is not None:
                raise TypeError("mask and input_mask arguments cannot both be given")
            mask = self._input_mask_to_mask(check_mask(input_mask, self.parent))
        if self._value is not None and mask is None and dtype is None:
            value, self._value = self._value, None
            if name is not None:
                value.name = name
            return value
        return self._to_expr().new(dtype, mask=mask, name=name, **opts)

    dup = new_or_empty

    def _input_mask_to_mask(self, input_mask):
        if not self.shape:
            raise TypeError("`input_mask` argument may only be used for extract of a part, not of one element")
        parent, other, indices = self.parent, input_mask.parent, self.resolved_indexes.indices
        if other.ndim == 1 and parent.ndim == 2:
            if len(self.shape) == 2:
                raise TypeError(
                    "Got Vector `input_mask` when extracting a submatrix from a Matrix.  "
                    "Vector `input_mask` with a Matrix (or TransposedMatrix) input is "
                    "only valid when extracting from a single row or column."
                )
            axis, attr = (1, "ncols") if indices[0].size is None else (0, "nrows")
            if parent.shape[axis] != other.shape[0]:
                raise ValueError(
                    f"Size of `input_mask` Vector does not match {attr} of Matrix:\n"
                    f"{parent.name}.{attr} != {other.name}.size  -->  {parent.shape[axis]} != {other.shape[0]}"
                )
            extracted = VectorExpression(ops.extract(other, indices[axis].index))
        elif other.shape != parent.shape:
            attr = "size" if parent.ndim == 1 else "shape"
            mine, its = (parent.shape[0], other.shape[0]) if parent.ndim == 1 else (parent.shape, other.shape)
            raise ValueError(
                f"{attr.capitalize()} of `input_mask` does not match {attr} of input:\n"
                f"{parent.name}.{attr} != {other.name}.{attr}  -->  {mine} != {its}"
            )
        elif other.ndim == 1:
            extracted = VectorExpression(ops.extract(other, indices[0].index))
        else:
            record = ops.extract(other, indices[0].index, indices[1].index)
            extracted = (MatrixExpression if len(record.shape) == 2 else VectorExpression)(record)
        return type(input_mask)(extracted.new(name="mask_temp"))

    def _format_expr(self):
        return f"{self.parent.name}[{', '.join(axis._expr_name for axis in self.resolved_indexes.indices)}]"

    def _format_expr_html(self):
        return f"{self.parent._name_html}[{', '.join(axis._expr_name for axis in self.resolved_indexes.indices)}]"


class VectorIndexExpr(VectorShaped, IndexExpr):
    """Picks a Vector."""

    __slots__ = ()


class MatrixIndexExpr(MatrixShaped, IndexExpr):
    """Picks a Matrix."""

    __slots__ = ()


class ScalarIndexExpr(ScalarOperand, IndexExpr):
    """Picks a single element."""

    __slots__ = ()
    ndim = 0
    shape = ()
    _is_scalar = True
    _is_cscalar = is_cscalar = False
    is_grbscalar = True

    def _element(self):
        """The NumPy scalar, or None."""
        parent, key = self.parent, self.resolved_indexes.key
        if parent.ndim == 2 and parent._is_transposed:
            parent, key = parent._matrix, key[::-1]
        return elements.get(parent, key)

    def new(
        self, dtype: DTypeLike | None = None, *, is_cscalar: bool | None = None, name: str | None = None, **opts: Any
    ) -> Scalar:
        """The element as a new Scalar, empty when there is none."""
        if opts:
            check_options(opts)
        if (
            tracing.active is not None
            and (found := turn_arrays.element(self.parent, self.resolved_indexes)) is not None
        ):
            return found.new(dtype)
        dtype = self.parent.dtype if dtype is None else lookup_dtype(dtype)
        value = self._element()
        if value is not None and dtype is not self.parent.dtype:
            value = cast_scalar(value, dtype)
        out = self.output_type._from_value(value, dtype, bool(is_cscalar), name)
        if recorder.active is not None:
            parent, axes = self.parent, self.resolved_indexes.indices
            kind = "Vector" if parent.ndim == 1 else "Matrix"
            if parent._is_transposed:
                parent, axes = parent._matrix, axes[::-1]
            keys = ", ".join(axis._expr_name for axis in axes)
            recorder.note_new(out)
            recorder.record(f"GrB_{kind}_extractElement_Scalar({out.name}, {parent.name}, {keys});")
        return out

    def dup(
        self,
        dtype: DTypeLike | None = None,
        *,
        clear: bool = False,
        is_cscalar: bool = False,
        name: str | None = None,
        **opts: Any,
    ) -> Scalar:
        """Like `new`; an empty Scalar with clear=True."""
        if clear:
            return self.output_type(self.dtype if dtype is None else dtype, is_cscalar=is_cscalar, name=name)
        return self.new(dtype, is_cscalar=is_cscalar, name=name, **opts)


AmbiguousAssignOrExtract = IndexExpr
for _cls in (VectorIndexExpr, MatrixIndexExpr):
    forward(_cls, COLLECTION_DUNDERS)
    refuse_in_place(_cls)
forward(ScalarIndexExpr, SCALAR_DUNDERS)
refuse_in_place(ScalarIndexExpr)


class VectorItems(VectorOperand):
    """Mixin of Vector: v[i] and v[I]."""

    __slots__ = ()

    @overload
    def __getitem__(self, keys: Position) -> ScalarIndexExpr: ...
    @overload
    def __getitem__(self, keys: Positions) -> VectorIndexExpr: ...
    @overload
    def __getitem__(self, keys: Any) -> Any: ...
    def __getitem__(self, keys: Any) -> VectorIndexExpr | ScalarIndexExpr:
        """v[i] or v[I]: to extract (`.new()`) or to assign to (`<<`).

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> v[1].new().value, v[[1, 0]].new().to_dict()
        (2, {0: 2, 1: 1})
        """
        resolved = Resolved(self, keys)
        return VectorIndexExpr(self, resolved) if resolved.shape else ScalarIndexExpr(self, resolved)
