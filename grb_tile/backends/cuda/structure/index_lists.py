"""Lists of indices on the device: as arrays, and the entries of a matrix in a list of rows or columns.

Kernels: structure/gather.cuh.  Memory is proportional to the list and the entries.
"""

import numpy as np

from ....planner import tuning
from ... import indices as host_indices
from .arrays import as_type, gather, index_type, order_facts, progression, ranges, segment_starts
from .prefix_sums import Flagged, numbers_of, running_sums
from .sorting import sorted_by_key

_HEADER = "structure/gather.cuh"
_INT64 = np.dtype(np.int64)
_FEW = 4  # positions that are many in tests


def positions_of(device, I):
    """An index argument (host array, range or device array) as an int64 device array."""
    if type(I) is range:
        return progression(device, len(I), _INT64, I.start, I.step)
    return device.positions(I) if type(I) is np.ndarray else device.array(I, np.int64)


def positions_in(device, array, size):
    """Semantics: backends/indices.py.  A short host array is checked by NumPy and goes to the device where it is used;
    otherwise bounds and order are found in one pass, with one read-back.
    """
    count = array.shape[0]
    if type(array) is np.ndarray:
        # with several devices, which of them will compute is not known yet
        if device.several or count < device.launcher.size(tuning.GPU_INDEX, _FEW):
            return host_indices.positions_in(array, size)
        given, array = None, device.upload(np.ascontiguousarray(array, array.dtype.newbyteorder("=")))
    else:
        given, array = array, device.array(array)
    if count == 0:
        return device.empty(0, np.int64)
    if array.dtype.itemsize < 4:
        given, array = None, array.astype(np.int64)
    I = array if given is None and array.dtype == np.int64 else device.empty(count, np.int64)
    descents, repeats, _, low, high = order_facts(device, None, array, size, I)
    if array.dtype == np.uint64 and low < 0:  # beyond INT64
        low, high = 0, int(array.max())
    if high >= size or low < -size:
        raise host_indices.out_of_bound(low, high, size)
    return device.note_order(I, not (descents or repeats))


def bounds_of(device, array):
    """Semantics: backends/indices.py.  One launch, whose result is polled."""
    if type(array) is np.ndarray or array.dtype != np.int64 or not array.flags.c_contiguous:
        return int(array.min()), int(array.max())
    return tuple(order_facts(device, None, array)[3:])


def last_of_each(device, I, size):
    """Semantics: backends/indices.py.  A stable sort; one read-back, another where a position is repeated."""
    if I is None or type(I) is not device.array_class:
        return host_indices.last_of_each(I, size)
    if ascends(device, I):
        return I, None
    ordered, last = sorted_by_key(device, I, size, None)
    if order_facts(device, None, ordered)[1]:
        starts = segment_starts(device, None, ordered)
        ends = device.empty(starts.shape[0], np.int64)
        ends[:-1] = starts[1:]
        ends[-1:] = I.shape[0]
        ends -= 1
        ordered, last = gather(device, ordered, ends), gather(device, last, ends)
    return device.note_order(ordered, True), as_type(device, last, _INT64)


def last_places(device, I, size):
    """place_table of the list I; None where no position is repeated, as far as that is known without a look at I."""
    if type(I) is range or len(I) < 2 or (ascends(device, I) if type(I) is np.ndarray else device.known_order(I)):
        return None
    return place_table(device, I, size, False)[0]


def place_table(device, I, size, count_repeats=True):
    """(the last place of each position below `size` in the list I, -1 of others; how many places are repeats).

    count_repeats: by a read-back, unless I is known to ascend.
    """
    table, count = device.empty(size, np.int32), len(I)
    if size:
        table.data.memset_async(0xFF, table.nbytes)  # -1 everywhere: no launch
    kernel = device.launcher.kernel("elementwise/overwrite.cuh", "last_places", "", ("int64_t",))
    given = positions_of(device, I), count, table
    if not count_repeats or count < 2 or type(I) is not np.ndarray and device.known_order(I):
        kernel.over(count, (*given, None, None, None))
        return table, 0
    repeats, finished = device.counters(), device.partial_results(0)[1]
    return table, device.sent(lambda sent: kernel.over(count, (*given, repeats, finished, sent)))[0]


