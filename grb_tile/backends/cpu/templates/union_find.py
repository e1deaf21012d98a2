"""Connected components by a forest of which each vertex points to a lesser one.

Paper: Patwary, Blair, Manne, "Experiments on union-find algorithms for the disjoint-set data structure" (SEA 2010),
Rem's algorithm with splicing.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64


def run(indptr: INT64, indices: INDEX, half: int, parent: INT64):
    """parent: 0 .. n - 1 before, the least vertex of each vertex's component after; returns the number of components.

    half: the matrix is symmetric, so that entries left of the diagonal are enough.
    """
    n = parent.shape[0]
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            r = i
            s = indices[e]
            if half != 0 and s >= i:
                break
            while parent[r] != parent[s]:
                if parent[r] > parent[s]:
                    if parent[r] == r:
                        parent[r] = parent[s]
                        break
                    above = parent[r]
                    parent[r] = parent[s]
                    r = above
                else:
                    if parent[s] == s:
                        parent[s] = parent[r]
                        break
                    above = parent[s]
                    parent[s] = parent[r]
                    s = above
    count = 0
    for v in range(n):
        if parent[v] == v:
            count += 1
        else:
            parent[v] = parent[parent[v]]
    return count
