"""Random walks: from each start, one edge after another, each drawn from those that leave the vertex.

    walk(k, s + 1) = N(v)[floor(u d(v))],  v = walk(k, s),  u = random number (seed, k, s) in [0, 1)

The random numbers are a function of the seed, the walk and the step (a counter-based generator): the same seed gives
the same walks on every backend, and a walk does not depend on the other walks of the call.  Drawing an edge is no
semiring operation: on a GPU a kernel walks (gb.graph.random_walks); elsewhere, and with a callback, the edges are read
as CSR arrays and drawn in NumPy for all walks at once.

node2vec weighs an edge v -> x after t -> v by 1 / p where x = t, by 1 where t -> x is an edge, by 1 / q elsewhere.  An
edge is proposed by its weight and kept with probability bias / (largest bias), else another is proposed.  What 1 / p
exceeds the other biases by is drawn beforehand, as the edge back alone.  After as many proposals as v has edges, and no
more than 64, all edges of v are weighed instead and one is drawn, so that it ends for every p and q.  What was kept and
what is drawn have the same distribution, and so has their mixture.

Weighted edges are drawn by the running sum of the weights of their row alone, scaled by a power of two, so that the
weights of other rows do not matter.

Contract: G is not changed.  A walk ends at a vertex without out-edges, or weighted without an edge of positive weight:
-1 follows.  Edges of weight 0 are never taken.  Loops are edges like others.
References: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014) (SplitMix64); Grover and
Leskovec, "node2vec: scalable feature learning for networks" (KDD 2016); Yang et al., "KnightKing: a fast distributed
graph random walk engine" (SOSP 2019) (rejection, and the edge back apart).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Vector, graph
from grb_tile.graph.walks import fresh_seed

from . import arguments
from .given import GraphLike, Vertices
from .graph import room_for
from .report import Report
from .result import Result

if TYPE_CHECKING:
    from .graph import Graph
    from .report import Callback

PROPOSALS = 64  # the most of a step, as kernels/graph/random_walks.cuh
EDGES_TOGETHER = 1 << 22  # weighed in one piece, 60 bytes each
FEW = 64  # rows of which each is summed by a call of its own
NOTHING = -(1 << 20)  # the exponent of 0: below that of any number
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
    G: GraphLike,
    starts: Vertices,
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
    Cost: on a GPU one launch; else a few passes over arrays of a number for each walk and step; weighted: a binary
    search among the edges for each; p and q: the same for each proposal, at most 64 a step, and at most the degree
    before all edges are weighed.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import random_walks
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=4, ncols=4)
    >>> random_walks(A, [0, 3], 4, seed=1).walks.tolist()
    [[0, 1, 2, 0, 1], [3, -1, -1, -1, -1]]
    """
    arguments.flags(weighted=weighted)
    G = room_for(G, "random_walks", 24)
    first = arguments.node_array(starts, G, "starts")
    length = arguments.count(length, "length")
    p, q = (_positive(value, name) for value, name in ((p, "p"), (q, "q")))
    restart = arguments.fraction(restart, "restart")
    if seed is None:
        seed = fresh_seed()
    seed = arguments.count(seed, "seed")
    with Report("random_walks", callback, weighted=weighted) as report:
        walks = report.whole(
            graph.random_walks, G.A, first, length, seed=seed, weighted=weighted, p=p, q=q, restart=restart
        )
        report.finish("length", True)
        if walks is None:
            walks = _in_numpy(G, first, length, seed, weighted, p, q, restart, report)
        else:
            report.adopt(lambda: _records(walks))
    return WalksResult(walks, G.n, seed, report, vertices=G.labels)


def _records(walks: np.ndarray) -> list[dict[str, Any]]:
    """How many walks took each step, up to the first that none took."""
    rows = []
    for to in walks.T[1:]:
        rows.append({"walks": int(np.count_nonzero(to >= 0))})
        if not rows[-1]["walks"]:
            break
    return rows


