"""Tests of this folder need a CUDA device: all carry the mark `gpu`, and they are skipped only where there is none.

What is there but cannot be used (CuPy without its libraries, no python-graphblas for the batteries) fails, with the
remedy.
"""

import importlib.util

import pytest

HERE = __file__.rsplit("/", 1)[0]


def has_device():
    """Is there a device, and CuPy to talk to it?"""
    if importlib.util.find_spec("cupy") is None:
        return False
    import cupy

    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def pytest_collection_modifyitems(items):
    own = [item for item in items if str(item.path).startswith(HERE)]
    if not own:
        return
    without = None if has_device() else pytest.mark.skip(reason="no CUDA device (or no CuPy) on this machine")
    for item in own:
        item.add_marker(pytest.mark.gpu)
        if without is not None:
            item.add_marker(without)


def pytest_terminal_summary(terminalreporter):
    """A line for each battery: what RECORD.md wants to hold."""
    lines = [
        dict(report.user_properties)
        for key in ("passed", "failed")
        for report in terminalreporter.stats.get(key, ())
        if report.when == "call" and "battery" in dict(report.user_properties)
    ]
    for line in sorted(lines, key=lambda found: found["battery"]):
        terminalreporter.write_line(f"{line['battery']}: {line['outcome']}")
    if lines:
        terminalreporter.write_line(f"device: {lines[0]['device']}")
