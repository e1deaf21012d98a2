"""Degrees and what follows from them (networkx.algorithms.centrality.degree_alg, reciprocity, tournament, regular)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import grb_tile as gb

from ..adjacency import graph, nodes_of
from ..registry import implements


def out_degrees(G: nx.Graph, weight: Any = None) -> np.ndarray:
    """[+_j A(i, j)]: edges (or weights) that leave each node, parallel ones each; loops count once."""
    return _sums(graph(G, weight, parallel=sum).A, True)


def in_degrees(G: nx.Graph, weight: Any = None) -> np.ndarray:
    """[+_i A(i, j)]: as out_degrees, of the edges that enter."""
    return _sums(graph(G, weight, parallel=sum).A, False)


def degrees(G: nx.Graph, weight: Any = None) -> np.ndarray:
    """NetworkX's degree: loops count twice, and edges of both directions in a directed graph."""
    if G.is_directed():
        return out_degrees(G, weight) + in_degrees(G, weight)
    loops = graph(G, weight, parallel=sum).A.diag()
    return out_degrees(G, weight) + (loops.to_dense(0) if loops.nvals else 0)


def _sums(A: gb.Matrix, rows: bool) -> np.ndarray:
    if A.dtype == gb.dtypes.BOOL:
        ones = gb.Vector.from_scalar(1, A.nrows, gb.dtypes.INT64)
        found = gb.semiring.plus_pair[gb.dtypes.INT64]((A if rows else A.T) @ ones).new()
    else:
        found = (A.reduce_rowwise if rows else A.reduce_columnwise)(gb.monoid.plus).new()
    return found.to_dense(0)


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


@implements(not_for=("undirected", "multigraph"))
def overall_reciprocity(G):
    found = graph(G)
    if not found.A.nvals:
        raise nx.NetworkXError("Not defined for empty graphs")
    # loops leave out: NetworkX counts a loop of the undirected graph as one edge, so it overlaps with none
    both = gb.binary.pair[gb.dtypes.BOOL](found.A & found.AT).new()
    return (both.nvals - found.nself) / found.A.nvals


@implements(not_for=("undirected", "multigraph"))
def reciprocity(G, nodes=None):
    if nodes is None:
        return overall_reciprocity(G)
    found = graph(G)
    n = found.n
    both = np.bincount(gb.binary.pair[gb.dtypes.BOOL](found.A & found.AT).new().to_coo(values=False)[0], minlength=n)
    total = degrees(G)
    if nodes in G:
        i = nodes_of(G).number(nodes)
        if not total[i]:
            raise nx.NetworkXError("Not defined for isolated nodes.")
        return float(2 * both[i] / total[i])
    numbers = list(map(nodes_of(G).number, G.nbunch_iter(nodes)))
    return {nodes_of(G).labels[i]: float(2 * both[i] / total[i]) if total[i] else None for i in numbers}


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


@implements(name="volume")
def _volume(G, S, weight=None):
    values = out_degrees(G, weight) if G.is_directed() else degrees(G, weight)
    if S in G:
        raise TypeError("'int' object is not iterable")  # as NetworkX, whose degree of one node is a number
    numbers = list(map(nodes_of(G).number, G.nbunch_iter(S)))
    return values[numbers].sum().item() if numbers else 0
