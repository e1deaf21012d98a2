"""The batteries: files of the suite that also run on the device, each in one process or in several that share its
tests.

conformance and laws compute with the backend "cuda" (GRB_TILE_TEST_ENGINES), algorithms by default, backends/cuda run
their kernels on the device instead of the CPU emulation (GRB_TILE_TEST_DEVICE).
"""

import importlib.util
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
FOLDERS = ("conformance", "laws", "algorithms", "backends/cuda")
SECONDS = 1500  # the first run compiles thousands of kernels
# Not about the device: the coverage account of the CPU's engines, the CPU emulation itself, what is recorded on it or
# counted by it.
LEFT_OUT = {
    "test_coverage.py", "test_emulation.py", "test_emulation_guards.py", "test_large_arrays.py",
    "test_recorded_kernels.py", "test_traffic.py",
}  # fmt: skip
# Files whose tests take long are shared by so many processes.
PARTS = {
    "laws/test_plans.py": 6, "laws/test_pushdown.py": 4, "laws/test_algebra.py": 2, "conformance/test_apply.py": 3,
    "conformance/test_assign.py": 3, "conformance/test_casts.py": 3, "conformance/test_ewise_add.py": 2,
    "conformance/test_ewise_mult.py": 3, "conformance/test_ewise_union.py": 2, "conformance/test_extract.py": 2,
    "conformance/test_mxm.py": 3, "conformance/test_mxv.py": 2, "conformance/test_product_chains.py": 5,
    "conformance/test_products.py": 4, "conformance/test_reduce.py": 3, "conformance/test_select.py": 2,
    "conformance/test_subassign.py": 2, "conformance/test_programs.py": 3, "conformance/test_vxm.py": 2,
    "laws/test_forms_agree.py": 2, "algorithms/test_forced_plans.py": 2, "algorithms/test_options.py": 4,
    "algorithms/test_sssp.py": 2, "backends/cuda/test_sssp.py": 3, "backends/cuda/test_bfs_tiles.py": 2,
    "backends/cuda/test_matvec.py": 3, "backends/cuda/test_segments.py": 2,
}  # fmt: skip
# Plugins that a machine may have and that stand between a battery and its count.
WITHOUT = ["-p", "no:cacheprovider", "-p", "no:benchmark", "-p", "no:xdist"]
COUNTS = re.compile(r"(\d+) (passed|failed|error|skipped)")


@dataclass(frozen=True)
class Battery:
    """One part of one file's tests."""

    folder: str
    file: str
    part: int = 1
    parts: int = 1
    ranks: int = 0  # on so many ranks, each with a device

    def __str__(self):
        return f"{self.folder}/{self.file}" + (f" {self.part}/{self.parts}" if self.parts > 1 else "")

    @property
    def path(self):
        return TESTS / self.folder / self.file

    def environment(self):
        """The environment of its process: our own tests and library first, the caller's paths after."""
        paths = [str(ROOT), str(TESTS), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")
        }  # not a worker of ours
        return {
            **kept,
            "GRB_TILE_TEST_ENGINES": f"ranks{self.ranks}" if self.ranks else "cuda",
            "GRB_TILE_TEST_RANK_DEVICES": str(self.ranks),
            "GRB_TILE_TEST_DEVICE": "cuda",
            # tests of backends/cuda choose the backend themselves, and what they compare with comes from the CPU
            "GRB_TILE_TEST_BACKEND": "cpu" if self.folder == "backends/cuda" or self.ranks else "cuda",
            "GRB_TILE_TEST_PART": f"{self.part}/{self.parts}",
            "GRB_TILE_TEST_NUMBER": str(device_number()),
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        }

    def run(self, *options):
        """(exit status, output, seconds) of pytest on this part: all its tests, the slow ones too."""
        command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "gpu.on_device", *WITHOUT, *options, self.path]
        start = time.monotonic()
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=self.environment(),
            check=False,
            text=True,
            timeout=SECONDS,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return done.returncode, done.stdout, time.monotonic() - start


def device_number():
    """The device on which this worker's batteries run: workers take turns over those that the machine has."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return int(worker) % max(1, devices())


def devices():
    """How many CUDA devices there are; 0 without CuPy."""
    if importlib.util.find_spec("cupy") is None:
        return 0
    import cupy

    try:
        return cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


def batteries():
    """All of them, by folders."""
    found = []
    for folder in FOLDERS:
        files = sorted(path.name for path in (TESTS / folder).glob("test_*.py") if path.name not in LEFT_OUT)
        for file in files:
            parts = PARTS.get(f"{folder}/{file}", 1)
            found += [Battery(folder, file, part, parts) for part in range(1, parts + 1)]
    return found


def counts(output):
    """{"passed": n, "failed": n, "skipped": n} from pytest's last line of counts; errors are failures; None without
    one."""
    lines = [line for line in output.splitlines() if COUNTS.search(line) and " in " in line]
    if not lines:
        return None
    found = {what: int(number) for number, what in COUNTS.findall(lines[-1])}
    return {
        "passed": found.get("passed", 0),
        "failed": found.get("failed", 0) + found.get("error", 0),
        "skipped": found.get("skipped", 0),
    }


def in_order(items, processes, weight):
    """`items` for `processes` workers that each take one and keep one waiting: the longest first, short ones behind
    them.

    weight: item -> how long it takes, in any unit.

    >>> in_order(list("abcdefg"), 2, dict(a=1, b=9, c=2, d=8, e=7, f=3, g=6).get)
    ['b', 'd', 'c', 'a', 'e', 'g', 'f']
    """
    longest = sorted(items, key=lambda item: -weight(item))
    few = min(processes, len(longest) // 2)
    rest = longest[few:]
    return longest[:few] + rest[len(rest) - few :] + rest[: len(rest) - few]
