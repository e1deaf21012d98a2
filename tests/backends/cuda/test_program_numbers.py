"""Numbers of a program's loop: each value in each place where a name may get it, also by branches of other types."""

import itertools
import math
import warnings

import numpy as np
import pytest
from backends.cuda.test_program_reports import function_of
from backends.cuda.test_programs import on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning

VALUES = (True, False, 0, -3, 2**53 + 1, 0.0, -0.0, 0.5, -2.75, math.nan, math.inf, -math.inf)


def pairs(step):
    """Each value in each place, beside every step-th of the others and beside those that it is equal to."""
    for k, (first, second) in enumerate(itertools.product(VALUES, VALUES)):
        if first == second or k % step == (k // len(VALUES)) % step:
            yield first, second


def widest(*values):
    """The type of a name that has had these values: FP64, INT64, BOOL."""
    return max(map(type, values), key=(bool, int, float).index)


def same(found, wanted, *others):
    """The same number with its sign, in the widest of the types that a name has had."""
    return repr(found) == repr(wanted if type(found) is type(wanted) else widest(wanted, *others)(wanted))


def by_branch(v, first, second):
    """The number of the branch that the last turn takes, and of the one that it does not take."""
    x = first
    for _ in range(4):
        v << v + 1.0
        if v.reduce("max").new().value < 12.5:
            x = first
        else:
            x = second
    return (x,)


def begins(v, first, second):
    """Read before it is bound anew: in the first turn it is what it was before the loop."""
    x, total = first, gb.Vector.from_scalar(0.0, v.size)
    for _ in gb.loop(max_turns=3):
        total << v * x
        v << v + 1.0
        if v.reduce("max").new().value < 11.5:
            total << v
        x = second
    return total, x


def kept(v, first, second):
    """One that a turn binds to what it is, and one that is a constant of the loop."""
    x, y = first, second
    for _ in gb.loop(max_turns=3):
        v << v + 1.0
        x = x if v.size else y
    return x, y


@pytest.mark.parametrize("function", [by_branch, kept])
def test_every_pair(function):
    for first, second in pairs(4):
        program = gb.program(function)
        wanted = function(gb.Vector.from_dense(np.arange(10.0)), first, second)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            for _ in range(3):
                found = program(gb.Vector.from_dense(np.arange(10.0)), first, second)
                agree = [same(*each, first, second) for each in zip(found, wanted, strict=True)]
                assert all(agree), (first, second, found, wanted, program.explain())
        if function is kept or type(first) is widest(first, second):  # the first turn tells the type
            assert "turns on the device" in program.explain(), (first, second, program.explain())


def test_numbers_that_are_read_before_they_are_bound():
    for first, second in pairs(6):
        program = gb.program(begins)
        wanted, last = begins(gb.Vector.from_dense(np.arange(10.0)), first, second)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            for _ in range(3):
                found, x = program(gb.Vector.from_dense(np.arange(10.0)), first, second)
                assert np.array_equal(found.to_dense(), wanted.to_dense(), equal_nan=True), (first, program.explain())
                assert same(x, last, first), (first, x, last)
        if type(first) is type(second):
            assert "turns on the device" in program.explain(), (first, second, program.explain())


TESTS = {  # statements of a turn that test x and y, numbers of the device
    "if": ["if x:", "    k += 1"],
    "if not": ["if not x:", "    k += 1"],
    "else": ["if x:", "    k += 1", "else:", "    k += 10"],
    "elif": ["if x > 3:", "    k += 1", "elif x:", "    k += 10", "else:", "    k += 100"],
    "and": ["if x and y:", "    k += 1"],
    "or": ["if x or y:", "    k += 1"],
    "not and": ["if not x and not y:", "    k += 1"],
    "three": ["if x or y and not x:", "    k += 1"],
    "continue": ["k += 1", "if x:", "    continue", "k += 10"],
    "continue and what is never run": ["k += 1", "if x:", "    continue", "    k += 1000", "else:", "    k += 10"],
    "what is never run": ["k += 1", "continue", "k += 1000"],
    "break": ["k += 1", "if x:", "    break"],
    "break in the middle": ["k += 1", "if not y:", "    break", "k += 10"],
    "both": ["if x:", "    k += 1", "    if y:", "        continue", "    k += 10", "k += 100"],
    "a comparison": ["if x < y:", "    k += 1", "if x == y:", "    k += 10", "if x != 0:", "    k += 100"],
}


@pytest.mark.parametrize("pair", [(-2.75, 0.0), (-0.0, 4.0), (float("nan"), 0.0), (0, -1)])
def test_numbers_as_conditions(pair):
    """A number is true unless it is 0, whatever its sign and size; NaN is true."""
    a, b = (gb.Vector.from_dense([value] * 3) for value in pair)  # a turn writes them, so they are carried
    for name, body in TESTS.items():
        turn = [
            "a << a.apply('identity')",
            "b << b.apply('identity')",
            "x = a.reduce('max').new().value",
            "y = b.reduce('max').new().value",
            *body,
        ]
        lines = ["for _ in gb.loop(max_turns=3):", *(f"    {line}" for line in turn)]
        function = function_of("a, b", "k = 0", *lines, "return k")
        program, wanted = gb.program(function), function(a, b)
        for _ in range(3):
            assert program(a, b) == wanted, (name, program.explain())
        assert "on the device" in program.explain() or "ended before" in program.explain(), (name, program.explain())


def test_while_of_every_number():
    for value in VALUES:
        if value != value:
            continue
        function = function_of("v, x", "k = 0", "while x:", "    k += 1", "    x = v.reduce('max').new().value",
                               "    if k > 4: break", "return k, x")  # fmt: skip
        v, program = gb.Vector.from_dense([value] * 3), gb.program(function)
        first = type(value)(1)
        for _ in range(3):
            found, wanted = program(v, first), function(v, first)
            assert found[0] == wanted[0] and same(found[1], wanted[1]), (value, program.explain())


WRITTEN = (  # by accumulators of the vector's type and of others
    "a << s", "b(b.S) << s", "c(m.S, replace=True) << s", "d('times') << s", "e(gb.binary.times['FP64']) << s",
    "f(gb.binary.plus['INT8']) << s", "g(m.S, gb.binary.first['FP64']) << s",
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["INT8", "FP32"])
def test_a_number_that_is_written_into_a_vector_of_another_type(dtype):
    """It is of the vector's type before an accumulator takes it."""
    lines = ["u << u + 0.75", "s = u.reduce('plus').new().value", *WRITTEN]
    head = ["for _ in gb.loop(max_turns=3):", *(f"    {line}" for line in lines)]
    function = function_of("u, m, a, b, c, d, e, f, g", *head, "return a, b, c, d, e, f, g")
    program, m = gb.program(function), gb.Vector.from_coo([0, 4], True, size=5)
    for call in range(3):
        found, wanted = (
            tried(gb.Vector.from_dense([0.0, 1.0]), m, *(gb.Vector.from_coo([0, 1, 3], [5, 3, 1], dtype, size=5)
                  for _ in WRITTEN))
            for tried in (program, function)
        )  # fmt: skip
        for text, x, y in zip(WRITTEN, found, wanted, strict=True):
            assert x.dtype is y.dtype and x.isequal(y), (text, x, y, program.explain())
        assert ("on the device" in program.explain()) == (call > 0), program.explain()


def test_a_whole_number_that_floats_do_not_hold():
    """2^53 + 1 is greater than 2^53, which it would be rounded to."""
    head = ["for _ in range(most):", "    if x > 9007199254740992.0:", "        v << v + 1.0", "    x = x * 0.5"]
    function = function_of("v, x, most", *head, "return v, x")
    program = gb.program(function)
    warnings.simplefilter("ignore", CaptureWarning)
    for x in (2**53 + 1, 2**53 + 1, 2**53 + 1, 2**53 + 2, 2.0**53, 2**53 + 1):
        found, wanted = (tried(gb.Vector.from_dense([1.0, 2.0]), x, 3) for tried in (program, function))
        assert found[0].isequal(wanted[0]) and found[1] == wanted[1], (x, program.explain())
