"""The outcome of a BFS launch: arrays of results, the stores made of them, the record of its levels."""

from __future__ import annotations

import weakref
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import INT32, INT64
from ..runtime.array_block import Layout, layout
from ..runtime.late_vector import LateVector

if TYPE_CHECKING:
    from ....storage.store import BitmapVector
    from ..runtime.device import Device

RECORD_HEAD = 8  # numbers before the levels, as in kernels/graph/level_loop.cuh
RECORD_LEVELS = 8192  # levels that the record has space for
LEVEL_NUMBERS = 4  # of each level
NOT_RECORDED = "not recorded"  # the direction of levels beyond


class Outcome:
    """The record of one launch: vertices reached, time, levels.  Read from the device when first needed."""

    directions = ("push", "pull")
    numbers = LEVEL_NUMBERS
    format = "csr"
    choice = None  # planner.choose_traversal.Choice: the kernel and why

    def __init__(self, device: Device, record: Any, graph: Any, kept: Any = None) -> None:
        self.device = device
        self._record = record
        self._graph = graph
        self._kept = kept  # an argument that must outlive the launch
        self.level = None  # a weak reference to the store of levels
        self._head = None

    @property
    def head(self) -> list[int]:
        """The numbers before the levels."""
        if self._head is None:
            self._head = self.device.read(self._record[:RECORD_HEAD])
        return self._head

    @property
    def reached(self) -> int:
        """The number of vertices reached."""
        return self.head[0]

    @property
    def count(self) -> int:
        """The number of levels."""
        return self.head[1]

    def count_reached(self) -> int:
        """`reached` as a function, which a LateVector takes."""
        return self.head[0]

    @property
    def seconds(self) -> float:
        """Time on the device, by its clock in nanoseconds."""
        return max(self.head[3] - self.head[2], 0) * 1e-9

    def expanded(self) -> int:
        """The sum of the frontiers."""
        return int(self.log()[1][:, 0].sum()) + self.head[5]

    def log(self) -> tuple[int, np.ndarray, list[float | None]]:
        """(number of levels, the numbers of each one recorded, the milliseconds of those).

        Milliseconds are shares of the processor's cycles; None for the last one recorded where others came after it.
        """
        count = self.head[1]
        recorded = min(count, (self._record.shape[0] - RECORD_HEAD) // self.numbers)
        log = self.device.host(self._record[RECORD_HEAD : RECORD_HEAD + self.numbers * recorded])
        log = log.reshape(recorded, self.numbers)
        cycles = np.diff(np.append(log[:, 3], self.head[4]))
        ms = (cycles * (self.seconds * 1e3 / max(int(cycles.sum()), 1))).tolist()
        return count, log, ms if recorded == count else [*ms[:-1], None]

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary per level: level, frontier, direction, edges, ms.

        Of levels beyond the record frontier and edges are counted from the result, None where it has no levels.
        """
        count, log, ms = self.log()
        recorded = len(ms)
        frontiers, edges = log[:, 0].tolist(), log[:, 2].tolist()
        if count > recorded or min(edges, default=0) < 0:
            vertices, leaving = self._by_level(count)
            edges = [leaving[k] if k >= recorded or edges[k] < 0 else edges[k] for k in range(count)]
            frontiers += vertices[recorded:]
        directions = [self.directions[kind] for kind in log[:, 1].tolist()] + [NOT_RECORDED] * (count - recorded)
        ms += [None] * (count - recorded)
        return [
            {"level": k, "frontier": frontiers[k], "direction": directions[k], "edges": edges[k], "ms": ms[k]}
            for k in range(count)
        ]

    def _by_level(self, count: int) -> tuple[list, list]:
        """The number of each level's vertices and of the edges that leave them, which a pull does not count."""
        store = None if self.level is None else self.level()
        if store is None:
            return [None] * count, [None] * count
        device = self.device
        level, words = device.host(store.values), device.host(store.words)
        there = np.unpackbits(words.view(np.uint8), bitorder="little")[: level.shape[0]].astype(bool)
        degrees = np.diff(device.host(self._graph.start).astype(np.int64))
        level, degrees = level[there], degrees[there]
        edges = np.bincount(level, weights=degrees, minlength=count)[:count].astype(np.int64)
        return np.bincount(level, minlength=count)[:count].tolist(), edges.tolist()


@lru_cache(maxsize=64)
def _layout(n: int, levels: bool, parents: bool, record: int) -> Layout:
    return layout(
        (n, np.dtype(np.int32)) if levels else None,
        (n, np.dtype(np.int64)) if parents else None,
        ((n + 63) >> 6, np.dtype(np.uint64)),
        (record, np.dtype(np.int64)),
    )


def results_of(device: Device, n: int, levels: bool, parents: bool) -> Any:
    """The ArrayBlock that a BFS launch writes: level, parent (None where not wanted), words, record."""
    arrays = _layout(n, levels, parents, RECORD_HEAD + LEVEL_NUMBERS * RECORD_LEVELS)
    device.check_room(arrays.total, "traverse")
    return device.launcher.array_block(device.xp, arrays)


def stores_of(n: int, results: Any, outcome: Outcome) -> tuple[BitmapVector | None, BitmapVector | None, Outcome]:
    """(level store | None, parent store | None, outcome) of the arrays of `results`."""
    level, parent, words = results.array(0), results.array(1), results.array(2)
    both = level is not None and parent is not None
    if level is not None:
        level = LateVector(outcome.device, n, INT32, words, level, outcome.count_reached)
        level.shared = both
        outcome.level = weakref.ref(level)
    if parent is not None:
        parent = LateVector(outcome.device, n, INT64, words, parent, outcome.count_reached)
        parent.shared = both
    return level, parent, outcome
