"""Personalised PageRank of many sources: one product with a full matrix an iteration for all of them.

    R = (1 - a) P + a (A' (D R) + Q s)

D = diag(1 / d), column i of P the distribution of restarts of walk i, s(i) its rank on nodes without out-edges.
Each column is the rank vector of `pagerank` with that column of P as its personalization; the result has them as rows.
A sparse matrix times a dense one (SpMM) reads A once for all columns, products with a vector once for each.

Contract: G is not changed.  Ranks are a full matrix, each row sums to 1; they agree with NetworkX pagerank for each
personalization (L1 < n tol).
References: Jeh and Widom, "Scaling personalized web search" (WWW 2003); as pagerank.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, monoid, select, semiring, unary

from . import arguments, iteration
from .given import GraphLike, Values, Vertices
from .graph import room_for
from .pagerank import PageRankResult, Walk, default_tol, distribution, float_type
from .report import Report

if TYPE_CHECKING:
    from .graph import Graph
    from .report import Callback


def pagerank_multi(
    G: GraphLike,
    personalization: Matrix | Vertices | Iterable[Vector | Mapping[Any, float]],
    *,
    alpha: float = 0.85,
    dangling: Values | None = None,
    weighted: bool = False,
    tol: float | None = None,
    max_iter: int = 100,
    dtype: Any = None,
    batch: int = 64,
    strict: bool = True,
    callback: Callback | None = None,
) -> PageRankResult[Matrix]:
    """R = (1 - a) P + a (A' (D R) + Q s), repeated until every column stays.

    personalization   P': nodes, each a row with a 1 there; or dicts or Vectors, one for each row; or a Matrix.  Numbers
                      are >= 0, rows are scaled to sum 1
    dangling          each column of Q, as in `pagerank`; None: that of P
    alpha, weighted, dtype, strict   as in `pagerank`
    tol, max_iter     of each batch: until the L1 change of every row is below n tol, or all rounding, as in `pagerank`;
                      1e-6 / n when tol is None
    batch             rows that are computed together; they need about 40 bytes for each of them and each node
    callback          called with the record of each iteration; something true stops there

    Shapes: A n x n, P' and ranks k x n.  Raises: as `pagerank`; ValueError for a row of P' without a positive sum.
    The result has the labels of the vertices; rows are named by the nodes where P is given by nodes, else by numbers.
    Cost: per iteration a product of A' with a full n x batch matrix, and a few passes over that; the values of a A' D.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import pagerank_multi
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=3, ncols=3)
    >>> found = pagerank_multi(A, [{0: 1}, {1: 1, 2: 1}], alpha=0.5)
    >>> [[round(x, 3) for x in row] for row in found.ranks.to_dense().tolist()]
    [[0.571, 0.286, 0.143], [0.214, 0.357, 0.429]]
    """
    arguments.flags(weighted=weighted, strict=strict)
    G = room_for(G, "pagerank_multi", 100)
    alpha, dtype = arguments.fraction(alpha, "alpha"), float_type(dtype)
    batch = arguments.count(batch, "batch", 1)
    tol, max_iter = iteration.limits(default_tol(G.n) if tol is None else tol, max_iter)
    P, sources = _starts(personalization, G, dtype)
    walk = Walk(G, "standard", alpha, None, dangling, weighted, dtype)
    B = _steps(G, walk) if P.nrows else G.AT
    R = Matrix(dtype, P.nrows, G.n)
    with Report("pagerank_multi", callback, weighted=weighted) as report:
        report.finish("converged", True)
        for start in range(0, P.nrows, batch) if G.n else ():
            rows: Any = P[start : start + batch, :].new() if P.nrows > batch else P
            readers = Readers(walk, B, rows.T.new(), alpha, dangling is None)
            found = _until(readers, G.n * tol, 1 / (1 - alpha), max_iter, report).T
            if P.nrows > batch:
                R[start : start + batch, :] << found
            else:
                R = found.new()
            if not report.converged:
                break
    R.name = "ranks"
    result = PageRankResult(
        R, report.iterations, report.converged, report.residual, report, vertices=G.labels, sources=sources
    )
    return iteration.require(result, report, tol, max_iter, strict)


class Readers:
    """One step of the readers of a batch, R -> T, with everything prepared that does not change."""

    def __init__(self, walk: Walk, B: Matrix, P: Matrix, alpha: float, back: bool) -> None:
        """B: a A' D; back: is the rank of nodes without out-edges spread over the column of P?"""
        self._walk, self._B, self._P, self._anew, self._back = walk, B, P, 1 - alpha, back
        # (1 - a) P, all that is added where every node has out-edges
        self._own = None if walk.has_sinks else binary.times[dtypes.FP64](P, self._anew).new()

    def first(self) -> Matrix:
        """R = P, full."""
        R = Matrix.from_scalar(0.0, self._P.nrows, self._P.ncols, self._walk.dtype, name="R")
        R(binary.plus) << self._P
        return R

    def step(self, R: Matrix) -> Matrix:
        """T = (1 - a) P + a (A' (D R) + Q s)"""
        walk, P = self._walk, self._P
        # T = B R
        T = semiring.plus_times[walk.dtype](self._B @ R).new(name="R")
        if self._own is not None:
            T(binary.plus) << self._own
            return T
        # s = a times the rank of nodes without out-edges
        s = Vector.from_scalar(0.0, P.ncols, dtypes.FP64, name="s")
        s << semiring.plus_times[dtypes.FP64](walk.all_sinks @ R)
        if not self._back:
            # T += q s'
            T(binary.plus) << walk.lost.outer(s, binary.times)
            s << binary.times(s, 0)
        # T += P (1 - a + s)
        s << binary.plus(s, self._anew)
        T(binary.plus) << binary.times(P & s)
        return T


