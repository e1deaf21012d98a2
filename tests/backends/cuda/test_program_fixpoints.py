"""Loops whose turns are steps of v (+)= A (+.x) v run as one operation and leave what their turns would; others do not.

The texts differ in one thing each, so that a condition of programs/fixpoint.py that is not checked shows.
"""

import warnings
import zlib

import numpy as np
import pytest
from backends.cuda.test_program_searches import in_files  # noqa: F401  (a fixture)
from backends.cuda.test_programs import N, agree, bellman_ford, matrix, on_the_device  # noqa: F401  (one is a fixture)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning
from grb_tile.generators import grid
from grb_tile.planner import tuning

AS_ONE = "each turn a step of the iteration"


def text(body, begin="", test="changed", after="v"):
    """The function (A, v, most) of a loop with that body."""
    head = f"    {test}:" if test.startswith("for") else f"    while {test}:"
    return "\n".join([
        "def loop(A, v, most):", "    changed, turns = True, 0", *(f"    {line}" for line in begin.split("\n") if line),
        head, *(f"        {line}" for line in body), f"    return {after}",
    ])  # fmt: skip


OLD, STEP, TEST = "old = v.dup()", 'v("min") << v.vxm(A, "min_plus")', "changed = not v.isequal(old)"
TURN = [OLD, STEP, TEST]
BREAK = ["if v.isequal(old):", "    break"]
ITERATIONS = {
    "Bellman-Ford": text(TURN),
    "in-edges": text([OLD, 'v("min") << A.mxv(v, "min_plus")', TEST]),
    "mxv of the transpose": text([OLD, 'v("min") << A.T.mxv(v, "min_plus")', TEST]),
    "vxm of the transpose": text([OLD, 'v("min") << v.vxm(A.T, "min_plus")', TEST]),
    "product of the copy": text([OLD, 'v("min") << old.vxm(A, "min_plus")', TEST]),
    "compared the other way": text([OLD, STEP, "changed = not old.isequal(v)"]),
    "the test itself": text([OLD, STEP, "same = v.isequal(old)"], begin="same = False", test="not same"),
    "turns counted": text([*TURN, "turns += 1"], after="v, turns, changed"),
    "turns counted first": text(["turns += 1", *TURN], after="v, turns, changed"),
    "until it breaks": text([OLD, STEP, *BREAK], test="True"),
    "at most": text([OLD, STEP, *BREAK], test="for k in gb.loop(max_turns=most)", after="v, k"),
    "a range": text([OLD, STEP, *BREAK], test="for k in range(most)", after="v, k"),
    "a number of turns": text([STEP], test="for k in range(most)", after="v, k"),
    "widest paths": text([OLD, 'v("max") << v.vxm(A, "max_min")', TEST]),
    "labels": text([OLD, 'v("min") << A.mxv(v, "min_second")', TEST]),
    "labels that go out": text([OLD, 'v("max") << v.vxm(A, "max_first")', TEST]),
    "sums": text([STEP.replace("min", "plus", 1).replace("min_plus", "plus_times")], test="for _ in range(most)"),
}
OTHERS = {
    "another accumulator": text([OLD, 'v("max") << v.vxm(A, "min_plus")', TEST], test="for _ in range(3)"),
    "no accumulator": text([OLD, 'v << v.vxm(A, "min_plus")', TEST], test="for _ in range(3)"),
    "under a mask": text(
        [OLD, 'v(m.S, "min") << v.vxm(A, "min_plus")', TEST],
        begin="m = A.reduce_rowwise('count').new().select('>', 3).new()",
    ),
    "of another vector": text([OLD, 'v("min") << u.vxm(A, "min_plus")', TEST], begin="u = v.dup()"),
    "of the square": text([OLD, 'u = v.vxm(A, "min_plus").new()', 'v("min") << u.vxm(A, "min_plus")', TEST]),
    "two steps": text([OLD, STEP, STEP, TEST]),
    "compared in the middle": text([OLD, STEP, TEST, STEP], test="for _ in range(4)", after="v, changed"),
    "compared before": text([OLD, "changed = not v.isequal(old)", STEP]),
    "compared with the beginning": text(
        [STEP, "changed = not v.isequal(u)"], begin="u = v.dup()", test="for _ in range(4)", after="v, changed"
    ),
    "another is compared": text(
        [OLD, STEP, "changed = not u.isequal(old)"], begin="u = v.dup()", test="for _ in range(4)", after="v, changed"
    ),
    "close": text([OLD, STEP, "changed = not v.isclose(old, rel_tol=0.05)"]),
    "while it stays": text(
        [OLD, STEP, "changed = v.isequal(old)"], test="for _ in gb.loop(lambda: changed, max_turns=4)"
    ),
    "a second vector": text([OLD, STEP, 'u << v.apply("ainv")', TEST], begin="u = v.dup()", after="v, u"),
    "entries counted": text([*TURN, "turns += v.nvals"], after="v, turns"),
    "values of the matrix alone": text([OLD, 'v("max") << A.mxv(v, "max_first")', TEST]),
    "turns in twos": text([*TURN, "turns += 2"], after="v, turns"),
    "any": text([OLD, 'v("any") << v.vxm(A, "any_pair")', TEST], test="for _ in range(3)"),
    "in a branch": text([OLD, "if turns < 3:", "    " + STEP, TEST, "turns += 1"], after="v, turns, changed"),
    "in a branch of some turns": text(["if turns < 3:", "    " + STEP, "turns += 1"], test="for _ in range(most)"),
    "values written": text(["v[3] << 0.5", OLD, STEP, TEST], test="for _ in range(4)"),
}