def _in_numpy(
    G: Graph, first: np.ndarray, length: int, seed: int, weighted: bool, p: float, q: float, restart: float,
    report: Report,
) -> np.ndarray:  # fmt: skip
    """The walks, a step of all of them at a time."""
    edges = _Edges(G, weighted)
    at_step = np.full((length + 1, first.size), -1, np.int64)  # a row for each step: what is written together is close
    at_step[0] = first
    key = _mix(np.uint64(seed % 2**64) + np.arange(first.size, dtype=np.uint64) * GOLDEN)
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
    return np.ascontiguousarray(at_step.T)


class _Edges:
    """The CSR arrays of A, and the running sums of the weights of each row."""

    def __init__(self, G: Graph, weighted: bool) -> None:
        self.indptr, self.indices, weights = G.A.to_csr()
        self.indptr, self.indices = self.indptr.astype(np.int64), self.indices.astype(np.int64)
        self.n, self.degree = G.n, np.diff(self.indptr)
        self.keys: np.ndarray | None = None
        self.weights = self.sums = None
        if weighted:
            if weights.dtype.kind not in "biuf":
                raise TypeError(f"weighted=True: weights must be real, got {G.A.dtype.name}; take unary.abs(A) first")
            bad = np.nonzero(~((weights >= 0) & np.isfinite(weights)))[0]
            if bad.size:
                raise ValueError(
                    f"weighted=True: expected finite weights >= 0, got {weights[bad[0]]} for an edge to vertex "
                    f"{self.indices[bad[0]]}; pass weighted=False, or give other weights"
                )
            self.weights = weights.astype(np.float64)
            self.sums = _pairs(np.arange(self.n), self.degree, _running_sums(*_parts(self.weights), self.degree))

    def total(self, at: np.ndarray) -> np.ndarray:
        """The number of edges that leave each vertex, or the sum of their weights, scaled."""
        if self.sums is None:
            return self.degree[at]
        if not self.sums.size:
            return np.zeros(at.size)
        return np.where(self.degree[at] > 0, self.sums.imag[self.indptr[at + 1] - 1], 0.0)

    def draw(self, at: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The target of the edge that the number u in [0, 1) chooses among those that leave `at`."""
        if self.sums is None:
            return self.indices[self.indptr[at] + (u * self.degree[at]).astype(np.int64)]
        return self.indices[_chosen(self.sums, at, u * self.total(at))]

    def find(self, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(whether i -> j is an edge, its number where it is one)."""
        if self.keys is None:
            self.keys = _pairs(np.arange(self.n), self.degree, self.indices)
        wanted = i + 1j * j
        k = np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)
        return self.keys[k] == wanted, k

    def has(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Whether i -> j is an edge."""
        return self.find(i, j)[0]

    def share(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """The probability with which `draw` chooses the edge i -> j, 0 where there is none."""
        there, k = self.find(i, j)
        if self.sums is None:
            return there / self.degree[i]
        before = np.where(k > self.indptr[i], self.sums.imag[k - 1], 0.0)
        return np.where(there, (self.sums.imag[k] - before) / self.total(i), 0.0)


def _pairs(rows: np.ndarray, lengths: np.ndarray, values: np.ndarray) -> np.ndarray:
    """row + i value for each entry: NumPy orders complex numbers by the real part, then by the imaginary one."""
    found = np.empty(values.size, np.complex128)
    found.real, found.imag = np.repeat(rows, lengths), values
    return found


def _chosen(sums: np.ndarray, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The first entry of each row whose running sum exceeds `wanted`, which is below the row's last one.

    Its sum exceeds the one before it, too, so that its weight is not 0.
    """
    return np.searchsorted(sums, rows + 1j * wanted, side="right")


def _parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, e) with x = m 2^e, 1/2 <= m < 1, or m = 0 and e below that of any number."""
    m, e = np.frexp(x)
    return m, np.where(m > 0, e, NOTHING)


def _running_sums(m: np.ndarray, e: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Of the numbers m 2^e the running sum within each row, rows as long as `lengths` one behind the other.

    Each row is scaled by the power of two that brings its greatest number to 1/2 at least, so that no sum overflows.
    Numbers are added one by one, so that the sums ascend and stay where 0 is added.
    """
    if not m.size:
        return m
    ends = np.cumsum(lengths)
    starts = ends - lengths
    most = np.full(lengths.size, NOTHING, e.dtype)
    most[lengths > 0] = np.maximum.reduceat(e, starts[lengths > 0])
    sums = np.ldexp(m, e - np.repeat(most, lengths))
    rows = np.argsort(-lengths, kind="stable")
    longest = -lengths[rows]
    k = 1
    while (left := int(np.searchsorted(longest, -k))) > FEW:  # the k-th numbers of all rows that have one, together
        at = starts[rows[:left]] + k
        sums[at] += sums[at - 1]
        k += 1
    for row in rows[:left].tolist():
        part = sums[starts[row] + k - 1 : ends[row]]
        np.cumsum(part, out=part)
    return sums


