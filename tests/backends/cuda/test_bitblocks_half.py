"""Products over bitmap blocks whose values are in half precision, as fibers: the error bound, and when nothing is
rounded."""

import numpy as np
import pytest
from backends import agree, samples

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import bitblocks
from grb_tile.operators import get_typed_op
from grb_tile.planner import tuning, unrecorded
from grb_tile.planner.choose_precision import UNIT_ROUNDOFF
from grb_tile.storage import convert
from grb_tile.storage.store import StoredMask
from support import seeds

NUMPY = select.named("numpy")
PLUS_TIMES = get_typed_op("plus_times", dtypes.FP32, kind="semiring")


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def bf16(values):
    """Rounded to nearest even."""
    bits = values.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def half(precision, values):
    """(bits in half precision, the values of these bits)"""
    if precision == "fp16":
        rounded = values.astype(np.float16)
        return rounded.view(np.uint16), rounded.astype(np.float64)
    rounded = bf16(values)
    return rounded, (rounded.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def matrix_of(rng, values, nrows=40, ncols=64):
    """A matrix whose entries are in runs of rows and columns, with these values in some order, as (A, dense FP64)."""
    places = rng.choice(nrows * ncols // 8, values.size // 4, replace=False)
    keys = np.sort((places[:, None] * 8 + rng.permuted(np.tile(np.arange(8), (places.size, 1)), axis=1)[:, :4]).ravel())
    values = rng.permutation(values)[: keys.size].astype(np.float32)
    A = convert.compressed(nrows, ncols, dtypes.FP32, keys // ncols, keys % ncols, values, False)
    dense = np.zeros((nrows, ncols))
    dense[keys // ncols, keys % ncols] = values
    return A, dense


def full_vector(rng, size):
    return gb.Vector.from_dense(rng.normal(size=size).astype(np.float32))._store


def dense_of(w):
    values = np.zeros(w.size)
    for place, value in agree.entries(agree.host(w)).items():
        values[place] = np.ravel(value)[0]
    return values


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_error_bound_and_rounding(precision):
    """Values of all magnitudes of FP16, with ties: bits as NumPy's, and the bound of planner/choose_precision.py."""
    rng = rng_of(len(precision), 3)
    unit = UNIT_ROUNDOFF[precision]
    sizes = np.exp2(rng.uniform(-14, 15.9, 500)) * rng.choice([-1, 1], 500)
    ties = (1 + (2 * rng.integers(0, 100, 60) + 1) * 2.0**-11) * np.exp2(rng.integers(-13, 15, 60))
    A, dense = matrix_of(rng, np.concatenate((sizes, ties, [0.0, -0.0, 65504.0, 2.0**-14])))
    x = full_vector(rng, A.ncols)
    x_values = np.asarray(x.values, np.float64)
    with gb.config.set(matmul_precision=precision):
        y = dense_of(shim().matvec_rows(A, x, PLUS_TIMES, None, unrecorded("bitblock")))
    form = shim().store_to_device(A).forms["bitblock"]
    count = int(form.value_ptr[-1])
    kept = np.asarray(form.values.get())[:count]
    bits, _ = half(precision, kept)
    assert np.array_equal(form.halves[precision].get()[:count], bits)
    size = np.abs(dense) @ np.abs(x_values)
    terms = (dense != 0).sum(axis=1)
    assert (np.abs(y - dense @ x_values) <= (unit + unit**2 + (terms + 1) * 2.0**-23) * size).all()
    exact = dense_of(shim().matvec_rows(A, x, PLUS_TIMES, None, unrecorded("bitblock")))
    assert (np.abs(exact - dense @ x_values) <= (terms + 1) * 2.0**-23 * size).all() and (exact != y).any()


def test_any_number_of_values_is_rounded():
    """Threads round four values each: the last has one, two, three or four."""
    rng = rng_of(8)
    for more in range(4):
        keys = np.sort(rng.choice(40 * 16, 200 + more, replace=False))
        values = rng.uniform(0.5, 2, keys.size).astype(np.float32)
        A = convert.compressed(40, 16, dtypes.FP32, keys // 16, keys % 16, values, False)
        form = bitblocks.spmv_blocks_of(shim().device, shim().store_to_device(A))
        count = int(form.value_ptr[-1])
        found = bitblocks.values_in(shim().device, form, "fp16").get()[:count]
        assert np.array_equal(found, half("fp16", np.asarray(form.values.get())[:count])[0])
        assert count == keys.size


@pytest.mark.parametrize(
    ("precision", "value"),
    [("fp16", np.inf), ("fp16", np.nan), ("fp16", 65520.0), ("fp16", 1.1e-7), ("fp16", 2.0**-15),
     ("bf16", -np.inf), ("bf16", np.nan), ("bf16", 3.4e38), ("bf16", 1e-40)],
)  # fmt: skip
def test_values_out_of_range_are_not_rounded(precision, value):
    """The product is that of "exact", and explain() says why."""
    rng = rng_of(7)
    A, _ = matrix_of(rng, rng.uniform(0.5, 2, 200))
    at = rng.integers(0, A.values.size)
    A.values[at] = value
    matrix, x = gb.Matrix._from_store(A, A.dtype), gb.Vector._from_store(full_vector(rng, A.ncols), dtypes.FP32)
    with using_shim(), gb.plan(force="bit_blocks"):
        want = matrix.mxv(x, "plus_times").new()
        assert gb.explain().plans[-1].precision is None
        with gb.config.set(matmul_precision=precision):
            agree.assert_same(matrix.mxv(x, "plus_times").new()._store, agree.host(want._store))
            assert f"exact, because A has a value that {precision} does not represent" in str(gb.explain())
        other = "bf16" if precision == "fp16" else "fp16"
        with gb.config.set(matmul_precision=other):
            matrix.mxv(x, "plus_times").new()
            rounds = other == "bf16" and np.isfinite(value)
            assert ("A rounded, sums in FP32" in str(gb.explain())) == rounds


def test_masks_sparse_vectors_and_infinite_x():
    """Absent positions of blocks beside an infinite x give no NaN."""
    rng = rng_of(10)
    A, _ = matrix_of(rng, rng.integers(1, 50, 300).astype(float))  # which FP16 represents
    x = samples.random_vector(rng, (A.ncols, np.arange(A.ncols)), dtypes.FP32, 0.5)
    whole = full_vector(rng, A.ncols)
    whole.values = np.asarray(whole.values).copy()
    whole.values[rng.integers(0, A.ncols, 5)] = np.inf
    mask = samples.random_vector(rng, (A.nrows, np.arange(A.nrows)), dtypes.BOOL, 0.5)
    with gb.config.set(matmul_precision="fp16"):
        for vector in (x, whole):
            for allow in (None, StoredMask(mask), StoredMask(mask, True)):
                want = NUMPY.matvec_rows(A, vector, PLUS_TIMES, allow)
                got = shim().matvec_rows(A, vector, PLUS_TIMES, allow, unrecorded("bitblock"))
                got, want = agree.entries(agree.host(got)), agree.entries(want)
                assert got.keys() == want.keys()
                for place, value in want.items():
                    np.testing.assert_allclose(got[place], value, rtol=1e-5)


def test_what_is_not_rounded():
    """Other semirings, types and one-valued matrices; tf32 of a product with a vector; and who says so."""
    rng = rng_of(11)
    A, _ = matrix_of(rng, rng.uniform(0.5, 2, 200))
    matrix, x = gb.Matrix._from_store(A, A.dtype), gb.Vector._from_store(full_vector(rng, A.ncols), dtypes.FP32)
    iso = matrix.dup()
    iso(iso.S)[:, :] = 0.1
    with using_shim(), gb.plan(force="bit_blocks"):
        for M, semiring, precision, why in (
            (matrix, "min_plus", "fp16", "no rounded form"),
            (matrix.dup("FP64"), "plus_times", "bf16", "no rounded form"),
            (matrix, "plus_times", "tf32", "values of 32 bits"),
            (iso, "plus_times", "fp16", "all values of A are equal"),
        ):
            want = M.mxv(x, semiring).new()
            with gb.config.set(matmul_precision=precision):
                assert M.mxv(x, semiring).new().isequal(want)
                assert f"matmul_precision={precision}: exact, because" in str(gb.explain()) and why in str(gb.explain())


def test_planner_takes_rounded_blocks_that_cost_less(monkeypatch):
    """With values of two bytes blocks pay where those of four do not; a value that cannot be rounded: CSR again."""
    monkeypatch.setattr(tuning, "TILES_ENTRIES", 0)
    monkeypatch.setattr(tuning, "GPU_BLOCK_NS", 0.0)
    monkeypatch.setattr(tuning, "GPU_BLOCK_BANDWIDTH", 0.5)
    monkeypatch.setattr(tuning, "GPU_BLOCKS_NS", 0.0)
    monkeypatch.setattr(tuning, "GPU_BLOCK_BUILD_NS", 1e-3)
    rng = rng_of(12)
    x = gb.Vector.from_dense(rng.random(64).astype(np.float32))
    for last, wanted in ((1.0, "bit_blocks"), (1e-30, "segments_delta16")):
        values = rng.random((64, 64)).astype(np.float32) + 0.5
        values[-1, -1] = last
        A = gb.Matrix.from_dense(values)
        A.ss.config["sparsity_control"] = "sparse"
        with using_shim():
            for _ in range(tuning.BUILD_AFTER + 3):
                A.mxv(x).new()
            assert gb.explain().plans[-1].kernel == "segments_delta16"
            with gb.config.set(matmul_precision="fp16"):
                for _ in range(20):
                    A.mxv(x).new()
                assert gb.explain().plans[-1].kernel == wanted
                assert ("A rounded" in str(gb.explain())) == (wanted == "bit_blocks")
            A.mxv(x).new()
            assert gb.explain().plans[-1].kernel == "segments_delta16" and gb.explain().plans[-1].precision is None
    assert bitblocks.HALF.keys() < UNIT_ROUNDOFF.keys()
