"""Objects of the CUDA backend that others look at: exported arrays, threads on one graph, calls that fail late."""

import gc
import threading
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from cuda_emulation.arrays import DeviceArray
from cuda_emulation.backend import EMULATED, using_shim
from cuda_emulation.launcher import EmulatedLaunch
from grb_tile import Matrix, Vector, binary, plan, unary
from grb_tile.algorithms import bfs, sssp
from grb_tile.backends.cuda.runtime.late_vector import LateVector
from grb_tile.backends.cuda.runtime.launch import Kernel
from grb_tile.exceptions import OutOfMemory
from support import seeds


@pytest.mark.skipif(not EMULATED, reason="device arrays have the interface of their own")
@pytest.mark.parametrize("iso", [False, True])
def test_what_was_exported_lives_as_long_as_the_object(iso, monkeypatch):
    """Who takes __cuda_array_interface__ keeps the object, so that the object must keep the array."""
    gone = []

    def interface(array):
        weakref.finalize(array, gone.append, array.ctypes.data)
        return {"data": (array.ctypes.data, False), "shape": array.shape, "typestr": array.dtype.str, "version": 3}

    monkeypatch.setattr(DeviceArray, "__cuda_array_interface__", property(interface), raising=False)
    with using_shim() as backend:
        v = Vector.from_dense(np.arange(1000.0))
        v = (v.apply(binary.second, right=7.0) if iso else v.apply(unary.ainv)).new()
        v._store = backend.store_to_device(v._store)
        assert v._store.iso == iso
        place = v.__cuda_array_interface__["data"][0]
        assert v.__cuda_array_interface__["data"][0] == place
        v << v.apply(unary.ainv)
        gc.collect()
        assert place not in gone
        assert v.__cuda_array_interface__["data"][0] != place
        del v
        gc.collect()
        assert place in gone


def test_a_region_is_as_it_was_when_the_last_step_fails(monkeypatch):
    n = 200
    with using_shim() as backend, plan(force="cols"):
        A = Matrix.from_coo(np.arange(n - 1), np.arange(n - 1) + 1, np.arange(1.0, n), nrows=n, ncols=n)
        v = Vector.from_coo(np.arange(0, n, 2), np.ones(100), size=n).vxm(A).new()
        before, mask = v.dup().to_dict(), Vector.from_dense(np.arange(n) % 3 > 0)
        whole, calls, last = backend.restrict, [], []

        def failing(*args):
            calls.append(args)
            if [len(calls)] == last:
                raise OutOfMemory("no room")
            return whole(*args)

        monkeypatch.setattr(backend, "restrict", failing)
        v.dup()(mask.V, replace=True)[np.arange(50)] << 7.0
        last, calls[:] = [len(calls)], []
        v = Vector.from_coo(np.arange(0, n, 2), np.ones(100), size=n).vxm(A).new()  # its arrays have no other reference
        assert not calls and last[0] > 0
        with pytest.raises(OutOfMemory, match="no room"):
            v(mask.V, replace=True)[np.arange(50)] << 7.0
        monkeypatch.undo()
        assert v.to_dict() == before


