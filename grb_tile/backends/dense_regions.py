"""Regions of full matrices as arrays, and grids of dense tiles as one, for backends without kernels of their own."""

from __future__ import annotations

import numpy as np

from ..storage import bits
from ..storage.convert import share
from ..storage.dense import in_two_dimensions
from ..storage.store import BitmapVector


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