def vectors():
    """Vectors to begin with: one entry, a list, a bitmap, full, of one value."""
    rng = np.random.default_rng(3)
    places = np.flatnonzero(rng.random(N) < 0.6)
    yield gb.Vector.from_coo([7], [0.0], size=N)
    yield gb.Vector.from_coo([30], [1.5], size=N)
    yield gb.Vector.from_coo(places, rng.integers(0, 40, len(places)) / 8, size=N)
    yield gb.Vector.from_dense(rng.integers(0, 90, N) / 8)
    yield gb.Vector.from_scalar(2.0, N)
    yield gb.Vector.from_coo(places, 3.0, size=N)
    yield gb.Vector(float, N)


def check(function, A, is_one, beginnings=slice(None)):
    """Calls from each beginning, of many turns and of few, as turn by turn; is each of more than a turn one operation?

    Not where all entries have one value that stays: such a vector is carried as its pattern.
    """
    program = gb.program(function)
    for begun in list(vectors())[beginnings]:
        for most, calls in ((30, 3), (4, 1)):
            for _ in range(calls):
                v, w = begun.dup(), begun.dup()
                assert agree(program(A, v, most), function(A, w, most)), (begun, program.explain())
                assert agree(v, w) and v.dtype is w.dtype
            ran = program.explain()
            few = begun.nvals == 0 or "line 6: 1 turn" in ran or begun._store.iso
            assert few or (AS_ONE in ran) is is_one, (begun, ran)
        if is_one and not few:
            assert program.loops[0].turns > 1


