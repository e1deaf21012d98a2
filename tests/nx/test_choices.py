"""Functions with several right answers: where the weights make the answer unique it is NetworkX's, elsewhere right.

Of converted graphs, so that the backend answers and nothing falls back to NetworkX.
"""

import itertools
import random

import networkx as nx
import numpy as np
import pytest

from grb_tile.nx.interface import backend
from support import seeds

PAIRED = [(0, 5), (3, 3), (5, 1), (2, 7)]


def draw(number, kind, share=0.3, n=9):
    """A graph whose edges have distinct weights, so that of two paths one is shorter; one node without edges."""
    rng = random.Random(f"{seeds.SEED} choices {number}")
    G = kind()
    G.add_nodes_from(range(n))
    pairs = itertools.permutations(range(n - 1), 2) if G.is_directed() else itertools.combinations(range(n - 1), 2)
    chosen = [pair for pair in pairs if rng.random() < share]
    rng.shuffle(chosen)
    for u, v in chosen:
        G.add_edge(u, v, weight=rng.randint(1, 2**40) / 2**20)
    return G


def plain(found):
    """Of a result what is compared: iterators as lists, keys kept."""
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    if hasattr(found, "__next__") or isinstance(found, (list, tuple)):
        return [plain(each) for each in found]
    return round(found, 9) if isinstance(found, float) else found


def outcome(call, G):
    try:
        return plain(call(G))
    except Exception as error:
        return type(error)


# by weight the answer is unique; `w` is the keyword of the weight
UNIQUE = {
    "shortest_path": lambda G: [
        [nx.shortest_path(G, s, t, weight="weight", method=m) for s, t in ((0, 5), (0, None), (None, 5), (None, None))]
        for m in ("dijkstra", "bellman-ford")
    ],
    "dijkstra_path": lambda G: [nx.dijkstra_path(G, s, t) for s, t in PAIRED],
    "bidirectional_dijkstra": lambda G: [nx.bidirectional_dijkstra(G, s, t) for s, t in PAIRED],
    "single_source_dijkstra": lambda G: [
        nx.single_source_dijkstra(G, 0, target, cutoff) for target in (None, 5, 0) for cutoff in (None, 1e9, 2.0**20)
    ],
    "single_source_dijkstra_path": lambda G: [nx.single_source_dijkstra_path(G, 3, c) for c in (None, 2.0**19)],
    "multi_source_dijkstra": lambda G: [
        nx.multi_source_dijkstra(G, {0, 4}, target, cutoff) for target in (None, 5, 4) for cutoff in (None, 2.0**30)
    ],
    "multi_source_dijkstra_path": lambda G: nx.multi_source_dijkstra_path(G, {1, 2}),
    "all_pairs_dijkstra": lambda G: [nx.all_pairs_dijkstra(G, cutoff=c) for c in (None, 2.0**19)],
    "all_pairs_dijkstra_path": lambda G: [nx.all_pairs_dijkstra_path(G, cutoff=c) for c in (None, 2.0**19)],
    "single_source_bellman_ford": lambda G: [nx.single_source_bellman_ford(G, 0, target) for target in (None, 5, 0)],
    "single_source_bellman_ford_path": lambda G: nx.single_source_bellman_ford_path(G, 2),
    "bellman_ford_path": lambda G: [nx.bellman_ford_path(G, s, t) for s, t in PAIRED],
    "all_pairs_bellman_ford_path": lambda G: nx.all_pairs_bellman_ford_path(G),
    "dijkstra_predecessor_and_distance": lambda G: nx.dijkstra_predecessor_and_distance(G, 0),
    "bellman_ford_predecessor_and_distance": lambda G: [
        nx.bellman_ford_predecessor_and_distance(G, 0, heuristic=h) for h in (False, True)
    ],
    "goldberg_radzik": lambda G: nx.goldberg_radzik(G, 0),
    "johnson": lambda G: nx.johnson(G),
    "all_shortest_paths": lambda G: [
        nx.all_shortest_paths(G, 0, 5, weight="weight", method=m) for m in ("dijkstra", "bellman-ford")
    ],
    "all_shortest_paths to itself": lambda G: nx.all_shortest_paths(G, 3, 3, weight="weight"),
    "single_source_all_shortest_paths": lambda G: dict(nx.single_source_all_shortest_paths(G, 0, weight="weight")),
    "all_pairs_all_shortest_paths": lambda G: nx.all_pairs_all_shortest_paths(G, weight="weight"),
    "minimum_spanning_edges": lambda G: [
        sorted((sorted(e[:2]), e[2:]) for e in nx.minimum_spanning_edges(G, algorithm=a, data=data))
        for a in ("kruskal", "prim", "boruvka") for data in (True, False)
    ],
    "maximum_spanning_edges": lambda G: sorted(map(sorted, nx.maximum_spanning_edges(G, data=False))),
    "in order of their weights": lambda G: [e[2]["weight"] for e in nx.minimum_spanning_edges(G, algorithm="kruskal")],
    "unknown methods": lambda G: [
        outcome(call, G) for call in (
            lambda G: nx.shortest_path(G, 0, 1, method="a"), lambda G: nx.shortest_path_length(G, 0, 1, method="a"),
            lambda G: list(nx.all_shortest_paths(G, 0, 1, weight="weight", method="a")),
            lambda G: nx.dijkstra_path(G, 0, "b"),
            lambda G: list(nx.minimum_spanning_edges(G, algorithm="a")), lambda G: nx.single_source_dijkstra(G, "b"),
            lambda G: nx.single_source_bellman_ford(G, "b"), lambda G: nx.dijkstra_predecessor_and_distance(G, "b"),
            lambda G: nx.bellman_ford_path(G, 0, 8), lambda G: nx.dijkstra_path(G, 0, 8),
            lambda G: nx.goldberg_radzik(G, "b"),
        )
    ],
    "k_truss": lambda G: [
        (sorted(map(sorted, H.edges)), sorted(H.nodes)) for k in (2, 3, 4) for H in [nx.k_truss(G, k)]
    ],
    "hits": lambda G: nx.hits(G, max_iter=1000),
    "average_clustering": lambda G: [
        nx.average_clustering(G, nodes, weight, zeros)
        for nodes in (None, [0, 1, 2]) for weight in (None, "weight") for zeros in (True, False)
    ],
    "lists of predecessors": lambda G: [
        {k: sorted(v) for k, v in nx.predecessor(G, 0).items()}, sorted(nx.predecessor(G, 0, 5)),
    ],
    "numbers of components": lambda G: nx.number_strongly_connected_components(G),
    "paths of fewest edges": lambda G: [
        {t: len(p) for t, p in nx.single_source_shortest_path(G, 0, c).items()} for c in (None, 1, 2)
    ],
    "all paths of fewest edges": lambda G: [
        sorted(nx.all_shortest_paths(G, s, t)) for s, t in PAIRED
    ] + [sorted((t, sorted(p)) for t, p in nx.single_source_all_shortest_paths(G, 0))],
}  # fmt: skip


