"""Products and algorithms over ranks against one process: median seconds, bytes that a rank receives, and the model.

    grb-tile run -n 2 tests/benchmarks/bench_distributed.py --scale 18
    mpiexec -n 4 python tests/benchmarks/bench_distributed.py --scale 22 --backend cuda --record results.md

The graph is R-MAT, undirected.  One process: rank 0 alone computes the same, while the others wait.  Every result is
compared with that of one process.  Model: t(p) = t(1) / p + latency + bytes / bandwidth, with the latency of one
exchange and the bandwidth of this communicator, measured first; a loop has an exchange or more a turn.
"""

import argparse
import statistics
import time

import numpy as np

import grb_tile as gb
from grb_tile import algorithms, generators

REPEATS = 5


def spmv(A):
    x = gb.Vector.from_dense(np.ones(A.ncols, np.float32))
    return lambda: A.mxv(x, gb.semiring.plus_second).new()


CASES = {
    "SpMV, plus_second FP32": spmv,
    "PageRank, 20 iterations": lambda A: lambda: algorithms.pagerank(A, tol=0, max_iter=20, strict=False).values,
    "BFS": lambda A: lambda: algorithms.bfs(A, 0).levels,
    "connected components": lambda A: lambda: algorithms.connected_components(A).values,
    "triangles": lambda A: lambda: algorithms.triangle_count(A),
}


def measured(call, world, alone=False):
    """(median seconds of the slowest rank, exchanges' bytes of a call, its result)"""
    result = call()
    seconds, received = [], world.traffic["bytes_received"]
    for _ in range(REPEATS):
        if not alone:
            world.barrier()
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    received = (world.traffic["bytes_received"] - received) / REPEATS
    median = statistics.median(seconds)
    return (median if alone else max(world.allgather(median))), received, result


def plain(x):
    return x if isinstance(x, int) else [part.astype(np.float64) for part in x.to_coo()]


def same(x, y):
    if isinstance(x, int):
        return x == y
    return all(np.allclose(a, b, rtol=1e-4, atol=1e-7) for a, b in zip(x, y, strict=True))


def link(world):
    """(seconds of an empty exchange, bytes a second of a large one)"""
    small = min(timed(lambda: world.allgather(0)) for _ in range(20))
    block = bytes(1 << 24)
    large = min(timed(lambda: world.allgather(block)) for _ in range(3))
    return small, (world.size - 1) * len(block) / max(large - small, 1e-9)


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--edge-factor", type=int, default=16)
    parser.add_argument("--backend", default=None)
    parser.add_argument("--record", help="a file to which rank 0 appends the table")
    options = parser.parse_args()
    world = gb.dist.init(backend=options.backend)
    start = time.perf_counter()
    A = gb.dist.rmat(options.scale, options.edge_factor, directed=False, seed=1)
    made = time.perf_counter() - start
    latency, bandwidth = link(world) if world.size > 1 else (0.0, 1.0)
    title = (
        f"R-MAT {options.scale}, edge factor {options.edge_factor}, {A.nvals:,} entries, {world.size} ranks, made in "
        f"{made:.2f} s; an empty exchange {latency * 1e6:.0f} us, {bandwidth / 1e9:.2f} GB/s"
    )
    lines = [
        "",
        title,
        "",
        "| | one process, ms | ranks, ms | ratio | MB received | model, ms |",
        "|---|---|---|---|---|---|",
    ]
    with gb.dist.local():
        whole = generators.rmat(options.scale, options.edge_factor, directed=False, seed=1) if world.rank == 0 else None
    for name, case in CASES.items():
        seconds, received, result = measured(case(A), world)
        result = plain(result)
        alone, right = 0.0, True
        if world.rank == 0:
            with gb.dist.local():
                alone, _, expected = measured(case(whole), world, alone=True)
                right = same(plain(expected), result)
        alone, right = world.broadcast((alone, right))
        if not right:
            raise SystemExit(f"{name}: the result on ranks is another one")
        model = alone / world.size + latency + received / bandwidth
        lines.append(
            f"| {name} | {alone * 1e3:.2f} | {seconds * 1e3:.2f} | {alone / seconds:.2f} | {received / 1e6:.2f} | "
            f"{model * 1e3:.2f} |"
        )
    if world.rank == 0:
        print("\n".join(lines))
        if options.record:
            with open(options.record, "a", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
