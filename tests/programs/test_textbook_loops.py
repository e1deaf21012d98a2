"""Textbook loops as programs on the CPU, where they are the plain function."""

import numpy as np
import pytest

import grb_tile as gb
from support.textbook_loops import LOOPS, same


@pytest.fixture(autouse=True)
def on_the_host():
    with gb.config.set(backend="cpu"):
        yield


@pytest.mark.parametrize("name", LOOPS)
def test_the_plain_function(name):
    n = 30
    rows = np.r_[np.arange(n - 1), np.arange(0, n - 7, 3)]
    cols = np.r_[np.arange(1, n), np.arange(7, n, 3)]
    A = gb.Matrix.from_coo(np.r_[rows, cols], np.r_[cols, rows], True, nrows=n, ncols=n)
    function, arguments = LOOPS[name]
    program = gb.program(function)
    for _ in range(2):
        assert same(program(*arguments(A)), function(*arguments(A)))
    assert "from Python" in program.explain()
