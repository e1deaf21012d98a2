"""Communities by label propagation: every node takes the label that most of its neighbours have.

    repeat  x(i) = argmax over c of C(i, c),  C = A S + A' S,  S(k, x(k)) = 1

C(i, c) counts the neighbours of i with label c (graph.mode).  All nodes vote at once, and the least of equally
frequent labels wins, so the result is the same on every backend.

Contract: G is not changed.  values is a full INT64 vector of labels, which are nodes; a node without neighbours keeps
itself.  In a directed graph in-edges and out-edges both vote, so an edge in both directions votes twice.  Values do
not matter; a loop votes for the node's own label.
Agrees with LDBC Graphalytics 1.0, CDLP, exactly.
References: Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in large-scale
networks" (Phys. Rev. E 76, 2007); LDBC Graphalytics 1.0, section 2.3 (CDLP).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grb_tile import Matrix, Vector, binary, dtypes, graph, indexunary, monoid

from . import arguments, iteration
from .given import GraphLike
from .graph import Graph, room_for
from .report import Callback, Report
from .result import VertexResult

if TYPE_CHECKING:
    from collections.abc import Callable


def label_propagation(G: GraphLike, *, max_iter: int = 10, callback: Callback | None = None) -> VertexResult:
    """x(i) = the most frequent label among the neighbours of i, `max_iter` times, from x(i) = i.

    max_iter   rounds; fewer where no label changes any more (labels may also alternate for ever)
    callback   called with the record of each round (`changed`: how many nodes took another label); something true stops

    Shapes: A n x n, values size n.  Types: any A; values INT64, full.
    Raises: TypeError, ValueError for max_iter; TypeError for callback.
    Cost: a pass over the edges a round.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import label_propagation
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=5, ncols=5)
    >>> label_propagation(A).to_numpy().tolist()
    [0, 0, 0, 0, 4]
    """
    G = room_for(G, "label_propagation", 56)
    max_iter = arguments.count(max_iter, "max_iter")
    votes, weighted = _votes(G)
    # x(i) = i
    x = indexunary.rowindex(Vector.from_scalar(0, G.n, dtypes.INT64)).new(name="labels")
    step = _round(votes, weighted, G.keep("every node votes", lambda: votes.reduce_rowwise("count").new().nvals == G.n))
    with Report("label_propagation", callback) as report:
        report.finish("max_iter", False)
        turns = iteration.turns_of(G, "label_propagation")
        here, left, changed = turns.begins(report), max_iter, 1
        while here and left and changed:
            ran = turns.while_changing(step, x, left)
            if ran is None:
                break
            x, counts = ran
            for changed in counts:
                report.note(changed=changed)
            left -= len(counts)
        while left and changed:
            x, count = step(x)
            changed, left = int(count), left - 1
            if report.note(changed=changed):
                break
        if not changed:
            report.finish("converged", True)
    return VertexResult(x, report, vertices=G.labels)


def _round(votes: Matrix, weighted: bool, every: bool) -> Callable[[Vector], tuple[Vector, Any]]:
    """The function x -> (the labels after a round, how many are others); every: has each node neighbours?"""

    def step(x: Vector) -> tuple[Vector, Any]:
        # t(i) = argmax over c of C(i, c),  y<t,s> = t
        y = t = graph.mode(votes, x, weighted=weighted)
        if not every:
            y = x.dup(name="labels")
            y(t.S) << t
        # [+_i x(i) != y(i)]
        changed = binary.ne(x & y).new().reduce(monoid.plus[dtypes.INT64]).new().value
        return y, 0 if changed is None else changed

    return step


def _votes(G: Graph) -> tuple[Matrix, bool]:
    """(the matrix of votes, do its values count?): A where edges go both ways, else A + A' of ones."""
    if G.is_symmetric_structure:
        return G.A, False

    def both() -> Matrix:
        ones, opposite = (binary.pair[dtypes.FP64](X & X).new() for X in (G.A, G.AT))
        return binary.plus(ones | opposite).new(name="votes")

    return G.keep("votes", both), True
