"""Build from coordinates and transpose on the device: ms of whole calls until the device is done, medians of 3.

    python tests/benchmarks/gpu/bench_build.py [--quick]

The coordinates of a Graph500 graph, in an order chosen at random; values one for all, FP32, FP64.  Each result's last
column is a checksum of positions and values, equal for equal matrices.  Floor: the bytes of coordinates, values and
result once, at 4.3 TB/s.
"""

import argparse

import cupy as cp
import numpy as np
from device_graphs import rmat

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends.select import current
from grb_tile.cli.timing import timed
from grb_tile.storage.store import Compressed

BANDWIDTH = 4.3e12


def checksum(C):
    """Of positions and values, by their order."""
    weights = cp.arange(C.indices.size, dtype=cp.int64) * 2654435761 + 1
    total = int((C.indices.astype(cp.int64) * weights).sum()) + 31 * int(C.indptr.sum())
    if not C.iso:
        total += int((C.values.astype(cp.int64) * weights).sum())
    return total & 0xFFFFFFFF


def report(what, call, floor_bytes, result):
    call()
    times = []
    for _ in range(3):
        found, seconds = timed(call)
        times.append(seconds * 1e3)
        check = result(found)
        del found
    floor = floor_bytes / BANDWIDTH * 1e3
    print(f"{what:44} {np.median(times):9.2f} ms, floor {floor:6.2f}, {check:08x}", flush=True)


def measure(scale, factor, share):
    """from_coo and transpose of a share of the graph's entries."""
    graph = rmat(scale, factor)
    graph = graph[0] if isinstance(graph, tuple) else graph
    n = graph.nrows
    rows, cols, _ = current().tuples(graph)
    del graph
    order = cp.argsort(cp.random.default_rng(3).random(rows.size, dtype=cp.float32))[: int(rows.size * share)]
    rows, cols = rows[order], cols[order]
    del order
    count = rows.size
    print(f"scale {scale}: {n:,} x {n:,}, {count:,} entries", flush=True)
    for dtype in (None, dtypes.FP32, dtypes.FP64):
        size = 0 if dtype is None else dtype.np_type.itemsize
        values = True if dtype is None else (cp.arange(count) % 1000).astype(dtype.np_type)

        def build(values=values):
            return gb.Matrix.from_coo(rows, cols, values, nrows=n, ncols=n)

        report(f"from_coo, values {dtype or 'one'}", build, count * (20 + 2 * size), lambda A: checksum(A._store))
        store = build()._store

        def transpose(A=store):
            return current().transpose(
                Compressed(A.nrows, A.ncols, A.dtype, A.indptr, A.indices, A.values, A.iso, A.rows)
            )

        report(f"transpose, values {dtype or 'one'}", transpose, count * 2 * (4 + size), checksum)
        del store, build, transpose, values


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="16 M entries alone")
    quick = parser.parse_args().quick
    gb.config.set(backend="cuda")
    measure(20, 16, 0.51)
    if not quick:
        measure(21, 48, 1.0)
