"""Whole breadth-first traversals on the device: one launch (two on meshes), nothing read back.

Kernels: kernels/traversal/bfs.cuh (any graph, direction by level), kernels/traversal/bfs_high_diameter.cuh (roads and
meshes: one cluster
of blocks).  The number of vertices reached and the record of the levels stay on the device until somebody asks.
Paper: push_pull_graphblas_icpp18, sections 4 to 6.
"""

import weakref
from functools import lru_cache

import numpy as np

from ....dtypes import INT32, INT64
from ..runtime.array_block import layout
from ..runtime.errors import on_device
from ..runtime.late_vector import LateVector
from .bfs_graph import MAX_ENTRIES, QUEUE, graph_of

HEAD_ROWS = 8  # numbers before the levels in the record
LOG_LEVELS = 8192
# Measured on an H200; tests/benchmarks/gpu/bench_bfs.py tries others.
LAUNCH = {"block": 1024, "careful_block": 768, "per_processor": 1, "cooperative": True, "alpha": 16, "narrow": True,
          "cluster": 8, "narrow_block": 1024}  # fmt: skip


class Outcome:
    """What the traversal's record says; read from the device when asked for, once."""

    directions = ("push", "pull")
    format = "csr"
    choice = None  # planner.choose_traversal.Choice: the kernel and why

    def __init__(self, device, record, graph, kept=None):
        self.device = device
        self._record = record
        self._graph = graph
        self._kept = kept  # arguments that must outlive the launch
        self.level = None  # a weak reference to the store of levels
        self._head = None

    @property
    def head(self):
        if self._head is None:
            self._head = self.device.read(self._record[:HEAD_ROWS])
        return self._head

    @property
    def reached(self):
        """How many vertices were reached."""
        return self.head[0]

    def count_reached(self):
        """`reached`, as a LateVector takes it."""
        return self.head[0]

    @property
    def seconds(self):
        """Time on the device, by its clock."""
        return max(self.head[3] - self.head[2], 0) * 1e-9

    def rows(self):
        """A dictionary per level: level, frontier, direction, edges, ms (the levels' shares by processor cycles)."""
        count = min(self.head[1], LOG_LEVELS)
        log = self.device.host(self._record[HEAD_ROWS : HEAD_ROWS + 4 * count]).reshape(count, 4)
        cycles = np.diff(np.append(log[:, 3], self.head[4]))
        share = self.seconds * 1e3 / max(int(cycles.sum()), 1)
        edges = log[:, 2].copy()
        if (edges < 0).any():
            edges = np.where(edges < 0, self._edges_by_level(count), edges)
        return [
            {"level": k, "frontier": int(log[k, 0]), "direction": self.directions[log[k, 1]],
             "edges": int(edges[k]), "ms": float(cycles[k]) * share}
            for k in range(count)
        ]  # fmt: skip

    def _edges_by_level(self, count):
        """Edges that leave each level's vertices, where the kernel did not count them (it pulled)."""
        store = None if self.level is None else self.level()
        if store is None:
            return np.zeros(count, np.int64)
        device = self.device
        level, words = device.host(store.values), device.host(store.words)
        there = np.unpackbits(words.view(np.uint8), bitorder="little")[: level.shape[0]].astype(bool)
        degrees = np.diff(device.host(self._graph.start).astype(np.int64))
        return np.bincount(level[there], weights=degrees[there], minlength=count)[:count].astype(np.int64)


