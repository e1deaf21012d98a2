"""Loops of programs on the device: the same results as turn by turn, call after call; what is refused runs plain.

On the emulation, which has no graphs, turns run one by one under the rules of a capture.
"""

import linecache
import warnings

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.exceptions import CaptureError, CaptureWarning
from support import seeds

N = 60


@pytest.fixture(autouse=True)
def on_the_device():
    with using_shim() as backend, warnings.catch_warnings():
        warnings.simplefilter("error", CaptureWarning)
        yield backend


def matrix(seed, symmetric=True):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, N, 3 * N), rng.integers(0, N, 3 * N)
    A = gb.Matrix.from_coo(rows, cols, rng.integers(1, 9, 3 * N) / 8, nrows=N, ncols=N, dup_op="first")
    return gb.binary.first(A | A.T).new() if symmetric else A


def bfs(A, source):
    level = gb.Vector(int, A.nrows)
    f = gb.Vector.from_coo([source], [True], size=A.nrows)
    depth = 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1
    return level, depth


def pagerank(A, w, d=0.85, tol=1e-6, most=100):
    r = gb.Vector.from_scalar(1 / A.nrows, A.nrows)
    for turn in gb.loop(max_turns=most):  # noqa: B007
        old = r.dup()
        r << (1 - d) / A.nrows
        r("plus") << A.T.mxv(d * (old * w), "plus_second")
        if abs(r - old).reduce("plus") < tol:
            break
    return r, turn


def bellman_ford(A, source):
    d = gb.Vector.from_coo([source], [0.0], size=A.nrows)
    changed = True
    while changed:
        old = d.dup()
        d("min") << d.vxm(A, "min_plus")
        changed = not d.isequal(old)
    return d


def swapped(A, r, t, turns):
    for k in range(turns):  # noqa: B007
        r, t = t, r
        r << 0.5
        r("plus") << A.mxv(t, "plus_second")
    return r, t, k


def conjugate_gradients(A, b, most=30):
    x, r = gb.Vector.from_scalar(0.0, A.nrows), b.dup()
    p, rs = r.dup(), r.inner(r).new().value
    for _ in gb.loop(max_turns=most):
        q = A.mxv(p).new()
        alpha = rs / p.inner(q).new().value
        x = (x + alpha * p).new()
        r = (r - alpha * q).new()
        new = r.inner(r).new().value
        p = (r + (new / rs) * p).new()
        rs = new
        if new < 1e-12:
            break
    return x


