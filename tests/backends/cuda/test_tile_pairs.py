"""Products of two matrices over pairs of 8 x 8 tiles (backends/cuda/products/tile_pairs.py), their kernels run as
fibers, against the NumPy backend; blocks made on the device against storage's own."""

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import tile_blocks, tile_pairs
from grb_tile.operators import get_typed_op
from grb_tile.planner import explain, force, record_plan, tuning
from grb_tile.storage import bit_tiles, convert
from grb_tile.storage.place import host
from grb_tile.storage.store import Compressed, StoredMask
from support import seeds

NUMPY = select.named("numpy")
SEMIRINGS = [  # matrix instructions; entry by entry: with and without a start value; any; structure only; positional
    ("plus_times", "FP64"), ("min_plus", "FP32"), ("times_times", "FC64"), ("any_second", "FP64"),
    ("any_pair", "BOOL"), ("max_secondj1", "INT64"), ("plus_firstj", "INT64"), ("lxor_land", "BOOL"),
    ("plus_pair", "INT64"), ("plus_times", "INT16"), ("plus_times", "FC64"),
]  # fmt: skip
SAMPLE = SEMIRINGS[:2]


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def clustered(rng, nrows, ncols, dtype, tiles, share, band=None):
    """A matrix of about `tiles` tiles of 8 x 8, `share` of each filled; within `band` of the diagonal."""
    rows, cols = rng.integers(0, -(-nrows // 8), tiles), rng.integers(0, -(-ncols // 8), tiles)
    if band is not None:
        cols = np.clip(rows + rng.integers(-band, band + 1, tiles), 0, -(-ncols // 8) - 1)
    at = rng.random((tiles, 8, 8)) < share
    which, r, c = at.nonzero()
    keys = np.unique((rows[which] * 8 + r) * (8 * ncols) + cols[which] * 8 + c)
    i, j = keys // (8 * ncols), keys % (8 * ncols)
    kept = (i < nrows) & (j < ncols)
    i, j = i[kept], j[kept]
    return convert.compressed(nrows, ncols, dtype, i, j, samples.values(rng, dtype, i.size))


def operands(rng, semiring):
    """Tile rows of more than 32 tiles, empty ones, sizes that are no multiples of 8."""
    A = clustered(rng, 93, 700, semiring.type, 420, 0.3)
    B = clustered(rng, 700, 150, semiring.type2, 500, 0.2)
    return A, B


def product(A, B, semiring, name="tile_pairs"):
    plan = record_plan("matmul", "gustavson", "csr", "no_mask")
    with force(name):
        return shim().matmul(A, B, semiring, None, plan), plan


def compare(got, want, semiring):
    got = host(got)
    if semiring.name.startswith("any_second"):  # any of the products: the positions agree
        one = get_typed_op("one", want.dtype, kind="unary")
        got, want = NUMPY.apply(got, one), NUMPY.apply(want, one)
    agree.assert_same(got, want)


@pytest.mark.parametrize(
    ("name", "type_"),
    [pytest.param(*one, marks=() if one in SAMPLE else pytest.mark.slow) for one in SEMIRINGS],
)
def test_products(name, type_):
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    A, B = operands(rng_of(len(name), semiring.type.rank), semiring)
    before = agree.snapshot(A, B)
    got, plan = product(A, B, semiring)
    compare(got, NUMPY.matmul(A, B, semiring, None), semiring)
    assert plan.kernel == "tile_pairs" and "pairs of tiles" in plan.note
    assert agree.snapshot(A, B) == before


def test_long_tile_rows_are_split(monkeypatch):
    """A tile row of C of more tiles than a task takes; its entries follow those of the task before."""
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(31)
    A = clustered(rng, 20, 40, dtypes.FP64, 12, 0.4)
    B = clustered(rng, 40, 8 * (2 * tile_pairs.TILES_OF_TASK + 30), dtypes.FP64, 2000, 0.1)
    agree.assert_same(host(product(A, B, semiring)[0]), NUMPY.matmul(A, B, semiring, None))


@pytest.mark.parametrize(
    ("name", "type_", "iso"),
    [  # matrix instructions; one comparison: absent values are NaN, or products are left out; FP32's minimum
        ("plus_times", "FP64", False), ("min_plus", "FP64", False), ("max_first", "FP64", False),
        pytest.param("max_times", "FP64", False, marks=pytest.mark.slow),
        pytest.param("min_plus", "FP64", True, marks=pytest.mark.slow),
        pytest.param("min_plus", "FP32", False, marks=pytest.mark.slow),
        pytest.param("max_rminus", "FP32", False, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_absent_positions_do_not_show(name, type_, iso):
    """Inf, NaN and -0 beside absent positions: each entry is what its products alone give."""
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(5)
    A, B = (clustered(rng, 64, 64, semiring.type, 30, 0.3) for _ in range(2))
    special = np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, 1.0, -2.0, 3.0], A.dtype.np_type)
    for matrix in (A, B):
        matrix.values = special[rng.integers(0, special.size, matrix.values.size)]
    if iso:
        B.values, B.iso = special[:1], True
    got = host(product(A, B, semiring)[0])
    want = NUMPY.matmul(A, B, semiring, None)
    agree.assert_same(got, want)
    assert np.isnan(want.values).any() and np.isinf(want.values).any()
    if name != "plus_times":
        return
    want = host(product(A, B, semiring, "two_phases")[0])  # NumPy's sums begin with 0
    zeros = want.values == 0
    assert zeros.any()
    assert (np.signbit(got.values[zeros]) == np.signbit(want.values[zeros])).all()


@pytest.mark.parametrize(
    "iso", ["A", pytest.param("B", marks=pytest.mark.slow), pytest.param("AB", marks=pytest.mark.slow)]
)
def test_one_value(iso):
    """Operands of one value for all entries: the left one, the right one, both."""
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(6, len(iso))
    A, B = operands(rng, semiring)
    if "A" in iso:
        A.values, A.iso = np.full(1, 2.5), True
    if "B" in iso:
        B.values, B.iso = np.full(1, -0.5), True
    agree.assert_same(host(product(A, B, semiring)[0]), NUMPY.matmul(A, B, semiring, None))


def test_products_without_entries():
    """Tiles meet, their entries do not: such a tile of C is empty."""
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(9)
    A = convert.compressed(9, 16, dtypes.FP64, np.array([0, 3]), np.array([1, 10]), samples.values(rng, dtypes.FP64, 2))
    B = convert.compressed(16, 9, dtypes.FP64, np.array([0, 9]), np.array([3, 6]), samples.values(rng, dtypes.FP64, 2))
    got, plan = product(A, B, semiring)
    assert got.nvals == 0 and got.shape == (9, 9) and plan.note == "2 pairs of tiles, 1 tiles, 0 entries"
    B = convert.compressed(24, 9, dtypes.FP64, np.array([20]), np.array([3]), samples.values(rng, dtypes.FP64, 1))
    A = convert.compressed(9, 24, dtypes.FP64, np.array([3]), np.array([1]), samples.values(rng, dtypes.FP64, 1))
    got, plan = product(A, B, semiring)  # no tiles meet
    assert got.nvals == 0 and got.shape == (9, 9) and plan.note == "0 pairs of tiles, 0 tiles, 0 entries"


@pytest.mark.parametrize(
    "dtype", [dtypes.FP64, *(pytest.param(d, marks=pytest.mark.slow) for d in (dtypes.INT8, dtypes.FC64))]
)
def test_blocks_made_on_the_device(dtype):
    rng = rng_of(dtype.rank)
    hub = convert.compressed(  # one row that is cut into several tasks
        40, 9000, dtype, np.full(3000, 17), np.sort(rng.choice(9000, 3000, replace=False)),
        samples.values(rng, dtype, 3000),
    )  # fmt: skip
    for A in (clustered(rng, 93, 700, dtype, 200, 0.2), clustered(rng, 7, 7, dtype, 1, 1.0), hub):
        got, want = tile_blocks.bit_blocks_of(shim().device, shim().device.to_device(A)), bit_tiles.bit_blocks_from(A)
        for name in ("block_ptr", "block_col", "block_map", "value_ptr", "values"):
            found, expected = getattr(got, name).get(), getattr(want, name)
            assert found.dtype == expected.dtype and np.array_equal(found, expected, equal_nan=True), name


@pytest.mark.slow
def test_chosen_where_tiles_are_full(monkeypatch):
    monkeypatch.setattr(tuning, "GPU_TILE_CALL_NS", 0)
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(12)
    for share, kernel in ((0.9, "tile_pairs"), (0.02, "two_phases")):
        A = clustered(rng, 200, 200, dtypes.FP64, 120, share, band=3)
        plan = record_plan("matmul", "gustavson", "csr", "no_mask")
        got = shim().matmul(A, A, semiring, None, plan)
        agree.assert_same(host(got), NUMPY.matmul(A, A, semiring, None))
        assert plan.kernel == kernel, str(explain(1))
        plan = record_plan("matmul", "gustavson", "csr", "no_mask")
        allow = StoredMask(A)
        with force("tile_pairs"):
            got = shim().matmul(A, A, semiring, allow, plan)
        agree.assert_same(host(got), NUMPY.matmul(A, A, semiring, allow))
        assert plan.kernel != "tile_pairs" and plan.rule == "kernel_unsuited"


@pytest.mark.parametrize(
    "type_", ["INT8", pytest.param("INT64", marks=pytest.mark.slow), pytest.param("FP32", marks=pytest.mark.slow)]
)
def test_sums_of_ones(type_):
    """plus_pair by popcounts of bits: sums of INT8 wrap as additions do."""
    semiring = get_typed_op("plus_pair", getattr(dtypes, type_), kind="semiring")
    rng = rng_of(len(type_))
    A, B = clustered(rng, 40, 1200, semiring.type, 500, 0.8), clustered(rng, 1200, 60, semiring.type2, 900, 0.7)
    want = NUMPY.matmul(A, B, semiring, None)
    agree.assert_same(host(product(A, B, semiring)[0]), want)
    assert type_ != "INT8" or (want.values < 0).any()
    A, B = (  # one value for all entries: a multiple of one product
        Compressed(X.nrows, X.ncols, X.dtype, X.indptr, X.indices, np.full(1, 7, X.dtype.np_type), True) for X in (A, B)
    )
    semiring = get_typed_op("plus_times", getattr(dtypes, type_), kind="semiring")
    agree.assert_same(host(product(A, B, semiring)[0]), NUMPY.matmul(A, B, semiring, None))
