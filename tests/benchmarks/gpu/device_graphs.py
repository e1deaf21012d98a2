"""Graphs for the benchmarks on a device, made there: CSR stores with one value, structure alone.

Real graphs are read from $GRB_TILE_DATA (default shared/data), a folder with load.py.
"""

import importlib.util
import os
from pathlib import Path

import cupy as cp
import numpy as np

from grb_tile import dtypes
from grb_tile.storage.store import Compressed

DATA = Path(os.environ.get("GRB_TILE_DATA", "shared/data"))


def structure(n, indptr, indices):
    """A CSR store of the pattern."""
    return Compressed(n, n, dtypes.BOOL, indptr, indices, cp.ones(1, bool), True)


def from_keys(n, keys):
    """CSR store on the device of the sorted, distinct keys row << 32 | column."""
    rows, cols = (keys >> 32).astype(cp.int32), (keys & 0xFFFFFFFF).astype(cp.int32)
    indptr = cp.searchsorted(rows, cp.arange(n + 1, dtype=cp.int32)).astype(cp.int64)
    return structure(n, indptr, cols)


def rmat(scale, factor, seed=1):
    """Graph500's generator, undirected, without loops and duplicates, labels shuffled."""
    n = 1 << scale
    rng = cp.random.default_rng(seed)
    rows, cols = cp.zeros(n * factor, cp.int32), cp.zeros(n * factor, cp.int32)
    for bit in range(scale):
        u = rng.random(n * factor, dtype=cp.float32)
        rows |= (u >= 0.76).astype(cp.int32) << bit
        cols |= (((u >= 0.57) & (u < 0.76)) | (u >= 0.95)).astype(cp.int32) << bit
        del u
    p = cp.asarray(np.random.RandomState(7).permutation(n).astype(np.int32))
    rows, cols = p[rows], p[cols]
    keys = cp.concatenate([rows.astype(cp.int64) << 32 | cols, cols.astype(cp.int64) << 32 | rows])
    del rows, cols
    keys = keys[(keys >> 32) != (keys & 0xFFFFFFFF)]
    keys.sort()
    keep = cp.ones(keys.size, bool)
    keep[1:] = keys[1:] != keys[:-1]
    keys = keys[keep]
    store = from_keys(n, keys)
    del keys, keep
    cp.get_default_memory_pool().free_all_blocks()
    return store


def grid(width):
    """Four neighbours each."""
    at = cp.arange(width * width, dtype=cp.int64)
    x, y = at % width, at // width
    keys = []
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        inside = (x + dx >= 0) & (x + dx < width) & (y + dy >= 0) & (y + dy < width)
        keys.append(at[inside] << 32 | ((y + dy) * width + x + dx)[inside])
    keys = cp.concatenate(keys)
    keys.sort()
    return from_keys(width * width, keys)


def fem(k):
    """kron(kron(kron(T, T), T), ones(3, 3)), T tridiagonal k x k."""
    nodes = k**3
    node = cp.arange(nodes, dtype=cp.int32)
    a, b, c = node // (k * k), node // k % k, node % k
    steps = [(i, j, l) for i in (-1, 0, 1) for j in (-1, 0, 1) for l in (-1, 0, 1)]
    there = cp.stack(
        [(a + i >= 0) & (a + i < k) & (b + j >= 0) & (b + j < k) & (c + l >= 0) & (c + l < k) for i, j, l in steps],
        axis=1,
    )
    beside = cp.stack([node + (i * k + j) * k + l for i, j, l in steps], axis=1)
    cols = (beside[:, None, :, None] * 3 + cp.arange(3, dtype=cp.int32)).repeat(3, axis=1).reshape(nodes * 3, 81)
    kept = there[:, None, :, None].repeat(3, axis=1).repeat(3, axis=3).reshape(nodes * 3, 81)
    ptr = cp.zeros(nodes * 3 + 1, cp.int64)
    ptr[1:] = cp.cumsum(kept.sum(axis=1))
    return structure(nodes * 3, ptr, cols[kept].astype(cp.int32))


def loaded(name):
    """A graph of the data folder as SciPy's CSR; None (with a line) when the folder is not there."""
    if not (DATA / "load.py").exists():
        print(f"{name}: skipped, no {DATA}/load.py (set GRB_TILE_DATA)")
        return None
    spec = importlib.util.spec_from_file_location("load", DATA / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name).tocsr()


def real(name, symmetric=True):
    """A graph of the data folder, symmetrised unless told otherwise; None when the folder is not there."""
    A = loaded(name)
    if A is None:
        return None
    A = A.astype(np.int8)
    if symmetric:
        A = (A + A.T).tocsr()
    A.sort_indices()
    return structure(A.shape[0], cp.asarray(A.indptr.astype(np.int64)), cp.asarray(A.indices.astype(np.int32)))
