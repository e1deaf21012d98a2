"""Plans name the GPU kernel: each can be forced, gives the same result, and explains itself in words of its own."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile.algorithms import bfs
from grb_tile.planner import FORCIBLE, UNRECORDED, explain, tuning
from grb_tile.planner.choose_kernel import (
    SPGEMM,
    SPMM,
    TileFacts,
    bins_cost,
    bins_pay,
    blocks_pay,
    column_indices,
    forced_kernel,
    merge_kernel,
    rows_kernel,
    slabs_pay,
    spgemm_kernel,
    stays_bitmap,
)
from grb_tile.planner.choose_traversal import (
    bfs_kernel,
    grid_kernel,
    has_high_diameter,
    rows_beat_tiles,
    search_over,
    sssp_kernel,
)
from grb_tile.planner.device_profile import H200, profile_of
from grb_tile.planner.record import KERNEL_METHODS, Plan

N = 300
KERNELS = [name for name, (family, _) in FORCIBLE.items() if family == "kernel"]
ROWS = [name for name in KERNELS if KERNEL_METHODS.get(name) == "rows"]
COLS = [name for name in KERNELS if KERNEL_METHODS.get(name) == "cols"]
TRAVERSALS = [name for name in KERNELS if name not in KERNEL_METHODS and name not in SPGEMM + SPMM]


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(3)
    keys = np.unique(np.concatenate((rng.integers(0, N * N, 1500), 7 * N + np.arange(N), np.arange(N) * N + 7)))
    return gb.Matrix.from_coo(keys // N, keys % N, rng.integers(1, 9, keys.size).astype(np.float32), nrows=N, ncols=N)


def vector(count):
    at = np.sort(np.random.default_rng(count).permutation(N)[:count])
    return gb.Vector.from_coo(at, (at % 5 + 1).astype(np.float32), size=N)


def mask(count):
    return gb.Vector.from_coo(np.arange(count) * 5, True, size=N)


SERVED = {  # kernel -> (semiring, entries of the vector, entries of the mask or None): a product that it serves
    "binned_rows": ("plus_times", N, None),
    "listed_rows": ("plus_times", N, 9),
    "segments": ("plus_times", N, None),
    "segments_delta16": ("plus_times", N, None),
    "segments_relabelled": ("plus_times", N, None),
    "segments_binned": ("plus_times", N, None),
    "bit_blocks": ("plus_times", N, None),
    "pull_early_exit": ("any_pair", 50, None),
    "merge_columns": ("plus_times", 50, None),
    "merge_edge_balanced": ("plus_times", 50, None),
    "merge_hubs_shared": ("plus_times", 50, None),
    "sort_products": ("plus_times", 50, None),
}


def product(A, semiring, count, masked):
    return A.mxv(vector(count), semiring).new(mask=None if masked is None else mask(masked).S)


def test_the_table_above_has_every_kernel():
    assert set(SERVED) == set(ROWS + COLS)


@pytest.mark.parametrize("kernel", ROWS + COLS)
def test_a_forced_kernel_serves(kernel, matrix):
    case = SERVED[kernel]
    want = product(matrix, *case)
    with using_shim(), gb.plan(force=kernel):
        got = product(matrix, *case)
        (plan,) = explain().plans
        text = repr(plan)
        assert got.isequal(want)
    assert (plan.method, plan.kernel, plan.rule) == (KERNEL_METHODS[kernel], kernel, "forced")
    assert f"by {kernel}" in text


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_gives_every_result(kernel, matrix):
    """Also where it cannot serve: then the plan says so, and what the planner chooses runs."""
    for semiring, cases in (("plus_times", ((N, None), (50, None), (N, 9))), ("any_pair", ((N, None), (50, 9)))):
        for count, masked in cases:
            want = product(matrix, semiring, count, masked)
            with using_shim(), gb.plan(force=kernel):
                got = product(matrix, semiring, count, masked)
                (plan,) = explain().plans
                assert got.isequal(want), f"{kernel} {semiring} {count} {masked}"
            if kernel in KERNEL_METHODS:
                assert plan.kernel == kernel or plan.rule == "kernel_unsuited" or plan.kernel_rule == "columns_unread"
                assert plan.rule != "kernel_unsuited" or kernel in plan.reason


def test_a_forced_kernel_is_one_of_its_method():
    for kernel in (*KERNELS, None):
        with gb.plan(force=kernel) if kernel else contextlib.nullcontext():
            for method in ("rows", "cols"):
                assert forced_kernel(method) == (kernel if KERNEL_METHODS.get(kernel) == method else None)


def test_a_forced_kernel_reads_the_csr_of_a_dense_matrix():
    dense = gb.Matrix.from_dense(np.arange(36.0).reshape(6, 6))
    x = gb.Vector.from_dense(np.arange(6.0))
    want = dense.mxv(x).new()
    assert explain().plans[0].method == "dense"
    with using_shim(), gb.plan(force="binned_rows"):
        got = dense.mxv(x).new()
        (plan,) = explain().plans
        assert got.isequal(want) and (plan.method, plan.kernel) == ("rows", "binned_rows")


@pytest.mark.parametrize("kernel", TRAVERSALS)
def test_forced_traversals(kernel, matrix):
    pattern = gb.Matrix.from_coo(*matrix.to_coo(values=False)[:2], True, nrows=N, ncols=N)
    want = bfs(pattern, 3)
    with using_shim(), gb.plan(force=kernel):
        got = bfs(pattern, 3)
        plan = next(plan for plan in reversed(gb.explain(last=9).plans) if plan.operation == "bfs")
        assert got.levels.isequal(want.levels)
    assert plan.kernel == kernel
    with gb.plan(force=kernel):
        bfs(pattern, 3)
        plan = next(plan for plan in reversed(gb.explain(last=9).plans) if plan.operation == "bfs")
        assert plan.kernel_rule == "kernel_unsuited"


def test_texts_of_kernels_differ(matrix):
    """Three kernels gave the same text once."""
    texts = set()
    for kernel, case in SERVED.items():
        with using_shim(), gb.plan(force=kernel):
            product(matrix, *case)
            texts.add(repr(explain().plans[0]).split(" by ")[1].split(" ")[0])
    assert texts == set(SERVED)


def test_blocks_where_they_cost_less(monkeypatch):
    """As measured: FP32, FP16 and no values, of a large matrix; not FP64, not FP32 of fem 40; by bytes, 23 entries a
    block pay and 2 do not.
    """
    for entries, full, item, segments_item, pay in (
        (80_990_208, 24.53, 4, 4, True), (80_990_208, 24.53, 2, 4, True), (80_990_208, 24.53, 0, 0, True),
        (80_990_208, 24.53, 8, 8, False), (14_787_288, 24.7, 4, 4, False), (14_787_288, 24.7, 0, 0, True),
        (3_216_152, 15.0, 4, 4, False), (80_990_208, 12.0, 4, 4, False), (80_990_208, 12.0, 0, 0, False),
    ):  # fmt: skip
        assert (blocks_pay(entries, entries / full, item, segments_item, 2, H200) is not None) == pay
    entries = 80_000_000
    for item in (0, 1, 4, 8, 16):
        for columns in (2, 4):
            with monkeypatch.context() as patch:
                for name, value in (
                    ("GPU_BLOCK_NS", 0.0), ("GPU_BLOCK_MAP_NS", 0.0), ("GPU_BLOCKS_NS", 0.0), ("GPU_GATHER_NS", 0.0),
                    ("GPU_BLOCK_BANDWIDTH", 1.0),
                ):  # fmt: skip
                    patch.setattr(tuning, name, value)
                blocks_ns, segments_ns, _, full = blocks_pay(entries, entries / 23, item, item, columns, H200)
                assert blocks_ns < segments_ns and full == pytest.approx(23)
                assert blocks_pay(entries, entries / 2, item, item, columns, H200) is None
                slow = profile_of("half", 66, H200.dram_bytes_ns / 2)
                slow = blocks_pay(entries, entries / 23, item, item, columns, slow)
                assert slow[0] == pytest.approx(2 * blocks_ns)


def test_without_force_the_kernel_and_its_reason_are_shown(matrix):
    fresh = matrix.dup()
    fresh(matrix.S)[:, :] = 2  # a matrix of its own: nothing is kept with it yet
    with using_shim():
        for kernel in (*["segments"] * tuning.BUILD_AFTER, "segments_delta16"):
            product(fresh, "plus_times", N, None)
            (plan,) = explain().plans
            assert plan.kernel == kernel
            assert f"{plan.kernel_rule}: {plan.kernel_reason}" in repr(plan)
            assert plan.as_dict()["kernel"] == kernel


def test_kernels_of_a_gpu_are_unsuited_on_the_cpu(matrix):
    with gb.plan(force="segments"):
        product(matrix, "plus_times", N, None)
        (plan,) = explain().plans
    assert (plan.rule, plan.method, plan.kernel) == ("kernel_unsuited", "rows", None)
    assert plan.reason.startswith("segments was asked for")


def test_a_kernel_and_a_method_that_exclude_each_other():
    with gb.plan(force="segments"):
        with gb.plan(force="cols"):
            assert gb.planner.forced().names() == ("cols",)
        with gb.plan(force=("rows", "numpy")):
            assert gb.planner.forced().names() == ("rows", "numpy", "segments")
        with gb.plan(force="merge_columns"):
            assert gb.planner.forced().names() == ("merge_columns",)


# ---------------------------------------------------------------------- decisions on figures alone


def rows(**changes):
    facts = {
        "entries": 10**7, "stored_rows": 10**6, "size": 10**6, "full": False, "streams": False, "stops_early": False,
        "has_terminal": False, "reads_most": lambda: False, "one_match": False, "listed": None, "longest": lambda: 100,
    }  # fmt: skip
    return rows_kernel(UNRECORDED, **{**facts, **changes})


def test_rows():
    assert rows(full=True, streams=True) == "segments"
    assert rows(full=True, streams=True, stops_early=True, has_terminal=True) == "binned_rows"
    assert rows(full=True, streams=True, stops_early=True, has_terminal=True, reads_most=lambda: True) == "segments"
    # the rows with entries are known
    assert rows(full=True, streams=True, stops_early=True, one_match=True) == "binned_rows"
    assert rows(one_match=True) == "pull_early_exit"
    assert rows(listed=1000) == "binned_rows"  # passing over a million rows takes less than gathering the row starts
    assert rows(listed=1000, stored_rows=10**7) == "listed_rows"
    assert rows(listed=1000, stored_rows=10**7, longest=lambda: 10**6) == "binned_rows"  # a hub's row would not be cut
    assert rows(listed=10**7 // 8 + 1, stored_rows=10**7) == "binned_rows"
    assert rows(listed=1000, one_match=True) == "pull_early_exit"
    assert rows(listed=1000, one_match=True, size=1 << 25) == "listed_rows"


def test_column_indices():
    never = pytest.fail
    assert column_indices(10**6, lambda: 0.6, never, lambda count: True, 9)[0] == "segments_delta16"
    assert column_indices(10**6, lambda: 0.6, never, lambda count: False, 9)[1] == "columns_no_memory"
    assert column_indices(10**6, lambda: 0.4, never, lambda count: True, 9)[0] == "segments"
    assert column_indices(10**8, lambda: 0.4, lambda: 0.3, lambda count: True, 9)[0] == "segments_relabelled"
    assert column_indices(10**8, lambda: 0.4, lambda: 0.2, lambda count: True, 9)[1] == "columns_spread"


def test_bins():
    """Far gathers and long matrices take bins; hubs in shared memory, a cached x and little memory do not."""

    def pays(entries=1 << 26, hubs=0.0, cached=0.3, each=5e-3, fits=True):
        return bins_pay(entries, hubs, cached, entries * each, H200, fits)

    ours, theirs, share = pays()
    assert ours < theirs and share == 0.3
    assert pays(entries=tuning.RELABELLED_ENTRIES - 1) is None
    assert pays(entries=tuning.RELABELLED_ENTRIES) is not None
    assert pays(fits=False) is None
    assert pays(cached=1.0) is not None and pays(cached=1.0, hubs=0.9) is None
    assert pays(cached=1.0, each=8e-3) is None
    assert pays(cached=0.0)[1] > theirs


def test_cost_of_bins():
    """More values, wider ones, shorter runs and hubs cost more, fewer values less until entries themselves do."""

    def cost(item=4, values=1.0, run=1000.0, hubs=False, profile=H200, steps=10):
        return bins_cost(1 << 26, item, values, run, steps, hubs, profile)

    assert cost(item=8) > 1.5 * cost() > 1.5 * cost(values=0.5)
    assert cost(run=5.0) > 1.3 * cost() and cost(run=10_000.0) > 0.97 * cost()
    assert cost() < cost(hubs=True) < 1.05 * cost() and cost(hubs=True, values=0.9) < cost()
    slow = replace(H200, dram_bytes_ns=H200.dram_bytes_ns / 8)
    assert cost(profile=slow) > 7 * cost()
    reads = (1 << 26) * (tuning.GPU_BIN_ENTRY_NS + 4 * tuning.GPU_BIN_BYTE_NS)
    assert cost(values=0.0, steps=0) == pytest.approx(reads + tuning.GPU_BINS_FIXED_NS)
    assert cost(steps=11) == pytest.approx(cost() + tuning.GPU_BIN_STEP_NS)


def test_cost_of_slabs():
    """SpMM takes slabs where few rows of X are in the cache, not for many sweeps, nor where most rows are there."""

    def pays(slabs=8, row=32, sweeps=7, cached=0.2, profile=H200):
        return slabs_pay(1 << 27, (1 << 22, 1 << 22), slabs, row, sweeps, cached, profile)

    better, ours, theirs, slabs, cached = pays()
    assert better and ours < theirs and (slabs, cached) == (8, 0.2)
    assert not pays(cached=1.0)[0] and not pays(sweeps=100)[0] and pays(slabs=9)[1] > ours
    assert pays(sweeps=8)[1] > ours and pays(sweeps=8)[2] == theirs
    assert pays(cached=0.5)[2] < theirs and pays(row=64)[1] > ours and pays(row=64)[2] > theirs
    slow = replace(H200, latency=2.0, dram_bytes_ns=H200.dram_bytes_ns / 2)
    assert pays(profile=slow)[1:3] == pytest.approx((2 * ours, 2 * theirs))


def test_columns():
    assert merge_kernel(UNRECORDED, 100, 4096, 10**6, 10**5, True, False) == "merge_columns"
    assert merge_kernel(UNRECORDED, 10**5, 1024, 100, 10**6, True, True) == "merge_columns"
    assert merge_kernel(UNRECORDED, 10**5, 4096, 10**5, 10**6, True, True) == "merge_edge_balanced"
    assert merge_kernel(UNRECORDED, 10**5, 4096, 10**5, 10**7, True, True) == "merge_hubs_shared"
    assert merge_kernel(UNRECORDED, 10**5, 4096, 10**5, 10**7, False, False) == "merge_edge_balanced"


def test_one_long_row_does_not_decide():
    """A road graph with one vertex of degree 33 keeps the kernel for thousands of levels; one of many hubs does not."""
    n, entries = 10**6, 2_500_000
    assert has_high_diameter(n, entries, 8, pytest.fail) == (True, 0.0)
    for longest in (33, 1000, 100_000):
        assert has_high_diameter(n, entries, longest, lambda d, most=longest: most)[0]
    assert not has_high_diameter(n, entries, 1000, lambda d: entries // 4)[0]
    assert not has_high_diameter(n, 10 * n, 12, pytest.fail)[0]
    grid, low_skew = grid_kernel(n, entries, 33, lambda: 0.0)
    assert low_skew and grid.kernel == "grid_low_skew"
    assert bfs_kernel(n, entries, 33, lambda d: 33, grid)[0].kernel == "blocks_high_diameter"
    assert sssp_kernel(n, entries, 65, lambda d: 65)[0].kernel == "blocks_high_diameter"


def test_tiles_and_levels_by_the_thousand():
    """Roads are left to the high-diameter kernel; 3-D grids and nearest neighbours go over their full tiles."""
    assert rows_beat_tiles(10**6, 2_500_000, lambda: 8, pytest.fail)
    assert not rows_beat_tiles(10**6, 6_000_000, lambda: 6, pytest.fail)
    assert search_over(6_000_000, False, lambda: 13.0)[0] == "bittiled"


def test_equal_products_are_planned_once(matrix, monkeypatch):
    """The figures of the last product decide the next one of the same figures without weighing."""
    monkeypatch.setattr(tuning, "GPU_SMALL_MATRIX", 0)
    with using_shim():
        A, x = matrix.dup(), vector(50)
        A.T.new()
        for count, again in ((50, False), (50, True), (51, False)):
            before = (shim().to_device(A._store).forms or {}).get("last_plan")
            A.mxv(x if count == 50 else vector(51), "plus_times").new()
            after = (shim().to_device(A._store).forms or {}).get("last_plan")
            assert before is None or (before is after) == again


def test_hubs_decide_between_the_grids():
    assert grid_kernel(2**21, 2**26, 10**5, lambda: 0.01)[0].kernel == "grid_wide"
    assert grid_kernel(2**21, 2**26, 10**5, lambda: 0.5)[0].rule == "local"
    assert grid_kernel(2**21, 2**26, 10**5, None)[0].kernel == "grid_wide"


def test_bitmaps_have_no_border_at_2_to_the_22():
    assert all(stays_bitmap(1 << 22, bytes_, H200) for bytes_ in (0, 1, 4, 8, 16))
    assert stays_bitmap((1 << 22) + 1, 8, H200) and stays_bitmap(1 << 24, 4, H200) and stays_bitmap(1 << 28, 0, H200)
    assert not stays_bitmap(1 << 30, 8, H200)


# ---------------------------------------------------------------------- thresholds and devices


def test_every_threshold_is_documented():
    named = {name for name, value in vars(tuning).items() if name.isupper() and isinstance(value, (int, float, tuple))}
    assert named == set(tuning.THRESHOLDS)
    for name, threshold in tuning.THRESHOLDS.items():
        assert threshold.unit and threshold.source and threshold.measured_on, name
        assert getattr(tuning, name) == threshold.value, name


def test_an_unknown_gpu_gets_scaled_costs_and_says_so(matrix, monkeypatch):
    assert profile_of("NVIDIA H200") is H200 and not H200.note
    small = profile_of("GPU of 66", 66, 860.0, 99 << 10)
    assert (small.latency, small.bandwidth, small.shared_bytes) == (2.0, 5.0, 99 << 10)
    assert small.atomic_ns == 2 * H200.atomic_ns and small.dram_bytes_ns == pytest.approx(860.0)
    assert "GPU of 66" in small.note and "x2.00" in small.note
    assert not stays_bitmap(1 << 22, 8, small)
    with using_shim():
        monkeypatch.setattr(shim(), "profile", small)
        monkeypatch.setattr(tuning, "GPU_SMALL_MATRIX", 0)
        matrix.T.mxv(vector(50), "plus_times").new()
        matrix.mxv(vector(50), "plus_times").new()
        assert small.note in str(explain())


def test_costs_of_a_device_have_the_ratios_that_decided_before():
    """Nanoseconds took the place of units of one entry: the choices stay."""
    entry = tuning.GPU_ENTRY_NS
    assert tuning.GPU_MERGE_NS / entry == pytest.approx(3.0, rel=0.01)
    assert tuning.GPU_CLAIM_NS / entry == pytest.approx(8.0, rel=0.01)
    assert tuning.GPU_PUSH_NS / entry == pytest.approx(1 << 16, rel=0.01)
    assert tuning.GPU_CLAIM_PUSH_NS / entry == pytest.approx(1 << 21, rel=0.01)
    assert tuning.GPU_COUNT_EDGES_NS / entry == pytest.approx(1 << 23, rel=0.01)
    assert tuning.GPU_TRANSPOSE_NS / entry == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize("kernel", SPGEMM)
def test_forced_products_of_matrices(kernel, matrix):
    op = gb.semiring.plus_times
    want = matrix.mxm(matrix, op).new()
    masked = gb.Matrix(want.dtype, N, N)
    masked(matrix.S) << matrix.mxm(matrix, op)
    with using_shim(), gb.plan(force=kernel):
        assert matrix.mxm(matrix, op).new().isequal(want)
        (plan,) = explain().plans
        unsuited = kernel in ("merge_at_mask", "inner_windows")  # no mask; too many rows
        assert (plan.rule == "kernel_unsuited") == unsuited and (unsuited or plan.kernel == kernel)
        C = gb.Matrix(want.dtype, N, N)
        C(matrix.S) << matrix.mxm(matrix, op)
        (plan,) = explain().plans
        assert C.isequal(masked)
        if kernel in ("tile_pairs", "inner_windows"):
            assert plan.kernel != kernel and plan.rule == "kernel_unsuited"
        else:
            assert (plan.kernel, plan.kernel_rule) == (kernel, "forced")
    with gb.plan(force=kernel):
        assert matrix.mxm(matrix, op).new().isequal(want)
        (plan,) = explain().plans
        assert plan.rule == "kernel_unsuited" and kernel in plan.reason


@pytest.mark.parametrize(
    ("dear", "method", "kernel"),
    [
        (("GPU_MASKED_PUSH_NS",), "dot", None),
        (("GPU_DOT_NS",), "gustavson", "merge_at_mask"),
    ],
)
def test_masked_products_by_cost(dear, method, kernel, matrix, monkeypatch):
    """The cheaper of two ways to compute a masked product on a device; each row chooses where both forms are there."""
    op = gb.semiring.plus_times
    want = gb.Matrix(matrix.dtype, N, N)
    want(matrix.S) << matrix.mxm(matrix, op)
    monkeypatch.setattr(tuning, "GPU_SMALL_MATRIX", 0)
    for name in dear:
        monkeypatch.setattr(tuning, name, 1e9)
    B = gb.Matrix.from_coo(*matrix.to_coo(), nrows=N, ncols=N)  # its transpose is not cached
    with using_shim():
        C = gb.Matrix(matrix.dtype, N, N)
        C(matrix.S) << matrix.mxm(B, op)
        (plan,) = explain().plans
        assert C.isequal(want)
        assert (plan.method, plan.kernel) == (method, kernel)
        fresh = gb.Matrix.from_coo(*matrix.to_coo(), nrows=N, ncols=N)
        C(matrix.S) << matrix.mxm(fresh.T, op)
        (plan,) = explain().plans
        assert (plan.method, plan.rule) == ("dot", "mask_of_operands")
        B.T.new()
        C(matrix.S) << matrix.mxm(B, op)
        (plan,) = explain().plans
        assert C.isequal(want) and (plan.method, plan.rule) == ("dot", "rows_choose")


@pytest.mark.parametrize(
    ("fill", "nrows", "more", "kernel"),
    [
        (17.5, 200_000, {}, "tile_pairs"),
        (4.0, 200_000, {}, "two_phases"),  # too few products a pair
        (17.5, 200_000, {"mode": "ENTRIES"}, "two_phases"),
        (30.0, 200_000, {"mode": "ENTRIES"}, "tile_pairs"),
        (30.0, 200_000, {"structure": True}, "tile_pairs"),
        (12.0, 200_000, {"structure": True}, "two_phases"),  # 2 ms against 2.7
        (17.5, 10_000, {}, "two_phases"),  # 571,429 tiles in 1,250 block rows
        (17.5, 200_000, {"made": 40_000_000}, "two_phases"),  # too few products to pay for the tiles
        (17.5, 200_000, {"row": 1.0}, "two_phases"),  # or for the launches
    ],
)
def test_tiles_are_chosen_by_cost(fill, nrows, more, kernel):
    """Products of matrices of 10^7 entries and rows of 100, in tiles of `fill` entries."""
    facts = {"entries": 10_000_000, "nrows": nrows, "row": 100.0, "made": 0, "structure": False}
    facts["mode"] = "FP64_MATRIX"
    plan = Plan("matmul", "gustavson", "csr", "no_mask")
    found = TileFacts(**{**facts, **more}, fill=lambda: (fill, fill))
    assert spgemm_kernel(plan, False, lambda: found) == kernel
    assert plan.kernel == kernel and plan.kernel_reason
