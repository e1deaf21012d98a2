"""SpMV over 8 x 8 bitmap blocks: python3 tests/benchmarks/gpu/bench_blocks.py [part ...] [--small] [--only=MATRIX ...]

Parts: spmv (without an argument): each kernel of full vectors forced, the planner's choice, and cuSPARSE; the form's
bytes, what it costs to make, and how many products pay for it. half: values in half precision, beside the bound of
their error. tune: blocks of a stage, threads of a block and resident blocks.
Matrices, verification and what device us are: bench_spmv.py, timing.py. A line of JSON per figure goes to
$OUT/bench_spmv.jsonl. semirings: values that are not read, and others. sparse: sparse vectors by each method.
"""

import sys
from functools import partial

import cupy as cp
import numpy as np
from bench_spmv import BANDWIDTH, cusparse, dense, matrices, matrix, say, verify
from cupyx.scipy.sparse import csr_matrix
from timing import best_ms, device_us

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import bitblocks
from grb_tile.operators import get_typed_op
from grb_tile.planner import record, unrecorded
from grb_tile.planner.choose_precision import UNIT_ROUNDOFF
from grb_tile.storage.store import SparseVector

SEMIRINGS = ("min_plus", "plus_second", "plus_first", "lor_land")
# blocks of a stage, threads of a block, resident blocks
TRIED = ((16, 128, 5), (16, 128, 6), (32, 128, 4), (32, 128, 5))


def forced_us(product, kernel):
    with gb.plan(force=kernel):
        product()
        return device_us(product)


def assert_reproducible(product):
    """Bit for bit, where the result has entries."""
    first, second = product(), product()
    present = cp.asarray(first.words.view(cp.uint8)) if first.words is not None else None
    same = first.values.view(cp.uint8).reshape(first.size, -1) == second.values.view(cp.uint8).reshape(first.size, -1)
    same = same.all(axis=1)
    if present is not None:
        same |= cp.unpackbits(present, bitorder="little")[: first.size] == 0
    assert bool(same.all()), "not reproducible"


def spmv(backend, name, structure):
    for dtype in (dtypes.FP32, dtypes.FP64):
        A, x = matrix(structure, dtype), dense(structure[0], dtype)
        semiring = get_typed_op("plus_times", dtype, kind="semiring")
        product = partial(backend.matvec_rows, A, x, semiring)
        segments = forced_us(product, "segments")
        delta16 = forced_us(product, "segments_delta16")
        A.forms.pop("bitblock", None)
        bitblocks._make(backend.device, A)  # compiled, memory in the pool
        build = best_ms(partial(bitblocks._make, backend.device, A), 3)
        with gb.plan(force="bit_blocks"):
            verify(A, x, semiring, product(), f"{name} {dtype} over blocks")
            assert_reproducible(product)
            blocks = device_us(product)
        form = A.forms["bitblock"]
        for _ in range(400):
            plan = record.Plan("matvec", "rows", "csr", "vector_empty")
            backend.matvec_rows(A, x, semiring, None, plan)
            if plan.kernel == "bit_blocks":
                break
        planned = device_us(product)
        best = min(segments, delta16)
        rest = 0 if form.rest is None else form.rest.shape[0]
        say(
            part="blocks", matrix=name, type=str(dtype), bit_blocks_us=blocks, segments_us=segments,
            delta16_us=delta16, planned_us=planned, kernel=plan.kernel, cusparse_us=device_us(cusparse(A, x)),
            floor_us=(form.nbytes + 2 * x.values.nbytes) / BANDWIDTH * 1e6, bytes_entry=form.nbytes / A.indices.size,
            blocks=form.blocks, entries_block=(A.indices.size - rest) / form.blocks, remainder=rest, build_ms=build,
            pays_after=build * 1e3 / (best - blocks) if blocks < best else 0.0, why=plan.kernel_reason,
        )  # fmt: skip


def half(backend, name, structure):
    A, x = matrix(structure, dtypes.FP32), dense(structure[0], dtypes.FP32)
    product = partial(backend.matvec_rows, A, x, get_typed_op("plus_times", dtypes.FP32, kind="semiring"))
    ptr, figures = A.indptr.astype(cp.int32), {}
    size = csr_matrix((cp.abs(A.values).astype(cp.float64), A.indices, ptr), shape=A.shape) @ cp.abs(x.values)
    with gb.plan(force="bit_blocks"):
        exact = csr_matrix((A.values.astype(cp.float64), A.indices, ptr), shape=A.shape) @ x.values.astype(cp.float64)
        for precision, unit in UNIT_ROUNDOFF.items():
            with gb.config.set(matmul_precision=precision):
                error = cp.abs(product().values - exact)
                terms = cp.diff(A.indptr)
                share = float((error / ((unit + unit**2 + (terms + 1) * 2.0**-23) * size))[terms > 0].max())
                assert share <= 1, f"{precision}: {share} of the bound"
                figures[f"{precision}_us"], figures[f"{precision}_of_bound"] = device_us(product, 10), share
        figures["exact_us"] = device_us(product)
    say(part="half", matrix=name, **figures)


