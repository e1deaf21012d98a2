"""Laws of the operations among themselves: transposition, units, associativity, distribution, inverses, iso values."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.agree import build
from support.library import LIBRARY, TYPES, WITHOUT_NUMBA, engine, gb
from support.plain import difference, plain
from support.strategies import DTYPES, SIZES, equal_shapes, indices_into, objects, product_operands


def same(x, y):
    problem = difference(plain(x), plain(y))
    assert problem is None, problem


TRANSPOSITION = {
    "(A B)' = B' A'": lambda o: (o.A.mxm(o.B).new().T.new(), o.B.T.mxm(o.A.T).new()),
    "(A B)' = B' A' with flipped operands": lambda o: (
        o.A.mxm(o.B, "max_first").new().T.new(),
        o.B.T.mxm(o.A.T, "max_second").new(),
    ),
    "A'' = A": lambda o: (o.A.T.new().T.new(), o.A),
    "x' A' = (A x)'": lambda o: (o.A.mxv(o.x, "plus_minus").new(), o.x.vxm(o.A.T, "plus_rminus").new()),
    "y' A = (A' y)'": lambda o: (o.y.vxm(o.A, "min_first").new(), o.A.T.mxv(o.y, "min_second").new()),
    "columns of A = rows of A'": lambda o: (o.A.reduce_columnwise("plus").new(), o.A.T.reduce_rowwise("plus").new()),
    "(A min B)' = A' min B'": lambda o: (o.C.ewise_add(o.D, "min").new().T.new(), o.C.T.ewise_add(o.D.T, "min").new()),
    "(A * B)' = A' * B'": lambda o: (
        o.C.ewise_mult(o.D, "minus").new().T.new(),
        o.C.T.ewise_mult(o.D.T, "minus").new(),
    ),
    "tril(A)' = triu(A')": lambda o: (o.A.select("tril", 1).new().T.new(), o.A.T.select("triu", -1).new()),
    "f(A)' = f(A')": lambda o: (o.A.apply("ainv").new().T.new(), o.A.T.apply("ainv").new()),
    "rowindex(A)' = colindex(A')": lambda o: (
        o.A.apply(gb.indexunary.rowindex, 2).new().T.new(),
        o.A.T.apply(gb.indexunary.colindex, 2).new(),
    ),
    "kron(A, B)' = kron(A', B')": lambda o: (
        o.S.kronecker(o.B, "minus").new().T.new(),
        o.S.T.kronecker(o.B.T, "minus").new(),
    ),
    "diag of A' is diag of A, other side": lambda o: (o.A.diag(0), o.A.T.diag(0)),
    "A' written through a mask": lambda o: (o.A.T.new(mask=o.A.T.new().V), o.A.dup(mask=o.A.V).T.new()),
    "to_csr of A' = to_csc of A": lambda o: (o.A.T.to_csr()[0], o.A.to_csc()[0]),
}


@pytest.mark.quick
@pytest.mark.parametrize("law", TRANSPOSITION)
@given(operands=product_operands(), data=st.data())
def test_transposition(law, operands, data):
    operands["D"] = data.draw(objects(operands["C"].shape))
    operands["S"] = data.draw(objects((2, 3)))
    o = build(gb, operands)
    for name in WITHOUT_NUMBA:
        with engine(name):
            same(*TRANSPOSITION[law](o))


@given(operands=equal_shapes(count=1), data=st.data())
def test_extract_and_transpose(operands, data):
    """A(I, J)' = A'(J, I); and extraction of an extraction is extraction."""
    o = build(gb, operands)
    rows, columns = data.draw(indices_into(o.A.nrows)), data.draw(indices_into(o.A.ncols))
    same(o.A[rows, columns].new().T.new(), o.A.T[columns, rows].new())
    some = data.draw(indices_into(len(rows)))
    same(o.A[rows, columns].new()[some, :].new(), o.A[[rows[k] for k in some], columns].new())
    same(o.A[rows[0], columns].new(), o.A.T[columns, rows[0]].new())
    permutation = data.draw(st.permutations(range(o.u.size))) if o.u.size <= 8 else list(range(o.u.size))[::-1]
    moved = o.u[permutation].new()
    back = gb.Vector(gb.dtypes.INT64, o.u.size)
    back[permutation] << moved
    same(back, o.u)


@given(operands=product_operands(), data=st.data())
def test_ring(operands, data):
    """plus_times on INT64 is a semiring (integers wrap): associativity, distribution, units."""
    operands["E"] = data.draw(objects((operands["B"].shape[1], 3)))
    operands["D"] = data.draw(objects(operands["B"].shape))
    o = build(gb, operands)
    same(o.A.mxm(o.B).new().mxm(o.E).new(), o.A.mxm(o.B.mxm(o.E).new()).new())
    same(
        o.A.mxm(o.B.ewise_add(o.D, "plus").new()).new(), o.A.mxm(o.B).new().ewise_add(o.A.mxm(o.D).new(), "plus").new()
    )
    same(o.B.mxv(o.E.reduce_rowwise("plus").new()).new(), o.B.mxm(o.E).new().reduce_rowwise("plus").new())
    unit = gb.Vector.from_scalar(1, o.A.ncols).diag()
    same(o.A.mxm(unit).new(), o.A)
    same(unit.mxm(o.B).new(), o.B)
    same(unit.mxv(o.x).new(), o.x)


@given(operands=equal_shapes())
def test_elementwise(operands):
    o = build(gb, operands)
    same(o.A.ewise_add(o.B, "plus").new(), o.B.ewise_add(o.A, "plus").new())
    same(o.A.ewise_mult(o.B, "minus").new(), o.B.ewise_mult(o.A, "rminus").new())
    same(
        o.A.ewise_add(o.B, "plus").new().ewise_add(o.C, "plus").new(),
        o.A.ewise_add(o.B.ewise_add(o.C, "plus").new(), "plus").new(),
    )
    same(o.A.ewise_union(o.B, "minus", 0, 0).new(), o.A.ewise_add(o.B.apply("ainv").new(), "plus").new())
    same(o.A.ewise_mult(o.A, "first").new(), o.A)
    same(o.A.ewise_add(o.A, "second").new(), o.A)
    same(o.A.apply("ainv").new().apply("ainv").new(), o.A)
    assert o.A.ewise_add(o.B, "plus").new().nvals + o.A.ewise_mult(o.B, "plus").new().nvals == o.A.nvals + o.B.nvals
    same(o.A.select(">", 0).new().ewise_add(o.A.select("<=", 0).new(), "first").new(), o.A)
    same(o.u.reduce("plus").new(), o.u.ewise_add(o.u.dup(clear=True), "plus").new().reduce("plus").new())
    same(o.A.reduce_scalar("plus").new(), o.A.reduce_rowwise("plus").new().reduce("plus").new())
    same(
        o.u.inner(o.v).new() if o.u.ewise_mult(o.v).new().nvals else gb.Scalar(gb.dtypes.INT64),
        o.u.ewise_mult(o.v).new().reduce("plus").new(),
    )


@given(dtype=DTYPES, m=SIZES, n=SIZES, data=st.data())
def test_round_trips(dtype, m, n, data):
    """Out and in again gives the same object, by every road."""
    o = build(gb, {"A": data.draw(objects((m, n), dtype)), "v": data.draw(objects((n,), dtype))})
    shape = {"nrows": m, "ncols": n}
    same(gb.Matrix.from_coo(*o.A.to_coo(), **shape), o.A)
    same(gb.Vector.from_coo(*o.v.to_coo(), size=n), o.v)
    same(gb.Matrix.from_csr(*o.A.to_csr(), ncols=n), o.A)
    same(gb.Matrix.from_csc(*o.A.to_csc(), nrows=m), o.A)
    if o.A.nvals or LIBRARY != "graphblas":  # the oracle cannot make an empty matrix of these forms
        same(gb.Matrix.from_dcsr(*o.A.to_dcsr(), **shape), o.A)
        same(gb.Matrix.from_dcsc(*o.A.to_dcsc(), **shape), o.A)
    same(gb.Matrix.from_edgelist(*o.A.to_edgelist(), **shape), o.A)
    same(pickle.loads(pickle.dumps(o.A)), o.A)
    same(pickle.loads(pickle.dumps(o.v)), o.v)
    same(o.A.dup(), o.A)
    if m * n <= 2000:
        dense, present = o.A.to_dense(7), o.A.apply("one").new().to_dense(0, dtype="INT64") != 0
        rows, columns = np.nonzero(present)
        same(gb.Matrix.from_coo(rows, columns, dense[rows, columns], o.A.dtype, **shape), o.A)


@given(operands=equal_shapes(count=1), k=st.integers(-3, 3))
def test_shaping_round_trips(operands, k):
    o = build(gb, operands)
    same(o.u.diag(k).diag(k), o.u)
    same(gb.ss.concat([[o.A, o.A]])[:, o.A.ncols :].new(), o.A)
    same(gb.ss.concat([o.u, o.u])[: o.u.size].new(), o.u)
    bigger = o.A.dup()
    bigger.resize(o.A.nrows + 3, o.A.ncols + 70)
    bigger.resize(o.A.nrows, o.A.ncols)
    same(bigger, o.A)


@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_iso_values_do_not_show(dtype, data):
    """An object built from one value gives what the same object built from equal values gives."""
    m, n = data.draw(SIZES), data.draw(SIZES)
    operands = {
        "A": data.draw(objects((m, n), dtype)),
        "x": data.draw(objects((n,), dtype)),
        "m": data.draw(objects((m,), "BOOL")),
    }
    results = []
    for iso in (True, False):
        made = {}
        for name, value in operands.items():
            values = np.repeat(value.values[:1], value.nvals)
            made[name] = dataclasses.replace(value, values=values, iso=iso and value.nvals > 0)
        o = build(gb, made)
        plus_times = "lor_land" if dtype == "BOOL" else "plus_times"
        o.w = gb.Vector(o.x.dtype, m)
        o.w(o.m.V) << o.A.mxv(o.x, plus_times)
        o.x[0] << 1
        results.append(
            [
                o.w,
                o.A.mxv(o.x, plus_times).new(),
                o.A.mxm(o.A.T, plus_times).new(),
                o.A.ewise_add(o.A, "first").new(),
                o.x,
                o.A.T.new(),
                o.A.reduce_rowwise("lor" if dtype == "BOOL" else "plus").new(),
                o.A.apply("one").new(),
                o.x.ewise_mult(o.x, "second").new(),
                o.A.mxv(o.x, "any_pair").new(),
                o.x[::-1].new(),
                o.A.dup("FC64"),
                o.A.select("tril", 0).new(),
            ]
        )
    for one, other in zip(*results, strict=True):
        same(one, other)
