"""What a newcomer runs first: jobs of one call, the commands, README's programs; `pip install .` makes their kernels.

    python tests/benchmarks/first_programs.py JOB SCALE [TYPE] [CALLS] [LIBRARY]     one job: the seconds of each call

`recipes` runs them all, each in a process of its own whose kernels are all compiled, and returns what they used;
`common_programs.py --record` writes that into the list.
"""

import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import common_programs
import numpy as np

ROOT = common_programs.ROOT
PATHS = [str(ROOT), str(pathlib.Path(__file__).parent)]
ROADS = str(ROOT / "examples" / "data" / "USA-road-NY.mtx.gz")


def _mxv(gb, A):
    kind = gb.dtypes.FP64 if A.dtype is gb.dtypes.BOOL else A.dtype
    return A.mxv(gb.Vector.from_dense(np.ones(A.nrows, kind.np_type))).new().nvals


def _eight_lines(gb, A):
    """README's search."""
    f = gb.Vector.from_coo([0], True, size=A.nrows)
    level = gb.Vector(int, A.nrows)
    depth = 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, gb.semiring.any_pair)
        depth += 1
    return level.nvals


JOBS = {
    "bfs": lambda gb, A: gb.algorithms.bfs(A, 0).levels.nvals,
    "bfs_parents": lambda gb, A: gb.algorithms.bfs(A, 0, parents=True).parents.nvals,
    "pagerank": lambda gb, A: gb.algorithms.pagerank(A).iterations,
    "mxv": _mxv,
    "triangles": lambda gb, A: gb.algorithms.triangle_count(A),
    "sssp": lambda gb, A: gb.algorithms.sssp(A, 0).distances.nvals,
    "components": lambda gb, A: gb.algorithms.connected_components(A).labels.nvals,
    "eight_lines": _eight_lines,
}
TYPES = ("BOOL", "INT64", "FP32", "FP64")  # BOOL: all entries are one value; the others are weights
OF_JOB = {"bfs_parents": ("BOOL",), "triangles": ("BOOL", "FP64"), "components": ("BOOL", "FP64")}
COMMANDS = (
    "bfs", "sssp", "pagerank", "components", "triangles", "cores", "clustering", "communities", "labels",
    "strong-components", "info", "eigenvector", "katz",
)  # fmt: skip
SOURCE = ("bfs", "sssp")
TRACE = """
import atexit, json, runpy, sys
def write():
    from grb_tile.backends.cpu.jit import cache
    used = [kernel.recipe.data() for kernel in cache._kernels.values() if kernel.functions is not None]
    with open({target!r}, "w") as file:
        json.dump(used, file)
atexit.register(write)
sys.argv = {argv!r}
runpy.{run}
"""


def graph(gb, name, scale, kind):
    """The job's matrix: iso for BOOL, weights otherwise."""
    dtype = getattr(gb.dtypes, kind)
    if kind == "BOOL":
        rows, columns = common_programs.edges(scale)
        return gb.Matrix.from_coo(rows, columns, True, nrows=1 << scale, ncols=1 << scale)
    return common_programs.graph(gb, scale, dtype.np_type)


def _peer_bfs(gb, A):
    """LAGraph's search in python-graphblas, which has none."""
    import peer_graphblas

    return peer_graphblas.bfs_levels(A, A, 0).nvals


PEER_JOBS = {"bfs": _peer_bfs, "mxv": _mxv, "eight_lines": _eight_lines}


def run(name, scale, kind="BOOL", calls=1, library="grb_tile"):
    """Print the seconds of each call, and the last result."""
    gb = importlib.import_module(library)
    jobs = JOBS if library == "grb_tile" else PEER_JOBS
    if library == "grb_tile":
        importlib.import_module("grb_tile.algorithms")
    A = graph(gb, name, scale, kind)
    seconds = []
    for _ in range(calls):
        start = time.perf_counter()
        result = jobs[name](gb, A)
        seconds.append(time.perf_counter() - start)
    print(*seconds, result)


def _scripts():
    """(environment, argv, the call of runpy) of every program."""
    for name in JOBS:
        for kind in OF_JOB.get(name, TYPES):
            yield {}, [__file__, name, "14", kind], f"run_path({__file__!r}, run_name='__main__')"
    for name in common_programs.PROGRAMS:
        path = common_programs.__file__
        yield {}, [path, name, "14", "grb_tile"], f"run_path({path!r}, run_name='__main__')"
    for command in COMMANDS:
        argv = ["grb-tile", command, ROADS, *(("--source", "140960") if command in SOURCE else ())]
        yield {}, argv, "run_module('grb_tile', run_name='__main__')"
    script = str(ROOT / "examples" / "networkx_script.py")
    variables = {"NETWORKX_BACKEND_PRIORITY": "grb_tile", "NETWORKX_WARNINGS_TO_IGNORE": "cache"}
    yield variables, [script], f"run_path({script!r}, run_name='__main__')"


def recipes():
    """The recipes (as JSON) of the kernels that these programs use, in the order of their first use."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "used.json")
        for variables, argv, call in _scripts():
            environment = {**os.environ, "GRB_TILE_JIT": "always", "PYTHONPATH": os.pathsep.join(PATHS), **variables}
            subprocess.run(
                [sys.executable, "-c", TRACE.format(target=target, argv=argv, run=call)],
                env=environment, stdout=subprocess.DEVNULL, check=True,
            )  # fmt: skip
            used = [json.dumps(data, sort_keys=True) for data in json.loads(pathlib.Path(target).read_text())]
            new = [recipe for recipe in used if recipe not in found]
            found.update(dict.fromkeys(used))
            print(f"{' '.join(map(os.path.basename, argv))}: {len(used)} kernels, {len(new)} new", flush=True)
    return list(found)


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), *sys.argv[3:4], *map(int, sys.argv[4:5]), *sys.argv[5:6])
