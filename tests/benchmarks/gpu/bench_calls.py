"""Host time of single warm calls on a GPU: elements, inner products, masked products of several sizes, costs of loops.

    python3 tests/benchmarks/gpu/bench_calls.py

Prints one JSON object a line: medians and minima of microseconds, the device idle before each call.
"""

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile.backends import select  # noqa: E402


def times_of(device, call, repeats=300, waits=False):
    """[median, minimum] in microseconds of a call; waits: the device's work is part of it."""
    for _ in range(12):
        call()
    taken = []
    for _ in range(repeats):
        device.synchronize()
        start = time.perf_counter()
        call()
        if waits:
            device.synchronize()
        taken.append(time.perf_counter() - start)
    return [round(float(f(taken)) * 1e6, 1) for f in (np.median, np.min)]


def main():
    gb.config.set(backend="cuda")
    device = select.current().device
    for n in (1 << 12, 1 << 20, 1 << 24):
        full = gb.Vector.from_dense(np.arange(float(n)))
        full = full.apply(gb.unary.ainv).new()
        half = gb.Vector.from_coo(np.arange(0, n, 2), 1.0, size=n).apply(gb.unary.ainv).new()
        few = gb.Vector.from_coo(np.arange(0, n, n // 64), 1.0, size=n).apply(gb.unary.ainv).new()
        row = {
            "inner_full": times_of(device, lambda: full.inner(full).new().value),  # noqa: B023
            "inner_half": times_of(device, lambda: half.inner(full).new().value),  # noqa: B023
            "inner_few": times_of(device, lambda: few.inner(half).new().value),  # noqa: B023
            "reduce_full": times_of(device, lambda: full.reduce().new().value),  # noqa: B023
        }
        if n > 1 << 20:
            row["element"] = times_of(device, lambda: full.get(7), 40)  # noqa: B023
        print(json.dumps({"n": n, **row}), flush=True)
    for scale in (12, 20, 21, 22, 23, 24):
        n = 1 << scale
        rng = np.random.default_rng(scale)
        A = gb.Matrix.from_coo(rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n), np.ones(2 * n), nrows=n, ncols=n,
                               dup_op=gb.binary.plus)  # fmt: skip
        A.T.new()
        u = gb.Vector.from_coo(np.arange(0, n, max(n // 1000, 1)), 1.0, size=n)
        mask = gb.Vector.from_coo(np.arange(0, n, 2), True, size=n).apply(gb.unary.identity).new()
        w = gb.Vector(float, n)

        def call():
            w(~mask.S, replace=True) << u.vxm(A, gb.semiring.plus_times)  # noqa: B023

        host, whole = times_of(device, call), times_of(device, call, waits=True)
        print(
            json.dumps({"masked_product": n, "host": host, "whole": whole, "plan": str(gb.explain())[:90]}), flush=True
        )
    try:
        from grb_tile.backends.cuda.runtime.costs import measure
    except ImportError:
        return
    for _ in range(3):
        start = time.perf_counter()
        found = asdict(measure(device))
        print(json.dumps({"costs": found, "seconds": round(time.perf_counter() - start, 2)}), flush=True)


if __name__ == "__main__":
    main()
