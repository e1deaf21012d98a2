"""Random stores for the tests of compiled kernels, and what two results must have in common."""

import numpy as np

from grb_tile.storage import bits
from grb_tile.storage.convert import to_sparse
from grb_tile.storage.store import BitmapVector, Compressed, SparseVector, StoredMask, full_values


def values(rng, dtype, count):
    np_type = dtype.np_type
    if np_type.kind == "b":
        return rng.integers(0, 2, count).astype(np_type)
    if np_type.kind == "u":
        return rng.integers(0, 5, count).astype(np_type)
    if np_type.kind == "c":
        return (rng.integers(-4, 5, count) + 1j * rng.integers(-4, 5, count)).astype(np_type)
    return rng.integers(-4, 5, count).astype(np_type)


def matrix(rng, nrows, ncols, count, dtype, iso=False, wide=False):
    keys = np.unique(rng.integers(0, nrows * ncols, count))
    indptr = np.zeros(nrows + 1, np.int64)
    np.cumsum(np.bincount(keys // ncols, minlength=nrows), out=indptr[1:])
    indices = (keys % ncols).astype(np.int64 if wide else np.int32)
    return Compressed(nrows, ncols, dtype, indptr, indices, values(rng, dtype, 1 if iso else keys.size), iso=iso)


def vector(rng, size, count, dtype, form, iso=False):
    """form: "sparse", "bitmap" or "full"."""
    if form == "full":
        return BitmapVector(size, dtype, None, values(rng, dtype, 1 if iso else size), size, iso)
    indices = np.sort(rng.choice(size, count, replace=False)).astype(np.int32)
    if form == "sparse":
        return SparseVector(size, dtype, indices, values(rng, dtype, 1 if iso else count), iso)
    dense = values(rng, dtype, 1 if iso else size)
    return BitmapVector(size, dtype, bits.from_indices(indices, size), dense, count, iso)


def masks(rng, size, dtype):
    """StoredMask objects of every kind."""
    patterns = [vector(rng, size, size // 3, dtype, "sparse"), vector(rng, size, size // 2, dtype, "bitmap"),
                vector(rng, size, 0, dtype, "sparse"), vector(rng, size, size, dtype, "full")]  # fmt: skip
    return [None, *(StoredMask(p, c) for p in patterns for c in (False, True))]


def as_vector(store):
    store = to_sparse(store)
    return store.indices.tolist(), store.dtype, np.array(full_values(store))


def same_vector(a, b, any_value=False):
    """The same entries; under `any`, the same pattern."""
    assert a.size == b.size
    one, two = as_vector(a), as_vector(b)
    assert one[0] == two[0]
    assert one[1] is two[1]
    assert one[2].dtype == two[2].dtype
    if not any_value:
        np.testing.assert_array_equal(one[2], two[2])


def same_matrix(a, b, any_value=False):
    assert a.shape == b.shape
    assert a.dtype is b.dtype
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.indices, b.indices)
    if not any_value:
        one, two = np.array(full_values(a)), np.array(full_values(b))
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
