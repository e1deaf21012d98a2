"""Loops on the device and what Python has around them: exchanged names, functions of the user, vectors in expressions,
names that begin as something else, memory that is given up for room.
"""

import linecache
import math
import warnings

import numpy as np
import pytest
from backends.cuda.test_program_reports import N, function_of
from backends.cuda.test_programs import agree, matrix, on_the_device  # noqa: F401  (one is a fixture)

import grb_tile as gb
from grb_tile.backends.cuda.programs import persistent, slots
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.exceptions import CaptureWarning
from grb_tile.programs.carried import Carried


@pytest.fixture(autouse=True)
def as_one_kernel(monkeypatch):
    monkeypatch.setitem(persistent.LOWERING, "persistent", "always")


def path(n):
    return gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), True, nrows=n, ncols=n)


@pytest.mark.parametrize("n", [5, 6])
def test_a_search_beside_vectors_that_are_exchanged(n):
    def swapping(A, source):
        level, f = gb.Vector(int, A.nrows), gb.Vector.from_coo([source], [True], size=A.nrows)
        a, b = gb.Vector.from_scalar(1, A.nrows), gb.Vector.from_scalar(2, A.nrows)
        depth = 0
        while f.nvals:
            level(f.S) << depth
            f(~level.S, replace=True) << f.vxm(A, "any_pair")
            a, b = b, a
            depth += 1
        return level, a, b

    program, A = gb.program(swapping), path(n)
    for _ in range(4):
        assert agree(program(A, 0), swapping(A, 0)), program.explain()


FORMS = {
    "full": lambda: gb.Vector.from_dense(np.arange(float(N))),
    "gaps": lambda: gb.Vector.from_coo(np.arange(0, N, 3), np.arange(0.0, N, 3), size=N),
    "one value": lambda: gb.Vector.from_scalar(7.0, N),
    "empty": lambda: gb.Vector(float, N),
    "list": lambda: gb.Vector.from_coo([3], [2.0], size=N),
}
EXCHANGES = ("v, w = w, v", "u, v, w = v, w, u")
WRITES = ((), ("v << v + 1.0",), ("w << w * 2.0",), ("v << v + w", "w << w * 2.0"))


@pytest.mark.parametrize("lowering", ["always", "never"])
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_exchanged_vectors_of_every_form(exchange, lowering, monkeypatch):
    """Whichever of them a turn writes; the names and the caller's vectors, after each number of turns."""
    monkeypatch.setitem(persistent.LOWERING, "persistent", lowering)
    few = gb.Vector.from_coo([1, 5], True, size=N)
    for writes in WRITES:
        body = [exchange, *writes, "u(few.S) << 1.0"]
        lines = ["for k in gb.loop(max_turns=turns):", *(f"    {line}" for line in body)]
        function = function_of("u, v, w, few, turns", *lines, "return u, v, w, k")
        program = gb.program(function)
        for pair in (("full", "gaps"), ("one value", "list"), ("empty", "full")):
            for call, turns in enumerate((3, 4, 5)):
                ours, plain = ([FORMS[form]() for form in ("full", *pair)] for _ in range(2))
                found, wanted = program(*ours, few, turns), function(*plain, few, turns)
                assert agree(found, wanted) and agree(tuple(ours), tuple(plain)), (writes, pair, program.explain())
                assert ("on the device" in program.explain()) == (call > 0), (writes, pair, program.explain())


@pytest.mark.parametrize("inner", ["for _ in range(9):", "while x.reduce('max').new().value < 1e4:"])
def test_vectors_that_a_loop_within_only_reads(inner, monkeypatch):
    """Those it writes are divided from them, in whatever order it names them; what a turn keeps with a vector's store
    may not be there after the inner loop, so that it gets a store of its own there."""
    monkeypatch.setitem(persistent.LOWERING, "persistent", "never")
    names = ("v", "w", "x")
    divided, plain = [], Carried.divide

    def divide(self, places):
        before = self.vectors
        plain(self, places)
        divided.append((before, places, self.vectors, self.others))

    monkeypatch.setattr(Carried, "divide", divide)
    for written in names:
        last = [name for name in names if name != written]
        body = [inner.replace("x.", f"{written}."), f"    {written} << {written} * 2.0 + {last[0]} + {last[1]}"]
        lines = ["for _ in gb.loop(max_turns=3):", "    v << v + 1.0", "    w << w + 1.0", "    x << x + 1.0"]
        function = function_of("v, w, x", *lines, *(f"    {line}" for line in body), "return v, w, x")
        program = gb.program(function)
        for _ in range(3):
            ours, theirs = ([FORMS["full"]() for _ in names] for _ in range(2))
            assert agree(program(*ours), function(*theirs)), program.explain()
        assert "line 2: 3 turns on the device" in program.explain(), program.explain()
    assert divided
    for before, places, vectors, others in divided:
        assert list(map(id, vectors)) == [id(before[k]) for k in places]
        assert {id(x) for x in vectors} | {id(x) for x in others} == {id(x) for x in before}, places
        assert len(vectors) + len(others) == len(before)


LATER = {  # what a loop's text reads of a name that is no global at first, and what the name stands for later
    "the loop": ("v << abs(v)", "abs", lambda x: x * 0.5),
    "a function that it calls": ("v << halved(v)", "float", lambda x: x * 3.0),
    "an attribute's name": ("v << v.apply('ainv')", "apply", 7),
    "a branch that is not taken": ("v << (late(v) if v.size < 0 else v * 2.0)", "late", lambda x: x),
    "a function within": ("v << (lambda x: max(2, 3) * x)(v)", "max", min),
}


