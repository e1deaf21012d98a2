"""Semiring: a monoid (addition) and a binary operator (multiplication)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dtypes import BOOL, FC32, FC64, INT8, INT16, INT32, INT64, UINT16, UINT32, UINT64
from .base import OpBase, ParameterizedUdf, TypedOpBase
from .binary import BinaryOp, ParameterizedBinaryOp
from .monoid import Monoid, ParameterizedMonoid
from .registry import NAMESPACES
from .table import INTEGERS, REALS

if TYPE_CHECKING:
    from typing import Any

_REAL_MONOIDS = ("any", "max", "min", "plus", "times")
_BOOL_MONOIDS = ("eq", "land", "lor", "lxor")
_BITS = ("band", "bor", "bxnor", "bxor")
_FLOAT_ALIKE = "first second pair plus minus rminus times cdiv rdiv".split()
_IS = "iseq isge isgt isle islt isne".split()
_ORDERED = "max min land lor lxor".split() + _IS
_COMPARE = "eq ge gt le lt ne".split()
_LOGICAL = ("land", "lor", "lxor")
_WIDER = {INT8: UINT16, INT16: UINT32, INT32: UINT64, INT64: UINT64}


def _names():
    """{name: (monoid, multiply)} of all predefined semirings: SuiteSparse's, and python-graphblas's divisions."""
    pairs = [(m, x) for m in _REAL_MONOIDS for x in _FLOAT_ALIKE + _ORDERED]
    pairs += [(m, x) for m in ("any", *_BOOL_MONOIDS) for x in _COMPARE]
    pairs += [(m, x) for m in _BOOL_MONOIDS for x in ("first", "second", "pair", *_LOGICAL)]
    pairs += [("lxnor", "lor"), ("plus", "pow"), ("plus", "rpow")]
    pairs += [(m, x) for m in _BITS for x in _BITS]
    pairs += [(m, x) for m in _REAL_MONOIDS for x in ("truediv", "rtruediv", "floordiv", "rfloordiv")]
    pairs += [(m, x) for m in ("plus", "max") for x in ("absfirst", "abssecond")]
    names = {f"{m}_{x}": (m, x) for m, x in pairs}
    for name in ("land_lxnor", "eq_lxnor"):
        names.pop(name, None)
    names.update({
        f"ss.{m}_{who}{p}": (m, f"ss.{who}{p}")
        for m in _REAL_MONOIDS for who in ("first", "second") for p in ("i", "i1", "j", "j1")
    })  # fmt: skip
    return names


SEMIRINGS = _names()
# Semirings whose BOOL version is that of another one: in BOOL, max is lor, min is land and ne is lxor.
_BOOL_ALIAS = {
    f"{m}_{x}": f"{b}_{x}" for m, b in (("max", "lor"), ("min", "land")) for x in ("first", "second", *_LOGICAL)
}
_BOOL_ALIAS.update({f"{m}_ne": f"{m}_lxor" for m in ("any", *_BOOL_MONOIDS)})


def _predefined_rule(monoid_name, monoid, multiply):
    """{input type: (type of the typed semiring, same, return type)} for the types of both that SuiteSparse has."""
    name = multiply.name
    rule = {}
    for type_, (own, _, between) in multiply._rule.items():
        if between not in monoid.types or monoid.coercions.get(between, between) is not between:
            continue
        if type_ in (FC32, FC64) and (name in _IS or name in _COMPARE):
            continue
        if type_ is BOOL and between is BOOL and monoid_name in _REAL_MONOIDS and name in _FLOAT_ALIKE + _ORDERED:
            if monoid_name == "times" or not (
                name in ("first", "second", *_LOGICAL) or monoid_name == "any" and name == "pair"
            ):
                continue
        rule[type_] = (own, own, monoid.types[between])
    if monoid_name in (*_BOOL_MONOIDS, "lxnor") and (name in ("first", "second", "pair") or name in _LOGICAL):
        for type_ in (*REALS, FC32, FC64) if name not in _LOGICAL else REALS:
            rule[type_] = (BOOL, BOOL, BOOL)
    if monoid_name in _BITS:
        rule = {t: (_WIDER.get(t, t),) * 3 for t in INTEGERS}
    return rule


class TypedSemiring(TypedOpBase):
    """A Semiring for one type of operands: `monoid` and `binaryop` are typed.

    Spec: GraphBLAS C API 2.1, section 3.4.3.
    """

    __slots__ = ("_flipped", "binaryop", "monoid")
    opclass = "Semiring"

    def __init__(self, parent, name, type_, return_type, monoid, binaryop, type2=None):
        super().__init__(parent, name, type_, return_type, type2)
        self.monoid = monoid
        self.binaryop = binaryop
        self.positional = binaryop.positional
        self._flipped = None

    @property
    def commutes_to(self) -> Any:
        """The typed semiring with (B' A')' = A B, or None."""
        multiply = self.binaryop
        other = multiply._semiring_commutes_to or multiply.commutes_to
        if other is None:
            return None
        if other is multiply:
            return self
        return semiring_of(self.monoid, other)

    @property
    def is_commutative(self) -> bool:
        return self.binaryop.is_commutative

    @property
    def lowerable(self) -> bool:
        return self.binaryop.lowerable and self.monoid.binaryop.lowerable

    def flip(self) -> Any:
        """The same semiring with the multiply's operands exchanged."""
        if self._flipped is None:
            multiply = self.binaryop.flip()
            if multiply is self.binaryop:
                self._flipped = self
            else:
                type2 = multiply.type2 if multiply.type2 is not multiply.type else None
                new = _FlippedSemiring(
                    self.parent, self.name, multiply.type, self.return_type, self.monoid, multiply, type2
                )
                new._flipped = self
                self._flipped = new
        return self._flipped


