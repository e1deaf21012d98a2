"""Rounds of local moves between communities, on the arrays of the backend in use: nothing is copied from a GPU.

    move    t(i) = argmax over c of  B S(i, c) - gamma k(i) K(c) / 2m,   x(i) = t(i)   for the nodes of a random half
    join    the same within given communities, for nodes that are alone
    settle  the same for nodes of different communities that go to different ones, until no node gains

B is a symmetric matrix, k its row sums, K(c) the sum of k over community c, 2m the sum of k, S(i, x(i)) = 1.  A round
is rowwise.best_move for the nodes whose neighbours have moved, and sums by label.  The half that may move is drawn by
hashes of (seed, round, node), so that it is the same on every backend.

algorithms/louvain.py and algorithms/leiden.py are made of them.  Arrays are NumPy's, or the device's.
References: Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks" (J. Stat. Mech.
2008); Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community detection" (Parallel Computing 47,
2015), section 4; Traag, Waltman, van Eck, "From Louvain to Leiden" (Scientific Reports 9, 2019), algorithm A.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import binary, monoid, rowwise, select, semiring, sequential
from .backends.select import current
from .core.matrix import Matrix
from .core.vector import Vector
from .dtypes import BOOL, FP64, INT64
from .hashing import key_of, mixed_by
from .operations import checks
from .storage.convert import keep_symmetric
from .storage.store import BitmapVector, index_dtype

__all__ = [
    "RandomHalves",
    "LocalMoves",
    "dense",
    "entries",
    "inside",
    "labels_in_order",
    "nodes",
    "quotient",
    "sums_by_label",
    "vector_of",
]

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
        self.B = all_rows(select.offdiag(B).new(name="B") if loops.nvals else B)
        keep_symmetric(self.B._store)
        self.gamma = gamma
        self.u = self.k * (gamma / self.total if self.total else 0.0)
        self.vectors = vector_of(self.u), vector_of(self.k)
        self._values: np.ndarray | None = None  # those of B, as compiled rounds take them

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
        backend, n = current(), self.n
        x = backend.xp.arange(n) if start is None else start
        own = backend.xp.zeros(n)
        active: Any = None  # nodes to be looked at: a neighbour has moved, or they wait for their turn; None: all
        best, kept, since, first = -np.inf, x, 0, None
        few = self.B.nvals <= FEW_ENTRIES
        while True:
            if not self.total:
                return *labels_in_order(x), 0.0, False
            # the nodes of a random half move
            key = self.halves.next_round()
            looked_at = self._flags(active, x)
            whole = None
            if looked_at is not None:
                whole = local_round(
                    self.B, self._values, x, self.u, self.k, self._stays(key, looked_at), looked_at, own
                )
            if whole is not None:
                after, near, within, squares, wanting, moving = whole
            else:
                active = self._vector(active)
                K = sums_by_label(x, self.k, n)
                found = [v._store for v in self.best(self.B, x, K, active)]
                chosen = None if active is None else active._store
                after, own, wants, moves, numbers = backend.move_half(x, K, found, chosen, own, self.u, self.k, key)
                within, squares, wanting, moving = numbers
            quality = self.modularity(within, squares)
            first = quality if first is None else first
            since = 0 if quality > best + max(tol, SMALL_SHARE * (best - first)) else since + 1
            if quality > best + ROUNDING:
                best, kept = quality, x
            if since >= ROUNDS_WITHOUT_GAIN or not wanting:
                return *labels_in_order(kept), best, False
            if note(best, int(moving)):
                return *labels_in_order(kept), best, True
            x = after
            if not few:
                active = near if whole is not None else self._next(self.B, wants, wanting, moves, moving)

    def _stays(self, key: int, active: np.ndarray) -> np.ndarray:
        """0 for active nodes of the half that moves in the round of that key: backends/loops.py's move_half."""
        at = np.flatnonzero(active)
        stays = np.zeros(self.n, np.int64)
        stays[at] = mixed_by(at.astype(np.uint64), key) >> np.uint64(63)
        return stays

    def _flags(self, active: Any, x: Any) -> np.ndarray | None:
        """Active nodes as compiled rounds take them, 1 or 0 for each; None for arrays of a device."""
        if not isinstance(x, np.ndarray):
            return None
        if self._values is None:
            self._values = values_of(self.B)
        if self._values is None:
            return None
        if active is None:
            return np.ones(self.n, np.int64)
        return dense(active).astype(np.int64) if isinstance(active, Vector) else active

    def _vector(self, active: Any) -> Vector | None:
        """Active nodes as rowwise.best_move takes them."""
        if isinstance(active, np.ndarray):
            return Vector.from_coo(np.flatnonzero(active), True, size=self.n, name="active")
        return active

    def best(self, B: Matrix, x: Any, K: Any, active: Vector | None) -> tuple[Vector, Vector, Vector]:
        """rowwise.best_move of the active nodes, along the edges of B."""
        u, k = self.vectors
        return rowwise.best_move(B, vector_of(x), u, vector_of(K), k, rows=active)

    def join(self, communities: Any) -> tuple[Any, int]:
        """(parts 0 .. count - 1 of the communities, count): nodes that are alone join the best part, until none gains.

        Parts are connected: a node joins by an edge, and a part that is joined does not move in that round.
        """
        xp, n = current().xp, self.n
        # within(i) = [+_j B(i, j) over x(j) = x(i)],  whole(i): the sum of the degrees of i's community
        within = dense(rowwise.sum_of_own(self.B, vector_of(communities)))
        whole = sums_by_label(communities, self.k, n)[communities]
        scale = self.gamma / self.total if self.total else 0.0
        joined = within >= scale * self.k * (whole - self.k)  # nodes that are well connected to their community
        level = self.u, self.k, within, whole, joined, scale
        y, ones, own = xp.arange(n), xp.ones(n), xp.zeros(n)
        E: Matrix | None = None  # the entries within communities
        active: Any = None
        while self.total:
            key = self.halves.next_round()
            looked_at = self._flags(active, y)
            whole_round = None
            if looked_at is not None:
                whole_round = join_round(
                    self.B, self._values, communities, y, level, self._stays(key, looked_at), looked_at, own
                )  # fmt: skip
            if whole_round is not None:
                y, active, wanting = whole_round
            else:
                if E is None:
                    E = inside(self.B, communities)
                    keep_symmetric(E._store)
                active = self._vector(active)
                K, size = sums_by_label(y, self.k, n), sums_by_label(y, ones, n)
                found = [v._store for v in self.best(E, y, K, active)]
                chosen = None if active is None else active._store
                y, own, wants, moves, (wanting, moving) = current().join_half(
                    y, K, size, found, chosen, own, level, key
                )  # fmt: skip
                active = self._next(E, wants, wanting, moves, moving)
            if not wanting:
                break
        return labels_in_order(y)

    def settle(self, tol: float, note: Callable[[float, int], Any], x: Any) -> tuple[Any, int, bool, bool]:
        """(communities, count, did any node move?, did `note` stop it?): from x, moves until none gains more than tol.

        A node goes to the community of greatest gain, or, where it loses by staying, to one of its own.  Of the nodes
        that leave or join a community only the first moves in a round.  No community is then touched twice, so that
        gains add up and each round raises the modularity.  The last round looks at all nodes.
        """
        xp, n, changed, quality = current().xp, self.n, False, 0.0
        least = max(tol, ROUNDING) * self.total / 2  # a gain of modularity in the unit of scores
        active: Vector | None = None
        while self.total:
            K = sums_by_label(x, self.k, n)
            target, gain, kept = (entries(v) for v in self.best(self.B, x, K, active))
            if active is None:
                at = xp.arange(n)
                own = kept + self.u * (K[x] - self.k)
                expected, quality = quality, self.modularity(float(own.sum()), float((K * K).sum()))
                checks.symmetric("local moves", not changed or abs(quality - expected) < 1e-6)  # else gains are wrong
            else:
                at = current().tuples(active._store)[0].astype(np.int64)
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

    def _next(self, B: Matrix, wants: Any, wanting: float, moves: Any, moving: float) -> Vector:
        """The nodes to be looked at: those that want to move, and those next to one that moves."""
        active = _positions(wants, int(wanting), self.n)
        if moving:
            # active = wants or B any.pair moves
            near = semiring.any_pair[BOOL](B @ _positions(moves, int(moving), self.n)).new()
            active = binary.any(active | near).new(name="active")
        return active


