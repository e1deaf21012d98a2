"""Times with the fallbacks of other devices forced on this one.

    python3 tests/benchmarks/gpu/bench_fallbacks.py [name of FORCED ...]

BFS on kron 21, a 2000 x 2000 grid and USA-road-NE (of $GRB_TILE_DATA), SSSP on the last two, MS-BFS on kron 20, SpMV
FP32 on kron 21 and a mesh. The device is restricted as GRB_TILE_DEVICE_LIMITS restricts it (docs/CUDA.md), one after
the other in one process, on the same graphs. ms of the kernels: best of 5 calls, median over the sources; SpMV:
timing.device_us. A restriction to fewer multiprocessors leaves bandwidth and L2 of this device, so a small device is
slower than these figures.
"""

import os
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

import cupy as cp
import numpy as np
from device_graphs import fem, grid, real, rmat
from timing import device_us

from grb_tile import dtypes
from grb_tile.backends.cuda.backend import CudaBackend
from grb_tile.backends.cuda.graph import bfs, bfs_multi, sssp
from grb_tile.backends.cuda.runtime.launch import Launcher
from grb_tile.operators import get_typed_op
from grb_tile.planner.device_limits import ENVIRONMENT
from grb_tile.storage.store import BitmapVector, Compressed

# name -> (GRB_TILE_DEVICE_LIMITS, changes to the LAUNCH of BFS and SSSP)
FORCED = {
    "native": ("", {}), "A100": ("arch=80 processors=108", {}),
    "L40S": ("arch=89", {}), "RTX 4070": ("arch=89 processors=46", {}), "RTX 4060": ("arch=89 processors=24", {}),
    "RTX 5070": ("arch=120 processors=48", {}), "T4": ("arch=75 processors=40", {}),
    "4 blocks": ("", {"blocks": 4}), "8 blocks": ("", {"blocks": 8}), "12 blocks": ("", {"blocks": 12}),
    "whole grid": ("", {"high_diameter": False}),
    "no reduce_sync": ("reduce_sync=0", {}), "48 KiB": ("shared=48", {}), "64 KiB": ("shared=64", {}),
    "99 KiB": ("shared=99", {}), "46 SMs": ("processors=46", {}), "24 SMs": ("processors=24", {}), "again": ("", {}),
}  # fmt: skip
SOURCES, CALLS = 6, 5


def fresh(store, values=None, dtype=None):
    """The same arrays in a new store, so that no derived form is shared."""
    kept = store.values if values is None else values
    return Compressed(store.nrows, store.ncols, dtype or store.dtype, store.indptr, store.indices, kept, kept.size == 1)


def best(calls):
    """Median over the functions in `calls` of the best of CALLS device times, in ms."""
    found = []
    for call in calls:
        times = []
        for _ in range(CALLS):
            outcome = call()
            cp.cuda.Device().synchronize()
            times.append(outcome.seconds * 1e3)
        found.append(min(times))
    return float(np.median(found))


def sources_of(store):
    degrees = cp.asnumpy(store.indptr[1:] - store.indptr[:-1])
    return [int(v) for v in np.random.default_rng(1).choice(np.flatnonzero(degrees), SOURCES, replace=False)]


def spmv(backend, store):
    n = store.nrows
    values = cp.random.default_rng(5).random(store.indices.size, dtype=cp.float32) + np.float32(0.5)
    A, semiring = fresh(store, values, dtypes.FP32), get_typed_op("plus_times", dtypes.FP32, kind="semiring")
    x = BitmapVector(n, dtypes.FP32, None, cp.random.default_rng(6).random(n, dtype=cp.float32), n)
    return device_us(lambda: backend.matvec_rows(A, x, semiring, None))


def measured(backend, graphs, listed, weights):
    """The figures of one line."""
    device = backend.device
    for graph in ("kron21", *weights):
        A = fresh(graphs[graph])
        yield best([partial(search, device, A, source) for source in listed[graph]])
    for graph, of_edges in weights.items():
        A = fresh(graphs[graph], of_edges, dtypes.INT32)
        yield best([partial(shortest, device, A, source) for source in listed[graph][:2]])
    A = fresh(graphs["kron20"])
    for parents in (False, True):
        yield best([partial(many, device, A, listed["many"], parents)])
    yield spmv(backend, graphs["kron21"])
    yield spmv(backend, graphs["fem70"])


def search(device, A, source):
    return bfs.traverse(device, A, A, source, True, False, None, None, None)[2]


def shortest(device, A, source):
    return sssp.shortest_paths(device, A, lambda: A, source, 255, None, False)[2]


def many(device, A, sources, parents):
    return bfs_multi.traverse_many(device, A, A, sources, None, None, True, parents)[2][0]


def main(names):
    graphs = {"kron21": rmat(21, 48), "kron20": rmat(20, 16), "grid": grid(2000), "fem70": fem(70)}
    graphs["road"] = real("USA-road-NE")
    listed = {name: sources_of(graph) for name, graph in graphs.items()}
    listed["many"] = np.random.default_rng(2).integers(0, graphs["kron20"].nrows, 64).tolist()
    rng = np.random.default_rng(3)
    weights = {
        name: cp.asarray(rng.integers(1, 256, int(graphs[name].indices.size)), cp.int32) for name in ("grid", "road")
    }
    head = f"{'':24} BFS kron21, grid, road  SSSP grid, road  MS-BFS kron20, parents  SpMV kron21, fem70 us"
    print(head, flush=True)
    usual = [(module, dict(module.LAUNCH)) for module in (bfs, sssp)]
    for name in names or FORCED:
        limits, changes = FORCED[name]
        os.environ[ENVIRONMENT] = limits
        for module, launch in usual:
            module.LAUNCH.update({**launch, **changes})
        backend = CudaBackend(launcher=Launcher())
        line = [f"{figure:.4g}" for figure in measured(backend, graphs, listed, weights)]
        print(f"{name:24} " + "  ".join(line), flush=True)
        del backend
        cp.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main(sys.argv[1:])
