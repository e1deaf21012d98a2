"""Stores: the arrays behind a Matrix or a Vector, immutable records that backends read and make.

A store does not change once made, with one exception: the write step may update a vector's arrays in place when
`shared` is False (no other object refers to them).  Code that hands out an array without a copy sets `shared = True`.
Forms derived from a matrix (its transpose, its tiles) are cached in `forms` and live as long as the store.

Iso stores (all entries equal) have `iso` set and one value in an array of length 1.  A structure-only vector is an iso
BitmapVector.
"""

from typing import Any

import numpy as np

MAX_INT32_DIMENSION = 2**31 - 1
_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
WORD = 64


def index_dtype(dimension):
    """dtype of indices below `dimension`: int32 where they fit, else int64."""
    return _INT32 if dimension <= MAX_INT32_DIMENSION else _INT64


class _Counted:
    """Numbers of entries that cost nothing: a result on a device may not have read its own
    (cuda/runtime/late_vector.py).
    """

    __slots__ = ()
    is_part = False  # one rank's part of a distributed store (backends/distributed/parts.py)?

    def mapped(self, function):
        """function(self), whose entries are at the same positions; of a part, on each rank."""
        return function(self)

    @property
    def nvals_if_read(self):
        """nvals, or None where the number is on a device only."""
        return self.nvals

    @property
    def estimated_nvals(self):
        """nvals, or about as many; reads nothing from a device."""
        return self.nvals


class SparseVector(_Counted):
    """A sparse vector: sorted `indices` (index_dtype(size)) and `values` (one each, or one for all when iso)."""

    __slots__ = ("size", "dtype", "indices", "values", "iso", "shared", "forms")
    format = "sparse"

    def __init__(self, size, dtype, indices, values, iso=False):
        self.size = size
        self.dtype = dtype
        self.indices = indices
        self.values = values
        self.iso = iso
        self.shared = False
        self.forms = None

    def with_values(self, dtype, values, iso):
        """The same structure with other values; marks neither store `shared`.  So of every class of stores."""
        return SparseVector(self.size, dtype, self.indices, values, iso)

    def moved(self, move):
        """The store with move(array) in place of each of its arrays.  So of every class of stores."""
        return SparseVector(self.size, self.dtype, move(self.indices), move(self.values), self.iso)

    @property
    def nvals(self):
        return self.indices.shape[0]

    nvals_if_read = estimated_nvals = nvals

    @property
    def shape(self):
        return (self.size,)

    @property
    def nbytes(self):
        return self.indices.nbytes + self.values.nbytes


class BitmapVector(_Counted):
    """A bitmap vector: a value for each of `size` positions (or one for all when iso) and presence bits.

    Bit i of the vector is bit i % 64 of `words[i // 64]`; bits past `size` are 0; `words` is None when all are present.
    Values at absent positions are arbitrary.
    """

    __slots__ = ("size", "dtype", "words", "values", "nvals", "iso", "shared", "forms")
    format = "bitmap"

    def __init__(self, size, dtype, words, values, nvals, iso=False):
        self.size = size
        self.dtype = dtype
        self.words = words
        self.values = values
        self.nvals = nvals
        self.iso = iso
        self.shared = False
        self.forms = None

    def with_values(self, dtype, values, iso):
        return BitmapVector(self.size, dtype, self.words, values, self.nvals, iso)

    def moved(self, move):
        words = None if self.words is None else move(self.words)
        return BitmapVector(self.size, self.dtype, words, move(self.values), self.nvals, self.iso)

    @property
    def shape(self):
        return (self.size,)

    @property
    def nbytes(self):
        return self.values.nbytes + (0 if self.words is None else self.words.nbytes)