def _until(readers: Readers, limit: float, gain: float, max_iter: int, report: Report) -> Matrix:
    """R = step(R) until the L1 norm of the change of each column is below `limit` or rounding; 0: max_iter times."""
    R, noise = readers.first(), iteration.Noise(gain)
    report.finish("max_iter", False)
    for _ in range(max_iter):
        T = readers.step(R)
        residual = None
        if limit > 0:
            # |T - R| by columns
            R << binary.minus(T & R)
            R << unary.abs(R)
            residual = float(R.reduce_columnwise(monoid.plus).new().reduce(monoid.max).new().value or 0.0)
        R = T
        stop = report.note() if residual is None else report.note(residual=residual)
        if residual is not None and residual < limit:
            report.finish("converged", True)
        elif residual is not None and not stop and noise.is_all(residual, R):
            report.finish("resolution", True)
        if stop or report.converged:
            return R
    if not limit:
        report.finish("iterations", True)
    return R


def _steps(G: Graph, walk: Walk) -> Matrix:
    """B = a A' D, with zeros where a row of A' is empty, so that B R is full and no pass has to fill it."""
    pattern = G.AT if walk.weighted else unary.one[walk.dtype](G.AT).new()
    B = binary.times(pattern & walk.scale).new(walk.dtype, name="B")
    empty = np.ones(G.n, np.bool_)
    empty[G.in_degree.to_coo()[0]] = False
    rows = np.flatnonzero(empty)
    if rows.size:
        B << binary.plus(B | Matrix.from_coo(rows, np.zeros(rows.size, np.int64), 0.0, nrows=G.n, ncols=G.n))
    return B


def _starts(given: Any, G: Graph, dtype: Any) -> tuple[Matrix, list[int] | None]:
    """(P with rows of sum 1, the nodes that its rows start from or None)"""
    n, sources = G.n, None
    if isinstance(given, Matrix):
        if given.dtype.np_type.kind not in "biuf":
            raise TypeError(f"personalization: expected real numbers, got {given.dtype.name}; pass a real Matrix")
        P = given.dup(dtype, name="P")
    else:
        if isinstance(given, (str, bytes, Mapping, Vector)) or not hasattr(given, "__iter__"):
            raise TypeError(
                "personalization: expected nodes, dicts or Vectors in a sequence, or a Matrix, got "
                f"{type(given).__name__}; write [...] around one"
            )
        items = list(given)
        if all(isinstance(item, (Mapping, Vector)) for item in items):
            rows = [distribution(item, f"personalization[{k}]", G, dtype) for k, item in enumerate(items)]
            found = [select.valuene(row, 0).new().to_coo() for row in rows]
            i = np.repeat(np.arange(len(found)), [at.size for at, _ in found])
            j, x = (np.concatenate([pair[part] for pair in found] or [np.empty(0, np.int64)]) for part in (0, 1))
            P = Matrix.from_coo(i, j, x, dtype, nrows=len(items), ncols=n, name="P")
        else:
            sources = arguments.nodes(items, G, "personalization")
            P = Matrix.from_coo(range(len(items)), sources, 1.0, dtype, nrows=len(items), ncols=n, name="P")
    if P.ncols != n:
        raise ValueError(f"personalization: expected {n} columns, one per node, got {P.ncols}")
    total = P.reduce_rowwise(monoid.plus).new()
    sums, least = total.to_dense(0.0), P.reduce_rowwise(monoid.min).new().to_dense(0.0)
    good = (least >= 0) & np.isfinite(sums) & (sums > 0)
    if not good.all():
        bad = int(np.argmin(good))
        raise ValueError(
            f"personalization: expected numbers >= 0 and rows with a positive sum, got row {bad} of sum {sums[bad]} "
            f"and least number {least[bad]}"
        )
    # P(i, :) / [+_j P(i, j)]
    P << binary.rtruediv(total & P)
    return P, sources
