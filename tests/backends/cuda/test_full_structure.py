"""Sorts, merges, bitmaps, dense products, tiles and labels at exactly full sizes (test_full_sizes.py has the table)."""

import numpy as np
import pytest
from backends import agree, samples
from backends.full_operands import around, of_lengths, quick, rng_of, shuffled_lengths

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import binary, dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.communities import row_labels
from grb_tile.backends.cuda.products import tile_pairs
from grb_tile.backends.cuda.structure import merging, sorting
from grb_tile.operators import get_typed_op
from grb_tile.planner import force, record_plan
from grb_tile.storage import convert
from grb_tile.storage.place import host
from grb_tile.storage.store import BitmapVector, StoredMask
from support import seeds

NUMPY, REFERENCE = select.named("numpy"), select.named("reference")


@pytest.mark.parametrize("payload", ["", "order", "uint64", "uint32 float64"])
@pytest.mark.parametrize("count", [*around(64), *around(1024), *around(2048)])
def test_tiles_of_keys(count, payload):
    """Keys around those that are left to the array module (64) and around the tiles of 64 threads (1024)."""
    device, rng = shim().device, rng_of(count, len(payload))
    for bound in (255, 256, 257, 1 << 16, (1 << 16) + 1):
        keys = rng.integers(0, bound, count).astype(np.int32)
        keys[0] = bound - 1
        order = np.argsort(keys, kind="stable")
        values = [rng.integers(0, 1 << 30, count).astype(name) for name in payload.replace("order", "").split()]
        given = None if payload == "order" else [device.array(x) for x in values]
        found, *taken = sorting.sorted_by_key(device, device.array(keys), bound, given)
        assert device.host(found).tolist() == keys[order].tolist(), (bound, seeds.SEED)
        for got, want in zip(taken, [order] if payload == "order" else [x[order] for x in values], strict=True):
            assert device.host(got).tolist() == want.tolist()