def region_positions(device, I, J, width):
    """Semantics: backends/indices.py.  Nothing is read back: the order is known where that of I and of J is."""
    found = (positions_of(device, I)[:, None] * width + positions_of(device, J)).reshape(-1)
    ordered = all(ascends(device, K) if type(K) in (range, np.ndarray) else device.known_order(K) for K in (I, J))
    return device.note_order(found, True) if ordered else found


def window_of_range(device, positions, I):
    """(first, stop): the ascending `positions` from the least to the greatest of the range I; one read-back."""
    if len(I) == 0 or positions.shape[0] == 0:
        return 0, 0
    kernel, n = device.launcher.kernel(_HEADER, "range_bounds", "", (index_type(positions),)), positions.shape[0]
    given = positions, n, min(I[0], I[-1]), max(I[0], I[-1])
    first, stop = device.sent(lambda sent: kernel.over(2, (*given, sent), block=32), 2)
    return first, stop


def find_in_range(device, positions, I):
    """(which of the ascending `positions` are in the range I, their positions in it)."""
    first, stop = window_of_range(device, positions, I)
    window = positions[first:stop]
    if abs(I.step) == 1:
        at = progression(device, stop - first, _INT64, -I.start * I.step, I.step, window)
        return progression(device, stop - first, _INT64, first), at
    chosen, at = choose_in_range(device, window, I)
    return chosen + first, at


def choose_in_range(device, positions, I):
    """find_in_range for positions in any order, each of which is looked at."""
    at = device.empty(positions.shape[0], _INT64)
    found = Flagged(device, in_range(device, positions, I, at))
    return found.numbers(device, _INT64), found.of(at, None)[0] if found.n else at


def in_range(device, positions, I, at=None, *, outside=False):
    """Which of the positions are in the range I, or outside it?  at: an array for their places in it."""
    return places_in(device, positions, I, at, device.empty(positions.shape[0], np.bool_), outside)


def places_in(device, positions, I, at, hit, outside=False):
    """Fill `hit`, and `at` unless it is None, as in_range says; returns `hit`."""
    n, types = positions.shape[0], (index_type(positions), "int64_t" if at is None else index_type(at))
    kernel = device.launcher.kernel(_HEADER, "places_in_range", "", types)
    kernel.over(n, (positions, n, I.start, I.step, len(I), outside, at, hit))
    return hit


def look_up(device, positions, I):
    """(place in the ascending I of each of the positions, is it there?)"""
    count = positions.shape[0]
    at, hit = device.empty(count, np.int64), device.empty(count, np.bool_)
    kernel = device.launcher.kernel(_HEADER, "look_up", "", ("int64_t",))
    kernel.over(count, (as_type(device, positions, _INT64), count, I, I.shape[0], at, hit))
    return at, hit


def ascends(device, I):
    """Do the positions (host array, range or device array) ascend without repeats?"""
    if type(I) is range:
        return I.step > 0
    if len(I) < 2:
        return True
    if type(I) is np.ndarray:
        return bool((I[1:] > I[:-1]).all())
    known = device.known_order(I)
    if known is None:
        descents, repeats, *_ = order_facts(device, None, I)
        known = not (descents or repeats)
    return known


def columns_in_list(device, cols, J):
    """(which entries, their new columns, ascending within rows?) of the entries with columns `cols` in the list J."""
    count = len(J)
    if count == 0 or cols.shape[0] == 0:
        nothing = device.empty(0, np.int64)
        return nothing, nothing, True
    if ascends(device, J):
        if int(J[-1]) - int(J[0]) == count - 1:
            return (*choose_in_range(device, cols, range(int(J[0]), int(J[-1]) + 1)), True)
        at, hit = look_up(device, cols, positions_of(device, J))
        chosen = numbers_of(device, hit)
        return chosen, gather(device, at, chosen), True
    J = positions_of(device, J)
    order = device.xp.argsort(J)  # CuPy's is always stable
    ordered, wanted = gather(device, J, order), as_type(device, cols, _INT64)
    left = device.xp.searchsorted(ordered, wanted, side="left")
    times = device.xp.searchsorted(ordered, wanted, side="right") - left
    ends, total = running_sums(device, times, total=True)
    chosen, at = ranges(device, left, ends, total)
    return chosen, gather(device, order, at), False