@pytest.mark.parametrize("name", ITERATIONS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_iterations(name, symmetric, in_files):  # noqa: F811
    check(in_files(name, ITERATIONS[name]), matrix(zlib.crc32(name.encode()) % 100, symmetric), True)


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops(name, in_files):  # noqa: F811
    warnings.simplefilter("ignore", CaptureWarning)
    check(in_files(name, OTHERS[name]), matrix(4, False), False)


@pytest.mark.parametrize("is_one", [True, False])
def test_every_text_from_one_entry_and_from_some(is_one, in_files):  # noqa: F811
    warnings.simplefilter("ignore", CaptureWarning)
    for name, source in (ITERATIONS if is_one else OTHERS).items():
        check(in_files(name, source), matrix(4, False), is_one, slice(0, 3, 2))


@pytest.mark.parametrize("dtype", ["INT8", "UINT16", "INT64", "UINT64", "FP32", "BOOL", "FC64"])
def test_types(dtype):
    op = {"BOOL": "lor_land", "FC64": "plus_times"}.get(dtype, "min_second")

    def loop(A, v, most):
        for turn in gb.loop(max_turns=most):  # noqa: B007
            old = v.dup()
            v(op.split("_")[0]) << A.mxv(v, op)
            if v.isequal(old):
                break
        return v, turn

    A, program = matrix(5).apply("one").new(dtype), gb.program(loop, strict=True)
    for seed in range(4):
        places = np.flatnonzero(np.random.default_rng(seed).random(N) < 0.3)
        begun = gb.Vector.from_coo(places, np.arange(len(places)) % 2 + 1, size=N, dtype=dtype)
        for most in (30, 2, 3):
            assert agree(program(A, begun.dup(), most), loop(A, begun.dup(), most)), program.explain()
    assert AS_ONE in program.explain()


def test_long_rows_and_columns():
    """Every number of lanes a row; a matrix with a row of more entries than a warp takes is left to other kernels."""
    n, rng = tuning.ROW_BINS_STEP[-1] + 2, np.random.default_rng(1)

    def loop(A, d):
        changed = True
        while changed:
            old = d.dup()
            d("min") << A.mxv(d, "min_plus")
            changed = not d.isequal(old)
        return d

    for longest, is_one in ((n - 2, True), (n - 1, False)):
        lengths = np.append(rng.integers(0, 40, 50), [200, longest])
        rows = np.repeat(np.arange(n)[-2 * len(lengths) :: 2], lengths)
        cols = np.concatenate([rng.choice(n, k, replace=False) for k in lengths])
        rows, cols = np.append(rows, np.arange(30)), np.append(cols, np.arange(1, 31))
        A = gb.Matrix.from_coo(rows, cols, rng.integers(1, 90, len(rows)) / 8, nrows=n, ncols=n, dup_op="min")
        program = gb.program(loop)
        for source in (n - 1, n - 40, 5):
            d = gb.Vector.from_coo([source], [0.0], size=n)
            assert agree(program(A, d.dup()), loop(A, d.dup()))
        assert (AS_ONE in program.explain()) is is_one, program.explain()


def test_nan_is_equal_to_nothing():
    """A loop that compares NaN with itself goes on for all its turns."""

    def loop(A, v, most):
        for turn in gb.loop(max_turns=most):  # noqa: B007
            old = v.dup()
            v("min") << A.mxv(v, "min_second")
            if v.isequal(old):
                break
        return turn

    program, A = gb.program(loop, strict=True), gb.Vector.from_scalar(1.0, N).diag()
    for value, turns in ((np.nan, 8), (1.0, 0), (np.nan, 8), (np.nan, 8)):
        v = gb.Vector.from_dense(np.where(np.arange(N) == 5, value, np.arange(N) / 4))
        assert program(A, v.dup(), 9) == loop(A, v.dup(), 9) == turns
    assert AS_ONE in program.explain()


def test_more_turns_than_a_launch_has(monkeypatch):
    monkeypatch.setattr("grb_tile.backends.cuda.graph.fixpoint.TURNS", 3)
    program, A = gb.program(bellman_ford, strict=True), grid(7, 5)
    for source in (0, 17, 34, 3, 0):
        assert agree(program(A.apply("one").new(float), source), bellman_ford(A.apply("one").new(float), source))
    W = A.apply("one").new(float)
    for source in (0, 17, 34, 3, 0):
        assert agree(program(W, source), bellman_ford(W, source))
    assert AS_ONE in program.explain() and "11 turns" in program.explain()


@pytest.mark.parametrize("directed", [False, True])
def test_turns_that_change_little(directed):
    """On a grid of 500 vertices a turn changes few, then many at once, then few again."""
    A = grid(25, 20)
    rng = np.random.default_rng(5)
    W = A.apply("one").new(float)
    if directed:
        W = W.select("triu").new()
        W[499, 3] << 1.0
    rows, cols, _ = W.to_coo()
    W = gb.Matrix.from_coo(rows, cols, rng.integers(1, 9, len(rows)) / 8, nrows=500, ncols=500)
    program = gb.program(bellman_ford, strict=True)
    for source in (0, 0, 499, 210, 0):
        assert agree(program(W, source), bellman_ford(W, source)), source
    assert AS_ONE in program.explain()

    def lowered(A, v, most):
        for turn in gb.loop(max_turns=most):  # noqa: B007
            old = v.dup()
            v("min") << A.mxv(v, "min_second")
            if v.isequal(old):
                break
        return v, turn

    program = gb.program(lowered, strict=True)
    for seed in range(4):
        v = gb.Vector.from_dense(rng.integers(1, 1000, 500) / 8)
        v[int(rng.integers(500))] << 0.0
        for most in (5, 6, 100):
            assert agree(program(W, v.dup(), most), lowered(W, v.dup(), most)), (seed, most)
    assert AS_ONE in program.explain()


def test_arguments_stay_as_they_were():
    program, A = gb.program(bellman_ford, strict=True), matrix(2)
    found = [program(A, source) for source in (0, 7, 30, 7)]
    assert agree(found[1], found[3]) and all(agree(d, bellman_ford(A, k)) for d, k in zip(found, (0, 7, 30, 7)))


def test_scalars_and_names_that_turns_bind():
    def counted(A, v):
        t, changed = gb.Scalar.from_value(0), True
        while changed:
            old = v.dup()
            v("min") << v.vxm(A, "min_plus")
            changed = not v.isequal(old)
            t = (t + 1).new()
        return v, t.value

    def bound_within(A, v):
        for k in range(9):  # noqa: B007
            old = v.dup()
            v("min") << v.vxm(A, "min_plus")
            same = v.isequal(old)
            if same:
                break
        return v, k, same

    for function, is_one in ((counted, False), (bound_within, True)):
        program, A = gb.program(function), matrix(1)
        for source in (3, 5, 7, 3):
            v = gb.Vector.from_coo([source], [0.0], size=N)
            assert agree(program(A, v.dup()), function(A, v.dup())), program.explain()
        assert (AS_ONE in program.explain()) is is_one, program.explain()


def test_where_the_backend_has_none(on_the_device, monkeypatch):  # noqa: F811
    monkeypatch.setattr(type(on_the_device), "fixpoint", lambda *_: NotImplemented)
    program, A = gb.program(bellman_ford, strict=True), matrix(2)
    for source in (0, 7, 30):
        assert agree(program(A, source), bellman_ford(A, source))
    assert AS_ONE not in program.explain() and "on the device" in program.explain()
