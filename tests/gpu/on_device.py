"""A pytest plugin (`-p gpu.on_device`) for a battery's process: the default backend, one part of a file, a line on
the device.

    GRB_TILE_TEST_BACKEND=cpu     the default backend ("cuda" when unset)
    GRB_TILE_TEST_NUMBER=1        the device that computes (0 when unset)
    GRB_TILE_TEST_PART=2/4        the second quarter of the tests collected

At the end it says which primitives were computed on the host, and how often: for numbers and bool none should be.
"""

import os

import pytest

import grb_tile as gb
from grb_tile.backends import select

NUMBER = int(os.environ.get("GRB_TILE_TEST_NUMBER", "0"))


def pytest_configure(config):
    gb.config.set(device=NUMBER)
    gb.config.set(backend=os.environ.get("GRB_TILE_TEST_BACKEND", "cuda"))
    select.named("cuda").bind()  # tests of backends/cuda call the device's functions themselves


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Tests that stand together stay together, since they share compiled kernels."""
    part, parts = map(int, os.environ.get("GRB_TILE_TEST_PART", "1/1").split("/"))
    first, last = ((len(items) * k + parts - 1) // parts for k in (part - 1, part))
    if parts > 1:
        config.hook.pytest_deselected(items=items[:first] + items[last:])
    items[:] = items[first:last]


def pytest_terminal_summary(terminalreporter):
    device, detours = select.named("cuda").device, dict(select.named("cuda").detours)
    name = device.xp.cuda.runtime.getDeviceProperties(NUMBER)["name"].decode()
    terminalreporter.write_line(f"grb_tile computes on {name} {NUMBER}, compute capability {device.launcher.arch}")
    terminalreporter.write_line(f"primitives computed on the host: {detours if detours else 'none'}")
