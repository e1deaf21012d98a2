"""Loops whose turns are levels of a search run as one, and leave what their turns would; others do not.

The texts differ in one thing each, so that a condition of programs/search.py that is not checked shows.
"""

import importlib
import warnings
import zlib

import pytest
from backends.cuda.test_programs import N, agree, bfs, matrix, on_the_device  # noqa: F401  (one is a fixture)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning
from grb_tile.generators import grid

AS_SEARCH = "one search of the backend"


def text(body, begin="", test="f.nvals", depth=0, level="int", f="gb.Vector.from_coo([source], [True], size=A.nrows)"):
    """The function (A, source) of a loop with that body."""
    lines = [
        "def loop(A, source):", f"    level = gb.Vector({level}, A.nrows)", f"    f = {f}",
        f"    depth, reached = {depth}, 0", *(f"    {line}" for line in begin.split("\n") if line),
        f"    while {test}:", *(f"        {line}" for line in body), "    return level, f, depth, reached",
    ]  # fmt: skip
    return "\n".join(lines)


ASSIGN, ADD = "level(f.S) << depth", "depth += 1"
PRODUCT = 'f(~level.S, replace=True) << f.vxm(A, "any_pair")'
TURN = [ASSIGN, PRODUCT, ADD]
TWO = "gb.Vector.from_coo(sorted({source, 3, 41}), True, size=A.nrows)"
SEARCHES = {
    "the eight lines": text(TURN),
    "number added first": text([ADD, ASSIGN, PRODUCT]),
    "number added between": text([ASSIGN, ADD, PRODUCT]),
    "levels from 5, as FP32": text(TURN, depth=5, level="'FP32'"),
    "levels from -3": text(TURN, depth=-3),
    "more than no entry": text(TURN, test="f.nvals > 0"),
    "not equal to no entry": text(TURN, test="f.nvals != 0"),
    "mxv of the transpose": text([ASSIGN, 'f(~level.S, replace=True) << A.T.mxv(f, "any_pair")', ADD]),
    "in-edges": text([ASSIGN, 'f(~level.S, replace=True) << A.mxv(f, "any_pair")', ADD]),
    "vxm of the transpose": text([ASSIGN, 'f(~level.S, replace=True) << f.vxm(A.T, "any_pair")', ADD]),
    "several sources": text(TURN, f=TWO),
    "values of f": text(TURN, f="gb.Vector.from_coo([source], [0.0], size=A.nrows)"),
}
OTHERS = {
    "entries counted": text([*TURN, "reached += f.nvals"]),
    "numbers in twos": text([ASSIGN, PRODUCT, "depth += 2"]),
    "a number that stays": text([ASSIGN, PRODUCT, "reached += 1"]),
    "levels beforehand": text(TURN, begin="level[7] << 50"),
    "a mask by values": text(["level(f.V) << depth", PRODUCT, ADD]),
    "a mask by values of levels": text([ASSIGN, 'f(~level.V, replace=True) << f.vxm(A, "any_pair")', ADD], depth=1),
    "another semiring": text([ASSIGN, 'f(~level.S, replace=True) << f.vxm(A, "lor_land")', ADD]),
    "accumulated": text(["level(f.S, 'plus') << depth", PRODUCT, ADD]),
    "product of levels": text([ASSIGN, 'f(~level.S, replace=True) << level.vxm(A, "any_pair")', ADD]),
    "a third vector": text([ASSIGN, "seen(f.S) << True", PRODUCT, ADD], begin="seen = gb.Vector(bool, A.nrows)"),
    "the other mask": text([ASSIGN, 'f(~f.S, replace=True) << f.vxm(A, "any_pair")', ADD], test="depth < 3"),
    "few turns": text(TURN, test="f.nvals and depth < 3"),
    "entries of levels": text(TURN, test="level.nvals < 40"),
    "assigned in a branch": text(["if depth != 1:", "    " + ASSIGN, PRODUCT, ADD]),
    "product in a branch": text([ASSIGN, "if depth < 3:", "    " + PRODUCT, "else:", "    f.clear()", ADD]),
    "cleared": text([ASSIGN, "f.clear()", ADD]),
    "assigned after the product": text([PRODUCT, ASSIGN, ADD], begin="level[source] << 0"),
}


