"""What a process pays before its first result: importing, the first search, the README's command with nothing
cached."""

import os
import pathlib
import subprocess
import sys
import tempfile
from functools import partial

import graphs
from measure import gauge

from grb_tile.cli.timing import timed

ROOT = graphs.ROOT

IMPORT = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"

FIRST_SEARCH = """
import sys, time
sys.path[:0] = [{benchmarks!r}, {root!r}]
import graphs, objects
from grb_tile import algorithms
graph = graphs.real("USA-road-NY")
A = objects.ours(graph)
start = time.perf_counter()
levels = algorithms.bfs(algorithms.Graph(A, directed=False), 0).levels
seconds = time.perf_counter() - start
objects.check_levels(graph, 0, levels)
print(seconds)
"""


def printed_seconds(program, variables=None):
    """What a Python program prints, as seconds."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **(variables or {})}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return float(run.stdout.split()[-1])


@gauge("import", "import grb_tile with its public names (NumPy included)", 0.35, "s")
def import_time():
    ours = "import grb_tile as gb; gb.Matrix, gb.Vector, gb.semiring"
    peer = "import graphblas as gb; gb.Matrix, gb.Vector, gb.semiring"
    samples, others, numpy = [], [], []
    for _ in range(11):
        samples.append(printed_seconds(IMPORT.format(ours)))
        others.append(printed_seconds(IMPORT.format(peer)))
        numpy.append(printed_seconds(IMPORT.format("import numpy")))
    middle = len(samples) // 2
    return {
        "samples": samples,
        "samples_peer": others,
        "samples_numpy": numpy,
        "peer_name": "python-graphblas",
        "median_ours": sorted(samples)[middle],
        "median_peer": sorted(others)[middle],
    }


@gauge("first-bfs-warm", "first BFS of a process, USA-road-NY, compiled code on disk", 1.5, "s")
def first_search():
    program = FIRST_SEARCH.format(benchmarks=str(ROOT / "tests" / "benchmarks"), root=str(ROOT))
    with tempfile.TemporaryDirectory() as cache:
        variables = {"GRB_TILE_CACHE": cache}
        cold = printed_seconds(program, variables)
        printed_seconds(program, variables)  # a kernel may be compiled on the second use of a machine only
        samples = [printed_seconds(program, variables) for _ in range(5)]
    middle = sorted(samples)[len(samples) // 2]
    return {"samples": samples, "cold": cold, "median_ours": middle}


def readme_command(name):
    """The command that stands in README.md under '<!-- command: NAME -->'."""
    lines = iter((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line == f"<!-- command: {name} -->":
            next(lines)
            return next(lines)
    raise ValueError(f"README.md has no command called {name!r}")


@gauge("readme-command-cold", "the README's main job, install apart, nothing cached", 20, "s")
def readme_command_cold():
    job = readme_command("main-job").split("&&")[-1].split()
    if not pathlib.Path(job[0]).name == "grb-tile":
        raise ValueError(f"expected the main job to end with grb-tile ..., found {job}")
    samples = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            variables = {
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "GRB_TILE_CACHE": cache,
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPYCACHEPREFIX": cache,
            }
            command = [sys.executable, "-m", "grb_tile", *job[1:]]
            run, seconds = timed(
                partial(subprocess.run, command, cwd=ROOT, env=variables, capture_output=True, text=True)
            )
            samples.append(seconds)
            if run.returncode:
                raise RuntimeError(run.stderr)
    middle = sorted(samples)[1]
    return {"samples": samples, "median_ours": middle, "output": run.stdout[-1000:]}
