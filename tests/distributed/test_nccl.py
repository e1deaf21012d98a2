"""The NCCL communicator over a stand-in for cupy.cuda.nccl: sizes, padding, alignment, and how waits end.

The stand-in moves the bytes of host arrays between threads, when all ranks of a call have come. A rank's stream is a
thread, so that a call returns before it is complete.
"""

import ctypes
import queue
import threading
import time

import numpy as np
import pytest
from exchanges import RECORD, error_of, numbers

from grb_tile.backends.distributed import loopback, nccl
from grb_tile.exceptions import DistributedError, InvalidValue


class Array(np.ndarray):
    """An array of the stand-in's device."""


class Event:
    done = False


class Aborted(Exception):
    pass


class Meeting:
    """Where the calls of ranks meet: a mailbox for each pair of ranks."""

    def __init__(self, size):
        self.mail = {(source, target): queue.Queue() for source in range(size) for target in range(size)}
        self.size = size


class Module:
    """cupy.cuda.nccl, as far as the communicator uses it; one for each rank, which has one stream."""

    NCCL_UINT8 = 1
    meetings: dict = {}
    numbers = iter(range(10**6))

    def __init__(self, version=22800):
        self.version = version
        self.calls = []  # what NCCL was asked for
        self.group = None
        self.asynchronous = None
        self.work = queue.Queue()
        threading.Thread(target=self._stream, daemon=True).start()

    def _stream(self):
        while True:
            work = self.work.get()
            try:
                work()
            except Aborted:
                pass

    def get_version(self):
        return self.version

    def get_unique_id(self):
        return (next(Module.numbers),) * 128

    def groupStart(self):
        self.group = []

    def groupEnd(self):
        group, self.group = self.group, None
        sends = [work for kind, work in group if kind == "send"]
        receives = [work for kind, work in group if kind == "recv"]
        self.work.put(lambda: [work() for work in sends + receives])

    def NcclCommunicator(self, size, identity, rank):
        meeting = Module.meetings.setdefault(identity, Meeting(size))
        return Communicator(self, meeting, rank)


class Communicator:
    def __init__(self, module, meeting, rank):
        self.module, self.meeting, self.rank = module, meeting, rank
        self.aborted = threading.Event()

    def put(self, pointer, count, peer):
        self.meeting.mail[self.rank, peer].put(ctypes.string_at(pointer, count))

    def take(self, pointer, count, peer):
        while not self.aborted.is_set():
            try:
                found = self.meeting.mail[peer, self.rank].get(timeout=0.01)
            except queue.Empty:
                continue
            assert len(found) == count
            ctypes.memmove(pointer, found, count)
            return
        raise Aborted

    def allGather(self, sent, received, count, datatype, stream):
        assert datatype == Module.NCCL_UINT8 and stream == 7
        self.module.calls.append(("allGather", count))
        assert sent % 128 == received % 128 == 0 and sent == received + self.rank * count, "in place"
        others = [rank for rank in range(self.meeting.size) if rank != self.rank]

        def work():
            for rank in others:
                self.put(sent, count, rank)
            for rank in others:
                self.take(received + rank * count, count, rank)

        self.module.work.put(work)

    def send(self, sent, count, datatype, peer, stream):
        self.module.calls.append(("send", count))
        self.module.group.append(("send", lambda: self.put(sent, count, peer)))

    def recv(self, received, count, datatype, peer, stream):
        self.module.calls.append(("recv", count))
        assert received % 128 == 0
        self.module.group.append(("recv", lambda: self.take(received, count, peer)))

    def check_async_error(self):
        if self.module.asynchronous is not None:
            raise self.module.asynchronous

    def abort(self):
        self.module.calls.append(("abort", 0))
        self.aborted.set()

    def destroy(self):
        self.module.calls.append(("destroy", 0))


