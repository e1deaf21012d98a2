"""One loop of a program: turn by turn from Python, or on the device of the backend.

The first time it meets operands of its kind a loop runs from Python.  The second time a turn is run once more in each
direction on vectors with fixed addresses (slots), then captured, and the rest of the turns launched; from then on a
call loads the slots and launches.  What identifies the kind is its signature: everything that the turn may read.
"""

from __future__ import annotations

import builtins
import types
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..backends.select import current
from ..core import elements, recorder, tracing
from ..core.matrix import Matrix
from ..core.number import Number
from ..core.scalar import Scalar
from ..core.vector import Vector
from ..exceptions import CaptureError, CaptureWarning
from ..planner.record import FREE, forced
from .bounds import MOST_WIDENED, Outside, joined, pattern_of
from .captured import Captured
from .inner import Inner, run_within
from .names import NUMBERS, UNDEFINED, is_matrix, value_of
from .rewrite import RUN

KEPT = 8  # captured loops of one place, the latest
TRIES = 3  # captures of a loop, each in a call of its own
_FIXED = (  # never change
    "grb_tile.operators", "grb_tile.dtypes", "grb_tile.core.aggregate", "grb_tile.core.updater",
    "grb_tile.graph.passes",
)  # fmt: skip
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, np.generic, np.dtype)


