"""The namespaces unary, binary, monoid, semiring, indexunary, select and op: operators are built on first use.

`module_hooks` makes the `__getattr__` of the modules grb_tile.unary, grb_tile.binary ..., which caches what it finds.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

from ..spelling import no_attribute
from .binary import BinaryOp, ParameterizedBinaryOp, isclose
from .indexunary import IndexUnaryOp, SelectOp
from .monoid import _TYPES as MONOID_TYPES, Monoid
from .registry import NAMESPACES, Namespace
from .semiring import SEMIRINGS, Semiring, semiring_of
from .table import BINARY, BINARY_NUMPY, BOOL, INDEX_ALIASES, INDEXUNARY, MONOID_NUMPY, RULES, UNARY, UNARY_NUMPY
from .unary import UnaryOp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_MONOID_NUMPY_NAMES = {*MONOID_NUMPY, *(n.removeprefix("numpy.") for n in MONOID_TYPES if n.startswith("numpy."))}
_BINARY_NUMPY_NAMES = {*BINARY_NUMPY, *(n.removeprefix("numpy.") for n in BINARY if n.startswith("numpy."))}
_UNARY_NUMPY_NAMES = {*UNARY_NUMPY, *(n.removeprefix("numpy.") for n in UNARY if n.startswith("numpy."))}


def _numpy_semirings():
    """{monoid_binary: (monoid, binary)} for pairs with a common type; others are absent, as in python-graphblas."""
    integer = {"gcd", "lcm", "left_shift", "right_shift"}
    real = {
        "arctan2", "copysign", "divide", "float_power", "hypot", "ldexp", "logaddexp2", "logaddexp", "nextafter",
        "true_divide",
    }  # fmt: skip
    bits = {"bitwise_and", "bitwise_or", "bitwise_xor"}
    compare = {"equal", "greater", "greater_equal", "less", "less_equal", "not_equal"}
    excluded = (
        ({"equal", "hypot", "logaddexp", "logaddexp2"}, integer),
        ({*bits, "equal", "gcd"}, real),
        ({"hypot", "logaddexp", "logaddexp2"}, bits),
        ({"equal"}, {"floor_divide", "fmod", "mod", "power", "remainder", "subtract"}),
        ({"gcd", "hypot", "logaddexp", "logaddexp2"}, compare),
    )
    pairs = {(m, x) for m in _MONOID_NUMPY_NAMES for x in _BINARY_NUMPY_NAMES}
    for monoids, binaries in excluded:
        pairs -= {(m, x) for m in monoids for x in binaries}
    return {f"{m}_{x}": (m, x) for m, x in pairs}


def _build_unary(name):
    if name not in UNARY:
        return UNARY_NS.get(UNARY_NUMPY[name.removeprefix("numpy.")])
    return UnaryOp._predefined(name)


def _build_binary(name):
    if name == "isclose":
        op = ParameterizedBinaryOp("isclose", isclose)
        op._builtin = True
        op._commutes_to = "isclose"
        return op
    if name not in BINARY:
        return BINARY_NS.get(BINARY_NUMPY[name.removeprefix("numpy.")])
    return BinaryOp._predefined(name)


def _build_monoid(name):
    if name not in MONOID_TYPES:
        return MONOID_NS.get(MONOID_NUMPY[name.removeprefix("numpy.")])
    return Monoid._predefined(name)


def _build_semiring(name):
    if name in SEMIRINGS:
        return Semiring._predefined(name)
    monoid, binary = _NUMPY_SEMIRINGS[name.removeprefix("numpy.")]
    made = semiring_of(MONOID_NS.get(f"numpy.{monoid}"), BINARY_NS.get(f"numpy.{binary}"))
    return made


def _build_select(name):
    return SelectOp._from_indexunary(INDEXUNARY_NS.get(name))


def _build_index(name):
    if name in INDEX_ALIASES:
        return INDEXUNARY_NS.get(INDEX_ALIASES[name])
    return IndexUnaryOp._predefined(name)


def _build_op(name):
    for namespace in (UNARY_NS, BINARY_NS, MONOID_NS, SEMIRING_NS):
        if name in namespace._names:
            return namespace.get(name)
    raise KeyError(name)


_NUMPY_SEMIRINGS = _numpy_semirings()


def _with_numpy(names, numpy_names):
    return {*names, *(f"numpy.{n}" for n in numpy_names)}


_SELECT_NAMES = {n for n, row in INDEXUNARY.items() if next(iter(RULES[row[0]].values()))[2] is BOOL}
_SELECT_NAMES |= {alias for alias, name in INDEX_ALIASES.items() if name in _SELECT_NAMES}
UNARY_NS = Namespace("unary", _with_numpy(UNARY, _UNARY_NUMPY_NAMES), _build_unary)
BINARY_NS = Namespace("binary", _with_numpy({*BINARY, "isclose"}, _BINARY_NUMPY_NAMES), _build_binary)
INDEXUNARY_NS = Namespace("indexunary", {*INDEXUNARY, *INDEX_ALIASES}, _build_index)
SELECT_NS = Namespace("select", _SELECT_NAMES, _build_select)
MONOID_NS = Namespace("monoid", _with_numpy(MONOID_TYPES, _MONOID_NUMPY_NAMES), _build_monoid)
SEMIRING_NS = Namespace("semiring", _with_numpy(SEMIRINGS, _NUMPY_SEMIRINGS), _build_semiring)
OP = Namespace("op", UNARY_NS._names | BINARY_NS._names | SEMIRING_NS._names, _build_op)
NAMESPACES.update({ns.name: ns for ns in (UNARY_NS, BINARY_NS, INDEXUNARY_NS, SELECT_NS, MONOID_NS, SEMIRING_NS, OP)})


def module_hooks(
    modname: str, module_globals: dict[str, Any], prefix: str = "", extra: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], set[str]]]:
    """`__getattr__` and `__dir__` of a namespace's module; `prefix` is "ss" or "numpy" for the nested ones.

    SuiteSparse's operators are found without `ss.` too, as in python-graphblas, with a DeprecationWarning.
    """
    namespace = NAMESPACES[modname]
    start = f"{prefix}." if prefix else ""

    def old_names():
        return [] if prefix else [n.removeprefix("ss.") for n in namespace._names if n.startswith("ss.")]

    def get(name):
        if name in extra:
            return import_module(f".{name}", module_globals["__name__"])
        if name == "_deprecated":
            return {n: namespace.get(f"ss.{n}") for n in old_names()}
        if name == "_delayed":
            return {
                n.removeprefix(start)
                for n in namespace._delayed
                if n.startswith(start) and "." not in n.removeprefix(start)
            }
        if prefix == "numpy" and name == f"_{modname}_names":
            return set(namespace.names_under(prefix))
        if prefix == "numpy" and name == "_monoid_identities":
            return {n: namespace.get(f"numpy.{n}").identities for n in namespace.names_under(prefix)}
        found = None if name.startswith("__") else namespace.get(start + name)
        if found is None and not prefix and f"ss.{name}" in namespace._names:
            found = namespace.get(f"ss.{name}")
            other = {"positioni": "`gb.indexunary.rowindex` or ", "positionj": "`gb.indexunary.colindex` or "}.get(
                name, ""
            )
            warnings.warn(
                f"`gb.{modname}.{name}` is deprecated; please use {other}`gb.{modname}.ss.{name}` instead. `{name}` is "
                "specific to SuiteSparse:GraphBLAS.",
                DeprecationWarning,
                stacklevel=2,
            )
        if found is None:
            raise no_attribute(f"module {module_globals['__name__']!r}", name, names())
        module_globals[name] = found
        return found

    def names():
        public = (n for n in module_globals if not n.startswith("_"))
        return {*namespace.names_under(prefix), *extra, *old_names(), *public}

    return get, names
