"""Compiled merges of every pair of storage forms, types and defaults against the reference backend."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.compiled import dispatch as accelerate, elementwise, merging
from grb_tile.backends.cpu.jit import cache as jit, threads as jit_threads
from grb_tile.backends.reference import ReferenceBackend
from grb_tile.planner import tuning
from grb_tile.storage.convert import to_csr, to_dcsr
from grb_tile.storage.store import Compressed, StoredMask
from support.stores import matrix, same_matrix, same_vector, vector

REFERENCE = ReferenceBackend()
CASTS = [("FP64", "INT8"), ("INT64", "FP32"), ("UINT64", "BOOL"), ("FC64", "FP32"), ("INT8", "INT64")]


@pytest.fixture(autouse=True, params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(jit_threads, "_threads", request.param)
    monkeypatch.setattr(tuning, "PARALLEL_ROWS", 1)
    monkeypatch.setattr(tuning, "PARALLEL_POSITIONS", 1)
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def extremes(rng, store):
    """The store with values that casts saturate, wrap or turn into NaN among its own."""
    chosen = {"f": [np.nan, np.inf, -1e30, 0.5, 300.7], "i": [-1], "u": [200]}.get(store.values.dtype.kind, [])
    for value in chosen:
        store.values[rng.integers(store.values.shape[0])] = value
    return store


def stores(rng, dtype):
    """CSR and DCSR matrices of one shape: many entries, and few."""
    dtype = gb.dtypes.lookup_dtype(dtype)
    A = extremes(rng, matrix(rng, 60, 30, 400, dtype))
    few = matrix(rng, 60, 30, 9, dtype)
    return [A, to_dcsr(A), few, to_dcsr(few)]


def compared(found, expected):
    assert found is not NotImplemented
    assert found.rows is None or (np.diff(found.indptr) > 0).all()
    same_matrix(to_csr(found), to_csr(expected))


@pytest.mark.parametrize("x_type, y_type", [("FP64", "FP64"), ("INT64", "FP32")])
def test_row_lists_of_both_operands_are_merged(x_type, y_type):
    rng = np.random.default_rng(1)
    op = gb.binary.minus[gb.dtypes.unify(gb.dtypes.lookup_dtype(x_type), gb.dtypes.lookup_dtype(y_type))]
    for A, B in itertools.product(stores(rng, x_type), stores(rng, y_type)):
        with np.errstate(all="ignore"):
            compared(accelerate.union(A, B, op), REFERENCE.union(A, B, op))
            compared(accelerate.union(A, B, op, None, 3, 2), REFERENCE.union(A, B, op, None, 3, 2))
            compared(accelerate.union(A, B, None), REFERENCE.union(A, B, None))
            compared(accelerate.intersect(A, B, op), REFERENCE.intersect(A, B, op))
        for complement in (False, True):
            allow = StoredMask(B, complement)
            compared(accelerate.restrict(A, allow), REFERENCE.restrict(A, allow))


def test_any_takes_the_entry_of_either_operand():
    """Also where neither has one value for all its entries: `any` reads one of them, not neither."""
    rng = np.random.default_rng(7)
    A, B = (matrix(rng, 60, 30, 400, gb.dtypes.INT64) for _ in range(2))
    A.values[:], B.values[:] = np.arange(A.values.size), -1 - np.arange(B.values.size)
    found = accelerate.intersect(A, B, gb.binary.any["INT64"])
    first, second = (REFERENCE.intersect(A, B, getattr(gb.binary, name)["INT64"]) for name in ("first", "second"))
    assert found is not NotImplemented
    (i, j, values), (rows, cols, of_a), (_, _, of_b) = (REFERENCE.tuples_matrix(C) for C in (found, first, second))
    assert i.tolist() == rows.tolist() and j.tolist() == cols.tolist() and i.size
    assert ((values == of_a) | (values == of_b)).all()


@pytest.mark.parametrize("x_type, y_type", CASTS)
def test_entries_of_one_operand_are_cast_directly_and_common_ones_through_the_operator(x_type, y_type):
    """Also into the type of an output that an accumulator writes."""
    rng = np.random.default_rng(2)
    x_dtype, y_dtype = gb.dtypes.lookup_dtype(x_type), gb.dtypes.lookup_dtype(y_type)
    A, B = extremes(rng, matrix(rng, 20, 20, 150, x_dtype)), extremes(rng, matrix(rng, 20, 20, 150, y_dtype))
    through = gb.dtypes.unify(x_dtype, y_dtype)
    plus, compare = gb.binary.plus[through], getattr(gb.binary, "eq" if x_type == "FC64" else "lt")[through]
    for op, *rest in ((plus, None, None, None), (plus, 1, -2.5, x_dtype), (compare, None, None, y_dtype)):
        with np.errstate(all="ignore"):
            compared(accelerate.union(A, B, op, None, *rest), REFERENCE.union(A, B, op, None, *rest))


@pytest.mark.parametrize("form", ["sparse", "bitmap", "full"])
@pytest.mark.parametrize("iso", [False, True])
def test_vectors_of_other_types_and_defaults(form, iso):
    rng = np.random.default_rng(3)
    x_dtype, y_dtype = gb.dtypes.INT64, gb.dtypes.FP32
    other = "sparse" if form == "sparse" else "bitmap"
    op = gb.binary.minus["FP64"]
    x = extremes(rng, vector(rng, 500, 300, x_dtype, form, iso=iso))
    for count in (1, 20, 300):
        y = extremes(rng, vector(rng, 500, count, y_dtype, other))
        with np.errstate(all="ignore"):
            same_vector(accelerate.union(x, y, op), REFERENCE.union(x, y, op))
            same_vector(accelerate.intersect(x, y, op), REFERENCE.intersect(x, y, op))
            found = accelerate.union(x, y, op, None, 7, -1, y_dtype)
            same_vector(found, REFERENCE.union(x, y, op, None, 7, -1, y_dtype))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name, type_", [("times", "INT64"), ("minus", "UINT8"), ("minus", "FP32")])
def test_lone_entries_are_cast_to_the_operator_before_they_meet_a_default(name, type_):
    """An operator of another type than both operands: 3 times 2.7 is 6 where the operator is one of integers."""
    rng = np.random.default_rng(33)
    op = getattr(gb.binary, name)[type_]
    A, B = (matrix(rng, 20, 20, 150, gb.dtypes.FP64) for _ in range(2))
    x, y = (vector(rng, 300, 120, gb.dtypes.FP64, "bitmap") for _ in range(2))
    for store in (A, B, x, y):
        store.values[:] = rng.integers(0, 90, store.values.size) + 0.7
    for left, right in ((3, 2), (2, 3)):
        compared(accelerate.union(A, B, op, None, left, right), REFERENCE.union(A, B, op, None, left, right))
        same_vector(accelerate.union(x, y, op, None, left, right), REFERENCE.union(x, y, op, None, left, right))


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("first", [0, 1 << 30])
def test_masks_before_and_after_a_union(monkeypatch, complement, first):
    """UNION_MASK 0: the operands are restricted; else the union.  No kernel looks the mask's entries up."""
    monkeypatch.setattr(tuning, "UNION_MASK", first)
    monkeypatch.setattr(elementwise, "_is_looked_up", lambda A, B, mask: False)
    rng = np.random.default_rng(4)
    for A, mask in itertools.product(stores(rng, "FP64"), stores(rng, "BOOL")):
        inside_a_mask(A, stores(rng, "INT64")[0], StoredMask(mask, complement))


