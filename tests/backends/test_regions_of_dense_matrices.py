"""Regions of dense matrices: every pair of forms in which rows and columns are given, against the reference backend."""

import itertools

import numpy as np
import pytest
from backends.agree import assert_same

from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.storage.convert import compressed
from grb_tile.storage.dense import to_dense

REFERENCE = select.named("reference")
ROWS, COLS = 7, 5
GIVEN = {
    "all": lambda n: None, "one": lambda n: range(2, 3), "the first": lambda n: range(1), "whole": range,
    "part": lambda n: range(1, n - 1), "every other": lambda n: range(0, n, 2), "down": lambda n: range(n - 1, -1, -1),
    "list of one": lambda n: np.array([3]), "list": lambda n: np.array([4, 0, 2]), "none": lambda n: range(0),
}  # fmt: skip


@pytest.mark.parametrize("format", ["fullr", "fullc", "bitmapr", "bitmapc"])
@pytest.mark.parametrize("name", ["numpy", "cpu"])
def test_every_pair_of_forms(name, format):
    backend, rng = select.named(name), np.random.default_rng(2)
    at = np.arange(ROWS * COLS) if format.startswith("full") else np.sort(rng.permutation(ROWS * COLS)[:20])
    A = compressed(ROWS, COLS, dtypes.INT64, at // COLS, (at % COLS).astype(np.int32), at + 1, False)
    for make_I, make_J in itertools.product(GIVEN.values(), repeat=2):
        I, J = make_I(ROWS), make_J(COLS)
        assert_same(backend.gather_matrix(to_dense(A, format), I, J), REFERENCE.gather_matrix(A, I, J))
        assert_same(backend.outside(to_dense(A, format), I, J), REFERENCE.outside(A, I, J))
        part = REFERENCE.gather_matrix(A, I, J)
        if part.nvals and not any(type(K) is range and K.step < 0 for K in (I, J)):
            form = format if part.nvals == part.nrows * part.ncols else f"bitmap{format[-1]}"
            expanded = backend.expand_matrix(to_dense(part, form), I, J, ROWS, COLS)
            assert_same(expanded, REFERENCE.expand_matrix(part, I, J, ROWS, COLS))
