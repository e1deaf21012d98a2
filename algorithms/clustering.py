"""Clustering coefficients: how many of the pairs of a vertex's neighbours are neighbours themselves.

    t(v) = triangles at v,  d(v) = neighbours of v
    undirected   c = 2 t / (d (d - 1))                        transitivity = sum of 2 t / sum of d (d - 1)
    directed     c = T / (D (D - 1) - 2 b) / 2                T = diag((A + A')^3), D = in + out, b = both ways
    "ldbc"       c = [+_j C<N,s>](v) / (d (d - 1))            C = N plus.pair A', N = A | A'
    weighted     t counts (w_ij w_ik w_jk)^(1/3) of each triangle, weights over their maximum (Onnela)
    square       c = sum of q(u, w) / sum of (a(u, w) + q(u, w)) over pairs of neighbours u, w (Lind)

Contract: G is not changed.  Loops are ignored.  Values are FP64, full; 0 where a vertex has no pair of neighbours.
Agrees with networkx.clustering, average_clustering, transitivity, square_clustering, and with mode="ldbc" with LDBC
Graphalytics 1.0, LCC (to 1e-4).
References: Watts and Strogatz, "Collective dynamics of small-world networks" (Nature 393, 1998); Fagiolo, "Clustering
in complex directed networks" (Phys. Rev. E 76, 2007); Onnela, Saramaki, Kertesz, Kaski, "Intensity and coherence of
motifs in weighted complex networks" (Phys. Rev. E 71, 2005); Lind, Gonzalez, Herrmann, "Cycles and clustering in
bipartite networks" (Phys. Rev. E 72, 2005); Iosup et al., "LDBC Graphalytics" (VLDB 2016), section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, monoid, select, semiring, unary

from . import arguments
from .given import GraphLike, Vertices
from .graph import room_for
from .pattern import loopless, undirected
from .report import Report
from .result import VertexResult
from .triangles import triangles

if TYPE_CHECKING:
    from .graph import Graph

FP64 = dtypes.FP64


@graph.one_pass
def _share(found: Any, pairs: Any) -> Any:
    """found / pairs, 0 where there are no pairs, and so nothing found"""
    return found / pairs.max(1.0)


@graph.one_pass
def _pairs(d: Any) -> Any:
    """d (d - 1)"""
    return d * (d - 1.0)


def clustering(
    G: GraphLike,
    *,
    nodes: Vertices | None = None,
    weighted: bool = False,
    mode: str = "auto",
) -> VertexResult:
    """c(v) = edges among the neighbours of v / pairs of neighbours.

    nodes      the vertices to compute; None: all.  Others have no entry in the result
    weighted   a triangle counts the geometric mean of its weights over the largest weight
    mode       "undirected"; "directed": Fagiolo's, as NetworkX; "ldbc": the neighbours are those of either direction,
               edges among them count as directed; "auto": "directed" or "undirected" as the graph is

    Shapes: A n x n, values size n.  Types: any A (weighted: real); values FP64.
    Raises: ValueError for mode, for mode="undirected" of a graph with edges that go one way only, and for weighted=True
    with mode="ldbc"; TypeError, IndexError for nodes; TypeError, ValueError for weights.
    Cost: for each edge the intersection of two rows.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import clustering
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=4, ncols=4)
    >>> [round(x, 3) for x in clustering(A).to_numpy().tolist()]
    [1.0, 1.0, 0.333, 0.0]
    """
    arguments.flags(weighted=weighted)
    G = room_for(G, "clustering", 24 if weighted else 40)
    arguments.choice(mode, ("auto", "undirected", "directed", "ldbc"), "mode")
    if mode == "auto":
        mode = "directed" if G.directed and not G.is_symmetric_structure else "undirected"
        if G.directed and weighted:
            mode = "directed"
    wanted = None if nodes is None else sorted(set(arguments.nodes(nodes, G, "nodes")))
    with Report(f"clustering ({mode})", weighted=weighted) as report:
        found, pairs = _counts(G, mode, weighted, wanted)
        c = _share(found, pairs)
        c.name = "clustering"
        if wanted is not None:
            c = c.dup(mask=Vector.from_coo(wanted, True, dtypes.BOOL, size=G.n).S, name="clustering")
    return VertexResult(c, report, vertices=G.labels)


def average_clustering(
    G: GraphLike,
    *,
    nodes: Vertices | None = None,
    weighted: bool = False,
    count_zeros: bool = True,
    mode: str = "auto",
) -> float:
    """The mean of `clustering`; with count_zeros=False of the coefficients that are not 0.

    Parameters, errors, cost: as `clustering`; moreover ValueError where there is nothing to take the mean of.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import average_clustering
    >>> average_clustering(gb.Matrix.from_coo([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2], nrows=3, ncols=3))
    1.0
    """
    arguments.flags(weighted=weighted, count_zeros=count_zeros)
    found = clustering(G, nodes=nodes, weighted=weighted, mode=mode).values
    if not count_zeros:
        found = select.valuene(found, 0.0).new()
    if not found.nvals:
        raise ValueError("G: there is no coefficient to take the mean of; give a graph with vertices")
    return _sum(found) / found.nvals


def transitivity(G: GraphLike) -> float:
    """sum of 2 t / sum of d (d - 1): the share of pairs of edges with a common vertex that are part of a triangle.

    Edges count both ways, so that a directed graph is taken as undirected.  0 without such pairs.
    Cost: as `triangle_count`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import transitivity
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=4, ncols=4)
    >>> transitivity(A)
    0.6
    """
    G = room_for(G, "transitivity", 40)
    found, pairs = _undirected(_either(G), G, None, False)
    closed = _sum(found)
    return closed / _sum(pairs) if closed else 0.0


def square_clustering(G: GraphLike, *, nodes: Vertices | None = None, batch: int = 256) -> VertexResult:
    """c(v) = squares through v / squares that its pairs of neighbours could make.

    P = A(rows, :) plus.pair A' holds the common neighbours of a batch of vertices with all others; from its rows come
    the squares, sum of P (P - 1) / 2, and the triangles.

    nodes   the vertices to compute; None: all.  Others have no entry in the result
    batch   rows of P that are made at a time; each needs up to 16 n bytes

    Shapes: A n x n, values size n.  Types: any A; values FP64.
    Raises: ValueError where edges go one way only, for nodes and batch.
    Cost: for each vertex a look at the edges of its neighbours.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import square_clustering
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3], nrows=4, ncols=4)
    >>> square_clustering(A).to_numpy().tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    G = undirected(room_for(G, "square_clustering", 80 if nodes is None else 32), "this coefficient needs")
    batch = arguments.count(batch, "batch", 1)
    wanted = list(range(G.n)) if nodes is None else sorted(set(arguments.nodes(nodes, G, "nodes")))
    A = loopless(G)
    ones = Vector.from_scalar(1.0, G.n, FP64)
    with Report("square_clustering") as report:
        # d = A plus.pair 1, s = A plus.second d : the degrees of the neighbours together
        d = _dense(_degrees(A))
        s = _dense(semiring.plus_second[FP64](A @ Vector.from_dense(d)).new())
        c = np.zeros(len(wanted))
        for start in range(0, len(wanted), batch):
            part = wanted[start : start + batch]
            rows: Any = A[part, :].new()
            own = Matrix.from_coo(range(len(part)), part, True, dtypes.BOOL, nrows=len(part), ncols=G.n)
            # P<!own,s> = rows plus.pair A' : common neighbours with each other vertex
            P = semiring.plus_pair[FP64](rows @ A.T).new(mask=~own.S)
            # q = [+_x P (P - 1)](v),  t = [+_x P<rows,s>](v) : squares and triangles, each counted twice
            q = _dense(semiring.plus_times(P @ ones).new())
            q = _dense(semiring.plus_times(binary.times(P & P).new() @ ones).new()) - q
            t = _dense(P.dup(mask=rows.S).reduce_rowwise(monoid.plus).new())
            k = d[part]
            possible = s[part] * (k - 1) - k * (k - 1) - t - q / 2
            np.divide(q / 2, possible, out=c[start : start + batch], where=possible > 0)
        v = Vector.from_coo(wanted, c, FP64, size=G.n, name="square_clustering")
    return VertexResult(v, report, vertices=G.labels)


