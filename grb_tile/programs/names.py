"""What the names of a loop stand for: vectors, matrices, numbers of the host or of the device, nothing yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.matrix import Matrix
from ..core.number import Number
from ..core.scalar import Scalar
from ..core.transposed import TransposedMatrix
from ..core.vector import Vector
from ..dtypes import BOOL, FP64, INT64
from ..exceptions import CaptureError
from .begun import Begun, as_test

NUMBERS = {bool: BOOL, int: INT64, float: FP64, np.bool_: BOOL, np.int64: INT64, np.float64: FP64}


class Undefined:
    """The value of a name that is not bound yet."""


UNDEFINED = Undefined()
ONE_BRANCH = Undefined()  # of a name that one of two computed branches has bound


def value_of(get: Callable) -> Any:
    """What `get()` gives, UNDEFINED where its name is not bound."""
    try:
        return get()
    except (NameError, ValueError):  # of a cell: "Cell is empty"
        return UNDEFINED


def negated(x: Any) -> Any:
    """`not x`, of a Number too."""
    x = as_test(x)
    if type(x) is not Number:
        return not x
    if x.dtype is not BOOL:
        return x == 0
    origin = ("changed", x.origin[1]) if x.origin is not None and x.origin[0] == "same" else None
    return Number(x.vector.apply("lnot").new(), origin)


def both(every: bool, first: Any, second: Callable[[], Any]) -> Any:
    """`first and second()` (every) or `first or second()`; a number of the device does not keep the second from it."""
    first = as_test(first)
    if type(first) is not Number:
        return second() if bool(first) is every else first
    other = as_test(second())
    if type(other) is not Number:
        return first if bool(other) is every else other
    product = (first != 0).vector.ewise_mult((other != 0).vector, "land" if every else "lor")
    return Number(product.new())


def role_of(name: str, old: Any, new: Any, places: dict) -> str:
    """What a name is to a turn: "object" (a vector that exists before the loop), "vector" (a new one in each turn),
    "number", "scalar" (a gb.Scalar) or "constant"; "own" is one that each turn binds anew.  A matrix that changes is
    as a vector.
    """
    if is_object(new):
        return "object" if id(new) in places and id(old) in places else "vector"
    if type(new) is Begun:
        new._refuse()
    if type(new) in NUMBERS or type(new) is Number and new is not old:
        return "number"
    if isinstance(new, Scalar) and new is not old:
        return "scalar"
    if new is old:
        return "constant"
    raise CaptureError(
        f"programs: `{name}` becomes a {type(new).__name__}; a loop carries Vectors and numbers"
        + ("; compute the expression: .new()" if hasattr(new, "new") else "")
    )


def is_object(value: Any) -> bool:
    """Is it a Vector or a Matrix?"""
    return type(value) is Vector or type(value) is Matrix


def is_matrix(value: Any) -> bool:
    """Is it a Matrix, transposed or not?"""
    return isinstance(value, (Matrix, TransposedMatrix))


def begins_as(name: str, value: Any, dtype: Any) -> Any:
    """The NumPy scalar as which the number of a name begins, whatever an unbound name holds.

    Raises: CaptureError where it is not of the type that turns give it.
    """
    value = value.value if isinstance(value, Scalar) else value
    value = value.item() if isinstance(value, np.generic) else value  # Python compares it with a float exactly
    number = dtype.np_type.type(value if type(value) in NUMBERS else 0)
    if type(value) in NUMBERS and number.item() != value == value:
        raise CaptureError(
            f"programs: `{name}` begins as {value!r} and becomes {dtype.name}; begin with a number of that type"
        )
    return number


def _text(value):
    return f"a {type(value).__name__}" if is_object(value) else repr(value)


def begin_otherwise(captured: Any, carried: Any) -> dict[int, Any]:
    """The types with which names begin whose numbers have another type in the turns.

    Raises: CaptureError where a turn may read something else, of which the slots hold nothing: None, or a number where
    a Vector is later.
    """
    found = {}
    for k in (*captured.vectors, *captured.numbers):
        value, name = carried.values[k], carried.names[k]
        if name in carried.always or carried.own[k] or isinstance(value, Undefined) or type(value) is Number:
            continue
        if k in captured.vectors or not isinstance(value, Scalar) and type(value) not in NUMBERS:
            if not is_object(value) or k in captured.numbers:
                kind = "number" if k in captured.numbers else "Vector"
                raise CaptureError(
                    f"programs: `{name}` begins as {_text(value)} and becomes a {kind}; begin with a {kind}"
                )
            continue
        dtype = value.dtype if isinstance(value, Scalar) else NUMBERS[type(value)]
        if dtype is not captured.types[k]:
            found[k] = type(value)
            if carried.reads.asks:  # `x is False`, which a number on the device is not
                Begun(Number(Vector(captured.types[k], 1)), name, found[k])._refuse()
    return found


def as_number(value: Any, dtype: Any, name: str, where: str = "turn") -> Number:
    """The value of a name at the end of a turn, or of a branch, as a Number of its type."""
    if type(value) is Number:
        if value.dtype is not dtype:
            raise CaptureError(
                f"programs: `{name}` is {dtype.name} in one {where} and {value.dtype.name} in another; begin with a "
                f"number of the latter type"
            )
        return value
    if type(value) is Begun:
        value._refuse()
    if isinstance(value, Scalar):
        value = value.value
    if value is None or type(value) not in NUMBERS:
        raise CaptureError(f"programs: `{name}` becomes a {type(value).__name__}")
    return Number(Vector.from_scalar(value, 1, dtype))


def period(following: list[int], start: int) -> int:
    """Turns after which the name has its object again."""
    turns, k = 1, following[start]
    while k != start and turns <= len(following):
        turns, k = turns + 1, following[k]
    return turns
