"""Every primitive on the device against the reference backend: the cases of tests/backends, drawn from all operators
and types, with the backend "cuda" in place of the CPU's.

And what only a device shows: operands of millions of entries against NumPy, the error of a broken call, memory.
"""

import numpy as np
import pytest
from backends import agree
from backends.samples import random_matrix, random_vector
from backends.test_agree_with_reference import (  # noqa: F401  collected from here, with the fixture below
    binary_op,
    mask_for,
    operand_type,
    test_apply,
    test_build_and_tuples,
    test_build_does_not_hold_on_to_what_it_was_given,
    test_build_folds_left_to_right,
    test_gather_and_expand,
    test_restrict_select_reduce_cast,
    test_union_and_intersect,
)

from grb_tile import binary, dtypes, monoid, select as selectors, unary
from grb_tile.backends import select
from grb_tile.exceptions import OutOfMemory
from grb_tile.storage import convert
from grb_tile.storage.place import host
from grb_tile.storage.store import BitmapVector, SparseVector, StoredMask

MILLION = 1 << 20


@pytest.fixture
def reference():
    select.named("cuda")
    return select.named("reference")  # asked for after cuda: it takes stores from the device


@pytest.fixture
def backend(reference, monkeypatch):
    monkeypatch.setattr("backends.test_agree_with_reference.REFERENCE", reference)
    return select.named("cuda")


@pytest.fixture
def cpu():
    select.named("cuda")
    return select.named("numpy")


def same(got, want):
    """Equal stores, compared as arrays (agree.assert_same compares entries one by one)."""
    got = host(got)
    agree.check_store(got)
    assert got.dtype is want.dtype and got.shape == want.shape and got.nvals == want.nvals
    tuples = "tuples_matrix" if got.format[-1] == "r" else "tuples_vector"
    for a, b in zip(
        getattr(select.named("numpy"), tuples)(got), getattr(select.named("numpy"), tuples)(want), strict=True
    ):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def vector(rng, size, share, dtype=dtypes.INT64):
    indices = np.flatnonzero(rng.random(size) < share)
    return convert.choose_format(
        SparseVector(size, dtype, indices.astype(np.int32), rng.integers(0, 9, indices.shape[0]).astype(dtype.np_type))
    )


