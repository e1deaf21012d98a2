"""Shortest paths from a source on the device: checked, timed, by rounds.

    python3 tests/benchmarks/gpu/bench_sssp.py [kron21 kron20 grid2000 road] [--sources 16] [--rounds] [--tries]

Weights 1 .. 255 by a hash of the edge's ends, the same both ways, INT32; the road network has its own.  Checked for
every source: d(v) <= d(u) + w on each edge, each vertex reached but the source has an edge where both sides are equal,
the source has 0 and nothing reached has an edge to something that was not: this determines the distances where weights
are positive.
Floor: each entry read once, 4 or 8 bytes, over 4.3 TB/s; 1 us a grid-wide barrier.
"""

import argparse
import json
import os
import sys
from functools import partial
from pathlib import Path

import cupy as cp
import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benchmarks" / "gpu")]

from bench_bfs import subject
from device_graphs import grid, loaded, real, rmat

import grb_tile as gb
from grb_tile import dtypes, generators
from grb_tile.algorithms import Graph, sssp
from grb_tile.backends.cuda.graph import sssp as paths
from grb_tile.backends.select import current
from grb_tile.cli.timing import repeated, timed
from grb_tile.storage.store import Compressed

CHECK = cp.RawModule(code=r"""
extern "C" __global__ void check(const long long* start, const int* near, const int* weight, const long long* d,
                                 const unsigned long long* words, const long long* parent, int n, int source,
                                 unsigned long long* bad) {
  int lane = threadIdx.x & 31, warps = gridDim.x * blockDim.x >> 5;
  for (int v = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; v < n; v += warps) {
    bool here = words[v >> 6] >> (v & 63) & 1, tight = false, known = false;
    for (long long k = start[v] + lane; k < start[v + 1]; k += 32) {
      int u = near[k];
      bool there = words[u >> 6] >> (u & 63) & 1;
      if (here != there) atomicAdd(bad, 1ull);
      if (here && there) {
        if (d[v] > d[u] + weight[k]) atomicAdd(bad + 1, 1ull);
        tight |= d[v] == d[u] + weight[k];
        known |= parent && parent[v] == u && d[v] == d[u] + weight[k];
      }
    }
    tight = __any_sync(~0u, tight);
    known = __any_sync(~0u, known);
    if (lane == 0 && parent && here && !(v == source ? parent[v] == v : known)) atomicAdd(bad + 4, 1ull);
    if (lane == 0 && here && (v == source ? d[v] != 0 : !tight)) atomicAdd(bad + 2, 1ull);
    if (lane == 0 && v == source && !here) atomicAdd(bad + 3, 1ull);
  }
}""", options=("-std=c++17",)).get_function("check")  # fmt: skip


def weighted(store):
    """The same edges with weights 1 .. 255, each edge the same both ways."""
    return generators.with_weights(gb.Matrix._from_store(store, store.dtype), 1, 255, dtype="INT32")._store


def road():
    """USA-road-NE with its own weights, the lighter of two directions."""
    A = loaded("USA-road-NE")
    if A is None:
        return None
    if A.dtype == bool:
        print("road: the file has no weights; taken 1 .. 255")
        return weighted(real("USA-road-NE"))
    A = A.maximum(A.T).tocsr()
    A.sort_indices()
    return Compressed(A.shape[0], A.shape[0], dtypes.INT32, cp.asarray(A.indptr.astype(np.int64)),
                      cp.asarray(A.indices.astype(np.int32)), cp.asarray(A.data.astype(np.int32)), False)  # fmt: skip


GRAPHS = {
    "kron21": lambda: weighted(rmat(21, 48)), "kron20": lambda: weighted(rmat(20, 16)),
    "grid2000": lambda: weighted(grid(2000)), "road": road,
}  # fmt: skip


def check(store, source, distances, tree=None):
    """Raises unless these are the distances, and this a tree of shortest paths."""
    bad = cp.zeros(5, cp.uint64)
    CHECK((2112,), (256,), (store.indptr, store.indices, store.values, distances.values, distances.words,
                            0 if tree is None else tree.values, np.int32(store.nrows), np.int32(source),
                            bad))  # fmt: skip
    if bad.any():
        raise SystemExit(f"WRONG: source {source}, bad {bad.tolist()} (reach, edge, tight, source, tree)")


def kernel_ms(A, AT, source, heaviest, delta, rounds=3):
    """(best ms by events, distances, outcome)"""
    best, device = 1e9, current().device
    for _ in range(rounds):
        first, last = cp.cuda.Event(), cp.cuda.Event()
        first.record()
        store, _, outcome = paths.shortest_paths(device, A, lambda: AT, source, heaviest, delta, False)
        last.record()
        last.synchronize()
        best = min(best, cp.cuda.get_elapsed_time(first, last))
    return best, store, outcome