def semirings(backend, name, structure):
    for which in SEMIRINGS:
        dtype = dtypes.BOOL if which == "lor_land" else dtypes.FP32
        A, x = matrix(structure, dtype), dense(structure[0], dtype)
        product = partial(backend.matvec_rows, A, x, get_typed_op(which, dtype, kind="semiring"))
        figures = {kernel: forced_us(product, kernel) for kernel in ("segments_delta16", "bit_blocks")}
        say(part="semirings", matrix=name, semiring=which, **figures)


def sparse(backend, name, structure):
    """Sparse vectors, entries at random or side by side: column-wise, row-wise, tiles (TileSpMSpV), bitmap blocks."""
    n = structure[0]
    A = matrix(structure, dtypes.FP32)
    AT = backend.transpose(A)
    semiring = get_typed_op("plus_times", dtypes.FP32, kind="semiring")
    for density in (0.1, 0.01, 0.001):
        count = int(n * density)
        for layout in ("random", "together"):
            if layout == "random":
                at = cp.sort(cp.asarray(np.random.default_rng(7).permutation(n)[:count], dtype=cp.int32))
            else:
                at = cp.arange(n // 3, n // 3 + count, dtype=cp.int32)
            x = SparseVector(n, dtypes.FP32, at, cp.ones(count, cp.float32))
            x.values += cp.arange(count, dtype=cp.float32) % 7
            figures = {
                "cols": device_us(partial(backend.matvec_cols, AT, x, semiring)),
                "rows": device_us(partial(backend.matvec_rows, A, x, semiring)),
            }
            verify(
                A,
                x,
                semiring,
                backend.matvec_rows(A, x, semiring, None, unrecorded("bitblock")),
                f"{name} {density} {layout}",
            )
            for format in ("tiled", "bitblock"):
                figures[format] = device_us(partial(backend.matvec_rows, A, x, semiring, None, unrecorded(format)))
            say(part="sparse", matrix=name, density=density, layout=layout, **figures)


def tune(backend, name, structure):
    kept = bitblocks.THREADS, bitblocks.BLOCKS, bitblocks.STAGE
    try:
        for dtype, precision in ((dtypes.FP32, "exact"), (dtypes.FP32, "fp16"), (dtypes.FP64, "exact")):
            A, x = matrix(structure, dtype), dense(structure[0], dtype)
            product = partial(backend.matvec_rows, A, x, get_typed_op("plus_times", dtype, kind="semiring"))
            figures = {}
            for stage, threads, each in TRIED:
                bitblocks.THREADS, bitblocks.BLOCKS = threads, dict.fromkeys(kept[1], each)
                bitblocks.STAGE = dict.fromkeys(kept[2], stage)
                if A.forms and "bitblock" in A.forms:
                    A.forms["bitblock"].launches.clear()
                with gb.plan(force="bit_blocks"), gb.config.set(matmul_precision=precision):
                    product()
                    figures[f"{stage}/{threads}x{each}"] = device_us(product, 10)
            say(part="tune", matrix=name, type=str(dtype), precision=precision, **figures)
    finally:
        bitblocks.THREADS, bitblocks.BLOCKS, bitblocks.STAGE = kept


def main():
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")] or ["spmv"]
    gb.config.set(backend="cuda")
    backend = select.current()
    failed = 0
    for name, structure in matrices("--small" in sys.argv, [a[7:] for a in sys.argv if a.startswith("--only=")]):
        print(f"# {name}: {structure[0]} rows, {structure[2].size} entries")
        for part in (spmv, half, semirings, sparse, tune):
            if part.__name__ not in wanted:
                continue
            try:
                part(backend, name, structure)
            except Exception as error:  # noqa: BLE001  the other matrices' figures are wanted all the same
                failed += 1
                say(part=part.__name__, matrix=name, failed=repr(error)[:800])
        structure = None
        cp.get_default_memory_pool().free_all_blocks()
    return failed


if __name__ == "__main__":
    sys.exit(main())
