"""Random graphs, random arguments: with a configured priority the caller gets what NetworkX gives, result or exception.

Weights are such as calls are refused for, too: infinite, NaN, beyond 64 bits, text, fractions, True beside numbers.
"""

import functools
import math
import random
import sys
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from grb_tile.nx.interface import backend
from grb_tile.nx.registry import FUNCTIONS, original
from support import seeds

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
WEIGHTS = [
    [1, 2, 3], [1.5, 2.5, 0.5], [0, 1, 2], [True, False], [True, 2], [1, 2.5], [math.inf, 1], [math.nan, 1.0],
    [2**70, 1], [2**40, 3], [-1, 2], [300, -200, 1], [1e300, 1.0], ["a", 1], [None, 1], [Fraction(1, 3), 1],
    [np.float32(1.5), 1], [2.5],
]  # fmt: skip
SEEDS = [int, random.Random, np.random.RandomState, np.random.default_rng]
TYPES = [None, int, float, bool, np.int8, np.uint8, np.float32, complex, "U4"]


@pytest.fixture
def priority():
    with nx.config.backends.grb_tile(min_edges=0), nx.config.backend_priority(algos=["grb_tile"]):
        yield


def draw(rng):
    """A graph of at most 8 nodes, whose weights are of one of the lists; one edge in five has none."""
    G, weights = rng.choice(KINDS)(), rng.choice(WEIGHTS)
    nodes = [rng.choice([str, int])(node) for node in range(rng.choice([0, 1, 2, 3, 5, 8]))]
    nodes = list(map(type(nodes[0]), nodes)) if nodes else nodes
    G.add_nodes_from(nodes)
    for _ in range(rng.choice([0, 1, len(nodes), 3 * len(nodes)]) if nodes else 0):
        u, v = rng.choice(nodes), rng.choice(nodes)
        if u != v or rng.random() < 0.3:
            G.add_edge(u, v, **({} if rng.random() < 0.2 else {"weight": rng.choice(weights)}))
    return G


def plain(found):
    """Of a result what is compared: iterators as lists, sparse arrays with their format and type."""
    if hasattr(found, "tocoo"):
        return [found.format, found.toarray()]
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    if hasattr(found, "__next__") or isinstance(found, (list, tuple)):
        return list(map(plain, found))
    return found


def outcome(call, G, *, to):
    """What the call gives, or the type of its exception."""
    try:
        with nx.config.backend_priority(algos=to):
            return plain(call(G))
    except Exception as error:
        return type(error)


def agree(found, expected):
    """Whether two outcomes are equal; numbers to within the tolerance of power iterations."""
    if isinstance(found, type) or isinstance(expected, type):
        return found is expected
    if isinstance(expected, np.ndarray):
        return found.dtype == expected.dtype and np.array_equal(found, expected, equal_nan=expected.dtype.kind in "fc")
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(agree(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agree, found, expected))
    if isinstance(expected, (float, np.floating)) and isinstance(found, (int, float, np.floating)):
        return math.isclose(found, expected, rel_tol=1e-4, abs_tol=1e-4) or expected != expected and found != found
    return found == expected


def followed(make, call):
    """[the result of a call with a random state, what is drawn from the state after it]."""
    state = make()
    found = plain(call(state))
    return [found, state if isinstance(state, int) else state.random()]


def matrix_calls(rng, G):
    part = rng.sample(list(G), rng.randint(0, len(G))) if rng.random() < 0.4 else None
    if G.is_multigraph() and part is not None and not G.subgraph(part).size():
        part = None  # NetworkX fails where it unpacks no edges
    dtype, weight, length = rng.choice(TYPES), rng.choice(["weight", None, "absent"]), rng.choice([0, 1, 2])
    yield lambda G: nx.to_numpy_array(G, nodelist=part, dtype=dtype, weight=weight)
    yield lambda G: nx.to_numpy_array(G, nodelist=part, dtype=dtype, weight=weight, multigraph_weight=max)
    yield lambda G: nx.to_scipy_sparse_array(G, nodelist=part, dtype=dtype, weight=weight)
    yield lambda G: nx.adjacency_matrix(G, nodelist=part, dtype=dtype, weight=weight)
    yield lambda G: nx.laplacian_matrix(G, weight=weight)
    yield lambda G: nx.number_of_walks(G, length)


