"""Every option of every algorithm over compiled templates, which small graphs do not reach by themselves."""

import pytest
from test_options import DRAWS, OPTIONS, run

import grb_tile as gb


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    """Of FP64, so that few kernels are compiled."""
    with gb.plan(force="numba"):
        run(name, DRAWS or 10, dtype="FP64")
