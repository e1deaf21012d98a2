"""gather and expand: x(I), A(I, J) and their inverses on the device.  Semantics: backends/protocol.py.

Kernels: structure/gather.cuh.  Scans: prefix_sums.py, sorts: sorting.py.
"""

import numpy as np

from ....storage import convert as conversions
from ....storage.store import BitmapVector, Compressed, index_dtype
from ....storage.turn_array import TurnArray
from ..runtime.errors import on_device
from ..runtime.late_vector import LateVector
from ..runtime.moves import copied
from .arrays import (
    as_type,
    compressed,
    counted_later,
    empty_vector,
    gather,
    index_type,
    is_plain,
    moved_type,
    progression,
    row_ids,
    to_sparse,
    vector_of,
)
from .formats import choose_format
from .index_lists import ascends, find_in_range, positions_of, window_of_range
from .positions import AND, join_words
from .prefix_sums import listed
from .rows import gather_columns, gather_rows
from .sorting import pair_order, sorted_pairs, stable_order

_ONE = range(1)

# ---------------------------------------------------------------------- gather


def gather_vector(device, u, I):
    if I is None:
        return u
    if not is_plain(u.dtype):
        return NotImplemented
    if type(I) is TurnArray:
        from ..programs import positions

        return positions.gather(device, u, I)
    size = len(I)
    if size == 0:
        return empty_vector(device, 0, u.dtype)
    if u.format == "bitmap" and u.words is None and u.iso:
        return conversions.share(u, BitmapVector(size, u.dtype, None, u.values, size, True))
    if type(I) is range and u.format == "sparse" and I.step == 1:
        first, stop = window_of_range(device, u.indices, I)
        positions = progression(device, stop - first, index_dtype(size), -I.start, 1, u.indices[first:stop])
        values = u.values if u.iso else copied(device, u.values[first:stop])
        u.shared = u.shared or u.iso
        return vector_of(device, size, u.dtype, positions, values, u.iso)
    if type(I) is range and u.format == "sparse":
        chosen, positions = find_in_range(device, u.indices, I)
        if I.step < 0:
            chosen, positions = device.array(chosen[::-1]), device.array(positions[::-1])
        values = _picked(device, u, chosen)
        return vector_of(device, size, u.dtype, positions, values, u.iso)
    if u.format == "bitmap":
        return gather_region(device, u, I, _ONE, 1)
    wanted = positions_of(device, I)
    at, hit = device.empty(size, np.int64), device.empty(size, np.bool_)
    kernel = device.launcher.kernel("structure/gather.cuh", "look_up", "", (index_type(u.indices),))
    kernel.over(size, (wanted, size, u.indices, u.indices.shape[0], at, hit))
    kept = listed(device, hit)
    values = u.values if u.iso else gather(device, u.values, gather(device, at, kept))
    return vector_of(device, size, u.dtype, kept, values, u.iso)