def calls_ms(G, sources, predecessors=False):
    """([ms of the best of three calls from each source], [rounds]); every result is checked."""
    calls, rounds = [], []
    for source in sources:
        found, seconds = repeated(partial(sssp, G, source, predecessors=predecessors), 3)
        tree = found.predecessors._store if predecessors else None
        check(G.A._store, source, found.distances._store, tree)
        calls.append(min(seconds) * 1e3)
        rounds.append(found.report.iterations)
    return calls, rounds


def by_round(outcome, most=40):
    rows = outcome.rows()
    lines = [
        f"{r['direction']} {r['frontier']} e{r['edges']} <{r['threshold']} {r['ms'] * 1e3:.1f}us" for r in rows[:most]
    ]
    return (
        f"{len(rows)} rounds, {sum(r['edges'] for r in rows if r['direction'] == 'relax')} edges relaxed:\n      "
        + "\n      ".join(lines)
    )


def against_scipy():
    """A graph small enough for SciPy."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    store = weighted(rmat(12, 8))
    found = sssp(Graph(gb.Matrix._from_store(store, dtypes.INT32)), 1).distances
    plain = csr_array(
        (cp.asnumpy(store.values).astype(float), cp.asnumpy(store.indices), cp.asnumpy(store.indptr)), store.shape
    )
    if not (found.to_dense(np.inf, dtype=float) == dijkstra(plain, indices=1)).all():
        raise SystemExit("WRONG: differs from SciPy's dijkstra")
    print("kron12: equal to SciPy's dijkstra", flush=True)


def tries(name):
    """Changes to LAUNCH worth comparing."""
    if name in ("grid2000", "road"):
        return [
            {"blocks": blocks, "high_diameter_step": step, "high_diameter_block": block}
            for blocks, block in ((16, 1024), (16, 512), (8, 1024))
            for step in (8.0, 16.0, 32.0, 64.0)
        ] + [{"high_diameter": False}]
    return [{"pull_at": pull_at, "step": step} for pull_at in (2, 3, 4) for step in (0.5, 1.0, 2.0, 3.0)] + [
        {"block": 512}, {"block": 512, "per_processor": 2}, {"block": 768}]  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--rounds", action="store_true", help="one line for each round of one search")
    parser.add_argument("--tries", action="store_true", help="other steps and launches")
    args = parser.parse_args()
    gb.config.set(backend="cuda")
    against_scipy()
    for name in args.graphs:
        store = GRAPHS[name]()
        if store is None:
            continue
        G, _, sources = subject(store, args.sources)
        heaviest = int(G.emax)
        _, prepared = timed(partial(sssp, G, sources[0]))
        graph = store.forms["sssp"]
        floor = store.nvals * graph.bytes / 4.3e9
        print(
            f"{name}: n {store.nrows}, entries {store.nvals}, weights to {heaviest}, "
            f"first call {prepared * 1e3:.1f} ms, {graph.bytes} bytes an entry, keys {graph.key}, "
            f"floor of one pass {floor:.3f} ms",
            flush=True,
        )
        kernels = []
        for source in sources:
            outcome = kernel_ms(store, store, source, heaviest, None)[2]
            kernels.append(outcome.seconds * 1e3)
        calls, rounds = calls_ms(G, sources)
        trees, _ = calls_ms(G, sources[:6], predecessors=True)
        line = {
            "graph": name,
            "call_ms": float(np.median(calls)),
            "kernel_ms": float(np.median(kernels)),
            "rounds": float(np.median(rounds)),
            "one_pass_ms": floor,
            "slowest_ms": max(calls),
            "with_predecessors_ms": float(np.median(trees)),
        }
        print("  " + json.dumps(line), flush=True)
        if os.environ.get("OUT"):
            with open(Path(os.environ["OUT"]) / "paths.jsonl", "a") as f:
                f.write(json.dumps(line) + "\n")
        if args.rounds:
            print("   ", by_round(outcome), flush=True)
        if args.tries:
            kept = dict(paths.LAUNCH)
            for changes in tries(name):
                paths.LAUNCH.update(changes)
                graph.launches = None
                graph._items.clear()
                times = []
                for source in sources[:6]:
                    ms, found, outcome = kernel_ms(store, store, source, heaviest, None)
                    times.append(ms)
                check(store, sources[5], found)
                relaxed = sum(r["edges"] or 0 for r in outcome.rows() if r["direction"] == "relax")
                print(f"  {changes}: {np.median(times):.3f} ms, {outcome.head[1]} rounds, {relaxed} edges", flush=True)
                paths.LAUNCH.update(kept)
            graph.launches = None
        del store, G, graph
        cp.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
