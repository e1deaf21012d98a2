"""Scalar: one value of a GraphBLAS type, or none.

An empty Scalar assigned to a region deletes it; a reduction of no entries gives one.  `is_cscalar` is
python-graphblas's choice between a C scalar and a GrB_Scalar; here it has no effect.

Spec: GraphBLAS C API 2.1, sections 3.5.1 (scalars) and 4.2.3 (their methods).
"""

from __future__ import annotations

import itertools
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from .. import operations as ops
from ..backends.select import on_host
from ..config import config
from ..dtypes import FP64, _index_dtypes, cast_scalar, lookup_dtype
from ..operators import get_typed_op
from ..storage.constructors import vector_of_scalar
from . import elements, kinds, recorder
from .arguments import check_options, expect_type, literal, name_of_choice, output_type, scalar_of, type_argument
from .base import BaseType
from .expression import ScalarExpression, forward_public
from .indexed import ScalarIndexExpr
from .infix import ScalarInfixExpr
from .operand import ScalarOperand

if TYPE_CHECKING:
    from typing import Any, Self

    from .annotations import DTypeLike, OperatorLike, ScalarLike


@kinds.register
class Scalar(ScalarOperand, BaseType):
    """A scalar of type `dtype`, empty at first.

    >>> import grb_tile as gb
    >>> s = gb.Scalar.from_value(3, name="s")
    >>> s.value, s.dtype
    (3, INT64)
    """

    __slots__ = ("_dtype", "name", "_value", "_is_cscalar", "__weakref__")
    dtype = property(attrgetter("_dtype"), doc="The type; dup(dtype) makes an object of another one.")
    ndim = 0
    shape = ()
    _is_scalar = True
    _name_counter = itertools.count()
    _expression_type = ScalarExpression

    def __init__(self, dtype: DTypeLike = FP64, *, is_cscalar: bool = False, name: str | None = None) -> None:
        self._dtype = type_argument(dtype, "Scalar")
        self.name = f"s_{next(Scalar._name_counter)}" if name is None else name
        self._value = None
        self._is_cscalar = True if is_cscalar is None else is_cscalar
        if recorder.active is not None and not self._is_cscalar:
            recorder.note_new(self)

    @classmethod
    def _from_value(cls, value, dtype, is_cscalar=False, name=None):
        """A Scalar of a NumPy scalar that has the right type already, or of None."""
        self = cls.__new__(cls)
        self._dtype = dtype
        self.name = f"s_{next(Scalar._name_counter)}" if name is None else name
        self._value = value
        self._is_cscalar = is_cscalar
        return self

    @classmethod
    def from_value(
        cls, value: Any, dtype: DTypeLike | None = None, *, is_cscalar: bool = False, name: str | None = None
    ) -> Scalar:
        """A Scalar of `value`: a Python or NumPy scalar, or another Scalar.

        Types: `dtype`, or the one that fits the value's Python type.
        Raises: TypeError when `value` is no scalar.

        Examples:
        >>> s = gb.Scalar.from_value(2.5)
        >>> s.value, s.dtype
        (2.5, FP64)
        """
        is_cscalar = True if is_cscalar is None else is_cscalar
        if output_type(value) is Scalar:
            if type(value) is not Scalar:
                if not config.get("autocompute"):
                    extra = "Literal scalars expected."
                    expect_type(cls(), value, Scalar, within="from_value", argname="value", extra_message=extra)
                return value.new(dtype=dtype, is_cscalar=is_cscalar, name=name)
            dtype = value.dtype if dtype is None else lookup_dtype(dtype)
            held = value._value
            return cls._from_value(None if held is None else cast_scalar(held, dtype), dtype, is_cscalar, name)
        if value is None and dtype is not None:
            return cls(dtype, is_cscalar=is_cscalar, name=name)
        held, dtype = literal(value, dtype)
        return cls._from_value(held, dtype, is_cscalar, name)

    def __reduce__(self):
        return _restore, (self.value, self.dtype, self._is_cscalar, self.name)

    @property
    def is_cscalar(self) -> bool:
        """As in python-graphblas; it has no effect here."""
        return self._is_cscalar

    @property
    def is_grbscalar(self) -> bool:
        """The opposite of is_cscalar."""
        return not self._is_cscalar

    @property
    def gb_obj(self) -> Any:
        """The value as a NumPy scalar, or None."""
        return self._value

    @property
    def _expr_name(self):
        return self.name or repr(self.value)

    @property
    def _expr_name_html(self):
        return self._name_html or repr(self.value)

    # ---------------------------------------------------------------- value

    @property
    def is_empty(self) -> bool:
        """True when there is no value.

        Examples:
        >>> gb.Scalar(int).is_empty
        True
        """
        return self._value is None

    _is_empty = is_empty

    @property
    def nvals(self) -> int:
        """0 or 1.

        Examples:
        >>> gb.Scalar(int).nvals, gb.Scalar.from_value(3).nvals
        (0, 1)
        """
        return 0 if self._value is None else 1

    _nvals = nvals

    @property
    def value(self) -> Any:
        """The value as a Python scalar, None when empty; may be assigned to (None empties).

        Examples:
        >>> s = gb.Scalar.from_value(3)
        >>> s.value += 1
        >>> s.value
        4
        """
        held = self._value
        if held is None:
            return None
        return held if self.dtype._is_udt else held.item()

    @value.setter
    def value(self, value: Any) -> None:
        if output_type(value) is Scalar:
            if type(value) is not Scalar:
                value = Scalar.from_value(value)
            value = value._value
        elif self._is_cscalar and isinstance(value, (float, complex)) and self.dtype.np_type.kind in "iu":
            raise TypeError(f"an integer is expected for a C scalar of type {self.dtype}; got {value!r}")
        self._value = None if value is None else scalar_of(value, self.dtype)

    def get(self, default: Any = None) -> Any:
        """The value as a Python scalar, or `default` when empty.

        Examples:
        >>> gb.Scalar(int).get(default=0)
        0
        """
        return default if self._value is None else self.value

    def clear(self) -> None:
        """Remove the value.

        Examples:
        >>> s = gb.Scalar.from_value(3)
        >>> s.clear()
        >>> s.value is None
        True
        """
        self._value = None

    def dup(
        self,
        dtype: DTypeLike | None = None,
        *,
        clear: bool = False,
        is_cscalar: bool | None = None,
        name: str | None = None,
    ) -> Scalar:
        """A copy, of type `dtype` when given; empty with clear=True.

        Examples:
        >>> gb.Scalar.from_value(3).dup(float).value
        3.0
        """
        if is_cscalar is None:
            is_cscalar = self._is_cscalar
        dtype = self.dtype if dtype is None else lookup_dtype(dtype)
        value = None if clear or self._value is None else self._value
        if value is not None and dtype is not self.dtype:
            value = scalar_of(value, dtype)
        return Scalar._from_value(value, dtype, is_cscalar, name)

    def wait(self, how: str = "materialize") -> Self:
        """Does nothing.  Raises: ValueError unless `how` is "materialize" or "complete"."""
        check_wait(how)
        return self

    def __bool__(self):
        return self._value is not None and bool(self._value)

    def __float__(self):
        return float(self.value)

    def __int__(self):
        return int(self.value)

    def __complex__(self):
        return complex(self.value)

    @property
    def __index__(self):
        if self.dtype in _index_dtypes:
            return self.__int__
        raise AttributeError("Scalar object only has `__index__` for integral dtypes")

    def __array__(self, dtype=None, *, copy=None):
        return np.array(self.value, dtype=self.dtype.np_type if dtype is None else dtype)

    def __sizeof__(self):
        return object.__sizeof__(self) + self.dtype.np_type.itemsize

    # ---------------------------------------------------------------- comparison

    def __eq__(self, other):
        return self.isequal(other)

    def __ne__(self, other):
        return not self.isequal(other)

    __hash__ = None  # type: ignore[assignment]

    def isequal(self, other: ScalarLike, *, check_dtype: bool = False) -> bool:
        """Both empty, or equal values; `check_dtype` also compares the types (literals have none).

        Examples:
        >>> s, t = gb.Scalar.from_value(3), gb.Scalar.from_value(3.0)
        >>> s.isequal(t), s.isequal(t, check_dtype=True)
        (True, False)
        """
        other, known = self._compared(other, "isequal", check_dtype)
        if known is not None:
            return known
        return bool(np.all(self.value == other.value))

    def isclose(
        self, other: ScalarLike, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False
    ) -> bool:
        """Both empty, or abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol).

        Examples:
        >>> gb.Scalar.from_value(1.0).isclose(1.0 + 1e-9)
        True
        """
        other, known = self._compared(other, "isclose", check_dtype)
        if known is not None:
            return known
        get_typed_op("eq", self.dtype, other.dtype, is_left_scalar=True, is_right_scalar=True, kind="binary")
        a, b = self.value, other.value
        return a == b or abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)

    def _compared(self, other, within, check_dtype):
        """(the other as a Scalar, what is known of the comparison without the values: None where they decide)."""
        other, check_dtype = self._other(other, within, check_dtype)
        if other is None:
            return None, self._value is None
        if check_dtype and self.dtype is not other.dtype:
            return other, False
        if self._value is None or other._value is None:
            return other, self._value is other._value
        return other, None

    def _other(self, other, within, check_dtype):
        if type(other) is Scalar:
            return other, check_dtype
        if other is None:
            return None, False
        if output_type(other) is not Scalar:
            try:
                value, dtype = literal(other, self.dtype if self.dtype._is_udt else None)
                return Scalar._from_value(value, dtype, True, ""), False
            except TypeError:
                pass
        extra = "Literal scalars also accepted."
        return expect_type(self, other, Scalar, within=within, argname="other", extra_message=extra), check_dtype

    # ---------------------------------------------------------------- operations: on a vector of size 1

    def _as_vector(self, *, name=None):
        store = vector_of_scalar(self._value, self.dtype)
        return kinds.Vector._from_store(store, self.dtype, self._expr_name if name is None else name)

    def _as_matrix(self, *, name=None):
        out = kinds.Matrix(self.dtype, 1, 1, name=self.name if name is None else name)
        if self._value is not None:
            out[0, 0] = self._value
        return out

    def _operand(self, other, method, keyword="other", op=None):
        if output_type(other) is Scalar:
            return other if type(other) is Scalar else Scalar.from_value(other)
        try:
            return Scalar._from_value(*literal(other, self.dtype if self.dtype._is_udt else None), False, "")
        except TypeError:
            return expect_type(
                self, other, Scalar, within=method, keyword_name=keyword, op=op,
                extra_message="Literal scalars also accepted.",
            )  # fmt: skip

    def ewise_add(self, other: ScalarLike, op: OperatorLike = "plus") -> ScalarExpression:
        """s (op) t when both have values, else the one that has."""
        other = self._operand(other, "ewise_add", op=op)
        expr = self._as_vector().ewise_add(other._as_vector(), op)
        return ScalarExpression(ScalarRecord(expr._record, self), expr._text)

    def ewise_mult(self, other: ScalarLike, op: OperatorLike = "times") -> ScalarExpression:
        """s (op) t when both have values, else empty."""
        other = self._operand(other, "ewise_mult", op=op)
        expr = self._as_vector().ewise_mult(other._as_vector(), op)
        return ScalarExpression(ScalarRecord(expr._record, self, other), expr._text)

    def ewise_union(
        self, other: ScalarLike, op: OperatorLike, left_default: ScalarLike, right_default: ScalarLike
    ) -> ScalarExpression:
        """s (op) t, a default standing for a missing one; empty when both are."""
        other = self._operand(other, "ewise_union", op=op)
        expr = self._as_vector().ewise_union(other._as_vector(), op, left_default, right_default)
        return ScalarExpression(ScalarRecord(expr._record, self), expr._text)

    def apply(
        self, op: OperatorLike, right: ScalarLike | None = None, *, left: ScalarLike | None = None
    ) -> ScalarExpression:
        """op(s), op(s, right) or op(left, s); see Vector.apply.

        Examples:
        >>> gb.Scalar.from_value(-3).apply(gb.unary.abs).new().value
        3
        """
        expr = self._as_vector().apply(op, right, left=left)
        return ScalarExpression(ScalarRecord(expr._record, self), expr._text)

    def select(self, op: OperatorLike, thunk: ScalarLike | None = None) -> ScalarExpression:
        """s where op(s, thunk) is true, else empty; see Vector.select."""
        expr = self._as_vector().select(op, thunk)
        return ScalarExpression(ScalarRecord(expr._record, self), expr._text)

    # ---------------------------------------------------------------- writing

    def _update(self, expr, desc=ops.PLAIN, input_mask=None):
        accum = desc.accum
        if isinstance(expr, ScalarInfixExpr):
            expr = expr._to_expr()
        if isinstance(expr, ScalarExpression):
            value, dtype = expr._compute(), expr.dtype
            if recorder.active is not None:
                recorder.note_write(self.name, expr._record, desc)
        elif isinstance(expr, ScalarIndexExpr):
            value, dtype = (expr._element() if accum is None else expr._get_value("value")._value), expr.dtype
        elif type(expr) is Scalar:
            value, dtype = expr._value, expr.dtype
        elif hasattr(expr, "output_type") or hasattr(expr, "_store"):
            expected = type("ScalarExpression", (), {})
            expect_type(self, expr, (Scalar, expected), within="update")
        elif expr is None:
            value, dtype = None, self.dtype
        else:
            if accum is None:
                self.value = expr
                return
            value, dtype = literal(expr)
        value = ops.accumulate_scalar(self._value, value, accum)
        self._value = None if value is None else scalar_of(value, self.dtype)


