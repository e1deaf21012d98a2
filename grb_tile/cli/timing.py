"""Wall time of calls until their results are complete, for the commands and tests/benchmarks."""

import time


def timed(call, calls=1, clock=None):
    """(result of the last of `calls` calls, seconds per call).

    The device is idle before the first call, and is synchronised after the last one only.
    clock   a function that returns seconds; None: time.perf_counter
    """
    from grb_tile.backends import select

    wait, clock = select.current().synchronize, clock or time.perf_counter
    wait()
    started = clock()
    for _ in range(calls - 1):
        call()
    result = call()
    wait()
    return result, (clock() - started) / calls


def repeated(call, count):
    """(result of the last call, seconds of each of `count` calls)."""
    times = []
    for _ in range(count):
        result = None  # frees its memory for the next call
        result, seconds = timed(call)
        times.append(seconds)
    return result, times


def warm_up(call, least, seconds):
    """Untimed calls: at least `least` of them, for at least `seconds`."""
    stop, calls = time.perf_counter() + seconds, 0
    while calls < least or time.perf_counter() < stop:
        timed(call)
        calls += 1
