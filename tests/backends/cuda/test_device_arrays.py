"""Arrays on the device in and out; the emulated arrays stand for CuPy's."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile.backends import select
from grb_tile.exceptions import IndexOutOfBound
from grb_tile.io import device_arrays
from support import seeds


@pytest.fixture(autouse=True)
def on_the_shim():
    with using_shim():
        yield


def on_device(data, dtype=None):
    return shim().device.array(np.array(data, dtype))


def csr(indptr, indices, data, shape, format="csr"):
    """What cupyx.scipy.sparse.csr_matrix looks like."""
    return SimpleNamespace(
        format=format,
        indptr=on_device(indptr, np.int32),
        indices=on_device(indices, np.int32),
        data=on_device(data, np.float64),
        shape=shape,
    )


def test_a_vector_shares_the_array_both_ways():
    x = on_device([1.0, 2.0, 3.0])
    v = device_arrays.from_cupy(x)
    assert v.to_coo()[1].tolist() == [1.0, 2.0, 3.0] and v._store.values is x
    assert device_arrays.to_cupy(v) is x
    v[1] = 9.0  # the shared array is not written to
    assert v.to_coo()[1].tolist() == [1.0, 9.0, 3.0] and x.tolist() == [1.0, 2.0, 3.0]


def test_absent_places_need_a_fill_value():
    v = gb.Vector.from_coo([0, 3], [5, 6], size=5)
    with pytest.raises(ValueError, match="3 of 5 positions are absent"):
        device_arrays.to_cupy(v)
    assert device_arrays.to_cupy(v, -1).tolist() == [5, -1, -1, 6, -1]
    assert [part.tolist() for part in device_arrays.entries_on_device(v)] == [[0, 3], [5, 6]]


def test_compressed_matrices_share_indices_and_values():
    x = csr([0, 2, 2, 3], [0, 2, 1], [1, 2, 3], (3, 4))
    A = device_arrays.from_cupy(x)
    assert A.shape == (3, 4) and A._store.indices is x.indices and A._store.values is x.data
    assert [part.tolist() for part in A.to_coo()] == [[0, 0, 2], [0, 2, 1], [1.0, 2.0, 3.0]]
    B = device_arrays.from_cupy(csr([0, 2, 2, 3], [0, 2, 1], [1, 2, 3], (4, 3), "csc"))
    assert B.isequal(A.T.new())


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 2, 3], [2, 0, 1], "ascend"),
        ([0, 2, 3], [1, 1, 1], "ascend"),
        ([0, 2, 3], [0, 7, 1], "no CSR"),
        ([0, 2, 2], [0, 2, 1], "no CSR"),
        ([0, 4, 3], [0, 2, 1], "no CSR"),
        ([0, 3], [0, 2, 1], "row pointers"),
    ],
)
def test_what_is_no_csr_is_refused(indptr, indices, message):
    with pytest.raises(ValueError, match=message):
        device_arrays.from_cupy(csr(indptr, indices, [1, 2, 3], (2, 4)))


def test_arrays_of_a_csr():
    indptr, indices, values = on_device([0, 2, 2, 3]), on_device(np.int32([0, 2, 1])), on_device(np.int8([1, 2, 3]))
    A = device_arrays.from_cupy_csr(indptr, indices, values, shape=(3, 4))
    assert A.dtype == gb.dtypes.INT8 and A._store.indices is indices and A._store.values is values
    assert [part.tolist() for part in A.to_coo()] == [[0, 0, 2], [0, 2, 1], [1, 2, 3]]
    one = device_arrays.from_cupy_csr(indptr, on_device(np.uint64([0, 2, 1])), True, shape=(3, 4))
    assert (
        one.ss.is_iso
        and one.dtype == gb.dtypes.BOOL
        and one.reduce_rowwise("plus[int64]").new().to_dict() == {0: 2, 2: 1}
    )
    empty = device_arrays.from_cupy_csr(on_device([0, 0]), on_device(np.int64([])), 1.5, shape=(1, 7))
    assert empty.shape == (1, 7) and empty.nvals == 0 and empty.dtype == gb.dtypes.FP64
    with pytest.raises(ValueError, match="a value for each of 3"):
        device_arrays.from_cupy_csr(indptr, indices, values[:2], shape=(3, 4))
    with pytest.raises(ValueError, match="columns be below 2"):
        device_arrays.from_cupy_csr(indptr, on_device([0, 2**40, 1]), True, shape=(3, 2))
    with pytest.raises(ValueError, match="ascend"):
        device_arrays.from_cupy_csr(indptr, on_device([2, 0, 1]), True, shape=(3, 4))
    with pytest.raises(ValueError, match="whole numbers, not int64 and float64"):
        device_arrays.from_cupy_csr(indptr, on_device([2.0, 0.0, 1.0]), True, shape=(3, 4))
    with pytest.raises(TypeError, match="is not on the GPU"):
        device_arrays.from_cupy_csr(np.array([0, 1]), indices, True, shape=(1, 4))


def test_entries_are_sorted_and_combined():
    rows, cols, values = on_device([1, 0, 1]), on_device([2, 1, 2]), on_device([1.0, 2.0, 4.0])
    A = device_arrays.from_cupy_coo(rows, cols, values, shape=(2, 3), dup_op=gb.binary.plus)
    assert [part.tolist() for part in A.to_coo()] == [[0, 1], [1, 2], [2.0, 5.0]]
    with pytest.raises(ValueError, match="must provide `dup_op`"):
        device_arrays.from_cupy_coo(rows, cols, values, shape=(2, 3))
    with pytest.raises(IndexOutOfBound, match="2 of 3 positions are outside 2 x 2"):
        device_arrays.from_cupy_coo(rows, cols, values, shape=(2, 2))
    for shape in ((1, 3), (2, 2)):  # one row fewer than the greatest index needs, one column fewer
        with pytest.raises(IndexOutOfBound, match="of 3 positions are outside"):
            device_arrays.from_cupy_coo(rows, cols, values, shape=shape)
    assert device_arrays.vector_of_entries(on_device([1, 4]), on_device([7, 8]), size=9).to_dict() == {1: 7, 4: 8}


def test_entries_are_copied():
    rows, cols, values = on_device([0, 1, 2], np.int64), on_device([5, 6, 7], np.int64), on_device([1.0, 2.0, 3.0])
    A = device_arrays.from_cupy_coo(rows, cols, values, shape=(2**40, 2**40))
    for array in (rows, cols, values):
        array[:] = 0
    assert [part.tolist() for part in A.to_coo()] == [[0, 1, 2], [5, 6, 7], [1.0, 2.0, 3.0]]


def test_a_host_backend_in_use_learns_of_the_device(monkeypatch):
    made = shim()
    monkeypatch.setattr(select, "_made", {})
    monkeypatch.setattr(select, "_active", None)
    assert not getattr(select.use("cpu"), "is_guarded", False)
    monkeypatch.setitem(select.AVAILABLE, "cuda", ("simt_backend", "make"))
    monkeypatch.setitem(sys.modules, "simt_backend", SimpleNamespace(make=lambda number=0: made))
    A = device_arrays.from_cupy_csr(on_device([0, 1, 2]), on_device([1, 0]), 2.0, shape=(2, 2))
    assert select.current().name == "cpu"
    assert A.mxv(gb.Vector.from_dense([1.0, 3.0])).new().to_dict() == {0: 6.0, 1: 2.0}


def test_host_arrays_are_refused():
    with pytest.raises(TypeError, match="is not on the GPU"):
        device_arrays.from_cupy(np.arange(3))
    with pytest.raises(ValueError, match="one or two dimensions"):
        device_arrays.from_cupy(on_device([[[1, 2]]]))


INDICES = {  # of 9 positions: ascending, in any order, negative, repeated, one, none
    "ascending": [1, 4, 5, 8],
    "consecutive": [3, 4, 5],
    "permuted": [7, 0, 3],
    "negative": [-1, 2, -9],
    "repeated": [2, 6, 2, 0],
    "one": [5],
    "none": [],
}


def results(lib, index, form):
    """What an index array of the device, or of NumPy, picks and writes."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 77])
    here = rng.random((9, 9)) < (0.3 if form == "sparse" else 2)
    values = np.where(here, rng.integers(1, 9, (9, 9)), 0)
    A = lib.Matrix.from_dense(values, missing_value=0)
    v = lib.Vector.from_dense(values[4], missing_value=0)
    found = [A[index, :].new(), A[:, index].new(), A[index, index].new(), A[index, 2].new(), v[index].new()]
    found += [A.T[index, :].new(), A[3, index].new()]
    B, C, w = A.dup(), A.dup(), v.dup()
    B[index, :] = 3
    C[2, index] = lib.Vector.from_dense(np.arange(len(index)))
    w(lib.binary.plus)[index] << 10
    C[:, index] = lib.Matrix.from_dense(np.arange(9 * len(index)).reshape(9, len(index))) if len(index) else 0
    for x in (B, C, w):
        found.append(x)
    if len(index):
        del w[index]
    return [x.to_dict() if x.ndim == 1 else x.to_dicts() for x in found]


