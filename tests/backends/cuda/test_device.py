"""The rule of place: operands move to the device at first use, results stay there, the host reads copies."""

from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from cuda_emulation.launcher import SimtLauncher
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda import backend as cuda
from grb_tile.backends.cuda.runtime import compile as jit
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.backends.cuda.structure import entries
from grb_tile.exceptions import GraphblasException, IndexOutOfBound, JitError, OutOfMemory
from grb_tile.storage import embed, place
from grb_tile.storage.store import Allow


def vector(n=100, step=7):
    """A vector whose store is on the host."""
    with select.using("cpu"):
        return gb.Vector.from_coo(np.arange(0, n, step), np.arange(0, n, step) * 1.5, size=n)


def test_operands_move_once_and_stay_as_they_are():
    u = vector()
    store = u._store
    with using_shim() as backend:
        first = backend.own(store)
        assert backend.own(store) is first and backend.own(first) is first
        assert (
            isinstance(first.values, shim().device.array_class)
            and type(store.values) is np.ndarray
            and u._store is store
        )


def test_results_stay_on_the_device_and_are_read_by_the_host():
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    with using_shim():
        T = A.T.new()
        assert isinstance(T._store.values, shim().device.array_class)
        assert T[1, 0].new().value == 1.0 and T.get(0, 2) == 3.0 and T.get(0, 0) is None
        assert "3" in repr(T) and T.to_csr()[0].tolist() == [0, 1, 2, 3]
        T[0, 0] = 9.0
        assert T.nvals == 4 and T.to_coo()[2].tolist() == [9.0, 3.0, 1.0, 2.0]
    assert T.nvals == 4


@pytest.mark.parametrize("name", ["cpu", "numpy", "reference"])
def test_host_backends_take_device_stores_afterwards(name):
    with using_shim():
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
        v = gb.Vector.from_coo([0, 1, 2], [0.0, 1.5, 3.0], size=3)
        M = gb.Vector.from_coo([0, 2], True, size=3)
        mask = M.dup()
        for x in (A, v, mask):
            assert isinstance(x._store.values, shim().device.array_class)
    with select.using(name):
        w = gb.Vector(dtypes.FP64, 3)
        w(mask.S) << A.mxv(v)
        assert type(w._store.values) is np.ndarray and w.to_dict() == {0: 1.5, 2: 0.0}
        assert A.T.new().isequal(gb.Matrix.from_coo([1, 2, 0], [0, 1, 2], [1.0, 2.0, 3.0]))
        assert v.reduce().new().value == 4.5


def test_masked_updates_while_operands_lie_in_both_places():
    u = vector(64, 1)  # a full bitmap on the host, which a CPU backend would update in place
    before = u.dup()
    with using_shim():
        t = gb.Vector.from_coo([3, 5], [1.0, 2.0], size=64)
        u(t.S) << t
        assert u[3].new().value == 1.0 and u.nvals == 64
        u(accum=gb.binary.plus) << t
        assert u[5].new().value == 4.0
    assert before[3].new().value == 4.5


def test_pickles_and_files_hold_host_arrays(tmp_path):
    import pickle

    with using_shim():
        v = gb.Vector.from_coo([1, 4], [2.0, 3.0], size=9)
        again = pickle.loads(pickle.dumps(v))
    assert again.isequal(v) and type(again._store.values) is np.ndarray


def test_relabelling_of_device_stores():
    with using_shim() as backend:
        u = gb.Vector.from_coo([1, 4], [2.0, 3.0], size=9)._store
        column = embed.column_matrix(u)
        assert [part.tolist() for part in backend.tuples_matrix(column)] == [[1, 4], [0, 0], [2.0, 3.0]]
        assert backend.tuples_vector(embed.vector_of_column(backend.own(column)))[0].tolist() == [1, 4]
        assert backend.tuples_matrix(embed.row_matrix(u))[1].tolist() == [1, 4]
        iso = embed.iso_like(u, dtypes.INT64, 7)
        assert place.first_value(iso) == 7 and backend.own(iso) is iso


def test_constants_are_made_once():
    device = Device(SimtLauncher())
    one = device.constant(np.float32(1))
    assert device.constant(1, np.float32) is one and device.constant(np.float64(1)) is not one
    assert device.known_constant(one) == np.float32(1)
    assert device.own(embed.full_vector(5, dtypes.FP32, 1)).values is one


def test_counts_are_read_together():
    device = Device(SimtLauncher())
    assert device.read(device.array(np.array([3, 4])), device.full(1, 9, np.int32)) == [3, 4, 9]


