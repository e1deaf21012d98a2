"""Communities (networkx.algorithms.community)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import count, islice, repeat
from typing import Any

import networkx as nx
import numpy as np

from grb_tile import algorithms
from grb_tile.graph import label_turns

from ..adjacency import finite, graph, nodes_of
from ..registry import implements, original
from ..searches import lists
from .components import sets_of
from .structure import greedy_color


def _undirected(G: nx.Graph, **others: Any) -> bool | str:
    return not G.is_directed() or "communities of directed graphs are left to NetworkX"


def _weighted(G: nx.Graph, weight: Any) -> algorithms.Graph:
    return finite(graph(G, weight, parallel=sum), weight, nonnegative=True, squared=True)


def _partitions(method: Callable, G: nx.Graph, weight: Any, seed: Any, **options: Any) -> Iterator[list[set]]:
    """The communities after 1, 2, ... levels; levels that change nothing are left out.

    The communities after k levels are the result of a run with max_level=k; all runs have the same seed.
    """
    if not any(G._adj.values()):
        return iter([[{node} for node in G]])
    found, number = _weighted(G, weight), _seed(seed)

    def levels() -> Iterator[list[set]]:
        before = None
        for level in count(1):
            result = method(found, seed=number, max_level=level, **options)
            labels = result.labels.to_dense()
            if before is None or not np.array_equal(labels, before):
                yield list(sets_of(G, labels))
            if result.report.stopped_by != "max_level":
                return
            before = labels

    return levels()


def _communities(
    method: Callable, G: nx.Graph, weight: Any, seed: Any, max_level: int | None, **options: Any
) -> list[set]:
    """The communities after `max_level` levels; None: after the last one."""
    if max_level is not None:
        if max_level <= 0:
            raise ValueError("max_level argument must be a positive integer or None")
        return deque(islice(_partitions(method, G, weight, seed, **options), max_level), maxlen=1).pop()
    if not any(G._adj.values()):
        return [{node} for node in G]
    return list(sets_of(G, method(_weighted(G, weight), seed=_seed(seed), **options).labels.to_dense()))


def _seed(seed: Any) -> int:
    return nx.utils.create_py_random_state(seed).getrandbits(31)


@implements(can_run=_undirected)
def louvain_communities(G, weight="weight", resolution=1, threshold=1e-7, max_level=None, seed=None):
    return _communities(algorithms.louvain, G, weight, seed, max_level, resolution=resolution, tol=threshold)


@implements(can_run=_undirected)
def louvain_partitions(G, weight="weight", resolution=1, threshold=1e-7, seed=None):
    return _partitions(algorithms.louvain, G, weight, seed, resolution=resolution, tol=threshold)


@implements(not_for=("directed",))
def leiden_communities(G, weight="weight", resolution=1, max_level=None, seed=None):
    return _communities(algorithms.leiden, G, weight, seed, max_level, resolution=resolution)


@implements(not_for=("directed",))
def leiden_partitions(G, weight="weight", resolution=1, seed=None):
    return _partitions(algorithms.leiden, G, weight, seed, resolution=resolution)


@implements()
def modularity(G, communities, weight="weight", resolution=1):
    found = _weighted(G, weight)  # before an iterator of communities is read, because NetworkX may get the call
    communities = list(communities)
    nodes = nodes_of(G)
    labels = np.full(len(nodes), -1, np.int64)
    for label, community in enumerate(communities):
        for node in community:
            if node in G:
                labels[nodes.number(node)] = label
    if (labels < 0).any() or sum(map(len, communities)) != len(nodes):
        raise nx.community.quality.NotAPartition(G, communities)
    if not found.A.nvals or not found.emax:
        raise ZeroDivisionError("division by zero")  # as NetworkX
    return algorithms.modularity(found, labels, resolution=resolution)


def _unweighted(G: nx.Graph, weight: Any = None, seed: Any = None) -> bool | str:
    return weight is None or "votes with weights are left to NetworkX"


def _stable(G: nx.Graph, orders: Iterator[np.ndarray], start: int) -> list[set] | None:
    """Label propagation in these orders until no node changes its label: the communities; None: no compiled loop.

    start   the state of the random numbers that choose among equally frequent labels; 0: the greatest label is chosen
    """
    near, label, state = lists(G, False), np.arange(len(G)), np.array([start])
    for order in orders:
        changed = label_turns(near, order, label, state)
        if changed is None:
            return None
        if not changed:
            break
    return list(sets_of(G, label))


@implements(can_run=_unweighted)
def asyn_lpa_communities(G, weight=None, seed=None):
    if not len(G):
        return iter(())
    draw = nx.utils.create_py_random_state(seed)
    rng = np.random.default_rng(draw.getrandbits(64))
    found = _stable(G, (rng.permutation(len(G)) for _ in count()), draw.getrandbits(62) + 1)
    return original("asyn_lpa_communities")(G, weight, draw) if found is None else iter(found)


@implements(not_for=("directed",))
def label_propagation_communities(G):
    if not len(G):
        return {}.values()
    # nodes of one colour are not adjacent, so sequential updates equal a synchronous one
    colours = np.fromiter(map(greedy_color(G).__getitem__, G), np.int64, len(G))
    order = np.argsort(colours, kind="stable")
    found = _stable(G, repeat(order), 0)
    return original("label_propagation_communities")(G) if found is None else dict(enumerate(found)).values()
