"""The parts of a graph that algorithms of structure work on: the pattern without loops, the degrees, the check that
edges go both ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grb_tile import Matrix, Vector, select, semiring

from .graph import as_graph

if TYPE_CHECKING:
    from .graph import Graph


def undirected(G: Graph | Matrix, purpose: str) -> Graph:
    """G as a Graph whose edges go both ways.  Raises: ValueError that names `purpose` where one does not."""
    G = as_graph(G)
    if not G.is_symmetric_structure:
        raise ValueError(
            f"G: {purpose} an undirected graph, and this one ({G.n} nodes, {G.A.nvals} entries) has edges that go one "
            "way only; make it symmetric first: Graph(gb.binary.any(A | A.T).new())"
        )
    return G


def loopless(G: Graph) -> Matrix:
    """A without the edges from a node to itself; A itself where there are none."""
    return G.keep("loopless", lambda: G.A if G.nself == 0 else select.offdiag(G.A).new(name="A"))


def loopless_transpose(G: Graph) -> Matrix:
    """A' without loops; `loopless` itself where every edge has its opposite."""
    if G.is_symmetric_structure:
        return loopless(G)
    return G.keep("loopless AT", lambda: G.AT if G.nself == 0 else select.offdiag(G.AT).new(name="AT"))


def degrees(G: Graph) -> np.ndarray:
    """The number of edges that leave each node, loops left out."""
    found = dense(G.out_degree)
    if G.nself:
        found[G.A.diag().to_coo(values=False)[0].astype(np.int64)] -= 1
    return found


def in_degrees(G: Graph) -> np.ndarray:
    """The number of edges that enter each node, loops left out."""
    found = dense(G.in_degree)
    if G.nself:
        found[G.A.diag().to_coo(values=False)[0].astype(np.int64)] -= 1
    return found


def quotient(B: Matrix, label: np.ndarray, count: int, plus: str) -> Matrix:
    """C = S' B S over the monoid named `plus`, S(i, label(i)) = 1: the `count` classes of equal labels as nodes."""
    n = label.size
    S = Matrix.from_coo(np.arange(n), label, True, nrows=n, ncols=count, name="S")
    # S' (B S) by (+).first and (+).second, which leave B's values as they are
    first, second = (getattr(semiring, f"{plus}_{op}")[B.dtype] for op in ("first", "second"))
    return second(S.T @ first(B @ S).new()).new(name="quotient")


def numbered(label: np.ndarray) -> np.ndarray:
    """The labels as numbers 0, 1, 2 ... in the order of their first appearance."""
    n = label.size
    if n and label.dtype.kind == "i" and label.min() >= 0 and label.max() < n:
        # without a sort: the first node of each label, where of several assignments the last holds, and its rank
        nodes, first = np.arange(n), np.empty(n, np.int64)
        first[label[::-1]] = nodes[::-1]
        head = first[label]
        return (np.cumsum(head == nodes) - 1)[head]
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[number.ravel()]


def dense(v: Vector, fill: int = 0) -> np.ndarray:
    """The values of a vector of integers by position, `fill` where there is no entry."""
    at, found = v.to_coo()
    values = np.full(v.size, fill, found.dtype)
    values[at] = found
    return values
