"""Multi-source BFS (MS-BFS) on the device: 64 sources in the word of a vertex.

Kernels: kernels/graph/bfs_multi.cuh (levels), kernels/graph/bfs_multi_parents.cuh (parents from the levels),
kernels/graph/bfs_multi_result.cuh (rows of the result).  The results are matrices with a row for each source; both
have the same indices.
Memory: 32 bytes a vertex for the words of a batch, 32 for each four binary digits of the greatest level, 264 for
parents.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import INT32, INT64
from ....planner import tuning
from ....storage.store import Compressed
from ..runtime.array_block import layout
from ..runtime.errors import on_device
from ..runtime.mailbox import Mailbox
from .bfs_multi_graph import MultiBfsGraph, multi_graph_of
from .outcome import LEVEL_NUMBERS, RECORD_HEAD, RECORD_LEVELS, Outcome

if TYPE_CHECKING:
    from ....planner.device_limits import DeviceLimits
    from ....storage.store import Compressed
    from ..runtime.array_block import Layout
    from ..runtime.device import Device

BATCH = 64
MOST_SPARE = 4 << 30  # bytes of results that are allocated before their number is known
# block: threads.  alpha: a source pulls when its frontier has more than 1/alpha of the edges not explored.
LAUNCH = {"block": 1024, "alpha": tuning.MULTI_BFS_ALPHA}
ARGUMENTS = 35  # fields of MultiBfsArguments (kernels/graph/bfs_multi.cuh)
RESULT_ARGUMENTS = 15  # fields of MultiResultArguments (kernels/graph/bfs_multi_result.cuh)
EDGES_PER_BLOCK = 1024  # a grid has one block for so many edges, up to the resident ones
LINE_BYTES = 65 * 4  # shared memory of a thread that pulls parents
LIST_INTS, PARENT_INTS = 10, 75  # shared memory of a result's vertex, without and with parents


@on_device
def traverse_many(
    device: Device, A: Compressed, AT: Compressed | None, sources: Any, max_level: int | None,
    direction: str | None = None, levels: bool = True, parents: bool = False,
) -> Any:  # fmt: skip
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
    A = device.to_device(A)
    AT = A if same else None if AT is None else device.to_device(AT)
    graph = multi_graph_of(device, A, AT)
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


def _batch(
    device: Device, graph: MultiBfsGraph, sources: Any, max_level: int, mode: int, levels: bool, parents: bool
) -> tuple[list, Outcome]:
    """((indptr, indices, levels | None, parents | None), Outcome) of at most 64 sources.

    Two launches (four with parents).  All are queued before the first ends, and the host shrinks the arrays while the
    last one writes them.
    """
    launches = _launches_of(graph, parents)
    count, n, live = len(sources), graph.n, graph.live
    groups = ((max_level + 1).bit_length() + 3) // 4
    stream = device.current_stream().ptr
    try:
        mailbox = graph.mailboxes.pop()
    except IndexError:  # none yet, or another thread has it
        mailbox = _Mailbox(device)
    mailbox.write(sources)
    workspace = device.launcher.array_block(device.xp, _workspace(n, live, groups, launches.chunks))
    counters, visited, now, following, spare, totals, tallies = workspace.addresses
    record = device.empty(RECORD_HEAD + LEVEL_NUMBERS * RECORD_LEVELS, np.int64)
    log = device.address(record)
    launches.levels(
        stream,
        *launches.edges,
        graph.high_degree,
        graph.high_degree_edges,
        launches.hubs,
        mailbox.sources,
        count,
        visited,
        now,
        following,
        spare,
        counters,
        launches.control,
        log,
        mailbox.ptr,
        RECORD_LEVELS,
        max_level,
        mode,
        LAUNCH["alpha"],
        int(parents),
    )
    found = _parents(device, graph, visited, counters, record) if parents else None
    bytes_each = 4 + 4 * levels + 8 * parents
    most = count * (live + 1)  # a source without edges reaches itself
    known = most * bytes_each > MOST_SPARE  # then wait for their number before allocating
    capacity = mailbox.read(stream) if known else most
    arrays = [
        device.empty(count + 1, np.int64), device.empty(capacity, np.int32),
        device.empty(capacity, np.int32) if levels else None,
        device.empty(capacity, np.int64) if parents else None,
    ]  # fmt: skip
    launches.rows(
        stream,
        visited,
        counters,
        launches.position,
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
def _workspace(n: int, live: int, groups: int, chunks: int) -> Layout:
    """The Layout of level counters, visited, now, following, spare, totals, tallies."""
    word, count = np.dtype(np.uint64), np.dtype(np.int32)
    return layout((4 * n * groups, word), (n, word), *[(live, word)] * 3, (64, count), (64 * chunks, count))


def _parents(device, graph, visited, counters, record):
    """64 parents of each vertex, in the order of the graph's positions: MultiParentsArguments of both kernels."""
    found = device.empty(graph.n * 64, np.int32)
    launcher = device.launcher
    block = launcher.limits.threads_with(launcher.threads(256), LINE_BYTES)
    done = device.zeros(graph.live, np.uint64)
    for name, rows, shared in (("pull", graph.into, block * LINE_BYTES), ("push", graph.out, 0)):
        kernel = launcher.kernel("graph/bfs_multi_parents.cuh", f"bfs_multi_parents_{name}", "", (graph.index,))
        kernel(kernel.resident_blocks(block, shared), block, (
            rows.start, rows.near, rows.tasks, rows.count, graph.order, graph.n, graph.live,
            graph.nvals, visited, counters, record, RECORD_LEVELS, done, found), shared)  # fmt: skip
    return found