def inside_a_mask(A, B, allow):
    op = gb.binary.minus["FP64"]
    with np.errstate(all="ignore"):
        for rest in ((), (1, 2), (None, None, gb.dtypes.INT8)):
            compared(accelerate.union(A, B, op, allow, *rest), REFERENCE.union(A, B, op, allow, *rest))
        compared(accelerate.union(A, B, None, allow), REFERENCE.union(A, B, None, allow))
        compared(accelerate.intersect(A, B, op, allow), REFERENCE.intersect(A, B, op, allow))


def test_entries_of_a_mask_are_looked_up_in_both_operands():
    rng = np.random.default_rng(8)
    for A, B, mask in itertools.product(stores(rng, "FP64"), stores(rng, "INT64"), stores(rng, "BOOL")):
        inside_a_mask(A, B, StoredMask(mask, False))


@pytest.mark.parametrize("a, b", [(2, 2), (2, 3)])
def test_results_of_one_value_inside_a_mask(a, b):
    """minimum(2, 2) is all that can come; minimum(2, 3) is 2, and 3 where A has no entry."""
    rng = np.random.default_rng(9)
    A, B, mask = (matrix(rng, 60, 30, 400, gb.dtypes.INT64, iso=True) for _ in range(3))
    A.values[:], B.values[:] = a, b
    op, pair, allow = gb.binary.min["INT64"], gb.binary.pair["INT64"], StoredMask(mask, False)
    found = accelerate.union(A, B, op, allow)
    assert found.iso == (a == b)
    compared(found, REFERENCE.union(A, B, op, allow))
    for each in (op, pair):
        found = accelerate.intersect(A, B, each, allow)
        assert found.iso
        compared(found, REFERENCE.intersect(A, B, each, allow))
    A, B, mask = (matrix(rng, 60, 15, count, gb.dtypes.INT64) for count in (400, 30, 300))
    A.ncols = B.ncols = mask.ncols = 30
    mask.indices += 15
    for pattern in (mask, matrix(rng, 60, 30, 0, gb.dtypes.BOOL)):  # no entry of the result
        allow = StoredMask(pattern, False)
        for found in (accelerate.union(A, B, op, allow), accelerate.intersect(A, B, op, allow)):
            assert found.nvals == 0 and found.dtype is op.return_type and not found.iso


