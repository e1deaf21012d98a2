"""Rounds in which the vertices of a graph move between communities.

    move_rounds   t(i) = argmax over c of  B S(i, c) - u(i) K(c),   x(i) = t(i)   for vertices that are looked at
    join_rounds   the same within given communities, for vertices that are alone
    settle        the same for vertices of different communities that go to different ones, until none gains

B is a symmetric matrix, K(c) the sum of k over community c, S(i, x(i)) = 1.  Labels are arrays of the backend in use.
Those that may move are drawn by hashes of (key, vertex), the same on every backend.  A backend may have each loop
whole; the compositions below give the same labels.
References: Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community detection" (Parallel Computing
47, 2015), section 4; Traag, Waltman, van Eck, "From Louvain to Leiden" (Scientific Reports 9, 2019), algorithm A.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import binary, semiring
from ..backends.select import current
from ..community_rounds import FEW_JOIN, Measure, Progress
from ..core.arguments import flags
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import BOOL
from ..hashing import key_of
from .communities import array_namespace, dense, entries, inside, positions, sums_by_label, vector_of
from .labels import votes
from .operands import by_vertex, of_length

__all__ = ["Measure", "join_rounds", "move_rounds", "settle"]


def move_rounds(
    B: Matrix, x: Any, u: Any, k: Any, rule: tuple[Measure, float, float], seed: int, first: int, *, each: bool = False
) -> Iterator[tuple[Any, float, list[tuple[float, int]]]]:
    """Rounds of moves until the modularity stays: yields (the best labels, their modularity, records) once or more.

    In a round the vertices looked at go to the community of the greatest score, B S(i, c) - u(i) K(c) less the own
    part, but for one in eight (community_rounds.py).

    B        symmetric, CSR, FP64, without diagonal; the vote is `best_move` with K as v and k as w
    x        labels 0 .. n - 1, INT64; None: each vertex its own; u, k: FP64, one for each vertex
    rule     (Measure, the least clear gain of modularity, the share of the gain so far that is a clear one)
    seed, first   the rounds have the keys key_of(seed, first + 1), key_of(seed, first + 2) ... of hashing
    each     yield after each round; a record: (the best modularity so far, how many moved)

    Raises: DimensionMismatch, IndexOutOfBound for numbers that are not of the vertices.
    Cost of a round: the entries of the vertices looked at, which is all in the first.
    Source: Lu, Halappanavar, Kalyanaraman, section 4.
    """
    n, backend = B.nrows, current()
    flags(each=each)
    _check(n, x, u=u, k=k)
    found = backend.move_rounds(B._store, x, u, k, rule, seed, first, each)
    if found is not NotImplemented:
        return found
    return _composed_moves(B, np.arange(n) if x is None else x, u, k, rule, seed, first)


def _composed_moves(B: Matrix, x: Any, u: Any, k: Any, rule: Any, seed: int, first: int) -> Any:
    n, backend = B.nrows, current()
    (measure, *shares), kept = rule, x
    K, slack, used, within = sums_by_label(x, k, n), np.zeros(n), np.zeros(n), 0.0
    at, progress = None, None
    while True:
        best, gain, own = _vote(B, x, u, K, k, at)
        if progress is None:
            at = np.arange(n)
            within = float((own + u * (K[x] - k)).sum())
            progress = Progress(measure.modularity(within, float((K * K).sum())), *shares)
        first += 1
        x, K, slack, used, near, change, wanting, moving = backend.move_half(
            B._store, x, K, at, (best, gain), slack, used, k, key_of(seed, first)
        )
        if not wanting:
            yield kept, progress.best, []
            return
        within, at = within + change, np.flatnonzero(near)
        if progress.better(measure.modularity(within, float((K * K).sum()))):
            kept = x
        yield kept, progress.best, [(progress.best, moving)]
        if progress.ends or not at.size:
            return


def _vote(B: Matrix, x: Any, u: Any, v: Any, w: Any, at: Any) -> tuple[Any, Any, Any]:
    """Arrays of best, gain, kept of `votes` for the vertices `at`; None: all."""
    rows = None if at is None else Vector.from_coo(at, True, size=B.nrows)
    best, gain, kept = (entries(found) for found in votes(B, *map(vector_of, (x, u, v, w)), rows=rows))
    return best, gain, kept


def join_rounds(B: Matrix, x: Any, k: Any, scale: float, seed: int, first: int) -> tuple[Any, int]:
    """(parts of the communities x, how many rounds): from parts of one vertex each, until few want to join another.

    In a round vertices that are alone in their part join an open one of their community: join_half of
    backends/graph.py, with u = scale k.  The first vertex of a part names it.
    B, x, k, seed, first: as `move_rounds`.

    Raises: as `move_rounds`.  Source: Traag, Waltman, van Eck, algorithm A.2.
    Cost: a pass over the entries, and in each round those of the vertices that it looks at.
    """
    n, backend = B.nrows, current()
    _check(n, x=x, k=k)
    found = backend.join_rounds(B._store, x, k, scale, seed, first)
    if found is not NotImplemented:
        return found
    E = inside(B, x)
    within = dense(E.reduce_rowwise("plus").new())
    whole, u = sums_by_label(x, k, n)[x], scale * k
    level = u, k, within, whole, within >= scale * k * (whole - k), scale
    y, sums, at, few, rounds = np.arange(n), (k, np.ones(n), within), None, 0.0, 0
    while True:
        rounds += 1
        best, gain, _ = _vote(E, y, u, sums[0], k, at)
        y, sums, near, wanting, _ = backend.join_half(
            E._store,
            y,
            sums,
            np.arange(n) if at is None else at,
            (best, gain),
            level,
            key_of(seed, first + rounds),
            few,
        )
        if at is None and wanting:
            few = FEW_JOIN * wanting
        if wanting <= few:
            return y, rounds
        at = np.flatnonzero(near)


def settle(
    B: Matrix, x: Any, u: Any, k: Any, rule: tuple[Measure, float, float, Any], *, each: bool = False
) -> Iterator[tuple[Any, list[tuple[float, int]]]]:
    """Rounds of single moves from labels x, until no vertex gains: yields (labels, records) once or more.

    A vertex goes to the community of the greatest score, or to one of its own; of those that leave or join a community
    only the first moves in a round, so that gains add up.  The last round looks at all vertices.
    rule   (Measure, the least gain in the unit of scores, the greatest modularity that there can be, a function of
           whether a modularity is what it should be, which raises where it is not)
    B, x, u, k, each: as `move_rounds`; a record: (the modularity after the round, how many moved)

    Raises: as `move_rounds`; InvalidValue where gains are not what they should be: B is not symmetric.
    """
    flags(each=each)
    _check(B.nrows, x=x, u=u, k=k)
    found = current().settle(B._store, x, u, k, rule, each)
    return _composed_settling(B, x, u, k, rule) if found is NotImplemented else found


def _composed_settling(B: Matrix, x: Any, u: Any, k: Any, rule: Any) -> Any:
    xp, n, changed, quality = array_namespace(), B.nrows, False, 0.0
    (measure, least, greatest, confirm), active = rule, None
    while True:
        K = sums_by_label(x, k, n)
        vote = votes(B, vector_of(x), vector_of(u), vector_of(K), vector_of(k), rows=active)
        target, gain, kept = (entries(v) for v in vote)
        if active is None:
            at = xp.arange(n)
            own = kept + u * (K[x] - k)
            expected, quality = quality, measure.modularity(float(own.sum()), float((K * K).sum()))
            confirm(not changed or abs(quality - expected) < 1e-6)  # else gains are wrong
        else:
            at = positions(active)
        alone = gain < -kept  # the score of a community of its own is 0
        gain = xp.where(alone, -kept, gain)
        wants = gain > least
        at, target, gain, alone = at[wants], target[wants], gain[wants], alone[wants]
        confirm(quality <= greatest)  # no communities have more
        if not at.shape[0]:
            if active is None:
                yield x, []
                return
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
        quality += 2 * float(gain[moves].sum()) / measure.total
        changed = True
        x = x.copy()
        x[movers] = target
        yield x, [(quality, int(movers.shape[0]))]
        # active = wants or B any.pair movers
        near = semiring.any_pair[BOOL](B @ Vector.from_coo(movers, True, size=n)).new()
        active = binary.any(Vector.from_coo(at, True, size=n) | near).new(name="active")


def _check(n: int, x: Any, **by_name: Any) -> None:
    """A compiled round would read and write beyond its arrays."""
    if isinstance(x, np.ndarray):
        by_vertex(x, n, "x", 0, n - 1)
    for name, numbers in by_name.items():
        of_length(numbers, n, name)
