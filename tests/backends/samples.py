"""Random stores of every format, for the differential tests of backends.

A dimension is (size, places): entries stand at `places` only, so that sizes up to 2^60 can be met with few of them.
"""

import numpy as np

from grb_tile import dtypes
from grb_tile.storage import convert
from grb_tile.storage.store import BitmapVector, SparseVector, index_dtype

NAMED = (
    "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP32", "FP64", "FC32", "FC64",
)  # fmt: skip
TYPES = [getattr(dtypes, name) for name in NAMED]


def dimension(rng, huge=False):
    if huge:
        size = int(rng.choice([2**33, 2**50, 2**60]))
        return size, np.unique(rng.integers(0, size, int(rng.integers(1, 9))))
    size = int(rng.choice([1, 2, 5, 17, 64, 70, 150]))
    return size, np.arange(size)


def values(rng, dtype, count):
    """Small whole numbers, so that sums are exact in every order; now and then extremes."""
    kind = dtype.np_type.kind
    low = 0 if kind in "bu" else -4
    found = rng.integers(low, 5, count)
    if kind == "b":
        return found > 1
    found = found.astype(dtype.np_type)
    if kind == "c":
        found = found + 1j * rng.integers(-2, 3, count).astype(dtype.np_type)
    found = found.astype(dtype.np_type)
    if kind == "f" and rng.integers(6) == 0:
        found[rng.random(count) < 0.4] = choice(rng, [np.nan, np.inf, -np.inf])
    if kind in "iu" and dtype.np_type.itemsize <= 2 and rng.integers(6) == 0:
        found[rng.random(count) < 0.4] = choice(rng, [dtype.min, dtype.max])
    return found


def choice(rng, options):
    return options[int(rng.integers(len(options)))]


def density(rng):
    return choice(rng, [0.0, 0.03, 0.3, 0.8, 1.0])


def random_vector(rng, dim, dtype, share=None):
    size, places = dim
    share = density(rng) if share is None else share
    indices = places[rng.random(places.shape[0]) < share].astype(index_dtype(size))
    iso = bool(rng.integers(2)) and indices.shape[0] > 0
    found = values(rng, dtype, 1 if iso else indices.shape[0])
    u = SparseVector(size, dtype, indices, found, iso)
    if size <= 2**16 and rng.integers(2):
        u = convert.to_bitmap(u)
        if u.words is not None and not u.iso:  # absent places may hold anything
            rubbish = values(rng, dtype, size)
            rubbish[indices] = found
            u = BitmapVector(size, dtype, u.words, rubbish, u.nvals)
    return u


def random_matrix(rng, rows, cols, dtype, share=None):
    (nrows, row_places), (ncols, col_places) = rows, cols
    share = density(rng) if share is None else share
    picked = rng.random((row_places.shape[0], col_places.shape[0])) < share
    i, j = picked.nonzero()
    iso = bool(rng.integers(2)) and i.shape[0] > 0
    found = values(rng, dtype, 1 if iso else i.shape[0])
    A = convert.compressed(nrows, ncols, dtype, row_places[i], col_places[j], found, iso)
    return convert.to_dcsr(A) if rng.integers(2) else A
