"""The record of a whole loop: the LoopReport that each search returns, and its plan for explain()."""

from __future__ import annotations

import weakref
from typing import Any

from ..planner import Plan, forced_traversal, record_plan


class LoopReport:
    """What a whole loop did, from the backend's LoopOutcome; what a device recorded is read back when looked at.

    levels    a dictionary per level or round: frontier, direction, edges, ms, as far as the backend records them
    count     how many they are
    reached   vertices reached, or None
    expanded  the sum of the levels' frontiers, of which the records of a device may lack some beyond its first 8,192
    seconds   time of the loop, or None
    engine, method, format: as LoopOutcome
    """

    __slots__ = ("__weakref__", "_levels", "_outcome")

    def __init__(self, outcome: Any) -> None:
        self._outcome = outcome
        self._levels: list[dict] | None = None

    @property
    def levels(self) -> list[dict]:
        """The records of the levels."""
        if self._levels is None:
            self._levels = self._outcome.rows()
        return self._levels

    @property
    def count(self) -> int:
        """The number of levels, which needs no records of them."""
        count = getattr(self._outcome, "count", None)
        return len(self.levels) if count is None else count

    @property
    def expanded(self) -> int:
        count = getattr(self._outcome, "expanded", None)
        return sum(level["frontier"] for level in self.levels) if count is None else count()

    @property
    def engine(self) -> str:
        return self._outcome.engine

    @property
    def method(self) -> str:
        return self._outcome.method

    @property
    def format(self) -> str:
        return self._outcome.format

    @property
    def reached(self) -> int | None:
        return self._outcome.reached

    @property
    def seconds(self) -> float | None:
        return self._outcome.seconds

    def __len__(self) -> int:
        return len(self.levels)

    def __repr__(self) -> str:
        pulled = sum(row.get("direction", "").startswith("pull") for row in self.levels)
        took = "" if self.seconds is None else f", {self.seconds * 1e3:.3f} ms"
        return f"{self.reached} reached in {len(self)} levels ({pulled} pulled), {self.engine}{took}"


def record(operation: str, method: str, outcome: Any, report: LoopReport) -> Plan:
    """The plan of a loop that ran: which storage, which kernel, on which engine, and why on another one."""
    tiles = outcome.tiles
    late = getattr(outcome, "late", True)
    figures = _Counts(weakref.ref(report) if late else report, () if tiles is None else tiles, late)
    if outcome.format == "bittiled":
        method = outcome.method
    plan = record_plan(operation, method, outcome.format, "by_level" if tiles is None else "tiles_full", figures)
    plan.engine = outcome.engine
    if outcome.choice is not None:
        plan.use_kernel(*outcome.choice)
    elif (kernel := forced_traversal()) is not None:
        plan.use_kernel(None, "kernel_unsuited", (kernel,))
    if not late:
        plan.seconds = outcome.seconds
    return plan


class _Counts:
    """(levels, levels pulled, *more) of the plan, counted when read; a plan does not keep a device's arrays alive."""

    __slots__ = ("late", "more", "report")

    def __init__(self, report: Any, more: tuple, late: bool) -> None:
        self.report, self.more, self.late = report, more, late  # late: `report` is a weak reference

    def __iter__(self) -> Any:
        report = self.report() if self.late else self.report
        if report is None:
            return iter(("unknown", "unknown", *self.more))
        levels = report.levels
        pulled = sum(row.get("direction", "").startswith("pull") for row in levels)
        return iter((len(levels), pulled, *self.more))
