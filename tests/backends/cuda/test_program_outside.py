"""Programs whose names, classes, modules, defaults or clocks change from call to call, or within a call: the results of
the plain function on the CPU and on the device, whatever is captured.
"""

import random
import sys
import time
import types
import warnings

import numpy as np
import pytest
from backends.cuda.test_programs import agree

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.backends.cuda.programs import persistent
from grb_tile.exceptions import CaptureWarning

N = 20
pytestmark = pytest.mark.sampled(1)


def tried(body, head="v", before="", after="v", inside=""):
    """The text of a function with a loop of that body."""
    lines = [
        *inside.split("\n"),
        "for k in range(3):",
        *(f"    {line}" for line in body.split("\n")),
        f"return {after}",
    ]
    return "\n".join([before, f"def tried({head}):", *(f"    {line}" for line in lines if line)]) + "\n"


# what is read -> (text, what changes before the calls, does the last call run on the device?)
SAME = [""] * 4
READ = {
    "an attribute of a class": (tried("v << v * S.x", before="class S: x = 2.0"), [*SAME, "S.x = 3.0", "", ""], True),
    "of a module": (tried("v << v * S.x", before="S = made('s', x=2.0)"), [*SAME, "S.x = 3.0", "", ""], True),
    "of a module of a module": (
        tried("v << v * S.T.x", before="S = made('s', T=made('t', x=2.0))"),
        [*SAME, "S.T.x = 3.0", "", "S.T = made('u', x=4.0)", "", "del S.T.x", "S.T.x = 2.0"],
        None,
    ),
    "of a function": (tried("v << v * S.x", before="def S(): pass\nS.x = 2.0"), [*SAME, "S.x = 3.0", "", ""], True),
    "of a class in a function": (
        tried("v << h(v)", before="class S: x = 2.0\ndef h(v): return v * S.x"),
        [*SAME, "S.x = 3.0", "", ""],
        True,
    ),
    "a static method": (
        tried("v << S.h(v)", before="X = 2.0\nclass S:\n    @staticmethod\n    def h(v): return v * X"),
        [*SAME, "X = 3.0", "", "", "S.h = staticmethod(lambda v: v + 1.0)", "", ""],
        True,
    ),
    "a member of an Enum": (
        tried("v << (v * 2.0 if X is M.A else v + 1.0)", before="import enum\nM = enum.Enum('M', 'A B')\nX = M.A"),
        [*SAME, "X = M.B", "", ""],
        True,
    ),
    "a vector of a module": (
        tried("v << v * S.w\nS.w << S.w + 1.0", before="S = made('s', w=ones())", after="v, S.w.dup()"),
        [*SAME, "S.w = ones()", "S.w << 3.0", ""],
        True,
    ),
    "a matrix of a module": (
        tried("v << S.A.mxv(v)", before="S = made('s', A=ones().diag())"),
        [*SAME, "S.A = (ones() * 2.0).new().diag()", "", "", "S.A << S.A.apply('times', right=3.0)", "", ""],
        True,
    ),
    "a default that is a function": (
        tried("v << v * h()", before="X = 2.0\ndef g(): return X\ndef h(x=g): return x()"),
        [*SAME, "X = 3.0", "", ""],
        True,
    ),
    "a function that calls itself": (
        tried("v << h(v, 2)", before="X = 2.0\ndef h(v, n): return v * X if n == 0 else h(v, n - 1)"),
        [*SAME, "X = 3.0", "", ""],
        True,
    ),
    "a function that wraps another": (
        tried(
            "v << h(v)",
            before="import functools\nX = 2.0\ndef g(f):\n    @functools.wraps(f)\n    def w(v): return f(v) * X\n"
            "    return w\n@g\ndef h(v): return v + X",
        ),
        [*SAME, "X = 3.0", "", ""],
        True,
    ),
    "a function of Python's": (
        tried("v << v * abs(-2.0)"),
        [*SAME, "abs = lambda x: 3.0", "", "", "del abs", "", ""],
        True,
    ),
    "range": (tried("v << v * 2.0"), [*SAME, "range = lambda n: [0]", "", "", "del range", "", ""], True),
    "a default of its own": (tried("v << v * x", "v, x=2.0"), [*SAME, "tried.__defaults__ = (3.0,)", "", ""], True),
    "a default of a keyword": (
        tried("v << v * x", "v, *, x=2.0"),
        [*SAME, "tried.__kwdefaults__ = {'x': 3.0}", "", ""],
        True,
    ),
    "its code": (tried("v << v * 2.0"), [*SAME, "tried.__code__ = other.__code__", "", ""], True),
    "a class that is called": (
        tried("v << v * S().x", before="X = 2.0\nclass S:\n    def __init__(self): self.x = X"),
        [*SAME, "X = 3.0", ""],
        False,
    ),
    "a class by another name": (
        tried("c = S\nv << v * c.x", before="class S: x = 2.0"),
        [*SAME, "S.x = 3.0", ""],
        False,
    ),
    "getattr": (tried("v << v * getattr(S, 'x')", before="class S: x = 2.0"), [*SAME, "S.x = 3.0", ""], False),
    "vars": (tried("v << v * vars(S)['x']", before="class S: x = 2.0"), [*SAME, "S.x = 3.0", ""], False),
    "globals": (tried("v << v * globals()['X']", before="X = 2.0"), [*SAME, "X = 3.0", ""], False),
    "a module itself": (
        tried("v << v * h(S)", before="S = made('s', x=2.0)\ndef h(s): return s.x"),
        [*SAME, "S.x = 3.0"],
        False,
    ),
    "an import": (
        tried("v << v * h()", before="def h():\n    import sys\n    return float(sys.X)"),
        ["sys.X = 2", *SAME, "sys.X = 3", ""],
        False,
    ),
    "random": (tried("v << v * random.random()"), ["random.seed(5)"] * 4, False),
    "NumPy's random": (tried("v << v * np.random.rand()"), ["np.random.seed(5)"] * 4, False),
    "a clock": (tried("v << v * float(time.monotonic() > 0)"), SAME, False),
    "a test of a clock": (
        "def tried(v):\n    while time.monotonic() < 0 or v.nvals < 0:\n        v << v * 2.0\n    return v\n",
        SAME,
        False,
    ),
    "its frame": (tried("v << v * locals()['x']", inside="x = 2.0"), SAME, None),
    "its text": (tried("v << v * eval('x')", inside="x = 2.0"), SAME, None),
}
CHANGED = {
    "a global name": (
        tried("v << h(v)", before="X = 1\ndef h(v):\n    global X\n    X += 1\n    return v * X", after="v, X"),
        "X = 1",
    ),
    "a global name of its own": (
        tried("X += 1\nv << h(v)", before="X = 1\ndef h(v): return v * X", inside="global X\nX = 1", after="v, X"),
        "X = 1",
    ),
    "a name of the function around it": (
        "def around():\n    x = 1\n    def h(v):\n        nonlocal x\n        x += 1\n        return v * x\n"
        "    def tried(v):\n"
        "        nonlocal x\n        x = 1\n        for k in range(3):\n            v << h(v)\n        return v, x\n"
        "    return tried\ntried = around()\n",
        "",
    ),
    "an attribute of a class": (tried("S.x += 1\nv << v * S.x", before="class S: pass", after="v, S.x"), "S.x = 1"),
    "an attribute of a function": (
        tried("h.x = h.x + 1\nv << v * h.x", before="def h(): pass", after="v, h.x"),
        "h.x = 1",
    ),
    "of a function within": (
        tried("v << h(v)", before="def h(v):\n    h.x += 1\n    return v * h.x", after="v, h.x"),
        "h.x = 1",
    ),
    "what a function reads": (tried("x += 1\nv << h().new()", inside="x = 1\ndef h(): return v * x"), ""),
    "what a lambda reads": (tried("x += 1\nv << h().new()", inside="x = 1\nh = lambda: v * x"), ""),
    "what a generator reads": (tried("x += 1\nv << v * next(g)", inside="x = 1\ng = (x for _ in range(9))"), ""),
    "what a lambda of the turn before reads": (
        tried("v << h(v).new()\nh = lambda x: x * k", inside="h = lambda x: x"),
        "",
    ),
    "what a lambda before an if reads": (
        tried("h = lambda v: v * x\nif k < 2: x += 1; v << h(v).new()", inside="x = 1"),
        "",
    ),
    "a number, until an error": (
        "def tried(v):\n    x = 0\n    try:\n        for k in range(5):\n            x += 1\n"
        "            if k == 3: raise ValueError\n"
        "    except ValueError:\n        pass\n    return v, x\n",
        "",
    ),
    "a condition that is made once": (
        "def tried(v):\n    left = [2, 3]\n    def h():\n        n = left.pop()\n"
        "        return lambda: v.reduce('max') < 10.0 * n\n"
        "    for _ in gb.loop(h()):\n        v << v + 1.0\n    return v\n",
        "",
    ),
    "a condition with a default": (
        "def tried(v):\n    w = v.dup()\n    for _ in gb.loop(lambda w=w: w.nvals, max_turns=3):\n"
        "        w = gb.Vector(float, 20)\n"
        "        v << v + 1.0\n    return v, w\n",
        "",
    ),
    "a default that counts": (
        "class C: n = 0\ndef h():\n    C.n += 1\n    return C.n\n" + tried("v << v * 2.0", "v, x=h()", after="v, C.n"),
        "",
    ),
}


