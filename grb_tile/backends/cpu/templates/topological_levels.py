"""Generations of a directed acyclic graph: the most edges on a path that ends at each vertex.

Paper: Kahn, "Topological sorting of large networks" (Comm. ACM 5, 1962).
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64


def run(indptr: INT64, indices: INDEX, waits: INT64, level: INT64, queue: INT64):
    """waits: the in-degrees, counted down; level: -1 before.  Returns the number of vertices that are on no cycle and
    behind none.
    """
    tail = 0
    for v in range(waits.shape[0]):
        if waits[v] == 0:
            queue[tail] = v
            level[v] = 0
            tail += 1
    head = 0
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            waits[u] -= 1
            if waits[u] == 0:  # v is the last before u, and the queue is in the order of generations
                level[u] = level[v] + 1
                queue[tail] = u
                tail += 1
    return tail
