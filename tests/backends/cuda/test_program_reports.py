"""What programs say of their loops: in every place of a function, for every number of turns, each reason once."""

import contextlib
import linecache
import re
import warnings

import numpy as np
import pytest
from backends.cuda.test_programs import agree, on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile.exceptions import CaptureError, CaptureWarning

N = 40


def full(scale):
    return gb.Vector.from_dense(np.arange(float(N)) * scale)


def function_of(head, *body):
    """The function of these lines, with a source that can be read."""
    text, file = "\n".join([f"def tried({head}):", *(f"    {line}" for line in body)]) + "\n", f"<report {head} {body}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"gb": gb, "contextlib": contextlib}
    exec(compile(text, file, "exec"), scope)
    return scope["tried"]


LOOP = ["for _ in gb.loop(max_turns=turns):", "    v << v * 0.5 + 1.0"]


def within(indent, *before):
    return [*before, *(f"{'    ' * indent}{line}" for line in LOOP)]


PLACES = {
    "the function": [*LOOP],
    "if": within(1, "if turns < 99:"),
    "else": within(1, "if turns > 99:", "    v.clear()", "else:"),
    "elif": within(1, "if turns > 99:", "    v.clear()", "elif turns < 98:"),
    "try": [*within(1, "try:"), "finally:", "    pass"],
    "except": within(1, "try:", "    raise ValueError", "except ValueError:"),
    "a second except": within(1, "try:", "    raise ValueError", "except KeyError:", "    pass", "except ValueError:"),
    "try's else": within(1, "try:", "    pass", "except ValueError:", "    pass", "else:"),
    "finally": within(1, "try:", "    pass", "finally:"),
    "with": within(1, "with contextlib.nullcontext():"),
    "a loop over a list": within(1, "for _ in [1]:"),
    "while": within(1, "again = True", "while again:", "    again = False"),
}


def test_a_loop_in_every_place():
    for name, body in PLACES.items():
        function = function_of("v, turns", *body, "return v")
        program, line = gb.program(function), 2 + next(k for k, text in enumerate(body) if "gb.loop" in text)
        for turns in (3, 3, 3):
            assert agree(program(full(1.0), turns), function(full(1.0), turns)), name
        assert f"line {line}: 3 turns on the device" in program.explain(), (name, program.explain())


@pytest.mark.parametrize("given", ["gb.loop(max_turns=turns)", "range(turns)"])
def test_every_number_of_turns_is_told(given):
    """By a call that captures the loop, and by later ones; results, numbers and swapped vectors are Python's."""
    body = [f"for k in {given}:", "    v, w = w, v", "    v << v + 1.0", "    total += 2"]
    function = function_of("v, w, turns", "total = 0", *body, "return v, w, total")
    for order in ((0, 1, 2, 3, 4, 5, 7, 8), (8, 8, 7, 5, 4, 3, 2, 1, 0, 6)):
        program = gb.program(function)
        for turns in order:
            assert agree(program(full(1.0), full(2.0), turns), function(full(1.0), full(2.0), turns)), turns
            assert re.search(rf"line 3: {turns} turns ", program.explain()), (turns, program.explain())


OTHERS = {  # that are no loops of a program
    "a list": "for k in [1, 2, 3]:",
    "two names": "for k, _ in enumerate([1, 2]):",
    "from 1": "for k in range(1, turns):",
    "by 2": "for k in range(0, turns, 2):",
    "another function": "for k in sorted([2, 1]):",
    "a part of a list": "for k in ([1, 2] * 2)[1:]:",
}


@pytest.mark.parametrize("ends", [False, True])
def test_loops_of_another_kind_run_as_they_are(ends):
    for name, head in OTHERS.items():
        body = [head, "    v << v + 1.0", *(["else:", "    v << v * 2.0"] if ends else [])]
        function = function_of("v, turns", *body, "return v")
        program = gb.program(function)
        for _ in range(3):
            assert agree(program(full(1.0), 3), function(full(1.0), 3)), name
        assert "on the device" not in program.explain() and "no loop" in program.explain(), (name, program.explain())
    function = function_of("v, turns", *LOOP, "else:", "    v << v * 2.0", "return v")
    program = gb.program(function)
    for _ in range(3):
        assert agree(program(full(1.0), 3), function(full(1.0), 3)), "a loop with an else"


def test_a_function_without_a_source_says_so():
    scope = {"gb": gb}
    exec("def tried(v):\n    for _ in gb.loop(max_turns=2):\n        v << v + 1.0\n    return v\n", scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)
        program = gb.program(scope["tried"])
        for _ in range(2):
            assert agree(program(full(1.0)), (full(1.0) + 2.0).new())
    assert "source" in program.explain() and "on the device" not in program.explain()
    strict = gb.program(scope["tried"], strict=True)
    for _ in range(2):
        with pytest.raises(CaptureError, match="source"):
            strict(full(1.0))


