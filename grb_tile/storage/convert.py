"""Conversions between the basic formats, the choice of format by density, and the forms cached with a matrix.

    sparse vector  <->  bitmap vector        CSR  <->  DCSR (hypersparse)        a matrix  <->  its transpose

All thresholds of formats are here.  Each pair of formats has two, for hysteresis, so that a store near a threshold is
not converted back and forth (as in SuiteSparse:GraphBLAS):

    sparse -> bitmap   nvals > size / 16           bitmap -> sparse   nvals < size / 64
    DCSR   -> CSR      nrows <= 16 nvals           CSR    -> DCSR     nrows > 64 nvals      (small nrows: always CSR)

Derived forms are cached in `store.forms`, a dict made on demand:

    "transpose"      Compressed: the transpose (strong reference)
    "transpose_of"   weak reference from a transpose to its origin
    "row_ids"        int64: the row of each entry (small matrices)
    "occupied"       (rows, starts) of the non-empty rows
    "occupied_words" (presence bits, number) of the non-empty rows
    "columns"        (columns with entries, the number among them of each entry's) of hypersparse matrices
    "keys"           int64: row * ncols + column of each entry (small matrices)
    "words"          presence bits of a sparse vector
    "tiled" ...      the tiled forms: see tiled.py, bit_tiles.py
"""

import weakref

import numpy as np

from ..exceptions import OutOfMemory
from . import bits
from .host_memory import check_memory
from .place import convert_there
from .sorting import ranges, stable_order
from .store import BitmapVector, Compressed, SparseVector, forms_of, index_dtype

SPARSE_TO_BITMAP = 16  # size / nvals below which a sparse vector becomes a bitmap
BITMAP_TO_SPARSE = 64  # size / nvals above which a bitmap becomes sparse
DCSR_TO_CSR = 16  # nrows / nvals up to which DCSR becomes CSR
CSR_TO_DCSR = 64  # nrows / nvals above which CSR becomes DCSR
SMALL_ROWS = 4096  # matrices with at most this number of rows are CSR
TINY = 64  # a vector with fewer entries stays sparse unless it is full
MAX_BITMAP = 2**40  # largest dimension of a bitmap or of CSR row pointers
_KEEP_ROW_IDS = 1 << 14  # entries up to which the row numbers of a matrix are cached


def share(x, *results):
    """Mark x and results as sharing arrays, which must not be written any more; returns the last."""
    x.shared = True
    for result in results:
        result.shared = True
    return results[-1] if results else x


# ---------------------------------------------------------------------- vectors


def to_sparse(u):
    """`u` as a SparseVector (itself when it is one)."""
    if u.format == "sparse":
        return u
    if type(u.values) is not np.ndarray:
        return convert_there(u, "sparse")
    if u.words is None:
        indices = all_positions(u.size, index_dtype(u.size))
        values = u.values
        result = SparseVector(u.size, u.dtype, indices, values, u.iso)
        return share(u, result)
    indices = bits.to_indices(u.words, u.size, index_dtype(u.size))
    if u.iso:
        return share(u, SparseVector(u.size, u.dtype, indices, u.values, True))
    return SparseVector(u.size, u.dtype, indices, u.values[indices])


