"""SpGEMM in two phases (backends/cuda/products/spgemm.py), its kernels run as fibers, against the NumPy backend."""

import re

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import EMULATED, shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import spgemm, spgemm_split
from grb_tile.exceptions import OutOfMemory
from grb_tile.operators import get_typed_op
from grb_tile.planner import explain, force, record_plan
from grb_tile.storage import convert
from grb_tile.storage.place import host
from grb_tile.storage.store import StoredMask
from support import seeds

NUMPY = select.named("numpy")
SEMIRINGS = [  # by atomics; in order, with and without a start value; any; structure only; positional; 1, 2, 16 bytes
    ("plus_times", "FP64"), ("min_plus", "FP32"), ("plus_times", "FC64"), ("times_times", "FC64"),
    ("any_second", "FP64"), ("any_secondi", "INT64"), ("any_pair", "BOOL"), ("max_secondj1", "INT64"),
    ("lxor_land", "BOOL"), ("plus_times", "INT16"), ("plus_firsti", "INT64"), ("plus_pair", "INT64"),
    ("min_firstj", "INT32"),
]  # fmt: skip
SAMPLE = SEMIRINGS[:1] + SEMIRINGS[3:4] + SEMIRINGS[-1:]


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def matrix(rng, nrows, ncols, dtype, rows, cols):
    values = samples.values(rng, dtype, rows.size)
    return convert.compressed(nrows, ncols, dtype, rows, cols, values)


def of_rows(rng, nrows, ncols, dtype, lengths, bands=(), names=None):
    """A matrix whose row r has lengths[r] entries, in a band of columns that `bands` limits."""
    rows, cols = [], []
    for r, length in enumerate(lengths):
        width = ncols if not len(bands) else max(length, bands[r % len(bands)])
        start = int(rng.integers(0, ncols - width + 1))
        cols.append(np.sort(rng.choice(width, length, replace=False)) + start)
        rows.append(np.full(length, r))
    rows, cols = np.concatenate(rows), np.concatenate(cols)
    if names is not None:
        cols, ncols = names[cols], int(names[-1]) + 1
    return matrix(rng, nrows, ncols, dtype, rows.astype(np.int64), cols)


def operands(rng, semiring, names=None):
    """A and B whose product has rows of every bin."""
    inner, cols = 120, 1500
    lengths = np.array([0, 1, 1, 2, 3, 5, 8, 14, 25, 40, 60, 120, 119, 90, 30, 2, 1, 4])
    A = of_rows(rng, lengths.size, inner, semiring.type, lengths)
    B = of_rows(rng, inner, cols, semiring.type2, rng.integers(0, 26, inner), (30, 200, cols), names)
    return A, B


def compare(got, want, semiring):
    got = host(got)
    if semiring.name.startswith(("any_second", "any_first")):  # any of the products: the positions agree
        one = get_typed_op("one", want.dtype, kind="unary")
        got, want = NUMPY.apply(got, one), NUMPY.apply(want, one)
    agree.assert_same(got, want)


def product(A, B, semiring, mask=None):
    """The product in two phases, and its plan."""
    plan = record_plan("matmul", "gustavson", "csr", "no_mask")
    with force("two_phases"):
        return shim().matmul(A, B, semiring, mask, plan), plan


@pytest.mark.parametrize(
    ("name", "type_"),
    [pytest.param(*one, marks=() if one in SAMPLE else pytest.mark.slow) for one in SEMIRINGS],
)
def test_rows_of_every_bin(name, type_):
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(len(name), semiring.type.rank)
    A, B = operands(rng, semiring)
    pattern = of_rows(rng, A.nrows, B.ncols, dtypes.BOOL, rng.integers(0, 400, A.nrows))
    before = agree.snapshot(A, B)
    for allow in (None, StoredMask(pattern), StoredMask(pattern, True)):
        got, plan = product(A, B, semiring, allow)
        compare(got, NUMPY.matmul(A, B, semiring, allow), semiring)
        assert plan.kernel == "two_phases" and plan.kernel_rule == "forced"
        copied, hashed, windows, *split = map(int, re.findall(r"(\d+) (?:copied|hashed|in windows|split)", plan.note))
        assert hashed and windows and bool(copied) == (allow is None)
        by_atomics = semiring.type.name != "FC64"
        assert not EMULATED or bool(split) == by_atomics  # a device has a block for each of these rows
    assert agree.snapshot(A, B) == before


