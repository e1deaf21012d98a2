"""Masked products by rows of the mask (backends/cuda/products/masked.py), kernels run as fibers, against NumPy."""

import re
from contextlib import nullcontext

import numpy as np
import pytest
from backends import agree
from backends.masked_operands import operands, pushed_operands

from cuda_emulation.backend import EMULATED, shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import masked
from grb_tile.operators import get_typed_op
from grb_tile.planner import force, record_plan, tuning, unrecorded
from grb_tile.storage import convert
from grb_tile.storage.place import host
from grb_tile.storage.store import StoredMask
from support import seeds

NUMPY = select.named("numpy")
SEMIRINGS = [  # counts; values by position; without a start value; any; structure only; positional; a terminal value
    ("plus_pair", "INT64"), ("plus_times", "FP64"), ("min_first", "FP32"), ("times_times", "FC64"),
    ("any_second", "FP64"), ("any_pair", "BOOL"), ("max_secondj1", "INT64"), ("plus_firsti", "INT64"),
    ("lor_land", "BOOL"), ("plus_times", "INT16"),
]  # fmt: skip
PUSHED = SEMIRINGS[1:2] + SEMIRINGS[3:6] + SEMIRINGS[9:]  # by atomics; in order; any; structure only; of 2 bytes


@pytest.fixture(autouse=True)
def tables(monkeypatch):
    """Rows have tables however few their lookups are; nothing is computed on the host."""
    monkeypatch.setattr(tuning, "GPU_TABLE_LOOKUPS", 0)
    shim().detours.clear()
    yield
    assert not shim().detours


@pytest.mark.parametrize(
    ("name", "type_"),
    [pytest.param(*one, marks=() if one in SEMIRINGS[:2] else pytest.mark.slow) for one in SEMIRINGS],
)
def test_rows_of_every_table(name, type_):
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, len(name), semiring.type.rank])
    A, BT, pattern = operands(rng, semiring)
    before = agree.snapshot(A, BT, pattern)
    for left, mask in ((A, pattern), (convert.to_dcsr(A), convert.to_dcsr(pattern))):
        plan = record_plan("matmul", "dot", "csr", "mask_small", (0, 0, 0))
        got = host(shim().matmul(left, None, semiring, StoredMask(mask), plan, BT=BT))
        want = NUMPY.matmul(left, None, semiring, StoredMask(mask), unrecorded("dot"), BT=BT)
        if semiring.name.startswith("any_second"):  # any of the products: the positions agree
            one = get_typed_op("one", want.dtype, kind="unary")
            got, want = NUMPY.apply(got, one), NUMPY.apply(want, one)
        agree.assert_same(got, want)
        # a device has shared memory for all of these rows
        assert not EMULATED or all(map(int, re.findall(r"(\d+) (?:by bisection|hashed|as bitmaps)", plan.note)))
    assert agree.snapshot(A, BT, pattern) == before


@pytest.mark.parametrize(
    ("name", "type_"),
    [pytest.param(*one, marks=() if one in SEMIRINGS[1:2] else pytest.mark.slow) for one in PUSHED],
)
def test_rows_that_are_pushed(name, type_, monkeypatch):
    """All rows are pushed, the cheaper method for each, none; the results are equal."""
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 3, len(name), semiring.type.rank])
    A, B, pattern = pushed_operands(rng, semiring)
    want = NUMPY.matmul(A, B, semiring, StoredMask(pattern))
    if semiring.name.startswith("any_second"):  # any of the products: the positions agree
        want = NUMPY.apply(want, get_typed_op("one", want.dtype, kind="unary"))
    for method, rule, push_ns, pulled in (
        ("gustavson", "forced", 8e-3, "none pulled"), ("dot", "mask_small", 1e-9, "pushed ("),
        ("dot", "mask_small", 8e-3, "lookups"), ("dot", "forced", 1e-9, "none pushed"),
    ):  # fmt: skip
        monkeypatch.setattr(tuning, "GPU_MASKED_PUSH_NS", push_ns)
        plan = record_plan("matmul", method, "csr", rule, (0, 0, 0))
        with force("merge_at_mask") if method == "gustavson" else nullcontext():
            BT = convert.transpose_of(B)
            got = host(shim().matmul(A, B, semiring, StoredMask(pattern), plan, BT=BT if method == "dot" else None))
        if semiring.name.startswith("any_second"):
            got = NUMPY.apply(got, get_typed_op("one", want.dtype, kind="unary"))
        agree.assert_same(got, want)
        assert pulled in plan.note, plan.note


@pytest.mark.parametrize("one", [SEMIRINGS[1], SEMIRINGS[5]])
def test_positions_by_bisection(one, monkeypatch):
    """Rows of so few lookups that no table is made; positions with many lookups are the whole warp's."""
    monkeypatch.setattr(tuning, "GPU_TABLE_LOOKUPS", 1 << 40)
    semiring = get_typed_op(one[0], getattr(dtypes, one[1]), kind="semiring")
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 13])
    A, BT, pattern = operands(rng, semiring)
    for lanes in (1, 8):
        monkeypatch.setattr(masked, "STEPS", 1 << 20 if lanes == 1 else 1)
        got = host(shim().matmul(A, None, semiring, StoredMask(pattern), unrecorded("dot"), BT=BT))
        agree.assert_same(got, NUMPY.matmul(A, None, semiring, StoredMask(pattern), unrecorded("dot"), BT=BT))


def test_a_row_whose_sampled_positions_have_no_work():
    """The work of a long row of the mask is estimated from every second position: rows 0, 2, ... of B' are empty."""
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    at = np.tile(np.arange(50), 2)
    A = convert.compressed(2, 50, dtypes.FP64, np.arange(2).repeat(50), at, np.ones(100))
    rows = np.arange(1, 5000, 2).repeat(5)
    BT = convert.compressed(5000, 50, dtypes.FP64, rows, np.tile(np.arange(0, 15, 3), 2500), np.ones(rows.size))
    rows, cols = np.arange(2).repeat((4096, 2000)), np.concatenate((np.arange(4096), np.arange(2000)))
    pattern = convert.compressed(2, 5000, dtypes.BOOL, rows, cols, np.ones(rows.size, np.bool_))
    got = host(shim().matmul(A, None, semiring, StoredMask(pattern), unrecorded("dot"), BT=BT))
    agree.assert_same(got, NUMPY.matmul(A, None, semiring, StoredMask(pattern), unrecorded("dot"), BT=BT))
    assert got.nvals == 2048 + 1000