def test_a_kernel_reports_an_error():
    device = Device(SimtLauncher())
    text = """namespace grb { __global__ void check(const int64_t* i, int64_t n, int64_t bound, unsigned long long* error) {
      GRB_EACH(k, n) if (i[k] >= bound) report(error, 2, k, i[k]);
    } }"""
    kernel = device.launcher.kernel("base/errors.cuh", "check", text)
    for values, bad in (([1, 2], False), ([1, 12], True), ([3], False)):
        kernel.over(len(values), (device.array(np.array(values)), len(values), 10, device.errors.arm("extract")))
        if bad:
            with pytest.raises(IndexOutOfBound, match=r"extract: .* error 2, details \[1, 12, 0\]"):
                device.synchronize()
        else:
            device.synchronize()


def test_out_of_memory_is_named_and_leaves_operands(monkeypatch):
    u = gb.Vector.from_coo([1, 4], [2.0, 3.0], size=10**8)
    with using_shim() as backend:
        with monkeypatch.context() as patch:
            patch.setattr(backend.device, "memory", lambda: (1000, 2000))
            with pytest.raises(OutOfMemory, match=r"812500000 bytes asked for .* 1000 of 2000 free"):
                backend.convert(u._store, "bitmap")

            def out_of_memory(*args):
                raise MemoryError("asked for 77 bytes")

            patch.setitem(backend._functions, ("structure.structure", "gather_vector"), out_of_memory)
            with pytest.raises(OutOfMemory, match="gather_vector: asked for 77 bytes; 1000 of 2000 bytes are free"):
                backend.gather_vector(u._store, np.array([1]))
        assert u.to_dict() == {1: 2.0, 4: 3.0}


def test_no_device_is_an_error_with_a_remedy(monkeypatch):
    import cupy

    def no_driver():
        raise cupy.cuda.runtime.CUDARuntimeError(35)

    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", no_driver)
    with pytest.raises(GraphblasException, match=r'no usable NVIDIA driver .*gb\.config\.set\(backend="cpu"\)'):
        cuda.real_launcher()
    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 0)
    with pytest.raises(GraphblasException, match="found no NVIDIA device"):
        cuda.real_launcher()


def test_an_old_device_is_an_error_with_a_remedy(monkeypatch):
    import cupy

    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 1)
    monkeypatch.setattr(cupy.cuda, "Device", lambda: SimpleNamespace(id=0, compute_capability="61"))
    with pytest.raises(
        GraphblasException, match=r"capability 7\.0 or more .*device 0 has 6\.1: .*CUDA_VISIBLE_DEVICES.*\"cpu\""
    ):
        cuda.real_launcher()


def test_no_compiler_is_an_error_with_a_remedy(monkeypatch):
    import cupy
    from cupy_backends.cuda.libs import nvrtc

    def missing():
        raise RuntimeError("CuPy failed to load libnvrtc.so.13")

    monkeypatch.setattr(nvrtc, "getVersion", missing)
    with pytest.raises(JitError, match=r'libnvrtc\.so\.13\): pip install "grb-tile\[cuda13\]"'):
        jit.compiled("", "f", 90)
    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 1)
    monkeypatch.setattr(cupy.cuda, "Device", lambda: SimpleNamespace(id=0, compute_capability="90"))
    before = gb.config.get("backend")
    monkeypatch.delitem(select._made, "cuda", raising=False)
    with pytest.raises(GraphblasException, match="NVRTC"):
        gb.config.set(backend="cuda")
    assert gb.config.get("backend") == before, "found out when the backend is chosen, not at the first kernel"