def seeded_calls(rng, G):
    seed, kind = rng.randint(0, 99), rng.choice(SEEDS)
    k, weight = rng.choice([None, 1, 2, 4, len(G)]), rng.choice(["weight", "weight", None])
    for name in ("betweenness_centrality", "edge_betweenness_centrality"):
        yield lambda G, name=name: followed(
            lambda: kind(seed), lambda s: getattr(nx, name)(G, k=k, seed=s, weight=weight)
        )


def rank_calls(rng, G):
    weight, bounds = rng.choice(["weight", None]), rng.choice([True, False])
    given = rng.choice([None, {}, dict.fromkeys(G, 0), dict.fromkeys(G, -1), {node: rng.randint(0, 2) for node in G}])
    for argument in ("personalization", "dangling", "nstart"):
        yield lambda G, argument=argument: nx.pagerank(G, weight=weight, **{argument: given})
    yield lambda G: nx.eigenvector_centrality(G, weight=weight, nstart=given)
    for name in ("center", "diameter", "radius", "periphery"):
        yield lambda G, name=name: getattr(nx, name)(G, weight=weight, usebounds=bounds)


def calls_with_iterators(rng, G):
    some = set(rng.sample(list(G), rng.randint(0, len(G))))
    weight, cutoff = rng.choice(["weight", None]), rng.choice([None, 0, 1, 2.5])
    yield lambda G: nx.community.modularity(G, iter([some, set(G) - some]), weight=weight)
    yield lambda G: nx.bfs_layers(G, iter(sorted(some)))
    yield lambda G: nx.volume(G, iter(some), weight=weight)
    yield lambda G: nx.triangles(G, iter(some)) if not G.is_multigraph() else 0
    if not G.is_multigraph():
        yield lambda G: nx.clustering(G, iter(some), weight=weight)
        yield lambda G: nx.average_clustering(G, iter([*some, *sorted(some)[:1]]), weight=weight)
    yield lambda G: nx.square_clustering(G, iter(some))
    yield lambda G: nx.eccentricity(G, iter(some), weight=weight)
    yield lambda G: nx.closeness_centrality(G, distance=weight)
    yield lambda G: nx.harmonic_centrality(G, nbunch=iter(some), distance=weight)
    yield lambda G: nx.multi_source_dijkstra_path_length(G, some, cutoff=cutoff)


def some_nodes(rng, G):
    return rng.choices([*G, "absent"], k=rng.randint(0, 4))  # some of them twice


def one_node(rng, G):
    return rng.choice([*G] * 5 + ["absent"])


# of each parameter by its name: what a call of any function may be given; other parameters keep their defaults
ARGUMENTS = {
    **dict.fromkeys(("source", "target", "n", "u"), one_node),
    **dict.fromkeys(
        ("nodes", "v", "nbunch", "sources", "S"), lambda rng, G: rng.choice([some_nodes, one_node])(rng, G)
    ),
    "ebunch": lambda rng, G: [(one_node(rng, G), one_node(rng, G)) for _ in range(rng.randint(0, 3))],
    "weight": lambda rng, G: rng.choice(["weight", None]),
    "distance": lambda rng, G: rng.choice([0, 1, 2]),
    **dict.fromkeys(("cutoff", "depth_limit"), lambda rng, G: rng.choice([None, 0, 1, 2])),
    **dict.fromkeys(("wf_improved", "normalized", "count_zeros", "reverse"), lambda rng, G: rng.random() < 0.5),
    "k": lambda rng, G: rng.randint(0, 4),
    "method": lambda rng, G: rng.choice(["dijkstra", "bellman-ford"]),
    "alpha": lambda rng, G: rng.choice([-0.1, 0, 0.05, 0.5, 0.85, 1, 1.5]),
    "beta": lambda rng, G: rng.choice([0, 1, 2.5]),
    "max_iter": lambda rng, G: rng.choice([0, 1, 1000]),
    "tol": lambda rng, G: rng.choice([1e-3, 1e-9]),
    **dict.fromkeys(("heuristic", "usebounds", "return_seen", "interchange"), lambda rng, G: rng.random() < 0.5),
    "strategy": lambda rng, G: rng.choice(["largest_first", "smallest_last", "saturation_largest_first", "none"]),
    "nodelist": lambda rng, G: rng.choice([None, list(G), list(G)[::-1], list(G)[1:]]),
}
# functions with several right answers, and those that other calls here have
OTHERS = {
    *("asyn_lpa_communities", "label_propagation_communities", "louvain_communities", "louvain_partitions"),
    *("leiden_communities", "leiden_partitions", "maximal_independent_set", "hopcroft_karp_matching", "hits"),
    *("minimum_spanning_edges", "maximum_spanning_edges", "betweenness_centrality", "edge_betweenness_centrality"),
    *("multi_source_dijkstra", "multi_source_dijkstra_path", "single_source_dijkstra", "single_source_dijkstra_path"),
    *("dijkstra_path", "bidirectional_dijkstra", "all_pairs_dijkstra", "all_pairs_dijkstra_path", "johnson"),
    *("single_source_bellman_ford", "single_source_bellman_ford_path", "bellman_ford_path", "shortest_path"),
    *("all_pairs_bellman_ford_path", "dijkstra_predecessor_and_distance", "bellman_ford_predecessor_and_distance"),
    *("goldberg_radzik", "all_shortest_paths", "single_source_all_shortest_paths", "all_pairs_all_shortest_paths"),
    *("strongly_connected_components", "kosaraju_strongly_connected_components", "average_clustering"),
}
DRAWN = sorted(
    name
    for name, function in FUNCTIONS.items()
    if function.kind == "algorithm"
    and name not in OTHERS
    and all(
        key in ARGUMENTS or parameter.default is not parameter.empty
        for key, parameter in list(function.signature.parameters.items())[1:]
    )
)