def view_of_range(device, u, start, stop):
    """u(start:stop) of a bitmap, start a multiple of 64, stop too unless it is u's end; it shares u's arrays.

    They are cut, and entries counted, at the first use.
    """
    size = stop - start
    if size == 0:
        return empty_vector(device, 0, u.dtype)
    u.shared = True

    made: list = []  # a counter that has the view itself would keep both until the garbage collector runs

    def words():
        if not made:
            found = u.words[start >> 6 : (stop + 63) >> 6]
            made.append(found.copy() if start & 64 else found)  # kernels may read 16 bytes at a time
        return made[0]

    def count():
        return _count(device, words(), size)

    def arrays():
        return u.values[start:stop], words()

    if u.words is None:
        result = BitmapVector(size, u.dtype, None, u.values if u.iso else u.values[start:stop], size, u.iso)
    elif u.iso:
        result = LateVector(device, size, u.dtype, words(), u.values, count, True)
    else:
        result = LateVector.of_arrays(device, size, u.dtype, arrays, count, size // 2)
    result.shared = True
    return result


@on_device
def _count(device, words, size):
    """The array of the number of entries of a bitmap."""
    return join_words(device, words, words, size, AND)[1]


def _picked(device, store, at):
    if store.iso:
        store.shared = True
        return store.values
    return gather(device, store.values, at)


def gather_region(device, u, I, J, width):
    """Semantics: backends/indices.py.  One launch; nothing is read back where a bitmap costs no more than a list."""
    across = len(J)
    n = len(I) * across
    if n == 0 or u.format != "bitmap" or u.dtype._is_udt:
        return NotImplemented
    axes = []
    for K in (I, J):
        axes += (None, K.start, K.step) if type(K) is range else (positions_of(device, K), 0, 0)
    full = u.words is None
    values = None if u.iso else device.empty(n, u.values.dtype)
    words, count = (None, None) if full else (device.empty((n + 63) >> 6, np.uint64), device.counters())
    kernel = device.launcher.kernel("structure/gather.cuh", "gather_region", "", (moved_type(u.values),))
    kernel.over((n + 63) & ~63, (u.words, u.values, width, *axes, across, n, words, values, count), block=64)
    if full:
        return BitmapVector(n, u.dtype, None, u.values if u.iso else values, n, u.iso)
    found = counted_later(device, n, u.dtype, words, u.values if u.iso else values, count, u.iso)
    return conversions.share(u, found) if u.iso else found


def gather_matrix(device, A, I, J):
    if not is_plain(A.dtype):
        return NotImplemented
    if type(I) is range and len(I) > A.indices.shape[0]:
        A = _rows_in_range(device, A, I)
    elif I is not None:
        A = gather_rows(device, A, I)
    return A if J is None else gather_columns(device, A, J)


def _rows_in_range(device, A, I):
    """A(I, :) of a range of more rows than A has entries."""
    at, rows = find_in_range(device, row_ids(device, A), I)
    cols = gather(device, A.indices, at)
    if I.step < 0 and rows.shape[0] > 1:
        rows, cols, at = sorted_pairs(device, rows, cols, len(I), A.ncols, None if A.iso else at)
    values = _picked(device, A, at)
    return choose_format(device, compressed(device, len(I), A.ncols, A.dtype, rows, cols, values, A.iso))


# ---------------------------------------------------------------------- expand


def _through(device, positions, I):
    """I[positions] for an index array or a range."""
    if type(I) is range:
        return progression(device, positions.shape[0], np.dtype(np.int64), I.start, I.step, positions)
    return gather(device, positions_of(device, I), positions)


def _listed_positions(device, I, size):
    """The positions I, not to be written to; of a range in the type of the indices of a vector of `size`."""
    if type(I) is range:
        return progression(device, len(I), index_dtype(size), I.start, I.step)
    return positions_of(device, I)


def expand_vector(device, u, I, size):
    if not is_plain(u.dtype):
        return NotImplemented
    if I is None and u.size == size:
        return u
    if type(I) is TurnArray:
        from ..programs import positions

        return positions.expand(device, u, I, size)
    if I is not None and u.format == "bitmap" and u.words is None:  # an entry at each position of I
        s, positions = u, _listed_positions(device, I, size)
    else:
        s = to_sparse(device, u)
        positions = s.indices if I is None else _through(device, s.indices, I)
    u.shared = s.shared = True
    values = s.values
    if I is not None and not ascends(device, I):
        order = stable_order(device, positions, size)
        positions = gather(device, positions, order)
        values = values if s.iso else gather(device, values, order)
    result = vector_of(device, size, u.dtype, positions, values, s.iso)
    result.shared = True
    return result


def _placed_starts(device, indptr, I, nrows):
    """The pointers of `nrows` rows of which those in the range I, which ascends, are the rows of `indptr`."""
    starts = device.empty(nrows + 1, np.int64)
    kernel = device.launcher.kernel("structure/convert.cuh", "placed_starts", "", ("void",))
    kernel.over(nrows + 1, (indptr, indptr.shape[0] - 1, I.start, I.step, nrows, starts))
    return starts


def expand_matrix(device, A, I, J, nrows, ncols):
    if not is_plain(A.dtype):
        return NotImplemented
    if I is None and J is None and A.nrows == nrows:
        if A.ncols == ncols:
            return A
        indices = as_type(device, A.indices, index_dtype(ncols))
        return conversions.share(A, Compressed(nrows, ncols, A.dtype, A.indptr, indices, A.values, A.iso, A.rows))
    in_order = all(K is None or type(K) is range and K.step > 0 for K in (I, J))
    if in_order and (A.rows is not None or not conversions.wants_dcsr(nrows, A.indices.shape[0])):
        want = index_dtype(ncols)
        if J is None:
            cols = as_type(device, A.indices, want)
        else:
            cols = progression(device, A.indices.shape[0], want, J.start, J.step, A.indices)
        if A.rows is None:
            indptr, rows = _placed_starts(device, A.indptr, range(A.nrows) if I is None else I, nrows), None
        else:
            indptr, rows = A.indptr, A.rows if I is None else _through(device, A.rows, I)
        moved = Compressed(nrows, ncols, A.dtype, indptr, cols, A.values, A.iso, rows)
        return choose_format(device, conversions.share(A, moved))
    rows, cols, values = row_ids(device, A), A.indices, A.values
    if I is not None:
        rows = _through(device, rows, I)
    if J is not None:
        cols = _through(device, cols, J)
    if not (I is None or ascends(device, I)) or not (J is None or ascends(device, J)):
        order = pair_order(device, rows, cols, nrows, ncols)
        rows, cols = gather(device, rows, order), gather(device, cols, order)
        values = values if A.iso else gather(device, values, order)
    A.shared = True
    result = choose_format(device, compressed(device, nrows, ncols, A.dtype, rows, cols, values, A.iso))
    result.shared = True
    return result
