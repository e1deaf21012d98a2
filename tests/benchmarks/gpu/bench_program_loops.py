"""Loops within loops, `return` in loops, and the library's iterations as programs on a device: ms of whole calls.

    python tests/benchmarks/gpu/bench_program_loops.py [--graphs small,grid64,rmat20] [--seconds 50] [--record]

Results of a program are compared with those of the plain function in each row.  small: a grid of 10,000 vertices;
--seconds: no row is begun after that time; --record writes tests/benchmarks/results/program_loops_gpu.md.
"""

import argparse
import statistics
import sys
import time
import traceback
import warnings
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parent)]
import numpy as np
from device_graphs import rmat

import grb_tile as gb
from grb_tile import algorithms as alg, generators
from grb_tile.algorithms import iteration
from grb_tile.backends.select import current
from grb_tile.cli.timing import timed

RESULTS = Path(__file__).resolve().parents[1] / "results" / "program_loops_gpu.md"
HEAD = "| loop | graph | outer turns | plain ms | program ms | plain / program | captured by call ms | remark |"
GRAPHS = {
    "small": lambda: generators.grid(100, 100),
    "grid64": lambda: generators.grid(64, 64, 64),
    "rmat20": lambda: gb.Matrix._from_store(rmat(20, 16)),
}


def searches(A, most):
    """Breadth-first searches, one after another, from the vertex farthest from those before."""
    n = A.nrows
    place = gb.Vector.from_dense(np.arange(n))
    source, total = 0, 0
    for _ in gb.loop(max_turns=most):
        level = gb.Vector(int, n)
        f = (place == source).new()
        f(f.V, replace=True) << True
        depth = 0
        while f.nvals:
            level(f.S) << depth
            f(~level.S, replace=True) << f.vxm(A, "any_pair")
            depth += 1
        last = (level == depth - 1).new()
        source = place.dup(mask=last.V).reduce("min").new().value
        total += depth
    return level, total, source


def restarted(A, most):
    """Power iterations, each until it stays, from vectors that are moved."""
    u, sweeps = gb.Vector.from_scalar(1.0, A.nrows), 0
    for turn in gb.loop(max_turns=most):
        change = 1.0
        while change > 1e-2 and sweeps < 200:
            old = u.dup()
            u << A.mxv(old, "plus_second")
            size = u.reduce("max").new().value
            u << u * (1.0 / size)
            change = abs(u - old).reduce("max").new().value
            sweeps += 1
        u("plus") << 0.125 * (turn + 1)
    return u, sweeps


def short(A, most):
    """Three products a turn, unrolled, and a branch with a loop that is never taken."""
    u, k = gb.Vector.from_scalar(1.0, A.nrows), 0
    for _ in gb.loop(max_turns=most):
        for _ in range(3):
            u("max") << A.mxv(u * 0.5, "max_second")
            k += 1
        if u.reduce("max").new().value > 5.0:
            while u.reduce("max").new().value > 1.0:
                u << u * 0.5
                k += 1000
    return u, k


def first_near(A, most):
    """`return` from the loop within as soon as most vertices are reached."""
    f, step = gb.Vector.from_coo([0], [True], size=A.nrows), 0
    for turn in range(most):
        for step in range(10):
            f(f.S) << True
            f("any") << f.vxm(A, "any_pair")
            if f.nvals > A.nrows // 2:
                return f, 10 * turn + step
    return f, -1


def agree(found, wanted):
    """Are vectors near, and numbers equal?"""
    return all(
        a.isclose(b, rel_tol=1e-9) if isinstance(a, gb.Vector) else a == b for a, b in zip(found, wanted, strict=True)
    )


def median_ms(call, calls):
    """Of `calls` calls."""
    return statistics.median(timed(call)[1] for _ in range(calls)) * 1e3


