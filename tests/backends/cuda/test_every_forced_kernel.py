"""Each kernel of a product that can be forced, over operands, vectors and masks of every form: as NumPy computes it.

Options meet one another in pairs (support/pairwise.py). The quick run has some of the rows of each kernel.
"""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.planner import FORCIBLE
from grb_tile.storage.convert import to_dcsr
from support.pairwise import combinations
from support.seeds import generator

ROWS, COLS = 150, 330
OF_MATRICES = ("two_phases", "tile_pairs", "inner_windows", "merge_at_mask", "esc")
OF_DENSE = ("spmm_rows", "spmm_slabs")
OTHERS = (
    "dot", "gustavson", "numpy", "numba", "reference", "csr", "nt16", "nt32", "nt64", "grid_wide", "grid_low_skew",
    "blocks_high_diameter", "pull", "push",
)  # fmt: skip
        check = with_a_vector
    return [(row, check) for row in combinations(kernel, **options)]


@pytest.mark.parametrize("share", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, SHARES))])
@pytest.mark.parametrize("kernel", [*OF_VECTORS, *OF_MATRICES, *OF_DENSE])
@pytest.mark.sampled(1)
def test_as_numpy(kernel, share):
    for seed, (row, check) in enumerate(rows_of(kernel)):
        if seed % SHARES == share:
            check(kernel, row, seed)
