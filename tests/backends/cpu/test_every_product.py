"""Products over operands of every form, types and masks, by compiled kernels: as NumPy computes them."""

import contextlib

import pytest
from backends import product_forms

import grb_tile as gb

SHARES = 3  # of the rows of a way; the quick run has one
WAYS = ("rows", "cols", "segments_binned", "tiled", "bittiled", "bitblock", "push_csc", "pull_csc", "push_csr",
        "dot", "gustavson", "spmm_rows")  # fmt: skip


@contextlib.contextmanager
def compiled():
    with gb.plan(force="numba"):
        yield


@pytest.mark.parametrize("share", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, SHARES))])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.sampled(1)
def test_as_numpy(way, share):
    product_forms.check(compiled, way, share, SHARES)
