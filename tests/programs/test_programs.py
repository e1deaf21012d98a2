"""Programs on the CPU, where they are the plain function; which loops are captured elsewhere, and why others not."""

import contextlib
import textwrap

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.exceptions import CaptureError

GLOBAL = 3


def reach(A, source):
    level = gb.Vector(int, A.nrows)
    f = gb.Vector.from_coo([source], [True], size=A.nrows)
    depth = 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1
    return level


def path(n=6):
    return gb.Matrix.from_coo(range(n - 1), range(1, n), True, nrows=n, ncols=n)


def defined(text, tmp_path, **scope):
    """The function `tried` of a text, with a source that can be read."""
    file = tmp_path / f"tried{len(list(tmp_path.iterdir()))}.py"
    file.write_text(text)
    exec(compile(text, str(file), "exec"), scope)
    return scope["tried"]


@pytest.fixture(autouse=True)
def on_the_host():
    with gb.config.set(backend="cpu"):
        yield


def test_the_plain_function():
    program, A = gb.program(reach), path()
    assert program.__name__ == "reach" and program.__doc__ == reach.__doc__
    assert "not run yet" in program.explain()
    for source in range(6):
        assert program(A, source).isequal(reach(A, source))
    assert "turns from Python" in program.explain()


def test_defaults_closures_and_methods():
    factor = 2

    class Scaled:
        def __init__(self):
            self.turns = 2

        @gb.program
        def run(self, v, *, extra=1):
            for _ in gb.loop(max_turns=self.turns):
                v << v * factor
            return v + extra

    v = gb.Vector.from_dense([1, 2])
    assert Scaled().run(v).new().to_dense().tolist() == [5, 9]
    factor = 3
    assert Scaled().run(v, extra=0).new().to_dense().tolist() == [36, 72]


def test_a_function_that_calls_itself():
    @gb.program
    def down(k):
        total = 0
        while total < k:
            total += 1
        return total + (down(k - 1) if k else 0)

    assert down(4) == 10


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
def test_most_turns(turns):
    @gb.program
    def counted(limit):
        seen = -1
        for k in gb.loop(max_turns=limit):
            seen = k
        for _ in range(limit):
            seen += 10
        return seen

    assert counted(turns) == turns - 1 + 10 * turns


def test_names_of_the_loop_after_it():
    @gb.program
    def last(n):
        for k in range(n):
            square = k * k
        return k, square

    assert last(4) == (3, 9)
    with pytest.raises(NameError):
        last(0)


def test_break_and_conditions():
    @gb.program
    def halved(v, least, most):
        turns = 0
        while turns < most and not v.nvals == 0:
            v << v * 0.5
            turns += 1
            if v.reduce("plus").new().value < least:
                break
        return turns

    v = gb.Vector.from_dense(np.ones(8))
    assert halved(v, 1.5, 10) == 3
    assert halved(v, 0.0, 4) == 4


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for x in (1, 2):\n            if k == x:\n                return k\n        total += k", "Return"),
        ("try:\n            total += k\n        finally:\n            pass", "Try"),
        ("def f():\n            return 1\n        total += f()", "FunctionDef"),
        ("if (x := k) and x > 1:\n            total += x", ":="),
    ],
)
def test_what_stays_in_python(body, reason, tmp_path):
    text = f"def tried(n):\n    total = 0\n\n    for k in range(n):\n        {body}\n    return total\n"
    tried = defined(text, tmp_path)
    program = gb.program(tried)
    assert program(4) == tried(4)
    assert "line 4: turn by turn from Python" in program.explain() and reason in program.explain()
    with pytest.raises(CaptureError, match=reason):
        gb.program(tried, strict=True)(4)


BRANCHES = """
if k == 2:
    continue
total += k

if k == 2:
    break
total += k

if k < 2:
    total += 1
elif k < 4:
    total += 10
else:
    break

if k:
    last = k
    if last > 3:
        total += last
total += 1

total += 1
if total > 3:
    total += 5
    break
if k == 9:
    break

if k % 2:
    continue
elif k == 4:
    total += 100
    break
total += k

if k == 2:
    if total:
        continue
total += k

if k > 2:
    if total > 4:
        break
    total += 2
total += k

total += k
continue
"""