def row_of(function, name, A, most, calls):
    """The line of a loop on a graph.  Raises: AssertionError where program and plain loop differ."""
    program = gb.program(function)
    wanted = function(A, most)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds = [timed(lambda: program(A, most))[1] for _ in range(4)]
        found = program(A, most)
    assert agree(found, wanted), f"{function.__name__}, {name}: the program's result differs: {found}, {wanted}"
    plain, ours = median_ms(lambda: function(A, most), max(calls // 2, 1)), median_ms(lambda: program(A, most), calls)
    assert agree(program(A, most), wanted), f"{function.__name__}, {name}: the program's last result differs"
    ran = program.loops[0]
    remark = (
        "; ".join(str(w.message) for w in caught) or ran.reason or ", ".join(f"{v} {k}" for k, v in ran.nodes.items())
    )
    return (
        f"| {function.__name__} | {name} | {ran.turns} | {plain:.3f} | {ours:.3f} | {plain / ours:.2f} "
        f"| {seconds[1] * 1e3:.1f} | {remark} |"
    )


ALGORITHMS = {
    "PageRank": lambda G: alg.pagerank(G),
    "PageRank, 20 steps": lambda G: alg.pagerank(G, tol=0, max_iter=20),
    "HITS": lambda G: alg.hits(G, strict=False),
    "Katz": lambda G: alg.katz(G, alpha=0.5 / float(G.out_degree.reduce("max").new().value), strict=False),
    "eigenvector": lambda G: alg.eigenvector(G, strict=False),
}


KEYS = {"PageRank": "pagerank", "PageRank, 20 steps": "pagerank", "HITS": "hits", "Katz": "katz"}
KEYS["eigenvector"] = "eigenvector"


def algorithm_row(name, graph, G, calls):
    """The line of an algorithm of the library.  Raises: AssertionError where the two ways differ."""
    run, most = ALGORITHMS[name], iteration.MOST_WORK
    iteration.MOST_WORK = 0  # turn by turn from Python
    wanted = run(G)
    plain = median_ms(lambda: run(G), calls)
    iteration.MOST_WORK = most
    seconds = [timed(lambda: run(G))[1] for _ in range(4)]
    found = run(G)
    ours = median_ms(lambda: run(G), calls)
    last = run(G)
    for result in (found, last):
        assert result.values.isclose(wanted.values, rel_tol=1e-9, abs_tol=1e-15), f"{name}, {graph}: results differ"
        same = [(r.iterations, r.converged, r.stopped_by) for r in (result.report, wanted.report)]
        assert same[0] == same[1], f"{name}, {graph}: the reports differ: {same}"
        residuals = [[row.get("residual", 0) for row in r.rounds] for r in (result.report, wanted.report)]
        assert np.allclose(*residuals, rtol=1e-6, atol=1e-13), f"{name}, {graph}: the residuals differ: {residuals}"
    ran = iteration.turns_of(G, KEYS[name], False).loop
    return (
        f"| {name} | {graph} | {found.report.iterations} | {plain:.3f} | {ours:.3f} | {plain / ours:.2f} "
        f"| {seconds[1] * 1e3:.1f} | {'from Python' if ran is None else ran.reason or ran.nodes} |"
    )


LOOPS = ((searches, 3), (restarted, 4), (short, 10), (first_near, 30))


def told(rows, head, end):
    """The lines of a table, printed as they come, while perf_counter() is at most `end`.

    rows: (the function that makes a line, its name, the graph's).
    """
    lines = [head, "|" + "---|" * (head.count("|") - 1)]
    print("\n".join(lines), flush=True)
    for make, name, graph in rows:
        if time.perf_counter() > end:
            print(f"no time is left for {name}, {graph}", flush=True)
            continue
        try:
            line = make()
        except Exception as error:  # noqa: BLE001  # the other rows still tell something
            traceback.print_exc()
            line = f"| {name} | {graph} | {type(error).__name__}: {str(error)[:300]} |"
        print(line, flush=True)
        lines.append(line)
    return lines


def record(path, title, benchmark, calls, lines):
    """Write the table to `path`."""
    head = f"{current().describe_device()}; `tests/benchmarks/gpu/{benchmark}`: medians of\n{calls} whole calls."
    path.write_text(f"# {title}\n\n{head}\n\n" + "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default="small,grid64,rmat20", help=", ".join(GRAPHS))
    parser.add_argument("--calls", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    gb.config.set(backend="cuda")
    end = time.perf_counter() + options.seconds
    graphs = {graph: GRAPHS[graph]() for graph in options.graphs.split(",")}
    of = {graph: alg.Graph(A, directed=False) for graph, A in graphs.items()}
    rows = [
        (lambda a=name, g=graph, G=G: algorithm_row(a, g, G, options.calls), name, graph)
        for graph, G in of.items() for name in ALGORITHMS
    ]  # fmt: skip
    rows += [
        (lambda f=function, g=graph, A=A, m=most: row_of(f, g, A, m, options.calls), function.__name__, graph)
        for graph, A in graphs.items() for function, most in LOOPS
    ]  # fmt: skip
    lines = told(rows, HEAD, end)
    if options.record:
        record(RESULTS, "Loops within loops as programs on a GPU", Path(__file__).name, options.calls, lines)


if __name__ == "__main__":
    main()
