"""Paths of fewest edges through vertices and edges: a breadth-first search and its dependencies for each source.

    sigma(w) = sum of sigma(v),   delta(v) = sum of sigma(v) / sigma(w) (1 + delta(w))     over edges v -> w on shortest
                                                                                           paths from the source
Paper: Brandes, "A faster algorithm for betweenness centrality" (J. Math. Sociology 25, 2001), algorithm 1; in place of
its lists of predecessors the edges that leave v are read again.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64, Z


def run(
    indptr: INT64,
    indices: INDEX,
    sources: INT64,
    endpoints: int,
    by_edge: int,
    first: int,
    last: int,
    scores: Z,
    level: INT64,
    order: INT64,
    sigma: Z,
    share: Z,
):
    """The sources sources[first:last]; every edge has length 1.

    scores: + delta of each vertex, of which the source has none, or by_edge + the term of each entry.
    endpoints: a path counts for its ends, too.  level: -1 before and after; order, sigma, share: workspace of n.
    """
    for at in range(first, last):
        source = sources[at]
        level[source] = 0
        sigma[source] = 1.0
        order[0] = source
        head = 0
        tail = 1
        while head < tail:
            v = order[head]
            head += 1
            below = level[v] + 1
            paths = sigma[v]
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if level[w] < 0:
                    level[w] = below
                    sigma[w] = paths
                    order[tail] = w
                    tail += 1
                elif level[w] == below:
                    sigma[w] += paths
        deepest = level[order[tail - 1]]
        for k in range(tail - 1, -1, -1):
            v = order[k]
            total = 0.0
            if level[v] < deepest:
                below = level[v] + 1
                for e in range(indptr[v], indptr[v + 1]):
                    w = indices[e]
                    if level[w] == below:
                        if by_edge != 0:
                            scores[e] += sigma[v] * share[w]
                        total += share[w]
                total *= sigma[v]
            share[v] = (1.0 + total) / sigma[v]  # of each shortest path to v
            if by_edge == 0:
                if k > 0:
                    scores[v] += total + endpoints
                else:
                    scores[v] += endpoints * (tail - 1)
        for k in range(tail):
            level[order[k]] = -1
    return 0
