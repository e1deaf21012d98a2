"""Closeness and harmonic centrality: how near a vertex is to those that reach it.

    L = levels of the searches from each vertex along A' (a row for each of a batch)
    closeness(v) = r / [+_u L(v, u)] * r / (n - 1),   r = |L(v, :)| - 1 the number of vertices that reach v
    harmonic(v)  = [+_{u != v} 1 / L(v, u)]

The matrix L of a batch is reduced before the next batch is searched: nothing of n^2 entries is stored.

Contract: G is not changed.  Distances are those of paths that lead to the vertex, as in NetworkX; for paths that leave
it give the reversed graph: Graph(G.AT).  Edges weigh 1, or with weighted=True their values (>= 0).
Agrees with networkx.closeness_centrality and harmonic_centrality.
References: Wasserman and Faust, "Social Network Analysis" (1994), section 5.2 (the factor r / (n - 1)); Boldi and
Vigna, "Axioms for centrality" (Internet Mathematics 10, 2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, monoid, semiring

from . import arguments
from .bfs import bfs_multi
from .given import GraphLike, Vertices
from .graph import Graph, room_for
from .report import Report
from .result import VertexResult
from .sssp import Weights
from .sssp_multi import sssp_multi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .report import Callback


def closeness(
    G: GraphLike,
    *,
    sources: Vertices | None = None,
    wf_improved: bool = True,
    weighted: bool = False,
    batch: int = 256,
    callback: Callback | None = None,
) -> VertexResult:
    """c(v) = r / sum of the distances to v * r / (n - 1), r the number of other vertices that reach v; 0 where r = 0.

    sources       the vertices to compute; None: all.  Others have no entry in the result
    wf_improved   False: without the factor r / (n - 1), which compares vertices of different components
    weighted      the length of a path is the sum of the weights
    batch         searches that run side by side; they need 8 bytes for each of them and each vertex
    callback      called with the record of each batch; something true stops there

    Shapes: A n x n, values size n.  Types: any A (weighted: real); values FP64.
    Raises: IndexError, TypeError, ValueError for the arguments, and what `sssp` raises for weights.
    Cost: a breadth-first search for each vertex, 64 in a word: n m / 64 steps at least (Graph500 scale 16, 0.9 million
    edges: 1 ms of processor time a vertex); weighted: a shortest path search for each.  `sources` asks for some.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import closeness
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> closeness(A).to_dict()
    {0: 0.6666666666666666, 1: 1.0, 2: 0.6666666666666666}
    """
    arguments.flags(wf_improved=wf_improved, weighted=weighted)
    G = room_for(G, "closeness", 48 if sources is None else 0)

    def score(L: Matrix) -> np.ndarray:
        # total = L plus.first 1,  r = L plus.pair 1 - 1
        ones = Vector.from_scalar(1, G.n, dtypes.INT64)
        # FP64, because a sum of large integer weights leaves INT64
        total = _rows(semiring.plus_first[dtypes.FP64](L @ ones).new())
        reached = _rows(semiring.plus_pair[dtypes.INT64](L @ ones).new()) - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(total > 0, reached / total, 0.0)
        return found * (reached / (G.n - 1)) if wf_improved and G.n > 1 else found

    return _batched(G, "closeness", score, sources, weighted, batch, callback)


def harmonic(
    G: GraphLike,
    *,
    sources: Vertices | None = None,
    weighted: bool = False,
    batch: int = 256,
    callback: Callback | None = None,
) -> VertexResult:
    """h(v) = sum over u != v that reach v of 1 / distance from u to v.

    Parameters, shapes, errors, cost: as `closeness`.  With weights of 0 a distance of 0 counts as infinitely near.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import harmonic
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> harmonic(A).to_dict()
    {0: 1.5, 1: 2.0, 2: 1.5}
    """
    arguments.flags(weighted=weighted)
    G = room_for(G, "harmonic", 48 if sources is None else 0)

    def score(L: Matrix) -> np.ndarray:
        # h = L plus.rdiv 1 : the sum of 1 / L(v, u)
        return _rows(semiring.plus_rdiv[dtypes.FP64](L @ Vector.from_scalar(1.0, G.n)).new())

    return _batched(G, "harmonic", score, sources, weighted, batch, callback, own=np.inf)


def _batched(
    G: Graph,
    name: str,
    score: Callable[[Matrix], np.ndarray],
    sources: Vertices | None,
    weighted: bool,
    batch: int,
    callback: Callback | None,
    own: float = 0.0,
) -> VertexResult:
    """score(L) for each batch of vertices; `own` is the distance of a vertex to itself."""
    wanted = list(range(G.n)) if sources is None else arguments.nodes(sources, G)
    batch = arguments.count(batch, "batch", 1)
    found = np.zeros(len(wanted))
    done = 0
    with Report(name, callback, weighted=weighted) as report:
        report.finish("converged", True)
        for L in _distances(G, wanted, weighted, batch):
            if own:
                part = wanted[done : done + L.nrows]
                L = L.dup(dtypes.FP64)
                # L(k, v) = own for the vertex v of each row k
                L << binary.second(L | Matrix.from_coo(range(L.nrows), part, own, nrows=L.nrows, ncols=L.ncols))
            found[done : done + L.nrows] = score(L)
            done += L.nrows
            if report.note(vertices=done, of=len(wanted)):
                break
    # A vertex that is asked for twice has the same value twice.
    v = Vector.from_coo(wanted[:done], found[:done], dtypes.FP64, size=G.n, dup_op=monoid.max.binaryop, name=name)
    return VertexResult(v, report, vertices=G.labels)


def _distances(G: Graph, wanted: list[int], weighted: bool, batch: int) -> Iterator[Matrix]:
    """L(k, u): the length of a shortest path from u to the k-th vertex of each batch."""
    # R = A' : paths that lead to a vertex are those that leave it along reversed edges
    if weighted:
        Weights(G)  # refuses weights without an order
    R = Graph(G.AT, True) if G.directed else G.numbered
    for start in range(0, len(wanted), batch):
        part = wanted[start : start + batch]
        yield sssp_multi(R, part) if weighted else bfs_multi(R, part).levels


def _rows(v: Vector) -> np.ndarray:
    """An array with 0 where v has no entry."""
    return v.to_dense(0.0)
