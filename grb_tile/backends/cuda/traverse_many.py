"""Breadth-first traversals from many sources at once on the device: 64 of them in a word a vertex.

Kernels: kernels/traverse_many.cuh.  The result is a matrix with a row of levels for each source; its number of entries is
read back once a batch.  Memory: 256 bytes a vertex for the levels of a batch, 24 for its words.
"""
import numpy as np

from ...dtypes import INT32
from ...storage.store import Compressed
from .errors import on_device
from .traverse import HEAD_ROWS, LAUNCH, LOG_LEVELS, SHIM, Outcome
from .traverse_graph import graph_of

BATCH = 64
CONTROL_WORDS = 16


@on_device
def traverse_many(device, A, AT, sources, max_level, direction=None):
    """(store of levels, sources x n; Outcome of each batch), or NotImplemented for what needs 64-bit vertices."""
    n = A.nrows
    if A.rows is not None or (AT is not None and AT.rows is not None) or not 0 < n < 2**31 - 128 or not len(sources):
        return NotImplemented
    device.check_room(n * 290, "bfs_multi")
    same = AT is A
    A = device.own(A)
    AT = A if same else None if AT is None else device.own(AT)
    graph = graph_of(device, A, AT)
    max_level = n if max_level is None else min(max_level, n)
    mode = 0 if direction == "push" or AT is None else -1 if direction is None else 1
    parts, outcomes = [], []
    for first in range(0, len(sources), BATCH):
        part, outcome = _batch(device, graph, sources[first:first + BATCH], max_level, mode)
        parts.append(part)
        outcomes.append(outcome)
    indptr, indices, values = parts[0]
    if len(parts) > 1:
        xp = device.xp
        starts = [parts[0][0]]
        total = parts[0][1].shape[0]
        for more in parts[1:]:
            starts.append(more[0][1:] + total)
            total += more[1].shape[0]
        indptr = xp.concatenate(starts)
        indices, values = (xp.concatenate([part[k] for part in parts]) for k in (1, 2))
    return Compressed(len(sources), n, INT32, indptr, indices, values), outcomes


def _batch(device, graph, sources, max_level, mode):
    """((indptr, indices, levels), Outcome) of at most 64 sources."""
    n, count, launcher = graph.n, len(sources), device.launcher
    kernel = launcher.kernel("traverse_many.cuh", "many_levels", "", (graph.index,))
    seen, now, following = (device.empty(n, np.uint64) for _ in range(3))
    levels = device.empty(n * 64, np.int32)
    control = device.zeros(CONTROL_WORDS, np.int64)
    record = device.empty(HEAD_ROWS + 4 * LOG_LEVELS, np.int64)
    if device.is_shim:
        blocks, block = SHIM["blocks"], SHIM["block"]
    else:
        block = 1024
        blocks = max(1, min(kernel.resident_blocks(block), graph.nvals // 4096))
    out, into = graph.out_edges, graph.in_edges
    kernel(blocks, block, (
        graph.start, out.indices, graph.in_start, None if into is None else into.indices, n, graph.nvals,
        device.array(np.asarray(sources, np.int32)), count, seen, now, following, device.empty(n, np.int32), levels,
        control, record, LOG_LEVELS, max_level, mode,
    ), 0, LAUNCH["cooperative"])  # fmt: skip
    tiles = (n + 31) // 32
    counts = device.empty(count * tiles, np.int64)
    launcher.kernel("traverse_many.cuh", "many_counts", "", ("int64_t",)).over(tiles * 32, (seen, n, tiles, count, counts))
    ends = device.xp.cumsum(counts)
    indptr = device.zeros(count + 1, np.int64)
    indptr[1:] = ends[tiles - 1::tiles]
    total, = device.read(ends[-1:])
    indices, values = device.empty(total, np.int32), device.empty(total, np.int32)
    warps = 1 if device.is_shim else 4
    launcher.kernel("traverse_many.cuh", "many_rows", "", ("int64_t",)).over(
        tiles * 32, (seen, levels, n, tiles, count, ends, indices, values), block=32 * warps, shared=warps * 64 * 33 * 4)
    return (indptr, indices, values), Outcome(device, record, graph)
