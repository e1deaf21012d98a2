"""Algorithms on the device: checked, timed, and where the time of a call goes.

    python3 tests/benchmarks/gpu/bench_algorithms.py [NAME ...] [--seconds 6] [--small] [--no-profile]

NAME is a case of CASES; all of them without one.  Graphs are made by grb_tile.generators on the device.  For each case:

  first      ms of the first call: kernels are compiled, forms of the graph are made
  median     ms of a call until the device is done, forms of the graph cached, as many calls as fit into --seconds
  per unit   the same for one unit of the case (an iteration, a source, a round), where it has one
  primitives how many calls of the backend's primitives one call makes, how long they take when the device is waited for
             before and after each, the ones that take most, and what is left: the host's time outside of primitives
  reads      how often the host waits for numbers of the device

Results are checked by independent means: CuPy's arrays of the edges, SciPy on a graph of 2^16 vertices.
A case that takes longer than its limit is stopped, and the row says so.  --small takes graphs of 2^12 vertices.
Writes JSON lines to $OUT/algorithms.jsonl when OUT is set.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

import numpy as np  # noqa: E402
from algorithm_checks import CHECKS, SLOW_CHECKS  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile import algorithms as alg, dtypes, generators  # noqa: E402
from grb_tile.backends import select  # noqa: E402
from grb_tile.backends.protocol import PRIMITIVES  # noqa: E402
from grb_tile.cli.timing import timed  # noqa: E402

FP32 = dtypes.FP32
OTHER = {"is_available", "to_device", "operands_to_device", "is_ready", "bind", "bound", "copy_here", "synchronize",
         "array", "is_array", "count_saving", "edges_of", "describe_device", "device_report",
         "run_reported"}  # fmt: skip

GRAPHS = {
    "kron21": lambda s: alg.Graph.of_symmetric(generators.kronecker(s or 21, 48)),
    "kron20": lambda s: alg.Graph.of_symmetric(generators.kronecker(s or 20, 16)),
    "kron20w": lambda s: alg.Graph.of_symmetric(generators.kronecker(s or 20, 16, weights=(1, 255))),
    "directed20": lambda s: alg.Graph(generators.kronecker(s or 20, 32, directed=True), directed=True),
    "uniform21": lambda s: alg.Graph.of_symmetric(generators.uniform_random(1 << (s or 21), 24 << (s or 21))),
    "kron16": lambda s: alg.Graph.of_symmetric(generators.kronecker(s or 16, 16)),
    "kron16w": lambda s: alg.Graph.of_symmetric(generators.kronecker(s or 16, 16, weights=(1, 255))),
    "directed16": lambda s: alg.Graph(generators.kronecker(s or 16, 16, directed=True), directed=True),
    "acyclic16": lambda s: alg.Graph(gb.select.triu(generators.kronecker(s or 16, 16), 1).new(), directed=True),
    "grid256": lambda s: alg.Graph.of_symmetric(generators.grid(*[1 << s // 2 if s else 256] * 2)),
    "grid2000": lambda s: alg.Graph.of_symmetric(generators.grid(*[1 << s // 2 if s else 2000] * 2)),
}

# name: graph, call, units of a call (None: no unit), name of its check, the target in ms a unit or a call
CASES = {
    "pagerank": ("kron21", lambda G: alg.pagerank(G, tol=0, max_iter=20, dtype=FP32), 20, "pagerank", 0.8),
    "pagerank_tol": ("kron21", lambda G: alg.pagerank(G, tol=1e-12, max_iter=20, dtype=FP32, strict=False),
                     20, "pagerank", 0.8),
    "components_uniform": ("uniform21", alg.connected_components, None, "components", 0.8),
    "components_kron": ("kron21", alg.connected_components, None, "components", None),
    "strong_components": ("directed20", alg.strongly_connected_components, None, "strong", 3),
    "core_number": ("kron20", alg.core_number, None, "cores", 20),
    "louvain_level": ("kron20", lambda G: alg.louvain(G, max_level=1), None, "louvain", 60),
    "label_propagation": ("kron20", lambda G: alg.label_propagation(G, max_iter=4), 4, "labels", 2),
    "spanning_forest": ("kron20w", alg.minimum_spanning_forest, None, "forest", 15),
    "coloring": ("kron20", alg.coloring, None, "coloring", 5),
    "coloring_random": ("kron20", lambda G: alg.coloring(G, method="jp_random"), None, "coloring", 5),
    "independent_set": ("kron20", alg.maximal_independent_set, None, "independent", None),
    "betweenness_1": ("kron21", lambda G: alg.betweenness(G, sources=[G.n // 3], normalized="sum"), 1, None, 8),
    "betweenness_8": ("kron21", lambda G: alg.betweenness(G, sources=_sources(G, 8), normalized="sum"), 8, None, 8),
    "betweenness_64": ("kron20", lambda G: alg.betweenness(G, sources=_sources(G, 64), normalized="sum"), 64, None, 3),
    "katz": ("kron20", lambda G: alg.katz(G, alpha=1e-5, tol=0, max_iter=10, strict=False), 10, None, None),
    "eigenvector": ("kron20", lambda G: alg.eigenvector(G, tol=0, max_iter=10, strict=False), 10, "eigen", None),
    "hits": ("kron20", lambda G: alg.hits(G, tol=0, max_iter=10, strict=False), 10, "eigen", None),
    "leiden": ("kron20", alg.leiden, None, "louvain", None),
    "rcm": ("grid2000", alg.rcm, None, "order", None),
    "louvain": ("kron20", alg.louvain, None, "louvain", None),
    "k_core": ("kron20", lambda G: alg.k_core(G, 16), None, None, None),
    "modularity": ("kron20", lambda G: alg.modularity(G, np.arange(G.n) % 1000), None, None, None),
    "triangles": ("kron16", alg.triangles, None, None, None),
    "clustering": ("kron16", alg.clustering, None, None, None),
    "clustering_directed": ("directed16", alg.clustering, None, None, None),
    "square_clustering": ("kron16", lambda G: alg.square_clustering(G, nodes=_sources(G, 1024)), 1024, None, None),
    "jaccard_pairs": ("kron16", lambda G: alg.jaccard(G, _pairs(G, 100_000)), None, None, None),
    "jaccard_pairs_20": ("kron20", lambda G: alg.jaccard(G, _pairs(G, 100_000)), None, None, 5),
    "adamic_adar_pairs": ("kron16", lambda G: alg.adamic_adar(G, _pairs(G, 100_000)), None, None, None),
    "jaccard_topk": ("grid256", lambda G: alg.jaccard(G, topk=8), None, None, None),
    "closeness": ("kron16", lambda G: alg.closeness(G, sources=_sources(G, 512)), 512, None, None),
    "harmonic": ("kron16", lambda G: alg.harmonic(G, sources=_sources(G, 512)), 512, None, None),
    "closeness_weighted": ("kron16w", lambda G: alg.closeness(G, sources=_sources(G, 16), weighted=True), 16, None,
                           None),
    "betweenness_weighted": ("kron16w", lambda G: alg.betweenness(G, sources=_sources(G, 4), weighted=True), 4, None,
                             None),
    "apsp": ("kron16", lambda G: alg.apsp(G, sources=_sources(G, 512)), 512, None, None),
    "apsp_weighted": ("kron16w", lambda G: alg.apsp(G, sources=_sources(G, 16), weighted=True), 16, None, None),
    "eccentricity": ("grid256", lambda G: alg.eccentricity(G, sources=_sources(G, 64)), 64, None, None),
    "diameter": ("grid256", alg.diameter, None, None, None),
    "diameter_estimate": ("grid256", lambda G: alg.diameter(G, method="estimate"), None, None, None),
    "topological": ("acyclic16", alg.topological_generations, None, "generations", None),
    "matching": ("directed16", lambda G: alg.bipartite_matching(G.A), None, "matching", None),
    "reciprocity": ("directed16", alg.reciprocity, None, None, None),
    "condensation": ("directed16", alg.condensation, None, None, None),
    "walks": ("kron16", lambda G: alg.random_walks(G, np.arange(G.n), 16, seed=1), 16, None, None),
    "walks_pq": ("kron16", lambda G: alg.random_walks(G, np.arange(G.n), 16, p=2.0, q=0.5, seed=1), 16, None, None),
    "walks_weighted": ("kron16w", lambda G: alg.random_walks(G, np.arange(G.n), 16, weighted=True, seed=1), 16, None,
                       None),
    "path": ("grid256", lambda G: alg.shortest_path(G, 0, G.n - 1), None, None, None),
    "ego_graph": ("kron16", lambda G: alg.ego_graph(G, int(_sources(G, 1)[0])), None, None, None),
    "mcl": ("grid256", lambda G: alg.mcl(G, max_iter=10, strict=False), None, None, None),
    "components_grid": ("grid2000", alg.connected_components, None, "components", None),
}  # fmt: skip


WARM_UP = 5  # calls after the first that are not counted where others follow: forms and memory are still being made


class LimitError(Exception):
    """A case took longer than its limit."""


@contextmanager
def limit(seconds):
    def stop(*_):
        raise LimitError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _sources(G, count):
    degree = G.out_degree.to_coo(values=False)[0]
    return np.random.default_rng(1).choice(degree, count, replace=False).tolist()


@lru_cache(maxsize=2)
def _pairs(G, count):
    drawn = np.random.default_rng(1).integers(0, G.n, (2 * count, 2))
    return drawn[drawn[:, 0] != drawn[:, 1]][:count]


@contextmanager
def watched():
    """Yields (calls, milliseconds, reads) of the primitives that are called within the block, the device waited for."""
    backend, calls, spent, reads = select.current(), Counter(), defaultdict(float), Counter()
    device = getattr(backend, "device", None)
    names = [name for name in PRIMITIVES if name not in OTHER]
    inside = []

    def wrapped(name, run):
        def call(*arguments, **options):
            if inside:
                return run(*arguments, **options)
            backend.synchronize()
            inside.append(name)
            start = time.perf_counter()
            try:
                found = run(*arguments, **options)
                backend.synchronize()
            finally:
                inside.pop()
            calls[name] += 1
            spent[name] += (time.perf_counter() - start) * 1e3
            return found

        return call

    def counted(name, run):
        def call(*arguments):
            reads[name] += 1
            return run(*arguments)

        return call

    wrapped_names = {name: getattr(backend, name) for name in names}
    for name, run in wrapped_names.items():
        setattr(backend, name, wrapped(name, run))
    readers = () if device is None else ("read", "read_count", "read_scalar", "host")
    for name in readers:
        setattr(device, name, counted(name, getattr(device, name)))
    try:
        yield calls, spent, reads
    finally:
        for name in wrapped_names:
            delattr(backend, name)
        for name in readers:
            delattr(device, name)


def profile(call):
    """Where the time of one call goes."""
    with watched() as (calls, spent, reads):
        whole = timed(call)[1] * 1e3
    most = sorted(spent, key=spent.get, reverse=True)[:5]
    return {
        "primitives": sum(calls.values()), "in_primitives_ms": round(sum(spent.values()), 3),
        "host_ms": round(whole - sum(spent.values()), 3), "reads": dict(reads),
        "most": {name: [calls[name], round(spent[name], 3)] for name in most},
    }  # fmt: skip


def measure(name, G, seconds, with_profile, most):
    graph, call, units, check, target = CASES[name]
    row = {"case": name, "graph": graph, "n": G.n, "entries": G.A.nvals, "target": target, "unit": units}
    detours = Counter(select.current().detours) if hasattr(select.current(), "detours") else Counter()
    try:
        with limit(most or int(3 * seconds) + 1):
            found, first = timed(lambda: call(G))
            row["first"] = round(first * 1e3, 3)
            times = []
            while len(times) < WARM_UP + 30 and (not times or (sum(times) + times[-1]) / 1e3 < seconds / 2):
                times.append(timed(lambda: call(G))[1] * 1e3)
            times = times[WARM_UP:] if len(times) > 2 * WARM_UP else times
            row.update(median=round(float(np.median(times)), 3), least=round(min(times), 3), calls=len(times))
            if units:
                row["per_unit"] = round(row["median"] / units, 3)
            report = getattr(found, "report", None)
            if report is not None:
                row["rounds"], row["ran"] = report.iterations, report.algorithm
            if with_profile:
                row.update(profile(lambda: call(G)))
        now = getattr(select.current(), "detours", Counter())
        row["on_host"] = {key: now[key] - detours[key] for key in now if now[key] != detours[key]}
        with limit(int(3 * seconds) + 20):
            if check in SLOW_CHECKS and G.n > 1 << 16:
                G = GRAPHS[graph](16)
                found = call(G)
            row["checked"] = CHECKS[check](G, found) if check else "no"
    except LimitError as error:
        row["stopped"] = str(error)
    except Exception as error:  # noqa: BLE001  # a row for every case, whatever happens in one
        row["failed"] = f"{type(error).__name__}: {error}"[:300]
    return row


def show(row):
    figures = [f"{key} {row[key]}" for key in ("first", "median", "least", "calls", "per_unit", "rounds", "target",
               "primitives", "in_primitives_ms", "host_ms", "reads", "most", "on_host", "checked", "stopped", "failed")
               if row.get(key) not in (None, {})]  # fmt: skip
    print(f"{row['case']} ({row['graph']}, {row['entries']} entries): " + ", ".join(figures), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="cases; all when left out")
    parser.add_argument("--seconds", type=float, default=6, help="for the calls of a case, roughly")
    parser.add_argument(
        "--limit", type=int, help="seconds after which a case is stopped; 3 times --seconds if left out"
    )
    parser.add_argument("--small", action="store_true", help="graphs of 2^12 vertices, to try the benchmark itself")
    parser.add_argument("--no-profile", action="store_true")
    parser.add_argument("--backend", default="cuda")
    given = parser.parse_args()
    gb.config.set(backend=given.backend)
    unknown = [name for name in given.names if name not in CASES]
    if unknown:
        raise SystemExit(f"no case {unknown[0]!r}; there are {', '.join(CASES)}")
    names = given.names or list(CASES)
    failed = False
    for graph in GRAPHS:  # one graph at a time in memory
        of_graph = [name for name in names if CASES[name][0] == graph]
        if not of_graph:
            continue
        G, made = timed(lambda: GRAPHS[graph](12 if given.small else None))  # noqa: B023
        print(f"-- {graph}: {G.n} vertices, {G.A.nvals} entries, made in {made * 1e3:.0f} ms", flush=True)
        for name in of_graph:
            row = measure(name, G, given.seconds, not given.no_profile, given.limit)
            failed |= "failed" in row
            show(row)
            if os.environ.get("OUT"):
                with open(Path(os.environ["OUT"]) / "algorithms.jsonl", "a") as f:
                    f.write(json.dumps(row) + "\n")
        del G
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
