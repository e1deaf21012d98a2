"""Products with few rows and columns over windows of inner indices (backends/cuda/products/inner_windows.py), their
kernels run as fibers, against the NumPy backend."""

import numpy as np
import pytest
from backends import agree, samples

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.operators import get_typed_op
from grb_tile.planner import explain, force, tuning
from grb_tile.planner.choose_inner import choose_inner
from grb_tile.storage import convert
from grb_tile.storage.place import host
from support import seeds

NUMPY = select.named("numpy")
SEMIRINGS = [  # sums with and without a start value; any; structure only; a terminal; positional; 1, 2, 16 bytes
    ("plus_times", "FP64"), ("times_times", "FC64"), ("any_second", "FP64"), ("any_pair", "BOOL"), ("min_plus", "FP32"),
    ("lor_land", "BOOL"), ("max_secondj1", "INT64"), ("plus_firsti", "INT64"), ("plus_minus", "INT16"),
    ("plus_pair", "INT64"), ("plus_first", "FP64"), ("max_second", "FP64"), ("plus_times", "FC64"),
]  # fmt: skip
SAMPLE = ("plus_times", "FP64"), ("lor_land", "BOOL")
FORMS = [(False, False), (False, True), (True, False), (True, True)]  # is A, B given as its transpose?


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def lines(rng, nrows, ncols, dtype, share):
    """A matrix whose entries are there with probability `share`; its first line is empty."""
    rows, cols = (rng.random((nrows, ncols)) < share).nonzero()
    rows, cols = rows[rows > 0], cols[rows > 0]
    return convert.compressed(nrows, ncols, dtype, rows, cols, samples.values(rng, dtype, rows.size))


def compare(A, at, B, bt, semiring):
    """The product by windows against NumPy's."""
    with force("inner_windows"):
        C, plan = shim().matmul_inner(A, at, B, bt, semiring)
    assert plan.kernel == "inner_windows" and plan.note.endswith("entries"), str(explain(1))
    left, right = NUMPY.transpose(A) if at else A, NUMPY.transpose(B) if bt else B
    got, want = host(C), NUMPY.matmul(left, right, semiring, None)
    if semiring.name.startswith("any_second"):  # any of the products: the positions agree
        one = get_typed_op("one", want.dtype, kind="unary")
        got, want = NUMPY.apply(got, one), NUMPY.apply(want, one)
    agree.assert_same(got, want)
    return got


@pytest.mark.parametrize(
    ("name", "type_"),
    [pytest.param(*one, marks=() if one in SAMPLE else pytest.mark.slow) for one in SEMIRINGS],
)
def test_every_form_of_the_operands(name, type_):
    """Several panels, the last one with fewer lines; windows without entries."""
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(len(name), semiring.type.rank)
    A, B = lines(rng, 11, 300, semiring.type, 0.3), lines(rng, 6, 300, semiring.type2, 0.2)
    for at, bt in FORMS:
        left, right = NUMPY.transpose(A) if at else A, B if bt else NUMPY.transpose(B)
        left.forms = right.forms = None  # nothing is cached
        before = agree.snapshot(left, right)
        compare(left, at, right, bt, semiring)
        assert agree.snapshot(left, right) == before


@pytest.mark.parametrize("at", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["plus_times", pytest.param("plus_minus", marks=pytest.mark.slow),
                                  pytest.param("max_second", marks=pytest.mark.slow)])  # fmt: skip
def test_a_matrix_times_its_transpose(name, at):
    """The windows are loaded once; a commutative multiply gives a symmetric C."""
    semiring = get_typed_op(name, dtypes.FP64, kind="semiring")
    for size in (3, 13):
        A = lines(rng_of(size, at), size, 400, semiring.type, 0.25)
        A = NUMPY.transpose(A) if at else A
        C = compare(A, at, A, not at, semiring)
        if name == "plus_times":
            CT = NUMPY.transpose(C)
            assert np.array_equal(C.values, CT.values, equal_nan=True) and np.array_equal(C.indices, CT.indices)
    left = convert.compressed(A.nrows, A.ncols, A.dtype, *NUMPY.tuples(A))
    compare(left, at, NUMPY.transpose(left), at, semiring)  # its transpose is cached with it


