"""Names of a program's function: read in every later place, bound in every place of a loop within, returned in each
branch; what a loop reads, of every kind of value; kinds of calls that are kept, and errors that end one."""

import itertools
import types
import warnings

import numpy as np
import pytest
from backends.cuda.test_program_reports import function_of
from backends.cuda.test_programs import agree, on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning
from grb_tile.programs.running import KEPT

N = 40
TURNS = (3, 3, 3, 0)
LOOP = ["for _ in gb.loop(max_turns=turns):", "    x = (v * 0.5).new()", "    v << x + 1.0"]  # binds x, v stays


def full(scale):
    return gb.Vector.from_dense(np.arange(float(N)) * scale)


def within(*lines):
    return [f"    {line}" for line in lines]


BEFORE = ["x = v.dup()", "y = 0.0"]
LATER = {  # what stands around or after the loop -> lines
    "a return": [*LOOP],
    "the test of a while around it": ["while x.reduce('max').new().value > 2.5 and y < 3:", *within(*LOOP, "y += 1")],
    "the list of a for around it": ["for k in [x.nvals, 2]:", *within(*LOOP, "y = y + k + len([x])")],
    "with": [*LOOP, "with contextlib.nullcontext(x) as y:", "    pass"],
    "a with around it": ["for _ in [1, 2]:", *within("with contextlib.nullcontext(x.dup()) as y:", *within(*LOOP))],
    "an if": [*LOOP, "if x.nvals:", "    y = 1"],
    "an else": [*LOOP, "if y:", "    pass", "else:", "    y = x.dup()"],
    "a comprehension": [*LOOP, "y = [k + x.nvals for k in range(3)][0]"],
    "a text": [*LOOP, "y = f'{x.nvals}'"],
    "an assignment to itself": [*LOOP, "x = (x + 1.0).new()"],
    "an augmented assignment": ["x = 1", LOOP[0], "    x += 1", "    v << v + 1.0"],
    "an element": [*LOOP, "x[0] = 7.0"],
    "an attribute": [*LOOP, "x.name = 'found'", "y = x.name"],
    "a default": [*LOOP, "def last(found=x):", "    return found", "y = last()"],
    "a function before it": ["def last():", "    return x", *LOOP, "y = last()"],
    "a lambda": [*LOOP, "y = (lambda: x)()"],
    "an except": [*LOOP, "try:", "    raise ValueError", "except ValueError:", "    y = x.dup()"],
    "a try": [*LOOP, "try:", "    y = x.dup()", "finally:", "    pass"],
    "a later loop's test": [*LOOP, "while x.reduce('max').new().value > 1.5 and y < 3:", "    y += 1"],
    "the turns of a later loop": [*LOOP, "for _ in range(x.nvals - 38):", "    v << v + 1.0"],
    "a later loop": [*LOOP, "for _ in gb.loop(max_turns=2):", "    v << v + x"],
    "a target's index": ["y = [0]", *LOOP, "y[x.nvals - 40] = 3"],
}


KEPT_LATER = ("a return", "an assignment to itself", "an augmented assignment", "an element")


def test_what_reads_a_name_later():
    for name, lines in LATER.items():
        function = function_of("v, turns", *BEFORE, *lines, "return v, y, x" if name in KEPT_LATER else "return v, y")
        program = gb.program(function)
        for turns in TURNS:
            found, wanted = (_each(call(full(1.0), turns)) for call in (program, function))
            for a, b in zip(found, wanted, strict=True):
                assert agree(a, b) if isinstance(b, gb.Vector) else a == b, (name, turns, program.explain())


def _each(result):
    return result if isinstance(result, tuple) else (result,)


INNER = {  # how a loop within begins
    "range(2)": "for k in range(2):", "range(9)": "for k in range(9):", "range(turns)": "for k in range(turns):",
    "loop": "for k in gb.loop(max_turns=9):", "while True": "while True:",
    "a condition": "for k in gb.loop(lambda: v.nvals > 3, max_turns=10):",
}  # fmt: skip
BOUND = {"a vector": "x = (v * 0.5).new()", "a number": "x = v.reduce('max').new().value", "a count": "x = v.nvals"}


