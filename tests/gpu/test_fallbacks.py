"""The limits of the device, and what is chosen by them.

That searches and products are right with less: tests/backends/cuda/test_device_limits.py, a battery. How fast they are:
tests/benchmarks/gpu/bench_fallbacks.py.
"""

import os

import pytest


def test_the_table_of_limits_agrees_with_the_driver():
    """What the driver says of this device, against the entry of its architecture."""
    from grb_tile.backends.cuda.runtime.launch import Launcher
    from grb_tile.planner.device_limits import LIMITS

    assert "GRB_TILE_DEVICE_LIMITS" not in os.environ
    found = Launcher().limits
    listed = LIMITS.get(found.arch)
    if listed is None:
        pytest.skip(f"sm_{found.arch} is not listed")
    for name in ("shared_per_block", "shared_per_processor", "threads_per_processor"):
        assert getattr(found, name) == getattr(listed, name), name
