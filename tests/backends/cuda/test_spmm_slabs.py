"""SpMM by slabs of columns: what one launch over all columns gives, and when slabs are taken."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile.backends.cuda.products import spmm, spmm_slabs
from grb_tile.planner import tuning
from support.dense_operands import dense, semiring_named, sparse
from support.seeds import generator

SEMIRINGS = [("plus_times", "FP32"), ("plus_second", "FP64"), ("min_plus", "INT32"), ("lor_land", "BOOL"),
             ("any_second", "FP32"), ("max_second", "INT8"), ("times_plus", "INT16"), ("plus_times", "FC64"),
             ("min_second", "FP64"), ("lxor_second", "BOOL"), ("plus_second", "UINT16")]  # fmt: skip


def by_slabs(monkeypatch, A, X, op, slabs, force="spmm_slabs", **options):
    """op(A @ X) where the cache holds X's rows of A.ncols / slabs columns."""
    row = X.ncols * X.dtype.np_type.itemsize
    monkeypatch.setattr(spmm_slabs, "slab_bytes", lambda device: -(-A.ncols // slabs) * row)
    with using_shim(), gb.plan(force=force or ()):
        return op(A @ X).new(**options), gb.explain().plans[0]


def agree(found, wanted, name):
    if name.startswith("any_"):  # any of the products
        found, wanted = found.apply("one").new(), wanted.apply("one").new()
    assert found.isequal(wanted, check_dtype=True)


@pytest.mark.parametrize("kind", ["full", "bitmap"])
@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_semirings(semiring, kind, monkeypatch):
    name, dtype = semiring
    op, rng = semiring_named(name), generator("spmm by slabs", name, kind)
    for n, width, density, slabs in ((1100, 8, 0.05, 2), (40, 5, 0.1, 7), (150, 16, 0.05, 3)):
        A = sparse(rng, (20, n), density, dtype, long_row=True)
        X, plain = dense(rng, (n, width), kind, dtype)
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


@pytest.mark.parametrize("kind", ["full", "bitmap"])
@pytest.mark.parametrize("name", ["plus_times", "min_plus", "any_second"])
def test_rows_that_miss_slabs(name, kind, monkeypatch):
    """Rows with entries in the first, the middle or the last slab alone, in two of them, in none."""
    places = [[0], [35], [70], [1, 36], [2, 71], [37, 72], [3, 38, 73], [], list(range(90))]
    rows = np.repeat(np.arange(len(places)), [len(cols) for cols in places])
    A = gb.Matrix.from_coo(rows, np.concatenate(places).astype(int), rows + 1, "INT32", nrows=9, ncols=90)
    X, plain = dense(generator("rows that miss slabs", name, kind), (90, 3), kind, "INT32")
    op = semiring_named(name)
    found, _ = by_slabs(monkeypatch, A, X, op, 3)
    agree(found, op(A @ plain).new(), name)


@pytest.mark.parametrize("entries", [511, 512, 513, 1024, 1025])
@pytest.mark.parametrize("kind", ["full", "bitmap"])
def test_long_rows_of_slabs(entries, kind, monkeypatch):
    """Rows that are cut into chunks in one slab, in the other, in both; the first one has something before or not."""
    n = 2200
    places = [range(entries), range(1100, 1100 + entries), [*range(entries), *range(1100, 1100 + entries)],
              [5, *range(1100, 1100 + entries)], [*range(entries), 2000], [7]]  # fmt: skip
    rows = np.repeat(np.arange(len(places)), [len(cols) for cols in places])
    cols = np.concatenate([np.asarray(c) for c in places])
    A = gb.Matrix.from_coo(rows, cols, cols % 5 + 1, "INT64", nrows=6, ncols=n)
    X, plain = dense(generator("long rows of slabs", kind), (n, 16), kind, "INT64")
    monkeypatch.setattr(spmm, "chunk_of", lambda device, entries, least: 512)
    op = gb.semiring.plus_times
    for _ in range(2):  # the second with what was kept
        found, _ = by_slabs(monkeypatch, A, X, op, 2)
        agree(found, op(A @ plain).new(), "plus_times")


def test_ends_of_64_bits(monkeypatch):
    monkeypatch.setattr(spmm_slabs, "_end_type", lambda A: np.dtype(np.int64))
    rng = generator("ends of 64 bits")
    A, (X, plain) = sparse(rng, (20, 600), 0.1, "FP64", long_row=True), dense(rng, (600, 4), "full", "FP64")
    found, _ = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, 3)
    agree(found, gb.semiring.plus_times(A @ plain).new(), "plus_times")


@pytest.mark.parametrize("kind", ["full", "bitmap"])
def test_masks_and_transposed_operands(kind, monkeypatch):
    """C<M> += A X, C<!M> = A X, and X A, of which SpMM computes the transpose."""
    rng, op = generator("masks of slabs", kind), gb.semiring.plus_times
    A, M = sparse(rng, (30, 90), 0.1, "INT32", long_row=True), sparse(rng, (30, 4), 0.9, "BOOL")
    X, plain = dense(rng, (90, 4), kind, "INT32")
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
    X, _ = dense(rng, (60, 4), "iso", "FP32")
    _, plan = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, 3)
    assert plan.kernel is None


def test_the_choice(monkeypatch):
    """After BUILD_AFTER products, by cost, which is the same for products alike; explain() has the figures."""
    rng = generator("the choice of slabs")
    A, (X, plain) = sparse(rng, (40, 400), 0.3, "INT32"), dense(rng, (400, 8), "full", "INT32")
    wanted, op = gb.semiring.plus_times(A @ plain).new(), gb.semiring.plus_times
    monkeypatch.setattr(tuning, "GPU_SLAB_NS", 0.0)
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


def test_no_memory_for_the_ends(monkeypatch):
    rng = generator("no memory for slabs")
    A, (X, _) = sparse(rng, (40, 400), 0.3, "INT32"), dense(rng, (400, 8), "full", "INT32")
    monkeypatch.setattr(spmm_slabs, "MOST_BYTES", 0)
    for _ in range(tuning.BUILD_AFTER + 1):
        _, plan = by_slabs(monkeypatch, A, X, gb.semiring.plus_times, 4, None)
    assert (plan.kernel, plan.kernel_rule) == ("spmm_rows", "slabs_no_memory")


def test_ends_and_shares():
    """Each row's first entry from a column on, and the entries of the most frequent columns."""
    A = sparse(generator("ends and shares"), (30, 100), 0.2, "FP32", long_row=True)
    with using_shim() as backend:
        device, store = backend.device, backend.store_to_device(A._store)
        made = spmm_slabs._make(device, store, 3, spmm.cut_rows)
        shares = spmm_slabs.column_shares(device, store)
        ends = [device.host(entries.starts) for entries in made]
    indptr, cols, _ = A.to_csr()
    indptr = indptr.astype(np.int64)
    rows = np.repeat(np.arange(30), np.diff(indptr))
    for slab, found in enumerate(ends):
        assert np.array_equal(found, indptr[:-1] + np.bincount(rows[cols < 34 * slab], minlength=30))
    counts = np.sort(np.bincount(cols, minlength=100))[::-1]
    wanted = [counts[: 1 << k].sum() / cols.size for k in range(8)]
    assert shares == pytest.approx(wanted) and shares[-1] == 1
