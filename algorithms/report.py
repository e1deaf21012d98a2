"""The report of an iterative algorithm: a record per iteration, and when and why it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Callback = Callable[[dict[str, Any]], object]  # is called with each record; something true stops the algorithm


class Report:
    """The record of one run.

    algorithm    its name
    rounds       one dict per iteration: `iteration`, `seconds` since the start, and the algorithm's own figures
    converged    True or False where the algorithm iterates to a tolerance or to exhaustion, None until known
    stopped_by   "converged", "max_iter", "callback", "target" ...
    weighted     did the values of the edges count?  False: every edge counted the same
    seconds      from entering to leaving

    Used as a context manager around the loop.  An exception that leaves the loop (KeyboardInterrupt too) carries the
    report in its attribute `report`; the graph and its cached properties are never written to by an algorithm, so they
    stay whole.

    >>> from grb_tile.algorithms import Report
    >>> with Report("demo") as report:
    ...     for residual in (0.5, 0.25):
    ...         stop = report.note(residual=residual)
    >>> report.iterations, report.rounds[-1]["residual"]
    (2, 0.25)
    """

    def __init__(self, algorithm: str, callback: Callback | None = None, *, weighted: bool = False) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(f"callback: expected a function of one dict, got {callback!r}; leave it out if not wanted")
        self.algorithm, self.weighted = algorithm, bool(weighted)
        self._rounds: list[dict[str, Any]] = []
        self._later: Callable[[], list[dict[str, Any]]] | None = None
        self.converged: bool | None = None
        self.stopped_by: str | None = None
        self.seconds = 0.0
        self._callback = callback
        self._start = time.perf_counter()

    @property
    def rounds(self) -> list[dict[str, Any]]:
        if self._later is not None:
            rows, self._later = self._later(), None
            self._rounds = [{"iteration": k + 1, **row} for k, row in enumerate(rows)]
        return self._rounds

    @property
    def iterations(self) -> int:
        return len(self.rounds)

    @property
    def residual(self) -> Any:
        return self.rounds[-1].get("residual") if self.rounds else None

    @property
    def has_callback(self) -> bool:
        """Is each record given to a callback, so that records must not be late?"""
        return self._callback is not None

    def note(self, **figures: Any) -> bool:
        """Record one iteration; True when the callback asks to stop (by returning something true)."""
        record = {"iteration": len(self._rounds) + 1, "seconds": time.perf_counter() - self._start, **figures}
        self._rounds.append(record)
        if self._callback is not None and self._callback(record):
            self.finish("callback", False)
            return True
        return False

    def whole(self, operation: Callable[..., Any], *operands: Any, **options: Any) -> Any:
        """What an operation of gb.graph gives, which is the whole loop; None where the caller's own loop is to run.

        That is where the backend in use has none, or each record is given to a callback.
        """
        found = operation(*operands, **options) if self._callback is None else None
        if found is not None:
            self.finish("converged", True)
        return found

    def adopt(self, rows: Callable[[], list[dict[str, Any]]]) -> None:
        """Take the records of a loop that ran as one operation: `rows()` gives them, called only if they are read."""
        self._later = rows

    def finish(self, stopped_by: str, converged: bool | None = None) -> None:
        self.stopped_by = stopped_by
        self.converged = converged

    def __enter__(self) -> Report:
        self._start = time.perf_counter()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.seconds = time.perf_counter() - self._start
        if error is not None:
            self.stopped_by = kind.__name__
            error.report = self

    def __repr__(self) -> str:
        tail = f", converged={self.converged}" if self.converged is not None else ""
        tail += f", {'weighted' if self.weighted else 'unweighted'}, {self.seconds:.3g} s"
        return f"Report({self.algorithm}: {self.iterations} iterations, stopped by {self.stopped_by}{tail})"
