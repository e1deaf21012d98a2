"""Connected components (networkx.algorithms.components)."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np

import grb_tile as gb
from grb_tile import algorithms

from ..adjacency import graph, nodes_of
from ..few_nodes import search
from ..registry import implements


def sets_of(G: nx.Graph, labels: np.ndarray, late: np.ndarray | None = None) -> Iterator[set]:
    """The sets of nodes with equal labels, in order of the first node of each.

    late   a number for each node, equal in a set: the first sort key of the sets
    """
    _, first, member = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first) if late is None else np.lexsort((first, late[first]))] = np.arange(first.size)
    member = rank[member]
    numbers = np.argsort(member, kind="stable")
    ends = np.cumsum(np.bincount(member, minlength=first.size))
    nodes = nodes_of(G).of(numbers)
    start = 0
    for end in ends.tolist():
        yield set(nodes[start:end])
        start = end


def _weak(G: nx.Graph) -> algorithms.ComponentsResult:
    return algorithms.connected_components(graph(G))


def _labels(G: nx.Graph) -> np.ndarray:
    return _weak(G).labels.to_dense()


@implements(not_for=("directed",))
def connected_components(G):
    if len(G):
        yield from sets_of(G, _labels(G))


@implements(not_for=("directed",))
def number_connected_components(G):
    return _weak(G).count if len(G) else 0


@implements(not_for=("directed",))
def is_connected(G):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _weak(G).count == 1


@implements(not_for=("directed",), light=search(source="n"))
def node_connected_component(G, n):
    if n not in G:
        raise KeyError(n)  # as NetworkX, which looks up the neighbours of n
    numbers = algorithms.bfs(graph(G), nodes_of(G).number(n)).levels.to_coo(values=False)[0]
    return set(nodes_of(G).of(numbers))


@implements(not_for=("undirected",))
def weakly_connected_components(G):
    if len(G):
        yield from sets_of(G, _labels(G))


@implements(not_for=("undirected",))
def number_weakly_connected_components(G):
    return _weak(G).count if len(G) else 0


@implements(not_for=("undirected",))
def is_weakly_connected(G):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _weak(G).count == 1


@implements()
def is_tree(G):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return len(G) - 1 == G.number_of_edges() and _weak(G).count == 1


@implements()
def is_forest(G):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    # each component of k nodes has at least k - 1 edges, and a tree no more
    return len(G) - _weak(G).count == G.number_of_edges()


def two_colours(G: nx.Graph) -> np.ndarray | None:
    """A proper colouring with 0 and 1, by node number; None if the graph is not bipartite.

    In each component the first node with an outgoing edge has colour 1; nodes without edges have 0, as in NetworkX.
    """
    found = graph(G)
    both = found
    if G.is_directed():
        both = algorithms.Graph.of_symmetric(gb.binary.any(found.A | found.AT).new())
    labels, leaving = _labels(G), found.out_degree.to_coo(values=False)[0]
    _, first = np.unique(labels[leaving], return_index=True)
    colour = np.zeros(found.n, np.int64)
    for start in leaving[first].tolist():
        numbers, levels = algorithms.bfs(both, start).levels.to_coo()
        colour[numbers] = 1 - (levels & 1)
    i, j, _ = found.A.to_coo(values=False)
    return None if (colour[i] == colour[j]).any() else colour


@implements()
def is_bipartite(G):
    return not len(G) or two_colours(G) is not None


@implements()
def color(G):
    if not len(G):
        return {}
    colour = two_colours(G)
    if colour is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    return dict(zip(nodes_of(G).labels, colour.tolist()))


def _isolated(G: nx.Graph) -> np.ndarray:
    return algorithms.isolates(graph(G)).values.to_coo(values=False)[0]


@implements(light=True)
def isolates(G):
    return iter(nodes_of(G).of(_isolated(G)))


@implements(light=True)
def number_of_isolates(G):
    return int(_isolated(G).size)


@implements(light=True)
def is_isolate(G, n):
    return G.degree(n) == 0