NUMBERS = {  # (text, does it run on the device?)
    "an int that becomes a float, of whole numbers": (
        tried(
            "w('plus') << u.apply('cdiv', right=x)\nx = x + 0.5",
            inside="x = 2\nw, u = v.dup(), v.dup(int)",
            after="w, x",
        ),
        False,
    ),
    "computed with a whole number": (
        tried(
            "w('plus') << u.apply('cdiv', right=x * 3)\nx = x + 0.5",
            inside="x = 1\nw, u = v.dup(), v.dup(int)",
            after="w, x",
        ),
        False,
    ),
    "kept in a branch": (tried("if v.reduce('max') > 1e9: x = 0.5\nv << v + x", inside="x = 2", after="v, x"), False),
    "a total": (tried("x += v.reduce('plus').new().value\nv << v * 0.5", inside="x = 0", after="v, x"), True),
    "a sum of a reduction": (
        tried("x = x + v.reduce('plus')\nv << v * 0.5", inside="x = 0", after="v, x.new().value"),
        None,
    ),
    "a change": (
        "def tried(v):\n    x = 10\n    while x > 1:\n        v << v * 0.5\n"
        "        x = v.reduce('max').new().value\n    return v, x\n",
        True,
    ),
    "an int that becomes a test": (
        "def tried(v):\n    x = 1\n    while x:\n        v << v * 0.5\n"
        "        x = v.reduce('max').new().value > 1\n    return v, x\n",
        True,
    ),
    "a bool that becomes an int": (
        tried(
            "w('plus') << u.apply('minus', right=x)\nx = x + 1",
            inside="x = True\nw, u = v.dup(), v.dup(bool)",
            after="w, x",
        ),
        False,
    ),
    "sums of tests": (
        tried(
            "b = v.reduce('max') > 19.5\nv << v * 1.0 + (b + b)\nv << v + (b + True)\nv << v + (-b) + abs(b) + b * b",
            after="v",
        ),
        True,
    ),
    "None that becomes a number": (tried("if x is None: x = 1.0\nv << v + x", inside="x = None", after="v, x"), False),
    "False that becomes a number": (
        "def tried(v):\n    x = False\n    while x is False or x < 50:\n        v << v + 5.0\n"
        "        x = v.reduce('max').new().value\n    return v, x\n",
        True,
    ),
    "None that becomes a vector": (
        tried("if x is None: v << v * 2.0\nv << v + k\nx = v.dup()", inside="x = None", after="v, x"),
        False,
    ),
    "0 that becomes a vector": (tried("v << v + x\nx = v.dup()", inside="x = 0", after="v, x"), False),
    "a text": (tried("v << v + len(str(k)) + len('%s' % k)"), False),
    "a formatted text": (tried("v << v + len(f'{k}')"), False),
    "a text of a list": (tried("v << v + len(repr([k]))"), False),
    "a type": (tried("v << v + (1.0 if type(k) is int else 2.0)"), False),
    "isinstance": (tried("v << v + h(k)", before="def h(k): return 1.0 if isinstance(k, int) else 2.0"), False),
    "a class pattern": (
        tried("v << v + h(k)", before="def h(k):\n    match k:\n        case int(): return 1.0\n    return 2.0"),
        False,
    ),
    "a complex number": (tried("if k == 1 + 0j: v << v + 1.0"), False),
    "a fraction": (tried("if k == Fraction(1): v << v + 1.0", before="from fractions import Fraction"), False),
}


