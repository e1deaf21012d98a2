"""BinaryOp: z = f(x, y)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dtypes import BOOL, INT64
from ..exceptions import DomainMismatch, UdfParseError
from .base import TypedOpBase
from .functions import FunctionFamily, FunctionOp
from .ir import argument, cast, constant, renumber
from .registry import NAMESPACES
from .table import BINARY, COMMUTATIVE, COMMUTES, COMMUTES_IN_PRODUCT
from .to_numpy import numpy_function
from .unary import _rooted, definition

if TYPE_CHECKING:
    from typing import Any

_KINDS = {"first": "first", "second": "second", "pair": "pair", "any": "any"}
_FLIPPED_KIND = {"first": "second", "second": "first", "pair": "pair", "any": "any", None: None}
_FLIPPED_POSITION = {a.removeprefix("ss."): b.removeprefix("ss.") for a, b in COMMUTES_IN_PRODUCT.items()}


class TypedBinaryOp(TypedOpBase):
    """A BinaryOp for one pair of types.  Spec: GraphBLAS C API 2.1, section 3.4.1."""

    __slots__ = ("_flipped", "_monoid")
    opclass = "BinaryOp"

    def __init__(self, parent, name, type_, return_type, type2=None):
        super().__init__(parent, name, type_, return_type, type2)
        self._flipped = None
        self._monoid = None

    @property
    def monoid(self) -> Any:
        """The typed monoid of this operator, or None."""
        if self._monoid is None:
            monoid = self.parent.monoid
            if monoid is not None and self.type in monoid.types:
                self._monoid = monoid[self.type]
        return self._monoid

    @property
    def commutes_to(self) -> Any:
        """The typed operator g with g(y, x) = f(x, y), or None."""
        other = self.parent.commutes_to
        return _typed_or_none(other, self.type)

    @property
    def _semiring_commutes_to(self):
        other = self.parent._semiring_commutes_to
        return _typed_or_none(other, self.type)

    @property
    def is_commutative(self) -> bool:
        return self.commutes_to is self

    def flip(self) -> Any:
        """The operator g with g(x, y) = f(y, x), positions exchanged, too: the multiply of the transposed product."""
        if self._flipped is None:
            other = self._semiring_commutes_to or self.commutes_to
            if self.name in ("pow", "rpow"):  # their integers differ: one saturates, the other wraps
                other = None
            if other is None or other.type is not self.type2 or other.return_type is not self.return_type:
                other = _swapped(self)
            self._flipped = other
        return self._flipped


def _typed_or_none(op, type_):
    return op[type_] if op is not None and (type_ in op.types or type_._is_udt) else None


def _swapped(typed):
    """g(x, y) = f(y, x) as a new operator, which pickles as f.flip()."""
    new = _SwappedBinaryOp(typed.parent, typed.name, typed.type2, typed.return_type, typed.type)
    new.positional = _FLIPPED_POSITION.get(typed.positional)
    new.kind = _FLIPPED_KIND[typed.kind]
    if typed.expression is not None:
        new.expression = renumber(typed.expression, {0: 1, 1: 0})
        new.numpy = numpy_function(new.expression, 2)
    elif typed.numpy is not None:
        straight = typed.numpy
        new.numpy = lambda x, y: straight(y, x)
    if typed.python_function is not None:
        function = typed.python_function
        new.python_function = lambda x, y: function(y, x)
    new.refusal = typed.refusal
    new._flipped = typed
    return new


class _SwappedBinaryOp(TypedBinaryOp):
    __slots__ = ()

    def __repr__(self):
        return f"{self._flipped!r}.flip()"

    @property
    def commutes_to(self) -> Any:
        return self._flipped

    @property
    def monoid(self) -> Any:
        return None

    def __reduce__(self):
        return (TypedBinaryOp.flip, (self._flipped,))


def _first_or_second(op, dtype, dtype2):
    if dtype._is_udt or dtype2._is_udt:
        return op._compile_udt(dtype, dtype2)


def _pair(op, dtype, dtype2):
    return op[INT64]


class BinaryOp(FunctionOp):
    """z = f(x, y), possibly of another type.

    Types: `op.types`.  Spec: GraphBLAS C API 2.1, section 3.4.1.

    >>> from grb_tile.operators import BinaryOp
    >>> import numpy as np
    >>> larger = BinaryOp.register_anonymous(lambda x, y: x if x > y else y, "larger")
    >>> larger["FP64"].numpy(np.array([1.0, 4.0]), np.array([3.0, 2.0])).tolist()
    [3.0, 4.0]
    """

    _modname = "binary"
    opclass = "BinaryOp"

    @staticmethod
    def _argument_types(type_):
        return (type_, type_)

    def __init__(self, name, *, anonymous=False, rule=None):
        super().__init__(name, anonymous=anonymous, rule=rule)
        self._monoid = None
        self._commutes_to = None

    @classmethod
    def _predefined(cls, name):
        rule, text = BINARY[name]
        op = cls(name, rule=rule)
        op._builtin = True
        op._text = text
        op.is_positional = rule == "position"
        op._takes_udt = name in ("first", "second", "pair", "any", "eq", "ne")
        op._commutes_to = name if name in COMMUTATIVE else COMMUTES.get(name)
        op._custom_dtype = {"first": _first_or_second, "second": _first_or_second, "pair": _pair}.get(name)
        return op

    def _make(self, type_, inner, result):
        typed = TypedBinaryOp(self, self.name.removeprefix("ss."), type_, result)
        if self.is_positional:
            typed.positional = typed.name
        elif self.orig_func is not None:
            self._user.install(typed, (type_, type_), result)
        else:
            operands = [cast(argument(k, type_), inner) for k in (0, 1)]
            typed.expression = _rooted(definition(self._text, inner), {"x": inner, "y": inner}, operands, result)
            typed.numpy = numpy_function(typed.expression, 2)
            typed.kind = _KINDS.get(self.name)
        return typed

    def _compile_udt(self, dtype, dtype2):
        dtype2 = dtype if dtype2 is None else dtype2
        typed = self._pairs.get((dtype, dtype2))
        if typed is not None:
            return typed
        if self.orig_func is not None:
            result = self._user.natural_type((dtype, dtype2))
            if result is None:
                raise KeyError(f"{self.name} does not work with {(dtype, dtype2)} types") from self._user.trial_error
            typed = TypedBinaryOp(self, self.name, dtype, result, dtype2)
            self._user.install(typed, (dtype, dtype2), result)
        else:
            typed = self._on_records(dtype, dtype2)
        self._pairs[dtype, dtype2] = typed
        return typed

    def _on_records(self, dtype, dtype2):
        if not self._takes_udt:
            raise KeyError(f"{self.name} does not work with {(dtype, dtype2)} types")
        if self.name in ("eq", "ne"):
            if dtype is not dtype2:
                raise KeyError(
                    f"{self.name} compares user-defined types with themselves only, not {dtype} with {dtype2}"
                )
            typed = TypedBinaryOp(self, self.name, dtype, BOOL, dtype2)
            # == and != compare records field by field, NumPy's ufuncs do not
            typed.numpy = typed.python_function = (lambda x, y: x == y) if self.name == "eq" else (lambda x, y: x != y)
            return typed
        if self.name == "pair":
            typed = TypedBinaryOp(self, self.name, dtype, INT64, dtype2)
            typed.expression = constant(1, INT64)
        else:
            which = 0 if self.name == "first" else 1
            typed = TypedBinaryOp(self, self.name, dtype, (dtype, dtype2)[which], dtype2)
            typed.expression = argument(which, typed.return_type)
        typed.kind = self.name
        typed.numpy = numpy_function(typed.expression, 2)
        return typed

    @property
    def monoid(self) -> Any:
        """The Monoid made of this operator, or None."""
        if self._monoid is None and not self._anonymous:
            self._monoid = NAMESPACES["monoid"].get(self.name)
        return self._monoid

    @property
    def commutes_to(self) -> Any:
        """The operator g with g(y, x) = f(x, y), or None."""
        if isinstance(self._commutes_to, str):
            self._commutes_to = BinaryOp._find(self._commutes_to)
        return self._commutes_to

    @property
    def _semiring_commutes_to(self):
        name = COMMUTES_IN_PRODUCT.get(self.name)
        return None if name is None else BinaryOp._find(name)

    @property
    def is_commutative(self) -> bool:
        return self.commutes_to is self


def isclose(rel_tol=1e-7, abs_tol=0.0):
    """The function of isclose(rel_tol, abs_tol): |x - y| <= max(rel_tol * max(|x|, |y|), abs_tol)."""

    def inner(x, y):
        return x == y or abs(x - y) <= max(rel_tol * max(abs(x), abs(y)), abs_tol)

    return inner


class ParameterizedBinaryOp(FunctionFamily):
    """A family of BinaryOps: a call with parameters returns the operator."""

    _op_class = BinaryOp

    def __init__(self, name, func, *, anonymous=False, is_udt=False):
        self._monoid = None
        self._commutes_to = None
        super().__init__(name, func, anonymous=anonymous, is_udt=is_udt)

    def _call(self, *args, **kwargs):
        op = super()._call(*args, **kwargs)
        if self._monoid is not None and op._monoid is None:
            op._monoid = op  # a marker that ends the recursion: the monoid looks this operator up
            self._cache[args, tuple(sorted(kwargs.items()))] = op
            try:
                self._monoid(*args, **kwargs)  # sets op._monoid if the monoid is defined for the parameters
            except (TypeError, ValueError, KeyError, UdfParseError, DomainMismatch):
                pass  # no monoid for these parameters
            if op._monoid is op:
                op._monoid = None
        if self.is_commutative:
            op._commutes_to = op
        return op

    @property
    def monoid(self) -> Any:
        return self._monoid

    @property
    def commutes_to(self) -> Any:
        if isinstance(self._commutes_to, str):
            self._commutes_to = BinaryOp._find(self._commutes_to)
        return self._commutes_to

    @property
    def is_commutative(self) -> bool:
        return self.commutes_to is self
