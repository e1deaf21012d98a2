"""Products of matrix and vector on the device against cuSPARSE: python3 tests/benchmarks/gpu/bench_spmv.py [part
...] [--small] [--only=MATRIX ...]

Parts: spmv semirings gaps latency (all four without an argument), tune; sparse vectors: bench_spmspv.py.  Graphs of
$GRB_TILE_DATA (default shared/data) where they are.  A line of JSON per figure goes to $OUT/bench_spmv.jsonl when OUT
is set; every product is verified on sampled rows.

What device us and call us are: timing.py.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import cupy as cp
import numpy as np
from device_graphs import DATA, fem, real, rmat
from timing import call_us, device_us

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import segments as row_segments
from grb_tile.cli.timing import repeated
from grb_tile.operators import get_typed_op
from grb_tile.planner import tuning
from grb_tile.storage.store import BitmapVector, Compressed

BANDWIDTH = 4.3e12
OUT = os.environ.get("OUT")
RANDOM = np.random.default_rng(3)


def say(**figures):
    print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items()), flush=True)
    if OUT:
        with open(Path(OUT) / "bench_spmv.jsonl", "a") as file:
            file.write(json.dumps(figures, default=str) + "\n")


# ---------------------------------------------------------------------- matrices: (n, indptr int64, indices int32)


def arrays(store):
    """(n, indptr, indices) of a store, None of None."""
    return store and (store.nrows, store.indptr, store.indices)


def kron(scale, factor):
    return arrays(rmat(scale, factor))


def matrices(small, only=()):
    if only:
        for name in only:
            yield (
                name,
                {
                    "kron21": partial(kron, 21, 48),
                    "fem40": lambda: arrays(fem(40)),
                    "fem70": lambda: arrays(fem(70)),
                }.get(name, lambda: arrays(real(name, symmetric=False)))(),
            )
        return
    if small:
        yield "kron12", kron(12, 8)
        yield "fem8", arrays(fem(8))
        return
    yield "kron21", kron(21, 48)
    yield "fem40", arrays(fem(40))
    yield "fem70", arrays(fem(70))
    for name in ("cnr-2000", "ego-Twitter"):
        if (DATA / "medium" / f"{name}.gcsr.xz").exists():
            yield name, arrays(real(name, symmetric=False))
        else:
            print(f"{name}: not in {DATA}, left out")


def matrix(structure, dtype):
    n, ptr, cols = structure
    values = cp.random.default_rng(5).random(cols.size, dtype=cp.float32) + np.float32(0.5)
    values = (values > 1) if dtype is dtypes.BOOL else values.astype(dtype.np_type)
    return Compressed(n, n, dtype, ptr, cols, values)


def dense(n, dtype):
    values = cp.random.default_rng(6).random(n, dtype=cp.float32) + np.float32(0.5)
    values = (values > 1.4) if dtype is dtypes.BOOL else values.astype(dtype.np_type)
    return BitmapVector(n, dtype, None, values, n)


# ---------------------------------------------------------------------- the peer, and what is right


def cusparse(A, x):
    from cupyx import cusparse as calls
    from cupyx.scipy.sparse import csr_matrix

    M = csr_matrix((A.values, A.indices, A.indptr.astype(cp.int32)), shape=A.shape)
    out = cp.empty(A.nrows, A.values.dtype)
    return lambda: calls.spmv(M, x.values, out)


def verify(A, u, semiring, w, what):
    """The rows of w, sampled, against NumPy's."""
    ptr = cp.asnumpy(A.indptr)
    lengths = np.diff(ptr)
    rows = np.unique(np.concatenate([RANDOM.integers(0, A.nrows, 200), lengths.argsort()[-3:]]))
    if u.format == "sparse":
        place, x = np.full(u.size, -1, np.int64), cp.asnumpy(u.values)
        place[cp.asnumpy(u.indices)] = np.arange(u.nvals)
    else:
        place, x = np.arange(u.size), cp.asnumpy(u.values)
        if u.words is not None:
            place[np.unpackbits(cp.asnumpy(u.words).view(np.uint8), bitorder="little")[: u.size] == 0] = -1
    got = gb.Vector._from_store(w, w.dtype)
    indices, values = got.to_coo()
    found = dict(zip(indices.tolist(), values.tolist(), strict=True))
    op = semiring.binaryop
    for i in rows.tolist():
        k = cp.asnumpy(A.indices[ptr[i] : ptr[i + 1]])
        at = place[k]
        kept = at >= 0
        if not kept.any():
            assert i not in found, f"{what}: row {i} should be empty"
            continue
        a = cp.asnumpy(A.values[ptr[i] : ptr[i + 1]])[kept].astype(op.type.np_type)
        b = x[at[kept]].astype(op.type2.np_type)
        products = np.asarray(op.numpy(a, b)).astype(semiring.return_type.np_type)
        if products.dtype.kind == "f":
            products = products.astype(np.float64)
        wide = semiring.monoid.binaryop.name
        want = products.sum() if wide == "plus" else semiring.monoid.ufunc.reduce(products)
        assert np.isclose(float(found[i]), float(want), rtol=2e-4), f"{what}: row {i} is {found[i]}, not {want}"


