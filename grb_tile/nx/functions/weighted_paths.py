"""Shortest paths by weight (networkx.algorithms.shortest_paths.weighted and dense).

Dijkstra's functions leave negative weights to NetworkX, whose result depends on the order of its heap.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np

import grb_tile as gb
from grb_tile import algorithms
from grb_tile.algorithms.paths import path_to

from ..adjacency import ends, finite, graph, graph_by_function, nodes_of, sparse
from ..few_nodes import one_pair, search
from ..registry import implements


def weighted(
    G: nx.Graph, weight: Any, *, nonnegative: bool = False, sources: Iterable[Any] | None = None, ends: bool = False
) -> algorithms.Graph:
    """The graph with the least weight of parallel edges.

    nonnegative   negative weights raise NotImplementedError
    sources       a function `weight` is called for the edges that a search from these visits; None: for all edges
    ends          the search ends at a target or a cutoff; then a function `weight` raises NotImplementedError, because
                  NetworkX calls it only up to there

    Functions that return an iterator call this before they return, because NetworkX takes over a call that raises
    NotImplementedError, but not an iterator that does.
    """
    if callable(weight):
        if ends:
            raise NotImplementedError("weight: a function, which NetworkX calls up to the target or the cutoff only")
        found = graph_by_function(G, weight, sources, hides=nonnegative)  # only Dijkstra's functions accept None
    else:
        found = graph(G, weight, parallel=None if weight is None else min)
    return finite(found, weight, nonnegative=nonnegative)


def _search(found: algorithms.Graph, sources: list[int], trees: bool, target: int | None = None) -> tuple[Any, Any]:
    """(distances, predecessors or None) from the nearest of `sources`; a source is its own predecessor.

    trees    whether predecessors are computed
    target   the search may stop at this node
    """
    if len(sources) == 1:
        result = algorithms.sssp(found, sources[0], predecessors=trees, target=target)
        return result.distances, result.predecessors
    # an added node n with an edge of weight 0 to each source
    n = found.n
    A = found.A.dup(gb.dtypes.INT64) if found.A.dtype == gb.dtypes.BOOL else found.A.dup()
    A.resize(n + 1, n + 1)
    for source in sources:
        A[n, source] = 0
    result = algorithms.sssp(A, n, predecessors=trees)
    distances = result.distances[:n].new()
    before = None
    if trees:
        before = result.predecessors[:n].new()
        for source in sources:
            before[source] = source
    return distances, before


def _paths(G: nx.Graph, distances: Any, before: Any, target: Any = None) -> dict[Any, list]:
    """{node: path to it} along the tree of predecessors `before`, in order of distance; of `target` if one is given."""
    labels = nodes_of(G).labels
    if target is not None:
        return {target: [labels[number] for number in path_to(nodes_of(G).number(target), before)]}
    parent = dict(zip(*(array.tolist() for array in before.to_coo())))
    numbers, values = distances.to_coo()
    paths: dict[int, list] = {}
    for end in numbers[np.argsort(values, kind="stable")].tolist():
        waiting = []
        number = end
        while number not in paths:
            waiting.append(number)
            if parent[number] == number:
                break
            number = parent[number]
        for number in reversed(waiting):
            known = paths.get(parent[number], [])
            paths[number] = [*known, labels[number]]
    return {path[-1]: path for path in paths.values()}


def _within(distances: Any, sources: list[int], cutoff: float | None) -> Any:
    """The distances up to `cutoff`; those of the sources are kept for a negative one, too, as in NetworkX."""
    if cutoff is None:
        return distances
    near = gb.select.valuele(distances, cutoff).new()
    for source in sources if cutoff < 0 else ():
        near[source] = 0
    return near


def _numbers(G: nx.Graph, sources: Any) -> list[int]:
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
    return list(map(nodes_of(G).number, sources))


def _dijkstra(
    G: nx.Graph, found: algorithms.Graph, numbers: list[int], target: Any = None, cutoff: Any = None
) -> tuple:
    """(distances, paths) from the nearest of the nodes with these numbers; of `target` its distance and path."""
    end = None if target is None else nodes_of(G).number(target)
    distances, before = _search(found, numbers, True, end)
    distances = _within(distances, numbers, cutoff)
    before = before.dup(mask=distances.S)
    if target is None:
        return sparse(G, distances, ascending=True), _paths(G, distances, before)
    if end is None or end not in distances:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return distances[end].new().value, _paths(G, distances, before, target)[target]


def _dijkstra_lengths(G: nx.Graph, found: algorithms.Graph, numbers: list[int], cutoff: float | None) -> dict[Any, Any]:
    return sparse(G, _within(_search(found, numbers, False)[0], numbers, cutoff), ascending=True)


@implements(light=search(source="sources", limit="cutoff", weighted=True))
def multi_source_dijkstra(G, sources, target=None, cutoff=None, weight="weight"):
    numbers = _numbers(G, sources)
    if target in sources:
        return 0, [target]
    ends = target is not None or cutoff is not None
    return _dijkstra(G, weighted(G, weight, nonnegative=True, sources=sources, ends=ends), numbers, target, cutoff)


@implements(light=search(source="sources", limit="cutoff", weighted=True))
def multi_source_dijkstra_path(G, sources, cutoff=None, weight="weight"):
    return multi_source_dijkstra(G, sources, cutoff=cutoff, weight=weight)[1]


@implements(light=search(source="sources", limit="cutoff", weighted=True))
def multi_source_dijkstra_path_length(G, sources, cutoff=None, weight="weight"):
    numbers = _numbers(G, sources)
    found = weighted(G, weight, nonnegative=True, sources=sources, ends=cutoff is not None)
    return _dijkstra_lengths(G, found, numbers, cutoff)


@implements(light=search(limit="cutoff", weighted=True))
def single_source_dijkstra(G, source, target=None, cutoff=None, weight="weight"):
    return multi_source_dijkstra(G, [source], target=target, cutoff=cutoff, weight=weight)


@implements(light=search(limit="cutoff", weighted=True))
def single_source_dijkstra_path(G, source, cutoff=None, weight="weight"):
    return multi_source_dijkstra(G, [source], cutoff=cutoff, weight=weight)[1]


@implements(light=search(limit="cutoff", weighted=True))
def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    return multi_source_dijkstra_path_length(G, [source], cutoff=cutoff, weight=weight)


@implements(light=one_pair)
def dijkstra_path(G, source, target, weight="weight"):
    return multi_source_dijkstra(G, [source], target=target, weight=weight)[1]


@implements(light=one_pair)
def dijkstra_path_length(G, source, target, weight="weight"):
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    end = nodes_of(G).number(target)
    distances, _ = _search(weighted(G, weight, nonnegative=True, ends=True), _numbers(G, [source]), False, end)
    if end is None or end not in distances:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return distances[end].new().value


@implements(light=True)
def bidirectional_dijkstra(G, source, target, weight="weight"):
    ends(G, source, target)
    try:
        return multi_source_dijkstra(G, [source], target=target, weight=weight)
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.") from None


def _tight(G: nx.Graph, found: algorithms.Graph, distances: Any) -> dict[Any, list]:
    """{node: its predecessors on shortest paths}, those nearest to the source first: d(i) + A(i, j) = d(j)."""
    d = distances.to_dense(np.nan if distances.dtype.np_type.kind == "f" else -1)
    reached = np.zeros(found.n, bool)
    reached[distances.to_coo(values=False)[0]] = True
    i, j, w = found.A.to_coo()
    tight = reached[i] & reached[j] & (d[i] + w == d[j])
    i, j = i[tight], j[tight]
    order = np.argsort(d[i], kind="stable")
    before: dict[Any, list] = {node: [] for node in sparse(G, distances, ascending=True)}
    nodes = nodes_of(G)
    for node, predecessor in zip(nodes.of(j[order]), nodes.of(i[order])):
        before[node].append(predecessor)
    return before


@implements(light=search(limit="cutoff", weighted=True))
def dijkstra_predecessor_and_distance(G, source, cutoff=None, weight="weight"):
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    found = weighted(G, weight, nonnegative=True, sources=[source], ends=cutoff is not None)
    numbers = _numbers(G, [source])
    distances = _within(_search(found, numbers, False)[0], numbers, cutoff)
    return _tight(G, found, distances), sparse(G, distances, ascending=True)


@implements()
def all_pairs_dijkstra(G, cutoff=None, weight="weight"):
    found, number = weighted(G, weight, nonnegative=True, ends=cutoff is not None), nodes_of(G).number
    return ((node, _dijkstra(G, found, [number(node)], cutoff=cutoff)) for node in G)


@implements()
def all_pairs_dijkstra_path(G, cutoff=None, weight="weight"):
    return ((node, paths) for node, (_, paths) in all_pairs_dijkstra(G, cutoff=cutoff, weight=weight))


@implements()
def all_pairs_dijkstra_path_length(G, cutoff=None, weight="weight"):
    found, number = weighted(G, weight, nonnegative=True, ends=cutoff is not None), nodes_of(G).number
    return ((node, _dijkstra_lengths(G, found, [number(node)], cutoff)) for node in G)


def _bellman_ford(G: nx.Graph, source: Any, weight: Any, trees: bool) -> tuple[Any, Any]:
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return _search(weighted(G, weight, sources=[source]), [nodes_of(G).number(source)], trees)


def _bellman_ford_paths(G: nx.Graph, found: algorithms.Graph, source: Any) -> dict[Any, list]:
    return _paths(G, *_search(found, [nodes_of(G).number(source)], True))


@implements(light=search())
def single_source_bellman_ford(G, source, target=None, weight="weight"):
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} is not found in the graph")
        return 0, [source]
    distances, before = _bellman_ford(G, source, weight, True)
    if target is None:
        return sparse(G, distances, ascending=True), _paths(G, distances, before)
    if target not in G or nodes_of(G).number(target) not in distances:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return distances[nodes_of(G).number(target)].new().value, _paths(G, distances, before, target)[target]


@implements(light=search())
def single_source_bellman_ford_path(G, source, weight="weight"):
    return single_source_bellman_ford(G, source, weight=weight)[1]


@implements(light=search())
def single_source_bellman_ford_path_length(G, source, weight="weight"):
    return sparse(G, _bellman_ford(G, source, weight, False)[0], ascending=True)


@implements(light=search())
def bellman_ford_path(G, source, target, weight="weight"):
    return single_source_bellman_ford(G, source, target=target, weight=weight)[1]


@implements(light=search())
def bellman_ford_path_length(G, source, target, weight="weight"):
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
        return 0
    distances, _ = _bellman_ford(G, source, weight, False)
    if target not in G or nodes_of(G).number(target) not in distances:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return distances[nodes_of(G).number(target)].new().value


@implements()
def all_pairs_bellman_ford_path(G, weight="weight"):
    found = weighted(G, weight)
    return ((node, _bellman_ford_paths(G, found, node)) for node in G)


@implements()
def all_pairs_bellman_ford_path_length(G, weight="weight"):
    found, nodes = weighted(G, weight), nodes_of(G)
    return ((node, sparse(G, _search(found, [nodes.number(node)], False)[0], ascending=True)) for node in G)


def _predecessors(G: nx.Graph, source: Any, weight: Any) -> tuple[Any, Any, algorithms.Graph]:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    found = weighted(G, weight, sources=[source])
    loops = found.A.diag()
    if loops.nvals and loops.dtype.np_type.kind != "b" and loops.reduce(gb.monoid.min).new().value < 0:
        raise nx.NetworkXUnbounded("Negative cycle detected.")  # as NetworkX, even for a loop that is not reached
    return *_search(found, [nodes_of(G).number(source)], True), found


@implements(light=search())
def bellman_ford_predecessor_and_distance(G, source, target=None, weight="weight", heuristic=False):
    distances, _, found = _predecessors(G, source, weight)
    return _tight(G, found, distances), sparse(G, distances, ascending=True)


@implements()
def goldberg_radzik(G, source, weight="weight"):
    distances, before, _ = _predecessors(G, source, weight)
    labels = nodes_of(G).labels
    parents = {labels[i]: labels[p] for i, p in before.to_dict().items()}
    parents[source] = None
    return parents, sparse(G, distances, ascending=True)


@implements()
def johnson(G, weight="weight"):
    found = weighted(G, weight)
    return {node: _bellman_ford_paths(G, found, node) for node in G}


def _names_an_attribute(weight: Any = "weight", **others: Any) -> bool | str:
    return not callable(weight) or "weight is a function, which NetworkX calls in another way"


@implements(can_run=_names_an_attribute)
def negative_edge_cycle(G, weight="weight", heuristic=True):
    if not any(G._adj.values()):
        return False
    try:
        found = weighted(G, weight)
        _search(found, list(range(found.n)), False)
    except (nx.NetworkXUnbounded, algorithms.NegativeCycleError):
        return True
    return False


def distance_matrix(found: algorithms.Graph) -> np.ndarray:
    """D(i, j) = length of a shortest path, infinite where there is none; FP64.

    Raises: NotImplementedError for a negative cycle, and for integer lengths of 2^53 and more.
    """
    try:
        D = algorithms.apsp(found, weighted=True, memory=np.finfo(np.float64).max).values
    except algorithms.NegativeCycleError as error:
        # NetworkX's result depends on its order of loops
        raise NotImplementedError("a cycle of negative weight") from error
    if found.A.dtype.np_type.kind != "f" and D.nvals and np.abs(D.to_coo()[2], dtype=np.float64).max() >= 2.0**53:
        raise NotImplementedError("lengths exceed 53 bits, which FP64 holds exactly")
    return D.to_dense(np.inf, dtype=gb.dtypes.FP64)


@implements(can_run=_names_an_attribute)
def floyd_warshall(G, weight="weight"):
    labels, found = nodes_of(G).labels, weighted(G, weight)
    rows = distance_matrix(found).tolist()
    if found.A.dtype.np_type.kind != "f":
        rows = [[value if value == np.inf else int(value) for value in row] for row in rows]
    return {node: dict(zip(labels, row)) for node, row in zip(labels, rows)}


@implements(can_run=_names_an_attribute)
def floyd_warshall_numpy(G, nodelist=None, weight="weight"):
    if nodelist is not None and not len(nodelist) == len(G) == len(set(nodelist)):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    if nodelist is not None and (unknown := set(nodelist) - set(G)):
        raise nx.NetworkXError(f"Nodes {unknown} in nodelist is not in G")
    D = distance_matrix(weighted(G, weight))
    if nodelist is None:
        return D
    order = list(map(nodes_of(G).number, nodelist))
    return D[np.ix_(order, order)]
