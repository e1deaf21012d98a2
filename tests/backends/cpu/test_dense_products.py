"""SpMM and SDDMM through compiled kernels: what the products of CSR give."""

import numpy as np
import pytest

import grb_tile as gb
from support.dense_operands import dense, semiring_named, sparse
from support.seeds import generator

KINDS = ("full", "bitmap", "iso")
SEMIRINGS = [("plus_times", "FP64"), ("min_plus", "INT32"), ("lor_land", "BOOL"), ("any_second", "FP32"),
             ("plus_pair", "INT64"), ("ss.min_secondi", "INT64"), ("plus_minus", "INT16")]  # fmt: skip
CASES = [(s, kind) for s in SEMIRINGS for kind in KINDS]


def test_dense_times_sparse_keeps_the_order_of_the_operands():
    rng = generator("dense times sparse")
    A, (X, plain) = sparse(rng, (30, 20), 0.2, "INT64"), dense(rng, (10, 30), "full", "INT64")
    with gb.plan(force="numba"):
        C = X.mxm(A, "plus_minus").new()
        assert "spmm" in str(gb.explain())
    assert C.isequal(plain.mxm(A, "plus_minus").new())


@pytest.mark.parametrize(("semiring", "kind"), CASES)
def test_spmm(semiring, kind):
    name, dtype = semiring
    op, rng = semiring_named(name), generator("spmm", name, kind)
    for n, width, density in ((40, 1, 0.2), (70, 16, 0.1), (33, 70, 0.3)):
        A = sparse(rng, (50, n), density, dtype)
        X, plain = dense(rng, (n, width), kind, dtype)
        M = sparse(rng, (50, width), 0.4, "BOOL")
        XT, plain_t = X.T.new(), plain.T.new()
        with gb.plan(force="numba"):
            found = [op(A @ X).new(), op(A @ X).new(mask=M.S), op(A @ X).new(mask=~M.V), op(XT @ A.T).new()]
            assert "spmm" in str(gb.explain(4)), gb.explain(4)
            C = found[1].dup()
            C(~M.S, accum=gb.binary.plus) << op(A @ X)
        wanted = [op(A @ plain).new(), op(A @ plain).new(mask=M.S), op(A @ plain).new(mask=~M.V)]
        wanted.append(op(plain_t @ A.T).new())
        D = wanted[1].dup()
        D(~M.S, accum=gb.binary.plus) << op(A @ plain)
        for ours, theirs in zip([*found, C], [*wanted, D], strict=True):
            if name.startswith("any_"):  # any of the products
                assert ours.apply("one").new().isequal(theirs.apply("one").new())
            else:
                assert ours.isequal(theirs, check_dtype=True)


@pytest.mark.parametrize(
    ("name", "dtype", "kind"),
    [("plus_times", "FP64", "full"), ("min_plus", "INT64", "full"), ("plus_times", "FP64", "iso")],
)
def test_sddmm(name, dtype, kind):
    rng, op = generator("sddmm", name, kind), getattr(gb.semiring, name)
    for depth in (1, 5, 8, 64, 67):
        A, plain_a = dense(rng, (30, depth), "full", dtype)
        B, plain_b = dense(rng, (40, depth), kind, dtype)
        M = sparse(rng, (30, 40), 0.1, "BOOL")
        with gb.plan(force="numba"):
            C = op(A @ B.T).new(mask=M.S)
            assert "sddmm" in str(gb.explain())
        assert C.isequal(op(plain_a @ plain_b.T).new(mask=M.S), check_dtype=True)


def test_sddmm_of_a_pattern_that_lists_its_rows():
    """A mask of few entries in many rows is stored by the numbers of its rows."""
    rng, rows = generator("sddmm of listed rows"), np.array([3, 4000, 99_999])
    a, b = rng.integers(0, 9, (100_000, 3)), rng.integers(0, 9, (3, 4))
    M = gb.Matrix.from_coo(rows, [0, 3, 1], True, nrows=100_000, ncols=4)
    assert M._store.rows is not None
    with gb.plan(force="numba"):
        C = gb.Matrix.from_dense(a).mxm(gb.Matrix.from_dense(b), "plus_times").new(mask=M.S)
    assert C.to_coo()[0].tolist() == rows.tolist() and C.to_coo()[2].tolist() == (a @ b)[rows, [0, 3, 1]].tolist()
