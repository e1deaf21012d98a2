"""Products of two matrices on the device: python3 tests/benchmarks/gpu/bench_spgemm.py [part ...] [--small]
[--only=MATRIX ...] [--quick]

Parts: products (A A in FP64 against cuSPARSE through CuPy), semirings (min_plus, any_pair, ... against plus_times),
triangles (C<L> = L plus_pair L', reduced); all three without an argument.  Graphs of $GRB_TILE_DATA (default
shared/data) where they are, without symmetrising.  A line of JSON per figure goes to $OUT/bench_spgemm.jsonl when OUT
is set.

Times are wall times of whole calls until the device is done, in ms: medians of 7 (--quick: 3), results allocated from
CuPy's pool by both sides.  Every product is verified: against cuSPARSE's where that runs, else against SciPy's on
sampled rows.  floor: the bytes of A and C once, over 4.3 TB/s.  extra: the most bytes in use beyond C and the operands,
over the bytes of C.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import cupy as cp
import numpy as np
from bench_spmv import arrays, kron, matrix
from device_graphs import DATA, fem, real, rmat
from timing import wall_seconds

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.operations import multiply
from grb_tile.operators import get_typed_op
from grb_tile.planner import explain, force
from grb_tile.storage import work
from grb_tile.storage.store import Allow, Compressed

BANDWIDTH = 4.3e9  # bytes a millisecond
OUT = os.environ.get("OUT")
REAL = ("wave", "stanford-dragon", "mdual", "cage10", "cnr-2000", "soc-Slashdot0902", "ego-Twitter", "fb-Cornell5")
# ms of the fastest other library on one H200, its own region without allocation in places; who it is
PEERS = {
    "fem40": (14.2, "OpSparse"), "fem70": (105, "spECK"), "wave": (1.14, "OpSparse"),
    "stanford-dragon": (1.33, "OpSparse"), "mdual": (0.33, "OpSparse"), "cage10": (0.16, "spECK"),
    "cnr-2000": (4.31, "spECK"), "soc-Slashdot0902": (10.7, "spECK"), "ego-Twitter": (8.1, "spECK"),
    "fb-Cornell5": (9.5, "spECK"),
}  # fmt: skip
TIMES = 3 if "--quick" in sys.argv else 7


def say(**figures):
    print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items()), flush=True)
    if OUT:
        with open(Path(OUT) / "bench_spgemm.jsonl", "a") as file:
            file.write(json.dumps(figures, default=str) + "\n")


def matrices(small, only):
    """(name, (n, indptr, indices)) of each."""
    if small:
        yield "kron12", kron(12, 8)
        yield "fem8", arrays(fem(8))
        return
    for name in ("fem40", "fem70", *REAL):
        if only and name not in only:
            continue
        if name.startswith("fem"):
            yield name, arrays(fem(int(name[3:])))
        elif (DATA / "medium" / f"{name}.gcsr.xz").exists():
            yield name, arrays(real(name, symmetric=False))
        else:
            print(f"{name}: not in {DATA}, left out")


def product(A, B, semiring, allow=None):
    """The store of A (+.x) B, as `C << A.mxm(B, semiring)` computes it."""
    return multiply.matmul(A, False, B, False, semiring, allow)


def median_ms(call):
    call()
    return float(np.median(wall_seconds(call, TIMES))) * 1e3


def extra_share(call, C):
    """The most bytes of the pool in use beyond C's during a call, over the bytes of C."""
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.used_bytes()
    peak = before

    class Hook(cp.cuda.memory_hook.MemoryHook):
        name = "peak"

        def malloc_postprocess(self, **_):
            nonlocal peak
            peak = max(peak, pool.used_bytes())

    with Hook():
        call()
    mine = sum(array.nbytes for array in (C.indptr, C.indices, C.values))
    return (peak - before - mine) / mine


def cusparse(A):
    """A A as CuPy's matrix; a function that computes it."""
    from cupyx.scipy.sparse import csr_matrix

    M = csr_matrix((A.values, A.indices, A.indptr.astype(cp.int32)), shape=(A.nrows, A.ncols))
    return lambda: M @ M


def verify(A, C, want, what):
    """C against cuSPARSE's product; without it sampled rows against SciPy's."""
    columns = C.indices.astype(cp.int64)
    starts = cp.zeros(C.indices.shape[0] + 1, bool)
    starts[C.indptr] = True
    ascending = (columns[1:] > columns[:-1]) | starts[1:-1]
    assert bool(ascending.all()), f"{what}: columns do not ascend"
    if want is not None:
        want.sort_indices()
        assert want.nnz == C.indices.shape[0], f"{what}: {C.indices.shape[0]} entries, cuSPARSE {want.nnz}"
        assert bool((want.indices == C.indices).all()), f"{what}: columns differ"
        assert bool(cp.allclose(want.data, C.values, rtol=1e-9)), f"{what}: values differ"
        return
    from scipy.sparse import csr_matrix

    ptr, cols, values = (cp.asnumpy(x) for x in (A.indptr, A.indices, A.values))
    M = csr_matrix((values, cols, ptr), shape=(A.nrows, A.ncols))
    rows = np.unique(np.random.default_rng(3).integers(0, A.nrows, 300))
    found = csr_matrix(tuple(cp.asnumpy(x) for x in (C.values, C.indices, C.indptr)), shape=(C.nrows, C.ncols))[rows]
    expected = M[rows] @ M
    expected.sort_indices()
    assert (found.indptr == expected.indptr).all() and (found.indices == expected.indices).all(), what
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-9)


