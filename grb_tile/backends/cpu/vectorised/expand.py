"""expand in NumPy: entries moved to a region of a larger vector or matrix.  Semantics: backends/protocol.py."""

import numpy as np

from ....planner import tuning
from ....storage import bits
from ....storage.convert import choose_format, compressed, row_ids, share, to_dcsr, to_sparse, wants_dcsr
from ....storage.host_memory import check_memory
from ....storage.sorting import stable_order
from ....storage.store import BitmapVector, Compressed, index_dtype
from .entries import order_pairs, vector_of


def expand_vector(u, I, size):
    if I is None:
        if u.size == size:
            return u
        u = to_sparse(u)
        return vector_of(size, u.dtype, u.indices, u.values, u.iso)
    if type(I) is range and I.step == 1 and u.format == "bitmap" and u.words is None and u.size * 16 > size:
        return _expand_full(u, I, size)
    s = to_sparse(u)
    share(u)
    places = _placed(s.indices, I)
    values = s.values
    if places.shape[0] > 1 and not (places[1:] > places[:-1]).all():
        order = stable_order(places, size)
        places = places[order]
        if not s.iso:
            values = values[order]
    result = vector_of(size, u.dtype, places, values, s.iso)
    result.shared = True
    return result


def _expand_full(u, I, size):
    """The full vector u at a range of positions, as a bitmap: no position is listed."""
    check_memory(size // 8 + (0 if u.iso else size * u.values.itemsize), f"a bitmap of {size} positions")
    words = bits.empty(size)
    first, last = I.start >> 6, (I.stop - 1) >> 6
    words[first : last + 1] = np.uint64(0xFFFFFFFFFFFFFFFF)
    words[first] &= np.uint64(0xFFFFFFFFFFFFFFFF) << np.uint64(I.start & 63)
    words[last] &= np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(-I.stop & 63)
    values = u.values
    if not u.iso:
        values = np.zeros((size, *u.values.shape[1:]), u.values.dtype)
        values[I.start : I.stop] = u.values
    result = BitmapVector(size, u.dtype, words if u.size < size else None, values, u.size, u.iso)
    return choose_format(share(u, result) if u.iso else result)


def expand_matrix(A, I, J, nrows, ncols, gather):
    """T[I[k], J[l]] = A[k,l]; gather: the backend's gather_matrix, which sorts A where I or J do not ascend."""
    if I is None and J is None and A.nrows == nrows and A.ncols == ncols:
        return A
    given_I, given_J = I, J
    (I, row_order), (J, column_order) = _ascending(I, nrows), _ascending(J, ncols)
    if (row_order is not None or column_order is not None) and A.indices.shape[0] < tuning.COMPILED_ENTRIES:
        return _sorted_anew(A, given_I, given_J, nrows, ncols)
    A = gather(A, row_order, column_order)
    cols = _placed(A.indices, J).astype(index_dtype(ncols), copy=False)
    if I is None and A.nrows == nrows:
        rows, indptr = A.rows, A.indptr
    elif A.rows is None and not wants_dcsr(nrows, A.indices.shape[0]):
        rows, indptr = None, np.zeros(nrows + 1, np.int64)
        lengths = indptr[1:]
        at = slice(0, A.nrows) if I is None else slice(I.start, I.stop, I.step) if type(I) is range else I
        lengths[at] = A.indptr[1:] - A.indptr[:-1]
        indptr.cumsum(out=indptr)
    else:
        listed = to_dcsr(A)
        rows, indptr = _placed(listed.rows, I), listed.indptr
    result = Compressed(nrows, ncols, A.dtype, indptr, cols, A.values, A.iso, rows)
    return choose_format(share(A, result))


def _sorted_anew(A, I, J, nrows, ncols):
    """expand_matrix by one sort of the moved entries."""
    rows, cols = _placed(row_ids(A), I), _placed(A.indices, J)
    order = order_pairs(rows, cols, nrows, ncols)
    values = A.values
    if order is not None:
        rows, cols = rows[order], cols[order]
        values = values if A.iso else values[order]
    result = choose_format(compressed(nrows, ncols, A.dtype, rows, cols, values, A.iso))
    return share(A, result) if order is None or A.iso else result


def _ascending(K, size):
    """(K sorted, its order), or (K, None) where K ascends."""
    if K is None:
        return None, None
    if type(K) is range:
        return (K, None) if K.step > 0 else (K[::-1], range(len(K) - 1, -1, -1))
    if bool((K[1:] > K[:-1]).all()):
        return K, None
    order = stable_order(K, size)
    return K[order], order


def _placed(positions, K):
    """K[positions] for an array, a range or None (all)."""
    if K is None:
        return positions
    return K.start + positions.astype(np.int64) * K.step if type(K) is range else K[positions]
