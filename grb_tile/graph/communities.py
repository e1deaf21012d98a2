"""Rounds in which the vertices of a graph move between communities, and what such rounds are made of.

    move_round    t(i) = argmax over c of  B S(i, c) - u(i) K(c),   x(i) = t(i)   for active vertices of a random half
    join_round    the same within given communities, for vertices that are alone; join_rounds: until none joins
    sums_by_label, labels_in_order, quotient, inside

B is a symmetric matrix, K(c) the sum of k over community c, S(i, x(i)) = 1.  Labels are arrays of the backend in use,
so that nothing is copied from a GPU.  The half that may move is drawn by hashes of (key, vertex), the same on every
backend.
References: Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community detection" (Parallel Computing
47, 2015), section 4; Traag, Waltman, van Eck, "From Louvain to Leiden" (Scientific Reports 9, 2019), algorithm A.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .. import binary, select, semiring
from ..backends.select import current
from ..core.arguments import flags
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import BOOL, FP64, INT64
from ..hashing import key_of
from ..storage.convert import keep_symmetric
from ..storage.store import BitmapVector, index_dtype
from .labels import best_move
from .operands import by_vertex, of_length


class Round(NamedTuple):
    """labels   after the round
    own      the sum of the entries B(i, j) with x(i) = x(j), renewed for the active vertices
    active   the vertices to look at in the next round (BOOL): those that want to move, and neighbours of one that moved
    within   [+_i own(i)], and squares: the sum of K(c)^2, before the round; NaN from a join_round
    wanting  how many vertices want to move, and moving: how many do
    """

    labels: Any
    own: Any
    active: Vector | None
    within: float
    squares: float
    wanting: int
    moving: int


def move_round(
    B: Matrix, x: Any, u: Any, k: Any, own: Any, active: Vector | None, key: int, *, follow: bool = True
) -> Round:
    """Active vertices of a random half go to the community of the greatest score, B S(i, c) - u(i) K(c), less own part.

    B        symmetric, CSR, FP64, without diagonal; the vote is `best_move` with K as v and k as w
    x        labels 0 .. n - 1, INT64; u, k, own: FP64, one for each vertex
    active   None: all; follow: are the next round's active vertices wanted?
    key      of hashing.key_of

    Raises: DimensionMismatch, IndexOutOfBound for numbers that are not of the vertices.
    Cost: O(n + the entries of active rows).  Source: Lu, Halappanavar, Kalyanaraman, section 4.
    """
    flags(follow=follow)
    n, backend = B.nrows, current()
    _check(n, x=x, u=u, k=k, own=own)
    found = backend.local_round(B._store, x, u, k, own, _store(active), key)
    if found is not NotImplemented:
        after, own, near, *numbers = found
        return Round(after, own, Vector._from_store(near), *numbers)
    K = sums_by_label(x, k, n)
    vote = best_move(B, vector_of(x), vector_of(u), vector_of(K), vector_of(k), rows=active)
    after, own, wants, moves, (within, squares, wanting, moving) = backend.move_half(
        x, K, [v._store for v in vote], _store(active), own, u, k, key
    )
    near = _next(B, wants, wanting, moves, moving) if follow else None
    return Round(after, own, near, within, squares, int(wanting), int(moving))


def join_round(
    B: Matrix, x: Any, y: Any, level: Sequence[Any], own: Any, active: Vector | None, key: int,
    entries_inside: Callable[[], Matrix],
) -> Round:  # fmt: skip
    """A round in which vertices that are alone join parts y of their communities x; the first vertex names a part.

    level: u, k, within, whole, joined, scale, as backends/graph.py's join_half has them, which this is, with the vote.
    entries_inside(): inside(B, x), called where it is needed.  B, own, active, key: as `move_round`.
    Raises, cost: as `move_round`.  Source: Traag, Waltman, van Eck, algorithm A.2.
    """
    n, backend = B.nrows, current()
    _check(n, x=x, u=level[0], k=level[1], own=own)
    if isinstance(y, np.ndarray):
        by_vertex(y, n, "y", 0, n - 1)
    E, (u, k) = entries_inside(), level[:2]
    K, size = sums_by_label(y, k, n), sums_by_label(y, backend.xp.ones(n), n)
    vote = best_move(E, vector_of(y), vector_of(u), vector_of(K), vector_of(k), rows=active)
    after, own, wants, moves, (wanting, moving) = backend.join_half(
        y, K, size, [v._store for v in vote], _store(active), own, level, key
    )
    return Round(after, own, _next(E, wants, wanting, moves, moving), np.nan, np.nan, int(wanting), int(moving))


def join_rounds(B: Matrix, x: Any, level: Sequence[Any], seed: int, first: int) -> tuple[Any, int]:
    """(parts of the communities x, how many rounds): join_round from parts of one vertex each until none wants to join.

    seed, first   the rounds have the keys key_of(seed, first + 1), key_of(seed, first + 2) ... of hashing
    B, level      as `join_round`

    Raises, source: as `join_round`.
    Cost: a pass over the entries, and in each round those of the vertices that it looks at.
    """
    n, backend = B.nrows, current()
    _check(n, x=x, u=level[0], k=level[1], within=level[2], whole=level[3])
    found = backend.join_rounds(B._store, x, level, seed, first)
    if found is not NotImplemented:
        return found
    y, own, active, rounds = backend.xp.arange(n), backend.xp.zeros(n), None, 0
    entries_inside = cache(lambda: inside(B, x))
    while True:
        rounds += 1
        done = join_round(B, x, y, level, own, active, key_of(seed, first + rounds), entries_inside)
        y, own, active = done.labels, done.own, done.active
        if not done.wanting:
            return y, rounds


def _store(active: Vector | None) -> Any:
    return None if active is None else active._store


def _next(B: Matrix, wants: Any, wanting: float, moves: Any, moving: float) -> Vector:
    """The vertices to be looked at: those that want to move, and those next to one that moves."""
    active = _positions(wants, int(wanting), B.nrows)
    if moving:
        # active = wants or B any.pair moves
        near = semiring.any_pair[BOOL](B @ _positions(moves, int(moving), B.nrows)).new()
        active = binary.any(active | near).new(name="active")
    return active


def _positions(words: Any, count: int, n: int) -> Vector:
    """The vector with an entry for each of the `count` bits."""
    true = current().array(np.ones(1, np.bool_))
    return Vector._from_store(BitmapVector(n, BOOL, words, true, count, True))


def _check(n: int, x: Any, **by_name: Any) -> None:
    """A compiled round would read and write beyond its arrays."""
    if isinstance(x, np.ndarray):
        by_vertex(x, n, "x", 0, n - 1)
    for name, numbers in by_name.items():
        of_length(numbers, n, name)


def vector_of(values: Any) -> Vector:
    """The full vector of an array of int64 or float64."""
    dtype = INT64 if values.dtype.kind == "i" else FP64
    return Vector._from_store(BitmapVector(values.shape[0], dtype, None, values, values.shape[0]))


def positions(v: Vector) -> Any:
    """The positions of a vector's entries, ascending, INT64."""
    return current().tuples(v._store)[0].astype(np.int64)


