"""Degrees and measures of them (networkx.algorithms.centrality.degree_alg, reciprocity, tournament, regular)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

import grb_tile as gb
from grb_tile import algorithms

from ..adjacency import graph, nodes_of
from ..registry import implements


def _counted(G: nx.Graph, weight: Any, count: Callable[..., algorithms.VertexResult]) -> np.ndarray:
    """`count` of the graph: edges at each node, parallel ones counted each, or the sum of their weights."""
    found = graph(G, weight, parallel=sum)
    return count(found, weighted=weight is not None or G.is_multigraph()).to_numpy()


def out_degrees(G: nx.Graph, weight: Any = None) -> np.ndarray:
    """Edges (or weights) that leave each node; loops count once."""
    return _counted(G, weight, algorithms.out_degree)


def in_degrees(G: nx.Graph, weight: Any = None) -> np.ndarray:
    """Edges (or weights) that enter each node."""
    return _counted(G, weight, algorithms.in_degree)


def degrees(G: nx.Graph, weight: Any = None) -> np.ndarray:
    """d(i) = in_degree + out_degree of a directed graph; of an undirected one loops count twice."""
    return _counted(G, weight, algorithms.degree)


def _centrality(G: nx.Graph, counts: np.ndarray) -> dict[Any, float]:
    return dict(zip(nodes_of(G).labels, (counts * (1.0 / (len(G) - 1.0))).tolist()))


@implements(light=True)
def degree_centrality(G):
    return _centrality(G, degrees(G)) if len(G) > 1 else dict.fromkeys(G, 1)


@implements(light=True, not_for=("undirected",))
def in_degree_centrality(G):
    return _centrality(G, in_degrees(G)) if len(G) > 1 else dict.fromkeys(G, 1)


@implements(light=True, not_for=("undirected",))
def out_degree_centrality(G):
    return _centrality(G, out_degrees(G)) if len(G) > 1 else dict.fromkeys(G, 1)


@implements(light=True)
def is_regular(G):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    if not G.is_directed():
        return bool(np.ptp(degrees(G)) == 0)
    return bool(np.ptp(out_degrees(G)) == 0 and np.ptp(in_degrees(G)) == 0)


@implements(light=True, not_for=("directed",))
def is_k_regular(G, k):
    return bool((degrees(G) == k).all()) if len(G) else True


def _directed_and_simple(G: nx.Graph, **others: Any) -> bool | str:
    return (G.is_directed() and not G.is_multigraph()) or "other than simple directed graphs are left to NetworkX"


@implements(can_run=_directed_and_simple)
def overall_reciprocity(G):
    found = graph(G)
    if not found.A.nvals:
        raise nx.NetworkXError("Not defined for empty graphs")
    return algorithms.overall_reciprocity(found)


@implements(can_run=_directed_and_simple)
def reciprocity(G, nodes=None):
    if nodes is None:
        return overall_reciprocity(G)
    found = algorithms.reciprocity(graph(G)).values.to_dict()
    if nodes in G:
        number = nodes_of(G).number(nodes)
        if number not in found:
            raise nx.NetworkXError("Not defined for isolated nodes.")
        return found[number]
    return {node: found.get(nodes_of(G).number(node)) for node in G.nbunch_iter(nodes)}


@implements(not_for=("undirected", "multigraph"))
def is_tournament(G):
    found = graph(G)
    n = found.n
    if found.A.nvals != n * (n - 1) // 2 or found.nself:
        return False
    return gb.binary.pair[gb.dtypes.BOOL](found.A & found.AT).new().nvals == 0


@implements(not_for=("undirected", "multigraph"), light=True)
def score_sequence(G):
    return np.sort(out_degrees(G)).tolist() if len(G) else []


@implements(light=True)
def number_of_selfloops(G):
    loops = graph(G, parallel=sum).A.diag()
    if not G.is_multigraph():
        return loops.nvals
    return int(loops.reduce(gb.monoid.plus).new().value or 0)


@implements()
def s_metric(G):
    degree = degrees(G)
    i, j, count = graph(G, parallel=sum).A.to_coo()
    if not G.is_directed():
        below = i <= j
        i, j, count = i[below], j[below], count[below]
    return float((degree[i] * degree[j] * count.astype(np.int64)).sum())


@implements()
def volume(G, S, weight=None):
    values = out_degrees(G, weight) if G.is_directed() else degrees(G, weight)
    if S in G:
        raise TypeError("'int' object is not iterable")  # as NetworkX, whose degree of one node is a number
    numbers = list(map(nodes_of(G).number, G.nbunch_iter(S)))
    return values[numbers].sum().item() if numbers else 0
