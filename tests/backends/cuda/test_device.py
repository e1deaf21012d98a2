"""The rule of place: operands move to the device at first use, results stay there, the host reads copies."""

import ctypes
import struct
from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda import backend as cuda
from grb_tile.backends.cuda.runtime import compile as jit
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.backends.cuda.runtime.launch import SHARED_LIMIT
from grb_tile.backends.cuda.runtime.mailbox import NOT_WRITTEN
from grb_tile.backends.cuda.structure import arrays
from grb_tile.exceptions import GraphblasException, JitError, OutOfMemory
from grb_tile.planner import tuning
from grb_tile.planner.device_limits import limits_of, restricted
from grb_tile.storage import constructors, place
from grb_tile.storage.store import StoredMask


def vector(n=100, step=7):
    """A vector whose store is on the host."""
    with select.using("cpu"):
        return gb.Vector.from_coo(np.arange(0, n, step), np.arange(0, n, step) * 1.5, size=n)


def test_operands_move_once_and_stay_as_they_are():
    u = vector()
    store = u._store
    with using_shim() as backend:
        first = backend.store_to_device(store)
        assert backend.store_to_device(store) is first and backend.store_to_device(first) is first
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
        column = constructors.column_matrix(u)
        assert [part.tolist() for part in backend.tuples_matrix(column)] == [[1, 4], [0, 0], [2.0, 3.0]]
        assert backend.tuples_vector(constructors.vector_of_column(backend.store_to_device(column)))[0].tolist() == [
            1,
            4,
        ]
        assert backend.tuples_matrix(constructors.row_matrix(u))[1].tolist() == [1, 4]
        iso = constructors.iso_like(u, dtypes.INT64, 7)
        assert place.first_value(iso) == 7 and backend.store_to_device(iso) is iso


def test_constants_are_made_once():
    device = Device(EmulatedLauncher())
    one = device.constant(np.float32(1))
    assert device.constant(1, np.float32) is one and device.constant(np.float64(1)) is not one
    assert device.known_constant(one) == np.float32(1)
    assert device.to_device(constructors.full_vector(5, dtypes.FP32, 1)).values is one


def test_counts_are_read_together():
    device = Device(EmulatedLauncher())
    assert device.read(device.array(np.array([3, 4])), device.full(1, 9, np.int32)) == [3, 4, 9]


@pytest.mark.parametrize("more", [[], [(np.uint8, [7, 255])], [(np.int16, [-1])], [(np.int64, list(range(700)))]])
def test_numbers_of_several_types_are_read_together(more):
    """Few of 4 or 8 bytes are polled for, others are waited for; each array begins at a word of its own."""
    device = Device(EmulatedLauncher())
    kept = (np.int32, [-(2**31), 5, 2**31 - 1]), *more, (np.uint64, [NOT_WRITTEN, 2**64 - 1]), (np.uint32, [2**32 - 1])
    for _ in range(2):  # the second time the words hold the numbers of the first
        found = device.read(*(device.array(np.array(numbers, type_)) for type_, numbers in kept))
        assert found == [x for _, numbers in kept for x in numbers] and {type(x) for x in found} == {int}


def test_out_of_memory_is_named_and_leaves_operands(monkeypatch):
    u = gb.Vector.from_coo([1, 4], [2.0, 3.0], size=10**8)
    with using_shim() as backend:
        with monkeypatch.context() as patch:
            patch.setattr(backend.device, "memory", lambda: (1000, 2000))
            with pytest.raises(OutOfMemory, match=r"812500000 bytes asked for .* 1000 of 2000 free"):
                backend.convert(u._store, "bitmap")

            def out_of_memory(*args):
                raise MemoryError("asked for 77 bytes")

            patch.setitem(backend._functions, ("structure.gather", "gather_vector"), out_of_memory)
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
    monkeypatch.setattr(cupy.cuda, "Device", lambda number: SimpleNamespace(id=0, compute_capability="61"))
    with pytest.raises(
        GraphblasException, match=r"capability 7\.5 or more .*device 0 has 6\.1: .*CUDA_VISIBLE_DEVICES.*\"cpu\""
    ):
        cuda.real_launcher()


def test_no_compiler_is_an_error_with_a_remedy(monkeypatch):
    import cupy
    from cupy_backends.cuda.libs import nvrtc

    def missing():
        raise RuntimeError("CuPy failed to load libnvrtc.so.13")

    monkeypatch.setattr(nvrtc, "getVersion", missing)
    with pytest.raises(JitError, match=r"libnvrtc\.so\.13\): pip install '\.\[cuda13\]'"):
        jit.compiled("", "f", 90)
    with gb.config.set(device=0):
        monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 1)
        monkeypatch.setattr(cupy.cuda, "Device", lambda number: SimpleNamespace(id=0, compute_capability="90"))
        before = gb.config.get("backend")
        monkeypatch.delitem(select._made, "cuda", raising=False)
        with pytest.raises(GraphblasException, match="NVRTC"):
            gb.config.set(backend="cuda")
        assert gb.config.get("backend") == before, "found out when the backend is chosen, not at the first kernel"


