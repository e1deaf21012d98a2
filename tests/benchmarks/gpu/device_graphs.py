"""Graphs for the benchmarks on a device, made there by grb_tile.generators: CSR stores with one value, structure alone.

Real graphs are read from $GRB_TILE_DATA (default shared/data), a folder with load.py.
"""

import importlib.util
import os
from pathlib import Path

import cupy as cp
import numpy as np

from grb_tile import config, dtypes, generators
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
    """generators.kronecker: undirected, without loops and duplicates, labels shuffled."""
    return _made(generators.kronecker, scale, factor, seed=seed)


def grid(width):
    """Four neighbours each."""
    return _made(generators.grid, width, width)


def fem(k):
    """generators.brick_mesh: kron(kron(kron(T, T), T), ones(3, 3)), T tridiagonal k x k."""
    return _made(generators.brick_mesh, k)


def _made(make, *numbers, **options):
    with config.set(backend="cuda"):
        store = make(*numbers, **options)._store
    cp.get_default_memory_pool().free_all_blocks()
    return store


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