class _FlippedSemiring(TypedSemiring):
    __slots__ = ()

    def __repr__(self):
        return f"{self._flipped!r}.flip()"

    def __reduce__(self):
        return (TypedSemiring.flip, (self._flipped,))


class Semiring(OpBase):
    """A Monoid and a BinaryOp, the addition and multiplication of matrix products.

    Types: the operand types of the multiply whose result is a type of the monoid.
    Spec: GraphBLAS C API 2.1, section 3.4.3.

    >>> from grb_tile import semiring
    >>> semiring.min_plus["FP64"].monoid.identity
    np.float64(inf)
    """

    _modname = "semiring"
    opclass = "Semiring"

    def __init__(self, name, monoid=None, binaryop=None, *, anonymous=False):
        super().__init__(name, anonymous=anonymous)
        self._monoid = monoid
        self._binaryop = binaryop

    @classmethod
    def _predefined(cls, name):
        monoid_name, multiply_name = SEMIRINGS[name]
        op = cls(name, Monoid._find(monoid_name), BinaryOp._find(multiply_name))
        op._builtin = True
        op._set_rule(_predefined_rule(monoid_name, op._monoid, op._binaryop))
        op._takes_udt = op._binaryop._takes_udt
        return op

    def _typed_by_rule(self, dtype, rule):
        if dtype is BOOL and self._builtin and self.name in _BOOL_ALIAS:
            return Semiring._find(_BOOL_ALIAS[self.name])[BOOL]
        return super()._typed_by_rule(dtype, rule)

    def _for_unlisted(self, dtype):
        """Types that SuiteSparse has no semiring for: complex eq and ne, BOOL times with first and second.

        python-graphblas makes them, because these multiplies take any type.  pair returns INT64.
        """
        if not (self._builtin and self._takes_udt):
            return super()._for_unlisted(dtype)
        custom = None if self._custom_dtype is None else self._custom_dtype(self, dtype, dtype)
        if custom is not None:
            return custom
        multiply = self._binaryop[dtype]
        monoid = self._monoid[multiply.return_type]
        return TypedSemiring(self, self.name, dtype, monoid.return_type, monoid, multiply)

    def _make(self, type_, inner, result):
        rule = self._binaryop._rule
        # ldexp has no input types FP32 and FP64, but computes in them
        multiply = self._binaryop[type_ if type_ in rule else next(t for t, r in rule.items() if r[0] is type_)]
        monoid = self._monoid[multiply.return_type]
        return TypedSemiring(self, self.name.removeprefix("ss."), type_, monoid.return_type, monoid, multiply)

    def _compile_udt(self, dtype, dtype2):
        dtype2 = dtype if dtype2 is None else dtype2
        typed = self._pairs.get((dtype, dtype2))
        if typed is None:
            multiply = self._binaryop._compile_udt(dtype, dtype2)
            monoid = self._monoid[multiply.return_type]
            typed = TypedSemiring(self, self.name, dtype, monoid.return_type, monoid, multiply, dtype2)
            self._pairs[dtype, dtype2] = typed
        return typed

    @classmethod
    def _build(cls, name, monoid, binaryop, *, anonymous=False):
        if type(monoid) is not Monoid:
            raise TypeError(f"monoid must be a Monoid, not {type(monoid)}")
        if type(binaryop) is not BinaryOp:
            raise TypeError(f"binaryop must be a BinaryOp, not {type(binaryop)}")
        op = cls(name or f"{monoid.name}_{binaryop.name}".replace(".", "_"), monoid, binaryop, anonymous=anonymous)
        op._takes_udt = binaryop._takes_udt
        op._is_udt = binaryop._is_udt
        if binaryop._is_udt or monoid._is_udt:
            return op
        rule = {}
        for type_, (own, _, between) in binaryop._rule.items():
            if between in monoid.types and monoid.coercions.get(between, between) is between:
                rule[type_] = (own, own, monoid.types[between])
        op._set_rule(rule)
        return op

    @classmethod
    def register_anonymous(cls, monoid: Any, binaryop: Any, name: str | None = None) -> Any:
        """A Semiring in no namespace.  Raises: TypeError unless the operands are a Monoid and a BinaryOp."""
        if type(monoid) is ParameterizedMonoid or type(binaryop) is ParameterizedBinaryOp:
            return ParameterizedSemiring(name, monoid, binaryop, anonymous=True)
        return cls._build(name, monoid, binaryop, anonymous=True)

    @classmethod
    def register_new(cls, name: str, monoid: Any, binaryop: Any, *, lazy: bool = False) -> Any:
        """Register a Semiring as `grb_tile.semiring.<name>`; see `register_anonymous`."""
        cls._refuse_taken(name)

        def new():
            adder = Monoid._find(monoid) if isinstance(monoid, str) else monoid
            multiply = BinaryOp._find(binaryop) if isinstance(binaryop, str) else binaryop
            if type(adder) is ParameterizedMonoid or type(multiply) is ParameterizedBinaryOp:
                return ParameterizedSemiring(name, adder, multiply)
            return cls._build(name, adder, multiply)

        if lazy:
            return cls._namespace().delay(name, new)
        op = new()
        cls._publish(name, op)
        return op

    @property
    def binaryop(self) -> BinaryOp | None:
        """The multiply."""
        return self._binaryop

    @property
    def monoid(self) -> Monoid | None:
        """The addition."""
        return self._monoid

    @property
    def is_positional(self) -> bool:  # type: ignore[override]
        return self._binaryop.is_positional

    @property
    def _custom_dtype(self):
        return self._binaryop._custom_dtype

    @property
    def commutes_to(self) -> Any:
        """The semiring with (B' A')' = A B, or None."""
        multiply = self._binaryop
        other = multiply._semiring_commutes_to or multiply.commutes_to
        if other is None:
            return None
        if other is multiply:
            return self
        return semiring_of(self._monoid, other)

    @property
    def is_commutative(self) -> bool:
        return self._binaryop.is_commutative

    def _reduce_args(self):
        return (self._monoid, self._binaryop)


