"""The sort of tuples for build: a stable counting sort (templates/build_order.py) in place of NumPy's radix passes.

Pairs that fit into 64 bits together with their positions are left to NumPy, which sorts them as integers
(storage/sorting.py): 18 ns per pair at 16 million pairs, where the counting sort needs 55 ns.
"""

import numpy as np

from grb_tile.planner import tuning
from grb_tile.storage.sorting import fits_with_positions
from grb_tile.storage.store import index_dtype

from ..jit import cache as jit
from ..vectorised import structure


def _unordered(keys):
    """Does any key follow a larger one?  The first 256 keys decide most cases."""
    head = keys[:256]
    return bool((head[1:] < head[:-1]).any()) or bool((keys[1:] < keys[:-1]).any())


def _fits(bound, count):
    return bound <= 4 * count + 65536


def _inside(keys, bound):
    """Are all keys in range?  Kernels do not check bounds; keys out of range are left to NumPy, which raises."""
    return keys.min() >= 0 and keys.max() < bound


def _functions(number, count, saved_ns):
    return jit.plain_kernel("build_order", NUMBER=number).functions_for(1e-9 * count * saved_ns)


def build_vector(size, indices, values, dup, dtype):
    """t[i] = values[k1] (dup) values[k2] ... of sorted tuples.  See backends/protocol.py."""
    found = ordered_indices(size, indices)
    if found is NotImplemented:
        return NotImplemented
    order, indices = found
    return structure.build_vector(size, indices, _in_order(values, order), dup, dtype)


def build_matrix(nrows, ncols, rows, cols, values, dup, dtype):
    """T[i,j] = values[k1] (dup) values[k2] ... of sorted tuples.  See backends/protocol.py."""
    found = ordered_pairs(nrows, ncols, rows, cols)
    if found is NotImplemented:
        return NotImplemented
    order, rows, cols = found
    return structure.build_matrix(nrows, ncols, rows, cols, _in_order(values, order), dup, dtype)


def _in_order(values, order):
    return values if values.shape[0] == 1 else values[order]


def ordered_pairs(nrows, ncols, rows, cols):
    """(order, rows, cols): tuples sorted by row and column, equal ones in input order; NotImplemented: use NumPy."""
    count = rows.shape[0]
    if fits_with_positions(nrows * ncols, count):
        return NotImplemented
    if count < tuning.COMPILED_TUPLES or not (_fits(nrows, count) and _fits(ncols, count)) or not _unordered(rows):
        return NotImplemented
    if not (_inside(rows, nrows) and _inside(cols, ncols)):
        return NotImplemented
    number = index_dtype(max(count, nrows, ncols))
    functions = _functions(number.char, count, tuning.NUMPY_SORT_PAIR_NS)
    if functions is None:
        return NotImplemented
    rows, cols = (jit.plain(np.asarray(keys, np.int64)) for keys in (rows, cols))
    before, before_rows = np.empty(count, number), np.empty(count, number)
    ends = np.zeros(ncols, np.int64)
    functions.scan(cols, ends)
    functions.by_column(rows, cols, ends, before, before_rows)
    order, out_cols = np.empty(count, number), np.empty(count, number)
    free = np.zeros(nrows, np.int64)
    functions.scan(rows, free)
    functions.by_row(before, before_rows, ends, free, order, out_cols)
    out_rows = np.empty(count, np.int64)
    functions.repeat(free, out_rows)
    return order, out_rows, out_cols


def ordered_indices(size, indices):
    """(order, indices): ascending, equal ones in input order; NotImplemented: use NumPy."""
    count = indices.shape[0]
    if count < tuning.COMPILED_TUPLES or size <= tuning.SORTED_BOUND:
        return NotImplemented
    if not (_fits(size, count) and _unordered(indices) and _inside(indices, size)):
        return NotImplemented
    functions = _functions("i", count, tuning.NUMPY_SORT_INDEX_NS)
    if functions is None:
        return NotImplemented
    indices = jit.plain(np.asarray(indices, np.int64))
    order = np.empty(count, np.int64)
    free = np.zeros(size, np.int64)
    functions.scan(indices, free)
    functions.by_key(indices, free, order)
    return order, indices[order]