def _counts(G: Graph, mode: str, weighted: bool, wanted: list[int] | None) -> tuple[Vector, Vector]:
    """(triangles in the sense of the mode, pairs of neighbours), full."""
    if weighted and mode == "ldbc":
        raise ValueError('weighted=True: LDBC defines no weighted coefficient; use mode="directed" or "undirected"')
    if mode == "undirected":
        undirected(G, "this coefficient needs")
        return _undirected(_cube_root(G) if weighted else loopless(G), G, wanted, weighted)
    if mode == "directed":
        return _directed(_cube_root(G) if weighted else unary.one[FP64](loopless(G)).new(), wanted)
    return _undirected(loopless(G), G, wanted, False) if G.is_symmetric_structure else _ldbc(G, wanted)


def _undirected(A: Matrix, G: Graph, wanted: list[int] | None, weighted: bool) -> tuple[Vector, Vector]:
    """(2 t, d (d - 1))"""
    pairs = _pairs(_lengths(A))
    if wanted is None and not weighted and G.is_symmetric_structure:
        return binary.times[FP64](triangles(G).values, 2.0).new(), pairs
    rows = _rows(A, wanted)
    times = (semiring.plus_times if weighted else semiring.plus_pair)[FP64 if weighted else dtypes.INT64]
    # C<A,s> = A plus.times A',  2 t = [+_j C * A] : each triangle from both neighbours
    C = times(rows @ A.T).new(mask=rows.S, name="C")
    if weighted:
        C << binary.times(C & rows)
    return _full(C.reduce_rowwise(monoid.plus), G.n), pairs


