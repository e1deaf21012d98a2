"""Whether a search reaches so few nodes that NetworkX takes less time than a conversion of the graph.

The search is run up to a budget of n / 4 visited neighbours in a graph of n nodes, which takes at most a tenth of the
time of a conversion.  The visited neighbours of all searches that are left to NetworkX are counted for the graph; at
the break-even count it is converted (ski rental: at most twice the time of the better choice).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import networkx as nx

VISITED = "grb_tile: neighbours visited by searches of NetworkX"  # a key of the cache, which a change empties
VISITS_PER_NODE = 4  # neighbours that NetworkX visits (0.2 us each) in the time of a conversion, for each node


def reaches_few(
    G: nx.Graph, sources: Iterable[Any], *, limit: float | None = None, weight: Any = None, reverse: bool = False
) -> bool:
    """Whether a search from `sources` is left to NetworkX.

    limit     the greatest distance from a source; None: no limit
    weight    the attribute with the lengths of the edges; None: each has length 1.  For a function, and with parallel
              edges, the result is False
    reverse   the search follows the edges of a directed graph backwards
    """
    if callable(weight) or (weight is not None and G.is_multigraph()):
        return False
    adj = G._pred if reverse and G.is_directed() else G._adj
    try:
        near = dict.fromkeys(sources, 0)
        visits = _visits(adj, near, limit, weight, len(adj) // 4)
    except (KeyError, TypeError, ValueError):
        return True  # NetworkX raises its own error for such a source, limit or weight
    return visits is not None and _below_break_even(G, visits)


def one_pair(G: nx.Graph, **arguments: Any) -> bool:
    """`light` of a weighted search that ends at a target: estimated as one visit per node, so four are light."""
    return _below_break_even(G, len(G._adj))


def _below_break_even(G: nx.Graph, visits: int) -> bool:
    """Add the visits of a search to the count of G; whether it does not exceed the break-even count."""
    cache = getattr(G, "__networkx_cache__", None)
    if cache is not None:
        cache[VISITED] = visits = cache.get(VISITED, 0) + visits
    return visits <= VISITS_PER_NODE * len(G._adj)


def _visits(adj: Mapping, near: dict[Any, float], limit: float | None, weight: Any, budget: int) -> int | None:
    """The number of neighbours that a search visits, None where it exceeds `budget`.  near: {source: 0}."""
    visits, last = 0, list(near)
    while last:
        reached: dict[Any, None] = {}
        for node in last:
            neighbours = adj[node]
            if limit is not None and near[node] + (weight is None) > limit:
                continue
            visits += len(neighbours)
            if visits > budget:
                return None
            for neighbour, data in neighbours.items():
                length = near[node] + (1 if weight is None else data.get(weight, 1))
                if (limit is None or length <= limit) and length < near.get(neighbour, length + 1):
                    near[neighbour] = length
                    reached[neighbour] = None
        last = list(reached)
    return visits


def search(
    *, source: str = "source", limit: str | None = None, weighted: bool = False, reverse: bool | str = False
) -> Callable[..., bool]:
    """`light` of a search (see Implementation): reaches_few with the arguments of these names.

    source     the name of the argument with the source, or the sources
    limit      the name of the argument with the greatest distance; None: the function has none
    weighted   whether the function has an argument `weight`
    reverse    whether the search follows edges backwards, or the name of the argument that decides it
    """

    def light(G: nx.Graph, **arguments: Any) -> bool:
        start = arguments[source]
        if isinstance(start, Iterator):
            return False  # an iterator can be read only once
        return reaches_few(
            G,
            start if source == "sources" and start not in G else [start],
            limit=arguments[limit] if limit else None,
            weight=arguments["weight"] if weighted else None,
            reverse=arguments[reverse] if isinstance(reverse, str) else reverse,
        )

    return light
