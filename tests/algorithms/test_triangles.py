"""triangle_count and triangles against set intersections and NetworkX."""

import networkx as nx
import numpy as np
import pytest
from checkers import check_triangles
from samples import edges, karate, matrix, random_graph

import grb_tile as gb
from grb_tile.algorithms import Graph, degree_ordered, triangle_count, triangles

SEEDS = range(25)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs(seed, base_seed):
    A = matrix(random_graph(base_seed * 1000 + seed, undirected=True))
    for presort in (False, True, "auto"):
        check_triangles(A, triangle_count(A, presort=presort))
    check_triangles(A, each=triangles(A).values)


@pytest.mark.parametrize("seed", SEEDS)
def test_some_nodes(seed, base_seed):
    A = matrix(random_graph(base_seed * 1000 + seed, undirected=True))
    nodes = [A.nrows - 1, 0, seed % A.nrows]
    every = triangles(A).to_dict()
    assert triangles(A, nodes).to_dict() == {node: every[node] for node in nodes}
    assert triangles(A, []).values.nvals == 0


def test_karate():
    A = karate()
    assert triangle_count(A) == triangle_count(A, presort=True) == triangle_count(A, presort=False) == 45
    expected = nx.triangles(nx.karate_club_graph())
    assert triangles(A).to_dict() == expected


@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_complete_graphs(n):
    A = edges([(i, j) for i in range(n) for j in range(n)], n)
    expected = n * (n - 1) * (n - 2) // 6
    assert triangle_count(A) == expected
    assert triangles(A).to_numpy().tolist() == [(n - 1) * (n - 2) // 2] * n


def test_a_hub_is_sorted_first():
    n = 1200
    A = edges([(0, i) for i in range(1, n)] + [(1, 2), (7, 9)], n, both=True)
    assert triangle_count(A) == 2
    L = degree_ordered(A)
    assert L.nvals == A.nvals // 2
    rows, cols, _ = L.to_coo()
    assert (rows > cols).all() and (cols == 0).sum() == n - 1


@pytest.mark.parametrize("undirected", [False, True])
def test_degree_ordered_is_its_formula(undirected, base_seed):
    """L = tril(P A P', -1), P the stable order of descending degree; of a directed graph too."""
    A = matrix(random_graph(base_seed * 1000 + 99, undirected=undirected))
    rows, cols, _ = A.to_coo()
    dense = np.zeros(A.shape, bool)
    dense[rows, cols] = True
    order = np.argsort(-dense.sum(axis=1), kind="stable")
    found = np.zeros(A.shape, bool)
    rows, cols, _ = degree_ordered(A).to_coo()
    found[rows, cols] = True
    assert (found == np.tril(dense[order][:, order], -1)).all()


def test_edge_cases_and_types():
    assert triangle_count(gb.Matrix(int, 0, 0)) == 0
    assert triangle_count(gb.Matrix(int, 5, 5)) == 0
    assert triangles(gb.Matrix(int, 2, 2)).to_numpy().tolist() == [0, 0]
    triangle = edges([(0, 1), (1, 2), (2, 0)], 3, 0, both=True)
    for dtype in ("BOOL", "INT8", "FP32", "FC64"):
        assert triangle_count(triangle.dup(dtype)) == 1


def test_more_than_a_narrow_type_can_count():
    n = 20
    A = edges([(i, j) for i in range(n) for j in range(n) if i != j], n, 1, "INT8")
    assert triangle_count(A) == 1140


def test_directed_graphs_are_refused():
    A = edges([(0, 1), (1, 2), (2, 0)], 3)
    text = r"one way only; enter them in both directions: Graph\(x, directed=False\).* Graph\(gb.binary.any"
    for ask in (triangle_count, triangles):
        with pytest.raises(ValueError, match=text):
            ask(A)
    assert triangle_count(Graph(gb.binary.any(A | A.T).new())) == 1


def test_arguments():
    with pytest.raises(ValueError, match="presort: expected True, False or 'auto'"):
        triangle_count(karate(), presort="maybe")
    with pytest.raises(IndexError, match=r"nodes\[0\]: 34 is out of range"):
        triangles(karate(), [34])


def test_the_graph_is_not_changed():
    A = karate()
    before = A.dup()
    triangle_count(A, presort=True)
    triangles(A, [0])
    assert A.isequal(before, check_dtype=True)
