"""What the planner chooses, that it can be told otherwise, and that it says so."""

import subprocess
import sys

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends import select as backends
from grb_tile.planner import (
    FORCIBLE,
    UNRECORDED,
    choose_matmul,
    choose_matvec,
    edges_of,
    explain,
    forced,
    history,
    unrecorded,
)
from grb_tile.storage.convert import keep_transpose, transpose_of
from grb_tile.storage.store import StoredMask
from grb_tile.storage.work import dot_work, masked_products, products
from support.stores import matrix, vector

N = 4000
MIN_PLUS = "min_plus"


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(1)
    A = matrix(rng, N, N, 40 * N, gb.dtypes.FP64)
    transpose_of(A)
    return A


def frontier(count, form="sparse"):
    return vector(np.random.default_rng(2), N, count, gb.dtypes.FP64, form)


def plan_of(A, u, mask=None, semiring=MIN_PLUS, dtype="FP64", transposed=False):
    if A.forms:
        A.forms.pop("last_method", None)
    return choose_matvec(A, transposed, u, mask, getattr(gb.semiring, semiring)[dtype])


@pytest.mark.parametrize("transposed", [False, True])
def test_a_small_frontier_is_pushed_and_a_full_vector_pulled(graph, transposed):
    assert plan_of(graph, frontier(5), transposed=transposed).method == "cols"
    assert plan_of(graph, frontier(N, "full"), transposed=transposed).method == "rows"


def test_a_small_mask_makes_rows_cheap_whatever_the_vector(graph):
    few = StoredMask(frontier(10))
    assert plan_of(graph, frontier(2000, "bitmap")).rule != "mask_small"
    assert plan_of(graph, frontier(600, "bitmap"), few).method == "rows"
    assert plan_of(graph, frontier(600, "bitmap"), StoredMask(frontier(10), complement=True)).method == "cols"


def test_early_exit_pulls_sooner(graph):
    u = frontier(700, "bitmap")
    assert plan_of(graph, u).method == "cols"
    assert plan_of(graph, u, semiring="any_pair", dtype="BOOL").method == "rows"


def test_close_calls_keep_their_direction(graph):
    sizes = range(100, 4000, 100)
    graph.forms.pop("last_method", None)
    up = [choose_matvec(graph, False, frontier(n, "bitmap"), None, gb.semiring.min_plus["FP64"]).method for n in sizes]
    down = [
        choose_matvec(graph, False, frontier(n, "bitmap"), None, gb.semiring.min_plus["FP64"]).method
        for n in reversed(sizes)
    ]
    assert up[0] == "cols"
    assert up[-1] == "rows"
    assert down[-1] == "cols"
    assert up.index("rows") > len(sizes) - down.index("cols")  # later up than down
    assert any(plan.rule == "same_as_last" for plan in history())


def test_a_transpose_is_made_once_it_would_have_paid():
    rng = np.random.default_rng(3)
    A = matrix(rng, N, N, 40 * N, gb.dtypes.FP64)
    u = frontier(5)
    methods = []
    for _ in range(100):
        methods.append(choose_matvec(A, False, u, None, gb.semiring.min_plus["FP64"]).method)
    first = methods.index("cols")
    assert 2 <= first <= 20
    assert set(methods[:first]) == {"rows"}
    assert set(methods[first:]) == {"cols"}
    keep_transpose(A, transpose_of(A))
    assert plan_of(A, u).rule == "columns_cheaper"


def test_nothing_to_weigh():
    rng = np.random.default_rng(4)
    small = matrix(rng, 20, 20, 50, gb.dtypes.FP64)
    u = vector(rng, 20, 4, gb.dtypes.FP64, "sparse")
    op = gb.semiring.min_plus["FP64"]
    assert choose_matvec(small, False, u, None, op).method == "rows"
    assert choose_matvec(small, True, u, None, op).method == "cols"
    empty = vector(rng, 20, 0, gb.dtypes.FP64, "sparse")
    assert choose_matvec(small, False, empty, None, op).rule == "vector_empty"


