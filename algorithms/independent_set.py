"""A maximal independent set: nodes of which no two are joined, and to which no other node can be added.

    repeat  m<c> = A max.second c,  new = c where c > m,  set = set + new,  c<!(new + A any.pair new)> = c
    until no candidate c is left

c holds the priorities of the candidates, a random permutation of the nodes; a candidate joins the set when it comes
before all candidates next to it.  With priorities that stay the same in all rounds the set is the one that a loop over
the nodes by descending priority finds, so that every backend gives the same.

Contract: G is not changed.  Loops and values do not matter.  A graph that is not symmetric is refused.
References: Luby, "A simple parallel algorithm for the maximal independent set problem" (SIAM J. Comput. 15, 1986);
Blelloch, Fineman, Shun, "Greedy sequential maximal independent set and matching are parallel on average" (SPAA 2012);
LAGraph, LAGraph_MaximalIndependentSet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, select, semiring

from . import arguments
from .given import GraphLike, Vertices
from .graph import room_for
from .pattern import loopless, random_order, undirected
from .report import Callback, Report
from .result import Result


@dataclass(frozen=True)
class IndependentSetResult(Result):
    """members (BOOL Vector with an entry for each node of the set), count (its size), report."""

    members: Vector
    count: int
    report: Report

    @property
    def values(self) -> Vector:
        """members"""
        return self.members


def maximal_independent_set(
    G: GraphLike, *, seed: int = 0, ignore: Vertices | None = None, callback: Callback | None = None
) -> IndependentSetResult:
    """The first maximal independent set in a random order of the nodes.

    seed       of the order; an int
    ignore     nodes that may not be in the set (others then need not be next to a member because of them)
    callback   called with the record of each round (`joined`, `candidates`); something true stops there (the set is
               then not maximal)

    Shapes: A n x n, members size n.  Types: any A; members BOOL.
    Raises: ValueError when the structure is not symmetric; TypeError, ValueError for seed; IndexError for ignore.
    Cost: each edge is looked at once: by one compiled loop (on a GPU one kernel) where there is no callback
    (gb.graph.independent_set), else O(log n) rounds of two products.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import maximal_independent_set
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], nrows=5, ncols=5)
    >>> maximal_independent_set(A, ignore=[1]).to_dict()
    {0: True, 2: True, 4: True}
    """
    G = undirected(room_for(G, "maximal_independent_set", 72), "a maximal independent set needs")
    order = random_order(G, arguments.count(seed, "seed"))
    ignored = arguments.nodes(() if ignore is None else ignore, G, "ignore")
    left_out = Vector.from_coo(np.unique(np.array(ignored, np.int64)), True, size=G.n, name="left out")
    A = loopless(G)
    with Report("maximal_independent_set", callback) as report:
        members = report.whole(graph.independent_set, A, order, left_out)
        if members is None:
            # c(i) = n - k for the node i that is k-th in the order
            c = Vector.from_coo(order.to_coo(indices=False)[1], np.arange(G.n, 0, -1), size=G.n, name="candidates")
            c(~left_out.S, replace=True) << c
            members = _luby(A, c, report)
    return IndependentSetResult(members, members.nvals, report, vertices=G.labels)


def _luby(A: Matrix, c: Vector, report: Report) -> Vector:
    members = Vector(dtypes.BOOL, A.nrows, name="members")
    greatest = semiring.max_second[dtypes.INT64]
    near = semiring.any_pair[dtypes.BOOL]
    while c.nvals:
        # m<c,s> = A max.second c : the greatest priority of a candidate next to each candidate
        m = greatest(A @ c).new(mask=c.S, name="m")
        # new = c where c > m, or where no candidate is near
        lower = select.valueeq(binary.lt(c & m).new(), True).new(name="lower")
        new = c.dup(mask=~lower.S, name="new")
        # set<new,s> = true
        members(new.S) << True
        # c<!new,s> = c,  c<!(A any.pair new),s> = c
        c(~new.S, replace=True) << c
        beside = near(A @ new).new(mask=c.S, name="beside")
        c(~beside.S, replace=True) << c
        if report.note(joined=new.nvals, candidates=c.nvals):
            report.finish("callback", False)
            return members
    report.finish("converged", True)
    return members