@pytest.mark.parametrize("bound", BOUND)
def test_names_that_a_loop_within_binds(bound):
    """Read after it in the turn; bound before and read after the loop around it, or only within."""
    first = {"a vector": "x = v.dup()", "a number": "x = 1.0", "a count": "x = 1"}[bound]
    for inner, before in itertools.product(INNER, (None, first)):
        lines = [INNER[inner], *within(BOUND[bound], "v << v * 0.5 + 1.0")]
        lines += within("if v.reduce('max').new().value < 8.0: break") if inner == "while True" else []
        body = ["for _ in gb.loop(max_turns=3):", *within(*lines, "v << v + x")]
        function = function_of("v, turns", *filter(None, [before]), *body, "return v, x" if before else "return v")
        program = gb.program(function)
        for _ in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CaptureWarning)
                assert agree(program(full(1.0), 9), function(full(1.0), 9)), (inner, before, program.explain())
        if (
            before and bound != "a vector" or not before and inner in ("range(2)", "range(9)")
        ):  # which have a turn, as their text tells
            assert f"line {3 if before else 2}: 3 turns on the device" in program.explain(), (inner, program.explain())


RETURNS = {
    "then": ["if m > 20.0:", "    return v, 1"],
    "else": ["if m < 20.0:", "    v << v + 1.0", "else:", "    return v, 2"],
    "elif": ["if m < 10.0:", "    v << v + 1.0", "elif m > 20.0:", "    return v, 3"],
    "both": ["if m > 90.0:", "    return v, 4", "v << v + 1.0", "if m < 50.0:", "    v << v + 2.0", "else:",
             "    return v, 5"],
    "an if within": ["if m > 5.0:", "    if m < 30.0:", "        v << v + 1.0", "    else:", "        return v, 6"],
    "a loop within": ["for _ in gb.loop(max_turns=2):", "    if m < 60.0:", "        v << v + 1.0", "    else:",
                      "        return v, 7"],
    "the end": ["return v, 8"],
}  # fmt: skip


def test_a_return_in_every_branch():
    for name, body in RETURNS.items():
        lines = ["for _ in gb.loop(max_turns=6):", *within("v << v * 1.5", "m = v.reduce('max').new().value", *body)]
        function = function_of("v", *lines, "return v, 0")
        program = gb.program(function)
        for scale in (1.0, 1.0, 1.0, 0.001, 9.0):
            assert agree(program(full(scale)), function(full(scale))), (name, scale, program.explain())
        assert "turns on the device" in program.explain() or name == "the end", (name, program.explain())


SHIFT = gb.Matrix.from_coo(np.arange(N - 1), np.arange(1, N), 1.0, nrows=N, ncols=N)
READ = {  # (two values, the vector that a turn makes with one of them)
    "a float": ((0.5, 2.0), "v * what"),
    "a float and its negative": ((0.0, -0.0), "v * what"),
    "a whole number and a float": ((2, 2.5), "v * what"),
    "a bool": ((True, False), "v * (2.0 if what else 3.0)"),
    "a complex number": ((1j, 2j), "v * abs(what)"),
    "a text": (("plus", "max"), "v.ewise_add(v, what)"),
    "None": ((None, 3.0), "v if what is None else v * what"),
    "NumPy's number": ((np.float64(0.5), np.float64(2.0)), "v * what"),
    "NumPy's whole numbers of two types": ((np.int64(1), np.int32(1)), "v * (1.0 + what.itemsize)"),
    "NumPy's type": ((np.dtype("int32"), np.dtype("int64")), "v * what.itemsize"),
    "a Scalar": (tuple(map(gb.Scalar.from_value, (0.5, 2.0))), "v * what"),
    "a Scalar of another type": (tuple(map(gb.Scalar.from_value, (2, 2.0))), "v * float(len(what.dtype.name))"),
    "a Scalar without a value": ((gb.Scalar(float), gb.Scalar.from_value(2.0)), "v * (4.0 if what.is_empty else what)"),
    "a matrix": ((SHIFT, SHIFT.T.new()), "what.mxv(v)"),
    "a matrix and its transpose": ((SHIFT, SHIFT.T), "what.mxv(v)"),
    "an operator": ((gb.binary.plus, gb.binary.max), "v.ewise_add(v, what)"),
    "a semiring": ((gb.semiring.plus_times, gb.semiring.max_plus), "SHIFT.mxv(v, what)"),
    "a type": ((gb.dtypes.FP32, gb.dtypes.FP64), "v * (3.0 if what is gb.dtypes.FP32 else 5.0)"),
    "a tuple": (((1.0, 2.0), (1.0, 3.0)), "v * what[1]"),
    "a slice": ((slice(0, 3), slice(0, 5)), "v * what.stop"),
    "functions of one name": ([(lambda x: x * 0.5), (lambda x: x * 2.0)], "what(v)"),
    "methods of the library": ((gb.unary.abs, gb.unary.ainv), "v.apply(what)"),
    "vectors of two types": ((full(1.0).dup("FP32"), full(1.0)), "v + what"),
    "a vector of one value": ((gb.Vector.from_scalar(1.0, N), full(1.0)), "v + what"),
    "a vector without entries": ((gb.Vector(float, N), full(1.0)), "v + what"),
}  # fmt: skip


