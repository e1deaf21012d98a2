"""Markov clustering: flow that is expanded and inflated by turns until it stays within clusters.

    M = A' + I, columns of sum 1
    repeat   M = M^e,  M = M .^ r,  M = M where M >= prune,  columns of sum 1      until M stays
    cluster of j = where the rows of the largest entries lead to, j -> argmax_i M(i, j) -> ...

Contract: G is not changed.  The cluster of a vertex is named by one of its vertices, the attractor; of equal entries
the least row is taken.  An attractor whose own flow goes on to another one (they share a cluster, or the iteration was
stopped) belongs to that one's cluster, and of several that lead to each other the least names it.  A loop of the graph
is replaced by the one of weight `loops`.  Edges count both ways only where both are there.
References: van Dongen, "Graph clustering by flow simulation" (thesis, Utrecht 2000); LAGraph's LAGr_MarkovClustering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, indexunary, monoid, select, semiring, unary

from . import arguments, iteration
from .given import GraphLike
from .graph import room_for
from .report import Report
from .result import VertexResult

if TYPE_CHECKING:
    from .graph import Graph
    from .report import Callback

FP64 = dtypes.FP64


def mcl(
    G: GraphLike,
    *,
    expansion: int = 2,
    inflation: float = 2.0,
    prune: float = 1e-4,
    loops: float = 1.0,
    weighted: bool = False,
    tol: float = 1e-6,
    max_iter: int = 100,
    strict: bool = True,
    callback: Callback | None = None,
) -> VertexResult:
    """M = M^e, M .^ r, prune, normalise, until no entry changes by more than tol; clusters by the largest of a column.

    expansion   e >= 2: the power of M
    inflation   r > 1: the larger, the smaller the clusters
    prune       entries below are dropped, 0 <= prune < 1; the largest of a column stays
    loops       the weight of each vertex's edge to itself, > 0
    weighted    flow in proportion to the weights (>= 0) rather than equally
    max_iter    the limit of iterations
    strict      raise ConvergenceFailure at max_iter; False: return what was reached
    callback    called with the record of each iteration; something true stops there

    Shapes: A n x n, values size n.  Types: any A (weighted: real); values INT64, full.
    Raises: ConvergenceFailure; TypeError, ValueError for the arguments and for weights below 0, NaN and infinite ones.
    Cost: an iteration is e - 1 products of M with itself, whose entries `prune` limits.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import mcl
    >>> A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 0, 3, 2], nrows=5, ncols=5)
    >>> mcl(A).to_numpy().tolist()
    [0, 0, 2, 2, 4]
    """
    arguments.flags(weighted=weighted, strict=strict)
    G = room_for(G, "mcl", 200)
    expansion = arguments.count(expansion, "expansion", 2)
    inflation, loops = arguments.real(inflation, "inflation"), arguments.real(loops, "loops")
    if inflation <= 1:
        raise ValueError(f"inflation: expected a number above 1, got {inflation!r}; 2 is usual")
    if loops <= 0:
        raise ValueError(f"loops: expected a number above 0, got {loops!r}; 1 is usual")
    prune = arguments.fraction(prune, "prune")
    tol, max_iter = iteration.limits(tol, max_iter)
    iteration.check_weights(G, weighted)
    if weighted and G.A.nvals and G.emin < 0:
        raise ValueError(f"weighted=True: the weight {G.emin} is negative; pass weighted=False or take unary.abs(A)")
    M = _first(G, loops, weighted)
    with Report("mcl", callback, weighted=weighted) as report:
        report.finish("max_iter", False)
        for _ in range(max_iter):
            last = M
            for _ in range(expansion - 1):
                # M = M^e
                M = semiring.plus_times[FP64](M @ last).new(name="M")
            # M = M .^ r
            M << binary.pow(M, inflation)
            M = _pruned(_normalised(M), prune)
            change = _greatest_change(M, last)
            stop = report.note(residual=change, entries=M.nvals)
            if change <= tol:
                report.finish("converged", True)
                break
            if stop:
                break
    return iteration.require(VertexResult(_attractors(M), report, vertices=G.labels), report, tol, max_iter, strict)


def _first(G: Graph, loops: float, weighted: bool) -> Matrix:
    """A' + I with columns of sum 1."""
    M = G.AT.dup(FP64) if weighted else unary.one[FP64](G.AT).new()
    own = Vector.from_scalar(loops, G.n, FP64).diag()
    # M = A' where i != j, `loops` where i = j
    M << binary.second(M | own)
    return _normalised(M)


def _normalised(M: Matrix) -> Matrix:
    """M D, D = diag(1 / [+_i M(i, j)])."""
    D = unary.minv(M.reduce_columnwise(monoid.plus).new()).new().diag()
    return semiring.plus_times[FP64](M @ D).new(name="M")


def _pruned(M: Matrix, prune: float) -> Matrix:
    """M without the entries below `prune`, but with the largest of each column; columns of sum 1."""
    if not prune:
        return M
    kept = select.valuege(M, prune).new()
    kept << binary.second(kept | _largest(M))
    return _normalised(kept)


def _largest(M: Matrix) -> Matrix:
    """The entries M(i, j) = [max_i M(i, j)]."""
    # T(i, j) = [max_i M(i, j)] for each entry
    T = semiring.any_second[FP64](M @ M.reduce_columnwise(monoid.max).new().diag()).new()
    equal = select.valueeq(binary.eq(M & T).new(), True).new()
    return M.dup(mask=equal.S)


def _greatest_change(M: Matrix, last: Matrix) -> float:
    """max |M - last|, absent entries being 0."""
    difference = unary.abs(M.ewise_union(last, binary.minus, 0.0, 0.0).new()).new()
    return float(difference.reduce_scalar(monoid.max).new().value or 0.0)


def _attractors(M: Matrix) -> Vector:
    """For each column the vertex that the least rows of the largest entries lead to, the least one of a cycle."""
    rows = indexunary.rowindex(_largest(M)).new()
    least = Vector.from_dense(np.arange(M.nrows))
    least << rows.reduce_columnwise(monoid.min)
    # after 2^k steps from j: the vertex `to`, and the least of the vertices before it
    to, low = least.to_dense().astype(np.int64), np.arange(M.nrows)
    for _ in range(M.nrows.bit_length()):
        low = np.minimum(low, low[to])
        to = to[to]
    return Vector.from_dense(low[to], dtype=dtypes.INT64, name="clusters")
