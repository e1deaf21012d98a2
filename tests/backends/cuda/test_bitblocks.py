"""Products over 8 x 8 bitmap blocks (kernels/products/bitblock_rows.cuh), as fibers, against NumPy's."""

import numpy as np
import pytest
from backends import agree, samples

import grb_tile as gb
from cuda_emulation.backend import shim
from grb_tile import binary, dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import bitblocks
from grb_tile.operators import Monoid, get_typed_op
from grb_tile.operators.semiring import Semiring
from grb_tile.planner import tuning, unrecorded
from grb_tile.storage import bit_tiles, convert
from grb_tile.storage.store import StoredMask
from support import seeds

NUMPY = select.named("numpy")
SEMIRINGS = [
    ("plus_times", "FP32"), ("plus_times", "FP64"), ("min_plus", "FP32"), ("plus_pair", "INT64"), ("any_pair", "BOOL"),
    ("min_firsti", "INT64"), ("max_secondj1", "INT32"), ("plus_times", "FC64"),
    ("lor_land", "BOOL"), ("times_plus", "UINT16"), ("plus_first", "FP32"), ("min_second", "INT8"),
]  # fmt: skip
SHAPES = [(70, 90), (8, 500), (400, 9), (203, 517)]


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def clustered(rng, nrows, ncols, dtype, share):
    """Entries in runs of 1 to 9 columns, which several rows share; some block rows hold nothing, one row is full."""
    there = np.zeros((nrows, ncols), np.bool_)
    for _ in range(max(1, int(share * nrows * ncols / 20))):
        i, j = rng.integers(0, nrows), rng.integers(0, ncols)
        there[i : i + rng.integers(1, 6), j : j + rng.integers(1, 10)] = True
    there &= rng.random(there.shape) < 0.8
    empty = rng.integers(0, max(nrows // 8, 1)) * 8
    there[empty : empty + 8] = False
    there[rng.integers(0, nrows)] |= rng.random(ncols) < 0.9
    rows, cols = there.nonzero()
    iso = rng.integers(3) == 0
    values = samples.values(rng, dtype, 1 if iso else rows.size)
    return convert.compressed(nrows, ncols, dtype, rows, cols, values, iso)


def copied(array):
    """The device array on the host; None of none."""
    return None if array is None else array.get()


def masks(rng, size):
    yield None
    yield StoredMask(samples.random_vector(rng, (size, np.arange(size)), dtypes.BOOL, 0.4))
    yield StoredMask(samples.random_vector(rng, (size, np.arange(size)), dtypes.BOOL, 0.7), True)


def check(rng, A, semiring):
    """Over blocks, against NumPy; every counter of arrived shares is zero again."""
    for x_share in (0.05, 0.6, 1.0):
        x = samples.random_vector(rng, (A.ncols, np.arange(A.ncols)), semiring.type2, x_share)
        for allow in masks(rng, A.nrows):
            want = NUMPY.matvec_rows(A, x, semiring, allow)
            agree.assert_same(shim().matvec_rows(A, x, semiring, allow, unrecorded("bitblock")), want)
    form = shim().store_to_device(A).forms.get("bitblock")
    if form is not None and form.arrived is not None:
        assert not form.arrived.any()
    return form


@pytest.mark.parametrize(
    ("name", "type_"), [pytest.param(*s, marks=[pytest.mark.slow] if k > 1 else []) for k, s in enumerate(SEMIRINGS)]
)
def test_against_numpy(name, type_):
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(len(name), semiring.type.rank)
    for nrows, ncols in SHAPES[rng.integers(0, 2) :: 2]:
        for share in (0.02, 0.5):
            check(rng, clustered(rng, nrows, ncols, semiring.type, share), semiring)


def test_numbers_of_columns():
    """A multiply that reads the column of A's entry, in blocks at several places of a stage."""
    semiring = get_typed_op("max_secondi", dtypes.INT64, kind="semiring")
    rng = rng_of(23)
    for share in (0.02, 0.5):
        check(rng, clustered(rng, 70, 90, dtypes.INT64, share), semiring)


def test_monoid_without_a_start():
    """A user's operator: its identity may not be put before the first product."""
    capped = Monoid.register_anonymous(binary.register_anonymous(lambda x, y: min(x + y, 7)), 0)
    semiring = Semiring.register_anonymous(capped, binary.times)[dtypes.UINT16]
    rng = rng_of(21)
    check(rng, clustered(rng, 120, 300, dtypes.UINT16, 0.2), semiring)


def test_any_takes_one_of_the_products():
    """any_second against a vector of one value that is stored at each position."""
    semiring = get_typed_op("any_second", dtypes.FP64, kind="semiring")
    rng = rng_of(22)
    A = clustered(rng, 120, 300, dtypes.FP64, 0.2)
    for share in (0.1, 1.0):
        x = samples.random_vector(rng, (300, np.arange(300)), dtypes.FP64, share)
        x.values = np.full(x.values.shape, 3.5)
        for allow in masks(rng, 120):
            want = NUMPY.matvec_rows(A, x, semiring, allow)
            agree.assert_same(shim().matvec_rows(A, x, semiring, allow, unrecorded("bitblock")), want)


@pytest.mark.parametrize("least", [0, 3, 30])
def test_remainder(least, monkeypatch):
    """No remainder, the usual one, one of most entries; each block row keeps its first block."""
    monkeypatch.setattr(bitblocks, "LEAST", least)
    monkeypatch.setattr(bitblocks, "REST_ENTRIES", 0)
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(least)
    form = check(rng, clustered(rng, 150, 400, dtypes.FP64, 0.1), semiring)
    assert (form.rest is not None) == (least > 0)


def test_few_entries_of_a_remainder_stay_in_blocks():
    """Four for each block row of eight rows, and one fewer."""
    semiring = get_typed_op("plus_times", dtypes.FP32, kind="semiring")
    for count, made in ((4, True), (3, False)):
        there = np.zeros((80, 60), np.bool_)
        there[:, 0] = there[::8, 8 : 8 + 8 * count : 8] = True
        rows, cols = there.nonzero()
        A = convert.compressed(80, 60, dtypes.FP32, rows, cols, rng_of(4).random(rows.size, np.float32))
        assert (check(rng_of(count), A, semiring).rest is not None) == made


@pytest.mark.parametrize("rest", [0, 10**9])
def test_form_has_the_entries(rest, monkeypatch):
    """Maps, columns and values are those of storage's blocks, by columns."""
    monkeypatch.setattr(bitblocks, "REST_ENTRIES", rest)
    rng = rng_of(5)
    A = clustered(rng, 90, 130, dtypes.FP64, 0.2)
    A = convert.compressed(90, 130, dtypes.FP64, *NUMPY.tuples_matrix(A)[:2], rng.random(A.nvals))
    form, want = bitblocks.spmv_blocks_of(shim().device, shim().store_to_device(A)), bit_tiles.bit_blocks_from(A)
    found = {}
    maps, codes, bases = copied(form.maps), copied(form.codes), copied(form.bases)
    names = np.arange(form.block_ptr.shape[0] - 1) if form.names is None else copied(form.names)
    at, row = 0, -1
    for b in range(form.blocks):
        if codes[b] >> 15:
            row += 1
            assert form.block_ptr[row] == b
        column = int(codes[b] & 0x7FFF) + int(bases[b // bitblocks.CHUNK])
        for bit in range(64):
            if int(maps[b]) >> bit & 1:
                found[int(names[row]) * 8 + bit % 8, column * 8 + bit // 8] = copied(form.values)[at]
                at += 1
    assert (form.rest is None) == (rest > 0)
    if form.rest is not None:
        rest_rows = names.repeat(np.diff(copied(form.rest_ptr)))
        for block_row, code, value in zip(rest_rows, copied(form.rest), copied(form.rest_values), strict=True):
            found[int(block_row) * 8 + int(code) % 8, int(code) // 8] = value
    rows, cols = want.positions()
    assert found == dict(zip(zip(rows.tolist(), cols.tolist(), strict=True), want.values.tolist(), strict=True))
    assert form.nbytes > 0


def test_wide_rows_are_cut_and_codes_are_wide():
    """Rows of thousands of entries across 2^18 columns: codes of 32 bits, tasks of a part of a block row."""
    rng = rng_of(8)
    ncols = 1 << 19
    cols = np.sort(rng.choice(ncols, 2500, replace=False))
    rows = np.concatenate((np.full(2500, 11), np.full(2500, 12), rng.integers(0, 40, 300)))
    keys = np.unique(rows * ncols + np.concatenate((cols, cols, rng.integers(0, ncols, 300))))
    A = convert.compressed(40, ncols, dtypes.INT64, keys // ncols, keys % ncols, rng.integers(1, 9, keys.size))
    semiring = get_typed_op("plus_times", dtypes.INT64, kind="semiring")
    x = samples.random_vector(rng, (ncols, np.arange(ncols)), dtypes.INT64, 1.0)
    agree.assert_same(
        shim().matvec_rows(A, x, semiring, None, unrecorded("bitblock")), NUMPY.matvec_rows(A, x, semiring, None)
    )
    form = shim().store_to_device(A).forms["bitblock"]
    assert form.bases is None and form.codes.dtype == np.int32


@pytest.mark.sampled(1)
@pytest.mark.parametrize("span", [(1 << 15) - 1, 1 << 15])
def test_a_chunk_of_as_many_columns_as_a_code_of_16_bits_has(span):
    """Blocks whose columns differ by the greatest number of 15 bits, and by one more."""
    ncols = 8 * (span + 1)
    cols = np.array([0, 8, ncols - 8])
    A = convert.compressed(9, ncols, dtypes.FP64, np.repeat([0, 8], 3), np.tile(cols, 2), np.arange(6) + 1.0)
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    x = samples.random_vector(rng_of(span), (ncols, np.arange(ncols)), dtypes.FP64, 1.0)
    agree.assert_same(
        shim().matvec_rows(A, x, semiring, None, unrecorded("bitblock")), NUMPY.matvec_rows(A, x, semiring, None)
    )
    assert (shim().store_to_device(A).forms["bitblock"].bases is None) == (span == 1 << 15)


def test_planner_takes_blocks_when_they_pay(monkeypatch):
    """Full blocks that cost their bytes: after the products whose savings pay for the conversion; scattered entries:
    never."""
    from cuda_emulation.backend import using_shim

    monkeypatch.setattr(tuning, "TILES_ENTRIES", 0)
    monkeypatch.setattr(tuning, "GPU_BLOCK_NS", 0.0)
    monkeypatch.setattr(tuning, "GPU_BLOCKS_NS", 0.0)
    monkeypatch.setattr(tuning, "GPU_BLOCK_BUILD_NS", 20e-3)
    rng = rng_of(13)
    n = 64
    dense = gb.Matrix.from_dense(rng.random((n, n)).astype(np.float32) + 0.5)
    dense.ss.config["sparsity_control"] = "sparse"
    scattered = gb.Matrix.from_coo(np.arange(n), rng.permutation(n), np.ones(n, np.float32), nrows=n, ncols=n)
    x = gb.Vector.from_dense(rng.random(n).astype(np.float32))
    with using_shim():
        for A, taken in ((dense, True), (scattered, False)):
            kernels = []
            for _ in range(tuning.BUILD_AFTER + 150):
                A.mxv(x).new()
                kernels.append(gb.explain().plans[-1].kernel)
            assert ("bit_blocks" in kernels) == taken
            assert "bit_blocks" not in kernels[: tuning.BUILD_AFTER + 1]
            if taken:
                assert kernels[-1] == "bit_blocks"
        with gb.plan(force="bit_blocks"):
            dense.mxv(x).new()
            assert gb.explain().plans[-1].kernel == "bit_blocks"


@pytest.mark.parametrize("limit", [48 << 10, 99 << 10, 227 << 10])
def test_a_block_has_as_many_warps_as_shared_memory_has_windows(limit):
    for item, x_item, stage, most in ((1, 4, 16, 0), (8, 8, 32, 64 * 32), (16, 16, 32, 64 * 32), (8, 16, 16, 300)):
        buffer, threads, shared = bitblocks.block_shape(most, stage, item, x_item, limit)
        window = shared // (threads // 32)
        assert buffer % 16 == 0 and (buffer >= most * item + 16 if most else buffer == 0)
        assert window * (threads // 32) == shared and window >= 2 * buffer and threads & threads - 1 == 0
        assert shared <= limit or threads == 32, "a block has a warp at least"
        assert threads == bitblocks.THREADS or 2 * shared > limit, "no fewer warps than fit"