def entries(v: Vector) -> Any:
    """The values of a vector's entries by ascending position."""
    store = v._store
    plain = store.format == "sparse" or (store.words is None and store.nvals == store.size)
    return store.values if plain and not store.iso and not store.is_part else current().tuples(store)[1]


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


def array_namespace() -> Any:
    """The module of the arrays that labels are: NumPy, or CuPy where a GPU computes."""
    return current().xp


def symmetric_rows(A: Matrix) -> Matrix:
    """A, which is symmetric, as CSR and known to be: kernels of rows have none for a matrix that lists its rows."""
    if A._store.format != "csr":
        A = Matrix._from_store(current().convert(A._store, "csr"), name=A.name)
    keep_symmetric(A._store)
    return A


def inside(B: Matrix, x: Any) -> Matrix:
    """E(i, j) = B(i, j) where x(i) = x(j), for a symmetric B; CSR."""
    c = vector_of(x)
    X = semiring.any_first[INT64](c.diag() @ B).new(name="X")
    same = select.valueeq(binary.eq(X & c).new(), True).new(name="same")
    return symmetric_rows(binary.first(B & same).new(name="E"))


def quotient(B: Matrix, labels: Any, count: int, plus: str = "plus") -> Matrix:
    """C = S' B S over the monoid named `plus`, S(i, labels(i)) = 1: the `count` classes of equal labels as vertices."""
    n, backend = labels.shape[0], current()
    found = backend.quotient(B._store, backend.array(labels, np.int64), count, getattr(binary, plus)[B.dtype])
    if found is not NotImplemented:
        return Matrix._from_store(found, name="quotient")
    S = Matrix.from_coo(current().xp.arange(n), labels, True, nrows=n, ncols=count, name="S")
    # S' (B S) by (+).first and (+).second, which leave B's values as they are
    first, second = (getattr(semiring, f"{plus}_{op}")[B.dtype] for op in ("first", "second"))
    return second(S.T @ first(B @ S).new()).new(name="quotient")