def _second_order(
    edges: _Edges, key: np.ndarray, step: int, before: np.ndarray, at: np.ndarray, p: float, q: float
) -> np.ndarray:
    """node2vec's next vertex: propose by weight and keep with probability bias / (largest bias), or weigh all edges."""
    least = min(1.0, q)  # 1 / least is the largest bias but for that of the edge back
    kept_with = least / np.array([max(p, least), 1.0, q])
    if apart := p < least:
        excess = edges.share(at, before) * (least - p)
        back = excess / (p + excess)
    to = np.full(at.size, -1, np.int64)
    left = np.arange(at.size)
    more: list[np.ndarray] = []
    for attempt in range(1, PROPOSALS + 1):
        if apart:
            returns = _uniform(key[left], step, 2 * PROPOSALS + 1 + attempt) < back[left]
            to[left[returns]] = before[left[returns]]
            left = left[~returns]
        x = edges.draw(at[left], _uniform(key[left], step, 2 * attempt))
        kept = _uniform(key[left], step, 2 * attempt + 1) < kept_with[_kinds(edges, before[left], x)]
        to[left[kept]] = x[kept]
        left = left[~kept]
        over = edges.degree[at[left]] <= attempt
        more.append(left[over])
        left = left[~over]
        if not left.size:
            break
    late = np.concatenate([*more, left])
    ends = np.cumsum(edges.degree[at[late]])
    cuts = np.searchsorted(ends, np.arange(0, ends[-1] if late.size else 0, EDGES_TOGETHER), side="right")
    for part in np.split(late, cuts[1:]):
        if part.size:
            to[part] = _weighed(edges, _uniform(key[part], step, 0), before[part], at[part], p, q)
    return to


def _kinds(edges: _Edges, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """0 where x = t (the bias is 1 / p), 1 where t -> x is an edge (1), 2 elsewhere (1 / q)."""
    return np.where(x == t, 0, np.where(edges.has(t, x), 1, 2))


def _weighed(edges: _Edges, u: np.ndarray, t: np.ndarray, at: np.ndarray, p: float, q: float) -> np.ndarray:
    """The target that u chooses among the edges that leave `at`, by weight and bias."""
    lengths = edges.degree[at]
    ends = np.cumsum(lengths)
    rows = np.arange(at.size)
    e = np.arange(ends[-1]) + np.repeat(edges.indptr[at] - (ends - lengths), lengths)
    x = edges.indices[e]
    kinds = _kinds(edges, np.repeat(t, lengths), x)
    # weight * bias as parts, which the products of extreme numbers would leave: 1 / p = (1 / m) 2^-e
    m, power = _parts(np.array([p, 1.0, q]))
    weight, of_weight = _parts(np.ones(e.size) if edges.weights is None else edges.weights[e])
    sums = _running_sums(weight / m[kinds], of_weight - power[kinds], lengths)
    return x[_chosen(_pairs(rows, lengths, sums), rows, u * sums[ends - 1])]


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
