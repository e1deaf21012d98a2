"""Out of memory on the device: derived forms make room, the call runs once more, and what still fails is named."""

import ctypes
import gc
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile.backends import select
from grb_tile.backends.cuda.runtime import mailbox, memory, moves
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.backends.cuda.runtime.errors import on_device
from grb_tile.exceptions import OutOfMemory, Panic
from grb_tile.storage import place


@pytest.fixture(autouse=True)
def on_the_shim():
    gc.collect()
    with using_shim():
        memory.drop_forms()  # of other tests
        yield


class Limit:
    """Stands before a function of the backend: fails while derived forms are there (or for ever), and counts its
    calls."""

    def __init__(self, monkeypatch, module, name, store=None, error=None):
        self.inner = shim()._find(module, name)
        self.store, self.error, self.calls = store, error or MemoryError("asked for 77 bytes"), 0
        monkeypatch.setitem(shim()._functions, (module, name), self)

    def __call__(self, device, *args):
        self.calls += 1
        if self.store is None or "transpose" in (self.store.forms or {}):
            temporary = device.zeros(1000, np.int64)  # of the failing try
            self.held = weakref.ref(temporary)
            raise type(self.error)(*self.error.args)
        return self.inner(device, *args)


def matrix():
    """A matrix on the device with its transpose."""
    A = gb.Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 2], [1.0, 2.0, 3.0, 4.0], nrows=3, ncols=3)
    assert not place.is_host(A._store)
    A.T.new()
    assert "transpose" in A._store.forms
    return A


def test_forms_make_room_and_the_call_runs_again(monkeypatch):
    A = matrix()
    limit = Limit(monkeypatch, "structure.gather", "gather_matrix", A._store)
    B = A[[2, 1, 0], [0, 1, 2]].new()
    assert limit.calls == 2 and B.to_dicts() == {0: {0: 3.0, 2: 4.0}, 1: {2: 2.0}, 2: {1: 1.0}}
    assert A.T.new().to_dicts() == {0: {2: 3.0}, 1: {0: 1.0}, 2: {1: 2.0, 2: 4.0}}, "what was dropped is made again"


def test_it_runs_once_more_only(monkeypatch):
    A = matrix()
    limit = Limit(monkeypatch, "structure.gather", "gather_matrix")
    monkeypatch.setattr(shim().device, "memory", lambda: (1000, 2000))
    with pytest.raises(OutOfMemory, match="gather_matrix: asked for 77 bytes; 1000 of 2000 bytes are free"):
        A[[2, 1, 0], [0, 1, 2]].new()
    assert limit.calls == 2
    memory.drop_forms()
    with pytest.raises(OutOfMemory):  # nothing left to drop
        A[[2, 1, 0], [0, 1, 2]].new()
    assert limit.calls == 3 and A.nvals == 4


def test_the_failed_try_holds_nothing_when_the_second_begins(monkeypatch):
    A = matrix()
    limit = Limit(monkeypatch, "structure.gather", "gather_matrix")
    seen = []
    drop = memory.drop_forms

    def dropping(is_there):
        seen.append(limit.held())
        return drop(is_there)

    monkeypatch.setattr("grb_tile.backends.cuda.runtime.device.drop_forms", dropping)
    with pytest.raises(OutOfMemory):
        A[[2, 1, 0], [0, 1, 2]].new()
    assert seen == [None], "arrays of the first try were alive while room was made"


def test_a_request_that_is_foreseen_to_fail_makes_room_too(monkeypatch):
    A = matrix()
    device, asked = shim().device, []
    u = gb.Vector.from_coo([1, 4], [2.0, 3.0], size=10**8)

    def free():
        asked.append("transpose" in A._store.forms)
        return (1000, 2000)

    monkeypatch.setattr(device, "memory", free)
    with pytest.raises(OutOfMemory, match=r"812500000 bytes asked for .* 1000 of 2000 free"):
        shim().convert(u._store, "bitmap")
    assert asked == [True, False] and u.to_dict() == {1: 2.0, 4: 3.0}


def test_what_is_dropped_and_what_stays():
    with select.using("cpu"):
        host = gb.Vector.from_coo([1, 5], [2.0, 3.0], size=1000)._store
    there = shim().store_to_device(host)
    A = matrix()._store
    A.forms.update(host="kept", iso_value=3, last_direction="rows", tiled=object())
    host.forms["words"] = "on the host"
    assert memory.drop_forms() >= 3
    assert A.forms == {"host": "kept", "iso_value": 3, "last_direction": "rows"} and host.forms == {
        "words": "on the host"
    }
    assert shim().store_to_device(host) is not there and memory.drop_forms() == 1
    assert memory.drop_forms() == 0


def test_a_search_runs_again_too(monkeypatch):
    from grb_tile.algorithms import bfs

    A = matrix()
    before = bfs(A, 0).levels.to_dict()
    assert "traverse" in A._store.forms
    results = "grb_tile.backends.cuda.graph.bfs.results_of"
    from grb_tile.backends.cuda.graph import bfs as traverse

    whole, calls = traverse.results_of, []

    def limited(*args):
        calls.append(1)
        if len(calls) == 1:
            raise MemoryError("asked for 9 bytes")
        return whole(*args)

    monkeypatch.setattr(results, limited)
    assert bfs(A, 0).levels.to_dict() == before and len(calls) == 2

    def never(*args):
        raise MemoryError("asked for 9 bytes")

    monkeypatch.setattr(results, never)
    with pytest.raises(OutOfMemory, match="traverse: asked for 9 bytes"):
        bfs(A, 0)


