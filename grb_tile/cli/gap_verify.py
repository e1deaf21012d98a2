"""Verification of GAP's kernels by NumPy and SciPy on the host, without code of the algorithms.

The rules are those of the verifiers in GAP's reference code (sbeamer/gapbs, src/*.cc), applied to arrays of edges.
"""

import numpy as np

from grb_tile.cli.bench_verify import WrongResult

TOLERANCE = 1e-4  # of pr: L1 norm of the change by one more iteration
FLOAT = float(np.finfo(np.float32).eps)  # tolerance of bc, for scores divided by the greatest
DAMPING = 0.85
PRODUCTS = 1 << 26  # multiplications of L L that tc computes at a time


class Edges:
    """Host arrays of the edges of a matrix: `rows`, `cols`, `weights`, and the number of vertices `n`."""

    def __init__(self, A):
        self.n = A.nrows
        self.rows, self.cols, self.weights = A.to_coo()

    def scipy(self):
        import scipy.sparse

        ones = np.ones(len(self.rows))
        return scipy.sparse.csr_array((ones, (self.rows, self.cols)), shape=(self.n, self.n))


def levels_from(edges, source):
    """The level of each vertex by breadth-first search in SciPy, -1 where there is no path."""
    levels = np.full(edges.n, -1, np.int64)
    levels[source] = 0
    adjacency, frontier, level = edges.scipy(), np.array([source]), 0
    while len(frontier):
        level += 1
        neighbours = np.unique(adjacency[frontier].indices)
        frontier = neighbours[levels[neighbours] < 0]
        levels[frontier] = level
    return levels


def bfs(edges, source, parents):
    """Raises: WrongResult unless `parents` (-1: none) are a breadth-first search tree of the reachable vertices.

    The source is its own parent; every other vertex has a parent in the level before its own, with an edge to it.
    """
    levels = levels_from(edges, source)
    if parents[source] != source:
        raise WrongResult(f"bfs from {source}: the source's parent is {parents[source]}, expected itself")
    _same(f"bfs from {source}: reached", parents >= 0, levels >= 0)
    linked = np.zeros(edges.n, bool)
    linked[edges.cols[parents[edges.cols] == edges.rows]] = True
    child = np.flatnonzero(levels > 0)
    bad = child[~linked[child] | (levels[parents[child]] != levels[child] - 1)]
    if len(bad):
        v = bad[0]
        raise WrongResult(f"bfs from {source}: vertex {v} at level {levels[v]} has the parent {parents[v]}")


def sssp(edges, source, distances):
    """Raises: WrongResult unless `distances` (infinity: none) are the shortest ones; weights must be positive.

    d(source) = 0; d(v) <= d(u) + w(u, v) for every edge; every other vertex that is reached has an edge with equality.
    With positive weights these rules determine the distances.
    """
    if distances[source] != 0:
        raise WrongResult(f"sssp from {source}: the source's distance is {distances[source]}, expected 0")
    through = distances[edges.rows] + edges.weights.astype(np.float64)
    longer = np.flatnonzero(distances[edges.cols] > through)
    if len(longer):
        k = longer[0]
        raise WrongResult(
            f"sssp from {source}: vertex {edges.cols[k]} has the distance {distances[edges.cols[k]]}, by way of "
            f"{edges.rows[k]} it is {through[k]}"
        )
    tight = np.zeros(edges.n, bool)
    tight[edges.cols[np.isfinite(through) & (distances[edges.cols] == through)]] = True
    tight[source] = True
    bad = np.flatnonzero(np.isfinite(distances) & ~tight)
    if len(bad):
        raise WrongResult(f"sssp from {source}: no path to vertex {bad[0]} has the length {distances[bad[0]]}")


def pr(edges, ranks):
    """Raises: WrongResult unless one more iteration changes `ranks` by less than 1e-4 in L1."""
    degrees = np.bincount(edges.rows, minlength=edges.n)
    share = np.divide(ranks, degrees, out=np.zeros(edges.n), where=degrees > 0)
    after = (1 - DAMPING) / edges.n + DAMPING * np.bincount(edges.cols, share[edges.rows], edges.n)
    change = float(np.abs(after - ranks).sum())
    if not change < TOLERANCE:
        raise WrongResult(f"pr: one more iteration changes the ranks by {change:.3g}, expected less than {TOLERANCE}")


def cc(edges, labels):
    """Raises: WrongResult unless equal labels are exactly the weakly connected components."""
    from scipy.sparse.csgraph import connected_components

    crossing = np.flatnonzero(labels[edges.rows] != labels[edges.cols])
    if len(crossing):
        k = crossing[0]
        raise WrongResult(f"cc: the edge {edges.rows[k]} -> {edges.cols[k]} joins two labels")
    expected = connected_components(edges.scipy(), directed=True, connection="weak", return_labels=False)
    found = len(np.unique(labels))
    if found != expected:
        raise WrongResult(f"cc: {found} labels, expected {expected}")


def bc(edges, roots, scores):
    """Raises: WrongResult unless `scores` are Brandes' sums over `roots`, after division of both by their greatest."""
    adjacency = edges.scipy()
    transposed, expected = adjacency.T.tocsr(), np.zeros(edges.n)
    for root in roots:
        levels = levels_from(edges, root)
        depth = int(levels.max())
        paths = np.zeros(edges.n)
        paths[root] = 1
        for level in range(1, depth + 1):
            paths += np.where(levels == level, transposed @ np.where(levels == level - 1, paths, 0), 0)
        dependence = np.zeros(edges.n)
        for level in range(depth, 0, -1):
            share = np.divide(1 + dependence, paths, out=np.zeros(edges.n), where=levels == level)
            dependence += np.where(levels == level - 1, adjacency @ share * paths, 0)
        dependence[root] = 0
        expected += dependence
    most, greatest = scores.max(initial=0), expected.max(initial=0)
    apart = np.abs(scores / (most or 1) - expected / (greatest or 1))
    if apart.max(initial=0) > FLOAT:
        v = int(apart.argmax())
        raise WrongResult(
            f"bc: vertex {v} has the score {scores[v] / (most or 1)}, expected {expected[v] / (greatest or 1)}"
        )


def tc(A, count):
    """Raises: WrongResult unless count = sum(L .* (L L)) by SciPy, L the lower triangle by descending degree."""
    import scipy.sparse

    rows, cols, _ = A.to_coo()
    order = np.argsort(-np.bincount(rows, minlength=A.nrows), kind="stable")
    rank = np.empty(A.nrows, np.int64)
    rank[order] = np.arange(A.nrows)
    rows, cols = rank[rows], rank[cols]
    kept = rows > cols
    L = scipy.sparse.csr_array((np.ones(kept.sum(), np.int64), (rows[kept], cols[kept])), shape=A.shape)
    lengths = np.diff(L.indptr)
    products = np.cumsum(np.bincount(rows[kept], lengths[cols[kept]], A.nrows))
    expected, start = 0, 0
    while start < A.nrows:
        before = products[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(products, before + PRODUCTS, side="right")))
        part = L[start:stop]
        expected += int((part @ L).multiply(part).sum())
        start = stop
    if count != expected:
        raise WrongResult(f"tc: {count} triangles, expected {expected}")


def _same(what, found, expected):
    differ = np.flatnonzero(found != expected)
    if len(differ):
        v = differ[0]
        raise WrongResult(f"{what}: vertex {v} {found[v]}, expected {expected[v]}")
