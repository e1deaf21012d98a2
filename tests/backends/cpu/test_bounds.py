"""The sequential loops stay within their arrays, whatever a Graph says of its matrix: run as plain Python over arrays
that refuse other positions, and uninitialised arrays that hold no position."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import graph
from grb_tile.backends.cpu.graph import communities, compiled, components, labels, ordering, paths
from grb_tile.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from grb_tile.graph.communities import move_round
from support import seeds

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "algorithms"))
from every_algorithm import EVERY, Refused, outcome, wrong_claims  # noqa: E402

OUTSIDE = "AssertionError", "IndexError", "IndexOutOfBound"
FLAGS = {"COUNT", "PARENTS", "X_ISO", "MASK"}
TEMPLATES = {name for name, _ in compiled.KERNELS}


class Fenced:
    """An array of which an element is read or written only at 0 .. size - 1."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def _at(self, k):
        assert 0 <= k < self.shape[0], f"position {k} of an array of {self.shape[0]}"
        return int(k)

    def __getitem__(self, k):
        return self.array[self._at(k)].item()

    def __setitem__(self, k, value):
        self.array[self._at(k)] = value


class Unset:
    """NumPy whose new arrays without values hold numbers that are no positions."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def empty(shape, dtype=float):
        return np.full(shape, -77, dtype)


def fenced_kernel(name, **constants):
    """The template as plain Python, in the place of the compiled kernel."""
    template = import_module(f"grb_tile.backends.cpu.templates.{name}")
    vars(template).update({key: value for key, value in constants.items() if key in FLAGS})

    def function(run):
        return lambda *arguments: run(*(Fenced(a) if isinstance(a, np.ndarray) else a for a in arguments))

    functions = {key: function(value) for key, value in vars(template).items() if key in ("run", "dependencies")}
    return SimpleNamespace(functions_for=lambda seconds: SimpleNamespace(**functions), count=lambda seconds: None)


@pytest.fixture
def fenced(monkeypatch):
    """Names of the templates that ran."""
    ran = set()

    def plain_kernel(name, **constants):
        if name not in TEMPLATES:
            return original(name, **constants)
        ran.add(name)
        return fenced_kernel(name, **constants)

    original = compiled.jit.plain_kernel
    for name in TEMPLATES:  # what fenced_kernel changes is as before afterwards
        template = import_module(f"grb_tile.backends.cpu.templates.{name}")
        for key in FLAGS & set(vars(template)):
            monkeypatch.setattr(template, key, vars(template)[key])
    monkeypatch.setattr(compiled.jit, "plain_kernel", plain_kernel)
    for module in (communities, components, labels, ordering, paths):
        monkeypatch.setattr(module, "np", Unset())
    return ran


@pytest.mark.parametrize("salt", range(6))
def test_wrong_claims_stay_within_the_arrays(salt, fenced):
    """A result, or an error of the library: never a position outside of an array."""
    for claim, G in wrong_claims(np.random.default_rng([seeds.SEED & 0xFFFFFFFF, salt])):
        for name in EVERY:
            found = outcome(name, G)
            assert not isinstance(found, Refused) or found.error not in OUTSIDE, (claim, name, found)
    wanted = TEMPLATES - {"label_turns", "breadth_first"}  # of NetworkX's functions
    assert fenced >= wanted, wanted - fenced


def star(leaves):
    """All edges lead to vertex 0."""
    n = leaves + 1
    return gb.Matrix.from_coo(np.arange(1, n), np.zeros(leaves, int), True, nrows=n, ncols=n)


def test_cuthill_mckee_refuses_what_is_not_symmetric(fenced):
    with pytest.raises(InvalidValue, match=r"cuthill_mckee: A has entries A\(i, j\) without.*call G.forget\(\)"):
        graph.cuthill_mckee(star(9))
    circle = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=3, ncols=3)  # as many entries in a row as in a column
    assert sorted(graph.cuthill_mckee(circle)[0].to_dense().tolist()) == [0, 1, 2]


def test_arguments_that_are_positions_are_checked():
    A = star(3)
    near = graph.Lists(np.array([0, 2, 3]), np.array([0, 1, 1]))
    order, x, ones = np.arange(2), np.zeros(4), np.ones(4, np.int64)
    B = A.dup(gb.dtypes.FP64)
    for call, error, message in (
        (lambda: graph.breadth_first(near, np.array([1, 1]), 5), ValueError, "sources: expected each"),
        (lambda: graph.breadth_first(near, np.array([2]), 5), IndexOutOfBound, "sources has 2; expected vertices"),
        (lambda: graph.label_turns(near, order + 1, order, ones), ValueError, "order: expected each of the 2"),
        (lambda: graph.label_turns(near, order, order + 1, ones), IndexOutOfBound, "label: expected numbers"),
        (lambda: move_round(B, 5 * ones, x, x, x, None, 1), IndexOutOfBound, "x: expected numbers from 0 to 3"),
        (lambda: move_round(B, ones, x[:2], x, x, None, 1), DimensionMismatch, "u: expected 4 numbers"),
        (lambda: graph.floyd_warshall(np.zeros((2, 3))), DimensionMismatch, "D: expected n x n weights"),
        (lambda: graph.Lists(np.array([0, 3]), np.array([0])), InvalidValue, "indptr: expected numbers"),
        (lambda: graph.Lists(np.array([0, 1]), np.array([1])), IndexOutOfBound, "indices: expected vertices"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_hypersparse_matrices_cost_no_array_of_their_rows():
    """Of 2^40 rows; each loop is left to GraphBLAS calls."""
    n = 2**40
    A = gb.Matrix.from_coo([0, n - 1], [n - 1, 0], True, nrows=n, ncols=n)
    order, none = gb.Vector(gb.dtypes.INT64, n), gb.Vector(bool, n)
    for found in (
        graph.strong_components(A), graph.components(A), graph.greedy_colours(A, order), graph.core_numbers(A),
        graph.independent_set(A, order, none), graph.bipartite_matching(A), graph.distances(A, [0]),
        graph.cuthill_mckee(A), graph.dependencies(A, [0]), graph.topological_levels(A),
    ):  # fmt: skip
        assert found is None
