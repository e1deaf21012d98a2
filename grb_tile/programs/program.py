"""`program` and `loop`: what users write."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from ..core.number import Number
from ..exceptions import CaptureError
from .branches import branch, either
from .captured import ENDLESS
from .conditions import BOTH, BRANCH, CALLED, EITHER, NOT
from .functions import called
from .names import UNDEFINED, both, negated
from .rewrite import CONDITION, RANGE, RUN, TURNS, UNDEFINED as UNDEFINED_NAME, rewritten
from .running import Loop


def program(function: Callable | None = None, *, strict: bool = False) -> Any:
    """A function whose loops run on the device, where the backend has one; a decorator.

    The text stays that of GraphBLAS calls, and so do the results, on every backend.  A loop that meets operands of a
    kind (types, shapes, forms; the matrices themselves; numbers and options that it reads) runs from Python the first
    time; the second time its turn is captured, and later calls only launch it.  In a loop that runs on the device

        while f.nvals:   while changed:   for turn in gb.loop(condition, max_turns=20):   for turn in range(20):
        if abs(r - old).reduce("plus").new().value < tol: break
        if size > limit: ... else: ...                      (both are computed, and one is taken)
        if size > limit: return r                           and loops in loops

    are decided there.  Numbers that the loop binds (`depth += 1`) are INT64, FP64 or BOOL there; vectors are carried as
    bitmaps, matrices that change within a pattern.  What a turn cannot do without the host (an array that is made in
    the body, a number of the loop as an index of a list or as a text), or does unseen (a clock, an attribute that is
    set), makes the loop run turn by turn from Python, after a CaptureWarning that names the line; with `strict` it
    raises CaptureError.

    Raises: CaptureError (with strict); TypeError where `function` is none.

    >>> import grb_tile as gb
    >>> @gb.program
    ... def reach(A, source):
    ...     level = gb.Vector(int, A.nrows)
    ...     f = gb.Vector.from_coo([source], [True], size=A.nrows)
    ...     depth = 0
    ...     while f.nvals:
    ...         level(f.S) << depth
    ...         f(~level.S, replace=True) << f.vxm(A, "any_pair")
    ...         depth += 1
    ...     return level
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], nrows=4, ncols=4)
    >>> reach(A, 0).to_dict()
    {0: 0, 1: 1, 2: 2, 3: 3}
    """
    if function is None:
        return functools.partial(program, strict=strict)
    if not callable(function) or not hasattr(function, "__code__"):
        raise TypeError(f"program: expected a function, got {type(function).__name__}")
    return Program(function, strict)


def loop(condition: Callable[[], Any] | None = None, *, max_turns: int | None = None) -> Iterator[int]:
    """The numbers of a loop's turns: 0, 1, ... while condition() holds (always, where it is None), at most `max_turns`.

    In a program the turns run on the device; elsewhere this is a plain iterator.

    >>> import grb_tile as gb
    >>> list(gb.loop(max_turns=3))
    [0, 1, 2]
    """
    condition = None if condition is None else _condition(condition)
    _checked(max_turns)
    turn = 0
    while (max_turns is None or turn < max_turns) and (condition is None or condition()):
        yield turn
        turn += 1


def _condition(function: Any) -> Callable:
    """The condition of a loop, which holds where it is None.  Raises: TypeError where it is no function."""
    if function is not None and not callable(function):
        raise TypeError(f"loop: condition must be a function, got {type(function).__name__}: write `lambda: ...`")
    return _always if function is None else function


def _always():
    return True


def _checked(max_turns: Any) -> Any:
    """max_turns.  Raises: ValueError where it is no number of turns; one of the device is left to the loop."""
    if max_turns is None or type(max_turns) is Number:
        return max_turns
    if type(max_turns) is int and max_turns >= 0:
        return min(max_turns, ENDLESS)
    raise ValueError(f"loop: max_turns must be a whole number >= 0 or None, got {max_turns!r}")


class Program:
    """What `gb.program` makes of a function; called as the function is."""

    def __init__(self, function: Callable, strict: bool = False) -> None:
        functools.update_wrapper(self, function)
        self._function, self._strict = function, strict
        self._made: Any = None
        self._code: Any = None  # of the function as it was made
        self._counts: Callable[[], bool] = lambda: True  # do its `range` and `gb.loop` stand for these still?
        self._loops: list[Loop] = []
        self._found: list = []
        self._reason: str | None = "it has not run yet"

    def _make(self):
        names = {RUN: self._run, NOT: negated, BOTH: both, BRANCH: branch, UNDEFINED_NAME: UNDEFINED}
        names |= {RANGE: _count_of, TURNS: _checked, CONDITION: _condition, CALLED: called, EITHER: either}
        self._made, self._code = self._function, self._function.__code__
        self._reason, self._loops = None, []
        try:
            made, self._found, self._counts = rewritten(self._function, names, loop)
        except CaptureError as error:
            if self._strict:
                self._made = None
                raise
            self._reason = str(error)
            return
        refused = [found for found in self._found if found.reason is not None]
        if refused and self._strict:
            self._made = None
            raise CaptureError(f"program: line {refused[0].line}: the loop stays in Python: {refused[0].reason}")
        self._loops = [
            Loop(found.line, self._strict, written=found.written) for found in self._found if found.reason is None
        ]
        if made is not None:
            self._made = made

    def _run(self, number, *loop):
        return self._loops[number].run(*loop)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, made = self._function, self._made
        if made is None or function.__code__ is not self._code or not self._counts():
            self._make()
            made = self._made
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        return made(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @property
    def loops(self) -> list[Loop]:
        """The loops that may run on the device, with what became of them in their latest call."""
        return self._loops

    def explain(self) -> str:
        """What the loops of the latest call did: where they ran and why, turns, steps of the device in a turn."""
        lines = [f"program {self._function.__name__}"]
        if self._reason is not None:
            return f"{lines[0]}: {self._reason}"
        numbers = iter(self._loops)
        for found in self._found:
            if found.reason is not None:
                lines.append(f"  line {found.line}: turn by turn from Python: {found.reason}")
                continue
            ran = next(numbers)
            if ran.inside:
                lines.append(f"  line {found.line}: on the device, in the turns of the loop around it")
                continue
            if ran.reason is not None:
                lines.append(f"  line {found.line}: {ran.turns} turns from Python: {ran.reason}")
                continue
            steps = ", ".join(f"{count} steps a turn by {name}" for name, count in ran.nodes.items())
            steps = "; ".join(text for text in (steps, ran.lowering) if text)
            lines.append(
                f"  line {found.line}: {ran.turns} turns on the device"
                + (f", {ran.pulled} of them pulled" if ran.pulled is not None else "")
                + (f"; {steps}" if steps else "")
            )
        if len(lines) == 1:
            lines.append("  no loop")
        return "\n".join(lines)


def _count_of(stop: Any) -> int:
    """The turns of `range(stop)`."""
    return min(max(range(stop).stop, 0), ENDLESS)
