"""A breadth-first search in NumPy, which gathers the rows of the frontier and keeps what is new (push).

The cost does not depend on the dimension of a hypersparse matrix.  Meanings: backends/graph.py.
"""

from time import perf_counter

import numpy as np

from ....dtypes import INT32, INT64
from ....storage.convert import choose_format
from ....storage.sorting import ranges
from ....storage.store import SparseVector, index_dtype
from ...outcome import LoopOutcome


def bfs(A, AT, sources, levels=True, parents=False, max_level=None, target=None):
    """(store of levels | None, of parents | None, LoopOutcome); sources: an ascending int64 array.  AT is not read."""
    start = perf_counter()
    n = A.nrows
    sparse = A.rows is not None  # hypersparse: nothing of the size of n
    rows = []
    found, parent_of, depths = [sources], [sources], [np.zeros(sources.size, np.int32)]
    if sparse:
        seen = sources
    else:
        seen = np.zeros(n, np.bool_)
        seen[sources] = True
    frontier = sources
    depth = 0
    while frontier.size and (max_level is None or depth < max_level):
        if target is not None and (target in frontier):
            break
        depth += 1
        begin = perf_counter()
        if sparse:
            at = np.searchsorted(A.rows, frontier)
            stored = at < A.rows.size
            stored[stored] = A.rows[at[stored]] == frontier[stored]
            at, origin = at[stored], frontier[stored]
        else:
            at = origin = frontier
        starts = A.indptr[at]
        counts = A.indptr[at + 1] - starts
        near = A.indices[ranges(starts, counts)].astype(np.int64, copy=False)
        via = origin.repeat(counts)
        fresh = ~np.isin(near, seen) if sparse else ~seen[near]
        near, first = np.unique(near[fresh], return_index=True)
        if parents:
            parent_of.append(via[fresh][first])
        if sparse:
            seen = np.concatenate((seen, near))
        else:
            seen[near] = True
        rows.append({"level": depth - 1, "frontier": int(frontier.size), "direction": "push",
                     "edges": int(counts.sum()), "ms": (perf_counter() - begin) * 1e3})  # fmt: skip
        found.append(near)
        depths.append(np.full(near.size, depth, np.int32))
        frontier = near
    where = np.concatenate(found)
    order = np.argsort(where, kind="stable")
    indices = where[order].astype(index_dtype(n))
    level = choose_format(SparseVector(n, INT32, indices, np.concatenate(depths)[order])) if levels else None
    parent = (
        choose_format(SparseVector(n, INT64, indices.copy(), np.concatenate(parent_of)[order])) if parents else None
    )
    seconds = perf_counter() - start
    return level, parent, LoopOutcome("numpy", "by level", lambda: rows, A.format, int(where.size), seconds)
