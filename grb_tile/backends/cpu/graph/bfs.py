"""Direction-optimising BFS on the CPU: the compiled loop of templates/bfs.py; threads share the words of a pull step.

Paper: push_pull_graphblas_icpp18, sections 5.1 (direction switch), 5.2 (masking), 5.3 (early exit), 6.3.
Memory: one queue, three bit vectors and the result; between calls only the bits of the empty rows stay.
"""

import time

import numpy as np

from ....planner import tuning
from ....storage.store import forms_of
from ..jit import cache as jit

PULL_WORDS_PER_CHUNK = 512
LOG_LEVELS = 4096  # rows of the level log that one call of the kernel can fill
NEVER_PULL, PULL_INSIDE, PULL_OUTSIDE = 0, 1, 2
DONE, PULL_DUE, LOG_FULL = 0, 1, 2


def empty_row_words(store):
    """(words, count): bits of empty rows and of positions past the last row; non-empty rows.  Kept in forms."""
    forms = store.forms
    if forms is not None and "empty_rows" in forms:
        return forms["empty_rows"]
    n = store.nrows
    n_words = (n + 63) // 64
    flags = np.ones(n_words * 64, np.bool_)
    np.equal(store.indptr[1:], store.indptr[:-1], out=flags[:n])
    words = np.packbits(flags, bitorder="little").view(np.uint64)
    known = (words, int(n_words * 64 - np.count_nonzero(flags)))
    forms_of(store)["empty_rows"] = known
    return known


def can_traverse(out_edges, in_edges):
    """Are both matrices CSR (not hypersparse) and square?"""
    if out_edges.rows is not None or out_edges.nrows != out_edges.ncols or out_edges.nrows == 0:
        return False
    return in_edges is None or in_edges.rows is None


def numpy_seconds(edges, levels):
    """What a BFS in NumPy takes, about."""
    return 1e-9 * (edges * tuning.NUMPY_BFS_EDGE_NS + levels * tuning.NUMPY_BFS_LEVEL_NS)


def traverse(out_edges, in_edges, sources, levels, parents, max_level, target, direction=None):
    """(words, count, level values | None, parent values | None, log, pull seconds) or NotImplemented.

    direction: None (switch by cost), or "push" or "pull" for every level.
    """
    if not can_traverse(out_edges, in_edges):
        return NotImplemented
    kernel = jit.plain_kernel(
        "bfs",
        LEVELS=bool(levels),
        PARENTS=bool(parents),
        INDEX=out_edges.indices.dtype.char,
        IN_INDEX=(in_edges or out_edges).indices.dtype.char,
    )
    sparse = out_edges.nvals < 6 * out_edges.nrows  # road networks and meshes have a high diameter: many levels
    depth = 2 * out_edges.nrows**0.5 if sparse else 16
    functions = kernel.functions_for(numpy_seconds(out_edges.nvals, depth))
    if functions is None:
        return NotImplemented
    return jit.attempt(
        kernel, lambda: _run(functions, out_edges, in_edges, sources, levels, parents, max_level, target, direction)
    )