def test_dots_where_the_mask_is_sparse(graph):
    op = gb.semiring.plus_pair["INT64"]
    rng = np.random.default_rng(5)
    few = matrix(rng, N, N, 300, gb.dtypes.BOOL)
    many = matrix(rng, N, N, 400 * N, gb.dtypes.BOOL)
    assert choose_matmul(graph, False, graph, False, StoredMask(few), op).method == "dot"
    assert choose_matmul(graph, False, graph, False, StoredMask(many), op).method == "gustavson"
    assert choose_matmul(graph, False, graph, False, None, op).rule == "no_mask"
    assert choose_matmul(graph, False, graph, False, StoredMask(few, True), op).method == "gustavson"
    assert choose_matmul(graph, False, graph, True, StoredMask(graph), op).method == "dot"


def test_edges_are_counted_for_lists(graph):
    u = frontier(50)
    assert edges_of(graph, u) == np.diff(graph.indptr)[u.indices].sum()
    assert edges_of(graph, frontier(0)) == 0
    assert edges_of(graph, frontier(N, "full")) == pytest.approx(graph.nvals)


def test_forcing_wins_nests_and_ends(graph):
    u = frontier(5)
    with gb.plan(force="rows"):
        assert plan_of(graph, u).method == "rows"
        with gb.plan(force="cols"):
            assert plan_of(graph, frontier(N, "full")).method == "cols"
        for name, method in (("push", "cols"), ("pull", "rows")):
            with gb.plan(force=name):
                assert plan_of(graph, u).method == method
        with gb.plan(force=("pull", "numpy")):
            assert forced().names() == ("pull", "numpy")
            assert plan_of(graph, u).rule == "forced"
        assert forced().names() == ("rows",)
    assert forced().names() == ()
    with pytest.raises(RuntimeError), gb.plan(force="dot"):
        raise RuntimeError
    assert forced().names() == ()


def test_dot_is_not_forced_where_it_cannot_be(graph):
    op = gb.semiring.plus_pair["INT64"]
    with gb.plan(force="dot"):
        assert choose_matmul(graph, False, graph, False, None, op).method == "gustavson"
        assert choose_matmul(graph, False, graph, False, StoredMask(graph, True), op).method == "gustavson"


@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_a_form_without_a_kernel_is_named_as_such(backend):
    """Bit tiles hold no values: a product that reads some goes over the plain rows, and the plan says so."""
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    v = gb.Vector.from_coo([0, 1, 2], [4.0, 5.0, 6.0])
    with backends.using(backend):
        for format, semiring, shown in (
            ("bittiled", "plus_pair", "bittiled"),
            ("bittiled", "plus_times", "csr"),
            ("pull_csc", "min_plus", "csr"),
            ("tiled", "plus_times", "tiled"),
        ):
            with gb.plan(force=format):
                w = A.mxv(v, semiring).new()
            plan = explain().plans[0]
            assert w.isequal(A.mxv(v, semiring).new())
            assert (plan.method, plan.format) == ("rows", shown), f"{format} {semiring}"
            assert plan.rule == ("forced" if shown != "csr" else "form_unsuited")
            assert shown != "csr" or plan.reason.startswith(f"{format} was asked for")
        with gb.plan(force=("cols", "tiled")):
            A.mxv(v, "plus_times").new()
        assert explain().plans[0].format == "csr"


def test_unknown_plans_are_refused_with_the_choices():
    with pytest.raises(ValueError, match="'sideways' cannot be forced") as error:
        gb.plan(force="sideways")
    assert all(name in str(error.value) for name in FORCIBLE)
    with pytest.raises(ValueError, match="'nt48' cannot be forced.*nt16, nt32, nt64"):
        gb.plan(force="tiled nt48")


def test_config_forces_everywhere(graph):
    u = frontier(5)
    with gb.config.set(plan="rows"):
        assert plan_of(graph, u).method == "rows"
        with gb.plan(force="cols"):
            assert plan_of(graph, u).method == "cols"
    assert plan_of(graph, u).method == "cols"