class Loop:
    """The loop of one place of a program.

    reason: why it ran turn by turn the last time, None where it did not; turns, pulled (None: not known): of the last
    call.
    """

    def __init__(self, line: int, strict: bool, at_once: bool = False, written: tuple = ()) -> None:
        """at_once: the first call of a kind is captured, too: kernels have been compiled, forms have settled.

        written: the names that stand left of `<<` in the loop.
        """
        self._written = written
        self._patterns: dict[Any, list] = {}  # of a kind: of positions at which matrices that change had entries
        self.line, self.strict, self._at_once = line, strict, at_once
        self.reason: str | None = "it has not run yet"
        self.turns = self.pulled = 0
        self.inside = False  # did it run in the turns of another?
        self._told: set[str] = set()  # warnings that were given
        self.captured: dict[Any, Any] = {}  # signature: how often capturing failed, a Captured, or the reason why not
        self.nodes: dict[str, int] = {}
        self.lowering = ""  # of the turns on the device

    def run(
        self, test: Callable, body: Callable, named: tuple, most: int | None, own: tuple, always: tuple,
        plain: bool = False,
    ) -> tuple:  # fmt: skip
        """The values of the names after the loop.

        named: (name, function that gives its value) of each; own: the names that each turn binds before it reads them
        and nothing reads after the loop; always: those that each turn binds first, whatever its branches; plain: its
        turns are numbered alone, `most` of them.
        """
        names, values = [name for name, _ in named], [value_of(get) for _, get in named]
        around = tracing.current()
        if around is not None:  # the loop around it runs on the device
            self.reason, self.inside, self.turns, self.pulled = None, True, 0, 0
            carried = _Carried(test, body, names, values, own, always, self._written)
            try:
                return run_within(Inner(around, carried, most, plain))
            except CaptureError as error:
                if " within)" in str(error):  # of a loop within this one
                    raise
                raise CaptureError(f"{error} (in the loop of line {self.line}, within)") from error
        self.inside = False
        refused = self._unsuited()
        if refused is None:
            try:
                carried = _Carried(test, body, names, values, own, always, self._written)
                found = self._on_device(carried, most)
                if found is not None:
                    return found
                refused = self.reason
            except CaptureError as error:
                refused = self._refused(error)
        self.reason = refused
        return self._plain(test, body, values, most)

    def _plain(self, test, body, values, most):
        self.turns, self.pulled, stop = 0, 0, False
        while not stop and self.turns != most and test(*values):
            stop, values = body(*values)
            self.turns += 1
        return tuple(values)

    @staticmethod
    def _unsuited():
        if forced() is not FREE:
            return "a plan is forced"
        if tracing.active is not None:
            return "another program runs"
        return None if recorder.active is None else "a Recorder records the calls"

    def _refused(self, error):
        text = f"line {self.line}: {error}"
        if self.strict:
            raise CaptureError(text) from error
        if text in self._told:
            return text
        self._told.add(text)
        warnings.warn(CaptureWarning(f"{text}.  The loop runs turn by turn"), stacklevel=5)
        return text

    def _on_device(self, carried, most):
        """The values after the loop, or None where it is to run plain this time, for `reason`."""
        self.reason = "the first call of its kind"
        with current().device_loop() as make:
            if make is None:
                self.reason = f"the backend {current().name} runs it"
                return None
            key = id(current()), most is None, carried.signature()
            known = self.captured.get(key, self)
            if known is self:
                self.captured[key] = 0
                while len(self.captured) > KEPT:
                    oldest = next(iter(self.captured))
                    del self.captured[oldest]
                    self._patterns.pop(oldest, None)
                if not self._at_once:
                    return None
                known = 0
            if type(known) is str:
                self.reason = known
                return None
            self.captured[key] = self.captured.pop(key)  # the latest
            tries = known if type(known) is int else known.tries
            try:
                known, found = self._launched(key, known, make, carried, most, tries)
                if known.is_kept:  # it may have ended before
                    self.captured[key] = known
            except (KeyboardInterrupt, MemoryError):
                self.captured[key] = tries
                raise
            except Exception as error:
                tries += 1
                if tries < TRIES and isinstance(error, CaptureError):  # forms of a matrix may have been due just then
                    self.captured[key] = tries
                    self.reason = f"{error}; the next call tries again"
                    return None
                self.captured[key] = str(error)
                if isinstance(error, CaptureError):
                    raise
                raise CaptureError(f"{type(error).__name__}: {error}") from error
            self.turns, self.pulled, self.nodes = known.turns, known.pulled, known.device.nodes
            texts = known.matrices.text(), known.lowering
            self.lowering = "; ".join(text for text in texts if text)
            self.reason = None if known.is_kept else "it ended before it was captured"
            return found

    def _launched(self, key, known, make, carried, most, tries):
        """(the Captured, the values after the loop); captured anew where it does not hold, or a matrix does not."""
        patterns = self._patterns.setdefault(key, [])
        for _ in range(MOST_WIDENED):
            try:
                with _undone(carried):
                    if type(known) is not int and known.holds():
                        return known, known.again(carried, most)
                    known = Captured(make(), carried)
                    known.tries = tries
                    return known, known.first(carried, most, patterns)
            except Outside as outside:
                if type(known) is not int and known.device.captured:
                    tries += 1  # each capture costs more than a call from Python
                    if tries >= TRIES:
                        raise CaptureError(
                            "programs: a matrix has entries elsewhere in each call, and each would be captured anew"
                        ) from None
                shape = outside.pattern.shape
                same = [x for x in patterns if x.shape == shape]
                wider = joined(current(), [*same, pattern_of(current(), outside.pattern)])
                patterns[:] = [*(x for x in patterns if x.shape != shape), wider]
                known = tries
        raise CaptureError("programs: a matrix may have entries at more positions in each turn")


def on_device() -> bool:
    """Do loops of programs run on the device of the backend in use?"""
    return current().has_loops and recorder.active is None and forced() is FREE and tracing.active is None


@contextmanager
def _undone(carried):
    """On an exception the loop's vectors get back what they held."""
    stores = [vector._store for vector in carried.vectors]
    try:
        yield
    except BaseException:
        for vector, store in zip(carried.vectors, stores, strict=True):
            elements.reset(vector, store)
        raise


