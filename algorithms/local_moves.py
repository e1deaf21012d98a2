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
from typing import Any

import numpy as np

from grb_tile import Matrix, Vector, binary, graph, monoid, select, semiring
from grb_tile.dtypes import BOOL
from grb_tile.graph.communities import (
    array_namespace,
    dense,
    entries,
    join_rounds,
    labels_in_order,
    move_round,
    positions,
    sums_by_label,
    symmetric_rows,
    vector_of,
)
from grb_tile.hashing import key_of
from grb_tile.operations import checks

ROUNDS_WITHOUT_GAIN = 3  # rounds without a clear gain before a level ends: half of the nodes stand still in each
SMALL_SHARE = 1e-3  # of what the level has gained: a clear gain; what is left is found when communities are nodes
ROUNDING = 1e-12  # modularities of equal communities differ by less, in whichever order a backend adds their terms
FEW_ENTRIES = 4096  # a pass over them all takes 30 us, as the product that finds the nodes to look at


class RandomHalves:
    """A random half of the nodes for each round; the same seed gives the same halves."""

    def __init__(self, seed: int) -> None:
        self.seed, self.rounds = seed, 0

    def next_round(self) -> int:
        """The key of the next round's hashes."""
        self.rounds += 1
        return key_of(self.seed, self.rounds)


class LocalMoves:
    """The rounds of one level on the graph B, whose diagonal counts each loop twice; gamma: the resolution."""

    def __init__(self, B: Matrix, gamma: float, halves: RandomHalves) -> None:
        self.n, self.graph = B.nrows, B
        self.halves = halves
        # k(i) = [+_j B(i, j)],  2m = [+_i k(i)]
        self.k = dense(B.reduce_rowwise(monoid.plus).new())
        self.total = float(self.k.sum())
        loops = B.diag()
        self.loops = float(loops.reduce(monoid.plus).new().value or 0.0)
        self.B = symmetric_rows(select.offdiag(B).new(name="B") if loops.nvals else B)
        self.gamma = gamma
        self.u = self.k * (gamma / self.total if self.total else 0.0)

    def modularity(self, within: float, squares: float) -> float:
        """Q of communities: the entries within them and [+_c K(c)^2]."""
        return (within + self.loops) / self.total - self.gamma * squares / self.total**2

    def until_stable(
        self, tol: float, note: Callable[[float, int], Any], start: Any = None
    ) -> tuple[Any, int, float, bool]:
        """(communities 0 .. count - 1 of the nodes, count, their modularity, did `note` stop it?)

        note    called with the modularity and the number of nodes that move in each round; something true stops
        start   the first communities; None: each node by itself
        """
        xp, n = array_namespace(), self.n
        x = xp.arange(n) if start is None else start
        own, active = xp.zeros(n), None  # nodes to be looked at: a neighbour has moved, or they wait for their turn
        best, kept, since, first = -np.inf, x, 0, None
        few = self.B.nvals <= FEW_ENTRIES
        while True:
            if not self.total:
                return *labels_in_order(x), 0.0, False
            # the nodes of a random half move
            done = move_round(self.B, x, self.u, self.k, own, active, self.halves.next_round(), follow=not few)
            quality = self.modularity(done.within, done.squares)
            first = quality if first is None else first
            since = 0 if quality > best + max(tol, SMALL_SHARE * (best - first)) else since + 1
            if quality > best + ROUNDING:
                best, kept = quality, x
            if since >= ROUNDS_WITHOUT_GAIN or not done.wanting:
                return *labels_in_order(kept), best, False
            if note(best, done.moving):
                return *labels_in_order(kept), best, True
            x, own = done.labels, done.own
            if not few:
                active = done.active

    def join(self, communities: Any) -> tuple[Any, int]:
        """(parts 0 .. count - 1 of the communities, count): nodes that are alone join the best part, until none gains.

        Parts are connected: a node joins by an edge, and a part that is joined does not move in that round.
        """
        n = self.n
        if not self.total:
            return labels_in_order(array_namespace().arange(n))
        # within(i) = [+_j B(i, j) over x(j) = x(i)],  whole(i): the sum of the degrees of i's community
        within = dense(graph.sum_of_own(self.B, vector_of(communities)))
        whole = sums_by_label(communities, self.k, n)[communities]
        scale = self.gamma / self.total
        joined = within >= scale * self.k * (whole - self.k)  # nodes that are well connected to their community
        level = self.u, self.k, within, whole, joined, scale
        y, rounds = join_rounds(self.B, communities, level, self.halves.seed, self.halves.rounds)
        self.halves.rounds += rounds
        return labels_in_order(y)

    def settle(self, tol: float, note: Callable[[float, int], Any], x: Any) -> tuple[Any, int, bool, bool]:
        """(communities, count, did any node move?, did `note` stop it?): from x, moves until none gains more than tol.

        A node goes to the community of greatest gain, or, where it loses by staying, to one of its own.  Of the nodes
        that leave or join a community only the first moves in a round.  No community is then touched twice, so that
        gains add up and each round raises the modularity.  The last round looks at all nodes.
        """
        xp, n, changed, quality = array_namespace(), self.n, False, 0.0
        least = max(tol, ROUNDING) * self.total / 2  # a gain of modularity in the unit of scores
        active: Vector | None = None
        while self.total:
            K = sums_by_label(x, self.k, n)
            vote = graph.best_move(
                self.B, vector_of(x), vector_of(self.u), vector_of(K), vector_of(self.k), rows=active
            )
            target, gain, kept = (entries(v) for v in vote)
            if active is None:
                at = xp.arange(n)
                own = kept + self.u * (K[x] - self.k)
                expected, quality = quality, self.modularity(float(own.sum()), float((K * K).sum()))
                checks.symmetric("local moves", not changed or abs(quality - expected) < 1e-6)  # else gains are wrong
            else:
                at = positions(active)
            alone = gain < -kept  # the score of a community of its own is 0
            gain = xp.where(alone, -kept, gain)
            wants = gain > least
            at, target, gain, alone = at[wants], target[wants], gain[wants], alone[wants]
            checks.symmetric("local moves", quality <= 1 + tol)  # no communities have more
            if not at.shape[0]:
                if active is None:
                    break
                active = None  # sums of communities have changed, for nodes that are no neighbours, too
                continue
            target = xp.where(alone, x[at], target)
            first = xp.full(n, n, np.int64)
            for ends in (x[at], target):
                xp.minimum.at(first, ends, at)
            moves = (first[x[at]] == at) & (first[target] == at)
            free = xp.flatnonzero(sums_by_label(x, xp.ones(n), n) == 0)
            number = xp.cumsum(moves & alone) - 1  # which of the free labels
            moves &= ~alone | (number < free.shape[0])
            movers, target, alone = at[moves], target[moves], alone[moves]
            target[alone] = free[number[moves][alone]]
            quality += 2 * float(gain[moves].sum()) / self.total
            changed = True
            if note(quality, int(movers.shape[0])):
                return *labels_in_order(x), changed, True
            x = x.copy()
            x[movers] = target
            # active = wants or B any.pair movers
            near = semiring.any_pair[BOOL](self.B @ Vector.from_coo(movers, True, size=n)).new()
            active = binary.any(Vector.from_coo(at, True, size=n) | near).new(name="active")
        return *labels_in_order(x), changed, False
