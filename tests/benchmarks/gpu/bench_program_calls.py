"""Warm calls of programs: what the host takes before, in and after the launch of the loop.

    python tests/benchmarks/gpu/bench_program_calls.py [--graphs kron21,rmat20,grid64] [--calls 31] [--lowering never]

The loops are those of bench_programs.py; each result is compared with the plain loop's.  Medians, us.  call: a whole
call, the device waited for.  before: until the loop (of a search, its kernel) is to be launched; all that is queued
before it is queued.  loop: until the host knows that it has ended.  after: until the call returns.  rest: until the
device is idle.  used: a call whose result is copied out of the program's memory, too.  functions: Python functions of
grb_tile that a call enters; an empty one takes what the first line says.
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
from grb_tile.backends.cuda.graph import bfs, bfs_tiles, outcome
from grb_tile.backends.cuda.programs import persistent, turns
from grb_tile.backends.select import current
from grb_tile.programs import running

HEAD = "| loop | turns | call | before | loop | after | rest | used | functions | ran |"
SECONDS = 8  # most for a compiler


class Stamps:
    """Within it the times of a call are noted: when a loop is launched, when it has ended."""

    def __init__(self):
        self.launched = self.ended = 0.0

    def __enter__(self):
        self._before = turns.DeviceLoop.launch, bfs.traverse, bfs_tiles.traverse, outcome.Outcome.head
        launch, *searches, head = self._before

        def run(loop, *args):
            self.launched = time.perf_counter()
            launch(loop, *args)
            self.ended = time.perf_counter()

        def noted(search):
            def traverse(*args):
                found = search(*args)
                self.launched = time.perf_counter()
                return found

            return traverse

        def read(found):
            known = head.fget(found)
            self.ended = time.perf_counter()
            return known

        turns.DeviceLoop.launch, outcome.Outcome.head = run, property(read)
        bfs.traverse, bfs_tiles.traverse = map(noted, searches)
        return self

    def __exit__(self, *_):
        turns.DeviceLoop.launch, bfs.traverse, bfs_tiles.traverse, outcome.Outcome.head = self._before


def parts_of(call, calls):
    """Medians of us: (before the launch, of the loop, after it, until the device is idle)."""
    taken, wait = [], current().synchronize
    with Stamps() as stamps:
        for _ in range(calls + 2):
            wait()
            times = [time.perf_counter()]
            call()
            end = time.perf_counter()
            wait()
            times += [stamps.launched, stamps.ended, end, time.perf_counter()]
            taken.append([(b - a) * 1e6 for a, b in zip(times, times[1:], strict=False)])
    return [statistics.median(column) for column in zip(*taken[2:], strict=True)]


def row_of(name, program, arguments, wanted, calls):
    """The line of a loop.  Raises: AssertionError where program and plain loop differ."""
    call = median_ms(lambda: program(*arguments), calls) * 1e3
    parts = parts_of(lambda: program(*arguments), calls)
    used = median_ms(lambda: program(*arguments)._store.values, calls) * 1e3
    count = functions_of(lambda: program(*arguments))
    kept = [program(*arguments) for _ in range(3)]
    assert all(found.isclose(wanted, rel_tol=1e-9) for found in kept), f"{name}: one of the last results differs"
    ran, numbers = program.loops[0], (call, *parts, used)
    return (
        f"| {name} | {ran.turns} | {' | '.join(f'{x:.0f}' for x in numbers)} | {count} | {ran.reason or ran.lowering} |"
    )


def rows_of(graph, names, calls):
    """The lines of a graph."""
    found = [("BFS turn by turn" if name == "BFS" else name, *rest) for name, *rest in loops_of(GRAPHS[graph]())]
    found = [("BFS", bench_programs.bfs, found[0][2]), *found]
    programs = []
    for name, function, arguments in found:
        if name not in names:
            continue
        wanted, program = function(*arguments), gb.program(function)
        for _ in range(4):
            assert program(*arguments).isclose(wanted, rel_tol=1e-9), f"{name}: the program's result differs"
        programs.append((f"{name}, {graph}", program, arguments, wanted))
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end and any("until one kernel" in p.loops[0].lowering for _, p, *_ in programs):
        time.sleep(0.2)
        for _, program, arguments, _ in programs:
            program(*arguments)
    for each in programs:
        yield row_of(*each, calls)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default="kron21,rmat20,grid64", help=", ".join(GRAPHS))
    parser.add_argument("--loops", default="BFS,BFS turn by turn,PageRank,Bellman-Ford,least label")
    parser.add_argument("--calls", type=int, default=31)
    parser.add_argument("--lowering", default="auto", choices=("auto", "always", "never"), help="as one kernel?")
    parser.add_argument("--long", action="store_true", help="no call is bound: what that saves")
    options = parser.parse_args()
    if options.long:
        running.checks_of = lambda *_: None
    persistent.LOWERING["persistent"] = options.lowering
    gb.config.set(backend="cuda")

    def nothing():
        pass

    start = time.perf_counter()
    for _ in range(1_000_000):
        nothing()
    print(f"an empty Python function: {(time.perf_counter() - start) * 1e3:.1f} ns a call", flush=True)
    print(HEAD + "\n" + "|---" * (HEAD.count("|") - 1) + "|", flush=True)
    for graph in options.graphs.split(","):
        for row in rows_of(graph, options.loops.split(","), options.calls):
            print(row, flush=True)


if __name__ == "__main__":
    main()
