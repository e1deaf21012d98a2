"""Local moves between communities, from which algorithms/louvain.py and algorithms/leiden.py are made.

    move    t(i) = argmax over c of  B S(i, c) - gamma k(i) K(c) / 2m,   x(i) = t(i)   for the nodes of a random half
    join    the same within given communities, for nodes that are alone
    settle  the same for nodes of different communities that go to different ones, until no node gains

B is a symmetric matrix, k its row sums, K(c) the sum of k over community c, 2m the sum of k, S(i, x(i)) = 1.  A round
looks at the nodes whose neighbours have moved (gb.graph.communities).
References: Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks" (J. Stat. Mech.
2008); Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community detection" (Parallel Computing 47,
2015), section 4; Traag, Waltman, van Eck, "From Louvain to Leiden" (Scientific Reports 9, 2019), algorithm A.2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from grb_tile import Matrix, Vector, monoid, select
from grb_tile.graph.communities import (
    array_namespace,
    dense,
    labels_in_order,
    quotient,
    sums_by_label,
    symmetric_rows,
)
from grb_tile.graph.local_moves import Measure, join_rounds, move_rounds, settle
from grb_tile.operations import checks

SMALL_SHARE = 3e-3  # of what the level has gained: a clear gain; what is left is found when communities are nodes
ROUNDING = 1e-12  # modularities of equal communities differ by less, in whichever order a backend adds their terms


class RandomRounds:
    """The seed of the hashes that say which nodes move in a round, and how many rounds there were."""

    def __init__(self, seed: int) -> None:
        self.seed, self.rounds = seed, 0


def loops_apart(B: Matrix) -> tuple[Matrix | None, Vector, float]:
    """(B without its diagonal, None where it has none, the sums of B's rows, the sum of its diagonal)."""
    loops = B.diag()
    own = float(loops.reduce(monoid.plus).new().value or 0.0)
    sums = B.reduce_rowwise(monoid.plus).new(name="k")
    return (select.offdiag(B).new(name="B") if loops.nvals else None), sums, own


class LocalMoves:
    """The rounds of one level on the graph B, whose diagonal counts each loop twice; gamma: the resolution."""

    def __init__(
        self, B: Matrix, gamma: float, random: RandomRounds, parts: tuple[Matrix | None, Vector, float] | None = None
    ) -> None:
        """parts: loops_apart(B) where that is kept."""
        # k(i) = [+_j B(i, j)],  2m = [+_i k(i)]
        apart, sums, own = loops_apart(B) if parts is None else parts
        k = dense(sums)
        self._hold(B if apart is None else apart, k, Measure(own, float(k.sum()), gamma), random)

    def _hold(self, B: Matrix, k: Any, measure: Measure, random: RandomRounds) -> None:
        self.n, self.B, self.k, self.measure, self.random = B.nrows, symmetric_rows(B), k, measure, random
        self.total = measure.total
        self.u = k * (measure.gamma / self.total if self.total else 0.0)

    def of_parts(self, y: Any, count: int) -> LocalMoves:
        """The level whose nodes are the parts 0 .. count - 1: B = S' B S,  S(i, y(i)) = 1."""
        found = LocalMoves.__new__(LocalMoves)
        B = quotient(self.B, y, count, inner=False)
        between = float(B.reduce_scalar(monoid.plus).new().value or 0.0)
        loops, total, gamma = self.measure
        k = sums_by_label(y, self.k, count)
        found._hold(B, k, Measure(max(total - between, loops), total, gamma), self.random)
        return found

    def until_stable(
        self, tol: float, note: Callable[[float, int], Any], start: Any = None, *, share: float = SMALL_SHARE,
        each: bool = True, twice: bool = False,
    ) -> tuple[Any, int, float, bool]:  # fmt: skip
        """(communities 0 .. count - 1 of the nodes, count, their modularity, did `note` stop it?)

        note    called with the modularity and the number of nodes that move in each round; something true stops
        start   the first communities; None: each node by itself
        share   of what the rounds have gained, the gain below which one counts as none
        each    False: what `note` returns is not looked at, so that rounds need not wait for it
        twice   where rounds end others begin, which look at all nodes: sums of communities have changed
        """
        if not self.total:
            return *labels_in_order(array_namespace().arange(self.n) if start is None else start), 0.0, False
        rule, random = (self.measure, tol, share), self.random
        kept, best, stop = start, -np.inf, False
        for _ in range(1 + twice):
            found = move_rounds(self.B, kept, self.u, self.k, rule, random.seed, random.rounds, each=each)
            for label, quality, records in found:
                random.rounds += len(records)
                stopped = [note(*record) for record in records]
                if quality > best:
                    kept, best = label, quality
                stop = each and any(stopped)
                if stop:
                    return *labels_in_order(kept), best, True
        return *labels_in_order(kept), best, False

    def join(self, communities: Any) -> tuple[Any, int]:
        """(parts 0 .. count - 1 of the communities, count): nodes that are alone join the best part, until few would.

        Parts are connected: a node joins by an edge, and a part that is joined does not move in that round.
        """
        if not self.total:
            return labels_in_order(array_namespace().arange(self.n))
        random, scale = self.random, self.measure.gamma / self.total
        y, rounds = join_rounds(self.B, communities, self.k, scale, random.seed, random.rounds)
        random.rounds += rounds
        return labels_in_order(y)

    def settle(
        self, tol: float, note: Callable[[float, int], Any], x: Any, *, each: bool = True
    ) -> tuple[Any, int, bool, bool]:
        """(communities, count, did any node move?, did `note` stop it?): from x, moves until none gains more than tol.

        A node goes to the community of greatest gain, or, where it loses by staying, to one of its own.  Of the nodes
        that leave or join a community only the first moves in a round.  No community is then touched twice, so that
        gains add up and each round raises the modularity.  The last round looks at all nodes.  each: of until_stable.
        """
        if not self.total:
            return *labels_in_order(x), False, False
        # a gain of modularity in the unit of scores
        rule = self.measure, max(tol, ROUNDING) * self.total / 2, 1 + tol, partial(checks.symmetric, "local moves")
        changed = False
        for label, records in settle(self.B, x, self.u, self.k, rule, each=each):
            changed = changed or bool(records)
            x, stopped = label, [note(*record) for record in records]
            if each and any(stopped):
                return *labels_in_order(x), changed, True
        return *labels_in_order(x), changed, False