def agree(found, wanted):
    found, wanted = (x if isinstance(x, tuple) else (x,) for x in (found, wanted))
    return all(
        a.isclose(b, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(a, gb.Vector)
        else type(a) is type(b) and (a == b or isinstance(a, float) and abs(a - b) <= 1e-12 * abs(b))
        for a, b in zip(found, wanted, strict=True)
    )


def operands_of(function, k):
    """Arguments of the k-th call, made anew."""
    A = matrix(1)
    if function is bfs or function is bellman_ford:
        return A, 7 * k
    if function is pagerank:
        return A, gb.unary.minv(A.reduce_rowwise("count").new(float)).new(), 0.85, 1e-4
    if function is swapped:
        return A, gb.Vector.from_scalar(1.0 + k, N), gb.Vector.from_scalar(2.0, N), 5
    D = gb.binary.plus(gb.Vector.from_scalar(60.0, N).diag() | A).new()
    return D, gb.Vector.from_dense(np.arange(N) / 8 + k)


@pytest.mark.parametrize("function", [bfs, pagerank, bellman_ford, swapped, conjugate_gradients])
def test_every_call_as_turn_by_turn(function):
    program = gb.program(function)
    first = operands_of(function, 0)
    for k in range(4):
        arguments = (first[0], *operands_of(function, k)[1:])
        wanted = function(first[0], *operands_of(function, k)[1:])
        assert agree(program(*arguments), wanted), (k, program.explain())
        assert ("turns on the device" in program.explain()) == (k > 0), program.explain()


def test_results_stay_as_they_were():
    program, A = gb.program(bfs), matrix(2)
    results = [program(A, source) for source in (0, 1, 2, 3, 4)]
    for source, found in enumerate(results):
        assert agree(found, bfs(A, source))


def test_another_matrix_and_a_changed_one():
    program, A, B = gb.program(bellman_ford), matrix(3), matrix(4)
    for _ in range(3):
        assert agree(program(A, 0), bellman_ford(A, 0))
        assert agree(program(B, 0), bellman_ford(B, 0))
    A[0, 59], A[59, 0] = 0.125, 0.125
    for _ in range(3):
        assert agree(program(A, 0), bellman_ford(A, 0))


def test_numbers_that_the_loop_reads():
    def decayed(v, factor, turns):
        for _ in gb.loop(max_turns=turns):
            v << v * factor
            v("plus") << 1.0
        return v

    program = gb.program(decayed)
    for factor in (0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.5):
        for turns in (3, 0, 1, 2):
            v, w = (gb.Vector.from_dense(np.arange(70.0)) for _ in range(2))
            assert agree(program(v, factor, turns), decayed(w, factor, turns))


def test_the_vector_of_the_caller_is_written():
    A = matrix(5)

    def spread(v, A):
        for _ in gb.loop(max_turns=3):
            v("max") << A.mxv(v, "max_second")

    program = gb.program(spread)
    for k in range(3):
        v, w = (gb.Vector.from_coo([k], [2.5], size=N) for _ in range(2))
        assert program(v, A) is None
        spread(w, A)
        assert v.isequal(w)


def test_names_without_a_value_before_and_after():
    def counted(v):
        for k in gb.loop(lambda: v.nvals < 0):
            total = v.reduce("plus").new().value + k
        try:
            return total
        except NameError:
            return "none"

    program = gb.program(counted)
    for _ in range(3):
        assert program(gb.Vector.from_dense(np.arange(5.0))) == "none"


def test_conditions_of_two_parts():
    def grown(v, most):
        turns = 0
        while v.reduce("plus").new().value < most and not turns == 6:
            v << v + v
            turns += 1
        return v, turns

    program = gb.program(grown)
    for _ in range(3):
        for most in (10.0, 1e3, 1e9):
            v, w = (gb.Vector.from_dense(np.ones(5)) for _ in range(2))
            assert agree(program(v, most), grown(w, most))


def refused(body, *parameters):
    """(a program of that body, its function) that takes v and counts."""
    lines = ["def tried(v, A, box):", "    k = 0", "    for turn in gb.loop(max_turns=4):", *body, "    return v, k"]
    name = f"<program of {len(linecache.cache)}>"
    text = "\n".join(lines) + "\n"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    scope = {"gb": gb}
    exec(compile(text, name, "exec"), scope)
    return scope["tried"]


REFUSED = {
    "a list at a number": (
        ["        k += 1", "        v << v * [1, 1, 2, 3, 5, 8, 13, 21, 34, 55][k]"],
        "needs a number",
    ),
    "an array of the host": (
        ["        k += 1", "        v << gb.Vector.from_dense([float(x) for x in range(70)])"],
        "copied to the device",
    ),
    "an object": (["        k += box['more']"], "`box`, of type dict"),
    "a list that keeps": (["        k += 1", "        box['more'] = k"], "`box`, of type dict"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_the_host_runs_turn_by_turn(name):
    body, text = REFUSED[name]
    function = refused(body)
    program, strict = gb.program(function), gb.program(function, strict=True)

    A = matrix(6)

    def arguments():
        return gb.Vector.from_dense(np.arange(70.0)), A, {"more": 2}

    wanted = function(*arguments())
    caught = []
    for _ in range(5):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert agree(program(*arguments()), wanted)
        caught += [w for w in found if w.category is CaptureWarning]
    assert len(caught) == 1 and text in str(caught[0].message) and "line 3" in str(caught[0].message)
    assert text in program.explain()
    with pytest.raises(CaptureError, match="line 3: "):
        for _ in range(5):
            strict(*arguments())


@pytest.mark.parametrize("turns", [3, 4])
def test_swapped_vectors_of_the_caller(turns):
    program, A = gb.program(swapped), matrix(8)
    for _ in range(3):
        ours, plain = ([gb.Vector.from_scalar(x, N) for x in (1.0, 2.0)] for _ in range(2))
        assert agree(program(A, *ours, turns), swapped(A, *plain, turns))
        assert agree(tuple(ours), tuple(plain))


def test_numbers_on_either_side():
    def reckoned(v, turns):
        k, x = 7, 0.5
        for _ in gb.loop(max_turns=turns):
            k = 20 - k
            x = 1.0 / (x + 2) - (3 - x) + k % 4 + k // 3 - abs(-x)
            v << 2.0 - v * x
            v << x - v
        return v, k, x

    program = gb.program(reckoned)
    for _ in range(3):
        v, w = (gb.Vector.from_dense(np.arange(70.0)) for _ in range(2))
        assert agree(program(v, 3), reckoned(w, 3))
    assert "turns on the device" in program.explain()


def test_functions_that_the_loop_calls():
    def applied(v, change, turns):
        for _ in gb.loop(max_turns=turns):
            v << change(v)
        return v

    program = gb.program(applied)
    for _ in range(3):
        for change in (lambda v: v + 1.0, lambda v: v * 2.0, lambda v, by=3.0: v - by, lambda v, by=4.0: v - by):
            v, w = (gb.Vector.from_dense(np.arange(70.0)) for _ in range(2))
            assert agree(program(v, change, 4), applied(w, change, 4))
    kept = gb.Vector.from_dense(np.ones(70))
    mask = kept.S  # of a vector that the loop does not name

    def masked(v):
        for _ in gb.loop(max_turns=3):
            v(mask) << v + 1.0
        return v

    with pytest.warns(CaptureWarning, match="`mask`, of type StructuralMask"):
        gb.program(masked)(gb.Vector.from_dense(np.arange(70.0)))
    with pytest.warns(CaptureWarning, match="`change`, of type method"):
        program(gb.Vector.from_dense(np.arange(70.0)), kept.ewise_mult, 4)


ALIASES = {
    "a name of the turn before": ["x << x + 1.0", "total << total + y", "y = x"],
    "two new names": ["x << x + y", "y = total.dup()", "z = y", "total << total + z"],
    "one of two": ["y, total = total, total", "x << x + y"],
}


@pytest.mark.parametrize("name", ALIASES)
def test_two_names_of_one_vector(name):
    """A turn that writes one of them changes both, which slots of their own would not."""
    body = [f"        {line}" for line in ALIASES[name]]
    given = "x, y, total, z" if name == "two new names" else "x, y, total"  # what nobody reads may be one of two
    lines = ["def tried(x, y, total):", "    for _ in gb.loop(max_turns=5):", *body, f"    return {given}"]
    text, file = "\n".join(lines) + "\n", f"<alias {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"gb": gb}
    exec(compile(text, file, "exec"), scope)
    program = gb.program(scope["tried"])

    def arguments():
        return [gb.Vector.from_dense(np.arange(70.0) * k) for k in (1, 2, 3)]

    wanted = scope["tried"](*arguments())
    for _ in range(5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            assert agree(program(*arguments()), wanted)
    assert "two names stand for one vector" in program.explain()


def read_after(v):
    """`old` is read after the loop, `kept` in it before it is bound."""
    old, kept = v, v.dup()
    for _ in gb.loop(max_turns=4):
        old = v.dup()
        v << v + kept
        kept = old.apply("ainv").new()
    return v, old


def read_around(v):
    """`more` begins a loop with what the loop left before, `old` does not."""
    total = v.dup()
    more = True
    for k in [0, 1]:
        while more:
            old = v.dup()
            v << v + 1.0
            total << total + old
            more = v.reduce("max") < 80.0 + k
    return v, total, more


def bound_in_one_branch(v, first=True):
    """`w` keeps what the branch of an earlier call gave it."""
    w = v.dup()
    for _ in gb.loop(max_turns=3):
        if first:
            w = v.dup()
        v << v + w
    return v


def read_by_a_function(v):
    """`w` is read by a function that the function defines."""
    w = None

    def last():
        return w

    for _ in gb.loop(max_turns=3):
        w = v.dup()
        v << v + w
    return v, last()


def one_of_two(v):
    """`old` is the vector that the turn began with."""
    x = v.dup()
    for _ in gb.loop(max_turns=5):
        old = x
        x = (old * 2.0 + v).new()
    return x


@pytest.mark.parametrize("function", [read_after, read_around, bound_in_one_branch, read_by_a_function, one_of_two])
def test_names_that_a_turn_binds_before_it_reads_them(function):
    program = gb.program(function)
    for _ in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            got = program(gb.Vector.from_dense(np.arange(70.0)))
        wanted = function(gb.Vector.from_dense(np.arange(70.0)))
        assert agree(got if isinstance(got, tuple) else (got,), wanted if isinstance(wanted, tuple) else (wanted,))
    if function is one_of_two:
        assert "turns on the device" in program.explain()


def test_copies_of_more_arrays_than_a_launch_takes():
    """Five vectors with gaps that pass their entries on, of types and sizes that end within a word."""

    def passed_on(a, b, c, d, e):
        for _ in gb.loop(max_turns=7):
            a, b, c, d, e = b, c, d, e, a
            a(b.S) << b
        return a, b, c, d, e

    program = gb.program(passed_on)
    for dtype in (bool, "INT16", float):
        for _ in range(3):
            vectors = [gb.Vector.from_dense(np.arange(67) % (k + 2), missing_value=k).dup(dtype) for k in range(5)]
            copies = [v.dup() for v in vectors]
            assert agree(program(*vectors), passed_on(*copies))
        assert "turns on the device" in program.explain()


def test_an_error_of_the_turn_leaves_the_vectors():
    def wrong(v, A):
        for _ in gb.loop(max_turns=3):
            v << v * 2.0
            v << A.mxv(v, "plus_times")

    program, v = gb.program(wrong), gb.Vector.from_dense(np.arange(70.0))
    for A in [matrix(7) for _ in range(3)]:  # all are there at once, so each is of a kind of its own
        with pytest.raises(gb.exceptions.DimensionMismatch):
            program(v, A)
        v << gb.Vector.from_dense(np.arange(70.0))


STATEMENTS = (
    "a << A.mxv(b, 'max_second')", "a('max') << A.mxv(b, 'max_second')", "b(a.S) << c", "b(~a.S, replace=True) << c",
    "c(a.V) << A.mxv(c, 'max_second')", "a, b = b, a", "c << a.ewise_mult(b, 'max')", "c('plus') << 1", "b = c.dup()",
    "k += 2", "a(c.S) << k", "c << c.ewise_add(a, 'min')", "k = k * 2 - turn", "b << a.apply('abs')",
    "a(~b.S) << 3", "c = a.ewise_add(b, 'max').new()",
)  # fmt: skip
ENDS = ("if k > 40: break", "if not a.isequal(b): break", "if c.nvals < 20 or k == 7: break", "k += 1", "k += 1")


def drawn(name, case, statements=STATEMENTS, ends=ENDS, carried="a, b, c", most=6):
    """(the text of a loop of at most `most` statements at random, its function (A, *carried, turns))"""
    rng = seeds.generator(name, case)
    body = [f"        {statements[k]}" for k in rng.integers(0, len(statements), int(rng.integers(2, most + 1)))]
    body.append(f"        {ends[rng.integers(0, len(ends))]}")
    lines = [f"def drawn(A, {carried}, turns):", "    k = 1", "    for turn in gb.loop(max_turns=turns):", *body]
    text, file = "\n".join([*lines, f"    return {carried}, k"]) + "\n", f"<{name} {case}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"gb": gb}
    exec(compile(text, file, "exec"), scope)
    return text, scope["drawn"]


def same_as_plain(text, function, A):
    """The program of the function after five calls that each agree with it, results and the caller's vectors."""
    program, n = gb.program(function), A.nrows
    for turns in (5, 5, 5, 2, 7):
        kept = [
            [gb.Vector.from_coo(at, at % 5, size=n, dtype=int) for at in (np.arange(0, n, s) for s in (7, 3, 1))]
            for _ in range(2)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            found = program(A, *kept[0], turns)
        wanted = function(A, *kept[1], turns)
        assert agree(found, wanted), (text, program.explain(), found, wanted)
        assert agree(tuple(kept[0]), tuple(kept[1])), (text, program.explain())
    return program


@pytest.mark.parametrize("case", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 40))])
def test_random_programs(case):
    """A loop of statements at random: the same vectors and numbers as turn by turn."""
    same_as_plain(*drawn("program", case), matrix(case).apply("ceil").new(int))
