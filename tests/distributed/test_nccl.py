"""The NCCL communicator over a stand-in for cupy.cuda.nccl (support/nccl_stand_in.py): what is sent, and how waits end.

Arrays are the host's, of a class of their own; a rank's stream is a thread, so that a call returns before it is
complete.
"""

import ctypes
import time
from contextlib import contextmanager

import numpy as np
import pytest
from exchanges import RECORD, error_of, numbers

from grb_tile.backends.distributed import loopback, nccl
from grb_tile.exceptions import DistributedError
from support.nccl_stand_in import Module


class Array(np.ndarray):
    """An array of the stand-in's device."""


class Event:
    done = False


class Device:
    """What BackendDevice is for a backend."""

    def __init__(self, **options):
        self.nccl = Module(asynchronous=True, **options)
        self.no_memory = False
        self.pointed_at = []

    def windows(self, host):
        """None: what is sent by NCCL is looked at here; tests/distributed/test_peers.py has the other way."""

    def has(self, array):
        return isinstance(array, Array)

    def empty(self, count, dtype, call):
        if self.no_memory:
            raise MemoryError(f"{count} of {dtype}")
        return np.full(count * dtype.itemsize, 255, np.uint8).view(dtype).view(Array)

    def pointer(self, array):
        self.pointed_at.append(array)  # memory of a device is given back in the order of its stream, this at once
        return array.ctypes.data

    def copy(self, to, source, size, stream):
        assert stream == 7
        self.nccl.work.put(lambda: ctypes.memmove(to, source, size))

    @contextmanager
    def in_order(self):
        yield 7

    def event(self):
        event = Event()
        self.nccl.work.put(lambda: setattr(event, "done", True))
        return event

    def bind(self):
        pass


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
    unequal = [0 if size > 2 and rank == 1 else length // (rank + 1) for rank in range(size)]

    def function(comm, module):
        for counts, call in ((unequal, "unequal"), ([length] * size, "equal")):
            mine = [on_device(numbers(counts[comm.rank], kind, comm.rank)) for kind in (dtype, np.dtype("i8"))]
            exchanges = comm.host._group.exchanges
            made = comm.allgather_known(mine, counts, call)
            assert length == 100_000 or comm.host._group.exchanges == exchanges, "nothing over the host"
            comm.wait(call)
            for whole, kind in zip(made, (dtype, np.dtype("i8")), strict=True):
                assert isinstance(whole, Array) and whole.dtype == kind
                assert (whole == np.concatenate([numbers(many, kind, r) for r, many in enumerate(counts)])).all()
        room = comm.room(sum(unequal), dtype, "known")
        assert (
            comm.allgather_known([on_device(numbers(unequal[comm.rank], dtype, 1))], unequal, "known", room)[0] is room
        )
        comm.wait("known")
        comm.close()
        return module.calls

    calls = run(size, function)
    width = dtype.itemsize
    for rank, of_rank in enumerate(calls):
        if len(set(unequal)) == 1:
            continue
        pairs = []
        for each in (width, 8, width):  # unequal, two arrays; then one into memory that was given
            pairs += [("recv", unequal[other] * each) for other in range(size) if other != rank and unequal[other]]
            pairs += [("send", unequal[rank] * each)] * (size - 1 if unequal[rank] else 0)
        equal = [("allGather", size * length * each) for each in (width, 8)] if length else []
        assert sorted(of_rank[:-1]) == sorted(pairs + equal)
        assert of_rank[-1] == ("abort", 0)


@pytest.mark.parametrize("size", (1, 2, 3, 4))
def test_alltoall(size):
    def many(source, target):
        return 0 if source > target else 1000 * source + target

    def piece(source, target, dtype):
        return numbers(many(source, target), dtype, 10 * source + target)

    def function(comm, module):
        kinds = RECORD, np.dtype("f4")
        arrays = [on_device(np.concatenate([piece(comm.rank, r, kind) for r in range(size)])) for kind in kinds]
        cuts = np.cumsum([0, *(many(comm.rank, r) for r in range(size))])
        sent, received = comm.bytes_sent, comm.bytes_received
        made = comm.alltoall_cut(arrays, cuts, "transpose")
        comm.wait("transpose")
        for whole, kind in zip(made, kinds, strict=True):
            assert isinstance(whole, Array)
            assert (whole == np.concatenate([piece(rank, comm.rank, kind) for rank in range(size)])).all()
        width, others = RECORD.itemsize + 4, [r for r in range(size) if r != comm.rank]
        lengths = 24 * len(others)  # over the host
        assert comm.bytes_sent - sent == width * sum(many(comm.rank, r) for r in others) + lengths
        assert comm.bytes_received - received == width * sum(many(r, comm.rank) for r in others) + lengths
        assert comm.host_bytes <= received + lengths

    run(size, function)


@pytest.mark.parametrize("size", (1, 2, 3))
@pytest.mark.parametrize("length", (0, 5, 3_000_000))
def test_broadcast(size, length):
    def function(comm, module):
        for root in range(size):
            kinds = [(length, np.dtype("f8")), (3, np.dtype("i4"))]
            mine = [on_device(numbers(count, kind, root)) for count, kind in kinds] if comm.rank == root else []
            made = comm.broadcast_known(mine, kinds, root, "mxm")
            comm.wait("mxm")
            for whole, (count, kind) in zip(made, kinds, strict=True):
                assert (whole == numbers(count, kind, root)).all()

    run(size, function)


def test_host_arrays_and_objects_go_over_the_host():
    def function(comm, module):
        assert comm.allgather(comm.rank, "objects") == [0, 1, 2]
        assert comm.broadcast("x" if comm.rank == 1 else None, 1, "objects") == "x"
        assert comm.gather(comm.rank, 2, "objects") == ([0, 1, 2] if comm.rank == 2 else None)
        assert [part.tolist() for part in comm.allgather_array(np.arange(comm.rank), "host")] == [[], [0], [0, 1]]
        assert [part.tolist() for part in comm.alltoall([np.arange(2)] * 3, "host")] == [[0, 1]] * 3
        assert comm.allgather_known([np.arange(comm.rank)], [0, 1, 2], "host")[0].tolist() == [0, 0, 1]
        assert comm.alltoall_cut([np.arange(3)], [0, 1, 2, 3], "host")[0].tolist() == [comm.rank] * 3
        return module.calls

    assert run(3, function) == [[], [], []]


def test_a_rank_without_the_memory():
    def function(comm, module):
        count = nccl.CHECKED_BYTES // 8
        arrays, counts = [on_device(np.zeros(count))], [count] * 3
        comm._device.no_memory = comm.rank == 2
        kind = MemoryError if comm.rank == 2 else DistributedError
        for call in (
            lambda: comm.allgather_known(arrays, counts, "mxv"),
            lambda: comm.alltoall_cut(arrays, [0, count // 2, count, count], "mxv"),
            lambda: comm.broadcast_known(arrays if comm.rank == 0 else [], [(count, np.dtype("f8"))], 0, "mxv"),
        ):
            raised = error_of(call, kind)
            assert comm.rank == 2 or "rank 2 failed: MemoryError" in str(raised)
            comm.fail(raised, "mxv")  # known already
        assert not module.calls, "nothing was queued"
        comm._device.no_memory = False
        comm.allgather_known(arrays, counts, "mxv")
        comm.wait("mxv")
        comm.barrier("in step")
        # of little memory the others may have queued their part
        few = [on_device(np.zeros(10))]
        comm._device.no_memory = comm.rank == 2
        start = time.monotonic()
        if comm.rank == 2:
            error_of(lambda: comm.allgather_known(few, [10] * 3, "mxv"), MemoryError)
        else:
            with_others = error_of(lambda: (comm.allgather_known(few, [10] * 3, "mxv"), comm.wait("mxv")))
            assert "by rank 2: mxv: MemoryError" in str(with_others)
        assert time.monotonic() - start < 10

    run(3, function)


def test_failures_are_known_before_any_device_waits():
    def function(comm, module):
        arrays, cuts = [on_device(np.arange(100))], [0, 10, 20, 100]
        if comm.rank == 1:
            comm.fail(ValueError("of rank 1"), "mxv")
        else:
            assert "rank 1 failed: ValueError" in str(error_of(lambda: comm.alltoall_cut(arrays, cuts, "mxv")))
        other = [on_device(np.arange(100, dtype="f4"))]
        raised = error_of(lambda: comm.alltoall_cut(arrays if comm.rank else other, cuts, "mxv"))
        assert f"different types; this one has {'int64' if comm.rank else 'float32'}" in str(raised)
        raised = error_of(lambda: comm.alltoall_cut(arrays, cuts, "mxm") if comm.rank else comm.barrier("nvals"))
        assert "different calls" in str(raised)
        assert not module.calls
        comm.allgather_known(arrays, [100] * 3, "mxv")
        comm.wait("mxv")

    run(3, function)


def test_a_device_that_does_not_come_ends_all_waits():
    def function(comm, module):
        arrays = [on_device(np.arange(100))]
        if comm.rank == 1:  # its device hangs in an earlier kernel
            module.work.put(lambda: comm._nccl.aborted.wait(20))
        start = time.monotonic()
        comm.allgather_known(arrays, [100] * 3, "mxv")  # only queues
        assert time.monotonic() - start < 0.5
        raised = error_of(lambda: comm.wait("mxv"))
        assert time.monotonic() - start < 10
        later = error_of(lambda: comm.allgather_known(arrays, [100] * 3, "nvals"))
        return str(raised), str(later), module.calls[-1]

    for waited, later, last in run(3, function, timeout=0.6):
        assert "mxv: aborted: by rank" in waited and "within 0.6 s" in waited and "nvals: aborted" in later
        assert last == ("abort", 0)


def test_the_end_of_a_rank_ends_the_waits_of_the_others(monkeypatch):
    monkeypatch.setattr(nccl, "SECONDS_WITHOUT", 0.3)

    def function(comm, module):
        if comm.rank == 1:
            return None  # its thread ends, and none of its part was queued
        start = time.monotonic()
        comm.allgather_known([on_device(np.arange(100))], [100] * 3, "mxv")
        raised = error_of(lambda: comm.wait("mxv"))
        assert "rank 1 has ended" in str(raised) and time.monotonic() - start < 10

    run(3, function)


def test_an_error_of_a_device_ends_all_waits():
    def function(comm, module):
        if comm.rank == 1:
            module.work.put(lambda: comm._nccl.aborted.wait(20))
        comm.allgather_known([on_device(np.arange(100))], [100] * 3, "mxv")
        if comm.rank == 0:
            module.asynchronous = RuntimeError("NCCL_ERROR_SYSTEM_ERROR")
        start = time.monotonic()
        if comm.rank == 0:
            raised = error_of(lambda: comm.wait("mxv"))
        else:  # the abort reaches this rank over the host
            raised = error_of(lambda: comm.barrier("nvals"))
        assert "NCCL_ERROR_SYSTEM_ERROR" in str(raised) and time.monotonic() - start < 10

    run(3, function)


@pytest.mark.parametrize("error", [ValueError, RuntimeError, KeyboardInterrupt, SystemExit])
def test_what_an_error_within_a_call_becomes(error):
    """That of a library is the communicator's, with the call; an interrupt stays what it is."""

    def function(comm, module):
        wanted = DistributedError if issubclass(error, Exception) else error
        with pytest.raises(wanted, match="here") as raised, comm._queueing("mxv"):
            raise error("here")
        assert wanted is error or str(raised.value) == f"mxv: {error.__name__}: here"
        assert (("abort", 0) in module.calls) == (wanted is not error)
        return True

    assert run(1, function) == [True]


def test_versions_of_nccl_must_agree():
    def function(host):
        return str(error_of(lambda: nccl.NcclCommunicator(host, Device(version=22800 + host.rank))))

    for text in loopback.run(2, function):
        assert "rank 0: 2.28.0, rank 1: 2.28.1" in text and "pip install" in text


@pytest.mark.parametrize("call", ["get_version", "get_unique_id"])
def test_an_nccl_that_cannot_be_asked_fails_on_all(call):
    def function(host):
        device = Device()
        if host.rank == 0:
            setattr(device.nccl, call, lambda: int("of NCCL"))
        return str(error_of(lambda: nccl.NcclCommunicator(host, device), (ValueError, DistributedError)))

    first, *others = loopback.run(3, function)
    assert "invalid literal" in first and all("init" in text and "invalid literal" in text for text in others)


def test_a_rank_where_nccl_does_not_start_fails_on_all():
    def function(host):
        device = Device()
        if host.rank == 1:
            device.nccl.NcclCommunicator = lambda *arguments: int("NCCL_ERROR_UNHANDLED_CUDA_ERROR")
        return str(error_of(lambda: nccl.NcclCommunicator(host, device)))

    for text in loopback.run(2, function):
        assert "NCCL does not start (rank 1: ValueError" in text and "NCCL_DEBUG=INFO" in text


def test_a_communicator_that_closes_completes_what_is_queued():
    def function(comm, module):
        closed = []
        end, comm.host.close = comm.host.close, lambda: (closed.append(1), end())
        module.work.put(lambda: time.sleep(0.2))  # an earlier kernel
        whole = comm.allgather_known([on_device(numbers(50, np.dtype("f8"), comm.rank))], [50] * 3, "mxv")[0]
        comm.close()
        assert (whole == np.concatenate([numbers(50, np.dtype("f8"), rank) for rank in range(3)])).all()
        for _ in range(2):
            comm.close()
        assert closed == [1] and module.calls.count(("abort", 0)) == 1
        assert "has closed its communicator" in str(error_of(lambda: comm.allgather_known([whole], [150] * 3, "mxv")))

    run(3, function)


def test_nccl_is_not_asked_for_errors_while_it_is_closed(monkeypatch):
    """The thread that looks asks within a lock: `abort` of a communicator that another thread uses ends the process."""
    monkeypatch.setattr(nccl, "SECONDS_BETWEEN_LOOKS", 0.001)

    def function(comm, module):
        asking, clashes = [], []

        def check_async_error():
            asking.append(1)
            time.sleep(0.05)
            asking.pop()

        abort = comm._nccl.abort
        comm._nccl.check_async_error = check_async_error
        comm._nccl.abort = lambda: (clashes.extend(asking), abort())
        if comm.rank == 0:  # rank 1 does not come, so that the thread looks all the time
            comm.allgather_known([on_device(np.arange(9))], [9, 9], "mxv")
            comm.wait = lambda *args: [time.sleep(0.001) for _ in iter(lambda: not asking, False)]  # given up just then
        else:
            time.sleep(0.5)
        comm.close()
        return clashes

    assert run(2, function) == [[], []]
