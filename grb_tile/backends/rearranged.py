"""Primitives that only move entries to other places, and their forms in terms of other primitives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import UINT64
from ..hashing import hashes
from ..storage.constructors import empty_matrix, empty_vector
from . import plain

if TYPE_CHECKING:
    from ..dtypes import DataType
    from ..storage.store import Compressed


class RearrangedEntries:
    """Base of Backend: matrices joined from tiles, cut into tiles, of another shape; rows in another order."""

    def concat_matrices(self, tiles: list[list[Compressed]], dtype: DataType) -> Compressed:
        """T[i + top, j + left] = A[i,j] for each tile A of a grid (a list of rows of tiles), cast to `dtype`."""
        return plain.concat_matrices(self, tiles, dtype)

    def split_matrix(self, A: Compressed, heights: list[int], widths: list[int]) -> list[list[Compressed]]:
        """T[i,j] = A[i + top, j + left] for each tile T of a grid of these heights and widths, which add up to A's."""
        return split_matrix(self, A, heights, widths)

    def reshape_matrix(self, A: Compressed, nrows: int, ncols: int) -> Compressed:
        """T[p // ncols, p % ncols] = A[p // A.ncols, p % A.ncols]   for p below nrows * ncols = A.nrows * A.ncols."""
        return reshape_matrix(self, A, nrows, ncols)

    def ranked_rows(self, x: Any, order: Any, ncols: int | None, values: bool, columns: bool, seed: int = 0) -> tuple:
        """(C, P): C[i,r] = the r-th value of row i of x by `order`, P[i,r] = its column as UINT64; a vector is a row.

        order: as `how` of first_of_rows; "descending": NaN first, then falling values, equal ones by column; or what
        permutes the entries, row by row, by their rows (None: of a vector), columns and values on the host.
        ncols: of C and P, or their size; no row has more entries; None: as many as the longest row has.  values,
        columns: is C wanted, is P?  None stands for what is not.
        """
        return ranked_rows(self, x, order, ncols, values, columns, seed)


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


def reshape_matrix(backend, A, nrows, ncols):
    """The tuples of A, built at their other positions."""
    if (nrows, ncols) == A.shape:
        return A
    rows, columns, values = backend.tuples(A)
    if not values.shape[0]:
        return empty_matrix(nrows, ncols, A.dtype)
    at = rows * A.ncols + columns
    return backend.build_matrix(nrows, ncols, at // ncols, at % ncols, values, None, A.dtype)


def ranked_rows(backend, x, order, ncols, values, columns, seed):
    """The tuples of x, ordered, and built with their ranks as columns."""
    *major, minor, stored = backend.tuples(x)
    xp = np if type(minor) is np.ndarray else backend.xp  # NumPy's beside a device: of a user-defined type
    major, count = major[0] if major else None, minor.shape[0]
    if callable(order):
        given = [part if part is None or type(part) is np.ndarray else part.get() for part in (major, minor, stored)]
        picked = xp.asarray(order(*given))
    else:
        picked = _ordered(xp, major, stored, order, seed)
    rank = xp.arange(count) if major is None else ranks(xp, major)
    if ncols is None:
        ncols = int(rank.max()) + 1 if count else 0
    shape = (ncols,) if major is None else (x.nrows, ncols)
    places = (rank,) if major is None else (major, rank)

    def made(kept, dtype):
        if not count:
            return (empty_vector if major is None else empty_matrix)(*shape, dtype)
        build = backend.build_vector if major is None else backend.build_matrix
        return build(*shape, *places, kept[picked], None, dtype)

    return made(stored, x.dtype) if values else None, made(minor.astype(np.uint64), UINT64) if columns else None


def _runs(major):
    """(first entry, number of entries) of each line that has some; NumPy."""
    starts = np.flatnonzero(np.concatenate([[True], major[1:] != major[:-1]])) if major.shape[0] else np.zeros(0, int)
    return starts, np.diff(starts, append=major.shape[0])


def ranks(xp, major, reverse=False):
    """The rank of each entry in its line; reverse: counted from the line's end."""
    at = xp.arange(major.shape[0])
    if xp is np:
        starts, lengths = _runs(major)
        return np.repeat(starts + lengths - 1, lengths) - at if reverse else at - np.repeat(starts, lengths)
    return xp.searchsorted(major, major, side="right") - 1 - at if reverse else at - xp.searchsorted(major, major)


def _ordered(xp, major, values, order, seed):
    """The permutation that puts each line's entries in `order`, lines ascending."""
    count = values.shape[0]
    if order == "random":
        return _by_line(major, hashes(xp, 0, count, seed, 0))
    if order == "last":
        return _backwards(xp, major, count)
    if order == "first":
        return xp.arange(count)
    if order == "smallest":
        return _by_line(major, values)
    back = _backwards(xp, major, count)
    if order == "descending":  # backwards before and after: equal values stay in order
        return back[_by_line(major, values[back])][back]
    return _by_line(major, values)[back]


def _by_line(major, keys):
    """The order by line, then key; equal keys as they come."""
    order = keys.argsort(kind="stable")
    return order if major is None else order[major[order].argsort(kind="stable")]


def _backwards(xp, major, count):
    """The order that reverses each line of `count` entries in all."""
    if major is None:
        return xp.arange(count - 1, -1, -1)
    return xp.searchsorted(major, major) + ranks(xp, major, reverse=True)
