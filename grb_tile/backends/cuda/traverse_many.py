"""Breadth-first traversals from many sources at once on the device: 64 of them in a word a vertex.

Kernels: kernels/traverse_many.cuh (the levels), kernels/many_parents.cuh (parents of the levels), kernels/many_result.cuh
(rows of the result).  The results are matrices with a row for each source; both have the same indices.
Memory: 32 bytes a vertex for the words of a batch, 32 for each four binary digits of the greatest level, 256 for parents.
"""
import numpy as np

from ...dtypes import INT32, INT64
from ...storage.store import Compressed
from .errors import on_device
from .many_graph import many_graph_of
from .traverse import HEAD_ROWS, LOG_LEVELS, SHIM, Outcome
from .traverse_launch import PlainLaunch, QuickLaunch

BATCH = 64
MOST_SPARE = 4 << 30           # bytes of results for which room is made before their number is known
LAUNCH = {"block": 1024, "alpha": 32, "hubs": 16384, "chunk": 512}     # hubs: a power of two, 8 bytes of shared memory each


@on_device
def traverse_many(device, A, AT, sources, max_level, direction=None, levels=True, parents=False):
    """(store of levels | None, store of parents | None, Outcome of each batch of 64), or NotImplemented.

    Stores: len(sources) x n, INT32 and INT64.  Not implemented: 64-bit vertices; parents without in-edges (AT None).
    """
    n = A.nrows
    if A.rows is not None or (AT is not None and AT.rows is not None) or not 0 < n < 2**31 - 128 or not len(sources):
        return NotImplemented
    if parents and AT is None:
        return NotImplemented
    max_level = n if max_level is None else min(max_level, n)
    same = AT is A
    A = device.own(A)
    AT = A if same else None if AT is None else device.own(AT)
    bytes_each = 4 + 4 * levels + 8 * parents
    groups = ((max_level + 1).bit_length() + 3) // 4
    graph = many_graph_of(device, A, AT)
    mode = 0 if direction == "push" or AT is None else -1 if direction is None else 1
    parts, outcomes = [], []
    for first in range(0, len(sources), BATCH):
        search = _Batch(device, graph, sources[first:first + BATCH], max_level, mode, groups)
        parts.append(search.rows(levels, parents, bytes_each))
        outcomes.append(search.outcome)
    if len(parts) == 1:
        indptr, *arrays = parts[0]
    else:
        xp = device.xp
        starts, total = [parts[0][0]], parts[0][1].shape[0]
        for more in parts[1:]:
            starts.append(more[0][1:] + total)
            total += more[1].shape[0]
        indptr = xp.concatenate(starts)
        arrays = [None if parts[0][k] is None else xp.concatenate([part[k] for part in parts]) for k in (1, 2, 3)]
    indices, *values = arrays
    return *(
        None if held is None else Compressed(len(sources), n, dtype, indptr, indices, held)
        for held, dtype in zip(values, (INT32, INT64), strict=True)
    ), outcomes  # fmt: skip