def semiring_of(monoid: Any, binaryop: Any, name: str | None = None) -> Any:
    """The semiring of a Monoid and a BinaryOp, registered or new; typed when either of them is."""
    monoid_type = binary_type = None
    if not isinstance(monoid, Monoid):
        monoid_type, monoid = monoid.type, monoid.parent
    if not isinstance(binaryop, BinaryOp):
        binary_type, binaryop = binaryop.type, binaryop.parent
    found = _parent_of(monoid, binaryop, name)
    type_ = binary_type if binary_type is not None else monoid_type
    return found if type_ is None else found[type_]


def _parent_of(monoid, binaryop, name):
    registered = NAMESPACES["semiring"]
    if monoid._anonymous or binaryop._anonymous:
        return Semiring.register_anonymous(monoid, binaryop, name)
    *monoid_prefix, monoid_name = monoid.name.rsplit(".", 1)
    *binary_prefix, binary_name = binaryop.name.rsplit(".", 1)
    if binary_prefix == ["ss"] or monoid_prefix and monoid_prefix == binary_prefix:
        canonical = ".".join(binary_prefix) + f".{monoid_name}_{binary_name}"
    elif ["numpy"] in (monoid_prefix, binary_prefix) and not (monoid_prefix and binary_prefix):
        canonical = f"numpy.{monoid_name}_{binary_name}"
    else:
        canonical = f"{monoid.name}_{binaryop.name}".replace(".", "_")
    found = registered._made.get(canonical)
    if found is None and canonical in registered._names and not canonical.startswith("numpy."):
        found = registered.get(canonical)
    if found is None:
        found = Semiring._build(canonical, monoid, binaryop)
        Semiring._publish(canonical, found)
    elif found.monoid is not monoid or found.binaryop is not binaryop:
        return Semiring.register_anonymous(monoid, binaryop, name=name)
    if name is not None and name != canonical and not registered.has(name):
        registered.put(name, found)
    return found


