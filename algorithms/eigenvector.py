"""Eigenvector centrality: a vertex is as central as its in-neighbours are together.

    x = (A' + I) x,   x = x / |x|_2       until x stays

The power iteration for the eigenvector of A' of the largest eigenvalue; adding I changes no eigenvector, and makes the
iteration converge on bipartite graphs too, whose eigenvalues of largest modulus are r and -r.

Contract: G is not changed.  Scores are FP64, full, of norm 1.  Edges point to the vertex that they make central; a
vertex without in-edges tends to 0 where others have any.  A loop is an edge like others.
Agrees with networkx.eigenvector_centrality (3.6): the same steps, L1 change < n tol.
References: Bonacich, "Power and centrality: a family of measures" (Am. J. Sociology 92, 1987); Newman, "Networks"
(2010), section 7.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grb_tile import binary, graph

from . import arguments, iteration
from .given import GraphLike
from .report import Report
from .result import VertexResult

if TYPE_CHECKING:
    from grb_tile import Vector

    from .given import Values
    from .report import Callback


@graph.one_pass
def _add(x: Any, z: Any) -> Any:
    """y = x + z, and |y|_2 squared"""
    y = x + z
    return y, (y * y).sum()


@graph.one_pass
def _divide(y: Any, x: Any, squares: Any) -> Any:
    """t = y / |y|_2, 0 where y is, and |t - x|_1"""
    t = y / squares.sqrt().max(1e-300)
    return t, abs(t - x).sum()


def eigenvector(
    G: GraphLike,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Values | None = None,
    weighted: bool = False,
    strict: bool = True,
    callback: Callback | None = None,
) -> VertexResult:
    """x = (A' + I) x / |(A' + I) x|_2, repeated until the L1 change is below n tol.

    max_iter   the limit of iterations
    nstart     the first x, as Vector, dict or array of n numbers, not all 0; all equal when None
    weighted   an edge counts its weight rather than 1
    strict     raise ConvergenceFailure at max_iter; False: return what was reached
    callback   called with the record of each iteration; something true stops there

    A change that no longer falls and is all rounding ends the iteration too, with report.stopped_by "resolution".

    Shapes: A n x n, values size n.  Types: any A (weighted: real); values FP64.
    Raises: ConvergenceFailure, TypeError, ValueError (weights that are NaN or infinite among them).
    Cost: per iteration one product with A' and a few passes over vectors of n.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import eigenvector
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> [round(x, 3) for x in eigenvector(A).to_numpy().tolist()]
    [0.5, 0.707, 0.5]
    """
    arguments.flags(weighted=weighted, strict=strict)
    G, tol, max_iter, along = iteration.checked(G, "eigenvector", 24, tol, max_iter, weighted)
    x = iteration.start(nstart, G, 1.0)
    x.name = "eigenvector"
    # as NetworkX begins: of sum 1
    total = float(x.reduce().new().value or 0.0)
    if total:
        x << binary.times(x, 1 / total)

    AT = G.AT

    def step(x: Vector) -> Any:
        # y = x + A' x,  y = y / |y|_2
        y, squares = _add(x, along(AT @ x).new())
        return _divide(y, x, squares)

    with Report("eigenvector", callback, weighted=weighted) as report:
        if G.n:
            turns = iteration.turns_of(G, "eigenvector", weighted)
            (x,) = iteration.until(step, (x,), G.n * tol, max_iter, report, turns=turns)
        else:
            report.finish("converged", True)
    x.name = "eigenvector"
    return iteration.require(VertexResult(x, report, vertices=G.labels), report, tol, max_iter, strict)