# ---------------------------------------------------------------------- parts


def spmv(backend, name, structure):
    for dtype in (dtypes.FP32, dtypes.FP64):
        A, x = matrix(structure, dtype), dense(structure[0], dtype)
        semiring = get_typed_op("plus_times", dtype, kind="semiring")
        product = partial(backend.matvec_rows, A, x, semiring)
        first, *later = repeated(product, tuning.BUILD_AFTER + 3)[1]
        verify(A, x, semiring, product(), f"{name} plus_times {dtype}")
        form = A.forms["segments"]
        kind = ("plain", "delta16", "relabelled", "binned")[3 if any(form.bins.values()) else form.columns.kind]
        ours = device_us(product)
        peer = device_us(cusparse(A, x))
        host = call_us(product)
        size = dtype.np_type.itemsize
        floor = (A.indices.size * (4 + size) + A.nrows * (8 + 2 * size)) / BANDWIDTH * 1e6
        say(
            part="spmv",
            matrix=name,
            type=str(dtype),
            device_us=ours,
            cusparse_us=peer,
            ratio=peer / ours,
            floor_us=floor,
            call_us=host,
            first_ms=first * 1e3,
            conversion_ms=max(later) * 1e3,
            columns=kind,
        )


def tune(backend, name, structure):
    """The same SpMV by each kind of columns, under other sizes of blocks and of the table of hot columns."""
    chosen = ("TABLE_SHARE", "TABLE_THREADS", "BLOCKS"), ("DELTA16_SHARE", "RELABELLED_SHARE", "RELABELLED_ENTRIES")
    kept = {
        key: getattr(place, key) for place, keys in zip((row_segments, tuning), chosen, strict=True) for key in keys
    }
    try:
        for dtype in (dtypes.FP32, dtypes.FP64):
            A, x = matrix(structure, dtype), dense(structure[0], dtype)
            product = partial(backend.matvec_rows, A, x, get_typed_op("plus_times", dtype, kind="semiring"))
            figures = {"cusparse": device_us(cusparse(A, x))}
            for kind, delta16, relabelled in (("plain", 2.0, 2.0), ("delta16", -1.0, 2.0), ("relabelled", 2.0, -1.0)):
                tuning.DELTA16_SHARE, tuning.RELABELLED_SHARE, tuning.RELABELLED_ENTRIES = delta16, relabelled, 0
                A.forms = None
                for size in ((1024, 1), (768, 1), (640, 1), (512, 1), (512, 2)):
                    for share in (16, 22, 27, 30) if kind == "relabelled" else (32,):
                        row_segments.BLOCKS, row_segments.TABLE_THREADS = dict.fromkeys(kept["BLOCKS"], size), size[0]
                        row_segments.TABLE_SHARE = share / 32
                        if A.forms:
                            A.forms["segments"].launches.clear()
                        for _ in range(tuning.BUILD_AFTER + 1):
                            product()
                        key = f"{kind} {size[0]}x{size[1]}" + (f" {share}/32" if kind == "relabelled" else "")
                        figures[key] = device_us(product, 10)
            say(part="tune", matrix=name, type=str(dtype), **figures)
    finally:
        for key, value in kept.items():
            setattr(row_segments if key in chosen[0] else tuning, key, value)


def semirings(backend, name, structure):
    base = None
    for which in ("plus_times", "min_plus", "max_min", "plus_first", "plus_second", "capped", "lor_land"):
        dtype = dtypes.BOOL if which == "lor_land" else dtypes.FP32
        if which == "capped":
            plus = gb.binary.register_anonymous(lambda p, q: min(1000000.0, p + q))
            capped = gb.Monoid.register_anonymous(plus, 0) if hasattr(gb, "Monoid") else None
            if capped is None:
                from grb_tile.operators import Monoid

                capped = Monoid.register_anonymous(plus, 0)
            from grb_tile.operators.semiring import Semiring

            semiring = Semiring.register_anonymous(capped, gb.binary.times)[dtype]
        else:
            semiring = get_typed_op(which, dtype, kind="semiring")
        A, x = matrix(structure, dtype), dense(structure[0], dtype)
        w = backend.matvec_rows(A, x, semiring)
        if which != "capped":
            verify(A, x, semiring, w, f"{name} {which}")
        ours = device_us(partial(backend.matvec_rows, A, x, semiring))
        base = ours if base is None else base
        say(part="semirings", matrix=name, semiring=which, device_us=ours, against_plus_times=ours / base)


