"""`import grb_tile` brings NumPy and nothing heavy: no compiler, no CUDA, no SciPy until a call needs them."""

import json
import pathlib
import subprocess
import sys

import pytest

HEAVY = {
    "numba",
    "llvmlite",
    "cupy",
    "cupyx",
    "scipy",
    "pandas",
    "matplotlib",
    "networkx",
    "graphblas",
    "mpi4py",
    "pytest",
}

PROGRAM = """
import json, sys, time
start = time.perf_counter()
import numpy
numpy_seconds = time.perf_counter() - start
{statements}
seconds = time.perf_counter() - start
modules = sorted({{m.split(".")[0] for m in sys.modules}})
print(json.dumps(dict(modules=modules, seconds=seconds, numpy=numpy_seconds)))
"""


def modules_after(statements):
    import grb_tile

    root = str(pathlib.Path(grb_tile.__file__).resolve().parent.parent)
    program = f"import sys; sys.path.insert(0, {root!r})\n" + PROGRAM.format(statements=statements)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd="/")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize(
    "statements",
    [
        "import grb_tile",
        "import grb_tile as gb; gb.Matrix, gb.Vector, gb.Scalar, gb.unary, gb.binary, gb.monoid, gb.semiring, "
        "gb.op, gb.agg",
        "import grb_tile.algorithms, grb_tile.kernels",
        "from grb_tile.backends.distributed.connect import connect; assert connect().size == 1",
    ],
)
def test_import_brings_nothing_heavy(statements, record_property):
    found = modules_after(statements)
    # recorded, not asserted: a busy machine must not fail a test; tests/benchmarks measures it
    record_property("import_seconds", found["seconds"])
    record_property("numpy_seconds", found["numpy"])
    assert not HEAVY & set(found["modules"])


def test_a_variable_that_asks_for_the_gpu_brings_nothing_at_the_import(monkeypatch):
    monkeypatch.setenv("GRB_TILE_BACKEND", "cuda")
    assert not HEAVY & set(modules_after("import grb_tile as gb; gb.Matrix, gb.config.get('backend')")["modules"])


def test_the_probe_sees_a_heavy_import():
    assert "scipy" in modules_after("import scipy.sparse")["modules"]
