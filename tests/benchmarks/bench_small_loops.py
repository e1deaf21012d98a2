"""Loops of GraphBLAS calls over 1,000 vertices, against python-graphblas: what a turn of small calls costs.

    python tests/benchmarks/bench_small_loops.py [--seconds 4] [--record TEXT]

The loops are those of docs/PROGRAMS.md, as a user writes them: both libraries run the same text, in turns in one
process, and their results are compared before anything is timed.  A figure is the least time of a whole call; target:
at most 0.6 of python-graphblas's.  --record appends the table to results/small_loops.md, under TEXT.
"""

import argparse
import math
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results" / "small_loops.md"
for folder in (HERE, HERE.parents[1]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import environment  # noqa: E402
import numpy as np  # noqa: E402

TARGET = 0.6
VERTICES, EDGES = 1000, 8000


def bfs(gb, A, source=0):
    """Levels from a vertex, in eight lines."""
    any_pair = gb.semiring.any_pair
    level = gb.Vector(int, A.nrows)
    f = gb.Vector.from_coo([source], True, size=A.nrows)
    depth = 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, any_pair)
        depth += 1
    return level


def pagerank(gb, A, d=0.85, most=20):
    """Twenty turns, as LAGraph writes it (LAGr_PageRankGAP): w = t / d, r = teleport + A' w, the change in norm 1."""
    n = A.nrows
    degree = A.reduce_rowwise(gb.agg.count).new(float)
    degree << degree.apply(gb.binary.truediv, right=d)
    plus, plus_second = gb.binary.plus, gb.semiring.plus_second
    r = gb.Vector.from_scalar(1 / n, n)
    t = gb.Vector(float, n)
    w = gb.Vector(float, n)
    for _ in range(most):
        t, r = r, t
        w << t.ewise_mult(degree, gb.binary.truediv)
        r[:] << (1 - d) / n
        r(plus) << A.T.mxv(w, plus_second)
        t << t.ewise_add(r, gb.binary.minus)
        t << t.apply(gb.unary.abs)
        if t.reduce(gb.monoid.plus).new().value < 1e-30:
            break
    return r


def bellman_ford(gb, A, source=0):
    """Distances from a vertex, until d stays."""
    min_plus, least = gb.semiring.min_plus, gb.binary.min
    d = gb.Vector.from_coo([source], [0.0], size=A.nrows)
    while True:
        old = d.dup()
        d(least) << d.vxm(A, min_plus)
        if d.isequal(old):
            return d


def least_labels(gb, A):
    """The least label that reaches each vertex."""
    min_second, least = gb.semiring.min_second, gb.binary.min
    label = gb.Vector.from_coo(np.arange(A.nrows), np.arange(A.nrows), size=A.nrows)
    while True:
        old = label.dup()
        label(least) << A.mxv(label, min_second)
        if label.isequal(old):
            return label


LOOPS = {
    "BFS in eight lines": bfs,
    "PageRank as LAGraph writes it, 20 turns": pagerank,
    "Bellman-Ford until d stays": bellman_ford,
    "least label of the neighbours": least_labels,
}


def edges(kind):
    """(rows, columns, weights) of an undirected graph: "random" of degree 16, or "grid", 25 by 40."""
    rng = np.random.default_rng(3)
    if kind == "random":
        i, j = rng.integers(0, VERTICES, EDGES), rng.integers(0, VERTICES, EDGES)
    else:
        at = np.arange(VERTICES).reshape(25, 40)
        i = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
        j = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    keys = np.unique(np.concatenate([i * VERTICES + j, j * VERTICES + i])[np.concatenate([i != j, i != j])])
    i, j = keys // VERTICES, keys % VERTICES
    return i, j, 1.0 + (i + j) % 7 + (i * j) % 5


def compare(ours, theirs):
    """Raise unless both vectors have the same positions and values, up to rounding."""
    for a, b in zip(ours.to_coo(), theirs.to_coo(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def measure(seconds):
    """[(loop, graph, least seconds of ours, of theirs), ...]"""
    import graphblas

    import grb_tile

    rows = []
    for kind in ("random", "grid"):
        i, j, x = edges(kind)
        sides = [(library, library.Matrix.from_coo(i, j, x, nrows=VERTICES, ncols=VERTICES))
                 for library in (grb_tile, graphblas)]  # fmt: skip
        for name, loop in LOOPS.items():
            compare(*(loop(*side) for side in sides))
            least, stop = [math.inf, math.inf], time.perf_counter() + seconds
            while time.perf_counter() < stop:
                for k, side in enumerate(sides):
                    start = time.perf_counter()
                    loop(*side)
                    least[k] = min(least[k], time.perf_counter() - start)
            rows.append((name, kind, *least))
            ratio = least[0] / least[1]
            mark = " <--" if ratio > TARGET else ""
            figures = f"{least[0] * 1e6:9.0f} us {least[1] * 1e6:9.0f} us {ratio:6.2f}"
            print(f"{name:42s} {kind:7s} {figures}{mark}", flush=True)
    return rows


def record(rows, text):
    """Append a table to results/small_loops.md."""
    about = environment.describe()
    lines = [] if RESULTS.exists() else ["# Loops of small calls against python-graphblas", ""]
    lines += [
        f"## {text}",
        "",
        f"`python tests/benchmarks/bench_small_loops.py`: {about['cores']} cores ({about['cpu']}), load "
        f"{about['load']:.1f}, SuiteSparse {about['versions']['suitesparse-graphblas']}; least time of a whole call.",
        "",
        "| loop | graph | grb_tile us | python-graphblas us | ratio |",
        "|---|---|---|---|---|",
        *(f"| {name} | {kind} | {a * 1e6:.0f} | {b * 1e6:.0f} | {a / b:.2f} |" for name, kind, a, b in rows),
        "",
    ]
    with RESULTS.open("a") as out:
        out.write("\n".join(lines) + "\n")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=4.0, help="seconds a loop is repeated")
    options.add_argument("--record", metavar="TEXT", help="append the table to results/small_loops.md, under TEXT")
    chosen = options.parse_args()
    os.environ.setdefault("GRB_TILE_JIT", "always")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    rows = measure(chosen.seconds)
    if chosen.record:
        record(rows, chosen.record)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
