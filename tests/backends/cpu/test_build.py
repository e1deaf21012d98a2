"""Compiled ordering of tuples for build, against NumPy's."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.compiled import build as accelerate_build
from grb_tile.backends.cpu.jit import cache as jit, threads as jit_threads
from grb_tile.backends.cpu.templates import build_order
from grb_tile.planner import tuning
from grb_tile.storage.store import index_dtype

COUNT = 40_000


@pytest.fixture(autouse=True, params=[1, 3])
def compiled(request, monkeypatch):
    monkeypatch.setattr(jit_threads, "_threads", request.param)
    monkeypatch.setattr(tuning, "PARALLEL_ROWS", 1000)
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def ordered(nrows, ncols, rows, cols):
    functions = jit.plain_kernel("build_order", INDEX=index_dtype(ncols).char).functions_for(1.0)
    return accelerate_build.ordered_pairs(functions, nrows, ncols, rows, cols)


@pytest.mark.parametrize("nrows, ncols, count", [
    (300, 500, COUNT), (500, 300, COUNT), (1, 70_000, COUNT), (90_000, 3, COUNT), (3, 1 << 40, COUNT), (4, 9, 150),
    *((3, 1000, 3 * (build_order.FEW + more)) for more in (-1, 0, 1, build_order.FEW, build_order.FEW + 1)),
])  # fmt: skip
def test_pairs_are_ordered_and_equal_ones_keep_their_order(nrows, ncols, count):
    rng = np.random.default_rng(1)
    rows, cols = rng.permutation(np.arange(count) % nrows), rng.integers(0, ncols, count)
    order, indptr, indices, firsts = ordered(nrows, ncols, rows, cols)
    wanted = np.lexsort((cols, rows))
    np.testing.assert_array_equal(order, wanted)
    pairs, starts = np.unique(np.stack((rows, cols)), axis=1, return_index=True)
    np.testing.assert_array_equal(order[firsts], starts)
    np.testing.assert_array_equal(indices, pairs[1])
    np.testing.assert_array_equal(indptr, pairs[0].searchsorted(np.arange(nrows + 1)))
    order, indptr_of_sorted, again, firsts = ordered(nrows, ncols, *(np.ascontiguousarray(line) for line in pairs))
    assert order is None and firsts is None
    np.testing.assert_array_equal(again, indices)
    np.testing.assert_array_equal(indptr_of_sorted, indptr)


@pytest.mark.parametrize("rows, cols", [([0, 1, 1], [5, 3, 3]), ([0, 1, 1], [5, 3, 2]), ([1, 0, 1], [5, 5, 5])])
def test_pairs_that_repeat_or_descend_once_are_sorted(rows, cols):
    order, indptr, indices, _ = ordered(2, 6, np.array(rows), np.array(cols))
    np.testing.assert_array_equal(order, np.lexsort((cols, rows)))
    assert indptr[-1] == len(indices) == len(set(zip(rows, cols, strict=True)))


@pytest.mark.parametrize("place", [(2, 0), (0, 6), (-1, 0), (0, -1)])
def test_pairs_out_of_range_are_left_to_numpy(place):
    rows, cols = (np.array([0, 1, at]) for at in place)
    assert ordered(2, 6, rows, cols) is NotImplemented


def test_duplicates_without_an_operator_are_an_error():
    for count in (3, COUNT):
        rows = np.arange(count) % 2
        with pytest.raises(ValueError, match=r"\(0, 0\) occurs more than once"):
            gb.Matrix.from_coo(rows, rows, np.arange(count), nrows=2, ncols=2)


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
    for nrows, ncols, rows, cols in (
        (100_000, 10, keys, keys), (10, 100_000, keys, keys), (100_000, 100_000, -keys, keys),
        (100_000, 100_000, keys, -keys), (100_000, 1 << 50, keys, keys),
    ):  # fmt: skip
        assert ordered(nrows, ncols, rows, cols) is NotImplemented


@pytest.mark.parametrize("dup", ["first", "second", "plus", "minus"])
def test_duplicates_are_combined_in_input_order(dup):
    rng = np.random.default_rng(4)
    op = getattr(gb.binary, dup)
    rows, cols, values = rng.integers(0, 90, COUNT), rng.integers(0, 80, COUNT), rng.integers(-9, 9, COUNT)
    few = rng.integers(0, 9, 100), rng.integers(0, 8, 100), values[:100]
    found = gb.Matrix.from_coo(rows, cols, values, nrows=90, ncols=80, dup_op=op)
    line = gb.Vector.from_coo(rows * 1000, values, size=90_000, dup_op=op)
    wide = gb.Matrix.from_coo(rows, cols % 2, values, nrows=4200, ncols=2, dup_op=op)
    assert wide._store.rows is not None
    small = gb.Matrix.from_coo(*few, nrows=9, ncols=8, dup_op=op)
    one = gb.Matrix.from_coo(*few[:2], 3.5, nrows=9, ncols=8)
    with gb.plan(force="numpy"):
        again = gb.Matrix.from_coo(rows, cols % 2, values, nrows=4200, ncols=2, dup_op=op)
        assert wide.isequal(again, check_dtype=True) and again._store.rows is not None
        assert small.isequal(gb.Matrix.from_coo(*few, nrows=9, ncols=8, dup_op=op), check_dtype=True)
        assert one.ss.is_iso and one.isequal(gb.Matrix.from_coo(*few[:2], 3.5, nrows=9, ncols=8), check_dtype=True)
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
