"""Times of calls on the device.

device us   the device's time of a call: calls queued behind a long kernel, so that the host's time does not show
call us     wall time of a call whose result is complete (for what reads a count back)
"""

import time

import cupy as cp
import numpy as np

from grb_tile.cli.timing import repeated
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


def median_ms(call, repeats):
    """Median wall time of `repeats` calls, each until the device is done."""
    return float(np.median(repeated(call, repeats)[1])) * 1e3


def call_us(call, repeats=15):
    """Median wall time of a call until the device is done, the third of its kind or later."""
    call()
    call()
    return median_ms(call, repeats) * 1e3


def best_ms(call, repeats=5):
    """The best of them."""
    return min(repeated(call, repeats)[1]) * 1e3
