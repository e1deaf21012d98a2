"""Products of matrix and vector on the CUDA backend, their kernels run as fibers, against the NumPy backend."""

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import shim
from grb_tile import binary, dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import column_launch, columns, pull, row_schedule
from grb_tile.operators import Monoid, get_typed_op
from grb_tile.operators.semiring import Semiring
from grb_tile.planner import record_plan, tuning
from grb_tile.storage import convert
from grb_tile.storage.constructors import iso_like
from grb_tile.storage.place import host
from grb_tile.storage.store import SparseVector, StoredMask
from support import seeds

NUMPY = select.named("numpy")
PRESENCE = "asked", "later", "hot"
SEMIRINGS = [
    ("plus_times", "FP64"), ("plus_times", "INT8"), ("min_plus", "FP32"), ("plus_first", "FP32"), ("plus_second",
    "INT32"),
    ("lor_land", "BOOL"), ("any_pair", "BOOL"), ("min_firstj1", "INT32"), ("plus_times", "FC64"), ("plus_times",
    "FC32"),
    ("any_second", "FC64"), ("max_secondj", "INT64"), ("lxor_eq", "INT8"), ("any_secondi", "INT64"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def detours():
    """No product of plain types may go through the host."""
    shim().detours.clear()
    yield
    assert not shim().detours


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def semiring_of(name, type_):
    return get_typed_op(name, getattr(dtypes, type_), kind="semiring")


def mask_for(rng, make):
    which = int(rng.integers(4))
    return None if which == 0 else StoredMask(make(), complement=which == 1)


def operand_type(rng, wanted):
    return wanted if rng.integers(4) else samples.choice(rng, samples.TYPES)


def case(rng, semiring, huge_rows=False, huge_cols=False):
    rows, cols = samples.dimension(rng, huge_rows), samples.dimension(rng, huge_cols)
    A = samples.random_matrix(rng, rows, cols, operand_type(rng, semiring.type))
    x = samples.random_vector(rng, cols, operand_type(rng, semiring.type2))
    allow = mask_for(rng, lambda: samples.random_vector(rng, rows, dtypes.BOOL))
    return A, x, allow


@pytest.fixture
def presence(request, monkeypatch):
    """Sums by columns ask every atomic whether its row is new, or all sums are read once more, those of some rows
    summed up
    in shared memory first."""
    if request.param != "asked":
        monkeypatch.setattr(tuning, "MANY_EDGES", 0)
        monkeypatch.setattr(tuning, "EDGES_OF_POSITION", 1 << 60)
    if request.param == "hot":
        for name, value in (
            ("HUB_EDGES", 0),
            ("BUILD_AFTER", 1),
            ("LONG_COLUMN", 0),
            ("SCAN_ALL", (0, 0)),
        ):
            monkeypatch.setattr(tuning, name, value)
        monkeypatch.setattr(column_launch, "HIGH_DEGREE_BYTES", 640)
    return request.param


def same_places(got, want):
    """`any` may take any of the products: the places agree."""
    one = get_typed_op("one", want.dtype, kind="unary")
    agree.assert_same(NUMPY.apply(host(got), one), NUMPY.apply(want, one))


def check(A, x, semiring, allow):
    want = NUMPY.matvec_rows(A, x, semiring, allow)
    before = agree.snapshot(A, x)
    same = same_places if semiring.name.startswith("any_second") else agree.assert_same
    same(shim().matvec_rows(A, x, semiring, allow), want)
    same(shim().matvec_cols(convert.transpose_of(A), x, semiring, allow), want)
    assert agree.snapshot(A, x) == before


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize(("name", "type_"), SEMIRINGS)
def test_both_methods(name, type_, turn):
    semiring = semiring_of(name, type_)
    rng = rng_of(turn, len(name), semiring.type.rank)
    check(*_with(semiring, case(rng, semiring, turn == 2, turn == 3)))


def _with(semiring, found):
    A, x, allow = found
    return A, x, semiring, allow


@pytest.mark.usefixtures("presence")
@pytest.mark.parametrize(
    ("name", "presence"),
    [
        *(("plus_times", way) for way in PRESENCE),
        *((name, "asked") for name in ("min_plus", "any_pair", "any_second", "lor_land")),
    ],
    indirect=["presence"],
)
def test_long_rows_are_cut_into_pieces(name, monkeypatch):
    monkeypatch.setitem(row_schedule.LONGEST, "all", (2, 4, 6, 8, 16, 32))
    monkeypatch.setitem(row_schedule.LONGEST, "early", (2, 4, 6, 8, 16, 32))
    monkeypatch.setattr(tuning, "SCAN_ALL", (7, 7))
    monkeypatch.setattr(tuning, "LISTED_NS", 0)
    monkeypatch.setattr(tuning, "LONG_COLUMN", 32)
    rng = rng_of(len(name), 7)
    semiring = semiring_of(name, "BOOL" if name == "lor_land" else "FP64")
    dims = (150, np.arange(150)), (170, np.arange(170))
    A = samples.random_matrix(rng, *dims, semiring.type, 0.02)
    rows, cols, values = NUMPY.tuples_matrix(A)
    extra = np.arange(170)
    full = np.concatenate([rows, np.zeros(170, np.int64), np.full(85, 149)])
    columns = np.concatenate([cols, extra, extra[::2]])
    numbers = np.concatenate([values, samples.values(rng, semiring.type, 255)])
    A = NUMPY.build_matrix(150, 170, full, columns, numbers, binary.any[semiring.type], semiring.type)
    for share in (0.05, 0.5, 1.0):
        x = samples.random_vector(rng, dims[1], semiring.type2, share)
        for allow in (None, StoredMask(samples.random_vector(rng, dims[0], dtypes.BOOL, 0.5), share == 0.5)):
            check(A, x, semiring, allow)
            AT = convert.transpose_of(A)
            y = samples.random_vector(rng, dims[0], semiring.type2, share)
            check(AT, y, semiring, None)
        few = NUMPY.build_vector(150, np.array([0, 3, 9, 70, 149]), np.ones(1, bool), None, dtypes.BOOL)
        check(A, x, semiring, StoredMask(few))  # listed rows, the first and the last of them long


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("name", ["plus_times", "min_plus", "any_second"])
def test_a_mask_that_admits_few_rows_holds_for_long_ones(name, complement, monkeypatch):
    """The mask is a bitmap: all rows are looked at, those of several chunks too, one of which is admitted."""
    for schedule in ("all", "early"):
        monkeypatch.setitem(row_schedule.LONGEST, schedule, (2, 4, 6, 8, 16, 32))
    semiring = semiring_of(name, "FP64")
    rng = rng_of(len(name), 17)
    size = 150
    rows = np.concatenate([np.repeat([0, 40, 149], size), np.array([3, 5, 77])])
    cols = np.concatenate([np.tile(np.arange(size), 3), np.array([5, 6, 7])])
    values = samples.values(rng, semiring.type, rows.shape[0])
    A = NUMPY.build_matrix(size, size, rows, cols, values, binary.any[semiring.type], semiring.type)
    listed = np.flatnonzero(np.isin(np.arange(size), [3, 40, 77]) != complement)
    held = NUMPY.build_vector(size, listed, np.ones(1, bool), None, dtypes.BOOL)
    allow = StoredMask(convert.to_bitmap(held), complement)
    monkeypatch.setattr(tuning, "STREAMED_MASK", 2)  # of the rows: no mask admits as many
    for share in (0.5, 1.0):
        x = samples.random_vector(rng, (size, np.arange(size)), semiring.type2, share)
        check(A, x, semiring, allow)


@pytest.mark.parametrize(
    ("name", "type_"), [("plus_times", "FP64"), ("min_plus", "INT8"), ("any_pair", "BOOL"), ("any_first", "FP32")]
)
def test_columns_leave_the_kept_accumulator_clean(name, type_, monkeypatch):
    """A result of few entries is packed out of the accumulator, which the next product finds as if it were new."""
    monkeypatch.setattr(tuning, "LIST_NS", 0)
    monkeypatch.setattr(columns, "PART", 2)
    semiring = semiring_of(name, type_)
    rng = rng_of(len(name), 11)
    dims = (900, np.arange(900)), (700, np.arange(700))
    A = samples.random_matrix(rng, *dims, semiring.type, 0.002)
    AT = convert.transpose_of(A)
    kept = 0
    for turn in range(4):
        x = samples.random_vector(rng, dims[1], semiring.type2, 0.01 if turn < 3 else 0.9)
        for allow in (None, StoredMask(samples.random_vector(rng, dims[0], dtypes.BOOL, 0.5), turn % 2 == 1)):
            want = NUMPY.matvec_rows(A, x, semiring, allow)
            got = shim().matvec_cols(AT, x, semiring, allow)
            agree.assert_same(got, want)
            kept += any(x.item for x in shim().device._kept.values())  # not when the result took its arrays along
    assert kept >= 4


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    "name",
    ["any_second", *(pytest.param(name, marks=pytest.mark.slow) for name in ("any_pair", "any_first", "lor_land"))],
)  # the quick one reads the value of the entry that was found
def test_rows_that_end_at_their_first_product(name, wide, monkeypatch):
    """Short, long and very long rows, by their highest-degree neighbours (the transpose is cached) and without them."""
    monkeypatch.setattr(pull, "LIMIT", 64)
    monkeypatch.setattr(pull, "HUGE", 300)
    monkeypatch.setattr(pull, "GROUPS_OF_4", 0 if wide else 1 << 40)
    rng = rng_of(len(name), wide, 8)
    semiring = semiring_of(name, "BOOL" if name == "lor_land" else "INT32")
    n, m = 300, 900
    lengths = rng.choice([0, 1, 3, 6, 40, 70, 200, 850], n)
    rows = np.repeat(np.arange(n), lengths)
    cols = np.concatenate([np.sort(rng.permutation(m)[:count]) for count in lengths])
    values = (
        np.ones(1, semiring.type.np_type) if name == "lor_land" else samples.values(rng, semiring.type, cols.shape[0])
    )
    A = convert.compressed(n, m, semiring.type, rows, cols, values, name == "lor_land")
    for turn in range(2):
        for share in (0.003, 0.02, 0.3, 1.0):
            x = samples.random_vector(rng, (m, np.arange(m)), semiring.type2, share)
            if name == "lor_land":
                x = iso_like(x, dtypes.BOOL, True)
            for allow in (
                None,
                StoredMask(samples.random_vector(rng, (n, np.arange(n)), dtypes.BOOL, 0.5), share != 0.3),
            ):
                got, want = shim().matvec_rows(A, x, semiring, allow), NUMPY.matvec_rows(A, x, semiring, allow)
                same_places(got, want)
                products_of(got, A, x, name)
        if turn == 0:
            A.forms.pop(("device", shim().device.number))
            on_device = shim().store_to_device(A)
            shim().transpose(on_device)


@pytest.mark.parametrize("wide", [False, True])
def test_one_column_at_a_time_is_found_wherever_it_stands_in_a_row(wide, monkeypatch):
    """Of each column alone, whichever rank it has among the row's neighbours; column 0 has every rank in some row."""
    monkeypatch.setattr(pull, "GROUPS_OF_4", 0 if wide else 1 << 40)
    rng = rng_of(wide, 18)
    n, any_pair = 24, semiring_of("any_pair", "BOOL")
    there = rng.random((4 * n, n)) < np.linspace(0.8, 0.2, n)[np.roll(np.arange(n), n // 2)]
    A = convert.compressed(4 * n, n, dtypes.BOOL, *np.nonzero(there), np.ones(1, bool), True)
    on_device = shim().store_to_device(A)
    shim().transpose(on_device)  # neighbours are ranked by it
    for column in range(n):
        x = SparseVector(n, dtypes.BOOL, np.array([column], np.int32), np.ones(1, bool), True)
        found = host(shim().matvec_rows(on_device, x, any_pair, None))
        assert NUMPY.tuples_vector(found)[0].tolist() == np.flatnonzero(there[:, column]).tolist(), column


def products_of(got, A, x, name):
    """Every value is one of the row's products."""
    indices, values = NUMPY.tuples_vector(host(got))
    have = dict(zip(*map(np.ndarray.tolist, NUMPY.tuples_vector(x)), strict=True))
    for i, value in zip(indices.tolist(), values.tolist(), strict=True):
        row = range(A.indptr[i], A.indptr[i + 1])
        met = [k for k in row if A.indices[k] in have]
        of = {"any_second": lambda k: have[A.indices[k]], "any_first": lambda k: A.values[k]}
        assert value in {of.get(name, lambda k: 1)(k) for k in met}


def test_vectors_that_settle_as_bitmaps_and_lists():
    rng = rng_of(11)
    semiring = semiring_of("plus_times", "FP64")
    n = 5000
    for count in (3, 90, 4000):
        A = convert.compressed(
            n,
            n,
            dtypes.FP64,
            np.sort(rng.permutation(n)[:count]),
            rng.integers(0, n, count),
            rng.integers(1, 5, count).astype(np.float64),
        )
        x = samples.random_vector(rng, (n, np.arange(n)), dtypes.FP64, 0.7)
        for _ in range(2):  # the second call uses the kept accumulator
            check(A, x, semiring, None)


@pytest.mark.parametrize("name", ["plus_times", "any_pair"])
def test_large_results_become_lists_from_a_kept_accumulator(name, monkeypatch):
    monkeypatch.setattr(tuning, "LIST_NS", 0)
    monkeypatch.setattr(columns, "PART", 3)
    monkeypatch.setattr(columns, "MOST_PARTS", 5)
    rng = rng_of(13, len(name))
    semiring = semiring_of(name, "FP64")
    n = 3000
    for count in (3, 40, 2000):
        A = convert.compressed(
            n,
            n,
            dtypes.FP64,
            np.sort(rng.permutation(n)[:count]),
            rng.integers(0, n, count),
            rng.integers(1, 5, count).astype(np.float64),
        )
        for _ in range(2):
            x = samples.random_vector(rng, (n, np.arange(n)), dtypes.FP64, 0.7)
            check(A, x, semiring, None)
    assert shim().matvec_cols(convert.transpose_of(A), x, semiring).nvals


@pytest.mark.usefixtures("presence")
@pytest.mark.parametrize(("few", "long"), [(0, 0), (0, 1000), (1000, 0)])
@pytest.mark.parametrize(
    ("name", "type_", "presence"),
    [
        *(
            ("plus_times", type_, way)
            for type_ in ("FP32", "FP64")
            for way in PRESENCE
            if (type_, way) != ("FP64", "asked")
        ),
        ("plus_times", "INT32", "asked"),
        ("plus_secondi", "INT64", "asked"),
        ("lor_land", "BOOL", "asked"),
        ("any_second", "FP32", "asked"),
    ],
    indirect=["presence"],
)
def test_lists_bitmaps_and_full_vectors_by_columns(name, type_, few, long, monkeypatch):
    """Sums that come back to where they started, empty columns, every form of x, masks; accumulators used again."""
    monkeypatch.setattr(tuning, "SCAN_ALL", (few, few))
    monkeypatch.setattr(tuning, "LONG_COLUMN", long)
    rng = rng_of(17, len(name), few)
    semiring = semiring_of(name, type_)
    dims = (500, np.arange(500)), (700, np.arange(700))
    A = samples.random_matrix(rng, *dims, semiring.type, 0.01)
    for share in (0.002, 0.3, 1.0):
        x = samples.random_vector(rng, dims[1], semiring.type2, share)
        for allow in (None, StoredMask(samples.random_vector(rng, dims[0], dtypes.BOOL, 0.5), share == 0.3)):
            want = NUMPY.matvec_rows(A, x, semiring, allow)
            same = same_places if semiring.name.startswith("any_second") else agree.assert_same
            for u in (convert.to_sparse(x), convert.to_bitmap(x)):
                got = shim().matvec_cols(convert.transpose_of(A), u, semiring, allow)
                assert got.nvals == want.nvals
                same(got, want)


def test_a_bitmap_that_was_not_counted_is_pushed_without_reading_back(monkeypatch):
    semiring = semiring_of("any_pair", "BOOL")
    rng = rng_of(19)
    n = np.arange(3000)
    A = samples.random_matrix(rng, (3000, n), (3000, n), dtypes.BOOL, 0.001)
    x = samples.random_vector(rng, (3000, n), dtypes.BOOL, 0.01)
    AT = shim().to_device(convert.transpose_of(A))
    first = shim().matvec_cols(AT, shim().to_device(x), semiring)
    device = shim().device
    monkeypatch.setattr(device, "read", None)
    second = shim().matvec_cols(AT, first, semiring)
    monkeypatch.undo()
    agree.assert_same(second, NUMPY.matvec_rows(A, NUMPY.matvec_rows(A, x, semiring), semiring))


@pytest.mark.usefixtures("presence")
@pytest.mark.parametrize("presence", PRESENCE, indirect=True)
def test_zeros_of_both_signs_are_entries():
    semiring = semiring_of("plus_times", "FP32")
    A = convert.compressed(
        3, 2, dtypes.FP32, np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([-0.0, -0.0, 0.0], np.float32)
    )
    x = samples.random_vector(rng_of(1), (2, np.arange(2)), dtypes.FP32, 1.0)
    x.values = np.abs(x.values)
    check(A, x, semiring, None)


@pytest.mark.usefixtures("presence")
@pytest.mark.parametrize("presence", PRESENCE, indirect=True)
def test_sums_below_the_smallest_normal_number():
    """Atomics of GPUs make zeros of them."""
    semiring = semiring_of("plus_times", "FP32")
    A = convert.compressed(
        4,
        2,
        dtypes.FP32,
        np.array([0, 1, 1, 2, 2, 3]),
        np.array([0, 0, 1, 0, 1, 1]),
        np.array([1e-40, 1.5e-38, -1.6e-38, -1e-40, 3e-40, 1e-39], np.float32),
    )
    x = samples.random_vector(rng_of(1), (2, np.arange(2)), dtypes.FP32, 1.0)
    x.values = np.ones(2, np.float32)
    check(A, x, semiring, None)
    w = host(shim().matvec_cols(convert.transpose_of(A), x, semiring))
    np.testing.assert_array_equal(
        w.values[:3], np.array([1e-40, np.float32(1.5e-38) - np.float32(1.6e-38), 2e-40], np.float32)
    )


@pytest.mark.usefixtures("presence")
@pytest.mark.parametrize("presence", PRESENCE, indirect=True)
def test_sums_that_come_and_go_below_the_smallest_normal_number():
    """Multiples of the smallest number, zeros of both signs among them: every order of adding gives the same bits."""
    semiring = semiring_of("plus_times", "FP32")
    rng = rng_of(23)
    rows, cols = np.nonzero((rng.random((90, 300)) < 0.05) | (np.arange(300) < 2))
    steps = rng.integers(-(1 << 16), 1 << 16, rows.shape[0]) * rng.choice([0, 1, 1, 8], rows.shape[0])
    steps[cols < 2] = 1 << 22  # two of one sign come to the smallest normal number
    signs = rng.choice(np.array([-1, 1], np.float32), rows.shape[0])
    values = np.ldexp(steps.astype(np.float64), -149).astype(np.float32) * signs
    A = convert.compressed(90, 300, dtypes.FP32, rows, cols, values)
    x = NUMPY.build_vector(300, np.arange(150), np.ones(150, np.float32), None, dtypes.FP32)
    want, got = NUMPY.matvec_rows(A, x, semiring), host(shim().matvec_cols(convert.transpose_of(A), x, semiring))
    for mine, theirs in zip(NUMPY.tuples_vector(got), NUMPY.tuples_vector(want), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_not_a_number_meets_no_identity():
    semiring = semiring_of("min_plus", "FP32")
    A = convert.compressed(
        3, 2, dtypes.FP32, np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([np.nan, np.nan, 2], np.float32)
    )
    x = samples.random_vector(rng_of(1), (2, np.arange(2)), dtypes.FP32, 1.0)
    check(A, x, semiring, None)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("length", [40, 90])
def test_rows_of_a_warp_stop_on_their_own(length, monkeypatch):
    """A row has the terminal value at once, its neighbours at their last entry: one lane for each row, or two."""
    monkeypatch.setattr(tuning, "READS_MOST", 2.0)  # of no matrix, so that rows are binned
    n = 70
    rows, cols = np.repeat(np.arange(n), length), np.tile(np.arange(length), n)
    for first in range(4):
        values = (cols == length - 1) | ((rows % 4 == first) & (cols < 8))
        A = convert.compressed(n, length + 1, dtypes.BOOL, rows, cols, values)
        x = convert.to_bitmap(SparseVector(length + 1, dtypes.BOOL, np.arange(length), np.ones(length, np.bool_)))
        semiring, plan = semiring_of("lor_land", "BOOL"), record_plan("matvec", "rows", "csr", "no_mask")
        got = shim().matvec_rows(A, x, semiring, None, plan)
        assert plan.kernel == "binned_rows"
        agree.assert_same(got, NUMPY.matvec_rows(A, x, semiring, None))


@pytest.mark.sampled(1)
def test_a_row_without_its_value_at_the_highest_degree_neighbour():
    """any_first of distinct values, the transpose cached: each row's is one of its own."""
    rng = rng_of(41)
    n = 200
    rows, cols = np.unique(rng.integers(0, n, (2, 900)), axis=1)
    A = convert.compressed(n, n, dtypes.INT32, rows, cols, np.arange(rows.size, dtype=np.int32))
    on_device = shim().store_to_device(A)
    shim().transpose(on_device)
    for share in (0.2, 1.0):
        x = samples.random_vector(rng, (n, np.arange(n)), dtypes.INT32, share)
        products_of(shim().matvec_rows(on_device, x, semiring_of("any_first", "INT32")), A, x, "any_first")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("type_", ["FC32", "FC64"])
def test_a_product_of_one_complex_number_is_that_number(type_):
    """times has no start: 1 times a number with an infinity, NaN or -0 among its parts is another."""
    parts = [np.inf, -np.inf, np.nan, -0.0, 0.0, 1.0]
    dtype = getattr(dtypes, type_)
    values = np.array([complex(re, im) for re in parts for im in parts], dtype.np_type)
    n = values.size
    A = convert.compressed(n, n, dtype, np.arange(n), np.arange(n), values)
    semiring = semiring_of("times_first", type_)
    for share in (0.5, 1.0):
        x = samples.random_vector(rng_of(5), (n, np.arange(n)), dtype, share)
        check(A, x, semiring, None)


def test_users_operators():
    capped = Monoid.register_anonymous(binary.register_anonymous(lambda x, y: min(x + y, 7)), 0)
    semiring = Semiring.register_anonymous(capped, binary.times)[dtypes.UINT16]
    rng = rng_of(21)
    for _ in range(4):
        check(*_with(semiring, case(rng, semiring)))
