"""HITS: hubs point to good authorities, and good hubs point to authorities.

    a = A' h,   h = A a,   h = h / max h       until h stays

Contract: G is not changed.  hubs and authorities are FP64, full, each of sum 1; all 0 in a graph without edges.
A loop is an edge like others.
Agrees with networkx.hits (3.6) where the largest singular value of A is simple; else the limit depends on the start.
Reference: Kleinberg, "Authoritative sources in a hyperlinked environment" (J. ACM 46, 1999), section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grb_tile import Vector, binary, dtypes, graph, monoid

from . import arguments, iteration
from .given import GraphLike
from .report import Report
from .result import Result

if TYPE_CHECKING:
    from .given import Values
    from .report import Callback


@dataclass(frozen=True)
class HitsResult(Result):
    """hubs, authorities (full FP64 Vectors of sum 1), report."""

    hubs: Vector
    authorities: Vector
    report: Report

    @property
    def values(self) -> Vector:
        """hubs"""
        return self.hubs


@graph.one_pass
def _full(x: Any) -> Any:
    """x, 0 where it has no entry: a product reads a full vector faster"""
    return x + 0.0


@graph.one_pass
def _greatest(z: Any) -> Any:
    """max z"""
    return z.max()


@graph.one_pass
def _divide(z: Any, h: Any, greatest: Any) -> Any:
    """t = z / max z, 0 where z is, and |t - h|_1"""
    t = z / greatest.max(1e-300)
    return t, abs(t - h).sum()


def hits(
    G: GraphLike,
    *,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: Values | None = None,
    normalized: bool = True,
    weighted: bool = False,
    strict: bool = True,
    callback: Callback | None = None,
) -> HitsResult:
    """a = A' h, h = A a, h = h / max h, repeated until the L1 change of h is below tol.

    max_iter     the limit of iterations
    nstart       the first h, as Vector, dict or array of n numbers, not all 0; all equal when None
    normalized   divide hubs and authorities by their sums; False: by their maxima
    weighted     an edge counts its weight rather than 1
    strict       raise ConvergenceFailure at max_iter; False: return what was reached
    callback     called with the record of each iteration; something true stops there

    A change that no longer falls and is all rounding ends the iteration too, with report.stopped_by "resolution".

    Shapes: A n x n, hubs and authorities size n.  Types: any A (weighted: real); FP64.
    Raises: ConvergenceFailure, TypeError, ValueError (weights that are NaN or infinite among them).
    Cost: per iteration a product with A' and one with A.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import hits
    >>> found = hits(gb.Matrix.from_coo([0, 1], [2, 2], nrows=3, ncols=3))
    >>> found.hubs.to_dict(), found.authorities.to_dict()
    ({0: 0.5, 1: 0.5, 2: 0.0}, {0: 0.0, 1: 0.0, 2: 1.0})
    """
    arguments.flags(normalized=normalized, weighted=weighted, strict=strict)
    G, tol, max_iter, along = iteration.checked(G, "hits", 40, tol, max_iter, weighted)
    h = iteration.start(nstart, G, 1.0 / max(G.n, 1))
    _normalize(h, monoid.plus)
    a = Vector.from_scalar(0.0, G.n, dtypes.FP64)

    A, AT = G.A, G.AT

    def step(h: Vector, _: Vector) -> Any:
        # a = A' h,  t = A a / max
        a = _full(along(AT @ h).new())
        z = along(A @ a).new()
        t, change = _divide(z, h, _greatest(z))
        return t, a, change

    with Report("hits", callback, weighted=weighted) as report:
        if G.n:
            h, a = iteration.until(step, (h, a), tol, max_iter, report, turns=iteration.turns_of(G, "hits", weighted))
        else:
            report.finish("converged", True)
    h.name, a.name = "hubs", "authorities"
    for v in (h, a):
        _normalize(v, monoid.plus if normalized else monoid.max)
    return iteration.require(HitsResult(h, a, report, vertices=G.labels), report, tol, max_iter, strict)


def _normalize(v: Vector, by: Any) -> None:
    """v = v / [by_i v(i)] where that is not 0."""
    total = float(v.reduce(by).new().value or 0.0)
    if total:
        v << binary.times(v, 1 / total)
