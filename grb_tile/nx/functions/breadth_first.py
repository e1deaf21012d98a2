"""Breadth-first searches and paths of fewest edges (networkx.algorithms.traversal and shortest_paths.unweighted)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from grb_tile import algorithms
from grb_tile.algorithms.paths import path_to

from ..adjacency import ends, graph, nodes_of, sparse
from ..few_nodes import search
from ..registry import implements
from ..searches import batches_of_levels, levels_in_order, tree_in_order


def _sorts_itself(sort_neighbors: Any = None, **others: Any) -> bool | str:
    return sort_neighbors is None or "sort_neighbors is a function of the caller"


def reversed_graph(G: nx.Graph) -> algorithms.Graph:
    """The pattern of `G` with its edges reversed."""
    found = graph(G)
    return algorithms.Graph(found.AT, directed=True) if G.is_directed() else found


def _limit(of: algorithms.Graph, cutoff: float | None) -> int | None:
    """The number of levels within `cutoff`: NetworkX continues while level < cutoff."""
    if cutoff is None:
        return None
    return max(0, min(int(np.ceil(min(cutoff, of.n))), of.n)) if cutoff == cutoff else 0


def lengths(G: nx.Graph, of: algorithms.Graph, source: Any, cutoff: float | None) -> dict[Any, int]:
    """{node: edges from `source`} in ascending order, up to `cutoff`."""
    found = algorithms.bfs(of, nodes_of(G).number(source), max_level=_limit(of, cutoff))
    return sparse(G, found.levels, ascending=True)


@implements(light=search(limit="cutoff"))
def single_source_shortest_path_length(G, source, cutoff=None):
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return lengths(G, graph(G), source, cutoff)


@implements(light=search(source="target", limit="cutoff", reverse=True))
def single_target_shortest_path_length(G, target, cutoff=None):
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return lengths(G, reversed_graph(G), target, cutoff)


@implements()
def all_pairs_shortest_path_length(G, cutoff=None):
    found, nodes = graph(G), nodes_of(G)
    for part, L in batches_of_levels(found, range(found.n), limit=_limit(found, cutoff)):
        indptr, columns, levels = L.to_csr()
        for k, number in enumerate(part):
            row = slice(indptr[k], indptr[k + 1])
            order = np.argsort(levels[row], kind="stable")
            yield nodes.labels[number], dict(zip(nodes.of(columns[row][order]), levels[row][order].tolist()))


def paths_to(G: nx.Graph, source: Any, cutoff: float | None, *, reverse: bool = False) -> dict[Any, list]:
    """{node: the path from `source` to it}, NetworkX's choice among paths of equal length."""
    nodes = nodes_of(G)
    found = {source: [source]}
    limit = None if cutoff is None else max(cutoff, 0)
    for reached, parents in tree_in_order(G, [nodes.number(source)], reverse=reverse, limit=limit):
        for node, parent in zip(nodes.of(reached), nodes.of(parents)):
            found[node] = [*found[parent], node]
    return found


@implements(light=search(limit="cutoff"))
def single_source_shortest_path(G, source, cutoff=None):
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return paths_to(G, source, cutoff)


@implements(light=search(source="target", limit="cutoff", reverse=True))
def single_target_shortest_path(G, target, cutoff=None):
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} not in G")
    return {node: path[::-1] for node, path in paths_to(G, target, cutoff, reverse=True).items()}


@implements()
def all_pairs_shortest_path(G, cutoff=None):
    for node in G:
        yield node, paths_to(G, node, cutoff)


@implements(light=True)
def bidirectional_shortest_path(G, source, target):
    """A shortest path by number of edges, from a search that stops at the target."""
    start, end = ends(G, source, target)
    parents = algorithms.bfs(graph(G), start, levels=False, parents=True, target=end).parents
    if end not in parents:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return nodes_of(G).of(np.array(path_to(end, parents)))


@implements(light=True)
def has_path(G, source, target):
    start, end = ends(G, source, target)
    return end in algorithms.bfs(graph(G), start, target=end).levels


def _edges(G: nx.Graph, source: Any, reverse: bool, limit: Any) -> Iterator[tuple[Any, Any]]:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    nodes = nodes_of(G)
    for reached, parents in tree_in_order(G, [nodes.number(source)], reverse=reverse, limit=limit):
        yield from zip(nodes.of(parents), nodes.of(reached))