def public(name):
    """NetworkX's function under the name of its dispatch, with the checks of its decorators."""
    function = original(name)
    return getattr(sys.modules[function.__module__], function.__name__)


def calls_of_every_function(rng, G):
    for name in rng.sample(DRAWN, 25):
        given = {
            key: ARGUMENTS[key](rng, G)
            for key, parameter in list(FUNCTIONS[name].signature.parameters.items())[1:]
            if key in ARGUMENTS and (parameter.default is parameter.empty or rng.random() < 0.5)
        }
        yield name, given


@pytest.mark.parametrize("kind", [matrix_calls, seeded_calls, rank_calls, calls_with_iterators])
@pytest.mark.filterwarnings("ignore")  # NetworkX divides by zero, NumPy casts
def test_calls_give_what_networkx_gives(priority, kind):
    for number in range(200):
        rng = random.Random(f"{seeds.SEED} {number}")
        G = draw(rng)
        for which, call in enumerate(kind(rng, G)):
            expected, found = outcome(call, G.copy(), to=[]), outcome(call, G.copy(), to=["grb_tile"])
            edges = list(G.edges(data="weight"))
            assert agree(found, expected), f"{number}, call {which}: {G} {edges}: {found} instead of {expected}"


@pytest.mark.filterwarnings("ignore")
def test_every_function_gives_what_networkx_gives():
    """Of converted graphs: what NetworkX would answer sooner runs on the backend, too."""
    for number in range(200):
        rng = random.Random(f"{seeds.SEED} {number}")
        G = draw(rng)
        for name, given in calls_of_every_function(rng, G):
            call = functools.partial(public(name), **given)
            with nx.config(fallback_to_nx=True):
                found = outcome(call, backend.convert_from_nx(G.copy()), to=["grb_tile"])
            expected, edges = outcome(call, G.copy(), to=[]), list(G.edges(data="weight"))
            assert agree(found, expected), f"{number}, {name}({given}): {G} {edges}: {found} instead of {expected}"


@pytest.mark.parametrize("weight", [0, math.inf, 2**70])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["betweenness_centrality", "edge_betweenness_centrality"])
def test_a_refused_call_leaves_the_seed_as_it_was(priority, name, seed, weight):
    G = nx.gnm_random_graph(12, 30, seed=1)
    nx.set_edge_attributes(G, 1, "weight")
    G.edges[next(iter(G.edges))]["weight"] = weight
    found, expected = (
        outcome(
            lambda G: followed(lambda: seed(3), lambda s: getattr(nx, name)(G, k=4, seed=s, weight="weight")), G, to=to
        )
        for to in (["grb_tile"], [])
    )
    assert agree(found, expected)


@pytest.mark.parametrize("method", ["louvain_communities", "louvain_partitions", "leiden_communities"])
@pytest.mark.parametrize("seed", SEEDS[1:])
def test_refused_communities_draw_nothing(method, seed):
    G = nx.Graph([(0, 1, {"weight": math.inf}), (1, 2)])
    state = seed(5)
    with pytest.raises(NotImplementedError):
        getattr(backend, method)(
            backend.convert_from_nx(G), seed=nx.utils.create_py_random_state(state), weight="weight"
        )
    assert state.random() == seed(5).random()


