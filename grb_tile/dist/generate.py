"""Random graphs of which each rank draws a share of the edges: those of gb.generators, edge for edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import generators
from ..core.matrix import Matrix
from ..dtypes import BOOL
from ..edge_draws import CHUNK, LARGEST, quadrants, uniform_ends, weights_of, whole
from ..storage.convert import to_csr
from .build import from_coo
from .world import owned, world


def rmat(
    scale: int, edge_factor: int = 16, a: float = 0.57, b: float = 0.19, c: float = 0.19, *, directed: bool = True,
    weights: Any = None, dtype: Any = None, seed: int = 0, name: str | None = None,
) -> Matrix:  # fmt: skip
    """The matrix of `gb.generators.rmat` with the same arguments, distributed; no rank has more than a share of it.

    Raises: as there.
    Cost: each edge is drawn by one rank and moves once (16 bytes).  Peak: about 2.5 times the finished part.

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
    """The matrix of this rank's share of the edges and of those of the others."""
    backend = world()._backend
    first, last = (count * r // backend.size for r in (backend.rank, backend.rank + 1))
    keys = []
    for start in range(first, last, CHUNK):
        rows, cols = draw(start, min(last, start + CHUNK))
        kept = rows != cols
        rows, cols = rows[kept], cols[kept]
        keys.append(rows * n + cols)
        if not directed:
            keys.append(cols * n + rows)
    edges = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)  # fewer move
    A = from_coo(edges // n, edges % n, True, BOOL, nrows=n, ncols=n, name=name)
    if weights is None:
        return A
    part = backend.part(A._store)
    local = to_csr(part.local)
    values, held = weights_of(np, n, local.indptr, local.indices, not directed, weights, dtype, seed,
                                         part.layout.first)  # fmt: skip
    return Matrix._from_store(owned(backend, part.like(local.with_values(held, values, False))), held, name)

