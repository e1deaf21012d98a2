"""Betweenness of vertices and edges against NetworkX, exact and from samples of the sources.

With the fixture `engine` as the compiled loop and as the loop of GraphBLAS calls.
"""

import networkx as nx
import numpy as np
import pytest
from checkers import edge_lists
from samples import edges, karate, pair

import grb_tile as gb
from grb_tile.algorithms import Graph, betweenness, edge_betweenness

SEEDS = range(8)


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), key


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_vertices(seed, directed, normalized, engine, base_seed):
    A, N = pair(base_seed * 1000 + seed, directed)
    G = Graph(A, directed)
    for endpoints in (False, True):
        expected = nx.betweenness_centrality(N, normalized=normalized, endpoints=endpoints)
        found = betweenness(G, normalized=normalized, endpoints=endpoints, batch=7)
        assert_same(found.to_dict(), expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
def test_edges(seed, directed, engine, base_seed):
    A, N = pair(base_seed * 1000 + seed, directed)
    for normalized in (False, True):
        expected = nx.edge_betweenness_centrality(N, normalized=normalized)
        if not directed:
            expected = {(min(edge), max(edge)): value for edge, value in expected.items()}
        found = edge_betweenness(Graph(A, directed), normalized=normalized, batch=5)
        assert_same(found.to_dict(), expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
def test_samples_are_scaled_as_in_networkx(seed, directed, base_seed, monkeypatch):
    A, N = pair(base_seed * 1000 + seed, directed)
    sources = np.random.default_rng(seed).permutation(A.nrows)[: max(1, A.nrows // 3)].tolist()
    monkeypatch.setattr("random.Random.sample", lambda self, population, k: sources[:k])
    for endpoints in (False, True):
        for normalized in (False, True):
            options = {"normalized": normalized, "endpoints": endpoints}
            expected = nx.betweenness_centrality(N, k=len(sources), seed=1, **options)
            assert_same(betweenness(Graph(A, directed), sources=sources, **options).to_dict(), expected)


def weighted_pair(seed, directed):
    """Lengths 1 to 3, so that many paths are of equal length."""
    A, N = pair(seed, directed)
    for i, j, attributes in N.edges(data=True):
        attributes["length"] = 1 + (i * 7 + j * 7) % 3
    i, j, _ = A.to_coo()
    return gb.Matrix.from_coo(i, j, 1 + (i * 7 + j * 7) % 3, nrows=A.nrows, ncols=A.ncols), N


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
def test_weighted(seed, directed, engine, base_seed):
    A, N = weighted_pair(base_seed * 1000 + seed, directed)
    for kind, scale in ((int, 1), (float, 0.5)):
        G = Graph(gb.binary.times(A, scale).new(kind), directed)
        for endpoints in (False, True):
            expected = nx.betweenness_centrality(N, weight="length", endpoints=endpoints)
            assert_same(betweenness(G, weighted=True, endpoints=endpoints, batch=7).to_dict(), expected)
        expected = nx.edge_betweenness_centrality(N, weight="length")
        if not directed:
            expected = {(min(edge), max(edge)): value for edge, value in expected.items()}
        assert_same(edge_betweenness(G, weighted=True, batch=5).to_dict(), expected)


@pytest.mark.parametrize("length", [0, -1, np.inf, np.nan, 1e-12, 2**60])
def test_lengths_that_are_refused(length):
    A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [5e5, 5e5, length, length], nrows=3, ncols=3)
    if length == 2**60:
        A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1, 1, length, length], nrows=3, ncols=3)
    for function in (betweenness, edge_betweenness):
        with pytest.raises((ValueError, OverflowError), match=r"weighted=True: |is NaN"):
            function(A, weighted=True)


def test_threads_share_the_sources(engine, monkeypatch):
    A = karate()
    expected = betweenness(A).to_dict()
    monkeypatch.setattr("grb_tile.planner.tuning.PARALLEL_ROWS", 1)
    monkeypatch.setattr("grb_tile.backends.cpu.jit.threads._threads", 3)
    for _ in range(2):
        assert_same(betweenness(A, batch=5).to_dict(), expected)


def test_a_seed_draws_the_same_sources():
    A = karate()
    found = [betweenness(A, k=5, seed=seed).to_dict() for seed in (3, 3, 4)]
    assert_same(found[0], found[1])
    assert found[0] != pytest.approx(found[2])
    exact, every = betweenness(A).to_dict(), betweenness(A, k=34, seed=1).to_dict()
    assert_same(every, exact)


def dependencies(A, source):
    """Brandes' dependency of `source` on each vertex, by a plain queue."""
    lists = [[j for j, _ in row if j != i] for i, row in enumerate(edge_lists(A))]
    level, paths, order = {source: 0}, {source: 1}, [source]
    for i in order:
        for j in lists[i]:
            if j not in level:
                level[j], paths[j] = level[i] + 1, 0
                order.append(j)
            if level[j] == level[i] + 1:
                paths[j] += paths[i]
    found = np.zeros(A.nrows)
    for i in reversed(order):
        for j in lists[i]:
            if level[j] == level[i] + 1:
                found[i] += paths[i] / paths[j] * (1 + found[j])
    found[source] = 0
    return found


@pytest.mark.parametrize("directed", [False, True])
def test_the_sum_of_dependencies(directed, engine, base_seed):
    A, _ = pair(base_seed * 1000 + 77, directed)
    sources = list(range(0, A.nrows, 3))
    found = betweenness(A, sources=sources, normalized="sum").to_numpy()
    np.testing.assert_allclose(found, sum(dependencies(A, s) for s in sources), rtol=1e-12)


def test_values_and_labels_do_not_matter_to_scores():
    A = karate()
    weighted = gb.unary.one[gb.dtypes.FP64](A).new()
    weighted << gb.binary.times(weighted, np.nan)
    assert_same(betweenness(Graph(weighted, directed=True)).to_dict(), betweenness(Graph(A, directed=True)).to_dict())
    named = Graph(A, labels=[f"v{i}" for i in range(34)])
    assert betweenness(named).top(1)[0][0] == "v0" and ("v0", "v31") in edge_betweenness(named).to_dict()


def test_edge_cases():
    assert (
        betweenness(gb.Matrix(bool, 0, 0)).to_dict() == {} and edge_betweenness(gb.Matrix(bool, 0, 0)).to_dict() == {}
    )
    assert betweenness(edges([], 1)).to_dict() == {0: 0.0}
    assert betweenness(edges([(0, 0)], 1)).to_dict() == {0: 0.0}
    assert edge_betweenness(edges([(0, 0)], 1)).to_dict() == {(0, 0): 0.0}
    assert betweenness(edges([(0, 1)], 2), endpoints=True).to_dict() == {0: 0.5, 1: 0.5}


def test_callback_may_stop_between_batches():
    found = betweenness(karate(), batch=4, callback=lambda record: record["sources"] >= 8)
    assert found.report.stopped_by == "callback" and found.report.rounds[-1]["sources"] == 8
    assert_same(found.to_dict(), betweenness(karate(), sources=list(range(8))).to_dict())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"k": 0}, ValueError, "k: expected 1 or more, got 0"),
        ({"k": 35}, ValueError, "k: expected at most the 34 vertices of the graph, got 35"),
        ({"k": 2.0}, TypeError, "k: expected an int, got 2.0"),
        ({"k": 2, "sources": [1]}, ValueError, "k, sources: only one may be given"),
        ({"sources": [1, 1]}, ValueError, r"sources: expected each vertex once, got \[1, 1\]"),
        ({"sources": [34]}, IndexError, r"sources\[0\]: 34 is out of range"),
        ({"normalized": "max"}, ValueError, "normalized: expected True, False or 'sum', got 'max'"),
        ({"batch": 0}, ValueError, "batch: expected 1 or more, got 0"),
    ],
)
def test_arguments(options, error, message):
    for function in (betweenness, edge_betweenness):
        with pytest.raises(error, match=message):
            function(karate(), **options)


def diamonds(count):
    """`count` diamonds in a row, which 2^count shortest paths lead through."""
    first = 3 * np.arange(count)
    i = np.concatenate([first, first, first + 1, first + 2])
    j = np.concatenate([first + 1, first + 2, first + 3, first + 3])
    return gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], 1, nrows=3 * count + 1, ncols=3 * count + 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("function", [betweenness, edge_betweenness])
def test_more_paths_than_fp64_holds_are_refused(function, weighted, engine):
    found = function(diamonds(500), sources=[0, 1500], weighted=weighted, normalized="sum")
    scores = found.values.to_coo()[-1]
    assert np.isfinite(scores).all()
    if function is betweenness:  # the vertices where diamonds meet are on every path beyond them, the others on half
        at = 600
        assert scores[at] == pytest.approx(1500) and scores[at + 1] == pytest.approx(1499 / 2)
    with pytest.raises(OverflowError, match=r"G: more than 1.8e308 shortest paths join two vertices"):
        function(diamonds(1030), sources=[0], weighted=weighted)
