"""A colouring: colours 0, 1, 2 ... for the nodes, different ones for the ends of each edge.

    L = A where p(j) > p(i),  d = L plus.pair 1,  f = nodes with d = 0
    repeat  x<f> = mex over j of x(j) where L(i, j),  d -= f plus.pair L',  f = nodes with d = 0 that have no colour

p are priorities.  A node is coloured when all neighbours of higher priority are, with the least colour that none of
them has (gb.graph.mex): the colours of a greedy loop by descending priority, on every backend.

Contract: G is not changed.  Loops and values do not matter.  A graph that is not symmetric is refused.  No more than
greatest degree + 1 colours are used.
References: Jones and Plassmann, "A parallel graph coloring heuristic" (SIAM J. Sci. Comput. 14, 1993); Welsh and
Powell, "An upper bound for the chromatic number of a graph" (Computer J. 10, 1967); Hasenplaugh, Kaler, Schardl,
Leiserson, "Ordering heuristics for parallel graph coloring" (SPAA 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, select, semiring

from . import arguments
from .given import GraphLike, Vertices
from .graph import room_for
from .pattern import loopless, random_order, undirected
from .report import Callback, Report
from .result import Result


@dataclass(frozen=True)
class ColoringResult(Result):
    """colours (INT64 Vector: the colour of each node, from 0 on), count (number of colours), report."""

    _ranked: ClassVar[bool] = False
    colours: Vector
    count: int
    report: Report

    @property
    def values(self) -> Vector:
        """colours"""
        return self.colours


def coloring(
    G: GraphLike,
    *,
    method: str = "jp_ldf",
    order: Vertices | None = None,
    seed: int = 0,
    callback: Callback | None = None,
) -> ColoringResult:
    """x(i) = the least colour that no neighbour of higher priority has.

    method     "jp_ldf": priority by degree, the largest first (fewer colours); "jp_random": a random priority (fewer
               rounds)
    order      each node once, in descending order of priority, in place of a method
    seed       of the random priority, which for "jp_ldf" decides between equal degrees; an int
    callback   called with the record of each round (`coloured`); something true stops there (nodes that have no colour
               then have no entry)

    Shapes: A n x n, colours size n.  Types: any A; colours INT64.
    Raises: ValueError when the structure is not symmetric, and for method; TypeError, ValueError for seed.
    Cost: each edge is looked at once: by one compiled loop (on a GPU one kernel) where there is no callback
    (gb.graph.greedy_colours), else by a product a round; the longest path of descending priorities is the number of
    rounds.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import coloring
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=4, ncols=4)
    >>> found = coloring(A)
    >>> found.count, found.to_dict()[2]
    (3, 0)
    """
    G = undirected(room_for(G, "coloring", 110), "colours need")
    arguments.choice(method, ("jp_ldf", "jp_random"), "method")
    A = loopless(G)
    if order is None:
        # d = A plus.pair 1
        degree = G.keep("loopless degree", lambda: A.reduce_rowwise("count").new()) if method == "jp_ldf" else None
        turns = random_order(G, arguments.count(seed, "seed"), method, degree)
    else:
        given = arguments.nodes(order, G, "order")
        if not len(given) == len(set(given)) == G.n:
            raise ValueError(
                f"order: expected each of the {G.n} nodes once, got {len(set(given))} in {len(given)} numbers"
            )
        turns, method = Vector.from_dense(np.array(given, np.int64)), "given order"
    with Report(f"coloring ({method})", callback) as report:
        found = report.whole(graph.greedy_colours, A, turns)
        if found is None:
            colours = _jones_plassmann(A, turns.to_coo(indices=False)[1], report)
            count = int(colours.to_coo(indices=False)[1].max(initial=-1)) + 1
            found = colours, count
    colours, count = found
    return ColoringResult(colours, count, report, vertices=G.labels)


def _jones_plassmann(A: Matrix, order: np.ndarray, report: Report) -> Vector:
    n = A.nrows
    position = np.empty(n, np.int64)
    position[order] = np.arange(n)
    p = Vector.from_dense(position)
    # L(i, j) = A(i, j) where j comes before i
    P = semiring.any_first[dtypes.INT64](p.diag() @ A).new()
    L = select.valueeq(binary.gt(P & p).new(), True).new(name="L")
    plus_pair = semiring.plus_pair[dtypes.INT64]
    ones = Vector.from_scalar(1, n, dtypes.INT64)
    # d = L plus.pair 1 : how many neighbours come before
    d = Vector.from_scalar(0, n, dtypes.INT64, name="waits")
    d(binary.plus) << plus_pair(L @ ones)
    x = Vector(dtypes.INT64, n, name="colours")
    f = select.valueeq(d, 0).new(name="frontier")
    while f.nvals:
        # x<f,s> = mex over j of x(j) where L(i, j)
        x(f.S) << graph.mex(L, x, mask=f.S)
        # t = L plus.pair f,  d<t,s> -= t,  f = t where d = 0
        t = plus_pair(L @ f).new(name="t")
        d(binary.minus) << t
        if report.note(coloured=f.nvals):
            report.finish("callback", False)
            return x
        f << select.valueeq(d.dup(mask=t.S), 0)
    report.finish("converged", True)
    return x
