"""The device arrays of BFS for one graph: derived arrays, a workspace, the table of the kernels.

Made at the first BFS of a matrix and kept in its forms ("traverse").  Each launch leaves the workspace clean
(kernels/graph/level_loop.cuh), so only the results are allocated before a launch, and nothing is filled or cleared.
Memory: 24 bytes a vertex with 32-bit row starts (40 with 64-bit ones), 1/16 byte an entry, 4 x width a vertex on graphs
of high diameter.  Short row pointers and highest-degree neighbours are kept with the matrix (products/row_schedule.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import tuning
from ....planner.choose_traversal import bfs_kernel, forced_traversal, grid_kernel
from ....storage.store import forms_of
from ..products.row_schedule import highest_degree_neighbours, pointers
from ..structure.arrays import index_type
from .block_group import QUEUE_BYTES
from .kept_graph import KeptGraph

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

CHUNK = 128  # edges, as in kernels/graph/frontier.cuh
CONTROL_WORDS = 96  # at least BfsControl (kernels/graph/bfs_state.cuh)
QUEUE_ENTRIES = QUEUE_BYTES // 8  # QUEUE of kernels/graph/bfs_high_diameter.cuh
MAX_ENTRIES = 1 << 33  # a level's edges are counted in 33 bits


class BfsGraph(KeptGraph):
    """Out-edges and (or None) in-edges of one graph, with what the kernels need of it."""

    def __init__(self, device: Device, out_edges: Compressed, in_edges: Compressed | None) -> None:
        super().__init__(device, out_edges, in_edges)
        n = self.n
        self.out, self.into = out_edges.indices, None if in_edges is None else in_edges.indices
        self.launches = {}
        self._table = None
        self.start = pointers(device, out_edges)
        self.index, self.index_type = index_type(self.start), self.start.dtype
        self.in_start = None if in_edges is None else pointers(device, in_edges)
        padded = (n + 127) // 128 * 128
        self.live = device.empty(padded // 32, np.uint32)
        facts = device.zeros(2, np.int64)
        self._kernel("row_facts").over(
            padded, (self.start if in_edges is None else self.in_start, n, padded, self.live, facts.view(np.uint64))
        )
        self.live_count, longest = device.read(facts)
        self.top_neighbour = self.next_neighbours = None
        if in_edges is not None:
            self.top_neighbour, self.next_neighbours = highest_degree_neighbours(device, in_edges, out_edges)
            if in_edges is not out_edges:
                longest = self._longest_row()
        mean = self.nvals / max(n, 1)
        self.width = 4 if mean <= tuning.BFS_SHORT_ROWS else 8
        self.longest = longest
        self.grid_choice, self.is_low_skew = grid_kernel(
            n, self.nvals, longest, None if in_edges is None else self._local_share
        )
        self.choice, self.is_high_diameter = bfs_kernel(
            n, self.nvals, longest, self._entries_of_long_rows, self.grid_choice
        )
        self._first_neighbours = None

    def _local_share(self) -> float:
        """The share of the vertices whose highest-degree neighbour has a near number."""
        if self.n == 0:
            return 0.0
        xp = self.device.xp
        near = xp.abs(self.top_neighbour - self.device.arange(self.n, np.int32)) < self.n // tuning.NEAR_NUMBERS
        return self.device.read(near.sum(dtype=np.int64).reshape(1))[0] / self.n

    def _entries_of_long_rows(self, longest: int) -> int:
        """Entries in the rows of out-edges that have more than `longest`."""
        degrees = self.start[1:] - self.start[:-1]
        return self.device.read(degrees[degrees > longest].sum(dtype=np.int64).reshape(1))[0]

    def _spill_capacity(self) -> int:
        """The most edges of the vertices that one block can visit in a level of the high-diameter kernel.

        These are at most QUEUE_ENTRIES vertices: as many times the longest row, or all long rows and as many others.
        """
        most = QUEUE_ENTRIES * max(self.longest, 1)
        degree = tuning.HIGH_DIAMETER_DEGREE
        if self.longest <= degree:
            return most
        return min(most, QUEUE_ENTRIES * degree + self._entries_of_long_rows(degree))

    def _kernel(self, name: str) -> Any:
        return self.device.launcher.kernel("graph/bfs_prepare.cuh", name, "", (self.index,))

    def _longest_row(self) -> int:
        facts = self.device.zeros(2, np.int64)
        spare = self.device.empty(self.live.shape[0], np.uint32)
        padded = spare.shape[0] * 32
        self._kernel("row_facts").over(padded, (self.start, self.n, padded, spare, facts.view(np.uint64)))
        return self.device.read(facts)[1]

    def high_diameter_limit(self, blocks: int) -> int:
        """The most edges of a level that the high-diameter kernel expands on `blocks` blocks; else it hands over."""
        return blocks * QUEUE_ENTRIES // 2

    def first_neighbours(self) -> Any:
        """The first `width` neighbours of each vertex, for the high-diameter kernel."""
        if self._first_neighbours is None:
            first = self.device.empty(self.n * self.width, np.int32)
            self._kernel("first_neighbours").over(
                self.n * self.width, (self.start, self.out, self.n, self.width, first)
            )
            self._first_neighbours = first
        return self._first_neighbours

    def table(self, blocks: int) -> int:
        """The address of the table (BfsTable in kernels/graph/bfs_state.cuh) with the workspace.

        One serves all streams and threads: searches of a device take turns (Device.wait_stream, Device.lock).
        """
        if self._table is None:
            self._table = self._make_table(blocks)
        return self._table[0]

    def _make_table(self, blocks: int) -> tuple[int, dict[str, Any]]:
        device, n, index = self.device, self.n, self.index_type
        words = self.live.shape[0]
        chunks = self.nvals // CHUNK + 2
        spill = self._spill_capacity() if self.is_high_diameter else 0
        arrays = {
            "start": self.start, "out": self.out, "in_start": self.in_start, "in": self.into,
            "top_neighbour": self.top_neighbour, "next_neighbours": self.next_neighbours,
            "live": self.live, "visited0": device.zeros(words, np.uint32), "visited1": device.empty(words, np.uint32),
            "vertex0": device.empty(n, np.int32), "vertex1": device.empty(n, np.int32),
            "stop0": device.empty(n, index), "stop1": device.empty(n, index),
            "base0": device.empty(n, index), "base1": device.empty(n, index),
            "chunk0": device.empty(chunks, np.int32), "chunk1": device.empty(chunks, np.int32),
            "control": device.zeros(CONTROL_WORDS, np.int64),
            "first_neighbours": None, "queues": None, "spill": None, "handed": None,
        }  # fmt: skip
        if self.is_high_diameter:
            arrays["first_neighbours"] = self.first_neighbours()
            arrays["queues"] = device.empty(2 * blocks * QUEUE_ENTRIES, np.uint64)
            arrays["spill"] = device.empty(blocks * spill, np.uint64)
            arrays["handed"] = device.empty(min(n, blocks * (QUEUE_ENTRIES + spill)), np.int32)
        fields = [n, self.nvals, self.live_count, *map(device.address, arrays.values()), spill]
        arrays["table"] = table = device.array(np.array(fields, np.uint64))
        return device.address(table), arrays


def graph_of(device: Device, out_edges: Compressed, in_edges: Compressed | None) -> BfsGraph:
    """The BfsGraph of device stores, kept with the matrix."""
    forms = forms_of(out_edges)
    kernel = forced_traversal()
    key = "traverse" if kernel is None else f"traverse {kernel}"
    found = forms.get(key)
    if found is None or not found.is_of(device, in_edges):
        found = forms[key] = BfsGraph(device, out_edges, in_edges)
    return found
