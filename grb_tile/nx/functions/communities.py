"""Communities (networkx.algorithms.community)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from grb_tile import algorithms

from ..adjacency import finite, graph, nodes_of
from ..registry import implements
from .components import sets_of


def _undirected(G: nx.Graph, **others: Any) -> bool | str:
    return not G.is_directed() or "communities of directed graphs are left to NetworkX"


def _weighted(G: nx.Graph, weight: Any) -> algorithms.Graph:
    return finite(graph(G, weight, parallel=sum), weight, nonnegative=True)


@implements(can_run=_undirected)
def louvain_communities(G, weight="weight", resolution=1, threshold=1e-7, max_level=None, seed=None):
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")
    if not any(G._adj.values()):
        return [{node} for node in G]
    number = nx.utils.create_py_random_state(seed).getrandbits(31)
    found = algorithms.louvain(
        _weighted(G, weight), resolution=resolution, tol=threshold, max_level=max_level, seed=number
    )
    return list(sets_of(G, found.labels.to_dense()))


@implements()
def modularity(G, communities, weight="weight", resolution=1):
    communities = list(communities)
    nodes = nodes_of(G)
    labels = np.full(len(nodes), -1, np.int64)
    for label, community in enumerate(communities):
        for node in community:
            if node in G:
                labels[nodes.number(node)] = label
    if (labels < 0).any() or sum(map(len, communities)) != len(nodes):
        raise nx.community.quality.NotAPartition(G, communities)
    found = _weighted(G, weight)
    if not found.A.nvals or not found.emax:
        raise ZeroDivisionError("division by zero")  # as NetworkX
    return algorithms.modularity(found, labels, resolution=resolution)