@pytest.mark.parametrize("total", quick(2 * 7 * 64 - 1, 896, 897, *around(7 * 64), *around(7 * 64 * 33)))
def test_chunks_of_a_merge(total, monkeypatch):
    """Entries of both operands and row ends that fill 1, 2 and 33 chunks of 64 threads with 7 items."""
    rng = rng_of(total)
    op = binary.plus[dtypes.INT64]
    for rows in (1, 9):
        for share in (0.0, 0.5, 1.0):
            left = total - rows
            a = int(left * share)
            stores = []
            for count in (a, left - a):
                keys = np.sort(rng.choice(rows * 40_000, count, replace=False))
                values = rng.integers(-9, 9, count).astype(np.int64)
                stores.append(convert.compressed(rows, 40_000, dtypes.INT64, keys // 40_000, keys % 40_000, values))
            assert merging.EACH == 7
            monkeypatch.setattr(merging, "MOST_BLOCKS", 2 if share == 0.5 else 1 << 30)  # blocks of several chunks
            agree.assert_same(shim().union(*stores, op, None), NUMPY.union(*stores, op, None))
            agree.assert_same(shim().intersect(*stores, op, None), NUMPY.intersect(*stores, op, None))
            for complement in (False, True):
                allow = StoredMask(stores[1], complement)
                agree.assert_same(shim().restrict(stores[0], allow), NUMPY.restrict(stores[0], allow))


@pytest.mark.parametrize("size", [*around(32), *around(64), *around(128), *around(64 * 64), *around(64 * 4 * 64)])
def test_words_of_vectors(size):
    """Bitmaps whose last word is full, or has one position: set operations, reductions, selections, gathers."""
    rng = rng_of(size)
    plus = get_typed_op("plus", dtypes.INT32, kind="monoid")
    op = binary.plus[dtypes.INT32]
    for share in (0.5, 1.0):
        u, v = (
            convert.to_bitmap(samples.random_vector(rng, (size, np.arange(size)), dtypes.INT32, one))
            for one in (share, 0.5)
        )
        agree.assert_same(shim().union(u, v, op), NUMPY.union(u, v, op))
        agree.assert_same(shim().intersect(u, v, op), NUMPY.intersect(u, v, op))
        agree.assert_same(shim().restrict(u, StoredMask(v, True)), NUMPY.restrict(u, StoredMask(v, True)))
        agree.assert_same(shim().reduce(u, plus), NUMPY.reduce(u, plus))
        at, vector = rng.permutation(size), gb.Vector._from_store(u, dtypes.INT32)
        wanted = vector[at].new()
        with using_shim():
            assert vector[at].new().isequal(wanted)


@pytest.mark.parametrize("width", [*around(4), *around(16), *around(32), *around(64), 128])
@pytest.mark.parametrize("name", ["plus_times", "any_pair", "min_plus"])
def test_dense_products(width, name):
    """Columns around what a load, a group of lanes and a warp take; rows around chunks, quads and parts."""
    op, rng = getattr(gb.semiring, name), rng_of(width, len(name))
    store = of_lengths(rng, shuffled_lengths(rng), 1100, dtypes.FP32)
    store.values = rng.integers(1, 5, store.indices.size).astype(np.float32)
    A = gb.Matrix._from_store(store, dtypes.FP32)
    X = gb.Matrix.from_dense(rng.integers(0, 5, (1100, width)).astype(np.float32))
    wanted = op(A @ X).new()
    with using_shim():
        found = op(A @ X).new()
        assert found.isequal(wanted, check_dtype=True)


@pytest.mark.parametrize("depth", [*around(4), *around(16), *around(32), *around(128), 512])
def test_sampled_dense_products(depth):
    """Inner dimensions around what a load and a group of lanes take; rows of the mask around chunks of 64."""
    rng = rng_of(depth)
    M = gb.Matrix._from_store(of_lengths(rng, shuffled_lengths(rng, 130), 140, dtypes.BOOL), dtypes.BOOL)
    A = gb.Matrix.from_dense(rng.integers(0, 5, (M.nrows, depth)).astype(np.float64))
    B = gb.Matrix.from_dense(rng.integers(0, 5, (140, depth)).astype(np.float64))
    wanted = gb.semiring.plus_times(A @ B.T).new(mask=M.S)
    with using_shim():
        assert gb.semiring.plus_times(A @ B.T).new(mask=M.S).isequal(wanted, check_dtype=True)


@pytest.mark.parametrize("size", [7, 8, 9, 63, 64, 65, *around(8 * 32), *around(8 * 256)])
@pytest.mark.sampled(3)
def test_pairs_of_tiles(size):
    """Rows and columns around the tiles of 8 x 8, windows of 8 tiles and tasks of 256."""
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(size)
    assert tile_pairs.LEFT == 4
    rows = np.repeat(np.arange(size), 3)
    cols = np.minimum(np.abs(rows + rng.integers(-5, 6, rows.size)), size - 1)
    keys = np.unique(rows * size + cols)
    A = convert.compressed(size, size, dtypes.FP64, keys // size, keys % size,
                           samples.values(rng, dtypes.FP64, keys.size))  # fmt: skip
    plan = record_plan("matmul", "gustavson", "csr", "no_mask")
    with force("tile_pairs"):
        found = host(shim().matmul(A, A, semiring, None, plan))
    agree.assert_same(found, NUMPY.matmul(A, A, semiring, None))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labels", [1, 40, 400])
def test_labels_of_rows(labels, weighted):
    """Rows around the bins (8, 32, 40 and 60 entries) and around the parts of a table of 64 slots (40 entries)."""
    rng = rng_of(labels, weighted)
    n = 420
    assert row_labels.FILLED == 5 / 8
    sizes = [length for size in (8, 32, 40, 60, 64, 80, 128, 256, 320) for length in around(size)]
    lengths = rng.permutation(np.resize([*sizes, 0, 1, 2], n))
    A = of_lengths(rng, lengths, n, dtypes.FP64)
    A.values = rng.integers(1, 4, A.indices.size).astype(float)
    full = BitmapVector(n, dtypes.INT64, None, rng.integers(0, labels, n), n)
    got, want = shim().best_labels(A, full, weighted, None), REFERENCE.best_labels(A, full, weighted, None)
    got, want = (*got, shim().least_absent(A, full, None)), (*want, REFERENCE.least_absent(A, full, None))
    for mine, wanted in zip(got, want, strict=True):
        (i, x), (j, y) = shim().tuples_vector(mine), REFERENCE.tuples_vector(wanted)
        assert i.tolist() == j.tolist() and x.tolist() == y.tolist()


@pytest.mark.parametrize("count", [*around(32), *around(64), *around(256), *around(1024), *around(4096)])
@pytest.mark.sampled(3)
def test_entries_of_a_matrix(count):
    """Transposes, builds and Kronecker products of as many entries as warps, blocks and chunks take."""
    rng = rng_of(count, 3)
    rows, cols = rng.integers(0, 90, count), rng.integers(0, 70, count)
    values = rng.integers(0, 9, count)
    plus = binary.plus[dtypes.INT64]
    A = NUMPY.build_matrix(90, 70, rows, cols, values, plus, dtypes.INT64)
    agree.assert_same(shim().build_matrix(90, 70, rows, cols, values, plus, dtypes.INT64), A)
    agree.assert_same(shim().transpose(A), NUMPY.transpose(A))
    few = NUMPY.build_matrix(2, 2, np.array([0, 1]), np.array([1, 0]), np.array([2, 3]), plus, dtypes.INT64)
    times = binary.times[dtypes.INT64]
    agree.assert_same(shim().kronecker(A, few, times), NUMPY.kronecker(A, few, times))