class _Batch:
    """One run of at most 64 sources: the levels in binary on the device, from which rows are made."""

    def __init__(self, device, graph, sources, max_level, mode, groups):
        self.device, self.graph, self.count = device, graph, len(sources)
        n, live = graph.n, graph.live
        words = device.empty(n * (4 * groups + 1) + 3 * live, np.uint64)
        self.cells, self.seen = words[:4 * n * groups], words[4 * n * groups:n * (4 * groups + 1)]
        now, following, spare = words[n * (4 * groups + 1):].reshape(3, live)
        self.record = device.empty(HEAD_ROWS + 4 * LOG_LEVELS, np.int64)
        stream, hubs, launch = _launch_of(graph)
        out, into = graph.out, graph.into
        pulled = (None, None, None, 0) if into is None else (into.start, into.near, into.tasks, into.count)
        arguments = (
            out.start, out.near, out.tasks, out.count, *pulled, graph.place, graph.degrees, n, live, graph.out_edges.nvals,
            graph.strong, graph.strong_edges, hubs, _moved(device, sources), self.count, self.seen, now, following, spare,
            self.cells, graph.control, self.record, LOG_LEVELS, max_level, mode, LAUNCH["alpha"],
        )  # fmt: skip
        if not device.is_shim:
            arguments = [0 if a is None else a if type(a) is int else a.data.ptr for a in arguments]
        launch(stream, *arguments)
        self.outcome = Outcome(device, self.record, None)

    def rows(self, levels, parents, bytes_each):
        """(indptr, indices, levels | None, parents | None)."""
        device, graph, count, n = self.device, self.graph, self.count, self.graph.n
        launcher = device.launcher
        size = 256 if parents else LAUNCH["chunk"]       # vertices that a block makes rows of
        chunks = (n + size - 1) // size
        counts = device.empty(count * chunks, np.int64)
        launcher.kernel("many_result.cuh", "many_counts", "", ("int64_t",)).over(
            chunks * 32, (self.seen, graph.place, n, size, chunks, count, counts), block=64)
        ends = device.xp.cumsum(counts)
        found = self._parents() if parents else None
        most = count * (graph.live + 1)        # a source without edges reaches itself
        known = most * bytes_each > MOST_SPARE             # then they are counted first
        room = device.read(ends[-1:])[0] if known else most
        indptr, indices = device.empty(count + 1, np.int64), device.empty(room, np.int32)
        values = device.empty(room, np.int32) if levels else None, device.empty(room, np.int64) if parents else None
        launcher.kernel("many_result.cuh", "many_rows", "", ("int64_t", "true" if parents else "false"))(
            chunks if not device.is_shim else 2, 256 if not device.is_shim else 64,
            (self.seen, self.cells, graph.place, n, size, chunks, count, ends, self.record, found, indptr, indices, *values),
            4 * size * (75 if parents else 10))
        if not known:
            total, = device.read(ends[-1:])
            indices, *values = (
                array if array is None or total == most else array[:total] if 2 * total > most else array[:total].copy()
                for array in (indices, *values)
            )  # fmt: skip
        return indptr, indices, *values

    def _parents(self):
        """64 parents of each vertex, in the order of the graph's places."""
        device, graph = self.device, self.graph
        found = device.empty(graph.n * 64, np.int32)
        into = graph.into
        kernel = device.launcher.kernel("many_parents.cuh", "many_parents", "", (graph.index,))
        block = 64 if device.is_shim else 256
        shared = block * 65 * 4
        kernel(kernel.resident_blocks(block, shared), block, (
            into.start, into.near, into.tasks, into.count, graph.order, graph.n, graph.live, self.seen, self.cells, self.record,
            device.zeros(graph.live, np.uint64), found), shared)  # fmt: skip
        return found


def _launch_of(graph):
    """(stream, words of hubs, the launch of many_levels); kept with the graph."""
    device = graph.device
    key = LAUNCH["block"], LAUNCH["hubs"]
    found = graph.launches.get(key)
    if found is None:
        kernel = device.launcher.kernel("traverse_many.cuh", "many_levels", "", (graph.index,))
        if device.is_shim:
            found = 64, PlainLaunch(kernel, SHIM["blocks"], SHIM["block"], 8 * 64)
        else:
            block, hubs = key
            blocks = max(1, min(kernel.resident_blocks(block, 8 * hubs), graph.out_edges.nvals // 1024))
            found = hubs, QuickLaunch(kernel, 29, blocks, block, 8 * hubs, cooperative=True)
        graph.launches[key] = found
    return 0 if device.is_shim else device.xp.cuda.get_current_stream().ptr, *found


def _moved(device, sources):
    """A list of ints as int32 on the device, by the shortest way."""
    sources = np.asarray(sources, np.int32)
    if device.is_shim:
        return device.array(sources)
    moved = device.empty(len(sources), np.int32)
    moved.data.copy_from_host_async(sources.ctypes.data, sources.nbytes)          # staged before it returns
    return moved
