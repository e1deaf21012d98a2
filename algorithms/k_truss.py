"""The k-truss: the largest subgraph in which each edge is part of k - 2 triangles at least.

    repeat  S<C,s> = C plus.pair C',  C = C where S >= k - 2   until no edge goes

S(i, j) is the support of the edge i - j, the number of triangles it is part of.  Once fewer than a quarter of the edges
go in a round, the supports are corrected instead: with R the edges that went,

    S<C',s> -= R plus.pair C + (R plus.pair C)' - R plus.pair R

because three products with R then look at fewer pairs of edges than one product of C with itself by its lower triangle.

Contract: G is not changed.  Loops and values are ignored; a graph with edges that go one way only is refused.  The
result is symmetric; vertices outside the truss have no entry.
Agrees with networkx.k_truss (k - 2 triangles, Cohen's definition) and LAGraph_KTruss.
References: Cohen, "Trusses: cohesive subgraphs for social network analysis" (2008); Davis, "Graph algorithms via
SuiteSparse:GraphBLAS: triangle counting and k-truss" (HPEC 2018), algorithm 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grb_tile import Matrix, binary, dtypes, select, semiring

from . import arguments
from .graph import as_graph
from .report import Report
from .result import EdgeResult

if TYPE_CHECKING:
    from .graph import Graph
    from .report import Callback

INT64 = dtypes.INT64


def k_truss(G: Graph | Matrix, k: int, *, callback: Callback | None = None) -> EdgeResult:
    """S<C,s> = C plus.pair C', C = C where S >= k - 2, until no edge goes: the edges of the truss with their supports.

    k          an edge stays that is part of k - 2 triangles of edges that stay; k >= 2 (2: all edges)
    callback   called with the record of each round; something true stops there (more edges than the truss then)

    Shapes: A and values n x n.  Types: any A; values INT64, the number of triangles at each edge.
    Raises: TypeError, ValueError for k; ValueError where the structure is not symmetric.
    Cost: a round takes the intersection of two rows for each edge.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import k_truss
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=4, ncols=4)
    >>> k_truss(A, 3).to_dict()
    {(0, 1): 1, (0, 2): 1, (1, 2): 1}
    """
    G = as_graph(G)
    k = arguments.count(k, "k", 2)
    if not G.is_symmetric_structure:
        raise ValueError(
            f"G: trusses are defined for undirected graphs, and this one ({G.n} nodes, {G.A.nvals} entries) has edges "
            "that go one way only; make it symmetric first: Graph(gb.binary.any(A | A.T).new())"
        )
    with Report("k_truss", callback) as report:
        report.finish("converged", True)
        C = select.offdiag(G.A).new() if G.nself else G.A
        S = _support(C)
        while True:
            # kept = C where S >= k - 2
            kept = select.valuege(S, k - 2).new(name="support")
            gone = S.nvals - kept.nvals
            if report.note(edges=kept.nvals // 2, removed=gone // 2) or not gone:
                break
            S = _corrected(S, kept) if 4 * gone < S.nvals else _support(kept)
    kept.name = "support"
    return EdgeResult(kept, report, vertices=G.labels, directed=False)


def _support(C: Matrix) -> Matrix:
    """S<C,s> = C plus.pair C', 0 where an edge is in no triangle; the lower triangle is computed."""
    L = select.tril(C, -1).new()
    # S<L,s> = 0 + C plus.pair C'
    S = binary.pair[INT64](L & L).new()
    S << binary.minus(S, 1)
    S(binary.plus, mask=L.S) << semiring.plus_pair[INT64](C @ C.T)
    return binary.plus(S | S.T).new()


def _corrected(S: Matrix, kept: Matrix) -> Matrix:
    """The supports of the edges that are kept, without the triangles of those that go."""
    R = S.dup(mask=~kept.S)
    plus_pair = semiring.plus_pair[INT64]
    # D<kept,s> = R plus.pair C : i - k goes, k - j was there
    D = plus_pair(R @ S).new(mask=kept.S)
    # kept -= D + D' - R plus.pair R
    lost = binary.plus(D | D.T).new()
    both = plus_pair(R @ R).new(mask=kept.S)
    found = kept.dup()
    found(binary.minus) << lost
    found(binary.plus) << both
    return found
