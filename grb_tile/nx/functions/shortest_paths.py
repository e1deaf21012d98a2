"""Functions that choose a search by their arguments (networkx.algorithms.shortest_paths.generic), distance measures."""

from __future__ import annotations

from typing import Any

import networkx as nx

import grb_tile as gb
from grb_tile import algorithms

from ..adjacency import graph, nodes_of
from ..few_nodes import one_pair, reaches_few
from ..registry import implements, original
from ..searches import batches_of_levels
from . import breadth_first as fewest, weighted_paths as least

# {method: functions of all pairs, of one pair and of one source}
PATHS = {
    "unweighted": (
        lambda G, weight: fewest.all_pairs_shortest_path(G),
        lambda G, source, target, weight: fewest.bidirectional_shortest_path(G, source, target),
        lambda G, source, weight: fewest.single_source_shortest_path(G, source),
    ),
    "dijkstra": (
        lambda G, weight: least.all_pairs_dijkstra_path(G, weight=weight),
        lambda G, source, target, weight: least.bidirectional_dijkstra(G, source, target, weight)[1],
        lambda G, source, weight: least.single_source_dijkstra_path(G, source, weight=weight),
    ),
    "bellman-ford": (
        lambda G, weight: least.all_pairs_bellman_ford_path(G, weight=weight),
        lambda G, source, target, weight: least.bellman_ford_path(G, source, target, weight),
        lambda G, source, weight: least.single_source_bellman_ford_path(G, source, weight=weight),
    ),
}
LENGTHS = {
    "unweighted": (
        lambda G, weight: fewest.all_pairs_shortest_path_length(G),
        lambda G, source, target, weight: len(fewest.bidirectional_shortest_path(G, source, target)) - 1,
        lambda G, source, weight: fewest.single_source_shortest_path_length(G, source),
    ),
    "dijkstra": (
        lambda G, weight: least.all_pairs_dijkstra_path_length(G, weight=weight),
        lambda G, source, target, weight: least.dijkstra_path_length(G, source, target, weight),
        lambda G, source, weight: least.single_source_dijkstra_path_length(G, source, weight=weight),
    ),
    "bellman-ford": (
        lambda G, weight: least.all_pairs_bellman_ford_path_length(G, weight=weight),
        lambda G, source, target, weight: least.bellman_ford_path_length(G, source, target, weight),
        lambda G, source, weight: least.single_source_bellman_ford_path_length(G, source, weight=weight),
    ),
}


