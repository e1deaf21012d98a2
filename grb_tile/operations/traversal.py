"""Whole level loops on stores, each as one operation: BFS, multi-source BFS, SSSP, connected components.

    BFS          repeat  f<!v> = A' f,  v = v + f            until f is empty
    SSSP         repeat  t = f min.+ A,  f = t where t < d   until f is empty
    components   f(i) = least vertex that can be reached from i, edges followed both ways

The backend in use runs the loop (backends/protocol.py); this module checks arguments and records the plan.  Objects of
core: grb_tile/fused.py.  Paper: push_pull_graphblas_icpp18, algorithm 1 and sections 5.1 to 5.3.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backends.select import current
from ..dtypes import INT32, INT64
from ..exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from ..planner import Plan, forced_traversal, record_plan
from ..storage.embed import empty_matrix, empty_vector


class LoopReport:
    """What a whole loop did, from the backend's LoopOutcome; what a device recorded is read back when looked at.

    levels    a dictionary per level or round: frontier, direction, edges, ms, as far as the backend records them
    reached   vertices reached, or None
    expanded  the sum of the levels' frontiers, of which the records of a device may lack some beyond its first 8,192
    seconds   time of the loop, or None
    engine, method, format, note: as LoopOutcome
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
    def note(self) -> str:
        return getattr(self._outcome, "note", "")

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


def bfs(
    A: Any,
    AT: Any,
    sources: Any,
    *,
    levels: bool = True,
    parents: bool = False,
    max_level: int | None = None,
    target: int | None = None,
    fallback: bool = True,
) -> Any:
    """(level, parent, LoopReport) of a breadth-first search from a source, or from a set of sources merged into one.

    level[v] (INT32) is the least number of edges from a source to v; parent[v] (INT64) some in-neighbour of v one level
    up, a source being its own parent.  Vertices that are not reached have no entry.

    A: store of out-edges by rows, square.  AT: in-edges by rows; A itself when symmetric; None: push only.
    sources: an index or an array of them.  max_level: the last level wanted.  target: stop once it is reached
    (levels beyond its own are not complete).
    fallback: False: None instead of a result where the backend in use would hand the operands to another.

    Raises: TypeError, DimensionMismatch, IndexOutOfBound, InvalidValue; operands stay as they are.
    Cost: entries of visited rows at most; one queue and three bit vectors besides the results.
    """
    n = A.nrows
    check_square("bfs", A, AT)
    if type(sources) is not int or not 0 <= sources < n or target is not None:
        sources = np.unique(np.atleast_1d(_vertices("bfs: sources", sources, n)))
        if target is not None:
            _vertices("bfs: target", target, n)
        if sources.size == 1:
            sources = int(sources[0])
    if max_level is not None and max_level < 0:
        raise InvalidValue(f"bfs: max_level is {max_level}; expected 0 or more, or None")
    if not (levels or parents):
        raise InvalidValue("bfs: neither levels nor parents are asked for; set one of them")
    backend = current()
    if type(sources) is not int and sources.size == 0:
        found = (empty_vector(n, INT32) if levels else None), (empty_vector(n, INT64) if parents else None)
        return *found, LoopReport(_nothing(backend, A))
    result = backend.bfs(A, AT, sources, levels, parents, max_level, target, fallback)
    if result is NotImplemented:
        return None
    level, parent, outcome = result
    report = LoopReport(outcome)
    _record("bfs", "cols" if AT is None else "by level", outcome, report)  # cols: every level is pushed
    return level, parent, report