class ScalarRecord(ops.Record):
    """The only element of a vector of size 1 that another record computes, always on the host."""

    __slots__ = ("inner", "scalar", "other")

    def __init__(self, inner, scalar=None, other=None):
        self.inner, self.scalar, self.other = inner, scalar, other
        self.shape, self.dtype, self.op = (), inner.dtype, inner.op

    @property
    def name(self):
        return self.inner.name

    @property
    def c_name(self):
        return self.inner.c_name

    def operands(self):
        return self.inner.operands()

    def compute(self, mask=None):
        return elements.read(on_host(self.inner.compute), 0)

    def extra(self):
        return self.inner.extra()


def check_wait(how: str) -> None:
    """Raises: ValueError unless `how` names a way to wait."""
    if name_of_choice(how, "how") not in ("materialize", "complete"):
        raise ValueError(f'`how` argument must be "materialize" or "complete"; got {how!r}')


def _restore(value, dtype, is_cscalar, name):
    return Scalar.from_value(value, dtype, is_cscalar=is_cscalar, name=name)


for _cls in (ScalarExpression, ScalarIndexExpr, ScalarInfixExpr):
    forward_public(_cls, Scalar)
    _cls.__index__ = property(lambda self: self._get_value("__index__").__index__)

__all__ = ["Scalar", "ScalarRecord", "check_options", "check_wait"]