class ParameterizedSemiring(ParameterizedUdf):
    """A family of Semirings: a call with parameters returns the semiring."""

    _modname = "semiring"
    opclass = "Semiring"

    def __init__(self, name, monoid, binaryop, *, anonymous=False):
        if type(monoid) not in {ParameterizedMonoid, Monoid}:
            raise TypeError("monoid must be of type Monoid or ParameterizedMonoid")
        if type(binaryop) is ParameterizedBinaryOp:
            self.__signature__ = binaryop.__signature__
            if type(monoid) is ParameterizedMonoid and monoid.__signature__ != self.__signature__:
                raise ValueError(
                    f"Signatures of monoid and binaryop passed to {type(self).__name__} must be the same.  Got:\n"
                    f"    monoid{monoid.__signature__}\n    !=\n    binaryop{self.__signature__}\n\n"
                    "Perhaps call monoid or binaryop with parameters before creating the semiring."
                )
        elif type(binaryop) is BinaryOp:
            if type(monoid) is Monoid:
                raise TypeError("At least one of monoid or binaryop must be parameterized")
            self.__signature__ = monoid.__signature__
        else:
            raise TypeError("binaryop must be of type BinaryOp or ParameterizedBinaryOp")
        self.monoid = monoid
        self.binaryop = binaryop
        super().__init__(f"{monoid.name}_{binaryop.name}" if name is None else name, anonymous)

    def _call(self, *args, **kwargs):
        monoid, binaryop = self.monoid, self.binaryop
        if type(monoid) is ParameterizedMonoid:
            monoid = monoid(*args, **kwargs)
        if type(binaryop) is ParameterizedBinaryOp:
            binaryop = binaryop(*args, **kwargs)
        return Semiring.register_anonymous(monoid, binaryop, self.name)

    @property
    def commutes_to(self) -> Any:
        other = self.binaryop.commutes_to
        return None if other is None else self if other is self.binaryop else None

    @property
    def is_commutative(self) -> bool:
        return self.binaryop.is_commutative

    def _reduce_args(self):
        return (self.monoid, self.binaryop)

    @staticmethod
    def _deserialize(name, monoid, binaryop, anonymous):
        if anonymous:
            return Semiring.register_anonymous(monoid, binaryop, name)
        found = Semiring._find(name)
        return found if found is not None else Semiring.register_new(name, monoid, binaryop)
