"""Large arrays of the host go to the device that computes as they are, and come from there, each byte once."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.arrays import Traffic
from cuda_emulation.backend import EMULATED, shim, using_shim
from grb_tile import dtypes
from grb_tile.backends.cuda import backend as cuda_backend
from grb_tile.exceptions import IndexOutOfBound, InvalidValue, OutOfMemory
from grb_tile.storage import place
from grb_tile.storage.place import is_host
from support.seeds import generator

SMALL = 64  # bytes that are many here

if not EMULATED:
    pytest.skip("bytes are counted by the CPU emulation", allow_module_level=True)


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """A few numbers are a large array."""
    monkeypatch.setattr(cuda_backend, "RECEIVED_FROM", SMALL)
    monkeypatch.setattr(place, "COPIED_ALONE_FROM", SMALL)
    with using_shim():
        yield


def numbers(count, dtype="float64"):
    return (generator("large", count, dtype).random(count) * 100).astype(dtype)


class Counted:
    """Bytes that cross within the block."""

    def __enter__(self):
        self.before = Traffic.to_device, Traffic.to_host
        return self

    def __exit__(self, *_):
        self.to_device, self.to_host = (
            now - before for now, before in zip((Traffic.to_device, Traffic.to_host), self.before, strict=True)
        )


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "complex128"])
def test_a_dense_vector(dtype):
    x = numbers(100, dtype)
    with Counted() as copied:
        v = gb.Vector.from_dense(x)
    assert copied.to_device == x.nbytes and not is_host(v._store) and v.dtype == dtype
    expected = x.copy()
    x[:] = 0  # the caller's own
    with Counted() as copied:
        back = v.to_dense()
    assert copied.to_host == x.nbytes and not copied.to_device
    assert back.dtype == expected.dtype and np.array_equal(back, expected)
    assert back.flags.owndata or back.base.flags.owndata
    back[:] = 0
    assert np.array_equal(v.to_dense(), expected) and np.array_equal(v.to_coo()[1], expected)


def test_what_is_small_stays_with_the_host_and_its_copy_too():
    x = numbers(7)
    v = gb.Vector.from_dense(x)
    assert is_host(v._store)
    w = (v + v).new()
    assert not is_host(w._store) and np.array_equal(w.to_dense(), 2 * x)
    with Counted() as copied:
        w.to_dense()[:] = 0
        assert np.array_equal(w.to_dense(), 2 * x)
    assert not copied.to_host


@pytest.mark.parametrize("view", [lambda x: x[::-1], lambda x: x[::2], lambda x: x[5:], lambda x: x])
@pytest.mark.parametrize(
    ("have", "want"), [("float64", "FP32"), ("complex128", "FP64"), ("float64", "BOOL"), ("int64", "UINT8")]
)
def test_types_are_cast_on_the_device(view, have, want):
    x = view(numbers(64, have) * 100)
    expected = dtypes.cast(x, dtypes.lookup_dtype(want))
    with Counted() as copied:
        v = gb.Vector.from_dense(x, dtype=want)
    assert copied.to_device == x.nbytes and np.array_equal(v.to_dense(), expected)
    plain = gb.Vector.from_dense(x)
    with Counted() as copied:
        back = plain.to_dense(dtype=want)
        values = plain.to_coo(want, indices=False)[1]
    assert copied.to_host == 2 * expected.nbytes and back.dtype == values.dtype == expected.dtype
    assert np.array_equal(back, expected) and np.array_equal(values, expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [None, "FP32"])
def test_a_dense_matrix(order, dtype):
    x = np.asarray(numbers(96).reshape(12, 8), order=order)
    with Counted() as copied:
        A = gb.Matrix.from_dense(x, dtype=dtype)
    expected = x if dtype is None else x.astype("float32")
    assert copied.to_device == x.nbytes and A.ss.format == "fullr" and not is_host(A._store)
    with Counted() as copied:
        back, turned = A.to_dense(), A.T.to_dense()
    assert copied.to_host == 2 * expected.nbytes and back.flags.c_contiguous and turned.flags.c_contiguous
    assert np.array_equal(back, expected) and np.array_equal(turned, expected.T)
    columns = gb.Matrix.ss.import_fullc(values=np.asfortranarray(expected))
    assert columns.ss.format == "fullc"
    with Counted() as copied:
        back, turned, exported = columns.to_dense(), columns.T.to_dense(), columns.ss.export("fullc")["values"]
    assert copied.to_host == 3 * expected.nbytes and exported.flags.f_contiguous
    assert np.array_equal(back, expected) and np.array_equal(turned, expected.T) and np.array_equal(exported, expected)


@pytest.mark.parametrize("format", ["sparse", "bitmap"])
@pytest.mark.parametrize(
    ("fill", "dtype", "result"), [(0, None, "float64"), (-1.5, "FP32", "float32"), (True, "INT64", "int64")]
)
def test_gaps_of_a_vector_are_filled_on_the_device(format, fill, dtype, result):
    at, x = np.arange(0, 300, 3 if format == "bitmap" else 25), numbers(300)
    expected = np.full(300, fill, result)
    expected[at] = x[at].astype(result)
    v = gb.Vector.from_coo(at, x[at], size=300)
    v = gb.Vector._from_store(shim().convert(v._store, format))
    with Counted() as copied:
        back = v.to_dense(fill, dtype)
    assert copied.to_host == expected.nbytes and back.dtype == result and np.array_equal(back, expected)


@pytest.mark.parametrize("format", ["csr", "hypercsr", "bitmapr", "bitmapc"])
@pytest.mark.parametrize("iso", [False, True])
def test_gaps_of_a_matrix_are_filled_on_the_device(format, iso):
    rng = generator("gaps", format)
    i, j = np.nonzero(rng.random((20, 30)) < 0.4)
    x = np.full(i.size, 3.5) if iso else numbers(i.size)
    A = gb.Matrix.from_coo(i, j, 3.5 if iso else x, nrows=20, ncols=30)
    A = gb.Matrix._from_store(shim().convert(A._store, format.replace("hypercsr", "dcsr")))
    expected = np.full((20, 30), -1.0)
    expected[i, j] = x
    with Counted() as copied:
        back, turned = A.to_dense(-1), A.T.to_dense(-1)
    assert copied.to_host <= 2 * expected.nbytes + 64
    assert np.array_equal(back, expected) and np.array_equal(turned, expected.T) and turned.flags.c_contiguous


def test_a_device_without_room_leaves_arrays_to_the_host(monkeypatch):
    def full(*_):
        raise OutOfMemory("planted")

    x = numbers(40)
    with monkeypatch.context() as patch:
        patch.setattr(type(shim().device), "upload", full)
        v = gb.Vector.from_dense(x)
    assert is_host(v._store) and np.array_equal(v.to_dense(), x)
    w = gb.Vector.from_coo(np.arange(0, 40, 2), x[::2], size=40)
    monkeypatch.setattr(type(shim()), "union", full)
    assert w.to_dense(0)[1::2].tolist() == [0.0] * 20 and np.array_equal(w.to_dense(0)[::2], x[::2])


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint8"])
def test_positions(dtype):
    rng = generator("positions", dtype)
    p = np.sort(rng.choice(200, 70, replace=False)).astype(dtype)
    q, x = rng.permutation(p), numbers(70)
    with Counted() as copied:
        v = gb.Vector.from_coo(p, x)
    assert copied.to_device <= p.nbytes + x.nbytes + 64
    with Counted() as copied:
        A = gb.Matrix.from_coo(p, q, x)
    assert copied.to_device <= 2 * p.nbytes + x.nbytes + 128
    expected = p.copy(), q.copy(), x.copy()
    p[:], q[:], x[:] = 0, 0, 0
    assert all(map(np.array_equal, v.to_coo(), (expected[0], expected[2])))
    assert all(map(np.array_equal, A.to_coo(), expected))
    assert v.size == expected[0].max() + 1 == A.nrows


def test_positions_that_are_none_raise_as_on_the_host():
    good, x = np.arange(40), numbers(40)
    for bad, error in (
        (np.arange(40.0), ValueError),
        (np.ones(80, bool), ValueError),
        (good.reshape(2, 20), ValueError),
        (good - 1, IndexOutOfBound),
        (good.astype(np.uint64) + np.uint64(2**63), InvalidValue),
        (good.astype(np.uint64) + np.uint64(2**60), InvalidValue),
        (good + 3, IndexOutOfBound),
    ):
        for backend in ("cuda", "cpu"):
            with gb.config.set(backend=backend), pytest.raises(error):
                gb.Vector.from_coo(bad, numbers(bad.size), size=42)
    with pytest.raises(ValueError, match="lengths must match: 40 != 20"):
        gb.Vector.from_coo(good, x[:20])
    with pytest.raises(ValueError, match="lengths must match: 40, 39, 40"):
        gb.Matrix.from_coo(good, good[1:], x)
    with pytest.raises(ValueError, match="dup_op"):
        gb.Vector.from_coo(good // 2, x)
    assert gb.Vector.from_coo(good // 2, x, dup_op="plus").to_dense()[0] == x[0] + x[1]


def test_pairs_compressed_arrays_and_imports():
    rng = generator("pairs")
    i, j = np.nonzero(rng.random((12, 9)) < 0.5)
    x = numbers(i.size)
    expected = np.zeros((12, 9))
    expected[i, j] = x
    indptr = np.concatenate([[0], np.cumsum((expected != 0).sum(1))])
    bitmap = expected != 0
    pairs = np.column_stack([i, j])
    with Counted() as copied:
        made = gb.Matrix.from_edgelist(pairs, x, nrows=12, ncols=9)
    assert copied.to_device <= pairs.nbytes + x.nbytes + 128
    for A in (
        made,
        gb.Matrix.from_csr(indptr, j, x, ncols=9),
        gb.Matrix.from_csc(indptr, j, x, nrows=9).T.new(),
        gb.Matrix.ss.import_bitmapr(values=expected, bitmap=bitmap),
        gb.Matrix.from_dense(expected, 0),
        gb.io.from_numpy(expected, 0),
    ):
        assert np.array_equal(A.to_dense(0), expected) and A.nvals == i.size
    with Counted() as copied:
        back, values = made.to_edgelist()
    assert copied.to_host == back.nbytes + values.nbytes and back.dtype == np.uint64
    assert np.array_equal(back, pairs) and np.array_equal(values, x) and made.to_edgelist(values=False)[1] is None
    iso = gb.Matrix.ss.import_fullr(values=np.full((12, 9), 4.0), is_iso=True, nrows=12, ncols=9)
    assert iso.ss.is_iso and iso.to_dense().tolist() == [[4.0] * 9] * 12
    v = gb.Vector.ss.import_bitmap(values=x, bitmap=np.arange(x.size) % 2 == 0)
    assert np.array_equal(v.to_coo()[1], x[::2])
    w = gb.Vector(float, x.size)
    w[:] = x
    assert np.array_equal(w.to_dense(), x)


def test_lists_and_types_of_the_users():
    values = numbers(50).tolist()
    assert gb.Vector.from_dense(values).to_dense().tolist() == values
    pair = np.dtype([("a", np.int64), ("b", np.float64)])
    x = np.zeros(30, pair)
    x["a"] = np.arange(30)
    v = gb.Vector.from_dense(x)
    x["a"] = -1
    assert is_host(v._store) and v.to_dense()["a"].tolist() == list(range(30))
    rows = np.arange(60.0).reshape(20, 3)
    u = gb.Vector.from_dense(rows, dtype=np.dtype((np.float64, 3)))
    assert u.to_dense().tolist() == rows.tolist() and u.size == 20