class Device:
    """What CupyDevice is for CuPy."""

    def __init__(self, **options):
        self.nccl = Module(**options)
        self.no_memory = False
        self.pointed_at = []

    def has(self, array):
        return isinstance(array, Array)

    def contiguous(self, array):
        return np.ascontiguousarray(array).view(Array)

    def empty(self, length):
        if self.no_memory:
            raise MemoryError(f"{length} bytes")
        whole = np.full(length + 128, 255, np.uint8)
        start = -whole.ctypes.data % 128
        return whole[start : start + length].view(Array)

    def pointer(self, array):
        self.pointed_at.append(array)  # memory of a device is given back in the order of its stream, this at once
        return array.ctypes.data

    def stream(self):
        return 7

    def event(self):
        event = Event()
        self.nccl.work.put(lambda: setattr(event, "done", True))
        return event

    def thread(self):
        return lambda: None


def run(size, function, timeout=30.0):
    def of_rank(host):
        comm = nccl.NcclCommunicator(host, Device())
        return function(comm, comm._device.nccl)

    return loopback.run(size, of_rank, timeout=timeout)


def on_device(array):
    return array.view(Array)


@pytest.mark.parametrize("size", (1, 2, 3, 4))
@pytest.mark.parametrize("dtype", (np.dtype("f4"), np.dtype("?"), RECORD), ids=str)
@pytest.mark.parametrize("length", (0, 1, 33, 100_000))
def test_allgather(size, dtype, length):
    lengths = [0 if size > 2 and rank == 1 else length // (rank + 1) for rank in range(size)]

    def function(comm, module):
        for lengths_now, call in ((lengths, "unequal"), ([length] * size, "equal")):
            parts = comm.allgather_array(on_device(numbers(lengths_now[comm.rank], dtype, comm.rank)), call)
            comm.wait(call)
            for rank, part in enumerate(parts):
                assert isinstance(part, Array) and part.dtype == dtype and part.shape == (lengths_now[rank],)
                assert (part == numbers(lengths_now[rank], dtype, rank)).all()
        comm.close()
        return module.calls

    calls = run(size, function)
    itemsize = dtype.itemsize
    padded = -(-length * itemsize // 128) * 128
    for rank, of_rank in enumerate(calls):
        equal = [("allGather", padded)] if length else []
        if padded > nccl.SMALL_BYTES and size > 1:  # padding to the longest is waste
            pairs = [("recv", lengths[other] * itemsize) for other in range(size) if other != rank and lengths[other]]
            pairs += [("send", lengths[rank] * itemsize)] * (size - 1 if lengths[rank] else 0)
            assert sorted(of_rank) == sorted(pairs + equal + [("destroy", 0)])
        else:
            assert of_rank == equal + equal + [("destroy", 0)]


@pytest.mark.parametrize("size", (1, 2, 3, 4))
def test_alltoall(size):
    def many(source, target):
        return 0 if source > target else 1000 * source + target

    def function(comm, module):
        pieces = [on_device(numbers(many(comm.rank, r), RECORD, 10 * comm.rank + r)) for r in range(size)]
        found = comm.alltoall(pieces, "transpose")
        comm.wait("transpose")
        for rank, part in enumerate(found):
            assert isinstance(part, Array) and part.dtype == RECORD
            assert (part == numbers(many(rank, comm.rank), RECORD, 10 * rank + comm.rank)).all()
        sent, received = comm.bytes_sent, comm.bytes_received
        assert sent == RECORD.itemsize * sum(many(comm.rank, r) for r in range(size) if r != comm.rank)
        assert received == RECORD.itemsize * sum(many(r, comm.rank) for r in range(size) if r != comm.rank)

    run(size, function)


def test_host_arrays_and_objects_go_over_the_host():
    def function(comm, module):
        assert comm.allgather(comm.rank, "objects") == [0, 1, 2]
        assert comm.broadcast("x" if comm.rank == 1 else None, 1, "objects") == "x"
        assert comm.gather(comm.rank, 2, "objects") == ([0, 1, 2] if comm.rank == 2 else None)
        assert [part.tolist() for part in comm.allgather_array(np.arange(comm.rank), "host")] == [[], [0], [0, 1]]
        assert [part.tolist() for part in comm.alltoall([np.arange(2)] * 3, "host")] == [[0, 1]] * 3
        return module.calls

    assert run(3, function) == [[], [], []]


def test_failures_are_known_before_any_device_waits():
    def function(comm, module):
        array = on_device(np.arange(100))
        if comm.rank == 1:
            comm.fail(ValueError("of rank 1"), "mxv")
        else:
            assert "rank 1 failed: ValueError" in str(error_of(lambda: comm.allgather_array(array, "mxv")))
        raised = error_of(lambda: comm.allgather_array(array if comm.rank else array.astype("f4").view(Array), "mxv"))
        assert "different types (rank 0: float32, rank 1: int64" in str(raised)
        raised = error_of(lambda: comm.alltoall([array] * 3, "mxm") if comm.rank else comm.barrier("nvals"))
        assert "different calls" in str(raised)
        comm._device.no_memory = comm.rank == 2
        kind = MemoryError if comm.rank == 2 else DistributedError
        raised = error_of(lambda: comm.allgather_array(array, "mxv"), kind)
        assert comm.rank == 2 or "rank 2 failed: MemoryError: 2688 bytes" in str(raised)
        comm.fail(raised, "mxv")  # known already
        comm._device.no_memory = False
        error_of(lambda: comm.alltoall([array], "mxm"), InvalidValue)
        error_of(lambda: comm.allgather_array(on_device(np.zeros((2, 2))), "mxv"), InvalidValue)
        assert not module.calls
        comm.allgather_array(array, "mxv")
        comm.wait("mxv")

    run(3, function)


def test_a_device_that_does_not_come_ends_all_waits():
    def function(comm, module):
        array = on_device(np.arange(100))
        if comm.rank == 1:  # its device hangs in an earlier kernel
            module.work.put(lambda: comm._nccl.aborted.wait(20))
        start = time.monotonic()
        comm.allgather_array(array, "mxv")  # only queues
        assert time.monotonic() - start < 0.5
        raised = error_of(lambda: comm.wait("mxv"))
        assert time.monotonic() - start < 10
        later = error_of(lambda: comm.allgather_array(array, "nvals"))
        return str(raised), str(later), module.calls[-1]

    for waited, later, last in run(3, function, timeout=0.6):
        assert "mxv: aborted: by rank" in waited and "within 0.6 s" in waited and "nvals: aborted" in later
        assert last == ("abort", 0)


def test_an_error_of_a_device_ends_all_waits():
    def function(comm, module):
        if comm.rank == 1:
            module.work.put(lambda: comm._nccl.aborted.wait(20))
        comm.allgather_array(on_device(np.arange(100)), "mxv")
        if comm.rank == 0:
            module.asynchronous = RuntimeError("NCCL_ERROR_SYSTEM_ERROR")
        start = time.monotonic()
        if comm.rank == 0:
            raised = error_of(lambda: comm.wait("mxv"))
        else:  # the abort reaches this rank over the host
            raised = error_of(lambda: comm.barrier("nvals"))
        assert "NCCL_ERROR_SYSTEM_ERROR" in str(raised) and time.monotonic() - start < 10

    run(3, function)


def test_versions_of_nccl_must_agree():
    def function(host):
        return str(error_of(lambda: nccl.NcclCommunicator(host, Device(version=22800 + host.rank))))

    assert all("rank 0: 22800, rank 1: 22801" in text for text in loopback.run(2, function))


def test_a_rank_without_nccl_fails_on_all():
    class NoLibrary(Device):
        @property
        def nccl(self):
            raise ImportError("CuPy has no NCCL")

        @nccl.setter
        def nccl(self, module):
            pass

    def function(host):
        if host.rank == 1:
            return str(error_of(lambda: nccl.NcclCommunicator(host, NoLibrary()), ImportError))
        return str(error_of(lambda: nccl.NcclCommunicator(host, Device())))

    assert loopback.run(2, function) == ["init: rank 1 failed: ImportError: CuPy has no NCCL", "CuPy has no NCCL"]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([0, 0], ([0, 0, 0], True)),
        ([1, 128, 129], ([0, 256, 512, 768], True)),
        ([1 << 20, (1 << 20) - 5], ([0, 1 << 20, 1 << 21], True)),
        ([1 << 20, 1000, 0], ([0, 1 << 20, (1 << 20) + 1024, (1 << 20) + 1024], False)),
        ([1 << 40] * 2, ([0, 1 << 40, 1 << 41], True)),
    ],
)
def test_segments(lengths, expected):
    assert nccl.segments(lengths) == expected
