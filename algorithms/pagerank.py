"""PageRank: the share of time that a random walk with restarts spends at each node.

    r = (1 - a) p + a (A' (r / d) + s q)

d is the out-degree, a the damping factor (alpha), p the distribution of restarts, s the sum of r over nodes without
out-edges (dangling) and q the distribution of the next node after these.

Contract: G is not changed.  Ranks are a full vector; all but "gap" sum to 1.
"standard" agrees with NetworkX pagerank on an unweighted graph (L1 < n tol); "gap" with GAP's PRVerifier
(sbeamer/gapbs, src/pr.cc: no sinks, L1 < tol); "ldbc" with LDBC Graphalytics 1.0, PageRank (FP64, sinks spread, a fixed
number of iterations).
References: Page, Brin, Motwani, Winograd (1999); Kamvar, Haveliwala, Golub, "Adaptive methods for the computation of
PageRank" (2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from grb_tile import Vector, binary, dtypes, graph, monoid, select, semiring, unary

from . import arguments, iteration
from .given import GraphLike, Values
from .graph import room_for
from .report import Report
from .result import Kind, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from .graph import Graph
    from .report import Callback


@dataclass(frozen=True)
class PageRankResult(Result, Generic[Kind]):
    """ranks (a full Vector), iterations, converged, residual (L1 of the last change; None if not computed), report.

    From `pagerank_multi` ranks is a full Matrix, a row for each source, iterations that of the last batch, and residual
    the greatest of a row.
    """

    ranks: Kind
    iterations: int
    converged: bool | None
    residual: float | None
    report: Report

    @property
    def values(self) -> Kind:
        """ranks"""
        return self.ranks

    def _row_labels(self, rows: Any) -> list[Any]:
        # rows whose restarts are no single vertices bear their numbers
        return list(rows) if self.sources is None else super()._row_labels(rows)


def pagerank(
    G: GraphLike,
    *,
    method: str = "standard",
    alpha: float = 0.85,
    personalization: Values | None = None,
    dangling: Values | None = None,
    nstart: Values | None = None,
    weighted: bool = False,
    tol: float | None = None,
    max_iter: int = 100,
    dtype: Any = None,
    strict: bool = True,
    callback: Callback | None = None,
) -> PageRankResult:
    """r = (1 - a) p + a (A' (r / d) + s q), repeated until r stays.

    method            "standard": until the L1 change is below n tol; "gap": sinks lose their rank, L1 change below tol;
                      "ldbc": exactly max_iter iterations in FP64; "adaptive": as standard, but ranks that change little
                      wait until their changes add up
    alpha             the damping factor, 0 <= alpha < 1
    personalization   p, as Vector, dict or array of n numbers >= 0, scaled to sum 1; uniform when None
    dangling          q, likewise; p when None
    nstart            the first r, likewise; p when None ("ldbc" and "gap" start uniformly)
    weighted          follow edges in proportion to their weights rather than equally
    tol               1e-6 / n when None, so that the whole L1 change is below 1e-6 however many nodes share the rank,
                      1e-4 for "gap"; 0: exactly max_iter iterations, and no residual is computed.  NetworkX's default
                      is 1e-6, with which ranks of large graphs are out of order: a change of 0.01 for 10,000 nodes
    max_iter          the limit (for "ldbc" the number) of iterations
    dtype             FP64 (also when None) or FP32
    strict            raise ConvergenceFailure at max_iter; False: return what was reached with converged=False
    callback          called with the record of each iteration; something true stops there

    A tolerance may be finer than the type of the ranks: where rounding (about 1e-7 / (1 - a) in FP32, 2e-16 / (1 - a)
    in FP64) is all that is left of the change, and it no longer falls, the iteration has converged too, and
    report.stopped_by is "resolution" instead of "converged".

    Shapes: A n x n, ranks size n.  Raises: ConvergenceFailure, TypeError, ValueError (weights that are negative, NaN or
    infinite among them), DimensionMismatch.
    Cost: per iteration one product with A' and a few passes over vectors of n.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import pagerank
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=3, ncols=3)
    >>> [round(x, 6) for x in pagerank(A).ranks.to_dense().tolist()]
    [0.333333, 0.333333, 0.333333]
    """
    arguments.flags(weighted=weighted, strict=strict)
    G = room_for(G, "pagerank", 40)
    arguments.choice(method, ("standard", "gap", "ldbc", "adaptive"), "method")
    alpha, dtype = arguments.fraction(alpha, "alpha"), float_type(dtype, method)
    walk = Walk(G, method, alpha, personalization, dangling, weighted, dtype)
    tol, max_iter = iteration.limits((1e-4 if method == "gap" else default_tol(G.n)) if tol is None else tol, max_iter)
    r = walk.first(nstart)
    with Report(f"pagerank ({method})", callback, weighted=weighted) as report:
        if G.n == 0:
            report.finish("converged", True)
        elif method == "ldbc" or tol == 0:
            r = _fixed(walk, r, max_iter, report)
        elif method == "adaptive":
            r = _adaptive(walk, r, G.n * tol, 1 / (1 - alpha), max_iter, report)
        else:
            r = _until(walk, r, tol if method == "gap" else G.n * tol, 1 / (1 - alpha), max_iter, report)
    r.name = "ranks"
    residual = report.residual
    result = PageRankResult(r, report.iterations, report.converged, residual, report, vertices=G.labels)
    return iteration.require(result, report, tol, max_iter, strict)


@graph.one_pass
def _depart(r: Any, scale: Any, sinks: Any) -> Any:
    """w = a r / d, and a s"""
    return r * scale, (r * sinks).sum()


@graph.one_pass
def _arrive(z: Any, anew: Any, lost: Any, scale: Any, sinks: Any, s: Any) -> Any:
    """t = (1 - a) p + a (A' (r / d) + s q), and what departs from t"""
    t = anew + lost * s + z
    return t, t * scale, (t * sinks).sum()


@graph.one_pass
def _arrive_and_compare(z: Any, r: Any, anew: Any, lost: Any, scale: Any, sinks: Any, s: Any) -> Any:
    """The same, and |t - r|_1"""
    t = anew + lost * s + z
    return t, t * scale, (t * sinks).sum(), abs(t - r).sum()


def _until(walk: Walk, r: Vector, limit: float, gain: float, max_iter: int, report: Report) -> Vector:
    """r = step(r) until the L1 norm of the difference is below `limit`, or all of it is rounding."""
    return iteration.until(walk.step_of(True), (r, *walk.depart(r)), limit, max_iter, report, gain, walk.turns)[0]


def _fixed(walk: Walk, r: Vector, max_iter: int, report: Report) -> Vector:
    report.finish("iterations", True)
    w, s = walk.depart(r)
    if max_iter and walk.turns.begins(report):
        found = walk.turns.repeat(walk.step_of(), (r, w, s), max_iter)
        if found is not None:
            for _ in range(max_iter):
                report.note()
            return found[0]
    for _ in range(max_iter):
        r, w, s = walk.arrive(w, s)
        if report.note():
            break
    return r


def _adaptive(walk: Walk, r: Vector, limit: float, gain: float, max_iter: int, report: Report) -> Vector:
    """As `_until`, but a rank whose change u is less than half of its share of the limit waits until that has grown.

        s = u where |u| >= share,   r = r + s,   u = u - s + a (A' (s / d) + [+_i sinks(i) s(i)] q)

    u = F(r) - r throughout, F the step of `_until`, so that what waits is never lost, and |u|_1 falls by (1 - a) |s|_1.
    It is computed anew before the loop ends.
    """
    share = limit / (2 * r.size)
    noise = iteration.Noise(gain)
    fine = noise.level(r)
    report.finish("max_iter", False)
    u: Vector | None = None
    for _ in range(max_iter):
        exact = u is None
        if u is None:
            # u = F(r) - r
            u = binary.minus(walk.step(r) & r).new(name="change")
        size = unary.abs(u).new()
        residual = float(size.reduce(monoid.plus).new().value)
        near = residual < limit
        s = u if near else u.dup(mask=select.valuege(size, share).new().S, name="moving")
        r = binary.plus(r | s).new()
        stop = report.note(residual=residual, moving=s.nvals)
        if exact and (near or noise.is_all(residual, r)):
            report.finish("converged" if near else "resolution", True)
            break
        if stop:
            break
        if near or residual <= fine:
            u = None
        else:
            u(s.S) << 0.0
            u = walk.carry(s, u)
    return r


class Walk:
    """One step of the reader, r -> t, with everything prepared that does not change.

    scale   a / d, 0 where nothing leaves                lost   q
    all_sinks   a where nothing leaves, 0 elsewhere      has_sinks, weighted, dtype
    """

    def __init__(
        self,
        G: Graph,
        method: str,
        alpha: float,
        personalization: Values | None,
        dangling: Values | None,
        weighted: bool,
        dtype: Any,
    ) -> None:
        n = G.n
        self.turns = iteration.turns_of(G, "pagerank", weighted)
        self.AT, self._graph, self.dtype, self.weighted = G.AT, G, dtype, weighted
        # in FP64: half a million ranks added one by one in FP32 would be off in the third digit
        self._lost_rank = semiring.plus_times[dtypes.FP64]
        self.spread = (semiring.plus_times if weighted else semiring.plus_second)[dtype]
        p = distribution(personalization, "personalization", G, dtype)
        q = p if dangling is None else distribution(dangling, "dangling", G, dtype)
        # the rules of GAP and Graphalytics: r = 1 / n at first, wherever the reader starts anew
        self._start = distribution(None, "nstart", G, dtype) if method in ("gap", "ldbc") else p
        # d = A plus.pair 1, or the sum of each row's weights: absent where nothing leaves
        d = G.keep(("outflow", dtype.name), lambda: _outflow(G, dtype)) if weighted else G.out_degree
        # s = a / d, 0 where nothing leaves
        self.scale = Vector.from_scalar(0.0, n, dtype, name="scale")
        self.scale(d.S) << unary.minv(d.dup(dtype))
        if weighted:
            _check_scale(d, self.scale, dtype)
        self.scale << binary.times(self.scale, alpha)
        # u = (1 - a) p
        self.anew = binary.times(p, 1 - alpha).new(dtype, name="anew")
        self.lost = q
        # sinks: a where a node has no way out
        self.all_sinks = Vector.from_scalar(0.0, n, dtype, name="sinks")
        self.has_sinks = method != "gap" and d.nvals < n
        if self.has_sinks:
            self.all_sinks(~d.S) << alpha

    def first(self, nstart: Values | None) -> Vector:
        return self._start.dup(name="r") if nstart is None else distribution(nstart, "nstart", self._graph, self.dtype)

    def depart(self, r: Vector) -> Any:
        """(w, a s) of the first ranks: w = a r / d, s the rank of the sinks."""
        return _depart(r, self.scale, self.all_sinks)

    def arrive(self, w: Vector, s: Any) -> Any:
        """(t, w, a s): t = (1 - a) p + A' w + a s q, and what departs from t."""
        z = self.spread(self.AT @ w).new(name="z")
        return _arrive(z, self.anew, self.lost, self.scale, self.all_sinks, s)

    def step_of(self, compared: bool = False) -> Callable[..., Any]:
        """A function that gives (t, w, a s) of (r, w, a s), and |t - r|_1; it reads matrices, vectors and operators."""
        AT, spread, scale, sinks, anew, lost = self.AT, self.spread, self.scale, self.all_sinks, self.anew, self.lost

        def step(_: Vector, w: Vector, s: Any) -> Any:
            return _arrive(spread(AT @ w).new(name="z"), anew, lost, scale, sinks, s)

        def compare(r: Vector, w: Vector, s: Any) -> Any:
            return _arrive_and_compare(spread(AT @ w).new(name="z"), r, anew, lost, scale, sinks, s)

        return compare if compared else step

    def step(self, r: Vector) -> Vector:
        """F(r) = (1 - a) p + a (A' (r / d) + s q)"""
        return self.arrive(*self.depart(r))[0]

    def carry(self, s: Vector, u: Vector) -> Vector:
        """u + a (A' (s / d) + [+_i sinks(i) s(i)] q) for a sparse s."""
        # u += A' (a s / d)
        u(binary.plus) << self.spread(self.AT @ binary.times(s & self.scale).new())
        if self.has_sinks:
            # u += q [+_i sinks(i) s(i)]
            u(binary.plus) << binary.times(self.lost, self._lost_rank(self.all_sinks @ s).new().value)
        return u


def _outflow(G: Any, dtype: Any) -> Vector:
    if np.dtype(G.A.dtype.np_type).kind not in "biuf":
        raise TypeError(f"weighted=True: weights must be real, got {G.A.dtype.name}; take unary.abs(A) first")
    if G.A.nvals and G.emin < 0:
        raise ValueError(f"weighted=True: the weight {G.emin} is negative; pass weighted=False or take unary.abs(A)")
    # d = [+_j A(i, j)] where that is not 0 (NaN is not, and is regraph later)
    d = G.A.dup(dtype).reduce_rowwise(monoid.plus).new(name="outflow")
    return select.valuene(d, 0).new()


def _check_scale(d: Vector, scale: Vector, dtype: Any) -> None:
    """Refuse rows whose weights sum to NaN, to inf, or to so little that 1 / sum is infinite."""
    # b = d * scale: 1 where both are numbers
    product = binary.times(d & scale).new()
    off = select.valuene(unary.isfinite(product).new(), True).new()
    if off.nvals:
        node = int(off.to_coo(values=False)[0][0])
        raise ValueError(
            f"weighted=True: the weights of node {node} sum to {d[node].value}, by which {dtype.name} numbers cannot "
            "be divided; give finite weights of a usual size, or pass weighted=False"
        )


def default_tol(n: int) -> float:
    """Per node: an L1 change below 1e-6 for all of them."""
    return 1e-6 / max(n, 1)


def float_type(dtype: Any, method: str = "standard") -> Any:
    """FP64 where dtype is None.  Raises: TypeError, ValueError for other types than FP32 and FP64."""
    found = dtypes.FP64 if dtype is None else dtypes.lookup_dtype(dtype)
    if found not in (dtypes.FP32, dtypes.FP64):
        raise TypeError(f"dtype: ranks are FP32 or FP64, got {found.name}")
    if method == "ldbc" and found is not dtypes.FP64:
        raise ValueError('dtype: method="ldbc" computes in FP64 by its rules; leave dtype out')
    return found


def distribution(values: Any, name: str, G: Graph, dtype: Any) -> Vector:
    """`values` as a full vector >= 0 with sum 1; uniform when None."""
    n = G.n
    full = Vector.from_scalar(0.0 if n == 0 or values is not None else 1.0 / n, n, dtype, name=name)
    if values is None:
        return full
    given = iteration.given_vector(values, name, G, dtype)
    total = float(given.reduce(monoid.plus).new().value or 0.0)
    least = float(given.reduce(monoid.min).new().value or 0.0)
    if not least >= 0 or not 0 < total < np.inf:
        raise ValueError(f"{name}: expected numbers >= 0 with a positive sum, got least {least}, sum {total}")
    # v<given> = given / total
    full(given.S) << binary.truediv(given, total)
    return full
