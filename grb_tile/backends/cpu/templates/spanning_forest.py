"""Minimum spanning forest: rounds in which each tree adds the least edge that leaves it, until no edge leaves a tree.

Paper: Boruvka (1926), after Nesetril, Milkova, Nesetrilova, "Otakar Boruvka on minimum spanning tree problem" (Discrete
Mathematics 233, 2001).  Edges of one tree leave the list in each round, so that later rounds are short.
"""

from grb_tile.backends.cpu.templates.placeholders import INT64


def root(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


def run(heads: INT64, tails: INT64, keys: INT64, left: INT64, tree: INT64, best: INT64, kept: INT64):
    """kept: the edges of least sum of keys, of equal keys the first; returns their number.

    left: the edges.  tree: the vertices before, the least vertex of each vertex's tree after.
    """
    n = tree.shape[0]
    count = 0
    many = left.shape[0]
    while many > 0:
        for v in range(n):
            best[v] = -1
        held = 0
        for k in range(many):
            e = left[k]
            i = tree[heads[e]]
            j = tree[tails[e]]
            if i != j:
                left[held] = e
                held += 1
                if best[i] < 0 or keys[e] < keys[best[i]]:  # edges ascend, so that of equal ones the first stays
                    best[i] = e
                if best[j] < 0 or keys[e] < keys[best[j]]:
                    best[j] = e
        many = held
        for v in range(n):
            e = best[v]
            if e >= 0:
                i = root(tree, heads[e])
                j = root(tree, tails[e])
                if i != j:  # else two trees have chosen this edge
                    tree[max(i, j)] = min(i, j)
                    kept[count] = e
                    count += 1
        for v in range(n):
            tree[v] = root(tree, v)
    return count
