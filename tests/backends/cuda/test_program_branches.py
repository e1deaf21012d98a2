"""`if`, `continue` and `break` in loops of programs: both branches are computed on the device, one is taken."""

import random
import warnings

import numpy as np
import pytest
from backends.cuda.test_programs import N, agree, matrix, on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning
from support import seeds

LIMIT = 0.5


def restarted(A, u, turns):
    """A vector written in one branch, another in both, a number in one."""
    restarts, total = 0, gb.Vector.from_scalar(0.0, N)
    for _ in range(turns):
        u << A.mxv(u, "plus_times")
        size = u.reduce("plus").new().value
        if size > 40.0:
            u << u * (1.0 / size)
            restarts += 1
            total("plus") << u
        else:
            total("max") << u
    return u, total, restarts


def skipped(A, u, turns):
    """`continue` in a chain of tests, one of a number that Python knows."""
    k, seen = 0, 0
    done = gb.Vector(float, N)
    for turn in gb.loop(max_turns=turns):
        u << A.mxv(u, "max_times")
        k += 1
        if turns == 3:
            continue
        if u.nvals < 3:
            seen += 10
            continue
        elif k == 2:
            seen += 100
        done(u.S) << k
        seen += turn
    return done, seen, k


def ended(A, u, turns):
    """`break` in the middle of a turn, after what belongs to the last turn, and at its end."""
    last = 0.0
    for turn in gb.loop(max_turns=turns):
        old = u.dup()
        u << A.mxv(u, "plus_times")
        most = u.reduce("max").new().value
        if most > 30.0:
            last = most
            u << u * 0.5
            break
        u("plus") << old * 0.25
        if turn > 8:
            break
    return u, last


def chosen_object(A, u, turns):
    """A name that each branch binds to a new vector, and one that is bound in one branch alone and read there."""
    w = u.dup()
    for _ in range(turns):
        if w.reduce("plus").new().value > LIMIT:
            half = (w * 0.5).new()
            w = A.mxv(half, "max_times").new()
        else:
            w = (w + 1.0).new()
    return w


def nested(A, u, turns):
    """An `if` in both branches of another, one vector written in all."""
    ways = 0
    for _ in range(turns):
        n = u.reduce("plus").new().value
        if n > 20.0:
            if n > 60.0:
                u << u * 0.125
                ways += 1000
            else:
                u(u > 1.0) << 0.5
                ways += 100
        elif not n > 5.0:
            u << u + 1.0
            ways += 10
        else:
            u("plus") << A.mxv(u, "plus_times")
            ways += 1
    return u, ways


def gaps(A, u, turns):
    """Branches that leave a vector full, with gaps, empty, of one value."""
    w = gb.Vector(float, N)
    for k in range(turns):
        if k == 1:
            w << u
        if k == 2:
            w(u > 0.5, replace=True) << u
        if k == 3:
            w.clear()
        if k == 4:
            w << 2.0
    return w


LOOPS = (restarted, skipped, ended, chosen_object, nested, gaps)


@pytest.mark.parametrize("turns", [1, 3, 5, 12])
@pytest.mark.parametrize("function", LOOPS)
def test_as_from_python(function, turns):
    program, A = gb.program(function), matrix(3)
    for k in range(4):
        u = gb.Vector.from_coo(np.arange(0, N, 1 + k), np.arange(0, N, 1 + k) / N, size=N)
        if k == 3:
            u = gb.Vector.from_scalar(0.25, N)
        for _ in range(3):  # of one kind: from Python, captured, launched
            assert agree(program(A, u.dup(), turns), function(A, u.dup(), turns)), f"{k}: {program.explain()}"
    if turns == 12:
        assert "turns on the device" in program.explain()


def test_what_cannot_be_chosen_runs_from_python():
    def mixed(u, turns):
        what = 0
        for _ in range(turns):
            u << u * 2.0
            if u.reduce("plus").new().value > 100.0:
                what = u.dup()
        return what if isinstance(what, int) else what.nvals

    program, u = gb.program(mixed), gb.Vector.from_scalar(1.0, 8)
    assert program(u.dup(), 6) == 8
    with pytest.warns(CaptureWarning, match="must be vectors or numbers"):
        for _ in range(3):
            assert program(u.dup(), 6) == 8


