"""Two devices, emulated: where objects reside, moves, threads, and what a device keeps for later launches."""

import contextvars
import gc
import threading

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation import arrays
from cuda_emulation.backend import EMULATED, shim, using_shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile import algorithms as alg
from grb_tile.backends import guard, select
from grb_tile.backends.cuda.backend import CudaBackend
from grb_tile.exceptions import GraphblasException, InvalidValue
from grb_tile.storage import place
from support import seeds

pytestmark = pytest.mark.skipif(not EMULATED, reason="tests/gpu/test_devices.py has these on devices")


@pytest.fixture
def devices(monkeypatch):
    """Two devices, whose arrays and kernels do not mix."""
    shim()  # has its place among the backends before they are copied
    monkeypatch.setattr(select, "_made", {k: v for k, v in select._made.items() if not v.on_device})
    monkeypatch.setattr(select, "_active", None)
    monkeypatch.setattr(place, "_devices", {})
    made = []
    for number in range(2):
        backend = CudaBackend(launcher=EmulatedLauncher(number=number, several=True))
        made.append(select.register("cuda:1" if number else "cuda", backend))
    config = gb.config.set(backend="cuda")
    with config:
        yield made
        arrays.bind(0)


def operands(n=40):
    """A graph and a full vector on the host."""
    with select.using("cpu"):
        return graph(n), gb.Vector.from_dense(np.arange(float(n)))


def graph(n=40):
    at = np.arange(n)
    return gb.Matrix.from_coo(at, (at * 7 + 1) % n, at + 1.0, nrows=n, ncols=n)


def product(A, v):
    """A' v by both methods, an element and a sum: launches of several kinds."""
    with gb.plan(force="cols"):
        w = v.vxm(A).new()
    with gb.plan(force="rows"):
        assert w.isequal(A.T.mxv(v).new())
    return w, w[1].new().value, w.reduce().new().value


def test_a_block_computes_on_its_device(devices):
    A, v = operands()
    with select.using("reference"):
        want = product(A, v)
    assert A.device == v.device == "cpu"
    assert select.current() is devices[0]
    first = product(A, v)
    with gb.device(1):
        assert select.current() is devices[1] and arrays.current_number() == 1
        second = product(A, v)
        with gb.device(0):
            assert select.current() is devices[0] and arrays.current_number() == 0
        assert select.current() is devices[1] and arrays.current_number() == 1
    assert select.current() is devices[0] and arrays.current_number() == 0
    assert (first[0].device, second[0].device) == ("cuda:0", "cuda:1")
    for got in (first, second):
        assert got[0].to_dict() == want[0].to_dict() and got[1:] == want[1:]
    assert {key for key in A._store.forms if key[0] == "device"} == {("device", 0), ("device", 1)}


def test_the_configured_device_holds_for_the_process(devices):
    A, v = operands()
    found = []
    with gb.config.set(device=1):
        assert select.current() is devices[1] and arrays.current_number() == 1
        thread = threading.Thread(target=lambda: found.append((product(A, v)[0].device, arrays.current_number())))
        thread.start()
        thread.join()
    assert found == [("cuda:1", 0)], "a new thread computes on device 1, and its own current device is as it was"
    assert select.current() is devices[0] and select.named("cuda") is devices[0]
    with gb.config.set(backend="cpu"), gb.config.set(device=1):
        assert not select.current().on_device and select.on_device() is devices[1]
        with gb.config.set(backend="cuda"):
            assert select.current() is devices[1]


@pytest.mark.parametrize("format", ["sparse", "bitmap", "full", "iso", "csr", "dcsr", "late"])
def test_moves_are_explicit(devices, format):
    x = {
        "sparse": lambda: gb.Vector.from_coo([3, 900], [1.5, 2.5], size=1000),
        "bitmap": lambda: gb.Vector.from_coo(np.arange(0, 64, 2), np.arange(32.0), size=64),
        "full": lambda: gb.Vector.from_dense(np.arange(5.0)),
        "iso": lambda: gb.Vector.from_coo([1, 2], 7.0, size=5),
        "csr": graph,
        "dcsr": lambda: gb.Matrix.from_coo([2**40], [5], [1.0], nrows=2**41, ncols=9),
        "late": lambda: gb.Vector.from_dense(np.arange(40.0)).vxm(graph()).new(),
    }[format]()
    x = x.to_device("cuda:0")
    assert x.device == "cuda:0" and x.to_device("cuda") is x and x.to_device("cuda:0") is x
    y = x.to_device("cuda:1")
    assert (x.device, y.device) == ("cuda:0", "cuda:1")
    with gb.device(1):
        assert y.apply(gb.unary.ainv).new().device == "cuda:1"
        with pytest.raises(InvalidValue, match=r'resides on cuda:0, and cuda:1 computes.*to_device\("cuda:1"\)'):
            x.apply(gb.unary.ainv).new()
        assert x.device == "cuda:0" and y.to_device("cuda").device == "cuda:1"
    host = y.to_device("cpu")
    assert host.device == "cpu" and host.to_device("cpu") is host
    assert host.isequal(x.to_device("cpu")) and y.to_device("cuda:0").isequal(x)
    assert y.to_coo()[-1].tolist() == x.to_coo()[-1].tolist(), "the host reads from every device"


