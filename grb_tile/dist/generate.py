"""Random graphs of which each rank draws a share of the edges: those of gb.generators, edge for edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import generators
from ..core.matrix import Matrix
from ..dtypes import BOOL
from ..edge_draws import LARGEST, quadrants, uniform_ends, weights_of, whole
from ..storage.convert import choose_format
from ..storage.store import Compressed, index_dtype
from .world import owned, world

CHUNK = 1 << 20  # edges drawn at a time: 60 MB of numbers while they are drawn and sorted
GROW = 1.25
SAMPLE = 1 << 16  # edges of each rank that decide about the ranges of rows


def rmat(
    scale: int, edge_factor: int = 16, a: float = 0.57, b: float = 0.19, c: float = 0.19, *, directed: bool = True,
    weights: Any = None, dtype: Any = None, seed: int = 0, name: str | None = None,
) -> Matrix:  # fmt: skip
    """The matrix of `gb.generators.rmat` with the same arguments, distributed; no rank has more than a share of it.

    Raises: as there.
    Cost: each edge is drawn by one rank and moves once (8 bytes).  Peak: the finished part, 10 bytes an edge of it and
    0.1 GB.

    >>> import grb_tile as gb
    >>> gb.dist.run(2, lambda world: gb.dist.rmat(5, 4, seed=1).nvals) == [gb.generators.rmat(5, 4, seed=1).nvals] * 2
    True
    """
    whole("scale", scale, 1, 30)
    generators.rmat(1, edge_factor, a, b, c, weights=weights, dtype=dtype, seed=seed)  # refuses what is wrong
    bounds = [round(share * 65536) for share in (a, a + b, a + b + c)]

    def draw(start: int, stop: int) -> tuple[Any, Any]:
        return quadrants(np, start, stop, seed, scale, bounds)

    return _of_edges(draw, 1 << scale, edge_factor << scale, directed, weights, dtype, seed, name)


def uniform_random(
    n: int, nedges: int, *, directed: bool = False, weights: Any = None, dtype: Any = None, seed: int = 0,
    name: str | None = None,
) -> Matrix:  # fmt: skip
    """The matrix of `gb.generators.uniform_random` with the same arguments, distributed.  Raises, cost: as `rmat`."""
    whole("n", n, 1, LARGEST)
    whole("nedges", nedges, 0, 1 << 40)
    generators.uniform_random(1, 0, weights=weights, dtype=dtype, seed=seed)  # refuses what is wrong

    def draw(start: int, stop: int) -> tuple[Any, Any]:
        return uniform_ends(np, start, stop, seed, n)

    return _of_edges(draw, n, nedges, directed, weights, dtype, seed, name)


def _of_edges(draw, n, count, directed, weights, dtype, seed, name):
    """The matrix of this rank's share of the edges and of those of the others.

    Edges go to the owners of their rows chunk by chunk, as numbers (row - first) n + column, which are sorted in place:
    the peak is 8 bytes an edge that arrives, and the finished part.
    """
    backend = world()._backend
    first, last = (count * r // backend.size for r in (backend.rank, backend.rank + 1))
    layout = backend.decided_layout(_ends(draw, first, min(last, first + SAMPLE), n, directed) // n, n, last - first)
    turns = max(backend.comm.allgather(-(-(last - first) // CHUNK), "edges"))
    keys, held = np.empty(0, np.int64), 0
    for turn in range(turns):
        start = min(last, first + turn * CHUNK)
        mine = np.unique(_ends(draw, start, min(last, start + CHUNK), n, directed))
        cuts = mine.searchsorted(layout.starts * n)
        pieces = [mine[a:b] for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
        for piece in backend.comm.alltoall(pieces, "edges"):
            if held + piece.size > keys.size:
                keys.resize(max(held + piece.size, int(GROW * keys.size)), refcheck=False)
            keys[held : held + piece.size] = piece
            held += piece.size
    keys.resize(held, refcheck=False)
    keys -= layout.first * n
    local = _compressed(keys, len(layout), n)
    held_type = BOOL
    if weights is not None:
        values, held_type = weights_of(
            np, n, local.indptr, local.indices, not directed, weights, dtype, seed, layout.first
        )  # fmt: skip
        local = local.with_values(held_type, values, False)
    return Matrix._from_store(owned(backend, backend.made(local, (n, n), layout)), held_type, name)


def _ends(draw, start, stop, n, directed):
    """row n + column of the edges start .. stop - 1 without loops, undirected ones both ways."""
    rows, cols = draw(start, stop)
    kept = rows != cols
    rows, cols = rows[kept], cols[kept]
    return rows * n + cols if directed else np.concatenate([rows * n + cols, cols * n + rows])


def _compressed(keys, nrows, n):
    """The pattern, as CSR, of numbers row n + column, which are sorted and freed; repeated ones are one entry."""
    keys.sort()
    count, before = 0, -1
    for start in range(0, keys.size, CHUNK):
        block = keys[start : start + CHUNK]
        fresh = np.empty(block.size, np.bool_)
        fresh[0] = block[0] != before
        np.not_equal(block[1:], block[:-1], out=fresh[1:])
        before, kept = block[-1], block[fresh]
        keys[count : count + kept.size] = kept
        count += kept.size
    keys.resize(count, refcheck=False)
    indptr = keys.searchsorted(np.arange(nrows + 1, dtype=np.int64) * n)
    indices = np.empty(count, index_dtype(n))
    for start in range(0, count, CHUNK):
        indices[start : start + CHUNK] = keys[start : start + CHUNK] % n
    keys.resize(0, refcheck=False)
    one = np.ones(min(1, count), np.bool_)
    return choose_format(Compressed(nrows, n, BOOL, indptr, indices, one, iso=count > 0))
