"""Host time of warm calls on a GPU: microseconds a queued call, and how many Python functions of grb_tile it enters.

    python3 tests/benchmarks/gpu/bench_host_calls.py

n = 4,096: a grid of 64 x 64 vertices for products.  Calls are queued one after another; blocks of 100, the median and
the least of their means.  The first line is what a call of an empty Python function takes here, because hosts differ
by two.  Each call's result is compared with the CPU's before it is timed.
"""

import statistics
import sys
import time
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile.backends import select  # noqa: E402

SIDE = 64
BLOCKS, CALLS = 24, 100


def functions_of(call):
    """Python functions of grb_tile that a call enters."""
    count = 0

    def enter(frame, event, argument):
        nonlocal count
        name = frame.f_code.co_filename
        count += event == "call" and ("grb_tile" in name and "tests" not in name or name[0] == "<")

    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(before)
    return count


def times_of(call, wait):
    """(median, least) microseconds of a call in blocks of CALLS."""
    taken = []
    for _ in range(BLOCKS):
        wait()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        taken.append((time.perf_counter() - start) / CALLS * 1e6)
    return statistics.median(taken), min(taken)


def cases():
    """{text: a function of no arguments that returns what the call wrote}"""
    n = SIDE * SIDE
    at = np.arange(n).reshape(SIDE, SIDE)
    i = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    j = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    i, j = np.concatenate([i, j]), np.concatenate([j, i])
    A = gb.Matrix.from_coo(i, j, 1.0 + (i + j) % 7, nrows=n, ncols=n)
    B = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n)
    C = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n)
    C.T.new()  # both orientations are there
    u, v = (gb.Vector.from_dense(np.arange(n) * 0.5 + k).apply("identity").new() for k in (1, 2))
    f = gb.Vector.from_coo(np.arange(0, n, 17), True, size=n)
    bits = gb.Vector.from_coo(np.arange(0, n, 3), True, size=n)
    level = gb.Vector(int, n)
    level(f.S) << 0
    w, b, r = gb.Vector(float, n), gb.Vector(bool, n), u.dup()
    any_pair, plus = gb.semiring.any_pair, gb.binary.plus

    def wrote(out, call):
        call()
        return out

    def push():
        b(~level.S, replace=True) << f.vxm(B, any_pair)

    def again():
        b(~level.S, replace=True) << b.vxm(B, any_pair)

    def pull():
        b(~level.S, replace=True) << C.mxv(bits, any_pair)

    def accumulate():
        r(plus) << A.mxv(v, "plus_second")

    def fill():
        level(f.S) << 3

    return {
        "w << u.ewise_add(v)": partial(wrote, w, lambda: w << u.ewise_add(v)),
        "w << u.apply(abs)": partial(wrote, w, lambda: w << u.apply(gb.unary.abs)),
        "w << u.apply(times, right=2.0)": partial(wrote, w, lambda: w << u.apply(gb.binary.times, right=2.0)),
        "u.reduce(plus).new()": lambda: u.reduce(gb.monoid.plus).new(),
        "w << A.mxv(v)": partial(wrote, w, lambda: w << A.mxv(v)),
        "b(~l.S, replace) << f.vxm(B, any_pair), f a list": partial(wrote, b, push),
        "b(~l.S, replace) << b.vxm(B, any_pair)": partial(wrote, b, again),
        "b(~l.S, replace) << C.mxv(f, any_pair), C' is there": partial(wrote, b, pull),
        "r(plus) << A.mxv(v, plus_second)": partial(wrote, r, accumulate),
        "l(f.S) << 3": partial(wrote, level, fill),
        "b.nvals": lambda: b.nvals,
    }


def plain(found):
    """What is compared: entries, or a number."""
    if isinstance(found, gb.Vector):
        return [x.tolist() for x in found.to_coo()]
    return found.value if isinstance(found, gb.Scalar) else found


def main():
    def nothing():
        pass

    start = time.perf_counter()
    for _ in range(1_000_000):
        nothing()
    print(f"an empty Python function: {(time.perf_counter() - start) * 1e3:.1f} ns a call", flush=True)
    gb.config.set(backend="cpu")
    wanted = [[plain(call()) for _ in range(5)] for call in cases().values()]
    gb.config.set(backend="cuda")
    wait = select.current().synchronize
    for (text, call), want in zip(cases().items(), wanted, strict=True):
        for turn in want:
            found = plain(call())
            same = found == turn if not isinstance(turn, float) else abs(found - turn) <= 1e-9 * abs(turn)
            assert same, f"{text}: the result differs from the CPU's"
        for _ in range(300):
            call()
        median, least = times_of(call, wait)
        print(f"{text:54s} {median:7.1f} us {least:7.1f} least {functions_of(call):4d} functions", flush=True)


if __name__ == "__main__":
    main()
