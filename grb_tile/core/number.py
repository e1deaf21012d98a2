"""Number: a number that stays on the device while a program's loop runs there (grb_tile/programs).

It has Python's arithmetic and comparisons, which sugar.py gives it as to the other objects: with Numbers and Python
numbers they give Numbers, with a Vector an expression.  The result types are GraphBLAS's: INT64 wraps around, and a
division by 0 gives inf or NaN.
"""

from __future__ import annotations

import numbers
from typing import Any

from ..dtypes import BOOL, INT64
from ..exceptions import CaptureError
from ..storage.store import BitmapVector
from . import kinds, tracing
from .arguments import output_type

_PYTHON = (bool, int, float)
_ARITHMETIC = {"plus", "minus", "times", "truediv", "floordiv", "numpy.mod", "pow"}


class Number:
    """A number on the device; `vector` has it as its only entry.

    origin: (operator, id of the Number, Python number) of what `number op number` gave; ("same" or "changed", id of the
    Vector) of whether a loop's vector is as the turn began (programs/noted.py); else None.
    """

    __slots__ = ("vector", "origin")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, vector: Any, origin: tuple | None = None) -> None:
        self.vector, self.origin = vector, origin

    @property
    def dtype(self) -> Any:
        """Its type."""
        return self.vector.dtype

    @property
    def value(self) -> Number:
        """Itself, as `Scalar.value` is a Python number."""
        return self

    def new(self, dtype: Any = None, **_: Any) -> Number:
        """Itself, of another type."""
        return Number(self.vector.dup(dtype)) if dtype is not None else self

    def spread(self, size: int, dtype: Any = None) -> Any:
        """The Vector of that size that has it everywhere."""
        vector = self.vector if dtype is None or dtype is self.vector.dtype else self.vector.dup(dtype)
        values = vector._store.values
        store = BitmapVector(size, vector.dtype, None, values, size, iso=True)
        store.shared = True
        return kinds.Vector._from_store(store, vector.dtype)

    def _refuse(self, what):
        raise CaptureError(
            f"programs: {what} needs a number of the loop on the host.  Numbers that change in the loop may be "
            "computed with, compared, written into vectors, and be the condition of `while` and of `if` in the loop"
        )

    def __bool__(self):
        self._refuse("`if`, `and` or `or`")

    def __int__(self):
        self._refuse("int()")

    def __float__(self):
        self._refuse("float()")

    def __index__(self):
        self._refuse("an index or a range")

    def __iter__(self):
        self._refuse("iteration")

    def __format__(self, spec):
        return self._refuse("a text")

    def __abs__(self):
        return Number(_counted(self).vector.apply("abs").new())

    def __neg__(self):
        return Number(_counted(self).vector.apply("ainv").new())

    def __repr__(self):
        if tracing.current() is not None:
            self._refuse("a text")
        return f"Number({self.dtype.name}, on the device)"


def _counted(x: Any) -> Any:
    """x, a BOOL as the INT64 that Python computes with."""
    if type(x) is bool:
        return int(x)
    return x.new(INT64) if type(x) is Number and x.dtype is BOOL else x


def spread_like(number: Number, target: Any) -> Any:
    """The Vector, or the Matrix, that has the number everywhere `target` may have entries; of the type of `target`."""
    if target.ndim == 1:
        return number.spread(target.size, target.dtype)
    if not hasattr(target._store, "of_one_value"):
        raise CaptureError("programs: a number of the loop is written into a Matrix that does not change in it")
    vector = number.vector if number.dtype is target.dtype else number.vector.dup(target.dtype)
    return kinds.Matrix._from_store(target._store.of_one_value(target.dtype, vector._store.values), target.dtype)


def selected(x: Any, op: Any, number: Number) -> Any:
    """The expression of x.select(op, number) of an operator that compares values.  Raises: CaptureError for others."""
    name = getattr(op, "name", "")
    name = name.removeprefix("value")
    if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        raise CaptureError(f"programs: select by `{op}` with a number of the loop: only comparisons of values have it")
    return x.select(combined(x, number, name).new().V)


def combined(left: Any, right: Any, name: str) -> Any:
    """`left op right` where one of them is a Number: a Number, or an expression where the other is a Vector."""
    if name in _ARITHMETIC and all(type(x) is bool or type(x) is Number and x.dtype is BOOL for x in (left, right)):
        left, right = _counted(left), _counted(right)  # True + True is 2
    first, second = type(left) is Number, type(right) is Number
    if first and second:
        return Number(left.vector.ewise_mult(right.vector, name).new())
    other = right if first else left
    if type(other) in _PYTHON:
        found = left.vector.apply(name, right=other) if first else right.vector.apply(name, left=other)
        return Number(found.new(), (name, id(left), other) if first else None)
    if output_type(other) is kinds.Vector:
        size = other.size
        return left.spread(size).ewise_mult(other, name) if first else left.ewise_mult(right.spread(size), name)
    if type(other) is kinds.Matrix and hasattr(other._store, "of_one_value"):  # it changes in the loop
        number = left if first else right
        store = other._store.of_one_value(number.dtype, number.vector._store.values)
        spread = kinds.Matrix._from_store(store, number.dtype)
        return spread.ewise_mult(other, name) if first else other.ewise_mult(spread, name)
    if name in ("eq", "ne") and isinstance(other, numbers.Number):  # Python would compare identities
        raise CaptureError(f"programs: a number of the loop is compared with a {type(other).__name__}")
    return NotImplemented
