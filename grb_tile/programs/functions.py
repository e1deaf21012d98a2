"""Functions of Python, math and NumPy in a loop, of numbers that are on the device: float(x), math.sqrt(x), max(x, y).

`called(function, ...)` is what a call in a loop becomes (rewrite.py): without a Number among its arguments it is that
call.  Elsewhere such a function asks for the number itself, which the host does not know.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..core import tracing
from ..core.expression import ScalarExpression
from ..core.indexed import ScalarIndexExpr
from ..core.number import Number, combined
from ..core.scalar import Scalar
from ..dtypes import BOOL, FP64, INT64
from ..exceptions import CaptureError
from .branches import VALUE, branch
from .names import NUMBERS

_TYPES = {float: FP64, int: INT64, bool: BOOL, np.float64: FP64, np.int64: INT64, np.bool_: BOOL}
_LIBRARIES = {"math", "numpy"}
# Of a floating-point number; the operators of gb.unary have the names of math and NumPy but for these.
_OF_REAL = {
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos",
    "arctan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "fabs", "floor", "ceil", "trunc", "isnan", "isinf",
    "isfinite",
}  # fmt: skip
_OPERATORS = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "fabs": "abs"}
FUNCTIONS = _OF_REAL | {
    "float", "int", "bool", "abs", "max", "min", "pow", "absolute", "maximum", "minimum", "fmax", "fmin", "power",
    "float64", "int64", "bool_",
}  # fmt: skip  # names of those that `called` knows
_WHOLE = {math.floor, math.ceil, math.trunc}  # give a Python int
_EXTREMES = {max: "max", min: "min", np.maximum: "max", np.minimum: "min", np.fmax: "max", np.fmin: "min"}
_POWERS = {math.pow, np.power, pow}


def called(function: Any, *arguments: Any, **named: Any) -> Any:
    """function(*arguments, **named), as a Number where it is one of these functions and an argument is a Number.

    The results of the device have types of GraphBLAS: int() of NaN is a number, the root of -1 is NaN.
    """
    if named or not 0 < len(arguments) < 4 or tracing.current() is None:
        return function(*arguments, **named)
    if not _knows(function):  # one of the user's own may have the name of another
        return function(*arguments)
    numbers = [_on_device(x) for x in arguments]
    if not any(type(x) is Number for x in numbers):
        return function(*arguments)
    first = numbers[0]
    if function in _EXTREMES and len(numbers) > 1:
        return functools.reduce(lambda x, y: _extreme(function, x, y), numbers)
    if function in _POWERS and len(numbers) == 2:
        x, y = numbers if function is not math.pow else (_as_real(x) for x in numbers)
        return x**y
    if len(numbers) > 1 or type(first) is not Number:
        return function(*arguments)
    if function in _TYPES:
        return (first if _TYPES[function] is BOOL else _checked(first)).new(_TYPES[function])
    if function is abs or function in (np.abs, np.absolute):
        return abs(first)
    name = function.__name__
    if function in _WHOLE and first.dtype is INT64:
        return first
    found = Number(_as_real(first).vector.apply(_OPERATORS.get(name, name)).new())
    return found.new(INT64) if function in _WHOLE else found


def _knows(function):
    """Is it a function of a number that the device has, too?"""
    try:
        if function in _TYPES or function in _EXTREMES or function in _POWERS or function is abs:
            return True
    except TypeError:  # no hash
        return False
    name = getattr(function, "__name__", "")
    if name in ("absolute", *_OF_REAL):
        return type(function) is np.ufunc or getattr(function, "__module__", "") in _LIBRARIES
    return False


def _on_device(x):
    """The Number of a scalar or of a reduction that is on the device; else x."""
    if isinstance(x, (ScalarExpression, ScalarIndexExpr)):
        found = x.new()
        return found if type(found) is Number else x
    return x


def _extreme(function, x, y):
    """function(x, y) of numbers, with NaN as the function has it: that of GraphBLAS is as fmax and fmin."""
    if type(x) is not Number and type(y) is not Number:
        return function(x, y)
    x, y = (v.value if isinstance(v, Scalar) else v for v in (x, y))
    name = _EXTREMES[function]
    if all((v.dtype if type(v) is Number else NUMBERS.get(type(v))) is INT64 for v in (x, y)):
        return combined(x, y, name)
    x, y = _as_real(x), _as_real(y)
    if function in (np.fmax, np.fmin):
        return combined(x, y, name)
    if function in (max, min):  # the first, unless the second is beyond it
        return _if(y > x if name == "max" else y < x, y, x)
    return _if(x != x, x, _if(x > y if name == "max" else x < y, x, y))  # NaN, where one of them is


def _if(test, x, y):
    return branch(test, lambda _: (x,), lambda _: (y,), ((VALUE, None),))[0]


def _as_real(x):
    return (x if x.dtype is FP64 else _checked(x).new(FP64)) if type(x) is Number else float(x)


def _checked(x):
    """The Number.  Raises: CaptureError for a complex one, whose real part alone would count."""
    if x.dtype.np_type.kind == "c":
        raise CaptureError("programs: a function of a complex number of the loop; abs() of it is captured")
    return x
