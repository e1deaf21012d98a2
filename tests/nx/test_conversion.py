"""Conversion: labels, values per attribute, the cache, views, parallel edges, classes."""

import random

import networkx as nx
import numpy as np
import pytest

import grb_tile as gb
from grb_tile.nx import adjacency, graphs
from grb_tile.nx.interface import backend
from support import seeds

ours = {"backend": "grb_tile"}


def random_graph(kind, labels, rng):
    G = kind()
    G.add_nodes_from(labels)
    for _ in range(4 * len(labels)):
        G.add_edge(rng.choice(labels), rng.choice(labels), weight=rng.randint(1, 9), length=rng.random())
    return G


LABELS = {
    "in order": list(range(20)),
    "shuffled": random.Random(1).sample(range(20), 20),
    "gaps": [7 * k - 30 for k in range(20)],
    "far apart": [10**k for k in range(18)],
    "text": list("abcdefghijklmnopqrst"),
    "mixed": [0, "a", (1, 2), 2.5, None or frozenset(), *range(5, 20)],
}
KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kind", KINDS)
def test_matrices_are_those_of_networkx(kind, labels):
    G = random_graph(kind, LABELS[labels], random.Random(seeds.SEED))
    for weight in (None, "weight", "length", "absent"):
        theirs = nx.to_numpy_array(G, weight=weight)
        assert np.allclose(nx.to_numpy_array(G, weight=weight, **ours), theirs)
        A = nx.to_scipy_sparse_array(G, weight=weight, **ours)
        assert A.dtype == nx.to_scipy_sparse_array(G, weight=weight).dtype
        assert np.allclose(A.toarray(), theirs)
    part = LABELS[labels][3:15][::-1]
    assert np.allclose(nx.to_numpy_array(G, part, **ours), nx.to_numpy_array(G, part))
    assert np.allclose(nx.to_scipy_sparse_array(G, part, **ours).toarray(), nx.to_numpy_array(G, part))


@pytest.mark.parametrize("labels", LABELS)
def test_labels_come_back(labels):
    G = random_graph(nx.DiGraph, LABELS[labels], random.Random(seeds.SEED))
    found = nx.pagerank(G, **ours)
    assert list(found) == list(G)
    assert all(type(value) is float for value in found.values())
    source = LABELS[labels][0]
    lengths = nx.single_source_dijkstra_path_length(G, source, **ours)
    assert lengths == nx.single_source_dijkstra_path_length(G, source)
    assert all(type(value) is int for value in lengths.values())
    assert [sorted(map(str, c)) for c in nx.weakly_connected_components(G, **ours)] == [
        sorted(map(str, c)) for c in nx.weakly_connected_components(G)
    ]


def test_each_call_gets_its_own_weights():
    G = random_graph(nx.DiGraph, list(range(20)), random.Random(seeds.SEED))
    for weight in ("weight", None, "length", "weight", "absent", None):
        assert nx.pagerank(G, weight=weight, **ours) == pytest.approx(nx.pagerank(G, weight=weight), abs=1e-6)


def test_a_converted_graph_is_kept_and_dropped():
    G = nx.gnp_random_graph(50, 0.1, seed=seeds.SEED)
    nx.triangles(G, **ours)
    kept = graphs.kept(G)
    assert "pattern" in kept
    nx.pagerank(G, **ours)
    assert graphs.kept(G) is kept
    for change in (
        lambda: G.add_edge(0, 1, weight=7),
        lambda: G.remove_edge(0, 1),
        lambda: G.add_node("new"),
        lambda: G.remove_node("new"),
        lambda: G.add_weighted_edges_from([(1, 2, 3.5), (2, 77, 1.0)]),
    ):
        change()
        assert nx.pagerank(G, **ours) == pytest.approx(nx.pagerank(G), abs=1e-6)
        assert nx.number_connected_components(G, **ours) == nx.number_connected_components(G)


def test_a_change_of_the_converted_graph_drops_it_too():
    H = nx.path_graph(5, **ours)
    assert nx.number_connected_components(H) == 1
    H.remove_edge(1, 2)
    assert nx.number_connected_components(H) == 2


def test_edges_written_into_the_dictionaries_are_noticed_by_their_number():
    G = nx.path_graph(4)
    nx.triangles(G, **ours)
    G._adj[0][3] = G._adj[3][0] = {"weight": 5}
    assert nx.single_source_dijkstra_path_length(G, 0, **ours) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert nx.to_numpy_array(G, **ours)[0, 3] == 5


def test_nothing_is_kept_where_networkx_keeps_nothing():
    G = nx.path_graph(4)
    with nx.config(cache_converted_graphs=False):
        assert nx.single_source_dijkstra_path_length(G, 0, **ours)[3] == 3
        G[0][1]["weight"] = 10
        assert nx.single_source_dijkstra_path_length(G, 0, **ours)[3] == 12
    assert not G.__networkx_cache__
    G.__networkx_cache__ = None
    assert nx.number_connected_components(G, **ours) == 1


