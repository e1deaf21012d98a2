"""Cuthill-McKee order: breadth-first, the neighbours of each vertex by ascending rank (degree).

Papers: Cuthill and McKee, "Reducing the bandwidth of sparse symmetric matrices" (ACM 1969); the first vertex by George
and Liu, "An implementation of a pseudoperipheral node finder" (ACM TOMS 5, 1979).
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64


def breadth_first(indptr, indices, start, mark, seen, order, tail):
    """The vertices that `start` reaches, to order[tail:]; returns (their end, the last level's start, its depth)."""
    seen[start] = mark
    order[tail] = start
    begin = tail
    end = tail + 1
    depth = 0
    while True:
        head = end
        for k in range(begin, head):
            v = order[k]
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if seen[u] != mark:
                    seen[u] = mark
                    order[end] = u
                    end += 1
        if end == head:
            return end, begin, depth
        begin = head
        depth += 1


def run(
    indptr: INT64,
    indices: INDEX,
    by_degree: INT64,
    rank: INT64,
    ptr: INT64,
    sorted_indices: INDEX,
    seen: INT64,
    order: INT64,
):
    """order: the ranks of the vertices, a component after the other by their least ranks; returns their number.

    by_degree: the vertices by rank; rank: the rank of each.  ptr, sorted_indices: workspace of the matrix with rows and
    columns by rank.  seen: zeros.
    Returns -1 where a column has more entries than its row, because the matrix is not symmetric.  Where rows and
    columns have as many, a vertex is reached from each one that it reaches (Euler), so no component is entered twice,
    and the arrays suffice.
    """
    n = seen.shape[0]
    ptr[0] = 0
    for r in range(n):
        v = by_degree[r]
        ptr[r + 1] = ptr[r] + indptr[v + 1] - indptr[v]
        order[r] = ptr[r]
    for r in range(n):  # the matrix is symmetric: r goes to the end of the row of each neighbour, so that rows ascend
        v = by_degree[r]
        for e in range(indptr[v], indptr[v + 1]):
            s = rank[indices[e]]
            if order[s] == ptr[s + 1]:
                return -1
            sorted_indices[order[s]] = r
            order[s] += 1
    tail = 0
    mark = 0
    for v in range(n):
        if seen[v] != 0:
            continue
        start = v
        depth = -1
        while True:
            mark += 1
            end, last, found = breadth_first(ptr, sorted_indices, start, mark, seen, order, tail)
            if found <= depth:
                break
            depth = found
            start = order[last]
            for k in range(last, end):
                start = min(start, order[k])
        tail = end
    return tail