def test_a_global_that_only_a_branch_reads():
    def shifted(u, turns):
        for _ in range(turns):
            if u.reduce("plus").new().value > 0.0:
                u << u + SHIFT
        return u

    global SHIFT
    SHIFT = 1.0
    program = gb.program(shifted)
    for value in (1.0, 1.0, 1.0, 3.0, 3.0, 3.0):
        SHIFT = value
        assert program(gb.Vector.from_scalar(1.0, 8), 3).to_dense().tolist() == [1.0 + 3 * value] * 8
    assert len(program.loops[0].captured) == 2  # a graph would repeat the number with which it was captured


def found_at(u, limit):
    for turn in range(20):
        u << u * 2.0
        if u.reduce("plus").new().value > limit:
            found = turn
            break
    return found


def last_found(u, limit):
    for turn in range(6):
        u << u * 0.5
        if u.reduce("plus").new().value > limit:
            found = turn
    return found


def raised(u, limit):
    for _ in range(6):
        u << u * 2.0
        if u.reduce("plus").new().value > limit:
            raise ValueError("too large")
    return u.nvals


@pytest.mark.parametrize(("function", "limit"), [(found_at, 100.0), (last_found, 1.0), (raised, 1e9)])
def test_names_of_one_branch_and_errors_of_the_other(function, limit):
    """They run from Python, and what comes out is what Python gives, in every call."""
    program = gb.program(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(8):
            u = gb.Vector.from_scalar(1.0, 8)
            assert program(u.dup(), limit) == function(u.dup(), limit)
    text = "both are computed" if function is raised else "bind it before the loop"
    assert any(text in str(warning.message) for warning in caught)


def test_a_name_that_was_bound_in_the_first_turn_alone():
    """True in turn 0 of the captured call, and never in a later one, where the name has no value."""
    program = gb.program(last_found)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            program(gb.Vector.from_scalar(1.0, 8), 3.0)
        for _ in range(2):
            with pytest.raises(UnboundLocalError):
                program(gb.Vector.from_scalar(0.125, 8), 3.0)


SHIFT = 0.0
STATEMENTS = (
    "u << A.mxv(u, 'max_times')", "w('plus') << u * 0.5", "w(u > x) << 1.0", "u(w.S, replace=True) << u + 0.125",
    "w << u", "k += 1", "x = u.reduce('max').new().value", "x = x * 0.5", "w << w + 1.0", "u('max') << w",
)  # fmt: skip
TESTS = ("x > 0.25", "k > 2", "u.nvals < 20", "w.reduce('plus').new().value > 30.0", "not k == 1", "x > 0.1 and k < 4")


def drawn(rng, depth, lines, indent):
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.5:
            lines.append(f"{indent}if {rng.choice(TESTS)}:")
            drawn(rng, depth - 1, lines, indent + "    ")
            if depth == 2 and rng.random() < 0.4:
                lines.append(f"{indent}    {rng.choice(('continue', 'break'))}")
            if rng.random() < 0.5:
                lines.append(f"{indent}else:")
                drawn(rng, depth - 1, lines, indent + "    ")
        else:
            lines.append(indent + rng.choice(STATEMENTS))


@pytest.mark.parametrize("number", [*range(12), *(pytest.param(k, marks=pytest.mark.slow) for k in range(12, 80))])
def test_drawn_loops(number, tmp_path):
    rng = random.Random(f"branches {seeds.SEED} {number}")
    lines = ["def loop(A, u, w, k, x):", "    for _ in range(7):"]
    drawn(rng, 2, lines, "        ")
    text = "\n".join([*lines, "    return u, w, k, x"])
    file = tmp_path / "drawn.py"
    file.write_text(text)
    scope = {}
    exec(compile(text, str(file), "exec"), scope)
    program, A = gb.program(scope["loop"]), matrix(number)
    for k in range(4):
        at = np.arange(k % 2, N, 2)
        u, w = gb.Vector.from_coo(at, at / N, size=N), gb.Vector.from_coo(at[::3], 0.5, size=N)
        w = w.apply("ainv").new().apply("ainv").new()
        given = (k, 0.4)
        wanted = scope["loop"](A, u.dup(), w.dup(), *given)
        assert agree(program(A, u.dup(), w.dup(), *given), wanted), f"{text}\n{program.explain()}"
