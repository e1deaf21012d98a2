"""Matrices that change in a captured loop: vectors of the positions at which they may have entries.

A bound is a pattern that stays, and a matrix within it the vector of its entries there, in the pattern's order: a slot
of the device's loop as any vector's.  What a turn does with matrices of one bound is done with these vectors,

    C = A (+) B, A (x) B, f(A), select, C<M>, C (+)= T      the same of the vectors
    C = A'                                                  a gather, where the bound has each position's opposite
    w = C (+.x) u      u at the columns of the positions, (x) C, (+) over the positions of each row: two products
    C<M> = A (+.x) B   dot products of rows at the positions (Backend.bounded_product)

so that nothing is allocated by a number of entries.  A bound holds what its matrices have as the loop begins and after
a turn, and what the loop adds to them; a product without a mask has none.

bounded.py does this while a turn runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import BOOL, INT64
from ..exceptions import CaptureError
from ..operators import get_typed_op
from ..storage.store import BitmapVector, Compressed, Dense, SparseVector, StoredMask, index_dtype

MOST_ROWS = 1 << 26  # of a matrix with few rows that have entries: half a GB of row pointers for each form
MOST_WIDENED = 6  # times that bounds get more positions before a loop is captured


class Outside(Exception):  # noqa: N818  # no error: the bound is widened
    """A matrix may have entries outside its bound, at most those of `pattern`."""

    def __init__(self, pattern: Any) -> None:
        super().__init__(f"programs: a matrix of shape {pattern.shape} outside its bound")
        self.pattern = pattern


class _NoArray(CaptureError, AttributeError):
    """It has no such array."""


class BoundedMatrix:
    """A store: `entries` is the vector of the matrix's entries at the positions of `bound`."""

    __slots__ = ("__weakref__", "bound", "entries", "forms")
    format = "bounded"
    is_part = False
    shared = True
    rows = None

    def __init__(self, bound: Bound, entries: Any) -> None:
        entries.shared = True  # other matrices may have it, too
        self.bound, self.entries, self.forms = bound, entries, None

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "shared":  # it always is
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise _NoArray(f"programs: what reads `{name}` of a matrix that changes in the loop is not captured")

    def mapped(self, function: Any) -> BoundedMatrix:
        """The matrix of function(entries)."""
        return BoundedMatrix(self.bound, function(self.entries))

    def with_values(self, dtype: Any, values: Any, iso: bool) -> BoundedMatrix:
        """`values` in the order of the positions."""
        return BoundedMatrix(self.bound, self.entries.with_values(dtype, values, iso))

    def of_one_value(self, dtype: Any, values: Any) -> BoundedMatrix:
        """The matrix with an entry at each position, values[0]."""
        size = self.bound.size
        return BoundedMatrix(self.bound, BitmapVector(size, dtype, None, values, size, iso=True))

    @property
    def values(self) -> Any:
        """In the order of the positions; of positions without an entry anything."""
        return self.entries.values

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)"""
        return self.bound.pattern.shape

    @property
    def nrows(self) -> int:
        """The number of rows."""
        return self.bound.pattern.nrows

    @property
    def ncols(self) -> int:
        """The number of columns."""
        return self.bound.pattern.ncols

    @property
    def dtype(self) -> Any:
        """Of the entries."""
        return self.entries.dtype

    @property
    def iso(self) -> bool:
        """Has it one value?"""
        return self.entries.iso

    @property
    def nvals(self) -> int:
        """The number of entries."""
        return self.entries.nvals

    @property
    def nvals_if_read(self) -> int | None:
        """The number of entries where the host knows it."""
        return self.entries.nvals_if_read

    @property
    def estimated_nvals(self) -> int:
        """About as many."""
        return self.entries.estimated_nvals


class Bound:
    """A pattern by rows, and what is made of it once: its positions as matrices.

    ids: the matrix whose entries are the numbers of the positions.
    """

    def __init__(self, backend: Any, pattern: Compressed) -> None:
        self._backend, self.pattern = backend, pattern
        self.size = pattern.indices.shape[0]
        self.ids = pattern.with_values(INT64, backend.xp.arange(self.size, dtype=np.int64), False)
        self._made: dict[str, Any] = {}
        self._projected: dict[tuple, tuple] = {}

    def _kept(self, name, make):
        if name not in self._made:
            make_ahead(self._backend)
            self._made[name] = make()
        return self._made[name]

    def _ones(self, nrows, ncols, indptr, columns):
        """A matrix of ones with these entries."""
        columns = columns.astype(index_dtype(ncols))
        return Compressed(nrows, ncols, BOOL, indptr, columns, self._backend.xp.ones(1, np.bool_), True)

    def _each(self):
        return self._backend.xp.arange(self.size + 1, dtype=np.int64)

    @property
    def rows(self) -> Any:
        """The row of each position."""
        return self._kept("rows", lambda: self._backend.line_numbers(self.pattern.indptr))

    @property
    def transpose(self) -> Compressed:
        """The transpose of `ids`: by columns, the number of each position."""
        return self._kept("transpose", lambda: self._backend.convert(self._backend.transpose(self.ids), "csr"))

    def lines(self, by_columns: bool) -> Compressed:
        """L(i, p) = 1 for the positions p of each row i, or of each column."""

        def make():
            if by_columns:
                T = self.transpose
                return self._ones(self.pattern.ncols, self.size, T.indptr, T.values)
            return self._ones(self.pattern.nrows, self.size, self.pattern.indptr, self.ids.values)

        return self._kept(f"lines {by_columns}", make)

    def ends(self, rows: bool) -> Compressed:
        """E(p, j) = 1 for the column j of each position p, or its row."""

        def make():
            if rows:
                return self._ones(self.size, self.pattern.nrows, self._each(), self.rows)
            return self._ones(self.size, self.pattern.ncols, self._each(), self.pattern.indices)

        return self._kept(f"ends {rows}", make)

    def opposites(self) -> Compressed:
        """O(p, q) = 1 for the position q = (j, i) opposite to p = (i, j).  Raises: Outside where one has none."""

        def make():
            backend, T = self._backend, self.transpose
            if self.pattern.nrows != self.pattern.ncols:
                raise CaptureError("programs: the transpose of a matrix that changes in the loop and is not square")
            xp, mine = backend.xp, self.pattern
            same = T.indices.shape == mine.indices.shape and bool((T.indptr == mine.indptr).all())
            if not same or not bool((xp.asarray(T.indices) == mine.indices).all()):
                raise Outside(pattern_of(backend, T))
            return self._ones(self.size, self.size, self._each(), T.values)

        return self._kept("opposites", make)

    def project(self, store: Any, whole: bool = True) -> Any:
        """The vector of the entries at the positions, of a matrix that changes or of one that does not (kept).

        Raises: Outside where it has others, if they count (whole).
        """
        if type(store) is BoundedMatrix:
            if store.bound is not self:
                raise CaptureError("programs: matrices of two loops meet")
            return store.entries
        parts = _parts_of(store)
        key = tuple(map(id, parts))
        if key not in self._projected:
            make_ahead(self._backend)
            entries, inside = self._entries_of(store)
            self._projected[key] = (store, parts), self._backend.convert(entries, "bitmap"), inside
        _, entries, inside = self._projected[key]
        if whole and not inside:
            raise Outside(pattern_of(self._backend, store))
        entries = entries.with_values(store.dtype, store.values, True) if store.iso else entries
        entries.shared = True
        return entries

    def entries_of(self, store: Any) -> Any:
        """The vector of all entries of a matrix.  Raises: Outside."""
        entries, inside = self._entries_of(store)
        if not inside:
            raise Outside(pattern_of(self._backend, store))
        return entries

    def _entries_of(self, store):
        """(the entries at the positions, are these all?)"""
        backend, pattern = self._backend, self.pattern
        store = backend.to_device(store)
        if store.shape != pattern.shape or store.dtype._is_udt:
            raise CaptureError(f"programs: a matrix of shape {store.shape} where {pattern.shape} was expected")
        if type(store) is Compressed and store.indices is pattern.indices and store.indptr is pattern.indptr:
            store.shared = True
            entries: Any = BitmapVector(self.size, store.dtype, None, store.values, self.size, store.iso)
            entries.shared = True
            return entries, True
        at = backend.convert(backend.restrict(self.ids, StoredMask(store)), "csr")
        values = store.values[:1] if store.iso else None
        if values is None:
            values = backend.convert(backend.restrict(store, StoredMask(self.pattern)), "csr").values
        found = at.indices.shape[0]
        if found == self.size:
            entries = BitmapVector(self.size, store.dtype, None, values, found, store.iso)
        else:
            entries = SparseVector(
                self.size, store.dtype, at.values.astype(index_dtype(self.size)), values, store.iso
            )  # fmt: skip
        entries.shared = True
        return entries, found == store.nvals

    def matrix_of(self, entries: Any) -> Compressed:
        """The matrix with these entries."""
        backend, pattern = self._backend, self.pattern
        if entries.nvals == self.size:
            u = backend.convert(entries, "bitmap")
            found = pattern.with_values(u.dtype, u.values, u.iso)
            pattern.shared = found.shared = u.shared = True
            return found
        u = backend.convert(entries, "sparse")
        u.shared = True
        xp, at = backend.xp, u.indices
        indptr = xp.searchsorted(at.astype(np.int64), pattern.indptr).astype(np.int64)
        return Compressed(pattern.nrows, pattern.ncols, u.dtype, indptr, pattern.indices[at], u.values, u.iso)


def _parts_of(store):
    """The objects that tell a matrix apart; of one value, which may be written at a mask that stays: its pattern."""
    if not store.iso:
        return (store,)
    if type(store) is Dense:
        return store.flat.words, store.by_columns
    return store.indices, store.indptr, store.rows


def make_ahead(backend: Any) -> None:
    """Raises: CaptureError in a captured turn, after which what is kept would not be there."""
    if backend.turns is not None and backend.turns.capturing:
        raise CaptureError("programs: a turn meets matrices that the turns before did not")


def pattern_of(backend: Any, store: Any) -> Compressed:
    """The pattern of a matrix, by rows.  Raises: CaptureError for one with few rows that have entries."""
    if store.format == "dcsr" and store.nrows > MOST_ROWS:
        raise CaptureError("programs: a matrix that changes in the loop and has few rows with entries")
    store = backend.to_device(store)
    store = store if store.format == "csr" else backend.convert(store, "csr")
    return store.with_values(BOOL, backend.xp.ones(1, np.bool_), True)


def every_position(backend: Any, nrows: int, ncols: int) -> Compressed:
    """The pattern of all positions."""
    xp = backend.xp
    indptr = xp.arange(nrows + 1, dtype=np.int64) * ncols
    indices = xp.arange(nrows * ncols, dtype=np.int64) % ncols
    return Compressed(nrows, ncols, BOOL, indptr, indices.astype(index_dtype(ncols)), xp.ones(1, np.bool_), True)


def joined(backend: Any, patterns: list) -> Compressed:
    """The union of patterns."""
    found = patterns[0]
    for other in patterns[1:]:
        if other.indices is not found.indices or other.indptr is not found.indptr:
            both = pattern_of(backend, backend.union(found, other, get_typed_op("lor", BOOL, kind="binary")))
            found = both if both.nvals > found.nvals else found  # whose arrays operands may share
    return found
