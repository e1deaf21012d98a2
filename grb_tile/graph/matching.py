"""Matchings, each as one operation of the backend in use."""

from __future__ import annotations

from ..backends.select import current
from ..core.matrix import Matrix
from ..core.vector import Vector
from .operands import store_of


def bipartite_matching(B: Matrix) -> tuple[Vector, Vector] | None:
    """(mate of each row, mate of each column): the most pairs of rows and columns joined by entries of B.

    Shapes: B m x n, mates of size m and n, without an entry where a row or column has no mate.  Types: any B, whose
    values do not matter; mates INT64.  Raises: TypeError.
    None where the backend in use has no loop for B.
    Cost: O(nvals sqrt(m + n)).  Source: Hopcroft and Karp, "An n^(5/2) algorithm for maximum matchings in bipartite
    graphs" (SIAM J. Comput. 2, 1973).
    """
    found = current().bipartite_matching(store_of(B))
    if found is NotImplemented:
        return None
    rows, columns = (
        Vector.from_dense(mate, missing_value=-1, name=name) for mate, name in zip(found, NAMES, strict=True)
    )
    return rows, columns


NAMES = "mate_row", "mate_col"
