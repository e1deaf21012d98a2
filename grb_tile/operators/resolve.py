"""Typed operators from the objects by which users name them: operators, strings, builtins, functions, ufuncs."""

from __future__ import annotations

from functools import lru_cache, partial
from types import FunctionType
from typing import TYPE_CHECKING

import numpy as np

from ..dtypes import lookup_dtype
from ..spelling import did_you_mean
from .base import AggregatorBase, OpBase, ParameterizedUdf, TypedOpBase
from .binary import BinaryOp
from .namespaces import BINARY_NS, SEMIRING_NS, UNARY_NS
from .registry import NAMESPACES, STRINGS
from .semiring import Semiring, TypedSemiring, semiring_of
from .unary import UnaryOp

if TYPE_CHECKING:
    from typing import Any

UNKNOWN_OPCLASS = "UnknownOpClass"
_ORDER = {"<": "lt", ">": "gt", "<=": "le", ">=": "ge", "!=": "ne", "==": "eq"}
_SYMBOLS = {
    "unary": {"-": "ainv", "~": "lnot"},
    "select": {
        **{s: f"value{n}" for s, n in _ORDER.items()},
        "col<=": "colle", "col>": "colgt", "row<=": "rowle", "row>": "rowgt", "index<=": "indexle", "index>": "indexgt",
    },
    "binary": {
        **_ORDER, "+": "plus", "-": "minus", "*": "times", "/": "truediv", "//": "floordiv", "%": "numpy.mod",
        "**": "pow",
        "&": "land", "|": "lor", "^": "lxor",
    },
    "monoid": {"==": "eq", "+": "plus", "*": "times", "&": "land", "|": "lor", "^": "lxor"},
    "semiring": {},
    "agg": {"+": "sum", "*": "prod", "&": "all", "|": "any"},
}  # fmt: skip
_SYMBOLS["indexunary"] = _SYMBOLS["select"]
_EXAMPLES = {
    "unary": "abs[int]", "indexunary": "row_index", "select": "tril", "binary": "+[int]", "monoid": "+[int]",
    "semiring": "min.+[int]", "agg": "sum[int]",
}  # fmt: skip
_BUILTINS = {abs: ("unary", "abs"), max: ("binary", "max"), min: ("binary", "min")}


def get_typed_op(
    op: Any,
    dtype: Any,
    dtype2: Any = None,
    *,
    is_left_scalar: bool = False,
    is_right_scalar: bool = False,
    kind: str | None = None,
) -> Any:
    """The typed operator that `op` means for operands of `dtype` (and `dtype2`).

    `op`: an operator (typed ones come back as they are), a string such as "plus", "+", "min_plus", "min.plus" or
    "plus[int64]", Python's abs, min or max, a NumPy ufunc (the operator of its name), or a function, with `kind`
    "unary" or "binary".  `kind`: "unary", "binary", "monoid", "semiring", "indexunary", "select" or
    "binary|aggregator", the namespace of a string.
    Raises: KeyError for types outside the operator's domain, ValueError for unknown strings, TypeError for others.
    """
    if isinstance(op, TypedOpBase):
        return op
    try:
        if type(op) is str:
            return STRINGS[op, kind, dtype, dtype2, is_left_scalar, is_right_scalar]
        return op._resolved[dtype, dtype2, is_left_scalar, is_right_scalar]
    except (AttributeError, KeyError, TypeError):
        pass
    if isinstance(op, OpBase):
        return op._for_types(dtype, dtype2, is_left_scalar, is_right_scalar)
    if isinstance(op, AggregatorBase):
        return _typed_aggregator(op, dtype)
    typed = get_typed_op(
        _operator(op, kind), dtype, dtype2, is_left_scalar=is_left_scalar, is_right_scalar=is_right_scalar, kind=kind
    )
    if type(op) is str:
        STRINGS[op, kind, dtype, dtype2, is_left_scalar, is_right_scalar] = typed
    return typed


def _typed_aggregator(op, dtype):
    if hasattr(op, "type"):  # typed already
        return op
    any_dtype = getattr(op, "_any_dtype", None)
    return op[any_dtype] if any_dtype is not None and any_dtype is not True else op[dtype]


