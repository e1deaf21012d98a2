"""Products over tiles on the CUDA backend, and tiles made on the device, against the NumPy backend's and storage's
own."""

import numpy as np
import pytest
from backends import agree, samples

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import tiles
from grb_tile.operators import get_typed_op
from grb_tile.planner import tuning, unrecorded
from grb_tile.storage import bit_tiles, tiled
from grb_tile.storage.convert import to_bitmap, to_sparse
from grb_tile.storage.place import host
from grb_tile.storage.store import Compressed, SparseVector, StoredMask
from support import seeds

NUMPY = select.named("numpy")
ONE = get_typed_op("one", dtypes.BOOL, kind="unary")


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def masks(rng, dim):
    yield None
    yield StoredMask(samples.random_vector(rng, dim, dtypes.BOOL, 0.4))
    yield StoredMask(samples.random_vector(rng, dim, dtypes.BOOL, 0.7), True)


@pytest.mark.parametrize("nt", [16, 32, 64])
@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("plus_times", "FP64"),
        ("min_plus", "FP32"),
        ("any_pair", "BOOL"),
        ("min_secondi", "INT64"),
        ("lor_land", "BOOL"),
    ],
)
def test_tiled(name, type_, nt):
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(len(name))
    rows, cols = (70, np.arange(70)), (150, np.arange(150))
    for share in (0.02, 0.2, 1.0):
        A = samples.random_matrix(rng, rows, cols, semiring.type, share)
        for x_share in (0.0, 0.05, 0.6, 1.0):
            x = samples.random_vector(rng, cols, semiring.type2, x_share)
            for allow in masks(rng, rows):
                assert_tiled(A, x, semiring, allow, nt)


def assert_tiled(A, x, semiring, allow, nt):
    """Over tiles, x sparse and x a bitmap, against CSR in NumPy."""
    want = NUMPY.matvec_rows(A, x, semiring, allow)
    for stored in (to_sparse(x), to_bitmap(x)):
        with gb.plan(force=f"nt{nt}"):
            agree.assert_same(shim().matvec_rows(A, stored, semiring, allow, unrecorded("tiled")), want)