@pytest.mark.parametrize("body", BRANCHES.strip().split("\n\n"))
def test_branches(body, tmp_path):
    text = (
        f"def tried(n):\n    total = 0\n    for k in range(n):\n{textwrap.indent(body, ' ' * 8)}\n    return total, k\n"
    )
    tried = defined(text, tmp_path)
    program = gb.program(tried, strict=True)
    for n in (1, 2, 3, 4, 5, 12):
        assert program(n) == tried(n)
        assert "the backend cpu runs it" in program.explain()


def test_a_loop_that_is_refused_keeps_its_statements():
    """Beside one that is captured, with `break` in a branch."""

    @gb.program
    def both(most):
        total = 0
        for k in range(3):
            total += k
        while True:
            with contextlib.nullcontext():
                total += 1
            assert total < 50  # a `break` that is lost would leave the loop endless
            if total > most:
                last = total
                break
            total += 1
        while not contextlib.nullcontext(total > 0).enter_result:
            continue
        return total, last

    for most in (2, 3, 8):
        assert both(most)[0] > most and both(most)[0] == both(most)[1]


def test_the_innermost_loops_alone():
    @gb.program
    def nested(n):
        total = 0
        for outer in [1, 2, 3]:
            for k in range(n):
                total += outer * k
        return total

    assert nested(4) == 36
    assert nested.explain().count("line") == 1


def test_no_source():
    scope = {}
    exec("def unseen(n):\n    while n: n -= 1\n    return n", scope)
    assert gb.program(scope["unseen"])(3) == 0
    with pytest.raises(CaptureError, match="source of unseen"):
        gb.program(scope["unseen"], strict=True)(3)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="expected a function, got int"):
        gb.program(3)
    with pytest.raises(TypeError, match="condition must be a function, got bool"):
        list(gb.loop(True))
    with pytest.raises(ValueError, match="max_turns must be a whole number >= 0 or None, got -1"):
        list(gb.loop(max_turns=-1))


def test_the_iterator():
    left = [1, 1, 0]
    assert list(gb.loop(lambda: left.pop(0))) == [0, 1]
    assert list(gb.loop(lambda: True, max_turns=2)) == [0, 1]


@pytest.mark.parametrize("last", (False, True))
def test_a_name_that_no_path_has_bound_yet(last):
    """The loop reads it in a branch that is not taken: it is bound to nothing, as in the plain function."""

    def f(n, last):
        if last:
            d = 3
        x = 0
        for k in range(n):
            if k > 100:
                x = d
            x += 1
        return x

    assert gb.program(f)(4, last) == f(4, last) == 4
    assert gb.program(f)(102, True) == f(102, True)


def sevens(n):
    return [7, 8, 9][:n]


@pytest.mark.parametrize("name", ["range", "loop"])
def test_a_function_of_the_users_own_called_as_a_loop_is(name, tmp_path):
    """Its turns are those that it gives, not those of Python's `range` or of `gb.loop`."""
    scope = {name: sevens, "items": type("Items", (), {name: staticmethod(sevens)})}
    for head, called in (("w=0", name), ("w=0", f"items.{name}"), (f"{name}={name}", name)):
        text = f"def tried(v, {head}):\n    for k in {called}(2):\n        v << v + k\n    return v\n"
        found = gb.program(defined(text, tmp_path, **scope))
        for _ in range(4):
            assert found(gb.Vector.from_dense([1, 2])).to_dict() == {0: 16, 1: 17}


def test_range_and_loop_by_other_names():
    turns, module = range, gb

    @gb.program
    def f(v):
        import grb_tile as imported

        for k in turns(3):
            v << v + k
        for k in module.loop(max_turns=3):
            v << v + k
        for k in imported.loop(max_turns=3):
            v << v + k
        return v

    assert f(gb.Vector.from_dense([1, 2])).to_dict() == {0: 10, 1: 11}
    assert len(f.loops) == 3
