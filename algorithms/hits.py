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

from grb_tile import Matrix, Vector, binary, dtypes, monoid

from . import iteration
from .report import Report
from .result import Result

if TYPE_CHECKING:
    from .graph import Graph
    from .iteration import Values
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


def hits(
    G: Graph | Matrix,
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
    nstart       the first h, as Vector, dict or array of n numbers; all equal when None
    normalized   divide hubs and authorities by their sums; False: by their maxima
    weighted     an edge counts its weight rather than 1
    strict       raise ConvergenceFailure at max_iter; False: return what was reached
    callback     called with the record of each iteration; something true stops there

    Shapes: A n x n, hubs and authorities size n.  Types: any A (weighted: real); FP64.
    Raises: ConvergenceFailure, TypeError, ValueError (weights that are NaN or infinite among them).
    Cost: per iteration a product with A' and one with A.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import hits
    >>> found = hits(gb.Matrix.from_coo([0, 1], [2, 2], nrows=3, ncols=3))
    >>> found.hubs.to_dict(), found.authorities.to_dict()
    ({0: 0.5, 1: 0.5, 2: 0.0}, {0: 0.0, 1: 0.0, 2: 1.0})
    """
    G, tol, max_iter, along = iteration.checked(G, tol, max_iter, weighted)
    h = iteration.vector(nstart, "nstart", G.n, 1.0 / max(G.n, 1))
    h.name = "hubs"
    _divide(h, monoid.plus)
    a = Vector.from_scalar(0.0, G.n, dtypes.FP64, name="authorities")
    with Report("hits", callback) as report:
        report.finish("max_iter", False)
        for _ in range(max_iter if G.n else 0):
            last = h.dup()
            # a = A' h,  h = A a
            _product(a, along, G.AT, h)
            _product(h, along, G.A, a)
            _divide(h, monoid.max)
            residual = iteration.change(h, last)
            stop = report.note(residual=residual)
            if residual < tol:
                report.finish("converged", True)
                break
            if stop:
                break
        if not G.n:
            report.finish("converged", True)
    for v in (h, a):
        _divide(v, monoid.plus if normalized else monoid.max)
    return iteration.require(HitsResult(h, a, report, vertices=G.labels), report, tol, max_iter, strict)


def _product(y: Vector, along: Any, A: Matrix, x: Vector) -> None:
    """y = A x, 0 where no edge is."""
    y[:] << 0.0
    y(binary.plus) << along(A @ x)


def _divide(v: Vector, by: Any) -> None:
    """v = v / [by_i v(i)] where that is not 0."""
    total = float(v.reduce(by).new().value or 0.0)
    if total:
        v << binary.times(v, 1 / total)
