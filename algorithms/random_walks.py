"""Random walks: from each start, one edge after another, each drawn from those that leave the vertex.

    walk(k, s + 1) = N(v)[floor(u d(v))],  v = walk(k, s),  u = random number (seed, k, s) in [0, 1)

The random numbers are a function of the seed, the walk and the step (a counter-based generator): the same seed gives
the same walks on every backend, and each walk is the same whatever other walks are made beside it.  The edges are
read as CSR arrays and drawn in NumPy for all walks at once, because drawing an edge is no semiring operation.

node2vec weighs an edge v -> x after t -> v by 1 / p where x = t, by 1 where t -> x is an edge, by 1 / q elsewhere.  An
edge is proposed by its weight and kept with probability bias / (largest bias), else another is proposed.

Contract: G is not changed.  A walk ends at a vertex without out-edges: -1 follows.  Loops are edges like others.
References: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014) (SplitMix64); Grover and
Leskovec, "node2vec: scalable feature learning for networks" (KDD 2016); Yang et al., "KnightKing: a fast distributed
graph random walk engine" (SOSP 2019) (rejection).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Matrix, Vector

from . import arguments
from .graph import as_graph
from .report import Report
from .result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import Graph
    from .report import Callback

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, SplitMix64's increment


@dataclass(frozen=True)
class WalksResult(Result):
    """walks (INT64 array, a row for each start, length + 1 columns, -1 behind an end), seed, report.

    `values`, and so to_dict and top, are the numbers of visits by vertex; `paths()` gives the labels of each walk.
    """

    walks: np.ndarray
    n: int
    seed: int
    report: Report

    @property
    def values(self) -> Vector:
        """INT64: how many times each vertex is visited; absent where it is not."""
        at, visits = np.unique(self.walks[self.walks >= 0], return_counts=True)
        return Vector.from_coo(at, visits.astype(np.int64), size=self.n, name="visits")

    def paths(self) -> list[list[Any]]:
        """The labels of the vertices of each walk."""
        return [self._labels(walk[walk >= 0]) for walk in self.walks]

    def to_pandas(self) -> Any:
        """A DataFrame with the columns walk, step and vertex (label)."""
        import pandas

        k, s = np.nonzero(self.walks >= 0)
        return pandas.DataFrame({"walk": k, "step": s, "vertex": self._labels(self.walks[k, s])})


def random_walks(
    G: Graph | Matrix,
    starts: Sequence[int],
    length: int,
    *,
    weighted: bool = False,
    p: float = 1.0,
    q: float = 1.0,
    restart: float = 0.0,
    seed: int | None = None,
    callback: Callback | None = None,
) -> WalksResult:
    """walk(k, s + 1) = an out-neighbour of walk(k, s), drawn at random; walk(k, 0) = starts[k].

    starts     where each walk starts; a vertex may occur several times
    length     the number of edges of each walk
    weighted   an edge is drawn in proportion to its weight (>= 0) rather than equally
    p, q       node2vec: > 0; p small: back to where it came from, q small: away from there
    restart    the probability with which a step leads back to the start instead, 0 <= restart < 1
    seed       an int >= 0: the same seed gives the same walks; None: drawn, and kept in the result
    callback   called with the record of each step; something true stops there (-1 follows)

    Raises: IndexError, TypeError, ValueError for the arguments; ValueError for a weight that is negative, NaN or
    infinite.
    Cost: a few passes over arrays of a number for each walk and step; p and q: as many as the largest number of
    proposals, and a binary search among the edges for each.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import random_walks
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=4, ncols=4)
    >>> random_walks(A, [0, 3], 4, seed=1).walks.tolist()
    [[0, 1, 2, 0, 1], [3, -1, -1, -1, -1]]
    """
    arguments.flags(weighted=weighted)
    G = as_graph(G)
    first = np.array(arguments.nodes(starts, G.n, "starts"), np.int64)
    length = arguments.count(length, "length")
    p, q = (_positive(value, name) for value, name in ((p, "p"), (q, "q")))
    restart = arguments.fraction(restart, "restart")
    if seed is None:
        seed = int(np.random.default_rng().integers(2**63))
    seed = arguments.count(seed, "seed")
    edges = _Edges(G, weighted)
    at_step = np.full((length + 1, first.size), -1, np.int64)  # a row for each step: what is written together is close
    at_step[0] = first
    key = _mix(np.uint64(seed % 2**64) + np.arange(first.size, dtype=np.uint64) * GOLDEN)
    with Report("random_walks", callback) as report:
        report.finish("length", True)
        alive = np.arange(first.size)
        for step in range(length):
            at = at_step[step, alive]
            on = edges.total(at) > 0
            if not on.all():
                alive, at, key = alive[on], at[on], key[on]
            if step and (p != 1 or q != 1):
                to = _second_order(edges, key, step, at_step[step - 1, alive], at, p, q)
            else:
                to = edges.draw(at, _uniform(key, step, 0))
            if restart:
                back = _uniform(key, step, 1) < restart
                to = np.where(back, first[alive], to)
            at_step[step + 1, alive] = to
            if report.note(walks=alive.size) or not alive.size:
                break
    return WalksResult(np.ascontiguousarray(at_step.T), G.n, seed, report, vertices=G.labels)


class _Edges:
    """The CSR arrays of A, and the running sums of its weights."""

    def __init__(self, G: Graph, weighted: bool) -> None:
        self.indptr, self.indices, weights = G.A.to_csr()
        self.indptr, self.indices = self.indptr.astype(np.int64), self.indices.astype(np.int64)
        self.n, self.degree = G.n, np.diff(self.indptr)
        self.keys: np.ndarray | None = None
        self.sums = None
        if weighted:
            if weights.dtype.kind not in "biuf":
                raise TypeError(f"weighted=True: weights must be real, got {G.A.dtype.name}; take unary.abs(A) first")
            bad = np.nonzero(~((weights >= 0) & np.isfinite(weights)))[0]
            if bad.size:
                raise ValueError(
                    f"weighted=True: expected finite weights >= 0, got {weights[bad[0]]} for an edge to vertex "
                    f"{self.indices[bad[0]]}; pass weighted=False, or give other weights"
                )
            self.sums = np.concatenate([[0.0], np.cumsum(weights.astype(np.float64))])

    def total(self, at: np.ndarray) -> np.ndarray:
        """The number of edges that leave each vertex, or the sum of their weights."""
        if self.sums is None:
            return self.degree[at]
        return self.sums[self.indptr[at + 1]] - self.sums[self.indptr[at]]

    def draw(self, at: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The target of the edge that the number u in [0, 1) chooses among those that leave `at`."""
        first = self.indptr[at]
        if self.sums is None:
            return self.indices[first + (u * self.degree[at]).astype(np.int64)]
        wanted = self.sums[first] + u * self.total(at)
        k = np.searchsorted(self.sums, wanted, side="right") - 1
        return self.indices[np.clip(k, first, self.indptr[at + 1] - 1)]

    def has(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Whether i -> j is an edge."""
        if self.keys is None:
            self.keys = np.repeat(np.arange(self.n), self.degree) * self.n + self.indices
        wanted = i * self.n + j
        k = np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)
        return self.keys[k] == wanted


def _second_order(
    edges: _Edges, key: np.ndarray, step: int, before: np.ndarray, at: np.ndarray, p: float, q: float
) -> np.ndarray:
    """node2vec's next vertex by rejection: propose by weight, keep with probability bias / (largest bias)."""
    largest = max(1 / p, 1.0, 1 / q)
    to = np.full(at.size, -1, np.int64)
    left = np.arange(at.size)
    attempt = 1
    while left.size:
        x = edges.draw(at[left], _uniform(key[left], step, 2 * attempt))
        t = before[left]
        bias = np.where(x == t, 1 / p, np.where(edges.has(t, x), 1.0, 1 / q))
        kept = _uniform(key[left], step, 2 * attempt + 1) * largest < bias
        to[left[kept]] = x[kept]
        left = left[~kept]
        attempt += 1
    return to


def _mix(x: np.ndarray) -> np.ndarray:
    """SplitMix64's output function."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _uniform(key: np.ndarray, step: int, draw: int) -> np.ndarray:
    """A number in [0, 1) for each walk's key, this step and this draw."""
    counter = np.uint64((draw << 40 | step + 1) * int(GOLDEN) % 2**64)
    return (_mix(key + counter) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _positive(value: Any, name: str) -> float:
    number = arguments.real(value, name)
    if number <= 0:
        raise ValueError(f"{name}: expected a number above 0, got {value!r}")
    return number
