"""A pytest plugin (`-p gpu.on_device`): every test computes on the device unless it chooses a backend itself.

At the end it says which primitives went through the host, and how often: on numbers and bool none should.
"""

import grb_tile as gb
from grb_tile.backends import select


def pytest_configure(config):
    gb.config.set(backend="cuda")


def pytest_terminal_summary(terminalreporter):
    device, detours = select.named("cuda").device, dict(select.named("cuda").detours)
    name = device.xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    terminalreporter.write_line(f"grb_tile computes on {name}, compute capability {device.launcher.arch}")
    terminalreporter.write_line(f"primitives computed on the host: {detours if detours else 'none'}")