def to_bitmap(u):
    """`u` as a BitmapVector (itself when it is one)."""
    if u.format == "bitmap":
        return u
    if type(u.values) is not np.ndarray:
        return convert_there(u, "bitmap")
    size, indices, count = u.size, u.indices, u.indices.shape[0]
    if count == size:
        return share(u, BitmapVector(size, u.dtype, None, u.values, size, u.iso and size > 0))
    if size > MAX_BITMAP:
        raise OutOfMemory(f"a bitmap of {size} positions does not fit in memory; keep the vector sparse")
    one_value = u.iso and u.values.shape[0]
    check_memory(size // 8 + (0 if one_value else size * u.dtype.np_type.itemsize), f"a bitmap of {size} positions")
    words = bits.from_indices(indices, size)
    if one_value:
        return share(u, BitmapVector(size, u.dtype, words, u.values[:1], count, True))
    values = np.zeros((size, *u.values.shape[1:]), u.values.dtype)
    values[indices] = u.values
    return BitmapVector(size, u.dtype, words, values, count)


def all_positions(size, np_type=np.int64):
    """0, 1, ..., size-1.  Raises: OutOfMemory, before anything is allocated, when they do not fit in memory."""
    check_memory(size * np.dtype(np_type).itemsize, f"the positions of a full vector of size {size}")
    return np.arange(size, dtype=np_type)


def words_of(u):
    """The presence bits of a vector in either format (read-only); None when every position is present."""
    if u.format == "bitmap":
        return u.words
    if u.indices.shape[0] == u.size:
        return None
    forms = u.forms
    if forms is not None and "words" in forms:
        return forms["words"]
    words = bits.from_indices(u.indices, u.size)
    forms_of(u)["words"] = words
    return words


# ---------------------------------------------------------------------- matrices


def row_ids(A):
    """The row number of each entry of A (int64), cached with small matrices."""
    forms = A.forms
    if forms is not None:
        ids = forms.get("row_ids")
        if ids is not None:
            return ids
    counts = A.indptr[1:] - A.indptr[:-1]
    rows = A.rows if A.rows is not None else np.arange(A.nrows, dtype=np.int64)
    ids = rows.repeat(counts)
    if ids.shape[0] <= _KEEP_ROW_IDS:
        forms_of(A)["row_ids"] = ids
    return ids


def occupied(A):
    """(rows, starts): the non-empty rows of A (int64) and where each starts in A.indices; cached with A."""
    forms = A.forms
    if forms is not None:
        known = forms.get("occupied")
        if known is not None:
            return known
    indptr = A.indptr
    used = (indptr[1:] != indptr[:-1]).nonzero()[0]
    if A.rows is None:
        known = (used, indptr[used])
    elif used.shape[0] == A.rows.shape[0]:
        known = (A.rows, indptr[:-1])
    else:
        known = (A.rows[used], indptr[used])
    forms_of(A)["occupied"] = known
    return known


def occupied_words(A):
    """(presence bits of the non-empty rows of the CSR matrix A, or None when no row is empty; how many); cached with A.

    The bits are shared: they must not be written.
    """
    forms = A.forms
    if forms is not None:
        known = forms.get("occupied_words")
        if known is not None:
            return known
    flags = A.indptr[1:] != A.indptr[:-1]
    count = int(np.count_nonzero(flags))
    known = (None if count == A.nrows else bits.from_bool(flags), count)
    forms_of(A)["occupied_words"] = known
    return known


def columns_of(A):
    """(the columns of A that have entries, ascending; the number among them of each entry's column); kept with A."""
    forms = A.forms
    if forms is not None:
        known = forms.get("columns")
        if known is not None:
            return known
    names, numbers = np.unique(A.indices, return_inverse=True)
    known = names, numbers.astype(index_dtype(names.shape[0]))
    forms_of(A)["columns"] = known
    return known


def rows_csr(A, rows):
    """(starts, lengths) of the given rows (int64, any order, repeats allowed) of A, CSR or DCSR."""
    indptr = A.indptr
    if A.rows is None:
        starts = indptr[rows]
        return starts, indptr[rows + 1] - starts
    at = A.rows.searchsorted(rows)
    if A.rows.shape[0] == 0:
        nothing = np.zeros(rows.shape[0], np.int64)
        return nothing, nothing
    hit = A.rows.take(at, mode="clip") == rows
    at = np.where(hit, at, 0)
    starts = indptr[at]
    return starts, np.where(hit, indptr[at + 1] - starts, 0)


def wants_dcsr(nrows, nvals):
    """Is a new matrix with this number of rows and entries DCSR?"""
    return nrows > SMALL_ROWS and nrows > DCSR_TO_CSR * nvals


def compressed(nrows, ncols, dtype, rows, cols, values, iso=False):
    """The matrix of distinct entries that are sorted by rows: `rows` int64, `cols` of any integer type."""
    want = index_dtype(ncols)
    if cols.dtype != want:
        cols = cols.astype(want)
    count = rows.shape[0]
    if wants_dcsr(nrows, count):
        if count == 0:
            return Compressed(nrows, ncols, dtype, np.zeros(1, np.int64), cols, values, iso, np.empty(0, np.int64))
        fresh = np.empty(count, np.bool_)
        fresh[0] = True
        np.not_equal(rows[1:], rows[:-1], out=fresh[1:])
        starts = fresh.nonzero()[0]
        indptr = np.empty(starts.shape[0] + 1, np.int64)
        indptr[:-1] = starts
        indptr[-1] = count
        return Compressed(nrows, ncols, dtype, indptr, cols, values, iso, rows[starts].astype(np.int64, copy=False))
    indptr = np.zeros(nrows + 1, np.int64)
    np.bincount(rows, minlength=nrows).cumsum(out=indptr[1:])
    return Compressed(nrows, ncols, dtype, indptr, cols, values, iso)


def to_csr(A):
    """`A` as CSR (itself when it is CSR)."""
    if A.rows is None:
        return A
    if type(A.values) is not np.ndarray:
        return convert_there(A, "csr")
    if A.nrows > MAX_BITMAP:
        raise OutOfMemory(f"CSR of {A.nrows} rows does not fit in memory; keep the matrix DCSR")
    counts = np.zeros(A.nrows + 1, np.int64)
    counts[A.rows + 1] = A.indptr[1:] - A.indptr[:-1]
    return _same_entries(A, counts.cumsum(), None)


def to_dcsr(A):
    """`A` as DCSR, row pointers for the non-empty rows only (itself when it is DCSR)."""
    if A.rows is not None:
        return A
    if type(A.values) is not np.ndarray:
        return convert_there(A, "dcsr")
    rows, starts = occupied(A)
    indptr = np.empty(rows.shape[0] + 1, np.int64)
    indptr[:-1] = starts
    indptr[-1] = A.indices.shape[0]
    return _same_entries(A, indptr, rows)


def _same_entries(A, indptr, rows):
    result = Compressed(A.nrows, A.ncols, A.dtype, indptr, A.indices, A.values, A.iso, rows)
    if A.forms is not None:
        keep = {key: A.forms[key] for key in ("transpose", "row_ids", "occupied") if key in A.forms}
        if keep:
            result.forms = keep
    return share(A, result)


def cached_transpose(A):
    """The transpose of A when it is cached, else None."""
    forms = A.forms
    if forms is None:
        return None
    known = forms.get("transpose")
    if known is not None:
        return known
    origin = forms.get("transpose_of")
    return None if origin is None else origin()


def keep_transpose(A, T):
    """Cache T as A's transpose: A refers to T, and T weakly to A.  Returns T."""
    forms_of(A)["transpose"] = T
    forms_of(T)["transpose_of"] = weakref.ref(A)
    return T


def keep_symmetric(A):
    """Remember that A is its own transpose, so that none is made; A refers weakly to itself."""
    forms_of(A)["transpose_of"] = weakref.ref(A)


def transpose_of(A):
    """T[j,i] = A[i,j], cached with A.

    Cost: one radix sort of the column indices (two passes of 16 bits for up to 2^32 columns).
    """
    known = cached_transpose(A)
    if known is not None:
        return known
    count = A.indices.shape[0]
    cols = A.indices
    bound = A.ncols
    labels = None
    if count and bound > 1 << 32:
        labels, cols = np.unique(cols, return_inverse=True)
        bound = labels.shape[0]
    order = stable_order(cols, bound)
    new_cols = row_ids(A)[order].astype(index_dtype(A.nrows), copy=False)
    values = A.values if A.iso else A.values[order]
    new_rows = A.indices[order].astype(np.int64, copy=False)
    T = compressed(A.ncols, A.nrows, A.dtype, new_rows, new_cols, values, A.iso)
    return keep_transpose(A, T)


def without_empty_rows(rows, indptr):
    """(rows, indptr) of DCSR without the rows that have no entries; CSR (rows None) as it is."""
    if rows is None:
        return rows, indptr
    used = (indptr[1:] != indptr[:-1]).nonzero()[0]
    if used.shape[0] == rows.shape[0]:
        return rows, indptr
    kept = np.empty(used.shape[0] + 1, np.int64)
    kept[:-1], kept[-1] = indptr[used], indptr[-1]
    return rows[used], kept


def take_rows(A, rows):
    """The rows `rows` of A (int64, ascending, distinct), with their row numbers, as DCSR."""
    starts, lengths = rows_csr(A, rows)
    used = lengths.nonzero()[0]
    if used.shape[0] != rows.shape[0]:
        rows, starts, lengths = rows[used], starts[used], lengths[used]
    at = ranges(starts, lengths)
    indptr = np.zeros(rows.shape[0] + 1, np.int64)
    lengths.cumsum(out=indptr[1:])
    values = A.values if A.iso else A.values[at]
    return Compressed(A.nrows, A.ncols, A.dtype, indptr, A.indices[at], values, A.iso, rows)


# ---------------------------------------------------------------------- choice


def choose_format(store):
    """`store`, or the same entries in the format that its density calls for; a part is in that of each rank."""
    if store.is_part:
        return store
    format = store.format
    if format == "sparse":
        size, count = store.size, store.indices.shape[0]
        if count * SPARSE_TO_BITMAP > size and (count >= TINY or count == size) and size:
            return to_bitmap(store)
        return store
    if format == "bitmap":
        if store.nvals * BITMAP_TO_SPARSE < store.size:
            return to_sparse(store)
        if store.words is not None and store.nvals == store.size:
            return share(store, BitmapVector(store.size, store.dtype, None, store.values, store.nvals, store.iso))
        return store
    count = store.indices.shape[0]
    if format == "csr":
        if store.nrows > SMALL_ROWS and store.nrows > CSR_TO_DCSR * count:
            return to_dcsr(store)
        return store
    if store.nrows <= SMALL_ROWS or store.nrows <= DCSR_TO_CSR * count:
        return to_csr(store)
    return store


def convert(store, format):
    """The same entries in `format`: "sparse" or "bitmap" for a vector, "csr" or "dcsr" for a matrix."""
    return _CONVERSIONS[format](store)


_CONVERSIONS = {"sparse": to_sparse, "bitmap": to_bitmap, "csr": to_csr, "dcsr": to_dcsr}
