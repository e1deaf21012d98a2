"""Clustering coefficients against NetworkX; LDBC's against its definition in plain loops."""

import networkx as nx
import numpy as np
import pytest
from checkers import edge_lists
from samples import edges, karate, pair

import grb_tile as gb
from grb_tile.algorithms import Graph, average_clustering, clustering, square_clustering, transitivity

SEEDS = range(8)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_random_graphs(seed, directed, weighted, base_seed):
    A, N = pair(base_seed * 1000 + seed, directed, weights="float")
    G, weight = Graph(A, directed), "weight" if weighted else None
    if weighted and not A.nvals:
        weight = None
    expected = nx.clustering(N, weight=weight)
    assert clustering(G, weighted=weighted).to_dict() == pytest.approx(expected, abs=1e-12)
    some = list(range(0, A.nrows, 3))
    found = clustering(G, nodes=some, weighted=weighted)
    assert found.to_dict() == pytest.approx({v: expected[v] for v in some}, abs=1e-12)
    for zeros in (False, True):
        if zeros or any(expected.values()):
            mean = nx.average_clustering(N, weight=weight, count_zeros=zeros)
            assert average_clustering(G, weighted=weighted, count_zeros=zeros) == pytest.approx(mean)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", SEEDS)
def test_transitivity_and_squares(seed, base_seed):
    A, N = pair(base_seed * 1000 + 20 + seed, False)
    assert transitivity(A) == pytest.approx(nx.transitivity(N))
    expected = nx.square_clustering(N)
    assert square_clustering(A, batch=7).to_dict() == pytest.approx(expected)
    some = list(range(0, A.nrows, 2))
    assert square_clustering(A, nodes=some).to_dict() == pytest.approx({v: expected[v] for v in some})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
def test_ldbc(seed, directed, base_seed):
    A, _ = pair(base_seed * 1000 + 40 + seed, directed)
    out = [{j for j, _ in row if j != i} for i, row in enumerate(edge_lists(A))]
    near = [out[i] | {j for j in range(A.nrows) if i in out[j]} for i in range(A.nrows)]
    expected = {}
    for v in range(A.nrows):
        d = len(near[v])
        expected[v] = sum(len(out[u] & near[v]) for u in near[v]) / (d * (d - 1)) if d > 1 else 0.0
    assert clustering(Graph(A, directed), mode="ldbc").to_dict() == pytest.approx(expected)


def test_a_symmetric_graph_declared_directed_has_the_same_coefficients():
    A = karate()
    one, other = Graph(A, directed=False), Graph(A, directed=True)
    same = clustering(one).to_dict()
    assert clustering(other).to_dict() == pytest.approx(same)
    assert clustering(other, mode="directed").to_dict() == pytest.approx(same)
    weighted = clustering(one, weighted=True).to_dict()
    assert clustering(other, weighted=True).to_dict() == pytest.approx(weighted)


def test_transitivity_of_a_directed_graph_takes_edges_both_ways():
    A, N = pair(11, True)
    U = N.to_undirected()
    assert transitivity(A) == pytest.approx(nx.transitivity(U))


def test_edge_cases():
    for n in (0, 1, 2):
        A = edges([], n)
        assert clustering(A).to_dict() == square_clustering(A).to_dict() == dict.fromkeys(range(n), 0.0)
        assert transitivity(A) == 0.0
    assert clustering(edges([(0, 0), (0, 1)], 2, both=True)).to_dict() == {0: 0.0, 1: 0.0}
    assert average_clustering(edges([], 2)) == 0.0
    assert clustering(karate(), nodes=[]).to_dict() == {}
    for options in ({"count_zeros": False}, {"nodes": []}):
        with pytest.raises(ValueError, match="there is no coefficient to take the mean of"):
            average_clustering(edges([], 2), **options)


def test_weights_with_which_nothing_can_be_divided():
    triangle = [(0, 1), (1, 2), (2, 0)]
    for weights in (np.nan, np.inf, 0.0):
        with pytest.raises(ValueError, match="weighted=True: weights are divided by the largest"):
            clustering(Graph(edges(triangle, 3, weights, both=True), directed=True), weighted=True)
        assert clustering(Graph(edges(triangle, 3, weights, both=True), directed=True)).to_dict()[0] == 1.0
    with pytest.raises(TypeError, match="weighted=True: weights must be real, got FC64"):
        clustering(edges(triangle, 3, 1j, both=True), weighted=True)
    A = edges(triangle, 3, [8.0, 1.0, -1.0], both=True)
    N = nx.Graph()
    N.add_weighted_edges_from([(0, 1, 8.0), (1, 2, 1.0), (2, 0, -1.0)])
    assert clustering(A, weighted=True).to_dict() == pytest.approx(nx.clustering(N, weight="weight"))


def test_arguments():
    A, one_way = karate(), edges([(0, 1), (1, 2)], 3)
    with pytest.raises(ValueError, match="mode: expected one of 'auto', 'undirected', 'directed', 'ldbc', got 'x'"):
        clustering(A, mode="x")
    with pytest.raises(ValueError, match="weighted=True: LDBC defines no weighted coefficient"):
        clustering(A, mode="ldbc", weighted=True)
    for call in (lambda: clustering(one_way, mode="undirected"), lambda: square_clustering(one_way)):
        with pytest.raises(ValueError, match="edges that go one way only"):
            call()
    with pytest.raises(IndexError, match=r"nodes\[0\]: 34 is out of range"):
        clustering(A, nodes=[34])
    with pytest.raises(ValueError, match="batch: expected 1 or more, got 0"):
        square_clustering(gb.Matrix(bool, 2, 2), batch=0)


def test_a_loop_may_have_the_largest_weight():
    """Weights are divided by the largest of all edges, as in NetworkX, where a loop is one."""
    N = nx.Graph()
    N.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 2.0), (2, 0, 3.0), (2, 3, 1.0), (1, 1, 50.0)])
    A = gb.Matrix.from_dense(nx.to_numpy_array(N, nodelist=range(4)), missing_value=0)
    wanted = nx.clustering(N, weight="weight")
    assert clustering(A, weighted=True).to_dict() == pytest.approx(wanted)
