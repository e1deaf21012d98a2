"""Compiled transposes, unions, intersections, restrictions and ranges of columns against the NumPy backend."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.backend import CpuBackend, NumpyBackend
from grb_tile.backends.cpu.compiled import (
    dispatch as accelerate,
    transpose_and_merge,
)
from grb_tile.backends.cpu.jit import cache as jit, threads as jit_threads
from grb_tile.backends.cpu.vectorised import (
    elementwise as numpy_elementwise,
    entries as numpy_entries,
    mapping as numpy_mapping,
)
from grb_tile.backends.reference import ReferenceBackend
from grb_tile.planner import tuning
from grb_tile.storage.convert import to_csr, to_dcsr, transpose_of
from grb_tile.storage.store import Compressed, StoredMask, full_values
from support.stores import matrix, same_matrix, same_vector, vector


@pytest.fixture(autouse=True)
def compiled():
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


@pytest.mark.parametrize(
    "iso, wide, threads", [(False, False, 1), (True, False, 1), (False, True, 1), (False, False, 3)]
)
def test_transpose(monkeypatch, iso, wide, threads):
    monkeypatch.setattr(jit_threads, "_threads", threads)
    monkeypatch.setattr(tuning, "PARALLEL_POSITIONS", 1)
    rng = np.random.default_rng(1)
    for nrows, ncols, count in ((70, 50, 600), (1, 300, 200), (300, 1, 200), (64, 64, 1)):
        A = matrix(rng, nrows, ncols, count, gb.dtypes.FP32, iso=iso, wide=wide)
        same_matrix(to_csr(transpose_and_merge.transpose(A)), to_csr(transpose_of(A)))


@pytest.mark.parametrize("kind", [np.dtype((np.int16, 3)), np.dtype([("x", np.int8), ("y", np.float32)])])
def test_values_of_several_numbers_are_transposed_by_numpy(kind):
    dtype = gb.dtypes.register_anonymous(kind)
    values = np.zeros(70, kind) if kind.names else np.arange(210, dtype=np.int16).reshape(70, 3)
    A = gb.Matrix.from_coo(np.arange(70), np.arange(70)[::-1], values, dtype, nrows=70, ncols=70)
    assert transpose_and_merge.transpose_kernel(A._store) is None
    assert A.T.new().isequal(gb.Matrix.from_coo(np.arange(70)[::-1], np.arange(70), values, dtype, nrows=70, ncols=70))


@pytest.mark.parametrize("form", ["sparse", "bitmap", "full"])
@pytest.mark.parametrize("name, dtype", [("min", "FP32"), ("plus", "INT64"), ("lt", "FP64")])
def test_unions_and_intersections(monkeypatch, form, name, dtype):
    monkeypatch.setattr(tuning, "PARALLEL_POSITIONS", 1)
    rng = np.random.default_rng(2)
    op = getattr(gb.binary, name)[dtype]
    kind = gb.dtypes.lookup_dtype(dtype)
    for isos in ((False, False), (True, False)):
        x = vector(rng, 200, 90, kind, form, iso=isos[0])
        for other in {form, "sparse" if form == "sparse" else "bitmap"}:
            y = vector(rng, 200, 70, kind, other, iso=isos[1])
            same_vector(accelerate.intersect(x, y, op), numpy_elementwise.intersect(x, y, op, None))
            same_vector(accelerate.union(x, y, op), numpy_elementwise.union(x, y, op, None))
            same_vector(accelerate.union(y, x, op), numpy_elementwise.union(y, x, op, None))


def test_disjoint_and_equal_lists():
    rng = np.random.default_rng(3)
    op = gb.binary.plus["INT64"]
    x = vector(rng, 300, 40, gb.dtypes.INT64, "sparse")
    y = vector(rng, 300, 40, gb.dtypes.INT64, "sparse")
    y.indices = np.setdiff1d(np.arange(300, dtype=np.int32), x.indices)[:40].astype(np.int32)
    assert accelerate.intersect(x, y, op).nvals == 0
    assert accelerate.union(x, y, op).nvals == 80
    assert accelerate.union(x, x, op) is NotImplemented and accelerate.intersect(x, x, op) is NotImplemented


def pairs(rng, kind, isos, wide=False):
    """Matrices of every proportion of rows: equal, one far shorter, empty rows, one that shares no place with the
    other."""
    for nrows, ncols, many, few in (
        (50, 60, 900, 700),
        (20, 500, 4000, 60),
        (1, 300, 200, 100),
        (300, 3, 400, 200),
        (40, 40, 30, 30),
    ):
        yield (
            matrix(rng, nrows, ncols, many, kind, iso=isos[0], wide=wide),
            matrix(rng, nrows, ncols, few, kind, iso=isos[1], wide=wide),
        )
    A = matrix(rng, 30, 400, 800, kind, iso=isos[0], wide=wide)
    odd = matrix(rng, 30, 400, 800, kind, iso=isos[1], wide=wide)
    yield A, numpy_elementwise.restrict(odd, StoredMask(A, True))


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(jit_threads, "_threads", request.param)
    monkeypatch.setattr(tuning, "PARALLEL_ROWS", 1)
    monkeypatch.setattr(tuning, "COMPILED_ENTRIES", 0)


@pytest.mark.parametrize(
    ("name", "dtype"), [("min", "FP32"), ("minus", "INT64"), ("lt", "FP64"), ("first", "INT8"), ("pair", "FP64")]
)
def test_matrices_are_merged(threads, name, dtype):
    op = getattr(gb.binary, name)[dtype]
    kind = gb.dtypes.lookup_dtype(dtype)
    rng = np.random.default_rng(4)
    for isos in ((False, False), (True, False), (False, True), (True, True)):
        for A, B in pairs(rng, kind, isos, wide=name == "minus"):
            for x, y in ((A, B), (B, A)):
                same_matrix(accelerate.intersect(x, y, op), to_csr(numpy_elementwise.intersect(x, y, op, None)))
                same_matrix(accelerate.union(x, y, op), to_csr(numpy_elementwise.union(x, y, op, None)))
            same_matrix(accelerate.union(A, B, None), to_csr(numpy_elementwise.union(A, B, None, None)))


@pytest.mark.parametrize("iso", [False, True])
@pytest.mark.parametrize("complement", [False, True])
def test_matrices_are_restricted(threads, iso, complement):
    rng = np.random.default_rng(6)
    op = gb.binary.plus["FC64"]
    for A, mask in pairs(rng, gb.dtypes.FC64, (iso, True)):
        for x, pattern in ((A, mask), (mask, A)):
            allow = StoredMask(pattern, complement)
            same_matrix(accelerate.restrict(x, allow), to_csr(numpy_elementwise.restrict(x, allow)))
        allow = StoredMask(matrix(rng, *A.shape, 200, gb.dtypes.BOOL), complement)
        for function in ("union", "intersect"):
            found = to_csr(getattr(accelerate, function)(A, mask, op, allow))
            same_matrix(found, to_csr(getattr(numpy_elementwise, function)(A, mask, op, allow)))


@pytest.mark.parametrize("name", ["tril", "triu", "diag", "colle", "colgt"])
def test_ranges_of_columns(threads, name):
    rng = np.random.default_rng(7)
    op = getattr(gb.select, name)["FP32"]
    for iso in (False, True):
        for A, _ in pairs(rng, gb.dtypes.FP32, (iso, iso)):
            for k in (-500, -3, 0, 2, 39, 500):
                same_matrix(accelerate.select(A, op, np.int64(k)), to_csr(numpy_mapping.select(A, op, np.int64(k))))


def test_matrices_that_numpy_keeps(threads):
    """A mask of the same structure, and positional operators."""
    rng = np.random.default_rng(8)
    A, B = matrix(rng, 50, 50, 300, gb.dtypes.INT64), matrix(rng, 50, 50, 300, gb.dtypes.INT64)
    assert accelerate.restrict(A, StoredMask(A)) is NotImplemented
    assert accelerate.union(A, B, gb.binary.ss.firsti["INT64"]) is NotImplemented
    assert accelerate.intersect(A, B, gb.binary.ss.firsti["INT64"]) is NotImplemented


@pytest.mark.parametrize("iso", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_entries_are_put_into_a_bitmap_and_taken_out(iso, wide):
    rng = np.random.default_rng(11)
    size = 1000
    host = NumpyBackend()
    for count in (3, 300, size):
        u = vector(rng, size, count, gb.dtypes.INT32, "sparse", iso=iso)
        u.indices = u.indices.astype(np.int64 if wide else np.int32)
        c = vector(rng, size, 400, gb.dtypes.INT32, "bitmap")
        results = []
        for who in (host, transpose_and_merge if count > 64 else host):
            words, dense = c.words.copy(), c.values.copy()
            fresh = who.put_entries(words, dense, u)
            placed = words.tolist()
            results.append((fresh, placed, dense.tolist(), who.clear_bits(words, u.indices), words.tolist()))
        assert results[0] == results[1]
        assert results[0][3] == count
    assert transpose_and_merge.put_entries(None, c.values, u) is NotImplemented  # a full vector has no bits


@pytest.mark.parametrize("threads", [1, 3])
def test_row_numbers(monkeypatch, threads):
    monkeypatch.setattr(tuning, "PARALLEL_POSITIONS", 1)
    monkeypatch.setattr(tuning, "PARALLEL_ROWS", 1)
    monkeypatch.setattr(jit_threads, "_threads", threads)
    rng = np.random.default_rng(11)
    A = matrix(rng, 90, 40, 300, gb.dtypes.FP64)
    small = to_dcsr(matrix(rng, 300, 40, 200, gb.dtypes.FP64, iso=True))
    names = np.sort(rng.choice(1 << 40, small.rows.shape[0], replace=False))
    B = Compressed(1 << 40, 40, small.dtype, small.indptr, small.indices, small.values, True, names)
    op = gb.indexunary.rowindex["INT64"]
    for x in (A, to_dcsr(A), B, matrix(rng, 5, 5, 0, gb.dtypes.FP64)):
        wanted = ReferenceBackend().tuples_matrix(x)
        if x.nvals:
            found = transpose_and_merge.row_ids(x)
            assert found.dtype == np.int64
            np.testing.assert_array_equal(found, wanted[0])
        for mine, theirs in zip(CpuBackend().tuples_matrix(x), wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        applied = CpuBackend().apply(x, op, thunk=np.int64(2))
        np.testing.assert_array_equal(full_values(applied), wanted[0] + 2)


def test_keys_of_rows_and_columns_beyond_64_bits():
    """Rows and columns of 2^59 x 2^59 are renumbered: as many distinct keys as there are positions, in their order."""
    rng = np.random.default_rng(77)
    far = 1 << 59
    rows, cols = rng.integers(0, far, (2, 60))
    A, B = (
        gb.Matrix.from_coo(rows[part], cols[part], np.arange(60)[part], nrows=far, ncols=far)._store
        for part in (slice(0, 40), slice(20, 60))
    )
    ours, theirs = numpy_entries.joint_keys(A, B)
    assert (ours[1:] > ours[:-1]).all() and (theirs[1:] > theirs[:-1]).all()
    assert ours.min() >= 0 and theirs.min() >= 0
    assert np.intersect1d(ours, theirs).size == 20
    with gb.plan(force="numpy"):
        C = gb.Matrix._from_store(A).ewise_add(gb.Matrix._from_store(B), gb.binary.plus).new()
    want = {position: value * (1 + (20 <= value < 40)) for value, position in enumerate(zip(rows, cols, strict=True))}
    assert dict(zip(zip(*C.to_coo()[:2], strict=True), C.to_coo()[2], strict=True)) == want
