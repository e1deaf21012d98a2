"""Katz centrality: the walks that lead to a vertex, a walk of k edges counting alpha^k.

    x = alpha A' x + beta       until x stays

Contract: G is not changed.  Scores are FP64, full.  The sum exists where alpha is below 1 / (the largest eigenvalue of
A); above it the iteration diverges, which ConvergenceFailure reports.  A loop is an edge like others.
Agrees with networkx.katz_centrality (3.6): the same steps, L1 change < n tol.
References: Katz, "A new status index derived from sociometric analysis" (Psychometrika 18, 1953); Newman, "Networks"
(2010), section 7.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grb_tile import binary, graph, monoid, unary

from . import arguments, iteration
from .given import GraphLike
from .report import Report
from .result import VertexResult

if TYPE_CHECKING:
    from grb_tile import Vector

    from .given import Values
    from .report import Callback


@graph.one_pass
def _step(z: Any, x: Any, b: Any, alpha: Any) -> Any:
    """y = b + alpha z, and |y - x|_1"""
    y = b + alpha * z
    return y, abs(y - x).sum()


def katz(
    G: GraphLike,
    *,
    alpha: float = 0.1,
    beta: float | Values = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Values | None = None,
    normalized: bool = True,
    weighted: bool = False,
    strict: bool = True,
    callback: Callback | None = None,
) -> VertexResult:
    """x = alpha A' x + beta, repeated until the L1 change is below n tol.

    alpha        the factor for each edge of a walk
    beta         the score of the walk without edges: a number, or a Vector, dict or array of n numbers
    max_iter     the limit of iterations
    nstart       the first x, likewise; 0 when None
    normalized   divide the scores by their norm |x|_2
    weighted     an edge counts its weight rather than 1
    strict       raise ConvergenceFailure at max_iter or where x overflows; False: return what was reached
    callback     called with the record of each iteration; something true stops there

    A change that no longer falls and is all rounding ends the iteration too, with report.stopped_by "resolution".

    Shapes: A n x n, values size n.  Types: any A (weighted: real); values FP64.
    Raises: ConvergenceFailure, TypeError, ValueError (weights that are NaN or infinite among them).
    Cost: per iteration one product with A' and a few passes over vectors of n.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import katz
    >>> A = gb.Matrix.from_coo([0, 1], [2, 2], nrows=3, ncols=3)
    >>> [round(x, 6) for x in katz(A, alpha=0.5, normalized=False).to_numpy().tolist()]
    [1.0, 1.0, 2.0]
    """
    arguments.flags(normalized=normalized, weighted=weighted, strict=strict)
    G, tol, max_iter, along = iteration.checked(G, "katz", 20, tol, max_iter, weighted)
    alpha = arguments.real(alpha, "alpha")
    number = not hasattr(beta, "__iter__")
    given: Any = None if number else beta
    b = iteration.vector(given, "beta", G, arguments.real(beta, "beta") if number else 0.0)
    x = iteration.vector(nstart, "nstart", G, 0.0)

    AT = G.AT

    def step(x: Vector) -> Any:
        # y = beta + alpha A' x
        return _step(along(AT @ x).new(), x, b, alpha)

    weight = float(unary.abs(b).new().reduce(monoid.plus).new().value or 0.0)

    def gain(total: float) -> float:
        """|x| / |b|, which is about 1 / (1 - alpha times the largest eigenvalue)"""
        return max(1.0, total / weight) if weight else 1.0

    with Report("katz", callback, weighted=weighted) as report:
        if G.n:
            turns = iteration.turns_of(G, "katz", weighted)
            (x,) = iteration.until(step, (x,), G.n * tol, max_iter, report, gain, turns)
        else:
            report.finish("converged", True)
    if normalized and report.stopped_by not in ("max_iter", "diverged"):
        x << binary.times(x, 1 / (iteration.norm(x) or 1.0))
    x.name = "katz"
    return iteration.require(VertexResult(x, report, vertices=G.labels), report, tol, max_iter, strict)
