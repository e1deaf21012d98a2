"""Degrees and what is counted from them: density, reciprocity, vertices without edges.

    out = A plus.pair 1,   in = A' plus.pair 1          weighted: A plus.first 1
    degree = out + in,     undirected: out + loops      a loop has two ends
    reciprocity(v) = 2 |A(v, :) pair A'(v, :)| / (out + in)(v)

Contract: G is not changed.  "Undirected" is a graph with A = A' (Graph.directed).
Agrees with networkx degree, degree_centrality, density, reciprocity, isolates.
References: Freeman, "Centrality in social networks: conceptual clarification" (Social Networks 1, 1979); Newman,
Forrest, Balthrop, "Email networks and the spread of computer viruses" (Phys. Rev. E 66, 2002).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, monoid, semiring

from . import arguments
from .given import GraphLike
from .graph import as_graph, room_for
from .report import Report
from .result import VertexResult
from .summary import edge_density

if TYPE_CHECKING:
    from collections.abc import Callable

    from .graph import Graph


def degree(G: GraphLike, *, weighted: bool = False) -> VertexResult:
    """d = out + in of a directed graph, out + loops of an undirected one: the ends of edges at each vertex.

    weighted   the sum of the weights in place of the number of edges

    Shapes: A n x n, values size n, full.  Types: INT64; weighted: FP32 and FP64 as A, else INT64 (UINT64 for UINT64).
    Raises: TypeError for weighted=True and weights that are no real numbers, OverflowError where integers sum to more
    than half of what the type holds.
    Cost: one pass over A, and its transpose where it is directed.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import degree
    >>> A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 0], nrows=3, ncols=3)
    >>> degree(A).to_dict()
    {0: 3, 1: 1, 2: 0}
    """
    arguments.flags(weighted=weighted)
    G = room_for(G, "degree", 8)
    with Report("degree", weighted=weighted) as report:
        if G.directed:
            d = _sums(G, G.A, weighted, "out")
            d(binary.plus) << _sums(G, G.AT, weighted, "in")
        else:
            d = _sums(G, G.A, weighted, "out").dup()
            if G.nself:
                loops = G.A.diag()
                # d += diag(A), or 1 for each entry of it
                d(binary.plus) << (loops.dup(d.dtype) if weighted else _one(loops))
        d.name = "degree"
    return VertexResult(d, report, vertices=G.labels)


def out_degree(G: GraphLike, *, weighted: bool = False) -> VertexResult:
    """d = A plus.pair 1: the edges that leave each vertex (weighted: the sum of their weights); as `degree`.

    Raises, cost: as `degree`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import out_degree
    >>> out_degree(gb.Matrix.from_coo([0, 0, 1], [0, 1, 0], nrows=3, ncols=3)).to_dict()
    {0: 2, 1: 1, 2: 0}
    """
    arguments.flags(weighted=weighted)
    G = room_for(G, "out_degree", 8)
    with Report("out_degree", weighted=weighted) as report:
        d = _sums(G, G.A, weighted, "out")
    return VertexResult(d, report, vertices=G.labels)


def in_degree(G: GraphLike, *, weighted: bool = False) -> VertexResult:
    """d = A' plus.pair 1: the edges that enter each vertex (weighted: the sum of their weights); as `degree`.

    Raises, cost: as `degree`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import in_degree
    >>> in_degree(gb.Matrix.from_coo([0, 0, 1], [0, 1, 0], [1, 4, 5], nrows=3, ncols=3), weighted=True).to_dict()
    {0: 6, 1: 4, 2: 0}
    """
    arguments.flags(weighted=weighted)
    G = room_for(G, "in_degree", 8)
    with Report("in_degree", weighted=weighted) as report:
        d = _sums(G, G.AT, weighted, "in")
    return VertexResult(d, report, vertices=G.labels)


def degree_centrality(G: GraphLike) -> VertexResult:
    """c = degree / (n - 1); 1 where the graph has one vertex.  FP64, full.

    Cost: as `degree`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import degree_centrality
    >>> degree_centrality(gb.Matrix.from_coo([0, 1], [1, 0], nrows=3, ncols=3)).to_dict()
    {0: 0.5, 1: 0.5, 2: 0.0}
    """
    return _centrality(degree, G)


def out_degree_centrality(G: GraphLike) -> VertexResult:
    """c = out_degree / (n - 1); 1 where the graph has one vertex.  FP64, full.

    Cost: as `degree`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import out_degree_centrality
    >>> out_degree_centrality(gb.Matrix.from_coo([0], [1], nrows=3, ncols=3)).to_dict()
    {0: 0.5, 1: 0.0, 2: 0.0}
    """
    return _centrality(out_degree, G)


def in_degree_centrality(G: GraphLike) -> VertexResult:
    """c = in_degree / (n - 1); 1 where the graph has one vertex.  FP64, full.

    Cost: as `degree`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import in_degree_centrality
    >>> in_degree_centrality(gb.Matrix.from_coo([0], [1], nrows=3, ncols=3)).to_dict()
    {0: 0.0, 1: 0.5, 2: 0.0}
    """
    return _centrality(in_degree, G)


def density(G: GraphLike) -> float:
    """m / (n (n - 1)) of a directed graph, 2 m / (n (n - 1)) of an undirected one; 0 where n < 2.

    Loops count among the m edges, so that the density of a graph with loops may be above 1.

    Cost: where it is not known whether G is directed, one comparison of A with A'.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import density
    >>> density(gb.Matrix.from_coo([0, 1], [1, 0], nrows=3, ncols=3))
    0.3333333333333333
    """
    G = as_graph(G)
    return edge_density(G.n, G.nedges, G.directed)


def reciprocity(G: GraphLike) -> VertexResult:
    """r(v) = 2 |A(v, :) pair A'(v, :)| / (out + in)(v); FP64, absent where v has no edge.

    Cost: one element-wise product of A and A'.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import reciprocity
    >>> reciprocity(gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], True, nrows=3, ncols=3)).to_dict()
    {0: 1.0, 1: 0.6666666666666666, 2: 0.0}
    """
    G = as_graph(G)
    with Report("reciprocity") as report:
        ends = G.out_degree.dup(dtypes.FP64)
        ends(binary.plus) << G.in_degree
        # r = 2 [+_j (A pair A')(v, j)] / ends
        r = binary.times(ends, 0.0).new(name="reciprocity")
        both = binary.pair[dtypes.FP64](G.A & G.AT).new()
        r(binary.plus) << both.reduce_rowwise(monoid.plus)
        r << binary.times(r, 2.0)
        r << binary.truediv(r & ends)
    return VertexResult(r, report, vertices=G.labels)


def overall_reciprocity(G: GraphLike) -> float:
    """r = nvals(offdiag(A pair A')) / nvals(A): the share of edges that go both ways; loops do not.

    Raises: ValueError for a graph without edges, where it is not defined.
    Cost: one element-wise product of A and A', once for a graph.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import overall_reciprocity
    >>> overall_reciprocity(gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], True, nrows=3, ncols=3))
    0.6666666666666666
    """
    G = as_graph(G)
    if G.A.nvals == 0:
        raise ValueError(f"G: the reciprocity of a graph without edges ({G.n} vertices) is not defined")
    both = G.keep("edges both ways", lambda: binary.pair[dtypes.BOOL](G.A & G.AT).new().nvals)
    return (both - G.nself) / G.A.nvals


def isolates(G: GraphLike) -> VertexResult:
    """True at each vertex without an edge, in or out; absent elsewhere.  A vertex with a loop is none.

    Cost: as `degree`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import isolates
    >>> isolates(gb.Matrix.from_coo([0], [1], nrows=4, ncols=4)).to_dict()
    {2: True, 3: True}
    """
    G = room_for(G, "isolates", 0.25)
    with Report("isolates") as report:
        touched = binary.any(G.out_degree | G.in_degree).new() if G.directed else G.out_degree
        alone = Vector(dtypes.BOOL, G.n, name="isolates")
        # alone<!touched,s> = true
        alone(~touched.S) << True
    return VertexResult(alone, report, vertices=G.labels)


def _sums(G: Graph, A: Matrix, weighted: bool, way: str) -> Vector:
    """[+_j A(i, j)], or the number of entries: full, 0 where there is none."""
    if not weighted:
        d = Vector.from_scalar(0, G.n, dtypes.INT64, name=f"{way}_degree")
        d(binary.plus) << (G.out_degree if way == "out" else G.in_degree)
        return d
    if A.dtype.np_type.kind not in "biuf":
        raise TypeError(f"weighted=True: weights must be real, got {A.dtype.name}; take unary.abs(A) first")
    if A.dtype.np_type.kind == "f":
        dtype = A.dtype
    else:
        dtype = dtypes.UINT64 if A.dtype is dtypes.UINT64 else dtypes.INT64
    d = Vector.from_scalar(0, G.n, dtype, name=f"{way}_degree")
    # d += A plus.first 1
    ones = Vector.from_scalar(1, G.n, dtype)
    d(binary.plus) << semiring.plus_first[dtype](A @ ones)
    if A.dtype.np_type.kind != "f" and G.n * max(abs(int(G.emin or 0)), abs(int(G.emax or 0))) >= 2**62:
        _refuse_overflow(G, A, d)
    return d


def _refuse_overflow(G: Graph, A: Matrix, d: Vector) -> None:
    """OverflowError where a sum of weights is not in the type of d: sums of FP64 are near enough to tell."""
    about = semiring.plus_first[dtypes.FP64](A.dup(dtypes.FP64) @ Vector.from_scalar(1.0, G.n)).new()
    limits = np.iinfo(d.dtype.np_type)
    at, x = about.to_coo()
    # degree() adds two of them
    wrong = (x >= limits.max / 2) | (x <= limits.min / 2 - 1)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise OverflowError(
            f"weighted=True: the weights at node {G.label(int(at[k]))} sum to {x[k]:.3g}, near the limits of "
            f"{d.dtype.name}; use FP64 weights: A.dup(gb.dtypes.FP64)"
        )


def _one(v: Vector) -> Vector:
    """1 for each entry."""
    return binary.pair[dtypes.INT64](v & v).new()


def _centrality(count: Callable[[Graph], VertexResult], G: GraphLike) -> VertexResult:
    """c = count / (n - 1), 1 where n = 1."""
    G = room_for(G, "degree_centrality", 24)
    found = count(G)
    c = found.values.dup(dtypes.FP64, name=f"{found.report.algorithm}_centrality")
    if G.n > 1:
        c << binary.times(c, 1 / (G.n - 1))
    else:
        c << binary.second(c, 1.0)
    return VertexResult(c, found.report, vertices=G.labels)
