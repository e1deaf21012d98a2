"""PageRank (networkx.algorithms.link_analysis)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from grb_tile import algorithms

from ..adjacency import as_numbers, dense, graph, nodes_of
from ..registry import implements


def _can_rank(alpha: float = 0.85, **others: Any) -> bool | str:
    return 0 <= alpha < 1 or "alpha is not in [0, 1)"


def _over_nodes(G: nx.Graph, given: dict | None, name: str) -> np.ndarray | None:
    """The values of a dictionary over the nodes as an array, 0 where it has none."""
    if given is None:
        return None
    values = as_numbers([given.get(node, 0) for node in nodes_of(G).labels], name).astype(np.float64)
    if (values < 0).any() or not np.isfinite(values).all():
        raise NotImplementedError(f"{name}: a value is negative, infinite or NaN")
    if not values.sum():
        raise ZeroDivisionError(f"{name}: no node of the graph has a value above 0")
    return values


@implements(can_run=_can_rank)
def pagerank(G, alpha=0.85, personalization=None, max_iter=100, tol=1e-6, nstart=None, weight="weight", dangling=None):
    """r = (1 - a) p + a (A' (r / d) + s q); see algorithms.pagerank."""
    if len(G) == 0:
        return {}
    found = graph(G, weight, parallel=sum)
    weighted = False
    if found.A.nvals and (weight is not None or G.is_multigraph()):
        least, most = found.emin, found.emax
        if not 0 <= least <= most < np.inf:
            raise NotImplementedError(f"{weight}: a weight is negative, infinite or NaN")
        weighted = bool(least != most or least == 0)
    result = algorithms.pagerank(
        found,
        alpha=alpha,
        personalization=_over_nodes(G, personalization, "personalization"),
        nstart=_over_nodes(G, nstart, "nstart"),
        dangling=_over_nodes(G, dangling, "dangling"),
        weighted=weighted,
        tol=max(tol, np.finfo(float).tiny),  # with 0 grb_tile makes max_iter iterations and does not fail
        max_iter=max_iter,
    )
    return dense(G, result.ranks)