def test_no_cupy_is_an_error_with_a_remedy(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(GraphblasException, match=r'pip install "grb-tile\[cuda13\]"'):
        cuda.real_launcher()


def test_a_refused_option_keeps_the_old_value(monkeypatch):
    before = gb.config.get("backend")
    with pytest.raises(GraphblasException):
        gb.config.set(backend="abacus")
    assert gb.config.get("backend") == before and gb.Vector.from_coo([0], [1]).nvals == 1


def test_auto_is_the_cpu_without_a_device(monkeypatch):
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    assert select.named("auto").name == "cpu"
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    assert select.named("auto") is shim()


def test_an_entry_count_is_read_when_asked_for(monkeypatch):
    device = shim().device
    reads = []
    whole = device.read_count
    monkeypatch.setattr(device, "read_count", lambda *arrays: reads.append(arrays) or whole(*arrays))
    count = device.counters()
    count[0] = 2
    words = device.array(np.array([5, 0], np.uint64))
    u = entries.counted_later(device, 70, dtypes.INT64, words, device.arange(70), count)
    assert not reads and u.format == "bitmap"
    assert u.nvals == 2 and u.nvals == 2 and len(reads) == 1
    assert [part.tolist() for part in shim().tuples_vector(u)] == [[0, 2], [0, 2]]
    assert place.host(u).nvals == 2 and gb.Vector._from_store(u).to_dict() == {0: 0, 2: 2}
    monkeypatch.setattr(entries, "LATER_SIZE", 8)
    fresh = device.counters()
    assert fresh.tolist() == [0, 0, 0, 0]
    assert (
        entries.counted_later(
            device, 10**3, dtypes.INT64, device.zeros(16, np.uint64), device.arange(10**3), fresh
        ).format
        == "sparse"
    )


def test_an_empty_array_is_no_null_pointer():
    """CuPy's empty arrays have the pointer 0, which kernels read as "there is none": a DCSR matrix would become CSR."""
    from grb_tile.backends.cuda.runtime.compile import Kernel

    launches = []
    launcher = SimpleNamespace(processors=2, xp=shim().device.xp, hole=shim().device.zeros(1, np.int64))
    kernel = Kernel("k", lambda grid, block, args, *rest: launches.append(args), None, launcher)
    empty, full = shim().device.empty(0, np.int64), shim().device.zeros(3, np.int64)
    kernel(1, 32, (None, empty, full, 7, True))
    (args,) = launches
    assert args[0] == 0 and args[1] is launcher.hole and args[2] is full and args[3:] == [7, True]


def test_arguments_of_the_quick_launch():
    """The driver gets the address of 8 bytes for each argument; floats go CuPy's way."""
    from ctypes import c_int64, c_uint64

    from grb_tile.backends.cuda.runtime.compile import Kernel

    class Array:
        def __init__(self, pointer, size=3):
            self.data, self.size = SimpleNamespace(ptr=pointer), size

    class Function:
        ptr, calls = 99, []

        def __call__(self, grid, block, args, *rest):
            self.calls.append((grid, block, args))

    def launch(function, *configuration):
        *configuration, stream, pointers, extra = configuration
        assert (function, configuration, stream, extra) == (99, [3, 1, 1, 256, 1, 1, 0], 5, 0)
        seen.append([c_int64.from_address(place).value for place in (c_uint64 * 6).from_address(pointers)])

    seen, function = [], Function()
    launcher = SimpleNamespace(
        processors=2,
        xp=SimpleNamespace(ndarray=Array),
        hole=Array(4096),
        launch=launch,
        current_stream=lambda: SimpleNamespace(ptr=5),
    )
    kernel = Kernel("k", function, None, launcher)
    empty, full = Array(0, 0), Array(2**40 + 8)
    kernel.over(700, (None, empty, full, 7, True, -2))
    kernel.over(700, (full, None, full, 2**40, False, np.int32(3)))
    assert seen == [[0, 4096, 2**40 + 8, 7, 1, -2], [2**40 + 8, 0, 2**40 + 8, 2**40, 0, 3]]
    kernel.over(700, (None, empty, full, 7, True, 0.5))
    assert len(seen) == 2 and function.calls == [((3,), (256,), [0, launcher.hole, full, 7, True, 0.5])]
    kernel.over(0, (None, empty, full, 7, True, -2))
    assert len(seen) == 2 and len(function.calls) == 1


@pytest.mark.parametrize("cooperative", [False, True])
def test_arguments_of_a_search(cooperative, monkeypatch):
    """The driver gets the configuration, the stream, and the address of 8 bytes for each argument."""
    from ctypes import c_int64, c_uint64

    from cupy_backends.cuda.api import driver

    from grb_tile.backends.cuda.runtime.launch import QuickLaunch

    seen = []

    def launch(*arguments):
        *configuration, pointers = arguments if cooperative else arguments[:-1]
        seen.append(
            (configuration, [c_int64.from_address(place).value for place in (c_uint64 * 3).from_address(pointers)])
        )

    monkeypatch.setattr(driver, "launchCooperativeKernel" if cooperative else "launchKernel", launch)
    search = QuickLaunch(SimpleNamespace(function=SimpleNamespace(ptr=99)), 3, 132, 1024, 64, cooperative)
    search(5, 2**40, -1, np.int64(7))
    search(6, 0, 2**62, True)
    shape = [99, 132, 1, 1, 1024, 1, 1, 64]
    assert seen == [([*shape, 5], [2**40, -1, 7]), ([*shape, 6], [0, 2**62, 1])]


@pytest.mark.parametrize(("levels", "parents"), [(True, False), (False, True), (True, True)])
def test_results_of_a_search_lie_apart(levels, parents):
    from grb_tile.backends.cuda.runtime.launch import _TYPES, _layout

    for n in (1, 63, 64, 1000):
        shapes, starts, total = _layout(n, levels, parents, 40)
        assert [start is not None for start in starts] == [levels, parents, True, True]
        ends = 0
        for (count,), start, dtype in zip(shapes, starts, _TYPES, strict=True):
            if start is not None:
                assert start >= ends and start % 256 == 0
                ends = start + count * dtype.itemsize
        assert ends <= total


def test_masks_move_too():
    u = vector(10, 3)
    allow = Allow(u._store, complement=True)
    moved = shim().device.own_allow(allow)
    assert moved.complement and isinstance(moved.pattern.values, shim().device.array_class)
    assert shim().device.own_allow(moved) is moved and shim().device.own_allow(None) is None
