"""Bound calls: every kind of small operands against the reference backend, by the prepared function itself."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends import select
from grb_tile.backends.cpu.compiled import (
    bound,
    bound_matmul,
    bound_matvec,
    bound_merge,
    bound_overwrite,
    dispatch,
    gather,
    merging,
)
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.backends.reference import ReferenceBackend
from grb_tile.planner import tuning, unrecorded
from grb_tile.storage.convert import choose_format, to_dcsr, transpose_of
from grb_tile.storage.store import StoredMask
from support.stores import masks, matrix, same_matrix, same_vector, vector

REFERENCE = ReferenceBackend()
PRODUCTS = [("plus_times", "FP64", "FP64"), ("min_plus", "INT64", "FP32"), ("any_pair", "BOOL", "BOOL")]
MERGES = [("minus", "INT64", "FP32"), ("min", "INT8", "INT8")]
SIZE = 90


@pytest.fixture(autouse=True)
def compiled():
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def kinds(*names):
    return [gb.dtypes.lookup_dtype(name) for name in names]


def semiring(name, *types):
    return getattr(gb.semiring, name)[gb.dtypes.unify(*types)]


def vectors(rng, dtype, iso=True):
    """Vectors of every form; one of each with one value for all entries."""
    forms = ("sparse", 7), ("sparse", 40), ("bitmap", 60), ("full", SIZE)
    found = [vector(rng, SIZE, count, dtype, form) for form, count in forms]
    return [*found, vector(rng, SIZE, 30, dtype, "sparse", True), vector(rng, SIZE, 50, dtype, "bitmap", True)][
        : None if iso else 4
    ]


def prepared(general, call):
    """The result of a bound call, which is taken where its kernel is compiled: the general form compiles it first."""
    found = call()
    if found is NotImplemented:
        general()
        found = call()
    assert found is not NotImplemented
    return found


def form_is_chosen(t):
    """The result has the form that choose_format gives it, and a full vector has no presence bits."""
    assert choose_format(t) is t
    assert t.format != "bitmap" or t.words is None or t.nvals < t.size


@pytest.mark.parametrize("name, a_type, x_type", PRODUCTS)
def test_products_with_a_vector(name, a_type, x_type):
    rng, (a_type, x_type) = np.random.default_rng(3), kinds(a_type, x_type)
    op = semiring(name, a_type, x_type)
    A = matrix(rng, 70, SIZE, 500, a_type)
    AT, allows = transpose_of(A), masks(rng, 70, gb.dtypes.BOOL)
    for x, mask in itertools.product(vectors(rng, x_type, iso=name == "any_pair"), allows):
        wanted = REFERENCE.matvec_rows(A, x, op, mask)
        rows = prepared(
            lambda: dispatch.matvec_rows(A, x, op, mask), lambda: bound_matvec.matvec_rows(A, x, op, mask)
        )  # fmt: skip
        cols = prepared(
            lambda: dispatch.matvec_cols(AT, x, op, mask), lambda: bound_matvec.matvec_cols(AT, x, op, mask)
        )  # fmt: skip
        for found in (rows, cols):
            same_vector(found, wanted)
            assert found.nvals == wanted.nvals


def test_products_with_one_value_for_all_entries():
    rng, op, FP64 = np.random.default_rng(13), gb.semiring.plus_times["FP64"], gb.dtypes.FP64
    A = matrix(rng, 70, SIZE, 500, FP64, iso=True)
    for x in vectors(rng, FP64)[4:]:
        found = prepared(lambda: dispatch.matvec_rows(A, x, op), lambda: bound_matvec.matvec_rows(A, x, op, None))
        same_vector(found, REFERENCE.matvec_rows(A, x, op))


@pytest.mark.parametrize("name, x_type, y_type", MERGES)
def test_merges_of_vectors(name, x_type, y_type):
    rng, (x_type, y_type) = np.random.default_rng(4), kinds(x_type, y_type)
    op = getattr(gb.binary, name)[gb.dtypes.unify(x_type, y_type)]
    for x, y in itertools.product(vectors(rng, x_type), vectors(rng, y_type, iso=False)):
        for found, wanted in (
            (bound_merge.union(x, y, op, op.return_type), REFERENCE.union(x, y, op)),
            (bound_merge.intersect(x, y, op), REFERENCE.intersect(x, y, op)),
        ):
            assert found is not NotImplemented
            same_vector(found, wanted)
            form_is_chosen(found)
        if name == "minus":
            found = bound_merge.union(x, y, None, x_type)
            if not x.nvals == y.nvals == SIZE:
                same_vector(found, REFERENCE.union(x, y, None, dtype=x_type))
                found = bound_merge.union(x, y, op, op.return_type, 3, 2)
                same_vector(found, REFERENCE.union(x, y, op, None, 3, 2))


def test_vectors_that_share_a_structure():
    rng, op, FP64 = np.random.default_rng(12), gb.binary.minus["FP64"], gb.dtypes.FP64
    for x in vectors(rng, FP64, iso=False):
        y = x.with_values(FP64, x.values * 3, False)
        for found in (bound_merge.union(x, y, op, FP64), bound_merge.intersect(x, y, op)):
            same_vector(found, REFERENCE.intersect(x, y, op))
            assert found.shared  # the structure is x's


def test_entries_inside_a_mask():
    rng = np.random.default_rng(5)
    for x, mask in itertools.product(vectors(rng, gb.dtypes.FP64), masks(rng, SIZE, gb.dtypes.FP64)[1:]):
        before = x.words.copy() if x.format == "bitmap" and x.words is not None else None
        found = bound_merge.restrict(x, mask)
        same_vector(found, REFERENCE.restrict(x, mask))
        form_is_chosen(found)
        assert before is None or (x.words == before).all()


@pytest.mark.parametrize("name, a_type, b_type", PRODUCTS[:2])
def test_products_of_matrices(name, a_type, b_type):
    rng, (a_type, b_type) = np.random.default_rng(6), kinds(a_type, b_type)
    op = semiring(name, a_type, b_type)
    A, B = matrix(rng, 50, 70, 300, a_type), matrix(rng, 70, 66, 300, b_type)
    pattern = matrix(rng, 50, 66, 400, gb.dtypes.BOOL)
    cases = [
        (None, False),
        (StoredMask(pattern), False),
        (StoredMask(pattern, True), False),
        (StoredMask(pattern), True),
    ]
    for mask, dot in cases:
        right = transpose_of(B) if dot else B
        plan = unrecorded("dot" if dot else "gustavson")
        found = prepared(
            lambda: dispatch.matmul(A, None if dot else B, op, mask, plan, right),
            lambda: bound_matmul.matmul(A, right, op, mask, dot),
        )
        same_matrix(found, REFERENCE.matmul(A, B, op, mask))


@pytest.mark.parametrize("name, x_type, y_type", MERGES[:1])
def test_merges_of_matrices(name, x_type, y_type):
    rng, (x_type, y_type) = np.random.default_rng(7), kinds(x_type, y_type)
    op = getattr(gb.binary, name)[gb.dtypes.unify(x_type, y_type)]
    A = matrix(rng, 40, 30, 300, x_type)
    for B in (matrix(rng, 40, 30, 200, y_type), matrix(rng, 40, 30, 200, y_type, iso=True)):
        for _ in range(2):  # the general form compiles the kernel, the prepared function uses it
            union, meet = dispatch.union(A, B, op), dispatch.intersect(A, B, op)
        same_matrix(union, REFERENCE.union(A, B, op))
        same_matrix(meet, REFERENCE.intersect(A, B, op))
        for mask in (StoredMask(B), StoredMask(B, True)):
            for _ in range(2):
                found = dispatch.restrict(A, mask)
            same_matrix(found, REFERENCE.restrict(A, mask))
    assert any(call is not bound.declines for call in merging._merges.values())


def test_a_matrix_written_inside_a_mask():
    rng = np.random.default_rng(14)
    for dtype in kinds("FP64", "INT8"):
        C, pattern = matrix(rng, 40, 30, 300, dtype), matrix(rng, 40, 30, 400, gb.dtypes.BOOL)
        for iso, complement in itertools.product((False, True), repeat=2):
            mask = StoredMask(pattern, complement)
            whole = matrix(rng, 40, 30, 200, dtype, iso=iso)
            for T in (whole, REFERENCE.restrict(whole, mask)):  # an assignment to a region has entries outside its mask
                found = bound_overwrite.overwrite(C, T, mask)
                same_matrix(found, REFERENCE.union(REFERENCE.restrict(C, ~mask), T, None))


def test_ranges_of_a_matrix():
    rng = np.random.default_rng(15)
    for iso in (False, True):
        A = matrix(rng, 40, 30, 300, gb.dtypes.INT8, iso=iso)
        for I, J in itertools.product((None, range(3, 20), range(40), range(7, 8)), (None, range(2, 9), range(29, 30))):
            if I is not None or J is not None:
                same_matrix(gather.gather_matrix(A, I, J), REFERENCE.gather_matrix(A, I, J))
    assert gather._rectangles


def test_a_call_is_prepared_once_for_its_kinds():
    rng, op = np.random.default_rng(8), gb.semiring.plus_times["FP64"]
    FP64 = gb.dtypes.FP64
    A, x = matrix(rng, 70, SIZE, 500, FP64), vector(rng, SIZE, 30, FP64, "bitmap")
    jit.forget()
    bound_matvec.matvec_rows(A, x, op, None)
    before = dict(bound_matvec._rows)
    again = matrix(rng, 30, SIZE, 200, FP64), vector(rng, SIZE, 50, FP64, "bitmap")
    bound_matvec.matvec_rows(*again, op, None)
    assert dict(bound_matvec._rows) == before
    bound_matvec.matvec_rows(A, vector(rng, SIZE, 30, FP64, "full"), op, None)
    assert len(bound_matvec._rows) == len(before) + 1
    jit.forget()
    assert not bound_matvec._rows


def test_kinds_that_have_no_prepared_function():
    rng, op, FP64 = np.random.default_rng(9), gb.semiring.plus_times["FP64"], gb.dtypes.FP64
    A, x = matrix(rng, 70, SIZE, 500, FP64), vector(rng, SIZE, 30, FP64, "bitmap")
    empty = matrix(rng, 70, SIZE, 0, FP64)
    for B in (to_dcsr(A), empty):
        assert bound.matrix_kind(B) is None
        assert bound_matvec.matvec_rows(B, x, op, None) is NotImplemented
    assert bound_matvec.matvec_rows(A, vector(rng, SIZE, 0, FP64, "sparse"), op, None) is NotImplemented
    large = tuning.BOUND_SIZE + 1
    assert bound.vector_kind(vector(rng, large, 5, FP64, "sparse")) is None
    assert bound.matrix_kind(matrix(rng, 5, large, 50, FP64)) is None


def test_a_kernel_that_is_not_compiled_yet_is_used_when_it_is(monkeypatch):
    rng, op, FP64 = np.random.default_rng(10), gb.semiring.plus_times["FP64"], gb.dtypes.FP64
    A, x = matrix(rng, 70, SIZE, 500, FP64), vector(rng, SIZE, SIZE, FP64, "full")
    wanted = prepared(lambda: dispatch.matvec_rows(A, x, op), lambda: bound_matvec.matvec_rows(A, x, op, None))
    kernel = bound_matvec.matvec.row_product(A, x, op, None).kernel
    with monkeypatch.context() as without:
        without.setattr(kernel, "functions", None)
        assert bound_matvec.matvec_rows(A, x, op, None) is NotImplemented
    same_vector(bound_matvec.matvec_rows(A, x, op, None), wanted)


def test_results_do_not_change_with_the_accumulator_of_the_next_call():
    """The accumulator that one call keeps for the next is not part of its result."""
    rng, op, FP64 = np.random.default_rng(11), gb.semiring.plus_times["FP64"], gb.dtypes.FP64
    AT = transpose_of(matrix(rng, 70, SIZE, 500, FP64))
    x = [vector(rng, SIZE, count, FP64, "sparse") for count in (1, 40, 2, 60)]
    dispatch.matvec_cols(AT, x[0], op)  # compiles the kernel
    first = [bound_matvec.matvec_cols(AT, one, op, None) for one in x]
    kept = [[part.copy() for part in (t.values, t.indices if t.format == "sparse" else t.values)] for t in first]
    for one in reversed(x):
        bound_matvec.matvec_cols(AT, one, op, None)
    for t, (values, other) in zip(first, kept, strict=True):
        np.testing.assert_array_equal(t.values, values)
        np.testing.assert_array_equal(t.indices if t.format == "sparse" else t.values, other)


def test_explain_shows_the_plan_of_a_bound_call():
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3)
    v = gb.Vector.from_coo([0, 1], [1.0, 2.0], size=3)
    w = gb.Vector(float, 3)
    assert select.current().name == "cpu"
    for _ in range(2):
        w << A.mxv(v)
        plan = gb.explain().plans[0]
        assert (plan.method, plan.rule, plan.engine) == ("rows", "matrix_small", "numba")
        assert plan.seconds > 0
