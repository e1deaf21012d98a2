"""Compiled transposes, unions and intersections against the NumPy backend."""
import numpy as np
import pytest
from support.stores import matrix, same_matrix, same_vector, vector

import grb_tile as gb
from grb_tile.backends.cpu import accelerate, accelerate_entries, jit, numpy_elementwise
from grb_tile.backends.cpu.backend import NumpyBackend
from grb_tile.storage.convert import to_csr, transpose_of


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setattr(accelerate_entries, "WORTH_IT", 0)
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


@pytest.mark.parametrize("iso, wide, threads", [(False, False, 1), (True, False, 1), (False, True, 1), (False, False, 3)])
def test_transpose(monkeypatch, iso, wide, threads):
    monkeypatch.setattr(jit, "_threads", threads)
    monkeypatch.setattr(accelerate_entries, "PARALLEL_WORK", 1)
    rng = np.random.default_rng(1)
    for nrows, ncols, count in ((70, 50, 600), (1, 300, 200), (300, 1, 200), (64, 64, 1)):
        A = matrix(rng, nrows, ncols, count, gb.dtypes.FP32, iso=iso, wide=wide)
        same_matrix(to_csr(accelerate.transpose(A)), to_csr(transpose_of(A)))


@pytest.mark.parametrize("form", ["sparse", "bitmap", "full"])
@pytest.mark.parametrize("name, dtype", [("min", "FP32"), ("plus", "INT64"), ("lt", "FP64")])
def test_unions_and_intersections(monkeypatch, form, name, dtype):
    rng = np.random.default_rng(2)
    op = getattr(gb.binary, name)[dtype]
    kind = gb.dtypes.lookup_dtype(dtype)
    for isos in ((False, False), (True, False)):
        x = vector(rng, 200, 90, kind, form, iso=isos[0])
        for other in {form, "sparse" if form == "sparse" else "bitmap"}:
            y = vector(rng, 200, 70, kind, other, iso=isos[1])
            same_vector(accelerate.intersect(x, y, op), numpy_elementwise.intersect(x, y, op, None))
            if op.return_type is op.type:
                same_vector(accelerate.union(x, y, op), numpy_elementwise.union(x, y, op, None))
                same_vector(accelerate.union(y, x, op), numpy_elementwise.union(y, x, op, None))
            else:
                assert accelerate.union(x, y, op) is NotImplemented


def test_disjoint_and_equal_lists():
    rng = np.random.default_rng(3)
    op = gb.binary.plus["INT64"]
    x = vector(rng, 300, 40, gb.dtypes.INT64, "sparse")
    y = vector(rng, 300, 40, gb.dtypes.INT64, "sparse")
    y.indices = np.setdiff1d(np.arange(300, dtype=np.int32), x.indices)[:40].astype(np.int32)
    assert accelerate.intersect(x, y, op).nvals == 0
    assert accelerate.union(x, y, op).nvals == 80
    same_vector(accelerate.union(x, x, op), accelerate.intersect(x, x, op))


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
        for who in (host, accelerate if count > 64 else host):
            words, dense = c.words.copy(), c.values.copy()
            fresh = who.place(words, dense, u)
            placed = words.tolist()
            results.append((fresh, placed, dense.tolist(), who.unplace(words, u.indices), words.tolist()))
        assert results[0] == results[1]
        assert results[0][3] == count
    assert accelerate.place(None, c.values, u) is NotImplemented  # a full vector has no bits
