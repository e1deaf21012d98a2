"""Minimum spanning forest: the lightest edges that join what the graph joins, without a cycle.

    repeat  m(c) = min over j of R(c, j),  each c hooks onto the other end of its edge m(c),  R = S' R S
    until R is empty

R holds the ranks of the edges by weight, which differ, so the forest is one; S(i, c) = 1 where c is the tree of i.
Each round keeps the lightest edge of every tree and makes one node of the trees that it joins.

Contract: G is not changed.  Edges count in both directions: the weight of i - j is the lesser (for maximum the greater)
of A(i, j) and A(j, i).  Loops are ignored.  Of equal weights the edge with the lesser ends goes first, so that every
backend gives the same forest.  Weights may be negative or infinite; NaN is refused.
References: Boruvka (1926), after Nesetril, Milkova, Nesetrilova, "Otakar Boruvka on minimum spanning tree problem"
(Discrete Mathematics 233, 2001); LAGraph, LAGraph_msf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, monoid, select, unary
from grb_tile.graph.communities import quotient

from . import arguments
from .given import GraphLike
from .graph import Graph, room_for
from .report import Callback, Report
from .result import EdgeResult, Result


@dataclass(frozen=True)
class SpanningForestResult(Result):
    """edges (Matrix above the diagonal: edges(i, j) = weight, i < j), weight (their sum), labels (INT64 Vector: the
    smallest node of each node's tree), count (number of trees), report.
    """

    edges: Matrix
    weight: Any
    labels: Vector
    count: int
    report: Report

    @property
    def values(self) -> Matrix:
        """edges"""
        return self.edges

    def top(self, k: int = 10, *, smallest: bool = False) -> list[tuple[Any, Any]]:
        """The k heaviest (or lightest) edges, ((label, label), weight)."""
        return self._as_edges().top(k, smallest=smallest)

    def _as_edges(self) -> EdgeResult:
        return EdgeResult(self.edges, self.report, vertices=self.vertices)

    def _table(self, most: int) -> str:
        return self._as_edges()._table(most)

    def _columns(self) -> dict[str, Any]:
        return {"weight": self.edges}


def minimum_spanning_forest(
    G: GraphLike, *, maximum: bool = False, callback: Callback | None = None
) -> SpanningForestResult:
    """The edges of least total weight that join the nodes of each component: n - (number of components) of them.

    maximum    True: of greatest total weight
    callback   called with the record of each round of the loop above (`joined`); something true stops there (the edges
               are then part of the forest)

    Shapes: A, edges n x n, labels size n.  Types: A real or BOOL; edges of A's type; weight a float, of
    integer types an int, which is exact and may exceed 64 bits.
    Raises: TypeError for complex weights and for maximum, ValueError for a weight of NaN.
    Cost: at most log2(n) rounds, in which the graph shrinks: in one compiled loop where the backend has it and there is
    no callback (gb.graph.spanning_forest), else by products after a sort of the edges.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import minimum_spanning_forest
    >>> A = gb.Matrix.from_coo([0, 1, 0, 3], [1, 2, 2, 4], [1, 2, 3, 7], nrows=5, ncols=5)
    >>> found = minimum_spanning_forest(A)
    >>> found.edges.to_dicts(), found.weight, found.count
    ({0: {1: 1}, 1: {2: 2}, 3: {4: 7}}, 10, 2)
    >>> found.top(1)
    [((3, 4), 7)]
    """
    arguments.flags(maximum=maximum)
    G = room_for(G, "minimum_spanning_forest", 24)
    U = _edges(G, bool(maximum))
    with Report("minimum_spanning_forest", callback, weighted=True) as report:
        found = report.whole(graph.spanning_forest, U, bool(maximum))
        if found is None:
            found = _boruvka(U, bool(maximum), report)
    chosen, labels = found
    return SpanningForestResult(chosen, _sum(chosen), labels, G.n - chosen.nvals, report, vertices=G.labels)


def _sum(F: Matrix) -> int | float:
    """[+_ij F(i, j)]: of integers exactly, as a Python int of any size; of floats in FP64."""
    if F.dtype.np_type.kind == "f":
        return float(F.dup(dtypes.FP64).reduce_scalar(monoid.plus).new().value or 0.0)
    wide = F if F.dtype is dtypes.UINT64 else F.dup(dtypes.INT64)
    greatest = wide.reduce_scalar(monoid.max).new().value or 0
    least = wide.reduce_scalar(monoid.min).new().value or 0
    if F.nvals * max(int(greatest), -int(least)) < 2**63:
        return int(wide.reduce_scalar(monoid.plus).new().value or 0)
    return sum(wide.to_coo(rows=False, columns=False)[2].tolist())


def _edges(G: Graph, maximum: bool) -> Matrix:
    """U: the edges above the diagonal, U(i, j) the weight of i - j."""
    if G.A.dtype.np_type.kind not in "biuf":
        raise TypeError(f"G: weights must be real numbers, got {G.A.dtype.name}; take unary.abs(A) first")
    U = select.triu(G.A, 1).new()
    if not G.is_symmetric:
        # U(i, j) = min(A(i, j), A(j, i)) above the diagonal
        lesser = binary.max if maximum else binary.min
        U = lesser(U | select.tril(G.A, -1).new().T).new()
    if U.dtype.np_type.kind == "f":
        wrong = unary.isnan(U).new()
        if wrong.reduce_scalar(monoid.lor).new().value:
            i, j, _ = select.valueeq(wrong, True).new().to_coo()
            raise ValueError(
                f"G: the weight of {i[0]} - {j[0]} is NaN, which has no order; drop the edge or correct it"
            )
    return U


def _boruvka(U: Matrix, maximum: bool, report: Report) -> tuple[Matrix, Vector]:
    """(the forest, least node of each node's tree)."""
    n = U.nrows
    i, j, w = U.to_coo()
    i, j = i.astype(np.int64), j.astype(np.int64)
    keys = graph.order_keys(w)
    order = np.argsort(~keys if maximum else keys, kind="stable")
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    R = Matrix.from_coo(np.r_[i, j], np.r_[j, i], np.r_[rank, rank], dtypes.INT64, nrows=n, ncols=n, name="ranks")
    tree, count, kept = np.arange(n), n, []  # tree(i): the number of i's tree among `count`
    report.finish("converged", True)
    while R.nvals:
        # m(c) = min over j of R(c, j) : the lightest edge that leaves each tree, and the tree at its other end
        at, m = R.reduce_rowwise(monoid.min).new().to_coo()
        e = order[m]
        at = at.astype(np.int64)
        mate = tree[i[e]] + tree[j[e]] - at
        # hook; of two trees that chose one edge the first is the root
        parent = np.arange(count)
        parent[at] = mate
        root = parent[parent] == np.arange(count)
        root &= np.arange(count) < parent
        parent[root] = np.flatnonzero(root)
        kept.append(np.unique(e))
        # p(i) = p(p(i)) until every tree is a star
        while not np.array_equal(above := parent[parent], parent):
            parent = above
        roots, parent = np.unique(parent, return_inverse=True)
        tree, count = parent.ravel()[tree], roots.size
        # R = S' R S without the edges inside a tree
        R = select.offdiag(quotient(R, parent.ravel(), count, "min")).new()
        if report.note(joined=int(kept[-1].size)):
            report.finish("callback", False)
            break
    least = Vector.from_coo(tree, np.arange(n), size=count, dup_op=binary.min).to_coo(indices=False)[1]
    e = np.concatenate(kept) if kept else np.zeros(0, np.int64)
    forest = Matrix.from_coo(i[e], j[e], w[e], U.dtype, nrows=n, ncols=n, name="edges")
    return forest, Vector.from_dense(least[tree], dtype=dtypes.INT64, name="labels")
