"""Products of hypersparse matrices (DCSR): rows and columns without entries are left out, and the others renumbered.

The product is then that of a CSR matrix whose dimensions are at most its number of entries, by the kernels and the
bound calls of other products; the result's rows and columns get their numbers back.  The columns' numbers are kept with
the matrix (storage/convert.py: columns_of).
"""

import numpy as np

from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format, columns_of, to_dcsr, to_sparse, transpose_of
from grb_tile.storage.sorting import find
from grb_tile.storage.store import Compressed, StoredMask, forms_of, index_dtype

from ..vectorised.entries import empty_vector, vector_of
from ..vectorised.structure import gather_vector
from . import bound_matmul
from .matmul import gustavson, rows_kernel


def matvec(A, x, semiring, mask, by_rows, product):
    """w<mask> = A x of a DCSR matrix, or of its transpose (not `by_rows`), or NotImplemented.

    product: a function of (CSR matrix, x, semiring, mask), which computes the one or the other.
    """
    if semiring.binaryop.positional or 0 in (A.indices.shape[0], x.nvals) or not _is_due(A, x.nvals, by_rows):
        return NotImplemented
    names, columns = columns_of(A)
    rows = A.rows
    packed = Compressed(rows.shape[0], names.shape[0], A.dtype, A.indptr, columns, A.values, A.iso)
    read, written, size = (names, rows, A.nrows) if by_rows else (rows, names, A.ncols)
    x = _part(x, read)
    if x.nvals == 0:
        return empty_vector(size, semiring.return_type)
    if mask is not None:
        mask = StoredMask(_part(mask.pattern, written), mask.complement)
    w = to_sparse(product(packed, x, semiring, mask))
    return vector_of(size, w.dtype, written[w.indices], w.values, w.iso)


def _part(u, positions):
    """u[positions], which ascend."""
    if u.format != "sparse" or u.indices.shape[0] > positions.shape[0]:
        return gather_vector(u, positions)
    at, hit = find(u.indices, positions)
    if not hit.all():
        kept = hit.nonzero()[0]
        return vector_of(positions.shape[0], u.dtype, at[kept], u.values if u.iso else u.values[kept], u.iso)
    return vector_of(positions.shape[0], u.dtype, at, u.values, u.iso)


def _is_due(A, nvals, by_rows):
    """Are A's columns numbered, or have products read so many entries that numbering them pays (ski rental)?"""
    forms = forms_of(A)
    if "columns" in forms:
        return True
    share = 1.0 if by_rows else min(1.0, nvals / A.rows.shape[0])
    read = forms["read"] = forms.get("read", 0.0) + share
    return read > tuning.NUMBERED_AFTER


def matmul(A, B, semiring, BT=None):
    """A B where one of them is hypersparse, or NotImplemented.  BT: B's transpose where B is None."""
    if semiring.binaryop.positional:
        return NotImplemented
    if B is None:
        B = transpose_of(BT)
    few = A.indices.shape[0] + B.indices.shape[0] < tuning.COMPILED_ENTRIES
    if few and not _is_loaded(A, B, semiring):
        return NotImplemented
    left, at, indptr = to_dcsr(A), A.indices, B.indptr
    if B.rows is not None:  # the columns of A by the numbers of B's rows, those without one by that of an empty row
        count = B.rows.shape[0]
        at, hit = find(at, B.rows)
        at = at.astype(index_dtype(count + 1))
        if not hit.all():
            at[~hit] = count
        indptr = np.empty(count + 2, np.int64)
        indptr[:-1] = B.indptr
        indptr[-1] = B.indptr[-1]
    ncols, names, columns = B.ncols, None, B.indices
    if ncols > tuning.RENUMBERED_COLUMNS * columns.shape[0]:
        names, columns = columns_of(B)
        ncols = names.shape[0]
    rows = indptr.shape[0] - 1
    packed = (
        Compressed(left.rows.shape[0], rows, A.dtype, left.indptr, at, A.values, A.iso),
        Compressed(rows, ncols, B.dtype, indptr, columns, B.values, B.iso),
    )
    C = bound_matmul.matmul(*packed, semiring, None, False)
    if C is NotImplemented:
        C = gustavson(*packed, semiring, None)
    if C is NotImplemented:
        return C
    C = to_dcsr(C)
    indices = (C.indices if names is None else names[C.indices]).astype(index_dtype(B.ncols), copy=False)
    return choose_format(Compressed(A.nrows, B.ncols, C.dtype, C.indptr, indices, C.values, C.iso, left.rows[C.rows]))


def _is_loaded(A, B, semiring):
    """Is the kernel of a small product there?  Else NumPy does the work in the time of renumbering."""
    index = index_dtype(0).char
    kernel = rows_kernel(semiring, (index,) * 4, "none", A.iso, B.iso)
    return kernel is not None and kernel.of_small_calls(tuning.SMALL_PRODUCT_SECONDS) is not None
