"""Products with dense matrices on the device against cuSPARSE: python3 tests/benchmarks/gpu/bench_spmm.py [spmm
semirings rounded sddmm ...] [--small] [--only=MATRIX ...]

FP32, X with 16 and 64 columns, row-major; cuSPARSE's time is the best of its algorithms in either layout.  Results are
compared with cuSPARSE's.  A line of JSON per figure goes to $OUT/bench_spmv.jsonl when OUT is set; times: timing.py.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import cupy as cp
import numpy as np
from bench_spmv import matrices, matrix, say
from cusparse_dense import CuSparse
from device_graphs import rmat
from timing import device_us

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.operators import get_typed_op
from grb_tile.storage.store import BitmapVector, Dense, StoredMask

REPEATS = 5
SEMIRINGS = ("min_plus", "max_times", "plus_first", "any_pair")


def full(array):
    """The Dense of a 2-D array of the device, row-major."""
    values = array.reshape(-1)
    return Dense(*array.shape, BitmapVector(values.size, dtypes.FP32, None, values, values.size))


def random(*shape):
    return cp.random.default_rng(6).random(shape, dtype=cp.float32) + np.float32(0.5)


def semiring_of(name):
    return get_typed_op(name, dtypes.FP32, kind="semiring")


def verify(A, found, wanted):
    """Rows of A that have entries: C as cuSPARSE has it."""
    rows = cp.flatnonzero(A.indptr[1:] != A.indptr[:-1])
    ours = found.flat.values.reshape(wanted.shape)[rows]
    assert cp.allclose(ours, wanted[rows], rtol=1e-3), float(cp.abs(ours - wanted[rows]).max())


def spmm(backend, name, structure, peer):
    A = matrix(structure, dtypes.FP32)
    for n in (16, 64):
        X, out = random(A.ncols, n), cp.empty((A.nrows, n), cp.float32)
        product = full(X)

        def ours(product=product):
            return backend.spmm(A, product, semiring_of("plus_times"))

        calls = peer.spmm(A, X, out)
        calls["default_rows"]()
        verify(A, ours(), out)
        times = {key: device_us(call, REPEATS) for key, call in calls.items()}
        best = min(times, key=times.get)
        time = device_us(ours, REPEATS)
        gathered = A.indices.size * n * 4 / time * 1e-6
        say(part="spmm", matrix=name, columns=n, device_us=time, cusparse_us=times[best], by=best,
            ratio=times[best] / time, gathered_tb_s=gathered)  # fmt: skip


def semirings(backend, name, structure, peer):
    A = matrix(structure, dtypes.FP32)
    for n in (16, 64):
        X = full(random(A.ncols, n))
        base = device_us(lambda X=X: backend.spmm(A, X, semiring_of("plus_times")), REPEATS)
        for which in SEMIRINGS:
            time = device_us(lambda X=X, which=which: backend.spmm(A, X, semiring_of(which)), REPEATS)
            say(part="semirings", matrix=name, columns=n, semiring=which, device_us=time, of_plus_times=time / base)


def rounded(backend, name, structure, peer):
    A = matrix(structure, dtypes.FP32)
    rows = cp.flatnonzero(A.indptr[1:] != A.indptr[:-1])[::37]
    for n in (16, 64):
        X = full(random(A.ncols, n))
        exact = None
        for form in ("exact", "fp16", "bf16", "tf32"):
            said = []

            def ours(X=X, said=said):
                return backend.spmm(A, X, semiring_of("plus_times"), said)

            with gb.config.set(matmul_precision=form):
                time = device_us(ours, REPEATS)
                found = ours().flat.values.reshape(-1, n)[rows]
            if exact is None:
                exact, base = found, time
            error = float((cp.abs(found - exact) / cp.abs(exact)).max())
            note = said[-1] if said else ""
            say(part="rounded", matrix=name, columns=n, form=form, device_us=time, of_exact=time / base, error=error,
                note=note)  # fmt: skip


def sddmm(backend, small, peer):
    pattern = rmat(10 if small else 20, 16)
    M = matrix((pattern.nrows, pattern.indptr, pattern.indices), dtypes.FP32)
    for depth in (16, 64):
        X, Y = random(M.nrows, depth), random(M.ncols, depth)
        A, B = full(X), backend.transpose(full(Y))

        def ours(A=A, B=B):
            return backend.sddmm(A, B, semiring_of("plus_times"), M)

        theirs = peer.sddmm(X, Y, M)
        theirs()
        found = backend.dense_product(A, B, semiring_of("plus_times"), StoredMask(M))[0]
        assert cp.allclose(found.values, M.values, rtol=1e-3)
        time, other = device_us(ours, REPEATS), device_us(theirs, REPEATS)
        say(part="sddmm", matrix="kron20", depth=depth, device_us=time, cusparse_us=other, ratio=other / time)


def main():
    options = [x for x in sys.argv[1:] if x.startswith("--")]
    parts = [x for x in sys.argv[1:] if not x.startswith("--")] or ["spmm", "semirings", "rounded", "sddmm"]
    only = [x.removeprefix("--only=") for x in options if x.startswith("--only=")]
    backend, peer, small = select.use("cuda"), CuSparse(), "--small" in options
    if "sddmm" in parts:
        sddmm(backend, small, peer)
    for name, structure in matrices(small, only):
        for part, function in (("spmm", spmm), ("semirings", semirings), ("rounded", rounded)):
            if part in parts:
                function(backend, name, structure, peer)
        cp.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
