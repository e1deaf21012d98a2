"""A number of a loop whose name begins with one of another type: `total = 0`, and in the loop `total += 0.5`.

In the first turn of the plain function it is an int, in the others a float, and so are what is computed of it and the
vectors that are made of it.  On the device it is FP64 in all of them: a turn may do with it what gives the same for
both, and nothing else.
"""

from __future__ import annotations

import operator
from typing import Any

from ..core.number import Number
from ..dtypes import FP64
from ..exceptions import CaptureError

_EXACT = 2**53  # whole numbers up to it are FP64
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


class Begun:
    """The Number of a turn in place of a number of another type: compared, computed with FP64, tested for zero."""

    __slots__ = ("_began", "_name", "_number")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, number: Number, name: str, began: Any) -> None:
        """began: the type with which the name begins."""
        self._number, self._name, self._began = number, name, began

    def _refuse(self, *_: Any) -> Any:
        raise CaptureError(
            f"programs: `{self._name}` begins as {self._began.__name__} and becomes {self._number.dtype.name}; begin "
            "with a number of that type"
        )

    def __getattr__(self, name: str) -> Any:
        return self._refuse()

    __bool__ = __int__ = __float__ = __index__ = __iter__ = __abs__ = __neg__ = __str__ = __repr__ = _refuse
    __format__ = _refuse

    def _with(self, other: Any, compares: bool) -> Any:
        """`other` where the operation gives the same for both.  Raises: CaptureError."""
        if hasattr(other, "new") and type(other) is not Number:
            other = other.new()
        exact = compares and type(other) in (int, bool) and abs(other) <= _EXACT
        real = type(other) is float or type(other) is Number and other.dtype is FP64
        return other if exact or real and (compares or self._number.dtype is FP64) else self._refuse()


def as_test(test: Any) -> Any:
    """A test: the Number of one that begins with another type, which is zero where that is."""
    return test._number if type(test) is Begun else test


def _put(name, compares):
    function = getattr(operator, name)

    def method(self, other):
        return function(self._number, self._with(other, compares))

    def reflected(self, other):
        return function(self._with(other, compares), self._number)

    setattr(Begun, f"__{name}__", method)
    if not compares:
        setattr(Begun, f"__r{name}__", reflected)


for each in _COMPARISONS:
    _put(each, True)
for each in _ARITHMETIC:
    _put(each, False)