def ones():
    return gb.Vector.from_dense(np.ones(N))


def made(name, **values):
    module = types.ModuleType(name)
    vars(module).update(values)
    return module


def other(v):
    for k in range(2):
        v << v * 5.0 + k
    return v


@pytest.fixture(params=["cpu", "device"])
def backend(request, monkeypatch):
    monkeypatch.setitem(persistent.LOWERING, "persistent", "always")
    with gb.config.set(backend="cpu") if request.param == "cpu" else using_shim():
        yield request.param


def scope_of(text, folder):
    """What the text defines."""
    file = folder / f"text{len(list(folder.iterdir()))}.py"
    file.write_text(text)
    scope = {"gb": gb, "np": np, "random": random, "time": time, "sys": sys, "ones": ones, "made": made, "other": other}
    exec(compile(text, str(file), "exec"), scope)
    return scope


def outcome(call):
    try:
        result = call(gb.Vector.from_dense(np.arange(float(N))))
    except AttributeError as error:
        return (str(error),)
    return result if isinstance(result, tuple) else (result,)


def check(text, changes, folder):
    """The explanation of the program, whose calls after the changes are as those of the plain function."""
    plain, ours = scope_of(text, folder), scope_of(text, folder)
    program = gb.program(ours["tried"])
    for k, change in enumerate(changes):
        exec(change, plain)
        wanted = outcome(plain["tried"])
        exec(change, ours)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = outcome(program)
        assert agree(found, wanted), (k, change, program.explain(), found, wanted)
        for warning in caught:
            if warning.category is CaptureWarning:
                assert warning.filename == ours["tried"].__code__.co_filename, warning
    return program.explain()