@implements(can_run=_sorts_itself, light=search(limit="depth_limit", reverse="reverse"))
def bfs_edges(G, source, reverse=False, depth_limit=None, sort_neighbors=None):
    yield from _edges(G, source, reverse, depth_limit)


@implements(can_run=_sorts_itself, kind="graph")
def bfs_tree(G, source, reverse=False, depth_limit=None, sort_neighbors=None):
    from ..graphs import DiGraph

    T = DiGraph()
    T.add_node(source)
    T.add_edges_from(_edges(G, source, reverse, depth_limit))
    return T


@implements(can_run=_sorts_itself, light=search(limit="depth_limit"))
def bfs_predecessors(G, source, depth_limit=None, sort_neighbors=None):
    for parent, child in _edges(G, source, False, depth_limit):
        yield child, parent


@implements(can_run=_sorts_itself, light=search(limit="depth_limit"))
def bfs_successors(G, source, depth_limit=None, sort_neighbors=None):
    parent, children = source, []
    for node, child in _edges(G, source, False, depth_limit):
        if node != parent:
            yield parent, children
            parent, children = node, []
        children.append(child)
    yield parent, children


def _sources(G: nx.Graph, sources: Any) -> list[Any]:
    """The sources of bfs_layers, in NetworkX's order."""
    found = [sources] if sources in G else list(set(sources))
    for source in found:
        if source not in G:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return found


@implements(light=search(source="sources"))
def bfs_layers(G, sources):
    start = _sources(G, sources)
    nodes = nodes_of(G)
    if start:
        yield start
    for reached, _ in levels_in_order(G, list(map(nodes.number, start))):
        yield nodes.of(reached)


@implements()
def descendants_at_distance(G, source, distance):
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if distance != int(distance) or distance < 0:
        return set()
    levels = algorithms.bfs(graph(G), nodes_of(G).number(source), max_level=int(distance)).levels
    numbers, values = levels.to_coo()
    return set(nodes_of(G).of(numbers[values == distance]))


def _reached(G: nx.Graph, of: algorithms.Graph, source: Any) -> set:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    numbers, _ = algorithms.bfs(of, nodes_of(G).number(source)).levels.to_coo(values=False)[:2]
    found = set(nodes_of(G).of(numbers))
    found.discard(source)
    return found


@implements(light=search())
def descendants(G, source):
    return _reached(G, graph(G), source)


@implements(light=search(reverse=True))
def ancestors(G, source):
    return _reached(G, reversed_graph(G), source)


def _has_none(neighbors: Any = None, **others: Any) -> bool | str:
    return neighbors is None or "neighbors is a function of the caller"


@implements(can_run=_has_none, light=search(limit="depth_limit"))
def generic_bfs_edges(G, source, neighbors=None, depth_limit=None):
    yield from _edges(G, source, False, depth_limit)


def _nodes_at(levels: Iterable[tuple[np.ndarray, np.ndarray]]) -> Iterator[tuple[int, np.ndarray]]:
    for depth, (reached, _) in enumerate(levels, 1):
        yield depth, reached


@implements(light=search(limit="cutoff"))
def predecessor(G, source, target=None, cutoff=None, return_seen=None):
    """{node: its neighbours in the level before its own}."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    nodes = nodes_of(G)
    seen = {source: 0}
    # NetworkX stops after level `cutoff`; 0 means no limit
    for depth, reached in _nodes_at(levels_in_order(G, [nodes.number(source)], limit=_level(cutoff))):
        seen.update(dict.fromkeys(nodes.of(reached), depth))
    before = _tight(G, seen)
    if target is not None:
        if target not in before:
            return ([], -1) if return_seen else []
        return (before[target], seen[target]) if return_seen else before[target]
    return (before, seen) if return_seen else before


def _level(cutoff: float | None) -> float | None:
    return max(1, np.ceil(cutoff)) if cutoff else None


def _tight(G: nx.Graph, seen: dict[Any, int]) -> dict[Any, list]:
    """{node: its neighbours in the level before its own}, in order of discovery.  seen: {node: level}."""
    before: dict[Any, list] = {node: [] for node in seen}
    adj = G._adj
    for node, depth in seen.items():
        for neighbour in adj[node]:
            if seen.get(neighbour) == depth + 1:
                before[neighbour].append(node)
    return before
