"""Strong components, cores, order of acyclic graphs and condensation against SciPy and NetworkX.

Each runs as one compiled loop ("compiled"), as a loop of GraphBLAS calls ("loop", and with a callback).
"""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from samples import edges, karate, matrix, random_graph
from scipy.sparse import csgraph

import grb_tile as gb
from grb_tile.algorithms import (
    CycleError,
    Graph,
    condensation,
    core_number,
    is_dag,
    k_core,
    k_shell,
    strongly_connected_components,
    topological_generations,
    topological_sort,
)

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))]
GO_ON = [None, lambda record: False]


def as_networkx(S):
    graph = nx.from_scipy_sparse_array(sp.csr_array(S), create_using=nx.DiGraph)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


# ---------------------------------------------------------------------- strongly connected components


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("undirected", [False, True])
@pytest.mark.parametrize("callback", GO_ON)
def test_strong_components(seed, undirected, callback, engine, base_seed):
    S = random_graph(base_seed * 1000 + seed, undirected=undirected, weights="one")
    count, component = csgraph.connected_components(S, connection="strong")
    least = np.array([np.flatnonzero(component == c)[0] for c in component], np.int64)
    found = strongly_connected_components(matrix(S), callback=callback)
    assert found.count == count
    assert found.to_numpy().tolist() == least.tolist()
    assert found.report.stopped_by == "converged"


def test_a_long_cycle_and_a_long_path(engine):
    n = 3000
    order = np.random.default_rng(3).permutation(n)
    ring = edges(list(zip(order, np.roll(order, -1), strict=True)), n)
    assert strongly_connected_components(ring).count == 1
    path = edges(list(zip(order[:-1], order[1:], strict=True)), n)
    assert strongly_connected_components(path).count == n


def test_strong_components_of_little_graphs(engine):
    for callback in GO_ON:
        assert strongly_connected_components(gb.Matrix(int, 0, 0), callback=callback).count == 0
        assert strongly_connected_components(edges([(0, 0)], 1), callback=callback).to_numpy().tolist() == [0]
        assert strongly_connected_components(gb.Matrix(int, 3, 3), callback=callback).to_numpy().tolist() == [0, 1, 2]