def local_round(
    B: Matrix,
    values: np.ndarray,
    x: np.ndarray,
    u: np.ndarray,
    k: np.ndarray,
    stays: np.ndarray,
    active: np.ndarray,
    own: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float, float, int, int] | None:
    """(labels after a round of local moves, 1 for each vertex to look at in the next, [+_i own(i)], the sum of K^2, how
    many want to move, do).

    B symmetric, FP64, without diagonal, values: values_of(B); x labels 0 .. n - 1, INT64; u, k FP64.
    active: 0 where a vertex is not looked at, stays: 0 where an active one may move, INT64.  own: the sum of B(i, j)
    with x(i) = x(j), renewed in place for active vertices.
    The vote is rowwise.best_move's with K(c) = [+_i k(i) over x(i) = c] as v.
    Raises: DimensionMismatch, IndexOutOfBound for numbers that are not of the vertices.
    Cost: O(n + the entries of active rows).  Source: Lu, Halappanavar, Kalyanaraman (Parallel Computing 47, 2015).
    """
    n = B.nrows
    _check_round(n, x=x, u=u, k=k, stays=stays, active=active, own=own)
    after, near, K, total, sums = np.empty(n, np.int64), np.zeros(n, np.int64), np.zeros(n), np.zeros(n), np.empty(3)
    work = after, near, K, total, np.empty(n, np.int64), sums
    moving = sequential._run("local_round", [B], values, x, u, k, stays, active, own, *work)
    return None if moving is None else (after, near, *sums[:2].tolist(), int(sums[2]), moving)


