"""Triangles at vertices, and supports of edges as edges go, each as one operation of the backend in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..backends.select import current
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import INT64
from .operands import check_square, square_store


class Supports(NamedTuple):
    """supports (INT64, at the edges that stay) and removed(), how many edges went in each round."""

    supports: Matrix
    removed: Callable[[], list[int]]


def triangle_corners(L: Matrix) -> Vector | None:
    """t(v) = the triangles i > j > k of L with v = i, j or k: all three corners of C<L> = L plus.pair L' in one pass.

    L   a strictly lower triangle; with vertices in descending order of degree its rows are short

    Shapes: L n x n, result of size n.  Types: any L, whose values do not matter; result INT64, full.
    Raises: TypeError, DimensionMismatch.
    None where the backend in use has no loop for L.
    Source: Schank and Wagner, "Finding, counting and listing all triangles in large graphs" (WEA 2005); rows as words:
    Bisson and Fatica, "High performance exact triangle counting on GPUs" (IEEE TPDS 2017).

    >>> import grb_tile as gb
    >>> L = gb.Matrix.from_coo([1, 2, 2, 3], [0, 0, 1, 2], nrows=4, ncols=4)
    >>> t = gb.graph.triangle_corners(L)
    >>> t is None or t.to_dense().tolist() == [1, 1, 1, 0]
    True
    """
    found = current().triangle_corners(square_store("triangle_corners", L))
    return None if found is NotImplemented else Vector._from_store(found, name="triangles")


def peel_truss(C: Matrix, S: Matrix, least: int) -> Supports | None:
    """S' : repeat the edges with S(i, j) < least go, the other edges of their triangles lose 1, until none goes.

    C   symmetric without loops
    S   at one of (i, j) and (j, i) of each edge of C, at none of edges in no triangle, how many triangles it is part of

    Shapes: C, S, S' n x n.  Types: any C, whose values do not matter; S and S' INT64.
    Raises: TypeError, DimensionMismatch.
    None where the backend in use has no loop for C.
    Cost: for each edge that goes, the shorter row of its ends, looked up in the longer one.
    Source: Kabir and Madduri, "Parallel k-truss decomposition on multicore systems" (HPEC 2017).

    >>> import grb_tile as gb
    >>> C = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], nrows=4, ncols=4)
    >>> S = gb.Matrix.from_coo([1, 2, 2], [0, 0, 1], [1, 1, 1], nrows=4, ncols=4)
    >>> found = gb.graph.peel_truss(C, S, 1)
    >>> found is None or found.supports.to_dicts() == S.to_dicts()
    True
    """
    store, counts = square_store("peel_truss", C), square_store("peel_truss", S if S.dtype is INT64 else S.dup(INT64))
    check_square("peel_truss", store, counts)
    found = current().peel_truss(store, counts, int(least))
    return None if found is NotImplemented else Supports(Matrix._from_store(found[0], name="supports"), found[1])
