"""SpMM where the L2 cache does not hold X: by slabs of columns, all columns at once, by cuSPARSE.

    python tests/benchmarks/gpu/bench_slabs.py [--graphs uniform22,rmat21] [--columns 2,4,8,16] [--sweep] [--record]

Graphs as in bench_bins.py, FP32 values, X full, row-major, plus_times; ms of whole calls between events, median of 9.
cuSPARSE: the best of its algorithms and layouts.  "gathers": all columns at once (spmm_rows); "slabs": spmm_slabs, and
how many; "planned": the planner's choice, and which; "SpMV": as many products with a vector, each over bins where the
planner takes bins.  expected: what the planner expects of slabs and of gathers.  form: bytes an entry of the ends of
rows in slabs.  Results of both kernels are compared with cuSPARSE's.  --sweep prints slabs of other sizes, --record
writes tests/benchmarks/results/slabs_gpu.md.
"""

import argparse
import gc
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parent)]
import cupy as cp
from bench_bins import graph_of, timed
from cusparse_dense import CuSparse

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends.cuda.products import spmm_slabs
from grb_tile.backends.select import current
from grb_tile.operators import get_typed_op
from grb_tile.storage.store import BitmapVector, Compressed, Dense

RESULTS = Path(__file__).resolve().parents[1] / "results" / "slabs_gpu.md"
GRAPHS = "uniform20,uniform22,uniform23,uniform25,rmat21,kron21,rmat23"
HEAD = "| graph, columns | entries | cuSPARSE | gathers | slabs | planned, takes | SpMV | expected | form |"


def semiring_of(name, dtype=dtypes.FP32):
    return get_typed_op(name, dtype, kind="semiring")


def full(array):
    """The Dense of a 2-D array of the device, row-major."""
    values = array.reshape(-1)
    return Dense(*array.shape, BitmapVector(values.size, dtypes.FP32, None, values, values.size))


def cusparse(A, X, wanted):
    """ms of the best algorithm, whose result goes to `wanted`; None where the entries have no 32-bit indices."""
    if A.indices.size >= 2**31:
        return None
    peer = CuSparse()
    calls = peer.spmm(A, X, wanted)
    times = {name: timed(call, 1) for name, call in calls.items()}
    best = sorted(times, key=times.get)[:2]
    found = min(timed(calls[name], 5) for name in best)
    calls["default_rows"]()
    return found


def row_of(name, A, n, sweep, spmv):
    """The line of a product with n columns."""
    backend, semiring = current(), semiring_of("plus_times")
    X = cp.random.random((A.ncols, n), dtype=cp.float32)
    wanted = cp.empty((A.nrows, n), cp.float32)
    dense, notes, rows_met = full(X), [], cp.flatnonzero(A.indptr[1:] != A.indptr[:-1])

    def product():
        return backend.spmm(A, dense, semiring, notes)

    def check(which):
        found = product().flat.values.reshape(wanted.shape)
        error = max(
            float((cp.abs(found[rows] - wanted[rows]) / (cp.abs(wanted[rows]) + 1e-3)).max())
            for rows in cp.array_split(rows_met, 8)  # rows without entries may have any value
        )
        assert error < 1e-4, f"{name}, {n} columns, {which}: {error}"

    theirs = cusparse(A, X, wanted)
    with gb.plan(force="spmm_rows"):
        check("rows") if theirs else wanted.__setitem__(..., product().flat.values.reshape(wanted.shape))
        rows = timed(product)
    slabs, each = spmm_slabs.slabs_for(backend.device, A, n * 4), "-"
    if slabs > 1:
        with gb.plan(force="spmm_slabs"):
            check("slabs")
            each = f"{timed(product):.3f} ({slabs})"
    planned = timed(product)
    choices = A.forms["column_slabs"].choices if slabs > 1 else {}
    choice = next((found for (row, _), found in choices.items() if row == 4 * n), None)
    takes, expected = ("spmm_rows", "-") if choice is None else (choice[0], "{:.3f}, {:.3f}".format(
        *(figure * 1e-6 for figure in choice[2][:2])) if len(choice[2]) > 2 else choice[1])  # fmt: skip
    held = spmm_slabs.form_bytes(A, slabs) / A.indices.size if slabs > 1 else 0.0
    theirs = "-" if theirs is None else f"{theirs:.3f}"
    line = (f"| {name}, {n} | {A.indices.size:,} | {theirs} | {rows:.3f} | {each} | {planned:.3f}, {takes} "
            f"| {spmv * n:.3f} | {expected} | {held:.2f} |")  # fmt: skip
    print(line, flush=True)
    if sweep:
        kept = spmm_slabs.slab_bytes, spmm_slabs.THREADS, spmm_slabs.AT_ONCE
        for shape in ((768, 4), (1024, 4), (512, 4)):
            spmm_slabs.THREADS, spmm_slabs.AT_ONCE = shape
            swept = []
            for count in (7, 8, 11, 16, 24, 32):
                spmm_slabs.slab_bytes = lambda device, count=count: -(-A.ncols // count) * n * 4
                with gb.plan(force="spmm_slabs"):
                    swept.append(f"{count}: {timed(product, 3):.3f}")
            print(f"    threads, entries at once {shape}: slabs {', '.join(swept)}", flush=True)
        spmm_slabs.slab_bytes, spmm_slabs.THREADS, spmm_slabs.AT_ONCE = kept
    if "column_slabs" in A.forms:
        A.forms["column_slabs"].made.clear()
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--columns", default="2,4,8,16")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    gb.config.set(backend="cuda")
    lines = [HEAD, "|" + "---|" * (HEAD.count("|") - 1)]
    print("\n".join(lines), flush=True)
    for name in options.graphs.split(","):
        pattern = graph_of(name)
        values = cp.random.random(pattern.indices.size, dtype=cp.float32)
        A = Compressed(pattern.nrows, pattern.ncols, dtypes.FP32, pattern.indptr, pattern.indices, values)
        A.forms = {}
        x = BitmapVector(A.ncols, dtypes.FP32, None, cp.random.random(A.ncols, dtype=cp.float32), A.ncols)
        spmv = timed(lambda A=A, x=x: current().matvec_rows(A, x, semiring_of("plus_times"), None))
        A.forms.clear()
        for n in map(int, options.columns.split(",")):
            gc.collect()
            cp.get_default_memory_pool().free_all_blocks()
            lines.append(row_of(name, A, n, options.sweep, spmv))
        del A, x, pattern, values
        gc.collect()
        cp.get_default_memory_pool().free_all_blocks()
    if options.record:
        text = "# SpMM by slabs of columns\n\n" + current().describe_device() + "; "
        text += "`tests/benchmarks/gpu/bench_slabs.py`:\n" + __doc__.split("\n\n", 2)[2].partition("  --sweep")[0]
        RESULTS.write_text(text.strip() + "\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
