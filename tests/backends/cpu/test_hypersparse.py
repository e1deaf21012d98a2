"""Products of matrices whose rows and columns are spread over 2^40, against the reference backend."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.backend import CpuBackend
from grb_tile.backends.cpu.compiled import dispatch, hypersparse
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.backends.reference import ReferenceBackend
from grb_tile.planner import tuning
from grb_tile.storage.constructors import full_vector
from grb_tile.storage.convert import to_dcsr, transpose_of
from grb_tile.storage.store import Compressed, SparseVector, StoredMask
from support.stores import matrix, values

SIZE = 1 << 40


@pytest.fixture(autouse=True)
def compiled():
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def semiring(name, dtype):
    found = gb.semiring.ss if name.endswith(("i", "j", "1")) else gb.semiring
    return getattr(found, name)[dtype]


def spread(X, rows, columns):
    """X with row i at rows[i] and column j at columns[j] of 2^40 (None: where they are)."""
    X = to_dcsr(X)
    names = X.rows if rows is None else rows[X.rows]
    indices = X.indices if columns is None else columns[X.indices]
    wide = [n if at is None else SIZE for n, at in zip(X.shape, (rows, columns), strict=True)]
    return Compressed(*wide, X.dtype, X.indptr, indices, X.values, rows=names)


def places(rng, count):
    return np.sort(rng.choice(SIZE, count, replace=False))


def same_entries(found, wanted):
    assert found.shape == wanted.shape
    tuples = "tuples_matrix" if len(wanted.shape) == 2 else "tuples_vector"
    for mine, theirs in zip(*(getattr(ReferenceBackend(), tuples)(x) for x in (found, wanted)), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("name, dtype", [("plus_times", "FP64"), ("min_first", "INT32"), ("any_pair", "BOOL")])
def test_matrix_times_matrix(name, dtype, few, monkeypatch):
    """Rows and columns of either operand: renumbered, and named again in the result."""
    monkeypatch.setattr(tuning, "COMPILED_ENTRIES", 1 << 20 if few else 0)
    rng = np.random.default_rng(9)
    kind = gb.dtypes.lookup_dtype(dtype)
    op = semiring(name, dtype)
    at, middle = places(rng, 80), places(rng, 80)
    A, B = matrix(rng, 60, 80, 300, kind), matrix(rng, 80, 50, 300, kind)
    for left, right in (
        (spread(A, at, None), B), (spread(A, at, middle), spread(B, middle, None)),
        (spread(A, at, middle), spread(B, middle, at)), (spread(A, None, middle), spread(B, middle, at)),
        (spread(A, at, middle), spread(B, at, None)),
    ):  # fmt: skip
        wanted = ReferenceBackend().matmul(left, right, op)
        for _ in range(2):  # the second finds the columns numbered
            found = dispatch.matmul(left, right, op)
            assert found is not NotImplemented
            same_entries(found, wanted)
        same_entries(dispatch.matmul(left, None, op, BT=transpose_of(right)), wanted)
    assert dispatch.matmul(spread(A, at, None), B, semiring("any_firsti", "INT64")) is NotImplemented


def vectors(rng, at, kind):
    """Of 2^40: positions among `at` and others, fewer and more of them than `at` has, none that it has, and full."""
    mixed = np.unique(np.concatenate([at[::3], places(rng, 20)]))
    many = np.unique(np.concatenate([at[1:], places(rng, 300)]))
    for found in (mixed, at[5:9], many, places(rng, 4)):
        yield SparseVector(SIZE, kind, found, values(rng, kind, found.shape[0]))
    yield SparseVector(SIZE, kind, mixed, values(rng, kind, 1), True)
    yield full_vector(SIZE, kind, values(rng, kind, 1)[0])


@pytest.mark.parametrize("name, dtype", [("plus_times", "FP64"), ("min_first", "INT32"), ("any_pair", "BOOL")])
def test_matrix_times_vector(name, dtype):
    """The first products are NumPy's, those after tuning.NUMBERED_AFTER of a numbered matrix; then under masks."""
    rng = np.random.default_rng(10)
    kind, backend = gb.dtypes.lookup_dtype(dtype), CpuBackend()
    op = semiring(name, dtype)
    rows, columns = places(rng, 60), places(rng, 80)
    A = spread(matrix(rng, 60, 80, 300, kind), rows, columns)
    AT = transpose_of(A)
    operands = list(vectors(rng, columns, kind))
    allowed = np.unique(np.concatenate([rows[::2], places(rng, 10)]))
    pattern = SparseVector(SIZE, gb.dtypes.BOOL, allowed, np.ones(allowed.shape[0], np.bool_))
    for _ in range(int(tuning.NUMBERED_AFTER) + 1):
        for x in operands:
            for mask in (None, StoredMask(pattern), StoredMask(pattern, True)):
                wanted = ReferenceBackend().matvec_rows(A, x, op, mask)
                same_entries(backend.matvec_rows(A, x, op, mask), wanted)
                same_entries(backend.matvec_cols(AT, x, op, mask), wanted)
    assert "columns" in A.forms and "columns" in AT.forms


def test_what_reads_numbers_of_rows_and_columns_is_not_renumbered():
    rng = np.random.default_rng(11)
    A = spread(matrix(rng, 60, 80, 300, gb.dtypes.INT64), places(rng, 60), places(rng, 80))
    x = next(vectors(rng, np.unique(A.indices), gb.dtypes.INT64))
    for _ in range(int(tuning.NUMBERED_AFTER) + 2):
        CpuBackend().matvec_rows(A, x, semiring("plus_times", "INT64"))
    op = semiring("min_secondi", "INT64")
    assert hypersparse.matvec(A, x, op, None, True, None) is NotImplemented
    same_entries(CpuBackend().matvec_rows(A, x, op), ReferenceBackend().matvec_rows(A, x, op))


def test_few_products_of_few_entries_number_no_columns():
    """A frontier reads few of the entries: the time of numbering them all is not lost yet."""
    rng = np.random.default_rng(12)
    A = spread(matrix(rng, 60, 80, 300, gb.dtypes.FP64), places(rng, 60), places(rng, 80))
    x = SparseVector(SIZE, gb.dtypes.FP64, A.rows[:1], np.ones(1))
    for _ in range(10):
        CpuBackend().matvec_cols(A, x, semiring("plus_times", "FP64"))
    assert "columns" not in A.forms


def test_values_written_after_a_product_are_read():
    n = 1 << 40
    A = gb.Matrix.from_coo([5, n - 2], [7, n - 1], [1.0, 2.0], nrows=n, ncols=n)
    x = gb.Vector.from_coo([7, n - 1], [1.0, 1.0], size=n)
    for value in (2.0, 3.0, 4.0, 5.0, 6.0, 7.0):
        A[5, 7] = value
        w = A.mxv(x).new()
        assert w.to_dict() == {5: value, n - 2: 2.0}
        assert A.mxm(A.T).new()[5, 5].value == value * value


def test_no_entries():
    n = 1 << 40
    A, x = gb.Matrix(float, n, n), gb.Vector.from_coo([5], [1.0], size=n)
    assert A._store.format == "dcsr"
    for _ in range(int(tuning.NUMBERED_AFTER) + 2):
        assert A.mxv(x).new().nvals == x.vxm(A).new().nvals == A.mxm(A).new().nvals == 0
