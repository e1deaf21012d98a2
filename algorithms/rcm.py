"""Reverse Cuthill-McKee: an order of the nodes that puts neighbours near each other, so that A has a small bandwidth.

    p(s) = 0 for a node s at the end of the graph
    repeat  t<!p> = f min.first A,  p = p + (t sorted by t(i), degree, number),  f = the nodes added
    until f is empty;  reverse

A node follows the first of its neighbours in the order (t: their least position), those of one neighbour by degree.
The start of each component is found by searches from the farthest node of least degree, until none is farther away.

Contract: G is not changed.  Values, loops and directions do not matter.
References: Cuthill and McKee, "Reducing the bandwidth of sparse symmetric matrices" (ACM 1969); George and Liu, "An
implementation of a pseudoperipheral node finder" (ACM TOMS 5, 1979); Azad, Jacquelin, Buluc, Ng, "The reverse
Cuthill-McKee algorithm in distributed-memory" (IPDPS 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, semiring

from .bfs import levels_from
from .connected_components import connected_components
from .given import GraphLike
from .graph import Graph, room_for
from .pattern import degrees, loopless, loopless_transpose, numbered
from .report import Callback, Report
from .result import Result


@dataclass(frozen=True)
class OrderResult(Result):
    """order (an int64 array: the node at each position, so that A[order, order] is the reordered matrix), positions
    (INT64 Vector: the position of each node), report.
    """

    _ranked: ClassVar[bool] = False
    order: np.ndarray
    positions: Vector
    report: Report

    @property
    def values(self) -> Vector:
        """positions"""
        return self.positions


def rcm(G: GraphLike, *, callback: Callback | None = None) -> OrderResult:
    """The reverse Cuthill-McKee order, a component after the other.

    callback   called with the record of each level (`size`); something true stops there (nodes that were not reached
               then come first, by number)

    Shapes: A n x n, order and positions size n.  Types: any A.
    Raises: TypeError, DimensionMismatch from Graph; TypeError for callback.
    Cost: a few searches, in one compiled loop where the backend has it and there is no callback
    (gb.graph.cuthill_mckee), else a product and a sort for each level.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import rcm
    >>> i, j = [0, 3, 1], [3, 1, 2]
    >>> A = gb.Matrix.from_coo(i + j, j + i, nrows=4, ncols=4)
    >>> rcm(A).order.tolist()
    [0, 3, 1, 2]
    """
    G = room_for(G, "rcm", 160)
    P = loopless(G)
    if not G.is_symmetric_structure:
        P = binary.pair(P | loopless_transpose(G)).new()
    with Report("rcm", callback) as report:
        found = report.whole(graph.cuthill_mckee, P)
        if found is not None:
            return OrderResult(found[0].to_dense(), found[1], report, vertices=G.labels)
        q = np.argsort(_row_sizes(G, P), kind="stable")
        # B = P(q, q) with q by ascending degree: from here on the lesser number is the lesser degree
        B: Any = P[q, q].new(name="B")
        component = numbered(connected_components(G).to_numpy()[q])
        order = _by_levels(B, _peripheral(B, component), component, report)
    order = q[order[::-1]]
    position = np.empty(G.n, np.int64)
    position[order] = np.arange(G.n)
    return OrderResult(order, Vector.from_dense(position, name="positions"), report, vertices=G.labels)


def _row_sizes(G: Graph, P: Matrix) -> np.ndarray:
    """The number of entries of each row of P."""
    if G.is_symmetric_structure:
        return degrees(G)
    return np.bincount(P.to_coo(columns=False, values=False)[0].astype(np.int64), minlength=G.n)


def _peripheral(B: Matrix, component: np.ndarray) -> np.ndarray:
    """A node far from others in each component, all components at once."""
    roots = np.unique(component, return_index=True)[1]
    starts, depth = roots, np.full(roots.size, -1)
    while roots.size:
        level = levels_from(B, starts.tolist(), True).to_dense(-1)
        farthest = np.zeros(roots.size, np.int64)
        np.maximum.at(farthest, component, level)
        grows = farthest > depth
        if not grows.any():
            break
        # where the search went deeper: the first node of the last level, which has the least degree of it
        last = np.flatnonzero(level == farthest[component])[::-1]
        first = starts.copy()
        first[component[last]] = last
        starts, depth = np.where(grows, first, starts), np.maximum(farthest, depth)
    return starts


def _by_levels(B: Matrix, starts: np.ndarray, component: np.ndarray, report: Report) -> np.ndarray:
    n = B.nrows
    least = semiring.min_first[dtypes.INT64]
    p = Vector.from_coo(starts, np.arange(starts.size), dtypes.INT64, size=n, name="positions")
    f = p.dup(name="frontier")
    report.finish("converged", True)
    while f.nvals:
        # t<!p,s> = f min.first B : the least position of a neighbour
        t = least(f @ B).new(mask=~p.S, name="t")
        at, before = t.to_coo()
        # positions follow (t(i), number), and the number follows the degree
        place = np.empty(at.size, np.int64)
        place[np.argsort(before, kind="stable")] = np.arange(p.nvals, p.nvals + at.size)
        f = Vector.from_coo(at, place, dtypes.INT64, size=n, name="frontier")
        # p<f,s> = f
        p(f.S) << f
        if report.note(size=f.nvals):
            report.finish("callback", False)
            break
    # a component after the other
    position = p.to_dense(n)
    return np.lexsort((position, component))