def matrix(rng, nrows, ncols, count, dtype=dtypes.INT64):
    """Rows of very different lengths: a few hold most of the entries."""
    rows = (nrows * rng.random(count) ** 8).astype(np.int64)
    keys = np.unique(rows * ncols + rng.integers(0, ncols, count))
    values = rng.integers(0, 9, keys.shape[0]).astype(dtype.np_type)
    return convert.compressed(nrows, ncols, dtype, keys // ncols, keys % ncols, values)


@pytest.mark.parametrize("seed", range(30))
def test_kronecker(backend, reference, seed):
    rng = np.random.default_rng([8, seed])
    dims = [(int(size), np.arange(size)) for size in rng.integers(1, 7, 4)]
    op = binary_op(rng)
    A = random_matrix(rng, dims[0], dims[1], operand_type(rng, op.type))
    B = random_matrix(rng, dims[2], dims[3], operand_type(rng, op.type2))
    nrows, ncols = A.nrows * B.nrows, A.ncols * B.ncols
    allow = mask_for(rng, lambda: random_matrix(rng, (nrows, np.arange(nrows)), (ncols, np.arange(ncols)), dtypes.BOOL))
    agree.assert_same(backend.kronecker(A, B, op, allow), reference.kronecker(A, B, op, allow))


@pytest.mark.parametrize("seed", range(20))
def test_broadcast(backend, reference, seed):
    rng = np.random.default_rng([9, seed])
    dims = [(int(size), np.arange(size)) for size in rng.integers(1, 200, 2)]
    A = random_matrix(rng, *dims, dtypes.INT64)
    for axis in (0, 1):
        u = random_vector(rng, dims[axis], dtypes.FP64)
        agree.assert_same(backend.broadcast(u, A, axis), reference.broadcast(u, A, axis))


@pytest.mark.parametrize("places", [range(300), range(0, 300, 2), range(7)], ids=str)
def test_shared_arrays_are_marked(backend, places):
    """Whoever updates a store in place must know that another holds its arrays."""
    places = np.array(places)
    second = binary.second["INT64"]
    fewer = StoredMask(backend.build_vector(300, places[1:], np.array([True]), None, dtypes.BOOL))
    for call in (
        lambda u: backend.restrict(u, fewer), lambda u: backend.restrict(u, StoredMask(u)),
        lambda u: backend.apply(u, unary.ainv["INT64"]), lambda u: backend.apply(u, unary.identity["INT64"]),
        lambda u: backend.union(u, u, second), lambda u: backend.intersect(u, u, second),
        lambda u: backend.select(u, selectors.valuegt["INT64"], np.int64(9)), lambda u: backend.cast(u, dtypes.FP64),
        lambda u: backend.convert(u, "sparse"), lambda u: backend.convert(u, "bitmap"),
    ):  # fmt: skip
        u = backend.store_to_device(backend.build_vector(300, places, places, None, dtypes.INT64))
        result = call(u)
        held = [
            {id(getattr(x, name, None)) for name in ("words", "indices", "values")} - {id(None)} for x in (u, result)
        ]
        assert result is u or not held[0] & held[1] or u.shared and result.shared


@pytest.mark.parametrize("shares", [(0.7, 0.6), (0.3, 0.001), (0.001, 0.002), (1.0, 0.5)])
def test_large_vectors(backend, cpu, shares):
    rng = np.random.default_rng(1)
    u, v, m = (vector(rng, 4 * MILLION + 5, share) for share in (*shares, 0.4))
    for allow in (None, StoredMask(m), StoredMask(m, True)):
        same(backend.union(u, v, binary.plus["INT64"], allow), cpu.union(u, v, binary.plus["INT64"], allow))
        same(backend.intersect(u, v, binary.minus["INT64"], allow), cpu.intersect(u, v, binary.minus["INT64"], allow))
        same(
            backend.select(u, selectors.valuegt["INT64"], np.int64(4), allow),
            cpu.select(u, selectors.valuegt["INT64"], np.int64(4), allow),
        )
        same(backend.apply(u, unary.ainv["INT64"], allow), cpu.apply(u, unary.ainv["INT64"], allow))
    for name in ("plus", "max", "bor"):
        op = getattr(monoid, name)["UINT64" if name == "bor" else "INT64"]
        assert backend.reduce(u, op) == cpu.reduce(u, op)


@pytest.mark.parametrize("counts", [(3 * MILLION, 2 * MILLION), (4 * MILLION, 500), (MILLION, 0)])
def test_large_matrices(backend, cpu, counts):
    rng = np.random.default_rng(2)
    shape = 200_000, 300_000
    A, B, M = (matrix(rng, *shape, count) for count in (*counts, MILLION))
    for allow in (None, StoredMask(M), StoredMask(M, True)):
        same(backend.union(A, B, binary.plus["INT64"], allow), cpu.union(A, B, binary.plus["INT64"], allow))
        same(backend.intersect(A, B, binary.minus["INT64"], allow), cpu.intersect(A, B, binary.minus["INT64"], allow))
        same(
            backend.select(A, selectors.tril["INT64"], np.int64(0), allow),
            cpu.select(A, selectors.tril["INT64"], np.int64(0), allow),
        )
    same(backend.restrict(A, StoredMask(A)), A)
    assert backend.reduce(A, monoid.plus["INT64"]) == cpu.reduce(A, monoid.plus["INT64"])


def test_large_float_sums_keep_their_digits(backend):
    rng = np.random.default_rng(3)
    values = rng.random(8 * MILLION).astype(np.float32)
    u = BitmapVector(values.shape[0], dtypes.FP32, None, values, values.shape[0])
    exact = float(values.sum(dtype=np.float64))
    assert abs(float(backend.reduce(u, monoid.plus["FP32"])) - exact) < 1e-5 * exact


def test_what_does_not_fit_is_refused_by_name(backend):
    """Nothing is left behind: the operands can be used afterwards."""
    rng = np.random.default_rng(4)
    A = matrix(rng, 3 * MILLION, 3 * MILLION, 2 * MILLION)
    with pytest.raises(OutOfMemory, match="kronecker"):
        backend.kronecker(A, A, binary.times["INT64"])
    assert backend.reduce(A, monoid.plus["INT64"]) == A.values.sum()