def test_no_cupy_is_an_error_with_a_remedy(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(GraphblasException, match=r"pip install '\.\[cuda13\]'"):
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
    u = arrays.counted_later(device, 70, dtypes.INT64, words, device.arange(70), count)
    assert not reads and u.format == "bitmap"
    assert u.nvals == 2 and u.nvals == 2 and len(reads) == 1
    assert [part.tolist() for part in shim().tuples_vector(u)] == [[0, 2], [0, 2]]
    assert place.host(u).nvals == 2 and gb.Vector._from_store(u).to_dict() == {0: 0, 2: 2}
    monkeypatch.setattr(tuning, "LIST_NS", 0)  # a list costs less than any bitmap
    fresh = device.counters()
    assert fresh.tolist() == [0, 0, 0, 0]
    assert (
        arrays.counted_later(
            device, 10**3, dtypes.INT64, device.zeros(16, np.uint64), device.arange(10**3), fresh
        ).format
        == "sparse"
    )


class FakeArray:
    """What a launch looks at: the address, which is 0 for an empty array as CuPy has it."""

    def __init__(self, pointer):
        self.data = SimpleNamespace(ptr=pointer)


class FakeDriver:
    """A launcher whose driver records (function, configuration, stream) and the 8 bytes of each argument."""

    processors = 2
    xp = SimpleNamespace(ndarray=FakeArray)
    hole = FakeArray(4096)
    recorder = None

    def __init__(self, count):
        self.count, self.seen = count, []

    def current_stream(self):
        return SimpleNamespace(ptr=5)

    def launch(self, *arguments):
        *configuration, pointers, extra = arguments
        assert extra == 0
        self.record(configuration, pointers)

    def launch_cooperative(self, *arguments):
        *configuration, pointers = arguments
        self.record([*configuration, "cooperative"], pointers)

    def record(self, configuration, pointers):
        addresses = (ctypes.c_uint64 * self.count).from_address(pointers)
        self.seen.append((configuration, [ctypes.c_int64.from_address(a).value for a in addresses]))

    def kernel(self):
        from grb_tile.backends.cuda.runtime.launch import Kernel

        return Kernel("k", SimpleNamespace(ptr=99), None, self)


@pytest.mark.parametrize("cooperative", [False, True])
def test_an_empty_array_is_no_null_pointer(cooperative):
    """CuPy's empty arrays have the pointer 0, which kernels read as "there is none": a DCSR matrix would become CSR."""
    driver = FakeDriver(5)
    driver.kernel()(1, 32, (None, FakeArray(0), FakeArray(2**40 + 8), 7, True), 64, cooperative)
    configuration = [99, 1, 1, 1, 32, 1, 1, 64, 5] + ["cooperative"] * cooperative
    assert driver.seen == [(configuration, [0, 4096, 2**40 + 8, 7, 1])]


def test_resident_blocks_depend_on_threads_and_shared_memory(monkeypatch):
    """The driver is asked once for each of both; a restricted device has no more than its limits say."""
    api = pytest.importorskip("cupy_backends.cuda.api")
    asked = []

    def occupancy(function, threads, shared):
        asked.append((threads, shared))
        return 2048 // threads - shared // 65536

    monkeypatch.setattr(
        api, "driver", SimpleNamespace(occupancyMaxActiveBlocksPerMultiprocessor=occupancy), raising=False
    )
    launcher = FakeDriver(1)
    launcher.limits = limits_of(90)
    kernel = launcher.kernel()
    monkeypatch.setattr(type(kernel), "allow_shared", lambda self, count: None)
    for _ in range(2):
        assert [kernel.resident_blocks(256), kernel.resident_blocks(256, 65536)] == [16, 14]
        assert [kernel.resident_blocks(512), kernel.resident_blocks(512, 65536)] == [8, 6]
    assert asked == [(256, 0), (256, 65536), (512, 0), (512, 65536)]
    launcher.limits = restricted(launcher.limits, "threads=512")
    assert launcher.kernel().resident_blocks(256) == 4


@pytest.mark.parametrize("how", ["call", "kept launch", "resident blocks"])
def test_much_shared_memory_is_allowed_before_it_is_asked_for(how, monkeypatch):
    """More than 48 KiB is an attribute of the kernel, set once for the most that was asked for until then."""
    api = pytest.importorskip("cupy_backends.cuda.api")
    events = []
    fake = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8,
        funcSetAttribute=lambda function, attribute, count: events.append(("allow", function, attribute, count)),
        occupancyMaxActiveBlocksPerMultiprocessor=lambda function, threads, shared: events.append(shared) or 1,
    )
    monkeypatch.setattr(api, "driver", fake, raising=False)
    launcher = FakeDriver(1)
    launcher.limits = limits_of(90)
    monkeypatch.setattr(launcher, "record", lambda configuration, pointers: events.append(configuration[7]))
    kernel = launcher.kernel()
    for shared in (100, SHARED_LIMIT, SHARED_LIMIT + 1, 100 << 10, 60 << 10, (100 << 10) + 1):
        if how == "call":
            kernel(1, 32, (7,), shared)
        elif how == "resident blocks":
            kernel.resident_blocks(256, shared)
        else:
            kernel.launch(1, 1, 32, shared)
            events.append(shared)
    allowed = [("allow", 99, 8, count) for count in (SHARED_LIMIT + 1, 100 << 10, (100 << 10) + 1)]
    assert events == [
        100, SHARED_LIMIT, allowed[0], SHARED_LIMIT + 1, allowed[1], 100 << 10, 60 << 10, allowed[2], (100 << 10) + 1,
    ]  # fmt: skip