@pytest.mark.parametrize("nt", [16, 32, 64])
@pytest.mark.parametrize("iso", [False, True])
def test_tiled_vectors(nt, iso):
    """x_ptr, x_tile and words made on the device have the entries of the vector."""
    rng = rng_of(nt)
    device = shim().device
    for size in (1, 63, 64, 1000, 2500):
        for share in (0.002, 0.1, 1.0):
            u = to_sparse(samples.random_vector(rng, (size, np.arange(size)), dtypes.FP64, share))
            if iso and u.nvals:
                u = SparseVector(size, u.dtype, u.indices, np.array([2.5]), True)
            if u.nvals == 0:
                continue
            made = tiles.tiled_vector_of(device, device.to_device(u), nt)
            kept = int((device.host(made.x_ptr) >= 0).sum())
            made.x_ptr, made.x_mask = device.host(made.x_ptr), device.host(made.x_mask)[:kept]
            made.x_tile = device.host(made.x_tile)[: 1 if iso else kept * nt]
            assert kept == len(set((u.indices // nt).tolist()))
            agree.assert_same(made.to_vector(), u)


@pytest.mark.parametrize("nt", [16, 32, 64])
@pytest.mark.parametrize(("name", "type_"), [("plus_times", "FP64"), ("any_pair", "BOOL"), ("min_firsti", "INT64")])
def test_long_tile_rows_are_split(name, type_, nt):
    """A tile row of more than TILES_OF_CHUNK tiles is shared by several warps, with a remainder and without."""
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(len(name), 9)
    width = nt * (2 * tiles.TILES_OF_CHUNK + 40)
    long = np.sort(rng.choice(width, width // 3, replace=False))
    rows = np.concatenate((np.full(long.shape[0], 20), np.full(long.shape[0], 25), rng.integers(0, 50, 300)))
    cols = np.concatenate((long, long, rng.integers(0, width, 300)))
    keys = np.unique(rows * width + cols)
    values = rng.integers(1, 5, keys.shape[0]).astype(semiring.type.np_type)
    A = NUMPY.build_matrix(50, width, keys // width, keys % width, values, None, semiring.type)
    device = shim().device
    T = tiles.tiled_of(device, device.to_device(A), nt)
    assert tiles.chunks_of(device, T, False)[2] is not None and T.rest_row.shape[0]
    assert_same_tiles(T, tiled.tiled_from(A, nt))
    for x_share in (0.05, 1.0):
        x = samples.random_vector(rng, (width, np.arange(width)), semiring.type2, x_share)
        for allow in masks(rng, (50, np.arange(50))):
            assert_tiled(A, x, semiring, allow, nt)


@pytest.mark.parametrize("nt", [16, 64])
def test_long_remainders_are_split(nt):
    """Hubs whose entries are alone in their tiles: chunks of the remainder, without a single tile."""
    rng = rng_of(nt, 3)
    width = nt * (2 * tiles.REST_OF_CHUNK + 100)
    cols = np.arange(0, width, nt)
    rows = np.full(cols.shape[0], 3)
    rows[::5] = 17 % nt
    order = np.lexsort((cols, rows))
    values = rng.integers(1, 9, cols.shape[0]).astype(np.float64)
    A = NUMPY.build_matrix(20, width, rows[order], cols[order], values, None, dtypes.FP64)
    T = tiles.tiled_of(shim().device, shim().device.to_device(A), nt)
    assert T.ntiles == 0 and tiles.chunks_of(shim().device, T, False)[1] > 2
    for name in ("plus_times", "min_plus", "any_pair"):
        semiring = get_typed_op(name, dtypes.FP64, kind="semiring")
        x = samples.random_vector(rng, (width, np.arange(width)), dtypes.FP64, 0.3)
        for allow in masks(rng, (20, np.arange(20))):
            assert_tiled(A, x, semiring, allow, nt)


@pytest.mark.parametrize("direction", ["bittiled", *tiles.DIRECTIONS])
@pytest.mark.parametrize("transposed", [False, True])
def test_long_lines_of_bit_tiles_are_split(direction, transposed):
    rng = rng_of(len(direction), 5)
    width = 32 * (2 * tiles.TILES_OF_CHUNK + 40)
    long = np.sort(rng.choice(width, width // 3, replace=False))
    rows = np.concatenate((np.full(long.shape[0], 20), np.full(long.shape[0], 25), rng.integers(0, 50, 300)))
    cols = np.concatenate((long, long, rng.integers(0, width, 300)))
    shape = (width, 50) if transposed else (50, width)
    keys = np.unique(cols * 50 + rows if transposed else rows * width + cols)
    A = NUMPY.build_matrix(
        *shape, keys // shape[1], keys % shape[1], np.ones(1, bool).repeat(keys.shape[0]), None, dtypes.BOOL
    )
    A = Compressed(A.nrows, A.ncols, A.dtype, A.indptr, A.indices, np.ones(1, bool), True, A.rows)
    for name, type_ in (("any_pair", dtypes.BOOL), ("plus_pair", dtypes.INT64)):
        semiring = get_typed_op(name, type_, kind="semiring")
        for x_share in (0.05, 1.0):
            x = NUMPY.apply(samples.random_vector(rng, (shape[1], np.arange(shape[1])), dtypes.BOOL, x_share), ONE)
            for allow in masks(rng, (shape[0], np.arange(shape[0]))):
                want = NUMPY.matvec_rows(A, x, semiring, allow)
                agree.assert_same(shim().matvec_rows(A, x, semiring, allow, unrecorded(direction)), want)
    device = shim().device
    T = tiles.bit_tiles_of(device, device.to_device(A))
    assert tiles.chunks_of(device, T, transposed)[2] is not None
    if not transposed:
        assert tiles._merging_tasks(device, device.to_device(A).indptr, 32)[2] is not None
    for nt in (16, 32, 64):
        assert_same_bit_tiles(tiles.bit_tiles_of(device, device.to_device(A), nt), bit_tiles.bit_tiles_from(A, nt))


@pytest.mark.parametrize("direction", ["bittiled", *tiles.DIRECTIONS])
@pytest.mark.parametrize(("name", "type_"), [("any_pair", "BOOL"), ("plus_pair", "FP32"), ("lor_land", "BOOL")])
def test_bit_tiles(name, type_, direction):
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(len(name), len(direction))
    rows, cols = (150, np.arange(150)), (130, np.arange(130))
    for share in (0.01, 0.3):
        A = samples.random_matrix(rng, rows, cols, dtypes.BOOL, share)
        A = Compressed(
            A.nrows, A.ncols, A.dtype, A.indptr, A.indices, np.ones(min(A.nvals, 1), bool), A.nvals > 0, A.rows
        )
        for x_share in (0.02, 0.5, 1.0):
            x = NUMPY.apply(samples.random_vector(rng, cols, dtypes.BOOL, x_share), ONE)
            for allow in masks(rng, rows):
                want = NUMPY.matvec_rows(A, x, semiring, allow)
                agree.assert_same(shim().matvec_rows(A, x, semiring, allow, unrecorded(direction)), want)


@pytest.mark.parametrize("type_", ["FP32", "FC64", "BOOL"])
@pytest.mark.parametrize("share", [0.01, 0.3, 1.0])
def test_tiles_are_those_of_storage(share, type_):
    rng = rng_of(int(share * 100))
    device = shim().device
    A = samples.random_matrix(rng, (70, np.arange(70)), (100, np.arange(100)), getattr(dtypes, type_), share)
    for nt in (16, 32, 64):
        assert_same_tiles(tiles.tiled_of(device, device.to_device(A), nt), tiled.tiled_from(A, nt))
        assert_same_bit_tiles(tiles.bit_tiles_of(device, device.to_device(A), nt), bit_tiles.bit_tiles_from(A, nt))


def assert_same_tiles(got, want):
    for name in (
        "tile_ptr",
        "tile_col",
        "tile_nnz",
        "local_col",
        "row_start",
        "values",
        "rest_ptr",
        "rest_row",
        "rest_col",
        "rest_values",
    ):
        assert getattr(got, name).tolist() == getattr(want, name).tolist(), name


def assert_same_bit_tiles(got, want):
    for name in (
        "tile_row_ptr",
        "tile_col",
        "row_map",
        "row_start",
        "row_words",
        "tile_col_ptr",
        "tile_row",
        "col_map",
        "col_start",
        "col_words",
    ):
        assert getattr(got, name).dtype == getattr(want, name).dtype
        assert getattr(got, name).tolist() == getattr(want, name).tolist(), name


def test_sums_of_one_subnormal_product():
    """As many times as a row has entries; a device's own multiplication may take it for zero."""
    rows, cols = (rng_of(5).random((70, 70)) < 0.3).nonzero()
    A = NUMPY.build_matrix(70, 70, rows, cols, np.array([2.0**-75], np.float32), None, dtypes.FP32)
    x = NUMPY.build_vector(70, np.arange(70), np.array([2.0**-70], np.float32), None, dtypes.FP32)
    semiring = get_typed_op("plus_times", dtypes.FP32, kind="semiring")
    got, want = (
        host(shim().matvec_rows(A, x, semiring, None, unrecorded("bittiled"))),
        NUMPY.matvec_rows(A, x, semiring),
    )
    np.testing.assert_array_equal(got.values, want.values)


def test_symmetric_structure_is_kept_once():
    rng = rng_of(3)
    device = shim().device
    A = samples.random_matrix(rng, (90, np.arange(90)), (90, np.arange(90)), dtypes.BOOL, 0.1)
    plus = get_typed_op("lor", dtypes.BOOL, kind="binary")
    both = device.to_device(NUMPY.union(A, NUMPY.transpose(A), plus))
    assert tiles.bit_tiles_of(device, both).symmetric


def test_a_plan_names_the_form_that_was_used():
    """Bit tiles have no direction that reads values: the plan says plain rows."""
    with using_shim() as backend:
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
        v = gb.Vector.from_coo([0, 1, 2], [4.0, 5.0, 6.0])
        for format, semiring, shown in (
            ("tiled", "plus_times", "tiled"),
            ("bittiled", "plus_pair", "bittiled"),
            ("bittiled", "plus_times", "csr"),
            ("bitblock", "plus_times", "bitblock"),
        ):
            with gb.plan(force=format):
                w = A.mxv(v, semiring).new()
            plan = gb.explain().plans[0]
            assert (plan.method, plan.format, plan.engine) == ("rows", shown, backend.name)
            assert plan.rule == ("forced" if shown != "csr" else "form_unsuited")
            assert w.nvals == 3


def test_values_without_an_atomic_go_over_tiles(monkeypatch):
    """The planner's choice from end to end: FC64 has no atomic, FP64 has; the mask and the accumulator are kept."""
    for name, value in (("TILES_ENTRIES", 1), ("GPU_SMALL_MATRIX", 0), ("GPU_BINNED_NS", 1e9), ("TILES_FULL", 2.0)):
        monkeypatch.setattr(tuning, name, value)
    rng = rng_of(12)
    n = 300
    rows, cols = np.arange(n).repeat(20), (np.arange(n)[:, None] + np.arange(20)).ravel() % n
    at = np.sort(rng.choice(n, 5, replace=False))
    for dtype, shown in ((dtypes.FC64, "tiled"), (dtypes.FP64, "csr")):
        values = rng.integers(1, 9, rows.size).astype(dtype.np_type)
        A, x = (gb.Matrix.from_coo(rows, cols, values), gb.Vector.from_coo(at, values[:5], size=n))
        mask = gb.Vector.from_coo(np.arange(0, n, 2), True, size=n)
        want, w = (gb.Vector.from_coo([0, 1], values[:2], size=n) for _ in range(2))
        want(~mask.S, accum="plus") << A.mxv(x, "plus_times")
        with using_shim():
            A.T.new()
            w(~mask.S, accum="plus") << A.mxv(x, "plus_times")
        assert w.isequal(want) and gb.explain().plans[0].format == shown
