"""Unions, intersections and differences by merge path (kernels/elementwise/merge.cuh), run as fibers, against sets."""

import numpy as np
import pytest
from backends import agree

from cuda_emulation.backend import EMULATED, shim
from grb_tile import binary, dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.structure import merging
from grb_tile.backends.cuda.structure.positions import AND, OR, WITHOUT
from grb_tile.storage import convert
from grb_tile.storage.store import SparseVector, StoredMask
from support import seeds

NUMPY = select.named("numpy")
ONE = np.ones(1, np.bool_)
JOINED = {OR: np.union1d, AND: np.intersect1d, WITHOUT: np.setdiff1d}


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def matrix(keys, nrows, ncols):
    """An iso matrix of the entries row * ncols + column."""
    return convert.compressed(nrows, ncols, dtypes.BOOL, keys // ncols, keys % ncols, ONE, True)


def entries_of(found):
    """(rows, columns) of a Merge's pattern, rows taken from the row pointers; rows None in a vector."""
    columns = found.indices.get()
    if found.format == "sparse":
        return None, columns
    starts = found.indptr.get()
    assert starts[0] == 0 and starts[-1] == columns.size
    rows = np.arange(found.nrows) if found.rows is None else found.rows.get()
    return np.repeat(rows, np.diff(starts)), columns


def check_matrices(a, b, nrows, ncols):
    device = shim().device
    stores = [device.to_device(matrix(keys, nrows, ncols)) for keys in (a, b)]
    for mode, join in JOINED.items():
        merge, want = merging.Merge(device, *stores, mode), join(a, b)
        assert merge.count == want.size
        rows, columns = entries_of(merge.pattern())
        assert np.array_equal(rows, want // ncols) and np.array_equal(columns, want % ncols)


@pytest.mark.parametrize("shape", [(1, 900), (400, 9), pytest.param((7, 5000), marks=pytest.mark.slow),
                                   pytest.param((3000, 40), marks=pytest.mark.slow)])  # fmt: skip
def test_matrices(shape):
    """Rows over several chunks, empty rows, equal entries where threads are cut; the same entries in both."""
    rng = rng_of(*shape)
    size = shape[0] * shape[1]
    for share in (0.05, 0.5):
        a, b = (np.sort(rng.choice(size, int(size * part), replace=False)) for part in (share, share / 2))
        late = np.sort(rng.choice(np.arange(size - size // 4, size), a.size // 4, replace=False))
        for other in (b, a, late):  # late: rows without an entry of b
            check_matrices(a, other, *shape)
            check_matrices(other, a, *shape)


@pytest.mark.parametrize("first", range(8))
@pytest.mark.sampled(1)
def test_equal_entries_at_every_cut(first):
    """Entries in both from any item of a thread on: each cut between threads and chunks meets a pair."""
    lone, both = np.arange(first), 100 + np.arange(1500)
    check_matrices(np.union1d(lone, both), both, 1, 2000)
    check_matrices(both * 20, np.union1d(lone, both) * 20, 2000, 20)  # an entry a row


def test_rows_stored_by_their_numbers():
    """DCSR with DCSR, and with CSR: the rows of either."""
    rng = rng_of(3)
    for rows in (1 << 40, 5000):
        a, b = (np.unique(rng.integers(0, rows, count)) * 50 + rng.integers(0, 50) for count in (300, 200))
        b = np.union1d(b, a[::3])
        many = np.arange(0, min(rows, 5000) * 50, 7)
        check_matrices(a, b, rows, 50)
        if rows == 5000:
            check_matrices(np.arange(40), many, rows, 50)
            check_matrices(many, np.arange(40), rows, 50)


@pytest.mark.parametrize("bits", [20, 59])
@pytest.mark.sampled(1)
def test_vectors(bits):
    """Positions of 32 and of 64 bits."""
    device, rng = shim().device, rng_of(bits)
    a, b = (np.unique(rng.integers(0, 1 << bits, count)) for count in (700, 300))
    b = np.union1d(b, a[::5])
    kind = np.int32 if bits < 31 else np.int64
    stores = [device.to_device(SparseVector(1 << bits, dtypes.BOOL, keys.astype(kind), ONE, True)) for keys in (a, b)]
    for x, y, s, t in ((*stores, a, b), (*stores[::-1], b, a)):
        for mode, join in JOINED.items():
            merge, want = merging.Merge(device, x, y, mode), join(s, t)
            assert merge.count == want.size
            assert np.array_equal(entries_of(merge.pattern())[1], want)


def test_what_is_merged():
    """A short store with a long one, bitmaps and short DCSR matrices are not."""
    device = shim().device
    short, long = (device.to_device(matrix(np.arange(count), 100, 1000)) for count in (900, 100_000))
    assert merging.merges(device, long, short) and not merging.merges(device, short, long)
    few = device.to_device(matrix(np.arange(0, 1 << 40, 1 << 34), 1 << 20, 1 << 20))
    assert few.rows is not None and not merging.merges(device, few, few)
    long = device.to_device(matrix(np.arange(0, 1 << 40, 1 << 30), 1 << 20, 1 << 20))
    assert long.rows is not None and merging.merges(device, long, long) == EMULATED


def test_a_mask_that_holds_all_returns_the_matrix():
    device, keys = shim().device, np.arange(0, 3000, 3)
    A, M = (device.to_device(matrix(k, 30, 100)) for k in (keys, np.arange(0, 3000)))
    assert shim().restrict(A, StoredMask(M)) is A
    assert shim().restrict(A, StoredMask(M, True)).nvals == 0
    B = device.to_device(matrix(keys + 1, 30, 100))
    assert shim().restrict(A, StoredMask(B, True)) is A
    assert shim().intersect(A, B, binary.land[dtypes.BOOL], None).nvals == 0


@pytest.mark.parametrize("iso", [(False, False), (True, False), (False, True)])
def test_values_of_several_chunks(iso):
    """One operand's values alone, cast or combined with a default; those of both; moved without an operator."""
    rng, op = rng_of(4, *iso), binary.minus[dtypes.INT64]
    stores = []
    for one in iso:
        keys = np.sort(rng.choice(9000, 1500, replace=False))
        values = rng.integers(-9, 9, 1 if one else keys.size).astype(np.int64)
        stores.append(convert.compressed(90, 100, dtypes.INT64, keys // 100, keys % 100, values, one))
    for dtype in (None, dtypes.FP32):
        for defaults in ((None, None), (7, None), (None, 8), (7, 8)):
            agree.assert_same(
                shim().union(*stores, op, None, *defaults, dtype), NUMPY.union(*stores, op, None, *defaults, dtype)
            )
    agree.assert_same(shim().union(*stores, None), NUMPY.union(*stores, None))
    for common in (op, binary.first[dtypes.INT64], binary.second[dtypes.INT64], binary.lt[dtypes.INT64]):
        agree.assert_same(shim().intersect(*stores, common, None), NUMPY.intersect(*stores, common, None))
