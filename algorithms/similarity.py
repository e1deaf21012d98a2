"""Similarity of two vertices by the neighbours that they share.

    B<P,s> = A plus.pair A'        P the pairs that are asked for: |N(u) & N(v)|

    common_neighbors       B                          jaccard    B / |N(u) | N(v)|
    cosine                 B / sqrt(d(u) d(v))        overlap    B / min(d(u), d(v))
    sorensen               2 B / (d(u) + d(v))
    adamic_adar            sum over w in N(u) & N(v) of 1 / log d(w):  B<P,s> = A plus.second W', W = A diag(1 / log d)
    resource_allocation    the same with W = A diag(1 / d)

Contract: G is not changed.  N(u) are the vertices that edges lead to from u, d their number; u and v themselves are no
common neighbours, whatever loops there are.  d(w) counts the edges that lead to w, a loop of an undirected graph twice.
Values are not read.  0 / 0 is 0.
Agrees with networkx common_neighbors, jaccard_coefficient, adamic_adar_index and resource_allocation_index.
References: Liben-Nowell and Kleinberg, "The link-prediction problem for social networks" (2007), section 3; Zhou, Lu,
Zhang, "Predicting missing links via local information" (Eur. Phys. J. B 71, 2009).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, semiring, unary

from . import arguments
from .given import GraphLike, Pairs
from .graph import room_for
from .pattern import loopless
from .report import Report
from .result import EdgeResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from .graph import Graph

    Formula = Callable[["_Counts"], Matrix]

FP64 = dtypes.FP64
BATCH = 1024  # rows whose pairs are scored at a time with topk


def common_neighbors(G: GraphLike, pairs: Pairs | None = None, *, topk: int | None = None) -> EdgeResult:
    """s(u, v) = |N(u) & N(v)|.

    pairs   the pairs to score: a sequence of (u, v), a table with two columns of vertices, the structure of a Matrix;
            None: all that share a neighbour
    topk    with pairs=None: for each vertex the topk most similar ones only, equal ones by their number

    Shapes: A and values n x n; values has an entry for each pair, 0 where nothing is shared.  Types: any A; FP64.
    Raises: TypeError, IndexError for pairs, TypeError, ValueError for topk, OutOfMemory where all pairs do not fit.
    Cost: for each pair the intersection of two rows; for all pairs a product of A with itself.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import common_neighbors
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> common_neighbors(A, [(0, 2), (0, 1)]).to_dict()
    {(0, 1): 0.0, (0, 2): 1.0}
    """
    return _similar(G, pairs, topk, "common_neighbors")


def jaccard(G: GraphLike, pairs: Pairs | None = None, *, topk: int | None = None) -> EdgeResult:
    """s(u, v) = |N(u) & N(v)| / |N(u) | N(v)|.  Parameters, shapes, errors, cost: as `common_neighbors`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import jaccard
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> jaccard(A, [(0, 2), (0, 1)]).to_dict()
    {(0, 1): 0.0, (0, 2): 1.0}
    """
    return _similar(G, pairs, topk, "jaccard", lambda c: c.per(c.union()))


def cosine(G: GraphLike, pairs: Pairs | None = None, *, topk: int | None = None) -> EdgeResult:
    """s(u, v) = |N(u) & N(v)| / sqrt(d(u) d(v)).  Parameters, shapes, errors, cost: as `common_neighbors`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import cosine
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> cosine(A, [(0, 2)]).to_dict()
    {(0, 2): 1.0}
    """
    return _similar(G, pairs, topk, "cosine", lambda c: c.per(unary.sqrt(c.degrees(semiring.any_times))))


def overlap(G: GraphLike, pairs: Pairs | None = None, *, topk: int | None = None) -> EdgeResult:
    """s(u, v) = |N(u) & N(v)| / min(d(u), d(v)).  Parameters, shapes, errors, cost: as `common_neighbors`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import overlap
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> overlap(A, [(0, 2)]).to_dict()
    {(0, 2): 1.0}
    """
    return _similar(G, pairs, topk, "overlap", lambda c: c.per(c.degrees(semiring.any_min)))


def sorensen(G: GraphLike, pairs: Pairs | None = None, *, topk: int | None = None) -> EdgeResult:
    """s(u, v) = 2 |N(u) & N(v)| / (d(u) + d(v)).  Parameters, shapes, errors, cost: as `common_neighbors`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import sorensen
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> sorensen(A, [(0, 2)]).to_dict()
    {(0, 2): 1.0}
    """
    return _similar(G, pairs, topk, "sorensen", lambda c: c.per(c.degrees(semiring.any_plus), 2.0))


def adamic_adar(G: GraphLike, pairs: Pairs | None = None, *, topk: int | None = None) -> EdgeResult:
    """s(u, v) = sum over w in N(u) & N(v) of 1 / log d(w).  Parameters, errors, cost: as `common_neighbors`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import adamic_adar
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> round(adamic_adar(A, [(0, 2)]).to_dict()[0, 2], 6)
    1.442695
    """
    return _similar(G, pairs, topk, "adamic_adar", weight=lambda d: 1 / np.log(d))


def resource_allocation(G: GraphLike, pairs: Pairs | None = None, *, topk: int | None = None) -> EdgeResult:
    """s(u, v) = sum over w in N(u) & N(v) of 1 / d(w).  Parameters, errors, cost: as `common_neighbors`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import resource_allocation
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> resource_allocation(A, [(0, 2)]).to_dict()
    {(0, 2): 0.5}
    """
    return _similar(G, pairs, topk, "resource_allocation", weight=lambda d: 1 / d)


def _similar(
    G: GraphLike,
    pairs: Pairs | None,
    topk: int | None,
    name: str,
    formula: Formula | None = None,
    weight: Callable[[np.ndarray], np.ndarray] | None = None,
) -> EdgeResult:
    """What `formula` makes of the counts of each pair, or these; `weight` of d(w): what a common neighbour w counts."""
    G = room_for(G, name, 40)
    if topk is not None:
        topk = arguments.count(topk, "topk", 1)
        if pairs is not None:
            raise ValueError("pairs, topk: only one may be given; topk chooses among all pairs that share a neighbour")
    P = None if pairs is None else _structure(G, pairs)
    with Report(name) as report:
        score = _Score(G, name, formula, weight)
        if topk is None:
            values = score.of(G.A, np.arange(G.n) if P is None else None, P)
        else:
            found = []
            for start in range(0, G.n, BATCH):
                part = np.arange(start, min(start + BATCH, G.n))
                i, j, s = score.of(G.A[part.tolist(), :].new(), part, None).to_coo()
                found.append(_most(part[i], j, s, topk))
            i, j, s = (np.concatenate(each) for each in zip(*found, strict=True)) if found else (np.zeros(0, int),) * 3
            values = Matrix.from_coo(i, j, s, FP64, nrows=G.n, ncols=G.n)
        values.name = name
    return EdgeResult(values, report, vertices=G.labels)


class _Score:
    """The operands of the products, made once."""

    def __init__(
        self, G: Graph, name: str, formula: Formula | None, weight: Callable[[np.ndarray], np.ndarray] | None
    ) -> None:
        self.G, self.formula = G, formula
        self.A = loopless(G)
        self.d = G.out_degree.dup(FP64)
        self.W: Matrix | None = None
        self._D: Matrix | None = None
        if weight is not None:
            self.W = G.keep((name, "weights", G.directed), lambda: self._weighted(weight))

    @property
    def D(self) -> Matrix:
        """The degrees on a diagonal, made where they are first needed."""
        if self._D is None:
            self._D = self.d.diag()
        return self._D

    def _weighted(self, weight: Callable[[np.ndarray], np.ndarray]) -> Matrix:
        """W = A F, F the diagonal of the weights of the vertices."""
        G = self.G
        d = G.in_degree.dup(FP64)
        if not G.directed and G.nself:
            loops = G.A.diag()
            d(binary.plus) << unary.one[FP64](loops)
        at, x = d.to_coo()
        with np.errstate(divide="ignore"):
            F = Vector.from_coo(at, weight(x), FP64, size=G.n).diag()
        # W = A F
        return semiring.any_second[FP64](self.A @ F).new(name="W")

    def of(self, rows: Matrix, numbers: np.ndarray | None, P: Matrix | None) -> Matrix:
        """Scores of the pairs P, or of all pairs u != v with a common neighbour.

        rows: those of G.A of the vertices `numbers`; all with P, where numbers is None.
        """
        own = rows if self.G.nself == 0 else self.A if numbers is None else _without_own(rows, numbers)
        mask = P.S if P is not None else _others(np.arange(self.G.n) if numbers is None else numbers, self.G.n)
        if self.W is None:
            # B<P,s> = A plus.pair A'
            B = semiring.plus_pair[FP64](own @ self.A.T).new(mask=mask)
        else:
            # B<P,s> = A plus.second W'
            B = semiring.plus_second[FP64](own @ self.W.T).new(mask=mask)
        scores = B
        if self.formula is not None:
            both = B
            if self.G.nself:
                # a vertex with a loop is its own neighbour where neighbours are counted, never where they are shared
                both = semiring.plus_pair[FP64](rows @ self.G.A.T).new(mask=B.S)
            D = self.D
            if numbers is not None and numbers.size < self.G.n:
                part: Any = self.d[numbers.tolist()].new()
                D = part.diag()
            scores = self.formula(_Counts(B, both, D, self.D))
        if P is not None:
            # pairs that share nothing: 0 / 0 is 0
            scores = binary.plus(scores | binary.second(P, 0.0).new(FP64)).new()
        return scores


class _Counts:
    """B(u, v) = |N(u) & N(v)| without u and v, `both` with them, and degrees: positive where B has an entry."""

    def __init__(self, B: Matrix, both: Matrix, D: Matrix, E: Matrix) -> None:
        self.B, self.both, self.D, self.E = B, both, D, E

    def per(self, divisor: Any, times: float = 1.0) -> Matrix:
        """times B / divisor"""
        B = self.B if times == 1 else binary.times(self.B, times).new()
        return binary.truediv(B & divisor).new()

    def degrees(self, combined: Any) -> Matrix:
        """d(u) op d(v), the multiply operator of the semiring `combined`."""
        # X<B,s> = D any.first B; X any.op E
        return combined[FP64](semiring.any_first[FP64](self.D @ self.B).new() @ self.E).new()

    def union(self) -> Matrix:
        """d(u) + d(v) - both(u, v)"""
        # D any.minus both, then any.plus E
        return semiring.any_plus[FP64](semiring.any_minus[FP64](self.D @ self.both).new() @ self.E).new()


def _structure(G: Graph, pairs: Any) -> Matrix:
    """P: true for each pair."""
    from grb_tile.io.tables import checked_columns, is_table

    if isinstance(pairs, Matrix):
        if pairs.shape != (G.n, G.n):
            raise ValueError(f"pairs: expected a {G.n} x {G.n} Matrix, got {pairs.nrows} x {pairs.ncols}")
        return pairs
    if isinstance(pairs, (str, bytes)) or not hasattr(pairs, "__iter__"):
        raise TypeError(f"pairs: expected a sequence of (u, v) or a Matrix, got {pairs!r}")
    if is_table(pairs):
        names = list(getattr(pairs, "column_names", pairs.columns))[:2]
        pairs = list(zip(*(column.tolist() for column in checked_columns(pairs, *names).values()), strict=True))
    if isinstance(pairs, np.ndarray):
        array, found = pairs, pairs if pairs.dtype.kind == "i" else pairs.tolist()
    else:
        found = list(pairs)
        array = np.zeros(0)
        if G.labels is None and found and set(map(type, found)) <= {tuple, list} and set(map(len, found)) == {2}:
            if {bool, np.bool_}.isdisjoint(map(type, chain.from_iterable(found))):  # True would be 1
                array = np.array(found)
    pairs_of_ints = array.ndim == 2 and array.shape[-1] == 2 and array.dtype.kind == "i" and array.size > 0
    if G.labels is None and pairs_of_ints and 0 <= array.min() and array.max() < G.n:
        # the usual case, in a tenth of the time
        return Matrix.from_coo(array[:, 0], array[:, 1], True, dtypes.BOOL, nrows=G.n, ncols=G.n, name="P")
    found = found.tolist() if isinstance(found, np.ndarray) else found
    found = [tuple(pair) if hasattr(pair, "__iter__") and not isinstance(pair, str) else pair for pair in found]
    for k, pair in enumerate(found):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"pairs[{k}]: expected (u, v), got {pair!r}")
    u, v = ([pair[side] for pair in found] for side in (0, 1))
    u, v = arguments.nodes(u, G, "pairs, u"), arguments.nodes(v, G, "pairs, v")
    return Matrix.from_coo(u, v, True, dtypes.BOOL, nrows=G.n, ncols=G.n, name="P")


def _others(numbers: np.ndarray, n: int) -> Any:
    """The mask of all pairs but (u, u), the rows being those of `numbers`."""
    return ~_diagonal(numbers, n).S


def _without_own(rows: Matrix, numbers: np.ndarray) -> Matrix:
    return rows.dup(mask=_others(numbers, rows.ncols))


def _diagonal(numbers: np.ndarray, n: int) -> Matrix:
    return Matrix.from_coo(np.arange(numbers.size), numbers, True, dtypes.BOOL, nrows=numbers.size, ncols=n)


def _most(u: np.ndarray, v: np.ndarray, s: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k entries of greatest score for each u, equal ones by v."""
    order = np.lexsort((v, -s, u))
    u, v, s = u[order], v[order], s[order]
    # the position of each entry among those of its u
    place = np.arange(u.size) - np.searchsorted(u, u)
    keep = place < k
    return u[keep], v[keep], s[keep]
