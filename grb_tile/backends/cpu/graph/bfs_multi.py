"""Multi-source BFS (MS-BFS) on the CPU: 64 searches to a word (templates/bfs_multi.py).

Paper: Then et al., "The more the merrier: efficient multi-source graph traversal" (PVLDB 8, 2014).
Memory: 24 bytes a vertex for the words and 64 bytes for the levels of a batch (256 from level 255 on), plus the result.
"""

import math
import time

import numpy as np

from ....dtypes import INT32
from ....planner import tuning
from ....storage.store import Compressed, index_dtype
from ..jit import cache as jit
from .bfs import can_traverse, numpy_seconds

BATCH = 64
LAST_SHORT = 254  # the last level stored in one byte


def traverse_many(A, AT, sources, max_level=None, direction=None):
    """(levels: a matrix with a row for each source, rows of the report), or NotImplemented.

    A, AT: out-edges and in-edges by rows.  direction: None (switch by cost), or "push" or "pull" for every level.
    """
    if AT is None or not can_traverse(A, AT) or not len(sources):
        return NotImplemented
    kernel = _kernel(A, AT, "B")
    functions = kernel.functions_for(len(sources) * numpy_seconds(A.nvals, 16))
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: _run(functions, A, AT, np.asarray(sources, np.int64), max_level, direction))


def _kernel(A, AT, level):
    """The kernel for levels of one byte ("B"), or of four ("i") once a level does not fit."""
    return jit.plain_kernel(
        "bfs_multi",
        INDEX=A.indices.dtype.char,
        IN_INDEX=AT.indices.dtype.char,
        OUT_INDEX=index_dtype(A.nrows).char,
        LEVEL=level,
    )


class _TooDeep(Exception):
    """A level beyond LAST_SHORT, without a compiled kernel for levels of four bytes."""


def _run(functions, A, AT, sources, max_level, direction):
    n = A.nrows
    parts, report = [], []
    for first in range(0, sources.size, BATCH):
        batch = _Batch(functions, A, AT, sources[first : first + BATCH])
        try:
            batch.run(n if max_level is None else max_level, direction, report)
        except _TooDeep:
            return NotImplemented
        parts.append(batch.rows())
    counts = np.concatenate([part[0] for part in parts])
    indptr = np.zeros(sources.size + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    indices, values = parts[0][1:] if len(parts) == 1 else (np.concatenate([part[k] for part in parts]) for k in (1, 2))
    return Compressed(sources.size, n, INT32, indptr, indices, values), report


class _Batch:
    """Up to 64 searches and their arrays."""

    def __init__(self, functions, A, AT, sources):
        n = A.nrows
        self.functions, self.n, self.searches = functions, n, sources.size
        self.long_kernel = _kernel(A, AT, "i")
        self.out = jit.plain(A.indptr), jit.plain(A.indices)
        self.into = jit.plain(AT.indptr), jit.plain(AT.indices)
        self.everyone = np.uint64((1 << self.searches) - 1)
        self.seen, self.now, self.following = (np.zeros(n, np.uint64) for _ in range(3))
        self.level = np.empty(n * 64, np.uint8)
        self.queue, self.touched = np.empty(n, np.int64), np.empty(n, np.int64)
        self.threads = jit.thread_count() if A.nvals >= tuning.PARALLEL_MULTI_BFS else 1
        bits = np.left_shift(np.uint64(1), np.arange(self.searches, dtype=np.uint64))
        np.bitwise_or.at(self.now, sources, bits)
        self.seen |= self.now
        self.level[sources * 64 + np.arange(self.searches)] = 0
        started = np.unique(sources)
        self.queue[: started.size] = started
        self.listed = started.size  # vertices in the queue; -1 after a pull step: the frontier is only in `now`
        self.pairs, self.edges = self.searches, int((A.indptr[started + 1] - A.indptr[started]).sum())
        complete = started[self.seen[started] == self.everyone]
        self.missing = AT.nvals - int((AT.indptr[complete + 1] - AT.indptr[complete]).sum())

    def run(self, max_level, direction, report):
        """The level-synchronous loop; appends a dictionary for each level to `report`."""
        depth = 0
        while self.pairs and depth < max_level:
            begin, pairs, edges = time.perf_counter(), self.pairs, self.edges
            cheaper = edges * tuning.CPU_MULTI_BFS_PULL * self.threads > self.missing + self.n / 8
            pulling = direction == "pull" or direction is None and cheaper
            depth += 1
            if depth == LAST_SHORT + 1:
                self.level = self.level.astype(np.int32)
                self.functions = self.long_kernel.functions_for(math.inf)
                if self.functions is None:
                    raise _TooDeep
            (self._pull if pulling else self._push)(depth)
            self.now, self.following = self.following, self.now
            ms = (time.perf_counter() - begin) * 1e3
            direction_taken = "pull" if pulling else "push"
            report.append(
                {"level": depth - 1, "frontier": pairs, "direction": direction_taken, "edges": edges, "ms": ms}
            )

    def _push(self, depth):
        if self.listed < 0:
            self.listed = self.functions.listed(self.now, self.queue)
            self.following[:] = 0
        state = np.zeros(3, np.int64)
        self.listed = self.functions.push(
            *self.out,
            self.into[0],
            self.queue,
            self.listed,
            self.now,
            self.following,
            self.seen,
            self.everyone,
            self.touched,
            self.level,
            depth,
            state,
        )
        self._found(state)

    def _pull(self, depth):
        chunks = 8 * self.threads if self.threads > 1 else 1
        cuts = np.searchsorted(self.into[0], self.into[0][-1] * np.arange(1, chunks) // chunks)
        cuts = [0, *cuts.tolist(), self.n]
        states = np.zeros((chunks, 3), np.int64)

        def job(chunk, worker):
            self.functions.pull(
                self.out[0],
                *self.into,
                self.now,
                self.following,
                self.seen,
                self.everyone,
                self.level,
                depth,
                states[chunk],
                cuts[chunk],
                cuts[chunk + 1],
            )

        jit.share_out(job, chunks, self.threads)
        self.listed = -1
        self._found(states.sum(0))

    def _found(self, state):
        self.pairs, self.edges, complete = state.tolist()
        self.missing -= complete

    def rows(self):
        """(counts, vertices, levels): how many vertices each search reached, and which, by searches."""
        searches, n = self.searches, self.n
        chunks = 4 * self.threads if self.threads > 1 else 1
        cuts = [n * chunk // chunks for chunk in range(chunks + 1)]
        counts = np.zeros((chunks, searches), np.int64)
        jit.share_out(
            lambda chunk, worker: self.functions.tally(
                self.seen, searches, counts[chunk], cuts[chunk], cuts[chunk + 1]
            ),
            chunks,
            self.threads,
        )
        ends = np.cumsum(counts.T.ravel()).reshape(searches, chunks).T  # ordered by search, then by chunk
        at = np.ascontiguousarray(ends - counts)
        total = int(ends[-1, -1])
        indices, values = np.empty(total, index_dtype(n)), np.empty(total, np.int32)
        jit.share_out(
            lambda chunk, worker: self.functions.rows(
                self.seen, self.level, searches, at[chunk], indices, values, cuts[chunk], cuts[chunk + 1]
            ),
            chunks,
            self.threads,
        )
        return counts.sum(0), indices, values