def test_arguments_over_items():
    """The driver gets the address of 8 bytes for each argument."""
    driver = FakeDriver(6)
    kernel, empty, full = driver.kernel(), FakeArray(0), FakeArray(2**40 + 8)
    kernel.over(700, (None, empty, full, 7, True, -2))
    kernel.over(700, (full, None, full, 2**40, False, np.int32(3)))
    configuration = [99, 3, 1, 1, 256, 1, 1, 0, 5]
    assert driver.seen == [
        (configuration, [0, 4096, 2**40 + 8, 7, 1, -2]), (configuration, [2**40 + 8, 0, 2**40 + 8, 2**40, 0, 3]),
    ]  # fmt: skip
    driver.seen.clear()
    kernel.over(700, (None, empty, full, np.uint64(2**64 - 7), np.float32(0.5), 0.5))
    bits = [int(np.array(0.5, t).view(k)) for t, k in ((np.float32, np.int32), (np.float64, np.int64))]
    assert driver.seen == [(configuration, [0, 4096, 2**40 + 8, -7, *bits])]
    kernel.over(0, (None, empty, full, 7, True, -2))
    assert len(driver.seen) == 1
    kernel.over(10**6, (None, empty, full, 7, True, -2))
    kernel.over(10**6, (None, empty, full, 7, True, -2), 64, 3, 1000)
    assert [configuration for configuration, _ in driver.seen[1:]] == [
        [99, 64, 1, 1, 256, 1, 1, 0, 5], [99, 3, 1, 1, 64, 1, 1, 1000, 5],
    ]  # fmt: skip
    for args in ((None, empty, full, 7, True, "x"), (None, empty)):
        with pytest.raises(TypeError, match="k: no arguments of this kernel"):
            kernel.over(700, args)


@pytest.mark.parametrize("cooperative", [False, True])
@pytest.mark.parametrize("fixed", [(), (2**50, 3)])
def test_arguments_of_a_kept_launch(cooperative, fixed):
    """The driver gets the configuration, the stream, and the address of 8 bytes for each argument, the kept ones
    first."""
    driver = FakeDriver(3 + len(fixed))
    launch = driver.kernel().launch(3, 132, 1024, 64, cooperative, fixed)
    launch(5, 2**40, -1, np.int64(7))
    launch(6, 0, 2**62, True)
    shape, last = [99, 132, 1, 1, 1024, 1, 1, 64], ["cooperative"] * cooperative
    assert driver.seen == [([*shape, 5, *last], [*fixed, 2**40, -1, 7]), ([*shape, 6, *last], [*fixed, 0, 2**62, 1])]
    with pytest.raises(struct.error):
        launch(5, 2**40, -1)


def test_a_damaged_cubin_is_compiled_again(monkeypatch, tmp_path):
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path))
    compilations = []

    def fake(text, expression, arch, options, compile_source):
        compilations.append(expression)
        return "lowered", bytes(range(256))

    monkeypatch.setattr(jit, "compile_cubin", fake)
    monkeypatch.setattr(jit, "compiler", lambda: SimpleNamespace(getVersion=lambda: (13, 0)))
    wanted = ("lowered", bytes(range(256)))
    assert jit.compiled("text", "f", 90) == jit.compiled("text", "f", 90) == wanted
    assert len(compilations) == 1
    (path,) = (tmp_path / "cuda").iterdir()
    whole = path.read_bytes()
    for damaged in (b"", whole[:40], whole[:-1], whole[:100] + b"x" + whole[101:], whole + b"x"):
        path.write_bytes(damaged)
        assert jit.compiled("text", "f", 90) == wanted
        assert path.read_bytes() == whole
    assert len(compilations) == 6
    assert jit.compiled("text", "f", 80) == wanted  # another card has its own
    assert len(compilations) == 7


@pytest.mark.parametrize(("levels", "parents"), [(True, False), (False, True), (True, True)])
def test_results_of_a_search_lie_apart(levels, parents):
    from grb_tile.backends.cuda.graph.outcome import _layout

    for n in (1, 63, 64, 1000):
        fields, total = _layout(n, levels, parents, 40)
        assert [field is not None for field in fields] == [levels, parents, True, True]
        ends = 0
        for (count,), dtype, start in filter(None, fields):
            assert start >= ends and start % 256 == 0
            ends = start + count * dtype.itemsize
        assert ends <= total


def test_masks_move_too():
    u = vector(10, 3)
    allow = StoredMask(u._store, complement=True)
    moved = shim().device.mask_to_device(allow)
    assert moved.complement and isinstance(moved.pattern.values, shim().device.array_class)
    assert shim().device.mask_to_device(moved) is moved and shim().device.mask_to_device(None) is None
