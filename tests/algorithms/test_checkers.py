"""The checkers catch wrong answers: each is fed right ones and several kinds of wrong ones."""

import numpy as np
import pytest
from checkers import (
    check_close,
    check_components,
    check_distances,
    check_equivalent,
    check_levels,
    check_parents,
    check_predecessors,
    check_ranks,
    check_triangles,
)
from samples import edges

import grb_tile as gb

# 0 -> 1 -> 2 -> 3, 0 -> 2, and node 4 apart
CHAIN = [(0, 1), (1, 2), (2, 3), (0, 2)]
WEIGHTS = [1, 2, 4, 5]


@pytest.fixture
def A():
    return edges(CHAIN, 5, WEIGHTS)


def vector(entries, size=5):
    return gb.Vector.from_dict(entries, size=size)


def test_levels_right(A):
    check_levels(A, 0, vector({0: 0, 1: 1, 2: 1, 3: 2}))
    check_levels(A, 0, vector({0: 0, 1: 1, 2: 1}), max_level=1)


@pytest.mark.parametrize(
    "wrong",
    [
        {0: 0, 1: 1, 2: 2, 3: 3},
        {0: 0, 1: 1, 2: 1},
        {0: 0, 1: 1, 2: 1, 3: 2, 4: 3},
        {0: 1, 1: 1, 2: 1, 3: 2},
    ],
)
def test_levels_wrong(A, wrong):
    with pytest.raises(AssertionError, match="node"):
        check_levels(A, 0, vector(wrong))


def test_levels_of_another_size(A):
    with pytest.raises(AssertionError, match="4 places for 5"):
        check_levels(A, 0, vector({0: 0}, size=4))


def test_parents_right(A):
    check_parents(A, 0, vector({0: 0, 1: 0, 2: 0, 3: 2}))


@pytest.mark.parametrize(
    "wrong",
    [
        {0: 0, 1: 0, 2: 1, 3: 2},
        {0: 0, 1: 0, 2: 0, 3: 1},
        {0: 0, 1: 0, 2: 0},
        {0: 1, 1: 0, 2: 0, 3: 2},
        {0: 0, 1: 0, 2: 0, 3: 2, 4: 4},
        {0: 0, 1: 0, 2: 0, 3: 17},
    ],
)
def test_parents_wrong(A, wrong):
    with pytest.raises(AssertionError, match="node|source"):
        check_parents(A, 0, vector(wrong))


def test_distances_right(A):
    check_distances(A, 0, vector({0: 0, 1: 1, 2: 3, 3: 7}))


@pytest.mark.parametrize(
    "wrong",
    [
        {0: 0, 1: 1, 2: 5, 3: 9},
        {0: 0, 1: 1, 2: 3, 3: 6},
        {0: 0, 1: 1, 2: 2, 3: 6},
        {0: 0, 1: 1, 2: 3},
        {0: 1, 1: 2, 2: 4, 3: 8},
        {0: 0, 1: 1, 2: 3, 3: 7, 4: 9},
    ],
)
def test_distances_wrong(A, wrong):
    with pytest.raises(AssertionError, match="node|source"):
        check_distances(A, 0, vector(wrong))


def test_distances_too_small_around_a_cycle_of_weight_zero():
    A = edges([(0, 1), (1, 2), (2, 1)], 3, [5, 0, 0])
    check_distances(A, 0, vector({0: 0, 1: 5, 2: 5}, size=3))
    with pytest.raises(AssertionError, match="belongs to no path"):
        check_distances(A, 0, vector({0: 0, 1: 4, 2: 4}, size=3))


def test_predecessors(A):
    d = vector({0: 0, 1: 1, 2: 3, 3: 7})
    check_predecessors(A, 0, d, vector({0: 0, 1: 0, 2: 1, 3: 2}))
    for wrong in ({0: 0, 1: 0, 2: 0, 3: 2}, {0: 0, 1: 0, 2: 1}, {0: 0, 1: 0, 2: 3, 3: 2}, {0: 2, 1: 0, 2: 1, 3: 2}):
        with pytest.raises(AssertionError, match="node|source"):
            check_predecessors(A, 0, d, vector(wrong))


def test_predecessors_in_a_circle():
    A = edges([(0, 1), (1, 2), (2, 1)], 3, [5, 0, 0])
    with pytest.raises(AssertionError, match="circle"):
        check_predecessors(A, 0, vector({0: 0, 1: 5, 2: 5}, size=3), vector({0: 0, 1: 2, 2: 1}, size=3))


def test_ranks():
    A = edges([(0, 1), (1, 0), (1, 2)], 3)
    r = np.full(3, 1 / 3)
    for _ in range(100):
        r = 0.05 + 0.85 * (np.array([r[1] / 2, r[0], r[1] / 2]) + r[2] / 3)
    check_ranks(A, gb.Vector.from_dense(r), 1e-9)
    for wrong in (np.full(3, 1 / 3), r * 1.01, r[[0, 2, 1]]):
        with pytest.raises(AssertionError, match="ranks"):
            check_ranks(A, gb.Vector.from_dense(wrong), 1e-9)
    with pytest.raises(AssertionError, match="2 of 3 nodes"):
        check_ranks(A, gb.Vector.from_dict({0: r[0], 1: r[1]}, size=3), 1e-9)


def test_components(A):
    check_components(A, vector({0: 7, 1: 7, 2: 7, 3: 7, 4: 2}))
    for wrong in ({0: 7, 1: 7, 2: 7, 3: 8, 4: 2}, {0: 7, 1: 7, 2: 7, 3: 7, 4: 7}, {0: 7, 1: 7, 2: 7, 3: 7}):
        with pytest.raises(AssertionError, match="edge|no path|nodes have one"):
            check_components(A, vector(wrong))


def test_triangles():
    A = edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)], 5, both=True)
    check_triangles(A, 1, vector({0: 1, 1: 1, 2: 1, 3: 0, 4: 0}))
    with pytest.raises(AssertionError, match="2 triangles, expected 1"):
        check_triangles(A, 2)
    for wrong in ({0: 1, 1: 1, 2: 1, 3: 1, 4: 0}, {0: 1, 1: 1, 2: 1, 3: 0}):
        with pytest.raises(AssertionError, match="node"):
            check_triangles(A, each=vector(wrong))


def test_equivalent():
    check_equivalent([0, 0, 5], [9, 9, 1])
    for wrong in ([0, 0, 0], [0, 1, 2], [0, 1, 1]):
        with pytest.raises(AssertionError, match="two-way"):
            check_equivalent(wrong, [9, 9, 1])


def test_close():
    check_close([1.0, np.inf, 0.0], [1.00001, np.inf, 0.0])
    for wrong in ([1.001, np.inf, 0.0], [1.0, 5.0, 0.0], [1.0, np.inf, 1e-9], [np.nan, np.inf, 0.0]):
        with pytest.raises(AssertionError, match="node"):
            check_close(wrong, [1.00001, np.inf, 0.0])
