"""Vectors broadcast over the entries of a matrix, and Kronecker products, in NumPy.  Semantics: backends/protocol.py.

Both make their entries in row-major order, so nothing is sorted; the cost follows the entries of the result, or of the
mask where a mask that is not a complement has fewer.
"""

import numpy as np

from ....dtypes import cast
from ....planner import tuning
from ....storage.convert import choose_format, compressed, occupied, row_ids, rows_csr, take_rows
from ....storage.host_memory import check_memory
from ....storage.sorting import find, ranges
from ....storage.store import index_dtype
from .elementwise import combine
from .entries import empty_matrix, keep_entries, like, members
from .in_chunks import mapped


def broadcast(u, pattern, axis):
    return broadcast_over(u, like(pattern, pattern.dtype, pattern.values[:1], True), axis)[1]


def broadcast_over(u, A, axis):
    if u.nvals < u.size:
        A = _lines_of(A, u) if axis == 0 else keep_entries(A, members(u, A.indices).nonzero()[0])
    if u.iso:
        return A, like(A, u.dtype, u.values[:1], True)
    if axis == 1:
        return A, like(A, u.dtype, _values_at(u, A.indices), False)
    used, starts = occupied(A)
    counts = np.diff(starts, append=A.indices.shape[0])
    return A, like(A, u.dtype, np.repeat(_values_at(u, used), counts, axis=0), False)


def _lines_of(A, u):
    """The rows of A where u has an entry."""
    used = occupied(A)[0]
    if u.format == "sparse":
        rows = u.indices.astype(np.int64, copy=False)
    else:
        rows = used[members(u, used)]
        if rows.shape[0] == used.shape[0]:
            return A
    return choose_format(take_rows(A, rows))


def _values_at(u, positions):
    """u's values at positions where it has entries."""
    if u.format == "bitmap" or u.nvals == u.size:
        return mapped(u.values.take, positions)
    return u.values[find(positions, u.indices)[0]]


def follows_mask(count, mask):
    """Is a product of `count` entries best made at the positions of the mask?"""
    return mask is not None and not mask.complement and mask.pattern.nvals * tuning.BROADCAST_MASK < count


def kronecker(A, B, op):
    nrows, ncols = A.nrows * B.nrows, A.ncols * B.ncols
    count = A.indices.shape[0] * B.indices.shape[0]
    if count == 0:
        return empty_matrix(nrows, ncols, op.return_type)
    one = op.return_type.np_type.itemsize
    check_memory(count * (32 + one + index_dtype(ncols).itemsize), f"kronecker: {count} entries")
    (rows_a, starts_a), (rows_b, starts_b) = occupied(A), occupied(B)
    lengths_a, lengths_b = rows_csr(A, rows_a)[1], rows_csr(B, rows_b)[1]
    ia = np.arange(rows_a.shape[0]).repeat(rows_b.shape[0])  # the rows of A and B behind each row of the result
    ib = np.tile(np.arange(rows_b.shape[0]), rows_a.shape[0])
    entries_a = ranges(starts_a[ia], lengths_a[ia])  # entries of A, repeated for each row of B
    ib = ib.repeat(lengths_a[ia])
    at_a = entries_a.repeat(lengths_b[ib])
    at_b = ranges(starts_b[ib], lengths_b[ib])
    rows = (row_ids(A) * B.nrows)[at_a] + row_ids(B)[at_b]
    cols = A.indices[at_a].astype(np.int64) * B.ncols + B.indices[at_b]
    return _result(A, at_a, B, at_b, op, nrows, ncols, rows, cols)


def kronecker_at(A, B, op, mask):
    """The product at the mask's positions only: each has one entry of A and one of B, found by binary search."""
    rows, cols = row_ids(mask), mask.indices.astype(np.int64)
    at_a, hit = entries_at(A, rows // B.nrows, cols // B.ncols)
    kept = hit.nonzero()[0]
    at_b, hit = entries_at(B, rows[kept] % B.nrows, cols[kept] % B.ncols)
    at_a, at_b, kept = at_a[kept][hit], at_b[hit], kept[hit]
    return _result(A, at_a, B, at_b, op, A.nrows * B.nrows, A.ncols * B.ncols, rows[kept], cols[kept])


def entries_at(A, rows, cols):
    """(at, hit): the entry of A at each (rows[k], cols[k]), and whether there is one; int64, in any order."""
    starts, lengths = rows_csr(A, rows)
    low, high = starts.astype(np.int64), starts + lengths
    end = high.copy()
    last = max(A.indices.shape[0] - 1, 0)
    while True:  # binary search in all rows at once
        open_ = low < high
        if not open_.any():
            break
        middle = (low + high) >> 1
        less = open_ & (A.indices[np.minimum(middle, last)] < cols)
        low = np.where(less, middle + 1, low)
        high = np.where(open_ & ~less, middle, high)
    hit = low < end
    hit[hit] = A.indices[low[hit]] == cols[hit]
    return low, hit


def _result(A, at_a, B, at_b, op, nrows, ncols, rows, cols):
    """The matrix of op(A's entry at_a[k], B's entry at_b[k]) at (rows[k], cols[k]), which ascend."""
    if rows.shape[0] == 0:
        return empty_matrix(nrows, ncols, op.return_type)
    if op.positional is None:
        values, iso = combine(op, op.return_type, A, at_a, B, at_b, None)
    else:
        X, at = (A, at_a) if op.positional.startswith("first") else (B, at_b)
        position = row_ids(X)[at] if op.positional.rstrip("1")[-1] == "i" else X.indices[at].astype(np.int64)
        values, iso = cast(position + (op.positional[-1] == "1"), op.return_type), False
    return compressed(nrows, ncols, op.return_type, rows, cols, values, iso)
