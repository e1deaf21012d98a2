"""Graphs that no threshold of the planner was set on, as patterns: undirected, without loops.

Nothing here needs SciPy. Real graphs are read from $GRB_TILE_DATA (default shared/data beside the checkout).
"""

import sys
from functools import partial
from types import ModuleType

import numpy as np
from graphs import data_folder

from grb_tile import Matrix, generators

REAL = "USA-road-FLA", "USA-road-NW", "uk-2007-05@100000", "gowalla-user-item"


def undirected(n, rows, cols):
    """The pattern of these edges, each in both directions, without loops and duplicates."""
    kept = rows != cols
    rows, cols = rows[kept], cols[kept]
    ends = np.concatenate((rows, cols)), np.concatenate((cols, rows))
    return Matrix.from_coo(*ends, True, nrows=n, ncols=n)


def real(name):
    """A real graph; a rectangular one becomes the bipartite graph of its rows and columns.  None where it is absent."""
    folder = data_folder()
    if folder is None or not (folder / "medium" / f"{name}.gcsr.xz").exists():
        return None
    stub = "scipy" not in sys.modules
    if stub:
        try:
            import scipy.sparse  # noqa: F401

            stub = False
        except ImportError:
            sys.modules["scipy"], sys.modules["scipy.sparse"] = ModuleType("scipy"), ModuleType("scipy.sparse")
            sys.modules["scipy"].sparse = sys.modules["scipy.sparse"]
    sys.path.insert(0, str(folder))
    try:
        import load

        header, indptr, cols, _ = load._read(str(folder / "medium" / f"{name}.gcsr.xz"))
    finally:
        sys.path.pop(0)
        if stub:
            del sys.modules["scipy"], sys.modules["scipy.sparse"]
    rows = np.repeat(np.arange(header["rows"]), np.diff(indptr))
    if header["rows"] == header["cols"]:
        return undirected(header["rows"], rows, cols)
    return undirected(header["rows"] + header["cols"], rows, cols + header["rows"])


def nearest(n, k=6, seed=1):
    """Each of n random points of a square and its k nearest, found among cells of about 4 points."""
    side = max(int((n / 4) ** 0.5), 3)
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2), np.float32)
    cell = (points[:, 0] * side).astype(np.int64) * side + (points[:, 1] * side).astype(np.int64)
    points = points[np.argsort(cell, kind="stable")]  # numbered by cells, as such graphs come
    cell.sort()
    start = np.searchsorted(cell, np.arange(side * side + 1))
    room = int(np.diff(start).max())
    table = np.full((side + 2, side + 2, room), -1, np.int64)
    table[cell // side + 1, cell % side + 1, np.arange(n) - start[cell]] = np.arange(n)
    rows, cols = [], []
    for first in range(0, n, 1 << 16):
        at = np.arange(first, min(first + (1 << 16), n))
        i, j = cell[at] // side + 1, cell[at] % side + 1
        near = np.concatenate([table[i + a, j + b] for a in (-1, 0, 1) for b in (-1, 0, 1)], axis=1)
        apart = ((points[near] - points[at][:, None]) ** 2).sum(axis=2)
        apart[(near < 0) | (near == at[:, None])] = np.inf
        best = np.argpartition(apart, k, axis=1)[:, :k]
        found = np.take_along_axis(near, best, axis=1)
        there = np.isfinite(np.take_along_axis(apart, best, axis=1))
        rows.append(np.repeat(at, k)[there.ravel()])
        cols.append(found[there])
    return undirected(n, np.concatenate(rows), np.concatenate(cols))


def small_world(n, degree=8, rewired=0.1, seed=3):
    """A ring where each vertex knows `degree` neighbours; a share of the edges ends anywhere."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), degree // 2)
    cols = (rows + np.tile(np.arange(1, degree // 2 + 1), n)) % n
    moved = rng.random(rows.size) < rewired
    cols[moved] = rng.integers(0, n, int(moved.sum()))
    return undirected(n, rows, cols)


def graphs(on_gpu, small=False):
    """(name, function that gives the Matrix) of the graphs, the largest last; small: for a test of the benchmark."""
    if small:
        yield "knn", partial(nearest, 2000)
        yield "small world", partial(small_world, 2000)
        yield "grid 3-D", partial(generators.grid, 12, 12, 12)
        return
    for name in REAL:
        yield name, partial(real, name)
    if on_gpu:
        yield "kron 23", partial(generators.kronecker, 23, seed=5)
    n = 1 << (20 if on_gpu else 17)
    yield "knn", partial(nearest, 1 << (19 if on_gpu else 17))
    yield "uniform", partial(generators.uniform_random, n, 8 * n, seed=2)
    yield "small world", partial(small_world, n)
    yield "grid 3-D 128", partial(generators.grid, 128, 128, 128)
    if not on_gpu:
        yield "kron 18", partial(generators.kronecker, 18, seed=5)
