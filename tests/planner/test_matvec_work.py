"""What the planner counts before it decides: sampled work against exact counts, and costs by what is compiled."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.planner import choose_matmul, choose_matvec, edges_of, tuning
from grb_tile.planner.choose_matvec import Settled
from grb_tile.planner.choose_matvec_gpu import choose_on_gpu, costs_of
from grb_tile.planner.device_profile import H200, profile_of
from grb_tile.planner.matvec_work import Work, admitted_rows, column_wise_ns, estimate_work, row_wise_ns, sample_work
from grb_tile.planner.statistics import sample_of
from grb_tile.storage.convert import cached_transpose, compressed, to_bitmap, transpose_of
from grb_tile.storage.store import SparseVector, StoredMask
from support import seeds
from support.stores import matrix, vector

N = 1 << 15
ANY_PAIR, MIN_PLUS = gb.semiring.any_pair["BOOL"], gb.semiring.min_plus["FP64"]


class Engines:
    """A backend that answers is_ready from a dictionary (everything else is ready) and keeps what it is asked."""

    def __init__(self, **ready):
        self.ready, self.savings = ready, []

    def is_ready(self, primitive, *operands):
        return self.ready.get(primitive, True)

    def count_saving(self, seconds, primitive, *operands):
        self.savings.append((primitive, seconds))


def skewed(rng, n=N, edges=16 * N):
    """A graph whose degrees fall as 1/k: sources and targets of an edge are drawn from different power laws."""
    rank = lambda: (n ** rng.random(edges)).astype(np.int64) % n  # noqa: E731
    label = rng.permutation(n)
    keys = np.unique(label[rank()] * n + rng.permutation(n)[rank()])
    return compressed(n, n, gb.dtypes.BOOL, keys // n, (keys % n).astype(np.int32), np.ones(1, bool), True)


def bitmap(at, n=N):
    return to_bitmap(SparseVector(n, gb.dtypes.BOOL, np.sort(at).astype(np.int32), np.ones(1, bool), True))


@pytest.fixture(scope="module")
def graph():
    A = skewed(np.random.default_rng(seeds.SEED))
    transpose_of(A)
    return A


@pytest.fixture(scope="module")
def wide():
    """32 entries a row at random places, and the transpose."""
    A = matrix(np.random.default_rng(seeds.SEED + 11), N, N, 32 * N, gb.dtypes.FP64)
    transpose_of(A)
    return A


def exact(E, u, allow):
    """(admitted rows, their entries, entries of u's columns, entries that meet u there) counted one by one."""
    rows = np.repeat(np.arange(E.nrows), np.diff(E.indptr))
    has, may = np.zeros(E.ncols, bool), np.zeros(E.nrows, bool)
    has[gb.Vector._from_store(u, gb.dtypes.BOOL).to_coo()[0]] = True
    if allow is None:
        may[:] = True
    else:
        may[gb.Vector._from_store(allow.pattern, gb.dtypes.BOOL).to_coo()[0]] = True
        may ^= allow.complement
    met = has[E.indices]
    reads = 0
    for i in np.flatnonzero(may & (np.diff(E.indptr) > 0)):
        hits = np.flatnonzero(met[E.indptr[i] : E.indptr[i + 1]])
        reads += hits[0] + 1 if hits.size else E.indptr[i + 1] - E.indptr[i]
    return may.sum(), may[rows].sum(), met.sum(), reads


@pytest.mark.parametrize("which", ["random", "hubs", "leaves"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("masked", [None, False, True])
def test_sampled_work_is_near_the_exact_one(graph, which, transposed, masked):
    """Four standard deviations of a sample, for frontiers whose degree is the mean and far from it."""
    rng = np.random.default_rng(seeds.SEED + 1)
    A = transpose_of(graph) if transposed else graph
    order = np.argsort(np.diff((graph if transposed else transpose_of(graph)).indptr), kind="stable")
    at = {"random": rng.permutation(N)[: N // 4], "hubs": order[-N // 64 :], "leaves": order[: N // 2]}[which]
    u = bitmap(at)
    allow = None if masked is None else StoredMask(bitmap(rng.permutation(N)[: N // 2]), masked)
    # A is E's transpose when `transposed`: both stand for the same E = A'
    E, by_columns = (transpose_of(A), A) if transposed else (A, transpose_of(A))
    rows, edges, frontier, reads = exact(E, u, allow)
    work = sample_work(A, transposed, E, by_columns, u, allow, True)
    alone = sample_work(A, transposed, None if transposed else A, A if transposed else None, u, allow, True)
    near = lambda share: 4 * (share * (1 - share) / tuning.CPU_SAMPLED) ** 0.5 * E.nvals + 1  # noqa: E731
    assert work.rows == rows == admitted_rows(A, transposed, allow)
    assert work.edges == pytest.approx(edges, abs=near(edges / E.nvals))
    assert work.frontier == pytest.approx(frontier, abs=near(frontier / E.nvals))
    assert work.reads == pytest.approx(reads, rel=0.35)
    for name in ("edges", "frontier"):  # from the one orientation that is stored
        assert getattr(alone, name) == pytest.approx(locals()[name], abs=near(locals()[name] / E.nvals)), name
    assert work.admitted == pytest.approx(edges / E.nvals, abs=near(edges / E.nvals) / E.nvals)


def test_a_frontier_of_hubs_is_not_taken_for_one_of_mean_degree(graph):
    """The share of the entries is sampled, not the share of the vertices."""
    order = np.argsort(np.diff(graph.indptr))
    hubs = bitmap(order[-N // 32 :])
    work = sample_work(graph, True, transpose_of(graph), graph, hubs, None, False)
    assert work.frontier > 6 * hubs.nvals * graph.nvals / N
    assert work.frontier == pytest.approx(np.diff(graph.indptr)[order[-N // 32 :]].sum(), rel=0.1)


def test_the_frontier_is_counted_along_the_orientation_of_the_product():
    """Rows of length 40 and columns of length 1 in 40: E u by columns reads one entry a column, E' u forty."""
    n = 4000
    rows = np.repeat(np.arange(100), 40)
    A = compressed(100, n, gb.dtypes.BOOL, rows, np.arange(n, dtype=np.int32), np.ones(1, bool), True)
    AT = transpose_of(A)
    u = bitmap(np.arange(50), 100)
    few = vector(np.random.default_rng(1), n, 20, gb.dtypes.BOOL, "sparse")
    assert edges_of(AT, few) == 20
    assert estimate_work(A, False, A, AT, few, None).frontier == 20
    assert sample_work(A, False, A, AT, few, None, False).frontier == 20
    assert sample_work(A, True, AT, A, u, None, False).frontier == pytest.approx(50 * 40, rel=0.1)


@pytest.mark.parametrize("transposed", [False, True])
def test_the_costs_of_a_plan_are_those_of_its_orientation(graph, transposed):
    """A list is counted along the columns of E, a mask that is a list along its rows."""
    E = transpose_of(graph) if transposed else graph
    columns, rows = np.diff(transpose_of(E).indptr), np.diff(E.indptr)
    u = vector(np.random.default_rng(3), N, 300, gb.dtypes.BOOL, "sparse")
    listed = vector(np.random.default_rng(4), N, 200, gb.dtypes.BOOL, "sparse")
    figures = choose_matvec(graph, transposed, u, StoredMask(listed), MIN_PLUS, Engines()).figures
    work = estimate_work(graph, transposed, E, transpose_of(E), u, StoredMask(listed))
    assert (work.frontier, work.edges) == (columns[u.indices].sum(), rows[listed.indices].sum())
    assert figures[:2] == (row_wise_ns(work, u, False, True), column_wise_ns(work, u, StoredMask(listed), True))


def test_long_lists_are_scaled_up_from_what_was_gathered(graph):
    degrees = np.diff(graph.indptr)
    for count in (tuning.CPU_COUNTED + 1, 3 * tuning.CPU_COUNTED - 1, N - 1):
        u = vector(np.random.default_rng(count), N, count, gb.dtypes.BOOL, "sparse")
        assert edges_of(graph, u) == pytest.approx(degrees[u.indices].sum(), rel=0.25), count
    flat = matrix(np.random.default_rng(2), N, N, 8 * N, gb.dtypes.BOOL)
    u = vector(np.random.default_rng(3), N, N - 1, gb.dtypes.BOOL, "sparse")
    assert edges_of(flat, u) == pytest.approx(flat.nvals, rel=0.03)


def test_a_hypersparse_matrix_is_sampled_by_its_own_rows():
    at = np.arange(5000) * 2**40
    A = gb.Matrix.from_coo(at, np.arange(5000) % 70, True, nrows=2**60, ncols=70)._store
    sample = sample_of(A)
    assert set(sample.rows.tolist()) <= set(at.tolist()) and (sample.degrees == 1).all()
    u = bitmap(np.arange(35), 70)
    assert sample_work(A, False, A, None, u, None, False).frontier == pytest.approx(2500, abs=200)
    none = StoredMask(SparseVector(2**60, gb.dtypes.BOOL, np.zeros(0, np.int64), np.ones(0, bool)), True)
    assert admitted_rows(A, False, none) == 5000  # of 2^60


# ---------------------------------------------------------------------- what is compiled


def level(graph, count=N // 8, seed=5):
    """(frontier of hubs, complement of half the vertices): a level of a search from which both methods are possible."""
    rng = np.random.default_rng(seed)
    hubs = np.argsort(np.diff(graph.indptr))[-count:]
    return bitmap(hubs), StoredMask(bitmap(rng.permutation(N)[: N // 2]), True)


def plan_of(A, u, allow, semiring, engines, transposed=False):
    A.forms.pop("last_method", None)
    return choose_matvec(A, transposed, u, allow, semiring, engines)


def test_the_method_that_is_compiled_is_taken_and_the_other_one_s_saving_counted(graph):
    u, allow = level(graph)
    both = plan_of(graph, u, allow, ANY_PAIR, Engines())
    assert both.method == "rows"  # one look a row
    engines = Engines(matvec_rows=False)
    plan = plan_of(graph, u, allow, ANY_PAIR, engines)
    work = sample_work(graph, False, graph, transpose_of(graph), u, allow, True)
    slow = row_wise_ns(work, u, True, False)
    assert slow > plan.figures[1] and plan.method == "cols"
    assert [name for name, _ in engines.savings] == ["matvec_rows"]
    saved = column_wise_ns(work, u, allow, True, True) - row_wise_ns(work, u, True, True)
    assert engines.savings[0][1] == pytest.approx(saved * 1e-9)


def test_nothing_is_counted_for_a_kernel_that_is_ready_or_that_would_not_be_taken(graph):
    u, allow = level(graph)
    for ready in ({}, {"matvec_cols": False}, {"matvec_cols": None}):
        engines = Engines(**ready)
        assert plan_of(graph, u, allow, ANY_PAIR, engines).method == "rows"
        assert engines.savings == []


def test_without_kernels_the_times_of_numpy_decide(graph):
    """NumPy stops no row early: it reads every entry, so that half the vertices are pushed."""
    u = bitmap(np.random.default_rng(6).permutation(N)[: N // 2])
    for ready, method in ((True, "rows"), (None, "cols")):
        engines = Engines(matvec_rows=ready, matvec_cols=ready)
        assert plan_of(graph, u, None, ANY_PAIR, engines).method == method
        assert engines.savings == []


def test_a_transpose_costs_what_it_costs_now():
    """Saved time is compared with the price of the transpose as it would be made: compiled or by NumPy."""
    made = {}
    for ready in (True, False):
        A = skewed(np.random.default_rng(seeds.SEED + 7))
        u = bitmap(np.arange(2, 800, 97))
        plan = choose_matvec(A, False, u, None, MIN_PLUS, Engines(transpose=ready))
        assert (plan.method, plan.rule) == ("rows", "only_orientation")
        price = tuning.CPU_TRANSPOSE_NS if ready else tuning.NUMPY_TRANSPOSE_NS
        assert plan.figures[2] == A.nvals * price
        saved = plan.figures[0] - plan.figures[1]
        assert plan.figures[3] == saved and f"{saved:.0f} ns are saved up" in plan.reason
        assert saved > 0 and A.forms["transpose_counter"] == pytest.approx(saved)
        made[ready] = 1
        while plan.method == "rows":
            made[ready] += 1
            plan = choose_matvec(A, False, u, None, MIN_PLUS, Engines(transpose=ready))
        assert made[ready] == -(-A.nvals * price // saved)
    assert made[False] > 3 * made[True]


def test_the_stored_orientation_that_is_cheaper_saves_nothing_up():
    """A full vector is read by rows; a product of the transpose with a short list by the rows of A: no transpose."""
    A = skewed(np.random.default_rng(seeds.SEED + 8))
    full = to_bitmap(vector(np.random.default_rng(1), N, N, gb.dtypes.FP64, "full"))
    few = vector(np.random.default_rng(1), N, 3, gb.dtypes.FP64, "sparse")
    for _ in range(50):
        assert choose_matvec(A, False, full, None, MIN_PLUS, Engines()).method == "rows"
        assert choose_matvec(A, True, few, None, MIN_PLUS, Engines()).method == "cols"
    assert not A.forms.get("transpose_counter")
    methods = [choose_matvec(A, True, full, None, MIN_PLUS, Engines()).method for _ in range(400)]
    assert methods[0] == "cols" and methods[-1] == "rows"


def test_hysteresis_holds_in_both_directions(graph):
    """Near the switch the method of the last call stays, whichever it was and whichever is cheaper."""
    kept = set()
    for count in range(200, N, 50):
        u = bitmap(np.random.default_rng(9).permutation(N)[:count])
        rows, columns = plan_of(graph, u, None, MIN_PLUS, Engines()).figures[:2]
        if not 1 / tuning.HYSTERESIS < rows / columns < tuning.HYSTERESIS:
            continue
        for last in ("rows", "cols"):
            graph.forms["last_method"] = last
            plan = choose_matvec(graph, False, u, None, MIN_PLUS, Engines())
            assert plan.method == last
            kept.add((last, plan.rule))
    assert {("rows", "same_as_last"), ("cols", "same_as_last")} <= kept


# ---------------------------------------------------------------------- the matrix product, and a device


def test_the_transpose_that_is_missing_is_charged_to_the_method_that_needs_it():
    rng = np.random.default_rng(seeds.SEED + 10)
    A, B, mask = (matrix(rng, 500, 500, 5000, gb.dtypes.FP64) for _ in range(3))
    op = gb.semiring.plus_pair["INT64"]
    price = B.nvals * tuning.MATMUL_TRANSPOSE
    figures = lambda bt: choose_matmul(A, False, B, bt, StoredMask(mask), op).figures  # noqa: E731
    before = {bt: figures(bt) for bt in (False, True)}
    transpose_of(B)
    for bt, which in ((False, 0), (True, 1)):  # dots need B by columns, rows need it by rows
        after = figures(bt)
        assert before[bt][which] - after[which] == pytest.approx(price)
        assert before[bt][1 - which] == after[1 - which]


class _Device(Engines):
    profile = H200

    def edges_of(self, A, u, at_most=False):
        return min(u.nvals * np.diff(A.indptr).max(), A.nvals) if at_most else edges_of(A, u)


def test_a_device_weighs_the_complement_of_the_mask(wide):
    """A mask of nearly all positions leaves few rows to its complement, and nearly all without it."""
    rng = np.random.default_rng(seeds.SEED + 11)
    A = wide
    u = bitmap(rng.permutation(N)[: N // 4])
    most = bitmap(rng.permutation(N)[: N - N // 64])
    figures = {
        complement: choose_on_gpu(A, False, u, StoredMask(most, complement), False, _Device()).figures
        for complement in (False, True)
    }
    more = A.nvals * (1 - 2 / 64) * tuning.GPU_ENTRY_NS * tuning.GPU_LOOK_UP
    assert figures[False][0] - figures[True][0] == pytest.approx(more, rel=0.01)
    assert figures[True][1] == figures[False][1]


def test_the_plan_of_equal_figures_is_repeated_in_all_it_says(wide):
    """Method, rule, figures and note; another vector's edges, another mask or another method are weighed anew."""
    rng = np.random.default_rng(seeds.SEED + 13)
    A = wide
    backend, told = _Device(), []
    backend.profile = profile_of("half", 66, 2150.0)
    few, more = bitmap(rng.permutation(N)[:64]), bitmap(rng.permutation(N)[: N // 2])
    allow = bitmap(rng.permutation(N)[:99])
    for u, mask, early in (
        (few, None, False), (more, None, False), (few, None, True), (few, StoredMask(allow), False),
        (few, StoredMask(allow, True), False),
    ):  # fmt: skip
        plans = [choose_on_gpu(A, False, u, mask, early, backend) for _ in range(2)]
        told += [(plan.method, plan.rule, plan.figures, plan.note, plan.format, plan.operation) for plan in plans]
        assert told[-1] == told[-2] and backend.profile.note == plans[1].note != ""
    assert len(set(told[::2])) == 5


def test_edges_are_counted_on_a_device_only_where_they_may_reverse_the_choice(wide, monkeypatch):
    """Columns cost less than rows, but would not if all were as long as the longest; rows cost more than the count."""
    rng = np.random.default_rng(seeds.SEED + 14)
    A, A_T = wide, transpose_of(wide)
    u, full = bitmap(rng.permutation(N)[: N // 64]), bitmap(np.arange(N))
    asked, most = [], [float(A.nvals)]

    class Counting(_Device):
        def edges_of(self, A, u, at_most=False):
            if at_most:
                return most[0]
            asked.append(A)
            return edges_of(A, u)

    def counted(transposed=False, u=u):
        asked.clear()
        A.forms.pop("last_plan", None), A.forms.pop("last_method", None)
        choose_on_gpu(A, transposed, u, None, False, Counting())
        assert all(matrix is (A if transposed else A_T) for matrix in asked)
        return len(asked) == 1

    costs = costs_of(A, A, None, False, False, H200, True)
    rows, columns = (lambda edges: costs.rows(edges, N)), (lambda edges: costs.columns(edges, u.nvals))
    mean = u.nvals * A.nvals / N
    assert columns(mean) < rows(mean)
    equal = (rows(mean) - columns(0)) / costs.edge_ns  # rows cost the same whatever the edges: no row stops early
    limit = rows(mean) - costs.fixed_ns
    monkeypatch.setattr(tuning, "GPU_COUNT_EDGES_NS", limit * 0.99)
    for most[0], wanted in ((equal * 1.01, True), (equal * 0.99, False)):
        assert counted() == counted(transposed=True) == wanted
    most[0] = equal * 1.01
    monkeypatch.setattr(tuning, "GPU_COUNT_EDGES_NS", limit * 1.01)
    assert not counted()
    monkeypatch.setattr(tuning, "GPU_COUNT_EDGES_NS", 0.0)
    assert counted() and not counted(u=full)


def test_a_mask_that_admits_half_costs_more_than_one_that_admits_nearly_all():
    """A branch that is taken at random is mispredicted, one that is nearly always taken is not."""
    u, allow = bitmap(np.arange(0, N, 3)), StoredMask(bitmap(np.arange(0, N, 2)))
    half, most = (Work(N, 1e6, 1e6, 1e6, 0.3, admitted) for admitted in (0.5, 0.99))
    none = column_wise_ns(half, u, None, True)
    assert none < column_wise_ns(most, u, allow, True) < column_wise_ns(half, u, allow, True)


def test_an_iso_product_pays_for_no_branch_of_its_mask():
    """Its kernel sets bits without testing the mask, which whole words meet afterwards."""
    A = skewed(np.random.default_rng(seeds.SEED + 9))
    u, allow = bitmap(np.arange(0, N, 3)), StoredMask(bitmap(np.arange(0, N, 2)))
    half = Work(N, 1e6, 1e6, 1e6, 0.3, 0.5)
    assert column_wise_ns(half, u, allow, True, True) == column_wise_ns(half, u, None, True, True)
    assert column_wise_ns(half, u, allow, True, True) < column_wise_ns(half, u, allow, True, False) / 2
    transpose_of(A)
    costs = {}
    for semiring in (ANY_PAIR, gb.semiring.plus_pair["INT64"]):  # sums of the second differ
        A.forms.pop("last_method", None)
        costs[semiring] = choose_matvec(A, True, u, allow, semiring, Engines()).figures[1]
    assert 2 * costs[ANY_PAIR] < costs[gb.semiring.plus_pair["INT64"]]


@pytest.mark.parametrize("transposed", [False, True])
def test_a_small_matrix_is_pushed_from_lists_and_pulled_from_bitmaps_without_estimates(transposed):
    rng = np.random.default_rng(seeds.SEED + 11)
    A = matrix(rng, 300, 300, 2000, gb.dtypes.FP64)
    few, half = (vector(rng, 300, count, gb.dtypes.FP64, form) for count, form in ((5, "sparse"), (150, "bitmap")))
    assert {choose_matvec(A, transposed, half, None, MIN_PLUS).method for _ in range(100)} == {
        "cols" if transposed else "rows"
    }
    transpose_of(A)
    full = vector(rng, 300, 300, gb.dtypes.FP64, "full")
    cases = (few, MIN_PLUS, "cols"), (half, MIN_PLUS, "cols"), (half, ANY_PAIR, "rows"), (full, MIN_PLUS, "rows")
    for u, semiring, method in cases:
        plan = choose_matvec(A, transposed, u, None, semiring, Engines())
        assert (plan.method, plan.rule) == (method, "matrix_small")


def test_a_small_matrix_of_columns_gets_a_transpose_for_full_sums_in_the_end():
    """Sums of full vectors by rows are faster than by columns; products whose rows are not, keep the columns."""
    rng = np.random.default_rng(seeds.SEED + 13)
    A = matrix(rng, 900, 900, 3000, gb.dtypes.FP64)
    full = vector(rng, 900, 900, gb.dtypes.FP64, "full")
    plus_times = gb.semiring.plus_times["FP64"]
    assert {choose_matvec(A, True, full, None, MIN_PLUS, Engines()).method for _ in range(300)} == {"cols"}
    methods = [choose_matvec(A, True, full, None, plus_times, Engines()).method for _ in range(300)]
    price = tuning.NUMPY_CALL_NS + A.nvals * tuning.NUMPY_TRANSPOSE_NS
    assert methods.index("rows") + 1 == -(-price // (A.nvals * (tuning.CPU_SUM_NS - tuning.CPU_ENTRY_NS)))
    assert set(methods[methods.index("rows") :]) == {"rows"}


def test_settled_choices_are_those_of_the_general_rule():
    """Settled keeps what a choice reads of kinds; each plan is that of choose_matvec on a matrix of its own."""
    rng = np.random.default_rng(seeds.SEED + 14)
    sure = 0
    made = [matrix(np.random.default_rng(seeds.SEED + 15), 3000, 3000, 40_000, gb.dtypes.FP64) for _ in range(2)]
    for both in (False, True):
        for A in made if both else ():
            transpose_of(A)
        for semiring, transposed, masked in itertools.product((MIN_PLUS, ANY_PAIR), (False, True), (None, True, False)):
            for form, counts in (("sparse", (1, 40, 150)), ("bitmap", (900, 900, 2000)), ("full", (3000, 3000))):
                settled = None
                for count in counts:
                    u = vector(rng, 3000, count, gb.dtypes.FP64, form)
                    allow = None if masked is None else StoredMask(bitmap(np.arange(0, 3000, 2), 3000), masked)
                    settled = settled or Settled(made[0], u, semiring)
                    found = settled.choose(made[0], transposed, cached_transpose(made[0]), u, allow, Engines())
                    want = choose_matvec(made[1], transposed, u, allow, semiring, Engines())
                    if found.rule == "columns_surely":  # its figures are bounds of the other's
                        sure += 1
                        rows, columns = found.figures[:2]
                        here, there = want.figures[:2] if want.rule == "only_orientation" else want.figures[1::-1]
                        assert want.method == "cols" and columns >= here and rows <= there
                        continue
                    assert (found.method, found.rule, found.figures) == (want.method, want.rule, want.figures)
    assert sure > 5


def test_a_small_matrix_of_rows_gets_a_transpose_for_lists_in_the_end():
    """Each product of a list reads every row in vain: after as many as a transpose costs, it is made."""
    rng = np.random.default_rng(seeds.SEED + 12)
    A = matrix(rng, 3000, 3000, 4000, gb.dtypes.FP64)
    few = vector(rng, 3000, 5, gb.dtypes.FP64, "sparse")
    methods = [choose_matvec(A, False, few, None, MIN_PLUS, Engines()).method for _ in range(50)]
    vain = 3000 * tuning.CPU_LOOKED_ROW_NS + A.nvals * tuning.CPU_LOOK_UP_NS
    price = tuning.NUMPY_CALL_NS + A.nvals * tuning.NUMPY_TRANSPOSE_NS
    assert methods.index("cols") + 1 == -(-price // vain)
    assert set(methods[methods.index("cols") :]) == {"cols"}


class _Tiled(_Device):
    """A device whose matrices have tiles of `fill` entries."""

    def __init__(self, fill, longest):
        super().__init__()
        self.facts = fill, longest

    def tile_facts(self, A):
        return self.facts


@pytest.mark.parametrize(
    ("fill", "longest", "count", "sorts", "chosen"),
    [
        (40.0, 8, N // 100, True, "tiled"),
        (40.0, 8, N // 100, False, "csr"),  # atomics merge the columns
        (3.0, 8, N // 100, True, "csr"),  # the tiles are nearly empty
        (40.0, 10_000, N // 100, True, "csr"),  # a lane multiplies the longest row
        (40.0, 80, N // 2, True, "csr"),  # all tiles meet x: rows read less
    ],
)
def test_tiles_serve_values_without_an_atomic(fill, longest, count, sorts, chosen, monkeypatch):
    """Once the tiles are paid for; the first products are by rows, which cost less than sorting."""
    monkeypatch.setattr(tuning, "TILES_ENTRIES", 1)
    n, degree = N, 80
    columns = (np.arange(n)[:, None] + np.arange(degree) * (n // degree)) % n
    columns.sort(axis=1)
    A = compressed(
        n, n, gb.dtypes.FP64, np.arange(n).repeat(degree), columns.ravel().astype(np.int32), np.ones(1), True
    )
    transpose_of(A)
    at = np.arange(0, N, N // count)[:count].astype(np.int32)
    u, backend = SparseVector(N, gb.dtypes.FP64, at, np.ones(count)), _Tiled(fill, longest)
    plans = [choose_on_gpu(A, False, u, None, False, backend, sorts) for _ in range(200)]
    assert plans[-1].format == chosen
    if chosen == "tiled":
        assert plans[0].format == "csr" and plans[0].method == plans[-1].method == "rows"
        assert plans[-1].rule == "tiles_cheaper" and "no atomic" not in plans[-1].reason and plans[-1].reason
    if not sorts:
        assert plans[-1].method == "cols"
