"""Numbers of a loop on the device: functions of them, values of an `if`, `select` and elements by them; and matrices
that a program makes anew in each call.
"""

import math
import warnings

import numpy as np
import pytest
from backends.cuda.test_program_positions import check, values
from backends.cuda.test_program_reports import function_of
from backends.cuda.test_programs import agree, matrix, on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb

TEXTS = (
    "s = float(k)", "s = int(s * 1.75) + 0.0", "b = bool(k % 3)", "s = max(s, float(k), 2.0)", "s = min(1.5, s)",
    "k = max(k, 4)", "k = min(k, 100)", "s = math.sqrt(s * s + 1)", "s = np.log1p(abs(s))", "k = math.floor(s)",
    "k = math.ceil(s + 0.25)", "s = np.maximum(s, 3.0)", "s = math.pow(s, 0.5) + k", "b = np.isfinite(s)",
    "s = 2.5 if k > 9 else s", "k = k + 1 if b else k + 2", "s = s or 7.0", "k = k and 5",
    "s = float(v.reduce('max'))", "k = int(v[3].new().value)", "s = s + v[k % 5].new().value", "s = math.exp(-s)",
    "k = int(v.reduce(gb.agg.ss.argmax).new().value)", "v[k % 70] = 3.0", "v << v.apply('plus', right=k)",
    "v << gb.binary.minus(k, v)", "s = abs(s - 1)",
)  # fmt: skip


@pytest.mark.parametrize("case", range(12))
def test_functions_of_numbers(case, tmp_path):
    rng = np.random.default_rng(case)
    chosen = [TEXTS[k] for k in rng.permutation(len(TEXTS))[:6]]
    if case < 5:  # each text once, at least
        chosen = list(TEXTS[case::5])
    lines = ["def f(v, turns):", " s, k, b = 1.5, 3, True", " for _ in range(turns):", "  k += 1", "  s = s * 1.0"]
    lines += [f"  {text}" for text in chosen] + [
        "  v << v % 8",
        "  k = k % 1000",
        " return v, float(s), int(k), bool(b)",
    ]
    file = tmp_path / "functions.py"
    file.write_text("\n".join(lines) + "\n")
    scope = {"gb": gb, "math": math, "np": np}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    check(scope["f"], lambda k: (gb.Vector.from_dense(np.arange(70.0) % (5 + k)), 5))


OF_A_NUMBER = (
    "max(s, 2)", "min(2.5, s)", "np.maximum(s, 2.5)", "np.minimum(2, s)", "np.fmax(s, 2)", "np.fmin(s, 2.5)",
    "math.pow(s, 2)", "np.power(s, 2.0)", "pow(s, 2.0)", "np.sqrt(s)", "np.exp(s)", "np.arctan(s)", "math.floor(s)",
    "np.isnan(s)", "np.isfinite(s)", "float(s)", "np.int64(s)", "bool(s)", "abs(s)", "np.absolute(s)",
)  # fmt: skip
TURN = ["v << v.apply('identity')", "s = v.reduce('max').new().value"]


@pytest.mark.parametrize("dtype", ("INT8", "UINT64", "FP32"))
def test_functions_of_a_number_of_every_type(dtype):
    names = [f"x{k}" for k in range(len(OF_A_NUMBER))]
    turn = [*TURN, *(f"{name} = float({text})" for name, text in zip(names, OF_A_NUMBER, strict=True))]
    lines = ["for _ in gb.loop(max_turns=3):", *(f"    {line}" for line in turn), f"return {', '.join(names)}"]
    function = function_of("v", *(f"{name} = 0.0" for name in names), *lines)
    function.__globals__.update(math=math, np=np)
    check(function, lambda k: (gb.Vector.from_dense(np.array([1, 3 + k, 2])).dup(dtype),))


