"""Cores: the k-core is the greatest subgraph in which every node has k edges.

    repeat  R = nodes left with d <= k,  core(R) = k,  d -= R plus.pair A   until R is empty,  k = least d left

The core number of a node is the greatest k whose k-core it belongs to.

Contract: G is not changed.  Loops and values do not matter.  Where G is directed, the degree is the number of in-edges
and out-edges, as in NetworkX.
References: Seidman, "Network structure and minimum degree" (Social Networks 5, 1983); Batagelj and Zaversnik, "An O(m)
algorithm for cores decomposition of networks" (2003); LAGraph, LAGraph_KCore.
"""

from __future__ import annotations

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, monoid, select, semiring, unary

from . import arguments
from .given import GraphLike
from .graph import Graph, room_for
from .pattern import degrees, in_degrees, loopless, loopless_transpose
from .report import Callback, Report
from .result import VertexResult


def core_number(G: GraphLike, *, callback: Callback | None = None) -> VertexResult:
    """core(i) = the greatest k for which i is in a subgraph where every node has k edges.

    callback   called with the record of each round of the loop above; something true stops there (nodes left have the k
               that was reached, a lower bound)

    Shapes: A n x n, values size n.  Types: any A; values INT64, full.
    Raises: TypeError, DimensionMismatch from Graph; TypeError for callback.
    Cost: each edge is looked at once: by one compiled loop where the backend has it and there is no callback
    (gb.graph.core_numbers), else by a product a round.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import core_number
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=5, ncols=5)
    >>> core_number(A).to_numpy().tolist()
    [2, 2, 2, 1, 0]
    """
    G = room_for(G, "core_number", 16)
    A = loopless(G)
    AT = loopless_transpose(G) if G.directed else None
    with Report("core_number", callback) as report:
        values = report.whole(graph.core_numbers, A, AT)
        if values is None:
            degree = degrees(G) + in_degrees(G) if G.directed else degrees(G)
            values = _peeled([A] if AT is None else [A, AT], degree, report)
    return VertexResult(values, report, vertices=G.labels)


def _peeled(ways: list[Matrix], degree: np.ndarray, report: Report) -> Vector:
    plus_pair = semiring.plus_pair[dtypes.INT64]
    d = Vector.from_dense(degree, name="degree")  # of the nodes left, which its entries are
    core = Vector.from_scalar(0, d.size, dtypes.INT64, name="core")
    k = 0
    while d.nvals:
        k = max(k, int(d.reduce(monoid.min).new().value))
        # R = d where d <= k
        R = select.valuele(d, k).new(name="removed")
        while R.nvals:
            # core<R,s> = k,  d<!R,s,r> = d
            core(R.S) << k
            d(~R.S, replace=True) << d
            for A in ways:
                # d<d,s> -= R plus.pair A
                lost = plus_pair(R @ A).new(mask=d.S)
                d(binary.minus) << lost
            if report.note(k=k, removed=R.nvals):
                core(d.S) << k
                report.finish("callback", False)
                return core
            R << select.valuele(d, k)
    report.finish("converged", True)
    return core


def k_core(G: GraphLike, k: int | None = None) -> Matrix:
    """C = A where core(i) >= k and core(j) >= k: the edges of the k-core; None: the core of the greatest k.

    Shapes: A, C n x n (nodes keep their numbers).  Types: C has A's type and values, loops included.
    Raises: TypeError, ValueError for k.
    Cost: as `core_number`, once for a graph, and one pass over A.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import k_core
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=4, ncols=4)
    >>> k_core(A, 2).nvals
    6
    """
    G, core, k = _cores(G, k)
    return _subgraph(G.A, select.valuege(core, k).new(), "k_core")


def k_shell(G: GraphLike, k: int | None = None) -> Matrix:
    """C = A where core(i) = core(j) = k: the edges between the nodes whose core number is k; None: the greatest k.

    Shapes, types, errors: as `k_core`.
    Cost: as `k_core`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import k_shell
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=4, ncols=4)
    >>> k_shell(A, 1).nvals
    0
    """
    G, core, k = _cores(G, k)
    return _subgraph(G.A, select.valueeq(core, k).new(), "k_shell")


def _cores(G: GraphLike, k: int | None) -> tuple[Graph, Vector, int]:
    G = room_for(G, "k_core", 32)
    if k is not None:
        k = arguments.count(k, "k")
    core = G.keep(("core_number", G.directed), lambda: core_number(G).values)
    return G, core, int(core.reduce(monoid.max).new().get(0)) if k is None else k


def _subgraph(A: Matrix, chosen: Vector, name: str) -> Matrix:
    """D A D with D = diag(chosen)."""
    D = unary.one[dtypes.BOOL](chosen).new().diag()
    C = semiring.any_second[A.dtype](D @ A).new()
    return semiring.any_first[A.dtype](C @ D).new(name=name)
