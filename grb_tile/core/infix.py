"""`A @ B`, `A | B`, `A & B`: products, unions and intersections whose operator is given later.

    op.plus(A | B)           ewise_add        op.plus(A | B, left_default=0, right_default=0)   ewise_union
    op.times(A & B)          ewise_mult       semiring.min_plus(A @ B)                          mxm, mxv, vxm, inner

Without an operator `A @ B` means plus_times, and for Boolean operands `A | B` means lor and `A & B` means land.
One operator serves a chain, op.plus(A | B | C); `|` and `&` do not mix, because `&` binds tighter than `|`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dtypes import BOOL
from ..exceptions import DimensionMismatch
from . import kinds
from .arguments import expect_type, output_type
from .expression import (
    COLLECTION_DUNDERS,
    SCALAR_DUNDERS,
    Computable,
    MatrixExpression,
    MatrixShaped,
    ScalarExpression,
    VectorExpression,
    VectorShaped,
    forward,
    refuse_in_place,
)
from .mask import Mask
from .operand import ScalarOperand

if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DataType
    from .annotations import DTypeLike, MaskLike
    from .scalar import Scalar

_MIXED = (
    "`|` and `&` cannot be mixed in one expression such as `op(x | y & z)`; "
    "compute one part first with `op(y & z).new()`"
)


class InfixExpr(Computable):
    """left (infix) right, and the expression with the default operator, made on first use."""

    __slots__ = ("left", "right", "_shape", "_method", "_expr", "__weakref__")
    _symbol = _example = None
    _default = {"|": ("lor", "LOR", "ewise_add (union)"), "&": ("land", "LAND", "ewise_mult (intersection)")}

    def __init__(self, left, right, shape, method):
        self.left = left
        self.right = right
        self._shape = shape
        self._method = method
        self._expr = None

    @property
    def method_name(self) -> str:
        return self._method

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def _value(self):
        return None if self._expr is None else self._expr._value

    @_value.setter
    def _value(self, value):
        self._to_expr()._value = value

    @property
    def dtype(self) -> DataType:
        return self._to_expr().dtype

    def _to_expr(self):
        """The expression with the default operator; TypeError for `|` and `&` of other than Boolean operands."""
        if self._expr is None:
            left, right = self.left, self.right
            if self._symbol == "@":
                self._expr = getattr(left, self._method)(right)
            else:
                default, upper, what = self._default[self._symbol]
                if not (left.dtype is BOOL and right.dtype is BOOL):
                    word = "plus" if self._symbol == "|" else "times"
                    form = f"x {self._symbol} y"
                    raise TypeError(
                        f"Bad dtypes for `{form}`!  Automatic computation of `{form}` infix expressions is only valid "
                        f"for BOOL dtypes.  The argument dtypes are {left.dtype} and {right.dtype}.\n\n"
                        f"When auto-computed for boolean dtypes, `{form}` performs {what} using {upper}.\n\n"
                        f"Typical usage is to create an {self._method} expression such as `monoid.{word}({form})`."
                    )
                self._expr = getattr(_value_of(left), self._method)(_value_of(right), default)
        return self._expr

    def close(self, op: Any, defaults: tuple[Any, Any] | None = None) -> Any:
        """The expression of this infix form under `op`; `defaults` (left, right) make an ewise_union of `|`."""
        left, right = self.left, self.right
        if defaults is not None:
            left = left.close(op, defaults).new() if isinstance(left, InfixExpr) else left
            right = right.close(op, defaults).new() if isinstance(right, InfixExpr) else right
            return _receiver(left, right).ewise_union(right, op, *defaults)
        left = left.close(op).new() if isinstance(left, InfixExpr) else left
        right = right.close(op).new() if isinstance(right, InfixExpr) else right
        return getattr(_receiver(left, right), self._method)(right, op)

    def new(
        self, dtype: DTypeLike | None = None, *, mask: MaskLike | None = None, name: str | None = None, **opts: Any
    ) -> Any:
        """Compute with the default operator."""
        return self._to_expr().new(dtype, mask=mask, name=name, **opts)

    def dup(
        self,
        dtype: DTypeLike | None = None,
        *,
        clear: bool = False,
        mask: MaskLike | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Any:
        """Like `new`; an empty object of the same shape with clear=True."""
        return self._to_expr().dup(dtype, clear=clear, mask=mask, name=name, **opts)

    def _format_expr(self):
        return f"{_text(self.left, 'name')} {self._symbol} {_text(self.right, 'name')}"

    def _format_expr_html(self):
        return f"{_text(self.left, '_name_html')} {self._symbol} {_text(self.right, '_name_html')}"


def _text(x, attribute):
    if isinstance(x, InfixExpr):
        return f"({x._format_expr() if attribute == 'name' else x._format_expr_html()})"
    return str(getattr(x, attribute, x))


def _value_of(x):
    return x.new() if isinstance(x, InfixExpr) else x


def _receiver(left, right):
    """`left`, or a Scalar made of it where a literal stands on the left of a Scalar."""
    if not hasattr(left, "ewise_add"):
        return kinds.Scalar.from_value(left, name="")
    return left


class VectorInfixExpr(VectorShaped, InfixExpr):
    """An infix form whose value is a Vector."""

    __slots__ = ()
    _kind = VectorExpression


class MatrixInfixExpr(MatrixShaped, InfixExpr):
    """An infix form whose value is a Matrix."""

    __slots__ = ()
    _kind = MatrixExpression


class ScalarInfixExpr(ScalarOperand, InfixExpr):
    """An infix form whose value is a Scalar."""

    __slots__ = ()
    ndim = 0
    _is_scalar = True
    _kind = ScalarExpression
    _is_cscalar = is_cscalar = False
    is_grbscalar = True

    def new(
        self, dtype: DTypeLike | None = None, *, is_cscalar: bool = False, name: str | None = None, **opts: Any
    ) -> Scalar:
        """Compute with the default operator."""
        return self._to_expr().new(dtype, is_cscalar=is_cscalar, name=name, **opts)

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
        return self._to_expr().dup(dtype, clear=clear, is_cscalar=is_cscalar, name=name, **opts)


_FORMS = (("|", "EwiseAddExpr", "plus"), ("&", "EwiseMultExpr", "times"), ("@", "MatMulExpr", "plus_times"))
_CLASSES = {}
for _base, _ndim in ((ScalarInfixExpr, 0), (VectorInfixExpr, 1), (MatrixInfixExpr, 2)):
    forward(_base, SCALAR_DUNDERS if _ndim == 0 else COLLECTION_DUNDERS)
    refuse_in_place(_base)
    for _symbol, _suffix, _example in _FORMS:
        _name = _base.__name__.removesuffix("InfixExpr") + _suffix
        _CLASSES[_ndim, _symbol] = globals()[_name] = type(
            _name, (_base,), {"__slots__": (), "_symbol": _symbol, "_example": _example, "__module__": __name__}
        )


def ewise(left, right, symbol, within):
    """`left | right` or `left & right`."""
    method = "ewise_add" if symbol == "|" else "ewise_mult"
    for side in (left, right):
        if isinstance(side, InfixExpr) and side._symbol in "|&" and side._symbol != symbol:
            raise TypeError(_MIXED)
    if isinstance(right, Mask):
        return right.__ror__(left) if symbol == "|" else right.__rand__(left)
    left_kind, right_kind = output_type(left), output_type(right)
    if left_kind in kinds.COLLECTIONS and right_kind in kinds.COLLECTIONS:
        left, right = _operand(left, symbol), _operand(right, symbol)
        shape = _joined_shape(left, right, method)
        return _CLASSES[len(shape), symbol](left, right, shape, method)
    types = (kinds.Vector, kinds.Matrix, kinds.TransposedMatrix)
    if left_kind in kinds.COLLECTIONS:
        expect_type(left, right, types, within=within, argname="right")
    if right_kind in kinds.COLLECTIONS:
        expect_type(right, left, types, within=within, argname="left")
    return _CLASSES[0, symbol](_operand(left, symbol), _operand(right, symbol), (), method)


def _operand(x, symbol):
    """x, computed if it is an expression other than an infix form of the same symbol, which the operator closes."""
    if isinstance(x, Computable) and not (isinstance(x, InfixExpr) and x._symbol == symbol):
        return x._get_value(_DUNDERS[symbol])
    return x


_DUNDERS = {"|": "__or__", "&": "__and__", "@": "__matmul__"}


def _joined_shape(left, right, method):
    a, b = left.shape, right.shape
    if len(a) == len(b):
        if a == b:
            return a
    elif len(a) == 1:
        if a[0] == b[0]:
            return b
        raise DimensionMismatch(
            f"Dimensions not compatible for broadcasting Vector from the left to columns of Matrix in {method}.  "
            f"Matrix.nrows (={b[0]}) must equal Vector.size (={a[0]})."
        )
    else:
        if a[1] == b[0]:
            return a
        raise DimensionMismatch(
            f"Dimensions not compatible for broadcasting Vector from the right to rows of Matrix in {method}.  "
            f"Matrix.ncols (={a[1]}) must equal Vector.size (={b[0]})."
        )
    raise DimensionMismatch(f"{method}: the operands have different shapes, {a} and {b}; resize one of them")


def _product(left, right):
    """The method that multiplies operands of these classes, None where one is no collection."""
    if left not in kinds.COLLECTIONS or right not in kinds.COLLECTIONS:
        return None
    if right is kinds.Vector:
        return "inner" if left is kinds.Vector else "mxv"
    return "vxm" if left is kinds.Vector else "mxm"


def matmul(left, right, within):
    """`left @ right`."""
    left_kind, right_kind = output_type(left), output_type(right)
    method = _product(left_kind, right_kind)
    if method is None:
        types = (kinds.Vector, kinds.Matrix, kinds.TransposedMatrix)
        if left_kind in kinds.COLLECTIONS:
            expect_type(left, right, types, within=within, argname="right")
        types = types[1:] if right_kind is kinds.Vector else types
        expect_type(right, left, types, within=within, argname="left")
    left, right = _operand(left, "@"), _operand(right, "@")
    a, b = left.shape, right.shape
    if a[-1] != b[0]:
        raise DimensionMismatch(
            f"{method}: the shapes are {a} and {b}; the inner dimensions {a[-1]} and {b[0]} must be equal "
            "(transpose with .T or resize an operand)"
        )
    shape = a[:-1] + b[1:]
    return _CLASSES[len(shape), "@"](left, right, shape, method)
