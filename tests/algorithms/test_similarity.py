"""Similarities of vertices against NetworkX, and against sets for those that it does not have."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from checkers import edge_lists
from samples import edges, karate, pair

import grb_tile as gb
from grb_tile import algorithms as alg

SEEDS = range(8)
ALL = (
    alg.common_neighbors, alg.jaccard, alg.cosine, alg.overlap, alg.sorensen, alg.adamic_adar, alg.resource_allocation,
)  # fmt: skip


def by_sets(A, directed):
    """{name: function(u, v)} by sets of neighbours."""
    near = [{j for j, _ in row} for row in edge_lists(A)]
    into = [sum(w in row for row in near) for w in range(A.nrows)]
    if not directed:
        into = [d + (w in near[w]) for w, d in enumerate(into)]

    def shared(u, v):
        return (near[u] & near[v]) - {u, v}

    def ratio(a, b):
        return a / b if b else 0.0

    return {
        "common_neighbors": lambda u, v: len(shared(u, v)),
        "jaccard": lambda u, v: ratio(len(shared(u, v)), len(near[u] | near[v])),
        "cosine": lambda u, v: ratio(len(shared(u, v)), math.sqrt(len(near[u]) * len(near[v]))),
        "overlap": lambda u, v: ratio(len(shared(u, v)), min(len(near[u]), len(near[v]))),
        "sorensen": lambda u, v: ratio(2 * len(shared(u, v)), len(near[u]) + len(near[v])),
        "adamic_adar": lambda u, v: sum(1 / math.log(into[w]) for w in shared(u, v)),
        "resource_allocation": lambda u, v: sum(1 / into[w] for w in shared(u, v)),
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
def test_random_graphs(seed, directed, base_seed):
    A, _ = pair(base_seed * 1000 + seed, directed)
    G, expected = alg.Graph(A, directed), by_sets(A, directed)
    rng = np.random.default_rng(seed)
    some = [(u, v) for u, v in rng.integers(0, A.nrows, (30, 2)).tolist() if u != v]
    every = [(u, v) for u in range(A.nrows) for v in range(A.nrows) if u != v]
    for function in ALL:
        score = expected[function.__name__]
        assert function(G, some).to_dict() == pytest.approx({(u, v): score(u, v) for u, v in some})
        if A.nrows <= 20:
            found = function(G).to_dict()
            near = expected["common_neighbors"]
            assert found == pytest.approx({(u, v): score(u, v) for u, v in every if near(u, v)})


@pytest.mark.parametrize("seed", SEEDS)
def test_against_networkx(seed, base_seed):
    A, N = pair(base_seed * 1000 + 20 + seed, False)
    pairs = list(itertools.combinations(range(A.nrows), 2))
    for ours, theirs in (
        (alg.jaccard, nx.jaccard_coefficient),
        (alg.adamic_adar, nx.adamic_adar_index),
        (alg.resource_allocation, nx.resource_allocation_index),
    ):
        expected = {(u, v): score for u, v, score in theirs(N, pairs)}
        assert ours(A, pairs).to_dict() == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 3, 100])
def test_the_most_similar(k):
    A = karate()
    every = alg.jaccard(A).to_dict()
    found = alg.jaccard(A, topk=k).to_dict()
    for u in range(34):
        ranked = sorted(((-score, v) for (w, v), score in every.items() if w == u))[:k]
        assert {v: score for (w, v), score in found.items() if w == u} == pytest.approx({v: -s for s, v in ranked})


def test_topk_in_several_batches(monkeypatch):
    whole = alg.cosine(karate(), topk=2)
    monkeypatch.setattr("grb_tile.algorithms.similarity.BATCH", 5)
    assert alg.cosine(karate(), topk=2).values.isequal(whole.values)


def test_pairs_as_a_matrix_with_labels_and_in_order_of_score():
    A = karate()
    P = gb.Matrix.from_coo([0, 5], [33, 6], True, nrows=34, ncols=34)
    G = alg.Graph(A, labels=[f"v{i}" for i in range(34)])
    found = alg.jaccard(G, P)
    assert set(found.to_dict()) == {("v0", "v33"), ("v5", "v6")} and found.top(1)[0][0] == ("v5", "v6")
    assert found.to_pandas().columns.tolist() == ["source", "target", "jaccard"]


def test_edge_cases():
    for function in ALL:
        assert function(gb.Matrix(bool, 0, 0)).to_dict() == {} == function(gb.Matrix(bool, 0, 0), topk=1).to_dict()
        assert function(edges([], 2), [(0, 1), (1, 1)]).to_dict() == {(0, 1): 0.0, (1, 1): 0.0}
        assert function(karate(), []).to_dict() == {}
        values = function(edges([(0, 1), (1, 2)], 3, np.nan, both=True), [(0, 2)]).to_dict()
        assert values == function(edges([(0, 1), (1, 2)], 3, both=True), [(0, 2)]).to_dict()
        for options, error, message in (
            ({"pairs": [(0, 34)]}, IndexError, r"pairs, v\[0\]: 34 is out of range"),
            ({"pairs": [(0, 1, 2)]}, TypeError, r"pairs\[0\]: expected \(u, v\), got \(0, 1, 2\)"),
            ({"pairs": [3]}, TypeError, r"pairs\[0\]: expected \(u, v\), got 3"),
            ({"pairs": gb.Matrix(bool, 2, 2)}, ValueError, "pairs: expected a 34 x 34 Matrix, got 2 x 2"),
            ({"topk": 0}, ValueError, "topk: expected 1 or more, got 0"),
            ({"pairs": [(0, 1)], "topk": 2}, ValueError, "pairs, topk: only one may be given"),
        ):
            with pytest.raises(error, match=message):
                function(karate(), **options)
