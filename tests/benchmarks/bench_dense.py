"""Products with full matrices and element-wise operations on them on the CPU: python tests/benchmarks/bench_dense.py
[SCALE] [COLUMNS]

SpMM against SciPy and SuiteSparse:GraphBLAS, element-wise operations against NumPy: calls of all sides interleaved in
one process, minima of REPEATS.  Results are compared.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import numpy as np
import scipy.sparse

import grb_tile as gb
from grb_tile.cli.timing import timed

REPEATS = 7
SIDE = 2000  # of the full matrices of element-wise operations


def minima(calls):
    """{name: least seconds} of calls that take turns; `calls` is {name: function}."""
    times = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(REPEATS):
        for name, call in calls.items():
            times[name].append(timed(call)[1])
    return {name: min(found) for name, found in times.items()}


def spmm(scale, columns):
    """Milliseconds of A X, A the Kronecker graph with random FP64 values, X full."""
    import graphblas

    graphblas.ss.config["nthreads"] = 2
    i, j, _ = gb.generators.kronecker(scale).to_coo()
    n, rng = 1 << scale, np.random.default_rng(0)
    v, x = rng.random(i.size), rng.random((n, columns))
    ours, full = gb.Matrix.from_coo(i, j, v, nrows=n, ncols=n), gb.Matrix.from_dense(x)
    theirs, theirs_full = graphblas.Matrix.from_coo(i, j, v, nrows=n, ncols=n), graphblas.Matrix.from_dense(x)
    scipys = scipy.sparse.csr_matrix((v, (i.astype(np.int32), j.astype(np.int32))), shape=(n, n))
    with gb.plan(force="numba"):
        C = ours.mxm(full, "plus_times").new()
    assert np.allclose(C.to_dense(0), scipys @ x)
    return minima({
        "grb_tile": lambda: ours.mxm(full, "plus_times").new(),
        "SuiteSparse": lambda: theirs.mxm(theirs_full, "plus_times").new().wait(),
        "SciPy": lambda: scipys @ x,
        "min_plus": lambda: ours.mxm(full, "min_plus").new(),
    })  # fmt: skip


def products_and_moves():
    """{operation: (grb_tile's seconds, NumPy's)}: full matrices times vectors and each other; moves of regions."""
    rng = np.random.default_rng(0)
    a, b, x, k = rng.random((SIDE, SIDE)), rng.random((SIDE, SIDE)), rng.random(SIDE), rng.integers(0, 99, (400, 400))
    A, B, u, K = *(gb.Matrix.from_dense(z) for z in (a, b)), gb.Vector.from_dense(x), gb.Matrix.from_dense(k)
    AT, M, half = gb.Matrix.ss.import_fullc(values=np.asfortranarray(a)), A.select(">", 0.3).new(), SIDE // 2
    m = M.to_dense(np.inf)
    cases = {
        "A u": (lambda: A.mxv(u).new(), lambda: a @ x),
        "u A": (lambda: u.vxm(A).new(), lambda: x @ a),
        "A u, min_plus": (lambda: A.mxv(u, "min_plus").new(), lambda: (a + x).min(1)),
        "A u, min_plus, column-major": (lambda: AT.mxv(u, "min_plus").new(), lambda: (a + x).min(1)),
        "A u, min_plus, bitmap with 70 %": (lambda: M.mxv(u, "min_plus").new(), lambda: (m + x).min(1)),
        "A B": (lambda: A.mxm(B).new(), lambda: a @ b),
        "K K, INT64, 400 x 400": (lambda: K.mxm(K).new(), lambda: k @ k),
        "concat of four": (lambda: gb.ss.concat([[A, B], [B, A]]), lambda: np.block([[a, b], [b, a]])),
        "split into four": (
            lambda: A.ss.split([half, half])[1][1],
            lambda: [a[i : i + half, j : j + half].copy() for i in (0, half) for j in (0, half)][3],
        ),
        "diagonal": (lambda: A.diag(), lambda: a.diagonal().copy()),
    }
    with gb.plan(force="numba"):
        for ours, _ in cases.values():
            ours()
    return _compared(cases)


def elementwise():
    """{operation: (grb_tile's seconds, NumPy's)} on full FP64 matrices."""
    rng = np.random.default_rng(0)
    a, b, x = rng.random((SIDE, SIDE)), rng.random((SIDE, SIDE)), rng.random(SIDE)
    A, B, u = gb.Matrix.from_dense(a), gb.Matrix.from_dense(b), gb.Vector.from_dense(x)
    cases = {
        "A + B": (lambda: A.ewise_add(B, "plus").new(), lambda: a + b),
        "A * B": (lambda: A.ewise_mult(B, "times").new(), lambda: a * b),
        "min(A, B)": (lambda: A.ewise_mult(B, "min").new(), lambda: np.minimum(a, b)),
        "sqrt(A)": (lambda: A.apply("sqrt").new(), lambda: np.sqrt(a)),
        "2 A": (lambda: A.apply("times", right=2.0).new(), lambda: a * 2.0),
        "sum of A": (lambda: A.reduce_scalar("plus").new(), lambda: a.sum()),
        "sums of rows": (lambda: A.reduce_rowwise("plus").new(), lambda: a.sum(1)),
        "sums of columns": (lambda: A.reduce_columnwise("plus").new(), lambda: a.sum(0)),
        "A * u, broadcast": (lambda: A.ewise_mult(u, "times").new(), lambda: a * x),
        "half of A's rows and columns": (lambda: A[500:1500, 500:1500].new(), lambda: a[500:1500, 500:1500].copy()),
    }
    return _compared(cases)


def _compared(cases):
    """{name: (our seconds, theirs)} of calls whose results are equal."""
    found = {}
    for name, (ours, theirs) in cases.items():
        mine, other = ours(), theirs()
        mine = mine.value if np.ndim(other) == 0 else mine.to_dense()
        assert np.allclose(mine, other), name
        found[name] = tuple(minima({"ours": ours, "theirs": theirs}).values())
    return found


def main():
    scale, columns = (int(x) for x in (*sys.argv[1:], 18, 16)[:2]) if len(sys.argv) != 2 else (int(sys.argv[1]), 16)
    print(f"SpMM FP64, kron {scale}, {columns} columns, ms:")
    print("  ".join(f"{name} {seconds * 1e3:.0f}" for name, seconds in spmm(scale, columns).items()))
    print(f"element-wise, full FP64 {SIDE} x {SIDE}, ms: grb_tile, NumPy, ratio")
    for name, (ours, theirs) in {**elementwise(), **products_and_moves()}.items():
        print(f"{name:32} {ours * 1e3:7.2f} {theirs * 1e3:7.2f} {ours / theirs:5.2f}")


if __name__ == "__main__":
    main()
