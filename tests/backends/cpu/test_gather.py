"""Compiled extraction of submatrices against the reference backend: rows and columns of every kind."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.backend import CpuBackend
from grb_tile.backends.cpu.compiled import gather as accelerate
from grb_tile.backends.cpu.jit import cache as jit, threads as jit_threads
from grb_tile.backends.reference import ReferenceBackend
from grb_tile.planner import tuning
from grb_tile.storage.convert import to_csr, to_dcsr
from grb_tile.storage.store import Compressed
from support.stores import matrix, same_matrix

POINT = np.dtype([("x", np.float32), ("y", np.int32)])


@pytest.fixture(autouse=True, params=[1, 3])
def compiled(request, monkeypatch):
    monkeypatch.setattr(tuning, "COMPILED_ENTRIES", 0)
    monkeypatch.setattr(tuning, "PARALLEL_ROWS", 1)
    monkeypatch.setattr(jit_threads, "_threads", request.param)
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def lists(rng, size):
    """None, ranges and lists of every kind of indices below `size`."""
    yield None
    yield from (range(size), range(3, size - 4), range(1, size, 3), range(size - 1, -1, -1), range(size - 2, 0, -3))
    ascending = np.sort(rng.choice(size, size // 2, replace=False))
    yield from (ascending, np.arange(2, size // 2), rng.permutation(size), rng.integers(0, size, 2 * size))
    yield from (np.sort(rng.integers(0, size, size)), np.array([size // 3]), np.empty(0, np.int64), range(0))


def check(A, I, J):
    found = accelerate.gather_matrix(A, I, J)
    if found is NotImplemented:
        assert (I is None and J is None) or (J is not None and len(J) == 0) or _work(A, I) == 0
        return
    wanted = ReferenceBackend().gather_matrix(A, I, J)
    assert found.indices.dtype == wanted.indices.dtype
    same_matrix(to_csr(found), to_csr(wanted))


def _work(A, I):
    return A.nvals if I is None else ReferenceBackend().gather_matrix(A, I, None).nvals


@pytest.mark.parametrize("iso", [False, True])
def test_all_pairs_of_index_lists(iso):
    rng = np.random.default_rng(1)
    A = matrix(rng, 40, 60, 700, gb.dtypes.FP64, iso=iso)
    for I in lists(rng, 40):
        for J in lists(rng, 60):
            check(A, I, J)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT16", "INT32", "UINT64", "FP32", "FC32", "FC64"])
def test_every_size_of_value(dtype):
    rng = np.random.default_rng(2)
    A = matrix(rng, 30, 50, 500, gb.dtypes.lookup_dtype(dtype))
    I = rng.permutation(30)
    for J in (None, range(5, 40), np.sort(rng.choice(50, 20, replace=False)), rng.integers(0, 50, 70)):
        check(A, I, J)


def test_bits_of_values_are_kept():
    """NaNs with a payload and negative zeros come out as they went in."""
    rng = np.random.default_rng(3)
    A = matrix(rng, 30, 50, 500, gb.dtypes.FP64)
    A.values.view(np.uint64)[::2] = np.uint64(0x7FF4000000000123)
    A.values[1::2] = -0.0
    J = rng.permutation(50)
    found = accelerate.gather_matrix(A, None, J)
    wanted = ReferenceBackend().gather_matrix(A, None, J)
    np.testing.assert_array_equal(found.values.view(np.uint64), wanted.values.view(np.uint64))


def test_user_defined_types():
    rng = np.random.default_rng(4)
    dtype = gb.dtypes.register_anonymous(POINT)
    plain = matrix(rng, 30, 50, 500, gb.dtypes.INT64)
    values = np.zeros(plain.nvals, POINT)
    values["x"], values["y"] = rng.random(plain.nvals), rng.integers(0, 9, plain.nvals)
    A = Compressed(30, 50, dtype, plain.indptr, plain.indices, values)
    for J in (None, range(10, 30), rng.integers(0, 50, 60)):
        check(A, np.array([7, 7, 3, 29]), J)
    wide = gb.dtypes.register_anonymous(np.dtype([("x", "f8"), ("y", "f8"), ("z", "f8")]))
    assert accelerate.gather_matrix(Compressed(30, 50, wide, A.indptr, A.indices, np.zeros(A.nvals, wide.np_type)),
                                    None, range(5)) is NotImplemented  # fmt: skip
    array = gb.dtypes.register_anonymous(np.dtype((np.int32, (2,))))
    assert accelerate.gather_matrix(Compressed(30, 50, array, A.indptr, A.indices, np.zeros((A.nvals, 2), np.int32)),
                                    None, range(5)) is NotImplemented  # fmt: skip


def test_hypersparse_rows():
    rng = np.random.default_rng(5)
    size = 1 << 40
    small = matrix(rng, 200, 60, 400, gb.dtypes.INT32)
    dense = to_dcsr(small)
    rows = np.sort(rng.choice(size, dense.rows.shape[0], replace=False))
    A = Compressed(size, 60, small.dtype, dense.indptr, small.indices, small.values, rows=rows)
    named = rng.permutation(np.concatenate((rows[::2], rng.integers(0, size, 30), rows[:5])))
    ranges = (range(size), range(size - 1, -1, -1), range(int(rows[3]), int(rows[90]), 7), range(int(rows[3]), size))
    for I in (None, named, *ranges):
        for J in (None, range(10, 50), rng.permutation(60), rng.integers(0, 60, 90)):
            found = accelerate.gather_matrix(A, I, J)
            if found is NotImplemented:
                assert (I is None and J is None) or _work(A, I) == 0
                continue
            wanted = ReferenceBackend().gather_matrix(A, I, J)
            assert found.shape == wanted.shape
            for mine, theirs in zip(_tuples(found), _tuples(wanted), strict=True):
                np.testing.assert_array_equal(mine, theirs)


def _tuples(A):
    return ReferenceBackend().tuples_matrix(A)


@pytest.mark.parametrize("columns", [80, 1 << 33])
def test_indices_of_either_width(columns):
    """int64 columns become int32 where the result is narrow, and int32 columns int64 where it is wide."""
    rng = np.random.default_rng(6)
    A = matrix(rng, 30, 80, 600, gb.dtypes.FP32, wide=True)
    A.ncols = columns
    for J in (range(20, 60), None):
        check(A, rng.permutation(30), J)
    if columns == 80:
        A = matrix(rng, 30, 80, 600, gb.dtypes.FP32, wide=True)
        check(A, None, rng.permutation(80))


def test_long_rows_are_sorted():
    """Rows longer and shorter than those sorted by insertion, over several words of bits."""
    rng = np.random.default_rng(7)
    A = matrix(rng, 12, 9000, 9000, gb.dtypes.INT64)
    A = ReferenceBackend().gather_matrix(A, None, np.sort(rng.choice(9000, 8000, replace=False)))
    for J in (rng.permutation(8000), rng.integers(0, 8000, 300), rng.permutation(8000)[:40]):
        check(A, None, J)


def test_a_list_far_longer_than_the_work_is_left_to_numpy():
    rng = np.random.default_rng(8)
    A = matrix(rng, 10, 50, 20, gb.dtypes.FP64)
    assert accelerate.gather_matrix(A, None, rng.integers(0, 50, 5000)) is NotImplemented
    A.ncols = 1 << 30
    assert accelerate.gather_matrix(A, None, np.array([3, 1])) is NotImplemented


def test_expansion_is_the_inverse_of_extraction():
    """T[I[k], J[l]] = A[k,l], for lists in any order, ranges and None; arrays are shared where nothing is moved."""
    rng = np.random.default_rng(9)
    for iso in (False, True):
        A = matrix(rng, 20, 30, 200, gb.dtypes.FP64, iso=iso)
        for form in (A, to_dcsr(A)):
            for I in (None, range(5, 25), range(39, 19, -1), range(0, 40, 2), rng.permutation(40)[:20]):
                for J in (None, range(70, 10, -2), range(3, 33), rng.permutation(99)[:30]):
                    nrows, ncols = 20 if I is None else 40, 30 if J is None else 99
                    found = CpuBackend().expand_matrix(form, I, J, nrows, ncols)
                    same_matrix(to_csr(found), to_csr(ReferenceBackend().expand_matrix(form, I, J, nrows, ncols)))
    wide = CpuBackend().expand_matrix(A, range(5, 25), np.sort(rng.choice(1 << 40, 30, False)), 1 << 50, 1 << 40)
    assert wide.indices.dtype == np.int64 and wide.rows is not None
    assert wide.values is A.values and A.shared


def grid(rng, dtype, heights, widths, iso):
    """A grid of tiles, some of them DCSR, empty, or with columns of the wider type."""
    tiles = []
    for height in heights:
        row = []
        for width in widths:
            count = int(rng.choice([0, 1, height * width // 3]))
            A = matrix(rng, height, width, count, dtype, iso=iso and rng.integers(2) == 0, wide=rng.integers(3) == 0)
            row.append(to_dcsr(A) if rng.integers(3) == 0 else A)
        tiles.append(row)
    return tiles


@pytest.mark.parametrize("dtype", ["BOOL", "INT16", "FP32", "INT64", "FC64"])
@pytest.mark.parametrize("iso", [False, True])
def test_concat(dtype, iso):
    rng = np.random.default_rng(8)
    dtype = gb.dtypes.lookup_dtype(dtype)
    for heights, widths in (([9, 4], [7, 30]), ([20], [5, 1, 64]), ([3, 80, 3], [11]), ([6], [6])):
        tiles = grid(rng, dtype, heights, widths, iso)
        for wanted in (dtype, gb.dtypes.FP64):
            expected = ReferenceBackend().concat_matrices(tiles, wanted)
            same_matrix(to_csr(CpuBackend().concat_matrices(tiles, wanted)), to_csr(expected))


def test_concat_of_one_value_in_all_tiles():
    rng = np.random.default_rng(9)
    A = matrix(rng, 20, 20, 90, gb.dtypes.INT64, iso=True)
    B = matrix(rng, 20, 30, 90, gb.dtypes.INT64, iso=True)
    for value, iso in ((A.values[0], True), (A.values[0] + 1, False)):
        B.values = np.array([value])
        found = CpuBackend().concat_matrices([[A, B], [A, B]], gb.dtypes.INT64)
        assert found.iso == iso and found.values.shape[0] == (1 if iso else found.nvals)
        same_matrix(found, ReferenceBackend().concat_matrices([[A, B], [A, B]], gb.dtypes.INT64))


def test_concat_of_hypersparse_tiles():
    rng = np.random.default_rng(10)
    size = 1 << 40
    tiles = []
    for _ in range(2):
        row = []
        for columns in (60, 1 << 40):
            small = to_dcsr(matrix(rng, 200, 60, 150, gb.dtypes.INT32, wide=columns > 60))
            rows = np.sort(rng.choice(size, small.rows.shape[0], replace=False))
            row.append(Compressed(size, columns, small.dtype, small.indptr, small.indices, small.values, rows=rows))
        tiles.append(row)
    found = CpuBackend().concat_matrices(tiles, gb.dtypes.INT32)
    expected = ReferenceBackend().concat_matrices(tiles, gb.dtypes.INT32)
    assert found.shape == expected.shape and found.format == "dcsr"
    for mine, theirs in zip(_tuples(found), _tuples(expected), strict=True):
        np.testing.assert_array_equal(mine, theirs)
