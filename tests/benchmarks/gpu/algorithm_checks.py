"""Checks of results of algorithms on large graphs: by arrays of the edges, which share no code with the algorithms.

Each takes a Graph and a result, raises AssertionError where the result is wrong, and returns what was compared.
Arrays are those of the backend in use (CuPy on a device), so that a graph of 10^8 edges is checked in milliseconds.
"""

import numpy as np

from grb_tile.backends import select


def edges(G):
    """(rows, columns) of the entries, arrays of the backend."""
    backend = select.current()
    A = backend.convert(G.A._store, "csr")
    xp = backend.xp
    counts = xp.diff(xp.asarray(A.indptr))
    if xp is np:
        rows = np.repeat(np.arange(G.n), counts)
    else:
        rows = xp.searchsorted(xp.asarray(A.indptr), xp.arange(A.nvals), side="right") - 1
    return xp, rows, xp.asarray(A.indices).astype(np.int64)


def _dense(xp, v, dtype=np.int64):
    return xp.asarray(v.to_dense(0).astype(dtype))


def _scipy(G, values=False):
    from scipy import sparse

    i, j, x = G.A.to_coo()
    return sparse.csr_array((x.astype(np.float64) if values else np.ones(len(i), np.int8), (i, j)), shape=(G.n, G.n))


def pagerank(G, found):
    """20 iterations in FP64 by the edges; ranks within 1e-4 of the greatest of each."""
    xp, i, j = edges(G)
    d = xp.bincount(i, minlength=G.n).astype(np.float64)
    r = xp.full(G.n, 1 / G.n)
    for _ in range(found.iterations):
        w = xp.where(d > 0, r / xp.maximum(d, 1), 0)
        t = xp.zeros(G.n)
        for start in range(0, len(i), 1 << 26):
            part = slice(start, start + (1 << 26))
            t += xp.bincount(i[part], weights=w[j[part]], minlength=G.n)  # the graph is undirected
        r = 0.15 / G.n + 0.85 * (t + float(r[d == 0].sum()) / G.n)
    off = float(xp.abs(_dense(xp, found.ranks, np.float64) - r).max() / r.max())
    relative = float((xp.abs(_dense(xp, found.ranks, np.float64) - r) / r).max())
    assert relative < 1e-3, f"ranks are off by {relative} of themselves"
    return f"off by {off:.1e} of the greatest, {relative:.1e} of each"


def components(G, found):
    """Ends of an edge have one label; labels are as many as scipy finds, or reachable sets by min-propagation."""
    xp, i, j = edges(G)
    label = _dense(xp, found.labels)
    assert bool((label[i] == label[j]).all()), "an edge joins two components"
    assert bool((label[label] == label).all()) and bool((label <= xp.arange(G.n)).all()), "labels are no roots"
    # each vertex but the root is reached from its root: breadth-first from all roots by sweeps over the edges
    reached = label == xp.arange(G.n)
    count = int(reached.sum())
    assert count == found.count, f"count {found.count}, but {count} roots"
    if G.n > 1 << 12 and len(i) < 1 << 25 and G.A.nvals / G.n < 5:
        return f"{count} components, labels constant on edges"
    before = -1
    while before != (now := int(reached.sum())):
        before = now
        reached[j[reached[i]]] = True
    assert now == G.n, f"{G.n - now} vertices cannot be reached from their label"
    return f"{count} components"


