"""Loops within loops of programs, and `return` in them: on the device the results of the plain function."""

import contextlib
import random
import warnings

import numpy as np
import pytest
from backends.cuda.test_programs import N, agree, matrix, on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning
from support import seeds


def components(A, u, turns):
    """A search from the least vertex without a label, again and again; the inner loop may have no turn."""
    label, rest = gb.Vector(int, N), gb.Vector.from_scalar(1, N)
    count = 0
    place = gb.Vector.from_dense(np.arange(N))
    while rest.nvals and count < turns:
        least = place.dup(mask=rest.S).reduce("min").new().value
        f = (place == least).new()
        f(f.V, replace=True) << True
        depth = 0
        while f.nvals:
            label(f.S) << count
            f(~label.S, replace=True) << f.vxm(A, "any_pair")
            depth += 1
        rest(label.S, replace=True) << gb.Vector(int, N)
        rest(~label.S, replace=True) << 1
        count += 1
    return label, count


def restarted(A, u, turns):
    """Power iteration within a number of restarts; a number of the inner loop is read after it."""
    size, inner = 1.0, 0
    for turn in gb.loop(max_turns=turns):
        change = 1.0
        while change > 0.01 and inner < 100:
            old = u.dup()
            u << A.mxv(u, "plus_times")
            size = u.reduce("max").new().value
            u << u * (1.0 / size)
            change = abs(u - old).reduce("max").new().value
            inner += 1
        u("plus") << 0.125
        inner += 1000 * turn
    return u, size, inner


def sweeps(A, u, turns):
    """A short inner loop, unrolled, with a swap; one too long for that; one in a branch that is seldom taken."""
    w, k = u.dup(), 0
    for _ in range(turns):
        for j in range(3):
            u, w = w, u
            u << A.mxv(w, "max_times")
            k += j
        for j in range(12):
            w(w.S) << w * 0.75
            k += j
        if w.reduce("max").new().value < 0.01:
            while w.reduce("max").new().value < 1.0:
                w << w * 2.0
                k += 1
    return u, w, k


def three(A, u, turns):
    """Three deep, `break` and `continue` in each."""
    k = 0
    for a in gb.loop(max_turns=turns):
        x = u.reduce("plus").new().value
        while x > 2.0:
            x = x * 0.5
            if k > 40:
                continue
            for _ in gb.loop(max_turns=20):
                u("max") << A.mxv(u, "max_times")
                k += 1
                if u.nvals > 30 + a:
                    break
            u(u.S) << u * 0.5
        if k > 100:
            break
        u << u + 0.25
    return u, k, x


def first_found(A, u, turns):
    """`return` in a branch, in the middle of a turn and at its end."""
    if turns == 1:
        return u, -1
    for turn in gb.loop(max_turns=turns):
        u << A.mxv(u, "max_times")
        if u.nvals < 3:
            return u, turn
        u << u * 0.5
        if u.reduce("max").new().value < 0.02:
            return (u * 2.0).new(), 100 + turn
    return u, 1000


def found_within(A, u, turns):
    """`return` in a loop within, and after it."""
    k, last = 0, 0
    for turn in range(turns):
        w = u.dup()
        for step in range(10):
            size = w.nvals
            k += step * 0
        last = last + step + size
        while w.reduce("max").new().value < 8.0:
            w << w * 2.0
            k += 1
            if k > 25:
                return w, k, turn, step, last
        u << A.mxv(w, "max_times")
        if u.nvals == 0:
            return u, k
        u << u * 0.25
    return u, k, -1, last


def never(A, u, turns):
    """An inner loop that has no turn, of operands that have not been computed before it."""
    total, w = 0.0, u.dup()
    for _ in range(turns):
        both = (u + w).new()
        while total > 1e9:
            total = both.reduce("plus").new().value + both.nvals
            w << both
        u << both * 0.5
        total += both.nvals
    return u, w, total


def endless(A, u, turns):
    """Loops that never end, in branches that are not taken, and one whose test does not hold."""
    x = 1.0
    for _ in range(turns):
        u << A.mxv(u, "max_times")
        if u.reduce("max").new().value < 0.0:
            while x > 0.0:
                x = x + 1.0
        else:
            x = x + 0.5
            if x < 0.0:
                while True:
                    u << u + 1.0
                    if u.nvals == -1:
                        break
        while x < 0.0:
            x = x - 1.0
    return u, x


