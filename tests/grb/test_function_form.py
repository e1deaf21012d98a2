"""The C API in function form gives what SuiteSparse gives, and its errors are those of GrB_Info."""

import itertools

import graphblas as oracle
import numpy as np
import pytest

import grb_tile as gb
from grb_tile import exceptions, grb

rng = np.random.default_rng(11)
N = 6


def pair_of_matrices(share=0.5, dtype=np.int64):
    present = rng.random((N, N)) < share
    rows, cols = np.nonzero(present)
    values = rng.integers(-3, 4, rows.size).astype(dtype)
    return (
        gb.Matrix.from_coo(rows, cols, values, nrows=N, ncols=N, dtype=dtype),
        oracle.Matrix.from_coo(rows, cols, values, nrows=N, ncols=N, dtype=dtype),
    )


def pair_of_vectors(share=0.6, dtype=np.int64):
    where = np.flatnonzero(rng.random(N) < share)
    values = rng.integers(-3, 4, where.size).astype(dtype)
    return (
        gb.Vector.from_coo(where, values, size=N, dtype=dtype),
        oracle.Vector.from_coo(where, values, size=N, dtype=dtype),
    )


def same(ours, theirs):
    mine, other = ours.to_coo(), theirs.to_coo()
    assert all(np.array_equal(a, b) for a, b in zip(mine, other, strict=True))


DESCRIPTORS = ["".join(p) for p in itertools.product(["", "R"], ["", "S"], ["", "C"], ["", "T0"])]


def mask_of(mask, suffix):
    mask = mask.S if "S" in suffix else mask.V
    return ~mask if "C" in suffix else mask


@pytest.mark.parametrize("accum", [None, "minus"])
@pytest.mark.parametrize("suffix", DESCRIPTORS)
def test_mxv(suffix, accum):
    (A, A2), (u, u2), (w, w2), (m, m2) = pair_of_matrices(), pair_of_vectors(), pair_of_vectors(), pair_of_vectors()
    desc = getattr(grb, f"DESC_{suffix}") if suffix else None
    grb.mxv(w, m, None if accum is None else getattr(gb.binary, accum), grb.PLUS_TIMES_SEMIRING_INT64, A, u, desc)
    kwargs = {} if accum is None else {"accum": getattr(oracle.binary, accum)}
    w2(mask_of(m2, suffix), replace="R" in suffix, **kwargs) << (A2.T if "T0" in suffix else A2).mxv(
        u2, oracle.semiring.plus_times
    )
    same(w, w2)


@pytest.mark.parametrize("suffix", [a + b for a in DESCRIPTORS for b in ("", "T1")])
def test_mxm(suffix):
    (A, A2), (B, B2), (C, C2), (M, M2) = (pair_of_matrices() for _ in range(4))
    desc = getattr(grb, f"DESC_{suffix}") if suffix else None
    grb.mxm(C, M, grb.PLUS_INT64, grb.MIN_PLUS_SEMIRING_INT64, A, B, desc)
    left = A2.T if "T0" in suffix else A2
    right = B2.T if "T1" in suffix else B2
    C2(mask_of(M2, suffix), accum=oracle.binary.plus, replace="R" in suffix) << left.mxm(
        right, oracle.semiring.min_plus
    )
    same(C, C2)


def test_vxm_ewise_apply_select_reduce_transpose_kronecker():
    (A, A2), (B, B2), (u, u2) = pair_of_matrices(), pair_of_matrices(), pair_of_vectors()
    w, C = gb.Vector(int, N), gb.Matrix(int, N, N)
    grb.vxm(w, None, None, grb.PLUS_TIMES_SEMIRING_INT64, u, A, grb.DESC_T1)
    same(w, u2.vxm(A2.T).new())
    grb.eWiseAdd(C, None, None, grb.MINUS_INT64, A, B, grb.DESC_T0)
    same(C, A2.T.ewise_add(B2, oracle.binary.minus).new())
    grb.eWiseAdd(C, None, None, grb.MIN_PLUS_SEMIRING_INT64, A, B)
    same(C, A2.ewise_add(B2, oracle.binary.min).new())
    grb.eWiseMult(C, None, None, grb.MIN_PLUS_SEMIRING_INT64, A, B)
    same(C, A2.ewise_mult(B2, oracle.binary.plus).new())
    grb.eWiseUnion(C, None, None, grb.MINUS_INT64, A, 7, B, 9)
    same(C, A2.ewise_union(B2, oracle.binary.minus, 7, 9).new())
    grb.apply(C, None, None, grb.ABS_INT64, A)
    same(C, A2.apply(oracle.unary.abs).new())
    grb.apply_BinaryOp1st(C, None, None, grb.MINUS_INT64, 5, A)
    same(C, A2.apply(oracle.binary.minus, left=5).new())
    grb.apply_BinaryOp2nd(C, None, None, grb.MINUS_INT64, A, 5)
    same(C, A2.apply(oracle.binary.minus, right=5).new())
    grb.apply_IndexOp(C, None, None, grb.ROWINDEX_INT64, A, 3)
    same(C, A2.apply(oracle.indexunary.rowindex, 3).new())
    grb.select(C, None, None, grb.TRIL, A, -1)
    same(C, A2.select(oracle.select.tril, -1).new())
    grb.select(C, None, None, grb.VALUEGT_INT64, A, 0)
    same(C, A2.select(oracle.select.valuegt, 0).new())
    grb.reduce(w, None, None, grb.PLUS_MONOID_INT64, A, grb.DESC_T0)
    same(w, A2.reduce_columnwise(oracle.monoid.plus).new())
    s = grb.Scalar_new(grb.INT64)
    grb.reduce(s, None, grb.MAX_MONOID_INT64, A)
    assert s.value == A2.reduce_scalar(oracle.monoid.max).new().value
    grb.reduce(s, grb.PLUS_INT64, grb.MAX_MONOID_INT64, A)
    assert s.value == 2 * A2.reduce_scalar(oracle.monoid.max).new().value
    grb.transpose(C, None, None, A)
    same(C, A2.T.new())
    K = gb.Matrix(int, N * N, N * N)
    grb.kronecker(K, None, None, grb.TIMES_INT64, A, B)
    same(K, A2.kronecker(B2).new())