def _operator(op, kind):
    """The operator of a string, function, ufunc or parameterized operator."""
    if isinstance(op, ParameterizedUdf):
        return op()
    if isinstance(op, str):
        if kind in ("unary", "binary", "monoid", "semiring", "indexunary", "select", "binary|aggregator"):
            return from_string(op, kind)
        raise ValueError(
            f"Unable to get op from string {op!r}.  `kind=` argument must be provided as "
            '"unary", "binary", "monoid", "semiring", "indexunary", "select", or "binary|aggregator".'
        )
    if isinstance(op, FunctionType) and kind is not None:
        if kind == "unary":
            return UnaryOp.register_anonymous(op, is_udt=True)
        if kind.startswith("binary"):
            return BinaryOp.register_anonymous(op, is_udt=True)
    try:
        if op in _BUILTINS:
            namespace, name = _BUILTINS[op]
            return NAMESPACES[namespace].get(name)
    except TypeError:
        pass
    if isinstance(op, np.ufunc):
        for namespace in (UNARY_NS, BINARY_NS):
            if (kind is None or kind.startswith(namespace.name)) and namespace.has(f"numpy.{op.__name__}"):
                return namespace.get(f"numpy.{op.__name__}")
    raise TypeError(f"Unable to get typed operator from object with type {type(op)}")


def from_string(string: str, kind: str) -> Any:
    """The operator of namespace `kind` (or "agg") with this name, dotted name or symbol, typed if followed by [type].

    `kind` "binary|aggregator": the binary operator, or else the aggregator.

    Raises: ValueError for an unknown string.

    >>> from grb_tile.operators import from_string
    >>> from_string("+[int64]", "binary")
    binary.plus[INT64]
    """
    return _of_kind(string, kind, _near)


def _of_kind(string, kind, near):
    """from_string; near: what makes the end of the error for an unknown name, which costs more than all else here."""
    if kind == "semiring":
        return _semiring_from_string(string, near)
    if kind != "binary|aggregator":
        return _from_string(string, kind, near)
    for each in ("binary", "agg"):
        try:
            return _from_string(string, each, _nothing)
        except ValueError:
            pass  # the next kind may have it
    ending = near(string, "binary", "agg")
    raise ValueError(f"Unknown binary or aggregator string: {string!r}.  Example usage: '+[int]'{ending}")


def _from_string(string, kind, near):
    example = _EXAMPLES[kind]
    base, *dtype = string.lower().strip().split("[")
    if len(dtype) > 1:
        raise ValueError(f'Bad {kind} string: {string!r}.  Contains too many "[".  Example usage: {example!r}')
    if dtype:
        if not dtype[0].endswith("]"):
            raise ValueError(
                f'Bad {kind} string: {string!r}.  Datatype specification does not end with "]".  Example usage: '
                f"{example!r}"
            )
        dtype = lookup_dtype(dtype[0][:-1])
    if "]" in base:
        raise ValueError(f'Bad {kind} string: {string!r}.  "]" not matched by "[".  Example usage: {example!r}')
    name = _SYMBOLS[kind].get(base, base)
    if kind == "agg":
        op = AggregatorBase._finder(name)
    else:
        namespace = NAMESPACES[kind]
        op = namespace.get(name)
        if not isinstance(op, (OpBase, ParameterizedUdf)):
            op = namespace.get(f"numpy.{name}") or namespace.get(f"ss.{name}")
    if op is None:
        raise ValueError(f"Unknown {kind} string: {string!r}.  Example usage: {example!r}{near(base, kind)}")
    return op[dtype] if dtype else op


def _near(string, *kinds):
    """The end of the error for an unknown string: the names of `kinds` that it may have meant."""
    name = string.lower().strip().split("[")[0]
    names = {known for kind in kinds if kind != "agg" for known in NAMESPACES[kind].names_under("")}
    return did_you_mean(name, names | set(AggregatorBase._names() if "agg" in kinds else ()))


def _nothing(string, *kinds):
    """In the place of _near where the next kind is asked: nobody reads the error."""
    return ""


