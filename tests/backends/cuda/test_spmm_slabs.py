"""SpMM by slabs of columns: what one launch over all columns gives, and when slabs are taken."""

from dataclasses import replace

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import dtypes
from grb_tile.backends.cuda.lowering.semirings import lowered_plain
from grb_tile.backends.cuda.products import spmm_slabs
from grb_tile.operators import get_typed_op
from grb_tile.planner import tuning
from grb_tile.storage.store import BitmapVector
from support.dense_operands import dense, semiring_named, sparse
from support.seeds import generator

SEMIRINGS = [("plus_times", "FP32"), ("plus_second", "FP64"), ("min_plus", "INT32"), ("lor_land", "BOOL"),
             ("any_second", "FP32"), ("max_second", "INT8"), ("times_plus", "INT16"), ("plus_times", "FC64"),
             ("min_second", "FP64"), ("lxor_second", "BOOL"), ("plus_second", "UINT16")]  # fmt: skip


def by_slabs(monkeypatch, A, X, op, slabs, force="spmm_slabs", **options):
    """op(A @ X) where `slabs` slabs are what the cache asks for."""
    monkeypatch.setattr(spmm_slabs, "slabs_for", lambda device, A, row_bytes: slabs)
    with using_shim(), gb.plan(force=force or ()):
        return op(A @ X).new(**options), gb.explain().plans[0]


def agree(found, wanted, name):
    if name.startswith("any_"):  # any of the products
        found, wanted = found.apply("one").new(), wanted.apply("one").new()
    assert found.isequal(wanted, check_dtype=True)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_semirings(semiring, monkeypatch):
    name, dtype = semiring
    op, rng = semiring_named(name), generator("spmm by slabs", name)
    for n, width, density, slabs in ((1100, 8, 0.05, 2), (40, 5, 0.1, 7), (150, 16, 0.05, 3)):
        A = sparse(rng, (20, n), density, dtype, long_row=True)
        X, plain = dense(rng, (n, width), "full", dtype)
        found, plan = by_slabs(monkeypatch, A, X, op, slabs)
        assert (plan.kernel, plan.kernel_rule) == ("spmm_slabs", "forced")
        agree(found, op(A @ plain).new(), name)


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("slabs", [2, 4, 12])
def test_columns_of_slabs(slabs, more, monkeypatch):
    """A width that divides the columns, one column less and more; entries in the first and last columns of slabs."""
    n = 12 * slabs + more
    edges = np.unique(np.clip(np.concatenate([np.arange(0, n, 12), np.arange(11, n, 12), [n - 1]]), 0, n - 1))
    rows, cols = np.repeat(np.arange(9), edges.size), np.tile(edges, 9)
    kept = rows != 4
    A = gb.Matrix.from_coo(rows[kept], cols[kept], np.arange(kept.sum()) % 7 + 1, "INT64", nrows=9, ncols=n)
    X, plain = dense(generator("columns of slabs"), (n, 4), "full", "INT64")
    found, plan = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, slabs)
    assert plan.kernel == "spmm_slabs"
    agree(found, gb.semiring.plus_times(A @ plain).new(), "plus_times")


@pytest.mark.parametrize("name", ["plus_times", "min_plus", "any_second"])
def test_rows_that_miss_slabs(name, monkeypatch):
    """Rows with entries in the first, the middle or the last slab alone, in two of them, in none."""
    places = [[0], [35], [70], [1, 36], [2, 71], [37, 72], [3, 38, 73], [], list(range(90))]
    rows = np.repeat(np.arange(len(places)), [len(cols) for cols in places])
    A = gb.Matrix.from_coo(rows, np.concatenate(places).astype(int), rows + 1, "INT32", nrows=9, ncols=90)
    X, plain = dense(generator("rows that miss slabs", name), (90, 3), "full", "INT32")
    op = semiring_named(name)
    found, _ = by_slabs(monkeypatch, A, X, op, 3)
    agree(found, op(A @ plain).new(), name)


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("longest", [40, 255])
def test_long_rows(longest, more, monkeypatch):
    """Rows with as many entries as one may have in slabs, one less and more, in one slab or in both; and short ones."""
    n, count = 2200, longest + more
    monkeypatch.setattr(spmm_slabs, "MOST_COUNT", longest)
    monkeypatch.setattr(spmm_slabs, "LONG_ROWS", 1 << 20)
    places = [range(count), range(1100, 1100 + count), range(0, 8 * count, 8), [7], [2199], [], [3, 1500]]
    rows = np.repeat(np.arange(len(places)), [len(cols) for cols in places])
    cols = np.concatenate([np.asarray(c, int) for c in places])
    A = gb.Matrix.from_coo(rows, cols, cols % 5 + 1, "INT64", nrows=len(places), ncols=n)
    X, plain = dense(generator("long rows of slabs"), (n, 16), "full", "INT64")
    op = gb.semiring.plus_times
    for _ in range(2):  # the second with what was kept
        found, plan = by_slabs(monkeypatch, A, X, op, 2)
        assert plan.kernel == "spmm_slabs"
        agree(found, op(A @ plain).new(), "plus_times")
    with using_shim() as backend:
        (made,) = backend.store_to_device(A._store).forms["column_slabs"].made.values()
        assert made.longest == longest and made.cols.shape[0] == (3 * count if more <= 0 else 0) + 4
        assert not backend.device.host(made.turns).any()


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("name", ["plus_times", "plus_second", "max_second"])
def test_units_that_fill_their_place(name, more, monkeypatch):
    """As many entries of a unit as a warp copies, one less and more; several units of a warp."""
    staged = spmm_slabs.staged_of(shim().device)
    rows, each = 200, staged // 4
    where = np.repeat(np.arange(rows), each)
    cols = np.tile(np.arange(each) * 3, rows) + where % 3
    kept = where % 32 < 4
    if more < 0:
        kept &= (where % 32 > 0) | (cols >= 3)
    if more > 0:
        kept |= (where % 32 == 9) & (cols < 3)
    A = gb.Matrix.from_coo(where[kept], cols[kept], cols[kept] % 4 + 1, "FP64", nrows=rows, ncols=6 * each)
    X, plain = dense(generator("units of slabs", name), (6 * each, 8), "full", "FP64")
    op = semiring_named(name)
    found, plan = by_slabs(monkeypatch, A, X, op, 2)
    assert plan.kernel == "spmm_slabs"
    agree(found, op(A @ plain).new(), name)
    with using_shim() as backend:
        (made,) = backend.store_to_device(A._store).forms["column_slabs"].made.values()
        assert np.diff(backend.device.host(made.starts)).max() == staged + more


