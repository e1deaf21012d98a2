"""Unions, intersections and masks of matrices: python3 tests/benchmarks/gpu/bench_union.py [--small] [names of pairs]

Pairs: a Kronecker graph (scale 20, edge factor 16) with one of another seed, with its transpose (the same positions in
other arrays), with a permuted copy, with 1000 entries; 2^24 entries at random in 2^20 rows, twice; fem70 with its
transpose; a grid of 4 million vertices with one moved by a column; 1000 entries, twice; a matrix with itself.
plus, FP32 and FP64, and iso.  ms of whole calls until the device is done, medians of 7; floor_ms: both operands and the
result once, over 4.3 TB/s.  Results are verified by their numbers of entries, the order of their positions, and sums of
values weighted by positions.  A line of JSON per figure goes to $OUT/bench_union.jsonl when OUT is set.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import cupy as cp
import numpy as np
from device_graphs import fem, from_keys, grid, rmat, structure
from timing import median_ms

import grb_tile as gb
from grb_tile import dtypes, generators
from grb_tile.backends import select
from grb_tile.operators import get_typed_op
from grb_tile.storage.store import Compressed, StoredMask

BANDWIDTH = 4.3e9  # bytes a millisecond
OUT = os.environ.get("OUT")
LABEL = os.environ.get("LABEL", "")


def say(**figures):
    print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items()), flush=True)
    if OUT:
        with open(Path(OUT) / f"bench_union{LABEL}.jsonl", "a") as file:
            file.write(json.dumps(figures, default=str) + "\n")


def at_random(scale, entries, seed):
    return generators.uniform_random(1 << scale, entries, directed=True, seed=seed)._store


def keys_of(A):
    """Sort keys of the entries: row << 32 | column."""
    rows = cp.searchsorted(A.indptr, cp.arange(A.indices.shape[0]), side="right") - 1
    return rows << 32 | A.indices


def permuted(A):
    """Rows and columns renumbered."""
    order = cp.asarray(np.random.RandomState(5).permutation(A.nrows).astype(np.int64))
    keys = keys_of(A)
    return from_keys(A.nrows, cp.sort(order[keys >> 32] << 32 | order[keys & 0xFFFFFFFF]))


def copied(A):
    return structure(A.nrows, A.indptr.copy(), A.indices.copy())


def moved_grid(A, width):
    """The grid, its columns moved by one."""
    keys = keys_of(A)
    return from_keys(A.nrows, cp.unique(keys & ~0xFFFFFFFF | (keys & 0xFFFFFFFF) + 1 & (width * width - 1)))


def with_values(A, dtype, iso, seed):
    if iso:
        return Compressed(A.nrows, A.ncols, dtype, A.indptr, A.indices, cp.ones(1, dtype.np_type), True)
    values = cp.random.default_rng(seed).integers(1, 5, A.indices.shape[0]).astype(dtype.np_type)
    return Compressed(A.nrows, A.ncols, dtype, A.indptr, A.indices, values, False)


def size(*stores):
    return sum(array.nbytes for S in stores for array in (S.indptr, S.indices, S.values))


def weighted(A):
    """Sum of the values times a hash of their positions, modulo 2^64; asserts that positions ascend."""
    if A.nvals == 0:
        return 0
    keys = keys_of(A)
    assert bool((keys[1:] > keys[:-1]).all())
    weights = keys.astype(cp.uint64) * cp.uint64(0x9E3779B97F4A7C15)
    values = A.values.astype(cp.uint64)
    return int((weights * (values[0] if A.iso else values)).sum())


def pairs(small, chosen):
    """(name, two structures)"""
    scale, entries, width, k = (12, 1 << 16, 64, 8) if small else (20, 1 << 24, 2048, 70)
    kron = rmat(scale, 16)
    made = {
        "kron": lambda: (kron, rmat(scale, 16, seed=2)),
        "kron, transpose": lambda: (kron, copied(kron)),
        "kron, permuted": lambda: (kron, permuted(kron)),
        "kron, 1000 entries": lambda: (kron, at_random(scale, 1000, 3)),
        "random": lambda: (at_random(scale, entries, 1), at_random(scale, entries, 2)),
        "fem": lambda: (lambda A: (A, copied(A)))(fem(k)),
        "grid": lambda: (lambda A: (A, moved_grid(A, width)))(grid(width)),
        "1000 entries": lambda: (at_random(10, 1000, 3), at_random(10, 1000, 4)),
        "same": lambda: (kron, kron),
    }
    for name, make in made.items():
        if not chosen or name in chosen:
            yield name, make()


def main():
    gb.config.set(backend="cuda")
    backend = select.current()
    chosen = [name for name in sys.argv[1:] if name[0] != "-"]
    for name, structures in pairs("--small" in sys.argv, chosen):
        for dtype, iso in ((dtypes.FP32, False), (dtypes.FP64, False), (dtypes.FP64, True)):
            if iso and name == "same":
                continue
            A, B = (with_values(S, dtype, iso, seed) for seed, S in enumerate(structures))
            op = get_typed_op("plus", dtype, kind="binary")
            calls = {
                "union": partial(backend.union, A, B, op),
                "intersect": partial(backend.intersect, A, B, op),
                "mask": partial(backend.restrict, A, StoredMask(B)),
                "complement": partial(backend.restrict, A, StoredMask(B, True)),
            }
            both = 0
            for what, call in calls.items():
                C = call()
                if what == "union":
                    both = A.nvals + B.nvals - C.nvals
                    assert weighted(C) == (weighted(A) + weighted(B)) % 2**64
                else:
                    assert C.nvals == (A.nvals - both if what == "complement" else both)
                    rest = None if C.rows is not None else weighted(C)
                    if what == "mask":
                        inside = rest
                    elif what == "complement" and None not in (inside, rest):
                        assert (inside + rest) % 2**64 == weighted(A)
                ms = median_ms(call, 7)
                moved = (
                    size(A, B, C) if what in ("union", "intersect") else size(A, C) + B.indptr.nbytes + B.indices.nbytes
                )
                floor = moved / BANDWIDTH
                say(
                    what=what, matrices=name, dtype=dtype.name + iso * " iso", entries=C.nvals, ms=ms, floor_ms=floor,
                    ratio=ms / floor,
                )  # fmt: skip
                del C
            del A, B, calls, call


if __name__ == "__main__":
    main()