def test_moving_an_operand_there_is_named(monkeypatch):
    A = matrix()

    def full(*args):
        raise MemoryError("asked for 5 bytes")

    with monkeypatch.context() as patch:
        patch.setattr(moves, "uploaded", full)
        fresh = gb.Vector._from_store(memory.SparseVector(3, gb.dtypes.FP64, np.array([0], np.int32), np.array([1.0])))
        with pytest.raises(OutOfMemory, match="move_store: asked for 5 bytes"):
            A.mxv(fresh).new()
    assert A.mxv(fresh).new().to_dict() == {2: 3.0}


class CUDARuntimeError(RuntimeError):
    """By name, as errors.py knows CuPy's."""


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (
            CUDARuntimeError("cudaErrorMemoryAllocation: out of memory"),
            OutOfMemory,
            "gather_matrix: cudaErrorMemoryAllocation",
        ),
        (
            CUDARuntimeError("cudaErrorIllegalAddress"),
            Panic,
            "gather_matrix failed on the device: cudaErrorIllegalAddress.*restarted",
        ),
        (KeyError("k"), KeyError, "k"),
    ],
)
def test_errors_name_the_call(monkeypatch, error, expected, message):
    A = matrix()
    limit = Limit(monkeypatch, "structure.gather", "gather_matrix", error=error)
    with pytest.raises(expected, match=message):
        A[[2, 1, 0], [0, 1, 2]].new()
    assert limit.calls == (2 if expected is OutOfMemory else 1)


# ---------------------------------------------------------------------- streams


class Event:
    def __init__(self, log, disable_timing):
        self.log = log

    def record(self, stream):
        if stream.ptr == 13:
            raise CUDARuntimeError("invalid resource handle")
        self.log.append(("record", stream.ptr))


def fake_device(log):
    """A Device's streams without a device."""
    runtime = SimpleNamespace(CUDARuntimeError=CUDARuntimeError, deviceSynchronize=lambda: log.append("wait for all"))
    cuda = SimpleNamespace(Event=lambda **options: Event(log, **options), runtime=runtime)
    device = SimpleNamespace(
        xp=SimpleNamespace(cuda=cuda), stream=None, now=None, lock=threading.RLock(), several=False
    )
    device.current_stream = lambda: device.now
    device.wait_stream = lambda: Device.wait_stream(device)
    return device


def stream(ptr, log):
    return SimpleNamespace(ptr=ptr, wait_event=lambda event: log.append(("wait", ptr)))


def test_a_stream_waits_for_the_one_before():
    log = []
    device = fake_device(log)
    first, second, same = stream(1, log), stream(2, log), stream(2, log)
    call = on_device(lambda device: log.append("work"))
    for now in (first, first, second, second, same, first):
        device.now = now
        call(device)
    assert log == [
        "work",
        "work",
        ("record", 1),
        ("wait", 2),
        "work",
        "work",
        "work",
        ("record", 2),
        ("wait", 1),
        "work",
    ]


def test_a_stream_that_is_gone_is_no_error():
    log = []
    device = fake_device(log)
    for now in (stream(13, log), stream(1, log)):
        device.now = now
        device.wait_stream()
    assert log == ["wait for all"] and device.stream.ptr == 1


def test_reading_on_the_host_waits_too(monkeypatch):
    """A stream that reads must follow the one that computed, whichever way the host reads."""
    A = matrix()
    followed = []
    monkeypatch.setattr(shim().device, "current_stream", lambda: "another")
    monkeypatch.setattr(shim().device, "wait_stream", lambda: followed.append(1))
    for read in (
        lambda: place.host_array(A._store.values),
        lambda: shim().device.host(A._store.values),
        lambda: shim().device.synchronize(),
        lambda: shim().device.read(A._store.indptr[:1]),
        lambda: shim().device.read_count(A._store.indptr),
        lambda: shim().device.sent(lambda word: ctypes.memset(word, 0, 8)),
        lambda: place.wait_stream(A._store.values),
    ):
        before = len(followed)
        read()
        assert len(followed) > before


def test_whole_loops_report_as_primitives_do():
    """A whole loop frees memory, follows streams and names itself in errors: `on_device` wraps the call."""
    from grb_tile.backends.cuda.graph import bfs, bfs_multi, bfs_tiles, components, dispatch

    loops = (
        bfs.traverse, bfs_tiles.traverse, bfs_tiles.clustering, bfs_multi.traverse_many, dispatch.shortest_paths,
        components.connected_components,
    )  # fmt: skip
    assert all(hasattr(function, "__wrapped__") for function in loops)


def test_an_interrupt_waits_for_what_would_write_to_the_mailbox():
    """The words are of the next call then, which must not take a late number for its own."""
    waited = []

    class Words(list):
        def __getitem__(self, k):
            raise KeyboardInterrupt

    box = mailbox.Mailbox(shim().device.xp, 8)
    box.words, box._synchronize = Words([0] * 8), waited.append
    with pytest.raises(KeyboardInterrupt):
        box.wait(1, 5)
    assert waited == [5]
