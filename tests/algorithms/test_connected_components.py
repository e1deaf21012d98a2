"""connected_components against SciPy and GAP's validator."""

import numpy as np
import pytest
from checkers import check_components, check_equivalent
from samples import edges, karate, matrix, random_graph
from scipy.sparse import csgraph

import grb_tile as gb
from grb_tile import graph
from grb_tile.algorithms import Graph, connected_components

SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("undirected", [False, True])
def test_random_graphs(seed, undirected, base_seed):
    S = random_graph(base_seed * 1000 + seed, undirected=undirected, weights="one")
    A = matrix(S)
    found = connected_components(A)
    check_components(A, found.labels)
    count, expected = csgraph.connected_components(S, connection="weak")
    assert found.count == count
    check_equivalent(found.labels.to_dense().tolist(), expected.tolist())


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_are_the_smallest_nodes(seed, base_seed):
    labels = connected_components(matrix(random_graph(base_seed * 1000 + seed))).labels
    assert labels.dtype == gb.dtypes.UINT64
    found = labels.to_dense()
    for label in np.unique(found):
        assert label == np.flatnonzero(found == label)[0]


@pytest.mark.parametrize("seed", range(5))
def test_long_chains_in_any_order(seed, base_seed):
    rng = np.random.default_rng(base_seed * 1000 + seed)
    n = 1000
    order = rng.permutation(n)
    cut = {250, 600, 601}
    A = edges([(order[k], order[k + 1]) for k in range(n - 1) if k not in cut], n)
    found = connected_components(A)
    assert found.count == 4
    check_components(A, found.labels)
    assert found.report.iterations <= 20


def test_edge_cases():
    assert connected_components(gb.Matrix(int, 0, 0)).count == 0
    assert connected_components(edges([(0, 0)], 1)).labels.to_dense().tolist() == [0]
    assert connected_components(gb.Matrix(int, 3, 3)).labels.to_dense().tolist() == [0, 1, 2]
    assert connected_components(karate()).count == 1


def test_direction_does_not_matter():
    pairs = [(3, 1), (1, 4), (0, 2)]
    forward, backward = edges(pairs, 6), edges([(j, i) for i, j in pairs], 6)
    expected = [0, 1, 0, 1, 1, 5]
    assert connected_components(forward).labels.to_dense().tolist() == expected
    assert connected_components(Graph(backward, directed=True)).labels.to_dense().tolist() == expected


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FP32", "FC64"])
def test_values_do_not_matter(dtype):
    A = edges([(0, 1), (2, 3)], 5, 0).dup(dtype)
    assert connected_components(A).labels.to_dense().tolist() == [0, 0, 2, 2, 4]


def test_callback_and_arguments():
    changes = []
    connected_components(karate(), callback=lambda record: changes.append(record["changed"]))
    assert changes[-1] == 0 and len(changes) >= 2
    assert connected_components(karate(), callback=lambda record: True).report.stopped_by == "callback"
    with pytest.raises(ValueError, match="method: expected one of 'auto', 'fastsv', 'afforest'"):
        connected_components(karate(), method="lacc")
    with pytest.raises(gb.exceptions.DimensionMismatch):
        connected_components(gb.Matrix(int, 2, 3))


@pytest.mark.parametrize("back", [False, True])
def test_the_whole_loop_is_told_whether_edges_go_both_ways(back, monkeypatch):
    told = []
    monkeypatch.setattr(graph, "components", lambda A, *, symmetric, AT: told.append(AT() is A))
    A = edges([(0, 1)], 3, both=back)
    with gb.plan(force="numpy"):  # without the compiled loop
        assert connected_components(A).count == 2
    assert told == [back]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", SEEDS)
def test_union_find(seed, engine, base_seed):
    A = matrix(random_graph(base_seed * 1000 + seed, weights="one"))
    S = gb.binary.any(A | A.T).new()
    expected = connected_components(A, method="fastsv")
    for G in (Graph(A, directed=True), Graph(S, directed=False), Graph(S)):
        found = connected_components(G)
        if engine == "compiled" and gb.graph.components(A) is not None:
            assert found.report.algorithm == "connected_components (union-find)"
        assert found.count == expected.count and found.labels.isequal(expected.labels)