@pytest.mark.parametrize("other", (2j, complex(1, math.nan)))
def test_functions_of_a_complex_number(other):
    """Either of both its parts, or from Python; what Python refuses is refused."""
    turn = ["v << v.apply('identity')", "s = v.reduce('plus').new().value"]
    more = ("np.maximum(1j, s)", "np.sqrt(s) - s", "s ** 2.0", "s + 1.5", "max(s, 1j)", "math.sqrt(s)", "int(s)")
    for text in (*OF_A_NUMBER, *more):
        lines = ["for _ in gb.loop(max_turns=3):", *(f"    {line}" for line in turn), f"    x = float(abs({text}))"]
        function = function_of("v", "x = 0.0", *lines, "return x")
        function.__globals__.update(math=math, np=np)
        program, make = gb.program(function), lambda: gb.Vector.from_dense(np.array([-3 + 0j, other]))
        try:
            with np.errstate(all="ignore"):
                wanted = function(make())
        except TypeError:
            with pytest.raises(TypeError):
                program(make())
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", gb.exceptions.CaptureWarning)
            for _ in range(3):
                assert np.isclose(program(make()), wanted, equal_nan=True), (text, program.explain())


@pytest.mark.parametrize("op", ("==", "!=", "<", "<=", ">", ">="))
@pytest.mark.parametrize("dtype", (int, float))
def test_select_by_a_number(op, dtype):
    def f(v, turns):
        for k in range(turns):
            kept = v.select(op, k).new()
            w = gb.select.valuege(v, k - 3).new()
            v(kept.S) << v + 1
            v(w.S) << w
        return v

    check(f, lambda k: (values(130, k, dtype, gaps=True), 6))


def test_rows_and_columns_at_a_number():
    A = matrix(2)

    def f(v, turns):
        for k in gb.loop(max_turns=turns):
            v("plus") << A[k, :]
            row = A[:, k].new()
            v(row.S) << row
            v("max") << A.T[k, :]
        return v

    check(f, lambda k: (values(A.nrows, k), 6))


def test_an_element_that_is_not_there_runs_from_python():
    def f(v, turns):
        s = 0.0
        for k in range(turns):
            found = v[2 * k].new().value
            s += found if found is not None else 1.0
        return s

    program = gb.program(f)
    with pytest.warns(gb.exceptions.CaptureWarning):
        for k in range(4):
            assert program(values(70, k, gaps=True), 6) == f(values(70, k, gaps=True), 6)


def made_anew(W, u, limit):
    light = W.select("<=", limit).new()
    for _ in range(6):
        u("min") << light.mxv(u, "min_plus")
    return u


def test_matrices_that_are_made_in_each_call():
    """Captured by the second call; later calls run the capture where the entries are the same, and plain elsewhere."""
    program, W = gb.program(made_anew), matrix(5)
    on_device = []
    for limit in (0.5, 0.5, 0.5, 0.5, 0.875, 0.5):
        for k in range(2):
            u, w = values(W.nrows, k), values(W.nrows, k)
            assert agree(program(W, u, limit), made_anew(W, w, limit)), program.explain()
        on_device.append("turns on the device" in program.explain())
    assert on_device == [True, True, True, True, True, True]

    different = W.dup()
    different[0, 1] = 0.25  # no more entries below the limit, or one: another value, where there was one
    for k in range(6):
        changed = W.apply("times", right=1.0 + k % 2 / 16).new()
        assert agree(program(changed, values(W.nrows, k), 9.0), made_anew(changed, values(W.nrows, k), 9.0))
    assert agree(program(different, values(W.nrows, 1), 0.5), made_anew(different, values(W.nrows, 1), 0.5))


def test_matrices_made_in_each_call_differ_by_a_sign_of_zero():
    def f(A, x, zero):
        B = A.apply("times", right=zero).new()
        for _ in range(4):
            x << B.mxv(x, "max_second") + x
            y = gb.binary.truediv(1.0, B.reduce_rowwise("min").new()).new()
            x("min") << y
        return x

    program, A = gb.program(f), matrix(4)
    for zero in (0.0, 0.0, 0.0, -0.0, -0.0, 0.0):
        assert agree(program(A, values(A.nrows, 1), zero), f(A, values(A.nrows, 1), zero))