@pytest.fixture
def in_files(tmp_path, monkeypatch):
    """A function of a text, in a file, since programs read the source of functions."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(name, source):
        module = f"loop_{zlib.crc32(source.encode())}"
        (tmp_path / f"{module}.py").write_text(f"import grb_tile as gb\n\n\n{source}\n")
        return importlib.import_module(module).loop

    return make


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("symmetric", [True, False])
def test_searches(name, symmetric, in_files):
    function, A = in_files(name, SEARCHES[name]), matrix(zlib.crc32(name.encode()) % 100, symmetric)
    program = gb.program(function, strict=True)
    for source in (0, 7, 30, 7):
        assert agree(program(A, source), function(A, source)), program.explain()
    assert AS_SEARCH in program.explain(), program.explain()


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops(name, in_files):
    function, A = in_files(name, OTHERS[name]), matrix(4)
    program = gb.program(function)
    warnings.simplefilter("ignore", CaptureWarning)  # masks by values run from Python
    for source in (0, 7, 30, 7):
        assert agree(program(A, source), function(A, source)), program.explain()
    assert AS_SEARCH not in program.explain(), program.explain()


def test_turns_of_gb_loop():
    def numbered(A, source, most):
        level, f = gb.Vector(int, A.nrows), gb.Vector.from_coo([source], True, size=A.nrows)
        for depth in gb.loop(lambda: f.nvals, max_turns=most):
            level(f.S) << depth
            f(~level.S, replace=True) << f.vxm(A, "any_pair")
        return level, f, depth

    program, A = gb.program(numbered), matrix(2)
    for most, is_search in ((2, False), (None, True), (3, False), (50, False)):
        for _ in range(3):
            assert agree(program(A, 5, most), numbered(A, 5, most)), program.explain()
        assert (AS_SEARCH in program.explain()) is is_search, program.explain()


@pytest.mark.parametrize("name", ["in-edges", "mxv of the transpose", "vxm of the transpose"])
def test_directions(name, in_files):
    test_searches(name, False, in_files)


@pytest.mark.parametrize("name", ["entries counted", "numbers in twos", "levels beforehand", "another semiring"])
def test_what_is_no_search(name, in_files):
    test_other_loops(name, in_files)


def test_many_levels_of_a_grid():
    """The search of high diameters, from a corner and from within."""
    program, A = gb.program(bfs), grid(23, 19)
    for source in (0, 200, 436, 0):
        assert agree(program(A, source), bfs(A, source))
    assert AS_SEARCH in program.explain() and "41 turns" in program.explain()


def test_earlier_results_and_arguments_stay():
    def levels_from(A, f, level):
        depth = 0
        while f.nvals:
            level(f.S) << depth
            f(~level.S, replace=True) << f.vxm(A, "any_pair")
            depth += 1
        return depth

    program, A = gb.program(levels_from), matrix(2)
    results = []
    for source in (0, 7, 30, 7):
        f, level = gb.Vector.from_coo([source], True, size=N), gb.Vector(int, N)
        g, wanted = f.dup(), level.dup()
        held = f.dup()
        assert program(A, f, level) == levels_from(A, g, wanted)
        assert f.isequal(g, check_dtype=True) and level.isequal(wanted, check_dtype=True) and held.nvals == 1
        results.append((level, wanted))
    assert all(level.isequal(wanted) for level, wanted in results)
    assert AS_SEARCH in program.explain()


def test_the_matrix_changes():
    program = gb.program(bfs)
    for seed in (2, 2, 2, 3, 3, 3):
        A = matrix(seed)
        for _ in range(2):
            assert agree(program(A, 5), bfs(A, 5))
    A = matrix(2)
    for k in range(4):
        A[5, k] << 1.0
        assert agree(program(A, 5), bfs(A, 5)), k


def test_where_the_backend_has_no_search(on_the_device, monkeypatch):  # noqa: F811
    monkeypatch.setattr(type(on_the_device), "bfs", lambda *_, **__: NotImplemented)
    program, A = gb.program(bfs, strict=True), matrix(2)
    for source in (0, 7, 30):
        assert agree(program(A, source), bfs(A, source))
    assert AS_SEARCH not in program.explain() and "on the device" in program.explain()
