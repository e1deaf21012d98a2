"""Rows and columns of CSR and DCSR matrices on the device: A(I, :), A(:, J), and C(I, :) = T.

Kernels: structure/gather.cuh (copy_rows, new_columns, sort_rows), structure/transpose.cuh (rows picked or assigned).
The length of a result is polled for once, and once more where columns come in another order.
"""

import numpy as np

from ....storage import convert as conversions
from ....storage.store import Compressed, forms_of, index_dtype
from .arrays import as_type, compressed, gather, index_type, is_plain, moved_type, ranges, row_ids, stored_rows
from .formats import choose_format
from .index_lists import ascends, columns_in_list, place_table, places_in, positions_of
from .prefix_sums import Flagged, summed
from .sorting import sorted_pairs

_HEADER = "structure/transpose.cuh"
_TABLE = 1 << 23  # columns of which a table of new columns takes less time than a sort of a list (12 us: 32 MB)
_LONGEST = 2048  # entries of a row that is sorted by comparing each of them with each other


def picked_rows(device, A, I):
    """(starts, lengths) of the rows I, a range or a list."""
    count, (wanted, first, step) = len(I), _axis(device, I)
    starts, lengths = device.empty(count, np.int64), device.empty(count, np.int64)
    if count:
        kernel = device.launcher.kernel(_HEADER, "pick_rows", "", (index_type(A.indptr),))
        kernel.over(count, (wanted, first, step, count, *_rows(A), starts, lengths))
    return starts, lengths


def summed_rows(device, A, I):
    """(starts in A, row pointers, entries) of the rows I, a range or a list that is not empty."""
    count, axis = len(I), _axis(device, I)
    starts, indptr = device.empty(count, np.int64), device.empty(count + 1, np.int64)
    given = *axis, count, *_rows(A), starts, indptr
    return starts, indptr, summed(device, count, _HEADER, "sum_rows", (index_type(A.indptr),), *given)


def entries_of_rows(device, A, wanted):
    """(index in `wanted`, index in A) of each entry of the rows `wanted`, in their order."""
    if len(wanted) == 0:
        nothing = device.empty(0, np.int64)
        return nothing, nothing
    starts, indptr, total = summed_rows(device, A, wanted)
    return ranges(device, starts, indptr[1:], total)


def gather_rows(device, A, I):
    """A(I, :), a range or a list, as CSR."""
    count = len(I)
    if count == 0:
        return _matrix(device, 0, A.ncols, A, device.zeros(1, np.int64), A.indices[:0], A.values)
    starts, indptr, total = summed_rows(device, A, I)
    indices, values = _copied(device, indptr, starts, total, A, None, A.iso)
    return _matrix(device, count, A.ncols, A, indptr, indices, values)


def longest_row(device, A):
    """Entries of the longest row, kept with A."""
    forms = forms_of(A)
    found = forms.get("largest_degree")
    if found is None:
        found = forms["largest_degree"] = device.read((A.indptr[1:] - A.indptr[:-1]).max().reshape(1))[0]
    return found


def capped_rows(device, A, k, from_end):
    """The first k entries of each row, or the last ones; k is at least 1."""
    rows, count = A.indptr.shape[0] - 1, A.indices.shape[0]
    starts, indptr = device.empty(rows, np.int64), device.empty(rows + 1, np.int64)
    given = A.indptr, rows, k, from_end, starts, indptr
    total = summed(device, rows, _HEADER, "capped_rows", (index_type(A.indptr),), *given)
    if total == count:
        return A
    indices, values = _copied(device, indptr, starts, total, A, None, A.iso)
    return _matrix(device, A.nrows, A.ncols, A, indptr, indices, values, A.rows)


def gather_columns(device, A, J):
    """A(:, J), a range or a list."""
    ncols, count = len(J), A.indices.shape[0]
    if type(J) is not range and not (1 < ncols and A.ncols <= max(device.launcher.size(_TABLE, 32), ncols + count)):
        return _searched_columns(device, A, J)
    at, hit = device.empty(count, index_dtype(ncols)), device.empty(count, np.bool_)
    if type(J) is range:
        ordered = J.step > 0
        places_in(device, A.indices, J, at, hit)
    else:
        table, repeats = place_table(device, J, A.ncols)
        if repeats:
            return _searched_columns(device, A, J)
        ordered = ascends(device, J)
        kernel = device.launcher.kernel("structure/gather.cuh", "new_columns", "", (*map(index_type, (A.indices, at)),))
        kernel.over(count, (A.indices, count, table, at, hit))
    found = Flagged(device, hit)
    indices, values = found.of(at, None if A.iso else A.values)
    if found.count == count:
        indptr, indices, values = A.indptr, at, A.values
    else:
        indptr, values = found.starts(A.indptr), A.values if A.iso else values
    if not ordered:
        indices, values = _sorted_rows(device, A.nrows, ncols, indptr, indices, None if A.iso else values)
        values = A.values if A.iso else values
    rows, indptr = stored_rows(device, A.rows, indptr, found.count, A.nrows)
    return _matrix(device, A.nrows, ncols, A, indptr, indices, values, rows)


