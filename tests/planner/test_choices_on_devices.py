"""Choices for a GPU from facts alone, at their borders: each rule's text, figures, and what a forced kernel changes."""

from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.planner import tuning
from grb_tile.planner.choose_inner import choose_inner
from grb_tile.planner.choose_kernel import column_indices, hypersparse_kernel, sorts_products, spgemm_kernel
from grb_tile.planner.choose_matmul_gpu import choose_matmul_on_gpu
from grb_tile.planner.choose_matvec_gpu import _try_tiles, choose_on_gpu, costs_of
from grb_tile.planner.choose_traversal import bfs_kernel, grid_kernel, search_over, sssp_kernel
from grb_tile.planner.device_profile import H200
from grb_tile.planner.record import Plan
from grb_tile.storage.convert import compressed, keep_transpose, to_dcsr, transpose_of
from support.seeds import generator


def shape(nrows, ncols, count, rows=None):
    """Of a Compressed what choices read."""
    stored = nrows if rows is None else rows
    return SimpleNamespace(
        nrows=nrows, ncols=ncols, rows=None if rows is None else np.arange(rows), indices=np.empty(count, np.int32),
        indptr=np.empty(stored + 1, np.int64),
    )  # fmt: skip


LINES, SMALL = tuning.GPU_INNER_LINES, tuning.GPU_SMALL_MATRIX
MANY = 40_000_000  # entries