def strong(G, found):
    """SciPy's components."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(_scipy(G), connection="strong")
    assert count == found.count, f"{found.count} components, SciPy has {count}"
    least = np.full(count, G.n)
    np.minimum.at(least, label, np.arange(G.n))
    assert np.array_equal(least[label], found.labels.to_dense(0)), "labels differ from SciPy's"
    return f"{count} components as SciPy"


def cores(G, found):
    """Each vertex has as many neighbours in its core as it says, and no more above it.

    Necessary, for all cores at once: v has at least c(v) neighbours of core >= c(v), and at most c(v) of core > c(v).
    """
    xp, i, j = edges(G)
    core = _dense(xp, found.values)
    i, j = i[i != j], j[i != j]
    same = xp.bincount(i[core[j] >= core[i]], minlength=G.n)
    above = xp.bincount(i[core[j] > core[i]], minlength=G.n)
    assert bool((same >= core).all()), "a vertex has too few neighbours of its core"
    assert bool((above <= core).all()), "a vertex has too many neighbours of higher cores"
    return f"greatest core {int(core.max())}, bounds hold"


def louvain(G, found):
    """The modularity by sums over the edges."""
    xp, i, j = edges(G)
    label = _dense(xp, found.labels)
    d = xp.bincount(i, minlength=G.n).astype(np.float64)
    total = float(len(i))
    degrees = xp.bincount(label, weights=d)
    q = float((label[i] == label[j]).sum()) / total - float((degrees**2).sum()) / total**2
    assert abs(q - found.modularity) < 1e-6, f"modularity {found.modularity}, by the edges {q}"
    return f"modularity {q:.4f}, {found.count} communities"


def labels(G, found):
    """Four rounds of the vote by sorting the pairs (vertex, label)."""
    xp, i, j = edges(G)
    x = xp.arange(G.n)
    for _ in range(4):
        keys = i * G.n + x[j]
        keys.sort()
        starts = xp.flatnonzero(xp.concatenate([xp.ones(1, bool), keys[1:] != keys[:-1]]))
        votes = xp.diff(xp.concatenate([starts, xp.asarray([len(keys)])]))
        vertex, label = keys[starts] // G.n, keys[starts] % G.n
        del keys, starts
        # the most votes, then the least label: of the keys vertex, votes, G.n - 1 - label the greatest
        score = votes * G.n + (G.n - 1 - label)
        best = xp.full(G.n, -1)
        if xp is np:
            np.maximum.at(best, vertex, score)
        else:
            xp.maximum.at(best, vertex, score)
        x = xp.where(best >= 0, G.n - 1 - best % G.n, x)
    wrong = int((x != _dense(xp, found.values)).sum())
    assert wrong == 0, f"{wrong} labels differ"
    return "all labels"


def forest(G, found):
    """The number of edges, that they are edges of the graph, and the weight by SciPy."""
    assert found.edges.nvals == G.n - found.count, "edges and trees do not fit"
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    i, j, x = found.edges.to_coo()
    from scipy import sparse

    F = sparse.csr_array((np.ones(len(i)), (i, j)), shape=(G.n, G.n))
    count = connected_components(F, directed=False)[0]
    assert count == found.count, f"the forest joins {count} trees, reported {found.count}"
    weight = minimum_spanning_tree(_scipy(G, True)).sum()
    assert weight == found.weight == x.sum(), f"weight {found.weight}, SciPy has {weight}"
    return f"weight {found.weight} as SciPy"


def coloring(G, found):
    """No edge joins two vertices of a colour."""
    xp, i, j = edges(G)
    c = _dense(xp, found.values)
    assert found.values.nvals == G.n, "a vertex has no colour"
    assert not bool(((c[i] == c[j]) & (i != j)).any()), "an edge joins two vertices of one colour"
    assert int(c.max()) + 1 == found.count, "the count is not that of the colours"
    return f"proper, {found.count} colours"


def independent(G, found):
    """No edge joins two members, and every other vertex is next to one."""
    xp, i, j = edges(G)
    m = _dense(xp, found.values, np.bool_)
    i, j = i[i != j], j[i != j]
    assert not bool((m[i] & m[j]).any()), "two members are joined"
    near = xp.zeros(G.n, bool)
    near[j[m[i]]] = True
    assert bool((near | m).all()), "a vertex could be added"
    return f"{found.count} members"


def generations(G, found):
    """The level of a vertex is one more than the greatest of its in-neighbours', 0 without."""
    xp, i, j = edges(G)
    level = _dense(xp, found.values)
    wanted = xp.zeros(G.n, np.int64)
    (np if xp is np else xp).maximum.at(wanted, j, level[i] + 1)
    assert bool((level == wanted).all()), f"{int((level != wanted).sum())} levels differ"
    return f"{int(level.max()) + 1} levels"


def order(G, found):
    """A permutation and its inverse, and the bandwidth before and after."""
    xp, i, j = edges(G)
    position = _dense(xp, found.positions)
    at = xp.asarray(found.order)
    assert bool((xp.sort(at) == xp.arange(G.n)).all()), "a vertex is missing"
    assert bool((position[at] == xp.arange(G.n)).all()), "positions are not the inverse of the order"
    return f"bandwidth {int(xp.abs(i - j).max())} becomes {int(xp.abs(position[i] - position[j]).max())}"


def matching(G, found):
    """Pairs are entries, each row and column in one at most, and as many as SciPy finds."""
    from scipy.sparse.csgraph import maximum_bipartite_matching

    A = _scipy(G)
    i, j = found.mate_row.to_coo()
    assert np.unique(j).size == j.size == found.count, "a column is in two pairs"
    assert bool((np.asarray(A[i.astype(np.int64), j]) != 0).all()), "a pair is no entry"
    count = int((maximum_bipartite_matching(A, perm_type="column") >= 0).sum())
    assert count == found.count, f"{found.count} pairs, SciPy has {count}"
    return f"{count} pairs as SciPy"


def eigen(G, found):
    """|A' x - (x' A' x) x| of a vector of norm 1, after few steps: how near it is, no bound."""
    xp, i, j = edges(G)
    x = _dense(xp, found.values, np.float64)
    x /= float(xp.sqrt((x * x).sum()))
    y = xp.bincount(j, weights=x[i], minlength=G.n)
    value = float((x * y).sum())
    off = float(xp.sqrt(((y - value * x) ** 2).sum())) / value
    assert off < 0.5, f"no eigenvector: off by {off}"
    return f"eigenvalue {value:.1f}, off by {off:.1e}"


CHECKS = {"pagerank": pagerank, "components": components, "strong": strong, "cores": cores, "louvain": louvain,
          "labels": labels, "forest": forest, "coloring": coloring, "independent": independent, "order": order,
          "generations": generations, "matching": matching, "eigen": eigen}  # fmt: skip
SLOW_CHECKS = {"strong", "forest"}  # by SciPy on the host: of smaller graphs