@pytest.mark.parametrize("accum", [None, "plus"])
@pytest.mark.parametrize("suffix", ["", "R", "S", "C", "RS", "RSC", "RC", "SC"])
def test_assign_and_subassign(suffix, accum):
    I, J = [4, 1, 3], [0, 5]
    desc = getattr(grb, f"DESC_{suffix}") if suffix else None
    ours = None if accum is None else getattr(gb.binary, accum)
    kwargs = {} if accum is None else {"accum": getattr(oracle.binary, accum)}
    for _ in range(4):
        (C, C2), (M, M2), (A, A2) = pair_of_matrices(), pair_of_matrices(), pair_of_matrices()
        part, part2 = A[:3, :2].new(), A2[:3, :2].new()
        grb.assign(C, M, ours, part, I, J, desc)
        C2(mask_of(M2, suffix), replace="R" in suffix, **kwargs)[I, J] << part2
        same(C, C2)
        grb.assign(C, M, ours, 8, I, J, desc)
        C2(mask_of(M2, suffix), replace="R" in suffix, **kwargs)[I, J] << 8
        same(C, C2)
        (u, u2), (m, m2) = pair_of_vectors(), pair_of_vectors()
        grb.Row_assign(C, m, ours, u[:2].new(), 2, J, desc)
        C2(mask_of(m2, suffix), replace="R" in suffix, **kwargs)[2, J] << u2[:2].new()
        same(C, C2)
        grb.Col_assign(C, m, ours, u, grb.ALL, 3, desc)
        C2(mask_of(m2, suffix), replace="R" in suffix, **kwargs)[:, 3] << u2
        same(C, C2)
        small, small2 = M[:3, :2].new(), M2[:3, :2].new()
        grb.subassign(C, small, ours, part, I, J, desc)
        C2[I, J](mask_of(small2, suffix), replace="R" in suffix, **kwargs) << part2
        same(C, C2)
        grb.subassign(C, None, ours, grb.Scalar_new(grb.INT64), I, J)
        C2[I, J](**kwargs) << oracle.Scalar(int)
        same(C, C2)


def test_extract():
    (A, A2), (u, u2) = pair_of_matrices(), pair_of_vectors()
    C, w = gb.Matrix(int, 2, 3), gb.Vector(int, 3)
    grb.extract(C, None, None, A, [5, 0], [1, 1, 2], grb.DESC_T0)
    same(C, A2.T[[5, 0], [1, 1, 2]].new())
    grb.extract(w, None, None, u, [5, 0, 5])
    same(w, u2[[5, 0, 5]].new())
    grb.Col_extract(w, None, None, A, [5, 0, 5], 2)
    same(w, A2[[5, 0, 5], 2].new())
    grb.Col_extract(w, None, None, A, [5, 0, 5], 2, grb.DESC_T0)
    same(w, A2[2, [5, 0, 5]].new())


def test_methods():
    A = grb.Matrix_new(grb.FP64, 3, 4)
    grb.Matrix_build(A, [0, 0, 2], [1, 1, 3], [1.0, 2.0, 3.0], None, grb.PLUS_FP64)
    assert [x.tolist() for x in grb.Matrix_extractTuples(A)] == [[0, 2], [1, 3], [3.0, 3.0]]
    assert (grb.Matrix_nrows(A), grb.Matrix_ncols(A), grb.Matrix_nvals(A)) == (3, 4, 2)
    grb.Matrix_setElement(A, 7, 1, 1)
    assert grb.Matrix_extractElement(A, 1, 1) == 7
    grb.Matrix_removeElement(A, 1, 1)
    with pytest.raises(exceptions.NoValue):
        grb.Matrix_extractElement(A, 1, 1)
    B = grb.Matrix_deserialize(grb.Matrix_serialize(A))
    assert B.isequal(A, check_dtype=True)
    assert grb.Matrix_import(grb.FP64, 3, 4, *grb.Matrix_export(A, "CSC_FORMAT"), format="CSC_FORMAT").isequal(A)
    grb.Matrix_resize(A, 1, 2)
    assert grb.Matrix_extractTuples(A)[2].tolist() == [3.0]
    v = grb.Vector_new(grb.INT8, 5)
    grb.Vector_setElement(v, 300, 2)
    assert grb.Vector_extractElement(v, 2) == 44
    assert grb.Matrix_nvals(grb.Matrix_diag(v, -1)) == 1


