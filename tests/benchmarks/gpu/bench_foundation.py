"""What the CUDA backend's foundation does and costs on this machine's device: run it first on a new one.

    python3 tests/benchmarks/gpu/bench_foundation.py [--edges 100000000]

Checks structure primitives against NumPy on random matrices, then times launches, read-backs, moves, build and
transpose. Prints one JSON object a line; exits with 1 when something differs.
"""

import argparse
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile import dtypes  # noqa: E402
from grb_tile.backends import select  # noqa: E402
from grb_tile.cli.timing import repeated  # noqa: E402


def say(**what):
    print(json.dumps(what), flush=True)


def median_us(device, function, repeats=200):
    """Microseconds of host time a call, the device kept busy in order, waited for at the end of each."""
    function()
    times = []
    for _ in range(repeats):
        device.synchronize()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    device.synchronize()
    return round(float(np.median(times)) * 1e6, 2)


def seconds(function):
    """Seconds of one call, its work on the device included; the second of two calls."""
    result, taken = repeated(function, 2)
    return round(taken[-1], 5), result


def check(backend):
    """Structure primitives against NumPy's, on random stores of several types.  Returns how many differ."""
    from backends import agree, samples

    numpy, wrong = select.named("numpy"), 0
    for turn in range(60):
        rng = np.random.default_rng(turn)
        dtype = samples.choice(rng, samples.TYPES)
        rows, cols = samples.dimension(rng, turn % 7 == 6), samples.dimension(rng, turn % 5 == 4)
        A, u = samples.random_matrix(rng, rows, cols, dtype), samples.random_vector(rng, cols, dtype)
        I = rng.integers(0, cols[0], 7)
        for what, got, want in (
            ("transpose", lambda A=A: backend.transpose(A), lambda A=A: numpy.transpose(A)),
            ("gather_vector", lambda u=u, I=I: backend.gather_vector(u, I), lambda u=u, I=I: numpy.gather_vector(u, I)),
            (
                "gather_matrix",
                lambda A=A, I=I: backend.gather_matrix(A, None, I),
                lambda A=A, I=I: numpy.gather_matrix(A, None, I),
            ),
            ("cast", lambda A=A: backend.cast(A, dtypes.FP32), lambda A=A: numpy.cast(A, dtypes.FP32)),
            ("dcsr", lambda A=A: backend.convert(A, "dcsr"), lambda A=A: A),
        ):
            try:
                agree.assert_same(got(), want())
            except Exception as error:  # noqa: BLE001  (everything is reported, nothing stops the others)
                wrong += 1
                say(turn=turn, primitive=what, dtype=str(dtype), error=f"{type(error).__name__}: {error}"[:500])
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--edges", type=int, default=20_000_000)
    edges = parser.parse_args().edges
    gb.config.set(backend="cuda")
    backend = select.current()
    device, xp = backend.device, backend.device.xp
    name = xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    say(device=name, arch=device.launcher.arch, processors=device.launcher.processors, memory=device.memory())
    start = time.perf_counter()
    wrong = check(backend)
    say(check="structure", wrong=wrong, seconds=round(time.perf_counter() - start, 1), detours=dict(backend.detours))

    kernel = device.launcher.kernel("structure/gather.cuh", "gather", "", ("int64_t", "uint32_t"))
    at, x, y = device.arange(1000), device.zeros(1000, np.float32), device.zeros(1000, np.float32)
    counts = device.zeros(4, np.int64)
    say(
        launch_us=median_us(device, lambda: kernel.over(1000, (at, x, 1000, y))),
        read_us=median_us(device, lambda: device.read(counts)),
        read_two_us=median_us(device, lambda: device.read(counts, counts)),
        cupy_add_us=median_us(device, lambda: x + y),
        own_us=median_us(device, lambda: backend.store_to_device(store))
        if (store := gb.Vector.from_coo([0], [1], size=9)._store)
        else 0,
        resident=kernel.resident_blocks(256),
    )

    rng = np.random.default_rng(1)
    n = 1 << 21
    rows, cols = (device.array(rng.integers(0, n, edges)) for _ in range(2))
    values = device.zeros(edges, np.float32) + 1
    taken, A = seconds(
        device, lambda: backend.build_matrix(n, n, rows, cols, values, gb.binary.plus["FP32"], dtypes.FP32)
    )
    say(build_edges=edges, nvals=A.nvals, seconds=taken, ns_an_edge=round(taken / edges * 1e9, 3))

    def transpose():
        A.forms = None
        return backend.transpose(A)

    taken, T = seconds(transpose)
    say(transpose_nvals=A.nvals, seconds=taken, ns_an_entry=round(taken / A.nvals * 1e9, 3))
    T.forms = None
    back = backend.transpose(T)
    same = bool((back.indices == A.indices).all()) and bool((back.indptr == A.indptr).all())
    say(transpose_twice_is_the_same=same)
    return 1 if wrong or not same else 0


if __name__ == "__main__":
    sys.exit(main())
