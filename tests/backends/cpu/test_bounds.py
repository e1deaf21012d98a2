"""The sequential loops stay within their arrays, whatever a Graph says of its matrix: run as plain Python over arrays
that refuse other positions, and uninitialised arrays that hold no position."""

import sys
from pathlib import Path

import numpy as np
import pytest
from backends.cpu.fenced import TEMPLATES, fenced_kernels

import grb_tile as gb
from grb_tile import graph
from grb_tile.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from grb_tile.graph.local_moves import move_rounds
from support import seeds

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "algorithms"))
from every_algorithm import EVERY, Refused, outcome, wrong_claims  # noqa: E402

OUTSIDE = "AssertionError", "IndexError", "IndexOutOfBound"


@pytest.fixture
def fenced():
    """Names of the templates that ran."""
    with fenced_kernels() as ran:
        yield ran


@pytest.mark.parametrize("salt", [0, *(pytest.param(salt, marks=pytest.mark.slow) for salt in range(1, 6))])
def test_wrong_claims_stay_within_the_arrays(salt, fenced):
    """A result, or an error of the library: never a position outside of an array."""
    for claim, G in wrong_claims(np.random.default_rng([seeds.SEED & 0xFFFFFFFF, salt])):
        for name in EVERY:
            found = outcome(name, G)
            assert not isinstance(found, Refused) or found.error not in OUTSIDE, (claim, name, found)
        peel(G.A)
    wanted = TEMPLATES - {"label_turns", "breadth_first"}  # of NetworkX's functions
    assert fenced >= wanted, wanted - fenced


def peel(A):
    """graph.peel_truss of any matrix, and of supports that are none."""
    rng = np.random.default_rng(A.nvals)
    i, j = np.unique(rng.integers(0, A.nrows, (30, 2)), axis=0).T
    S = gb.Matrix.from_coo(i, j, rng.integers(-1, 4, i.size), gb.dtypes.INT64, nrows=A.nrows, ncols=A.nrows)
    graph.peel_truss(gb.select.offdiag(A).new(), S, 2)


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
        (lambda: move_rounds(B, 5 * ones, x, x, None, 1, 0), IndexOutOfBound, "x: expected numbers from 0 to 3"),
        (lambda: move_rounds(B, ones, x[:2], x, None, 1, 0), DimensionMismatch, "u: expected 4 numbers"),
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
        graph.cuthill_mckee(A), graph.dependencies(A, [0]), graph.topological_levels(A), graph.triangle_corners(A),
        graph.peel_truss(A, gb.Matrix(gb.dtypes.INT64, n, n), 1),
    ):  # fmt: skip
        assert found is None
