"""The parts of a graph that algorithms of structure work on: the pattern without loops, the degrees, the check that
edges go both ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grb_tile import Matrix, Vector, graph, select
from grb_tile.graph.communities import labels_in_order

from .given import GraphLike
from .graph import as_graph

if TYPE_CHECKING:
    from .graph import Graph


def undirected(G: GraphLike, purpose: str) -> Graph:
    """G as a Graph whose edges go both ways.  Raises: ValueError that names `purpose` where one does not."""
    G = as_graph(G)
    if not G.is_symmetric_structure:
        raise ValueError(
            f"G: {purpose} an undirected graph, and this one ({G.n} nodes, {G.A.nvals} entries) has edges that go one "
            "way only; enter them in both directions: Graph(x, directed=False) where x is a table or an edge list, "
            "Graph(gb.binary.any(A | A.T).new()) of a Matrix A"
        )
    return G


def loopless(G: Graph) -> Matrix:
    """A without the edges from a node to itself; A itself where there are none."""
    return G.A if G.nself == 0 else G.keep("loopless", lambda: select.offdiag(G.A).new(name="A"))


def loopless_transpose(G: Graph) -> Matrix:
    """A' without loops; `loopless` itself where every edge has its opposite."""
    if G.is_symmetric_structure:
        return loopless(G)
    return G.AT if G.nself == 0 else G.keep("loopless AT", lambda: select.offdiag(G.AT).new(name="AT"))


def random_order(G: Graph, seed: int, by: str = "", first: Vector | None = None) -> Vector:
    """gb.graph.random_order(n, seed, first); the last one for each `by` is kept with A, because it takes two sorts."""
    kept: dict[str, tuple[int, Vector]] = G.keep(("random order", by), dict)
    last = kept.get("last")
    if last is None or last[0] != seed:
        last = kept["last"] = seed, graph.random_order(G.n, seed, first)
    return last[1]


def degrees(G: Graph) -> np.ndarray:
    """The number of edges that leave each node, loops left out."""
    found = G.out_degree.to_dense(0)
    if G.nself:
        found[G.A.diag().to_coo(values=False)[0].astype(np.int64)] -= 1
    return found


def in_degrees(G: Graph) -> np.ndarray:
    """The number of edges that enter each node, loops left out."""
    found = G.in_degree.to_dense(0)
    if G.nself:
        found[G.A.diag().to_coo(values=False)[0].astype(np.int64)] -= 1
    return found


def numbered(label: np.ndarray) -> np.ndarray:
    """The labels as numbers 0, 1, 2 ... in the order of their first appearance."""
    if label.size and label.dtype.kind == "i" and label.min() >= 0 and label.max() < label.size:
        return labels_in_order(label)[0]  # without a sort
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[number.ravel()]