@pytest.mark.parametrize("room", [1, 2, 3, 64])
def test_sweeps(room, monkeypatch):
    """Room for one unit of a warp, for several, for all: as many sweeps over the slabs as that takes."""
    rng = generator("sweeps")
    A, (X, plain) = sparse(rng, (900, 90), 0.1, "INT32"), dense(rng, (90, 4), "full", "INT32")
    shape, held = spmm_slabs._shape, []

    def little(*facts):
        threads, mine, width, lanes = shape(*facts)
        held.append(min(room, mine))
        return threads, held[-1], width, lanes

    monkeypatch.setattr(spmm_slabs, "_shape", little)
    found, _ = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, 3)
    agree(found, gb.semiring.plus_times(A @ plain).new(), "plus_times")
    assert held


def test_little_shared_memory(monkeypatch):
    """Fewer threads where sums of a row are wide, none where they are too wide."""
    rng, device = generator("little shared memory"), shim().device
    A = device.to_device(sparse(rng, (90, 90), 0.1, "FP64")._store)
    s = lowered_plain(device, get_typed_op("plus_times", dtypes.FP64, kind="semiring"), A.dtype, False, A.dtype, False)
    limits = device.launcher.limits

    def shape(n, room):
        monkeypatch.setattr(device.launcher, "limits", replace(limits, shared_per_block=room))
        x = BitmapVector(90 * n, dtypes.FP64, None, device.zeros(90 * n, np.float64), 90 * n)
        return spmm_slabs._shape(device, A, x, n, s, x.values)

    for room in (20 << 10, 40 << 10, 200 << 10):
        threads, held, _, lanes = shape(16, room)
        taken = spmm_slabs._shared(A, s, held, 32 * 16 * 8, spmm_slabs.staged_of(device)) * threads // 32
        assert taken <= device.launcher.limits.dynamic_shared and lanes == 8 and held >= 1
    assert shape(16, 1 << 12) is None and shape(65, 200 << 10) is None


def test_masks_and_transposed_operands(monkeypatch):
    """C<M> += A X, C<!M> = A X, and X A, of which SpMM computes the transpose."""
    rng, op = generator("masks of slabs"), gb.semiring.plus_times
    A, M = sparse(rng, (30, 90), 0.1, "INT32", long_row=True), sparse(rng, (30, 4), 0.9, "BOOL")
    X, plain = dense(rng, (90, 4), "full", "INT32")
    for mask in (M.S, ~M.S):
        found, plan = by_slabs(monkeypatch, A, X, op, 3, mask=mask)
        assert plan.kernel == "spmm_slabs" or plan.method != "spmm"
        agree(found, op(A @ plain).new(mask=mask), "plus_times")
    with using_shim(), gb.plan(force="spmm_slabs"):
        found = op(A @ X).new()
        found(gb.binary.plus) << op(A @ X)
        again = op(X.T @ A.T).new()
        assert gb.explain().plans[0].kernel == "spmm_slabs"
    once = op(A @ plain).new()
    agree(found, once.ewise_add(once, "plus").new(), "plus_times")
    agree(again, once.T.new(), "plus_times")


def test_where_slabs_cannot_serve(monkeypatch):
    """X fits the cache, has one value, or is not read."""
    rng = generator("no slabs")
    A = sparse(rng, (20, 60), 0.1, "FP32")
    X, _ = dense(rng, (60, 4), "full", "FP32")
    _, plan = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, 1)
    assert (plan.kernel, plan.kernel_rule) == ("spmm_rows", "kernel_unsuited")
    for kind in ("iso", "bitmap"):
        X, _ = dense(rng, (60, 4), kind, "FP32")
        _, plan = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, 3)
        assert plan.kernel is None
    X, _ = dense(rng, (60, 16), "full", "FP32")
    with gb.config.set(matmul_precision="fp16"):
        _, plan = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, 3)
    assert plan.kernel is None