@pytest.mark.parametrize(
    "name",
    [
        "plus_times",
        pytest.param("any_second", marks=pytest.mark.slow),
        pytest.param("any_pair", marks=pytest.mark.slow),
    ],
)
def test_rows_split_among_blocks(name):
    """Rows of B for a group of lanes, a warp and a block; values merged in shared memory and in C itself."""
    semiring = get_typed_op(name, dtypes.BOOL if name == "any_pair" else dtypes.FP64, kind="semiring")
    rng = rng_of(17, len(name))
    for cols in (1500, 60_000):
        B = of_rows(rng, 60, cols, semiring.type2, [3] * 55 + [0, 550, 700, 700, 900])
        A = of_rows(rng, 4, 60, semiring.type, [60, 58, 2, 59])
        pattern = of_rows(rng, 4, cols, dtypes.BOOL, [0, 300, 5, 900])
        for allow in (None, StoredMask(pattern), StoredMask(pattern, True)):
            got, plan = product(A, B, semiring, allow)
            compare(got, NUMPY.matmul(A, B, semiring, allow), semiring)
            assert not EMULATED or allow is not None or " 3 split among blocks" in plan.note


@pytest.mark.slow
def test_long_rows_of_few_columns():
    """Rows whose columns are all found by the first products, estimated from a sample of A's entries."""
    rng = rng_of(23)
    for name, dtype in (("plus_times", dtypes.FP64), ("max_firstj", dtypes.INT64), ("any_pair", dtypes.BOOL)):
        semiring = get_typed_op(name, dtype, kind="semiring")
        A = of_rows(rng, 3, 700, semiring.type, [700, 600, 3])
        B = of_rows(rng, 700, 8, semiring.type2, rng.integers(0, 9, 700))
        for allow in (None, StoredMask(of_rows(rng, 3, 8, dtypes.BOOL, [3, 8, 2]), True)):
            got, plan = product(A, B, semiring, allow)
            compare(got, NUMPY.matmul(A, B, semiring, allow), semiring)
            assert not EMULATED or allow is not None or " 2 split among blocks" in plan.note


@pytest.mark.slow
def test_without_memory_for_bitmaps_a_block_computes_each_row(monkeypatch):
    A, B = operands(rng_of(19), get_typed_op("plus_times", dtypes.FP64, kind="semiring"))
    monkeypatch.setattr(spgemm_split, "SHARE", 1 << 60)
    for name in ("plus_times", "any_pair"):
        semiring = get_typed_op(name, dtypes.FP64, kind="semiring")
        got, _ = product(A, B, semiring)
        compare(got, NUMPY.matmul(A, B, semiring, None), semiring)


@pytest.mark.parametrize("semiring_name", ["plus_times", "min_secondj1"])
def test_columns_beyond_32_bits(semiring_name):
    """Columns of B are relabelled, and C has B's own."""
    semiring = get_typed_op(semiring_name, dtypes.INT64, kind="semiring")
    rng = rng_of(7)
    names = np.unique(rng.integers(0, 1 << 60, 1600))[:1500]
    A, B = operands(rng, semiring, names)
    A = convert.to_dcsr(A)
    pattern = of_rows(rng, A.nrows, 1500, dtypes.BOOL, rng.integers(0, 400, A.nrows), names=names)
    pattern.ncols = B.ncols
    for allow in (None, StoredMask(pattern, True)):
        got, _ = product(A, B, semiring, allow)
        compare(got, NUMPY.matmul(A, B, semiring, allow), semiring)


def test_structure_is_kept_or_computed_again(monkeypatch):
    """A product without values, with and without memory for what the symbolic phase finds; rows of several windows."""
    semiring = get_typed_op("any_pair", dtypes.BOOL, kind="semiring")
    A, B = operands(rng_of(13), semiring)
    pattern = of_rows(rng_of(14), A.nrows, B.ncols, dtypes.BOOL, np.arange(A.nrows) * 20)
    monkeypatch.setattr(spgemm, "KEPT_UNASKED", 0)
    for allow in (None, StoredMask(pattern), StoredMask(pattern, True)):
        want = NUMPY.matmul(A, B, semiring, allow)
        for share in (8, 1 << 60):
            monkeypatch.setattr(spgemm, "KEPT_SHARE", share)
            agree.assert_same(host(product(A, B, semiring, allow)[0]), want)


