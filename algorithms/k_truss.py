"""The k-truss: the largest subgraph in which each edge is part of k - 2 triangles at least.

    repeat  S<H,s> = C plus.pair C',  H = S where S >= k - 2,  C = H | H'   until no edge goes

S(i, j) is the support of the edge i - j, the number of triangles it is part of.  H has each edge once, in the row of
the end of higher degree: the row of the other end, the shorter one, is looked up there.  Once less than a sixteenth of
the edges go in a round, the supports are corrected instead: with R the edges that went and C those that stay,

    S<S,s> -= R plus.pair C + (R plus.pair C)' + R plus.pair R

which looks at the rows of vertices at an edge of R alone, but at both halves, and at whole rows of C for each edge.
Where the backend has a loop for it (gb.graph.peel_truss), that corrects the supports from the first round on in which
a quarter of the edges goes at most: of each edge that went, the rows of its ends.

Contract: G is not changed.  Loops and values are ignored; a graph with edges that go one way only is refused.  The
result is symmetric; vertices outside the truss have no entry.
Agrees with networkx.k_truss (k - 2 triangles, Cohen's definition) and LAGraph_KTruss.
References: Cohen, "Trusses: cohesive subgraphs for social network analysis" (2008); Davis, "Graph algorithms via
SuiteSparse:GraphBLAS: triangle counting and k-truss" (HPEC 2018), algorithm 4; the order of the ends: Latapy,
"Main-memory triangle computations for very large (sparse (power-law)) graphs" (TCS 2008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grb_tile import Matrix, Vector, binary, dtypes, graph, select, semiring, unary

from . import arguments
from .given import GraphLike
from .pattern import loopless, undirected
from .report import Report
from .result import EdgeResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from .report import Callback

INT64 = dtypes.INT64
PEELED = 3  # edges that stay for each that goes: with more, gb.graph.peel_truss takes less time than counting anew
RECOUNTED = 16  # the same for corrections by products


def k_truss(G: GraphLike, k: int, *, callback: Callback | None = None) -> EdgeResult:
    """S<C,s> = C plus.pair C', C = C where S >= k - 2, until no edge goes: the edges of the truss with their supports.

    k          an edge stays that is part of k - 2 triangles of edges that stay; k >= 2 (2: all edges)
    callback   called with the record of each round; something true stops there (more edges than the truss then)

    Shapes: A and values n x n.  Types: any A; values INT64, the number of triangles at each edge.
    Raises: TypeError, ValueError for k; ValueError where the structure is not symmetric.
    Cost: a round takes the intersection of two rows for each edge, or for the edges near those that went.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import k_truss
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=4, ncols=4)
    >>> k_truss(A, 3).to_dict()
    {(0, 1): 1, (0, 2): 1, (1, 2): 1}
    """
    k = arguments.count(k, "k", 2)
    G = undirected(G, "trusses need")
    with Report("k_truss", callback) as report:
        report.finish("converged", True)
        C = loopless(G)
        H = G.keep("edges by degree", lambda: _by_degree(C, G.out_degree))
        S = _supports(C, H)
        if k == 2:  # edges in no triangle stay
            S = binary.plus[INT64](S | H.apply(binary.second[INT64], 0)).new()
        edges, below = H.nvals, select.valuelt(S, k - 2).new()
        gone = edges - S.nvals + below.nvals
        counted = True  # is S of the edges of C, none of which has gone?
        while not report.note(edges=edges - gone, removed=gone) and gone:
            edges -= gone
            found = report.whole(graph.peel_truss, C, S, k - 2) if counted and edges >= PEELED * gone else None
            if found is not None:
                S = found.supports
                report.adopt(_rounds(report.rounds, edges, found.removed))
                break
            if edges < RECOUNTED * gone:
                # H = S where S >= k - 2
                H = select.valuege(S, k - 2).new()
                C = _both(H)
                S = _supports(C, H)
                below = select.valuelt(S, k - 2).new()
                gone, counted = edges - S.nvals + below.nvals, True
            else:
                counted = False
                R = _both(below)
                C = C.dup(mask=~R.S)
                lost = _lost(C, R)
                # S<S,s> -= lost;  edges that went stay in S, below k - 2
                S(binary.minus, mask=S.S) << lost
                below = select.valuelt(S.dup(mask=lost.S), k - 2).new()
                gone = below.nvals
        kept = select.valuege(S, k - 2).new()
    return EdgeResult(binary.plus(kept | kept.T).new(name="support"), report, vertices=G.labels, directed=False)


def _rounds(
    before: list[dict[str, Any]], edges: int, removed: Callable[[], list[int]]
) -> Callable[[], list[dict[str, Any]]]:
    """The records of the first rounds and of those of graph.peel_truss, whose first one is the last of these."""

    def rows() -> list[dict[str, Any]]:
        left, later = edges, []
        for gone in [*removed()[1:], 0]:
            left -= gone
            later.append({"edges": left, "removed": gone})
        return [*before, *later]

    return rows


def _by_degree(C: Matrix, d: Vector) -> Matrix:
    """H = C where d(i) > d(j), or d(i) = d(j) and i > j: each edge once."""
    # D(i, j) = d(i) - d(j)
    D = binary.minus(d & binary.second(C & d)).new()
    ties = select.tril(select.valueeq(D, 0).new(), -1).new()
    return binary.first(select.valuegt(D, 0).new() | ties).new()


def _both(H: Matrix) -> Matrix:
    """C = H | H', values 1."""
    H = H.apply(unary.one[dtypes.BOOL]).new()
    return binary.lor(H | H.T).new()


def _supports(C: Matrix, H: Matrix) -> Matrix:
    """S<H,s> = C plus.pair C': no entry where an edge is in no triangle."""
    return semiring.plus_pair[INT64](C @ C.T).new(mask=H.S)


def _lost(C: Matrix, R: Matrix) -> Matrix:
    """The triangles at each edge that is kept of which other edges went."""
    plus_pair = semiring.plus_pair[INT64]
    # D<C,s> = R plus.pair C : i - k went, k - j stays
    D = plus_pair(R @ C).new(mask=C.S)
    lost = binary.plus(D | D.T).new()
    # lost<C,s> += R plus.pair R : both went
    lost(binary.plus, mask=C.S) << plus_pair(R @ R)
    return lost