def test_strong_components_stop_at_the_callback():
    A = edges([(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (3, 4), (4, 5), (5, 4)], 6)
    found = strongly_connected_components(A, callback=lambda record: True)
    assert found.report.stopped_by == "callback" and found.report.iterations == 1
    whole = strongly_connected_components(A).to_numpy()
    now = found.to_numpy()
    assert ((now == whole) | (now == np.arange(6))).all() and (now != whole).any()


# ---------------------------------------------------------------------- cores


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("undirected", [False, True])
@pytest.mark.parametrize("callback", GO_ON)
def test_core_numbers(seed, undirected, callback, engine, base_seed):
    S = random_graph(base_seed * 1000 + seed, undirected=undirected)
    graph = as_networkx(S)
    G = Graph(matrix(S), None if undirected else True)
    expected = nx.core_number(graph.to_undirected() if undirected else graph)
    assert core_number(G, callback=callback).to_dict() == expected


def test_cores_and_shells(engine):
    graph = nx.karate_club_graph()
    for k in (None, 0, 1, 2, 3, 4, 5):
        for ours, theirs in ((k_core, nx.k_core), (k_shell, nx.k_shell)):
            expected = {tuple(sorted(edge)) for edge in theirs(graph, k).edges()}
            i, j, _ = ours(karate(), k).to_coo()
            assert {tuple(sorted(edge)) for edge in zip(i.tolist(), j.tolist(), strict=True)} == expected, (ours, k)
    kept = k_core(edges([(0, 1), (1, 1)], 2, [5, 7], both=True), 1)
    assert kept.to_dicts() == {0: {1: 5}, 1: {0: 5, 1: 7}}
    with pytest.raises(ValueError, match="k: expected 0 or more, got -1"):
        k_core(karate(), -1)
    with pytest.raises(TypeError, match="k: expected an int, got 1.5"):
        k_shell(karate(), 1.5)


def test_core_numbers_of_little_graphs(engine):
    for callback in GO_ON:
        assert core_number(gb.Matrix(int, 0, 0), callback=callback).to_numpy().tolist() == []
        assert core_number(edges([(0, 0)], 1), callback=callback).to_numpy().tolist() == [0]
        assert core_number(gb.Matrix(int, 2, 2), callback=callback).to_numpy().tolist() == [0, 0]


def test_core_numbers_stop_at_the_callback():
    found = core_number(karate(), callback=lambda record: record["iteration"] == 3)
    assert found.report.stopped_by == "callback" and found.report.iterations == 3
    assert (found.to_numpy() <= core_number(karate()).to_numpy()).all()


# ---------------------------------------------------------------------- acyclic graphs


def acyclic(seed):
    """A random acyclic graph whose nodes are in no order."""
    S = sp.coo_array(sp.triu(random_graph(seed), 1))
    order = np.random.default_rng(seed).permutation(S.shape[0])
    return sp.csr_array((np.ones(S.nnz), (order[S.row], order[S.col])), shape=S.shape)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("callback", GO_ON)
def test_generations(seed, callback, engine, base_seed):
    S = acyclic(base_seed * 1000 + seed)
    generations = nx.topological_generations(as_networkx(S))
    expected = {node: k for k, generation in enumerate(generations) for node in generation}
    A = matrix(S)
    assert topological_generations(A, callback=callback).to_dict() == expected
    assert is_dag(A)
    position = topological_sort(A).to_numpy()
    assert sorted(position) == list(range(A.nrows))
    i, j, _ = A.to_coo()
    assert (position[i.astype(int)] < position[j.astype(int)]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cycle_is_named(seed, engine, base_seed):
    S = random_graph(base_seed * 1000 + seed)
    graph = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
    A = matrix(S)
    assert is_dag(A) == nx.is_directed_acyclic_graph(graph)
    if not is_dag(A):
        with pytest.raises(CycleError, match="is on a cycle") as caught:
            topological_generations(A)
        node = caught.value.node
        assert any(node in nx.descendants(graph, other) | {other} for other in graph.successors(node))
        with pytest.raises(CycleError):
            topological_sort(A)


def test_a_cycle_is_named_that_nodes_outside_lead_to():
    """Node 3 precedes the cycle 1 <-> 2 and is the last with an edge to either."""
    A = edges([(1, 2), (2, 1), (3, 1), (3, 2)], 4)
    with pytest.raises(CycleError) as caught:
        topological_generations(A)
    assert caught.value.node in (1, 2)


def test_order_of_little_graphs(engine):
    assert topological_generations(gb.Matrix(int, 0, 0)).to_numpy().tolist() == []
    assert topological_sort(gb.Matrix(int, 2, 2)).to_numpy().tolist() == [0, 1]
    assert not is_dag(edges([(0, 0)], 1))
    assert not is_dag(edges([(0, 1)], 2, both=True))
    chain = edges([(i, i + 1) for i in range(9)], 10)
    found = topological_generations(chain, callback=lambda record: record["iteration"] == 4)
    assert found.to_dict() == {0: 0, 1: 1, 2: 2, 3: 3} and found.report.stopped_by == "callback"


# ---------------------------------------------------------------------- condensation


@pytest.mark.parametrize("seed", SEEDS)
def test_condensation(seed, engine, base_seed):
    S = random_graph(base_seed * 1000 + seed)
    found = condensation(matrix(S))
    expected = nx.condensation(as_networkx(S))
    label = found.to_numpy()
    names = {c: int(label[min(members)]) for c, members in expected.nodes(data="members")}
    for c, members in expected.nodes(data="members"):
        assert {int(label[node]) for node in members} == {names[c]}
    i, j, _ = found.graph.to_coo()
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == {(names[c], names[d]) for c, d in expected.edges()}
    assert found.count == len(expected) and is_dag(found.graph)


def test_condensation_by_labels():
    found = condensation(edges([(0, 1), (1, 2), (2, 3)], 4), [7, 7, -2, -2])
    assert found.graph.to_dicts() == {0: {1: True}} and found.to_numpy().tolist() == [0, 0, 1, 1]
    assert condensation(gb.Matrix(int, 0, 0)).count == 0
    with pytest.raises(ValueError, match="labels: expected 4, one for each node, got an array of shape"):
        condensation(edges([(0, 1)], 4), [0, 1])


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FP32", "FC64"])
def test_values_do_not_matter(dtype):
    A = edges([(0, 1), (1, 0), (2, 1)], 3, 0).dup(dtype)
    assert strongly_connected_components(A).to_numpy().tolist() == [0, 0, 2]
    assert core_number(Graph(A, True)).to_numpy().tolist() == [2, 2, 1]
    assert topological_generations(edges([(0, 1)], 2, 0).dup(dtype)).to_numpy().tolist() == [0, 1]
    assert condensation(A).graph.to_dicts() == {1: {0: True}}


def test_labels_of_the_graph_are_kept():
    G = Graph(edges([(0, 1), (1, 0), (2, 1)], 3), labels=["a", "b", "c"])
    assert strongly_connected_components(G).to_dict() == {"a": 0, "b": 0, "c": 2}
    assert core_number(G).top(1) == [("a", 2)]
