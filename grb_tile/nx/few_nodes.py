"""Whether a search reaches so few nodes that NetworkX ends before a conversion of the graph does.

The search itself is made, up to a budget: n / 4 neighbours looked at in a graph of n nodes, which takes at most a tenth
of the time of a conversion.  Searches that NetworkX is left with add up, too: once they have looked at as many
neighbours as make a conversion worth while, the graph is converted (ski rental: at most twice the time of the better
choice).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import networkx as nx

LOOKED_AT = "grb_tile: neighbours looked at by searches of NetworkX"  # a key of the cache, which a change empties
LOOKS_OF_A_CONVERSION = 4  # for each node: NetworkX looks at so many neighbours (0.2 us) in the time of a conversion


def reaches_few(
    G: nx.Graph, sources: Iterable[Any], *, limit: float | None = None, weight: Any = None, reverse: bool = False
) -> bool:
    """Whether a search from `sources` is to be left to NetworkX.

    limit     the greatest distance from a source; None: none
    weight    the attribute with the lengths of the edges; None: each has length 1.  Of a function, and of parallel
              edges, the answer is no
    reverse   along the edges of a directed graph backwards
    """
    if callable(weight) or (weight is not None and G.is_multigraph()):
        return False
    adj = G._pred if reverse and G.is_directed() else G._adj
    try:
        near = dict.fromkeys(sources, 0)
        looks = _looks(adj, near, limit, weight, len(adj) // 4)
    except (KeyError, TypeError, ValueError):
        return True  # NetworkX raises what it raises for such a source, limit or weight
    return looks is not None and _rents(G, looks)


def one_pair(G: nx.Graph, **arguments: Any) -> bool:
    """The `light` of a search along weights that ends at a target, half of the nodes away: the first four."""
    return _rents(G, len(G._adj))


def _rents(G: nx.Graph, looks: int) -> bool:
    """Whether NetworkX has looked at fewer neighbours, with these, than a conversion is worth."""
    cache = getattr(G, "__networkx_cache__", None)
    if cache is not None:
        cache[LOOKED_AT] = looks = cache.get(LOOKED_AT, 0) + looks
    return looks <= LOOKS_OF_A_CONVERSION * len(G._adj)


def _looks(adj: Mapping, near: dict[Any, float], limit: float | None, weight: Any, budget: int) -> int | None:
    """The neighbours that a search looks at, None where they are more than `budget`.  near: {source: 0}."""
    looks, last = 0, list(near)
    while last:
        reached: dict[Any, None] = {}
        for node in last:
            neighbours = adj[node]
            if limit is not None and near[node] + (weight is None) > limit:
                continue
            looks += len(neighbours)
            if looks > budget:
                return None
            for neighbour, data in neighbours.items():
                length = near[node] + (1 if weight is None else data.get(weight, 1))
                if (limit is None or length <= limit) and length < near.get(neighbour, length + 1):
                    near[neighbour] = length
                    reached[neighbour] = None
        last = list(reached)
    return looks


def search(
    *, source: str = "source", limit: str | None = None, weighted: bool = False, reverse: bool | str = False
) -> Callable[..., bool]:
    """The `light` of a function: reaches_few with the arguments of these names.

    source     the name of the argument with the source, or the sources
    limit      the name of the argument with the greatest distance; None: the function has none
    weighted   whether the function has an argument `weight`
    reverse    whether the search goes backwards, or the name of the argument that says so
    """

    def light(G: nx.Graph, **arguments: Any) -> bool:
        start = arguments[source]
        if isinstance(start, Iterator):
            return False  # can be read once
        return reaches_few(
            G,
            start if source == "sources" and start not in G else [start],
            limit=arguments[limit] if limit else None,
            weight=arguments["weight"] if weighted else None,
            reverse=arguments[reverse] if isinstance(reverse, str) else reverse,
        )

    return light
