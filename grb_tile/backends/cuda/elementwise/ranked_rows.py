"""The entries of each row, or of a vector, in an order of their own on the device.  Semantics: backends/rearranged.py.

Kernel: elementwise/ranked_rows.cuh.  Read-back: the length of the longest row, where it matters.
"""

import numpy as np

from ....dtypes import UINT64
from ....hashing import key_of
from ....storage.convert import share
from ....storage.store import BitmapVector, Compressed, index_dtype
from ..runtime.launch import bits_of
from ..structure.arrays import as_type, gather, index_type, moved_type, progression, ranges, to_sparse, vector_of
from ..structure.positions import is_matrix
from ..structure.sorting import stable_order
from .first_of_rows import order_of_keys
from .values import all_plain

PLACE, VALUE, HASH = "0", "1", "2"  # of RankedBy in ranked_rows.cuh
MOST = 2048  # entries of a row that are compared with each other
_ORDERS = {  # order: (falling keys, equal keys or places from the end)
    "first": (False, False), "last": (False, True), "random": (False, False),
    "smallest": (False, False), "largest": (True, True), "descending": (True, False),
}  # fmt: skip


def ranked_rows(device, x, order, ncols, values, columns, seed):
    """See RearrangedEntries.ranked_rows."""
    if callable(order):
        return NotImplemented
    by = HASH if order == "random" else PLACE if order in ("first", "last") or x.iso else VALUE
    if not all_plain(x.dtype) or by == VALUE and x.dtype.np_type.kind == "c":
        return NotImplemented
    if x.format == "bitmap" and x.words is not None:
        x = to_sparse(device, x)
    count, most = x.nvals, device.launcher.size(MOST, 8)
    if is_matrix(x):
        rows, ends, at = x.indptr.shape[0] - 1, x.indptr[1:], x.indices
        longest = x.ncols if ncols is None else ncols  # at most
        know = ncols is None or by != PLACE and longest > most
    else:
        rows, ends, at, longest, know = 1, None, x.indices if x.format == "sparse" else None, count, False
    rank = device.empty(count, at.dtype) if is_matrix(x) else None
    value_out = device.empty(count, x.values.dtype) if values and not x.iso else None
    column_out = device.empty(count, np.uint64) if columns else None
    descending, backwards = _ORDERS[order]
    name = x.dtype.cuda_type if by == VALUE else moved_type(x.values)
    if count and (know or by == PLACE or longest <= most):
        ends = device.array(np.array([count], np.int64)) if ends is None else ends
        given = ends, rows, count, at, x.values, x.iso, bits_of(key_of(seed, 0)), descending, backwards, most
        kernel = device.launcher.kernel(
            "elementwise/ranked_rows.cuh", "ranked_rows", "", (by, "int32_t" if at is None else index_type(at), name)
        )
        out = rank, value_out, column_out
        if know:
            counters, finished = device.counters(), device.partial_results(0)[1]
            (longest,) = device.sent(lambda sent: kernel.over(count, (*given, *out, counters, finished, sent)))
        else:
            kernel.over(count, (*given, *out, None, None, None))
    elif count == 0:
        longest = 0
    if by != PLACE and longest > most:
        keys = ("uint64_t", None, key_of(seed, 0)) if by == HASH else (name, x.values, 0)
        found = order_of_keys(device, count, *keys, backwards, descending)
        if backwards:
            found = progression(device, count, np.dtype(np.int64), count - 1, -1, found)
        if is_matrix(x):
            numbers = ranges(device, None, ends, count, want_at=False)[0]
            found = gather(device, found, stable_order(device, gather(device, numbers, found), rows))
        if value_out is not None:
            value_out = gather(device, x.values, found)
        if columns:
            taken = found if at is None else gather(device, at, found)
            column_out = progression(device, count, np.dtype(np.uint64), places=taken)
    ncols = longest if ncols is None else ncols
    kept = x.values if x.iso else value_out
    return (
        _placed(device, x, ncols, x.dtype, rank, kept, x.iso) if values else None,
        _placed(device, x, ncols, UINT64, rank, column_out, False) if columns else None,
    )


def _placed(device, x, ncols, dtype, rank, values, iso):
    """The matrix of x's rows whose entries have the columns `rank`; of a vector the entries at its first positions."""
    if is_matrix(x):
        rank = as_type(device, rank, index_dtype(ncols))
        return share(x, Compressed(x.nrows, ncols, dtype, x.indptr, rank, values, iso, x.rows))
    if x.nvals == ncols > 0:
        result = BitmapVector(ncols, dtype, None, values, ncols, iso)
    else:
        result = vector_of(device, ncols, dtype, progression(device, x.nvals, index_dtype(ncols)), values, iso)
    return share(x, result) if iso else result
