"""Loops of programs as WHILE nodes, as one persistent kernel and as one operation: us a turn of whole calls.

    python tests/benchmarks/gpu/bench_lowerings.py [--graphs grid64,grid2000] [--calls 7] [--shapes 512x2,256x4]

The loops and graphs are those of bench_programs.py; each result is compared with the plain loop's.  shapes: threads of
a block and blocks a multiprocessor of the persistent kernel.  auto: what the planner takes.  whole:
the operation of the backend that the loop is, where it is one; the other lowerings are measured without it.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parent)]
import numpy as np
from bench_programs import GRAPHS, bellman_ford, bfs_counted, least_labels, median_ms, pagerank
from device_graphs import grid, rmat

import grb_tile as gb
from grb_tile import generators
from grb_tile.backends.cuda.graph.methods import WholeLoops
from grb_tile.backends.cuda.programs import persistent
from grb_tile.backends.select import current

FIXPOINT = WholeLoops.fixpoint
MORE = {
    "rmat16": lambda: gb.Matrix._from_store(rmat(16, 16)),
    "rmat18": lambda: gb.Matrix._from_store(rmat(18, 16)),
    "grid500": lambda: gb.Matrix._from_store(grid(500)),
    "grid32": lambda: generators.grid(32, 32, 32),
}


def loops_of(A):
    """(name, function, arguments) of each loop."""
    degree = A.reduce_rowwise("count").new()
    source = int(np.argmax(degree.to_dense(0)))
    w = gb.unary.minv(degree.apply("identity").new(float)).new()
    W = A.apply("one").new(float)
    labels = gb.Vector.from_dense(np.arange(A.nrows))
    yield "BFS", bfs_counted, (A, source)
    yield "PageRank", pagerank, (A, w)
    yield "Bellman-Ford", bellman_ford, (W, source)
    yield "least label", least_labels, (A, labels)


def measured(function, arguments, wanted, lowering, calls, shown):
    """(us a turn, turns, turns pulled, what ran).  Raises: AssertionError where the result differs."""
    persistent.LOWERING["persistent"] = "auto" if lowering == "whole" else lowering
    WholeLoops.fixpoint = FIXPOINT if lowering == "whole" else lambda *_: NotImplemented
    program = gb.program(function)
    for _ in range(3):
        assert program(*arguments).isclose(wanted, rel_tol=1e-9), f"{lowering}: the result differs"
    end = time.perf_counter() + 20
    while "until one kernel" in program.loops[0].lowering and time.perf_counter() < end:
        time.sleep(0.1)
        program(*arguments)
    ms = median_ms(lambda: program(*arguments), calls)
    turned = program.loops[0].turns * (calls + 5) or 1  # since the kernel was made
    assert program(*arguments).isclose(wanted, rel_tol=1e-9), f"{lowering}: the last result differs"
    ran = program.loops[0]
    for captured in ran.captured.values():
        kernel = captured.device.one.kernel if captured.search is None else None
        if kernel is not None and shown:
            for direction, levels in kernel.levels.items():
                print(f"    {direction}: " + " | ".join(" ".join(level) for level in levels))
            for name, cycles in kernel.cycles(current().device) if persistent.LOWERING["cycles"] else ():
                print(f"    {cycles / turned:9.1f} cycles a turn: {name}")
    return ms * 1e3 / max(ran.turns, 1), ran.turns, ran.pulled, ran.reason or ran.lowering


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default="grid64", help=", ".join([*GRAPHS, *MORE]))
    parser.add_argument("--loops", default="BFS,PageRank,Bellman-Ford,least label")
    parser.add_argument("--lowerings", default="never,always,auto,whole")
    parser.add_argument("--shapes", default="512x2")
    parser.add_argument("--calls", type=int, default=7)
    parser.add_argument("--cycles", default="", choices=("", "levels", "steps"), help="count the first block's")
    parser.add_argument("--levels", action="store_true", help="print the steps between barriers")
    options = parser.parse_args()
    persistent.LOWERING["cycles"] = options.cycles
    gb.config.set(backend="cuda")
    print(current().describe_device(), flush=True)
    print("| loop | lowering | us a turn | turns | pulled | ran |\n|---|---|---|---|---|---|", flush=True)
    for graph in options.graphs.split(","):
        A = (GRAPHS | MORE)[graph]()
        for name, function, arguments in loops_of(A):
            if name not in options.loops.split(","):
                continue
            wanted = function(*arguments)
            for lowering in options.lowerings.split(","):
                for shape in options.shapes.split(",") if lowering == "always" else ["512x2"]:
                    threads, each = map(int, shape.split("x"))
                    persistent.LAUNCH.update(threads=threads, per_processor=each)
                    us, turns, pulled, ran = measured(
                        function, arguments, wanted, lowering, options.calls, options.levels
                    )
                    how = f"{lowering} {shape}" if lowering == "always" else lowering
                    print(f"| {name}, {graph} | {how} | {us:.1f} | {turns} | {pulled} | {ran} |", flush=True)


if __name__ == "__main__":
    main()
