"""Textbook loops as programs: the results of the plain function, from the first call on, and which are captured."""

import warnings

import numpy as np
import pytest
from backends.cuda.test_programs import on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning
from support.textbook_loops import LOOPS, same

FROM_PYTHON = {  # what cannot be captured: why
    "brandes": "reads `frontiers`, of type list",
}
CUBIC = {"clusters", "closure", "all distances"}  # products of full matrices: n^3 look-ups


def graph(n, seed=1):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, n, (2, 2 * n))
    rows, cols = rows[rows != cols], cols[rows != cols]
    return gb.Matrix.from_coo(np.r_[rows, cols], np.r_[cols, rows], True, nrows=n, ncols=n)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("n", (60, pytest.param(330, marks=pytest.mark.slow)))
def test_every_call_as_the_plain_function(name, n):
    function, arguments = LOOPS[name]
    if n > 60 and name in (*FROM_PYTHON, *CUBIC):
        return
    program, A = gb.program(function), graph(n)
    kept = arguments(A)
    wanted = function(*arguments(A))

    def call():
        fresh = arguments(A)
        return program(*(old if isinstance(old, gb.Matrix) else new for old, new in zip(kept, fresh, strict=True)))

    with warnings.catch_warnings():
        if name in FROM_PYTHON:
            warnings.simplefilter("ignore", CaptureWarning)
        for k in range(4):
            assert same(call(), wanted), (k, program.explain())
    if name in FROM_PYTHON:
        assert FROM_PYTHON[name] in program.explain()
    else:
        assert "on the device" in program.explain() and "from Python" not in program.explain()
