"""What a traversal keeps of a graph on the device: derived arrays, a workspace for each stream, the kernels' table.

Made at the first traversal of a matrix and kept in its forms ("traverse").  The workspace is clean between traversals
(kernels/traversal/state.cuh says how), so nothing is allocated, filled or cleared before a launch but the results.
Memory: 24 bytes a vertex with 32-bit row starts (40 with 64-bit ones), 1/16 byte an entry, 4 x width a vertex on
meshes; short row pointers and strongest neighbours are kept with the matrix (products/row_schedule.py).
"""

import threading

import numpy as np

from ....planner import tuning
from ....planner.choose_traversal import bfs_kernel, forced_traversal, grid_kernel
from ....storage.store import forms_of
from ..products.row_schedule import pointers, strongest_of
from ..structure.entries import index_type

CHUNK = 128  # edges, as in traversal/state.cuh
CONTROL_WORDS = 96
QUEUE = 8192  # places, as in traversal/bfs_high_diameter.cuh
MAX_ENTRIES = 1 << 33  # a level's edges are counted in 33 bits


class TraverseGraph:
    """Out-edges and (or None) in-edges of one graph, ready to be traversed."""

    def __init__(self, device, out_edges, in_edges):
        self.device = device
        self.out_edges = out_edges
        self.in_edges = in_edges
        self.n = n = out_edges.nrows
        self.nvals = out_edges.nvals
        self.kernels = {}
        self.lock = threading.Lock()  # of the workspaces: launches that belong together, when threads share the graph
        self._tables = {}
        self.start = pointers(device, out_edges)
        self.index, self.index_type = index_type(self.start), self.start.dtype
        self.in_start = None if in_edges is None else pointers(device, in_edges)
        places = (n + 127) // 128 * 128
        self.live = device.empty(places // 32, np.uint32)
        facts = device.zeros(2, np.int64)
        self._kernel("row_facts").over(
            places, (self.start if in_edges is None else self.in_start, n, places, self.live, facts.view(np.uint64))
        )
        self.live_count, longest = device.read(facts)
        self.strongest = self.next_strongest = None
        if in_edges is not None:
            self.strongest, self.next_strongest = strongest_of(device, in_edges, out_edges)
            if in_edges is not out_edges:
                longest = self._longest_row()
        mean = self.nvals / max(n, 1)
        self.width = 4 if mean <= 4.2 else 8
        self.longest = longest
        self.grid_choice, self.is_careful = grid_kernel(
            n, self.nvals, longest, None if in_edges is None else self._local_share
        )
        self.choice, self.is_narrow = bfs_kernel(n, self.nvals, longest, self._entries_of_long_rows, self.grid_choice)
        self.heads = None

    def _local_share(self):
        """Of the vertices, how many have a strongest neighbour of a near number?"""
        if self.n == 0:
            return 0.0
        xp = self.device.xp
        near = xp.abs(self.strongest - self.device.arange(self.n, np.int32)) < self.n // tuning.NEAR_NUMBERS
        return self.device.read(near.sum(dtype=np.int64).reshape(1))[0] / self.n

    def _entries_of_long_rows(self, longest):
        """Entries in the rows of out-edges that have more than `longest`."""
        degrees = self.start[1:] - self.start[:-1]
        return self.device.read(degrees[degrees > longest].sum(dtype=np.int64).reshape(1))[0]

    def _spill_places(self):
        """The most edges that the vertices claimed by one block in a level of the high-diameter kernel can have.

        A block claims QUEUE vertices at most: QUEUE times the longest row, or all long rows and QUEUE others.
        """
        most = QUEUE * max(self.longest, 1)
        degree = tuning.HIGH_DIAMETER_DEGREE
        if self.longest <= degree:
            return most
        return min(most, QUEUE * degree + self._entries_of_long_rows(degree))

    def _kernel(self, name):
        return self.device.launcher.kernel("traversal/bfs_prepare.cuh", name, "", (self.index,))

    def _longest_row(self):
        facts = self.device.zeros(2, np.int64)
        spare = self.device.empty(self.live.shape[0], np.uint32)
        places = spare.shape[0] * 32
        self._kernel("row_facts").over(places, (self.start, self.n, places, spare, facts.view(np.uint64)))
        return self.device.read(facts)[1]

    def narrow_limit(self, blocks):
        """The most edges of a level that the narrow walk of `blocks` blocks takes on."""
        return blocks * QUEUE // 2

    def first_neighbours(self):
        """The form of the narrow walk: the first `width` neighbours of each vertex."""
        if self.heads is None:
            self.heads = self.device.empty(self.n * self.width, np.int32)
            self._kernel("first_neighbours").over(
                self.n * self.width, (self.start, self.out_edges.indices, self.n, self.width, self.heads)
            )
        return self.heads

    def table(self, stream, blocks):
        """The kernels' table, with a workspace for `stream`: its address."""
        found = self._tables.get(stream)
        if found is None:
            found = self._tables.setdefault(stream, self._make_table(blocks))
        return found[0]

    def _make_table(self, blocks):
        device, n, index = self.device, self.n, self.index_type
        words = self.live.shape[0]
        chunks = self.nvals // CHUNK + 2
        spill = self._spill_places() if self.is_narrow else 0
        arrays = {
            "start": self.start, "out": self.out_edges.indices, "in_start": self.in_start,
            "in": None if self.in_edges is None else self.in_edges.indices,
            "strongest": self.strongest, "next_strongest": self.next_strongest,
            "live": self.live, "seen0": device.zeros(words, np.uint32), "seen1": device.empty(words, np.uint32),
            "vertex0": device.empty(n, np.int32), "vertex1": device.empty(n, np.int32),
            "stop0": device.empty(n, index), "stop1": device.empty(n, index),
            "base0": device.empty(n, index), "base1": device.empty(n, index),
            "chunk0": device.empty(chunks, np.int32), "chunk1": device.empty(chunks, np.int32),
            "control": device.zeros(CONTROL_WORDS, np.int64), "heads": None, "segments": None, "spill": None, "handed": None,
        }  # fmt: skip
        if self.is_narrow:
            arrays["heads"] = self.first_neighbours()
            arrays["segments"] = device.empty(2 * blocks * QUEUE, np.uint64)
            arrays["spill"] = device.empty(blocks * spill, np.uint64)
            arrays["handed"] = device.empty(min(n, blocks * (QUEUE + spill)), np.int32)
        fields = [n, self.nvals, self.live_count, *map(device.address, arrays.values()), spill]
        arrays["table"] = table = device.array(np.array(fields, np.uint64))
        return device.address(table), arrays


def graph_of(device, out_edges, in_edges):
    """The TraverseGraph of device stores, kept with the matrix."""
    forms = forms_of(out_edges)
    kernel = forced_traversal()
    key = "traverse" if kernel is None else f"traverse {kernel}"
    found = forms.get(key)
    if found is None or found.in_edges is not in_edges or found.device is not device:
        found = forms[key] = TraverseGraph(device, out_edges, in_edges)
    return found
