"""Betweenness with edges of different lengths: the dependencies of one source at a time.

    d = sssp(s),    T(v, w) = 1 where d(v) + A(v, w) = d(w)     tight edges: those on shortest paths from s
    sigma = e_s + e_s T + e_s T^2 + ...                         numbers of shortest paths from s
    y = T x + T^2 x + ...,   x = 1 / sigma                      until the power is empty
    b(v) += sigma(v) y(v) for v != s,   e(v, w) += sigma(v) T(v, w) (x + y)(w)

T has no cycle, because lengths are above 0, so that a power of it is empty after as many products as the longest of the
shortest paths has edges.  y solves y = T (x + y), Brandes' recursion with delta = sigma y.

Contract: G is not changed.  Lengths are FP64, and equal where their sums along the paths are equal in FP64.
Reference: Brandes, "A faster algorithm for betweenness centrality" (J. Math. Sociology 25, 2001), section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, select, semiring, unary

from .graph import Graph
from .sssp import Weights, sssp

FP64 = dtypes.FP64


def lengths(G: Graph) -> Matrix:
    """A in FP64, checked: every edge lengthens every path by an amount that FP64 holds."""
    weights = Weights(G)  # refuses NaN, -inf and what is not real
    if G.A.nvals:
        emin, emax = weights.emin, weights.emax
        if emin <= 0 or emax == np.inf:
            bad = emin if emin <= 0 else emax
            raise ValueError(
                f"weighted=True: lengths must be above 0 and finite, got {bad}; remove such edges or give others"
            )
        longest = float(emax) * G.n
        integer = G.A.dtype.np_type.kind != "f"
        if (integer and longest >= 2.0**53) or not longest < longest + float(emin):
            raise OverflowError(
                f"weighted=True: paths of {G.n} vertices with lengths from {emin} to {emax} cannot be told "
                "apart in FP64; scale or round the weights"
            )
    return G.weights_as(FP64)


def add_to_vertices(b: Vector, A: Matrix, sources: Sequence[int], endpoints: bool) -> None:
    """b += the dependencies of the sources; endpoints: a path counts for its ends, too."""
    for s in sources:
        _, sigma, _, y = _dependencies(A, s)
        delta = binary.times(sigma & y).new()
        if endpoints:
            # delta(t) += 1 for each t that s reaches, and their number for s
            delta = binary.plus(delta | unary.one[FP64](sigma).new()).new()
            delta[s] = sigma.nvals - 1
        elif s in delta:
            del delta[s]
        b(binary.plus) << delta


def add_to_edges(E: Matrix, A: Matrix, sources: Sequence[int]) -> None:
    """E += the dependencies of the sources by edge."""
    for s in sources:
        T, sigma, x, y = _dependencies(A, s)
        z = binary.plus(x | y).new()
        # E += diag(sigma) T diag(x + y)
        E(binary.plus) << semiring.any_times[FP64](semiring.any_first[FP64](sigma.diag() @ T).new() @ z.diag())


def _dependencies(A: Matrix, s: int) -> tuple[Matrix, Vector, Vector, Vector]:
    """(T, sigma, x, y) of the source s."""
    d = sssp(A, s).distances
    D = d.diag()
    # T(v, w) where d(v) + A(v, w) = d(w)
    through = semiring.any_plus[FP64](D @ A).new()
    T = binary.eq(through & semiring.any_second[FP64](A @ D).new()).new()
    T = select.valueeq(T, True).new(name="T")
    start = Vector.from_coo([s], [1.0], FP64, size=A.nrows)
    sigma = binary.plus(start | _sum_of_powers(lambda f: semiring.plus_first[FP64](f @ T), start)).new(name="sigma")
    x = unary.minv(sigma).new(name="x")
    return T, sigma, x, _sum_of_powers(lambda f: semiring.plus_second[FP64](T @ f), x)


def _sum_of_powers(step: Callable[[Vector], Any], f: Vector) -> Vector:
    """step(f) + step(step(f)) + ... until nothing is left."""
    total = Vector(FP64, f.size)
    while f.nvals:
        f = step(f).new()
        total(binary.plus) << f
    return total
