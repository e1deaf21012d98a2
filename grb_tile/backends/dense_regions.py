"""Regions of full matrices as arrays, and grids of dense tiles as one, for backends without kernels of their own."""

from __future__ import annotations

import numpy as np

from ..dtypes import cast
from ..storage import bits
from ..storage.convert import share
from ..storage.dense import in_order, in_two_dimensions, matrix_of, writable_flat
from ..storage.host_memory import check_memory
from ..storage.place import is_host
from ..storage.store import BitmapVector, Dense, full_values
from ..storage.update_entries import changed_words, owns_arrays


def joined(xp, tiles, nrows, ncols, dtype, full):
    """The row-major vector of a grid of dense tiles; tiles without positions may have any form."""
    values, flags = xp.empty((nrows, ncols), dtype.np_type), None if full else np.zeros((nrows, ncols), np.bool_)
    top = 0
    for row in tiles:
        left = 0
        for A in row:
            place = slice(top, top + A.nrows), slice(left, left + A.ncols)
            left += A.ncols
            if A.nrows and A.ncols:
                values[place] = A.flat.values[0] if A.iso else in_two_dimensions(A, A.flat.values)
                if flags is not None:
                    words = A.flat.words
                    flags[place] = words is None or in_two_dimensions(A, bits.to_bool(words, A.flat.size))
        top += row[0].nrows
    size = nrows * ncols
    count = size if full else int(np.count_nonzero(flags))
    words = None if count == size else bits.from_bool(flags.reshape(-1))
    return BitmapVector(size, dtype, words, values.reshape(-1), count)


def region(backend, xp, flat, lines, width, I, J):
    """The full vector of the region I x J of a full one of lines x width positions."""
    values = flat.values.reshape(lines, width)
    values = _picked(backend, xp, values, I, 0)
    values = xp.ascontiguousarray(_picked(backend, xp, values, J, 1)).reshape(-1)
    result = BitmapVector(values.shape[0], flat.dtype, None, values, values.shape[0])
    return share(flat, result)


def put_full(c, t, I, J, lines, width, accum):
    """C(I, J) (accum)= T for a full T on the host, in the lines of C (None: all); NotImplemented for other values."""
    if type(t) is Dense:
        t = in_order(t, c.by_columns).flat
    if t is None or t.format != "bitmap" or t.words is not None or not (is_host(t) and is_host(c)) or c.dtype._is_udt:
        return NotImplemented
    if accum is not None and accum.numpy is None:  # of positions
        return NotImplemented
    I, J = range(lines) if I is None else I, range(width) if J is None else J
    if not len(I) or not len(J):
        return c
    fresh = t.values[0] if t.iso else t.values.reshape(len(I), len(J), *t.values.shape[1:])
    lists = type(I) is not range and type(J) is not range
    place = np.ix_(I, J) if lists else tuple(_cut(K) if type(K) is range else K for K in (I, J))
    flat = writable_flat(c, c.by_columns)
    own = owns_arrays(flat)  # before its arrays have other names here
    if not own:
        check_memory(flat.size * flat.values.itemsize, f"a dense matrix of {c.nrows} x {c.ncols}")
    words, count, values = flat.words, flat.nvals, flat.values if own else np.array(full_values(flat))
    within = values.reshape(lines, width, *values.shape[1:])
    if words is not None:
        rows, columns = (np.arange(K.start, K.stop, K.step) if type(K) is range else K for K in (I, J))
        at = rows[:, None] * width + columns
    if accum is not None:
        old, given = within[place], np.broadcast_to(fresh, (len(I), len(J)))
        fresh = cast(accum.numpy(cast(old, accum.type), cast(given, accum.type2)), c.dtype)
        if words is not None:
            fresh = np.where(bits.test(words, at.reshape(-1)).reshape(at.shape), fresh, given)
    if words is not None:
        at = at.reshape(-1)
        numbers, new, more = changed_words(words, at, at)
        words, count = words if own else words.copy(), count + more
    # No call from here on where C's arrays are written, so no signal comes between: C is never half changed.
    within[place] = fresh
    if words is not None:
        words[numbers] = new
    if count == flat.size:
        words = None
    if own:
        flat.words, flat.nvals = words, count
        flat.forms = None  # a copy on a device has the values of before
        return c
    return c.with_flat(BitmapVector(flat.size, c.dtype, words, values, count))


def _cut(K):
    return slice(K.start, K.stop if K.stop >= 0 else None, K.step)


def _picked(backend, xp, values, I, axis):
    """values[I] along an axis: a view for a range of ascending numbers, or for all."""
    if I is None:
        return values
    if type(I) is np.ndarray and len(I) and I[-1] - I[0] == len(I) - 1 and bool((I[1:] > I[:-1]).all()):
        I = range(int(I[0]), int(I[-1]) + 1)
    if type(I) is range and I.step > 0:
        cut = slice(I.start, I.stop, I.step)
        return values[cut] if axis == 0 else values[:, cut]
    return xp.take(values, backend.positions(I), axis)


def reshaped(A, nrows, ncols):
    """The matrix of that shape which has A's entries in row-major order."""
    flat = in_order(A, False).flat
    flat.shared = True
    return matrix_of(flat, nrows, ncols)
