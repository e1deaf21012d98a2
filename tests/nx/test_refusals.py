"""What the backend leaves to NetworkX: with a configured priority the caller gets what NetworkX gives, or raises."""

import inspect
import math
from fractions import Fraction

import networkx as nx
import pytest

from grb_tile.nx.interface import backend
from grb_tile.nx.registry import FUNCTIONS

ours = {"backend": "grb_tile"}
theirs = {"backend": "networkx"}


@pytest.fixture
def priority():
    with nx.config.backends.grb_tile(min_edges=0), nx.config.backend_priority(algos=["grb_tile"]):
        yield


def path(weights, kind=nx.DiGraph):
    G = kind()
    G.add_weighted_edges_from((i, i + 1, weight) for i, weight in enumerate(weights))
    return G


def listed(found):
    return list(found) if inspect.isgenerator(found) else found


WEIGHTED = [
    lambda G, **to: nx.all_pairs_dijkstra(G, **to),
    lambda G, **to: nx.all_pairs_dijkstra_path(G, **to),
    lambda G, **to: nx.all_pairs_dijkstra_path_length(G, **to),
    lambda G, **to: nx.all_pairs_bellman_ford_path(G, **to),
    lambda G, **to: nx.all_pairs_bellman_ford_path_length(G, **to),
    lambda G, **to: nx.all_pairs_all_shortest_paths(G, weight="weight", **to),
    lambda G, **to: nx.single_source_all_shortest_paths(G, 0, weight="weight", **to),
    lambda G, **to: nx.shortest_path_length(G, weight="weight", **to),
    lambda G, **to: nx.single_source_dijkstra_path_length(G, 0, **to),
    lambda G, **to: nx.floyd_warshall(G, **to),
    lambda G, **to: nx.wiener_index(G, weight="weight", **to),
    lambda G, **to: nx.volume(G, [0, 1], weight="weight", **to),
]
LEFT = {
    "fractions": [Fraction(1, 3)] * 3,
    "beyond 64 bits": [2**70, 1, 1],
    "a sum beyond 64 bits": [2**62] * 3,
    "integers beside a fraction that round": [2**53 + 1, 0.5, 1],
}


@pytest.mark.parametrize("weights", LEFT)
@pytest.mark.parametrize("call", WEIGHTED)
def test_numbers_that_do_not_fit_go_to_networkx(priority, call, weights):
    G = path(LEFT[weights])
    assert listed(call(G)) == listed(call(G, **theirs))


@pytest.mark.parametrize("name", ["all_pairs_dijkstra", "all_pairs_dijkstra_path", "all_pairs_dijkstra_path_length"])
def test_negative_weights_go_to_networkx_before_an_iterator_is_given(priority, name):
    G = path([-1, 2, 3])
    assert listed(getattr(nx, name)(G)) == listed(getattr(nx, name)(G, **theirs))
    with pytest.raises(NotImplementedError, match="negative"):
        getattr(backend, name)(backend.convert_from_nx(G))  # at the call, not at the first item


@pytest.mark.parametrize("weight", [math.nan, math.inf])
@pytest.mark.parametrize(
    "call",
    [
        lambda G: backend.pagerank(G),
        lambda G: backend.eigenvector_centrality(G, weight="weight"),
        lambda G: backend.hits(G),
        lambda G: backend.closeness_centrality(G, distance="weight"),
        lambda G: backend.eccentricity(G, weight="weight"),
        lambda G: backend.single_source_dijkstra_path_length(G, 0),
        lambda G: backend.floyd_warshall(G),
        lambda G: backend.clustering(G, weight="weight"),
        lambda G: backend.modularity(G, [set(G)]),
    ],
)
def test_weights_that_are_not_finite_are_refused(call, weight):
    G = path([weight, 1.0, 1.0], nx.Graph)
    with pytest.raises(NotImplementedError, match="infinite or NaN"):
        call(backend.convert_from_nx(G))


def test_a_negative_cycle_is_networkx_s_exception_in_an_iterator_too():
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, -2), (1, 0, 1)])
    for call in (nx.all_pairs_bellman_ford_path, nx.all_pairs_bellman_ford_path_length):
        with pytest.raises(nx.NetworkXUnbounded):
            list(call(G, **ours))


def test_distances_of_integers_are_integers():
    G = path([2, 3])
    found = nx.floyd_warshall(G, **ours)
    assert found == nx.floyd_warshall(G, **theirs)
    assert {type(value) for value in found[0].values()} == {int}