def bfs_multi(
    A: Any,
    AT: Any,
    sources: Sequence[int],
    *,
    levels: bool = True,
    parents: bool = False,
    max_level: int | None = None,
    fallback: bool = True,
) -> Any:
    """(store of levels | None, of parents | None, LoopReport): `bfs` for every source apart, a matrix row for each.

    fallback: False: None instead of a result where the backend in use has no compiled loop for these operands.
    """
    n = A.nrows
    check_square("bfs_multi", A, AT)
    if _vertices("bfs_multi: sources", sources, n).ndim == 0:
        raise TypeError(f"bfs_multi: sources: expected a sequence of vertices, got {sources!r}; write [{sources!r}]")
    if max_level is not None and max_level < 0:
        raise InvalidValue(f"bfs_multi: max_level is {max_level}; expected 0 or more, or None")
    if not (levels or parents):
        raise InvalidValue("bfs_multi: neither levels nor parents are asked for; set one of them")
    backend = current()
    if len(sources) == 0:
        if not fallback:
            return None
        found = (empty_matrix(0, n, INT32) if levels else None), (empty_matrix(0, n, INT64) if parents else None)
        return *found, LoopReport(_nothing(backend, A))
    result = backend.bfs_multi(A, AT, sources, levels, parents, max_level, fallback)
    if result is NotImplemented:
        return None
    level, parent, outcome = result
    report = LoopReport(outcome)
    _record("bfs_multi", "by level", outcome, report)
    return level, parent, report


def sssp(
    A: Any,
    in_edges: Callable[[], Any],
    source: int,
    heaviest: Any,
    *,
    delta: float | None = None,
    tree: bool = False,
    fallback: bool = True,
) -> Any:
    """(distances, tree | None, LoopReport) of shortest paths from one source; see protocol.Backend.sssp.

    The tree is None where it must be found in another way (edges of weight 0).  fallback: as for `bfs_multi`.
    """
    check_square("sssp", A, None)
    _vertices("sssp: source", [source], A.nrows)
    result = current().sssp(A, in_edges, int(source), heaviest, delta, tree, fallback)
    if result is NotImplemented:
        return None
    store, parents, outcome = result
    report = LoopReport(outcome)
    _record("sssp", outcome.method, outcome, report)
    return store, parents, report


def components(A: Any, AT: Any, *, fallback: bool = True) -> Any:
    """(store of labels, number of components, LoopReport), edges followed both ways; fallback: as for `bfs_multi`.

    The label of a vertex is the smallest vertex of its component (UINT64).  AT: A itself when symmetric.
    """
    check_square("components", A, AT)
    result = current().components(A, AT, fallback)
    if result is NotImplemented:
        return None
    labels, count, outcome = result
    report = LoopReport(outcome)
    _record("components", outcome.method, outcome, report)
    return labels, count, report


def check_square(name: str, A: Any, AT: Any = None) -> None:
    """Raises: DimensionMismatch where A is not square, or AT of another shape."""
    if A.ncols != A.nrows or (AT is not None and AT is not A and AT.shape != A.shape):
        more = "" if AT is None else f" and AT {AT.nrows} x {AT.ncols}"
        raise DimensionMismatch(f"{name}: A is {A.nrows} x {A.ncols}{more}; expected square matrices of one size")


def _vertices(name: str, given: Any, n: int) -> np.ndarray:
    """A vertex or a sequence of them as an int64 array.  Raises: TypeError where one is no integer, IndexOutOfBound."""
    values = np.asarray(given)
    if values.size == 0:
        return values.astype(np.int64)
    if values.dtype.kind not in "iu" or values.ndim > 1:
        raise TypeError(f"{name}: expected vertices, which are integers, got {given!r}; convert with int()")
    if values.min() < 0 or values.max() >= n:
        bad = int(values.min() if values.min() < 0 else values.max())
        expected = f"vertices 0 to {n - 1}" if n else "none, because the graph has no vertices"
        raise IndexOutOfBound(f"{name} has {bad}; expected {expected}")
    return values.astype(np.int64, copy=False)


class _Nothing:
    """The outcome of a search from no source."""

    method, reached, seconds, choice, tiles, note = "by level", 0, 0.0, None, None, ""

    def __init__(self, engine: str, format: str) -> None:
        self.engine, self.format = engine, format

    def rows(self) -> list[dict]:
        return []


def _nothing(backend: Any, A: Any) -> _Nothing:
    return _Nothing(backend.name, A.format)


def _record(operation: str, method: str, outcome: Any, report: LoopReport) -> Plan:
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
        plan.note = outcome.note
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
