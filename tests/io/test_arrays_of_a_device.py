"""Arrays of a device in and out: every form and kind of values, and that what is shared is never written to.

tests/backends/cuda/test_device_arrays.py has what is shared with whom, and the refusals.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, using_shim
from grb_tile.io import device_arrays
from support.library import gb
from support.seeds import generator
from support.stored import MATRIX_FORMS, VECTOR_FORMS, stored
from support.written import entries_of

pytestmark = pytest.mark.skipif(not EMULATED, reason="the arrays are those of the emulation")


@pytest.mark.parametrize("ndim, form", [(1, form) for form in VECTOR_FORMS] + [(2, form) for form in MATRIX_FORMS])
def test_positions_and_entries_of_every_form(ndim, form):
    x = stored(generator("device arrays", ndim, form), (4, 6)[:ndim], "INT32", form).build(gb)
    filled = x.to_dense(-9)
    entries = [part.tolist() for part in x.to_coo()]
    with using_shim():
        assert np.array_equal(device_arrays.to_cupy(x, -9).get(), filled)
        assert [part.get().tolist() for part in device_arrays.entries_on_device(x)] == entries
        if x.nvals == np.prod(x.shape):
            assert np.array_equal(device_arrays.to_cupy(x).get(), filled)
        else:
            with pytest.raises(
                ValueError, match=f"{np.prod(x.shape) - x.nvals} of {np.prod(x.shape)} positions are absent"
            ):
                device_arrays.to_cupy(x)
        array = device_arrays.to_cupy(x, -9)
        before = array.get()
        y = device_arrays.from_cupy(array, name="y")
        assert y.name == "y" and y.dtype is x.dtype and np.array_equal(y.to_dense(), filled)
        y[(1, 2) if ndim == 2 else 2] = 77  # the array is shared, and stays
        y << y.apply(gb.unary.ainv)
        assert np.array_equal(array.get(), before) and entries == [part.tolist() for part in x.to_coo()]


@pytest.mark.parametrize("value", [3, 2.5, True, 1j, np.float32(0.5), np.int8(-4), np.uint64(7), np.bool_(False)])
def test_one_value_for_all_entries(value):
    dtype = gb.dtypes.lookup_dtype(np.asarray(value).dtype)
    with using_shim() as backend:
        A = device_arrays.from_cupy_csr(
            backend.array(np.array([0, 1, 1, 3])), backend.array(np.array([2, 0, 1])), value, shape=(3, 4), name="A"
        )
        assert A.dtype is dtype and A.ss.is_iso and A.name == "A"
        assert entries_of(A) == dict.fromkeys([(0, 2), (2, 0), (2, 1)], value)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_sparse_matrices_of_every_format(format, dtype):
    entries = {(0, 5): 3, (2, 0): 1, (2, 4): 2, (3, 5): 7}
    S = gb.io.to_scipy_sparse(gb.Matrix.from_coo(*zip(*entries, strict=True), [3, 1, 2, 7], nrows=4, ncols=6), format)
    names = ("row", "col", "data") if format == "coo" else ("indptr", "indices", "data")
    with using_shim() as backend:
        parts = {name: backend.array(getattr(S, name).astype(dtype if name == "data" else np.int32)) for name in names}
        A = device_arrays.from_cupy(SimpleNamespace(format=format, shape=S.shape, **parts))
        assert A.shape == (4, 6) and A.dtype.np_type == dtype and A.device == "cuda:0"
        assert entries_of(A) == {position: dtype(value) for position, value in entries.items()}
        A[0, 0] = 1
        A << A.apply(gb.unary.one)
        assert np.array_equal(parts["data"].get(), S.data.astype(dtype))
        with pytest.raises(ValueError, match="x is a bsr matrix"):
            device_arrays.from_cupy(SimpleNamespace(format="bsr", shape=(2, 2)))


def test_shapes_without_positions_and_user_types():
    with using_shim() as backend:
        for shape in ((0, 3), (3, 0), (0,)):
            x = device_arrays.from_cupy(backend.array(np.zeros(shape, np.int16)))
            assert x.shape == shape and x.nvals == 0 and x.dtype is gb.dtypes.INT16
        assert device_arrays.to_cupy(gb.Matrix("INT16", 0, 3)).shape == (0, 3)
    pair = gb.dtypes.lookup_dtype(np.dtype((np.int32, (2,))))
    v = gb.Vector.from_dense(np.arange(6, dtype=np.int32).reshape(3, 2), dtype=pair)
    with using_shim(), pytest.raises(TypeError, match="have no device form"):
        device_arrays.to_cupy(v)
