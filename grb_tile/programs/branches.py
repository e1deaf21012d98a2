"""`if` in the loop of a program: where the host does not know the test, both branches are computed and one is taken.

    a, b = branch(test, then, otherwise, (("a", lambda: a), ("b", lambda: b)))

with a, b the names that the branches bind.  GraphBLAS calls change nothing but the objects that they write, so each
branch runs on the objects as they were before it, and every vector and number that the two leave differently is
chosen by the test (DeviceLoop.chosen): a turn costs what both branches cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import elements, tracing
from ..core.number import Number
from ..core.scalar import Scalar
from ..core.vector import Vector
from ..dtypes import BOOL, FP64, INT64
from ..exceptions import CaptureError
from .begun import Begun, as_test
from .bounds import Outside
from .names import NUMBERS, ONE_BRANCH, Undefined, as_number, negated, value_of

VALUE = "the value"  # of an expression, in place of a name


def branch(test: Any, then: Callable, otherwise: Callable, named: tuple) -> tuple:
    """The values of the names after `if test: then, else: otherwise`.

    named: (name, function that gives its value, None: it has none).  What only one of two computed branches binds is
    ONE_BRANCH after.
    Raises: CaptureError where the branches leave what cannot be chosen on the device.
    """
    values = [None if get is None else value_of(get) for _, get in named]
    test = as_test(test)
    if type(test) is not Number:
        return tuple((then if test else otherwise)(*values))
    frame: Any = tracing.active
    flag = (test != 0).vector._store
    with frame.taken(test):
        one, written = _result_of(frame, then, values)
    with frame.taken(negated(test)):
        two, others = _result_of(frame, otherwise, values)
    for key in [*written, *(key for key in others if key not in written)]:
        target, before, _ = (written if key in written else others)[key]
        first = written[key][2] if key in written else before
        second = others[key][2] if key in others else before
        elements.reset(target, frame.chosen(flag, first, second, target.dtype))
    return tuple(
        _chosen(frame, flag, name, first, second) for (name, _), first, second in zip(named, one, two, strict=True)
    )


def either(every: bool, first: Any, second: Callable[[], Any]) -> Any:
    """The value of `first and second()` (every) or of `first or second()`."""
    if type(first) is not Number:
        return second() if bool(first) is every else first
    one, two = (second, lambda: first) if every else (lambda: first, second)
    return branch(first, lambda _: (one(),), lambda _: (two(),), ((VALUE, None),))[0]


def _result_of(frame, branch, values):
    """(the values that a branch leaves, {id: (vector, its store before, its store after)}); vectors are as before."""
    with frame.logged() as log:
        try:
            found = branch(*values)
        except (CaptureError, Outside):
            raise
        except Exception as error:
            raise CaptureError(
                f"programs: a branch of an `if` raises {type(error).__name__}, and both are computed: {error}"
            ) from error
    written = {key: (target, before, target._store) for key, (target, before) in log.items()}
    for target, before, _ in written.values():
        elements.reset(target, before)
    return found, written


def _chosen(frame, flag, name, first, second):
    """What a name stands for after the two branches gave it these values."""
    if first is second:
        return first
    if isinstance(first, Undefined) or isinstance(second, Undefined):
        return ONE_BRANCH
    if type(first) is Vector and type(second) is Vector:
        if name == VALUE:  # a vector of its own, where Python has one of the two, which the loop may write
            raise CaptureError("programs: an expression chooses between vectors: write `if`, and in it `x << v`")
        return Vector._from_store(frame.chosen(flag, first._store, second._store, first.dtype), first.dtype)
    for x in (first, second):
        if type(x) is Begun:
            as_number(x, None, name)  # raises
    types = [x.dtype if isinstance(x, (Number, Scalar)) else NUMBERS.get(type(x)) for x in (first, second)]
    if any(t is None for t in types):
        kinds = " and a ".join(type(x).__name__ for x in (first, second))
        raise CaptureError(
            f"programs: `{name}` is a {kinds} after the branches of an `if`; they must be vectors or numbers"
        )
    if type(first) is type(second) and type(first) in NUMBERS and repr(first) == repr(second):
        return first
    dtype = next((t for t in (FP64, INT64, BOOL) if t in types), types[0])
    stores = [as_number(x, dtype, name, "branch").vector._store for x in (first, second)]
    return Number(Vector._from_store(frame.chosen(flag, *stores, dtype), dtype))