def _directed(A: Matrix, wanted: list[int] | None) -> tuple[Vector, Vector]:
    """(T, 2 (D (D - 1) - 2 b)): T = diag((A + A')^3), the triangles of all eight directions."""
    S = binary.plus(A | A.T).new(name="S")
    rows = _rows(S, wanted)
    # T = [+_j ((S S)<S,s> * S)](v)
    C = semiring.plus_times[FP64](rows @ S.T).new(mask=rows.S, name="C")
    C << binary.times(C & rows)
    D = binary.plus(_degrees(A) & _degrees(A.T)).new()
    # 2 (D (D - 1) - 2 b), b the neighbours of both directions
    both = binary.times(_degrees(binary.pair[FP64](A & A.T).new()), 2.0).new()
    pairs = binary.times(binary.minus(_pairs(D) & both).new(), 2.0).new()
    return _full(C.reduce_rowwise(monoid.plus), A.nrows), pairs


def _ldbc(G: Graph, wanted: list[int] | None) -> tuple[Vector, Vector]:
    """(edges i -> j with i and j among the neighbours of v, d (d - 1))"""
    A, N = loopless(G), _either(G)
    rows = _rows(N, wanted)
    # C<N,s> = N plus.pair A' : out-edges of each neighbour that lead to another neighbour
    C = semiring.plus_pair[dtypes.INT64](rows @ A.T).new(mask=rows.S, name="C")
    return _full(C.reduce_rowwise(monoid.plus), G.n), _pairs(_lengths(N))


def _rows(A: Matrix, wanted: list[int] | None) -> Matrix:
    """S A with S = diag of the vertices that are asked for; A itself for all of them."""
    if wanted is None:
        return A
    S = Vector.from_coo(wanted, True, dtypes.BOOL, size=A.nrows).diag()
    return semiring.any_second(S @ A).new(name="rows")


def _either(G: Graph) -> Matrix:
    """N = A | A' without loops."""
    A = loopless(G)
    return A if G.is_symmetric_structure else G.keep("either", lambda: binary.pair[dtypes.BOOL](A | A.T).new(name="N"))


def _cube_root(G: Graph) -> Matrix:
    """W = (A / max A)^(1/3)"""
    if G.A.dtype.np_type.kind not in "biuf":
        raise TypeError(f"weighted=True: weights must be real, got {G.A.dtype.name}; take unary.abs(A) first")
    W = loopless(G).dup(FP64)
    if not W.nvals:
        return W
    largest, total = float(G.emax), float(unary.abs(W).new().reduce_scalar(monoid.plus).new().value)
    if not np.isfinite(total) or largest == 0:
        raise ValueError(
            f"weighted=True: weights are divided by the largest, which is {largest}, and their absolute values sum to "
            f"{total}; give finite weights that are not all 0, or pass weighted=False"
        )
    W << binary.times(W, 1 / largest)
    return unary.cbrt(W).new(name="W")


def _lengths(A: Any) -> Vector:
    # d = A plus.pair 1 , without entries for empty rows
    return semiring.plus_pair[FP64](A @ Vector.from_scalar(1.0, A.ncols, FP64)).new()


def _degrees(A: Any) -> Vector:
    return _full(_lengths(A), A.nrows)


def _full(entries: Any, n: int) -> Vector:
    """The vector of an expression, 0 where it has no entry."""
    v = Vector.from_scalar(0.0, n, FP64)
    v(binary.plus) << entries
    return v


def _sum(v: Vector) -> float:
    return float(v.reduce(monoid.plus).new().value or 0.0)


def _dense(v: Any) -> np.ndarray:
    return v.to_dense(0).astype(np.float64, copy=False)
