"""SpMV where no cache holds x: over bins, with gathers, cuSPARSE; PageRank on the same graphs.

    python tests/benchmarks/gpu/bench_bins.py [--graphs uniform22,rmat25] [--record]

uniform20: 2^20 vertices, 16 random edges each, both ways; rmat23, kron21 likewise (kron21: 48).  ms of whole calls
between events, median of 9; "gathers": the faster one of segments and segments_relabelled; "bins": that kernel forced;
"planned": the planner's choice.  fill: x into the bins; the rest is the product.  floor: bytes of a product over bins
at 4.3 TB/s.  form: ms of making the bins, and their bytes an entry.  Results over bins and cuSPARSE's are compared with
those of gathers.  --record writes tests/benchmarks/results/bins_gpu.md.
"""

import argparse
import gc
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parent)]
import cupy as cp
import cupyx.scipy.sparse
import numpy as np
from device_graphs import from_keys, rmat

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.backends.cuda.products import binned_columns, segments
from grb_tile.backends.select import current

RESULTS = Path(__file__).resolve().parents[1] / "results" / "bins_gpu.md"
GRAPHS = "uniform20,uniform21,uniform22,uniform23,uniform25,kron21,rmat21,rmat23,rmat25,rmat26"
HEAD = "| graph, x, semiring | entries | cuSPARSE | gathers | bins | fill | floor | planned | takes | form ms, bytes |"
BANDWIDTH = 4.3e9  # bytes a ms


def uniform(scale, factor):
    """A CSR store of random edges, both ways, without loops and duplicates."""
    cp.random.seed(1)
    n, count = 1 << scale, factor << scale
    i, j = (cp.random.randint(0, n, count, dtype=np.int64) for _ in range(2))
    keys = cp.unique(cp.concatenate([i << 32 | j, j << 32 | i]))
    return from_keys(n, keys[keys >> 32 != keys & 0xFFFFFFFF])


def graph_of(name):
    kind, scale = name[:-2], int(name[-2:])
    return uniform(scale, 16) if kind == "uniform" else rmat(scale, 48 if kind == "kron" else 16)


def timed(call, calls=9):
    """Median ms between events around a call, after three."""
    events, times = [cp.cuda.Event() for _ in range(2)], []
    for number in range(calls + 3):
        events[0].record()
        call()
        events[1].record()
        events[1].synchronize()
        if number > 2:
            times.append(cp.cuda.get_elapsed_time(*events))
    return float(np.median(times))


def row_of(name, store, dtype, semiring, peer):
    """The line of a product."""
    n, entries = store.nrows, store.indices.shape[0]
    values = cp.random.random(entries, dtype=dtype) if semiring == "min_plus" else dtype(1)
    A = gb.io.from_cupy_csr(store.indptr, store.indices, values, shape=(n, n))
    x = cp.random.random(n, dtype=dtype)
    v, op = gb.io.from_cupy(x), getattr(gb.semiring, semiring)[A.dtype]

    def product():
        return A.mxv(v, op).new()

    gathers = []
    for kernel in ("segments", "segments_relabelled"):
        with gb.plan(force=kernel):
            gathers.append(timed(product))
    with gb.plan(force="segments"):
        wanted = product()
    form = current().device.to_device(A._store).forms["segments"]
    with gb.plan(force="segments_binned"):
        product()  # kernels are compiled
        form.bins.clear()
        form.launches.clear()
        current().synchronize()
        start = time.perf_counter()
        found = product()
        current().synchronize()
        made = (time.perf_counter() - start) * 1e3
        ours = timed(product)
    assert found.isclose(wanted, rel_tol=1e-5), f"{name}: the product over bins differs"
    bins = next((columns.bins for columns in form.bins.values() if columns is not None), None)
    if bins is None:
        return f"| {name}, {A.dtype.name}, {semiring} | {entries:,} | - | {min(gathers):.3f} | no bins | | | | | |"
    fill = timed(lambda: binned_columns.fill(current().device, bins, x))
    item = x.dtype.itemsize
    moved = bins.padding * (2.5 + 2 * item) + 2 + (item if semiring == "min_plus" else 0)
    held = (bins.codes.nbytes + bins.to.nbytes + bins.places.nbytes + bins.bases.nbytes) / entries
    form.bins.clear()
    form.forced.clear()
    form.launches.clear()
    planned = timed(product)
    takes = "bins" if any(form.bins.values()) else segments.KERNELS[form.columns.kind]
    theirs = "-"
    if peer and entries < 2**31:
        M = cupyx.scipy.sparse.csr_matrix(
            (cp.ones(entries, dtype), store.indices, store.indptr.astype(np.int32)), shape=(n, n)
        )
        theirs = f"{timed(lambda: M @ x, 5):.3f}"
        y = M @ x
        error = cp.abs(y - cp.asarray(wanted.to_dense(0)))
        assert float((error / (cp.abs(y) + 1e-3)).max()) < 1e-4, f"{name}: cuSPARSE's product differs"
    return (
        f"| {name}, {A.dtype.name}, {semiring} | {entries:,} | {theirs} | {min(gathers):.3f} | {ours:.3f} | {fill:.3f} "
        f"| {entries * moved / BANDWIDTH:.3f} | {planned:.3f} | {takes} | {made:.0f}, {held:.2f} |"
    )


def pagerank_of(name, store):
    """ms an iteration with gathers alone and as planned."""
    found = []
    for pays in (lambda *facts: None, segments.bins_pay):
        kept, segments.bins_pay = segments.bins_pay, pays
        try:
            A = gb.io.from_cupy_csr(store.indptr, store.indices, True, shape=(store.nrows, store.nrows))
            G = alg.Graph(A, directed=None)
            found.append(timed(lambda: alg.pagerank(G, tol=0, max_iter=20, dtype="FP32"), 3) / 20)
        finally:
            segments.bins_pay = kept
    return f"| {name} | {store.indices.shape[0]:,} | {found[0]:.3f} | {found[1]:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    gb.config.set(backend="cuda")
    lines, ranks = [HEAD, "|" + "---|" * (HEAD.count("|") - 1)], []
    print("\n".join(lines), flush=True)
    for name in options.graphs.split(","):
        store = graph_of(name)
        cases = [(np.float32, "plus_second", True), (np.float64, "plus_second", False)]
        if name in ("uniform22", "uniform25"):
            cases.append((np.float32, "min_plus", False))
        for dtype, semiring, peer in cases:
            gc.collect()
            cp.get_default_memory_pool().free_all_blocks()
            lines.append(row_of(name, store, dtype, semiring, peer))
            print(lines[-1], flush=True)
        if not name.startswith("uniform"):
            ranks.append(pagerank_of(name, store))
            print(ranks[-1], flush=True)
        del store
        gc.collect()
        cp.get_default_memory_pool().free_all_blocks()
    if options.record:
        head = ["| PageRank, FP32, ms an iteration | entries | gathers | planned |", "|---|---|---|---|"]
        text = "# SpMV over bins\n\n" + current().describe_device() + "; `tests/benchmarks/gpu/bench_bins.py`, ms:\n"
        text += __doc__.partition("[--record]")[2].strip().partition("  --record")[0] + "\n\n"
        RESULTS.write_text(text + "\n".join(lines) + "\n\n" + "\n".join([*head, *ranks]) + "\n")


if __name__ == "__main__":
    main()
