"""Makes checkers.py and samples.py of this folder importable by name; random graphs follow the suite's one seed."""

import os
import sys

import pytest

import grb_tile as gb
from grb_tile.backends import select
from grb_tile.backends.cpu.graph import compiled
from grb_tile.backends.cpu.jit import cache as jit
from support import seeds

sys.path.insert(0, os.path.dirname(__file__))


@pytest.fixture
def base_seed():
    """The seed of the run (printed in the header of the report); test number k uses 1000 * base_seed + k."""
    return seeds.SEED


@pytest.fixture(params=["compiled", "loop"])
def engine(request):
    """An algorithm as the compiled loop of the CPU backend, and as the loop of GraphBLAS calls in NumPy.

    Of the compiled kernels only those of the algorithms are asked for: the others have tests of their own.  Where
    another backend than the CPU's computes (tests/gpu), "compiled" is called by its name: its loops, or none.
    """
    if request.param == "loop":
        with gb.plan(force="numpy"):
            yield request.param
    elif select.current().name != "cpu":
        yield select.current().name
    else:
        for name, constants in compiled.KERNELS:
            assert jit.plain_kernel(name, **constants).load() is not None, name
        yield request.param