def test_views_follow_their_graphs():
    G = nx.cycle_graph(6)
    part = G.subgraph([0, 1, 2, 3])
    assert nx.number_connected_components(part, **ours) == 1
    G.remove_edge(1, 2)
    assert nx.number_connected_components(part, **ours) == 2
    D = nx.DiGraph([(0, 1), (1, 2)])
    reverse = D.reverse(copy=False)
    assert nx.descendants(reverse, 2, **ours) == {0, 1}
    D.add_edge(3, 2)
    assert nx.descendants(reverse, 2, **ours) == {0, 1, 3}


def test_a_view_is_read_once_in_a_call(monkeypatch):
    read, Pattern = [], adjacency.Pattern
    monkeypatch.setattr(adjacency, "Pattern", lambda *args, **more: read.append(args) or Pattern(*args, **more))
    G = nx.cycle_graph(6)
    part = G.subgraph([0, 1, 2, 3])
    found = dict(nx.all_pairs_dijkstra_path_length(part, **ours))
    assert found == dict(nx.all_pairs_dijkstra_path_length(part)) and len(read) == 1
    H = nx.cycle_graph(6, **ours)
    part = H.subgraph([0, 1, 2, 3])
    assert nx.diameter(part) == 3 and len(read) == 2
    H.add_edge(0, 3)
    assert nx.diameter(part) == 2 and len(read) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_generated_graphs_stay_with_the_backend(kind):
    H = nx.path_graph(4, create_using=kind, **ours)
    assert H.__networkx_backend__ == "grb_tile" and isinstance(H, kind)
    assert type(nx.pagerank(H)[0]) is float
    # no argument names the backend any more
    with pytest.raises(NotImplementedError, match="not implemented by"):
        nx.is_planar(H)
    with nx.config(fallback_to_nx=True):
        assert nx.is_planar(H)
    back = graphs.release(H)
    assert type(back) is kind and back._adj is H._adj


@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_the_backend(kind):
    H = kind([(0, 1), (1, 2)], name="path", **ours)
    assert type(H).__module__ == "grb_tile.nx.graphs" and H.name == "path" and set(H) == {0, 1, 2}
    assert type(H.to_directed()).__module__ == type(H.to_undirected()).__module__ == "grb_tile.nx.graphs"
    assert H.to_directed().is_directed() and not H.to_undirected().is_directed()
    assert type(H.copy()) is type(H) and H.copy().is_multigraph() == H.is_multigraph()

    class Own(kind):
        pass

    assert type(Own([(0, 1)])) is Own


def test_parallel_edges_add_up_or_the_least_counts():
    G = nx.MultiDiGraph([(0, 1, {"weight": 3}), (0, 1, {"weight": 5}), (0, 2, {"weight": 4}), (1, 2, {})])
    assert nx.single_source_dijkstra_path_length(G, 0, **ours) == {0: 0, 1: 3, 2: 4}
    assert nx.pagerank(G, **ours) == pytest.approx(nx.pagerank(G), abs=1e-6)
    assert nx.pagerank(G, weight=None, **ours) == pytest.approx(nx.pagerank(G, weight=None), abs=1e-6)
    assert nx.to_numpy_array(G, multigraph_weight=max, **ours)[0, 1] == 5


def test_booleans_of_parallel_edges_stay_booleans():
    G = nx.MultiDiGraph([(0, 1, {"w": True}), (0, 1, {"w": True}), (1, 2, {"w": False})])
    for attribute in ("w", "missing"):
        found, expected = (nx.to_scipy_sparse_array(G, weight=attribute, backend=b) for b in ("grb_tile", "networkx"))
        assert found.dtype == expected.dtype and (found.toarray() == expected.toarray()).all()


def test_large_integers_are_left_to_networkx():
    G = nx.path_graph(3)
    G[0][1]["weight"] = 2**70
    with pytest.raises(NotImplementedError, match="real numbers of at most 64 bits"):
        adjacency.graph(graphs.adopt(G), "weight")


def test_a_class_with_its_own_neighbours_is_left_to_networkx():
    class Complement(nx.Graph):
        def neighbors(self, n):
            return iter(set(self._adj) - set(self._adj[n]) - {n})

    class Named(nx.Graph):
        pass

    with pytest.raises(NotImplementedError, match="its own neighbours"):
        graphs.adopt(Complement([(0, 1)]))
    assert nx.is_connected(Named([(0, 1)]), **ours)


def test_edges_without_attributes_have_the_default():
    for kind in (nx.Graph, nx.DiGraph):
        G = kind([(0, 1), (1, 2), (2, 2)])
        for default in (1, 2.5):
            A = adjacency.graph(backend.convert_from_nx(G), "weight", default=default).A
            assert set(A.to_coo()[2].tolist()) == {default} and A.nvals == len(G.edges) + (kind is nx.Graph) * 2
            assert A.dtype == gb.dtypes.lookup_dtype(type(default))
        with pytest.raises(NotImplementedError):
            adjacency.graph(backend.convert_from_nx(G), "weight", default=2**64)
        G[0][1]["weight"] = 5
        G.__networkx_cache__.clear()
        assert adjacency.graph(backend.convert_from_nx(G), "weight").A[0, 1].new().value == 5
