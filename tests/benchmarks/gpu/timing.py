"""Times of calls on the device.

device us   the device's time of a call: calls queued behind a long kernel, so that the host's time does not show
call us     wall time of a call whose result is complete (for what reads a count back)
"""

import time

import cupy as cp
import numpy as np

from grb_tile.planner import tuning

_LONG = cp.RawKernel(
    'extern "C" __global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n); }', "spin"
)


def device_us(call, repeats=20):
    """Median of three: the device's time of one of `repeats` calls queued behind a long kernel."""
    for _ in range(tuning.BUILD_AFTER + 2):  # what is made after some calls must not count as host time
        call()
    start = time.perf_counter()
    for _ in range(3):
        call()
    host = (time.perf_counter() - start) / 3
    cp.cuda.Device().synchronize()
    times = []
    for _ in range(3):
        _LONG((1,), (1,), (np.int64((host * repeats * 2 + 2e-3) * 1.9e9),))
        first, last = cp.cuda.Event(), cp.cuda.Event()
        first.record()
        for _ in range(repeats):
            call()
        last.record()
        last.synchronize()
        times.append(cp.cuda.get_elapsed_time(first, last) * 1e3 / repeats)
    return float(np.median(times))


def timed(call):
    """(milliseconds of a call until the default stream is done, what it returned)."""
    cp.cuda.Stream.null.synchronize()
    start = time.perf_counter()
    found = call()
    cp.cuda.Stream.null.synchronize()
    return (time.perf_counter() - start) * 1e3, found


def wall_seconds(call, repeats):
    """Wall times of `repeats` calls, each until the device is done."""
    times = []
    for _ in range(repeats):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    return times


def call_us(call, repeats=15):
    """Median wall time of a call until the device is done, the third of its kind or later."""
    call()
    call()
    return float(np.median(wall_seconds(call, repeats))) * 1e6


def best_ms(call, repeats=5):
    """The best of them."""
    return min(wall_seconds(call, repeats)) * 1e3