def test_options_that_were_set_before_the_planner_was_imported():
    """The planner is imported when something first computes: what a program chose before that holds from then on."""
    program = """
import sys, grb_tile as gb
gb.config.set(plan="rows", matmul_precision="tf32")
assert not any(name.startswith("grb_tile.planner") for name in sys.modules)
from grb_tile.planner import choose_precision, record
print(record.forced().names(), choose_precision.setting())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "('rows',) tf32\n", run.stderr


def test_results_do_not_depend_on_the_plan():
    rng = np.random.default_rng(6)
    A = gb.Matrix.from_coo(*np.divmod(np.unique(rng.integers(0, 400, 120)), 20), 2.0, nrows=20, ncols=20, dtype="FP64")
    v = gb.Vector.from_coo(np.arange(0, 20, 3), np.arange(7.0), size=20)
    wanted = gb.semiring.min_plus(A @ v).new()
    product = gb.semiring.plus_times(A @ A).new(mask=A.S)
    for name in FORCIBLE:
        with gb.plan(force=name):
            assert gb.semiring.min_plus(A @ v).new().isequal(wanted), name
            assert gb.semiring.plus_times(A @ A).new(mask=A.S).isequal(product), name


def test_explain_says_what_and_why(graph):
    plan = plan_of(graph, frontier(5))
    plan.done(backends.current())
    report = explain()
    assert len(report) == 1
    (told,) = report.as_dicts()
    assert told["method"] == "cols"
    assert told["rule"] == "columns_cheaper"
    assert "5 entries" in told["reason"]
    assert told["ms"] >= 0
    assert "matvec: cols over csr" in str(report)
    assert len(explain(3)) == 3


def times(A, B):
    """Multiplications of A B, counted one by one."""
    held = dict.fromkeys(range(B.nrows), 0)
    for k in np.repeat(np.arange(B.nrows), np.diff(B.indptr)).tolist():
        held[k] += 1
    return sum(held[k] for k in A.indices.tolist())


@pytest.mark.parametrize("at", [False, True])
@pytest.mark.parametrize("bt", [False, True])
def test_products_are_counted_exactly(at, bt):
    rng = np.random.default_rng(4)
    A = matrix(rng, 50, 40, 300, gb.dtypes.FP64)
    B = (
        matrix(rng, 30, 50 if at else 40, 200, gb.dtypes.FP64)
        if bt
        else matrix(rng, 50 if at else 40, 30, 200, gb.dtypes.FP64)
    )
    left = transpose_of(A) if at else A
    right = transpose_of(B) if bt else B
    assert products(A, B, at, bt) == times(left, right)
    mask = matrix(rng, left.nrows, right.ncols, 60, gb.dtypes.BOOL)
    columns = np.diff(transpose_of(right).indptr)
    assert dot_work(B, bt, mask) == sum(columns[j] for j in mask.indices.tolist())


def test_products_of_masked_rows_only():
    rng = np.random.default_rng(5)
    A, B = matrix(rng, 100, 80, 900, gb.dtypes.FP64), matrix(rng, 80, 70, 600, gb.dtypes.FP64)
    one_row = gb.Matrix.from_coo([7, 7], [0, 5], True, nrows=100, ncols=70)._store
    assert masked_products(A, B, one_row, False, False) <= products(A, B) * (A.indptr[8] - A.indptr[7]) / A.nvals + 1e-9
    assert masked_products(A, B, matrix(rng, 100, 70, 3000, gb.dtypes.BOOL), False, False) == products(A, B)


def test_every_method_says_how_long_it_took():
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2, 3])
    v = gb.Vector.from_coo([0, 1], [1.0, 2], size=3)
    for engine in ("numpy", "numba"):
        with gb.plan(force=engine):
            gb.semiring.plus_times(A @ v).new()
            assert explain().plans[0].seconds > 0
            assert explain().plans[0].engine == engine
            gb.semiring.plus_times(A @ A).new(mask=A.S)
            assert explain().plans[0].seconds > 0
            assert explain().plans[0].engine == engine


def test_a_plan_that_nothing_planned_keeps_no_record():
    before = history()
    for plan, method, format in ((UNRECORDED, None, "csr"), (unrecorded("dot"), "dot", "csr"),
                                 (unrecorded("tiled"), None, "tiled")):  # fmt: skip
        plan.use_kernel("esc", "row_accumulators")
        plan.use_plain_rows()
        plan.use_precision("rounded")
        plan.note, plan.engine = "a note", "numba"
        assert (plan.method, plan.format, plan.rule) == (method, format, "forced")
        assert plan.kernel is None and plan.precision is None and plan.engine is None and plan.note is None
    assert history() == before
    for name in ("numpy", "esc", "nothing"):
        with pytest.raises(ValueError, match=f"plan: '{name}'"):
            unrecorded(name)