def join_round(
    B: Matrix,
    values: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    level: Sequence[Any],
    stays: np.ndarray,
    active: np.ndarray,
    own: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """(parts after a round in which vertices join parts of communities, 1 for each to look at next, how many want to).

    x: communities, y: their parts, each named by its first vertex, INT64.  level: u, k, within, whole, joined, scale,
    as backends/loops.py's join_half has them, which this is, with the vote.  B, values, stays, active, own: as
    local_round.
    Raises, cost: as local_round.  Source: Traag, Waltman, van Eck (Scientific Reports 9, 2019), algorithm A.2.
    """
    n = B.nrows
    *given, joined, scale = level
    _check_round(n, x=x, u=given[0], k=given[1], stays=stays, active=active, own=own)
    sequential._by_vertex(y, n, "y", 0, n - 1)
    after = np.empty(n, np.int64)
    near, asks, size = np.zeros((3, n), np.int64)
    work = after, near, asks, size, *np.zeros((3, n)), *np.empty((2, n), np.int64)
    given += joined.astype(np.int64), float(scale)
    wanting = sequential._run("join_round", [B], values, x, y, *given, stays, active, own, *work)
    return None if wanting is None else (after, near, wanting)


def values_of(B: Matrix) -> np.ndarray | None:
    """The values of the entries, one each, as rounds take them; None for a hypersparse matrix, which they do not."""
    store = B._store
    if store.format != "csr":
        return None
    return np.full(store.nvals, store.values[0]) if store.iso else store.values


def _check_round(n: int, x: np.ndarray, **by_vertex: np.ndarray) -> None:
    """A compiled round would read and write beyond its arrays."""
    sequential._by_vertex(x, n, "x", 0, n - 1)
    for name, numbers in by_vertex.items():
        sequential._length(numbers, n, name)


def vector_of(values: Any) -> Vector:
    """The full vector of an array of int64 or float64."""
    dtype = INT64 if values.dtype.kind == "i" else FP64
    return Vector._from_store(BitmapVector(values.shape[0], dtype, None, values, values.shape[0]))


def entries(v: Vector) -> Any:
    """The values of a vector's entries by ascending position."""
    store = v._store
    plain = store.format == "sparse" or (store.words is None and store.nvals == store.size)
    return store.values if plain and not store.iso else current().tuples(store)[1]


def _positions(words: Any, count: int, n: int) -> Vector:
    """The vector with an entry for each of the `count` bits."""
    true = current().array(np.ones(1, np.bool_))
    return Vector._from_store(BitmapVector(n, BOOL, words, true, count, True))


def nodes(count: int) -> Any:
    """0 .. count - 1."""
    return current().xp.arange(count)


def dense(v: Vector) -> Any:
    """The values of a vector by position, 0 where it has no entry."""
    values = current().xp.zeros(v.size, v.dtype.np_type)
    at, found = current().tuples(v._store)
    values[at] = found
    return values


def sums_by_label(labels: Any, values: Any, size: int) -> Any:
    """t(c) = [+_k values(k) over labels(k) = c]; FP64."""
    return current().sum_by_label(labels, values, size)


def labels_in_order(labels: Any) -> tuple[Any, int]:
    """(the labels, each 0 .. n - 1, as numbers 0, 1, 2 ... in the order of their first nodes; how many)."""
    xp, n = current().xp, labels.shape[0]
    if not n:
        return labels, 0
    labels = current().array(labels)
    nodes = xp.arange(n, dtype=index_dtype(n))
    first = xp.full(n, n, nodes.dtype)
    xp.minimum.at(first, labels, nodes)
    head = first[labels]  # the first node of each node's label
    number = xp.cumsum(head == nodes) - 1
    return number[head], int(number[-1]) + 1


def all_rows(A: Matrix) -> Matrix:
    """A as CSR: kernels of rows have none for a matrix that lists its rows, as one of few entries does."""
    return A if A._store.format == "csr" else Matrix._from_store(current().convert(A._store, "csr"), name=A.name)


def inside(B: Matrix, x: Any) -> Matrix:
    """E(i, j) = B(i, j) where x(i) = x(j); CSR."""
    c = vector_of(x)
    X = semiring.any_first[INT64](c.diag() @ B).new(name="X")
    same = select.valueeq(binary.eq(X & c).new(), True).new(name="same")
    return all_rows(binary.first(B & same).new(name="E"))


def quotient(B: Matrix, labels: Any, count: int) -> Matrix:
    """C = S' B S, S(i, labels(i)) = 1: the `count` classes of equal labels as nodes, weights added."""
    n = labels.shape[0]
    S = Matrix.from_coo(current().xp.arange(n), labels, True, nrows=n, ncols=count, name="S")
    first, second = semiring.plus_first[B.dtype], semiring.plus_second[B.dtype]
    # S' (B S) by plus.first and plus.second, which leave B's values as they are
    return second(S.T @ first(B @ S).new()).new(name="quotient")
