"""Operands whose arrays begin one element behind an aligned address, as slices of a caller's arrays do.

The CPU emulation refuses loads of 8 or 16 bytes from other addresses than multiples of that, as a GPU does.
"""

import numpy as np
import pytest
from backends import agree, samples
from backends.full_operands import of_lengths, rng_of, shuffled_lengths

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import dtypes
from grb_tile.algorithms import Graph
from grb_tile.backends import select
from grb_tile.operators import get_typed_op
from grb_tile.planner import force, record_plan, tuning, unrecorded
from grb_tile.storage import convert
from grb_tile.storage.place import host
from grb_tile.storage.store import StoredMask

NUMPY = select.named("numpy")


def shifted(store):
    """The store on the device, each of its arrays one element behind the start of an allocation."""
    device = shim().device

    def moved(array):
        room = device.empty(array.shape[0] + 1, array.dtype)
        room[1:] = array
        return room[1:]

    return device.to_device(store).moved(moved)


def matrix(rng, dtype, most=130, ncols=140):
    return of_lengths(rng, np.resize(shuffled_lengths(rng, most), ncols), ncols, dtype)


@pytest.mark.parametrize("type_", ["BOOL", *(pytest.param(name, marks=pytest.mark.slow) for name in (
    "INT8", "INT16", "FP32", "FP64", "FC64"))])  # fmt: skip
def test_products_with_vectors(type_):
    """By rows, columns, slices, tiles and blocks."""
    name = "lxor_land" if type_ == "BOOL" else "plus_times"  # values in bits, eight to a load
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(len(type_))
    A = matrix(rng, semiring.type)
    for share in (0.1, 1.0):
        x = samples.random_vector(rng, (140, np.arange(140)), semiring.type2, share)
        want = NUMPY.matvec_rows(A, x, semiring, None)
        there, column, u = shifted(A), shifted(convert.transpose_of(A)), shifted(x)
        for _ in range(tuning.BUILD_AFTER + 2):
            agree.assert_same(shim().matvec_rows(there, u, semiring, None), want)
            agree.assert_same(shim().matvec_cols(column, u, semiring, None), want)
        for form in ("bitblock", "tiled"):
            agree.assert_same(shim().matvec_rows(there, u, semiring, None, unrecorded(form)), want)


@pytest.mark.parametrize("type_", ["INT16", "FP32", "FP64"])
@pytest.mark.slow
def test_products_of_matrices(type_):
    semiring = get_typed_op("plus_times", getattr(dtypes, type_), kind="semiring")
    rng = rng_of(2, len(type_))
    A, B, M = matrix(rng, semiring.type), matrix(rng, semiring.type2, 30), matrix(rng, dtypes.BOOL, 30)
    want = NUMPY.matmul(A, B, semiring, None)
    for kernel in ("two_phases", "esc", "tile_pairs"):
        with force(kernel):
            plan = record_plan("matmul", "gustavson", "csr", "no_mask")
            agree.assert_same(host(shim().matmul(shifted(A), shifted(B), semiring, None, plan)), want)
    allow = StoredMask(M)
    want = NUMPY.matmul(A, None, semiring, allow, unrecorded("dot"), BT=B)
    got = shim().matmul(shifted(A), None, semiring, StoredMask(shifted(M)), unrecorded("dot"), BT=shifted(B))
    agree.assert_same(host(got), want)


@pytest.mark.parametrize("type_", ["INT8", "FP32", "FP64"])
@pytest.mark.parametrize("width", [4, 16, 64])
def test_dense_products(type_, width):
    dtype = getattr(dtypes, type_)
    rng = rng_of(3, width)
    A = matrix(rng, dtype)
    A.values = rng.integers(1, 4, A.indices.size).astype(dtype.np_type)
    X = gb.Matrix.from_dense(rng.integers(0, 3, (140, width)).astype(dtype.np_type))
    M = gb.Matrix._from_store(matrix(rng, dtypes.BOOL, 30), dtypes.BOOL)
    sparse = gb.Matrix._from_store(A, dtype)
    wanted = gb.semiring.plus_times(sparse @ X).new()
    sampled = gb.semiring.plus_times(X @ X.T).new(mask=M.S)
    with using_shim():
        there, dense, mask = (gb.Matrix._from_store(shifted(x._store), x.dtype) for x in (sparse, X, M))
        assert gb.semiring.plus_times(there @ dense).new().isequal(wanted)
        assert gb.semiring.plus_times(dense @ dense.T).new(mask=mask.S).isequal(sampled)


def test_operands_that_are_rounded():
    """The product is exact there: tensor cores take aligned operands."""
    rng = rng_of(4)
    X = gb.Matrix.from_dense(rng.integers(-3, 4, (140, 16)).astype(np.float32))
    A = gb.Matrix._from_store(matrix(rng, dtypes.FP32), dtypes.FP32)
    A = A.apply("one").new()
    wanted = A.mxm(X, "plus_times").new()
    with using_shim(), gb.config.set(matmul_precision="fp16"):
        there, dense = (gb.Matrix._from_store(shifted(x._store), x.dtype) for x in (A, X))
        for _ in range(tuning.BUILD_AFTER + 1):
            assert there.mxm(dense, "plus_times").new().isequal(wanted)


@pytest.mark.slow
def test_traversals():
    rng = rng_of(5)
    rows, cols = rng.integers(0, 300, 2000), rng.integers(0, 300, 2000)
    weights = rng.integers(1, 9, 2000)
    A = gb.Matrix.from_coo(rows, cols, weights, nrows=300, ncols=300, dup_op="min")
    wanted = [gb.algorithms.bfs(A, 3).levels, gb.algorithms.sssp(A, 3).distances, gb.algorithms.core_number(A).values]
    with using_shim():
        there = Graph(gb.Matrix._from_store(shifted(A._store), A.dtype))
        found = [gb.algorithms.bfs(there, 3).levels, gb.algorithms.sssp(there, 3).distances,
                 gb.algorithms.core_number(there).values]  # fmt: skip
        assert all(mine.isequal(one) for mine, one in zip(found, wanted, strict=True))
