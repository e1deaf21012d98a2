"""Degrees, density, reciprocity and isolated vertices against NetworkX."""

import networkx as nx
import numpy as np
import pytest
from samples import edges, karate, matrix, pair, random_graph

import grb_tile as gb
from grb_tile import algorithms as alg

SEEDS = range(10)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", ["int", "float"])
def test_degrees(seed, directed, weights, base_seed):
    A, N = pair(base_seed * 1000 + seed, directed, weights=weights)
    G = alg.Graph(A, directed)
    assert alg.degree(G).to_dict() == dict(N.degree())
    assert alg.degree(G, weighted=True).to_dict() == pytest.approx(dict(N.degree(weight="weight")))
    assert alg.degree_centrality(G).to_dict() == pytest.approx(nx.degree_centrality(N))
    assert set(alg.isolates(G).to_dict()) == set(nx.isolates(N))
    assert alg.density(G) == pytest.approx(nx.density(N))
    if directed:
        for ours, theirs in ((alg.in_degree, N.in_degree), (alg.out_degree, N.out_degree)):
            assert ours(G).to_dict() == dict(theirs())
            assert ours(G, weighted=True).to_dict() == pytest.approx(dict(theirs(weight="weight")))
        assert alg.in_degree_centrality(G).to_dict() == pytest.approx(nx.in_degree_centrality(N))
        assert alg.out_degree_centrality(G).to_dict() == pytest.approx(nx.out_degree_centrality(N))


@pytest.mark.parametrize("seed", SEEDS)
def test_reciprocity(seed, base_seed):
    A, N = pair(base_seed * 1000 + 20 + seed, True)
    G = alg.Graph(A, directed=True)
    expected = {v: r for v, r in nx.reciprocity(N, N).items() if r is not None}
    assert alg.reciprocity(G).to_dict() == pytest.approx(expected)
    if N.number_of_edges():
        assert alg.overall_reciprocity(G) == pytest.approx(nx.overall_reciprocity(N))


def test_degrees_of_a_graph_that_is_not_declared():
    """Without `directed` a matrix equal to its transpose is undirected."""
    for seed in range(20):
        S = random_graph(seed)
        A = matrix(S)
        N = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
        symmetric = (S != S.T).nnz == 0 and A.isequal(A.T.new())
        if not symmetric:
            assert alg.degree(A).to_dict() == dict(N.degree())


def test_types_of_weights():
    for dtype, expected in (("INT8", "INT64"), ("UINT64", "UINT64"), ("FP32", "FP32"), ("BOOL", "INT64")):
        A = gb.Matrix.from_coo([0, 0, 0], [0, 1, 2], [1, 1, 1], dtype, nrows=3, ncols=3)
        found = alg.out_degree(A, weighted=True).values
        assert found.dtype.name == expected and found.to_dense().tolist() == [3, 0, 0]
    many = gb.Matrix.from_coo([0] * 3, [0, 1, 2], [100] * 3, "INT8", nrows=3, ncols=3)
    assert alg.out_degree(many, weighted=True).to_dict()[0] == 300
    with pytest.raises(TypeError, match="weighted=True: weights must be real, got FC64"):
        alg.degree(gb.Matrix.from_coo([0], [0], [1j], nrows=1, ncols=1), weighted=True)


def test_weights_that_are_no_numbers_stay_so():
    A = edges([(0, 1), (1, 2)], 3, [np.nan, np.inf])
    found = alg.out_degree(A, weighted=True).to_numpy()
    assert np.isnan(found[0]) and found[1] == np.inf and found[2] == 0
    assert alg.out_degree(A).to_numpy().tolist() == [1, 1, 0]


def test_the_degrees_that_the_graph_keeps_are_not_written_to():
    G = alg.Graph(edges([(0, 0), (0, 1)], 3, both=True))
    before = G.out_degree.dup()
    assert alg.degree(G).to_dict() == {0: 3, 1: 1, 2: 0}
    assert alg.degree_centrality(G).to_dict() == {0: 1.5, 1: 0.5, 2: 0.0}
    assert G.out_degree.isequal(before)


def test_edge_cases():
    empty, one = gb.Matrix(bool, 0, 0), edges([], 1)
    for function in (alg.degree, alg.in_degree, alg.out_degree, alg.degree_centrality, alg.reciprocity, alg.isolates):
        assert function(empty).to_dict() == {}
    assert alg.density(empty) == alg.density(one) == 0.0
    assert alg.degree_centrality(one).to_dict() == {0: 1.0} and alg.isolates(one).to_dict() == {0: True}
    with pytest.raises(ValueError, match="the reciprocity of a graph without edges"):
        alg.overall_reciprocity(one)
    assert alg.overall_reciprocity(karate()) == 1.0


@pytest.mark.parametrize("function", [alg.degree, alg.out_degree, alg.in_degree])
def test_sums_of_weights_that_do_not_fit(function):
    A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 2], [2**62, 2**62, 2**62, 2**62], nrows=3, ncols=3)
    with pytest.raises(OverflowError, match="weighted=True: the weights at node . sum to .*, near the limits of INT64"):
        function(A, weighted=True)
    assert function(A.dup("FP64"), weighted=True).values.reduce("max").new().value >= 2.0**63
    near = gb.Matrix.from_coo([0, 1], [1, 0], [2**60, -(2**60)], nrows=3, ncols=3)
    assert function(alg.Graph(near, True), weighted=True).values.nvals == 3


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_near_either_limit_are_refused(sign):
    A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0], [sign * 2**62, sign * 2**62, -sign], nrows=3, ncols=3)
    with pytest.raises(OverflowError, match="the weights at node 0 sum to"):
        alg.out_degree(A, weighted=True)
