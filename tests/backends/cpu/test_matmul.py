"""Compiled matrix products against the NumPy backend: dot and Gustavson, every kind of mask."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.compiled import dispatch as accelerate, matmul as accelerate_matmul
from grb_tile.backends.cpu.jit import cache as jit, threads as jit_threads
from grb_tile.backends.cpu.vectorised import matmul as numpy_matmul
from grb_tile.backends.reference import ReferenceBackend
from grb_tile.planner import tuning, unrecorded
from grb_tile.storage.convert import to_csr, transpose_of
from grb_tile.storage.store import Compressed, StoredMask
from support.stores import matrix, same_matrix, values


@pytest.fixture(autouse=True)
def compiled():
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def semiring(name, dtype):
    found = gb.semiring.ss if name.endswith(("i", "j", "1")) else gb.semiring
    return getattr(found, name)[dtype]


def check(A, B, op, any_value=False, masks=slice(None)):
    BT = transpose_of(B)
    rng = np.random.default_rng(1)
    pattern = matrix(rng, A.nrows, B.ncols, A.nrows * B.ncols // 6, gb.dtypes.BOOL)
    empty = matrix(rng, A.nrows, B.ncols, 0, gb.dtypes.BOOL)
    for allow in (None, StoredMask(pattern), StoredMask(pattern, True), StoredMask(empty), StoredMask(empty, True))[
        masks
    ]:
        wanted = to_csr(numpy_matmul.matmul(A, B, op, allow))
        found = accelerate.matmul(A, B, op, allow)
        assert found is not NotImplemented
        same_matrix(to_csr(found), wanted, any_value)
        if allow is not None and not allow.complement:
            found = accelerate.matmul(A, None, op, allow, unrecorded("dot"), BT=BT)
            assert found is not NotImplemented
            same_matrix(to_csr(found), wanted, any_value)


@pytest.mark.parametrize("name, dtype", [
    ("plus_times", "FP64"), ("plus_pair", "INT64"), ("min_plus", "FP32"), ("any_pair", "BOOL"), ("lor_land", "BOOL"),
    ("any_secondi", "INT64"), ("min_secondj1", "INT64"), ("max_firstj", "INT32"), ("plus_first", "UINT8"),
])  # fmt: skip
def test_products(name, dtype):
    rng = np.random.default_rng(2)
    kind = gb.dtypes.lookup_dtype(dtype)
    A = matrix(rng, 60, 80, 500, kind)
    B = matrix(rng, 80, 50, 600, kind)
    masks = slice(None) if name in ("plus_times", "any_secondi") else slice(1, 2) if dtype != "INT64" else slice(0, 1)
    check(A, B, semiring(name, dtype), name.startswith("any") and not name.endswith("pair"), masks)


def test_numbers_of_rows_and_columns():
    """A multiply that reads no value but where its entries stand: which of i, k and j it is."""
    A = gb.Matrix.from_coo([0, 1], [3, 5], 1, nrows=2, ncols=8)
    B = gb.Matrix.from_coo([3, 5], [6, 7], 1, nrows=8, ncols=9)
    for name, wanted in (("firsti", [0, 1]), ("firstj", [3, 5]), ("secondi", [3, 5]), ("secondj1", [7, 8])):
        C = accelerate.matmul(A._store, B._store, semiring(f"min_{name}", "INT64"))
        assert to_csr(C).indices.tolist() == [6, 7] and to_csr(C).values.tolist() == wanted, name


@pytest.mark.parametrize("a_iso, b_iso, wide", [(True, False, False), (True, True, False), (False, False, True)])
def test_iso_and_wide_indices(a_iso, b_iso, wide):
    rng = np.random.default_rng(3)
    A = matrix(rng, 40, 50, 300, gb.dtypes.FP64, iso=a_iso, wide=wide)
    B = matrix(rng, 50, 30, 300, gb.dtypes.FP64, iso=b_iso, wide=wide)
    op = gb.semiring.plus_times["FP64"]
    check(A, B, op, masks=slice(0, 2))


def test_rows_with_few_and_with_many_columns_are_in_order():
    rng = np.random.default_rng(4)
    op = gb.semiring.plus_times["FP64"]
    A = matrix(rng, 60, 400, 200, gb.dtypes.FP64)
    B = matrix(rng, 400, 9000, 4000, gb.dtypes.FP64)
    C = to_csr(accelerate.matmul(A, B, op))
    lengths = np.diff(C.indptr)
    assert lengths.min() <= 24 < lengths.max()
    same_matrix(C, to_csr(numpy_matmul.matmul(A, B, op)))


def test_lopsided_dots_search():
    rng = np.random.default_rng(5)
    A = matrix(rng, 50, 5000, 100, gb.dtypes.INT64)
    B = matrix(rng, 5000, 20, 50000, gb.dtypes.INT64)
    for name in ("plus_pair", "plus_times"):
        op = getattr(gb.semiring, name)["INT64"]
        pattern = matrix(rng, 50, 20, 400, gb.dtypes.BOOL)
        found = accelerate.matmul(A, None, op, StoredMask(pattern), unrecorded("dot"), BT=transpose_of(B))
        same_matrix(to_csr(found), to_csr(numpy_matmul.matmul(A, B, op, StoredMask(pattern))))


@pytest.mark.parametrize("name, dtype", [("plus_pair", "INT64"), ("any_first", "FP64"), ("lor_land", "BOOL")])
@pytest.mark.sampled(1)
def test_dots_of_rows_of_like_length(name, dtype):
    """Counted, ended at the first product or at the terminal value; rows that end before others begin."""
    rng = np.random.default_rng(5)
    kind, op = gb.dtypes.lookup_dtype(dtype), semiring(name, dtype)
    A, BT = matrix(rng, 50, 70, 700, kind), matrix(rng, 20, 70, 500, kind)
    A.values[:] = np.repeat(np.arange(1, 51), np.diff(A.indptr))  # `any` has one choice
    for pattern in (matrix(rng, 50, 20, 400, gb.dtypes.BOOL), matrix(rng, 50, 20, 9, gb.dtypes.BOOL)):
        found = accelerate.matmul(A, None, op, StoredMask(pattern), unrecorded("dot"), BT=BT)
        same_matrix(to_csr(found), to_csr(ReferenceBackend().matmul(A, transpose_of(BT), op, StoredMask(pattern))))


def test_shared_out_work(monkeypatch):
    monkeypatch.setattr(tuning, "PARALLEL_MATMUL", 1)
    monkeypatch.setattr(accelerate_matmul, "CHUNK_PRODUCTS", 300)
    monkeypatch.setattr(jit_threads, "_threads", 3)
    rng = np.random.default_rng(6)
    A = matrix(rng, 200, 200, 1500, gb.dtypes.FP64)
    check(A, matrix(rng, 200, 200, 1500, gb.dtypes.FP64), gb.semiring.plus_times["FP64"])


def test_no_products_at_all():
    rng = np.random.default_rng(7)
    A = matrix(rng, 20, 20, 30, gb.dtypes.FP64)
    A.indices[:] = 3
    A = matrix(rng, 5, 20, 1, gb.dtypes.FP64)
    B = matrix(rng, 20, 5, 1, gb.dtypes.FP64)
    if A.indices[0] in np.flatnonzero(np.diff(B.indptr)):
        pytest.fail("the two entries should not meet; choose another seed")
    assert accelerate.matmul(A, B, gb.semiring.plus_times["FP64"]).nvals == 0


@pytest.mark.parametrize("name, dtype", [("plus_times", "FP64"), ("min_minus", "INT8"), ("any_firsti", "INT64")])
def test_operands_with_at_most_one_entry_a_row(name, dtype, monkeypatch):
    """Diagonals, permutations and selections on either side: each product is an entry of the result."""
    monkeypatch.setattr(tuning, "PARALLEL_MATMUL", 1)
    monkeypatch.setattr(jit_threads, "_threads", 3)
    rng = np.random.default_rng(8)
    kind = gb.dtypes.lookup_dtype(dtype)
    op = semiring(name, dtype)
    A = matrix(rng, 40, 40, 300, kind)
    ptr = np.arange(41)
    some = np.concatenate(([0], np.cumsum(rng.integers(0, 2, 40))))
    for indptr, indices in (
        (ptr, np.arange(40)), (ptr, rng.permutation(40)), (ptr, rng.integers(0, 40, 40)),
        (some, np.sort(rng.choice(40, some[-1], replace=False))), (some, rng.integers(0, 40, some[-1])),
    ):  # fmt: skip
        D = Compressed(40, 40, kind, indptr.astype(np.int64), indices.astype(np.int32), values(rng, kind, len(indices)))
        for left, right in ((D, A), (A, D), (D, D)):
            check(left, right, op)
