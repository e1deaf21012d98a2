"""Monoid: an associative, commutative operator with an identity; a reduction stops at the terminal value (early exit).

                identity        terminal                        identity          terminal
    plus        0               none                band        all ones          0
    times       1               0 (integers)        bor         0                 all ones
    min         greatest value  least value         bxor        0                 none
    max         least value     greatest value      bxnor       all ones          none
    lor         false           true                lxor        false             none
    land        true            false               lxnor, eq   true              none
    any         0               every value (ANY)

Spec: GraphBLAS C API 2.1, section 3.4.2 and table 3.7; SuiteSparse:GraphBLAS 9.4 user guide, section 6.6.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..dtypes import BOOL, FC32, FC64, FP32, FP64, cast_scalar, lookup_dtype
from ..exceptions import DomainMismatch
from .base import OpBase, ParameterizedUdf, TypedOpBase
from .binary import BinaryOp, ParameterizedBinaryOp
from .table import BUILTIN, INTEGERS, REALS, RULES

if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DataType


class _Any:
    """The terminal value of the ANY monoid: a reduction may stop at any value."""

    __slots__ = ()

    def __repr__(self):
        return "ANY"

    def __reduce__(self):
        return "ANY"


ANY = _Any()

_NOT_BOOL = tuple(t for t in BUILTIN if t is not BOOL)
_LOGICAL = dict.fromkeys(REALS, (BOOL, BOOL, BOOL))
_BOOL_ALIAS = {"max": "lor", "min": "land", "times": "land"}
_TYPES = {
    "any": RULES["all"], "eq": {BOOL: (BOOL, BOOL, BOOL)}, "plus": {t: (t, t, t) for t in _NOT_BOOL},
    "times": RULES["all"],
    "min": RULES["real"], "max": RULES["real"], "land": _LOGICAL, "lor": _LOGICAL, "lxor": _LOGICAL, "lxnor": _LOGICAL,
    "band": RULES["unsigned"], "bor": RULES["unsigned"], "bxor": RULES["unsigned"], "bxnor": RULES["unsigned"],
    "numpy.gcd": RULES["integer"], "numpy.hypot": RULES["float"], "numpy.logaddexp": RULES["float"],
    "numpy.logaddexp2": RULES["float"], "numpy.maximum": RULES["all"], "numpy.minimum": RULES["all"],
}  # fmt: skip
_IDEMPOTENT = {"any", "band", "bor", "land", "lor", "max", "min", "numpy.gcd", "numpy.maximum", "numpy.minimum"}
MONOIDS = tuple(name for name in _TYPES if not name.startswith("numpy."))


def _identity(name, type_):
    kind = type_.np_type.kind
    if name in ("plus", "lor", "lxor", "bor", "bxor", "any", "numpy.gcd", "numpy.hypot"):
        value = 0
    elif name in ("times", "land", "lxnor", "eq"):
        value = 1
    elif name in ("band", "bxnor"):
        value = type_.max
    elif name in ("min", "numpy.minimum"):
        value = complex(np.inf, np.inf) if kind == "c" else type_.max
    elif name in ("max", "numpy.maximum"):
        value = complex(-np.inf, -np.inf) if kind == "c" else type_.min
    else:
        value = -np.inf
    return type_.np_type.type(value)


def _terminal(name, type_):
    if name == "any":
        return ANY
    if name == "min" or name == "numpy.minimum" and type_ in (BOOL, *INTEGERS):
        return type_.min
    if name == "max" or name == "numpy.maximum" and type_ in (BOOL, *INTEGERS):
        return type_.max
    if name == "lor":
        return np.True_
    if name == "land":
        return np.False_
    if name == "times" and type_ in INTEGERS or name == "band":
        return type_.np_type.type(0)
    if name == "bor":
        return type_.max
    return None


def _ufunc(name, type_):
    if name.startswith("numpy."):
        return getattr(np, name.removeprefix("numpy."))
    if name in ("min", "max"):
        return getattr(np, ("f" if type_ in (FP32, FP64) else "") + name + ("" if type_ in (FP32, FP64) else "imum"))
    return {
        "plus": np.add, "times": np.multiply, "lor": np.logical_or, "land": np.logical_and, "lxor": np.logical_xor,
        "lxnor": np.equal, "eq": np.equal, "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor,
    }.get(name)  # fmt: skip


_silently = np.errstate(all="ignore")


class TypedMonoid(TypedOpBase):
    """A Monoid for one type: `identity`, `terminal` (None, a NumPy scalar, or ANY), and reductions of arrays.

    `ufunc` may be used with dtype= the type's; None where NumPy has none.  Spec: GraphBLAS C API 2.1, section 3.4.2.
    """

    __slots__ = ("binaryop", "identity", "terminal", "ufunc")
    opclass = "Monoid"
    is_commutative = True

    @property
    def commutes_to(self) -> Any:
        return self

    @property
    def is_idempotent(self) -> bool:
        """True when `monoid(x, x) == x` for every x."""
        return self.parent.is_idempotent

    @property
    def monoid(self) -> Any:
        return self

    @_silently
    def reduceat(self, values, starts):
        """One value per segment: segment k is values[starts[k]:starts[k + 1]], none of them empty.

        >>> import numpy as np
        >>> from grb_tile import monoid
        >>> monoid.plus["INT8"].reduceat(np.array([100, 100, 5], np.int8), np.array([0, 2])).tolist()
        [-56, 5]
        """
        if len(starts) == 0:
            return np.empty(0, self.return_type.np_type)
        ufunc = self.ufunc
        if ufunc is not None:
            return ufunc.reduceat(values, starts, dtype=self.return_type.np_type)
        if self.terminal is ANY:
            return values[starts]
        if self.name == "bxnor":
            lengths = np.diff(starts, append=values.shape[0])
            result = np.bitwise_xor.reduceat(values, starts)
            return np.where(lengths % 2 == 0, ~result, result)
        return _pairwise(self.binaryop.numpy, values, starts)

    @_silently
    def reduce_equal(self, one, count):
        """The reduction of `count` (at least 1) equal values; `one` is an array of one of them.

        z(1) = one, z(2 n) = z(n) (+) z(n), z(2 n + 1) = z(2 n) (+) one: log2(count) steps, rounded as in
        SuiteSparse:GraphBLAS (GB_iso_reduce_to_scalar).

        >>> import numpy as np
        >>> from grb_tile import monoid
        >>> int(monoid.plus["INT64"].reduce_equal(np.array([3]), 2**60))
        3458764513820540928
        """
        total = one
        for bit in bin(count)[3:]:
            total = self.binaryop.numpy(total, total)
            if bit == "1":
                total = self.binaryop.numpy(total, one)
        return total[0]

    @_silently
    def reduce(self, values):
        """The reduction of a one-dimensional array; the identity when it is empty."""
        if values.shape[0] == 0:
            return self.identity
        if values.shape[0] == 1:  # as it is: NumPy begins with the identity, and gcd(0, -2) is 2
            return values.astype(self.return_type.np_type)[0]
        if self.ufunc is not None:
            return self.ufunc.reduce(values, dtype=self.return_type.np_type)
        return self.reduceat(values, np.zeros(1, np.int64))[0]


def _pairwise(function, values, starts):
    """Segmented reduction: each step combines pairs of neighbours and halves the segments, until each is one value."""
    starts = np.asarray(starts, np.int64)
    lengths = np.diff(starts, append=values.shape[0])
    while lengths.max() > 1:
        rank = np.arange(values.shape[0]) - np.repeat(starts, lengths)
        even = rank % 2 == 0
        paired = even & (rank + 1 < np.repeat(lengths, lengths))
        left = np.flatnonzero(paired)
        halved = np.array(values)
        halved[left] = function(values[left], values[left + 1])
        values = halved[even]
        lengths = (lengths + 1) // 2
        starts = np.cumsum(lengths) - lengths
    return values


class Monoid(OpBase):
    """An associative, commutative BinaryOp of one type with an identity.

    Spec: GraphBLAS C API 2.1, section 3.4.2.

    >>> from grb_tile import binary, dtypes
    >>> from grb_tile.operators import Monoid
    >>> Monoid.register_anonymous(binary.numpy.hypot, 0).identities[dtypes.FP32]
    np.float32(0.0)
    """

    _modname = "monoid"
    opclass = "Monoid"
    is_commutative = True
    orig_func = None

    def __init__(self, name, binaryop=None, identity=None, *, is_idempotent=False, anonymous=False):
        super().__init__(name, anonymous=anonymous)
        self._binaryop = binaryop
        self._identity = identity
        self._is_idempotent = is_idempotent
        if binaryop is not None:
            binaryop._monoid = self
            self._is_udt = binaryop._is_udt

    @classmethod
    def _predefined(cls, name):
        op = cls(name, is_idempotent=name in _IDEMPOTENT)
        op._builtin = True
        op._set_rule(_TYPES[name])
        op._takes_udt = name == "any"
        if name in _BOOL_ALIAS:
            op.coercions[BOOL] = BOOL
        return op

    def _typed_by_rule(self, dtype, rule):
        if dtype is BOOL and self._builtin and self.name in _BOOL_ALIAS:
            return Monoid._find(_BOOL_ALIAS[self.name])[BOOL]
        return super()._typed_by_rule(dtype, rule)

    def _make(self, type_, inner, result):
        typed = TypedMonoid(self, self.name, type_, result)
        typed.binaryop = self.binaryop[type_]
        if self._builtin:
            typed.identity = _identity(self.name, type_)
            typed.terminal = _terminal(self.name, type_)
            typed.ufunc = _ufunc(self.name, type_)
        else:
            self._fill(typed, self._identities[type_])
        return typed

    def _fill(self, typed, identity):
        """Set the fields of a user's monoid: no terminal value, reductions by its operator."""
        typed.identity = identity
        typed.terminal = None
        typed.ufunc = None
        if typed.binaryop._monoid is None:
            typed.binaryop._monoid = typed

    def _compile_udt(self, dtype, dtype2):
        if dtype2 is not None and dtype2 is not dtype:
            raise TypeError(
                f"Monoid inputs must be the same dtype (got {dtype} and {dtype2}); unable to coerce when using UDTs."
            )
        typed = self._pairs.get(dtype)
        if typed is None:
            binaryop = self.binaryop._compile_udt(dtype, dtype)
            typed = TypedMonoid(self, self.name, dtype, binaryop.return_type)
            typed.binaryop = binaryop
            identity = np.zeros(1, dtype.np_type)
            if self._identity is not None:
                identity[...] = self._identity
            self._fill(typed, identity[0])
            if self.name == "any" and self._builtin:
                typed.terminal = ANY
            self._pairs[dtype] = typed
        return typed

    @classmethod
    def _build(cls, name, binaryop, identity, *, is_idempotent=False, anonymous=False):
        if type(binaryop) is not BinaryOp:
            raise TypeError(f"binaryop must be a BinaryOp, not {type(binaryop)}")
        op = cls(name or binaryop.name, binaryop, identity, is_idempotent=is_idempotent, anonymous=anonymous)
        if binaryop._is_udt:
            return op
        explicit = isinstance(identity, Mapping)
        given = (
            {lookup_dtype(k): v for k, v in identity.items()} if explicit else dict.fromkeys(binaryop.types, identity)
        )
        rule, op._identities = {}, {}
        for type_, value in given.items():
            typed = binaryop[type_]
            if typed.return_type is not type_ or typed.type is not type_:
                if explicit:
                    raise DomainMismatch(
                        f"monoid {op.name}: {binaryop!r} gives {typed.return_type} for {type_}, not {type_}"
                    )
                continue
            if type_ not in (FC32, FC64) and isinstance(value, complex):
                continue
            op._identities[type_] = cast_scalar(value, type_)
            rule[type_] = (type_, type_, type_)
        op._set_rule(rule)
        return op

    @classmethod
    def register_anonymous(
        cls, binaryop: Any, identity: Any, name: str | None = None, *, is_idempotent: bool = False
    ) -> Any:
        """A Monoid of `binaryop` and `identity` (a scalar, or a mapping from type to scalar), in no namespace.

        Raises: TypeError when binaryop is no BinaryOp; DomainMismatch when `identity` has a type for which binaryop
        returns another one.
        """
        if type(binaryop) is ParameterizedBinaryOp:
            return ParameterizedMonoid(name, binaryop, identity, is_idempotent=is_idempotent, anonymous=True)
        return cls._build(name, binaryop, identity, is_idempotent=is_idempotent, anonymous=True)

    @classmethod
    def register_new(
        cls, name: str, binaryop: Any, identity: Any, *, is_idempotent: bool = False, lazy: bool = False
    ) -> Any:
        """Register a Monoid as `grb_tile.monoid.<name>`; see `register_anonymous`."""
        cls._refuse_taken(name)

        def new():
            operator = BinaryOp._find(binaryop) if isinstance(binaryop, str) else binaryop
            if type(operator) is ParameterizedBinaryOp:
                return ParameterizedMonoid(name, operator, identity, is_idempotent=is_idempotent)
            return cls._build(name, operator, identity, is_idempotent=is_idempotent)

        if lazy:
            return cls._namespace().delay(name, new)
        op = new()
        cls._publish(name, op)
        return op

    @property
    def binaryop(self) -> Any:
        """The BinaryOp of the monoid."""
        return self._binaryop if self._binaryop is not None else BinaryOp._find(self.name)

    @property
    def identities(self) -> dict[DataType, Any]:
        """{type: identity}."""
        return {dtype: self[dtype].identity for dtype in self.types}

    @property
    def is_idempotent(self) -> bool:
        """True when `monoid(x, x) == x` for every x."""
        return self._is_idempotent

    @property
    def commutes_to(self) -> Any:
        return self

    def _reduce_args(self):
        return (self._binaryop, self._identity)