@pytest.mark.parametrize("form", ["sparse", "full"])
@pytest.mark.parametrize("kind", INDICES)
def test_index_arrays(kind, form):
    """Index arrays of the device are as those of NumPy, of every integer type."""
    for np_type in (np.int64, np.int32) if kind == "negative" else (np.int64, np.uint8):
        index = np.array(INDICES[kind], np_type)
        with select.using("cpu"):
            wanted = results(gb, index, form)
        given = on_device(index)
        assert results(gb, given, form) == wanted and results(gb, index, form) == wanted
        assert given.tolist() == index.tolist()


def test_index_arrays_that_are_refused():
    v = gb.Vector.from_scalar(1, 5)
    for bad, error, text in (
        ([0, 5], IndexError, "index=5, size=5"),
        ([-6], IndexError, "index=-6, size=5"),
        ([1.0], TypeError, "Invalid dtype for index: float64"),
        ([True], TypeError, "use a mask"),
        ([[0]], TypeError, "number of dimensions"),
    ):
        with pytest.raises(error, match=text):
            v[on_device(bad)].new()


@pytest.mark.parametrize("dtype", [None, np.int64, np.float32, np.bool_])
def test_whatever_holds_an_array_becomes_one_of_the_device(dtype):
    """backend.array(data, dtype): the values of the data, in that type or its own."""
    plain = np.array([0, 1, 3])
    there = on_device(plain)

    class Exchanged:
        __dlpack__, __dlpack_device__ = there.__dlpack__, there.__dlpack_device__

    one = plain[1]
    for data in (plain, plain.tolist(), there, Exchanged(), one):
        found = shim().array(data, dtype)
        wanted = np.asarray(plain[1:2] if data is one else plain, dtype)
        assert isinstance(found, shim().device.array_class)
        assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()