def test_the_choice(monkeypatch):
    """After BUILD_AFTER products, by cost, which is the same for products alike; explain() has the figures."""
    rng = generator("the choice of slabs")
    A, (X, plain) = sparse(rng, (40, 400), 0.3, "INT32"), dense(rng, (400, 8), "full", "INT32")
    wanted, op = gb.semiring.plus_times(A @ plain).new(), gb.semiring.plus_times
    monkeypatch.setattr(tuning, "GPU_SLAB_NS", 0.0)
    monkeypatch.setattr(tuning, "GPU_CACHED_SHARE", 1e-6)
    rules = []
    for _ in range(tuning.BUILD_AFTER + 2):
        found, plan = by_slabs(monkeypatch, A, X, op, 4, None)
        agree(found, wanted, "plus_times")
        rules.append((plan.kernel, plan.kernel_rule))
    later, taken = ("spmm_rows", "slabs_later"), ("spmm_slabs", "slabs_cheaper")
    assert rules == [later] * tuning.BUILD_AFTER + [taken] * 2
    assert "4 slabs of columns" in plan.kernel_reason
    monkeypatch.setattr(tuning, "GPU_SLAB_NS", 1e9)
    with using_shim():
        shim().store_to_device(A._store).forms["column_slabs"].choices.clear()
    found, plan = by_slabs(monkeypatch, A, X, op, 4, None)
    agree(found, wanted, "plus_times")
    assert (plan.kernel, plan.kernel_rule) == ("spmm_rows", "rows_of_x_cheaper")


def test_long_rows_leave_slabs(monkeypatch):
    """A matrix most of whose entries are in long rows keeps gathers."""
    cols = np.concatenate([np.arange(400), np.arange(40)])
    A = gb.Matrix.from_coo(np.repeat([0, 1], [400, 40]), cols, 1.0, nrows=40, ncols=400)
    X, _ = dense(generator("long rows leave slabs"), (400, 8), "full", "FP64")
    for _ in range(tuning.BUILD_AFTER + 1):
        _, plan = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, 4, None)
    assert (plan.kernel, plan.kernel_rule) == ("spmm_rows", "rows_long") and "91% of" in plan.kernel_reason


def test_no_memory_for_the_ends(monkeypatch):
    rng = generator("no memory for slabs")
    A, (X, _) = sparse(rng, (40, 400), 0.3, "INT32"), dense(rng, (400, 8), "full", "INT32")
    monkeypatch.setattr(spmm_slabs, "MOST_BYTES", 0)
    for _ in range(tuning.BUILD_AFTER + 1):
        _, plan = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, 4, None)
    assert (plan.kernel, plan.kernel_rule) == ("spmm_rows", "slabs_no_memory")


def test_how_many_slabs(monkeypatch):
    """By the cache and by the room for a unit's entries; one where the cache holds X."""
    device = shim().device
    A = device.to_device(sparse(generator("how many slabs"), (64, 1000), 0.2, "FP32")._store)
    monkeypatch.setattr(spmm_slabs, "staged_of", lambda device: 2000)
    of_unit = A.indices.shape[0] * 32 // 64
    assert 6000 < of_unit < 7000
    found = []
    for cache in (1000 * 32, 1000 * 32 - 1, 1000 * 32 // 8, 1000 * 32 // 8 - 1):
        monkeypatch.setattr(spmm_slabs, "slab_bytes", lambda device, cache=cache: cache)
        found.append(spmm_slabs.slabs_for(device, A, 32))
    assert found == [1, of_unit // 1600, 8, 9] and of_unit // 1600 > 2


def test_entries_in_slabs():
    """Each entry is in the slab of its column, in the order of rows; counts, starts and shares are the host's."""
    A = sparse(generator("entries in slabs"), (70, 100), 0.2, "FP32", long_row=True)
    with using_shim() as backend:
        device, store = backend.device, backend.store_to_device(A._store)
        made = spmm_slabs._make(device, store, 3)
        shares = spmm_slabs.column_shares(device, store)
        cols, values, counts, starts = map(device.host, (made.cols, made.values, made.counts, made.starts))
    rows, wanted, numbers = (np.asarray(a).astype(np.int64) for a in A.to_coo())
    order = np.lexsort((wanted, rows, wanted // 34))
    assert np.array_equal(cols, wanted[order]) and np.array_equal(values, numbers[order]) and made.units == 3
    each = np.bincount(wanted // 34 * 96 + rows, minlength=3 * 96)
    assert np.array_equal(counts, each)
    assert np.array_equal(starts, np.concatenate([[0], each.reshape(-1, 32).sum(axis=1).cumsum()]))
    most = np.sort(np.bincount(wanted, minlength=100))[::-1]
    assert shares == pytest.approx([most[: 1 << k].sum() / wanted.size for k in range(8)]) and shares[-1] == 1
