"""Breadth-first search on the device: checked, timed, launch configurations tried.

    python3 tests/benchmarks/gpu/bench_bfs.py [kron21 rmat22 grid2000 road many] [--tries] [--host] [--sources 16]

Writes JSON lines to $OUT/traverse.jsonl when OUT is set; real graphs are read from $GRB_TILE_DATA (default
shared/data).
Checked: on each edge levels differ by at most one, every vertex but the source has a neighbour one level up, its parent
is one of them (Graph500's rules, which determine the levels of an undirected graph).
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import cupy as cp
import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from device_graphs import grid, real, rmat
from timing import median_ms

import grb_tile as gb
from grb_tile.algorithms import Graph, bfs
from grb_tile.backends.cuda.graph import bfs as searches
from grb_tile.backends.cuda.graph.bfs_graph import graph_of
from grb_tile.backends.select import current
from grb_tile.cli.timing import repeated

LINES = []
CHECK = cp.RawModule(code=r"""
extern "C" __global__ void check(const long long* start, const int* near, const int* level, const long long* parent,
                                 const unsigned long long* words, int n, int source, unsigned long long* bad) {
  int lane = threadIdx.x & 31, warps = gridDim.x * blockDim.x >> 5;
  for (int v = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; v < n; v += warps) {
    bool here = words[v >> 6] >> (v & 63) & 1, up = false, known = false;
    for (long long k = start[v] + lane; k < start[v + 1]; k += 32) {
      int u = near[k];
      bool there = words[u >> 6] >> (u & 63) & 1;
      if (here != there) atomicAdd(bad, 1ull);
      if (here && there) {
        int d = level[u] - level[v];
        if (d > 1 || d < -1) atomicAdd(bad + 1, 1ull);
        up |= d == -1;
        if (parent && u == parent[v] && d == -1) known = true;
      }
    }
    up = __any_sync(~0u, up);
    known = __any_sync(~0u, known);
    if (lane == 0 && here) {
      if (v == source ? level[v] != 0 : !up) atomicAdd(bad + 2, 1ull);
      if (parent && (v == source ? parent[v] != v : !known)) atomicAdd(bad + 3, 1ull);
    }
    if (lane == 0 && v == source && !here) atomicAdd(bad + 2, 1ull);
  }
}""", options=("-std=c++17",)).get_function("check")  # fmt: skip


GRAPHS = {
    "kron21": lambda: rmat(21, 48), "rmat22": lambda: rmat(22, 64), "grid2000": lambda: grid(2000),
    "road": lambda: real("USA-road-NE"),
}  # fmt: skip


# ---------------------------------------------------------------------- checking and timing


def check(store, source, found):
    """Raises unless the levels (and parents) are right."""
    bad = cp.zeros(4, cp.uint64)
    level = found.levels._store
    parent = None if found.parents is None else found.parents._store.values
    CHECK((2112,), (256,), (store.indptr, store.indices, level.values, 0 if parent is None else parent, level.words,
                            np.int32(store.nrows), np.int32(source), bad))  # fmt: skip
    if bad.any():
        raise SystemExit(f"WRONG: source {source}, bad {bad.tolist()} (reach, edge, level, parent)")


def note(**figures):
    LINES.append(figures)
    if os.environ.get("OUT"):
        with open(Path(os.environ["OUT"]) / "traverse.jsonl", "a") as f:
            f.write(json.dumps(figures) + "\n")


def subject(store, count):
    """(Graph of a store that was generated symmetric, its degrees, `count` vertices with edges)."""
    G = Graph.of_symmetric(gb.Matrix._from_store(store, store.dtype))
    degrees = cp.asnumpy(cp.diff(store.indptr))
    return G, degrees, [int(s) for s in np.random.RandomState(3).choice(np.flatnonzero(degrees), count)]


def measure(G, sources, parents, rounds=3):
    """Medians over the sources of the best of `rounds`: (call ms, kernel ms by events, device clock ms, host us)."""
    device, A = current().device, G.A._store
    calls, kernels, clocks, hosts = [], [], [], []
    for source in sources:
        call = kernel = clock = host = 1e9
        for _ in range(rounds):
            cp.cuda.Stream.null.synchronize()
            start = time.perf_counter()
            bfs(G, source, parents=parents)
            middle = time.perf_counter()
            cp.cuda.Stream.null.synchronize()
            call = min(call, (time.perf_counter() - start) * 1e3)
            host = min(host, (middle - start) * 1e6)
        for _ in range(rounds):
            first, last = cp.cuda.Event(), cp.cuda.Event()
            cp.cuda.Stream.null.synchronize()
            outcome = searches.traverse(device, A, A, source, True, parents, None, None, None)[2]
            clock = min(clock, outcome.seconds * 1e3)
            searches.traverse(device, A, A, source, True, parents, None, None, None)  # the host runs ahead of this one
            first.record()
            searches.traverse(device, A, A, source, True, parents, None, None, None)
            last.record()
            last.synchronize()
            kernel = min(kernel, cp.cuda.get_elapsed_time(first, last))
        calls.append(call)
        kernels.append(kernel)
        clocks.append(clock)
        hosts.append(host)
    return tuple(float(np.median(x)) for x in (calls, kernels, clocks, hosts))


def by_level(found, most=12):
    rows = found.report.rounds
    head = [f"{r['frontier']}{'v' if r['direction'] == 'pull' else '^'}{r['ms'] * 1e3:.1f}us" for r in rows[:most]]
    return f"{len(rows)} levels: " + " ".join(head)


def profile(G, source):
    """Where the host's time of a call goes: whole, parts, and a profile."""
    import cProfile
    import pstats

    device, A = current().device, G.A._store
    parts = {
        "bfs": lambda: bfs(G, source),
        "backend traverse": lambda: searches.traverse(device, A, A, source, True, False, None, None, None),
        "results": lambda: searches.Results(device, A.nrows, True, False, 1000).arrays(),
        "cupy.empty": lambda: cp.empty(A.nrows, np.int32),
        "alloc": lambda: cp.cuda.alloc(A.nrows * 4),
        "stream": lambda: cp.cuda.get_current_stream().ptr,
    }  # fmt: skip
    for name, run in parts.items():
        times = []
        for _ in range(60):
            cp.cuda.Stream.null.synchronize()
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(f"    host: {name} {np.median(times) * 1e6:.1f} us")
    watch = cProfile.Profile()
    for _ in range(200):
        cp.cuda.Stream.null.synchronize()
        watch.enable()
        bfs(G, source)
        watch.disable()
    pstats.Stats(watch).sort_stats("tottime").print_stats(12)


