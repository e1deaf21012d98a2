"""Whole level loops in NumPy: BFS, multi-source BFS, SSSP, connected components.  Meanings: backends/protocol.py.

BFS gathers the rows of the frontier and keeps what is new (push); hypersparse matrices cost nothing of their dimension.
The others are plain loops, which the primitives' loops of algorithms/ equal: Bellman-Ford over the vertices improved
last, and trees that hook onto smaller roots (FastSV).
"""

from time import perf_counter

import numpy as np

from ....dtypes import INT32, INT64, UINT64, cast
from ....storage.convert import choose_format
from ....storage.sorting import ranges
from ....storage.store import BitmapVector, Compressed, SparseVector, index_dtype
from ...outcome import LoopOutcome


def bfs(A, sources, levels=True, parents=False, max_level=None, target=None):
    """(store of levels | None, of parents | None, LoopOutcome); sources: an ascending int64 array."""
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


def bfs_multi(A, sources, levels=True, parents=False, max_level=None):
    """A search for each source, one after the other."""
    start = perf_counter()
    found = [bfs(A, np.array([source], np.int64), levels, parents, max_level) for source in sources]
    rows = [row for *_, outcome in found for row in outcome.rows()]
    shape = len(sources), A.ncols
    stores = (
        _stacked(*shape, dtype, [part[k] for part in found]) if wanted else None
        for k, dtype, wanted in ((0, INT32, levels), (1, INT64, parents))
    )
    reached = sum(outcome.reached for *_, outcome in found)
    return *stores, LoopOutcome("numpy", "by level", lambda: rows, A.format, reached, perf_counter() - start)


def _stacked(nrows, ncols, dtype, vectors):
    """The matrix of these rows."""
    parts = [_entries(u) for u in vectors]
    indptr = np.zeros(nrows + 1, np.int64)
    np.cumsum([part[0].shape[0] for part in parts], out=indptr[1:])
    indices = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in parts)]).astype(index_dtype(ncols))
    values = np.concatenate([np.zeros(0, dtype.np_type), *(part[1] for part in parts)])
    return Compressed(nrows, ncols, dtype, indptr, indices, values)


def _entries(u):
    if u.format == "sparse":
        return u.indices, u.values
    present = np.arange(u.size)
    if u.words is not None:
        present = np.flatnonzero(np.unpackbits(u.words.view(np.uint8), count=u.size, bitorder="little"))
    return present, u.values[present]


def sssp(A, source, tree=False):
    """Bellman-Ford over the vertices improved last: (distances, tree | None, LoopOutcome)."""
    start = perf_counter()
    n, dtype = A.nrows, A.dtype if A.dtype.np_type.kind == "f" else UINT64 if A.dtype is UINT64 else INT64
    names, A = _renamed(A, source)  # hypersparse: only the vertices that occur
    at_source = source if names is None else int(np.searchsorted(names, source))
    weights = np.broadcast_to(cast(A.values, dtype), A.indices.shape)
    top = np.inf if dtype.np_type.kind == "f" else np.iinfo(dtype.np_type).max
    distance, reached = np.full(A.nrows, top, dtype.np_type), np.zeros(A.nrows, np.bool_)
    distance[at_source], reached[at_source] = 0, True
    frontier, rows = np.array([at_source]), []
    while frontier.size:
        starts = A.indptr[frontier]
        counts = A.indptr[frontier + 1] - starts
        at = ranges(starts, counts)
        near, length = A.indices[at], distance[frontier].repeat(counts) + weights[at]
        better = ~reached[near] | (length < distance[near])
        near, length = near[better], length[better]
        np.minimum.at(distance, near, length)
        reached[near] = True
        rows.append({"frontier": int(frontier.size), "edges": int(at.size)})
        frontier = np.unique(near).astype(np.int64)
    parents = _tight_tree(A, at_source, distance, reached, weights) if tree else None
    found = np.flatnonzero(reached)
    outcome = LoopOutcome("numpy", "bellman_ford", lambda: rows, A.format, int(found.size), perf_counter() - start)
    return (
        _vector(n, dtype, found, distance[found], names),
        None if parents is None else _vector(n, INT64, *parents, names, True),
        outcome,
    )


def _renamed(A, source):
    """(names or None, CSR): of a hypersparse matrix the one over the vertices that occur, under new numbers."""
    if A.rows is None:
        return None, A
    names = np.unique(np.concatenate((A.rows, A.indices.astype(np.int64), [source])))
    indptr = np.zeros(names.size + 1, np.int64)
    indptr[np.searchsorted(names, A.rows) + 1] = np.diff(A.indptr)
    indices = np.searchsorted(names, A.indices).astype(index_dtype(names.size))
    return names, Compressed(names.size, names.size, A.dtype, np.cumsum(indptr), indices, A.values, A.iso)


def _vector(n, dtype, indices, values, names, name_values=False):
    if names is not None:
        indices, values = names[indices], names[values] if name_values else values
    return choose_format(SparseVector(n, dtype, indices.astype(index_dtype(n)), values))


def _tight_tree(A, source, distance, reached, weights):
    """(vertices, the vertex before each): a BFS over the edges with d[i] + A[i,j] = d[j], also where they weigh 0."""
    rows = np.arange(A.nrows).repeat(np.diff(A.indptr))
    tight = reached[rows] & (distance[rows] + weights == distance[A.indices])
    indptr = np.searchsorted(rows[tight], np.arange(A.nrows + 1)).astype(np.int64)
    E = Compressed(A.nrows, A.nrows, INT64, indptr, A.indices[tight], np.ones(1, np.int64), True)
    return _entries(bfs(E, np.array([source]), levels=False, parents=True)[1])


def components(A):
    """(labels, number of components, LoopOutcome): f(f(i)) min= the least grandparent next to i, until f stays."""
    start = perf_counter()
    n = A.nrows
    rows = np.arange(n) if A.rows is None else A.rows
    i, j = rows.repeat(np.diff(A.indptr)), A.indices.astype(np.int64)
    f, rounds = np.arange(n), []
    while True:
        least = np.minimum(f[i], f[j])
        hooked = f.copy()
        np.minimum.at(hooked, f[i], least)
        np.minimum.at(hooked, f[j], least)
        above = hooked[hooked]
        while (above != hooked).any():  # compress: every tree becomes a star
            hooked, above = above, above[above]
        changed = int((hooked != f).sum())
        rounds.append({"changed": changed})
        f = hooked
        if not changed:
            break
    labels = BitmapVector(n, UINT64, None, f.astype(np.uint64), n)
    outcome = LoopOutcome("numpy", "fastsv", lambda: rounds, A.format, n, perf_counter() - start)
    return labels, int((f == np.arange(n)).sum()), outcome