def put_rows(device, c, t, I):
    """The matrix after C(I, :) = T, I in any order, T of C's type (None: these rows have no entries then).

    NotImplemented where C has too few entries for row pointers of all rows.
    """
    nrows, entries = c.nrows, c.indices.shape[0]
    if not is_plain(c.dtype) or nrows > max(conversions.SMALL_ROWS, conversions.DCSR_TO_CSR * entries):
        return NotImplemented
    if device.turns is not None or len(I) >= 1 << 31:
        return NotImplemented
    if nrows == 0 or len(I) == 0:
        return c
    places = None if type(I) is range else place_table(device, I, nrows, False)[0]
    indptr, starts = device.empty(nrows + 1, np.int64), device.empty(nrows, np.int64)
    first, step = (I.start, I.step) if type(I) is range else (0, 1)
    total = summed(
        device, nrows, _HEADER, "assigned_rows", ("void",),
        *_rows(c), nrows, places, first, step, len(I), *((None, None, 0) if t is None else _rows(t)), starts, indptr,
    )  # fmt: skip
    one = c.iso and (t is None or t.indices.shape[0] == 0 or t.iso and _equal(device, c, t))
    indices, values = _copied(device, indptr, starts, total, c, t, one)
    return _matrix(device, nrows, c.ncols, c, indptr, indices, values, iso=one)


# ---------------------------------------------------------------------- parts


def _axis(device, I):
    """(list or None, first, step) of a range or a list."""
    return (None, I.start, I.step) if type(I) is range else (positions_of(device, I), 0, 1)


def _rows(A):
    """(row pointers, rows, how many) of CSR or DCSR."""
    return A.indptr, A.rows, A.indptr.shape[0] - 1


def _equal(device, c, t):
    """Are the values of two iso stores known to be the same?"""
    a, b = device.known_constant(c.values), device.known_constant(t.values)
    return a is not None and b is not None and a.tobytes() == b.tobytes()


def _copied(device, indptr, starts, total, A, B, one):
    """(indices, values) of the rows that begin at `starts` in A, or at their complement in B; one: values are A's."""
    B = A if B is None else B
    indices, values = device.empty(total, A.indices.dtype), A.values if one else device.empty(total, A.values.dtype)
    if total:
        types = index_type(indices), moved_type(A.values)
        kernel = device.launcher.kernel("structure/gather.cuh", "copy_rows", "", types)
        kernel.over(total, (
            indptr[1:], starts, starts.shape[0], total, A.indices, A.values, A.iso, B.indices, B.values, B.iso, indices,
            None if one else values,
        ))  # fmt: skip
    return indices, values


def _matrix(device, nrows, ncols, A, indptr, indices, values, rows=None, iso=None):
    """The matrix of A's type; its values are A's where it is iso and A's are."""
    iso = A.iso if iso is None else iso
    if indices.shape[0] == 0:
        iso, values = False, values[:0]
    result = Compressed(nrows, ncols, A.dtype, indptr, indices, values, iso, rows)
    if iso or indptr is A.indptr or rows is A.rows:
        conversions.share(A, result)
    return choose_format(device, result)


def _sorted_rows(device, nrows, ncols, indptr, indices, values):
    """(indices, values) with ascending columns in each row."""
    count, rows = indices.shape[0], indptr.shape[0] - 1
    if count < 2:
        return indices, values
    types = index_type(indices), "uint8_t" if values is None else moved_type(values)
    kernel = device.launcher.kernel("structure/gather.cuh", "sort_rows", "", types)
    out, moved = device.empty(count, indices.dtype), None if values is None else device.empty(count, values.dtype)
    longest, finished = device.counters(), device.partial_results(0)[1]
    most = device.launcher.size(_LONGEST, 8)
    (found,) = device.sent(lambda sent: kernel.over(count, (
        indptr[1:], rows, count, indices, values, most, out, moved, longest, finished, sent,
    )))  # fmt: skip
    if found <= most:
        return out, moved
    numbers = ranges(device, None, indptr[1:], count, want_at=False)[0]
    return sorted_pairs(device, numbers, indices, rows, ncols, values)[1:]


def _searched_columns(device, A, J):
    """A(:, J) of a list that has columns more than once, or is short beside A's dimension."""
    chosen, cols, ordered = columns_in_list(device, A.indices, J)
    rows = gather(device, row_ids(device, A), chosen)
    values = A.values if A.iso else gather(device, A.values, chosen)
    if not ordered and rows.shape[0] > 1:
        rows, cols, values = sorted_pairs(device, rows, cols, A.nrows, len(J), None if A.iso else values)
        values = A.values if A.iso else values
    else:
        cols = as_type(device, cols, index_dtype(len(J)))
    result = choose_format(device, compressed(device, A.nrows, len(J), A.dtype, rows, cols, values, A.iso))
    return conversions.share(A, result) if A.iso else result
