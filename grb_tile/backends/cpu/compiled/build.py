"""Tuples in order for build: a stable counting sort instead of NumPy's passes; NumPy does the rest."""

import numpy as np

from ..jit import cache as jit

PAIR_SECONDS_NUMPY = 180e-9  # what ordering needs more than a counting sort would
INDEX_SECONDS_NUMPY = 25e-9
WORTH_IT = 1 << 14
SHORT = 1 << 16  # bound of the keys that NumPy orders in a single pass


def _unordered(keys):
    """Do the keys fall anywhere?  A look at the first few settles most cases."""
    head = keys[:256]
    return bool((head[1:] < head[:-1]).any()) or bool((keys[1:] < keys[:-1]).any())


def _fits(bound, count):
    return bound <= 4 * count + 65536


def _inside(keys, bound):
    """Kernels do not look where they write: keys out of range are left to NumPy, which complains."""
    return keys.min() >= 0 and keys.max() < bound


def _functions(seconds):
    return jit.plain_kernel("build_order").functions_for(seconds)


def ordered_pairs(nrows, ncols, rows, cols):
    """(order, rows, cols), the tuples by row and column, equal ones in input order; NotImplemented: NumPy may do it."""
    count = rows.shape[0]
    if count < WORTH_IT or not (_fits(nrows, count) and _fits(ncols, count)) or not _unordered(rows):
        return NotImplemented
    if not (_inside(rows, nrows) and _inside(cols, ncols)):
        return NotImplemented
    functions = _functions(count * PAIR_SECONDS_NUMPY)
    if functions is None:
        return NotImplemented
    rows, cols = (jit.plain(np.asarray(keys, np.int64)) for keys in (rows, cols))
    number = np.int32 if max(count, nrows, ncols) < 1 << 31 else np.int64
    before, before_rows = np.empty(count, number), np.empty(count, number)
    ends = np.zeros(ncols, np.int64)
    functions.places(cols, ends)
    functions.by_column(rows, cols, ends, before, before_rows)
    order, out_cols = np.empty(count, number), np.empty(count, number)
    free = np.zeros(nrows, np.int64)
    functions.places(rows, free)
    functions.by_row(before, before_rows, ends, free, order, out_cols)
    out_rows = np.empty(count, np.int64)
    functions.repeat(free, out_rows)
    return order, out_rows, out_cols


def ordered_indices(size, indices):
    """(order, indices), ascending, equal ones in input order; NotImplemented: NumPy may do it."""
    count = indices.shape[0]
    if count < WORTH_IT or size <= SHORT or not _fits(size, count) or not _unordered(indices):
        return NotImplemented
    if not _inside(indices, size):
        return NotImplemented
    functions = _functions(count * INDEX_SECONDS_NUMPY)
    if functions is None:
        return NotImplemented
    indices = jit.plain(np.asarray(indices, np.int64))
    order = np.empty(count, np.int64)
    free = np.zeros(size, np.int64)
    functions.places(indices, free)
    functions.by_key(indices, free, order)
    return order, indices[order]
