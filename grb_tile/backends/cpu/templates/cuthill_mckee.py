"""Cuthill-McKee order: breadth-first, the neighbours of each vertex in the order in which their row lists them.

Paper: Cuthill and McKee, "Reducing the bandwidth of sparse symmetric matrices" (ACM 1969).
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT32, INT64


def run(indptr: INT64, indices: INDEX, starts: INT64, seen: INT32, order: INT64):
    """order: the vertices, a component after the other, each from its vertex in `starts` on.  seen: zeros."""
    tail = 0
    head = 0
    for k in range(starts.shape[0]):
        if seen[starts[k]] == 0:
            seen[starts[k]] = 1
            order[tail] = starts[k]
            tail += 1
        while head < tail:
            v = order[head]
            head += 1
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if seen[u] == 0:
                    seen[u] = 1
                    order[tail] = u
                    tail += 1
    return tail
