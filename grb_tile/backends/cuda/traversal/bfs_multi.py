"""Breadth-first traversals from many sources at once on the device: 64 of them in a word a vertex.

Kernels: kernels/traversal/bfs_multi.cuh (the levels), kernels/traversal/bfs_multi_parents.cuh (parents of the levels),
kernels/traversal/bfs_multi_result.cuh
(rows of the result).  The results are matrices with a row for each source; both have the same indices.
Memory: 32 bytes a vertex for the words of a batch, 32 for each four binary digits of the greatest level, 264 for
parents.
"""

import ctypes
from functools import lru_cache

import numpy as np

from ....dtypes import INT32, INT64
from ....storage.store import Compressed
from ..runtime.array_block import layout
from ..runtime.errors import on_device
from ..runtime.mailbox import Mailbox
from .bfs import HEAD_ROWS, LOG_LEVELS, Outcome
from .bfs_multi_graph import many_graph_of

BATCH = 64
MOST_SPARE = 4 << 30  # bytes of results for which room is made before their number is known
LAUNCH = {"block": 1024, "alpha": 32}


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
    graph = many_graph_of(device, A, AT)
    mode = 0 if direction == "push" or AT is None else -1 if direction is None else 1
    parts, outcomes = [], []
    for first in range(0, len(sources), BATCH):
        part, outcome = _batch(device, graph, sources[first : first + BATCH], max_level, mode, levels, parents)
        parts.append(part)
        outcomes.append(outcome)
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


def _batch(device, graph, sources, max_level, mode, levels, parents):
    """((indptr, indices, levels | None, parents | None), Outcome) of at most 64 sources.

    Two launches (three with parents); the second is given before the first is done, and what the host has to do after
    it is done while rows are written.
    """
    launches = _launches_of(graph, parents)
    count, n, live = len(sources), graph.n, graph.live
    groups = ((max_level + 1).bit_length() + 3) // 4
    stream = device.current_stream().ptr
    try:
        mailbox = graph.mailboxes.pop()
    except IndexError:  # none yet, or another thread took it
        mailbox = _Mailbox(device)
    mailbox.write(sources)
    workspace = device.launcher.array_block(device.xp, _workspace(n, live, groups, launches.chunks))
    cells, seen, now, following, spare, totals, tallies = workspace.addresses
    record = device.empty(HEAD_ROWS + 4 * LOG_LEVELS, np.int64)
    log = device.address(record)
    launches.levels(
        stream,
        *launches.edges,
        graph.strong,
        graph.strong_edges,
        launches.hubs,
        mailbox.sources,
        count,
        seen,
        now,
        following,
        spare,
        cells,
        launches.control,
        log,
        mailbox.ptr,
        LOG_LEVELS,
        max_level,
        mode,
        LAUNCH["alpha"],
        int(parents),
    )
    found = _parents(device, graph, seen, cells, record) if parents else None
    bytes_each = 4 + 4 * levels + 8 * parents
    most = count * (live + 1)  # a source without edges reaches itself
    known = most * bytes_each > MOST_SPARE  # then they are counted first
    room = mailbox.read(stream) if known else most
    arrays = [
        device.empty(count + 1, np.int64), device.empty(room, np.int32), device.empty(room, np.int32) if levels else None,
        device.empty(room, np.int64) if parents else None,
    ]  # fmt: skip
    launches.rows(
        stream,
        seen,
        cells,
        launches.place,
        n,
        launches.size,
        count,
        log,
        device.address(found),
        tallies,
        totals,
        launches.control,
        *map(device.address, arrays),
    )
    if not known:
        total = mailbox.read(stream)
        if total < most:
            arrays[1:] = [
                array if array is None else array[:total] if 2 * total > most else array[:total].copy()
                for array in arrays[1:]
            ]
    graph.mailboxes.append(mailbox)
    return arrays, Outcome(device, record, None)


