"""hello, the template: powers of the adjacency matrix. Copy this file with algorithms/hello.py."""

import numpy as np
import pytest
from samples import edges, karate, matrix, random_graph

from grb_tile.algorithms import hello

SEEDS = range(10)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs(seed, base_seed):
    S = random_graph(base_seed * 1000 + seed)
    A = matrix(S)
    pattern = np.zeros(S.shape, np.int64)
    rows, cols, _ = A.to_coo()
    pattern[rows, cols] = 1
    expected = np.ones(A.nrows, np.int64)
    for steps in range(4):
        assert hello(A, steps).to_numpy().tolist() == expected.tolist()
        expected = pattern @ expected


def test_edge_cases():
    assert hello(edges([], 1)).to_numpy().tolist() == [0]
    assert hello(edges([], 2), 0).to_numpy().tolist() == [1, 1]
    assert hello(edges([(0, 0)], 1), 5).to_numpy().tolist() == [1]


def test_callback_may_stop():
    A = karate()
    assert hello(A, 5, callback=lambda record: record["iteration"] == 2).values.isequal(hello(A, 2).values)


def test_arguments():
    with pytest.raises(TypeError, match="steps: expected an int, got None"):
        hello(karate(), None)
    with pytest.raises(ValueError, match="steps: expected 0 or more, got -1"):
        hello(karate(), -1)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_more_walks_than_int64_holds_are_refused(n):
    """n^steps walks of a complete graph with loops."""
    A = edges([(i, j) for i in range(n) for j in range(n)], n)
    for steps in range(70):
        if n**steps < 2**62:
            assert hello(A, steps).to_numpy().tolist() == [n**steps] * n
            continue
        with pytest.raises(OverflowError, match=r"steps: .* walks of \d+ edges start at a node"):
            hello(A, steps)
