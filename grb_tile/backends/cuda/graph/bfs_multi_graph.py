"""The device arrays of multi-source BFS for one graph: its edges, with vertices in order of degree, highest first.

Made at the first multi-source BFS of a matrix and kept in its forms ("bfs_multi").  The form and its reasons:
kernels/graph/bfs_multi_prepare.cuh.
Memory: 4 bytes an entry and direction (one where symmetric), 2 an entry of the hubs, 16 to 28 a vertex, 24 for each 512
entries of long rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....storage.store import forms_of
from .kept_graph import KeptGraph

if TYPE_CHECKING:
    from ....planner.device_limits import DeviceLimits
    from ....storage.store import Compressed
    from ..runtime.device import Device

CONTROL_WORDS = 256  # at least MultiControl (kernels/graph/bfs_multi.cuh)
HIGH_DEGREE_SHARE = 3 / 4  # of the edges that the vertices called of high degree have
HUBS = 16384  # at most, a power of two of at most 65536; HUB_BYTES of shared memory each
HUB_BYTES = 8


def hubs_of(limits: DeviceLimits) -> int:
    """How many vertices of highest degree have their words in shared memory."""
    return limits.power_of_two_with(HUBS, HUB_BYTES)


class MultiRows:
    """Rows of one direction: start (P), near (int32 positions), tasks (uint64: segment << 32 | row, in order)."""

    def __init__(self, graph: MultiBfsGraph, store: Compressed) -> None:
        device, xp, live = graph.device, graph.device.xp, graph.live
        sizes, segments = device.empty(live, np.int64), device.empty(live, np.int32)
        launcher = device.launcher
        kernel = launcher.kernel
        kernel("graph/bfs_multi_prepare.cuh", "padded_sizes", "", ("int64_t",)).over(
            live, (store.indptr, graph.order, live, sizes, segments)
        )
        starts = device.zeros(live + 1, np.int64)
        xp.cumsum(sizes, out=starts[1:])
        first = device.zeros(live + 1, np.int64)
        xp.cumsum(segments, out=first[1:])
        total, count = device.read(starts[-1:], first[-1:])
        self.count = count
        small = total + 8 * live < 2**31 - 1024  # with the padded entries of hubs
        self.index = "int32_t" if small else "int64_t"
        self.start = starts.astype(np.int32) if small else starts
        self.near = device.empty(total, np.int32)
        self.tasks = _tasks(graph, first, segments, count)
        arguments = store.indptr, store.indices, graph.order, graph.position, live, self.start, self.near
        for block, threads in (("false", 256), ("true", 1024)):
            rows = kernel("graph/bfs_multi_prepare.cuh", "relabel_rows", "", ("int64_t", self.index, block))
            blocks = launcher.blocks(launcher.processors * (8 if block == "false" else 2))
            rows(blocks, launcher.threads(threads), arguments)


class HubRows:
    """The hubs in rows of in-edges: start (P: a multiple of 8, plus the padding), near (uint16), tasks; rest_tasks."""

    def __init__(self, graph: MultiBfsGraph, store: Compressed, rows: MultiRows) -> None:
        device, xp, live = graph.device, graph.device.xp, graph.live
        kernel = device.launcher.kernel
        counts, sizes = device.empty(live, np.int32), device.empty(live, np.int64)
        segments, rest_segments = device.empty(live, np.int32), device.empty(live, np.int32)
        kernel("graph/bfs_multi_prepare.cuh", "hub_counts", "", ("int64_t", graph.index)).over(live, (
            store.indptr, graph.order, rows.start, rows.near, live, graph.hubs, counts, sizes, segments,
            rest_segments))  # fmt: skip
        at, first, rest_first = (device.zeros(live + 1, np.int64) for _ in range(3))
        for sums, numbers in ((at, sizes), (first, segments), (rest_first, rest_segments)):
            xp.cumsum(numbers, out=sums[1:])
        total, self.count, self.rest_count = device.read(at[-1:], first[-1:], rest_first[-1:])
        self.tasks = _tasks(graph, first, segments, self.count)
        self.rest_tasks = _tasks(graph, rest_first, rest_segments, self.rest_count)
        self.start = device.empty(live + 1, rows.start.dtype)
        self.near = device.empty(total, np.uint16)
        kernel("graph/bfs_multi_prepare.cuh", "hub_rows", "", (graph.index,)).over(
            (live + 1) * 32, (rows.start, rows.near, counts, at, live, self.start, self.near)
        )


def _tasks(graph: MultiBfsGraph, first: Any, segments: Any, count: int) -> Any:
    """Tasks segment << 32 | row, sorted."""
    keys = graph.device.empty(count, np.uint64)
    kernel = graph.device.launcher.kernel("graph/bfs_multi_prepare.cuh", "segment_tasks", "", ("int64_t",))
    kernel.over(graph.live, (first, segments, graph.live, keys))
    keys.sort()
    return keys


class MultiBfsGraph(KeptGraph):
    """order: vertices by degree, highest first; position: of each vertex in it; live: the first ones, with edges."""

    def __init__(self, device: Device, out_edges: Compressed, in_edges: Compressed | None) -> None:
        super().__init__(device, out_edges, in_edges)
        n, xp = self.n, device.xp
        degrees = out_edges.indptr[1:] - out_edges.indptr[:-1]
        if in_edges is not None and in_edges is not out_edges:
            degrees = degrees + (in_edges.indptr[1:] - in_edges.indptr[:-1])
        self.order = xp.argsort(-degrees).astype(np.int32)
        self.position = device.empty(n, np.int32)
        self.position[self.order] = device.arange(n, np.int32)
        self.degrees = (out_edges.indptr[1:] - out_edges.indptr[:-1])[self.order].astype(np.int32)  # out-edges
        # without in-edges, the vertices that have some are unknown
        self.live = n if in_edges is None else device.read((degrees > 0).sum().reshape(1))[0]
        self.out = MultiRows(self, out_edges)
        if in_edges is out_edges and self.live < n and self._names_beyond():
            self.live = n  # not symmetric after all: a column without a row of its own is a position, too
            self.out = MultiRows(self, out_edges)
        self.into = None if in_edges is None else self.out if in_edges is out_edges else MultiRows(self, in_edges)
        if self.into is not None and self.into.index != self.out.index:
            self.out.start, self.into.start = (rows.start.astype(np.int64) for rows in (self.out, self.into))
            self.out.index = self.into.index = "int64_t"
        self.index = self.out.index
        self.hubs = device.launcher.size(hubs_of(device.launcher.limits), 64)
        self.hub_rows = None if self.into is None else HubRows(self, in_edges, self.into)
        self.high_degree, self.high_degree_edges = self._high_degree()
        self.launches = {}
        self.mailboxes = []  # of bfs_multi.py, not in use
        self.control = device.zeros(CONTROL_WORDS, np.uint64)  # all zero between launches

    def _names_beyond(self) -> bool:
        """Is there an edge to a vertex that has no edges by the promise that A is symmetric?"""
        near = self.out.near
        return bool(near.shape[0]) and self.device.read(near.max().reshape(1))[0] >= self.live

    def _high_degree(self) -> tuple[int, int]:
        """(how many first vertices have HIGH_DEGREE_SHARE of the edges, how many edges they have)."""
        if not self.live:
            return 0, 0
        start = self.out.start
        goal = int(int(self.out.near.shape[0]) * HIGH_DEGREE_SHARE)
        rows = self.device.xp.searchsorted(start, self.device.array(np.array([goal], start.dtype)))
        rows = min(self.live, (self.device.read(rows)[0] + 31) // 32 * 32)
        return rows, self.device.read(self.degrees[:rows].sum(dtype=np.int64).reshape(1))[0]


def multi_graph_of(device: Device, out_edges: Compressed, in_edges: Compressed | None) -> MultiBfsGraph:
    """The MultiBfsGraph of device stores, kept with the matrix."""
    forms = forms_of(out_edges)
    found = forms.get("bfs_multi")
    if found is None or not found.is_of(device, in_edges):
        found = forms["bfs_multi"] = MultiBfsGraph(device, out_edges, in_edges)
    return found