def products(name, structure, ratios):
    """A A, plus_times FP64."""
    A = matrix(structure, dtypes.FP64)
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    call = partial(product, A, A, semiring)
    C = call()
    plan = next(iter(explain()))
    entries = int(C.indices.shape[0])
    lengths = cp.diff(A.indptr)
    count = int(lengths[A.indices].sum())
    peer = want = None
    try:
        peer_call = cusparse(A)
        want = peer_call()
        cp.cuda.Device().synchronize()
        if want.nnz == 0:  # of fem70 it returns an empty matrix and no error
            want = None
    except Exception as error:  # noqa: BLE001  CUSPARSE_STATUS_INSUFFICIENT_RESOURCES or out of memory
        print(f"{name}: cuSPARSE {repr(error)[:100]}")
    verify(A, C, want, name)
    if want is not None:
        del want
        peer = median_ms(peer_call)
    extra = extra_share(call, C)
    del C
    ours = median_ms(call)
    floor = (A.indices.shape[0] * 12 * 2 + entries * 12) / BANDWIDTH
    best, who = PEERS.get(name, (None, None))
    if peer:
        ratios.setdefault("cusparse", []).append(peer / ours)
    if best:
        ratios.setdefault("fastest peer", []).append(min(best, peer or best) / ours)
    say(
        part="products", matrix=name, products=count, entries=entries, ms=ours, cusparse_ms=peer, best_peer_ms=best,
        best_peer=who, floor_ms=floor, gflops=2 * count / ours / 1e6, extra=extra, plan=f"{plan.kernel}: {plan.note}",
    )  # fmt: skip


def semirings(name, structure):
    """Other semirings against plus_times of the same size."""
    figures = {}
    for semiring_name, dtype in (
        ("plus_times", dtypes.FP64), ("min_plus", dtypes.FP64), ("max_times", dtypes.FP64),
        ("plus_times", dtypes.FP32), ("any_pair", dtypes.FP32), ("plus_pair", dtypes.INT64),
        ("plus_times", dtypes.FC64),
    ):  # fmt: skip
        A = matrix(structure, dtype)
        semiring = get_typed_op(semiring_name, dtype, kind="semiring")
        try:
            figures[f"{semiring_name}_{dtype.name}"] = median_ms(partial(product, A, A, semiring))
        except Exception as error:  # noqa: BLE001  one failure must not hide the others' figures
            figures[f"{semiring_name}_{dtype.name}"] = repr(error)[:60]
    say(part="semirings", matrix=name, **figures)


def triangles(small):
    """C<L> = L plus_pair L', reduced to a number."""
    for scale, factor in ((12, 8),) if small else ((20, 16),):
        n, ptr, cols = arrays(rmat(scale, factor))
        rows = cp.searchsorted(ptr, cp.arange(cols.size, dtype=cp.int64), side="right") - 1
        kept = cols < rows
        ends = cp.zeros(n + 1, cp.int64)
        ends[1:] = cp.cumsum(cp.bincount(rows[kept], minlength=n))
        L = Compressed(n, n, dtypes.INT64, ends, cols[kept], cp.ones(1, cp.int64), True)
        semiring = get_typed_op("plus_pair", dtypes.INT64, kind="semiring")
        figures = {"products": work.products(L, L, False, True), "lookups": work.dot_work(L, True, L)}
        for how in (None, "dot", "merge_at_mask", "two_phases"):

            def call(how=how):
                names = () if how is None else (how,) if how == "dot" else ("gustavson", how)
                with force(names):
                    C = multiply.matmul(L, False, L, True, semiring, Allow(L))
                return C.values.sum()

            figures[f"{how or 'planned'}_count"] = int(call())
            figures[f"{how or 'planned'}_ms"] = median_ms(call)
        assert len({count for what, count in figures.items() if what.endswith("_count")}) == 1
        say(part="triangles", matrix=f"kron{scale}", entries=int(kept.sum()), **figures)


def main():
    gb.config.set(backend="cuda")
    select.current()
    print("device", cp.cuda.runtime.getDeviceProperties(0)["name"].decode())
    small = "--small" in sys.argv
    only = [argument[7:] for argument in sys.argv if argument.startswith("--only=")]
    parts = [a for a in sys.argv[1:] if not a.startswith("--")] or ["products", "semirings", "triangles"]
    ratios = {}
    if "triangles" in parts:
        triangles(small)
    if "products" in parts or "semirings" in parts:
        for name, structure in matrices(small, only):
            if "products" in parts:
                products(name, structure, ratios)
            if "semirings" in parts and name != "fem70":
                semirings(name, structure)
            structure = None
            cp.get_default_memory_pool().free_all_blocks()
    for peer, found in ratios.items():
        say(part="geomean", against=peer, matrices=len(found), ratio=float(np.exp(np.log(found).mean())))


if __name__ == "__main__":
    main()
