"""The same CSR arrays as objects of both libraries, and what two results must have in common to be called equal."""

import numpy as np

from grb_tile.cli.timing import timed


def ours(graph, values=True, dtype=None):
    """grb_tile.Matrix of a Csr; values: an array, or one scalar for all entries."""
    import grb_tile as gb

    return gb.Matrix.from_csr(graph.indptr, graph.indices, values, dtype, nrows=graph.n, ncols=graph.n)


def theirs(graph, values=True, dtype=None):
    """graphblas.Matrix of a Csr, all of SuiteSparse's pending work done."""
    import graphblas

    matrix = graphblas.Matrix.from_csr(graph.indptr, graph.indices, values, dtype, nrows=graph.n, ncols=graph.n)
    matrix.wait()
    return matrix


def both(graph, values=True, dtype=None):
    """(ours, theirs, conversion): the two matrices and the seconds that making each took."""
    mine, seconds_ours = timed(lambda: ours(graph, values, dtype))
    other, seconds_peer = timed(lambda: theirs(graph, values, dtype))
    return mine, other, {"ours": seconds_ours, "peer": seconds_peer}


def same_vector(mine, other):
    """Raise unless both vectors have the same entries."""
    (i, x), (j, y) = mine.to_coo(), other.to_coo()
    np.testing.assert_array_equal(np.asarray(i).astype(np.int64), np.asarray(j).astype(np.int64))
    np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def close_vector(mine, other, relative):
    """Raise unless both vectors have the same pattern and values within a relative tolerance."""
    (i, x), (j, y) = mine.to_coo(), other.to_coo()
    np.testing.assert_array_equal(np.asarray(i).astype(np.int64), np.asarray(j).astype(np.int64))
    np.testing.assert_allclose(x, y, rtol=relative)


def same_matrix(mine, other):
    """Raise unless both matrices have the same entries."""
    for a, b in zip(mine.to_csr(), other.to_csr(), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def levels_by_scipy(graph, source):
    """Levels of a breadth-first search by SciPy's own code, -1 where not reached: a witness that is neither library."""
    from scipy.sparse.csgraph import breadth_first_order

    order, before = breadth_first_order(graph.scipy(), source, directed=True)
    return levels_by_jumping(order, before, graph.n, source)


def levels_by_jumping(order, before, n, source):
    """Depth of each vertex in the tree `before`: pointer doubling, log2(depth) rounds."""
    parent = np.arange(n)
    parent[order[1:]] = before[order[1:]]
    depth = np.zeros(n, np.int64)
    depth[order[1:]] = 1
    while not (parent[order] == source).all():
        depth += depth[parent]
        parent = parent[parent]
    level = np.full(n, -1, np.int64)
    level[order] = depth[order]
    return level


def check_levels(graph, source, *found):
    """Raise unless every vector of levels equals SciPy's."""
    expected = levels_by_scipy(graph, source)
    for vector in found:
        indices, values = vector.to_coo()
        level = np.full(graph.n, -1, np.int64)
        level[indices] = values
        np.testing.assert_array_equal(level, expected)


def check_parents(graph, source, *found):
    """Raise unless each vector of parents is a breadth-first tree: an edge from one level to the next for every
    vertex."""
    level = levels_by_scipy(graph, source)
    edges = graph.scipy(np.ones(graph.nvals, np.int8))
    for vector in found:
        indices, parents = (np.asarray(part).astype(np.int64) for part in vector.to_coo())
        np.testing.assert_array_equal(indices, np.flatnonzero(level >= 0))
        rest = indices != source
        child, parent = indices[rest], parents[rest]
        np.testing.assert_array_equal(level[parent] + 1, level[child])
        step = 1 << 20
        for k in range(0, child.size, step):
            assert np.asarray(edges[parent[k : k + step], child[k : k + step]]).all(), (
                "a parent without an edge to its child"
            )
