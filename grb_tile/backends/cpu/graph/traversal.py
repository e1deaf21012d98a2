"""Breadth-first searches by compiled kernels, by the protocol: stores and a LoopOutcome, or NotImplemented.

BFS: bfs.py; multi-source BFS: bfs_multi.py.
"""

from time import perf_counter

import numpy as np

from ....dtypes import INT32, INT64
from ....planner import forced_direction
from ....storage.convert import choose_format
from ....storage.store import BitmapVector
from ...outcome import LoopOutcome
from . import bfs as loop, bfs_multi as multi_loop


def bfs(A, AT, sources, levels, parents, max_level, target):
    """A compiled BFS, or NotImplemented; sources: an ascending int64 array."""
    start = perf_counter()
    result = loop.traverse(A, AT, sources, levels, parents, max_level, target, forced_direction())
    if result is NotImplemented:
        return NotImplemented
    words, level, parent, logs, pulls = result
    seconds = perf_counter() - start
    n = A.nrows
    count = int(np.bitwise_count(words).sum())
    outcome = LoopOutcome("numba", "by level", lambda: _levels_of(logs, pulls, seconds), A.format, count, seconds)
    return _vector(n, INT32, words, count, level), _vector(n, INT64, words, count, parent), outcome


def bfs_multi(A, AT, sources, levels=True, parents=False, max_level=None):
    """A compiled BFS from many sources, 64 in a word for each vertex, or NotImplemented; levels alone."""
    if parents:
        return NotImplemented
    start = perf_counter()
    result = multi_loop.traverse_many(A, AT, sources, max_level, forced_direction())
    if result is NotImplemented:
        return NotImplemented
    store, rows = result
    seconds = perf_counter() - start
    return store, None, LoopOutcome("numba", "by level", lambda: rows, A.format, store.nvals, seconds)


def _vector(n, dtype, words, count, values):
    if values is None:
        return None
    return choose_format(BitmapVector(n, dtype, None if count == n else words, values, count))


def _levels_of(logs, pulls, seconds):
    """Per-level dictionaries.  Levels inside the compiled loop share its time by processor cycles (or by edges)."""
    log = np.concatenate(logs) if len(logs) > 1 else logs[0]
    inside = seconds - sum(pulls.values())
    cycles = np.where(log[:, 3] > 0, log[:, 3], 0)
    if not cycles.any():
        cycles = np.where(log[:, 3] < 0, 0, log[:, 2] + 1)
    share = inside / max(int(cycles.sum()), 1)
    return [
        {
            "level": k, "frontier": int(row[0]), "direction": "pull" if row[1] else "push", "edges": int(row[2]),
            "ms": (pulls[k + 1] if k + 1 in pulls else int(cycles[k]) * share) * 1e3,
        }
        for k, row in enumerate(log)
    ]  # fmt: skip
