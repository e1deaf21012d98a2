"""Breadth-first order: vertices as a queue finds them, along lists of neighbours in an order of their own."""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64


def run(indptr: INT64, indices: INDEX, found: int, limit: int, level: INT64, order: INT64, parent: INT64):
    """order[:found]: the sources, whose level is 0, that of others -1; returns how many vertices are in `order` then.

    limit: the number of levels beyond the sources.  parent: the vertex that found each one.
    """
    tail = found
    head = 0
    while head < tail:
        v = order[head]
        head += 1
        below = level[v] + 1
        if below > limit:
            break
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if level[w] < 0:
                level[w] = below
                parent[w] = v
                order[tail] = w
                tail += 1
    return tail