LOOPS = (components, restarted, sweeps, three, first_found, found_within, never, endless)


def test_a_loop_within_that_has_no_turn():
    program, A = gb.program(never), matrix(3)
    for _ in range(4):
        u = gb.Vector.from_coo(np.arange(0, N, 2), 0.5, size=N).apply("ainv").new()
        assert agree(program(A, u.dup(), 3), never(A, u.dup(), 3))
    assert "in the turns of the loop around it" in program.explain()


def test_a_return_out_of_a_captured_loop():
    program, A = gb.program(first_found), matrix(3)
    for _ in range(4):
        u = gb.Vector.from_coo(np.arange(N), np.arange(N) / N, size=N)
        found = program(A, u.dup(), 12)
        assert agree(found, first_found(A, u.dup(), 12)) and found[1] == 105
    assert "turns on the device" in program.explain()


@pytest.mark.parametrize("turns", [1, 4, 12])
@pytest.mark.parametrize("function", LOOPS)
def test_as_from_python(function, turns):
    program, A = gb.program(function), matrix(3)
    if function is components:
        A = A.select(">", 0.8).new()
    for k in range(3):
        u = gb.Vector.from_coo(np.arange(0, N, 1 + k), np.arange(0, N, 1 + k) / N, size=N)
        for _ in range(3):  # of one kind: from Python, captured, launched
            assert agree(program(A, u.dup(), turns), function(A, u.dup(), turns)), f"{k}: {program.explain()}"
    if turns == 12:
        assert "turns on the device" in program.explain(), program.explain()
        assert function is first_found or "in the turns of the loop around it" in program.explain()


def exchanged_after(A, u, turns):
    """Vectors that get each other's name after a loop."""
    w, k = u.dup(), 0
    for _ in gb.loop(max_turns=turns):
        w << w + u
        while k < 3:
            k += 1
        k = 0
    u, w = w, u
    return u, w


def bound_after(A, u, turns):
    """What a function of its own reads gets another vector and another number after the loop."""
    w, x, k = u.dup(), 0.5, 0

    def step():
        return w * x

    for _ in gb.loop(max_turns=turns):
        u << u + step()
        while k < 3:
            k += 1
        k = 0
    w, x = u, 7.0
    return u


def added():
    return everywhere * 0.5


def of_the_module(A, u, turns):
    """The name of the module stands for a new vector in each call."""
    global everywhere
    everywhere, k = u.dup(), 0
    for _ in gb.loop(max_turns=turns):
        u << u + added()
        everywhere << everywhere + 1.0
        while k < 3:
            k += 1
        k = 0
    return u, everywhere


@pytest.mark.parametrize("function", [exchanged_after, bound_after, of_the_module])
def test_names_bound_anew_after_the_capture(function):
    """A captured turn stands for the vectors and numbers that its names had, whatever they are bound to later."""
    program = gb.program(function)
    for call in range(4):
        u = gb.Vector.from_dense(np.arange(N) + call / 2)
        assert agree(program(None, u.dup(), 4), function(None, u.dup(), 4)), (call, program.explain())
        assert ("4 turns on the device" in program.explain()) == (call > 0), (call, program.explain())


