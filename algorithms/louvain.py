"""Communities of high modularity, by the method of Louvain.

    move        t(i) = argmax over c of  B S(i, c) - gamma k(i) K(c) / 2m,   x(i) = t(i)   until Q stays
    aggregate   B = S' B S,   S(i, x(i)) = 1                                              until no community joins

B is the adjacency matrix, k its row sums, K(c) the sum of k over community c, 2m the sum of k; x holds the communities.
The nodes of a random half move at once (rowwise.best_move): of two nodes that would change places each other time only
one moves.  A round that lowers the modularity is not the last word: the best communities found are kept.

Contract: G is not changed.  labels number the communities 0 .. count - 1 by their first nodes.  The same seed gives
the same communities; on every backend where sums of weights are exact (integers below 2^53).  In a directed graph the
weights of both directions are added, and the modularity is that of the sum.
References: Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks" (J. Stat. Mech.
2008); for moves of many nodes at once Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community
detection" (Parallel Computing 47, 2015), section 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, monoid, rowwise, select, semiring

from . import arguments
from .graph import Graph, as_graph
from .modularity import community_labels, resolution_of, weights
from .pattern import quotient
from .report import Callback, Report
from .result import Result

ROUNDS_WITHOUT_GAIN = 3  # rounds without a clear gain before a level ends: half of the nodes stand still in each
SMALL_SHARE = 1e-3  # of what the level has gained: a clear gain; what is left is found when communities are nodes
FEW_ENTRIES = 4096  # a pass over them all takes 30 us, as the product that finds the nodes to look at


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
    G, A, gamma, rng, max_level, tol = checked(G, resolution, seed, max_level, tol, weighted)
    B = A
    x, best = np.arange(G.n), None
    with Report("louvain", callback) as report:
        for level in levels(G.n, max_level, report):
            move = Moves(B, gamma, rng)
            label, quality, stop = move.until_stable(level, tol, report)
            gained = best is None or quality > best + tol
            if gained:
                x, best = label[x], quality
            if stop:
                report.finish("callback", False)
                break
            if not gained or label.max(initial=-1) + 1 == B.nrows:
                break
            # B = S' B S
            B = quotient(B, label, int(label.max()) + 1, "plus")
    return communities(G, A, x, gamma, report)


def checked(
    G: Any, resolution: Any, seed: Any, max_level: Any, tol: Any, weighted: bool
) -> tuple[Graph, Matrix, float, np.random.Generator, int | None, float]:
    """(G as a Graph, its symmetric weights, gamma, the generator of the halves that move, max_level, tol)."""
    G = as_graph(G)
    gamma = resolution_of(resolution)
    rng = np.random.default_rng(arguments.count(seed, "seed"))
    max_level, tol = arguments.limit(max_level, "max_level"), arguments.real(tol, "tol")
    if tol < 0:
        raise ValueError(f"tol: expected 0 or more, got {tol!r}; 1e-7 is usual")
    return G, symmetric_weights(G, weighted), gamma, rng, max_level, tol


def levels(n: int, max_level: int | None, report: Report) -> Iterator[int]:
    """The numbers of the levels, of which n vertices need at most n + 1, up to max_level."""
    report.finish("converged", True)
    for level in range(n + 1):
        if level == max_level:
            report.finish("max_level", False)
            return
        yield level


def communities(G: Graph, B: Matrix, x: np.ndarray, gamma: float, report: Report) -> CommunitiesResult:
    """The result of labels x, with their modularity in the symmetric graph B."""
    x = community_labels(x, G.n)
    labels = Vector.from_dense(x, name="labels")
    inside = float(rowwise.sum_of_own(B, labels).reduce(monoid.plus).new().value or 0.0)
    k = _dense(B.reduce_rowwise(monoid.plus).new())
    total = float(k.sum())
    share = np.bincount(x, k) / (total or 1.0)
    quality = inside / (total or 1.0) - gamma * float((share * share).sum())
    return CommunitiesResult(labels, int(x.max(initial=-1)) + 1, quality, report, vertices=G.labels)


class Moves:
    """The rounds of one level on the graph B, whose diagonal counts each loop twice."""

    def __init__(self, B: Matrix, gamma: float, rng: np.random.Generator) -> None:
        self.n = B.nrows
        self.rng = rng
        # k(i) = [+_j B(i, j)],  2m = [+_i k(i)]
        self.k = _dense(B.reduce_rowwise(monoid.plus).new())
        self.loops = float(B.diag().reduce(monoid.plus).new().value or 0.0)
        self.total = float(self.k.sum())
        self.B = select.offdiag(B).new(name="B")
        self.gamma = gamma
        self.u = gamma * self.k / self.total if self.total else np.zeros(self.n)
        self.vectors = Vector.from_dense(self.u), Vector.from_dense(self.k)

    def until_stable(
        self, level: int, tol: float, report: Report, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, bool]:
        """(communities 0 .. k - 1 of the nodes, their modularity, did the callback stop?); start: the first ones."""
        x = np.arange(self.n) if start is None else start
        target, gain, own = x.copy(), np.zeros(self.n), np.zeros(self.n)
        active = np.ones(self.n, np.bool_)  # nodes to be looked at: a neighbour has moved, or they wait for their turn
        best, kept, since, first = -np.inf, x, 0, None
        while True:
            K = np.bincount(x, self.k, minlength=self.n)
            self.look(x, K, active, target, gain, own)
            quality = self._modularity(K, own)
            first = quality if first is None else first
            since = 0 if quality > best + max(tol, SMALL_SHARE * (best - first)) else since + 1
            if quality > best:
                best, kept = quality, x
            wants = active & (gain > 0)
            if since >= ROUNDS_WITHOUT_GAIN or not wants.any():
                return community_labels(kept, self.n), best, False
            # the nodes of a random half move
            moves = wants & (self.rng.random(self.n) < 0.5)
            if report.note(level=level, modularity=best, moved=int(moves.sum())):
                return community_labels(kept, self.n), best, True
            x = np.where(moves, target, x)
            if self.B.nvals > FEW_ENTRIES:
                active = wants | self.next_to(moves)

    def next_to(self, moves: np.ndarray) -> np.ndarray:
        """B any.pair moves: nodes with a neighbour among those that move."""
        moved = Vector.from_coo(np.flatnonzero(moves), True, size=self.n)
        found = np.zeros(self.n, np.bool_)
        found[semiring.any_pair[dtypes.BOOL](self.B @ moved).new().to_coo(values=False)[0]] = True
        return found

    def look(self, x: np.ndarray, K: np.ndarray, active: np.ndarray, *results: np.ndarray) -> None:
        """Of the active nodes the best community, its gain, and the sum of the entries to the own community."""
        if not self.total:
            return
        at = np.flatnonzero(active)
        rows = None if at.size == self.n else Vector.from_coo(at, True, size=self.n)
        u, k = self.vectors
        found = rowwise.best_move(self.B, Vector.from_dense(x), u, Vector.from_dense(K), k, rows=rows)
        for result, v in zip(results, found, strict=True):
            result[at] = v.to_coo(indices=False)[1]
        own = results[2]
        # [+_j B(i, j) over x(j) = x(i)] = kept(i) - u(i) k(i) + u(i) K(x(i))
        own[at] += self.u[at] * (K[x[at]] - self.k[at])

    def _modularity(self, K: np.ndarray, own: np.ndarray) -> float:
        """Q of communities with the sums K of degrees and `own` of entries."""
        if not self.total:
            return 0.0
        share = K / self.total
        return float((own.sum() + self.loops) / self.total - self.gamma * (share * share).sum())


def symmetric_weights(G: Graph, weighted: bool) -> Matrix:
    """B = A with loops twice, or A + A' where the graph is directed; no entry is 0."""

    def make() -> Matrix:
        A = weights(G, weighted)
        B = binary.plus(A | (A.T if G.directed else A.diag().diag())).new(name="B")
        return select.valuene(B, 0.0).new(name="B")

    return G.keep(("symmetric weights", weighted), make)


def _dense(v: Vector) -> np.ndarray:
    return v.to_dense(0.0)
