"""Communities of high modularity, by the method of Louvain.

    move        t(i) = argmax over c of  B S(i, c) - gamma k(i) K(c) / 2m,   x(i) = t(i)   until Q stays
    aggregate   B = S' B S,   S(i, x(i)) = 1                                              until no community joins

B is the adjacency matrix, k its row sums, K(c) the sum of k over community c, 2m the sum of k; x holds the communities.
The nodes of a random half move at once (grb_tile/local_moves.py): of two nodes that would change places each other time
only one moves.  A round that lowers the modularity is not the last word: the best communities found are kept.

Contract: G is not changed.  labels number the communities 0 .. count - 1 by their first nodes.  The same seed gives
the same communities, on every backend, where sums of weights are exact (integers below 2^53); others a GPU adds in any
order, so that a tie may be decided in another way in each run.  In a directed graph the weights of both directions are
added, and the modularity is that of the sum.
References: Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks" (J. Stat. Mech.
2008); for moves of many nodes at once Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community
detection" (Parallel Computing 47, 2015), section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from grb_tile import Matrix, Vector, binary, monoid, rowwise, select, semiring
from grb_tile.local_moves import Coins, LocalMoves, dense, labels_in_order, quotient, sums_by_label, vector_of

from . import arguments
from .graph import Graph, room_for
from .modularity import resolution_of, weights
from .report import Callback, Report
from .result import Result


@dataclass(frozen=True)
class CommunitiesResult(Result):
    """labels (INT64 Vector: the community of each node), count (number of communities), modularity, report."""

    labels: Vector
    count: int
    modularity: float
    report: Report

    @property
    def values(self) -> Vector:
        """labels"""
        return self.labels


def louvain(
    G: Graph | Matrix,
    *,
    resolution: float = 1.0,
    seed: int = 0,
    max_level: int | None = None,
    tol: float = 1e-7,
    weighted: bool = True,
    callback: Callback | None = None,
) -> CommunitiesResult:
    """x = communities between which no move of a node, and no union, raises the modularity by more than `tol`.

    resolution   gamma: above 1 gives more and smaller communities
    seed         of the halves that move; an int
    max_level    how often communities become nodes; None: until nothing is gained
    tol          the gain of modularity below which a round or a level counts as none
    weighted     False: every edge weighs 1
    callback     called with the record of each round (`level`, `modularity`, `moved`); something true stops there

    Shapes: A n x n, labels size n.  Types: A real or BOOL with weights >= 0; labels INT64.
    Raises: TypeError, ValueError for the arguments, and for weights that are negative, infinite or NaN.
    Cost: a pass over the edges a round; some 20 rounds a level, and levels shrink fast.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import louvain
    >>> i, j = [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]
    >>> A = gb.Matrix.from_coo(i + j, j + i, nrows=6, ncols=6)
    >>> found = louvain(A)
    >>> found.to_numpy().tolist(), round(found.modularity, 4)
    ([0, 0, 0, 1, 1, 1], 0.3571)
    """
    arguments.flags(weighted=weighted)
    G, A, gamma, coins, max_level, tol = checked(G, "louvain", 100, resolution, seed, max_level, tol, weighted)
    B = A
    x: Any = np.arange(G.n)
    best = -np.inf
    with Report("louvain", callback) as report:
        for level in levels(G.n, max_level, report):
            label, count, quality, stop = LocalMoves(B, gamma, coins).until_stable(tol, noting(report, level))
            gained = quality > best + tol
            if gained:
                x, best = label if level == 0 else label[x], quality
            if stop:
                report.finish("callback", False)
                break
            if not gained or count == B.nrows:
                break
            if level + 1 != max_level:
                # B = S' B S
                B = quotient(B, label, count)
    return communities(G, A, x, gamma, report, best if np.isfinite(best) else None)


def noting(report: Report, level: int) -> Callable[[float, int], Any]:
    """What notes a round of a level: its modularity, and how many nodes move."""
    return lambda quality, moving: report.note(level=level, modularity=quality, moved=moving)


def checked(
    G: Any, name: str, each: int, resolution: Any, seed: Any, max_level: Any, tol: Any, weighted: bool
) -> tuple[Graph, Matrix, float, Coins, int | None, float]:
    """(G as a Graph, its symmetric weights, gamma, the coins of the halves that move, max_level, tol).

    name, each: of graph.room_for.
    """
    G = room_for(G, name, each)
    gamma = resolution_of(resolution)
    coins = Coins(arguments.count(seed, "seed"))
    max_level, tol = arguments.limit(max_level, "max_level"), arguments.real(tol, "tol")
    if tol < 0:
        raise ValueError(f"tol: expected 0 or more, got {tol!r}; 1e-7 is usual")
    return G, symmetric_weights(G, weighted), gamma, coins, max_level, tol


def levels(n: int, max_level: int | None, report: Report) -> Iterator[int]:
    """The numbers of the levels, of which n vertices need at most n + 1, up to max_level."""
    report.finish("converged", True)
    for level in range(n + 1):
        if level == max_level:
            report.finish("max_level", False)
            return
        yield level


def communities(
    G: Graph, B: Matrix, x: Any, gamma: float, report: Report, quality: float | None = None
) -> CommunitiesResult:
    """The result of labels x, with their modularity in the symmetric graph B, computed where `quality` is None."""
    x, count = labels_in_order(x)
    labels = vector_of(x)
    labels.name = "labels"
    if quality is not None:
        return CommunitiesResult(labels, count, quality, report, vertices=G.labels)
    within = float(rowwise.sum_of_own(B, labels).reduce(monoid.plus).new().value or 0.0)
    # Q = sum over c of  L(c) / m - gamma (K(c) / 2m)^2
    K = vector_of(sums_by_label(x, dense(B.reduce_rowwise(monoid.plus).new()), G.n))
    total = float(K.reduce(monoid.plus).new().value or 0.0) or 1.0
    squares = float(semiring.plus_times(K @ K).new().value or 0.0)
    quality = within / total - gamma * squares / total**2
    return CommunitiesResult(labels, count, quality, report, vertices=G.labels)


def symmetric_weights(G: Graph, weighted: bool) -> Matrix:
    """B = A with loops twice, or A + A' where the graph is directed; no entry is 0."""

    def make() -> Matrix:
        A = weights(G, weighted)
        B = binary.plus(A | (A.T if G.directed else A.diag().diag())).new(name="B")
        return select.valuene(B, 0.0).new(name="B")

    return G.keep(("symmetric weights", weighted), make)