@pytest.mark.slow
def test_one_value_and_stored_rows():
    """Iso operands; rows of A and of B' that are a few of 2^60."""
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(8)
    A, B = (lines(rng, 5, 300, dtypes.FP64, 0.4) for _ in range(2))
    names = np.unique(rng.integers(0, 1 << 60, 9))[:5]
    for X in (A, B):
        X.values, X.iso = np.full(1, 1.5), True
    compare(A, False, B, True, semiring)
    A, B = (
        convert.compressed(1 << 60, 300, X.dtype, names[r], c, samples.values(rng, X.dtype, r.size))
        for X in (A, B) for r, c, _ in (NUMPY.tuples(X),)
    )  # fmt: skip
    assert A.rows is not None
    with force("inner_windows"):
        C, _ = shim().matmul_inner(A, False, B, True, semiring)
    agree.assert_same(host(C), NUMPY.matmul(A, NUMPY.transpose(B), semiring, None))


def test_what_is_selected_of_the_product():
    A = gb.Matrix._from_store(lines(rng_of(9), 6, 300, dtypes.FP64, 0.3), dtypes.FP64)
    with using_shim(), force("inner_windows"):
        whole = A.mxm(A.T, "plus_times").new()
        below = A.mxm(A.T, "plus_times").select("tril", -1).new()
        assert "inner_windows" in str(explain(1))
    assert 0 < below.nvals < whole.nvals and below.isequal(whole.select("tril", -1).new())


def test_a_terminal_value_ends_the_blocks():
    """Every entry of C is there after the first window, so that the others are not read."""
    semiring = get_typed_op("any_pair", dtypes.BOOL, kind="semiring")
    A = lines(rng_of(4), 5, 3000, dtypes.BOOL, 1.0)
    C = compare(A, False, A, True, semiring)
    assert C.nvals == 16


def test_chosen_for_few_rows_and_columns(monkeypatch):
    """By cost; not where C is large, where a kernel is forced, or for what is smaller than a launch."""
    A = lines(rng_of(5), 8, 5000, dtypes.FP64, 0.9)
    big = lines(rng_of(6), 200, 500, dtypes.FP64, 0.5)
    assert choose_inner(A, False, A, True).kernel == "inner_windows"
    assert choose_inner(big, False, big, True) is None
    with force("two_phases"):
        assert choose_inner(A, False, A, True) is None
    with force("inner_windows"):
        assert choose_inner(big, False, big, True) is None
        small = lines(rng_of(7), 3, 30, dtypes.FP64, 1.0)
        assert choose_inner(small, False, small, True) is not None
    monkeypatch.setattr(tuning, "GPU_INNER_STEP_NS", 1e9)
    assert choose_inner(A, False, A, True) is None


def test_calls_form_no_transpose(monkeypatch):
    """A A', and B' B for B = A', with lazy transposes, and the sum of C; the plan names the kernel."""
    A = gb.Matrix._from_store(lines(rng_of(21), 6, 3000, dtypes.INT64, 0.9), dtypes.INT64, "A")
    op = gb.semiring.plus_times
    want = A.mxm(A.T, op).new()
    total = int(A.mxm(A.T, op).reduce_scalar(gb.monoid.plus).new().value)
    with using_shim():
        A = gb.Matrix._from_store(A._store, dtypes.INT64, "A")
        AT = A.T.new()
        AT._store.forms = A._store.forms = None
        monkeypatch.setattr(shim(), "transpose", None)  # a call of it fails
        for product in (A.mxm(A.T, op), AT.T.mxm(AT, op)):
            assert product.new().isequal(want)
            (plan,) = explain().plans
            assert plan.kernel == "inner_windows" and plan.seconds > 0
        assert int(A.mxm(A.T, op).reduce_scalar(gb.monoid.plus).new().value) == total
