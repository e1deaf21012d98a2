"""Arrays of vectors' entries in loops on the device: positions, values, what combines equal positions, and errors."""

import re
import warnings

import numpy as np
import pytest
from backends.cuda.test_program_lowerings import matrix, shape  # noqa: F401  (a fixture)
from backends.cuda.test_programs import agree, drawn, on_the_device, same_as_plain  # noqa: F401  (a fixture)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning, IndexOutOfBound


def positions(n, seed, low=0):
    return gb.Vector.from_dense(np.random.default_rng(seed).integers(low, n, n))


def values(n, seed, dtype=float, gaps=False):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n).astype(bool) if dtype is bool else rng.integers(-9, 9, n).astype(dtype)
    at = np.flatnonzero(rng.random(n) < 0.6) if gaps else np.arange(n)
    return gb.Vector.from_coo(at, x[at], size=n)


def check(function, make, captured=True):
    """The program's results and those of the plain function, in each of four calls with operands of that number."""
    program = gb.program(function)
    for k in range(4):
        assert agree(program(*make(k)), function(*make(k))), (k, program.explain())
    assert captured is None or ("turns on the device" in program.explain()) is captured, program.explain()


@pytest.mark.parametrize("n", (5, 64, 330))
@pytest.mark.parametrize("gaps", (False, True))
@pytest.mark.parametrize("dtype", ("INT64", "FP64", "BOOL", "INT8", "FP32", "UINT16"))
def test_values_at_positions(n, gaps, dtype):
    def f(p, x, turns):
        for _ in range(turns):
            _, at = p.to_coo()
            x << x[at]
            p << p[p.to_dense()]
        return x, p

    np_type = gb.dtypes.lookup_dtype(dtype).np_type
    check(f, lambda k: (positions(n, k, -n), values(n, k + 9, np_type.type, gaps), 4))


