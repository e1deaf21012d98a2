"""Grids of tiles made one matrix by the CUDA backend, its kernels run as fibers, against the reference backend."""

import numpy as np
import pytest
from backends import agree

from cuda_emulation.backend import shim
from grb_tile import dtypes
from grb_tile.backends import select
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
