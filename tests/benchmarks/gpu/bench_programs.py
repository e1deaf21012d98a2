"""Loops of GraphBLAS calls, plain and as programs, beside the library's algorithm: ms of whole calls.

    python tests/benchmarks/gpu/bench_programs.py [--graphs kron21,rmat20,grid64,grid2000] [--calls 15] [--record]

The loops are those of docs/PROGRAMS.md and the least label of the neighbours; results of the program are compared with
the plain loop's.  first: the calls that run as they stand and that capture; turn: us of a turn of the program.
--record writes tests/benchmarks/results/programs_gpu.md.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parent)]
import numpy as np
from device_graphs import grid, rmat

import grb_tile as gb
from grb_tile import algorithms as alg, generators
from grb_tile.backends.select import current
from grb_tile.cli.timing import timed

RESULTS = Path(__file__).resolve().parents[1] / "results" / "programs_gpu.md"
HEAD = "| loop | turns | plain ms | program ms | us a turn | plain / program | library ms | second call ms | pulled |"
GRAPHS = {
    "kron21": lambda: gb.Matrix._from_store(rmat(21, 48)),
    "rmat20": lambda: gb.Matrix._from_store(rmat(20, 16)),
    "grid64": lambda: generators.grid(64, 64, 64),
    "grid2000": lambda: gb.Matrix._from_store(grid(2000)),
}


def bfs(A, source):
    """Levels from a vertex."""
    level = gb.Vector(int, A.nrows)
    f = gb.Vector.from_coo([source], [True], size=A.nrows)
    depth = 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1
    return level


def bfs_counted(A, source):
    """Levels from a vertex, turn by turn: how many vertices are reached is counted beside, so it is no search."""
    level = gb.Vector(int, A.nrows)
    f = gb.Vector.from_coo([source], [True], size=A.nrows)
    depth, reached = 0, 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1
        reached += f.nvals
    return level


def pagerank(A, w, d=0.85, most=20):
    """Twenty turns; w: 1 / out-degree."""
    r = gb.Vector.from_scalar(1 / A.nrows, A.nrows)
    for _ in gb.loop(max_turns=most):
        old = r.dup()
        r << (1 - d) / A.nrows
        r("plus") << A.T.mxv(d * (old * w), "plus_second")
        if abs(r - old).reduce("plus") < 0:
            break
    return r


def bellman_ford(A, source):
    """Distances from a vertex."""
    d = gb.Vector.from_coo([source], [0.0], size=A.nrows)
    changed = True
    while changed:
        old = d.dup()
        d("min") << d.vxm(A, "min_plus")
        changed = not d.isequal(old)
    return d


def least_labels(A, labels):
    """The least label that reaches each vertex."""
    label, changed = labels.dup(), True
    while changed:
        old = label.dup()
        label("min") << A.mxv(label, "min_second")
        changed = not label.isequal(old)
    return label


def median_ms(call, calls):
    """Of `calls` calls after two."""
    times = []
    for _ in range(calls + 2):
        current().synchronize()
        start = time.perf_counter()
        call()
        current().synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[2:])


def row_of(name, function, arguments, library, calls):
    """The line of a loop on a graph.  Raises: AssertionError where program and plain loop differ."""
    program = gb.program(function)
    wanted = function(*arguments)
    seconds = [timed(lambda: program(*arguments))[1] for _ in range(5)]
    found = program(*arguments)
    assert found.isclose(wanted, rel_tol=1e-9), f"{name}: the program's result differs"
    plain = median_ms(lambda: function(*arguments), calls)
    ours = median_ms(lambda: program(*arguments), calls)
    theirs = median_ms(library, calls)
    assert program(*arguments).isclose(wanted, rel_tol=1e-9), f"{name}: the program's last result differs"
    ran = program.loops[0]
    where = ran.pulled if ran.reason is None else f"from Python: {ran.reason}"
    return (
        f"| {name} | {ran.turns} | {plain:.3f} | {ours:.3f} | {ours * 1e3 / max(ran.turns, 1):.1f} "
        f"| {plain / ours:.2f} | {theirs:.3f} | {seconds[1] * 1e3:.1f} | {where} |"
    )


def rows_of(graph, calls):
    """The lines of a graph."""
    A = GRAPHS[graph]()
    degree = A.reduce_rowwise("count").new()
    source = int(np.argmax(degree.to_dense(0)))
    w = gb.unary.minv(degree.apply("identity").new(float)).new()
    W = A.apply("one").new(float)
    labels = gb.Vector.from_dense(np.arange(A.nrows))
    G, weighted = alg.Graph(A, directed=False), alg.Graph(W, directed=False)
    yield row_of(f"BFS, {graph}", bfs, (A, source), lambda: alg.bfs(G, source), calls)
    yield row_of(f"PageRank, 20 turns, {graph}", pagerank, (A, w), lambda: alg.pagerank(G, tol=0, max_iter=20), calls)
    yield row_of(f"Bellman-Ford, {graph}", bellman_ford, (W, source), lambda: alg.sssp(weighted, source), calls)
    yield row_of(f"least label, {graph}", least_labels, (A, labels), lambda: alg.connected_components(G), calls)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default="kron21,rmat20,grid64", help=", ".join(GRAPHS))
    parser.add_argument("--calls", type=int, default=15)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    gb.config.set(backend="cuda")
    lines = [HEAD, "|" + "---|" * (HEAD.count("|") - 1)]
    print("\n".join(lines), flush=True)
    for graph in options.graphs.split(","):
        for row in rows_of(graph, options.calls):
            print(row, flush=True)
            lines.append(row)
    if options.record:
        RESULTS.write_text(
            "# Loops as programs on a GPU\n\n"
            f"{current().describe_device()}; `tests/benchmarks/gpu/bench_programs.py`: medians of {options.calls}\n"
            "whole calls.  library: the algorithm of `grb_tile.algorithms` for the problem.  second call: the one\n"
            "that captures.  pulled: turns that ran row-wise.\n\n" + "\n".join(lines) + "\n"
        )


if __name__ == "__main__":
    main()
