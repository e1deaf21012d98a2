"""The arrays behind a Matrix or a Vector: immutable records that backends read and make.

A store never changes once made, with one exception: the write step may update a vector's arrays in place when
`shared` is False (nobody else holds them).  Whoever lets an array out without a copy sets `shared = True`.
Forms derived from a matrix (its transpose, its tiles) are kept in `forms` and so live as long as the store.

Iso stores (all entries equal) hold one value in an array of length 1; `iso` tells.  A structure-only vector is an iso
BitmapVector, so bit vectors need no class of their own.
"""

import numpy as np

MAX_INT32_DIMENSION = 2**31 - 1
WORD = 64


def index_dtype(dimension):
    """dtype of indices into `dimension` places: int32 where they fit, int64 where they must."""
    return np.dtype(np.int32) if dimension <= MAX_INT32_DIMENSION else np.dtype(np.int64)


class SparseVector:
    """Sorted `indices` (index_dtype(size)) and their `values` (one each, or one in all when iso)."""

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

    @property
    def nvals(self):
        return self.indices.shape[0]

    @property
    def shape(self):
        return (self.size,)

    @property
    def nbytes(self):
        return self.indices.nbytes + self.values.nbytes


class BitmapVector:
    """A value place for each of `size` positions (or one in all when iso) and presence bits.

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
        """The same places with other values; nobody is marked `shared`."""
        return BitmapVector(self.size, dtype, self.words, values, self.nvals, iso)

    @property
    def shape(self):
        return (self.size,)

    @property
    def nbytes(self):
        return self.values.nbytes + (0 if self.words is None else self.words.nbytes)


class Compressed:
    """A matrix by rows: CSR, or DCSR when `rows` names the only rows that may hold something.

    CSR:   row i is indices[indptr[i]:indptr[i+1]], indptr has nrows + 1 places.
    DCSR:  row rows[r] is indices[indptr[r]:indptr[r+1]], `rows` sorted int64, indptr has len(rows) + 1 places.

    `indptr` is int64, `indices` index_dtype(ncols), ascending and without duplicates in each row.  A matrix by
    columns (CSC)
    is its transpose by rows: see `transpose_of` in storage/convert.py.
    """

    __slots__ = (
        "nrows",
        "ncols",
        "dtype",
        "indptr",
        "indices",
        "values",
        "rows",
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
        self.iso = iso
        self.shared = False
        self.forms = None

    @property
    def format(self):
        return "csr" if self.rows is None else "dcsr"

    @property
    def nvals(self):
        return self.indices.shape[0]

    @property
    def shape(self):
        return (self.nrows, self.ncols)

    @property
    def nbytes(self):
        rows = 0 if self.rows is None else self.rows.nbytes
        return self.indptr.nbytes + self.indices.nbytes + self.values.nbytes + rows


class Allow:
    """Where writing is permitted: the structure of `pattern` (a store), or its complement.

    A value mask has been reduced to the pattern of its true entries before it gets here.  Nobody copies a mask to
    complement it: the flag is read by the walks.
    """

    __slots__ = ("pattern", "complement")

    def __init__(self, pattern, complement=False):
        self.pattern = pattern
        self.complement = complement

    def __invert__(self):
        return Allow(self.pattern, not self.complement)


def forms_of(store):
    """The dict of what `store` remembers."""
    forms = store.forms
    if forms is None:
        forms = store.forms = {}
    return forms


def full_values(store):
    """values with iso expanded: one per stored entry (sparse, compressed) or per position (bitmap)."""
    if not store.iso:
        return store.values
    count = store.size if store.format == "bitmap" else store.nvals
    return np.broadcast_to(store.values, (count,)) if store.values.shape[0] == 1 else np.repeat(store.values[:1], count)


def same_structure(x, y):
    """Do x and y hold the same positions because they share their structure's arrays?

    Of one shape; arrays with two holders are never written to (operations/write.py).
    """
    if x.format != y.format:
        return False
    if x.format == "bitmap":
        return x.words is y.words
    if x.format == "sparse":
        return x.indices is y.indices
    return x.indices is y.indices and x.indptr is y.indptr and x.rows is y.rows
