"""The eight-line breadth-first search that a user writes, on the device, beside the library's: times of whole calls.

    python3 tests/benchmarks/gpu/bench_bfs_loop.py

kron 21 edge factor 48, medians over 16 sources with edges; levels of both searches are compared.
"""

import json
import os
import statistics
import sys
from functools import partial
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parent)]
import numpy as np
from device_graphs import rmat

import grb_tile as gb
from grb_tile import semiring
from grb_tile.algorithms import Graph, bfs
from grb_tile.cli.timing import timed


def loop(A, source, reuses=False):
    """level<f> = depth, f<!level,r> = f any.pair A until f is empty; reuses: a pull may read the levels as frontier."""
    n = A.nrows
    f = gb.Vector.from_coo([source], True, size=n)
    level = gb.Vector(gb.dtypes.INT32, n)
    depth = 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, semiring.any_pair, reuse=level if reuses else None)
        depth += 1
    return level


def figures_of(store):
    """{"loop", "loop, reuse", "bfs": median ms of a call from 16 sources}; the levels of all are equal."""
    G = Graph(gb.Matrix._from_store(store, store.dtype, "A"), directed=False)
    degree = G.out_degree.to_coo()
    sources = np.random.default_rng(3).choice(degree[0], 16).astype(int).tolist()
    searches = {
        "loop": lambda s: loop(G.A, s),
        "loop, reuse": lambda s: loop(G.A, s, True),
        "bfs": lambda s: bfs(G, s).levels,
    }
    times = {name: [] for name in searches}
    for source in [*sources[:2], *sources]:  # two rounds to warm up
        results = []
        for name, search in searches.items():
            found, seconds = timed(partial(search, source))
            times[name].append(seconds * 1e3)
            results.append(found)
        assert all(found.isequal(results[0]) for found in results), f"source {source}: the searches differ"
    return {name: round(statistics.median(samples[2:]), 4) for name, samples in times.items()}


def main():
    gb.config.set(backend="cuda")
    figures = figures_of(rmat(21, 48))
    print("kron21 BFS, ms a call:", figures)
    if os.environ.get("OUT"):
        Path(os.environ["OUT"], "loop.jsonl").write_text(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