@pytest.mark.parametrize("call", [nx.to_numpy_array, nx.to_scipy_sparse_array, nx.adjacency_matrix])
def test_matrices_of_integers(priority, call):
    for wrong, error in ((math.inf, OverflowError), (math.nan, ValueError)):
        with pytest.raises(error):
            call(nx.Graph([(0, 1, {"weight": wrong})]), dtype=int)
    G = nx.MultiGraph([(0, 1, {"weight": 2.5}), (0, 1, {"weight": 2.5})])
    assert call(G, dtype=int)[0, 1] == call(G, dtype=int, backend="networkx")[0, 1]


def test_a_part_of_a_graph_has_the_type_of_its_own_weights():
    G = nx.Graph([(0, 1, {"weight": 3}), (1, 2, {"weight": 0.5}), (3, 4, {"weight": True})])
    for part in ([0, 1], [3, 4], [1, 2], [0, 3]):
        for to in ("grb_tile", "networkx"):
            assert nx.to_scipy_sparse_array(G, part, backend=to).dtype == nx.to_scipy_sparse_array(G, part).dtype
    nx.set_edge_attributes(G, {(0, 1): 7, (1, 2): 1.5}, "cost")
    found, expected = (
        nx.to_scipy_sparse_array(G, [0, 1], weight="cost", backend=to) for to in ("grb_tile", "networkx")
    )
    assert agree(plain(found), plain(expected)) and found.dtype == expected.dtype


SEARCHES = {
    "dijkstra": lambda G, w: nx.single_source_dijkstra_path_length(G, 0, weight=w),
    "dijkstra within": lambda G, w: nx.single_source_dijkstra_path_length(G, 0, cutoff=1, weight=w),
    "to a target": lambda G, w: nx.dijkstra_path_length(G, 0, 1, weight=w),
    "several sources": lambda G, w: nx.multi_source_dijkstra(G, [0, 1], weight=w),
    "predecessors": lambda G, w: nx.dijkstra_predecessor_and_distance(G, 0, weight=w),
    "bellman-ford": lambda G, w: nx.single_source_bellman_ford_path_length(G, 0, weight=w),
    "pairs within": lambda G, w: nx.all_pairs_dijkstra_path_length(G, cutoff=0, weight=w),
    "all paths": lambda G, w: nx.all_shortest_paths(G, 0, 2, weight=w, method="bellman-ford"),
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("search", SEARCHES)
def test_a_weight_function_is_called_for_what_the_search_reaches(priority, search, kind):
    """Edges 5 - 6, and 2 - 3 behind a hidden one, are beyond: the function has no weight for them."""
    G = kind([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (5, 6)])
    seen = []

    def weight(u, v, data):
        seen.append((u, v))
        if 2 in (u, v) and 3 in (u, v):
            return None
        return {0: 1, 1: 3, 2: 2}[u] + {0: 1, 1: 3, 2: 2}[v]

    results, calls = [], []
    for to in ([], ["grb_tile"]):
        seen.clear()
        results.append(outcome(lambda G: SEARCHES[search](G, weight), G.copy(), to=to))
        calls.append(set(seen))
    assert agree(*results) and calls[0] == calls[1]


def test_empty_graphs():
    for kind in KINDS:
        for call in (nx.center, nx.diameter, nx.radius, nx.periphery, nx.eccentricity, nx.barycenter):
            assert outcome(call, kind(), to=["grb_tile"]) == outcome(call, kind(), to=[])
        for call in (nx.adjacency_matrix, lambda G: nx.number_of_walks(G, 2)):
            found, expected = (outcome(call, nx.empty_graph(2, kind), to=to) for to in (["grb_tile"], []))
            assert agree(found, expected)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_weights_of_dangling_nodes_that_have_no_sum(priority):
    G = nx.DiGraph([(0, 1), (1, 0)])
    for argument in ("dangling", "nstart"):
        with pytest.raises(nx.PowerIterationFailedConvergence):
            nx.pagerank(G, **{argument: {0: 0, 1: 0}})
    with pytest.raises(ZeroDivisionError):
        nx.pagerank(G, personalization={0: 0, 1: 0})
