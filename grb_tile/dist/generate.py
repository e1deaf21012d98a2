"""Random graphs of which each rank draws a share of the edges: those of gb.generators, edge for edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import generators
from ..core.matrix import Matrix
from ..dtypes import BOOL
from ..edge_draws import LARGEST, quadrants, uniform_ends, weights_of, whole
from ..storage.convert import choose_format
from ..storage.place import host_array
from ..storage.store import Compressed, index_dtype
from .world import owned, world

CHUNK = 1 << 18  # edges drawn at a time: 30 MB of numbers while they are drawn, sorted and placed
DEVICE_CHUNK = 1 << 22  # with fewer, launches take longer than the work
SAMPLE = 1 << 16  # edges of each rank that decide about the ranges of rows


def rmat(
    scale: int, edge_factor: int = 16, a: float = 0.57, b: float = 0.19, c: float = 0.19, *, directed: bool = True,
    weights: Any = None, dtype: Any = None, seed: int = 0, name: str | None = None,
) -> Matrix:  # fmt: skip
    """The matrix of `gb.generators.rmat` with the same arguments, distributed; no rank has more than a share of it.

    Raises: as there.
    Cost: each edge is drawn twice by one rank and moves twice (8 bytes).  Peak: the finished part, 4 bytes for each
    edge of it that was drawn again, and 0.1 GB (on devices, where edges are drawn and stay, 0.5 GB).

    >>> import grb_tile as gb
    >>> gb.dist.run(2, lambda world: gb.dist.rmat(5, 4, seed=1).nvals) == [gb.generators.rmat(5, 4, seed=1).nvals] * 2
    True
    """
    scale = whole("scale", scale, 1, 30)
    generators.rmat(1, edge_factor, a, b, c, directed=directed, weights=weights, dtype=dtype, seed=seed)  # refuses
    edge_factor, seed = int(edge_factor), int(seed)
    bounds = [round(share * 65536) for share in (a, a + b, a + b + c)]

    def draw(xp: Any, start: int, stop: int) -> tuple[Any, Any]:
        return quadrants(xp, start, stop, seed, scale, bounds)

    return _of_edges(draw, 1 << scale, edge_factor << scale, directed, weights, dtype, seed, name)


def uniform_random(
    n: int, nedges: int, *, directed: bool = False, weights: Any = None, dtype: Any = None, seed: int = 0,
    name: str | None = None,
) -> Matrix:  # fmt: skip
    """The matrix of `gb.generators.uniform_random` with the same arguments, distributed.  Raises, cost: as `rmat`."""
    n = whole("n", n, 1, LARGEST)
    nedges = whole("nedges", nedges, 0, 1 << 40)
    generators.uniform_random(1, 0, directed=directed, weights=weights, dtype=dtype, seed=seed)  # refuses what is wrong
    seed = int(seed)

    def draw(xp: Any, start: int, stop: int) -> tuple[Any, Any]:
        return uniform_ends(xp, start, stop, seed, n)

    return _of_edges(draw, n, nedges, directed, weights, dtype, seed, name)


def _of_edges(draw, n, count, directed, weights, dtype, seed, name):
    """The matrix of this rank's share of the edges and of those of the others.

    Edges go to the owners of their rows chunk by chunk, as numbers row n + column, and are drawn twice: to count those
    of each row, and to place their columns.  The peak is the columns of all drawn edges and the part's pointers.
    """
    backend = world()._backend
    xp = backend.exchanged_xp
    chunk = CHUNK if xp is np else DEVICE_CHUNK
    first, last = (count * r // backend.size for r in (backend.rank, backend.rank + 1))
    sample = _ends(xp, draw, first, min(last, first + SAMPLE), n, directed) // n
    layout = backend.decided_layout(host_array(sample), n, last - first)
    turns = max(backend.comm.allgather(-(-(last - first) // chunk), "edges"))
    bounds = xp.asarray(layout.starts * n)

    def arrivals():
        for turn in range(turns):
            start = min(last, first + turn * chunk)
            mine = _distinct(xp, _ends(xp, draw, start, min(last, start + chunk), n, directed))
            if backend.size > 1:
                cuts = xp.searchsorted(mine, bounds).tolist()
                mine = _distinct(xp, backend.comm.alltoall_cut([mine], cuts, "edges")[0].copy())
            if mine.size:
                yield _by_rows(xp, mine, n, layout.first)

    at = xp.zeros(len(layout) + 1, np.int64)
    for _, rows, new, _ in arrivals():
        at[rows[new] + 1] += xp.diff(new, append=_end(xp, rows))
    at = xp.cumsum(at)
    columns = xp.empty(int(at[-1]), index_dtype(n))
    for cols, rows, new, within in arrivals():
        columns[at[rows] + within] = cols.astype(columns.dtype)
        at[rows[new]] += xp.diff(new, append=_end(xp, rows))
    local = _compressed(xp, at, columns, n, chunk)
    held_type = BOOL
    if weights is not None:
        values, held_type = weights_of(
            xp, n, local.indptr, local.indices, not directed, weights, dtype, seed, layout.first
        )  # fmt: skip
        local = local.with_values(held_type, values, False)
    return Matrix._from_store(owned(backend, backend.made(choose_format(local), (n, n), layout)), held_type, name)


def _ends(xp, draw, start, stop, n, directed):
    """row n + column of the edges start .. stop - 1 without loops, undirected ones both ways."""
    rows, cols = draw(xp, start, stop)
    kept = rows != cols
    rows, cols = rows[kept], cols[kept]
    return rows * n + cols if directed else xp.concatenate([rows * n + cols, cols * n + rows])


def _distinct(xp, keys):
    """The numbers, ascending, each once; sorts them in place.  (NumPy's `unique` takes 50 times as long for these.)"""
    keys.sort()
    kept = xp.ones(keys.size, np.bool_)
    kept[1:] = keys[1:] != keys[:-1]
    return keys[kept]


def _end(xp, array):
    return xp.full(1, array.size, np.int64)


def _by_rows(xp, keys, n, first):
    """(columns, rows from `first` on, where a row begins, how many of its row are before each) of ascending numbers."""
    rows = keys // n - first
    fresh = xp.ones(rows.size, np.bool_)
    fresh[1:] = rows[1:] != rows[:-1]
    new = xp.flatnonzero(fresh)
    return keys % n, rows, new, xp.arange(rows.size) - new[xp.cumsum(fresh, dtype=np.int64) - 1]


def _compressed(xp, at, columns, n, chunk):
    """The pattern, as CSR, of columns in the order of rows, each row's until at[row]; repeated ones are one entry.

    Both arrays are overwritten, rows with `chunk` entries at a time.
    """
    nrows, count = at.size - 1, 0
    marks = xp.searchsorted(at[:nrows], xp.arange(chunk, columns.size + chunk, chunk)).tolist()
    rows = sorted({0, *(min(mark + 1, nrows) for mark in marks), nrows})
    ends = at[xp.asarray(np.array(rows[1:], np.int64) - 1)].tolist() if nrows else []
    start = 0
    for low, high, stop in zip(rows, rows[1:], ends):
        row = xp.searchsorted(at[low:high], xp.arange(start, stop), side="right") + low
        keys = _distinct(xp, row * n + columns[start:stop])
        at[low:high] = xp.searchsorted(keys, xp.arange(low + 1, high + 1) * n) + count
        columns[count : count + keys.size] = (keys % n).astype(columns.dtype)
        count += keys.size
        start = stop
    at[1:] = at[:-1].copy()
    at[:1] = 0
    if xp is np:
        columns.resize(count, refcheck=False)
    else:
        columns = columns[:count].copy()
    return Compressed(nrows, n, BOOL, at, columns, xp.ones(min(1, count), np.bool_), iso=count > 0)
