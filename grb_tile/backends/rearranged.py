"""Primitives that only move entries to other places, and their forms in terms of other primitives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import plain

if TYPE_CHECKING:
    from ..dtypes import DataType
    from ..storage.store import Compressed


class RearrangedEntries:
    """Base of Backend: matrices joined from tiles, or cut into tiles."""

    def concat_matrices(self, tiles: list[list[Compressed]], dtype: DataType) -> Compressed:
        """T[i + top, j + left] = A[i,j] for each tile A of a grid (a list of rows of tiles), cast to `dtype`."""
        return plain.concat_matrices(self, tiles, dtype)

    def split_matrix(self, A: Compressed, heights: list[int], widths: list[int]) -> list[list[Compressed]]:
        """T[i,j] = A[i + top, j + left] for each tile T of a grid of these heights and widths, which add up to A's."""
        return split_matrix(self, A, heights, widths)


def split_matrix(backend, A, heights, widths):
    """A region of A gathered for each tile."""
    out, top = [], 0
    for height in heights:
        row, left, I = [], 0, None if height == A.nrows else range(top, top + height)
        for width in widths:
            row.append(backend.gather_matrix(A, I, None if width == A.ncols else range(left, left + width)))
            left += width
        out.append(row)
        top += height
    return out