@pytest.mark.parametrize("cutoff", [-1, 0, 1.5, 2])
def test_a_cutoff_keeps_the_sources(cutoff):
    G = path([0, 1, 1])
    for call in (nx.single_source_dijkstra_path_length, nx.single_source_dijkstra, nx.single_source_dijkstra_path):
        assert call(G, 0, cutoff=cutoff, **ours) == call(G, 0, cutoff=cutoff, **theirs)


def test_hits_that_converges_slowly_is_left_to_networkx(priority):
    G = nx.circulant_graph(200, [1, 2])
    G.remove_edges_from([(199, 0), (199, 1), (198, 0)])  # singular values near each other
    with pytest.raises(NotImplementedError, match="did not converge"):
        backend.hits(backend.convert_from_nx(G))
    hubs, authorities = nx.hits(G, **theirs)
    found = nx.hits(G)
    assert found[0] == pytest.approx(hubs, abs=1e-6) and found[1] == pytest.approx(authorities, abs=1e-6)


MULTI = [nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 3)]), nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 0)])]


def outcome(call, *args, **to):
    try:
        return listed(call(*args, **to))
    except nx.NetworkXException as error:
        return type(error)


@pytest.mark.parametrize("G", MULTI)
@pytest.mark.parametrize(
    "call",
    [
        nx.is_bipartite,
        nx.bipartite.color,
        nx.clustering,
        nx.average_clustering,
        nx.transitivity,
        nx.triangles,
        nx.generalized_degree,
        nx.square_clustering,
        nx.overall_reciprocity,
    ],
)
def test_multigraphs_are_served_or_refused_as_in_networkx(call, G):
    assert outcome(call, G, **ours) == outcome(call, G, **theirs)


def test_other_kinds_of_graphs(priority):
    D = nx.gnp_random_graph(30, 0.2, seed=3, directed=True)
    assert nx.transitivity(D) == nx.transitivity(D, **theirs)
    G = D.to_undirected()
    assert nx.overall_reciprocity(G) == nx.overall_reciprocity(G, **theirs)
    M = nx.MultiGraph([(0, "a"), (0, "a"), (1, "b")])
    assert len(nx.bipartite.hopcroft_karp_matching(M, [0, 1])) == 4
    with pytest.raises(nx.NetworkXNotImplemented):
        nx.triangles(M, [0])


def test_nodes_that_are_none():
    G = path([1, 1])
    assert outcome(nx.is_isolate, G, 9, **ours) is outcome(nx.is_isolate, G, 9, **theirs) is nx.NetworkXError
    with pytest.raises(nx.NetworkXError, match="not in G"):
        nx.floyd_warshall_numpy(G, [0, 1, 9], **ours)


def test_all_functions_with_an_iterator_of_weights_refuse_at_the_call():
    """A generator function raises at its first item, when NetworkX cannot take the call any more."""
    for name, function in FUNCTIONS.items():
        if inspect.isgeneratorfunction(inspect.unwrap(function.function)):
            assert "weight" not in function.signature.parameters, name


@pytest.mark.parametrize("wrong", [None, "text"])
@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_whose_weights_have_no_sum_or_minimum(priority, kind, wrong):
    """NetworkX looks at the weights of the edges that it reaches, and raises what it raises."""
    G = path([2, 3, 4], kind)
    G.add_edge(0, 1, weight=1)
    G.add_edges_from([(8, 9), (8, 9)], weight=1)
    G.add_edge(8, 9, weight=wrong)
    H = G.copy()
    for call in (nx.single_source_dijkstra_path_length, nx.single_source_dijkstra):
        assert call(G, 0) == call(H, 0, **theirs)
        with pytest.raises(TypeError):
            call(H, 8, **theirs)
        with pytest.raises(TypeError):
            call(G, 8)


def test_an_index_that_divides_by_zero(priority):
    """log 1 of the only neighbour of a node, paired with itself; nodes are checked at the call, as in NetworkX."""
    G = path([1], nx.Graph)
    for to in ours, theirs:
        found = nx.adamic_adar_index(G, [(0, 0)], **to)
        with pytest.raises(ZeroDivisionError):
            list(found)
        with pytest.raises(nx.NodeNotFound):
            nx.adamic_adar_index(G, [(0, 7)], **to)
