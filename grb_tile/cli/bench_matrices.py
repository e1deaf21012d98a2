"""Figures of `grb-tile bench`: SpMM, SDDMM, SpGEMM, masked products, triangles, and SpMV over 8 x 8 blocks."""

import numpy as np

from grb_tile.cli import bench_peers, bench_verify
from grb_tile.cli.bench_measure import measured, semiring_of
from grb_tile.cli.main import UsageError


def with_full(bench, part, semiring, dtype, columns):
    """C = A X ("spmm") or C<A> = X Y' ("sddmm") for full X and Y with `columns` columns."""
    from grb_tile import Matrix

    args, name = bench.args, f"{part} {columns} {semiring} {dtype}"
    bench.progress(f"{name}: making values")
    A = bench.matrix(dtype)
    random, kind = np.random.default_rng(args.seed), A.dtype.np_type
    X, Y = (
        Matrix.from_dense((random.random((n, columns), np.float32) + 0.5).astype(kind))
        for n in (A.ncols if part == "spmm" else A.nrows, A.ncols)
    )
    typed, value = semiring_of(semiring, A), kind.itemsize
    moved = A.nvals * (bench.store.indices.dtype.itemsize + value) + A.nrows * 8
    moved += (A.nrows + A.ncols) * columns * value

    def check(C):
        if part == "sddmm":
            return bench_verify.at_mask(name, A, typed, X.to_dense(), Y.to_dense(), C, args.seed)
        for j in {0, columns - 1}:
            bench_verify.product(name, A._store, typed, X[:, j].new(), C[:, j].new(), args.seed)

    return measured(
        bench,
        name,
        (lambda: A.mxm(X, typed).new()) if part == "spmm" else (lambda: X.mxm(Y.T, typed).new(mask=A.S)),
        check,
        A.nvals,
        lambda C: moved,
        bench_peers.of(part, semiring, A, X, None if part == "spmm" else Y) if args.peers else {},
        semiring=semiring,
        type=dtype,
        columns=columns,
    )


def squared(bench, part, semiring, dtype):
    """C = A A ("spgemm") or C<A> = A A ("masked")."""
    name = f"{part} {semiring} {dtype}"
    A = bench.matrix(dtype)
    if A.nrows != A.ncols:
        raise UsageError(f"{bench.graph['name']} is {A.nrows} by {A.ncols}; --parts {part} needs a square matrix")
    typed, masked = semiring_of(semiring, A), part == "masked"
    degrees = np.diff(bench.indptr)
    index, value = bench.store.indices.dtype.itemsize, A.dtype.np_type.itemsize
    products = int(bench.columns_counted() @ degrees)

    def check(C):
        bench_verify.square(name, A._store, typed, C._store, masked, bench.args.seed)

    return measured(
        bench,
        name,
        (lambda: A.mxm(A, typed).new(mask=A.S)) if masked else (lambda: A.mxm(A, typed).new()),
        check,
        products,
        lambda C: (products + A.nvals + C.nvals) * (index + value) + 24 * A.nrows,
        bench_peers.of(part, semiring, A) if bench.args.peers else {},
        semiring=semiring,
        type=dtype,
    )


def over_blocks(bench, semiring, dtype):
    """w = A x, x full, over 8 x 8 blocks of A, even where the planner prefers CSR."""
    from grb_tile import Vector, plan

    name = f"blocks {semiring} {dtype}"
    A = bench.matrix(dtype)
    typed = semiring_of(semiring, A)
    x = Vector.from_dense((np.random.default_rng(bench.args.seed).random(A.ncols) + 0.5).astype(A.dtype.np_type))

    def call():
        with plan(force="bitblock"):
            return A.mxv(x, typed).new()

    form = A.storage().nbytes["bitblock"]
    line = measured(
        bench,
        name,
        call,
        lambda w: bench_verify.product(name, A._store, typed, x, w, bench.args.seed),
        A.nvals,
        lambda w: form + (A.nrows + A.ncols) * A.dtype.np_type.itemsize,
        bench_peers.of("spmv", semiring, A, x) if bench.args.peers else {},
        semiring=semiring,
        type=dtype,
    )
    return {**line, "bytes_per_entry": form / A.nvals}


def triangles(bench):
    """The number of triangles of an undirected graph."""
    from grb_tile.algorithms import triangle_count

    if bench.G is None or bench.G.directed:
        raise UsageError(
            f"{bench.graph['name']} is directed: --parts triangles needs an undirected graph (--undirected)"
        )
    degrees = np.diff(bench.indptr)
    return measured(
        bench,
        "triangles",
        lambda: triangle_count(bench.G),
        lambda count: bench_verify.triangles("triangles", bench.store, count),
        int(degrees.sum()) // 2,
        lambda count: None,
        {},
    )