def _semiring_from_string(string, near):
    split = string.split(".")
    if len(split) == 1:
        try:
            return _from_string(string, "semiring", _nothing)
        except (ValueError, KeyError):
            pass  # it may be monoid.binary
    if len(split) != 2:
        raise ValueError(
            f"Bad semiring string: {string!r}.  The monoid and binaryop should be separated by exactly one period, "
            f'".".  Example usage: min.+[int]{near(string, "semiring")}'
        )
    return get_semiring(_of_kind(split[0], "monoid", near), _of_kind(split[1], "binary", near))


unary_from_string = partial(from_string, kind="unary")
binary_from_string = partial(from_string, kind="binary")
indexunary_from_string = partial(from_string, kind="indexunary")
select_from_string = partial(from_string, kind="select")
monoid_from_string = partial(from_string, kind="monoid")
semiring_from_string = partial(from_string, kind="semiring")
aggregator_from_string = partial(from_string, kind="agg")


def op_from_string(string: str) -> Any:
    """from_string in the first of unary, binary, monoid, semiring, indexunary, select and agg that has it."""
    for kind in ("unary", "binary", "monoid", "semiring", "indexunary", "select", "agg"):
        try:
            return _of_kind(string, kind, _nothing)
        except (ValueError, KeyError, TypeError, ImportError):
            pass  # look in the next namespace
    raise ValueError(f"Unknown op string: {string!r}.  Example usage: 'abs[int]'{_near(string, *_EXAMPLES)}")


def find_opclass(op: Any) -> tuple[Any, str]:
    """(operator, name of its class) of an operator, a parameterized one (called with its defaults), abs, min or max."""
    if isinstance(op, OpBase):
        return op, type(op).__name__
    if isinstance(op, TypedOpBase):
        return op, op.opclass
    if isinstance(op, ParameterizedUdf):
        return find_opclass(op())
    if isinstance(op, AggregatorBase):
        return op, type(op).__name__
    try:
        if op in _BUILTINS:
            namespace, name = _BUILTINS[op]
            return find_opclass(NAMESPACES[namespace].get(name))
    except TypeError:
        pass
    return op, UNKNOWN_OPCLASS


def get_semiring(monoid: Any, binaryop: Any, name: str | None = None) -> Any:
    """The semiring of a monoid and a binary operator; typed when either is.

    `monoid` may be a BinaryOp that has a monoid.  Raises: TypeError for other objects, or if the two are exchanged.

    >>> from grb_tile import binary, monoid
    >>> get_semiring(monoid.min, binary.plus)
    semiring.min_plus
    """
    monoid, opclass = find_opclass(monoid)
    switched = False
    if opclass == "BinaryOp" and monoid.monoid is not None:
        switched = True
        monoid = monoid.monoid
    elif opclass != "Monoid":
        raise TypeError(f"Expected a Monoid for the monoid argument.  Got type: {type(monoid)}")
    binaryop, opclass = find_opclass(binaryop)
    if opclass == "Monoid":
        if switched:
            raise TypeError(
                "Got a BinaryOp for the monoid argument and a Monoid for the binaryop argument.  Are the arguments "
                "switched?  Hint: you can do `mymonoid.binaryop` to get the binaryop from a monoid."
            )
        binaryop = binaryop.binaryop
    elif opclass != "BinaryOp":
        raise TypeError(f"Expected a BinaryOp for the binaryop argument.  Got type: {type(binaryop)}")
    return semiring_of(monoid, binaryop, name)


@lru_cache(maxsize=4096)
def typed_semiring(monoid: Any, multiply: str) -> TypedSemiring:
    """The typed semiring of a typed monoid and the operator called `multiply` on the monoid's type, registered or not.

    Used for reductions: the reduction of the rows by any monoid is a product with "first" and a full vector.

    >>> from grb_tile import monoid
    >>> typed_semiring(monoid.plus["INT8"], "first").binaryop
    binary.first[INT8]
    """
    operator = BINARY_NS.get(multiply)[monoid.type]
    name = f"{monoid.name}_{operator.name}".replace(".", "_")
    parent = SEMIRING_NS.get(name)
    if parent is not None and monoid.type in parent.types:
        typed = parent[monoid.type]
        if typed.monoid is monoid and typed.binaryop is operator:
            return typed
    parent = Semiring.register_anonymous(monoid.parent, operator.parent, name)
    return TypedSemiring(parent, name, monoid.type, monoid.return_type, monoid, operator)
