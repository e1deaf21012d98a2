"""Supports of edges as edges go: those of support below `least`, in rounds, each of their triangles once.

Paper: Kabir and Madduri, "Parallel k-truss decomposition on multicore systems" (HPEC 2017), PKT, of one thread.
"""

from grb_tile.backends.cpu.templates.placeholders import IN_INDEX, INDEX, INT64, first_at_least


def at_entry(indices, start, stop, k):
    """The position of k in indices[start:stop], or -1."""
    p = first_at_least(indices, start, stop, k)
    return p if p < stop and indices[p] == k else -1


def run(
    indptr: INT64,
    indices: INDEX,
    s_ptr: INT64,
    s_indices: IN_INDEX,
    least: int,
    rows: INT64,
    link: INT64,
    support: INT64,
    gone: INT64,
    queue: INT64,
):
    """support: that of each edge of S, in place; gone[e]: the round in which e is removed, 0: it stays.

    indptr, indices: C; link[p]: the edge of entry p of C in either direction, all -1 before.  rows: of the edges; gone:
    zeros; queue: as long as support.  Returns how many edges are removed.
    """
    last = 0
    for i in range(s_ptr.shape[0] - 1):
        for e in range(s_ptr[i], s_ptr[i + 1]):
            rows[e] = i
            j = s_indices[e]
            p = at_entry(indices, indptr[i], indptr[i + 1], j)
            q = at_entry(indices, indptr[j], indptr[j + 1], i)
            if p >= 0 and q >= 0:
                link[p] = e
                link[q] = e
            if support[e] < least:
                gone[e] = 1
                queue[last] = e
                last += 1
    first = 0
    while first < last:
        e = queue[first]
        first += 1
        here = gone[e]
        u = rows[e]
        v = s_indices[e]
        if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
            v = u
            u = s_indices[e]
        low = indptr[v]
        for p in range(indptr[u], indptr[u + 1]):
            f = link[p]
            if f < 0 or (gone[f] != 0 and gone[f] < here):
                continue
            low = first_at_least(indices, low, indptr[v + 1], indices[p])
            if low == indptr[v + 1]:
                break
            if indices[low] != indices[p]:
                continue
            g = link[low]
            if g < 0 or (gone[g] != 0 and gone[g] < here):
                continue
            if gone[f] != here and (gone[g] != here or e < g):
                support[f] -= 1
                if support[f] == least - 1:
                    gone[f] = here + 1
                    queue[last] = f
                    last += 1
            if gone[g] != here and (gone[f] != here or e < f):
                support[g] -= 1
                if support[g] == least - 1:
                    gone[g] = here + 1
                    queue[last] = g
                    last += 1
    return last