def test_loops_and_products_report_the_same_device(devices):
    for number, name in enumerate(("cuda", "cuda:1")):
        with gb.device(number):
            A = graph().to_device(f"cuda:{number}")
            alg.bfs(A, 0), alg.sssp(A, 0), alg.connected_components(A, method="afforest")
            gb.Vector.from_dense(np.ones(40)).vxm(A, "min_plus").new()
            ran = {plan.operation: plan.engine for plan in gb.explain(0).plans}
            assert [ran.get(what) for what in ("bfs", "sssp", "components", "matvec")] == [name] * 4


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_structures_stay_on_the_host(devices, device):
    pair = gb.dtypes.register_anonymous(np.dtype([("a", "i4"), ("b", "f8")]))
    v = gb.Vector.from_coo([1, 70], np.array([(1, 2.5), (3, 4.5)], pair.np_type), dtype=pair, size=128)
    for x in (v, v.diag()):
        with pytest.raises(InvalidValue, match=f"user-defined type .* no form on '{device}'"):
            x.to_device(device)
        assert x.to_device("cpu") is x and x.nvals == 2


@pytest.mark.parametrize("device", ["gpu", 1, None, "cuda:-1", "cuda:x", "cuda:", "cpu:1"])
def test_names_of_no_device(devices, device):
    with pytest.raises(InvalidValue, match="is no device|is not known"):
        graph().to_device(device)


@pytest.mark.parametrize("number", [-1, 1.0, "1", None, True])
def test_numbers_of_no_device(devices, number):
    with pytest.raises(InvalidValue, match="is no number of a device"), gb.device(number):
        pass
    with pytest.raises(InvalidValue, match="is no number of a device|device=None; its default is 0"):
        gb.config.set(device=number)
    assert gb.config.get("device") == 0 and select.current() is devices[0]


def test_a_device_that_is_not_there(devices, monkeypatch):
    import cupy

    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 2)
    A = graph()
    for choose in (lambda: gb.config.set(device=5), lambda: A.to_device("cuda:5"), gb.device(5).__enter__):
        with pytest.raises(GraphblasException, match="no device 5; this machine has 2, of numbers 0 to 1"):
            choose()
    assert gb.config.get("device") == 0 and select.current() is devices[0]


