"""SpMV over bins on the CPU: the result of the plain rows, bit by bit; where it is taken, and where it gives way."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.compiled import binned, matvec as plain_rows
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.planner import explain, tuning
from grb_tile.planner.record import UNRECORDED, Plan
from grb_tile.storage import convert, host_memory
from grb_tile.storage.store import BitmapVector, StoredMask
from support.seeds import generator
from support.stores import masks, matrix, vector

SEMIRINGS = [
    ("plus_times", "FP64"), ("plus_times", "FP32"), ("plus_times", "INT8"), ("plus_times", "UINT64"),
    ("plus_times", "FC64"), ("min_plus", "FP32"), ("min_plus", "INT64"), ("max_min", "FP64"), ("plus_second", "FP64"),
    ("max_second", "INT32"), ("times_minus", "INT16"), ("plus_bor", "UINT8"), ("lxor_land", "BOOL"),
]  # fmt: skip

BITS = binned.SLAB_BITS, binned.ROW_BITS


def semiring(name, dtype):
    found = getattr(gb.semiring, name, None)
    if found is None:
        monoid, binary = name.split("_")
        found = gb.semiring.register_anonymous(getattr(gb.monoid, monoid), getattr(gb.binary, binary))
    return found[dtype]


@pytest.fixture(autouse=True)
def small_bins(monkeypatch):
    """Slabs and bins of 64 columns and rows, 200 entries at once, three threads."""
    for name, value in (
        ("SLAB_BITS", 6),
        ("ROW_BITS", 6),
        ("AT_ONCE", 200),
        ("OF_X", 0),
        ("OF_THREAD", 0),
        ("SAMPLED", 1),
    ):
        monkeypatch.setattr(binned, name, value)
    monkeypatch.setattr(jit, "thread_count", lambda: 3)
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def real(rng, store):
    """Values whose sums are rounded, some of them -0.0, NaN and infinite."""
    if store.dtype.np_type.kind == "f":
        count = store.values.shape[0]
        store.values = rng.normal(size=count).astype(store.dtype.np_type)
        store.values[rng.integers(0, count, count // 50)] = -0.0
        store.values[rng.integers(0, count, 2)] = (np.nan, np.inf)
    return store


def over_bins(A, x, op, mask=None):
    with gb.plan(force="segments_binned"):
        return binned.matvec_rows(A, x, op, mask, UNRECORDED)


def same_bits(found, wanted):
    assert found is not NotImplemented
    assert (found.format, found.dtype, found.nvals) == (wanted.format, wanted.dtype, wanted.nvals)
    found, wanted = convert.to_sparse(found), convert.to_sparse(wanted)
    assert np.array_equal(found.indices, wanted.indices)
    both = found.values, wanted.values
    if found.dtype.np_type.kind == "f":  # the sign of a NaN is the compiler's
        assert np.array_equal(np.isnan(found.values), np.isnan(wanted.values))
        both = np.nan_to_num(found.values, nan=7.0), np.nan_to_num(wanted.values, nan=7.0)
    assert both[0].tobytes() == both[1].tobytes()


@pytest.mark.parametrize("name, dtype", SEMIRINGS)
def test_every_semiring_form_and_mask(name, dtype):
    rng, op = generator("binned", name, dtype), semiring(name, dtype)
    kind = gb.dtypes.lookup_dtype(dtype)
    A, iso = real(rng, matrix(rng, 150, 190, 2000, kind)), matrix(rng, 150, 190, 2000, kind, iso=True)
    for of in (A, iso):
        for x in (vector(rng, 190, 190, kind, "full"), vector(rng, 190, 150, kind, "bitmap")):
            x = real(rng, x)
            for mask in (None, *masks(rng, 150, kind)):
                if mask is None or mask.complement or mask.pattern.format != "sparse":
                    same_bits(over_bins(of, x, op, mask), plain_rows.matvec_rows(of, x, op, mask))


@pytest.mark.parametrize(
    "nrows, ncols", [(1, 1), (1, 500), (500, 1), (64, 64), (65, 65), (128, 129), (63, 200), (700, 40)]
)
@pytest.mark.parametrize("wide", [False, True])
def test_shapes(nrows, ncols, wide):
    """Slabs and bins that are exactly full, and one more; rows and columns without entries; long rows."""
    rng, op = generator("binned shapes", nrows, ncols), semiring("plus_times", "FP64")
    for count in (1, nrows * ncols // 9 + 1, nrows * ncols):
        A = real(rng, matrix(rng, nrows, ncols, count, gb.dtypes.FP64, wide=wide))
        x = real(rng, vector(rng, ncols, ncols, gb.dtypes.FP64, "full"))
        same_bits(over_bins(A, x, op), plain_rows.matvec_rows(A, x, op))


def test_bins_without_an_allowed_row_are_left_out():
    rng, op = generator("binned mask"), semiring("plus_times", "FP64")
    A = matrix(rng, 256, 256, 5000, gb.dtypes.FP64)
    x = vector(rng, 256, 256, gb.dtypes.FP64, "full")
    words = np.array([0, 2**64 - 1, 0, 1], np.uint64)
    pattern = BitmapVector(256, gb.dtypes.BOOL, words, np.ones(256, np.bool_), 65)
    for mask in (StoredMask(pattern), StoredMask(pattern, True)):
        words, live = binned._allowed(mask, 256, 4, 6)
        assert live.tolist() == ([True, False, True, True] if mask.complement else [False, True, False, True])
        same_bits(over_bins(A, x, op, mask), plain_rows.matvec_rows(A, x, op, mask))


def test_accumulator_replace_and_transpose():
    rng = generator("binned accumulator")
    A = gb.Matrix.from_coo(*np.divmod(np.unique(rng.integers(0, 200 * 130, 3000)), 130), 1.5, nrows=200, ncols=130)
    x, y = gb.Vector.from_dense(rng.normal(size=130)), gb.Vector.from_dense(rng.normal(size=200))
    m = gb.Vector.from_coo(np.arange(0, 200, 2), True, size=200)
    m(~m.S) << False
    results = []
    for force in ("csr", "segments_binned"):
        with gb.plan(force=force):
            w, z = y.dup(), y.dup()
            w(m.V, gb.binary.plus, replace=True) << A.mxv(x, "plus_second")
            z(~m.V, gb.binary.min) << A.mxv(x, "min_plus")
            results.append((w.to_coo(), z.to_coo()))
            (plan,) = explain().plans[-1:]
            assert (plan.kernel == "segments_binned") == (force == "segments_binned")
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one[0], other[0]) and one[1].tobytes() == other[1].tobytes()


def test_what_bins_do_not_serve():
    rng = generator("binned unsuited")
    A = matrix(rng, 90, 90, 900, gb.dtypes.FP64)
    full, half = vector(rng, 90, 90, gb.dtypes.FP64, "full"), vector(rng, 90, 40, gb.dtypes.FP64, "bitmap")
    few = StoredMask(vector(rng, 90, 5, gb.dtypes.BOOL, "sparse"))
    op = semiring("plus_times", "FP64")
    for x, s, mask in (
        (half, op, None), (full, op, few), (full, semiring("any_second", "FP64"), None),
        (full, semiring("plus_first", "FP64"), None), (full, semiring("plus_pair", "INT64"), None),
        (full, gb.semiring.ss.min_firstj["INT64"], None),
        (vector(rng, 90, 90, gb.dtypes.FP64, "full", True), op, None),
    ):  # fmt: skip
        assert over_bins(A, x, s, mask) is NotImplemented
    packed = convert.to_dcsr(A)
    assert over_bins(packed, full, op) is NotImplemented
    flags = matrix(rng, 90, 90, 900, gb.dtypes.BOOL), vector(rng, 90, 90, gb.dtypes.BOOL, "full")
    assert over_bins(*flags, semiring("lor_land", "BOOL")) is NotImplemented
    G = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
    with gb.plan(force="segments_binned"):
        assert G.mxv(gb.Vector.from_dense([1.0, 2.0]), "any_second").new().to_dense().tolist() == [2.0, 1.0]
        assert explain().plans[-1].rule == "kernel_unsuited"


@pytest.fixture
def large(monkeypatch):
    """A matrix of more entries than bound calls take; x has 256 lines, of which caches hold 64; cells cost nothing."""
    monkeypatch.setattr(tuning, "CPU_BINS_ENTRIES", 1)
    monkeypatch.setattr(tuning, "CPU_BIN_CELL_NS", 0.0)
    monkeypatch.setattr(binned, "last_cache_bytes", lambda: int(64 * 64 / tuning.CPU_CACHED_SHARE))
    rng = generator("binned choice")
    A = gb.Matrix(gb.dtypes.FP64, 300, 2048)
    A << gb.Matrix.from_coo(
        *np.divmod(np.unique(rng.integers(0, 300 * 2048, 80_000)), 2048), 2.0, nrows=300, ncols=2048
    )
    return A, gb.Vector.from_dense(rng.normal(size=2048))


def kernels(A, x, count, semiring="plus_times", **options):
    """The kernels of so many products, each compared with the plain rows."""
    with gb.plan(force="csr"):
        wanted = A.mxv(x, semiring).new(**options)
    found = []
    for _ in range(count):
        got = A.mxv(x, semiring).new(**options)
        found.append(explain().plans[-1].kernel)
        assert got.isequal(wanted, check_dtype=True)
    return found


def test_chosen_by_cost_after_some_products(large):
    A, x = large
    with gb.plan(force="rows"):
        assert kernels(A, x, 5) == [None] * tuning.BUILD_AFTER + ["segments_binned"] * (5 - tuning.BUILD_AFTER)
        plan = explain().plans[-1]
        assert plan.kernel_rule == "x_streams" and "27%" in plan.kernel_reason
        assert kernels(A, x, 1, "any_second") == [None]
        rows = gb.Vector.from_coo(np.arange(100), True, size=300)
        assert kernels(A, x, 1, mask=~rows.S) == [None]  # two thirds of the rows
        row = gb.Vector.from_coo([5], True, size=300)
        assert kernels(A, x, 1, mask=~row.S) == ["segments_binned"]
        with gb.plan(force="numpy"):
            assert kernels(A, x, 1) == [None]
    A[3, 7] = 5.0  # the form is of the entries
    with gb.plan(force="rows"):
        assert kernels(A, x, 1) == [None]


def test_a_cached_x_and_small_matrices_keep_gathers(large, monkeypatch):
    A, x = large
    with gb.plan(force="rows"):
        monkeypatch.setattr(binned, "last_cache_bytes", lambda: int(2048 * 8 / tuning.CPU_CACHED_SHARE))
        assert set(kernels(A, x, 6)) == {None}
        monkeypatch.setattr(tuning, "CPU_BINS_ENTRIES", A.nvals + 1)
        del A._store.forms["column_bins"]
        assert set(kernels(A, x, 6)) == {None} and "column_bins" not in A._store.forms


def test_a_form_that_does_not_fit_is_not_made_and_gives_way(large, monkeypatch):
    A, x = large
    with gb.plan(force="rows"):
        monkeypatch.setattr(binned, "free_bytes", lambda: 1000)
        assert set(kernels(A, x, 6)) == {None}
        monkeypatch.setattr(binned, "free_bytes", lambda: None)
        assert kernels(A, x, 1) == ["segments_binned"] and A._store.forms["column_bins"].nbytes > 4 * A.nvals

        def fail(*_):
            raise MemoryError

        monkeypatch.setattr(binned, "_array", fail)
        assert kernels(A, x, 1) == [None] and A._store.forms["column_bins"].nbytes == 0


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_bins_and_slabs_of_as_many_lines_as_their_bits_name(more, monkeypatch):
    """Without the small ones of the other tests: an entry in the last row of a bin, in the last column of a slab."""
    for name, bits in zip(("SLAB_BITS", "ROW_BITS"), BITS, strict=True):
        monkeypatch.setattr(binned, name, bits)
    ncols, nrows = (2 * 2**bits + more for bits in BITS)
    rng, op = generator("binned bits", more), semiring("plus_times", "FP64")
    rows = np.sort(np.concatenate((np.arange(nrows), rng.integers(0, nrows, 1000))))
    cols = np.concatenate((rng.integers(0, ncols, rows.size - 3), [ncols - 1, 2**16 - 1, 2**16]))
    A = gb.Matrix.from_coo(rows, cols, rng.normal(size=rows.size), nrows=nrows, ncols=ncols, dup_op="first")._store
    x = vector(rng, ncols, ncols, gb.dtypes.FP64, "full")
    same_bits(over_bins(A, x, op), plain_rows.matvec_rows(A, x, op))


def test_bins_are_released_before_an_array_is_refused(monkeypatch):
    rng = generator("binned release")
    A, x = matrix(rng, 90, 90, 900, gb.dtypes.FP64), vector(rng, 90, 90, gb.dtypes.FP64, "full")
    op = semiring("plus_times", "FP64")
    over_bins(A, x, op)
    form = A.forms["column_bins"]
    monkeypatch.setattr(host_memory, "free_bytes", lambda: 10**10 if form.nbytes else 10**11)
    host_memory.check_memory(10**9, "an array that fits")
    assert form.nbytes > 0
    host_memory.check_memory(2 * 10**10, "an array that fits without them")
    assert form.nbytes == 0
    with pytest.raises(gb.exceptions.OutOfMemory, match="100,000,000,000 free"):
        host_memory.check_memory(2 * 10**11, "an array that does not")
    same_bits(over_bins(A, x, op), plain_rows.matvec_rows(A, x, op))


def test_values_follow_when_a_product_reads_them(large):
    A, x = large
    with gb.plan(force="segments_binned"):
        for op in ("plus_second", "plus_times", "min_plus", "plus_second"):
            kernels(A, x, 1, op)
    form = A._store.forms["column_bins"]
    assert form.values is None if A._store.iso else form.values.shape == (A.nvals,)


def test_share_of_the_lines(monkeypatch):
    monkeypatch.setattr(binned, "last_cache_bytes", lambda: int(2 * 64 / tuning.CPU_CACHED_SHARE))
    cols = np.repeat([0, 9, 17, 25, 33], [5, 4, 3, 2, 2])  # of FP64: 5, 4, 3, 2 and 2 entries in lines
    rows = np.concatenate([np.arange(n) for n in (5, 4, 3, 2, 2)])
    A = convert.compressed(5, 40, gb.dtypes.BOOL, rows, cols, np.ones(1, bool), True)
    assert binned.cached_share(A, 8) == 9 / 16
    assert binned.cached_share(A, 4) == (5 + 4 + 3 + 2) / 16  # lines of 16: 9, 5 and 2
    assert binned.cached_share(A, 2) == 1.0


def test_the_last_level_of_cache():
    assert host_memory.last_cache_bytes() >= 1 << 18


def test_a_plan_says_where_a_forced_kernel_does_not_serve():
    rng = generator("binned plan")
    A, x = matrix(rng, 90, 90, 900, gb.dtypes.FP64), vector(rng, 90, 30, gb.dtypes.FP64, "bitmap")
    plan = Plan("matvec", "rows", "csr", "forced")
    with gb.plan(force="segments_binned"):
        binned.matvec_rows(A, x, semiring("plus_times", "FP64"), None, plan)
    assert plan.rule == "kernel_unsuited" and plan.kernel is None