class _Mailbox(Mailbox):
    """In pinned host memory: the sources (words from 1 on), and the number of the result's entries (word 0)."""

    def __init__(self, device: Device) -> None:
        super().__init__(device.xp, 1 + BATCH // 2)
        self.sources = self.ptr + 8
        self._listed = (ctypes.c_int32 * BATCH).from_address(self.sources)

    def write(self, sources: Any) -> None:
        """Give the sources to the next launch."""
        self.expect(1)
        self._listed[: len(sources)] = sources

    def read(self, stream: int) -> int:
        """The number of entries; waits for the device."""
        self.wait(1, stream)
        return self.words[0]


def rows_of_block(limits: DeviceLimits, parents: bool) -> tuple[int, int]:
    """(threads of a block, vertices of a thread) of the kernel that writes rows, as shared memory allows."""
    ints = PARENT_INTS if parents else LIST_INTS
    threads, each = (256, 1) if parents else (1024, 4)
    while each > 1 and 4 * ints * threads * each > limits.dynamic_shared:
        each //= 2
    return limits.threads_with(threads, 4 * ints * each), each


class _Launches:
    """The kernels, their configuration, and the arguments that are the same for all launches of a graph."""

    def __init__(self, graph: MultiBfsGraph, parents: bool) -> None:
        device = graph.device
        launcher, out, into = device.launcher, graph.out, graph.into
        levels = launcher.kernel("graph/bfs_multi.cuh", "bfs_multi", "", (graph.index,))
        rows = launcher.kernel("graph/bfs_multi_result.cuh", "bfs_multi_result", "", ("true" if parents else "false",))
        # of the kernel that writes rows: threads, vertices of a thread at most, resident blocks
        ints = PARENT_INTS if parents else LIST_INTS
        threads, each = rows_of_block(launcher.limits, parents)
        if not parents:
            threads, each = launcher.size(threads, 256), launcher.size(each, 2)
        most = threads * each
        resident = rows.resident_blocks(threads, 4 * most * ints)
        chunks = -(-graph.n // most)
        if chunks > resident:  # the same number for each block
            chunks = -(-chunks // resident) * resident
        self.size = min(most, (-(-graph.n // chunks) + 31) // 32 * 32)
        self.chunks = chunks = -(-graph.n // self.size)
        writers = min(resident, chunks)
        hubs, of_hubs = graph.hubs, graph.hub_rows
        shared = 4 * self.size * ints
        self.hubs = hubs
        pulled = (None, None, None, None, None, 0, None, 0) if into is None else (
            into.start, into.near, of_hubs.start, of_hubs.near, of_hubs.tasks, of_hubs.count, of_hubs.rest_tasks,
            of_hubs.rest_count)  # fmt: skip
        self.edges = (
            out.start, out.near, out.tasks, out.count, *pulled, graph.position, graph.degrees, graph.n, graph.live,
            graph.nvals,
        )  # fmt: skip
        self.edges = tuple(a if type(a) is int else device.address(a) for a in self.edges)
        self.position, self.control = device.address(graph.position), device.address(graph.control)
        block = launcher.threads(LAUNCH["block"])
        blocks = launcher.blocks(levels.resident_blocks(block, 8 * hubs), graph.nvals, EDGES_PER_BLOCK)
        self.levels = levels.launch(ARGUMENTS, blocks, block, 8 * hubs, cooperative=True)
        self.rows = rows.launch(RESULT_ARGUMENTS, writers, threads, shared, cooperative=True)


def _launches_of(graph: MultiBfsGraph, parents: bool) -> _Launches:
    """The _Launches of this graph and configuration, kept with the graph."""
    key = parents, *LAUNCH.values()
    found = graph.launches.get(key)
    if found is None:
        found = graph.launches[key] = _Launches(graph, parents)
    return found
