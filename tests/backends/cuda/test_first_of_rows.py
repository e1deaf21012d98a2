"""The first k entries of rows by value on the device and on hosts, against loops: ties, NaN, signed zeros, rows for a
warp, for a block and cut into pieces."""

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import shim, using_shim
from grb_tile import Matrix, dtypes
from grb_tile.backends import select
from grb_tile.storage import convert
from grb_tile.storage.store import BitmapVector, SparseVector, index_dtype
from support import seeds

REFERENCE, HOSTS = select.named("reference"), [select.named("numpy"), select.named("cpu")]
TYPES = [dtypes.BOOL, dtypes.INT8, dtypes.INT16, dtypes.UINT32, dtypes.INT64, dtypes.UINT64, dtypes.FP32, dtypes.FP64]
HOWS = ("first", "last", "smallest", "largest", "random")


def check(x, ks, hows=HOWS):
    before = agree.snapshot(x)
    for how in hows:
        for k in ks:
            want = REFERENCE.first_of_rows(x, how, k, 7)
            for backend in (*HOSTS, shim()):
                agree.assert_same(backend.first_of_rows(x, how, k, 7), want)
    assert agree.snapshot(x) == before


@pytest.mark.parametrize("dtype", [*TYPES, dtypes.FC64], ids=str)
@pytest.mark.parametrize("turn", range(4))
def test_every_form(turn, dtype):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, turn, dtype.rank])
    shim().detours.clear()
    huge = turn == 3
    u = samples.random_vector(rng, samples.dimension(rng, huge), dtype)
    A = samples.random_matrix(rng, samples.dimension(rng, huge), samples.dimension(rng, huge), dtype)
    hows = HOWS if dtype is not dtypes.FC64 else ("first", "last", "random")
    for x in (u, A):
        check(x, (0, 1, 2, 5), hows)
    assert not shim().detours
    if dtype is dtypes.FC64:  # the host sorts
        check(A, (1, 3), ("smallest", "largest"))


def some_values(rng, dtype, count):
    """Few different values, so that many are equal; extremes, NaN and both zeros among those of floats."""
    kind = dtype.np_type.kind
    if kind == "f":
        return rng.choice(np.array([np.nan, -np.inf, np.inf, 0.0, -0.0, 1.5, -2.25, 3.5e-39], dtype.np_type), count)
    if kind == "b":
        return rng.random(count) < 0.5
    info = np.iinfo(dtype.np_type)
    return rng.choice(np.array([info.min, info.max, 0, 1, info.max - 1], dtype.np_type), count)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_rows_of_all_lengths(dtype):
    """The emulation's warps take rows up to 64 entries, its pieces have 64, and longer ones are cut."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, dtype.rank])
    lengths = [0, 1, 31, 32, 33, 64, 65, 130, 256, 257, 700, 3]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    cols = np.concatenate([np.sort(rng.choice(900, n, replace=False)) for n in lengths])
    shim().detours.clear()
    A = convert.compressed(len(lengths), 900, dtype, rows, cols, some_values(rng, dtype, rows.size))
    check(A, (1, 2, 4, 16, 17, 64, 300), ("smallest", "largest", "random"))
    assert not shim().detours


@pytest.mark.parametrize("count", [1, 64, 65, 256, 257, 1500])
def test_vectors(count):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, count])
    values = some_values(rng, dtypes.FP64, count)
    shim().detours.clear()
    for x in (
        BitmapVector(count, dtypes.FP64, None, values, count),
        SparseVector(3 * count, dtypes.FP64, np.arange(count, dtype=index_dtype(3 * count)) * 3, values, False),
        SparseVector(3 * count, dtypes.FP64, np.arange(count, dtype=index_dtype(3 * count)) * 3, values[:1], True),
    ):
        check(x, (1, 7, count // 2, count))
    assert not shim().detours


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_a_single_row_that_gives_many_is_sorted(dtype):
    """From 101 entries on, where at most 4 * 16 times as many as are kept."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, dtype.rank])
    for count in (100, 101, 3000):  # the emulation's device sorts 3000 keys itself
        x = BitmapVector(count, dtype, None, some_values(rng, dtype, count), count)
        check(x, (60, count - 1), ("smallest", "largest", "random"))


@pytest.mark.parametrize("order", ["rowwise", "columnwise"])
def test_objects(order):
    """selectk and compactify of a matrix of the device are those of the host, entry by entry."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 5])
    dense = rng.integers(0, 9, (40, 90)).astype(float)
    calls = [
        call
        for how in ("first", "last", "smallest", "largest")
        for call in (
            lambda A, how=how: A.ss.selectk(how, 6, order),
            lambda A, how=how: A.ss.compactify(how, 6, order),
            lambda A, how=how: A.ss.compactify(how, 6, order, asindex=True, reverse=True),
        )
    ]
    for A in (Matrix.from_dense(dense), Matrix.from_dense(dense, missing_value=3.0)):
        want = [call(A).to_coo() for call in calls]
        with using_shim():
            found = [call(A).to_coo() for call in calls]
            drawn = A.ss.selectk("random", 6, order).to_coo()
        for a, b in zip(found, want, strict=True):
            for got, expected in zip(a, b, strict=True):
                assert np.array_equal(got, expected)
        side = order == "columnwise"
        counts = np.bincount(A.to_coo()[side])
        assert (np.bincount(drawn[side]) == np.minimum(counts, 6)).all()
        assert np.array_equal(drawn[2], dense[drawn[0], drawn[1]])