def threads_of(work, count, context=True):
    """work(k) in `count` threads at once; the errors that they raised."""
    raised, start = [], threading.Barrier(count)

    def call(k):
        start.wait()
        try:
            work(k)
        except BaseException as error:  # noqa: BLE001  a thread's error must reach the test
            raised.append(error)

    contexts = [contextvars.copy_context() for _ in range(count)]
    threads = [
        threading.Thread(target=contexts[k].run if context else call, args=(call, k) if context else (k,))
        for k in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_eight_threads_of_one_device():
    """Operands, cached forms, kept accumulators and read-backs are shared."""
    n = 300
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    rows, cols = rng.integers(0, n, (2, 900))
    starts = [rng.integers(0, n, 20) for _ in range(8)]

    def work(A, k):
        v = gb.Vector.from_coo(starts[k], np.arange(20) + k, size=n, dup_op=gb.binary.max)
        found = []
        for turn in range(4):
            w = v.vxm(A, gb.semiring.plus_times).new() if (turn + k) & 1 else A.T.mxv(v, gb.semiring.plus_times).new()
            w(v.S) << w.apply(gb.binary.plus, right=1.0)
            found.append((w.nvals, w.reduce().new().value, w.get(int(starts[k][turn]))))
            v = w.select("<", 1e6).new() if w.nvals else v
        return found

    want, got = {}, {}
    with select.using("numpy"):
        values = rng.integers(1, 9, 900).astype(float)
        A = gb.Matrix.from_coo(rows, cols, values, nrows=n, ncols=n, dup_op=gb.binary.plus)
        for k in range(8):
            want[k] = work(A, k)
    with using_shim():
        A = gb.Matrix.from_coo(*A.to_coo(), nrows=n, ncols=n)
        assert not threads_of(lambda k: got.update({k: work(A, k)}), 8)
    assert got == want, f"seed {seeds.SEED}"


def test_two_devices_from_two_threads(devices):
    A, v = operands()
    with select.using("reference"):
        want, got = product(A, v)[1:], {}

    def work(k):
        with gb.device(k):
            for _ in range(3):
                w, *numbers = product(A, v)
                got.setdefault(k, []).append((w.device, tuple(numbers)))

    assert not threads_of(work, 2, context=False)
    assert got == {k: [(f"cuda:{k}", want)] * 3 for k in range(2)}


def test_the_host_reads_from_one_device_while_a_thread_has_the_other(devices):
    """No lock of the device in use is held meanwhile: two threads that read from each other's would wait for ever."""
    with gb.device(1):
        A, v = (x.to_device("cuda") for x in operands())
    want, got = (v.to_coo(), A.to_coo()), []
    assert v.device == A.device == "cuda:1" and select.current() is devices[0]
    with devices[0].device.lock:
        thread = threading.Thread(target=lambda: got.extend((v.to_coo(), A.to_coo())), daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
    assert [[x.tolist() for x in one] for one in got] == [[x.tolist() for x in one] for one in want]


def test_a_merge_does_not_begin_under_the_lock_of_a_device():
    """Another thread that merges waits for the device: in the other order both would wait for ever."""
    with using_shim() as backend:
        v = gb.Vector.from_dense(np.arange(40.0))
        v[3] = 7.0
        thread = threading.Thread(target=contextvars.copy_context().run, args=(gb.io.to_cupy, v), daemon=True)
        with select.current().merging:
            thread.start()
            thread.join(0.5)
            assert thread.is_alive() and backend.device.lock.acquire(timeout=60)
            backend.device.lock.release()
        thread.join(60)
        assert not thread.is_alive()


def test_work_of_another_device_waits_for_this_one(devices, monkeypatch):
    """An array of device 0 is handed out while device 1 is current, whose stream device 0 does not take for its own."""
    device, waited = devices[0].device, []
    monkeypatch.setattr(device, "synchronize", lambda: waited.append(arrays.current_number()))
    stream = device.stream
    with gb.device(1):
        device.current_stream = lambda: "of device 1"
        device.in_order()
    assert waited == [1] and device.stream is stream


def test_a_stream_of_a_thread_waits_for_those_of_others(devices):
    """Every primitive of a thread comes after the work of the thread before it, whatever their streams."""
    device, log, at = devices[0].device, [], threading.local()

    class Stream:
        def __init__(self, ptr):
            self.ptr = ptr

        def synchronize(self):
            """Nothing to wait for."""

        def wait_event(self, event):
            log.append((event, self.ptr))

    class Event:
        def __init__(self, disable_timing):
            pass

        def record(self, stream):
            self.stream = stream.ptr

    device.current_stream = lambda: at.stream
    before = device.xp.cuda.Event
    device.xp.cuda.Event = Event
    A, v = operands()
    try:
        at.stream = Stream(0)
        v.apply(gb.unary.ainv).new()

        def work(k):
            at.stream = Stream(k + 1)
            for _ in range(3):
                v.apply(gb.unary.ainv).new()
            A.T.new()

        assert not threads_of(work, 4)
    finally:
        device.xp.cuda.Event = before
    assert log and all(event.stream != ptr for event, ptr in log)
    ordered = [0] + [ptr for _, ptr in log]
    assert [event.stream for event, _ in log] == ordered[:-1], "each stream waits for the one that had work before it"


def test_what_products_keep_goes_with_the_last_matrix_that_uses_it():
    with using_shim() as backend, gb.plan(force="cols"):
        device = backend.device
        A, B = graph(77), graph(77)
        v = gb.Vector.from_coo([1, 5], [1.0, 2.0], size=77)
        for X in (A, B, A):
            v.vxm(X).new()
        keys = {key for key in device._kept if key[0] == 77}
        assert keys and any(device._kept[key].item for key in keys)
        del X
        for gone in (A, B):
            assert keys <= set(device._kept)
            gone.clear()
            gc.collect()
        assert not keys & set(device._kept)


def test_overlapping_blocks_of_two_threads():
    """Each thread leaves its own block: neither the process nor the other thread is on "reference" then."""
    before, inside, left = select.current(), threading.Event(), threading.Event()
    seen = []

    def first():
        with gb.plan(force="reference"):
            inside.set()
            left.wait()
            seen.append(select.current().name)
        seen.append(select.current() is before)

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait()
    with gb.plan(force="numpy"), select.using("reference"):
        assert select.current().name == "reference"
        left.set()
        thread.join()
        assert select.current().name == "reference"
    assert seen == ["reference", True] and select.current() is before


def test_forms_that_another_thread_adds_while_they_are_dropped():
    class Key(tuple):
        """A form's key; asked for its hash while forms are dropped, another thread adds one."""

        __slots__ = ()

        def __hash__(self):
            if dropping:
                store.forms["late", len(store.forms)] = None
            return 1

    dropping = []
    with using_shim() as backend:
        A = graph(5)
        store = A._store
        assert not place.is_host(store)
        store.forms = {Key((k,)): None for k in range(5)}
        dropping.append(True)
        assert backend.device._drop() >= 5
        dropping.clear()
        assert not any(isinstance(key, Key) for key in store.forms)


def test_in_edges_of_a_device_are_copied_for_a_host_backend():
    class Looking(select._class_of("numpy")):
        def sssp(self, A, in_edges, source, heaviest, delta=None, tree=False, fallback=True):
            return place.is_host(A) and place.is_host(in_edges())

    with using_shim() as backend:
        store = graph(9)._store
        reverse = backend.transpose(store)
        assert not place.is_host(reverse)
    assert guard.guarded(Looking()).sssp(store, lambda: reverse, 0, 9)