def test_names_of_predefined_objects():
    assert grb.PLUS_TIMES_SEMIRING_FP64 is gb.semiring.plus_times["FP64"]
    assert grb.GrB_LOR_LAND_SEMIRING_BOOL is gb.semiring.lor_land[bool]
    assert grb.GxB_ANY_PAIR_BOOL is gb.semiring.any_pair[bool]
    assert grb.MIN_MONOID_INT32 is gb.monoid.min["INT32"]
    assert grb.LAND is gb.binary.land[bool]
    assert grb.ONEB_FP32 is gb.binary.pair["FP32"]
    assert grb.FP64 is gb.dtypes.FP64
    assert grb.GrB_mxv is grb.mxv
    with pytest.raises(AttributeError, match="predefined"):
        grb.PLUS_TIMES_SEMIRING_FP99  # noqa: B018


ERRORS = [
    (-2, lambda A, u, w: grb.mxv(None, None, None, grb.PLUS_TIMES_SEMIRING_INT64, A, u)),
    (-6, lambda A, u, w: grb.mxv(gb.Vector(int, 3), None, None, grb.PLUS_TIMES_SEMIRING_INT64, A, u)),
    (-6, lambda A, u, w: grb.mxv(w, gb.Vector(bool, 3), None, grb.PLUS_TIMES_SEMIRING_INT64, A, u)),
    (-4, lambda A, u, w: grb.Col_extract(w, None, None, A, grb.ALL, 99)),
    (-105, lambda A, u, w: grb.extract(gb.Vector(int, 1), None, None, u, [99])),
    (-3, lambda A, u, w: grb.Vector_build(gb.Vector(int, 3), [0, 0], [1, 2])),
    (-7, lambda A, u, w: grb.Vector_build(w, [0], [1])),
    (-3, lambda A, u, w: grb.Vector_new(grb.INT64, -1)),
    (-3, lambda A, u, w: grb.Descriptor_set(grb.DESC_R, grb.OUTP, grb.DEFAULT)),
    (-3, lambda A, u, w: grb.Descriptor_set(grb.Descriptor_new(), grb.OUTP, grb.TRAN)),
    (-106, lambda A, u, w: grb.apply_BinaryOp2nd(w, None, None, grb.PLUS_INT64, u, grb.Scalar_new(grb.INT64))),
    (1, lambda A, u, w: grb.Scalar_extractElement(grb.Scalar_new(grb.INT64))),
]


@pytest.mark.parametrize("info,call", ERRORS)
def test_errors_are_those_of_GrB_Info(info, call):
    A, u = pair_of_matrices()[0], pair_of_vectors()[0]
    w = gb.Vector.from_coo([1, 2], [3, 4], size=N)
    with pytest.raises(exceptions.GraphblasException) as caught:
        call(A, u, w)
    assert caught.value.info == info
    assert w.to_coo()[1].tolist() == [3, 4]


@pytest.mark.parametrize("shape", [(2, 5), (5, 2)])
def test_rows_and_columns_up_to_the_last(shape):
    """i is a row, j a column: of matrices that are not square each bound is its own."""
    for name, at in (("Row_assign", 0), ("Row_subassign", 0), ("Col_assign", 1), ("Col_subassign", 1)):
        u = gb.Vector.from_dense(np.arange(1, shape[1 - at] + 1))

        def write(C, k, u=u, name=name, at=at):
            getattr(grb, name)(C, None, None, u, *((k, grb.ALL) if at == 0 else (grb.ALL, k)))

        C = gb.Matrix(int, *shape)
        write(C, shape[at] - 1)
        assert C.to_coo()[at].tolist() == [shape[at] - 1] * u.size and C.to_coo()[2].tolist() == u.to_dense().tolist()
        with pytest.raises(exceptions.InvalidIndex, match=f"is {shape[at]}, outside 0 .. {shape[at] - 1}"):
            write(C, shape[at])


def test_dimensions_up_to_the_limit():
    assert grb.Vector_size(grb.Vector_new("FP64", 2**60)) == 2**60
    A = grb.Matrix_new("FP64", 2**60, 2**60)
    assert (grb.Matrix_nrows(A), grb.Matrix_ncols(A)) == (2**60, 2**60)
    for name, shape in (("nrows", (-1, 2)), ("ncols", (2, -1)), ("ncols", (2, 2**60 + 1))):
        for make, first in ((grb.Matrix_new, "FP64"), (grb.Matrix_resize, A)):
            with pytest.raises(exceptions.InvalidValue, match=rf"{name} is .*; expected 0 \.\. 2\^60"):
                make(first, *shape)
    assert grb.Matrix_nrows(A) == 2**60
