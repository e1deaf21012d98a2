"""Textbook loops in GraphBLAS calls on a GPU: each as a plain function and as a program, ms of whole calls.

    python tests/benchmarks/gpu/bench_textbook_loops.py [--graphs small,rmat16] [--only "fast sv"] [--seconds 50]

The loops are those of tests/support/textbook_loops.py.  A row is begun while there are seconds left; results of
programs are compared with the plain function's.  In the end programs are measured again, where one kernel has been
compiled since.
"""

import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[k]) for k in (3, 2, 0)]
import grb_tile as gb
from grb_tile import generators
from grb_tile.backends.select import current
from grb_tile.cli.timing import timed
from support.textbook_loops import LOOPS, same


def rmat(scale):
    """2^scale vertices, 16 edges each."""
    import device_graphs

    return gb.Matrix._from_store(device_graphs.rmat(scale, 16))


GRAPHS = {
    "tiny": lambda: generators.grid(12, 12),
    "small": lambda: generators.grid(100, 100),
    "grid64": lambda: generators.grid(64, 64, 64),
    "rmat16": lambda: rmat(16),
    "rmat20": lambda: rmat(20),
}
HEAD = "| loop | graph | turns | plain ms | program ms | plain / program | captured by call ms | where |"


def arguments_of(name, A, kept):
    """Fresh arguments; matrices are those of the first call."""
    made = LOOPS[name][1](A)
    kept = kept or made
    return tuple(k if isinstance(k, gb.Matrix) and k is not A else m for k, m in zip(kept, made, strict=True))


def median_ms(call, make, calls):
    """Of `calls` calls, or fewer that take a second."""
    times = []
    while len(times) < calls and sum(times) < 0.5:
        arguments = make()
        current().synchronize()
        times.append(timed(lambda a=arguments: (call(*a), current().synchronize()))[1])
    return statistics.median(times) * 1e3


class Row:
    """A loop on a graph."""

    def __init__(self, name, graph, A):
        self.name, self.graph = name, graph
        function = LOOPS[name][0]
        kept = arguments_of(name, A, None)
        self.make = lambda: arguments_of(name, A, kept)
        self.wanted = function(*self.make())
        self.plain = median_ms(function, self.make, 2)
        self.program = gb.program(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.seconds = [timed(lambda: self.program(*self.make()))[1] for _ in range(3)]
        self.measure()

    def measure(self):
        ours = median_ms(self.program, self.make, 3)
        assert same(self.program(*self.make()), self.wanted), f"{self.name}, {self.graph}: the program's result differs"
        lines = [line.split(": ", 1)[1] for line in self.program.explain().splitlines()[1:]]
        turns = " + ".join(line.split()[0] for line in lines)
        where = "; ".join(line.split("; ", 1)[-1] if "on the device" in line else line for line in lines)
        print(
            f"| {self.name} | {self.graph} | {turns} | {self.plain:.3f} | {ours:.3f} | {self.plain / ours:.2f} "
            f"| {self.seconds[1] * 1e3:.1f} | {where[:120]} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default="small,grid64,rmat16,rmat20", help=", ".join(GRAPHS))
    parser.add_argument("--only", default="", help="names, or parts of them, with a comma between")
    parser.add_argument("--leave-out", default="clusters")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--backend", default="cuda")
    options = parser.parse_args()
    start = time.perf_counter()
    gb.config.set(backend=options.backend)
    names = [name for name in LOOPS if any(part in name for part in options.only.split(","))]
    names = [name for name in names if name not in options.leave_out.split(",")]
    print(HEAD, "|" + "---|" * HEAD.count(" | "), sep="\n", flush=True)
    rows = []
    for graph in options.graphs.split(","):
        A = GRAPHS[graph]()
        for name in names:
            if time.perf_counter() - start > options.seconds:
                break
            try:
                rows.append(Row(name, graph, A))
            except Exception as error:
                print(f"| {name} | {graph} | {type(error).__name__}: {error} |", flush=True)
    print("again:")
    for row in rows:
        if time.perf_counter() - start < options.seconds * 1.1:
            row.measure()


if __name__ == "__main__":
    main()
