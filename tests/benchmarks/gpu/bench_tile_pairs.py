"""Products of two matrices over pairs of 8 x 8 tiles: python3 tests/benchmarks/gpu/bench_tile_pairs.py [MATRIX ...]

Matrices: fem40, fem70 (meshes), band24, band96 (full tiles, that many in each block row); all without an argument.
C = A A with the semirings of SEMIRINGS, each against two phases.  A line of JSON
per figure goes to $OUT/bench_tile_pairs.jsonl when OUT is set.

two_phases_ms, tiles_ms: wall times of whole calls until the device is done, medians of 3, tiles made before; results
are equal.  tile_products_ms: that kernel by events.  make_ms: tiles made of CSR.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import cupy as cp
import timing
from bench_spmv import arrays, matrix
from device_graphs import fem

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import tile_blocks
from grb_tile.backends.cuda.runtime.launch import Kernel
from grb_tile.operations import multiply
from grb_tile.operators import get_typed_op
from grb_tile.planner import explain, force

OUT = os.environ.get("OUT")
SEMIRINGS = (
    ("plus_times", dtypes.FP64), ("plus_pair", dtypes.INT64), ("any_pair", dtypes.BOOL), ("min_plus", dtypes.FP64),
    ("max_times", dtypes.FP64), ("min_plus", dtypes.FP32),
)  # fmt: skip


def say(**figures):
    print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items()), flush=True)
    if OUT:
        with open(Path(OUT) / "bench_tile_pairs.jsonl", "a") as file:
            file.write(json.dumps(figures, default=str) + "\n")


def band(tiles, block_rows):
    """(n, indptr, indices) of a band matrix of full 8 x 8 tiles, `tiles` in each block row."""
    n = 8 * block_rows
    first = cp.clip(cp.arange(block_rows) - tiles // 2, 0, block_rows - tiles)
    cols = (8 * first[:, None] + cp.arange(8 * tiles))[:, None, :].repeat(8, axis=1)
    return n, cp.arange(n + 1, dtype=cp.int64) * (8 * tiles), cols.reshape(-1).astype(cp.int32)


MATRICES = {
    "fem40": lambda: arrays(fem(40)), "fem70": lambda: arrays(fem(70)), "band24": partial(band, 24, 1 << 14),
    "band96": partial(band, 96, 1 << 12),
}  # fmt: skip


def kernel_ms(call):
    """{kernel: ms} of a call, by events around its launches."""
    found, usual = [], Kernel.__call__

    def timed(self, *arguments, **more):
        first, last = cp.cuda.Event(), cp.cuda.Event()
        first.record()
        usual(self, *arguments, **more)
        last.record()
        found.append((self.name.partition("<")[0], first, last))

    Kernel.__call__ = timed
    try:
        call()
    finally:
        Kernel.__call__ = usual
    cp.cuda.Device().synchronize()
    return {name: cp.cuda.get_elapsed_time(first, last) for name, first, last in found}


def median_ms(call):
    call()
    return timing.median_ms(call, 3)


def product(A, semiring, name):
    with force(name):
        return multiply.matmul(A, False, A, False, semiring, None)


def compare(name, structure, semiring_name, dtype):
    """Both methods of one product."""
    A = matrix(structure, dtype)
    semiring = get_typed_op(semiring_name, dtype, kind="semiring")
    want, rows = product(A, semiring, "two_phases"), partial(product, A, semiring, "two_phases")
    call = partial(product, A, semiring, "tile_pairs")
    C = call()
    plan = next(iter(explain()))
    assert bool((C.indptr == want.indptr).all() and (C.indices == want.indices).all()), name
    assert bool(cp.allclose(C.values, want.values, rtol=1e-9)), name
    del C
    kernels, figures = kernel_ms(call), {}
    if semiring_name == "plus_times":
        figures = {"make_ms": median_ms(partial(tile_blocks._bit_blocks, select.current().device, A))}
    say(
        matrix=name, semiring=f"{semiring_name} {dtype.name}", entries=A.nvals, two_phases_ms=median_ms(rows),
        tiles_ms=median_ms(call), tile_products_ms=kernels["tile_products"], **figures, note=plan.note,
    )  # fmt: skip
    with force(()):
        multiply.matmul(A, False, A, False, semiring, None)
        print("chosen:", next(iter(explain())), flush=True)


def main():
    gb.config.set(backend="cuda")
    select.current()
    print("device", cp.cuda.runtime.getDeviceProperties(0)["name"].decode())
    for name in [a for a in sys.argv[1:] if not a.startswith("-")] or MATRICES:
        structure = MATRICES[name]()
        for semiring_name, dtype in SEMIRINGS:
            compare(name, structure, semiring_name, dtype)
            cp.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
