"""Breadth-first searches in NetworkX's order: the same tree and order of nodes, for functions that return them.

    t<!v> = f min.plus P,   P(i, j) = position of j among the neighbours of i,   f(i) = edges before those of i

f numbers the edges that leave the frontier in the order in which NetworkX visits them, so t(j) is the first edge that
reaches j, the order of t is the order of discovery, and the parent of j is the node that the edge t(j) leaves.  On the
CPU a compiled loop with a queue computes it (graph.breadth_first).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import networkx as nx
import numpy as np

import grb_tile as gb
from grb_tile import algorithms, graph, semiring
from grb_tile.graph import Lists
from grb_tile.io.adjacency_dictionaries import Pattern, is_view

from .adjacency import pattern_of
from .graphs import kept

# Sources of a batch (MS-BFS), as in algorithms.closeness: 4 words of 64 bits a node; levels take 8 bytes each.
BATCH = 256


def lists(G: nx.Graph, reverse: bool) -> Lists:
    """The neighbours of each node in the order of the dictionaries; reverse: its predecessors."""
    cache = kept(G)
    pattern = pattern_of(G)
    if reverse:
        if "predecessors" not in cache:
            cache["predecessors"] = Pattern(G._pred, view=is_view(G))
        pattern = cache["predecessors"]
    return Lists(pattern.indptr, pattern.columns)


def positions(G: nx.Graph, reverse: bool) -> tuple[gb.Matrix, np.ndarray]:
    """(P, the number of edges of each node), see the module's docstring."""
    cache = kept(G)
    key = "positions", reverse
    if key not in cache:
        near = lists(G, reverse)
        n, lengths = len(pattern_of(G).nodes), np.diff(near.indptr)
        position = np.arange(near.nvals) - np.repeat(near.indptr[:-1], lengths)
        P = gb.Matrix.from_csr(near.indptr, near.indices, position, nrows=n, ncols=n, name="positions")
        cache[key] = P, lengths
    return cache[key]


def levels_in_order(
    G: nx.Graph, sources: Sequence[int], *, reverse: bool = False, limit: float | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(nodes of the next level in order of discovery, their parents), level by level.

    sources   numbers of nodes
    reverse   follow the edges of a directed graph backwards
    limit     the number of levels beyond the sources
    """
    reverse = reverse and G.is_directed()
    done = _in_one_loop(G, sources, reverse, limit)
    if done is not None:
        order, levels, parent = done
        ends = np.flatnonzero(np.diff(levels[order])) + 1
        for found in np.split(order, ends)[1:]:
            yield found, parent[found]
        return
    P, lengths = positions(G, reverse)
    step = semiring.min_plus[gb.dtypes.INT64]
    frontier = np.asarray(sources, np.int64)
    visited = gb.Vector.from_coo(frontier, True, size=P.nrows)
    level = 0
    while frontier.size and (limit is None or level < limit):
        level += 1
        first = np.zeros(frontier.size + 1, np.int64)
        np.cumsum(lengths[frontier], out=first[1:])
        f = gb.Vector.from_coo(frontier, first[:-1], size=P.nrows)
        # t<!v> = f min.plus P
        t = step(f @ P).new(mask=~visited.S)
        found, edge = t.to_coo()
        order = np.argsort(edge)
        found, edge = found.astype(np.int64)[order], edge[order]
        if not found.size:
            return
        # a node without edges has the same `first` as the next one, which the edge leaves
        yield found, frontier[np.searchsorted(first, edge, side="right") - 1]
        visited(t.S) << True
        frontier = found


def tree_in_order(
    G: nx.Graph, sources: Sequence[int], *, reverse: bool = False, limit: float | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(nodes in order of discovery, their parents) of one or more levels at a time; see levels_in_order.

    A compiled search returns all levels at once, because a long path has as many levels as nodes.
    """
    done = _in_one_loop(G, sources, reverse and G.is_directed(), limit)
    if done is None:
        return levels_in_order(G, sources, reverse=reverse, limit=limit)
    order, _, parent = done
    found = order[len(sources) :]
    return iter([(found, parent[found])])


def _in_one_loop(
    G: nx.Graph, sources: Sequence[int], reverse: bool, limit: float | None
) -> tuple[np.ndarray, ...] | None:
    most = np.inf if limit is None else np.ceil(limit) if limit > 0 else 0
    return graph.breadth_first(lists(G, reverse), np.asarray(sources, np.int64), most)


def batches_of_levels(
    found: algorithms.Graph, sources: Sequence[int], *, limit: int | None = None
) -> Iterator[tuple[Sequence[int], gb.Matrix]]:
    """(sources of a batch, L) with L(k, v) = number of edges on a shortest path from the k-th source to v."""
    for start in range(0, len(sources), BATCH):
        part = list(sources[start : start + BATCH])
        yield part, algorithms.bfs_multi(found, part, max_level=limit).levels
