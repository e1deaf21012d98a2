"""Graphs of data frames: seconds from the frame to the Graph, for texts, categories and integers as vertices.

python tests/benchmarks/bench_tables.py --record
"""

import argparse
import pathlib
import sys
import time
import warnings

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2])]

import environment
import numpy as np
import pandas as pd

from grb_tile import algorithms as alg, io as grb_io

RESULTS = pathlib.Path(__file__).parent / "results" / "tables.md"
HEAD = "| vertices | Graph (s) | from_pandas_edgelist (s) | limit (s) |"
EDGES, NODES, TURNS = 10**6, 200_000, 5
LIMITS = {
    "texts": 1.5, "categories": 1.5, "integers": 0.3, "integers with gaps": 0.3, "integers of 60 bits": 0.3,
    "integers of 60 bits, each once": 0.3,
}  # fmt: skip


def frames():
    """{kind of vertices: data frame of EDGES random edges}"""
    rng = np.random.default_rng(1)
    u, v = rng.integers(0, NODES, (2, EDGES))
    w = rng.random(EDGES)
    ends = {
        "texts": ([f"user{k}" for k in u.tolist()], [f"user{k}" for k in v.tolist()]),
        "integers": (u, v),
        "integers with gaps": (7 * u + 3, 7 * v + 3),
        "integers of 60 bits": (10**12 * u, 10**12 * v),
        "integers of 60 bits, each once": tuple(rng.integers(0, 2**59, (2, EDGES))),
    }
    found = {kind: pd.DataFrame({"source": s, "target": t, "weight": w}) for kind, (s, t) in ends.items()}
    return found | {"categories": found["texts"].astype({"source": "category", "target": "category"})}


def seconds(call):
    """The median of TURNS."""
    found = []
    for _ in range(TURNS):
        started = time.perf_counter()
        call()
        found.append(time.perf_counter() - started)
    return sorted(found)[TURNS // 2]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write results/tables.md")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", grb_io.RepeatedEdges)
    rows = []
    for kind, df in frames().items():
        A, (B, labels) = alg.Graph(df), grb_io.from_pandas_edgelist(df, weight="weight")
        assert A.A.nvals == B.nvals and A.n == len(labels), "the results differ"
        times = [seconds(lambda: alg.Graph(df))]  # noqa: B023
        times.append(seconds(lambda: grb_io.from_pandas_edgelist(df, weight="weight")))  # noqa: B023
        rows.append(f"| {kind} | {times[0]:.3f} | {times[1]:.3f} | {LIMITS[kind]} |")
        print(rows[-1], flush=True)
    if args.record:
        facts = environment.describe()
        RESULTS.write_text(
            "# Graphs of data frames\n\n"
            f"`python tests/benchmarks/bench_tables.py --record`: {EDGES:,} random edges of {NODES:,} vertices with\n"
            f"weights, medians of {TURNS} calls.\n\n"
            f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']:.1f}, commit {str(facts['commit'])[:7]}.\n\n"
            + HEAD + "\n" + "|---" * (HEAD.count("|") - 1) + "|\n" + "\n".join(rows) + "\n",
            encoding="utf-8",
        )  # fmt: skip


if __name__ == "__main__":
    main()
