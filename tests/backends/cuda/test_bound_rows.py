"""Row-wise products that are bound once their matrix's forms are settled (backends/cuda/products/bound_rows.py)."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.backends.cuda.lowering.semirings import lowered_plain
from grb_tile.backends.cuda.products.bound_rows import bound_rows
from grb_tile.backends.select import using
from support.seeds import generator

N = 300
CALLS = 6  # more than tuning.BUILD_AFTER


@pytest.fixture(autouse=True)
def on_the_device():
    with using_shim() as backend:
        yield backend


def matrix(rng, form, dtype):
    rows = rng.integers(0, N - 40 if form == "gaps" else N, 9 * N)
    rows = np.concatenate((rows, np.arange(N))) if form != "gaps" else rows
    cols = rng.integers(0, N, rows.size)
    if form == "iso":
        return gb.Matrix.from_coo(rows, cols, 1, dtype=dtype, nrows=N, ncols=N)
    return gb.Matrix.from_coo(rows, cols, rng.integers(1, 5, rows.size), dtype=dtype, nrows=N, ncols=N, dup_op="first")


def is_bound(A, x, semiring):
    typed = gb.semiring.from_string(semiring)[A.dtype]
    store, x = A._store, x._store
    stores = [s for s in (store, *(store.forms or {}).values()) if hasattr(s, "indptr")]
    s = lowered_plain(None, typed, A.dtype, store.iso, x.dtype, x.iso)
    return any(bound_rows(each, s) is not None for each in stores)


@pytest.mark.parametrize("form", ["all rows", "gaps", "iso"])
@pytest.mark.parametrize("dtype", ["FP64", "INT32", "FP32"])
@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "plus_second", "max_first", "plus_pair"])
def test_later_calls_are_as_the_first(form, dtype, semiring):
    rng = generator("bound rows", form, dtype, semiring)
    A = matrix(rng, form, dtype)
    with using("cpu"):
        other = gb.Matrix.from_coo(*A.to_coo(), dtype=dtype, nrows=N, ncols=N)
    for call in range(CALLS):
        x = gb.Vector.from_dense(rng.integers(1, 9, N).astype(A.dtype.np_type))
        found = A.mxv(x, semiring).new()
        with using("cpu"):
            want = other.mxv(x, semiring).new()
        assert found.isequal(want, check_dtype=True), f"call {call}"
        assert "rows" in str(gb.explain())
    of_structure = semiring == "plus_pair" or semiring == "max_first" and form == "iso"  # no sum of values
    assert is_bound(A, x, semiring) or of_structure


def test_what_passes_it_by():
    """A mask, a vector with gaps, a forced kernel, another type, one value of x; the matrix has a bound product."""
    rng = generator("bound rows, others")
    A = matrix(rng, "gaps", "FP64")
    x, mask = gb.Vector.from_dense(rng.random(N)), gb.Vector.from_coo(np.arange(0, N, 3), True, size=N)
    for _ in range(CALLS):
        A.mxv(x, "plus_times").new()
    assert is_bound(A, x, "plus_times")
    dense = A.to_dense(fill_value=0)
    gaps = gb.Vector.from_coo(np.arange(0, N, 2), rng.random(N // 2), size=N)
    integers = gb.Vector.from_dense(np.arange(N))
    one = gb.Vector.from_scalar(2.0, N)
    with gb.plan(force="binned_rows"):
        forced = A.mxv(x, "plus_times").new()
        assert "binned_rows" in str(gb.explain())
    cases = [
        (forced, dense @ x.to_dense()),
        (A.mxv(gaps, "plus_times").new(), dense @ gaps.to_dense(fill_value=0)),
        (A.mxv(integers, "plus_times").new(), dense @ np.arange(N)),
        (A.mxv(one, "plus_times").new(), dense.sum(axis=1) * 2),
        (A.mxv(x, "plus_times").new(mask=mask.S), np.where(np.arange(N) % 3 == 0, dense @ x.to_dense(), 0)),
        (A.mxv(x, "plus_times").new(), dense @ x.to_dense()),
    ]
    for k, (found, want) in enumerate(cases):
        np.testing.assert_allclose(found.to_dense(fill_value=0), want, rtol=1e-12, err_msg=f"case {k}")


def test_a_written_matrix_is_read():
    """A result of before stays as it is, and the next product has the new entries."""
    A, x = gb.Matrix.from_dense(np.ones((8, 8)) + np.eye(8)), gb.Vector.from_dense(np.ones(8))
    A.ss.config["sparsity_control"] = "sparse"
    A = gb.Matrix.from_coo(*A.to_coo(), nrows=8, ncols=8)
    for _ in range(CALLS):
        before = A.mxv(x, "plus_times").new()
    A[3, 3] = 100.0
    after = A.mxv(x, "plus_times").new()
    assert before.to_dense().tolist() == [9.0] * 8
    assert after.to_dense().tolist() == [9.0] * 3 + [107.0] + [9.0] * 4
    before[0] = -1.0
    assert A.mxv(x, "plus_times").new().to_dense().tolist() == after.to_dense().tolist()
