"""Centralities from paths (networkx.algorithms.centrality)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from grb_tile import algorithms

from ..adjacency import dense, graph, nodes_of
from ..registry import implements
from .weighted_paths import weighted


def _sources(G: nx.Graph, k: int | None, seed: Any) -> list[int] | None:
    """The numbers of NetworkX's own sample, so that a seed gives NetworkX's estimate; None for all nodes."""
    if k is None:
        return None
    chosen = nx.utils.create_py_random_state(seed).sample(list(G), k)
    return list(map(nodes_of(G).number, chosen))


def _within_reach(G: nx.Graph, weight: Any = None, k: int | None = None, **others: Any) -> bool | str:
    if k is not None and not 1 <= k <= len(G):
        return "k is not between 1 and the number of nodes"
    return not callable(weight) or "weight is a function of the caller"


def _above_zero(G: nx.Graph, weight: Any) -> algorithms.Graph:
    """The graph with the least weight of parallel edges.  Raises: NotImplementedError unless all are positive."""
    if weight is None:
        return graph(G)
    found = weighted(G, weight, nonnegative=True)
    if found.A.nvals and found.emin == 0:
        raise NotImplementedError(f"{weight}: an edge of weight 0")  # paths of no length, of which NetworkX counts some
    return found


@implements(can_run=_within_reach)
def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    if len(G) == 0:
        return {}
    sources = None if k == len(G) else _sources(G, k, seed)
    found = algorithms.betweenness(
        _above_zero(G, weight), sources=sources, normalized=bool(normalized), endpoints=bool(endpoints),
        weighted=weight is not None,
    )  # fmt: skip
    return dense(G, found.values)


def _simple_and_within_reach(G: nx.Graph, weight: Any = None, k: int | None = None, **others: Any) -> bool | str:
    if G.is_multigraph():
        return "the share of each parallel edge is left to NetworkX"
    return _within_reach(G, weight, k)


@implements(can_run=_simple_and_within_reach)
def edge_betweenness_centrality(G, k=None, normalized=True, weight=None, seed=None):
    if len(G) == 0:
        return {}
    found = algorithms.edge_betweenness(
        _above_zero(G, weight), sources=_sources(G, k, seed), normalized=bool(normalized), weighted=weight is not None
    )
    i, j, values = found.to_coo()
    nodes = nodes_of(G)
    return dict(zip(zip(nodes.of(i), nodes.of(j)), values.tolist()))


def _distance_names_an_attribute(distance: Any = None, **others: Any) -> bool | str:
    return not callable(distance) or "distance is a function of the caller"


def _lengths(G: nx.Graph, distance: Any) -> algorithms.Graph:
    return graph(G) if distance is None else weighted(G, distance, nonnegative=True)


@implements(can_run=_distance_names_an_attribute)
def closeness_centrality(G, u=None, distance=None, wf_improved=True):
    if u is not None and u not in G:
        raise nx.NodeNotFound(f"Source {u} is not in G")
    sources = None if u is None else [nodes_of(G).number(u)]
    found = algorithms.closeness(
        _lengths(G, distance), sources=sources, wf_improved=bool(wf_improved), weighted=distance is not None
    )
    return dense(G, found.values) if u is None else found.values[sources[0]].new().value


def _all_are_sources(sources: Any = None, **others: Any) -> bool | str:
    if sources is not None:
        return "harmonic centrality from some sources is left to NetworkX"
    return _distance_names_an_attribute(**others)


@implements(can_run=_all_are_sources)
def harmonic_centrality(G, nbunch=None, distance=None, sources=None):
    """h(v) = sum over u of 1 / d(u, v)."""
    of = _lengths(G, distance)
    if distance is not None and of.A.nvals and of.emin == 0:
        raise NotImplementedError(f"{distance}: an edge of weight 0")  # NetworkX leaves such pairs out
    nodes = list(G) if nbunch is None else list(dict.fromkeys(G.nbunch_iter(nbunch)))
    numbers = list(map(nodes_of(G).number, nodes))
    if not numbers:
        return {}
    values = algorithms.harmonic(of, sources=numbers, weighted=distance is not None).to_numpy(np.nan)
    return dict(zip(nodes, values[numbers].tolist()))
