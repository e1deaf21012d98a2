"""Algorithms of many sources, and the products with full matrices of as many columns: python
tests/benchmarks/bench_sources.py [scale] [sources]

Personalised PageRank by pagerank_multi and by one `pagerank` after the other; bfs_multi and betweenness, whose loops
are not products, beside one SpMM with a column for each source: a search needs one a level, betweenness two.
Milliseconds, the best of several: wall time, and the processor time of all threads.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import numpy as np

import grb_tile as gb
from grb_tile import algorithms, generators

ITERATIONS, REPEATS, SINGLE = 10, 6, 4


def best(function):
    """(wall, processor) milliseconds of the fastest of the calls, the first two left out."""
    found = []
    for _ in range(REPEATS):
        wall, processor = time.perf_counter(), time.process_time()
        function()
        found.append(((time.perf_counter() - wall) * 1e3, (time.process_time() - processor) * 1e3))
    return [min(times) for times in zip(*found[2:], strict=True)]


def say(name, times):
    print(f"{name:44} {times[0]:9.1f} wall {times[1]:9.1f} processor", flush=True)


def personalised(G, sources):
    options = {"tol": 0, "max_iter": ITERATIONS}
    say("pagerank_multi", best(lambda: algorithms.pagerank_multi(G, sources, batch=len(sources), **options)))

    def singly():
        for source in sources[:SINGLE]:
            algorithms.pagerank(G, personalization={source: 1}, **options)

    say("pagerank, one after the other", [x * len(sources) / SINGLE for x in best(singly)])


def traversals(G, sources):
    count = len(sources)
    say("bfs_multi", best(lambda: algorithms.bfs_multi(G, sources)))
    say("betweenness", best(lambda: algorithms.betweenness(G, sources=sources, batch=count)))
    reached = np.random.default_rng(1).random((G.n, count)) < 0.5
    for name, op, X in (
        ("one SpMM lor_second BOOL", gb.semiring.lor_second, gb.Matrix.from_dense(reached)),
        ("one SpMM plus_second FP64", gb.semiring.plus_second, gb.Matrix.from_dense(reached.astype(np.float64))),
    ):
        say(name, best(lambda op=op, X=X: op(G.A @ X).new()))


def main():
    given = [int(x) for x in sys.argv[1:]]
    scale, count = [*given, *(16, 64)[len(given) :]]
    A = generators.rmat(scale, 16, seed=1)
    A = gb.binary.pair(A | A.T).new(gb.dtypes.BOOL)
    G = algorithms.Graph(A)
    sources = np.flatnonzero(G.out_degree.to_dense(0))[:count].tolist()
    print(f"{G.n} vertices, {A.nvals} entries, {count} sources")
    personalised(G, sources)
    traversals(G, sources)


if __name__ == "__main__":
    main()
