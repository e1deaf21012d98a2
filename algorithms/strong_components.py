"""Strongly connected components: the greatest sets of nodes of which each reaches all others.

    trim      a node without in-edges, or without out-edges, is a component by itself
    pivot     the nodes that a pivot reaches and that reach it are its component:  f = f A,  b = b A'
    colour    F min= F min.first A,  B min= B min.first A'  until both stay:  F(i) is the least node that reaches i,
              B(i) the least that i reaches; where both are r, i belongs to the component of r.  Edges between nodes
              that differ in F or in B are in no component and are dropped; repeat

Contract: G is not changed.  labels is a full INT64 vector; labels(i) is the smallest node of i's component.  An
undirected graph has its connected components.  Loops and values do not matter.
References: Slota, Rajamanickam, Madduri, "BFS and coloring-based parallel algorithms for strongly connected components
and related problems" (IPDPS 2014), sections III and IV; LAGraph, LAGraph_scc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, select, semiring

from .bfs import levels_from
from .connected_components import ComponentsResult
from .given import GraphLike
from .graph import Graph, room_for
from .pattern import degrees, in_degrees, loopless
from .report import Callback, Report


def strongly_connected_components(G: GraphLike, *, callback: Callback | None = None) -> ComponentsResult:
    """f(i) = least node r with a path from i to r and one from r to i.

    callback   called with the record of each round of the loop above; something true stops there (components that were
               not found are then single nodes)

    Shapes: A n x n, labels size n.  Types: any A, whose values do not matter; labels INT64.
    Raises: TypeError, DimensionMismatch from Graph; TypeError for callback.
    Cost: without a callback two searches and one launch on a GPU, one sequential traversal of the edges where the
    backend has it compiled (gb.graph.strong_components); else two searches, and for each round of
    colours products up to the longest shortest path.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import strongly_connected_components
    >>> A = gb.Matrix.from_coo([0, 1, 2, 2, 3], [1, 2, 0, 3, 4], nrows=5, ncols=5)
    >>> strongly_connected_components(A).to_numpy().tolist()
    [0, 0, 0, 3, 4]
    """
    G = room_for(G, "strongly_connected_components", 100)
    with Report("strongly_connected_components", callback) as report:
        found = report.whole(graph.strong_components, G.A, symmetric=G.known_symmetric)
        if found is None:
            label = _rounds(G, report)
            found = Vector.from_dense(label, name="labels"), int(np.count_nonzero(label == np.arange(G.n)))
    labels, count = found
    return ComponentsResult(labels, count, report, vertices=G.labels)


def _rounds(G: Graph, report: Report) -> np.ndarray:
    """Trim, pivot and colour until no edge is left."""
    n = G.n
    label = np.arange(n)
    A = loopless(G)
    if n and A.nvals:
        # pivot: the node with the most pairs of an in-edge and an out-edge is probably in the greatest component
        pivot = int(np.argmax(degrees(G).astype(np.float64) * in_degrees(G)))
        component = _members(G, pivot)
        label[component] = component[0]
        alive = np.ones(n, np.bool_)
        alive[component] = False
        A = _between(A, alive)
        if report.note(settled=int(component.size)):
            report.finish("callback", False)
            return label
    least = semiring.min_first[dtypes.INT64]
    while A.nvals:
        A = _trimmed(A)
        if not A.nvals:
            break
        F, B = _reached(A, least), _reached(A.T.new(), least)
        same = F == B
        root = same & (F != np.arange(n))
        label[root] = F[root]
        # A = A where F(i) = F(j), B(i) = B(j), and the component of i has not been found
        A = _between(A, ~same, F, B)
        if report.note(settled=int(root.sum())):
            report.finish("callback", False)
            return label
    report.finish("converged", True)
    return label


def _members(G: Graph, pivot: int) -> np.ndarray:
    """The nodes that `pivot` reaches and that reach it, ascending."""
    forward = levels_from(G.A, [pivot], G.known_symmetric)
    if G.is_symmetric_structure:
        return forward.to_coo(values=False)[0].astype(np.int64)
    backward = levels_from(G.AT, [pivot], False)
    return binary.pair(forward & backward).new().to_coo(values=False)[0].astype(np.int64)


def _between(A: Matrix, alive: np.ndarray, *colours: np.ndarray) -> Matrix:
    """The entries A(i, j) with i and j alive and of the same colours."""
    # D A D with D = diag(alive), then E(i, j) = [c(i) = c(j)] for each colour
    D = Vector.from_coo(np.flatnonzero(alive), True, size=A.nrows).diag()
    E = semiring.any_pair[dtypes.BOOL](D @ A).new()
    E << semiring.any_pair[dtypes.BOOL](E @ D)
    for colour in colours:
        c = Vector.from_dense(colour)
        C = semiring.any_first[dtypes.INT64](c.diag() @ E).new()
        E << binary.pair(E & select.valueeq(binary.eq(C & c).new(), True).new())
    return E


def _trimmed(A: Matrix) -> Matrix:
    """A without the edges of nodes that have no in-edge or no out-edge, again and again."""
    while True:
        both = binary.pair(A.reduce_rowwise("any").new() & A.reduce_columnwise("any").new()).new()
        alive = np.zeros(A.nrows, np.bool_)
        alive[both.to_coo(values=False)[0]] = True
        left = _between(A, alive)
        if left.nvals == A.nvals:
            return left
        A = left


def _reached(A: Matrix, least: Any) -> np.ndarray:
    """F(i) = the least node from which a path of A leads to i."""
    F = Vector.from_dense(np.arange(A.nrows), name="F")
    f = F.dup()
    while f.nvals:
        # t = f min.first A,  f = t where t < F,  F<f> = f
        t = least(f @ A).new(name="t")
        late = binary.ge(t & F).new()
        f << select.valueeq(late, False)
        f(f.S, replace=True) << t
        F(f.S) << f
    return F.to_coo(indices=False)[1]
