"""Vectors as one-row or one-column matrices and back, and iso stores with a given structure; nothing is sorted."""

import numpy as np

from ..dtypes import lookup_dtype
from .convert import SMALL_ROWS, to_sparse
from .place import arrays_of, at, backend_of, is_host, moved_like
from .store import BitmapVector, Compressed, Dense, SparseVector, index_dtype

_ROW_ZERO = np.zeros(1, np.int64)
_FIRST = np.zeros(1, index_dtype(1))


def _one(value, dtype):
    """An array of one value; for a sub-array type NumPy needs the base type."""
    subdtype = dtype.np_type.subdtype
    return np.array([value], dtype.np_type if subdtype is None else subdtype[0])


def row_matrix(u):
    """The 1 x n matrix whose row is u."""
    if u.is_part:
        return u.world.as_row(u)
    u = to_sparse(u)
    indptr = at(u, lambda xp: xp.asarray(np.array([0, u.nvals], np.int64)))
    return Compressed(1, u.size, u.dtype, indptr, u.indices, u.values, u.iso)


def column_matrix(u):
    """The n x 1 matrix whose column is u (DCSR: no array of length n)."""
    if u.is_part:
        return u.world.as_column(u)
    u = to_sparse(u)
    indptr, rows = _lines_of_entries(u)
    indices = at(u, lambda xp: xp.zeros(u.nvals, index_dtype(1)))
    return Compressed(u.size, 1, u.dtype, indptr, indices, u.values, u.iso, rows=rows)


def diagonal_of(u):
    """The n x n matrix with u on its diagonal (DCSR unless u is full: no array of length n for a sparse u)."""
    if u.is_part:
        return u.world.as_diagonal(u)
    u = to_sparse(u)
    indptr, rows = _lines_of_entries(u) if u.nvals < u.size else (_each_alone(u), None)
    return Compressed(u.size, u.size, u.dtype, indptr, u.indices, u.values, u.iso, rows=rows)


def _lines_of_entries(u):
    """(indptr, rows) of a matrix with each entry of the sparse u in its own row, where u's arrays reside."""
    return _each_alone(u), at(u, lambda xp: u.indices.astype(np.int64))


def _each_alone(u):
    """The pointers of rows that have one entry each of the sparse u, where u's arrays reside."""
    return at(u, lambda xp: xp.arange(u.nvals + 1, dtype=np.int64))


def _flat(A):
    A.shared = True
    return A.flat


def vector_of_row(A):
    """The vector of the only row of a 1 x n matrix."""
    if A.is_part:
        return A.world.only_row(A)
    if type(A) is Dense:
        return _flat(A)
    return SparseVector(A.ncols, A.dtype, A.indices, A.values, A.iso)


def vector_of_column(A):
    """The vector of the only column of an n x 1 matrix, or of the rows of one that have one entry each at most."""
    if A.is_part:
        return A.world.only_column(A)
    if type(A) is Dense and A.ncols == 1:
        return _flat(A)
    if not is_host(A):
        of_entries = backend_of(A).line_numbers
        indices = at(A, lambda xp: of_entries(A.indptr, A.rows, A.indices.shape[0], index_dtype(A.nrows)))
        return SparseVector(A.nrows, A.dtype, indices, A.values, A.iso)
    rows = A.rows if A.rows is not None else np.arange(A.nrows, dtype=np.int64)
    indices = np.repeat(rows, np.diff(A.indptr)).astype(index_dtype(A.nrows), copy=False)
    return SparseVector(A.nrows, A.dtype, indices, A.values, A.iso)


def iso_like(pattern, dtype, value):
    """The store with the structure of `pattern` whose entries all equal `value`; shares the structure's arrays."""
    values = _one(value, dtype) if type(arrays_of(pattern).values) is np.ndarray else moved_like(pattern, value)
    return pattern.with_values(dtype, values, True)


def bit_patterns(x):
    """A store of floats as unsigned integers of the same bits (those of both parts of a complex number, by or).

    Stores of other types: itself.  The arrays are shared.
    """
    np_type = x.dtype.np_type
    if np_type.kind not in "fc":
        return x
    return x.mapped(_bit_patterns)


def _bit_patterns(x):
    np_type = x.dtype.np_type
    dtype = lookup_dtype(f"UINT{8 * min(np_type.itemsize, 8)}")
    values = arrays_of(x).values.view(dtype.np_type)
    if np_type.itemsize == 16:
        values = values[::2] | values[1::2]
    return x.with_values(dtype, values, x.iso)


def vector_of_scalar(value, dtype):
    """The vector of size 1 with the entry `value`, without one for None; all with one share the array of positions."""
    if value is None:
        return empty_vector(1, dtype)
    store = SparseVector(1, dtype, _FIRST, _one(value, dtype))
    store.shared = True
    return store


def full_vector(size, dtype, value):
    """The full iso vector of `value`; stores one value."""
    return BitmapVector(size, dtype, None, _one(value, dtype), size, True)


def full_matrix(nrows, ncols, dtype, value):
    """The nrows x ncols matrix with an entry `value` everywhere (full and iso: stores one value)."""
    if nrows * ncols == 0:
        return empty_matrix(nrows, ncols, dtype)
    return Dense(nrows, ncols, full_vector(nrows * ncols, dtype, value))


def empty_vector(size, dtype):
    return SparseVector(size, dtype, np.empty(0, index_dtype(size)), np.empty(0, dtype.np_type))


def empty_matrix(nrows, ncols, dtype):
    """The empty matrix, of whose rows no array is made where they may be many."""
    indices, values = np.empty(0, index_dtype(ncols)), np.empty(0, dtype.np_type)
    if nrows > SMALL_ROWS:
        return Compressed(nrows, ncols, dtype, _ROW_ZERO, indices, values, rows=np.empty(0, np.int64))
    return Compressed(nrows, ncols, dtype, np.zeros(nrows + 1, np.int64), indices, values)
