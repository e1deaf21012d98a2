"""Communities of high modularity, by the method of Louvain.

    move        t(i) = argmax over c of  B S(i, c) - gamma k(i) K(c) / 2m,   x(i) = t(i)   until Q stays
    aggregate   B = S' B S,   S(i, x(i)) = 1                                              until no community joins

B is the adjacency matrix, k its row sums, K(c) the sum of k over community c, 2m the sum of k; x holds the communities.
All nodes that gain move at once, but for one in eight (local_moves.py), so that of two nodes that would swap
communities for ever one moves alone in the end.  A round may lower the modularity; the best communities found are
kept.  There are two passes of the levels, the second from the communities of the first; then single moves of nodes, and
unions of two communities, are made until none gains.

Contract: G is not changed.  labels number the communities 0 .. count - 1 by their first nodes.  The same seed gives
the same communities, on every backend, where sums of weights are exact (integers below 2^53); others a GPU adds in any
order, so that a tie may be decided in another way in each run.  In a directed graph the weights of both directions are
added, and the modularity is that of the sum.
References: Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks" (J. Stat. Mech.
2008); for moves of many nodes at once Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community
detection" (Parallel Computing 47, 2015), section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from grb_tile import Matrix, Vector, binary, graph, monoid, select, semiring
from grb_tile.graph.communities import (
    array_namespace,
    dense,
    entries,
    inside,
    labels_in_order,
    sums_by_label,
    vector_of,
)

from . import arguments
from .connected_components import connected_components
from .given import GraphLike
from .graph import Graph, room_for
from .local_moves import LocalMoves, RandomRounds, loops_apart
from .modularity import resolution_of, weights
from .report import Callback, Report
from .result import Result

PASSES = 2  # through all levels: the second, from the communities of the first, finds a fiftieth more on graphs without
# clear communities; each further one gains little and takes as long


@dataclass(frozen=True)
class CommunitiesResult(Result):
    """labels (INT64 Vector: the community of each node), count (number of communities), modularity, report."""

    _ranked: ClassVar[bool] = False
    labels: Vector
    count: int
    modularity: float
    report: Report

    @property
    def values(self) -> Vector:
        """labels"""
        return self.labels


def louvain(
    G: GraphLike,
    *,
    resolution: float = 1.0,
    seed: int = 0,
    max_level: int | None = None,
    tol: float = 1e-7,
    weighted: bool = True,
    callback: Callback | None = None,
) -> CommunitiesResult:
    """x = communities between which no move of a node, and no union, raises the modularity by more than `tol`.

    A node may move to any community or to one of its own.

    resolution   gamma: above 1 gives more and smaller communities
    seed         of the draws of nodes that wait in a round; an int
    max_level    how often communities become nodes, of all passes; None: until nothing is gained.  At this limit, and
                 where a callback stops, a move may still gain
    tol          the gain of modularity below which a move, a round or a level counts as none; 0: 1e-12
    weighted     False: every edge weighs 1
    callback     called with the record of each round (`level`, `modularity`, `moved`); something true stops there

    Shapes: A n x n, labels size n.  Types: A real or BOOL with weights >= 0; labels INT64.
    Raises: TypeError, ValueError for the arguments, and for weights that are negative, infinite or NaN.
    Cost: a pass over the edges a round; some 20 rounds a level, levels shrink fast, and are passed through twice.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import louvain
    >>> i, j = [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]
    >>> A = gb.Matrix.from_coo(i + j, j + i, nrows=6, ncols=6)
    >>> found = louvain(A)
    >>> found.to_numpy().tolist(), round(found.modularity, 4)
    ([0, 0, 0, 1, 1, 1], 0.3571)
    """
    return search("louvain", G, resolution, seed, max_level, tol, weighted, callback, refine=False)


def search(
    name: str, G: Any, resolution: Any, seed: Any, max_level: Any, tol: Any, weighted: Any, callback: Any, refine: bool
) -> CommunitiesResult:
    """The communities that PASSES passes of levels find, then settled.  refine: Leiden's, else Louvain's."""
    arguments.flags(weighted=weighted)
    each = 240 if refine else 140  # bytes a vertex: arrays of numbers
    G, A, gamma, random, max_level, tol = checked(G, name, each, resolution, seed, max_level, tol, weighted)
    with Report(name, callback, weighted=weighted) as report:
        report.finish("converged", True)
        parts = G.keep(("loops apart", weighted, G.directed), lambda: loops_apart(A))
        finest = LocalMoves(A, gamma, random, parts)
        x = _passes(finest, max_level, tol, report, refine) if A.nvals else np.arange(G.n)
        if refine and report.stopped_by != "converged":
            x, _ = _apart(finest, x)
    return communities(G, A, x, gamma, report)


def _passes(finest: LocalMoves, max_level: int | None, tol: float, report: Report, refine: bool) -> Any:
    """The community of each node."""
    best, level = -np.inf, 0
    x: Any = array_namespace().arange(finest.n)
    each = report.has_callback
    for turn in range(PASSES):
        before = best
        moves, start = finest, x if turn else None
        node: Any = None  # what each node is in the graph of the level; None: itself
        while True:
            if level == max_level:
                report.finish("max_level", False)
                return x
            label, count, quality, stop = moves.until_stable(
                tol, noting(report, level), start, each=each, twice=refine and level > 0
            )
            gained, level = quality > best + tol, level + 1
            if gained or node is None:
                x, best = label if node is None else label[node], max(quality, best)
            if stop:
                report.finish("callback", False)
                return x
            # Louvain's communities are the nodes of the next level, where the pass before ended
            if level == max_level or (not gained and (node is not None or (turn and not refine))):
                break
            y, parts = moves.join(label) if refine else (label, count)
            if parts == moves.n:
                break
            # the community of each part
            start = None
            if refine:
                of_part = label[:parts].copy()
                of_part[y] = label
                start = labels_in_order(of_part)[0]
            node = y if node is None else y[node]
            moves = moves.of_parts(y, parts)
        if best <= before + tol:
            break
    if level == max_level:
        report.finish("max_level", False)
        return x
    return _settled(finest, x, tol, noting(report, level), report, refine)


def _settled(finest: LocalMoves, x: Any, tol: float, note: Any, report: Report, connected: bool) -> Any:
    """x after moves of nodes and unions of communities, until none of either gains more than tol."""
    each = report.has_callback
    # many nodes at once make most of the moves that the levels left to make, in fewer rounds
    x, _, _, stop = finest.until_stable(tol, note, x, share=0.0, each=each)
    while not stop:
        x, count, _, stop = finest.settle(tol, note, x, each=each)
        if stop:
            break
        if connected:
            x, parts = _apart(finest, x)
            if parts > count:
                continue
        # communities as nodes: their moves are unions
        label, _, joined, stop = finest.of_parts(x, count).settle(tol, note, array_namespace().arange(count), each=each)
        x = label[x]
        if not joined:
            break
    if stop:
        report.finish("callback", False)
    return x


def _apart(moves: LocalMoves, x: Any) -> tuple[Any, int]:
    """(the connected parts of the communities, how many): the modularity of parts is higher."""
    found = connected_components(Graph.of_symmetric(inside(moves.B, x)))
    return labels_in_order(entries(found.labels).astype(np.int64))


def noting(report: Report, level: int) -> Callable[[float, int], Any]:
    """What notes a round of a level: its modularity, and how many nodes move."""
    return lambda quality, moving: report.note(level=level, modularity=quality, moved=moving)


def checked(
    G: Any, name: str, each: int, resolution: Any, seed: Any, max_level: Any, tol: Any, weighted: bool
) -> tuple[Graph, Matrix, float, RandomRounds, int | None, float]:
    """(G as a Graph, its symmetric weights, gamma, the rounds' random numbers, max_level, tol).

    name, each: of graph.room_for.
    """
    G = room_for(G, name, each)
    gamma = resolution_of(resolution)
    random = RandomRounds(arguments.count(seed, "seed"))
    max_level, tol = arguments.limit(max_level, "max_level"), arguments.real(tol, "tol")
    if tol < 0:
        raise ValueError(f"tol: expected 0 or more, got {tol!r}; 1e-7 is usual")
    return G, symmetric_weights(G, weighted), gamma, random, max_level, tol


def communities(
    G: Graph, B: Matrix, x: Any, gamma: float, report: Report, quality: float | None = None
) -> CommunitiesResult:
    """The result of labels x, with their modularity in the symmetric graph B, computed where `quality` is None."""
    x, count = labels_in_order(x)
    labels = vector_of(x)
    labels.name = "labels"
    if quality is not None:
        return CommunitiesResult(labels, count, quality, report, vertices=G.labels)
    within = float(graph.sum_of_own(B, labels).reduce(monoid.plus).new().value or 0.0)
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

    return G.keep(("symmetric weights", weighted, G.directed), make)
