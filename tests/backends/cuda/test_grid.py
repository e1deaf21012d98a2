"""Grids of tiles made one matrix, and matrices cut into grids, by the CUDA backend, its kernels run as fibers."""

import numpy as np
import pytest
from backends import agree

from cuda_emulation.backend import EMULATED, shim
from cuda_emulation.launcher import EmulatedKernel
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.storage import convert
from support import seeds

NUMPY = select.named("numpy")


def tile(rng, nrows, ncols, dtype, kind):
    """A store with no entries, one value for all, or values that differ."""
    count = 0 if kind == "empty" else int(rng.integers(1, nrows * ncols // 2))
    at = np.sort(rng.choice(nrows * ncols, count, replace=False))
    values = rng.integers(1, 9, 1 if kind == "iso" else count).astype(dtype.np_type)
    return NUMPY.build_matrix(nrows, ncols, at // ncols, at % ncols, values, None, dtype)


@pytest.mark.parametrize("dtype", [dtypes.BOOL, dtypes.INT64, dtypes.FP32, dtypes.FC64], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (2, 2), (3, 4)], ids=str)
def test_grids(dtype, shape):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *shape])
    for kinds in (["iso"], ["empty"], ["mixed"], ["empty", "mixed"], ["empty", "iso", "mixed"]):
        heights, widths = rng.integers(2, 90, shape[0]), rng.integers(2, 90, shape[1])
        tiles = [[tile(rng, int(h), int(w), dtype, rng.choice(kinds)) for w in widths] for h in heights]
        want = NUMPY.concat_matrices(tiles, dtype)
        agree.assert_same(shim().concat_matrices(tiles, dtype), want)
        cast = NUMPY.concat_matrices(tiles, dtypes.FC64)
        agree.assert_same(shim().concat_matrices(tiles, dtypes.FC64), cast)


def test_a_row_of_tiles_without_entries():
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    for order in ([0, 1, 1], [1, 0, 1], [1, 1, 0]):
        tiles = [[tile(rng, 7, 9, dtypes.FP64, "mixed" if full else "empty") for _ in range(2)] for full in order]
        agree.assert_same(shim().concat_matrices(tiles, dtypes.FP64), NUMPY.concat_matrices(tiles, dtypes.FP64))


SHAPES = [(1, 2), (2, 1), (3, 4), (3, 5), (4, 4), (1, 17), (17, 1), (5, 7)]  # of grids: about, and above, MOST_TILES


@pytest.fixture
def sparse_rows(monkeypatch):
    """Matrices of few rows may be DCSR."""
    monkeypatch.setattr(convert, "SMALL_ROWS", 4)


@pytest.mark.parametrize("dtype", [dtypes.BOOL, dtypes.FP32, dtypes.FC64], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_grids_are_cut_and_joined(dtype, shape, sparse_rows):
    """Also of DCSR tiles, of no rows or columns, and of one value; the tiles that are cut make the matrix again."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *shape])
    for kind in ("mixed", "iso", "empty"):
        for least in (0, 1):
            heights, widths = (rng.integers(least, 30, count).tolist() for count in shape)
            heights[-1], widths[-1] = heights[-1] + 3, widths[-1] + 3
            A = tile(rng, sum(heights), sum(widths), dtype, kind)
            for form in ("csr", "dcsr"):
                given = shim().convert(shim().to_device(A), form)
                found, want = (b.split_matrix(x, heights, widths) for b, x in ((shim(), given), (NUMPY, A)))
                for mine, theirs in zip(sum(found, []), sum(want, []), strict=True):
                    agree.assert_same(mine, theirs)
                agree.assert_same(shim().concat_matrices(found, dtype), A)
                some = [[shim().convert(t, "dcsr") if rng.random() < 0.5 else t for t in row] for row in found]
                agree.assert_same(shim().concat_matrices(some, dtype), A)


def test_wide_tiles():
    """Columns of INT64 beside those of INT32."""
    ends = np.array([0, 5, 2**40]), np.array([3, 2**35, 7])
    A = NUMPY.build_matrix(2**40 + 1, 2**40, *ends, np.array([1.5, 2.5, 3.5]), None, dtypes.FP64)
    B = NUMPY.build_matrix(9, 2**40, ends[0] % 9, ends[1], np.array([1.5, 2.5, 3.5]), None, dtypes.FP64)
    widths = [5, 2**33, 2**40 - 2**33 - 5]
    for whole, heights in ((A, [4, 2**40 - 3]), (B, [4, 5])):
        found, want = (backend.split_matrix(whole, heights, widths) for backend in (shim(), NUMPY))
        for mine, theirs in zip(sum(found, []), sum(want, []), strict=True):
            agree.assert_same(mine, theirs)
        agree.assert_same(shim().concat_matrices(found, dtypes.FP64), whole)


@pytest.mark.skipif(not EMULATED, reason="the CPU emulation counts launches")
def test_launches_do_not_grow_with_the_tiles(monkeypatch):
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    A, launches, run = shim().to_device(tile(rng, 60, 50, dtypes.FP64, "mixed")), [], EmulatedKernel.__call__
    monkeypatch.setattr(EmulatedKernel, "__call__", lambda x, *a, **k: launches.append(x.name) or run(x, *a, **k))
    for shape in ((2, 2), (4, 4)):
        tiles = shim().split_matrix(A, [60 // shape[0]] * shape[0], [25] * 2 if shape[1] == 2 else [12, 12, 13, 13])
        assert len(launches) == 2, launches
        tiles = [[shim().convert(t, "dcsr") if k % 2 else t for k, t in enumerate(row)] for row in tiles]
        launches.clear()
        shim().concat_matrices(tiles, dtypes.FP64)
        assert len(launches) == 2, launches
        launches.clear()
