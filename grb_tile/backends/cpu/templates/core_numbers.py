"""Core numbers: vertices removed in the order of their remaining degree, which bins keep sorted.

Paper: Batagelj and Zaversnik, "An O(m) algorithm for cores decomposition of networks" (2003), algorithm 1.
"""

from grb_tile.backends.cpu.templates.placeholders import IN_INDEX, INDEX, INT64


def lower(u, core, order, position, bins):
    """Move u, whose remaining degree falls by one, to the bin below."""
    degree = core[u]
    at = position[u]
    first = bins[degree]
    other = order[first]
    if other != u:
        order[at] = other
        position[other] = at
        order[first] = u
        position[u] = first
    bins[degree] = first + 1
    core[u] = degree - 1
    return 0


def run(
    indptr: INT64,
    indices: INDEX,
    in_ptr: INT64,
    in_indices: IN_INDEX,
    both: int,
    core: INT64,
    order: INT64,
    position: INT64,
    bins: INT64,
):
    """core: the degrees, loops left out, become the core numbers.  both: in-edges count too.  bins: zeros.

    order, position: the vertices sorted by degree and their places; bins: the start of each degree in `order`.
    """
    n = core.shape[0]
    for v in range(n):
        bins[core[v]] += 1
    start = 0
    for d in range(bins.shape[0]):
        count = bins[d]
        bins[d] = start
        start += count
    for v in range(n):
        position[v] = bins[core[v]]
        order[position[v]] = v
        bins[core[v]] += 1
    for d in range(bins.shape[0] - 1, 0, -1):
        bins[d] = bins[d - 1]
    bins[0] = 0
    for k in range(n):
        v = order[k]
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if core[u] > core[v]:
                lower(u, core, order, position, bins)
        if both != 0:
            for e in range(in_ptr[v], in_ptr[v + 1]):
                u = in_indices[e]
                if core[u] > core[v]:
                    lower(u, core, order, position, bins)
    return 0