def test_a_loop_is_captured_for_what_it_reads():
    """The emulation would run the new value's turn: what the program says of the call tells, as on a device."""
    for name, (values, text) in READ.items():
        function = function_of("v, what, SHIFT", "for _ in gb.loop(max_turns=3):", f"    v << {text}", "return v")
        program, seen = gb.program(function), [0, 0]
        for k in (0, 0, 1, 1, 0, 1):
            given = full(1.0), values[k], SHIFT
            assert agree(program(full(1.0), *given[1:]), function(*given)), (name, k, program.explain())
            says = "turns on the device" if seen[k] else "the first call of its kind"
            assert says in program.explain(), (name, k, program.explain())
            seen[k] += 1


def test_a_name_that_hides_a_builtin_is_read():
    """A global one and one of a function around it, each of another value in a later call."""

    def made(abs, max):
        def scaled(v):
            for _ in gb.loop(max_turns=3):
                v << v * abs + max
            return v

        return scaled

    program = None
    for pair in ((0.5, 1.0), (0.5, 1.0), (2.0, 1.0), (2.0, 3.0)):
        function = made(*pair)
        if program is None:
            program, cells = (
                gb.program(function),
                dict(zip(function.__code__.co_freevars, function.__closure__, strict=True)),
            )
        cells["abs"].cell_contents, cells["max"].cell_contents = pair
        assert agree(program(full(1.0)), function(full(1.0))), pair
    assert "the first call of its kind" in program.explain()
    glob = function_of("v", "for _ in gb.loop(max_turns=3):", "    v << v * sum", "return v")
    program = gb.program(glob)
    for value, says in ((2.0, "first call"), (2.0, "on the device"), (0.5, "first call"), (0.5, "on the device")):
        glob.__globals__["sum"] = value
        assert agree(program(full(1.0)), glob(full(1.0))) and says in program.explain(), value


def test_every_reason_is_told():
    """Of the latest call, whatever was told of the calls before."""
    function = function_of("v, turns", "for _ in gb.loop(max_turns=turns):", "    v << v * 0.5", "return v")
    program = gb.program(function)
    for turns, reason in (
        (3, "the first call of its kind"),
        (1, "it ended before it was captured"),
        (3, None),
        (3, None),
    ):
        program(full(1.0), turns)
        assert program.loops[0].reason == reason, turns
    with gb.plan(force="rows"):
        program(full(1.0), 3)
        assert program.loops[0].reason == "a plan is forced"
    with gb.Recorder():
        program(full(1.0), 3)
        assert program.loops[0].reason == "a Recorder records the calls"
    program(full(1.0), 3)
    assert program.loops[0].reason is None


@pytest.mark.parametrize("wrong", ["turns=3", "max_turns=2, turns=3", "max_turns='2'", "max_turns=-1", "max_turns=True",
                                   "lambda: v.nvals, max_turns=2, most=1"])  # fmt: skip
