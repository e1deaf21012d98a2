"""Unions of blocks of rows that lie one above the other equal the merged union, in both formats."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.vectorised import elementwise, union_of_blocks
from grb_tile.dtypes import FP64, INT64
from support import seeds


def block(rng, rows, nrows, ncols, dtype, iso, hyper):
    at = np.unique(rows * ncols + rng.integers(0, ncols, rows.size))
    values = 3 if iso else rng.integers(0, 9, at.size).astype(dtype.np_type)
    A = gb.Matrix.from_coo(at // ncols, at % ncols, values, dtype, nrows=nrows, ncols=ncols)
    A.ss.config["sparsity_control"] = "hypersparse" if hyper else "sparse"
    return A._store


@pytest.mark.parametrize("hyper", [False, True])
@pytest.mark.parametrize("iso", [False, True])
def test_stacked_blocks_equal_the_merged_union(hyper, iso, monkeypatch):
    rng = np.random.default_rng(seeds.SEED)
    op = gb.binary.plus["FP64"]
    for _ in range(40):
        nrows, ncols = int(rng.integers(2, 30)), int(rng.integers(1, 9))
        cut = int(rng.integers(1, nrows))
        upper = block(rng, rng.integers(0, cut, rng.integers(1, 20)), nrows, ncols, FP64, iso, hyper)
        lower = block(rng, rng.integers(cut, nrows, rng.integers(1, 20)), nrows, ncols, INT64, iso, hyper)
        for A, B in ((upper, lower), (lower, upper)):
            assert union_of_blocks.are_blocks(A, B)
            found = elementwise.union(A, B, op)
            with monkeypatch.context() as patch:
                patch.setattr(elementwise, "are_blocks", lambda A, B: False)
                expected = elementwise.union(A, B, op)
            as_matrix = [gb.Matrix._from_store(store, FP64, "M") for store in (found, expected)]
            assert as_matrix[0].isequal(as_matrix[1], check_dtype=True) and found.nvals == A.nvals + B.nvals


def test_rows_in_common_are_not_stacked():
    A = gb.Matrix.from_coo([0, 2], [0, 0], [1, 2], nrows=5, ncols=2)._store
    B = gb.Matrix.from_coo([2, 4], [1, 0], [1, 2], nrows=5, ncols=2)._store
    C = gb.Matrix.from_coo([1], [1], [1], nrows=5, ncols=2)._store
    nothing = gb.Matrix(int, 5, 2)._store
    assert (
        not union_of_blocks.are_blocks(A, B)
        and not union_of_blocks.are_blocks(A, C)
        and not union_of_blocks.are_blocks(C, A)
    )
    assert not union_of_blocks.are_blocks(A, nothing) and union_of_blocks.are_blocks(C, B)