@pytest.mark.parametrize("name", UNIQUE)
@pytest.mark.filterwarnings("ignore")
def test_unique_answers(name):
    for number, kind in itertools.product(range(3), (nx.Graph, nx.DiGraph)):
        G = draw(number, kind, 0.5 if number == 2 else 0.3)
        expected, found = outcome(UNIQUE[name], G), outcome(UNIQUE[name], backend.convert_from_nx(G))
        if found is NotImplementedError:  # refused; test_refusals.py says when
            with nx.config(fallback_to_nx=True):
                found = outcome(UNIQUE[name], backend.convert_from_nx(G))
        assert equal(found, expected), f"{number} {G}: {found} instead of {expected}"


def equal(found, expected):
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(equal(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(equal, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-5, abs=1e-7)
    return found == expected


@pytest.mark.parametrize("name", ["strongly_connected_components", "kosaraju_strongly_connected_components"])
def test_strong_components_come_after_those_that_they_reach(name):
    for number in range(6):
        G = draw(number, nx.DiGraph, 0.15)
        found = list(getattr(nx, name)(backend.convert_from_nx(G)))
        assert sorted(map(sorted, found)) == sorted(map(sorted, nx.strongly_connected_components(G)))
        place = {node: k for k, component in enumerate(found) for node in component}
        assert all(place[u] >= place[v] for u, v in G.edges)
    assert list(getattr(nx, name)(backend.convert_from_nx(nx.DiGraph()))) == []


def test_independent_sets_are_maximal():
    for number in range(6):
        G = draw(number, nx.Graph)
        found = nx.maximal_independent_set(backend.convert_from_nx(G), seed=number)
        chosen = set(found)
        assert len(found) == len(chosen) and not any(u in chosen and v in chosen for u, v in G.edges)
        assert all(node in chosen or chosen & set(G[node]) for node in G)
        assert found == nx.maximal_independent_set(backend.convert_from_nx(G), seed=number)
    with pytest.raises(IndexError):
        nx.maximal_independent_set(backend.convert_from_nx(nx.Graph()))


def test_matchings_have_the_most_pairs():
    for number in range(6):
        rng = np.random.default_rng(seeds.SEED + number)
        G = nx.Graph()
        G.add_nodes_from(range(11))
        G.add_edges_from((i, 6 + j) for i in range(6) for j in range(5) if rng.random() < 0.3)
        expected = nx.bipartite.hopcroft_karp_matching(G, range(6))
        found = nx.bipartite.hopcroft_karp_matching(backend.convert_from_nx(G), range(6))
        assert len(found) == len(expected)
        assert all(found[v] == u and G.has_edge(u, v) for u, v in found.items())


def test_trees_and_paths_by_breadth():
    for number, kind in itertools.product(range(3), (nx.Graph, nx.DiGraph)):
        G = draw(number, kind)
        H = backend.convert_from_nx(G)
        for reverse, limit in itertools.product((False, True) if G.is_directed() else (False,), (None, 1, 2)):
            T, expected = (nx.bfs_tree(x, 0, reverse=reverse, depth_limit=limit) for x in (H, G))
            assert sorted(T.edges) == sorted(expected.edges) and sorted(T) == sorted(expected)
            assert T.is_directed()


def test_orders_by_which_matrices_are_given():
    for number in range(3):
        G = draw(number, nx.DiGraph)
        order = list(G)
        random.Random(number).shuffle(order)
        H = backend.convert_from_nx(G)
        for call in (nx.floyd_warshall_numpy, nx.adjacency_matrix, nx.to_numpy_array):
            for nodelist in (None, order):
                found, expected = (call(x, nodelist=nodelist) for x in (H, G))
                found, expected = (x.toarray() if hasattr(x, "toarray") else x for x in (found, expected))
                assert np.allclose(found, expected)
        for nodelist in (order[:-1], [*order[:-1], order[0]], [*order[:-1], "absent"]):
            assert outcome(lambda x, n=nodelist: nx.floyd_warshall_numpy(x, n), H) is nx.NetworkXError
        for nodelist in ([0, 0], [0, "absent"]):
            assert outcome(lambda x, n=nodelist: nx.to_numpy_array(x, n), H) is nx.NetworkXError