STATEMENTS = (
    "u << A.mxv(u, 'max_times')", "w('plus') << u * 0.5", "w(u > x) << 1.0", "u(w.S, replace=True) << u + 0.125",
    "w << u", "k += 1", "x = z.ewise_add(u, 'plus').new().reduce('max').new().value", "x = x * 0.5", "w << w + 1.0",
    "u('max') << w", "old = u.dup()", "w << w + k", "k += u.nvals", "u(u.S) << u * 0.5", "k = k % 37",
    "w(u.V) << 2.0", "w(~u.V, replace=True) << u", "u(p.S) << x", "p(u.S) << k", "p(~u.S) << 3", "p('plus') << 1",
    "p << A.mxv(p, 'min_second')", "w('min') << u.vxm(A, 'min_plus')", "u << u.ewise_mult(w, 'plus')",
    "w << u.ewise_add(w, 'min')", "u << u.select('>', x)", "w << w.select('<', 8.0)", "p << p.apply('plus', right=k)",
    "u, w = w, u", "u, w, q = q, u, w", "x = x + 1", "x = x if k % 2 else 0.5", "b = u.nvals > w.nvals", "b = not b",
    "x = max(x, 1.5)", "p(p.V, 'max') << k", "q(~p.S, replace=True) << w", "q = (u + w).new()", "q << z", "q << u - w",
    "u(~w.S, 'plus', replace=True) << 0.25", "q('times') << A.T.mxv(u, 'plus_times')", "p << p % 11", "q.clear()",
    "u(q.S) << A.mxv(u, 'plus_second')", "w(~q.V) << w.vxm(A, 'min_first')", "x, k = x + k, k + 1", "k, j = j, k",
    "j = k - j", "x = abs(x - 1.5)", "u[k % 60] << x", "u[k % 75] << x", "w << u.apply('abs')", "x = float(k % 5)",
    "w(p > 2, 'min', replace=True) << u * x", "p << p.select('>=', 2)", "u << u * (2.0 if b else 0.5)", "x = x or 2.5",
    "k = int(x) % 50", "same = u.isequal(w)", "k += u.isequal(q)", "p(p == 3) << 7", "w << A.reduce_rowwise('max')",
    "u << u.ewise_union(w, 'minus', 0.0, 1.0)", "u(~u.S) << 0.5", "w(w < x, replace=True) << w",
    "t = w.dup(); t << t * 2",
)  # fmt: skip
TESTS = (
    "x > 0.25", "k > 40", "u.nvals < 20", "z.ewise_add(w, 'plus').new().reduce('plus').new().value > 30.0",
    "not k == 1", "x > 0.1 and k < 90", "b", "not b or x < 2", "u.isequal(w)", "not u.isclose(q)", "p.nvals",
    "k % 3 == 1",
    "w.nvals > q.nvals or j > 3", "b and k % 2",
)  # fmt: skip
SHORT = 3, ["for j{d} in range(3):", "    k += j{d}"]
HEADS = (  # turns at most, lines
    (5, ["m{d} = 0", "while ({t}) and m{d} < 5:", "    m{d} += 1"]), SHORT,
    (11, ["for j{d} in range(11):", "    w << w * 0.5"]), (4, ["for _ in gb.loop(lambda: {t}, max_turns=4):"]),
    (2, ["for y{d} in (1, 2):", "    k += y{d}"]),
)  # fmt: skip
MOST_TURNS = 200  # of nested loops: more took minutes and showed no more


def drawn(rng, depth, lines, indent, turns=5):
    """Statements of which some are branches and loops within, and some end the turn, the loop, or the function.

    turns: of the loops around them, at most.
    """
    for _ in range(rng.randint(1, 3)):
        kind = rng.random() if depth else 1.0
        if kind < 0.35:
            more, head = rng.choice(HEADS)
            if turns * more > MOST_TURNS:
                more, head = SHORT
            head = [line.format(d=len(indent), t=rng.choice(TESTS)) for line in head]
            lines += [indent + line for line in head]
            drawn(rng, depth - 1, lines, indent + "    ", turns * more)
        elif kind < 0.6:
            lines.append(f"{indent}if {rng.choice(TESTS)}:")
            drawn(rng, depth - 1, lines, indent + "    ", turns)
            if rng.random() < 0.5:
                lines.append(f"{indent}    {rng.choice(('continue', 'break', 'return u, x', 'return w, u, k'))}")
            elif rng.random() < 0.5:
                lines.append(f"{indent}else:")
                drawn(rng, depth - 1, lines, indent + "    ", turns)
        else:
            lines.append(indent + rng.choice(STATEMENTS))


def operands(call):
    """(vectors, numbers) of a call, made anew."""
    at = np.arange(call % 2, N, 2)
    u, w = gb.Vector.from_coo(at, at / N, size=N), gb.Vector.from_coo(at[::3], np.full(len(at[::3]), 0.5), size=N)
    q, p = gb.Vector.from_dense(np.arange(N) / 16), gb.Vector.from_coo(at[::2], at[::2] % 7, size=N)
    return (u, w, q, p, gb.Vector.from_dense(np.zeros(N))), (call, 2, 0.4, True)


def outcome(function, A, vectors, numbers):
    """What it returns and leaves in the vectors, or the error."""
    try:
        found = function(A, *vectors, *numbers)
    except (IndexError, gb.exceptions.GraphblasException) as error:
        found = (type(error).__name__, str(error))
    return *found, *vectors