def test_rows_beyond_any_array_are_merged():
    rng = np.random.default_rng(5)
    far = 1 << 55
    op = gb.binary.plus["INT64"]

    def huge(count):
        small = to_dcsr(matrix(rng, 60, 30, count, gb.dtypes.INT64))
        indices = small.indices.astype(np.int64) * (far // 30)
        return Compressed(far, far, small.dtype, small.indptr, indices, small.values, False, small.rows * (far // 60))

    for A, B in ((huge(300), huge(300)), (huge(300), huge(5))):
        for found, expected in (
            (accelerate.union(A, B, op), REFERENCE.union(A, B, op)),
            (accelerate.intersect(A, B, op), REFERENCE.intersect(A, B, op)),
            (accelerate.restrict(A, StoredMask(B, True)), REFERENCE.restrict(A, StoredMask(B, True))),
        ):
            np.testing.assert_array_equal(found.rows, expected.rows)
            same_matrix(found, expected)


def test_few_entries_do_not_compile_but_use_what_is_loaded(monkeypatch):
    rng = np.random.default_rng(6)
    A, B = matrix(rng, 20, 20, 60, gb.dtypes.FP64), matrix(rng, 20, 20, 60, gb.dtypes.FP64)
    what = merging.Merge(gb.binary.copysign["FP64"], "union", gb.dtypes.FP64)
    expected = REFERENCE.union(A, B, what.op)
    with monkeypatch.context() as patch:
        patch.setattr(jit, "mode", lambda: "auto")
        jit.forget()
        assert merging.merge_matrices(A, B, what) is NotImplemented
        assert not merging._kernels
    compared(merging.merge_matrices(A, B, what), expected)
    monkeypatch.setattr(jit, "mode", lambda: "auto")
    compared(merging.merge_matrices(A, B, what), expected)


def test_one_chunk_has_no_cuts_inside(monkeypatch):
    """Rows that one thread takes as a whole, on a machine of several."""
    monkeypatch.setattr(jit_threads, "_threads", 2)
    row = (np.array([0]), np.array([10_000_000]))
    for mode in ("union", "intersection", "difference"):
        cuts, starts, capacity, _ = merging._chunks(row, row, mode)
        assert len(cuts) - 1 == len(starts) == 1 and capacity in (10_000_000, 20_000_000)
