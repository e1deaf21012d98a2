"""Searches and orders of acyclic graphs are those of NetworkX, node by node: as the compiled loop, and without it."""

import random
from collections import Counter

import networkx as nx
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.graph import compiled
from grb_tile.backends.cpu.jit import cache as jit

ours, theirs = {"backend": "grb_tile"}, {"backend": "networkx"}


@pytest.fixture(params=["compiled", "products"])
def engine(request):
    if request.param == "products":
        with gb.plan(force="numpy"):
            yield
    else:
        for name in compiled._LISTS:
            assert jit.plain_kernel(name, INDEX="l").load() is not None
        yield


def drawn(seed):
    """(a graph, an acyclic graph, its nodes), with loops and nodes without edges."""
    rng = random.Random(seed)
    n = rng.randint(1, 25)
    nodes = [f"x{i}" for i in range(n)]
    rng.shuffle(nodes)
    G, D = (nx.DiGraph if seed % 2 else nx.Graph)(), nx.DiGraph()
    G.add_nodes_from(nodes)
    G.add_edges_from((rng.choice(nodes), rng.choice(nodes)) for _ in range(rng.randint(0, 3 * n)))
    D.add_nodes_from(nodes)
    pairs = [sorted(rng.sample(range(n), 2)) for _ in range(2 * n) if n > 1]
    D.add_edges_from((nodes[j], nodes[i]) for i, j in pairs)
    return G, D, nodes


@pytest.mark.parametrize("seed", range(12))
def test_order_of_searches(seed, engine):
    G, _, nodes = drawn(seed)
    source = nodes[seed % len(nodes)]
    for reverse in (False, True):
        for limit in (None, 0, 1, 2):
            found = list(nx.bfs_edges(G, source, reverse=reverse, depth_limit=limit, **ours))
            assert found == list(nx.bfs_edges(G, source, reverse=reverse, depth_limit=limit, **theirs))
    assert list(nx.bfs_layers(G, nodes[:3], **ours)) == list(nx.bfs_layers(G, nodes[:3], **theirs))
    found, expected = (nx.single_source_shortest_path(G, source, **to) for to in (ours, theirs))
    assert list(found.items()) == list(expected.items())


@pytest.mark.parametrize("seed", range(12))
def test_order_of_acyclic_graphs(seed, engine):
    G, D, nodes = drawn(seed)
    assert list(nx.topological_generations(D, **ours)) == list(nx.topological_generations(D, **theirs))
    assert list(nx.topological_sort(D, **ours)) == list(nx.topological_sort(D, **theirs))
    D.add_edge(nodes[0], nodes[0])
    with pytest.raises(nx.NetworkXUnfeasible):
        list(nx.topological_sort(D, **ours))


@pytest.mark.parametrize("seed", range(12))
def test_greedy_colours(seed):
    G = nx.MultiGraph(drawn(seed)[0]) if seed % 3 else nx.Graph(drawn(seed)[0])
    found, expected = (nx.greedy_color(G, **to) for to in (ours, theirs))
    assert list(found.items()) == list(expected.items())
    with pytest.raises(NotImplementedError):
        nx.greedy_color(G, "smallest_last", **ours)


@pytest.mark.parametrize("seed", range(12))
def test_labels_propagate_in_the_order_of_colours(seed, engine):
    for G in (nx.Graph(drawn(seed)[0]), nx.MultiGraph(drawn(seed)[0])):
        found, expected = (list(nx.community.label_propagation_communities(G, **to)) for to in (ours, theirs))
        assert found == expected


@pytest.mark.parametrize("seed", range(12))
def test_asynchronous_labels_are_stable(seed, engine):
    G = drawn(seed)[0]
    found = list(nx.community.asyn_lpa_communities(G, seed=seed, **ours))
    assert found == list(nx.community.asyn_lpa_communities(G, seed=seed, **ours))
    label = {node: k for k, members in enumerate(found) for node in members}
    assert sorted(label) == sorted(G) and sum(map(len, found)) == len(G)
    for node, neighbours in G.adj.items():
        votes = Counter(label[neighbour] for neighbour in neighbours)
        assert not votes or votes[label[node]] == max(votes.values())
    with pytest.raises(NotImplementedError):
        nx.community.asyn_lpa_communities(G, weight="weight", **ours)


def test_a_path_has_as_many_levels_as_nodes():
    G, D = nx.path_graph(3000), nx.path_graph(3000, create_using=nx.DiGraph)
    assert list(nx.bfs_edges(G, 0, **ours)) == list(G.edges)
    assert list(nx.topological_sort(D, **ours)) == list(D)
    assert list(nx.topological_generations(D, **ours)) == [[node] for node in D]
