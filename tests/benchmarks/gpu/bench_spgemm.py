"""Products of two matrices on the device: python3 tests/benchmarks/gpu/bench_spgemm.py [part ...] [--small]
[--only=MATRIX ...] [--quick]

Parts: products (A A in FP64 against cuSPARSE through CuPy), semirings (min_plus, any_pair, ... against plus_times),
masked (C<A> = A A, masks of a hundredth and a tenth of the product, complements), triangles (C<L> = L plus_pair L',
reduced as it is computed, and formed first), truss (k_truss of kron 20), long (8 rows of 10^7 entries times their
transpose, a row of a million entries); all without an argument.  Graphs of $GRB_TILE_DATA (default shared/data) where
they are, without symmetrising.  A line of JSON per figure goes to $OUT/bench_spgemm.jsonl when OUT is set.

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
import timing
from bench_spmv import arrays, kron, matrix
from device_graphs import DATA, fem, real, rmat

import grb_tile as gb
from grb_tile import dtypes, select as select_op
from grb_tile.algorithms import Graph, k_truss
from grb_tile.algorithms.triangles import degree_ordered
from grb_tile.backends import select
from grb_tile.backends.cuda.structure.positions import keep_matrix_entries
from grb_tile.operations import multiply
from grb_tile.operators import get_typed_op
from grb_tile.planner import explain, force
from grb_tile.storage import work
from grb_tile.storage.store import Compressed, StoredMask

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
PARTS = "products", "semirings", "masked", "triangles", "truss", "long"
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


def product(A, B, semiring, mask=None):
    """The store of A (+.x) B, as `C << A.mxm(B, semiring)` computes it."""
    return multiply.matmul(A, False, B, False, semiring, mask)


def median_ms(call):
    call()
    return timing.median_ms(call, TIMES)


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


def verified(calls):
    """{name}_ms of each call, whose numbers must be equal."""
    figures, found = {}, set()
    for name, call in calls.items():
        found.add(int(call()))
        figures[f"{name}_ms"] = median_ms(call)
    assert len(found) == 1, found
    return found.pop(), figures


def triangles(small):
    """C<L> = L plus_pair L', reduced to a number: L as the labels are, and by descending degree, made on the device."""
    semiring = get_typed_op("plus_pair", dtypes.INT64, kind="semiring")
    plus = get_typed_op("plus", dtypes.INT64, kind="monoid")

    def count(L, names):
        with force(names):
            product = L, False, L, True, semiring, StoredMask(L), None
            return int(select.current().reduce_mxm(*product, plus, None))

    def formed(L):
        return int(select.current().reduce(multiply.matmul(L, False, L, True, semiring, StoredMask(L)), plus))

    for scale, factor in ((12, 8),) if small else ((20, 16), (21, 48)):
        G = Graph(gb.Matrix._from_store(rmat(scale, factor), dtypes.BOOL, "A"), directed=True)
        ordered = degree_ordered(G)
        order_ms = median_ms(partial(degree_ordered, G))
        for how, L in (("unordered", select_op.tril(G.A, -1).new()), ("ordered", ordered)):
            if how == "unordered" and scale > 20:
                continue
            L = L._store
            calls = {"planned": partial(count, L, ()), "dot": partial(count, L, ("dot",)), "formed": partial(formed, L)}
            if scale <= 12:
                calls["merge_at_mask"] = partial(count, L, ("gustavson", "merge_at_mask"))
                calls["two_phases"] = partial(count, L, ("gustavson", "two_phases"))
            number, figures = verified(calls)
            say(
                part="triangles", matrix=f"kron{scale}", labels=how, entries=L.nvals, triangles=number, **figures,
                order_ms=order_ms, lookups=work.dot_work(L, True, L), plan=next(iter(explain())).note,
            )  # fmt: skip


def truss(small):
    """k_truss(4) of a Kronecker graph, all rounds."""
    G = Graph(gb.Matrix._from_store(rmat(*((12, 8) if small else (20, 16))), dtypes.BOOL, "A"))
    found = k_truss(G, 4)
    say(
        part="truss", matrix="kron12" if small else "kron20", entries=found.values.nvals,
        rounds=found.report.iterations, ms=median_ms(partial(k_truss, G, 4)),
    )  # fmt: skip


