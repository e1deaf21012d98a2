"""Sparse matrix times sparse vector on the device against cuSPARSE's SpMV: python3
tests/benchmarks/gpu/bench_spmspv.py [--small] [--push]

Every method is verified on sampled rows.  A line of JSON per figure goes to $OUT/bench_spmv.jsonl when OUT is set.

device us   the device's time of a call: calls queued behind a long kernel, so that the host's time does not show
call us     wall time from the Python call until the result is complete on the device
ratios      cuSPARSE's device time over ours, cuSPARSE's call time (through CuPy) over ours, and its device time over
our call
--push      structure-only products masked by a complement, 1 to 100,000 entries: what a level of a search pushes
"""

import sys
from functools import partial

import cupy as cp
import numpy as np
from bench_spmv import RANDOM, cusparse, dense, kron, matrices, matrix, say, verify
from timing import call_us, device_us

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.operations import multiply
from grb_tile.operators import get_typed_op
from grb_tile.planner import unrecorded
from grb_tile.storage.store import BitmapVector, SparseVector, StoredMask

DENSITIES = (0.1, 0.01, 0.001, 0.0001)


def figures_of(call, check):
    """{device_us, call_us} of a call whose result `check` has verified; {failed} where one of them fails."""
    try:
        check(call())
        return {"device_us": device_us(call), "call_us": call_us(call)}
    except Exception as error:  # noqa: BLE001  one method's failure must not hide the others' figures
        return {"failed": repr(error)[:300]}


def spmspv(backend, name, structure, ratios):
    dtype = dtypes.FP32
    A = matrix(structure, dtype)
    semiring = get_typed_op("plus_times", dtype, kind="semiring")
    AT = backend.transpose(A)
    peer = cusparse(A, dense(structure[0], dtype))
    peer_device, peer_call = device_us(peer), call_us(peer)
    n = structure[0]
    lengths = cp.diff(AT.indptr)
    for density in DENSITIES:
        places = np.sort(RANDOM.choice(n, max(1, int(n * density)), replace=False)).astype(np.int32)
        values = RANDOM.random(places.size).astype(np.float32) + np.float32(0.5)
        u = SparseVector(n, dtype, cp.asarray(places), cp.asarray(values))
        edges = int(lengths[u.indices].sum())
        methods = {
            "cols": partial(backend.matvec_cols, AT, u, semiring),
            "rows": partial(backend.matvec_rows, A, u, semiring),
        }
        if name != "kron21":
            methods["tiled"] = partial(backend.matvec_rows, A, u, semiring, None, unrecorded("tiled"))
        methods["planned"] = partial(multiply.matvec, A, False, u, semiring, None)
        found = {}
        for method, call in methods.items():
            for what, figure in figures_of(
                call, partial(verify, A, u, semiring, what=f"{name} {density} {method}")
            ).items():
                found[f"{method}_{what}"] = figure
        of = {}
        for method in ("cols", "planned"):
            if f"{method}_call_us" in found:
                of[method] = (
                    peer_device / found[f"{method}_device_us"],
                    peer_call / found[f"{method}_call_us"],
                    peer_device / found[f"{method}_call_us"],
                )
                ratios.setdefault((method, density), []).append(of[method])
        say(
            part="spmspv",
            matrix=name,
            density=density,
            edges=edges,
            cusparse_us=peer_device,
            cusparse_call_us=peer_call,
            **found,
            **{f"{method}_ratios": " ".join(f"{r:.3g}" for r in rs) for method, rs in of.items()},
        )


def push(backend):
    """Levels of a search on kron 21: any.pair, masked by the complement of half the vertices."""
    n, ptr, cols = structure = kron(21, 48)
    A = matrix(structure, dtypes.BOOL)
    semiring = get_typed_op("any_pair", dtypes.BOOL, kind="semiring")
    one = backend.device.constant(np.bool_(True))
    held = cp.asnumpy(cp.nonzero(cp.diff(ptr))[0])
    mask = RANDOM.random(n) < 0.5
    words = cp.asarray(np.packbits(np.pad(mask, (0, -n % 64)), bitorder="little").view(np.uint64))
    visited = BitmapVector(n, dtypes.BOOL, words, one, int(mask.sum()), True)
    allow = StoredMask(visited, True)
    for count in (1, 10, 100, 1000, 10_000, 100_000):
        places = np.sort(RANDOM.choice(held, count, replace=False)).astype(np.int32)
        u = SparseVector(n, dtypes.BOOL, cp.asarray(places), one, True)
        reached = cp.zeros(n, bool)
        edges = 0
        for k in places.tolist() if count <= 1000 else ():
            reached[cols[int(ptr[k]) : int(ptr[k + 1])]] = True
        edges = int(cp.diff(ptr)[u.indices].sum())
        want = None if count > 1000 else int((reached & cp.asarray(~mask)).sum())
        call = partial(backend.matvec_cols, A, u, semiring, allow)
        got = call().nvals
        assert want is None or got == want, f"{count}: {got} rows, not {want}"
        figures = {"list_device_us": device_us(call), "list_call_us": call_us(call)}
        there = np.zeros(n + -n % 64, bool)
        there[places] = True
        packed = cp.asarray(np.packbits(there, bitorder="little").view(np.uint64))
        bitmap = BitmapVector(n, dtypes.BOOL, packed, one, count, True)
        call = partial(backend.matvec_cols, A, bitmap, semiring, allow)
        assert call().nvals == got
        figures |= {"bitmap_device_us": device_us(call), "bitmap_call_us": call_us(call)}
        rows = partial(backend.matvec_rows, A, u, semiring, allow)
        assert rows().nvals == got
        say(part="push", entries=count, edges=edges, found=got, **figures, rows_call_us=call_us(rows))


def main():
    gb.config.set(backend="cuda")
    backend = select.current()
    print("device", cp.cuda.runtime.getDeviceProperties(0)["name"].decode())
    if "--push" in sys.argv:
        push(backend)
        return
    ratios = {}
    for name, structure in matrices("--small" in sys.argv):
        print(f"# {name}: {structure[0]} rows, {structure[2].size} entries")
        spmspv(backend, name, structure, ratios)
        structure = None
        cp.get_default_memory_pool().free_all_blocks()
    for (method, density), found in sorted(ratios.items(), key=lambda item: (item[0][0], -item[0][1])):
        device, call, mixed = np.exp(np.log(np.array(found)).mean(axis=0)).tolist()
        say(
            part="geomean",
            method=method,
            density=density,
            matrices=len(found),
            device_to_device=device,
            call_to_call=call,
            device_to_call=mixed,
        )


if __name__ == "__main__":
    main()
