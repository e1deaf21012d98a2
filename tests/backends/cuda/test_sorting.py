"""Stable radix sorts of the CUDA backend, their kernels run as fibers, against NumPy."""

import numpy as np
import pytest

from cuda_emulation.backend import shim
from grb_tile.backends.cuda.structure import sorting
from support import seeds


@pytest.fixture(scope="module")
def device():
    return shim().device


KEYS = ("random", "few values", "sorted", "equal")


def keys_of(rng, kind, count, bound, dtype):
    if kind == "equal":
        return np.full(count, bound - 1, dtype)
    keys = rng.integers(0, min(bound, 3) if kind == "few values" else bound, count, dtype=np.int64)
    return np.sort(keys).astype(dtype) if kind == "sorted" else keys.astype(dtype)


@pytest.mark.parametrize("payload", ["", "order", "uint32", "float32", "uint64", "uint32 float64", "int64 int32"])
@pytest.mark.parametrize(("bound", "dtype"), [(1, "int32"), (37, "int32"), (1 << 20, "int32"), (1 << 40, "int64")])
def test_sorted_by_key(device, bound, dtype, payload):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, bound.bit_length()])
    for count in (65, 1024, 1025, 3000):
        for kind in KEYS:
            keys = keys_of(rng, kind, count, bound, dtype)
            order = np.argsort(keys, kind="stable")
            values = [rng.integers(0, 1 << 30, count).astype(name) for name in payload.replace("order", "").split()]
            given = None if payload == "order" else [device.array(x) for x in values]
            found, *taken = sorting.sorted_by_key(device, device.array(keys), bound, given)
            where = f"{kind}, {count} keys below {bound}, payload {payload}, seed {seeds.SEED}"
            assert device.host(found).tolist() == keys[order].tolist(), where
            assert found.dtype == keys.dtype
            wanted = [order] if payload == "order" else [x[order] for x in values]
            for got, want in zip(taken, wanted, strict=True):
                assert device.host(got).tolist() == want.tolist(), where
                assert payload == "order" or got.dtype == want.dtype


@pytest.mark.parametrize("shape", [(9, 5), (1 << 16, 1 << 16), (1 << 20, 1 << 20), (1 << 60, 1 << 60)], ids=str)
@pytest.mark.parametrize("dtype", [None, "int8", "float32", "int64"])
def test_sorted_pairs(device, shape, dtype):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, shape[0].bit_length()])
    count = 2100
    rows, cols = rng.integers(0, shape[0], count), rng.integers(0, shape[1], count)
    values = None if dtype is None else rng.integers(0, 100, count).astype(dtype)
    order = np.lexsort((cols, rows))
    found = sorting.sorted_pairs(
        device, device.array(rows), device.array(cols), *shape, None if values is None else device.array(values)
    )
    for got, want in zip(found, (rows, cols, values), strict=True):
        assert (got is None and want is None) or device.host(got).tolist() == want[order].tolist()
    again = sorting.pair_order(device, device.array(rows), device.array(cols), *shape)
    assert device.host(again).tolist() == order.tolist()


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", [None, "int8", "float32", "float64"])
def test_transposed_entries(device, index, dtype):
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    count = 1500
    rows, cols = np.sort(rng.integers(0, 300, count)).astype(index), rng.integers(0, 200, count).astype("int32")
    values = None if dtype is None else rng.integers(0, 100, count).astype(dtype)
    order = np.argsort(cols, kind="stable")
    given = [device.array(x) for x in (cols, rows)]
    found = sorting.transposed_entries(device, *given, 200, None if values is None else device.array(values))
    for got, want in zip(found, (cols, rows, values), strict=True):
        assert (got is None and want is None) or (
            got.dtype == want.dtype and device.host(got).tolist() == want[order].tolist()
        )
