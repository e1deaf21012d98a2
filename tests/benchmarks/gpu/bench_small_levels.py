"""Searches of a long path behind a hub, whose levels have a vertex each, and of graphs that must not get slower.

    python3 tests/benchmarks/gpu/bench_small_levels.py [--length 131072]

Levels and distances are checked against those that the graph was made with, the report's levels too.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

import numpy as np  # noqa: E402
from device_time import Launches, most  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile import algorithms as alg, generators  # noqa: E402
from grb_tile.backends import select  # noqa: E402
from grb_tile.cli.timing import repeated, timed  # noqa: E402

LEAVES = 100_000


def behind_a_hub(length, shuffled, weights=None):
    """(Graph, hub, distances from the hub): LEAVES leaves and a path of `length` edges from vertex 0."""
    n = 1 + LEAVES + length
    i = np.r_[np.zeros(LEAVES, np.int64), 0, np.arange(LEAVES + 1, n - 1)]
    j = np.r_[np.arange(1, LEAVES + 1), np.arange(LEAVES + 1, n)]
    w = np.ones(j.size) if weights is None else weights(j.size)
    d = np.r_[0, w[:LEAVES], np.cumsum(w[LEAVES:])]
    at = np.random.default_rng(5).permutation(n) if shuffled else np.arange(n)
    A = gb.Matrix.from_coo(np.r_[at[i], at[j]], np.r_[at[j], at[i]], np.r_[w, w], nrows=n, ncols=n)
    wanted = np.empty(n)
    wanted[at] = d
    return alg.Graph.of_symmetric(A), int(at[0]), wanted


def measure(launches, name, call, levels=None, count=3):
    first = timed(call)[1] * 1e3
    found, times = repeated(call, count)
    with launches.recorded() as seen:
        call()
    each = "" if levels is None else f", {np.median(times) * 1e6 / levels:.3f} us a level"
    print(f"{name}: {np.median(times) * 1e3:.3f} ms{each} (first {first:.0f}); kernels {seen.busy:.3f}: {most(seen)}",
          flush=True)  # fmt: skip
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, default=131_072)
    given = parser.parse_args()
    gb.config.set(backend="cuda")
    launches = Launches(select.current().device)
    rng = np.random.default_rng(7)
    for shuffled in (False, True):
        G, hub, wanted = behind_a_hub(given.length, shuffled)
        text = "shuffled" if shuffled else "in order"
        for parents in (False, True):
            found = measure(launches, f"bfs, path behind a hub, {text}, parents {parents}",
                            lambda: alg.bfs(G, hub, parents=parents), given.length)  # noqa: B023  # fmt: skip
            assert (found.levels.to_dense() == wanted).all()
            assert found.report.iterations in (given.length, given.length + 1), found.report.iterations
            print(f"  report: {found.report.iterations} levels", flush=True)
        found = measure(launches, f"sssp, weights 1, {text}", lambda: alg.sssp(G, hub), given.length)  # noqa: B023
        assert (found.distances.to_dense() == wanted).all()
        print(f"  report: {found.report.iterations} rounds", flush=True)
    for name, weights in (("integers 1 to 255", lambda m: rng.integers(1, 256, m)), ("reals", rng.random)):
        G, hub, wanted = behind_a_hub(given.length, True, weights)
        found = measure(launches, f"sssp, weights {name}", lambda: alg.sssp(G, hub), given.length)  # noqa: B023
        assert np.allclose(found.distances.to_dense(), wanted)
        print(f"  report: {found.report.iterations} rounds", flush=True)
    G = alg.Graph.of_symmetric(generators.grid(2000, 2000))
    measure(launches, "bfs, grid 2000", lambda: alg.bfs(G, 0), 3998)
    measure(launches, "sssp, grid 2000", lambda: alg.sssp(G, 0), 3998)
    G = alg.Graph.of_symmetric(generators.kronecker(21, 48))
    source = int(G.out_degree.to_coo(values=False)[0][5])
    measure(launches, "bfs, kron 21", lambda: alg.bfs(G, source), count=30)
    G = alg.Graph.of_symmetric(generators.kronecker(21, 48, weights=(1, 255)))
    measure(launches, "sssp, kron 21", lambda: alg.sssp(G, source), count=30)
    return 0


if __name__ == "__main__":
    sys.exit(main())
