"""Masked products that are selected from or reduced as they are computed, and rows of words, kernels run as fibers.

Against the product formed by NumPy (backends/cuda/products/epilogue.py, rows_as_words.py).
"""

import numpy as np
import pytest
from backends import agree
from backends.masked_operands import of_rows, operands, pushed_operands

from cuda_emulation.backend import shim
from grb_tile import dtypes, monoid
from grb_tile.backends import plain, select
from grb_tile.operators import get_typed_op
from grb_tile.planner import force, record_plan, tuning, unrecorded
from grb_tile.storage import convert
from grb_tile.storage.place import host
from grb_tile.storage.store import StoredMask
from support import seeds

NUMPY = select.named("numpy")
CHAINS = [  # semiring, select operator, monoid: integers, no values, floats, any, without an atomic, 2 bytes
    ("plus_pair", "INT64", None, "plus"), ("any_pair", "BOOL", None, "lor"),
    ("plus_times", "FP64", ("tril", 4), "plus"), ("min_first", "FP32", ("valuege", 0), "any"),
    ("times_times", "FC64", None, "plus"), ("plus_times", "INT16", ("offdiag", 0), "times"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def on_the_device():
    """Nothing is computed on the host."""
    shim().detours.clear()
    yield
    assert not shim().detours


@pytest.fixture
def words(monkeypatch):
    """Rows of words wherever a product counts."""
    monkeypatch.setattr(tuning, "GPU_WORD_CALL_NS", -1e9)
    monkeypatch.setattr(tuning, "GPU_WORD_NS", 0)


def keep_of(dtype, keep):
    if keep is None:
        return None
    op = get_typed_op(keep[0], dtype, dtypes.INT64 if keep[0] in ("tril", "offdiag") else dtype, kind="select")
    return op, op.thunk_type.np_type.type(keep[1])


def check(call, formed, typed, axis, what):
    """The sums of a product over an axis against those of the product that NumPy formed."""
    got, want = call(typed, axis), plain.reduce_matrix(NUMPY, formed, typed, axis)
    if axis is None:
        if typed.name == "any":
            assert (got is None) == (want is None) and (got is None or got in formed.values), what
        else:
            assert (got is None) == (want is None), what
            assert got is None or np.allclose(got, want, rtol=1e-6), (what, got, want)
        return
    (i, x), (j, y) = NUMPY.tuples_vector(host(got)), NUMPY.tuples_vector(want)
    assert i.tolist() == j.tolist(), what
    assert typed.name == "any" or np.allclose(x, y, rtol=1e-5), (what, x, y)


def test_what_follows_a_count():
    """The sums of counts, to a scalar, to rows and to columns."""
    check_chain(0)


@pytest.mark.parametrize("k", [1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, len(CHAINS)))])
def test_what_follows_a_product(k):
    """The same for other semirings and monoids, selected from first."""
    check_chain(k)


def check_chain(k):
    """Selected, and reduced to a scalar, to rows and to columns: pulled, pushed, of hypersparse operands."""
    name, type_, keep, into = CHAINS[k]
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    typed, keep = getattr(monoid, into)[semiring.return_type], keep_of(semiring.return_type, keep)
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 7, len(name), semiring.type.rank])
    for pushed in (False, True):
        if pushed:
            (A, B, pattern), BT, method = pushed_operands(rng, semiring), None, "gustavson"
        else:
            (A, BT, pattern), B, method = operands(rng, semiring), None, "dot"
        before = agree.snapshot(A, BT or B, pattern)
        plan = record_plan("matmul", method, "csr", "mask_small", (0, 0, 0))
        with force("merge_at_mask" if pushed else "dot"):
            formed = NUMPY.matmul(A, B, semiring, StoredMask(pattern), unrecorded(method), BT=BT, keep=keep)
            rows = (k % 2 == 0) != pushed  # half of the kernels each, because the emulation compiles them
            for axis, left, mask in (
                ((None, A, pattern), (1, convert.to_dcsr(A), convert.to_dcsr(pattern))) if rows else ((0, A, pattern),)
            ):
                what = f"{CHAINS[k]} axis {axis} pushed {pushed} seed {seeds.SEED}"
                check(
                    lambda m, a: shim().reduce_matmul(left, B, semiring, m, a, StoredMask(mask), plan, BT, keep),
                    formed, typed, axis, what,
                )  # fmt: skip
            if keep is not None and rows:
                agree.assert_same(host(shim().matmul(A, B, semiring, StoredMask(pattern), plan, BT, keep)), formed)
        assert agree.snapshot(A, BT or B, pattern) == before


