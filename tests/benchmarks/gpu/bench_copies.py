"""Imports and exports of dense and sparse objects: GB/s of whole calls, the best and the median of seven.

    python tests/benchmarks/gpu/bench_copies.py [--sizes 1 4 16 64 256] [--threads 8 16] [--chunk 1 2] [--part 0.5 1]

sizes: MB of the arrays that the call is given, or returns, together.  threads, chunk (MB), part (MB): other values of
the constants of backends/cuda/runtime/host_copies.py; every combination is measured.
"""

import argparse
import itertools
import time

import numpy as np

import grb_tile as gb
from grb_tile.backends import select
from grb_tile.backends.cuda.runtime import host_copies

MB = 1 << 20
ROW = 16  # entries of a row of the matrix


def nbytes(found):
    """Bytes of an array, or of the arrays of a tuple."""
    return sum(x.nbytes for x in (found if isinstance(found, tuple) else (found,)) if x is not None)


def calls(size):
    """{name: (bytes, or None for those of the result, call)} with arrays of about `size` bytes."""
    x = np.random.default_rng(1).random(size // 4, np.float32)
    count = size // 12 // ROW * ROW  # entries of a position and a value
    at, held = np.arange(count, dtype=np.int64) * 2, x[:count]
    v, u = gb.Vector.from_dense(x), gb.Vector.from_coo(at, held)
    columns, indptr = np.arange(count, dtype=np.int64) % 4099, np.arange(0, count + 1, ROW)
    columns.reshape(-1, ROW).sort(axis=1)
    A = gb.Matrix.from_csr(indptr, columns, held, ncols=4099)
    square = x[: len(x) // 1024 * 1024].reshape(-1, 1024)
    D = gb.Matrix.from_dense(square)
    v, u, A, D = ((made + made).new() for made in (v, u, A, D))
    return {
        "Vector.from_dense": (x.nbytes, lambda: gb.Vector.from_dense(x)),
        "Matrix.from_dense": (square.nbytes, lambda: gb.Matrix.from_dense(square)),
        "Vector.from_coo": (at.nbytes + held.nbytes, lambda: gb.Vector.from_coo(at, held)),
        "Vector.to_dense": (None, v.to_dense),
        "Matrix.to_dense": (None, D.to_dense),
        "to_dense, half absent": (None, lambda: u.to_dense(0)),
        "to_coo, values": (None, lambda: v.to_coo(indices=False)),
        "Vector.to_coo": (None, u.to_coo),
        "Matrix.to_csr": (None, A.to_csr),
    }


def measure(name, size, call):
    """Best and median GB/s of seven calls after two."""
    backend, times = select.current(), []
    for turn in range(9):
        backend.synchronize()
        start = time.perf_counter()
        found = call()
        backend.synchronize()
        if turn > 1:
            times.append(time.perf_counter() - start)
        size = nbytes(found) if size is None else size
        del found
    return size / min(times) / 1e9, size / np.median(times) / 1e9


def main(args):
    gb.config.set(backend="cuda")
    device = select.current().device
    for threads, chunk, part in itertools.product(args.threads, args.chunk, args.part):
        host_copies.THREADS, host_copies.CHUNK, host_copies.PART = threads, int(chunk * MB), int(part * MB)
        device.copies = host_copies.HostCopies(device.xp, device.number)
        print(f"\n{threads} threads, buffers of {chunk:g} MB, parts of {part:g} MB at least; GB/s, best (median)")
        print(f"{'':24}" + "".join(f"{size:>14g} MB" for size in args.sizes))
        lines = {}
        for size in args.sizes:
            for name, (count, call) in calls(int(size * MB)).items():
                best, median = measure(name, count, call)
                lines.setdefault(name, []).append(f"{best:9.1f} ({median:4.1f}) ")
        for name, cells in lines.items():
            print(f"{name:24}" + " ".join(cells), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=float, default=[1, 4, 16, 64, 256])
    parser.add_argument("--threads", nargs="+", type=int, default=[host_copies.THREADS])
    parser.add_argument("--chunk", nargs="+", type=float, default=[host_copies.CHUNK / MB])
    parser.add_argument("--part", nargs="+", type=float, default=[host_copies.PART / MB])
    main(parser.parse_args())
