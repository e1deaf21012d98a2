"""Lower bounds by merging (kernels/elementwise/merge_search.cuh), run as fibers, against binary search on the host."""

import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, shim
from grb_tile import dtypes
from grb_tile.backends.cuda.structure import positions
from grb_tile.planner import tuning
from grb_tile.storage import convert
from grb_tile.storage.store import SparseVector
from support import seeds

ONE = np.ones(1, np.bool_)


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def matrix(keys, nrows, ncols):
    """An iso matrix of the entries row * ncols + column."""
    return convert.compressed(nrows, ncols, dtypes.BOOL, keys // ncols, keys % ncols, ONE, True)


def check(a, b, a_keys, b_keys, monkeypatch):
    """Both forms of `locate`, with and without complement and earlier flags."""
    device = shim().device
    a, b = device.own(a), device.own(b)
    if not EMULATED:
        monkeypatch.setattr(tuning, "GPU_SMALL_MATRIX", 1)
    assert positions._merges(device, a, b)
    at = np.searchsorted(b_keys, a_keys)
    there = np.append(b_keys, -1)[at] == a_keys
    for complement in (False, True):
        found, hit = positions.locate(device, a, b, complement=complement, at_type=np.dtype(np.int32))
        assert np.array_equal(hit.get(), there != complement)
        assert np.array_equal(found.get(), at)
        flags = device.array(np.arange(a_keys.size) % 3 > 0)
        _, hit = positions.locate(device, a, b, complement=complement, flags=flags)
        assert np.array_equal(hit.get(), (there != complement) & (np.arange(a_keys.size) % 3 > 0))


@pytest.mark.parametrize("shape", [(1, 900), (400, 9), pytest.param((7, 5000), marks=pytest.mark.slow),
                                   pytest.param((3000, 40), marks=pytest.mark.slow)])  # fmt: skip
def test_matrices(shape, monkeypatch):
    """Long rows over several chunks, empty rows, equal entries at the ends of chunks; the same entries in both."""
    rng = rng_of(*shape)
    size = shape[0] * shape[1]
    for share in (0.05, 0.5):
        a, b = (np.sort(rng.choice(size, int(size * part), replace=False)) for part in (share, share / 2))
        check(matrix(a, *shape), matrix(b, *shape), a, b, monkeypatch)
        check(matrix(a, *shape), matrix(a, *shape), a, a, monkeypatch)
        late = np.sort(rng.choice(np.arange(size - size // 4, size), a.size // 4, replace=False))
        check(matrix(a, *shape), matrix(late, *shape), a, late, monkeypatch)  # rows without an entry of b


@pytest.mark.parametrize("bits", [20, pytest.param(59, marks=pytest.mark.slow)])
def test_vectors(bits, monkeypatch):
    """Positions of 32 and of 64 bits."""
    rng = rng_of(bits)
    a, b = (np.unique(rng.integers(0, 1 << bits, count)) for count in (700, 300))
    b = np.union1d(b, a[::5])
    kind = np.int32 if bits < 31 else np.int64
    stores = (SparseVector(1 << bits, dtypes.BOOL, keys.astype(kind), ONE, True) for keys in (a, b))
    check(*stores, a, b, monkeypatch)


def test_a_short_store_is_searched_in_a_long_one():
    """Also where rows are stored by their names."""
    device = shim().device
    short, long = (device.own(matrix(np.arange(count), 100, 1000)) for count in (900, 100_000))
    assert not positions._merges(device, short, long)
    few = device.own(matrix(np.arange(0, 1 << 40, 1 << 30), 1 << 20, 1 << 20))
    assert few.rows is not None and not positions._merges(device, few, few)
