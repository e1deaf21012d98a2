"""Whole loops over a graph as plain Python: what backends/graph.py says of each, for small graphs as CSR stores."""

from collections import deque

import networkx as nx
import numpy as np


def edges(A):
    """(rows, columns) of the entries."""
    return np.repeat(np.arange(A.nrows), np.diff(A.indptr)), A.indices


def neighbours(A):
    return [A.indices[A.indptr[v] : A.indptr[v + 1]].tolist() for v in range(A.nrows)]


def digraph(A, values=None):
    G = nx.DiGraph()
    G.add_nodes_from(range(A.nrows))
    lengths = np.ones(A.nvals) if values is None else values
    G.add_weighted_edges_from(zip(*(x.tolist() for x in (*edges(A), lengths)), strict=True))
    return G


def least_of(groups, n):
    """The least vertex of each vertex's group."""
    label = np.empty(n, np.int64)
    for group in groups:
        label[list(group)] = min(group)
    return label


def generations(n, rows, cols):
    """-1 for the vertices that are left when no vertex without in-edges is."""
    level = np.full(n, -1)
    waits, k = np.bincount(cols, minlength=n), 0
    while (free := np.flatnonzero((waits == 0) & (level < 0))).size:
        level[free] = k
        waits -= np.bincount(cols[np.isin(rows, free)], minlength=n)
        k += 1
    return level


def kahn(near):
    """The vertices that are on no cycle and behind none, as a queue finds them."""
    waits = np.bincount(np.array(sum(near, []), np.int64), minlength=len(near))
    queue = np.flatnonzero(waits == 0).tolist()
    for v in queue:
        for u in near[v]:
            waits[u] -= 1
            if waits[u] == 0:
                queue.append(u)
    return queue


def queued(near, sources, limit):
    """(order, level, parent) of a breadth-first search."""
    level, parent = np.full((2, len(near)), -1)
    level[sources] = 0
    waiting, order = deque(sources), list(sources)
    while waiting:
        v = waiting.popleft()
        for u in near[v]:
            if level[u] < 0 and level[v] < limit:
                level[u], parent[u] = level[v] + 1, v
                waiting.append(u)
                order.append(u)
    return order, level, parent


def greedy(A, order):
    """The colours that vertices take in turn."""
    near, colour = neighbours(A), np.full(A.nrows, -1)
    for v in order.tolist():
        used = {colour[u] for u in near[v] if u != v}
        colour[v] = next(c for c in range(A.nrows + 1) if c not in used)
    return colour


def first_set(A, order, left_out):
    """The independent set that is first in the order."""
    near, state = neighbours(A), np.where(left_out, 2, 0)
    for v in order.tolist():
        if state[v] == 0:
            state[near[v]] = 2
            state[v] = 1
    return np.flatnonzero(state == 1)


def kruskal(n, heads, tails, keys):
    """(the edges of the forest of least keys, ascending; the least vertex of each tree)."""
    tree, kept = np.arange(n), []
    for e in np.argsort(keys, kind="stable"):
        a, b = tree[heads[e]], tree[tails[e]]
        if a != b:
            tree[tree == max(a, b)] = min(a, b)
            kept.append(int(e))
    return sorted(kept), tree


def reverse_cuthill_mckee(A):
    """Each component from a vertex at its end, neighbours by ascending degree, then number."""
    near = neighbours(A)
    rank = {v: r for r, v in enumerate(sorted(range(A.nrows), key=lambda v: len(near[v])))}
    near = [sorted(row, key=rank.get) for row in near]
    order, done = [], set()
    for v in sorted(rank, key=rank.get):
        if v in done:
            continue
        start, depth = v, -1
        while True:
            found, level, _ = queued(near, [start], A.nrows)
            if level[found[-1]] <= depth:
                break
            depth = level[found[-1]]
            start = min((u for u in found if level[u] == depth), key=rank.get)
        order += found
        done.update(found)
    return order[::-1]


def dependencies(A, sources, endpoints=False, values=None):
    """(by vertex, by entry): Brandes' accumulation, source by source; `values`: the lengths of the entries, else 1."""
    G = digraph(A, values)
    by_vertex, by_edge = np.zeros(A.nrows), dict.fromkeys(G.edges, 0.0)
    for s in map(int, sources):
        length = nx.single_source_dijkstra_path_length(G, s)  # by ascending length
        above = {
            v: [u for u in G.pred[v] if u in length and length[u] + G[u][v]["weight"] == length[v]] for v in length
        }
        paths, share = {s: 1.0}, dict.fromkeys(length, 0.0)
        for v in length:
            if v != s:
                paths[v] = sum(paths[u] for u in above[v])
        for w in reversed(length):
            for v in above[w] if w != s else ():
                part = paths[v] / paths[w] * (1 + share[w])
                by_edge[v, w] += part
                share[v] += part
            if w != s:
                by_vertex[w] += share[w] + endpoints
        by_vertex[s] += (len(length) - 1) * endpoints
    return by_vertex, np.array([by_edge[edge] for edge in zip(*(x.tolist() for x in edges(A)), strict=True)])


def corners(L):
    """Triangles i > j > k at each vertex, of a strictly lower triangle."""
    below = neighbours(L)
    count = np.zeros(L.nrows, np.int64)
    for i in range(L.nrows):
        own = set(below[i])
        for j in below[i]:
            for k in below[j]:
                if k in own:
                    count[[i, j, k]] += 1
    return count


def supports(A, ways):
    """{edge: triangles} of the edges in a triangle; ways: of each edge i > j, whether it is named (i, j) or (j, i)."""
    near = [set(row) for row in neighbours(A)]
    edges = [(i, j) for i in range(A.nrows) for j in sorted(near[i]) if j < i]
    found = {(e if way else e[::-1]): len(near[e[0]] & near[e[1]]) for e, way in zip(edges, ways, strict=True)}
    return {e: s for e, s in found.items() if s}


def peeled(A, found, least):
    """(supports left, how many edges went in each round) of peel_truss."""
    left, rounds = {frozenset(e): s for e, s in found.items()}, []
    names = {frozenset(e): e for e in found}
    near = [set(row) for row in neighbours(A)]
    while gone := {e for e, s in left.items() if s < least}:
        rounds.append(len(gone))
        before = set(left)
        for e in gone:
            del left[e]
        for e in left:
            u, v = e
            lost = 0
            for w in near[u] & near[v]:
                two = {frozenset((u, w)), frozenset((v, w))}
                lost += two <= before and bool(two & gone)
            left[e] -= lost
    return {names[e]: s for e, s in left.items()}, rounds