@pytest.mark.parametrize("name", READ)
def test_what_a_loop_reads_may_change(name, backend, tmp_path):
    text, changes, on_device = READ[name]
    says = check(text, changes, tmp_path)
    if backend == "device" and on_device is not None:
        assert ("turns on the device" in says) is on_device, says


@pytest.mark.parametrize("name", CHANGED)
def test_what_a_loop_changes_is_seen(name, backend, tmp_path):
    text, before = CHANGED[name]
    check(text, [before] * 4, tmp_path)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_other_types(name, backend, tmp_path):
    text, on_device = NUMBERS[name]
    says = check(text, SAME, tmp_path)
    if backend == "device" and on_device is not None:
        assert ("turns on the device" in says) is on_device, says


@pytest.mark.parametrize("text", ["super().x", "self.__x", "self._S__x + __y"])
def test_methods(text, backend, tmp_path):
    """Of which `super()` and private names are of the class."""
    lines = (
        "class B:\n    x = 2.0\nclass S(B):\n    y = 3\n    __x = 2.0\n    def run(self, v, n=y):\n        __y = 0.0\n"
        f"        for k in range(n):\n            v << v * ({text})\n        return v\n"
    )
    scope = scope_of(lines, tmp_path)
    plain, S = scope["S"].run, scope["S"]
    S.run = gb.program(plain)
    for _ in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            assert agree(S().run(ones()), plain(S(), ones()))


def test_a_text_of_several_lines(backend, tmp_path):
    """In a function that is indented: it keeps its spaces."""
    lines = (
        "class S:\n    def run(self, v):\n        text = '''\n        x'''\n        for k in range(3):\n"
        "            v << v\n        return text\n"
    )
    S = scope_of(lines, tmp_path)["S"]
    assert gb.program(S.run)(S(), ones()) == "\n        x"


@pytest.mark.parametrize(
    "turns", ["range(2**63)", "range(10**30)", "gb.loop(max_turns=10**30)", "range(True)", "range(-3)"]
)
def test_numbers_of_turns(turns, backend, tmp_path):
    text = (
        f"def tried(v):\n    k = -1\n    for k in {turns}:\n        v << v + 1.0\n"
        "        if v.reduce('max') > 30: break\n    return v, k\n"
    )
    check(text, SAME, tmp_path)
