"""The clock of the commands and of tests/benchmarks: wall time of calls, each until its result is complete."""

import time


def timed(call, calls=1, clock=None):
    """(result of the last of `calls` calls, seconds a call).

    A device is idle before the first call; it is waited for after the last one alone.  clock: time.perf_counter, or
    another function that gives seconds.
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
        result = None  # its memory is free for the next one
        result, seconds = timed(call)
        times.append(seconds)
    return result, times


def warm_up(call, least, seconds):
    """Calls that do not count: `least` of them or more, for `seconds` or longer."""
    stop, calls = time.perf_counter() + seconds, 0
    while calls < least or time.perf_counter() < stop:
        timed(call)
        calls += 1
