"""Condensation: the graph whose nodes are the strongly connected components, or other classes of nodes.

    C = S' A S over any.first, any.second,   S(i, c) = 1 where node i is in class c

Contract: G is not changed.  Classes are numbered 0 .. count - 1 by their first nodes.  C has no loops; the condensation
by strongly connected components has no cycle.
References: Harary, Norman, Cartwright, "Structural Models: an Introduction to the Theory of Directed Graphs" (1965),
chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, select
from grb_tile.graph.communities import quotient

from .given import GraphLike
from .graph import room_for
from .modularity import community_labels
from .pattern import numbered
from .result import Result
from .strong_components import strongly_connected_components


@dataclass(frozen=True)
class CondensationResult(Result):
    """graph (BOOL Matrix, count x count: graph(c, d) where an edge leads from class c to class d), labels (INT64
    Vector: the class of each node), count.
    """

    _ranked: ClassVar[bool] = False
    graph: Matrix
    labels: Vector
    count: int

    @property
    def values(self) -> Vector:
        """labels"""
        return self.labels

    def _columns(self) -> dict[str, Any]:
        return {"labels": self.labels}


def condensation(G: GraphLike, labels: Any = None) -> CondensationResult:
    """C(c, d) = true where A(i, j) with label(i) = c, label(j) = d, c different from d.

    labels   the class of each node, or the classes as sets of nodes, as in `modularity`; None: strongly connected
             components

    Shapes: A n x n, graph count x count, labels size n.  Types: any A; graph BOOL, labels INT64.
    Raises: TypeError, ValueError for labels.
    Cost: the components, and two products.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import condensation
    >>> A = gb.Matrix.from_coo([0, 1, 2, 2, 3], [1, 2, 0, 3, 4], nrows=5, ncols=5)
    >>> found = condensation(A)
    >>> found.to_numpy().tolist(), found.graph.to_edgelist()[0].tolist()
    ([0, 0, 0, 1, 2], [[0, 1], [1, 2]])
    """
    G = room_for(G, "condensation", 64)
    label = numbered(community_labels(strongly_connected_components(G) if labels is None else labels, G))
    count = int(label.max()) + 1 if G.n else 0
    ones = binary.pair[dtypes.BOOL](G.A & G.A).new()
    C = select.offdiag(quotient(ones, label, count, "any")).new(name="condensation")
    return CondensationResult(C, Vector.from_dense(label.astype(np.int64), name="labels"), count, vertices=G.labels)