def test_a_global_that_is_bound_later():
    """After calls that were bound: the loop reads it from then on, and what it was once it is gone again."""
    for name, (text, glob, later) in LATER.items():
        function = function_of("v", "for _ in gb.loop(max_turns=3):", f"    {text}", "return v")
        scope, program = function.__globals__, gb.program(function)
        exec("def halved(x):\n    return x * float(0.5)", scope)
        for k, bound in enumerate((False, True, False, True)):
            scope |= {glob: later} if bound else {}
            for _ in range(3):
                v, w = (gb.Vector.from_dense(np.arange(-20.0, 20.0)).apply("identity").new() for _ in range(2))
                assert agree(program(v), function(w)), (name, bound, program.explain())
            assert k or program.loops[0]._bound, (name, program.explain())
            scope.pop(glob, None)


def sqrt(x):
    return x * 3.0


class lib:  # noqa: N801  # as a module of the user's is called
    log = staticmethod(lambda x: x * 2.0)


def test_functions_of_the_user_with_the_names_of_others():
    def named(v, s, n):
        for _ in range(n):
            s = sqrt(s)
            s = lib.log(s)
            v << v + s
        return v, s

    program = gb.program(named)
    for _ in range(4):
        assert agree(program(gb.Vector.from_dense(np.ones(9)), 1.0, 3), named(gb.Vector.from_dense(np.ones(9)), 1.0, 3))


def test_an_expression_of_vectors_is_one_of_them():
    def chosen(v, s, n):
        w = v.dup()
        for _ in range(n):
            x = v if s > 2 else w
            x("plus") << 1
            s = s + 1
        return v, w

    program = gb.program(chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)
        for _ in range(4):
            one, two = (gb.Vector.from_dense(np.arange(3)) for _ in range(2))
            assert agree(program(one, 1, 4), chosen(two, 1, 4)), program.explain()
    assert "chooses between vectors" in program.explain()


@pytest.mark.parametrize("first", [None, 0])
def test_a_name_that_is_a_vector_only_in_the_loop(first):
    def bound_late(A, d, first):
        old, changed = first, True
        while changed:
            old = d.dup()
            d("min") << d.vxm(A, "min_plus")
            changed = not d.isequal(old)
        return d, old

    program, A = gb.program(bound_late, strict=True), matrix(1)
    for k in range(4):
        one, two = (gb.Vector.from_coo([k], [0.0], size=A.nrows) for _ in range(2))
        assert agree(program(A, one, first), bound_late(A, two, first))
    assert "on the device" in program.explain()


def test_whole_numbers_and_nan():
    def whole(v, s, t, low, n):
        for _ in range(n):
            s = math.floor(s) + math.ceil(2)
            t = max(t, v.reduce("plus").new().value)
            low = np.minimum(low, v.reduce("plus").new().value)
            v << v + 1.0
        return v, s, t, float(low)

    program = gb.program(whole)
    for t, low in ((float("nan"), 5.0), (1.0, float("nan")), (4.0, 5.0), (100.0, -100.0)):
        for _ in range(3):
            one, two = (gb.Vector.from_dense(np.arange(4.0)) for _ in range(2))
            found, wanted = program(one, 2**60 + 1, t, low, 3), whole(two, 2**60 + 1, t, low, 3)
            assert agree(found[:2], wanted[:2])
            assert np.array_equal(found[2:], wanted[2:], equal_nan=True), (found, wanted)


def test_room_is_made_before_operands_have_addresses(monkeypatch):
    """Results of an earlier call are copied, for which memory is given up: not that of the operands of this one."""

    def labels(A, x, y, n):
        for _ in range(n):
            x << A.mxv(y, "min_second")
            y("min") << x
        return x

    n = 2000
    rng = np.random.default_rng(5)
    A = gb.Matrix.from_coo(rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n), 1.0, nrows=n, ncols=n)

    def vector(seed):
        return gb.Vector.from_dense(np.random.default_rng(seed).integers(0, 10**6, n) * 1.0)

    program = gb.program(labels)
    for k in range(4):
        unread = program(A, vector(k), vector(k + 1), 3)
    wanted, real, calls = labels(A, vector(1), vector(90), 2), slots.Slot.result, []

    def result(self, *arguments):
        calls.append(self)
        if len(calls) == 1:
            raise MemoryError("no room at first")
        return real(self, *arguments)

    room = Device.make_room
    monkeypatch.setattr(slots.Slot, "result", result)
    monkeypatch.setattr(Device, "make_room", lambda device: room(device) or True)  # on a device there may be nothing
    assert program(A, vector(1), vector(90), 2).isequal(wanted) and calls
    assert unread.isequal(labels(A, vector(3), vector(4), 3))


@pytest.mark.parametrize("count", [6, 7, 8, 9, 17])
def test_as_many_arrays_as_a_launch_loads_and_more(count):
    """Full vectors bring an array each, and so do two words of the loop."""
    names = [f"v{k}" for k in range(count)]
    lines = [
        f"def loop({', '.join(names)}, n):", "    for _ in range(n):",
        *(f"        {a} << {a} + {b}" for a, b in zip(names, names[1:] + names[:1], strict=True)),
        f"    return {', '.join(names)}",
    ]  # fmt: skip
    name, text = f"<bound {count}>", "\n".join(lines) + "\n"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    scope = {"gb": gb}
    exec(compile(text, name, "exec"), scope)
    program = gb.program(scope["loop"])
    for call in range(5):
        ones, others = ([gb.Vector.from_dense(np.arange(9) + k + call) for k in range(count)] for _ in range(2))
        found, wanted = program(*ones, 3), scope["loop"](*others, 3)
        assert all(a.isequal(b) for a, b in zip(found, wanted, strict=True))