class Compressed(_Counted):
    """A matrix by rows: CSR, or DCSR (hypersparse) when `rows` lists the stored rows.

    CSR:   row i is indices[indptr[i]:indptr[i+1]], indptr has length nrows + 1.
    DCSR:  row rows[r] is indices[indptr[r]:indptr[r+1]], `rows` sorted int64, indptr has length len(rows) + 1.

    `indptr` is int64, `indices` index_dtype(ncols), ascending and without duplicates in each row.  A matrix by columns
    (CSC) is stored as its transpose by rows: see `transpose_of` in storage/convert.py.
    """

    __slots__ = (
        "nrows",
        "ncols",
        "dtype",
        "indptr",
        "indices",
        "values",
        "rows",
        "format",
        "iso",
        "shared",
        "forms",
        "__weakref__",
    )

    def __init__(self, nrows, ncols, dtype, indptr, indices, values, iso=False, rows=None):
        self.nrows = nrows
        self.ncols = ncols
        self.dtype = dtype
        self.indptr = indptr
        self.indices = indices
        self.values = values
        self.rows = rows
        self.format = "csr" if rows is None else "dcsr"
        self.iso = iso
        self.shared = False
        self.forms = None

    def with_values(self, dtype, values, iso):
        return Compressed(self.nrows, self.ncols, dtype, self.indptr, self.indices, values, iso, self.rows)

    def moved(self, move):
        indptr, indices, values = move(self.indptr), move(self.indices), move(self.values)
        rows = None if self.rows is None else move(self.rows)
        return Compressed(self.nrows, self.ncols, self.dtype, indptr, indices, values, self.iso, rows)

    @property
    def nvals(self):
        return self.indices.shape[0]

    nvals_if_read = estimated_nvals = nvals

    @property
    def shape(self):
        return (self.nrows, self.ncols)

    @property
    def nbytes(self):
        rows = 0 if self.rows is None else self.rows.nbytes
        return self.indptr.nbytes + self.indices.nbytes + self.values.nbytes + rows


class Dense(Compressed):
    """A matrix with a position for each row and column: `flat` is a BitmapVector of nrows * ncols positions.

    Row-major: entry (i, j) is position i * ncols + j.  Column-major (`by_columns`): position j * nrows + i.
    With presence words it is a bitmap, without them full; an iso full matrix stores one value, whatever its shape.

    What has no method for this form reads `indptr`, `indices` and `values`, the arrays of the same entries as CSR: they
    are made when they are first read and kept in `forms` (storage/dense.py).
    """

    __slots__ = ("by_columns", "flat")
    rows = None  # of the CSR form
    by_rows: Any = None  # the function by_rows of storage/dense.py

    def __init__(self, nrows, ncols, flat, by_columns=False):
        self.nrows = nrows
        self.ncols = ncols
        self.flat = flat
        self.by_columns = by_columns
        self.dtype = flat.dtype
        self.iso = flat.iso
        self.forms = None

    def with_flat(self, flat):
        """The matrix of another vector of the same positions; itself where it is the same vector."""
        return self if flat is self.flat else Dense(self.nrows, self.ncols, flat, self.by_columns)

    def with_values(self, dtype, values, iso):
        """`values` in the order of `flat`."""
        return self.with_flat(self.flat.with_values(dtype, values, iso))

    def moved(self, move):
        return self.with_flat(self.flat.moved(move))

    @property
    def format(self):
        return ("full" if self.flat.words is None else "bitmap") + ("c" if self.by_columns else "r")

    @property
    def indptr(self):
        return Dense.by_rows(self).indptr

    @property
    def indices(self):
        return Dense.by_rows(self).indices

    @property
    def values(self):
        flat = self.flat
        if self.iso or flat.words is None and not self.by_columns:
            return flat.values
        return Dense.by_rows(self).values

    @property
    def shared(self):
        return self.flat.shared

    @shared.setter
    def shared(self, value):
        self.flat.shared = value

    @property
    def nvals(self):
        return self.flat.nvals

    @property
    def nvals_if_read(self):
        return self.flat.nvals_if_read

    @property
    def estimated_nvals(self):
        return self.flat.estimated_nvals

    @property
    def nbytes(self):
        return self.flat.nbytes


class StoredMask:
    """A mask for backends: the structure of `pattern` (a store), or its complement.

    A value mask is reduced to the structure of its true entries before.  A complement is never materialised: kernels
    read the flag.
    """

    __slots__ = ("pattern", "complement")

    def __init__(self, pattern, complement=False):
        self.pattern = pattern
        self.complement = complement

    def __invert__(self):
        return StoredMask(self.pattern, not self.complement)


def forms_of(store):
    """The dict of forms cached with `store`."""
    forms = store.forms
    if forms is None:
        forms = store.forms = {}
    return forms


def full_values(store):
    """values with iso expanded: one per stored entry (sparse, compressed) or per position (bitmap)."""
    if not store.iso:
        return store.values
    count = store.size if store.format == "bitmap" else store.nvals
    one = store.values[:1]  # an entry of a sub-array type is an array
    return np.broadcast_to(one, (count, *one.shape[1:])) if one.shape[0] else np.repeat(one, count)


def same_structure(x, y):
    """Have x and y (of one shape) the same structure because they share its arrays?

    Shared arrays are never written to (operations/write.py).
    """
    if x.format != y.format:
        return False
    if x.format == "bitmap":
        return x.words is y.words
    if x.format == "sparse":
        return x.indices is y.indices
    if type(x) is Dense:
        return x.flat.words is y.flat.words
    return x.indices is y.indices and x.indptr is y.indptr and x.rows is y.rows
