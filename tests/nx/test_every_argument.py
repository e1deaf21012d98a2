"""Every function on small graphs of each kind, each parameter at each of its values: results and refusals.

The other arguments are given as they are needed or left out.  Where several answers are right, what all of them have is
compared: how many there are, of which nodes, and every refusal.
"""

import functools
import inspect
import itertools
import math

import networkx as nx
import pytest

from grb_tile.nx.interface import backend
from grb_tile.nx.registry import FUNCTIONS, original

from .test_differential import OTHERS, agree, plain, public

PATH, TRIANGLES = [("a", "b"), ("b", "c")], [(0, 1), (1, 2), (2, 0), (2, 3), (1, 3)]
GRAPHS = {
    "no node": nx.empty_graph(0),
    "one node": nx.empty_graph(1),
    "a loop": nx.Graph([*TRIANGLES, (1, 1), (5, 6)]),
    "two parts": nx.Graph([*TRIANGLES, (5, 6)]),
    "connected": nx.Graph(TRIANGLES),
    "a path": nx.Graph(PATH),
    "no directed edge": nx.empty_graph(2, nx.DiGraph),
    "directed": nx.DiGraph([*TRIANGLES, (0, 2), (5, 5), (3, 6)]),
    "a directed path": nx.DiGraph(PATH),
    "parallel edges": nx.MultiGraph([*TRIANGLES, (1, 0), (5, 6), (5, 6)]),
    "parallel directed edges": nx.MultiDiGraph([*TRIANGLES, (0, 1), (5, 6), (5, 6)]),
}
for name in "a loop", "two parts", "directed", "parallel edges":
    GRAPHS[name].add_node("alone")
for G in GRAPHS.values():
    for number, edge in enumerate(G.edges):
        G.edges[edge]["weight"] = 1 + number % 3
for number, name in enumerate(("negative weights", "a negative cycle")):
    GRAPHS[name] = nx.DiGraph([(0, 1), (1, 2), (0, 2), (2, 3)], weight=2)
    GRAPHS[name].add_weighted_edges_from([(3, 4, -1), (4, 1, -3 - 2 * number), (4, 5, 1)])
GRAPHS["a negative loop"] = nx.DiGraph([(0, 1), (1, 2)], weight=2)
GRAPHS["a negative loop"].add_edge(3, 3, weight=-1)  # which is not reached

ABSENT = "absent"


def nodes(G):
    return [*list(G)[:1], *list(G)[-1:], ABSENT]


def sets(G):
    return [[], list(G)[:2], list(G)[1:3] * 2, [*list(G)[:1], ABSENT], set(G)]


def maps(G):
    return [{}, dict.fromkeys(G, 0.0), dict.fromkeys(G, 1.0), {**dict.fromkeys(list(G)[:1], 2.0), ABSENT: 1.0}]