def _run(functions, out_edges, in_edges, sources, levels, parents, max_level, target, direction):
    n = out_edges.nrows
    n_words = (n + 63) // 64
    skips_empty = in_edges is not None
    if not skips_empty:  # without in-edges, a vertex without out-edges may still be reached
        seen = np.zeros(n_words, np.uint64)
        if n & 63:
            seen[-1] = ~np.uint64((1 << (n & 63)) - 1)
        reachable = n
        in_edges = out_edges
        can_pull = False
    else:
        empty, reachable = empty_row_words(in_edges)
        seen = empty.copy()
        can_pull = direction != "push"
        if target is not None and empty[target >> 6] >> np.uint64(target & 63) & np.uint64(1) and target not in sources:
            target = None  # it has no in-edges, so no vertex reaches it; its bit in `seen` must not end the loop
    out_ptr, out_indices = jit.plain(out_edges.indptr), jit.plain(out_edges.indices)
    in_ptr, in_indices = jit.plain(in_edges.indptr), jit.plain(in_edges.indices)
    bits = np.left_shift(np.uint64(1), (sources & 63).astype(np.uint64))
    to_find = reachable - int(np.count_nonzero(seen[sources >> 6] & bits == 0))
    np.bitwise_or.at(seen, sources >> 6, bits)
    queue = np.empty(n, out_indices.dtype)
    queue[: sources.size] = sources
    frontier = np.empty(n_words if can_pull else 0, np.uint64)
    found = np.empty(n_words if can_pull else 0, np.uint64)
    level = np.empty(n if levels else 0, np.int32)
    parent = np.empty(n if parents else 0, np.int64)
    if levels:
        level[sources] = 0
    if parents:
        parent[sources] = sources
    edges = int((out_ptr[sources + 1] - out_ptr[sources]).sum())
    threads = jit.thread_count()
    outside = can_pull and threads > 1 and n_words >= tuning.PARALLEL_BFS_WORDS
    state = np.zeros(16, np.int64)
    state[1] = sources.size
    state[2] = 1
    state[3] = edges
    state[4] = out_edges.nvals - edges
    state[7] = np.iinfo(np.int32).max if max_level is None else max_level
    state[8] = -1 if target is None else target
    state[9] = PULL_OUTSIDE if outside else PULL_INSIDE if can_pull else NEVER_PULL
    state[10] = to_find
    state[13] = threads if outside else 1
    state[14] = {None: -1, "push": 0, "pull": 1}[direction] if can_pull else -1
    logs = []
    log = np.empty((LOG_LEVELS if n > LOG_LEVELS else n + 1, 4), np.int64)
    pulls = {}
    while True:
        functions.advance(
            out_ptr, out_indices, in_ptr, in_indices, queue, frontier, found, seen, level, parent, state, log
        )
        if state[12]:
            frontier, found = found, frontier
        if state[6] == LOG_FULL:
            logs.append(log)
            log = np.empty_like(log)
            state[5] = 0
        elif state[6] == PULL_DUE:
            start = time.perf_counter()
            _pull(
                functions.pull, (in_ptr, in_indices, out_ptr), frontier, found, seen, level, parent, state, log, threads
            )
            frontier, found = found, frontier
            pulls[int(state[2]) - 1] = time.perf_counter() - start
        else:
            break
    logs.append(log[: state[5]])
    # visited = seen without the empty rows, which are unreachable unless they are sources
    if skips_empty:
        words = seen & ~empty
        np.bitwise_or.at(words, sources >> 6, bits)
    else:
        words = seen
        if n & 63:
            words[-1] &= np.uint64((1 << (n & 63)) - 1)
    return words, level if levels else None, parent if parents else None, logs, pulls


def _pull(pull, matrix, frontier, found, seen, level, parent, state, log, threads):
    """One pull step (bottom-up), its words shared among the threads."""
    depth = int(state[2])
    n_words = seen.shape[0]
    chunks = min(-(-n_words // PULL_WORDS_PER_CHUNK), 8 * threads)

    totals = np.zeros((chunks, 2), np.int64)

    def job(chunk, worker):
        first, last = n_words * chunk // chunks, n_words * (chunk + 1) // chunks
        pull(*matrix, frontier, found, seen, level, parent, depth, first, last, totals[chunk])

    jit.share_out(job, chunks, threads)
    count, edges = totals.sum(0).tolist()
    row = log[int(state[5])]
    row[0] = state[1] - state[0]
    row[1] = 1
    row[2] = state[3]
    row[3] = -1
    state[0] = 0
    state[1] = count
    state[2] = depth + 1
    state[3] = edges
    state[4] -= edges
    state[5] += 1
    state[10] -= count
    state[11] = 1
