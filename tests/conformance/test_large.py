"""Operands large enough for the compiled kernels, the blocks and the parallel loops; each call repeated, since what
was slow once is compiled."""

import numpy as np
import pytest

from support import coverage
from support.agree import agree
from support.library import ENGINES, WITHOUT_NUMBA
from support.plain import NUMPY_TYPES, Plain
from support.seeds import generator

N, NNZ = 3000, 60_000
FAST = tuple(name for name in ENGINES if name != "reference")  # dictionaries and loops are for small operands


def skewed(rng, count, n):
    """Indices with a few heavy rows, as in a graph of the real world."""
    return np.minimum((n * rng.random(count) ** 3).astype(np.int64), n - 1)


def matrix(rng, m, n, count, dtype):
    places = np.unique(skewed(rng, count, m) * n + rng.permutation(n)[skewed(rng, count, n)])
    return Plain(
        (m, n),
        dtype,
        (places // n, places % n),
        rng.integers(-2 if dtype[0] != "U" else 0, 4, len(places)).astype(NUMPY_TYPES[dtype]),
    )


def vector(rng, n, density, dtype):
    places = np.flatnonzero(rng.random(n) < density)
    return Plain((n,), dtype, (places,), rng.integers(0, 4, len(places)).astype(NUMPY_TYPES[dtype]))


def graph(dtype="INT64"):
    rng = generator("large", dtype)
    found = {
        "A": matrix(rng, N, N, NNZ, dtype),
        "B": matrix(rng, N, N, NNZ, dtype),
        "L": matrix(rng, 700, N, 6000, dtype),
    }
    for name, density in (("few", 0.002), ("some", 0.1), ("most", 0.9), ("all", 1.1)):
        found[name] = vector(rng, N, density, dtype)
    return found | {"m": vector(rng, N, 0.3, "BOOL"), "w": vector(rng, N, 0.5, dtype)}


def products(semiring):
    def call(lib, o):
        s = getattr(lib.semiring, semiring)
        results = []
        for _ in range(2):
            results = [
                o.A.mxv(x, s).new(mask=mask) for x in (o.few, o.some, o.most, o.all) for mask in (None, o.m.S, ~o.m.V)
            ]
            results += [
                o.few.vxm(o.A, s).new(mask=~o.m.S),
                o.all.vxm(o.A, s).new(),
                o.A.T.mxv(o.some, s).new(mask=o.m.V),
            ]
        o.w(~o.m.S, accum="plus", replace=True) << o.A.mxv(o.some, s)
        return results

    return call


def matrix_products(semiring):
    def call(lib, o):
        s = getattr(lib.semiring, semiring)
        for _ in range(2):
            results = [
                o.L.mxm(o.A, s).new(),
                o.A.mxm(o.B, s).new(mask=o.B.S),
                o.A.mxm(o.A.T, s).new(mask=o.A.V),
                o.L.mxm(o.A, s).new(mask=~o.L.S),
                o.L.mxm(o.L.T, s).new(),
            ]
        return results

    return call


def elementwise(lib, o):
    for _ in range(2):
        results = [
            o.A.ewise_add(o.B, "minus").new(),
            o.A.ewise_mult(o.B, "minus").new(),
            o.A.ewise_add(o.B.T, "min").new(mask=o.B.S),
            o.some.ewise_add(o.most, "minus").new(),
            o.some.ewise_mult(o.few, "second").new(),
            o.A.ewise_union(o.B, "minus", 1, 2).new(),
            o.A.ewise_add(o.few, "plus").new(mask=o.A.S),
            o.A.ewise_mult(o.most, "plus").new(),
        ]
    o.A(o.B.V, accum="minus") << o.B
    o.w(~o.m.V) << o.some
    return results


def structure(lib, o):
    rng = generator("large structure")
    rows, columns = rng.integers(0, N, (2, 40_000))
    order, some = rng.permutation(N), rng.permutation(N)[:1000]
    C = lib.Matrix.from_coo(rows, columns, np.arange(40_000), nrows=N, ncols=N, dup_op="minus")
    D, w = o.A.dup(), o.w.dup()
    D[some, some] << o.A[some, some].new()
    w[some] << 7
    w(o.m.S, accum="plus")[order] << o.some
    return [
        C,
        D,
        w,
        o.A.T.new(),
        o.A[order, order].new(),
        o.A[some, :].new(),
        o.A[:, order].new(),
        o.w[order].new(),
        o.A.select("tril").new(),
        o.A.select(">", 1).new(),
        o.A.apply("ainv").new(),
        o.A.diag(0),
        lib.ss.concat([[o.A, o.B], [o.B, o.A]]),
    ]


def reductions(lib, o):
    return [
        o.A.reduce_rowwise("plus").new(),
        o.A.reduce_columnwise("max").new(),
        o.A.reduce_scalar("plus").new(),
        o.most.reduce("min").new(),
        o.A.reduce_rowwise("any").new().apply("one").new(),
        o.A.T.reduce_rowwise("min").new(),
        o.A.reduce_rowwise(lib.agg.count).new(),
        o.all.inner(o.some).new(),
        o.A.reduce_columnwise(lib.agg.ss.last).new(),
    ]


CALLS = {
    f"products {name}": products(name) for name in ("plus_times", "min_plus", "any_pair", "plus_pair", "max_second")
}
CALLS |= {
    f"matrix products {name}": matrix_products(name) for name in ("plus_times", "any_pair", "plus_pair", "min_plus")
}
CALLS |= {"element-wise": elementwise, "structure": structure, "reductions": reductions}
coverage.owe("large operands", "call", CALLS, FAST)
coverage.owe(
    "large operands",
    "type",
    ["FP64", "FP32", "INT8", "UINT64", "FC64"],
    [name for name in FAST if name in WITHOUT_NUMBA],
)


@pytest.mark.parametrize("name", CALLS)
def test_large(name):
    found = graph()
    if name == "products any_pair" or name.endswith("plus_pair"):
        found = {
            key: value
            if key == "m"
            else Plain(value.shape, value.dtype, value.indices, np.ones_like(value.values), iso=True)
            for key, value in found.items()
        }
    agree(CALLS[name], found, name, cells=[("large operands", "call", name)], engines=FAST)


@pytest.mark.parametrize("dtype", ["FP64", "FP32", "INT8", "UINT64", "FC64"])
def test_types(dtype):
    def call(lib, o):
        return [
            o.A.mxv(o.some).new(mask=o.m.S),
            o.few.vxm(o.A).new(),
            o.L.mxm(o.A).new(),
            o.A.ewise_add(o.B, "minus").new(),
            o.A.T.new(),
            o.A.reduce_rowwise("plus").new(),
            o.some.ewise_mult(o.most, "times").new(),
        ]

    agree(
        call,
        graph(dtype),
        dtype,
        cells=[("large operands", "type", dtype)],
        engines=[name for name in FAST if name in WITHOUT_NUMBA],
    )