def test_wrong_arguments_of_a_loop(wrong):
    """In a program the same error as outside of one, in each call."""
    function = function_of("v", "k = 0", f"for _ in gb.loop({wrong}):", "    v << v * 0.5", "    k += 1",
                           "    if k > 5: break", "return v, k")  # fmt: skip
    program = gb.program(function)
    for _ in range(4):
        with pytest.raises((TypeError, ValueError)) as plain:
            function(full(1.0))
        with pytest.raises(type(plain.value)), warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            program(full(1.0))


def test_the_kinds_used_last_are_kept():
    """One that is used again and again stays, beside more others than are kept."""

    def applied(v, by):
        for _ in gb.loop(max_turns=2):
            v << v * by
        return v

    program = gb.program(applied)
    for by in range(2, 2 + 2 * KEPT):
        for each in (1.5, 1.5, float(by), float(by)):
            assert agree(program(full(1.0), each), applied(full(1.0), each))
            if each == 1.5 and by > 2:
                assert "turns on the device" in program.explain(), by
    program(full(1.0), 2.0)
    assert "the first call of its kind" in program.explain()


STATE = types.ModuleType("state")


def ticked(v):
    STATE.count += 1
    if STATE.count == STATE.last:
        raise STATE.error("here")
    return v


ticked.__module__ = "grb_tile.tests"  # what functions of the library read or change is not asked


def counted(v):
    for _ in gb.loop(max_turns=4):
        v << v + 1.0
        v << ticked(v) * 2.0
    return v


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError])
def test_errors_leave_what_a_loop_on_the_device_had(error):
    """Whichever turn of whichever call of a kind ends in it; the next call is right."""
    STATE.error = error
    for last in range(4, 14):
        STATE.count, STATE.last = 0, 0
        wanted, program = counted(full(1.0)), gb.program(counted)
        STATE.count, STATE.last = 0, last
        for call in range(4):
            v = full(1.0)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", CaptureWarning)
                    program(v)
            except error:
                assert call == 0 or error is not ValueError and v.isequal(full(1.0)), (call, last)
            else:
                assert v.isclose(wanted), (call, last, program.explain())


def test_a_scalar_that_is_zero_of_the_other_sign():
    """A turn captured with 0.0 is not that of -0.0, though the two are equal."""
    body = ["for _ in gb.loop(max_turns=3):", "    v << v.apply('times', right=s)"]
    function = function_of("v, s", *body, "return (1 / v).new()")
    program = gb.program(function)
    for zero in (0.0, 0.0, 0.0, -0.0, -0.0, 0.0):
        found = program(full(1.0), gb.Scalar.from_value(zero))
        assert np.array_equal(found.to_dense(), np.full(N, np.copysign(np.inf, zero))), (zero, program.explain())


def test_a_scalar_whose_values_are_an_array():
    """Its text rounds them to eight digits."""
    dtype = gb.dtypes.register_anonymous(np.dtype("(3,)f8"))
    body = ["for _ in gb.loop(max_turns=3):", "    v << v + float(s.value[0])", "return v"]
    function = function_of("v, s", *body)
    program = gb.program(function)
    for first in (1.0, 1.0, 1.0, 1.0, 1.0 + 1e-10, 1.0 + 1e-10, 1.0):
        s = gb.Scalar(dtype)
        s.value = [first, 2.0, 3.0]
        assert program(full(1.0), s).isequal(function(full(1.0), s)), (first, program.explain())
    assert "3 turns on the device" in program.explain()


def test_the_kind_that_was_used_last_stays():
    """Of loops whose later calls are not bound, because a matrix changes."""
    program = gb.program(
        function_of("v, B", "for _ in range(3):", "    B << B.apply('abs')", "    v << B.mxv(v)", "return v")
    )

    def call(size):
        v, B = gb.Vector.from_scalar(1.0, size), gb.Vector.from_scalar(-0.5, size).diag()
        assert program(v, B).isclose(gb.Vector.from_scalar(0.125, size)), program.explain()
        return "first call of its kind" not in program.explain()

    for size in range(4, 12):  # as many kinds as are kept
        assert not call(size) and call(size)
    assert call(4)
    assert not call(12)  # the oldest goes, which is 5
    assert call(4)
