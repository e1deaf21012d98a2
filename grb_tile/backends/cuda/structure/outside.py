"""The entries outside a region: of a list those not named, of CSR the rows that stay.  Semantics: backends/protocol.py.

Kernels: structure/gather.cuh.  One read-back: how many entries stay.
"""

import numpy as np

from ....storage import convert as conversions
from ....storage.store import Compressed
from .arrays import gather, is_plain, ranges, words_of_list
from .formats import choose_format
from .index_lists import ascends, in_range, look_up, positions_of
from .positions import keep_flagged, member_flags
from .prefix_sums import running_sums
from .sorting import sorted_by_key

_WORDS = 4  # words of presence bits for a position of the list, or an entry, that cost less than a sort


def outside(device, A, I, J):
    """NotImplemented but for lists and columns, whose entries are flagged, and rows of CSR: the others are copied."""
    columns = I is None and J is not None and A.format in ("csr", "dcsr")
    if not (columns or I is not None and J is None and A.format in ("sparse", "csr")) or not is_plain(A.dtype):
        return NotImplemented
    I = J if columns else I
    if len(I) == 0 or A.indices.shape[0] == 0:
        return A
    if columns or A.format == "sparse":
        return keep_flagged(device, A, _not_named(device, A.indices, I, A.ncols if columns else A.size))
    adjacent = type(I) is range and abs(I.step) == 1
    indptr, indices, values = (_without_adjacent if adjacent else _without_rows)(device, A, I)
    count = indices.shape[0]
    if count == A.indices.shape[0]:
        return A
    values = values if count else A.values[:0]
    result = Compressed(A.nrows, A.ncols, A.dtype, indptr, indices, values, A.iso and count > 0)
    return choose_format(device, conversions.share(A, result) if A.iso else result)


def _without_adjacent(device, A, I):
    """(row pointers, indices, values) of CSR without rows that follow one another: what lies before and after them."""
    low, stop = min(I[0], I[-1]), max(I[0], I[-1]) + 1
    first, last = device.read(A.indptr[low : low + 1], A.indptr[stop : stop + 1])
    if first == last:
        return A.indptr, A.indices, A.values
    indptr, join = A.indptr.copy(), device.xp.concatenate
    indptr[low + 1 : stop] = first
    indptr[stop:] -= last - first
    values = A.values if A.iso else join((A.values[:first], A.values[last:]))
    return indptr, join((A.indices[:first], A.indices[last:])), values


def _without_rows(device, A, I):
    """The same for rows in any order."""
    lengths = A.indptr[1:] - A.indptr[:-1]
    if type(I) is range:
        low, high = min(I[0], I[-1]), max(I[0], I[-1])
        lengths[low : high + 1 : abs(I.step)] = 0
    else:
        lengths[positions_of(device, I)] = 0
    indptr = device.zeros(A.nrows + 1, np.int64)
    indptr[1:], total = running_sums(device, lengths, total=True)
    at = ranges(device, A.indptr[:-1], indptr[1:], total, want_segment=False)[1]
    return indptr, gather(device, A.indices, at), A.values if A.iso else gather(device, A.values, at)


def _not_named(device, positions, I, size):
    """Flags: which of the `positions`, below `size`, are not in the list or range I?  I in any order."""
    if type(I) is range:
        return in_range(device, positions, I, outside=True)
    words = (size + 63) >> 6
    if words <= _WORDS * (len(I) + positions.shape[0]):
        return member_flags(device, positions, words_of_list(device, positions_of(device, I), words), complement=True)
    I = positions_of(device, I)
    if not ascends(device, I):
        I = sorted_by_key(device, I, size)[0]
    return ~look_up(device, positions, I)[1]
