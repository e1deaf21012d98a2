"""What it means that two backends agree: the same entries, the right type, a sound store, nothing outside the mask."""

import numpy as np

from grb_tile.backends.reference import entries
from grb_tile.storage.place import host
from grb_tile.storage.store import index_dtype


def check_store(x):
    """Every promise that storage/store.py makes about a store."""
    assert x.values.dtype == x.dtype.np_type
    if x.format == "sparse":
        assert x.indices.dtype == index_dtype(x.size)
        assert (np.diff(x.indices.astype(np.int64)) > 0).all()
        assert not x.nvals or 0 <= x.indices[0] and x.indices[-1] < x.size
        assert x.values.shape == ((1,) if x.iso else (x.nvals,))
    elif x.format == "bitmap":
        assert x.values.shape == ((1,) if x.iso else (x.size,))
        if x.words is None:
            assert x.nvals == x.size
        else:
            assert x.words.dtype == np.uint64 and x.words.shape == ((x.size + 63) // 64,)
            assert int(np.bitwise_count(x.words).sum()) == x.nvals
            if x.size % 64:
                assert int(x.words[-1]) >> (x.size % 64) == 0
    else:
        assert x.indptr.dtype == np.int64 and x.indices.dtype == index_dtype(x.ncols)
        assert x.indptr[0] == 0 and x.indptr[-1] == x.nvals and (np.diff(x.indptr) >= 0).all()
        assert x.values.shape == ((1,) if x.iso else (x.nvals,))
        same_row = np.diff(np.arange(x.indptr.shape[0] - 1).repeat(np.diff(x.indptr))) == 0
        assert (np.diff(x.indices.astype(np.int64))[same_row] > 0).all()
        assert not x.nvals or 0 <= x.indices.min() and x.indices.max() < x.ncols
        if x.rows is None:
            assert x.indptr.shape[0] == x.nrows + 1
        else:
            assert x.rows.dtype == np.int64 and x.indptr.shape[0] == x.rows.shape[0] + 1
            assert (np.diff(x.rows) > 0).all() and (not x.rows.shape[0] or 0 <= x.rows[0] and x.rows[-1] < x.nrows)


def same_values(a, b):
    """Equal, both NaN, or the same but for the rounding of sums in another order."""
    if a.dtype.kind in "fc":
        single = a.dtype.itemsize == (8 if a.dtype.kind == "c" else 4)
        return bool(np.allclose(a, b, rtol=1e-4 if single else 1e-10, atol=1e-6, equal_nan=True))
    return bool((a == b).all())


def assert_same(got, want):
    """`got` (a store or a scalar) says what the reference's `want` says."""
    if hasattr(got, "format"):
        got = host(got)
    if want is None or not hasattr(want, "format"):
        if want is None:
            assert got is None
        else:
            assert got.dtype == want.dtype and same_values(np.array([got]), np.array([want])), (got, want)
        return
    check_store(got)
    check_store(want)
    assert got.dtype is want.dtype and got.shape == want.shape
    found, expected = entries(got), entries(want)
    assert found.keys() == expected.keys()
    if expected and not same_values(*(np.concatenate([x[place] for place in expected]) for x in (found, expected))):
        for place, value in expected.items():
            assert same_values(found[place], value), (place, found[place], value)


def snapshot(*stores):
    """What the operands hold, to be compared afterwards."""
    return [{k: v.tobytes() for k, v in entries(s).items()} for s in stores if s is not None]