@on_device
def traverse(device, A, AT, sources, levels, parents, max_level, target, direction):
    """(level store | None, parent store | None, Outcome), or NotImplemented for what needs 64-bit vertices.

    sources: an int, or a sorted NumPy array of several.  direction: None, "push" or "pull" for every level.
    """
    n = A.nrows
    if A.rows is not None or (AT is not None and AT.rows is not None) or n >= 2**31 - 128 or n == 0:
        return NotImplemented
    if A.nvals >= MAX_ENTRIES:
        return NotImplemented
    same = AT is A
    A = device.own(A)
    AT = A if same else None if AT is None else device.own(AT)
    graph = graph_of(device, A, AT)
    single = type(sources) is int
    if target is not None and target in ((sources,) if single else sources):
        max_level, target = 0, None
    max_level = n if max_level is None else min(max_level, n)
    mode = _DIRECTIONS[direction] if AT is not None else 0
    plan = graph.kernels.get((levels, parents)) or _Plan(graph, levels, parents)
    stream = device.current_stream().ptr
    results = results_of(device, n, levels, parents, HEAD_ROWS + 4 * LOG_LEVELS)
    addresses = results.addresses
    target = -1 if target is None else int(target)
    if single:
        listed, first, count = None, sources, 0
    else:
        listed, first, count = device.array(sources, np.int32), -1, sources.shape[0]
    with graph.lock:
        table = graph.table(stream, plan.cluster)
        first_narrow = plan.narrow is not None and single and mode != 1
        if first_narrow:
            plan.narrow(stream, table, sources, *addresses, LOG_LEVELS, max_level, target, plan.limit)
        plan.wide(stream, table, first, device.address(listed), count, *addresses, LOG_LEVELS, max_level, target, mode,
                  LAUNCH["alpha"], 0)  # fmt: skip
    outcome = Outcome(device, results.array(3), graph, listed)
    outcome.choice = graph.choice if first_narrow or not graph.is_narrow else graph.grid_choice
    return answer(n, results, outcome)


@lru_cache(maxsize=64)
def _layout(n, levels, parents, record):
    return layout(
        (n, np.dtype(np.int32)) if levels else None,
        (n, np.dtype(np.int64)) if parents else None,
        ((n + 63) >> 6, np.dtype(np.uint64)),
        (record, np.dtype(np.int64)),
    )


def results_of(device, n, levels, parents, record):
    """The ArrayBlock of what a traversal writes: level, parent (None where not asked for), words, record."""
    arrays = _layout(n, levels, parents, record)
    device.check_room(arrays.total, "traverse")
    return device.launcher.array_block(device.xp, arrays)


def answer(n, results, outcome):
    """(level store | None, parent store | None, outcome) of what a launch writes into `results`."""
    level, parent, words, _ = results.arrays()
    both = level is not None and parent is not None
    if level is not None:
        level = LateVector(outcome.device, n, INT32, words, level, outcome.count_reached)
        level.shared = both
        outcome.level = weakref.ref(level)
    if parent is not None:
        parent = LateVector(outcome.device, n, INT64, words, parent, outcome.count_reached)
        parent.shared = both
    return level, parent, outcome


_DIRECTIONS = {None: -1, "push": 0, "pull": 1}


class _Plan:
    """Kernels and their configuration for one graph and one kind of result; kept with the graph."""

    def __init__(self, graph, levels, parents):
        device = graph.device
        launcher = device.launcher
        flags = ("true" if levels else "false", "true" if parents else "false")
        careful = graph.is_careful
        block = LAUNCH["careful_block"] if careful else LAUNCH["block"]
        wide = launcher.kernel("traversal/bfs.cuh", "bfs", "", (
            graph.index, *flags, str(block), str(LAUNCH["per_processor"]), "true" if careful else "false"))  # fmt: skip
        self.narrow = None
        self.cluster = launcher.cluster(LAUNCH["cluster"])
        threads = launcher.threads(block)
        most = min(wide.resident_blocks(threads), launcher.processors * LAUNCH["per_processor"])
        self.wide = wide.launch(
            14, launcher.blocks(most, graph.nvals, 4096), threads, cooperative=LAUNCH["cooperative"]
        )
        self.limit = graph.narrow_limit(self.cluster)
        if graph.is_narrow and LAUNCH["narrow"] and self.limit > 0:
            self.narrow = self._narrow(graph, flags)
        graph.kernels[levels, parents] = self

    def _narrow(self, graph, flags):
        launcher, cluster = graph.device.launcher, self.cluster
        key = graph.index, str(graph.width), *flags
        threads = launcher.threads(LAUNCH["narrow_block"])
        if not launcher.has_clusters:
            kernel = launcher.kernel("traversal/bfs_high_diameter.cuh", "bfs_high_diameter_grid", "", key)
            return kernel.launch(10, cluster, threads, cooperative=True)
        kernel = launcher.kernel(
            "traversal/bfs_high_diameter.cuh", "bfs_high_diameter_cluster", "", (*key, str(cluster))
        )
        return kernel.launch(10, cluster, threads, 2 * QUEUE * 8, cluster=cluster)
