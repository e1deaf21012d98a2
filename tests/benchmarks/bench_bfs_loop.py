"""A user's breadth-first search in a loop of products, search after search, against python-graphblas in one process.

    python tests/benchmarks/bench_bfs_loop.py [--scale 18] [--searches 60] [--slow 12]

The loop of common_programs.py: levels INT32, `f.vxm(A, any_pair)` for small frontiers and `A.mxv(f, any_pair)` for
large ones under the complement of the levels.  Both libraries search from the same sources in turns.  Prints the time
of each search and its processor time in ms, and for searches above `--slow` ms each product's plan and its time.
"""

import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE, HERE.parent.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import common_programs  # noqa: E402
import numpy as np  # noqa: E402


def planned(gb, A, source):
    """The search again: (entries of the frontier, wall ms, plan) of each product."""
    levels, frontier = gb.Vector(gb.dtypes.INT32, A.nrows), gb.Vector(bool, A.nrows)
    frontier[source] = True
    depth, found = 0, []
    while frontier.nvals:
        levels(frontier.S) << depth
        depth += 1
        count = frontier.nvals
        start = time.perf_counter()
        if count > A.nrows // 16:
            frontier(~levels.S, replace=True) << A.mxv(frontier, gb.semiring.any_pair)
        else:
            frontier(~levels.S, replace=True) << frontier.vxm(A, gb.semiring.any_pair)
        found.append((count, (time.perf_counter() - start) * 1e3, str(gb.explain())))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=int, default=18)
    parser.add_argument("--searches", type=int, default=60)
    parser.add_argument("--slow", type=float, default=12.0)
    parser.add_argument("--alone", action="store_true", help="without python-graphblas")
    options = parser.parse_args()
    import grb_tile as gb

    libraries = {"grb_tile": gb}
    if not options.alone:
        import graphblas

        libraries["graphblas"] = graphblas
    rows, columns = common_programs.edges(options.scale)
    n = 1 << options.scale
    graphs = {
        name: library.Matrix.from_coo(rows, columns, 1.0, nrows=n, ncols=n) for name, library in libraries.items()
    }
    degrees = np.bincount(rows, minlength=n)
    sources = np.random.default_rng(3).choice(np.flatnonzero(degrees), options.searches).tolist()
    for number, source in enumerate(sources):
        line, results = [], set()
        for name, library in libraries.items():
            start, cpu = time.perf_counter(), time.process_time()
            results.add(float(common_programs.bfs(library, graphs[name], source)))
            line.append(
                f"{name} {(time.perf_counter() - start) * 1e3:7.1f} (CPU {(time.process_time() - cpu) * 1e3:7.1f})"
            )
            if name == "grb_tile":
                slow = time.process_time() - cpu > options.slow * 1e-3
        assert len(results) == 1, (source, results)
        print(f"{number:3d} source {source:7d}  " + "   ".join(line), flush=True)
        if slow and number > 2:
            for count, ms, plan in planned(gb, graphs["grb_tile"], source):
                print(f"      {count:7d} {ms:7.2f} ms  {plan}")


if __name__ == "__main__":
    main()
