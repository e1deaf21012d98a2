"""The backend's graph classes: subclasses of NetworkX's over the same dictionaries, with matrices made on demand.

A graph converted from NetworkX shares its dictionaries (`_adj`, `_node`, `graph`) with the original, so a conversion
copies nothing, all attributes are available, and a fallback to NetworkX costs no conversion back.  Objects derived from
the dictionaries are cached in `__networkx_cache__`, which both graphs share, too: NetworkX empties it when a method of
either graph changes it.

NetworkX's contract (networkx.utils.backends, `_convert_graph`): values written behind its back,
`G[u][v]["weight"] = 2`, do not empty the cache; call `G.__networkx_cache__.clear()` after such a write.
"""

from __future__ import annotations

from typing import Any

import networkx as nx

from grb_tile.io.adjacency_dictionaries import is_view

BACKEND = "grb_tile"


class Graph(nx.Graph):
    """An undirected graph whose functions run on grb_tile; see `adopt`."""

    __networkx_backend__ = BACKEND

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(cls)  # nx.Graph's own is dispatched

    def to_directed_class(self) -> type:
        return MultiDiGraph if self.is_multigraph() else DiGraph

    def to_undirected_class(self) -> type:
        return MultiGraph if self.is_multigraph() else Graph


class DiGraph(Graph, nx.DiGraph):
    """A directed graph whose functions run on grb_tile; see `adopt`."""


class MultiGraph(Graph, nx.MultiGraph):
    """An undirected graph with parallel edges whose functions run on grb_tile; see `adopt`."""


class MultiDiGraph(DiGraph, MultiGraph, nx.MultiDiGraph):
    """A directed graph with parallel edges whose functions run on grb_tile; see `adopt`."""


_OURS = {
    (False, False): Graph,
    (True, False): DiGraph,
    (False, True): MultiGraph,
    (True, True): MultiDiGraph,
}
_NETWORKX = {
    (False, False): nx.Graph,
    (True, False): nx.DiGraph,
    (False, True): nx.MultiGraph,
    (True, True): nx.MultiDiGraph,
}


def adopt(G: Any, *, remember: bool = True) -> Any:
    """The backend graph over the dictionaries of the NetworkX graph `G`, which is not changed.

    remember   cache derived objects with G, for later calls

    Raises: NotImplementedError, which sends the call to NetworkX, for a class that defines its own neighbours.
    """
    if isinstance(G, Graph):
        return G
    base = _NETWORKX[G.is_directed(), G.is_multigraph()]
    if any(getattr(type(G), name) is not getattr(base, name) for name in ("adj", "neighbors", "__getitem__")):
        raise NotImplementedError(f"{type(G).__name__} defines its own neighbours, which are not its dictionaries'")
    return _over_dictionaries_of(G, _OURS, remember)


def release(G: Any) -> Any:
    """The NetworkX graph over the dictionaries of the backend graph `G`."""
    return _over_dictionaries_of(G, _NETWORKX, True)


def _over_dictionaries_of(G: Any, classes: dict, remember: bool) -> Any:
    directed = G.is_directed()
    H = object.__new__(classes[directed, G.is_multigraph()])
    H.graph, H._node = G.graph, G._node
    if directed:
        H._succ, H._pred = G._succ, G._pred  # nx.DiGraph sets _adj with _succ
    else:
        H._adj = G._adj
    if hasattr(G, "_graph"):
        H._graph = G._graph  # a view; see is_view
    cache = getattr(G, "__networkx_cache__", None)
    H.__networkx_cache__ = cache if remember and cache is not None else {}
    return H


def for_one_call(G: Any) -> Any:
    """`G`; of a view a graph over the same dictionaries, whose derived objects are cached for one call."""
    if not isinstance(G, Graph) or not is_view(G) or hasattr(G, "_for_one_call"):
        return G
    H = _over_dictionaries_of(G, _OURS, False)
    H._for_one_call = True
    return H


def kept(G: Any) -> dict[Any, Any]:
    """The cache of objects derived from `G`: a dictionary that is emptied when `G` changes; of a view one per call."""
    cache = G.__networkx_cache__
    if cache is None or (is_view(G) and not hasattr(G, "_for_one_call")):
        return {}
    return cache.setdefault(BACKEND, {})
