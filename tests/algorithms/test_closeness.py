"""Closeness and harmonic centrality against NetworkX."""

import networkx as nx
import numpy as np
import pytest
from samples import edges, karate, pair

import grb_tile as gb
from grb_tile.algorithms import Graph, closeness, harmonic

SEEDS = range(8)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", ["one", "float"])
def test_random_graphs(seed, directed, weights, base_seed):
    A, N = pair(base_seed * 1000 + seed, directed, weights=weights)
    G = Graph(A, directed)
    weight, weighted = ("weight", True) if weights == "float" else (None, False)
    for improved in (False, True):
        expected = nx.closeness_centrality(N, distance=weight, wf_improved=improved)
        found = closeness(G, wf_improved=improved, weighted=weighted, batch=9)
        assert found.to_dict() == pytest.approx(expected)
    expected = nx.harmonic_centrality(N, distance=weight)
    assert harmonic(G, weighted=weighted, batch=9).to_dict() == pytest.approx(expected)


def test_some_vertices_only():
    A, N = pair(5, True)
    G = Graph(A, directed=True)
    wanted = [3, 0, 3, A.nrows - 1]
    for found, expected in (
        (closeness(G, sources=wanted, batch=2), nx.closeness_centrality(N)),
        (harmonic(G, sources=wanted, batch=2), nx.harmonic_centrality(N)),
    ):
        assert found.to_dict() == pytest.approx({v: expected[v] for v in wanted})


def test_integer_weights_and_those_of_zero():
    A = edges([(0, 1), (1, 2)], 4, [3, 0], both=True)
    assert closeness(A, weighted=True, wf_improved=False).to_numpy().tolist() == pytest.approx([2 / 6, 2 / 3, 2 / 3, 0])
    assert harmonic(A, weighted=True).to_numpy().tolist() == [2 / 3, np.inf, np.inf, 0]
    assert closeness(edges([(0, 1)], 2, 0, both=True), weighted=True).to_numpy().tolist() == [0, 0]


def test_loops_and_values_do_not_matter_to_levels():
    A = edges([(0, 1), (1, 2), (1, 1)], 3, [np.nan, np.inf, -1.0], both=True)
    plain = edges([(0, 1), (1, 2)], 3, both=True)
    G = Graph(A, directed=True)
    assert closeness(G).to_dict() == closeness(plain).to_dict() and harmonic(G).to_dict() == harmonic(plain).to_dict()


def test_edge_cases():
    for function in (closeness, harmonic):
        assert function(gb.Matrix(bool, 0, 0)).to_dict() == {}
        assert function(edges([], 1)).to_dict() == {0: 0.0}
        assert function(karate(), sources=[]).to_dict() == {}
        with pytest.raises(IndexError, match=r"sources\[1\]: 34 is out of range"):
            function(karate(), sources=[0, 34])
        with pytest.raises(ValueError, match="batch: expected 1 or more, got 0"):
            function(karate(), batch=0)
        with pytest.raises(ValueError, match="the weight of the edge 0 -> 1 is NaN"):
            function(edges([(0, 1)], 2, np.nan), weighted=True)


def test_callback_may_stop():
    found = closeness(karate(), batch=10, callback=lambda record: record["vertices"] >= 20)
    assert sorted(found.to_dict()) == list(range(20)) and found.report.stopped_by == "callback"
