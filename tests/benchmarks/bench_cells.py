"""A table of single operations against python-graphblas: operations x types x sizes, warm.

    python tests/benchmarks/bench_cells.py [--only PATTERN] [--size tiny,medium,large] [--seconds 0.4] [--list]

Both libraries run in one process, in turns: ours, SuiteSparse, SuiteSparse, ours, ...  A cell's figure is the ratio of
the two least times of a call, because the least time is what other load on the machine disturbs least.  Kernels are
compiled in calls outside the clock (GRB_TILE_JIT=always).  Results are compared before anything is timed, and each call
includes wait() on its result, so that no library leaves work behind.  A complete run writes results/cells.md; --only
(a regular expression on "name size") prints the cells that it matches and writes nothing.

On a machine with more cores the sizes may run side by side, each on two cores of its own:

    taskset -c 0,1 python tests/benchmarks/bench_cells.py --size tiny --rows tiny.jsonl
    python tests/benchmarks/bench_cells.py --table tiny.jsonl medium.jsonl large.jsonl

With --backend cuda the public calls are timed on a GPU, each against its floor: cells_on_device.py, whose options are
others.
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "results" / "cells.md"
for folder in (HERE, HERE.parents[1]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import environment  # noqa: E402
import numpy as np  # noqa: E402
from cell_operands import SIZES, Operands  # noqa: E402
from cell_operations import CELLS  # noqa: E402

from grb_tile.cli.timing import repeated, timed  # noqa: E402

PAUSE = 0.002  # seconds between samples: the other library's threads go to sleep
SAMPLE = 0.002  # seconds a sample takes at least, by repeating the call
CELL_TARGET, MEDIAN_TARGET = 1.3, 0.6


def parts(result):
    """What a result is made of: arrays that can be compared, and its type."""
    if isinstance(result, list | tuple):
        return [part for one in result for part in parts(one)]
    if hasattr(result, "to_coo"):
        return [str(result.dtype), result.shape, *result.to_coo()]
    if hasattr(result, "value"):
        return [str(result.dtype), np.asarray(result.value)]
    return [np.asarray(result)]


def same(mine, theirs):
    """Raise unless both results have the same types, patterns and values (floating-point numbers up to rounding)."""
    for a, b in zip(parts(mine), parts(theirs), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype.kind == "f" or b.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-9)
        else:
            np.testing.assert_array_equal(a, b)


def finished(result):
    """The result, nothing left to do for it."""
    for one in result if isinstance(result, list | tuple) else (result,):
        if hasattr(one, "wait"):
            one.wait()
    return result


def finishing(call):
    """The call with nothing left to do for its result."""
    return lambda: finished(call())


def run_cell(make, ours, theirs, limit):
    """(least seconds of ours, of theirs) of one cell; raises when the results differ."""
    calls = [finishing(make(*side)) for side in (ours, theirs)]
    same(*(call() for call in calls))
    least, inner = [math.inf, math.inf], [1, 1]
    for k, call in enumerate(calls):  # warm up, and how many calls make a sample
        _, once = timed(call)
        if once < 0.1:
            once = min(repeated(call, 5)[1])  # the least: a kernel may come, or be compiled, in between
        inner[k] = max(1, math.ceil(SAMPLE / max(once, 1e-7)))
    stop, rounds, order = time.perf_counter() + limit, 0, [0, 1]
    while rounds < 2 or time.perf_counter() < stop:
        for k in order:
            least[k] = min(least[k], timed(calls[k], inner[k])[1])
            time.sleep(PAUSE)
        order.reverse()
        rounds += 1
    return least


def duration(seconds):
    """A time with three digits and its unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3g} {unit}"


def summary(rows):
    """The lines above the table."""
    ratios = [row[4] for row in rows]
    above = sum(ratio > CELL_TARGET for ratio in ratios)
    lines = [f"{len(rows)} cells, median ratio {statistics.median(ratios):.2f}, {above} above {CELL_TARGET}."]
    for size in SIZES:
        some = [row[4] for row in rows if row[1] == size]
        if some:
            lines.append(f"{size}: {len(some)} cells, median {statistics.median(some):.2f}, largest {max(some):.2f}.")
    return lines


