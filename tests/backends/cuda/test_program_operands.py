"""What a captured loop reads beside its names, each changed between calls; vectors that it writes and then loses."""

import linecache
import warnings

import numpy as np
import pytest
from backends.cuda.test_programs import agree, on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning

N = 70
GLOBAL = 1.0


def full(scale):
    return gb.Vector.from_dense(np.arange(float(N)) * scale)


def diagonal(x):
    return gb.Vector.from_scalar(float(x), N).diag()


def of_closure(x):
    return lambda v: v * x


def of_default(x):
    return lambda v, by=x: v * by


def of_keyword(x):
    def change(v, *, by=x):
        return v * by

    return change


def of_function_within(x):
    def times(v, by=x):
        return v * by

    return lambda v: times(v)


def of_closure_within(x):
    def times(v):
        return v * x

    def change(v):
        return times(v)

    return change


def of_matrix(x, made={2.0: diagonal(2.0), 0.5: diagonal(0.5)}):  # noqa: B006, B008
    A = made[x]
    return lambda v: A.mxv(v, "plus_times")


def of_matrix_default(x, made={2.0: diagonal(2.0), 0.5: diagonal(0.5)}):  # noqa: B006, B008
    def change(v, *, A=made[x]):
        return A.mxv(v, "plus_times")

    return change


def of_tuple(x):
    pair = (x, 1.0)
    return lambda v: v * pair[0]


def of_global(x):
    global GLOBAL
    GLOBAL = x
    return lambda v: v * GLOBAL


MAKERS = (of_closure, of_default, of_keyword, of_function_within, of_closure_within, of_tuple, of_global)


def test_what_functions_read_is_read_anew():
    """The code is one, what it stands for is another: a loop captured for the former must not run.

    The emulation, which runs Python's turns, would give the right result: what the program says of the call tells.
    """

    def applied(v, change, turns):
        for _ in gb.loop(max_turns=turns):
            v << change(v)
        return v

    for make in (*MAKERS, of_matrix, of_matrix_default):
        program, seen = gb.program(applied), set()
        for x in (2.0, 2.0, 0.5, 0.5, 2.0):
            assert agree(program(full(1.0), make(x), 3), (full(1.0) * x**3).new()), (make.__name__, x)
            says = "turns on the device" if x in seen else "the first call of its kind"
            assert says in program.explain(), (make.__name__, x)
            seen.add(x)


LOST = {
    "written, then bound to another": ["x << x + y", "x = (x * 0.5).new()"],
    "written by a mask, then bound to another": ["x(x > 3.0) << 1.0", "x = (x + y).new()"],
    "added to, then bound to another": ["x('plus') << y", "x = x.apply('abs').new()"],
    "written under another name": ["z = x", "z << z + y", "x = (z * 0.5).new()"],
    "a name that is bound once more": ["z = x", "z('plus') << y", "x = z.dup()", "z = y.dup()", "z << z + x"],
}


@pytest.mark.parametrize("name", LOST)
def test_vectors_that_are_written_and_lost(name):
    """The caller still has the vector with which the loop began, and sees what was written."""
    body = [f"        {line}" for line in LOST[name]]
    lines = ["def tried(x, y):", "    for _ in gb.loop(max_turns=4):", *body, "    return x"]
    text, file = "\n".join(lines) + "\n", f"<lost {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"gb": gb}
    exec(compile(text, file, "exec"), scope)
    program = gb.program(scope["tried"])
    wanted = [full(1.0), full(2.0)]
    result = scope["tried"](*wanted)
    for _ in range(5):
        given = [full(1.0), full(2.0)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            assert agree(program(*given), result)
        assert agree(tuple(given), tuple(wanted))
    assert "a vector is written that the loop does not name as the turn ends" in program.explain()


def test_vectors_of_a_turn_that_are_written_in_a_function():
    """Nobody has them after the turn, so the loop runs on the device."""

    def raised(v):
        t = v.dup()
        t("plus") << 1.0
        t(t > 9.0) << 0.5
        return t

    def applied(v, turns):
        for _ in gb.loop(max_turns=turns):
            v << raised(v)
        return v

    program = gb.program(applied)
    for _ in range(4):
        assert agree(program(full(1.0), 3), applied(full(1.0), 3))
    assert "turns on the device" in program.explain()


BRANCHES = {
    "entries of a full vector": ["x(x > 3.0) << 1.0", "total << total + x"],
    "all of it": ["x << x * 0.5", "total << x"],
    "an accumulator": ["x('plus') << 1.0", "total('max') << x"],
    "with gaps": ["x(x > 3.0, replace=True) << x", "total << x"],
}


@pytest.mark.parametrize("name", BRANCHES)
@pytest.mark.parametrize("limit", [-1.0, 40.0, 1e9])
def test_the_other_branch_begins_with_what_was_there(name, limit):
    first, second = BRANCHES[name]
    lines = ["def tried(x, total):", "    for _ in gb.loop(max_turns=4):", "        x << x + 0.25"]
    lines += [f"        if x.reduce('max').new().value > {limit}:", f"            {first}"]
    lines += ["        else:", f"            {second}", "    return x, total"]
    text, file = "\n".join(lines) + "\n", f"<branch {name} {limit}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"gb": gb}
    exec(compile(text, file, "exec"), scope)
    program = gb.program(scope["tried"])
    for _ in range(4):
        assert agree(program(full(1.0), full(0.5)), scope["tried"](full(1.0), full(0.5)))
    assert "turns on the device" in program.explain()