@pytest.mark.skipif(not EMULATED, reason="threads take turns between launches of the emulation")
def test_threads_that_search_one_graph(monkeypatch):
    """Launches that belong together share a workspace: nobody comes between them."""
    one_at_a_time, launch = threading.Lock(), EmulatedLaunch.__call__

    def launched(self, *args):
        with one_at_a_time:  # as on a stream
            launch(self, *args)
        time.sleep(0.0005)  # another thread's turn

    monkeypatch.setattr(EmulatedLaunch, "__call__", launched)
    n, wrong = 2500, []
    r, w = np.arange(n - 1), np.ones(n - 1)
    A = Matrix.from_coo(np.r_[r, r + 1], np.r_[r + 1, r], np.r_[w, w], nrows=n, ncols=n)

    def search(number):
        rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, number])
        for source in rng.integers(0, n, 4).tolist():
            try:
                if not np.array_equal(sssp(A, source).distances.to_dense(-1), np.abs(np.arange(n) - source)):
                    wrong.append(source)
            except Exception as error:  # noqa: BLE001  a thread's error must reach the test
                wrong.append(error)

    with using_shim():
        sssp(A, 0)
        threads = [threading.Thread(target=search, args=(k,)) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_a_thread_that_the_driver_does_not_know_yet():
    """It launches once the run-time has been called; an error that stays, or another one, is raised."""
    known, launched, message = set(), [], ["CUDA_ERROR_INVALID_CONTEXT: invalid device context"]

    def launch(*arguments):
        if threading.get_ident() not in known:
            raise RuntimeError(message[0])
        launched.append(arguments)

    runtime = SimpleNamespace(memGetInfo=lambda: known.add(threading.get_ident()))
    launcher = SimpleNamespace(
        processors=1,
        number=0,
        recorder=None,
        xp=SimpleNamespace(ndarray=np.ndarray, cuda=SimpleNamespace(runtime=runtime)),
        launch=launch,
        hole=SimpleNamespace(data=SimpleNamespace(ptr=8)),
        current_stream=lambda: SimpleNamespace(ptr=0),
    )
    kernel, raised = Kernel("kernel", SimpleNamespace(ptr=0), None, launcher), []

    def work():
        try:
            kernel.over(5, (1, 2))
            kernel.over(5, (1, 2))
        except RuntimeError as error:
            raised.append(str(error))

    def in_a_thread():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    in_a_thread()
    assert len(launched) == 2 and not raised
    known.clear()  # a thread may get the number of one that ended
    runtime.memGetInfo = lambda: None
    in_a_thread()
    message[0] = "CUDA_ERROR_ILLEGAL_ADDRESS"
    in_a_thread()
    assert len(launched) == 2 and [text[:22] for text in raised] == ["CUDA_ERROR_INVALID_CON", "CUDA_ERROR_ILLEGAL_ADD"]


def test_a_constant_made_by_two_threads(monkeypatch):
    """What is known by its address is never freed: another value may come to lie there."""
    with using_shim() as backend:
        device = backend.device
        upload, other, value = device.upload, [], np.int64(time.perf_counter_ns())  # one that no test has made before

        def interrupted(data):  # another thread makes the same meanwhile
            if not other:
                other.append(None)
                other[0] = device.constant(value)
            return upload(data)

        monkeypatch.setattr(device, "upload", interrupted)
        assert device.constant(value) is other[0]
        kept = {device.address(array) for array in device._constants.values()}
        assert device._constant_of.keys() <= kept


def test_a_count_asked_for_by_two_threads():
    """The second finds the number, not the place where it was, between its two questions."""
    with using_shim() as backend:
        device = backend.device
        count = device.counters()
        count[:1] = 2
        u = LateVector(device, 70, Vector(int, 1).dtype, device.zeros(2, np.uint64), device.zeros(70, np.int64), None)

        def late():  # meanwhile another thread has read it
            u.nvals = 2

        u._counter = late
        assert u.nvals == 2


@pytest.mark.parametrize("first", ["found", "parents"])
@pytest.mark.parametrize("loop", ["bfs", "sssp"])
def test_results_of_one_loop_change_apart(loop, first):
    """Both have the same presence words until one of them is written to."""
    n = 300
    with using_shim():
        A = Matrix.from_coo(np.arange(n - 1), np.arange(n - 1) + 1, np.ones(n - 1), nrows=n, ncols=n)
        A << A.ewise_add(A.T, binary.plus)
        ends = bfs(A, 0, parents=True) if loop == "bfs" else sssp(A, 0, predecessors=True)
        found, parents = (ends.levels, ends.parents) if loop == "bfs" else (ends.distances, ends.predecessors)
        changed, other = (found, parents) if first == "found" else (parents, found)
        before = other.dup().to_dict()
        del changed[7]
        changed(Vector.from_coo([9, 70], True, size=n).S) << 5
        changed[:3] << 1
        assert 7 not in changed and changed.get(70) == 5 and other.to_dict() == before
        other[11] << 4
        del other[70]
        assert other.get(11) == 4 and 70 not in other and 70 in changed and changed.get(11) != 4