FLAGS, BOUNDS, WEIGHT = [False, True], [0, 1, 1.5, -1], ["weight", None, "absent"]
VALUES = {  # of each parameter: a list, or what makes one of a graph; the first is given where the parameter is needed
    **dict.fromkeys(("source", "target", "n", "u"), nodes),
    **dict.fromkeys(("sources", "S"), lambda G: [*sets(G)[1:], [], ABSENT]),
    **dict.fromkeys(("nodes", "v", "nbunch"), lambda G: [*nodes(G), *sets(G)]),
    "ebunch": lambda G: [[], [(u, v) for u in nodes(G)[:2] for v in nodes(G)[:2]], [(ABSENT, ABSENT)]],
    "weight": WEIGHT,
    "distance": [2, 0, 1],
    **dict.fromkeys(("cutoff", "depth_limit"), BOUNDS),
    **dict.fromkeys(
        (
            *("wf_improved", "normalized", "count_zeros", "reverse", "heuristic", "usebounds", "return_seen"),
            *("interchange", "endpoints", "keys", "data", "ignore_nan"),
        ),
        FLAGS,
    ),
    "k": [1, 0, 2, 3],
    "method": ["dijkstra", "bellman-ford", "unweighted", "none"],
    "algorithm": ["kruskal", "prim", "boruvka", "none"],
    "strategy": ["largest_first", "smallest_last", "none"],
    "alpha": [0.1, 0, 1],
    "beta": [1, 0, 2.5],
    "max_iter": [1000, 0, 1],
    "tol": [1e-3],
    **dict.fromkeys(("personalization", "dangling"), maps),
    "nstart": lambda G: [of for of in maps(G) if not of or any(of.values())],  # SciPy refuses zeros in two ways
    "nodelist": lambda G: [list(G)[::-1], [], [*G, ABSENT], list(G)[:1] * 2],
    "communities": lambda G: [[set(G)], [{node} for node in G], [set(list(G)[:1])], []],
    "resolution": [1, 0.5],
    "format": ["csr", "coo", "none"],
    "dtype": [None, int, float],
    "nonedge": [0, math.inf],
    "multigraph_weight": [sum, min],
    "order": ["C", "F"],
    "seed": [1],
    "e": lambda G: [dict.fromkeys(G, 1)],
    "sp": lambda G: [dict(nx.all_pairs_shortest_path_length(G))],
}
LEFT_OUT = {"top_nodes", "sort_neighbors", "neighbors", "attr", "threshold", "max_level"}
NOT_NETWORKX_S = {"leiden_communities", "leiden_partitions"}  # it dispatches them, and has none of its own
CHECKED = sorted(
    name
    for name, function in FUNCTIONS.items()
    if name == "k_truss" or function.kind in {"algorithm", "matrix"} and name not in NOT_NETWORKX_S
)


def values_of(key, G):
    found = VALUES[key]
    return found(G) if callable(found) else found


def calls_of(name, G):
    """Arguments by name: the necessary ones in all combinations, then each other alone."""
    parameters = list(FUNCTIONS[name].signature.parameters.values())[1:]
    needed = [p.name for p in parameters if p.default is p.empty]
    for values in itertools.product(*(values_of(key, G) for key in needed)):
        yield dict(zip(needed, values, strict=True))
    base = {key: values_of(key, G)[0] for key in needed}
    for parameter in parameters:
        if parameter.name not in {*needed, *LEFT_OUT}:
            for value in values_of(parameter.name, G):
                yield {**base, parameter.name: value}


def outcome(call, G):
    """What the call gives, or the type of its exception: NetworkX words one refusal in several ways."""
    try:
        found = call(G)
        if isinstance(found, nx.Graph):
            return sorted(map(str, found.edges(data=True)))
        return plain(list(found) if isinstance(found, type({}.values())) else found)
    except Exception as error:
        return type(error)


def in_common(found):
    """What all right answers have: the nodes of a dictionary, the number of others."""
    if isinstance(found, dict):
        return dict.fromkeys(found)
    if isinstance(found, list) and len(found) == 2 and isinstance(found[0], dict):
        return list(map(in_common, found))
    return math.nan if isinstance(found, list) else found


def test_every_default_is_networkx_s():
    for name in {*CHECKED, *NOT_NETWORKX_S}:
        ours, theirs = (inspect.signature(f).parameters for f in (FUNCTIONS[name].function, original(name)))
        assert [(p.name, p.default) for p in ours.values()] == [(p.name, p.default) for p in theirs.values()], name


@pytest.mark.filterwarnings("ignore")  # NetworkX divides by zero
@pytest.mark.parametrize("name", CHECKED)
def test_every_argument_gives_what_networkx_gives(name):
    for which, G in GRAPHS.items():
        if which == "a loop" and name == "maximal_independent_set":
            continue  # NetworkX refuses the sets that it draws itself
        G = G.copy()  # which orders neighbours anew
        converted = backend.convert_from_nx(G)
        for given in calls_of(name, G):
            call = functools.partial(public(name), **given)
            with nx.config.backend_priority(algos=["grb_tile"]), nx.config(fallback_to_nx=True):
                found = outcome(call, converted)
            with nx.config.backend_priority(algos=[]):
                expected = outcome(call, G)
            if name == "hopcroft_karp_matching":  # which nodes are matched is a choice, too
                found, expected = (len(of) if isinstance(of, dict) else of for of in (found, expected))
            if name in OTHERS:
                found, expected = in_common(found), in_common(expected)
            assert agree(found, expected), f"{name}({given}) of {which}: {found} instead of {expected}"