def stages(run, rounds=7):
    """Kernels of one call with the least device us of each, by events around their launches."""
    from grb_tile.backends.cuda.runtime.launch import Kernel, Launch

    log, plain = [], (Kernel.__call__, Kernel.over, Launch.__call__)

    def timed(launch):
        def call(kernel, *args, **options):
            first, last = cp.cuda.Event(), cp.cuda.Event()
            first.record()
            launch(kernel, *args, **options)
            last.record()
            name = kernel.name
            log.append((name.partition("<")[0], first, last))

        return call

    best = []
    Kernel.__call__, Kernel.over, Launch.__call__ = map(timed, plain)
    try:
        for _ in range(rounds):
            log.clear()
            run()
            cp.cuda.Stream.null.synchronize()
            now = [(name, cp.cuda.get_elapsed_time(first, last) * 1e3) for name, first, last in log]
            best = [(name, min(us, now[k][1])) for k, (name, us) in enumerate(best)] or now
    finally:
        Kernel.__call__, Kernel.over, Launch.__call__ = plain
    return ", ".join(f"{name} {us:.0f} us" for name, us in best)


def components(name, G):
    """Connected components through the algorithm; labels compared along the edges by a second way: SciPy's count."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components as by_scipy

    from grb_tile.algorithms import connected_components

    found, seconds = repeated(lambda: connected_components(G), 25)
    ms = float(np.median(seconds[5:])) * 1e3
    store = G.A._store
    labels = found.labels._store.values
    line = f"  connected components {ms:.3f} ms, {found.count} of them"
    if store.nvals < 50_000_000:
        ends, near = cp.asnumpy(store.indptr), cp.asnumpy(store.indices)
        count, _ = by_scipy(csr_array((np.ones(near.size, np.int8), near, ends), store.shape), directed=False)
        line += f", SciPy {count}" + ("" if count == found.count else " WRONG")
    first = store.indptr[:-1][cp.diff(store.indptr) > 0]
    owner = cp.flatnonzero(cp.diff(store.indptr) > 0)
    if not bool((labels[owner] == labels[store.indices[first]]).all()):
        line += " WRONG: labels differ along an edge"
    note(graph=name, components_ms=ms)
    print(f"{line}; {stages(lambda: connected_components(G))}", flush=True)


def many(scale=20, factor=16):
    """64 searches at once against 64 searches in turn; every row compared with its search."""
    from grb_tile.algorithms import bfs_multi

    store = rmat(scale, factor)
    G, degrees, _ = subject(store, 0)
    sources = [int(s) for s in np.random.RandomState(3).choice(np.flatnonzero(degrees), 64, replace=False)]
    found = bfs_multi(G, sources, parents=True)
    for k, source in enumerate(sources):
        if not found.levels[k, :].new().isequal(bfs(G, source).levels):
            raise SystemExit(f"WRONG: row {k} of bfs_multi")
    check_parents(found)
    times = {}
    for name, run in (("together", lambda: bfs_multi(G, sources)), ("apart", lambda: [bfs(G, s) for s in sources]),
                      ("with parents", lambda: bfs_multi(G, sources, parents=True)),
                      ("first call", lambda: (store.forms.pop("bfs_multi"), bfs_multi(G, sources)))):  # fmt: skip
        times[name] = median_ms(run, 16)
    found = bfs_multi(G, sources)
    rows = [
        f"{r['frontier']}{'v' if r['direction'] == 'pull' else '^'}{r['ms'] * 1e3:.0f}us" for r in found.report.rounds
    ]
    note(graph=f"kron{scale}", sources=64, **{f"{name.replace(' ', '_')}_ms": ms for name, ms in times.items()})
    print(
        f"kron{scale}, 64 sources, {found.levels.nvals} entries: "
        + ", ".join(f"{k} {ms:.3f} ms" for k, ms in times.items())
        + f"; {times['apart'] / times['together']:.1f} x; "
        + " ".join(rows),
        flush=True,
    )
    print(f"  {stages(lambda: bfs_multi(G, sources, parents=True))}", flush=True)


def check_parents(found):
    """Each parent of bfs_multi is one level up, each source its own."""
    L, P = found.levels._store, found.parents._store
    rows = cp.searchsorted(L.indptr, cp.arange(L.nvals), "right") - 1
    level = cp.full(L.shape, -9, cp.int32)
    level[rows, L.indices] = L.values
    wrong = cp.where(L.values > 0, level[rows, P.values] != L.values - 1, P.values != L.indices)
    if bool(wrong.any()) or not bool((L.indices == P.indices).all()):
        raise SystemExit("WRONG: parents of bfs_multi")


def reset(G):
    graph = graph_of(current().device, G.A._store, G.A._store)
    graph.launches.clear()
    graph._table = None


def tries(name):
    """Launch configurations worth comparing: dicts of changes to traverse.LAUNCH."""
    if name in ("grid2000", "road"):
        return [
            {"blocks": 8},
            {"blocks": 12},
            {"high_diameter_block": 512},
            {"high_diameter_block": 768},
        ]
    return [
        {"block": 512, "per_processor": 2},
        {"block": 768},
        {"block": 512, "per_processor": 3},
        {"block": 256, "per_processor": 4},
        {"alpha": 32},
        {"alpha": 64},
        {"cooperative": False},
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("graphs", nargs="*", default=[*GRAPHS, "many"])
    parser.add_argument("--tries", action="store_true")
    parser.add_argument("--host", action="store_true", help="where the host's time goes")
    parser.add_argument("--sources", type=int, default=16)
    args = parser.parse_args()
    gb.config.set(backend="cuda")
    for name in args.graphs:
        if name == "many":
            many()
            continue
        start = time.perf_counter()
        store = GRAPHS[name]()
        if store is None:
            continue
        cp.cuda.Stream.null.synchronize()
        made = time.perf_counter() - start
        G, degrees, sources = subject(store, args.sources)
        start = time.perf_counter()
        graph = graph_of(current().device, store, store)
        cp.cuda.Stream.null.synchronize()
        prepared = time.perf_counter() - start
        print(
            f"{name}: n {store.nrows}, entries {store.nvals}, made in {made:.1f} s, "
            f"prepared in {prepared * 1e3:.1f} ms, "
            f"longest row {graph.longest}, high diameter {graph.is_high_diameter}",
            flush=True,
        )
        teps = []
        for k, source in enumerate(sources):
            found = bfs(G, source, parents=k % 2 == 0)
            if k < 6:
                check(store, source, found)
            words = cp.unpackbits(found.levels._store.words.view(cp.uint8), bitorder="little")[: store.nrows]
            teps.append(int(degrees[cp.asnumpy(words).astype(bool)].sum()))
        print("  checked;", by_level(found), flush=True)
        for parents in (False, True):
            call, kernel, clock, host = measure(G, sources, parents)
            gteps = float(np.median(teps)) / call / 1e6
            note(
                graph=name,
                parents=parents,
                call_ms=call,
                kernel_ms=kernel,
                device_ms=clock,
                host_us=host,
                gteps=gteps,
                launch=dict(searches.LAUNCH),
            )
            print(
                f"  {'parents' if parents else 'levels '} call {call:.4f} ms, kernel {kernel:.4f} ms, device clock "
                f"{clock:.4f} ms, host {host:.1f} us, {gteps:.0f} GTEPS",
                flush=True,
            )
        components(name, G)
        if args.host:
            profile(G, sources[0])
        if args.tries:
            before = dict(searches.LAUNCH)
            for change in tries(name):
                searches.LAUNCH.update(change)
                reset(G)
                try:
                    found = bfs(G, sources[0])
                    check(store, sources[0], found)
                    call, kernel, clock, host = measure(G, sources[:6], False, 2)
                    note(graph=name, change=change, call_ms=call, kernel_ms=kernel)
                    print(f"    {change}: call {call:.4f} ms, kernel {kernel:.4f} ms; {by_level(found, 7)}", flush=True)
                except (
                    RuntimeError,
                    gb.exceptions.GraphblasException,
                ) as error:  # a configuration that the device refuses is a result too
                    print(f"    {change}: {type(error).__name__}: {error}", flush=True)
                searches.LAUNCH.clear()
                searches.LAUNCH.update(before)
            reset(G)
        del G, store, graph, found
        cp.get_default_memory_pool().free_all_blocks()
    print(f"{'graph':10} {'result':8} {'call ms':>9} {'kernel ms':>10} {'GTEPS':>7}")
    for line in LINES:
        if "parents" in line:
            print(
                f"{line['graph']:10} {'parents' if line['parents'] else 'levels':8} {line['call_ms']:9.4f} "
                f"{line['kernel_ms']:10.4f} {line['gteps']:7.0f}"
            )


if __name__ == "__main__":
    main()