def test_structure_is_computed_again_where_memory_is_short(monkeypatch):
    semiring = get_typed_op("any_pair", dtypes.BOOL, kind="semiring")
    A, B = operands(rng_of(15), semiring)
    device, refused = shim().device, []

    def empty(count, dtype, real=device.empty):
        if np.dtype(dtype) == np.uint64 and count > A.nrows:  # words of positions
            refused.append(int(count))
            raise MemoryError(f"{count} words")
        return real(count, dtype)

    monkeypatch.setattr(device, "empty", empty, raising=False)
    got = host(product(A, B, semiring)[0])
    assert refused
    agree.assert_same(got, NUMPY.matmul(A, B, semiring, None))


def test_groups_that_compute_several_rows(monkeypatch):
    """A grid of one block: what a row leaves in a table is gone before the next, which is shorter and lies behind."""
    monkeypatch.setattr(spgemm, "MOST_BLOCKS", 1)
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(23)
    nrows = 700
    A = of_rows(rng, nrows, nrows, semiring.type, np.arange(nrows) % 3 + 1)
    first = np.arange(nrows) * 2  # of a row of B: all products of a row of C are near each other, and behind the last
    lengths = 1 + (np.arange(nrows) * 7 + 3) % 11
    rows = np.repeat(np.arange(nrows), lengths)
    cols = np.concatenate([start + np.arange(length) for start, length in zip(first, lengths, strict=True)])
    B = matrix(rng, nrows, 2 * nrows + 11, semiring.type2, rows, cols)
    pattern = of_rows(rng, nrows, B.ncols, dtypes.BOOL, rng.integers(0, 40, nrows))
    for allow in (None, StoredMask(pattern, True)):
        got, _ = product(A, B, semiring, allow)
        compare(got, NUMPY.matmul(A, B, semiring, allow), semiring)


def test_products_without_entries():
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(9)
    A = matrix(rng, 5, 6, dtypes.FP64, np.array([0, 3, 3]), np.array([1, 2, 4]))
    B = matrix(rng, 6, 7, dtypes.FP64, np.array([0, 5]), np.array([3, 6]))
    got, plan = product(A, B, semiring)
    assert got.nvals == 0 and got.shape == (5, 7) and plan.note.startswith("0 products, 0 entries")


def test_subnormal_sums_are_kept():
    """Sums of FP32 in shared memory and in C itself; whole multiples of 2^-149, so exact in every order."""
    rng = rng_of(3)
    semiring = get_typed_op("plus_times", dtypes.FP32, kind="semiring")
    A, B = operands(rng, semiring)
    A.values, B.values = (rng.integers(1, 500, x.values.size).astype(np.float32) for x in (A, B))
    A.values *= np.float32(2.0**-75)
    B.values *= np.float32(2.0**-74)
    got, _ = product(A, B, semiring)
    want = NUMPY.matmul(A, B, semiring, None)
    assert (np.abs(want.values) < 2.0**-126).any()
    agree.assert_same(host(got), want)


def test_kernels_agree_and_are_named():
    semiring = get_typed_op("plus_times", dtypes.INT64, kind="semiring")
    rng = rng_of(11)
    A, B = operands(rng, semiring)
    found = []
    for kernel in ("esc", "two_phases"):
        plan = record_plan("matmul", "gustavson", "csr", "no_mask")
        with force(kernel):
            found.append(host(shim().matmul(A, B, semiring, None, plan)))
        assert plan.kernel == kernel
    agree.assert_same(*found)
    plan = record_plan("matmul", "gustavson", "csr", "no_mask")
    shim().matmul(A, B, semiring, None, plan)
    assert plan.kernel == "two_phases" and "products" in str(explain(1))


def test_what_cannot_fit_is_said_before_anything_is_written(monkeypatch):
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    A, B = operands(rng_of(13), semiring)
    before = agree.snapshot(A, B)

    def refuse(count, what):
        raise OutOfMemory(f"{what}: {count} bytes")

    monkeypatch.setattr(shim().device, "check_room", refuse)
    want = NUMPY.matmul(A, B, semiring, None)
    with pytest.raises(OutOfMemory, match=rf"the {want.nvals} entries of C = A B: {want.nvals * 12} bytes"):
        product(A, B, semiring)
    assert agree.snapshot(A, B) == before
