"""Triangles and clustering coefficients (networkx.algorithms.cluster)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import grb_tile as gb
from grb_tile import algorithms

from ..adjacency import finite, graph, nodes_of
from ..registry import implements


def chosen(G: nx.Graph, nodes: Any) -> list[int]:
    """The numbers of `nodes`, a node or a container of nodes (None: all); other objects in it are left out."""
    if nodes is None:
        return list(range(len(G)))
    return list(dict.fromkeys(map(nodes_of(G).number, G.nbunch_iter(nodes))))


def is_one_node(G: nx.Graph, nodes: Any = None, **others: Any) -> bool:
    """`light` of a function of nodes: whether `nodes` is one node, for which NetworkX visits its neighbours only."""
    try:
        return nodes is not None and nodes in G
    except TypeError:  # a list of nodes
        return False


def answer(G: nx.Graph, nodes: Any, numbers: list[int], values: list) -> Any:
    """{node: value}, or the value where `nodes` is one node."""
    if nodes is not None and nodes in G:
        return values[0]
    labels = nodes_of(G).labels
    return dict(zip(map(labels.__getitem__, numbers), values))


def _triangles(G: nx.Graph, numbers: list[int]) -> np.ndarray:
    """The triangles at these nodes of an undirected graph."""
    found = graph(G)
    if len(numbers) == found.n:
        return algorithms.triangles(found).to_numpy()[numbers]
    return algorithms.triangles(found, nodes=numbers).to_numpy(0)[numbers] if numbers else np.empty(0, np.int64)


def _neighbours(G: nx.Graph) -> np.ndarray:
    """The number of neighbours of each node, without itself."""
    found = graph(G)
    loops = found.A.diag()
    counts = np.zeros(found.n, np.int64)
    numbers, values = found.out_degree.to_coo()
    counts[numbers] = values
    counts[loops.to_coo(values=False)[0]] -= 1
    return counts


def _all_or_simple(G: nx.Graph, nodes: Any = None) -> bool | str:
    return nodes is None or not G.is_multigraph() or "NetworkX refuses some nodes of a multigraph"


@implements(not_for=("directed",), can_run=_all_or_simple, light=is_one_node)
def triangles(G, nodes=None):
    numbers = chosen(G, nodes)
    return answer(G, nodes, numbers, _triangles(G, numbers).tolist())


def _weighted(G: nx.Graph, weight: Any) -> algorithms.Graph:
    """The graph with these weights.  Called before an iterator of nodes is read, because NetworkX may get the call."""
    found = finite(graph(G, weight), weight, nonnegative=True)
    if weight is not None and found.A.nvals and not found.emax:
        raise NotImplementedError(f"{weight}: all weights are 0")
    return found


def _coefficients(found: algorithms.Graph, numbers: list[int], weight: Any) -> list[float]:
    """The clustering coefficients of these nodes; 0 for a node without pairs of neighbours."""
    if not numbers:
        return []
    nodes = None if len(numbers) == found.n else numbers
    values = algorithms.clustering(found, nodes=nodes, weighted=weight is not None).to_numpy(0)
    return [value or 0 for value in values[numbers].tolist()]


@implements(not_for=("multigraph",), light=is_one_node)
def clustering(G, nodes=None, weight=None):
    found = _weighted(G, weight)
    numbers = chosen(G, nodes)
    return answer(G, nodes, numbers, _coefficients(found, numbers, weight))


@implements(not_for=("multigraph",))
def average_clustering(G, nodes=None, weight=None, count_zeros=True):
    if nodes is not None and nodes in G:
        raise AttributeError("'float' object has no attribute 'values'")  # as NetworkX
    values = _coefficients(_weighted(G, weight), chosen(G, nodes), weight)
    if not count_zeros:
        values = [value for value in values if value > 0]
    return sum(values) / len(values)


def _undirected(G: nx.Graph, **others: Any) -> bool | str:
    return not G.is_directed() or "along the edges of a directed graph it is left to NetworkX"


@implements(not_for=("multigraph",), can_run=_undirected)
def transitivity(G):
    return algorithms.transitivity(graph(G)) or 0 if len(G) else 0


@implements(can_run=_undirected, light=is_one_node)
def square_clustering(G, nodes=None):
    numbers = chosen(G, nodes)
    if not numbers:
        return {}
    values = algorithms.square_clustering(graph(G), nodes=sorted(numbers)).to_numpy(0)
    return answer(G, nodes, numbers, [value or 0 for value in values[numbers].tolist()])


@implements(not_for=("directed", "multigraph"), light=is_one_node)
def generalized_degree(G, nodes=None):
    """For each node the counts of C(i, j) over its edges, C<A,s> = A plus.pair A'."""
    from collections import Counter

    numbers = chosen(G, nodes)
    found = graph(G)
    A = gb.select.offdiag(found.A).new()
    # C<A,s> = A plus.pair A': the triangles at each edge
    C = gb.semiring.plus_pair[gb.dtypes.INT64](A @ A.T).new(mask=A.S)
    i, _, count = C.to_coo()
    at = [Counter() for _ in range(found.n)]
    for row, triangles_here in zip(i.tolist(), count.tolist()):
        at[row][triangles_here] += 1
    edges = _neighbours(G).tolist()
    for row, counter in enumerate(at):
        alone = edges[row] - sum(counter.values())
        if alone:
            counter[0] += alone
    return answer(G, nodes, numbers, [at[number] for number in numbers])