def write_table(rows, about):
    """results/cells.md; `about` is environment.describe() of the machine that was measured."""
    lines = [
        "# Single operations against SuiteSparse through python-graphblas",
        "",
        "`python tests/benchmarks/bench_cells.py`: least time of a call, warm, both libraries in turns in one process",
        f"on {about['cores']} cores ({about['cpu']}), results compared; ratio below 1: grb_tile is faster.",
        f"Targets: every cell at most {CELL_TARGET}, median at most {MEDIAN_TARGET}. Sizes: "
        + "; ".join(f"{name} {n} x {n}, {nvals} entries" for name, (n, nvals) in SIZES.items())
        + ".",
        "",
        f"Commit {about['commit'][:7] if about['commit'] else 'unknown'}, load {about['load']:.1f}, NumPy "
        f"{about['versions']['numpy']}, SuiteSparse {about['versions']['suitesparse-graphblas']}.",
        "",
        *(line + "  " for line in summary(rows)),
        "",
        "| operation | size | grb_tile | SuiteSparse | ratio |",
        "|---|---|---|---|---|",
        *(f"| {name} | {size} | {duration(a)} | {duration(b)} | {ratio:.2f} |" for name, size, a, b, ratio in rows),
        "",
    ]
    TABLE.write_text("\n".join(lines))


def main():
    if any(argument.partition("=")[0] == "--backend" for argument in sys.argv[1:]):
        os.environ.setdefault("GRB_TILE_TEST_ORACLE", "none")  # a machine with a GPU need not have python-graphblas
        os.environ.setdefault("GRB_TILE_JIT", "never")  # the CPU computes tiny operands alone
        import cells_on_device

        return cells_on_device.main()
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", help="regular expression on 'name size'")
    options.add_argument("--size", default=",".join(SIZES), help="sizes, separated by commas")
    options.add_argument("--seconds", type=float, default=0.4, help="seconds a cell is repeated")
    options.add_argument("--list", action="store_true", help="print the cells' names")
    options.add_argument("--rows", type=pathlib.Path, help="append the figures to this file of JSON lines")
    options.add_argument("--table", type=pathlib.Path, nargs="+", help="write results/cells.md from such files")
    chosen = options.parse_args()
    if chosen.table:
        lines = [json.loads(line) for path in chosen.table for line in path.read_text().splitlines()]
        write_table([row for line in lines for row in line["rows"]], lines[0]["about"])
        return 0
    os.environ.setdefault("GRB_TILE_JIT", "always")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin would slow whoever is timed next
    cells = [
        (name, size, make)
        for size in chosen.size.split(",")
        for name, make, sizes in CELLS
        if size in sizes and (not chosen.only or re.search(chosen.only, f"{name} {size}"))
    ]
    if chosen.list:
        print("\n".join(f"{name} {size}" for name, size, _ in cells))
        return 0
    import graphblas

    import grb_tile

    rows, failed, loaded = [], [], None
    for name, size, make in cells:
        if loaded != size:
            loaded = size
            ours, theirs = ((library, Operands(library, *SIZES[size])) for library in (grb_tile, graphblas))
        try:
            a, b = run_cell(make, ours, theirs, chosen.seconds)
        except Exception as error:  # noqa: BLE001 - the other cells are measured all the same
            failed.append((name, size))
            print(f"{name:48s} {size:7s} FAILED: {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        rows.append((name, size, a, b, a / b))
        mark = " <--" if a / b > CELL_TARGET else ""
        print(f"{name:48s} {size:7s} {duration(a):>9s} {duration(b):>9s} {a / b:7.2f}{mark}", flush=True)
    if rows:
        print("\n".join(summary(rows)))
        if chosen.rows:
            with chosen.rows.open("a") as out:
                out.write(json.dumps({"about": environment.describe(), "rows": rows}) + "\n")
    if failed:
        print(f"{len(failed)} cells failed")
    elif not chosen.only and chosen.size == ",".join(SIZES):
        write_table(rows, environment.describe())
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
