"""Written elements and accumulations beside a store on the device: exact, and nothing is read back by a write."""

import numpy as np
import pytest

from cuda_emulation.arrays import DeviceArray
from cuda_emulation.backend import EMULATED, using_shim
from grb_tile import Matrix, Vector, unary
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.planner import tuning
from support import seeds
from support.written import Program, entries_of

CASES = {
    "matrix": ((7, 9), "FP64", 0.5),
    "wrapping matrix": ((7, 9), "INT8", 0.4),
    "sparse vector": ((400,), "INT64", 0.03),
    "bitmap vector": ((130,), "FP64", 0.7),
    "full vector": ((130,), "INT8", 1.0),
}


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("name", CASES)
def test_programs_equal_a_dictionary(name, turn):
    with using_shim():
        program = Program(seeds.generator("written on a device", name, turn), *CASES[name])
        for _ in range(25):
            program.step()
        program.verify()
        program.verify_copies()


def counted(function, name, calls):
    def call(*args, **kwargs):
        calls.append(name)
        return function(*args, **kwargs)

    return call


@pytest.mark.skipif(not EMULATED, reason="counts the reads of the emulation's arrays")
@pytest.mark.parametrize("kind", ["matrix", "vector"])
@pytest.mark.sampled(1)
def test_writes_of_elements_wait_for_nothing(kind, monkeypatch):
    """Accumulations, values and deletions are kept on the host; the reader brings the few elements that they need."""
    with using_shim() as backend:
        if kind == "matrix":
            at = np.arange(200)
            x = Matrix.from_coo(at // 10, at % 20, np.arange(1.0, 201), nrows=20, ncols=20)
            keys = [(i, j) for i in range(0, 20, 3) for j in range(0, 20, 4)]
        else:
            x = Vector.from_dense(np.arange(1.0, 301))
            keys = list(range(0, 300, 11))
        x._store = backend.store_to_device(x._store)
        wanted = entries_of(x)
        x._store.forms = None
        read = []
        for owner, name in ((DeviceArray, "get"), (Device, "read"), (Device, "host"), (Device, "synchronize")):
            monkeypatch.setattr(owner, name, counted(getattr(owner, name), name, read))
        for k, key in enumerate(keys):
            p = key if kind == "matrix" else (key,)
            if k % 4 == 3:
                del x[key]
                wanted.pop(p, None)
            elif k % 4 == 2:
                x[key] = k
                wanted[p] = k
            x("plus")[key] << 5
            x("plus")[key] << 6
            wanted[p] = wanted.get(p, 0) + 11
        assert not read
        x.wait()
        assert read
        assert len(read) < 40  # a fixed number, not one for each element
        assert entries_of(x) == wanted


@pytest.mark.sampled(1)
@pytest.mark.parametrize("write", ["element", "accumulate", "mask"])
@pytest.mark.parametrize("kind", ["matrix", "vector"])
def test_a_change_in_place_on_the_host_reaches_the_device(kind, write, monkeypatch):
    """The device's copy of a host store is cached with it: it goes when the store's values change in place."""
    monkeypatch.setattr(tuning, "MERGED_SIZE", 0)  # small vectors change in place
    if kind == "matrix":
        at = np.arange(200)
        x = Matrix.from_coo(at // 10, at % 20, np.arange(1.0, 201), nrows=20, ncols=20)
        change = Matrix.from_coo([0], [5], [7.0], nrows=20, ncols=20)
        key, p = (0, 5), (0, 5)
    else:
        x = Vector.from_coo(np.arange(0, 300, 2), np.arange(1.0, 151), size=300)
        change, key, p = Vector.from_coo([4], [7.0], size=300), 4, (4,)
    x("plus") << x.dup(clear=True)
    wanted = entries_of(x)
    with using_shim() as backend:
        backend.store_to_device(x._store)
    address = x._store.values.ctypes.data
    if write == "element":
        x[key] = 7
        wanted[p] = 7
    elif write == "accumulate":
        x("plus") << change
        wanted[p] += 7
    else:
        x(change.S) << 8
        wanted[p] = 8
    assert x._store.values.ctypes.data == address
    with using_shim():
        assert entries_of(x.apply(unary.identity).new()) == wanted
