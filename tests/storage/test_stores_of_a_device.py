"""Stores whose arrays a device has: conversions there, copies to the host, and what waits for the device's work."""

import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, using_shim
from grb_tile import dtypes
from grb_tile.storage import convert, place
from grb_tile.storage.dense import matrix_of
from grb_tile.storage.store import BitmapVector, Dense, SparseVector
from support.seeds import generator
from support.stores import matrix, vector

pytestmark = pytest.mark.skipif(not EMULATED, reason="the arrays are those of the emulation")


def stores():
    rng = generator("stores of a device")
    A = matrix(rng, 9, 7, 30, dtypes.INT32)
    one = SparseVector(70, dtypes.INT32, np.array([3, 8, 69], np.int32), np.array([5], np.int32), True)
    full = BitmapVector(63, dtypes.INT32, None, np.arange(63, dtype=np.int32), 63)
    listed, bitmap = (vector(rng, 70, 40, dtypes.INT32, form) for form in ("sparse", "bitmap"))
    return {
        "csr": A, "dcsr": convert.to_dcsr(A), "sparse": listed, "bitmap": bitmap, "iso": one,
        "full": full, "dense": Dense(9, 7, full, True),
    }  # fmt: skip


@pytest.mark.parametrize("form", stores())
def test_copies_and_casts(form):
    store = stores()[form]
    with using_shim() as backend:
        x = backend.to_device(store)
        assert place.is_host(store) and not place.is_host(x) and place.device_of(store) == "cpu"
        assert place.device_of(x) == backend.device_name and place.backend_of(x) is backend
        assert place.backend_of(store) is None
        for dtype in (None, dtypes.INT32, dtypes.FP64, dtypes.INT8) if form != "dense" else ():
            mine, theirs = place.own_values(store, dtype), place.own_values(x, dtype)
            assert mine.dtype == theirs.dtype == (dtype or dtypes.INT32).np_type
            if form != "bitmap":  # values at absent positions are any
                assert mine.tolist() == theirs.tolist()
            assert not np.may_share_memory(mine, place.arrays_of(store).values)
        back = place.host(x)
        assert place.is_host(back) and back.nvals == store.nvals and place.host(store) is store
        assert place.first_value(place.arrays_of(x)) == place.arrays_of(store).values[0]


@pytest.mark.parametrize("form, wanted", [("csr", "dcsr"), ("dcsr", "csr"), ("sparse", "bitmap"), ("bitmap", "sparse"),
                                          ("iso", "bitmap"), ("full", "sparse")])  # fmt: skip
def test_conversions_stay_on_the_device(form, wanted):
    store = stores()[form]
    with using_shim() as backend:
        made = convert.convert(backend.to_device(store), wanted)
        assert made.format == wanted and not place.is_host(made)
        there, here = place.host(made), convert.convert(store, wanted)
        assert there.nvals == here.nvals and there.iso == here.iso and there.shape == here.shape
        if wanted == "bitmap":
            there, here = convert.to_sparse(there), convert.to_sparse(here)
        for name in ("indptr", "indices", "rows", "values"):
            mine, other = getattr(there, name, None), getattr(here, name, None)
            assert (mine is None) == (other is None) and (mine is None or mine.tolist() == other.tolist()), name


@pytest.mark.parametrize("nrows, ncols", [(7, 9), (9, 7), (63, 1)])
def test_matrices_of_long_vectors(nrows, ncols):
    t = SparseVector(63, dtypes.INT32, np.array([0, 8, 62], np.int32), np.array([5, 6, 7], np.int32))
    with using_shim() as backend:
        for by_columns in (False, True):
            made = matrix_of(backend.to_device(t), nrows, ncols, by_columns)
            here = matrix_of(t, nrows, ncols, by_columns)
            assert made.format == here.format and made.shape == here.shape == (nrows, ncols)
            for name in ("indptr", "indices", "values"):
                assert getattr(place.host(made), name).tolist() == getattr(here, name).tolist(), (by_columns, name)


def test_what_waits(monkeypatch):
    with using_shim() as backend:
        x, told = backend.to_device(stores()["sparse"]), []
        for name in ("synchronize", "wait_stream"):
            monkeypatch.setattr(backend, name, lambda name=name: told.append(name), raising=False)
        place.wait_for(x)
        place.wait_stream(x.values)
        place.wait_stream(np.zeros(3))  # an array of the host
        assert told == ["synchronize", "wait_stream"]


def test_single_elements_are_read_until_a_copy_costs_less():
    """15 us an element, 0.04 ns a byte: the host copies a store of 3 MB with the ninth."""
    big = BitmapVector(400_000, dtypes.FP64, None, np.ones(400_000), 400_000)
    with using_shim() as backend:
        x = backend.to_device(big)
        assert not place.is_read_alone(big)
        assert [place.is_read_alone(x) for _ in range(10)] == [k * 15_000 < 3_200_000 * 0.04 for k in range(1, 11)]
        y = backend.to_device(BitmapVector(400_000, dtypes.FP64, None, np.ones(400_000), 400_000))
        assert place.is_read_alone(y)
        place.host(y)
        assert not place.is_read_alone(y)
        assert place.is_copied_alone(y) and not place.is_copied_alone(big)
        assert not place.is_copied_alone(backend.to_device(stores()["sparse"]))
