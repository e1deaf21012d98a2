"""What traversals from many sources keep of a graph: its edges with the vertices in order of their edges, most first.

Made at the first such traversal of a matrix and kept in its forms ("traverse_many");
kernels/traversal/bfs_multi_prepare.cuh says why.
Memory: 4 bytes an entry and direction (one where symmetric), 2 an entry of the hubs, 16 to 28 a vertex, 24 for each 512
entries of long rows.
"""

import numpy as np

from ....storage.store import forms_of

CONTROL_WORDS = 256
HUBS = 16384  # a power of two of at most 65536; 8 bytes of shared memory each


class ManyRows:
    """Rows of one direction: start (P), near (int32 places), tasks (uint64: piece << 32 | row, pieces in turn)."""

    def __init__(self, graph, store):
        device, xp, live = graph.device, graph.device.xp, graph.live
        sizes, pieces = device.empty(live, np.int64), device.empty(live, np.int32)
        launcher = device.launcher
        kernel = launcher.kernel
        kernel("traversal/bfs_multi_prepare.cuh", "padded_sizes", "", ("int64_t",)).over(
            live, (store.indptr, graph.order, live, sizes, pieces)
        )
        starts = device.zeros(live + 1, np.int64)
        xp.cumsum(sizes, out=starts[1:])
        first = device.zeros(live + 1, np.int64)
        xp.cumsum(pieces, out=first[1:])
        total, count = device.read(starts[-1:], first[-1:])
        self.count = count
        small = total + 8 * live < 2**31 - 1024  # hubs' entries too, padded
        self.index = "int32_t" if small else "int64_t"
        self.start = starts.astype(np.int32) if small else starts
        self.near = device.empty(total, np.int32)
        self.tasks = _tasks(graph, first, pieces, count)
        arguments = store.indptr, store.indices, graph.order, graph.place, live, self.start, self.near
        for block, threads in (("false", 256), ("true", 1024)):
            rows = kernel("traversal/bfs_multi_prepare.cuh", "relabel_rows", "", ("int64_t", self.index, block))
            blocks = launcher.blocks(launcher.processors * (8 if block == "false" else 2))
            rows(blocks, launcher.threads(threads), arguments)


class HubRows:
    """What rows of in-edges hold of the hubs: start (P: a multiple of 8, plus the padding), near (uint16), tasks; rest_tasks."""

    def __init__(self, graph, store, rows):
        device, xp, live = graph.device, graph.device.xp, graph.live
        kernel = device.launcher.kernel
        counts, sizes = device.empty(live, np.int32), device.empty(live, np.int64)
        pieces, rest_pieces = device.empty(live, np.int32), device.empty(live, np.int32)
        kernel("traversal/bfs_multi_prepare.cuh", "hub_counts", "", ("int64_t", graph.index)).over(live, (
            store.indptr, graph.order, rows.start, rows.near, live, graph.hubs, counts, sizes, pieces, rest_pieces))  # fmt: skip
        at, first, rest_first = (device.zeros(live + 1, np.int64) for _ in range(3))
        for sums, numbers in ((at, sizes), (first, pieces), (rest_first, rest_pieces)):
            xp.cumsum(numbers, out=sums[1:])
        total, self.count, self.rest_count = device.read(at[-1:], first[-1:], rest_first[-1:])
        self.tasks = _tasks(graph, first, pieces, self.count)
        self.rest_tasks = _tasks(graph, rest_first, rest_pieces, self.rest_count)
        self.start = device.empty(live + 1, rows.start.dtype)
        self.near = device.empty(total, np.uint16)
        kernel("traversal/bfs_multi_prepare.cuh", "hub_rows", "", (graph.index,)).over(
            (live + 1) * 32, (rows.start, rows.near, counts, at, live, self.start, self.near)
        )


def _tasks(graph, first, pieces, count):
    """Keys piece << 32 | row in order."""
    keys = graph.device.empty(count, np.uint64)
    kernel = graph.device.launcher.kernel("traversal/bfs_multi_prepare.cuh", "segment_tasks", "", ("int64_t",))
    kernel.over(graph.live, (first, pieces, graph.live, keys))
    keys.sort()
    return keys


class ManyGraph:
    """order: vertices by the number of their edges, most first; place: where each is; live: how many may have any."""

    def __init__(self, device, out_edges, in_edges):
        self.device = device
        self.out_edges, self.in_edges = out_edges, in_edges
        self.n = n = out_edges.nrows
        xp = device.xp
        degrees = out_edges.indptr[1:] - out_edges.indptr[:-1]
        if in_edges is not None and in_edges is not out_edges:
            degrees = degrees + (in_edges.indptr[1:] - in_edges.indptr[:-1])
        self.order = xp.argsort(-degrees).astype(np.int32)
        self.place = device.empty(n, np.int32)
        self.place[self.order] = device.arange(n, np.int32)
        self.degrees = (out_edges.indptr[1:] - out_edges.indptr[:-1])[self.order].astype(np.int32)  # out-edges
        self.live = (
            n if in_edges is None else device.read((degrees > 0).sum().reshape(1))[0]
        )  # who has in-edges is not known
        self.out = ManyRows(self, out_edges)
        self.into = None if in_edges is None else self.out if in_edges is out_edges else ManyRows(self, in_edges)
        if self.into is not None and self.into.index != self.out.index:
            self.out.start, self.into.start = (rows.start.astype(np.int64) for rows in (self.out, self.into))
            self.out.index = self.into.index = "int64_t"
        self.index = self.out.index
        self.hubs = device.launcher.size(HUBS, 64)
        self.hub_rows = None if self.into is None else HubRows(self, in_edges, self.into)
        self.strong, self.strong_edges = self._strong()
        self.launches = {}
        self.mailboxes = []  # traversal/bfs_multi.py's, not in use
        self.control = device.zeros(CONTROL_WORDS, np.uint64)  # the kernel's counters: all zero between traversals

    def _strong(self):
        """The fewest first vertices that hold three quarters of the edges, and how many edges they hold."""
        if not self.live:
            return 0, 0
        start = self.out.start
        goal = int(self.out.near.shape[0]) * 3 // 4
        rows = self.device.xp.searchsorted(start, self.device.array(np.array([goal], start.dtype)))
        rows = min(self.live, (self.device.read(rows)[0] + 31) // 32 * 32)
        return rows, self.device.read(self.degrees[:rows].sum(dtype=np.int64).reshape(1))[0]


def many_graph_of(device, out_edges, in_edges):
    """The ManyGraph of device stores, kept with the matrix."""
    forms = forms_of(out_edges)
    found = forms.get("traverse_many")
    if found is None or found.in_edges is not in_edges or found.device is not device:
        found = forms["traverse_many"] = ManyGraph(device, out_edges, in_edges)
    return found
