"""Minimum spanning forest: edges in ascending order of weight, each kept that joins two trees (union-find).

Paper: Kruskal, "On the shortest spanning subtree of a graph" (Proc. AMS 7, 1956); path halving after Tarjan and van
Leeuwen, "Worst-case analysis of set union algorithms" (J. ACM 31, 1984).
"""

from grb_tile.backends.cpu.templates.placeholders import INT64


def root(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


def run(heads: INT64, tails: INT64, order: INT64, parent: INT64, kept: INT64):
    """kept: the edges of the forest, in `order`; parent: the vertices before, the least vertex of each tree after.

    Returns the number of edges kept.
    """
    count = 0
    most = parent.shape[0] - 1
    for k in range(order.shape[0]):
        if count == most:
            break
        e = order[k]
        i = root(parent, heads[e])
        j = root(parent, tails[e])
        if i != j:
            parent[max(i, j)] = min(i, j)
            kept[count] = e
            count += 1
    for v in range(parent.shape[0]):
        parent[v] = root(parent, v)
    return count
