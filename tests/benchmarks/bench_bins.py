"""SpMV on the CPU where no cache holds x: over bins and with gathers, in turns.

    python tests/benchmarks/bench_bins.py [--graphs uniform22,rmat22] [--rounds 6]

uniform22: 2^22 vertices, 16 random edges each, both ways; rmat22 likewise.  ms of whole calls, the least (and the
median) of the rounds, in each of which every form is called once: "gathers": the plain rows; "bins": that kernel
forced; "planned": the planner's choice.  form: ms of making the bins, bytes an entry with the values of x in them.
All results are equal, bit by bit.
"""

import argparse
import gc
import os
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]
import numpy as np

import grb_tile as gb
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.planner import tuning

GRAPHS = "uniform20,uniform21,uniform22,uniform23,rmat21,rmat22"
HEAD = "| graph, x, semiring | entries | x, MB | gathers | bins | ratio | planned | takes | form ms, bytes |"
FORMS = {"gathers": "csr", "bins": "segments_binned", "planned": None}


def graph_of(name):
    scale = int(name[-2:])
    if name.startswith("uniform"):
        return gb.generators.uniform_random(1 << scale, 16 << scale, seed=1)
    return gb.generators.kronecker(scale, 16, seed=1)


def product(A, x, op, form):
    if form is None:
        return A.mxv(x, op).new()
    with gb.plan(force=form):
        return A.mxv(x, op).new()


def row_of(name, A, dtype, semiring, rounds):
    """The line of a product."""
    if semiring != "plus_second":
        A = gb.generators.with_weights(A, 0.0, 1.0, dtype=dtype)
    x = gb.Vector.from_dense(np.random.default_rng(1).random(A.ncols).astype(dtype))
    op = getattr(gb.semiring, semiring)[x.dtype]
    start = time.perf_counter()
    wanted = product(A, x, op, "csr")
    assert product(A, x, op, "segments_binned").isequal(wanted, check_dtype=True)
    A._store.forms.pop("column_bins")
    start = time.perf_counter()
    product(A, x, op, "segments_binned")
    made = time.perf_counter() - start
    held = A._store.forms["column_bins"].nbytes / A.nvals
    for _ in range(tuning.BUILD_AFTER + 1):
        product(A, x, op, None)
    times = {form: [] for form in FORMS}
    for _ in range(rounds):
        for form, force in FORMS.items():
            start = time.perf_counter()
            found = product(A, x, op, force)
            times[form].append((time.perf_counter() - start) * 1e3)
            assert np.array_equal(found.to_dense(0), wanted.to_dense(0)), f"{name}: {form} differs"
    kernel = gb.explain().plans[-1].kernel or "gathers"
    least, median = ({form: f(took) for form, took in times.items()} for f in (min, np.median))
    size = f"{x.size * x.dtype.np_type.itemsize / 2**20:.0f}"
    each = " | ".join(f"{least[form]:,.0f} ({median[form]:,.0f})" for form in ("gathers", "bins"))
    return (
        f"| {name}, {x.dtype.name}, {semiring} | {A.nvals:,} | {size} | {each} "
        f"| {least['gathers'] / least['bins']:.2f} ({median['gathers'] / median['bins']:.2f}) "
        f"| {least['planned']:,.0f} | {kernel} | {made * 1e3 - least['bins']:,.0f}, {held:.1f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--types", default="FP32,FP64")
    options = parser.parse_args()
    jit.set_mode("always")
    print("\n".join([HEAD, "|" + "---|" * (HEAD.count("|") - 1)]), flush=True)
    for name in options.graphs.split(","):
        A = graph_of(name)
        for dtype in options.types.split(","):
            for semiring in ("plus_second", "min_plus") if name == "uniform22" else ("plus_second",):
                np_type = gb.dtypes.lookup_dtype(dtype).np_type
                print(row_of(name, A, np_type, semiring, options.rounds), f" load {os.getloadavg()[0]:.1f}", flush=True)
                gc.collect()
        del A


if __name__ == "__main__":
    main()
