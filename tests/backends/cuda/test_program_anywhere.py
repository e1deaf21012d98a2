"""Matrices of few positions that change in a loop and may have entries anywhere: products without a mask and at
complements, vectors along rows and columns.
"""

import numpy as np
import pytest
from backends.cuda.test_programs import drawn, on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile.programs import bounded

ROWS, N = 3, 40


def whole(rows, columns, seed, share=0.1):
    rng = np.random.default_rng(seed)
    there = rng.random((rows, columns)) < share
    at = np.nonzero(there)
    return gb.Matrix.from_coo(*at, rng.integers(1, 9, at[0].size), nrows=rows, ncols=columns)


STATEMENTS = (
    "C << C.mxm(A, 'max_second')", "C('max') << C.mxm(A, 'min_plus')", "C(~D.S, replace=True) << C.mxm(A, 'any_pair')",
    "C(~D.S) << C.mxm(A, 'plus_pair')", "D(C.S) << k", "C << gb.binary.min(C & row)", "D << gb.binary.plus(column & D)",
    "C << gb.binary.max(column & C)", "C, D = D, C", "C << C.select('<=', 60)", "D(~M.S) << C.mxm(A, 'max_times')",
    "D(C.V, replace=True) << D", "C << C.ewise_add(D, 'min')", "D(~M.S) << 2", "k += 2",
)  # fmt: skip


def results(function, case, turns):
    C, D, M = (whole(ROWS, N, case + k) for k in range(3))
    row, column = gb.Vector.from_dense(np.arange(N) + 1), gb.Vector.from_coo([0, 2], [3, 4], size=ROWS)
    C, D, M, row, column, k = function(whole(N, N, case + 9), C, D, M, row, column, turns)
    return C, D, k


@pytest.mark.parametrize("case", [*range(6), *(pytest.param(k, marks=pytest.mark.slow) for k in range(6, 40))])
def test_random_programs(case):
    text, function = drawn("anywhere", case, STATEMENTS, ("k += 1", "if C.nvals > 100: break"), "C, D, M, row, column")
    program = gb.program(function)
    for turns in (5, 5, 5, 2, 6):
        found, wanted = results(program, case, turns), results(function, case, turns)
        assert found[2] == wanted[2], (text, program.explain())
        assert all(a.isequal(b) for a, b in zip(found[:2], wanted[:2], strict=True)), (text, program.explain())


def squares(R):
    while True:
        before = R.nvals
        R << gb.binary.lor(R | R.mxm(R, gb.semiring.lor_land).new())
        if R.nvals == before:
            return R


def test_too_many_positions_run_from_python(monkeypatch):
    program, R = gb.program(squares), whole(N, N, 1).apply("one").new(bool)
    wanted = squares(R.dup())
    for _ in range(3):
        assert program(R.dup()).isequal(wanted)
    assert f"within {N * N} positions" in program.explain()
    monkeypatch.setattr(bounded, "MOST_ANYWHERE", N * N - 1)
    program = gb.program(squares)
    for k in range(4):
        if k == 3:
            with pytest.warns(gb.exceptions.CaptureWarning, match="may have entries anywhere"):
                assert program(R.dup()).isequal(wanted)
        else:
            assert program(R.dup()).isequal(wanted)
