"""build from sorted tuples: pairs by rows, each sorted alone, indices by a counting sort (templates/build_order.py).

Duplicates are combined by NumPy, as vectorised/structure.py does.  NumPy sorts the pairs of a matrix that becomes DCSR.
"""

import numpy as np

from grb_tile.planner import tuning
from grb_tile.storage.convert import to_dcsr, wants_dcsr
from grb_tile.storage.store import Compressed, index_dtype

from ..jit import cache as jit
from ..vectorised import structure
from .gather import balanced
from .merging import fitting


def _unordered(keys):
    """Does any key follow a larger one?  The first 256 keys decide most cases."""
    head = keys[:256]
    return bool((head[1:] < head[:-1]).any()) or bool((keys[1:] < keys[:-1]).any())


def _fits(bound, count):
    return bound <= 4 * count + 65536


def _inside(keys, bound):
    """Are all keys in range?  Kernels do not check bounds; keys out of range are left to NumPy, which raises."""
    return keys.min() >= 0 and keys.max() < bound


def build_vector(size, indices, values, dup, dtype):
    """t[i] = values[k1] (dup) values[k2] ... of sorted tuples.  See backends/protocol.py."""
    found = ordered_indices(size, indices)
    if found is NotImplemented:
        return NotImplemented
    order, indices = found
    return structure.build_vector(size, indices, _in_order(values, order), dup, dtype)


def _in_order(values, order):
    return values if values.shape[0] == 1 else values[order]


def build_matrix(nrows, ncols, rows, cols, values, dup, dtype):
    """T[i,j] = values[k1] (dup) values[k2] ... of sorted tuples.  See backends/protocol.py."""
    count = rows.shape[0]
    if count < 2 or wants_dcsr(nrows, count):
        return NotImplemented
    kernel = jit.plain_kernel("build_order", INDEX=index_dtype(ncols).char)
    if count < tuning.COMPILED_TUPLES:
        functions = kernel.of_small_calls(tuning.SMALL_BUILD_SECONDS)
    else:
        functions = kernel.functions_for(1e-9 * count * tuning.NUMPY_SORT_PAIR_NS)
    if functions is None:
        return NotImplemented
    rows, cols = (jit.plain(np.asarray(keys, np.int64)) for keys in (rows, cols))
    found = jit.attempt(kernel, lambda: ordered_pairs(functions, nrows, ncols, rows, cols))
    if found is NotImplemented:
        return NotImplemented
    order, indptr, indices, firsts = found
    iso = values.shape[0] == 1
    if order is not None:
        if indices.shape[0] != count and dup is None:
            return NotImplemented  # NumPy raises the error
        values = values if iso else values[order]
        if indices.shape[0] != count:
            values, iso = structure.fold_segments(values, iso, firsts, count, dup, dtype)
    values, iso = structure.stored(values, iso, count, dtype)
    T = Compressed(nrows, ncols, dtype, indptr, indices, values, iso)
    return to_dcsr(T) if wants_dcsr(nrows, indices.shape[0]) else T


def ordered_pairs(functions, nrows, ncols, rows, cols):
    """(order, indptr, indices, firsts): the permutation that sorts the pairs, equal ones in input order, the structure
    of the distinct ones, and the first of each in the order.  order None: they are sorted and distinct.
    NotImplemented: a pair is out of range, or NumPy has to sort them.
    """
    count, shift = rows.shape[0], rows.shape[0].bit_length()
    if int(ncols).bit_length() + shift > 63:
        return NotImplemented
    ends, indptr = np.zeros(nrows, np.int64), np.empty(nrows + 1, np.int64)
    state = functions.tally(rows, cols, ncols, ends)
    if state < 0:
        return NotImplemented
    if state > 0:
        indptr[:-1], indptr[-1] = ends, count
        return None, indptr, cols.astype(index_dtype(ncols)), None
    keys = np.empty(count, np.int64)
    functions.into_rows(rows, cols, shift, ends, keys)
    indices, firsts = np.empty(count, index_dtype(ncols)), np.empty(count, np.int64)
    cuts, threads = balanced(ends)

    def job(chunk, worker):
        functions.sort_rows(ends, keys, firsts, cuts[chunk], cuts[chunk + 1])

    jit.share_out(job, len(cuts) - 1, threads)
    found = functions.distinct(ends, keys, shift, indptr, indices, firsts)
    return keys, indptr, fitting(indices, found), firsts[:found]


def ordered_indices(size, indices):
    """(order, indices): ascending, equal ones in input order; NotImplemented: use NumPy."""
    count = indices.shape[0]
    if count < tuning.COMPILED_TUPLES or size <= tuning.SORTED_BOUND:
        return NotImplemented
    if not (_fits(size, count) and _unordered(indices) and _inside(indices, size)):
        return NotImplemented
    functions = jit.plain_kernel("build_order", INDEX="i").functions_for(1e-9 * count * tuning.NUMPY_SORT_INDEX_NS)
    if functions is None:
        return NotImplemented
    indices = jit.plain(np.asarray(indices, np.int64))
    order = np.empty(count, np.int64)
    free = np.zeros(size, np.int64)
    functions.scan(indices, free)
    functions.by_key(indices, free, order)
    return order, indices[order]