def test_a_reason_is_told_once():
    """Though the calls are of several kinds: with vectors of several forms and types, and several matrices."""
    body = ["    v << A.mxv(v)", "    k += box['x']"]
    function = function_of("v, A, box", "k = 0", "for _ in gb.loop(max_turns=3):", *body, "return v, k")
    program, told = gb.program(function), []
    for size in (3, 4):
        for dtype in (float, "INT64"):
            for _ in range(2):
                A = gb.Vector.from_scalar(1, size, dtype).diag()
                with warnings.catch_warnings(record=True) as found:
                    warnings.simplefilter("always")
                    v, k = program(gb.Vector.from_scalar(2, size, dtype), A, {"x": 2})
                assert k == 6 and v.reduce().new().value == 2 * size
                told += [w for w in found if w.category is CaptureWarning]
    assert len(told) == 1 and "`box`, of type dict" in str(told[0].message)


NAMES = {  # what a turn binds -> is the loop captured?
    "a Scalar": ("s = gb.Scalar.from_value(1.0)", ["s = v.reduce('max').new()", "v << v + s"], True),
    "a Scalar that is read": ("s = gb.Scalar.from_value(3.0)", ["v << v + s"], True),
    "the same matrix": ("B = A", ["B = A", "v << B.mxv(v)"], True),
    "a matrix that is read": ("B = A.T", ["v << B.mxv(v)"], True),
    "a transpose that stays": ("B = A.T", ["v << B.mxv(v)", "B = B"], True),
    "two matrices in turn": ("B = A.T.new()", ["A, B = B, A", "v << A.mxv(v)"], True),
    "a matrix that is made": ("B = A", ["B = A.apply('abs').new()", "v << B.mxv(v)"], True),
    "a matrix that is written": ("B = A.dup()", ["B << B.apply('abs')", "v << B.mxv(v)"], True),
    "None": ("s = None", ["s = None", "v << v + 1.0"], True),
    "a text": ("s = 'plus'", ["v << v.ewise_add(v, s)"], True),
}


def test_what_a_turn_may_bind():
    A = gb.Matrix.from_coo(np.arange(N), (np.arange(N) * 7 + 1) % N, 0.5, nrows=N, ncols=N)
    for name, (before, body, captured) in NAMES.items():
        given = "s" if before.startswith("s") else "B"
        function = function_of(
            "v, A", before, "for _ in gb.loop(max_turns=4):", *(f"    {x}" for x in body), f"return v, {given}"
        )
        program = gb.program(function)
        for _ in range(5):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CaptureWarning)
                v, other = program(full(1.0), A)
            w, wanted = function(full(1.0), A)
            assert v.isclose(w), name
            assert type(other) is type(wanted) and (
                other.isequal(wanted) if hasattr(other, "isequal") else other == wanted
            )
        assert ("turns on the device" in program.explain()) == captured, (name, program.explain())


TURN = "for turn in gb.loop(max_turns=4):"
REFUSED = {  # what a loop does -> (lines before it, lines of it, what the program says)
    "a number as an index": (["k = 0"], ["k += 1", "v << v * [1, 2, 4, 8, 16][k]"], "needs a number"),
    "a list that keeps": (["box = []"], ["v << v + 1.0", "box.append(1)"], "`box`, of type list"),
    "a part of a matrix": (["B = A.dup()"], ["B << B.apply('abs')", "v << B.diag()"], "matrix that changes"),
    "two names of one vector": (["x = v.dup()"], ["x << x + v", "v = x"], "two names stand for one vector"),
    "an array of the host": ([], ["v << gb.Vector.from_dense([float(x) for x in range(40)])"], "copied to the device"),
    "a text in some turns": (["s = 'a'"], ["v << v + 1.0", "s = 'b' if s == 'a' else 'a'"], "`s`"),
}


def test_what_is_refused_runs_turn_by_turn_and_says_why():
    A = gb.Matrix.from_coo(np.arange(N), (np.arange(N) * 7 + 1) % N, 0.5, nrows=N, ncols=N)
    for name, (before, body, says) in REFUSED.items():
        function = function_of("v, A", *before, TURN, *(f"    {line}" for line in body), "return v")
        program, strict = gb.program(function), gb.program(function, strict=True)
        for _ in range(5):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CaptureWarning)
                assert agree(program(full(1.0), A), function(full(1.0), A)), name
        assert says in program.explain() and "on the device" not in program.explain(), (name, program.explain())
        with pytest.raises(CaptureError, match="line "):
            for _ in range(5):
                strict(full(1.0), A)


def test_what_is_no_function_with_a_loop():
    for wrong in (lambda v: v, len, gb.Vector.dup, type("Called", (), {"__call__": lambda self, v: v})()):
        with contextlib.suppress(TypeError), warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            program = gb.program(wrong)
            assert agree(program(full(1.0)), full(1.0)) or wrong is len
            assert "on the device" not in program.explain()


def test_vectors_of_another_form_than_when_the_loop_was_captured():
    """A list, then a bitmap, a full one, one value, none: each is a kind of call of its own."""

    def spread(v, w, turns):
        for _ in gb.loop(max_turns=turns):
            v(w.S) << w
            w << w + 1.0
        return v, w

    few, half = gb.Vector.from_coo([1, 7], [2.0, 3.0], size=N), gb.Vector.from_coo(range(0, N, 2), 1.5, size=N)
    forms = (few, half, full(1.0), gb.Vector.from_scalar(2.0, N), gb.Vector(float, N))
    program = gb.program(spread)
    for _ in range(3):
        for v in forms:
            for w in forms:
                assert agree(program(v.dup(), w.dup(), 3), spread(v.dup(), w.dup(), 3)), program.explain()
