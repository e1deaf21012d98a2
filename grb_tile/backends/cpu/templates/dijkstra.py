"""Paths of least length from one source after the other: distances, predecessors, or the dependencies of Brandes.

Papers: Dijkstra, "A note on two problems in connexion with graphs" (Numerische Mathematik 1, 1959), with a binary heap
whose entries move up; for `dependencies` Brandes, "A faster algorithm for betweenness centrality" (J. Math. Sociology
25, 2001), section 4, as brandes.py has it.
"""

from grb_tile.backends.cpu.templates.placeholders import COUNT, INDEX, INT64, PARENTS, VALUE, Z


def sift_up(heap, place, length, base, k):
    """Move the vertex at heap[k] up to where no longer one is above it."""
    v = heap[k]
    own = length[base + v]
    while k > 0:
        parent = (k - 1) >> 1
        u = heap[parent]
        if length[base + u] <= own:
            break
        heap[k] = u
        place[u] = k
        k = parent
    heap[k] = v
    place[v] = k
    return 0


def sift_down(heap, place, length, base, v, size):
    """Put v into the heap of `size` vertices whose top is free."""
    own = length[base + v]
    k = 0
    while True:
        child = 2 * k + 1
        if child >= size:
            break
        u = heap[child]
        if child + 1 < size:
            other = heap[child + 1]
            if length[base + other] < length[base + u]:
                u = other
                child += 1
        if own <= length[base + u]:
            break
        heap[k] = u
        place[u] = k
        k = child
    heap[k] = v
    place[v] = k
    return 0


def search(indptr, indices, values, source, target, base, length, place, heap, order, parent, sigma):
    """length[base:] from the source; returns the number of vertices in `order`, by ascending length.

    target: the vertex that ends the search, or -1; vertices that are farther have no length then.
    place: -1 before; the position in the heap of a vertex that is found, and -2 once its length is final.
    """
    length[base + source] = 0
    heap[0] = source
    place[source] = 0
    if PARENTS:
        parent[source] = source
    if COUNT:
        sigma[source] = 1.0
    size = 1
    tail = 0
    while size > 0:
        v = heap[0]
        size -= 1
        if size > 0:
            sift_down(heap, place, length, base, heap[size], size)
        place[v] = -2
        order[tail] = v
        tail += 1
        if v == target:
            break
        own = length[base + v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            found = own + values[e]
            at = place[w]
            if at == -1:
                length[base + w] = found
                if PARENTS:
                    parent[w] = v
                if COUNT:
                    sigma[w] = sigma[v]
                heap[size] = w
                sift_up(heap, place, length, base, size)
                size += 1
            elif at >= 0:
                if found < length[base + w]:
                    length[base + w] = found
                    if PARENTS:
                        parent[w] = v
                    if COUNT:
                        sigma[w] = sigma[v]
                    sift_up(heap, place, length, base, at)
                elif COUNT:
                    if found == length[base + w]:
                        sigma[w] += sigma[v]
    for k in range(size):
        w = heap[k]
        place[w] = -1
        length[base + w] = -1
        if PARENTS:
            parent[w] = -1
    return tail


def run(
    indptr: INT64,
    indices: INDEX,
    values: VALUE,
    sources: INT64,
    target: int,
    length: VALUE,
    parent: INT64,
    first: int,
    last: int,
    place: INT64,
    heap: INT64,
    order: INT64,
    sigma: Z,
):
    """The sources sources[first:last]: length[k n + v] from the k-th of them to v, -1 before and where none leads.

    parent: the vertex before each one on its path, -1 before and without, with PARENTS (of one source).
    place: -1 before and after; heap, order: workspace of n.
    """
    n = place.shape[0]
    for k in range(first, last):
        tail = search(indptr, indices, values, sources[k], target, k * n, length, place, heap, order, parent, sigma)
        for j in range(tail):
            place[order[j]] = -1
    return 0


def dependencies(
    indptr: INT64,
    indices: INDEX,
    values: VALUE,
    sources: INT64,
    endpoints: int,
    by_edge: int,
    first: int,
    last: int,
    scores: Z,
    place: INT64,
    heap: INT64,
    order: INT64,
    sigma: Z,
    share: Z,
    length: VALUE,
):
    """As run of brandes.py, with COUNT; an edge has the length values[e] > 0."""
    for at in range(first, last):
        tail = search(indptr, indices, values, sources[at], -1, 0, length, place, heap, order, order, sigma)
        for k in range(tail - 1, -1, -1):
            v = order[k]
            total = 0.0
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if length[v] + values[e] == length[w]:
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
            place[order[k]] = -1
    return 0