@lru_cache(maxsize=64)
def _workspace(n, live, groups, chunks):
    """The Layout of cells, seen, now, following, spare, totals, tallies."""
    word, count = np.dtype(np.uint64), np.dtype(np.int32)
    return layout((4 * n * groups, word), (n, word), *[(live, word)] * 3, (64, count), (64 * chunks, count))


def _parents(device, graph, seen, cells, record):
    """64 parents of each vertex, in the order of the graph's places."""
    found = device.empty(graph.n * 64, np.int32)
    block = device.launcher.threads(256)
    for name, rows, shared, done in (("bfs_multi_parents_pull", graph.into, block * 65 * 4, device.zeros(graph.live, np.uint64)),
                                     ("bfs_multi_parents_push", graph.out, 0, None)):  # fmt: skip
        kernel = device.launcher.kernel("traversal/bfs_multi_parents.cuh", name, "", (graph.index,))
        kernel(kernel.resident_blocks(block, shared), block, (
            rows.start, rows.near, rows.tasks, rows.count, graph.order, graph.n, graph.live, graph.out_edges.nvals, seen, cells,
            record, LOG_LEVELS, done, found), shared)  # fmt: skip
    return found


class _Mailbox(Mailbox):
    """The sources for the device (words from 1 on), and the number of the result's entries from it (word 0)."""

    def __init__(self, device):
        super().__init__(device.xp, 1 + BATCH // 2)
        self.sources = self.ptr + 8
        self._listed = (ctypes.c_int32 * BATCH).from_address(self.sources)

    def write(self, sources):
        self.expect(1)
        self._listed[: len(sources)] = sources

    def read(self, stream):
        """How many entries there are; waits for the device."""
        self.wait(1, stream)
        return self.words[0]


class _Launches:
    """The kernels, their configuration, and the arguments that a graph does not change."""

    def __init__(self, graph, parents):
        device = graph.device
        launcher, out, into = device.launcher, graph.out, graph.into
        levels = launcher.kernel("traversal/bfs_multi.cuh", "bfs_multi", "", (graph.index,))
        rows = launcher.kernel(
            "traversal/bfs_multi_result.cuh", "bfs_multi_result", "", ("true" if parents else "false",)
        )
        # Who writes the rows: threads, vertices a thread at most, blocks at once.
        threads, each = (256, 1) if parents else (launcher.size(1024, 256), launcher.size(4, 2))
        most = threads * each
        place = rows.resident_blocks(threads, 4 * most * (75 if parents else 10))
        chunks = -(-graph.n // most)
        if chunks > place:  # as many for each block
            chunks = -(-chunks // place) * place
        self.size = min(most, (-(-graph.n // chunks) + 31) // 32 * 32)
        self.chunks = chunks = -(-graph.n // self.size)
        writers = min(place, chunks)
        hubs, of_hubs = graph.hubs, graph.hub_rows
        shared = 4 * self.size * (75 if parents else 10)
        self.hubs = hubs
        pulled = (None, None, None, None, None, 0, None, 0) if into is None else (
            into.start, into.near, of_hubs.start, of_hubs.near, of_hubs.tasks, of_hubs.count, of_hubs.rest_tasks,
            of_hubs.rest_count)  # fmt: skip
        self.edges = (
            out.start, out.near, out.tasks, out.count, *pulled, graph.place, graph.degrees, graph.n, graph.live,
            graph.out_edges.nvals,
        )  # fmt: skip
        self.edges = tuple(a if type(a) is int else device.address(a) for a in self.edges)
        self.place, self.control = device.address(graph.place), device.address(graph.control)
        block = launcher.threads(LAUNCH["block"])
        blocks = launcher.blocks(levels.resident_blocks(block, 8 * hubs), graph.out_edges.nvals, 1024)
        self.levels = levels.launch(35, blocks, block, 8 * hubs, cooperative=True)
        self.rows = rows.launch(15, writers, threads, shared, cooperative=True)


def _launches_of(graph, parents):
    """The _Launches of this graph and the present configuration; kept with the graph."""
    key = parents, *LAUNCH.values()
    found = graph.launches.get(key)
    if found is None:
        found = graph.launches[key] = _Launches(graph, parents)
    return found
