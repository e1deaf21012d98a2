"""The suite's batteries on the device: conformance against SuiteSparse, laws, algorithms, and the tests of the kernels.

Each file of a battery is one test here: it runs in a process of its own with

    GRB_TILE_TEST_ENGINES=cuda     the conformance battery and the laws compute with the backend "cuda"
    GRB_TILE_TEST_DEVICE=cuda      the tests of tests/backends/cuda run their kernels on the device instead of the CPU
    -p gpu.on_device               everything else (the algorithms) does so by default

so that what passes on the CPU and what passes here are the same lines of test.  Run them side by side with -n 8:
compiled kernels are kept on disk and shared by the processes.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
SECONDS = 1500  # the first run compiles thousands of kernels
# What a battery's file does not say about the device: the coverage account of the CPU's engines, and the shim itself.
LEFT_OUT = {"test_coverage.py", "test_emulation.py"}
BATTERIES = {
    folder: sorted(path for path in (TESTS / folder).glob("test_*.py") if path.name not in LEFT_OUT)
    for folder in ("conformance", "laws", "algorithms", "backends/cuda")
}
FILES = [path for found in BATTERIES.values() for path in found]
# Plugins that a machine may have and that would get between a battery and its count.
WITHOUT = ["-p", "no:cacheprovider", "-p", "no:benchmark", "-p", "no:xdist"]
NEED_ORACLE = {"conformance", "laws"}


def environment():
    """The environment of a battery's process: our own tests and library first, the caller's paths after."""
    paths = [str(ROOT), str(TESTS), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}  # not a worker of ours
    return {
        **kept,
        "GRB_TILE_TEST_ENGINES": "cuda",
        "GRB_TILE_TEST_DEVICE": "cuda",
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
    }


def run(path, *options):
    """(exit status, output) of pytest on one file, on the device."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "gpu.on_device", *WITHOUT, *options, str(path)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        check=False,
        text=True,
        timeout=SECONDS,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def outcome(output):
    """The last line of pytest's that counts, without its rulers."""
    counts = [line for line in output.splitlines() if re.search(r"\b\d+ (passed|failed|errors?|skipped)\b.* in ", line)]
    return counts[-1].strip("= ") if counts else "no count: " + " ".join(output.splitlines()[-3:])


def test_every_battery_is_there():
    assert all(BATTERIES.values()), "a battery of the suite has moved: name its folder in BATTERIES"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_battery(path, record_property):
    if path.parent.name in NEED_ORACLE:
        try:
            import graphblas  # noqa: F401
        except ImportError:
            pytest.fail("the batteries compare with SuiteSparse: install python-graphblas (pip install -e '.[test]')")
    status, output = run(path)
    said = outcome(output)
    name = f"{path.parent.name}/{path.name}"
    host = re.findall(r"primitives computed on the host: (.*)", output)
    card = re.findall(r"grb_tile computes on (.*)", output)
    record_property("battery", name)
    record_property("outcome", f"{said}; on the host: {host[-1] if host else 'not said'}")
    record_property("device", card[-1] if card else "not said")
    assert status == 0, f"{name}: {said}\n{output[-12000:]}"