OPERATORS = {
    "min": ("INT64", "FP64", "UINT8"), "max": ("INT32", "FP32"), "plus": ("INT64", "FP64", "FP32", "INT16"),
    "times": ("INT64",), "first": ("FP64", "INT8"), "second": ("FP64", "BOOL"), "lor": ("BOOL",), "lxor": ("BOOL",),
    "band": ("UINT16",),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("gaps", (False, True))
def test_built_at_positions(name, gaps):
    op = getattr(gb.binary, name)

    def f(p, x, turns):
        n = p.size
        total = x.dup()
        for _ in range(turns):
            t = gb.Vector.from_coo(p.to_coo(indices=False)[1], x.to_coo(indices=False)[1], size=n, dup_op=op)
            total("second") << t
            p << p[p.to_coo()[1]]
        return total, x

    def of_gaps(p, x, turns):
        n = p.size
        total = x.dup()
        for _ in range(turns):
            at, numbers = p.to_coo()
            t = gb.Vector.from_coo(at, numbers, size=n)
            t("plus") << gb.Vector.from_coo(numbers, at, dtype=numbers.dtype, size=n, dup_op=gb.binary.max)
            p(t.S) << t % n
            total(p.S) << x
        return total, p

    for dtype in OPERATORS[name]:
        np_type = gb.dtypes.lookup_dtype(dtype).np_type
        for n in (40, 330):
            if gaps:
                make = lambda k, n=n: (values(n, k, int, True).apply(abs).new(), values(n, k + 1), 3)  # noqa: E731
                check(of_gaps, make)
            else:
                check(f, lambda k, n=n, t=np_type: (positions(n, k), values(n, k + 9, t.type), 3))


@pytest.mark.parametrize("accum", (None, "plus", "min"))
@pytest.mark.parametrize("masked", (None, "S", "~S", "replace"))
@pytest.mark.parametrize("what", ("vector", "scalar", "number", "array", "entries"))
def test_written_at_positions(accum, masked, what):
    def f(w, p, x, m, turns):
        for k in range(turns):
            at = p.to_coo()[0] if what == "entries" else p.to_coo()[1]
            value = {"vector": x, "scalar": 3.5, "number": k, "array": x.to_coo()[1], "entries": k}[what]
            mask = {None: None, "S": m.S, "~S": ~m.S, "replace": m.S}[masked]
            if mask is None:
                w(accum=accum)[at] << value
            else:
                w(mask, accum=accum, replace=masked == "replace")[at] << value
            x << x + 1
        return w

    def make(k):
        n = 130
        p = positions(n, k)
        if what in ("entries", "scalar", "number"):
            p = values(n, k, int, True).apply(abs).new()
        return values(n, k + 5, gaps=True), p, values(n, k + 6), values(n, k + 7, gaps=True), 4

    check(f, make)


def test_one_position_and_a_region():
    def f(w, turns):
        for k in range(turns):
            w[3] << k
            w[2] = 2 * k
            w[10:20] << k
            w(w.S, replace=True)[:] << w
        return w

    check(f, lambda k: (values(130, k, int, gaps=True), 5), captured=None)


def test_from_dense_and_build():
    def f(p, x, turns):
        for _ in range(turns):
            y = gb.Vector.from_dense(x.to_dense(0.0))
            x.build(p.to_dense(), y.to_dense(dtype="FP64"), dup_op=gb.binary.plus, clear=True)
            x("plus") << y
        return x

    check(f, lambda k: (positions(70, k), values(70, k, gaps=True), 3))


@pytest.mark.parametrize("bad", (70, -71, 2**62, -(2**62)))
@pytest.mark.parametrize("late", (1, 3, 40))
def test_out_of_bounds(bad, late):
    """In the turn in which the plain function raises it, with the same text and vectors as there."""

    def f(p, x, step, turns):
        for _ in gb.loop(max_turns=turns):
            p << p + step
            x << x[p.to_coo()[1]]
        return x

    def make(step):
        return gb.Vector.from_dense(np.arange(70) // 2), values(70, 1), step, 50

    program, zero = gb.program(f), gb.Vector.from_dense(np.zeros(70, int))
    step = zero.dup()
    step[69] = 1 if bad == 70 else (bad - 34) // late  # 70 from turn 36 on
    for _ in range(3):
        assert agree(program(*make(zero)), f(*make(zero)))
    first, second = make(step), make(step)
    with pytest.raises(IndexOutOfBound) as wanted:
        f(*first)
    with pytest.raises(IndexOutOfBound, match=re.escape(str(wanted.value))):
        program(*second)
    assert all(a.isequal(b) for a, b in zip(first[:2], second[:2], strict=True))
    assert agree(program(*make(zero)), f(*make(zero)))
    assert "turns on the device" in program.explain()


def test_a_wrong_position_before_a_loop_within():
    """Which loads its vectors: that the turn met what only Python can do is not forgotten."""

    def f(p, x, step, turns):
        for _ in gb.loop(max_turns=turns):
            p << p + step
            y = x[p.to_coo()[1]].new()
            more = y.reduce("max").new().value
            while more > 0:
                y << y - 1
                more = y.reduce("max").new().value
            x << x.apply("abs")
        return x

    def make(step):
        return gb.Vector.from_dense(np.arange(70) // 2), gb.Vector.from_dense(np.arange(70) % 5), step, 50

    program, zero = gb.program(f), gb.Vector.from_dense(np.zeros(70, int))
    step = zero.dup()
    step[69] = 1  # 70 from turn 36 on
    for _ in range(3):
        assert agree(program(*make(zero)), f(*make(zero)))
    assert "turns on the device" in program.explain()
    with pytest.raises(IndexOutOfBound):
        program(*make(step))


def test_endless_but_for_the_error():
    def f(p, x, y):
        while x.reduce("plus").new().value > 0:
            p << p + 1
            y << x[p.to_coo()[1]]

    program = gb.program(f)
    for _ in range(3):
        args = gb.Vector.from_dense(np.arange(70) // 2), values(70, 1).apply(abs).new(), values(70, 2)
        with pytest.raises(IndexOutOfBound), warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)  # the third time it is refused
            program(*args)


def test_positions_that_come_twice():
    def f(p, x, shift, turns):
        for _ in range(turns):
            x("second") << gb.Vector.from_coo(p.to_coo()[1], x.to_coo()[1], size=x.size)
            p << (p + shift) % 70
        return x

    program = gb.program(f)

    def make(k, last):
        shift = np.full(70, 3)
        shift[69] = last
        order = gb.Vector.from_dense(np.random.default_rng(k).permutation(70))
        return order, values(70, k), gb.Vector.from_dense(shift), 4

    for k in range(3):
        assert agree(program(*make(k, 3)), f(*make(k, 3)))
    assert "turns on the device" in program.explain()
    with pytest.raises(ValueError, match="Duplicate indices"):
        program(*make(0, 4))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x << x + float(p.to_coo()[1][0])", "is on the device"),
        ("x << sum(p.to_coo()[1])", "is on the device"),
        ("t = x[g.to_coo()[1]].new(); x << x + 1", "only the device knows"),
        (
            "y = (g * 2).new(); t = gb.Vector.from_coo(g.to_coo()[1], y.to_coo()[1], size=70, dup_op=gb.binary.max); "
            "x << x + 1",
            "different vectors",
        ),
        ("t = gb.Vector.from_coo(p.to_coo()[1], x.to_coo()[1], dup_op=gb.binary.plus); x << x + 1", "size="),
        ("x[p.to_coo()[1]] << g", "with gaps is assigned"),
        ("x << x[x.to_coo()[1]]", "Invalid dtype for index"),
    ],
)
def test_refused(text, reason, tmp_path):
    source = f"def f(p, x, g, turns):\n    for _ in range(turns):\n        {text}\n    return x\n"
    file = tmp_path / "refused.py"
    file.write_text(source)
    scope = {"gb": gb}
    exec(compile(source, str(file), "exec"), scope)
    program = gb.program(scope["f"])

    def make(k):
        return positions(70, k), values(70, k), values(70, k, int, gaps=True).apply(abs).new(), 3

    warnings.simplefilter("ignore", CaptureWarning)
    for k in range(4):
        found, wanted = (_outcome(function, make(k)) for function in (program, scope["f"]))
        assert agree(found, wanted) if isinstance(wanted, gb.Vector) else found == wanted
    assert reason in program.explain()


def _outcome(function, arguments):
    """What it returns, or the text of its error."""
    try:
        return function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


STATEMENTS = (
    "c << c[(b % A.nrows).new().to_dense(0)]", "c = c[(a % A.nrows).new().to_dense(4)].new()",
    "a << gb.Vector.from_coo((c % A.nrows).new().to_dense(3), b.to_dense(2), size=A.nrows, dup_op=gb.binary.plus)",
    "b(gb.binary.max) << gb.Vector.from_coo((b % 50).new().to_coo()[1], k, size=A.nrows)",
    "b[(c % A.nrows).new().to_dense(1)] << k", "a('max')[(b % A.nrows).new().to_dense(0)] << b.to_dense(1)",
    "at, x = a.to_coo(); b[at] << x", "b(~a.S)[c.to_coo()[0]] << 2", "a, b = b, a", "k += 2", "k = max(k, 3)",
    "k = abs(k - 7) if c.nvals > 300 else int(k + 1.5)", "c << (c * 7 + k) % A.nrows", "a << a.select('<=', k)",
    "c << c.ewise_add(a, 'min')", "a << A.mxv(b, 'max_second')", "b(b.S, replace=True) << c",
)  # fmt: skip


@pytest.mark.parametrize("case", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 40))])
def test_random_programs(case, shape):  # noqa: F811
    """In one kernel, on grids of any size."""
    same_as_plain(*drawn("positions", case, STATEMENTS), matrix(case).apply("ceil").new(int))