class _Carried:
    """What a loop reads and what it may change: the values of the names that it binds, and the vectors it names."""

    def __init__(
        self, test: Callable, body: Callable, names: list[str], values: list, own: tuple, always: tuple,
        written: tuple = (),
    ) -> None:  # fmt: skip
        self.test, self.body, self.names, self.values, self.always = test, body, names, values, always
        self.own = [name in own for name in names]  # does a turn begin without it?
        self.read: list[tuple[str, Any]] = []  # (name, value) of all else
        self._seen: set[int] = set()
        for function in (test, body):
            self._names_of(function)
        vectors: dict[int, Any] = {}
        every = [*zip(names, self._met(values), strict=True), *self.read]
        for k, (name, value) in enumerate(every):
            if type(value) is Vector or type(value) is Matrix and (k < len(names) or name in written):
                vectors.setdefault(id(value), value)
        self.vectors = list(vectors.values())  # and matrices that change
        matrices = [v._matrix if v._is_transposed else v for _, v in every if is_matrix(v)]
        self.fixed = [matrix for matrix in matrices if id(matrix) not in vectors]  # matrices that do not
        self.others: list[Vector] = []  # which it only reads, of a loop within another

    def divide(self, places: list[int]) -> None:
        """Only the vectors of these places are carried, the others are read."""
        self.others = [vector for k, vector in enumerate(self.vectors) if k not in places]
        self.vectors = [self.vectors[k] for k in places]

    def _met(self, values):
        """Of the values of the names those that a turn begins with."""
        return [UNDEFINED if own else value for own, value in zip(self.own, values, strict=True)]

    def _names_of(self, function):
        """Collect what a function's free names stand for, and those of the functions that it calls."""
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        code = function.__code__
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        found = [(name, value_of(lambda cell=cell: cell.cell_contents)) for name, cell in cells]
        scope = function.__globals__
        found += [(name, scope[name]) for name in _global_names(code) if name in scope]
        for name, value in found:
            if isinstance(value, types.ModuleType) or getattr(builtins, name, self) is value or name == RUN:
                continue
            self.read.append((name, value))
            if isinstance(value, types.FunctionType) and not _is_of_the_library(value):
                self._names_of(value)
                given = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
                self.read += [(f"{name}'s default", x) for x in given]

    def signature(self) -> tuple:
        """Everything on which a captured turn depends.  Raises: CaptureError for what may change unseen."""
        every = [*zip(self.names, self._met(self.values), strict=True), *self.read]
        order = {id(vector): k for k, vector in enumerate(self.vectors)}
        return tuple((name, *_kind(name, value, order, k < len(self.names))) for k, (name, value) in enumerate(every))


def _is_of_the_library(function):
    """Is it a function of the library that reads nothing which may change?  Steps of algorithms/ are closures."""
    module = function.__module__ or ""
    return module.startswith("grb_tile") and not module.startswith("grb_tile.algorithms")


def _global_names(code):
    """The names of a function's code and of the functions within it that may be global ones."""
    names = dict.fromkeys(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names.update(dict.fromkeys(_global_names(inner)))
    return names


def _kind(name, value, order, bound):
    """What of a value decides on a captured turn."""
    if type(value) is Vector:
        store = value._store
        known = store.nvals_if_read
        return (
            "vector",
            order[id(value)],
            store.format,
            store.size,
            store.dtype.name,
            store.iso,
            known == 0,
            (known == store.size),
        )
    if type(value) is Number:  # of the loop around it
        return ("number",)
    if bound and type(value) in NUMBERS:
        return (type(value).__name__,)
    if is_matrix(value):
        matrix = value._matrix if value._is_transposed else value
        if id(matrix) in order:
            return "matrix that changes", value._is_transposed, order[id(matrix)], matrix.shape, matrix.dtype.name
        return "matrix", value._is_transposed, id(matrix._store)
    if isinstance(value, Scalar):
        return "scalar", value.dtype.name, value.value
    if isinstance(value, _PLAIN) or value is UNDEFINED:
        return type(value).__name__, repr(value)
    if isinstance(value, types.FunctionType):
        return "function", id(value.__code__)
    if (
        isinstance(value, type)
        or isinstance(value, types.BuiltinFunctionType)
        and (value.__self__ is None or isinstance(value.__self__, types.ModuleType))
    ):
        return "code", id(value)
    if isinstance(value, tuple) and all(isinstance(x, _PLAIN) for x in value):
        return "tuple", repr(value)
    if type(value).__module__.startswith(_FIXED):
        return "object", id(value)
    raise CaptureError(
        f"programs: the loop reads `{name}`, of type {type(value).__name__}, which may change between calls unseen: "
        "give what it needs of it a name of its own (a number, a Vector, a Matrix)"
    )
