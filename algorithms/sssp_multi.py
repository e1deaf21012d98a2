"""Shortest paths from several sources: the searches of `sssp` side by side, a row for each source.

    repeat  T = F min.+ A,  F = T where T < D,  D<F,s> = F   until F is empty

Contract, types, errors: as `sssp`.  One product relaxes the frontiers of all sources, so that small graphs cost a few
calls for a batch rather than for each source; on the CPU a compiled loop runs Dijkstra's algorithm for each.  Where
weights are negative, or integer lengths might leave their type, each source is searched by itself, because `sssp` finds
the cycle or the overflow.
References: as sssp.py.
"""

from __future__ import annotations

import numpy as np

from grb_tile import Matrix, binary

from .graph import Graph
from .sssp import Weights, dijkstra, sssp


def sssp_multi(G: Graph, sources: list[int]) -> Matrix:
    """D(k, v): the length of a shortest path from sources[k] to v, absent where v is not reached.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import Graph
    >>> from grb_tile.algorithms.sssp_multi import sssp_multi
    >>> A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 3], nrows=3, ncols=3)
    >>> sssp_multi(Graph(A), [0, 1]).to_dicts()
    {0: {0: 0, 1: 1, 2: 4}, 1: {1: 0, 2: 3}}
    """
    weights = Weights(G)
    if weights.emin < 0 or weights.may_overflow:
        return _one_by_one(G, weights, sources)
    rows = dijkstra(weights, sources)
    if rows is not None:
        reached = rows[0] >= 0
        if reached.all():
            return Matrix.from_dense(rows[0], dtype=weights.result_dtype, name="distances")
        columns = np.nonzero(reached)[1]
        ends = np.r_[0, np.cumsum(reached.sum(axis=1))]
        return Matrix.from_csr(ends, columns, rows[0][reached], weights.result_dtype, ncols=G.n, name="distances")
    D = Matrix.from_coo(range(len(sources)), sources, 0, weights.dtype, nrows=len(sources), ncols=G.n)
    F = D.dup(name="frontier")
    while F.nvals:
        # T = F min.+ A
        T = weights.min_plus(F @ weights.A).new(name="T")
        # late = T >= D, where both are present
        late = binary.ge(T & D).new(name="late")
        # F<!late,r> = T
        F(~late.V, replace=True) << T
        # D<F,s> = F
        D(F.S) << F
    return D.dup(weights.result_dtype, name="distances")


def _one_by_one(G: Graph, weights: Weights, sources: list[int]) -> Matrix:
    at = [sssp(G.numbered, v).distances.to_coo() for v in sources]
    i = np.repeat(np.arange(len(sources)), [len(where) for where, _ in at])
    j, x = (np.concatenate([pair[k] for pair in at]) for k in (0, 1))
    return Matrix.from_coo(i, j, x, weights.result_dtype, nrows=len(sources), ncols=G.n, name="distances")
