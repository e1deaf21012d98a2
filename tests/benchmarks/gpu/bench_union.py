"""Unions and intersections of matrices of similar size: python3 tests/benchmarks/gpu/bench_union.py [--small]

Two Kronecker graphs (scale 20, edge factor 16, two seeds), two matrices of 2^24 entries at random in 2^20 rows, and a
matrix with itself; plus FP32 and FP64.  ms of whole calls until the device is done, medians of 5; floor_ms: both
operands and the result once, over 4.3 TB/s.  Results are verified by their numbers of entries and their sums.  A line
of JSON per figure goes to $OUT/bench_union.jsonl when OUT is set.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import cupy as cp
import numpy as np
from device_graphs import from_keys, rmat
from timing import wall_seconds

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.operators import get_typed_op
from grb_tile.storage.store import Compressed

BANDWIDTH = 4.3e9  # bytes a millisecond
OUT = os.environ.get("OUT")


def say(**figures):
    print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items()), flush=True)
    if OUT:
        with open(Path(OUT) / "bench_union.jsonl", "a") as file:
            file.write(json.dumps(figures, default=str) + "\n")


def at_random(scale, entries, seed):
    rng = cp.random.default_rng(seed)
    keys = rng.integers(0, 1 << scale, entries) << 32 | rng.integers(0, 1 << scale, entries)
    return from_keys(1 << scale, cp.unique(keys))


def with_values(A, dtype):
    values = cp.random.default_rng(3).integers(1, 5, A.indices.shape[0]).astype(dtype.np_type)
    return Compressed(A.nrows, A.ncols, dtype, A.indptr, A.indices, values, False)


def size(*stores):
    return sum(array.nbytes for S in stores for array in (S.indptr, S.indices, S.values))


def main():
    gb.config.set(backend="cuda")
    backend = select.current()
    small = "--small" in sys.argv
    scale, entries = (12, 1 << 16) if small else (20, 1 << 24)
    kron = rmat(scale, 16)
    pairs = {
        "kron": (kron, rmat(scale, 16, seed=2)),
        "random": (at_random(scale, entries, 1), at_random(scale, entries, 2)),
        "same": (kron, kron),
    }
    for name, structures in pairs.items():
        for dtype in (dtypes.FP32, dtypes.FP64):
            A, B = (with_values(S, dtype) for S in structures)
            op = get_typed_op("plus", dtype, kind="binary")
            for what in ("union", "intersect"):
                call = partial(getattr(backend, what), A, B, op)
                C = call()
                total = float(C.values.sum())
                if what == "union":
                    both = C.nvals
                    assert np.isclose(total, float(A.values.sum()) + float(B.values.sum()))
                else:
                    assert both + C.nvals == A.nvals + B.nvals
                ms = float(np.median(wall_seconds(call, 5))) * 1e3
                floor = size(A, B, C) / BANDWIDTH
                say(
                    what=what, matrices=name, dtype=dtype.name, entries=C.nvals, ms=ms, floor_ms=floor, ratio=ms / floor
                )


if __name__ == "__main__":
    main()
