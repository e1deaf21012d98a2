"""The costs of a device, measured: launches, read-backs, barriers, bandwidth, gathers and atomics.

Kernels: base/costs.cuh.  Each figure is the least of several runs, because other programs may use the device.  It takes
half a second, once for each device and driver: the figures are kept in the cache of compiled kernels.  `device` is a
Device (device.py, which imports this module).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from time import perf_counter_ns
from typing import Any

import numpy as np

from ....exceptions import GraphblasException
from ....planner.device_profile import DeviceProfile, Measured, profile_from
from ...kernel_cache import KernelCache
from .compile import source_text

HEADER = "base/costs.cuh"
DRAM_BYTES = 1 << 29  # more than any L2 has (B200: 126 MB), so that reads in order come from DRAM
TABLE_BITS = 18  # a table of 2 MiB, which every L2 holds (T4: 4 MiB) and no L1 does
ACCESSES = 1 << 25
BARRIERS = 1000
RUNS = 5
_disk = KernelCache("cuda")


def profile_of_device(device: Any) -> DeviceProfile:
    """The profile of a device: from the planner's table, else from figures measured here, else scaled by its facts."""
    found = device.launcher.profile()
    if not found.scaled:
        return found
    key = _key(device)
    stored = _disk.get(key)
    try:
        if stored is None:
            measured = measure(device)
            device.launcher.release_memory(lambda: 0)  # DRAM_BYTES, which stay in the pool else
            _disk.put(key, json.dumps(asdict(measured)).encode())
        else:
            measured = Measured(**json.loads(stored))
    except (GraphblasException, RuntimeError, MemoryError, TypeError, ValueError):  # facts and a ratio will do
        return found
    return profile_from(found.name, found.processors, found.shared_bytes, measured)


def _key(device):
    state = [device.launcher.profile().name, device.launcher.driver_version(), source_text(HEADER, "")[0]]
    return f"{hashlib.sha256(chr(0).join(map(str, state)).encode()).hexdigest()[:32]}.costs"


def measure(
    device: Any, clock: Callable[[Any, Callable[[], Any]], float] | None = None,
    dram_bytes: int = DRAM_BYTES, accesses: int = ACCESSES, barriers: int = BARRIERS, runs: int = RUNS,
) -> Measured:  # fmt: skip
    """The figures of a device, in nanoseconds.  clock(device, launch): the device's time of a launch, in ns.

    Raises: what a launch may raise; MemoryError where `dram_bytes` are not free.
    """
    launcher, clock = device.launcher, clock or _device_ns
    read, gather, add, barrier = (
        launcher.kernel(HEADER, name) for name in ("read_words", "gather_words", "add_words", "count_barriers")
    )
    out, n = device.zeros(4, np.uint64), dram_bytes // 8
    data, table = device.zeros(n, np.uint64), device.zeros(1 << TABLE_BITS, np.uint64)

    def least(launch):
        return min(clock(device, launch) for _ in range(runs))

    def wait(count):
        counter = device.zeros(1, np.uint64)
        blocks, threads = launcher.processors, launcher.threads(256)
        blocks = min(blocks, barrier.resident_blocks(threads))
        return clock(device, lambda: barrier(blocks, threads, (counter, count), cooperative=True))

    empty = least(lambda: gather.over(1, (table, TABLE_BITS, 1, out)))
    return Measured(
        launch_ns=min(_host_ns(lambda: gather.over(1, (table, TABLE_BITS, 1, out)), 100, device) for _ in range(runs)),
        read_back_ns=min(_host_ns(lambda: device.read_count(out), 10, device) for _ in range(runs)),
        barrier_ns=max(min(wait(barriers) for _ in range(runs)) - empty, 1.0) / barriers,
        dram_bytes_ns=dram_bytes / max(least(lambda: read.over(n >> 1, (data, n, out))) - empty, 1.0),
        atomic_ns=max(least(lambda: add.over(accesses, (table, TABLE_BITS, accesses))) - empty, 1.0) / accesses,
        gather_ns=max(least(lambda: gather.over(accesses, (table, TABLE_BITS, accesses, out))) - empty, 1.0) / accesses,
    )


def _device_ns(device, launch):
    cuda = device.xp.cuda
    start, stop = cuda.Event(), cuda.Event()
    launch()  # compiled, and the clocks are up
    start.record()
    launch()
    stop.record()
    stop.synchronize()
    return cuda.get_elapsed_time(start, stop) * 1e6


def _host_ns(call, count, device):
    call()
    device.synchronize()
    start = perf_counter_ns()
    for _ in range(count):
        call()
    elapsed = (perf_counter_ns() - start) / count
    device.synchronize()
    return elapsed
