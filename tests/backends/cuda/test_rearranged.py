"""Rows in another order, and matrices of another shape, by the CUDA backend, its kernels run as fibers."""

import numpy as np
import pytest
from backends import agree

from cuda_emulation.backend import EMULATED, shim
from cuda_emulation.launcher import EmulatedKernel
from grb_tile import dtypes
from grb_tile.backends import rearranged, select
from grb_tile.storage import convert
from support import seeds

NUMPY = select.named("numpy")
TYPES = [dtypes.BOOL, dtypes.INT8, dtypes.UINT64, dtypes.FP32, dtypes.FP64]
ORDERS = ("first", "last", "smallest", "largest", "descending")


def values_of(rng, dtype, count):
    """Few different ones, so that some are equal; NaN, both zeros and infinities."""
    values = rng.integers(0, 6, count)
    if dtype.np_type.kind == "f":
        return np.array([np.nan, -np.inf, np.inf, 0.0, -0.0, 2.0], dtype.np_type)[values]
    return values.astype(dtype.np_type)


def matrix(rng, nrows, ncols, count, dtype, iso=False):
    at = np.unique(rng.integers(0, nrows * ncols, count))
    values = values_of(rng, dtype, 1 if iso else at.size)
    return NUMPY.build_matrix(nrows, ncols, at // ncols, at % ncols, values, None, dtype)


def vector(rng, size, count, dtype, iso=False):
    at = np.unique(rng.integers(0, size, count))
    return NUMPY.build_vector(size, at, values_of(rng, dtype, 1 if iso else at.size), None, dtype)


def same(mine, theirs):
    for found, want in zip(mine, theirs, strict=True):
        assert (found is None) == (want is None)
        if found is not None:
            agree.assert_same(found, want)


@pytest.fixture(autouse=True)
def sparse_rows(monkeypatch):
    """Matrices of few rows may be DCSR."""
    monkeypatch.setattr(convert, "SMALL_ROWS", 4)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_ranked_rows(dtype, order):
    """Of rows that are compared entry by entry, and of longer ones, which are sorted."""
    rng = seeds.generator("ranked rows", dtype, order)
    for nrows, ncols, count in ((9, 6, 30), (30, 7, 12), (7, 60, 150), (1, 40, 33), (6, 5, 0)):
        for iso in (False, True):
            A = matrix(rng, nrows, ncols, count, dtype, iso)
            longest = int(np.diff(A.indptr).max(initial=0))
            for form in ("csr", "dcsr"):
                given = shim().convert(shim().to_device(A), form)
                for width in (None, longest, ncols):
                    want = rearranged.ranked_rows(NUMPY, A, order, width, True, True, 0)
                    same(shim().ranked_rows(given, order, width, True, True), want)
                    same(shim().ranked_rows(given, order, width, False, True), (None, want[1]))
                    same(shim().ranked_rows(given, order, width, True, False), (want[0], None))
    for size, count in ((7, 5), (90, 60), (60, 600), (9, 0)):
        for iso in (False, True):
            u = vector(rng, size, count, dtype, iso)
            for form in ("sparse", "bitmap"):
                given = shim().convert(shim().to_device(u), form)
                for width in (None, size):
                    want = rearranged.ranked_rows(NUMPY, u, order, width, True, True, 0)
                    same(shim().ranked_rows(given, order, width, True, True), want)


@pytest.mark.parametrize("iso", [False, True])
def test_a_random_order_is_one_of_each_row(iso):
    rng = seeds.generator("random ranks")
    for nrows, ncols, count in ((20, 9, 60), (3, 90, 200)):
        A = matrix(rng, nrows, ncols, count, dtypes.INT64, iso)
        values = A.values if not iso else np.repeat(A.values, A.nvals)
        for seed in (1, 2):
            C, P = map(shim().tuples_matrix, shim().ranked_rows(A, "random", None, True, True, seed))
            for i in range(nrows):
                own = slice(*A.indptr[i : i + 2])
                columns = P[2][P[0] == i].astype(int)
                assert sorted(columns) == A.indices[own].tolist()
                by_column = dict(zip(A.indices[own].tolist(), values[own].tolist(), strict=True))
                assert C[2][C[0] == i].tolist() == [by_column[j] for j in columns]
        found = [shim().tuples_matrix(shim().ranked_rows(A, "random", None, False, True, s)[1])[2] for s in (1, 2)]
        assert found[0].tolist() != found[1].tolist()


def test_shapes():
    rng = seeds.generator("shapes")
    for dtype in (dtypes.BOOL, dtypes.FP64, dtypes.FC64):
        for nrows, ncols, count in ((12, 10, 50), (60, 2, 30), (1, 120, 40), (8, 15, 0), (2, 60, 3)):
            for iso in (False, True):
                A = matrix(rng, nrows, ncols, count, dtype, iso)
                for form in ("csr", "dcsr", "bitmapr", "bitmapc"):
                    given = shim().convert(shim().to_device(A), form)
                    for new in (1, 2, 5, 12, 24, 60, 120):
                        shape = new, 120 // new
                        agree.assert_same(shim().reshape_matrix(given, *shape), NUMPY.reshape_matrix(A, *shape))


def test_shapes_of_no_and_of_many_places():
    for rows, columns, shape in (([0, 2**40, 5], [1, 2**18, 3], (2**41, 2**19)), ([], [], (0, 7)), ([], [], (7, 0))):
        A = NUMPY.build_matrix(*shape, np.array(rows, int), np.array(columns, int), np.arange(len(rows)) + 0.5, None,
                               dtypes.FP64)  # fmt: skip
        for new in ((shape[1], shape[0]), (1, shape[0] * shape[1]), (shape[0] * shape[1], 1)):
            if min(shape) or min(new) == 0:
                agree.assert_same(shim().reshape_matrix(A, *new), NUMPY.reshape_matrix(A, *new))


@pytest.mark.skipif(not EMULATED, reason="the CPU emulation counts launches")
def test_launches(monkeypatch):
    rng, launches, run = seeds.generator("launches"), [], EmulatedKernel.__call__
    A = shim().to_device(matrix(rng, 90, 8, 200, dtypes.FP64))
    monkeypatch.setattr(EmulatedKernel, "__call__", lambda x, *a, **k: launches.append(x.name) or run(x, *a, **k))
    shim().ranked_rows(A, "smallest", 8, True, True)
    assert len(launches) == 1, launches
    shim().reshape_matrix(A, 8, 90)
    assert len(launches) == 3, launches
    shim().reshape_matrix(A, 720, 1)
    assert len(launches) == 5, launches
    shim().first_of_rows(A, "last", 2)
    assert len(launches) == 7, launches
