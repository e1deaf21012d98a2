"""The fallbacks of devices that have less than the one at hand: searches and products with each of them forced.

GRB_TILE_DEVICE_LIMITS (docs/CUDA.md) restricts the device in a process of its own, which runs the sample of the
kernels' tests that `-m "not slow"` means. How fast they are: tests/benchmarks/gpu/bench_fallbacks.py.
"""

import os
import subprocess
import sys

import pytest

from gpu.batteries import ROOT, TESTS, WITHOUT, Battery, counts

FORCED = {
    "no clusters": "clusters=0",
    "shuffles in the place of __reduce_sync": "reduce_sync=0",
    "48 KiB of shared memory": "shared=48",
    "64 KiB of shared memory": "shared=64",
    "99 KiB of shared memory": "shared=99",
    "24 multiprocessors": "processors=24",
    "46 multiprocessors": "processors=46",
    "T4": "arch=75 processors=40",
    "A100": "arch=80 processors=108",
    "RTX 4060": "arch=89 processors=24",
    "RTX 5060": "arch=120 processors=36",
}
FILES = ("bfs", "bfs_multi", "bfs_tiles", "sssp", "components", "matvec", "segments", "spgemm", "tiles")
SECONDS = 900


@pytest.mark.parametrize("what", FORCED)
def test_searches_and_products(what):
    battery = Battery("backends/cuda", "")
    files = [TESTS / "backends/cuda" / f"test_{name}.py" for name in FILES]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "gpu.on_device", *WITHOUT, *files]
    environment = {**battery.environment(), "GRB_TILE_DEVICE_LIMITS": FORCED[what]}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=False, text=True, timeout=SECONDS, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip
    found = counts(done.stdout)
    assert done.returncode == 0 and found and found["passed"] > 50, f"{what}: {found}\n{done.stdout[-12000:]}"


def test_the_table_of_limits_agrees_with_the_driver():
    """What the driver says of this device, against the entry of its architecture."""
    from grb_tile.backends.cuda.runtime.launch import Launcher
    from grb_tile.planner.device_limits import LIMITS

    assert "GRB_TILE_DEVICE_LIMITS" not in os.environ
    found = Launcher().limits
    listed = LIMITS.get(found.arch)
    if listed is None:
        pytest.skip(f"sm_{found.arch} is not listed")
    for name in ("shared_per_block", "shared_per_processor", "threads_per_processor", "has_clusters"):
        assert getattr(found, name) == getattr(listed, name), name


def test_a_cluster_is_chosen_where_the_device_has_them():
    """The occupancy of clusters answers: otherwise the form for a few blocks would run everywhere."""
    from grb_tile.backends.cuda.runtime.launch import Launcher
    from grb_tile.backends.cuda.traversal.block_group import group_launch

    launcher = Launcher()
    found = group_launch(
        launcher, "traversal/sssp_high_diameter.cuh", "sssp_high_diameter", lambda queue: ("unsigned", "8", "false"),
        9, 8, 1024,
    )  # fmt: skip
    assert found.in_cluster == launcher.limits.has_clusters and found.blocks == 8