def inner_costs(rows, cols, inner, a, b, read, transposed):
    windows = read * -(-rows // 16) * -(-cols // 8) * tuning.GPU_INNER_ENTRY_NS
    windows += inner * rows * cols * tuning.GPU_INNER_STEP_NS
    return windows, a * b / inner * tuning.GPU_SPLIT_PRODUCT_NS + transposed * tuning.GPU_TRANSPOSE_NS


@pytest.mark.parametrize("at", [False, True])
@pytest.mark.parametrize("bt", [False, True])
def test_long_inner_dimensions(at, bt):
    for rows, cols, inner, a, b in (
        (16, 8, 10**5, MANY, MANY // 2),
        (17, 9, 10**4, SMALL, 10**5),
        (LINES, 1, 10**5, MANY, MANY),
    ):
        A = shape(inner, rows, a) if at else shape(rows, inner, a)
        B = shape(cols, inner, b) if bt else shape(inner, cols, b)
        windows, rest = inner_costs(rows, cols, inner, a, b, a + b, at * a + bt * b)
        plan = choose_inner(A, at, B, bt)
        assert (plan is not None) == (windows < rest)
        if plan is not None:
            assert (plan.method, plan.kernel, plan.kernel_rule) == ("dot", "inner_windows", "few_outputs")
            assert plan.kernel_figures == pytest.approx((rows, cols, inner, windows, rest))
    assert choose_inner(shape(16, 10**5, MANY), False, shape(8, 10**5, MANY), True) is not None


def test_inner_windows_serve_few_lines_and_full_windows():
    def chosen(rows, cols, inner, count, force=()):
        with gb.plan(force=force):
            return choose_inner(shape(rows, inner, count), False, shape(cols, inner, count), True) is not None

    assert chosen(LINES, LINES, 10**5, MANY) and not chosen(LINES + 1, 1, 10**5, MANY)
    assert not chosen(1, LINES + 1, 10**5, MANY) and not chosen(0, 1, 10**5, MANY) and not chosen(1, 0, 10**5, MANY)
    span = tuning.GPU_INNER_SPAN
    assert chosen(1, 1, 2 * SMALL * span, SMALL, force="inner_windows")
    assert not chosen(1, 1, 2 * SMALL * span + 1, SMALL, force="inner_windows")
    assert not chosen(1, 1, 100, SMALL // 2) and chosen(1, 1, 100, SMALL // 2, force="inner_windows")
    assert chosen(1, 1, 100, SMALL // 2 + 1) and not chosen(1, 1, 100, 0, force="inner_windows")
    for other in ("two_phases", "dot", "gustavson"):
        assert not chosen(1, 1, 100, MANY, force=other)
    A, tall = shape(16, 10**5, MANY), shape(10**5, 16, MANY)
    hyper = shape(10**5, 16, MANY, rows=50)
    assert choose_inner(A, False, A, True) is not None and choose_inner(A, False, tall, False) is not None
    assert choose_inner(A, False, hyper, False) is None and choose_inner(hyper, True, tall, False) is None
    reads = []  # A A' reads A once
    for count in np.geomspace(SMALL, MANY, 400).astype(int).tolist():
        A, other = shape(16, 10**5, count), shape(16, 10**5, count)
        once, twice = (inner_costs(16, 16, 10**5, count, count, k * count, count) for k in (1, 2))
        assert (choose_inner(A, False, A, True) is not None) == (once[0] < once[1])
        assert (choose_inner(A, False, other, True) is not None) == (twice[0] < twice[1])
        reads.append((once[0] < once[1], twice[0] < twice[1]))
    assert (True, False) in reads


def sparse(rng, nrows, ncols, count):
    keys = np.unique(rng.integers(0, nrows * ncols, count))
    return compressed(nrows, ncols, dtypes.BOOL, keys // ncols, keys % ncols, np.ones(1, bool), True)


def rows_of(M):
    return np.repeat(np.arange(M.nrows), np.diff(M.indptr))


def dense(M):
    found = np.zeros(M.shape, int)
    found[rows_of(M), M.indices] = 1
    return found


def test_products_at_a_mask():
    rng = generator("masked products")
    A, B = sparse(rng, 300, 400, 12_000), sparse(rng, 400, 500, 12_000)
    Bt = sparse(rng, 500, 400, 12_000)
    plan = choose_matmul_on_gpu(sparse(rng, 9, 9, 20), False, sparse(rng, 9, 9, 20), False, sparse(rng, 9, 9, 20))
    assert (plan.method, plan.rule, plan.figures) == ("gustavson", "matrix_small", (plan.figures[0],))
    few, many = sparse(rng, 300, 500, 10_000), sparse(rng, 300, 500, 60_000)
    plan = choose_matmul_on_gpu(A, False, Bt, True, few)
    assert (plan.method, plan.rule, plan.figures) == ("dot", "mask_of_operands", (few.nvals, A.nvals))
    At, short, wide = transpose_of(A), sparse(rng, 300, 400, 150), sparse(rng, 500, 400, 18_000)
    At = compressed(400, 300, dtypes.BOOL, rows_of(At), At.indices, np.ones(1, bool), True)  # without its transpose
    in_short_rows = sparse(rng, 300, 500, 400)
    for left, at, right, bt, M in (
        (A, False, Bt, True, many), (A, False, B, False, many), (A, False, B, False, few), (At, True, Bt, True, many),
        (At, True, B, False, many), (At, True, B, False, few), (short, False, wide, True, in_short_rows),
    ):  # fmt: skip
        a, b = dense(left), dense(right)
        a, b, m = a.T if at else a, b.T if bt else b, dense(M)
        transpose = right.nvals * tuning.GPU_TRANSPOSE_NS
        by_rows = (m * a.sum(axis=1)[:, None]).sum() * tuning.GPU_DOT_NS
        by_columns = (m * b.sum(axis=0)).sum() * tuning.GPU_DOT_NS
        products = (a @ b)[m.any(axis=1)].sum() * tuning.GPU_MASKED_PUSH_NS
        positions = M.nvals * tuning.GPU_DOT_POSITION_NS
        if bt:
            dots, rows = min(by_rows, by_columns) + positions, products + transpose
            if by_rows <= transpose:
                dots, rows = by_rows, transpose
        else:
            dots, rows = transpose, products
            dots += min(by_rows, by_columns) + positions if rows > transpose else 0
        plan = choose_matmul_on_gpu(left, at, right, bt, M)
        assert plan.figures == pytest.approx((dots, rows, M.nvals), rel=0.05)
        wins = dots < rows or bt and by_rows <= transpose
        assert (plan.method, plan.rule) == (("dot", "mask_small") if wins else ("gustavson", "rows_of_product"))
        assert wins or (plan.kernel, plan.kernel_rule) == ("merge_at_mask", "mask_bounds")
    keep_transpose(B, transpose_of(B))
    plan = choose_matmul_on_gpu(A, False, B, False, many)
    assert (plan.method, plan.rule, plan.figures) == ("dot", "rows_choose", (many.nvals,))


def test_how_segments_store_columns():
    def chosen(entries, near, hub, free, ncols=1000):
        asked = []
        return column_indices(entries, lambda: near, lambda: asked.append(1) or hub, lambda need: need <= free, ncols)

    near, hubs, long = tuning.DELTA16_SHARE, tuning.RELABELLED_SHARE, tuning.RELABELLED_ENTRIES
    assert chosen(50, near, 0, 100) == ("segments_delta16", "columns_near", (near,))
    assert chosen(50, near, 0, 99) == ("segments", "columns_no_memory", (100,))
    assert chosen(long - 1, near - 0.01, 1, 1 << 60) == ("segments", "columns_spread", (near - 0.01,))
    need = 4 * long + 32 * 1000
    assert chosen(long, 0, hubs, need) == ("segments_relabelled", "columns_skewed", (hubs,))
    assert chosen(long, 0, hubs, need - 1) == ("segments", "columns_no_memory", (need,))
    assert chosen(long, 0.1, hubs - 0.01, need) == ("segments", "columns_spread", (0.1,))


def test_sorted_products_and_hypersparse_rows():
    for atomic, force, sorted_, rule in (
        (True, None, False, None), (True, "sort_products", True, "forced"), (True, "merge_columns", False, None),
        (False, None, True, "no_atomic"), (False, "sort_products", True, "no_atomic"),
        (False, "merge_columns", True, "no_atomic"),
    ):  # fmt: skip
        plan = Plan("matvec", "cols", "csr", "vector_small")
        with gb.plan(force=force or ()):
            assert sorts_products(plan, atomic, 1000, 1000) == sorted_
        assert not sorted_ or (plan.kernel, plan.kernel_rule) == ("sort_products", rule)
    plan = Plan("matvec", "cols", "csr", "vector_small")
    assert sorts_products(plan, True, 2**50, 10) and plan.kernel_rule == "no_atomic"
    for force in (None, "binned_rows"):
        plan = Plan("matvec", "rows", "dcsr", "vector_full")
        with gb.plan(force=force or ()):
            assert hypersparse_kernel(plan, 2**40, 7) == "hypersparse_rows"
        assert plan.kernel == "hypersparse_rows"
        assert force or (plan.kernel_rule, plan.kernel_figures) == ("too_large", (2**40, 7))


def test_a_planned_kernel_of_products_stays_where_it_serves():
    for kernel, by_mask, wanted, rule in (
        ("two_phases", False, "two_phases", "mask_bounds"), ("merge_at_mask", True, "merge_at_mask", "mask_bounds"),
        ("merge_at_mask", False, "two_phases", "wide_columns"), (None, True, "merge_at_mask", "mask_bounds"),
        (None, False, "two_phases", "row_accumulators"),
    ):  # fmt: skip
        plan = Plan("matmul", "gustavson", "csr", "no_mask")
        if kernel:
            plan.use_kernel(kernel, "mask_bounds")
        assert spgemm_kernel(plan, by_mask) == wanted == plan.kernel and plan.kernel_rule == rule


MEAN, VERTICES = tuning.HIGH_DIAMETER_MEAN, tuning.HIGH_DIAMETER_VERTICES


@pytest.mark.parametrize("choose, degree", [
    (lambda *facts: bfs_kernel(*facts, grid_kernel(*facts[:3], None)[0]), tuning.HIGH_DIAMETER_DEGREE),
    (sssp_kernel, tuning.SSSP_HIGH_DIAMETER_DEGREE),
])  # fmt: skip
def test_high_diameters(choose, degree):
    n = VERTICES
    entries = int(MEAN * n)
    heavy = tuning.HIGH_DIAMETER_HEAVY_ENTRIES
    share = int(tuning.HIGH_DIAMETER_HEAVY * entries)
    few = min(heavy, share)
    for facts, in_long_rows, wanted in (
        ((n, entries, degree), None, True), ((n, entries + 1, degree), None, False),
        ((n - 1, entries - 9, degree), None, False), ((n, entries, degree + 1), few, True),
        ((n, entries, degree + 1), max(heavy, share) + 1, False),
    ):  # fmt: skip
        asked = []

        def heavy_rows(d, asked=asked, found=in_long_rows):
            asked.append(d)
            return found

        choice, first = choose(*facts, heavy_rows)
        assert first == wanted == (choice.kernel == "blocks_high_diameter"), facts
        assert asked == ([] if in_long_rows is None else [degree])
        if wanted:
            part = 0.0 if in_long_rows is None else in_long_rows / entries
            assert choice.rule == "high_diameter" and choice.figures == (facts[1] / n, part, degree)
        else:
            assert (choice.kernel, choice.rule, choice.figures) == (
                "grid_wide",
                "hubs",
                (facts[2], facts[1] / facts[0]),
            )


def test_forced_traversals_where_they_serve():
    facts = VERTICES, 10, 3
    for force, bfs, sssp in (
        ("grid_wide", ("grid_wide", "forced"), ("grid_wide", "forced")),
        ("grid_low_skew", ("grid_low_skew", "forced"), ("grid_wide", "kernel_unsuited")),
        ("blocks_high_diameter", ("blocks_high_diameter", "forced"), ("blocks_high_diameter", "forced")),
    ):
        with gb.plan(force=force):
            grid, low = grid_kernel(*facts, lambda: 0.0)
            assert low == (force == "grid_low_skew")
            choice, first = bfs_kernel(*facts, lambda d: 0, grid)
            assert (choice.kernel, choice.rule) == bfs and first == (force == "blocks_high_diameter")
            choice, first = sssp_kernel(*facts, lambda d: 0)
            assert (choice.kernel, choice.rule) == sssp and first == (force == "blocks_high_diameter")
    with gb.plan(force="grid_low_skew"):
        choice, low = grid_kernel(*facts, None)
        assert (choice.kernel, choice.rule, choice.figures, low) == (
            "grid_wide",
            "kernel_unsuited",
            ("grid_low_skew",),
            False,
        )
    with gb.plan(force="blocks_high_diameter"):
        most, degree = tuning.HIGH_DIAMETER_HEAVY_ENTRIES, tuning.HIGH_DIAMETER_DEGREE
        grid = grid_kernel(*facts, None)[0]
        for longest, heavy, first in (
            (degree, most + 1, True),
            (degree + 1, most, True),
            (degree + 1, most + 1, False),
        ):
            choice, found = bfs_kernel(VERTICES, 10, longest, lambda d, heavy=heavy: heavy, grid)
            assert found == first and choice.rule == ("forced" if first else "kernel_unsuited")


def test_grids_and_tiles_of_searches():
    skew, local = tuning.LOW_SKEW, tuning.LOCAL_SHARE
    for longest, share, wanted in (
        (int(4 * skew) - 1, 0, ("grid_low_skew", "low_skew")), (int(4 * skew) + 1, local, ("grid_wide", "hubs")),
        (int(4 * skew) + 1, local + 0.01, ("grid_low_skew", "local")), (int(4 * skew) - 1, None, ("grid_wide", "hubs")),
    ):  # fmt: skip
        choice, low = grid_kernel(100, 400, longest, None if share is None else lambda share=share: share)
        assert (choice.kernel, choice.rule) == wanted and low == (choice.kernel == "grid_low_skew")
        assert choice.figures == ((share,) if choice.rule == "local" else (longest, 4.0))
    entries, full = tuning.TILES_ENTRIES, tuning.TILES_FULL
    assert search_over(entries, False, lambda: full) == ("bittiled", (full,))
    assert search_over(entries, False, lambda: full - 0.1) == ("csr", ())
    assert search_over(entries - 1, False, None) == search_over(entries, True, None) == ("csr", ())


def test_tiles_of_a_sparse_vector_are_made_when_they_have_paid():
    n, entries = 1 << 16, tuning.TILES_ENTRIES
    A = compressed(1, 1, dtypes.BOOL, np.zeros(0, np.int64), np.zeros(0, np.int32), np.ones(0, bool))
    A.nrows = A.ncols = n
    A.indptr, A.indices = np.linspace(0, entries, n + 1).astype(np.int64), np.zeros(entries, np.int32)
    u = SimpleNamespace(format="sparse", size=n)
    backend = SimpleNamespace(tile_facts=lambda E: (tuning.TILES_FULL, 40))
    nt, count = tuning.GPU_TILE_WIDTH, 50
    tiled = tuning.GPU_TILED_NS + -(-n // nt) * tuning.GPU_TILE_ROW_NS + 40 * tuning.GPU_TILE_STEP_NS
    tiled += entries * (1.0 - (1.0 - count / n) ** nt) * tuning.GPU_TILE_LIVE_NS

    def plan(cost, E=A, u=u, backend=backend):
        made = Plan("matvec", "cols", "csr", "columns_cheaper")
        _try_tiles(made, E, u, count, cost, backend)
        return made

    build = entries * tuning.GPU_TILE_ENTRY_NS
    assert plan(tiled).rule == "columns_cheaper" and plan(tiled + build * 0.6).rule == "columns_cheaper"
    found = plan(tiled + build * 0.6)  # the second time the counter is full
    assert (found.method, found.format, found.rule) == ("rows", "tiled", "tiles_cheaper")
    assert found.figures == pytest.approx((tiled, tiled + build * 0.6, tuning.TILES_FULL))
    A.forms = None
    for other in (
        {"E": None}, {"E": to_dcsr(A)}, {"u": SimpleNamespace(format="bitmap", size=n)},
        {"backend": SimpleNamespace(tile_facts=lambda E: (tuning.TILES_FULL - 0.1, 40))},
    ):  # fmt: skip
        assert plan(tiled + 2 * build, **other).rule == "columns_cheaper", other
    assert plan(tiled + build).rule == "tiles_cheaper"
    A.indices = A.indices[1:]
    assert plan(tiled + 2 * build).rule == "columns_cheaper"


@pytest.mark.parametrize("transposed", [False, True])
def test_a_turn_of_a_program_leaves_the_direction_to_the_device(transposed, monkeypatch):
    """The transpose is made for all turns to come, but not while a turn is captured; costs are those of a list."""
    rng = generator("turns")
    monkeypatch.setattr(tuning, "GPU_UNCOUNTED", 50)
    u = SimpleNamespace(nvals_if_read=None)
    for capturing, cached, made in ((False, False, 1), (True, True, 0), (False, True, 0)):
        A, asked, transposes = sparse(rng, 300, 300, 900), [], []

        def direction(*given, asked=asked):
            asked.append(given)
            return "cols"

        def transpose(A, made=transposes):
            made.append(A)
            return transpose_of(A)

        if cached:
            transpose_of(A)
        turns = SimpleNamespace(capturing=capturing, direction=direction)
        backend = SimpleNamespace(turns=turns, transpose=transpose, profile=H200)
        monkeypatch.setattr(tuning, "GPU_SMALL_MATRIX", 50)
        plan = choose_on_gpu(A, transposed, u, None, False, backend)
        assert (plan.operation, plan.method, plan.format, plan.rule) == ("matvec", "cols", "csr", "turn_of_program")
        ((matrix, flipped, other, vector, mask, costs),) = asked
        assert (matrix, flipped, vector, mask) == (A, transposed, u, None) and len(transposes) == made
        assert other is transpose_of(A)
        assert costs() == costs_of(A, other if transposed else A, None, False, False, H200, True, True)
        monkeypatch.setattr(tuning, "GPU_UNCOUNTED", A.nvals)
        small = choose_on_gpu(A, transposed, u, None, False, backend)
        assert (small.method, small.rule, small.figures) == ("rows", "matrix_small", (A.nvals,)) and len(asked) == 1
        monkeypatch.setattr(tuning, "GPU_UNCOUNTED", 50)
    here = "cols" if transposed else "rows"
    for count, entries, rule in ((0, 900, "vector_empty"), (5, 0, "vector_empty"), (5, 40, "matrix_small")):
        u = SimpleNamespace(nvals_if_read=count)
        plan = choose_on_gpu(sparse(rng, 300, 300, entries), transposed, u, None, False, None)
        assert (plan.method, plan.rule) == (here, rule)