@pytest.mark.parametrize("on", ["cpu", "device"])
@pytest.mark.parametrize("number", [*range(12), *(pytest.param(k, marks=pytest.mark.slow) for k in range(12, 60))])
def test_drawn_loops(number, on, tmp_path):
    rng = random.Random(f"loops {seeds.SEED} {number}")
    lines = ["def loop(A, u, w, q, p, z, k, j, x, b):"]
    lines.append(f"    for _ in {rng.choice(('range(5)', 'gb.loop(max_turns=4)'))}:")
    drawn(rng, rng.randint(1, 3), lines, "        ")
    text = "\n".join([*lines, "    return u, w, q, p, k, j, x, b"])
    file = tmp_path / "drawn.py"
    file.write_text(text)
    scope = {"gb": gb}
    exec(compile(text, str(file), "exec"), scope)
    program, A = gb.program(scope["loop"]), matrix(number)
    with gb.config.set(backend="cpu") if on == "cpu" else contextlib.nullcontext():
        for call in range(4):
            wanted = outcome(scope["loop"], A, *operands(call))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CaptureWarning)
                found = outcome(program, A, *operands(call))
            assert len(found) == len(wanted) and agree(found, wanted), f"{text}\n{program.explain()}"


def swapping(A, u):
    w = u.dup()
    for _ in range(3):
        for _ in range(10):
            u, w = w, u
            u << A.mxv(w, "max_times")
    return u, w


def indexing(A, u):
    k = 0
    for _ in range(3):
        while k < 3:
            u << u * (1 + [0, 1, 2][k])
            k += 1
    return u, k


def counted_by_the_device(A, u):
    for _ in range(3):
        for _ in range(u.nvals):
            u << A.mxv(u, "max_times")
        u(u > 0.5, replace=True) << u
    return u, 0


def of_a_branch(A, u):
    k = 0
    for _ in range(3):
        while k < 30:
            found = u.nvals
            k += found
        u << A.mxv(u, "max_times")
        k = 0
    return u, found


REFUSED = {
    swapping: r"`u` stands for another vector after a turn of a loop within: write into it instead .*line 5, within",
    indexing: r"an index or a range needs a number of the loop on the host.*line 5, within",
    counted_by_the_device: "an index or a range needs a number of the loop on the host",
    of_a_branch: "`found` is bound in a branch or a loop within alone; bind it before the loop",
}


@pytest.mark.parametrize("function", REFUSED)
def test_what_is_refused_runs_from_python(function):
    """With the line of the outer loop, that of the inner one, and a remedy; the inner loops still run on the device."""
    program, strict, A = gb.program(function), gb.program(function, strict=True), matrix(3)
    u = gb.Vector.from_coo(np.arange(0, N, 2), 0.75, size=N).apply("ainv").new().apply("ainv").new()
    wanted, first = function(A, u.dup()), function.__code__.co_firstlineno
    texts = []
    for _ in range(6):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert agree(program(A, u.dup()), wanted)
        texts += [str(warning.message) for warning in caught if warning.category is CaptureWarning]
    message = REFUSED[function].replace("line 5,", f"line {first + 3},")
    assert any(text.startswith("line ") for text in texts), texts
    with pytest.raises(gb.exceptions.CaptureError, match=message):
        for _ in range(6):
            strict(A, u.dup())


def test_an_error_in_a_loop_within_leaves_the_vectors():
    def wrong(v, A):
        for _ in range(3):
            v << v * 2.0
            for _ in gb.loop(max_turns=9):
                v << v + 1.0
                v << A.mxv(v, "plus_times")

    program, v = gb.program(wrong), gb.Vector.from_dense(np.arange(70.0))
    for A in [matrix(7) for _ in range(3)]:
        with pytest.raises(gb.exceptions.DimensionMismatch):
            program(v, A)
        v << gb.Vector.from_dense(np.arange(70.0))


@pytest.mark.parametrize("value", [0.5, 3])
def test_a_number_that_its_later_type_does_not_hold(value):
    """It is read before it is bound anew, as INT64 or BOOL."""

    def read_first(v):
        x = value
        for _ in gb.loop(max_turns=3):
            v << v * x
            x = v.nvals > 80 if value == 3 else v.nvals
        return v

    program = gb.program(read_first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)
        for _ in range(4):
            found = program(gb.Vector.from_dense(np.arange(70.0)))
            assert agree(found, read_first(gb.Vector.from_dense(np.arange(70.0))))
