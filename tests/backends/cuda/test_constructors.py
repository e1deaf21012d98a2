"""Constructors given arrays of the device: the same objects as from host arrays, nothing taken through the host."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile.backends import select
from grb_tile.backends.cuda import backend
from grb_tile.exceptions import IndexOutOfBound, InvalidValue
from grb_tile.storage import place
from support import seeds


@pytest.fixture(autouse=True)
def on_the_shim():
    with using_shim():
        yield


@pytest.fixture
def no_way_through_the_host(monkeypatch):
    """Nothing that is as long as the operands may be read back while the device computes."""
    device = shim().device
    read = device.host

    def host(array):
        assert array.size < 32 or select.current() is not shim(), "an array went through the host"
        return read(array)

    monkeypatch.setattr(device, "host", host)


def there(data, dtype=None):
    return shim().device.array(np.array(data, dtype))


def random_entries(turn, count=200, bound=50):
    rng = np.random.default_rng([seeds.SEED, turn])
    return rng.integers(0, bound, count), rng.integers(0, bound, count), rng.integers(-40, 40, count)


def test_which_large_arrays_of_the_host_are_copied_first(monkeypatch):
    """Those of the thirteen types as the device has them; of others the host makes what it can."""
    monkeypatch.setattr(backend, "RECEIVED_FROM", 64)
    kinds = ("?", *np.typecodes["AllInteger"], *np.typecodes["AllFloat"], ">f8", ">i4", "U3", "f8,i4")
    for kind in kinds:
        x = np.arange(100).astype(kind) if kind not in ("U3", "f8,i4") else np.zeros(100, kind)
        found = select.current().received(x)
        assert select.current().received(x[: 64 // x.itemsize - 1]) is None, kind
        assert found is None or select.current().is_array(found) and np.array_equal(shim().device.host(found), x), kind
        assert (found is not None) == (x.dtype.char in "?bBhHiIlLqQfdFD" and x.dtype.isnative), kind


@pytest.mark.parametrize(
    ("dtype", "held"), [(None, np.int64), ("INT8", np.float64), ("FP32", np.int32), ("BOOL", np.uint16)]
)
def test_entries_in_any_order_are_combined(dtype, held, no_way_through_the_host):
    rows, cols, values = random_entries(1)
    values = np.abs(values).astype(held) if np.dtype(held).kind == "u" else values.astype(held)
    for op in (gb.binary.plus, gb.binary.first, gb.binary.max):
        v = gb.Vector.from_coo(there(rows, np.int32), there(values), dtype, size=60, dup_op=op)
        A = gb.Matrix.from_coo(there(rows, np.uint32), there(cols), there(values), dtype, dup_op=op)
        assert not place.is_host(v._store) and not place.is_host(A._store)
        with select.using("cpu"):
            assert v.isequal(gb.Vector.from_coo(rows, values, dtype, size=60, dup_op=op), check_dtype=True), op
            assert A.isequal(gb.Matrix.from_coo(rows, cols, values, dtype, dup_op=op), check_dtype=True), op


def test_values_that_do_not_fit_are_cast_as_the_library_casts():
    values = [1.9, -3.5, 300.0, float("nan"), -1e30]
    v = gb.Vector.from_coo(there([0, 1, 2, 3, 4]), there(values), "INT8")
    with select.using("cpu"):
        assert v.isequal(gb.Vector.from_coo([0, 1, 2, 3, 4], np.array(values), "INT8"))


def test_host_and_device_may_meet():
    rows, cols, values = random_entries(2)
    want = gb.Matrix.from_coo(rows, cols, values, dup_op=gb.binary.plus)
    assert gb.Matrix.from_coo(there(rows), cols.tolist(), there(values), dup_op=gb.binary.plus).isequal(want)
    assert gb.Matrix.from_coo(rows, there(cols), values, dup_op=gb.binary.plus).isequal(want)
    one = gb.Matrix.from_coo(there(rows), there(cols), 5)
    assert one.isequal(gb.Matrix.from_coo(rows, cols, 5)) and one._store.iso
    assert gb.Vector.from_coo(there(rows), True, size=50).isequal(gb.Vector.from_coo(rows, True, size=50))


def test_the_caller_may_change_its_arrays():
    indices, values = there([0, 2, 5]), there([1.0, 2.0, 3.0])
    v = gb.Vector.from_coo(indices, values, size=2**40)
    w = gb.Vector.from_dense(values)
    A = gb.Matrix.from_dense(there([[1.0, 2.0], [3.0, 4.0]]))
    indices[:] = 0
    values[:] = 0
    assert v.to_dict() == {0: 1.0, 2: 2.0, 5: 3.0} and w.to_dict() == {0: 1.0, 1: 2.0, 2: 3.0} and A.get(1, 1) == 4.0


@pytest.mark.parametrize("missing", [None, 0, 7])
def test_dense_arrays(missing):
    x = np.random.default_rng([seeds.SEED, 3]).integers(0, 3, (7, 5))
    v, A = gb.Vector.from_dense(there(x[0]), missing), gb.Matrix.from_dense(there(x), missing, dtype="FP32")
    assert not place.is_host(v._store) and not place.is_host(A._store)
    with select.using("cpu"):
        assert v.isequal(gb.Vector.from_dense(x[0], missing), check_dtype=True)
        assert A.isequal(gb.Matrix.from_dense(x, missing, dtype="FP32"), check_dtype=True)


def test_compressed_arrays():
    rows, cols, values = random_entries(4)
    want = gb.Matrix.from_coo(rows, cols, values, dup_op=gb.binary.plus, nrows=50, ncols=50)
    for kind in ("csr", "csc", "dcsr", "dcsc"):
        parts = getattr(want, f"to_{kind}")()
        made = getattr(gb.Matrix, f"from_{kind}")(*map(there, parts), nrows=50, ncols=50)
        assert made.isequal(want), kind
        assert not place.is_host(made._store)
    indptr, indices, values = want.to_csr()
    for bad, message in (
        (np.r_[1, indptr[1:]], "must begin with 0"),
        (np.r_[indptr[:-1], 3], "must not decrease|the last"),
    ):
        with pytest.raises(InvalidValue, match=message):
            gb.Matrix.from_csr(there(bad, np.int64), there(indices), there(values))


def test_a_host_backend_takes_a_copy():
    rows, cols, values = random_entries(5)
    with select.using("cpu"):
        A = gb.Matrix.from_coo(there(rows), there(cols), there(values), dup_op=gb.binary.plus)
        assert place.is_host(A._store) and A.isequal(gb.Matrix.from_coo(rows, cols, values, dup_op=gb.binary.plus))
        assert place.is_host(gb.Vector.from_dense(there(values))._store)


def test_operators_that_only_the_host_folds():
    """A positional operator goes through the host, arrays too."""
    rows, cols, values = random_entries(6)
    made = gb.Vector.from_coo(there(rows), there(values), size=50, dup_op=gb.binary.second)
    assert made.isequal(gb.Vector.from_coo(rows, values, size=50, dup_op=gb.binary.second))
    before = shim().detours["build_vector"]
    point = gb.dtypes.register_anonymous(np.dtype([("x", np.int32), ("y", np.float32)]))
    records = np.zeros(3, point.np_type)
    v = gb.Vector.from_coo(there([2, 0, 1]), records, point)
    assert v.nvals == 3 and shim().detours["build_vector"] == before + 1


def test_what_cannot_be_built_is_refused_as_on_the_host():
    with pytest.raises(ValueError, match="lengths must match: 2 != 3"):
        gb.Vector.from_coo(there([0, 1]), there([1, 2, 3]))
    with pytest.raises(ValueError, match="must provide `dup_op`"):
        gb.Vector.from_coo(there([1, 1]), there([1, 2]))
    with pytest.raises(IndexOutOfBound, match="index 9 is out of bounds: it must be in 0 .. 4"):
        gb.Vector.from_coo(there([1, 9]), there([1, 2]), size=5)
    with pytest.raises(IndexOutOfBound, match="-1 is out of bounds"):
        gb.Matrix.from_coo(there([-1, 0]), there([0, 1]), there([1, 2]), nrows=5, ncols=5)
    with pytest.raises(ValueError, match="indices must be integers, not float64"):
        gb.Vector.from_coo(there([0.5, 1.0]), there([1, 2]))
    with pytest.raises(ValueError, match="at most 1 dimensions"):
        gb.Vector.from_dense(there([[1, 2]]))
    with pytest.raises(ValueError, match="Unable to infer size"):
        gb.Vector.from_coo(there([], np.int64), there([], np.int64))


def test_a_full_vector_is_shared_by_dlpack():
    v = gb.Vector.from_dense(there([1.0, 2.0, 3.0]))
    shared = shim().device.xp.from_dlpack(v)
    assert shared.tolist() == [1.0, 2.0, 3.0]
    v[0] = 9.0  # a copy is written, what was let out stays
    assert shared.tolist() == [1.0, 2.0, 3.0] and v.get(0) == 9.0
    again = shim().device.xp.from_dlpack(v)
    mask = gb.Vector.from_coo([1, 2], True, size=3)
    v(mask.S) << 5.0
    v(accum=gb.binary.plus) << v
    assert again.tolist() == [9.0, 2.0, 3.0] and v.to_dict() == {0: 18.0, 1: 10.0, 2: 10.0}
    same = gb.Vector.from_dense(there([4, 5]))
    at = shim().device.address(shim().device.xp.from_dlpack(same))
    assert at == shim().device.address(same._store.values), "no copy"
    with select.using("cpu"):  # it still lies on the device
        assert shim().device.xp.from_dlpack(same).tolist() == [4, 5]


def test_full_matrices_and_equal_values_too():
    A = gb.Matrix.from_dense(there([[1, 2, 3], [4, 5, 6]]))
    assert shim().device.xp.from_dlpack(A).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert shim().device.xp.from_dlpack(A.T).tolist() == [[1, 4], [2, 5], [3, 6]]
    v = gb.Vector.from_scalar(7, 4, "INT64")
    v << v.apply(gb.unary.identity)
    shim().store_to_device(v._store)
    assert np.asarray(v).tolist() == [7, 7, 7, 7] and gb.io.as_numpy(v).tolist() == [7, 7, 7, 7]


def test_absent_places_are_no_array():
    v = gb.Vector.from_coo(there([0, 2]), there([1, 2]), size=4)
    with pytest.raises(TypeError, match=r"has 2 entries, its shape is \(4,\); use gb.io.to_cupy"):
        shim().device.xp.from_dlpack(v)
    assert not hasattr(v, "__cuda_array_interface__")