class ParameterizedMonoid(ParameterizedUdf):
    """A family of Monoids: a call with parameters returns the monoid."""

    _modname = "monoid"
    opclass = "Monoid"
    is_commutative = True

    def __init__(self, name, binaryop, identity, *, is_idempotent=False, anonymous=False):
        if type(binaryop) is not ParameterizedBinaryOp:
            raise TypeError("binaryop must be parameterized")
        self.binaryop = binaryop
        self.__signature__ = binaryop.__signature__
        if callable(identity):
            signature = inspect.signature(identity)
            if signature != self.__signature__:
                raise ValueError(
                    f"Signatures of binaryop and identity passed to {type(self).__name__} must be the same.  Got:\n"
                    f"    binaryop{self.__signature__}\n    !=\n    identity{signature}"
                )
        self.identity = identity
        self._is_idempotent = is_idempotent
        super().__init__(binaryop.name if name is None else name, anonymous)
        binaryop._monoid = self
        binaryop._cache.clear()

    def _call(self, *args, **kwargs):
        binaryop = self.binaryop(*args, **kwargs)
        identity = self.identity(*args, **kwargs) if callable(self.identity) else self.identity
        return Monoid.register_anonymous(binaryop, identity, self.name, is_idempotent=self._is_idempotent)

    @property
    def commutes_to(self) -> Any:
        return self

    @property
    def is_idempotent(self) -> bool:
        """True when `monoid(x, x) == x` for every x."""
        return self._is_idempotent

    def _reduce_args(self):
        return (self.binaryop, self.identity)

    @staticmethod
    def _deserialize(name, binaryop, identity, anonymous):
        if anonymous:
            return Monoid.register_anonymous(binaryop, identity, name)
        found = Monoid._find(name)
        return found if found is not None else Monoid.register_new(name, binaryop, identity)