def _search(functions: dict, G: nx.Graph, source: Any, target: Any, weight: Any, method: str) -> Any:
    """The result of the method's function; for a target without a source, a search from it along reversed edges."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    all_pairs, one_pair, one_source = functions["unweighted" if weight is None else method]
    if source is None and target is None:
        return all_pairs(G, weight)
    if target is None:
        return one_source(G, source, weight)
    if source is None:
        return one_source(G.reverse(copy=False) if G.is_directed() else G, target, weight)
    return one_pair(G, source, target, weight)


def _reaches_few(G: nx.Graph, source: Any, target: Any) -> bool:
    """Whether a search from the given source or target reaches few nodes."""
    if source is None and target is None:
        return False
    return reaches_few(G, [target], reverse=True) if source is None else reaches_few(G, [source])


def _path_of_few(G: nx.Graph, source: Any = None, target: Any = None, method: str = "dijkstra", **others: Any) -> bool:
    """`light` of shortest_path: NetworkX searches from both ends (in most graphs few nodes), or _reaches_few."""
    return (source is not None and target is not None and method == "dijkstra") or _reaches_few(G, source, target)


def _length_of_few(
    G: nx.Graph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> bool:
    if source is None or target is None:
        return _reaches_few(G, source, target)
    return weight is None or (method == "dijkstra" and one_pair(G))


@implements(light=_path_of_few)
def shortest_path(G, source=None, target=None, weight=None, method="dijkstra"):
    """Paths between one or all sources and one or all targets."""
    found = _search(PATHS, G, source, target, weight, method)
    if source is None and target is not None:
        return {node: path[::-1] for node, path in found.items()}
    return found


@implements(light=_length_of_few)
def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    """Lengths between one or all sources and one or all targets."""
    return _search(LENGTHS, G, source, target, weight, method)


def _sums(G: nx.Graph) -> tuple[int, int]:
    """(number of pairs of nodes with a path, sum of the lengths of their shortest paths)."""
    found, reached, total = graph(G), 0, 0
    for _, L in batches_of_levels(found, range(found.n)):
        reached += L.nvals
        total += int(L.reduce_scalar(gb.monoid.plus[gb.dtypes.INT64]).new().value or 0)
    return reached, total


@implements()
def average_shortest_path_length(G, weight=None, method=None):
    """a = sum over i, j of d(i, j) / (n (n - 1))."""
    methods = ["unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy"]
    method = method or ("unweighted" if weight is None else "dijkstra")
    if method not in methods:
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if method == "unweighted":
        reached, total = _sums(G)
        if reached < n * n:
            what = "strongly connected" if G.is_directed() else "connected"
            raise nx.NetworkXError(f"Graph is not {what}.")
        return total / (n * (n - 1))
    total = 0
    for node in G:
        if method == "dijkstra":
            found = least.single_source_dijkstra_path_length(G, node, weight=weight)
        else:
            found = least.single_source_bellman_ford_path_length(G, node, weight=weight)
        if len(found) < n:
            what = "strongly connected" if G.is_directed() else "connected"
            raise nx.NetworkXError(f"Graph is not {what}.")
        total += sum(found.values())
    return total / (n * (n - 1))


def _all_paths(source: Any, target: Any, before: dict[Any, list]) -> Any:
    """All paths from `source` to `target` along the predecessors `before`, by depth-first search from the target."""
    if target not in before:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    path, on_path, waiting = [target], {target}, [iter(before[target])]
    if target == source:
        yield [target]
    while waiting:
        node = next(waiting[-1], None) if path[-1] != source or len(path) == 1 else None
        if node is None:
            waiting.pop()
            on_path.discard(path.pop())
        elif node not in on_path:
            path.append(node)
            on_path.add(node)
            waiting.append(iter(before[node]))
            if node == source:
                yield path[::-1]


def _before(G: nx.Graph, source: Any, weight: Any, method: str) -> dict[Any, list]:
    if weight is None:
        return fewest.predecessor(G, source)
    if method == "dijkstra":
        return least.dijkstra_predecessor_and_distance(G, source, weight=weight)[0]
    if method != "bellman-ford":
        raise ValueError(f"method not supported: {method}")
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    found = least.weighted(G, weight, sources=[source])
    distances, _ = least._search(found, [nodes_of(G).number(source)], False)
    return least._tight(G, found, distances)


@implements()
def all_shortest_paths(G, source, target, weight=None, method="dijkstra"):
    return _all_paths(source, target, _before(G, source, weight, method))


@implements()
def single_source_all_shortest_paths(G, source, weight=None, method="dijkstra"):
    before = _before(G, source, weight, method)
    return ((node, list(_all_paths(source, node, before))) for node in before)


@implements()
def all_pairs_all_shortest_paths(G, weight=None, method="dijkstra"):
    if weight is not None:
        least.weighted(G, weight, nonnegative=method == "dijkstra")
    return ((node, dict(single_source_all_shortest_paths(G, node, weight=weight, method=method))) for node in G)


@implements(not_for=("directed",))
def global_efficiency(G):
    n = len(G)
    if n < 2:
        return 0
    total = 0.0
    found = graph(G)
    for _, L in batches_of_levels(found, range(found.n)):
        lengths = L.to_coo()[2]
        total += float((1 / lengths[lengths > 0]).sum())
    return total / (n * (n - 1))


@implements()
def wiener_index(G, weight=None):
    """The sum of the lengths of shortest paths over pairs of nodes; infinite where two have none."""
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if weight is None:
        reached, total = _sums(G)
    else:
        rows = [least.single_source_dijkstra_path_length(G, node, weight=weight) for node in G]
        reached, total = sum(map(len, rows)), sum(sum(row.values()) for row in rows)
    if reached < n * n:
        return float("inf")
    return total if G.is_directed() else total / 2


@implements()
def eccentricity(G, v=None, sp=None, weight=None):
    """e(v) = max_u d(v, u)."""
    if sp is not None or callable(weight):
        return original("eccentricity")(G, v=v, sp=sp, weight=weight)
    of = graph(G) if weight is None else least.weighted(G, weight, nonnegative=True)
    chosen = list(dict.fromkeys(G.nbunch_iter(v)))
    numbers = list(map(nodes_of(G).number, chosen))
    if not numbers:
        return {}
    try:
        values = algorithms.eccentricity(of, numbers, weighted=weight is not None).to_numpy(-1)
    except ValueError:
        why = "the digraph is not strongly connected" if G.is_directed() else "the graph is not connected"
        raise nx.NetworkXError(f"Found infinite path length because {why}") from None
    found = dict(zip(chosen, values[numbers].tolist()))
    return found[v] if v is not None and v in G else found


def _all(G: nx.Graph, e: Any, weight: Any) -> dict[Any, Any]:
    return eccentricity(G, weight=weight) if e is None else e


@implements()
def diameter(G, e=None, usebounds=False, weight=None):
    return max(_all(G, e, weight).values())


@implements()
def radius(G, e=None, usebounds=False, weight=None):
    return min(_all(G, e, weight).values())


@implements()
def center(G, e=None, usebounds=False, weight=None):
    if not len(G) and e is None and weight is None and usebounds is not True and not G.is_directed():
        raise nx.NetworkXPointlessConcept("G has no nodes.")  # as NetworkX, which first tests whether G is a tree
    found = _all(G, e, weight)
    smallest = min(found.values())
    return [node for node in found if found[node] == smallest]


@implements()
def periphery(G, e=None, usebounds=False, weight=None):
    found = _all(G, e, weight)
    greatest = max(found.values())
    return [node for node in found if found[node] == greatest]