def with_gaps(x, share):
    """The full store with about `share` of its positions, as a bitmap; itself of all."""
    if share == 1:
        return x
    present = cp.zeros((x.size + 63) // 64 * 64, cp.uint8)
    present[: x.size] = cp.random.default_rng(8).random(x.size) < share
    words = cp.packbits(present, bitorder="little").view(cp.uint64)
    return BitmapVector(x.size, x.dtype, words, x.values, int(present.sum()))


def gaps(backend, name, structure):
    """A.mxv(x) as users write it, x with gaps against a full x, with and without a mask of half of the rows."""
    n = structure[0]
    half = gb.Vector._from_store(with_gaps(dense(n, dtypes.BOOL), 0.5), dtypes.BOOL)
    for which, dtype in (
        ("plus_times", dtypes.FP32), ("plus_times", dtypes.FP64), ("plus_times", dtypes.INT64),
        ("min_plus", dtypes.FP32), ("plus_second", dtypes.FP32), ("plus_first", dtypes.FP32),
    ):  # fmt: skip
        semiring = get_typed_op(which, dtype, kind="semiring")
        A, w = gb.Matrix._from_store(matrix(structure, dtype), dtype), gb.Vector(dtype, n)
        for mask in (None, half):
            full = None
            for share in (1, 0.95, 0.62, 0.3):
                x = gb.Vector._from_store(with_gaps(dense(n, dtype), share), dtype)

                def product():
                    if mask is None:  # noqa: B023
                        w << A.mxv(x, semiring)  # noqa: B023
                    else:
                        w(mask.S, replace=True) << A.mxv(x, semiring)  # noqa: B023

                us = device_us(product, 8)
                full = us if full is None else full
                if mask is None:
                    verify(A._store, x._store, semiring, w._store, f"{name} {which} of {share}")
                say(part="gaps", matrix=name, semiring=f"{which} {dtype}", share=share, masked=mask is not None,
                    device_us=us, against_full=us / full, plan=str(gb.explain(0).plans[0])[:60])  # fmt: skip


def masked(w, visited, S, v, semiring):
    w(~visited.S, replace=True) << S.mxv(v, semiring)


def latency(backend, name, structure):
    """Host time of a warm masked product as users write it."""
    n = 64
    S = gb.Matrix.from_coo(np.arange(n * n - 1), np.arange(1, n * n), True, nrows=n * n, ncols=n * n)
    visited = gb.Vector.from_coo(np.arange(0, n * n, 3), True, size=n * n)
    for what, share in (("sparse v", 40), ("dense v", 1)):
        v = gb.Vector.from_coo(np.arange(0, n * n, share), True, size=n * n)
        w = gb.Vector(bool, n * n)
        for semiring in (gb.semiring.any_pair, gb.semiring.lor_land):
            step = partial(masked, w, visited, S, v, semiring)
            for _ in range(20):
                step()
            say(part="latency", v=what, semiring=semiring.name, call_us=call_us(step, 200))
    A, x = (
        gb.Matrix.from_coo(np.arange(n), np.arange(n), np.arange(n) + 1.0),
        gb.Vector.from_coo(np.arange(n), 1.0 + np.arange(n)),
    )
    y = gb.Vector(float, n)

    def plain():
        y << A.mxv(x)

    for _ in range(20):
        plain()
    say(part="latency", v="full, no mask", semiring="plus_times", call_us=call_us(plain, 200))


def main():
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")] or ["spmv", "semirings", "gaps", "latency"]
    gb.config.set(backend="cuda")
    backend = select.current()
    print("device", cp.cuda.runtime.getDeviceProperties(0)["name"].decode())
    failed = 0
    if "latency" in wanted:
        latency(backend, None, None)
    for name, structure in matrices("--small" in sys.argv, [a[7:] for a in sys.argv if a.startswith("--only=")]):
        print(f"# {name}: {structure[0]} rows, {structure[2].size} entries")
        for part in (spmv, tune, semirings, gaps):
            if part.__name__ not in wanted or part in (semirings, gaps) and name not in ("kron21", "fem70", "kron12"):
                continue
            try:
                part(backend, name, structure)
            except Exception as error:  # noqa: BLE001  the other matrices' figures are wanted all the same
                failed += 1
                say(part=part.__name__, matrix=name, failed=repr(error)[:800])
        structure = None
        cp.get_default_memory_pool().free_all_blocks()
    return failed


if __name__ == "__main__":
    sys.exit(main())
