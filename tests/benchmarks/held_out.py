"""Graphs that no threshold of the planner was set on, as (n, indptr int64, indices int32, weights INT32) in NumPy or
CuPy.

Nothing here needs SciPy. Real graphs are read from $GRB_TILE_DATA (default shared/data beside the checkout).
"""

import os
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
REAL = "USA-road-FLA", "USA-road-NW", "uk-2007-05@100000", "gowalla-user-item"


def data_folder():
    """The folder with load.py and medium/, or None."""
    for found in (
        os.environ.get("GRB_TILE_DATA"),
        ROOT.parent / "shared" / "data",
    ):
        if found and (Path(found) / "medium").is_dir():
            return Path(found)
    return None


def csr(xp, n, rows, cols):
    """(n, indptr, indices) of an undirected graph of these edges, without loops and duplicates."""
    keys = xp.concatenate((rows.astype(np.int64) << 32 | cols, cols.astype(np.int64) << 32 | rows))
    keys = keys[(keys >> 32) != (keys & 0xFFFFFFFF)]
    keys.sort()
    if keys.size:
        keys = keys[xp.concatenate((xp.ones(1, bool), keys[1:] != keys[:-1]))]
    indptr = xp.searchsorted(keys >> 32, xp.arange(n + 1, dtype=np.int64)).astype(np.int64)
    return n, indptr, (keys & 0xFFFFFFFF).astype(np.int32)


def real(name):
    """(n, rows, cols) of a real graph; a rectangular one becomes the bipartite graph of its rows and columns."""
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
        return header["rows"], rows, cols
    return header["rows"] + header["cols"], rows, cols + header["rows"]


def nearest(n, k=6, seed=1):
    """(n, rows, cols): each of n random points of a square and its k nearest, found among cells of about 4 points."""
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
    return n, np.concatenate(rows), np.concatenate(cols)


def uniform(n, degree=16, seed=2):
    """(n, rows, cols): n * degree / 2 edges between random vertices."""
    rng = np.random.default_rng(seed)
    return n, rng.integers(0, n, n * degree // 2), rng.integers(0, n, n * degree // 2)


def small_world(n, degree=8, rewired=0.1, seed=3):
    """(n, rows, cols): a ring where each vertex knows `degree` neighbours; a share of the edges ends anywhere."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), degree // 2)
    cols = (rows + np.tile(np.arange(1, degree // 2 + 1), n)) % n
    moved = rng.random(rows.size) < rewired
    cols[moved] = rng.integers(0, n, int(moved.sum()))
    return n, rows, cols


def grid(side):
    """(n, rows, cols): side^3 vertices, each joined to its six neighbours."""
    at = np.arange(side**3).reshape(side, side, side)
    ends = [(at[1:], at[:-1]), (at[:, 1:], at[:, :-1]), (at[:, :, 1:], at[:, :, :-1])]
    return side**3, np.concatenate([a.ravel() for a, _ in ends]), np.concatenate([b.ravel() for _, b in ends])


def kronecker(xp, scale, factor=16, seed=5):
    """(n, rows, cols): Graph500's edges, quadrants .57 .19 .19 .05, vertices relabelled."""
    n, m = 1 << scale, factor << scale
    rng = xp.random.default_rng(seed)
    rows, cols = xp.zeros(m, np.int32), xp.zeros(m, np.int32)
    for bit in range(scale):
        u = rng.random(m, dtype=np.float32)
        rows |= (u >= 0.76).astype(np.int32) << bit
        cols |= (((u >= 0.57) & (u < 0.76)) | (u >= 0.95)).astype(np.int32) << bit
        del u
    label = xp.asarray(np.random.default_rng(7).permutation(n).astype(np.int32))
    return n, label[rows], label[cols]


def weights(xp, indptr, indices, heaviest=255):
    """INT32 weights 1 to `heaviest`, the same in both directions of an edge."""
    rows = xp.searchsorted(indptr[1:], xp.arange(indices.size, dtype=np.int64), side="right").astype(np.int64)
    low, high = xp.minimum(rows, indices), xp.maximum(rows, indices)
    return ((low * 1_000_003 + high * 7_919) % 1_048_573 % heaviest + 1).astype(np.int32)


def graphs(on_gpu, small=False):
    """(name, function that gives (n, rows, cols)) of the graphs, the largest last; small: for a test of the
    benchmark."""
    if small:
        yield "knn", partial(nearest, 2000)
        yield "small world", partial(small_world, 2000)
        yield "grid 3-D", partial(grid, 12)
        return
    for name in REAL:
        yield name, partial(real, name)
    if on_gpu:
        yield "kron 23", None
    yield "knn", partial(nearest, 1 << (19 if on_gpu else 17))
    yield "uniform", partial(uniform, 1 << (20 if on_gpu else 17))
    yield "small world", partial(small_world, 1 << (20 if on_gpu else 17))
    yield "grid 3-D 128", partial(grid, 128)
    if not on_gpu:
        yield "kron 18", partial(kronecker, np, 18)
