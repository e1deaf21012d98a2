"""Warm calls of programs: what the host takes beside the launch of the loop.

    python tests/benchmarks/gpu/bench_program_calls.py [--graphs kron21,rmat20,grid64] [--calls 31]

The loops are those of bench_programs.py; each result is compared with the plain loop's.  call: the median of whole
calls, the device waited for.  launch: of the loop alone, by events of CUDA on its stream (of a search by the device's
clock), in calls of their own.  rest: the difference.  used: a call whose result is copied out of the program's memory,
too.  functions: Python functions of grb_tile that a call enters; an empty one takes what the first line says.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parent)]
import bench_programs
from bench_host_calls import functions_of
from bench_lowerings import loops_of
from bench_programs import GRAPHS, median_ms

import grb_tile as gb
from grb_tile.backends.cuda.graph import bfs, bfs_tiles
from grb_tile.backends.cuda.programs import graph as graphs, persistent
from grb_tile.backends.select import current


def launches_timed(call, calls):
    """us of the launches of loops in `call`, the median of `calls` calls."""
    import cupy

    taken = []

    def timed(launch):
        def run(self, stream):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record(stream)
            launch(self, stream)
            end.record(stream)
            taken.append((begin, end))

        return run

    outcomes = []

    def noted(search):
        def run(*args):
            found = search(*args)
            if found is not NotImplemented:
                outcomes.append(found[2])
            return found

        return run

    before = graphs.Graph.launch, persistent.Persistent.launch, bfs.traverse, bfs_tiles.traverse
    graphs.Graph.launch, persistent.Persistent.launch = map(timed, before[:2])
    bfs.traverse, bfs_tiles.traverse = map(noted, before[2:])
    try:
        for _ in range(calls):
            call()
    finally:
        graphs.Graph.launch, persistent.Persistent.launch, bfs.traverse, bfs_tiles.traverse = before
    current().synchronize()
    times = [cupy.cuda.get_elapsed_time(*each) * 1e3 for each in taken]
    return statistics.median(times or [outcome.seconds * 1e6 for outcome in outcomes] or [0])


def row_of(name, function, arguments, calls, wait):
    """The line of a loop.  wait: seconds for the compiler.

    Raises: AssertionError where program and plain loop differ.
    """
    wanted, program = function(*arguments), gb.program(function)
    end = time.perf_counter() + wait
    for _ in range(4):
        assert program(*arguments).isclose(wanted, rel_tol=1e-9), f"{name}: the program's result differs"
    while "until one kernel" in program.loops[0].lowering and time.perf_counter() < end:
        time.sleep(0.2)
        program(*arguments)
    call = median_ms(lambda: program(*arguments), calls) * 1e3
    used = median_ms(lambda: program(*arguments)._store.values, calls) * 1e3
    launch = launches_timed(lambda: program(*arguments), calls)
    count = functions_of(lambda: program(*arguments))
    kept = [program(*arguments) for _ in range(3)]
    assert all(found.isclose(wanted, rel_tol=1e-9) for found in kept), f"{name}: one of the last results differs"
    ran = program.loops[0]
    return (
        f"| {name} | {ran.turns} | {call:.0f} | {launch:.0f} | {call - launch:.0f} | {used:.0f} | {count} "
        f"| {ran.reason or ran.lowering} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default="kron21,rmat20,grid64", help=", ".join(GRAPHS))
    parser.add_argument("--loops", default="BFS,BFS turn by turn,PageRank,Bellman-Ford,least label")
    parser.add_argument("--calls", type=int, default=31)
    parser.add_argument("--wait", type=float, default=8, help="seconds for a loop's one kernel to be compiled")
    options = parser.parse_args()
    gb.config.set(backend="cuda")

    def nothing():
        pass

    start = time.perf_counter()
    for _ in range(1_000_000):
        nothing()
    print(f"an empty Python function: {(time.perf_counter() - start) * 1e3:.1f} ns a call", flush=True)
    print(
        "| loop | turns | call us | launch us | rest us | used us | functions | ran |\n" + "|---" * 8 + "|", flush=True
    )
    for graph in options.graphs.split(","):
        A = GRAPHS[graph]()
        loops = [("BFS turn by turn" if name == "BFS" else name, *rest) for name, *rest in loops_of(A)]
        for name, function, arguments in [("BFS", bench_programs.bfs, loops[0][2]), *loops]:
            if name in options.loops.split(","):
                print(row_of(f"{name}, {graph}", function, arguments, options.calls, options.wait), flush=True)


if __name__ == "__main__":
    main()