@pytest.mark.slow
def test_rows_without_a_table_that_are_pushed():
    """Their sums are merged in global memory, then selected from and reduced."""
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 11])
    shared = shim().device.launcher.limits.dynamic_shared
    width = max(shared // 8, 3000) + 1000
    A = of_rows(rng, 20, dtypes.FP64, [20, 3], (20,))
    B = of_rows(rng, width, dtypes.FP64, [width // 2] * 20, (width,))
    pattern = of_rows(rng, width, dtypes.BOOL, [width - 500, 5], (width,))
    keep = keep_of(dtypes.FP64, ("valuegt", 0))
    formed = NUMPY.matmul(A, B, semiring, StoredMask(pattern), keep=keep)
    with force("merge_at_mask"):
        check(
            lambda m, a: shim().reduce_matmul(A, B, semiring, m, a, StoredMask(pattern), keep=keep),
            formed, monoid.max["FP64"], 1, "rows",
        )  # fmt: skip
        agree.assert_same(host(shim().matmul(A, B, semiring, StoredMask(pattern), keep=keep)), formed)


COUNTS = [("plus_pair", "INT64"), ("any_pair", "BOOL"), ("plus_pair", "UINT8")]


def test_rows_of_words(words):
    """Counts in INT64."""
    check_words(COUNTS[0])


@pytest.mark.slow
@pytest.mark.parametrize("one", COUNTS[1:])
def test_rows_of_words_of_other_semirings(one, words):
    """Whether there is a match; counts that wrap."""
    check_words(one)


def check_words(one):
    """Products that count matches: bitmaps of words, hash tables, bisection; bands of full rows and scattered ones."""
    semiring = get_typed_op(one[0], getattr(dtypes, one[1]), kind="semiring")
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 5, semiring.type.rank])
    A, BT, pattern = operands(rng, semiring)
    for left, other, mask in (
        (A, BT, pattern), (convert.to_dcsr(A), convert.to_dcsr(BT), convert.to_dcsr(pattern)),
        (A, A, of_rows(rng, A.nrows, dtypes.BOOL, [A.nrows] * A.nrows, (A.nrows,))),
    ):  # fmt: skip
        plan = record_plan("matmul", "dot", "csr", "mask_small", (0, 0, 0))
        got = host(shim().matmul(left, None, semiring, StoredMask(mask), plan, BT=other))
        want = NUMPY.matmul(left, None, semiring, StoredMask(mask), unrecorded("dot"), BT=other)
        agree.assert_same(got, want)
        assert "lookups of words" in plan.note
        check(
            lambda m, a: shim().reduce_matmul(left, None, semiring, m, a, StoredMask(mask), plan, other),
            want, monoid.max[semiring.return_type], None, f"{one}",
        )  # fmt: skip


def test_a_product_without_the_form_is_formed():
    """Complements, masks without entries, monoids without an atomic, and dimensions beyond memory."""
    semiring = get_typed_op("times_times", dtypes.FC64, kind="semiring")
    rng = np.random.default_rng(3)
    A, B, pattern = pushed_operands(rng, semiring)
    empty = convert.compressed(A.nrows, B.ncols, dtypes.BOOL, *(np.empty(0, np.int64),) * 2, np.empty(0, np.bool_))
    for allow in (StoredMask(pattern, True), StoredMask(empty), StoredMask(pattern), None):
        formed = NUMPY.matmul(A, B, semiring, allow)
        for axis in (None, 1, 0):
            check(
                lambda m, a: shim().reduce_matmul(A, B, semiring, m, a, allow),
                formed, monoid.plus["FC64"], axis, f"{allow} {axis}",
            )  # fmt: skip
