"""Compiled ordering of tuples for build, against NumPy's."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.compiled import build as accelerate_build
from grb_tile.backends.cpu.jit import cache as jit

COUNT = 40_000


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setattr(accelerate_build, "fits_with_positions", lambda bound, count: False)  # as for huge matrices
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


@pytest.mark.parametrize("nrows, ncols", [(300, 500), (500, 300), (1, 70_000), (90_000, 3)])
def test_pairs_are_ordered_and_equal_ones_keep_their_order(nrows, ncols):
    rng = np.random.default_rng(1)
    rows, cols = rng.integers(0, nrows, COUNT), rng.integers(0, ncols, COUNT)
    found = accelerate_build.ordered_pairs(nrows, ncols, rows, cols)
    if nrows == 1:  # in order by row already
        assert found is NotImplemented
        return
    order, out_rows, out_cols = found
    wanted = np.lexsort((cols, rows))
    np.testing.assert_array_equal(order, wanted)
    np.testing.assert_array_equal(out_rows, rows[wanted])
    np.testing.assert_array_equal(out_cols, cols[wanted])


def test_indices_are_ordered_and_equal_ones_keep_their_order():
    indices = np.random.default_rng(2).integers(0, 100_000, COUNT)
    order, ordered = accelerate_build.ordered_indices(100_000, indices)
    wanted = indices.argsort(kind="stable")
    np.testing.assert_array_equal(order, wanted)
    np.testing.assert_array_equal(ordered, indices[wanted])


def test_what_is_small_or_sparse_or_out_of_range_is_left_to_numpy():
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 100_000, COUNT)
    assert accelerate_build.ordered_indices(100_000, keys[:100]) is NotImplemented
    assert accelerate_build.ordered_indices(1 << 40, keys) is NotImplemented
    assert accelerate_build.ordered_indices(100_000, np.sort(keys)) is NotImplemented
    assert accelerate_build.ordered_indices(99_000, keys) is NotImplemented
    assert accelerate_build.ordered_pairs(100_000, 10, keys, keys) is NotImplemented
    assert accelerate_build.ordered_pairs(100_000, 100_000, -keys, keys) is NotImplemented


@pytest.mark.parametrize("dup", ["first", "second", "plus", "minus"])
def test_duplicates_are_combined_in_input_order(dup):
    rng = np.random.default_rng(4)
    op = getattr(gb.binary, dup)
    rows, cols, values = rng.integers(0, 90, COUNT), rng.integers(0, 80, COUNT), rng.integers(-9, 9, COUNT)
    found = gb.Matrix.from_coo(rows, cols, values, nrows=90, ncols=80, dup_op=op)
    line = gb.Vector.from_coo(rows * 1000, values, size=90_000, dup_op=op)
    with gb.plan(force="numpy"):
        assert found.isequal(gb.Matrix.from_coo(rows, cols, values, nrows=90, ncols=80, dup_op=op), check_dtype=True)
        assert line.isequal(gb.Vector.from_coo(rows * 1000, values, size=90_000, dup_op=op), check_dtype=True)


def test_many_duplicates_are_cast_at_each_step():
    """The operator computes in FP32, and each of its results is one of INT8, however many values an entry has."""
    values = np.concatenate((np.full(70, 125), np.full(10, -25))).astype(np.int8)
    for count in (30, 80):
        want = np.int8(values[-count])
        for value in values[-count + 1 :]:
            want = np.int8(np.clip(np.float32(want) + np.float32(value), -128, 127))
        v = gb.Vector.from_coo(np.zeros(count, int), values[-count:], size=3, dup_op=gb.binary.plus["FP32"])
        assert v.dtype == "INT8" and v[0].value == want
