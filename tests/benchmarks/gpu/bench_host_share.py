"""The host's share of the time of every algorithm, on a Kronecker graph of 2^20 vertices and a grid of 64^3.

    python3 tests/benchmarks/gpu/bench_host_share.py [--only NAME ...] [--graph kron20] [--seconds 85] [--small]

For each algorithm: ms of a call until the device is done (median, forms of the graph cached), ms in which a kernel of
the library ran (device_time.py), how many launches, and the rest: the host's time, with CuPy's own kernels and copies.
Wanted: at most a fifth of the whole, or 50 us.  No result is checked here; bench_algorithms.py does that.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

import numpy as np  # noqa: E402
from device_time import Launches, most  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile import algorithms as alg, generators  # noqa: E402
from grb_tile.backends import select  # noqa: E402
from grb_tile.cli.timing import timed  # noqa: E402

SHARE, LEAST_MS = 0.2, 0.05
EACH = 0.25  # seconds for the calls of an algorithm

GRAPHS = {
    "kron20": lambda small: generators.kronecker(10 if small else 20, 16),
    "grid64": lambda small: generators.grid(*[8 if small else 64] * 3),
}


def sources(G, count):
    """Vertices with edges; drawn once for a graph, as what follows."""
    rng, count = np.random.default_rng(1), min(count, G.n // 4)
    return G.keep(("sources", count), lambda: rng.choice(G.out_degree.to_coo(values=False)[0], count, False).tolist())


def pairs(G):
    drawn = np.random.default_rng(1).integers(0, G.n, (20_000, 2))
    return G.keep("pairs", lambda: drawn[drawn[:, 0] != drawn[:, 1]])


CASES = {
    "triangles": alg.triangles,
    "clustering": alg.clustering,
    "triangle_count": alg.triangle_count,
    "k_truss(4)": lambda G: alg.k_truss(G, 4),
    "maximal_independent_set": alg.maximal_independent_set,
    "coloring": alg.coloring,
    "hits, 10": lambda G: alg.hits(G, tol=0, max_iter=10, strict=False),
    "katz, 10": lambda G: alg.katz(G, alpha=1e-5, tol=0, max_iter=10, strict=False),
    "eigenvector, 10": lambda G: alg.eigenvector(G, tol=0, max_iter=10, strict=False),
    "pagerank, 20": lambda G: alg.pagerank(G, tol=0, max_iter=20, strict=False),
    "bfs": lambda G: alg.bfs(G, sources(G, 1)[0]),
    "sssp": lambda G: alg.sssp(G, sources(G, 1)[0]),
    "connected_components": alg.connected_components,
    "strongly_connected_components": alg.strongly_connected_components,
    "core_number": alg.core_number,
    "k_core(8)": lambda G: alg.k_core(G, 8),
    "label_propagation, 4": lambda G: alg.label_propagation(G, max_iter=4),
    "louvain": alg.louvain,
    "leiden": alg.leiden,
    "bfs_multi, 16": lambda G: alg.bfs_multi(G, sources(G, 16)),
    "betweenness, 4": lambda G: alg.betweenness(G, sources=sources(G, 4), normalized="sum"),
    "closeness, 16": lambda G: alg.closeness(G, sources=sources(G, 16)),
    "pagerank_multi, 4": lambda G: alg.pagerank_multi(G, sources(G, 4), max_iter=10, strict=False),
    "minimum_spanning_forest": alg.minimum_spanning_forest,
    "modularity": lambda G: alg.modularity(G, np.arange(G.n) % 1000),
    "random_walks": lambda G: alg.random_walks(G, sources(G, 1000), 16, seed=1),
    "jaccard of pairs": lambda G: alg.jaccard(G, pairs(G)),
    "transitivity": alg.transitivity,
    "degree_centrality": alg.degree_centrality,
    "reciprocity": alg.reciprocity,
    "shortest_path": lambda G: alg.shortest_path(G, *sources(G, 2)),
    "rcm": alg.rcm,
}


class LimitError(Exception):
    """An algorithm takes longer than its limit."""


def stop(*_):
    raise LimitError


def row(launches, G, call):
    """(ms, busy ms, launches, text)."""
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(15)
    try:
        timed(lambda: call(G))
        times = [timed(lambda: call(G))[1] * 1e3]
        while len(times) < 30 and sum(times) < EACH * 1e3:
            times.append(timed(lambda: call(G))[1] * 1e3)
        with launches.recorded() as found:
            call(G)
    finally:
        signal.alarm(0)
    return float(np.median(times[len(times) // 3 :])), found.busy, found.count, most(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--graph", nargs="*", default=list(GRAPHS))
    parser.add_argument("--seconds", type=float, default=85)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    gb.config.set(backend="cuda")
    launches = Launches(select.current().device)
    for graph in given.graph:
        G = alg.Graph.of_symmetric(GRAPHS[graph](given.small))
        print(f"| {graph} | ms | kernels, ms | launches | host, ms | share | | kernels that take most, ms |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
        for name, call in CASES.items():
            if (given.only and name.split(",")[0].split("(")[0] not in given.only) or time.monotonic() > end:
                continue
            if name == "rcm" and graph != "grid64":
                continue
            try:
                ms, busy, count, text = row(launches, G, call)
            except Exception as error:  # noqa: BLE001  # a row for every algorithm
                print(f"| {name} | {type(error).__name__}: {str(error)[:80]} | | | | | | |", flush=True)
                continue
            host = ms - busy
            good = "" if host <= max(LEAST_MS, SHARE * ms) else "over"
            print(f"| {name} | {ms:.3f} | {busy:.3f} | {count} | {host:.3f} | {host / ms:.2f} | {good} | {text} |",
                  flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
