"""One loop of a program: turn by turn from Python, or on the device of the backend.

The first time it meets operands of its kind a loop runs from Python.  The second time a turn is run once more in each
direction on vectors with fixed addresses (slots), then captured, and the rest of the turns launched; from then on a
call loads the slots and launches.  What identifies the kind is its signature: everything that the turn may read.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from ..backends.select import current
from ..core import elements, recorder, tracing
from ..exceptions import CaptureError, CaptureWarning
from ..planner.record import FREE, forced
from .bound_call import BoundCall, checks_of
from .bounds import MOST_WIDENED, Outside, joined, pattern_of
from .captured import Captured
from .carried import Carried
from .inner import Inner, run_within
from .names import value_of
from .reads import Reads
from .temporaries import Temporaries

KEPT = 8  # captured loops of one place, the latest
TRIES = 3  # captures of a loop, each in a call of its own


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
        self._temporaries = Temporaries()
        self._bound: dict[Any, BoundCall] = {}  # of those signatures whose calls are told by a few comparisons
        self._reads: Reads | None = None
        self._latest: Any = None  # the signature of the call before, where it was bound
        self._ran: Captured | None = None  # on the device, the last time that it did

    @property
    def nodes(self) -> dict[str, int]:
        """Steps of a turn on the device, by direction."""
        return {} if self._ran is None else self._ran.device.nodes

    @property
    def lowering(self) -> str:
        """How the turns run on the device."""
        texts = () if self._ran is None else (self._ran.matrices.text(), self._ran.lowering)
        return "; ".join(text for text in texts if text)

    def run(
        self, test: Callable, body: Callable, named: tuple, most: int | None, own: tuple, always: tuple,
        plain: bool = False,
    ) -> tuple:  # fmt: skip
        """The values of the names after the loop.

        named: (name, function that gives its value) of each; own: the names that each turn binds before it reads them
        and nothing reads after the loop; always: those that each turn binds first, whatever its branches; plain: its
        turns are numbered alone, `most` of them.
        """
        if self._bound and tracing.active is None and recorder.active is None and forced() is FREE:
            found = self._as_before(test, body, named, most)
            if found is not None:
                return found
        names, values = [name for name, _ in named], [value_of(get) for _, get in named]
        around = tracing.current()
        if around is not None:  # the loop around it runs on the device
            self.reason, self.inside, self.turns, self.pulled = None, True, 0, 0
            carried = Carried(test, body, names, values, own, always, self._written)
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
                carried = Carried(test, body, names, values, own, always, self._written)
                found = self._on_device(carried, most, named)
                if found is not None:
                    return found
                refused = self.reason
            except CaptureError as error:
                refused = self._refused(error)
        self.reason = refused
        return self._plain(test, body, values, most)

    def _as_before(self, test, body, named, most):
        """The values after the loop, None where the call is not as one before."""
        backend, reads = current(), self._reads
        every = reads.of(test, body, named)
        if every is None:
            return None
        for key, bound in reversed(list(self._bound.items())):  # another thread may bind others meanwhile
            alike = bound.backend is backend and bound.reads is reads and key[1] is (most is None)
            vectors = bound.matched(every) if alike else None
            if vectors is None:
                continue
            values, known, self.inside = every[: len(named)], bound.known, False
            try:
                found = bound.run(test, values, vectors, most)
            except BaseException as error:
                self._bound.pop(key, None)
                try:
                    self._failed(key, known.tries, error)
                    refused = self.reason
                except CaptureError as failure:
                    refused = self._refused(failure, 5)
                self.reason = refused
                return self._plain(test, body, values, most)
            if found is not None:
                if known is not self._ran or key is not self._latest:
                    for kept in (self.captured, self._bound):
                        kept[key] = kept.pop(key, known if kept is self.captured else bound)
                    self._ran, self._latest = known, key
                self.turns, self.pulled, self.reason = known.turns, known.pulled, None
            return found
        return None

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

    def _refused(self, error, depth=4):
        text = f"line {self.line}: {error}"
        if self.strict:
            raise CaptureError(text) from error
        if text in self._told:
            return text
        self._told.add(text)
        warnings.warn(CaptureWarning(f"{text}.  The loop runs turn by turn"), stacklevel=depth)
        return text

    def _on_device(self, carried, most, named):
        """The values after the loop, or None where it is to run plain this time, for `reason`."""
        self.reason = "the first call of its kind"
        with current().device_loop() as make:
            if make is None:
                self.reason = f"the backend {current().name} runs it"
                return None
            key = id(current()), most is None, carried.signature()
            self._latest = None
            known = self.captured.get(key, self)
            at_once, own = self._at_once, key
            if known is self:
                found = self._temporaries.key_for(key, carried.fixed, self.captured)
                at_once = at_once or found is key
                if found is not None and found is not key:
                    key, known = found, self.captured[found]
            if known is self:
                self.captured[key] = 0
                while len(self.captured) > KEPT:
                    oldest = next(iter(self.captured))
                    del self.captured[oldest]
                    self._patterns.pop(oldest, None)
                    self._bound.pop(oldest, None)
                if not at_once:
                    return None
                known = 0
            if type(known) is str:
                self.reason = known
                return None
            self.captured[key] = self.captured.pop(key)  # the latest
            self._bound.pop(key, None)
            tries = known if type(known) is int else known.tries
            checks = self._checks_of(carried, named) if key is own else None
            try:
                known, found = self._launched(key, known, make, carried, most, tries)
            except BaseException as error:
                self._failed(key, tries, error)
                return None
            if known.is_kept:  # it may have ended before
                self.captured[key] = known
                if checks is not None and known.is_bindable:
                    self._bound[key] = BoundCall(known, current(), self._reads, checks, len(carried.vectors))
            self._ran, self.turns, self.pulled = known, known.turns, known.pulled
            self.reason = None if known.is_kept else "it ended before it was captured"
            return found

    def _checks_of(self, carried, named):
        """What calls like this one have in common, which has not run yet; None where it is told only by long ways."""
        reads = carried.reads
        if not reads.alike(self._reads):
            self._reads = reads
            self._bound.clear()
        every = self._reads.of(carried.test, carried.body, named)
        return None if every is None else checks_of(carried, every)

    def _failed(self, key, tries, error):
        """A loop on the device has raised: what becomes of its signature.  Raises: the error, or the CaptureError."""
        self._ran = None
        if not isinstance(error, Exception) or isinstance(error, MemoryError):
            self.captured[key] = tries
            raise error
        tries += 1
        if tries < TRIES and isinstance(error, CaptureError):  # forms of a matrix may have been due just then
            self.captured[key] = tries
            self.reason = f"{error}; the next call tries again"
            return
        self.captured[key] = str(error)
        if isinstance(error, CaptureError):
            raise error
        raise CaptureError(f"{type(error).__name__}: {error}") from error

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