def long_rows(small):
    """A of 8 rows times A' by rows, whole numbers; a square matrix whose first row is long, against one block a row."""
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng, m = cp.random.default_rng(3), 10_000 if small else 10_000_000
    for each in (1, 2):  # one entry in so many columns
        cols = cp.concatenate(
            [cp.arange(m, dtype=cp.int32) * each + rng.integers(0, each, m, dtype=cp.int32) for _ in range(8)]
        )
        values = rng.integers(1, 5, 8 * m).astype(cp.float64)
        A = Compressed(8, m * each, dtypes.FP64, cp.arange(9, dtype=cp.int64) * m, cols, values, False)
        AT = select.current().transpose(A)
        C = product(A, AT, semiring)
        dense = cp.zeros((8, m * each))
        dense[cp.arange(8).repeat(m), cols] = values
        assert bool((C.values.reshape(8, 8) == dense @ dense.T).all())
        del dense
        for what, floor, call in (
            ("A B", 2 * 8 * m * 12 + 8 * m * each, partial(product, A, AT, semiring)),
            ("A A'", 8 * m * 12, partial(multiply.matmul, A, False, A, True, semiring, None)),
            ("B' B", 8 * m * 12 + 8 * m * each, partial(multiply.matmul, AT, True, AT, False, semiring, None)),
        ):
            A.forms = AT.forms = None  # of A B nothing says that B is A'
            found = call()
            assert bool((found.values == C.values).all())
            plan = str(next(iter(explain())))
            say(
                part="long",
                what=what,
                rows=8,
                columns=m * each,
                ms=median_ms(call),
                floor_ms=floor / BANDWIDTH,
                plan=plan,
            )
    n = 1 << (12 if small else 21)
    rows = cp.concatenate([cp.zeros(n // 2, cp.int64), rng.integers(1, n, 4 * n)])
    cols = cp.concatenate([cp.arange(n // 2) * 2, rng.integers(0, n, 4 * n)])
    keys = cp.unique(rows * n + cols)
    indptr = cp.searchsorted(keys // n, cp.arange(n + 1)).astype(cp.int64)
    A = Compressed(n, n, dtypes.FP64, indptr, (keys % n).astype(cp.int32), cp.ones(keys.size), False)
    say(part="long", rows=n, ms=median_ms(partial(product, A, A, semiring)), plan=next(iter(explain())).note)


def masked(name, structure):
    """C<M> = A A, plus_times FP64: M = A, and a hundredth and a tenth of the product's entries, against the whole
    product; complements of A and of the tenth."""
    A = matrix(structure, dtypes.FP64)
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    whole = product(A, A, semiring)
    order = cp.random.RandomState(5).permutation(whole.nvals)
    few, tenth = (
        keep_matrix_entries(select.current().device, whole, cp.sort(order[: whole.nvals // share]))
        for share in (100, 10)
    )
    del whole, order
    figures = {"whole_ms": median_ms(partial(product, A, A, semiring))}
    for what, M in (("A", A), ("tenth", tenth)):
        figures[f"not_{what}_ms"] = median_ms(partial(product, A, A, semiring, StoredMask(M, True)))
    for what, M in (("A", A), ("few", few), ("tenth", tenth)):
        want = None
        for names in ((), ("dot",), ("gustavson", "merge_at_mask"), ("gustavson", "two_phases")):
            with force(names):
                call = partial(product, A, A, semiring, StoredMask(M))
                C = call()
                label = f"{what}_{names[-1] if names else 'planned'}"
                figures[f"{label}_ms"] = median_ms(call)
                if not names:
                    figures[f"{what}_plan"] = str(next(iter(explain())))
            want = C if want is None else want
            assert bool((want.indices == C.indices).all() and cp.allclose(want.values, C.values, rtol=1e-9)), label
    say(part="masked", matrix=name, entries=A.nvals, few=few.nvals, **figures)


def main():
    gb.config.set(backend="cuda")
    select.current()
    print("device", cp.cuda.runtime.getDeviceProperties(0)["name"].decode())
    small = "--small" in sys.argv
    only = [argument[7:] for argument in sys.argv if argument.startswith("--only=")]
    parts = [a for a in sys.argv[1:] if not a.startswith("--")] or [*PARTS]
    ratios = {}
    for part, measure in (("triangles", triangles), ("truss", truss), ("long", long_rows)):
        if part in parts:
            measure(small)
            cp.get_default_memory_pool().free_all_blocks()
    if {"products", "semirings", "masked"} & set(parts):
        for name, structure in matrices(small, only):
            if "products" in parts:
                products(name, structure, ratios)
            if "semirings" in parts and name != "fem70":
                semirings(name, structure)
            if "masked" in parts and name != "fem70":
                masked(name, structure)
            structure = None
            cp.get_default_memory_pool().free_all_blocks()
    for peer, found in ratios.items():
        say(part="geomean", against=peer, matrices=len(found), ratio=float(np.exp(np.log(found).mean())))


if __name__ == "__main__":
    main()
