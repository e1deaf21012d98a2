"""Arrays of devices over NCCL, everything else over a host communicator: one rank, one device.

    allgather_known    ncclAllGather where all ranks have as much; else sends and receives in one group
    alltoall_cut       lengths over the host, then sends and receives in one group
    broadcast_known    ncclBroadcast

Lengths are known to all ranks before: of vectors by their ranges, of lists by the exchange of the host that a call
begins with (movement.py), whose header also says who has failed or is at another call before any rank waits on its
device.  What is received lies where it is used, one rank's after another's.  Where that is CHECKED_BYTES or more, ranks
tell each other over the host that they have the memory; with less, a rank that has none ends all.

All is queued on the current stream and the caller goes on.  A thread looks at the events that follow the exchanges, at
check_async_error and at the host communicator: after the timeout, an error of a device, or the end of another rank, it
aborts both, which ends the waits of all.
"""

from __future__ import annotations

import atexit
import collections
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import numpy as np

from grb_tile.exceptions import DistributedError

from . import communicator as base
from .communicator import Communicator
from .exchange import CHECKED_BYTES
from .peers import Lent, PeerDevice, PeerWindows
from .queued import Queued, Queueing

DEVICE_TO_DEVICE = 3  # cudaMemcpyKind
SECONDS_BETWEEN_LOOKS = 0.05
SECONDS_WITHOUT = 2.0  # that an exchange may take after a rank has ended, which had its part of it queued
SECONDS_TO_CLOSE = 5.0  # for what is queued, at the end of the program
NO_LIBRARY = "CuPy has no NCCL: pip install nvidia-nccl-cu13 (nvidia-nccl-cu12 with CUDA 12)"


class _InOrder:
    """The block of BackendDevice.in_order."""

    __slots__ = ("_bound", "_device")

    def __init__(self, device: Any) -> None:
        self._device = device
        self._bound: Any = None

    def __enter__(self) -> int:
        device = self._device
        device.lock.acquire()
        try:
            if device.several and device.is_elsewhere():
                self._bound = device.bound()
                self._bound.__enter__()
            device.in_order()
            return device.current_stream().ptr
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: Any) -> None:
        try:
            if self._bound is not None:
                self._bound.__exit__(None, None, None)
        finally:
            self._device.lock.release()


class BackendDevice(PeerDevice):
    """What the communicator needs of the backend `local` of a device, and of its array module."""

    def __init__(self, local: Any) -> None:
        self._local, self._device = local, local.device
        self.nccl = library(local.xp)

    def windows(self, host: Communicator) -> PeerWindows | None:
        """Memory that the other ranks' devices write to, where they all can."""
        return PeerWindows.join(host, self)

    def has(self, array: Any) -> bool:
        """Is it an array of the device?"""
        return isinstance(array, self._device.array_class)

    def empty(self, count: int, dtype: np.dtype, call: str) -> Any:
        """An uninitialised array.  Raises: OutOfMemory, when what can be made again has been dropped."""
        return self._local.run_reported(lambda: self._device.empty(count, dtype), call)

    def pointer(self, array: Any) -> int:
        return array.data.ptr

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        """Queue a copy of bytes from one address to another (CuPy's assignment takes the host longer)."""
        if size:
            self._device.xp.cuda.runtime.memcpyAsync(to, source, size, DEVICE_TO_DEVICE, stream)

    def in_order(self) -> _InOrder:
        """Within it the device is the thread's current one, and its stream, whose handle it gives, follows the others.

        Unlike a primitive nothing is tried again: an exchange is made once.
        """
        return _InOrder(self._device)

    def event(self) -> Any:
        """An event after what the current stream has been given; `done` says whether that is complete."""
        made = self._device.xp.cuda.Event(disable_timing=True)
        made.record()
        return made

    def bind(self) -> None:
        """The calling thread uses the device."""
        self._device.launcher.bind()


def library(xp: Any) -> Any:
    """The module of NCCL beside an array module.  Raises: ImportError where CuPy cannot load the library."""
    if xp.__name__ == "cupy":
        import cupy.cuda.nccl  # noqa: F401  # sets xp.cuda.nccl; warns where there is no library
    found = getattr(xp.cuda, "nccl", None)
    if not getattr(found, "available", False):
        raise ImportError(NO_LIBRARY)
    return found


def version_text(number: int) -> str:
    """A version of NCCL as it is written.

    >>> from grb_tile.backends.distributed.nccl import version_text
    >>> version_text(22803)
    '2.28.3'
    """
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def _of_host(name: str) -> Any:
    """A counter that the two communicators have in common."""
    return property(lambda self: getattr(self.host, name), lambda self, value: setattr(self.host, name, value))


class NcclCommunicator(Communicator):
    """The ranks of a host communicator, each with the device of a backend.  Making one is collective.

    Two ranks must not have the same device (connect.over_devices).  host_bytes: those of the exchanges of the host.
    """

    moves_devices = True
    bytes_sent, bytes_received, seconds = map(_of_host, ("bytes_sent", "bytes_received", "seconds"))

    def __init__(self, host: Communicator, device: Any) -> None:
        self.host, self._device = host, device
        super().__init__(host.rank, host.size, host.timeout)
        try:
            mine = device.nccl.get_version()
            identity = device.nccl.get_unique_id() if host.rank == 0 else None
        except Exception as error:
            host.fail(error, "init")
            raise
        versions = host.allgather(mine, "init")
        if len(set(versions)) > 1:
            found = ", ".join(f"rank {rank}: {version_text(version)}" for rank, version in enumerate(versions))
            raise DistributedError(
                f"init: the ranks have different versions of NCCL ({found}); install one on all hosts, for example "
                f"pip install nvidia-nccl-cu13=={version_text(max(versions))}"
            )
        self.channel = f"over NCCL {version_text(mine)}"
        self._uint8 = device.nccl.NCCL_UINT8
        self._reason: str | None = None
        self._queued: collections.deque[Queued] = collections.deque()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._device_bytes = 0
        self._start(host.broadcast(identity, 0, "init"))
        self._peers: PeerWindows | None = None
        self._asked_for_peers = False
        threading.Thread(target=self._watch, name="grb_tile NCCL", daemon=True).start()
        atexit.register(self.close)  # before the host communicator's

    def _start(self, identity: Any) -> None:
        """Join the ranks of that identity.  Raises: DistributedError on every rank where one cannot."""
        error = None
        try:
            with self._device.in_order():
                self._nccl = self._device.nccl.NcclCommunicator(self.size, identity, self.rank)
        except Exception as found:  # noqa: BLE001  # NcclError, and what else the library raises
            error = base.error_text(found)
        errors = self.host.allgather(error, "init")
        failed = tuple(rank for rank, text in enumerate(errors) if text is not None)
        if failed:
            texts = "; ".join(f"rank {rank}: {errors[rank]}" for rank in failed)
            raise DistributedError(f"init: NCCL does not start ({texts}); NCCL_DEBUG=INFO says more", failed, "init")

    # ---------------------------------------------------------------- exchanges of arrays

    def room(self, count: int, dtype: np.dtype, call: str) -> Any:
        """Memory for `allgather_known` to receive in, asked for before any rank relies on it."""
        return self._device.empty(count, dtype, call)

    def allgather_known(self, arrays: Sequence[Any], counts: Sequence[int], call: str, into: Any = None) -> list[Any]:
        if not self._device.has(arrays[0]):
            return self.host.allgather_known(arrays, counts, call)
        self._check(call)
        start = time.perf_counter()
        at = [0, *accumulate(counts)]
        width = sum(array.dtype.itemsize for array in arrays)
        if into is None:
            made = self._empty([(at[-1], array.dtype) for array in arrays], at[-1] * width, call)
        else:
            made = [into]
        equal = len(set(counts)) == 1
        with self._queueing(call) as stream:
            transfers = []
            for array, whole in zip(arrays, made, strict=True):
                source, pointer, size = self._device.pointer(array), self._device.pointer(whole), whole.dtype.itemsize
                if equal and counts[0]:
                    self._nccl.allGather(source, pointer, counts[0] * size, self._uint8, stream)
                elif not equal:
                    own = source, counts[self.rank] * size
                    others = [(pointer + at[r] * size, counts[r] * size) for r in range(self.size)]
                    transfers.append(([own] * self.size, others))
            self._pairs(transfers, stream)
        self._count(counts[self.rank] * width * (self.size - 1), (at[-1] - counts[self.rank]) * width, start)
        return made

    def alltoall_cut(self, arrays: Sequence[Any], cuts: Sequence[int], call: str) -> list[Any]:
        if not self._device.has(arrays[0]):
            return self.host.alltoall_cut(arrays, cuts, call)
        self._check(call)
        cuts = [int(cut) for cut in cuts]
        sent = [stop - start for start, stop in zip(cuts, cuts[1:])]
        width, types = sum(array.dtype.itemsize for array in arrays), ", ".join(str(array.dtype) for array in arrays)
        about = max(sent), zlib.crc32(types.encode())
        found = np.array(self.host.alltoall([np.array([count, *about]) for count in sent], call))
        if (found[:, 2] != about[1]).any():
            raise DistributedError(f"{call}: the ranks have arrays of different types; this one has {types}", (), call)
        counts = found[:, 0].tolist()
        most = self.size * int(found[:, 1].max()) * width
        start = time.perf_counter()
        at = [0, *accumulate(counts)]
        made = self._empty([(at[-1], array.dtype) for array in arrays], most, call)
        with self._queueing(call) as stream:
            transfers = []
            for array, whole in zip(arrays, made, strict=True):
                source, target, size = self._device.pointer(array), self._device.pointer(whole), whole.dtype.itemsize
                transfers.append((
                    [(source + cuts[r] * size, sent[r] * size) for r in range(self.size)],
                    [(target + at[r] * size, counts[r] * size) for r in range(self.size)],
                ))  # fmt: skip
            self._pairs(transfers, stream)
        mine = counts[self.rank]
        self._count((sum(sent) - mine) * width, (sum(counts) - mine) * width, start)
        return made

    def broadcast_known(
        self, arrays: Sequence[Any], kinds: Sequence[tuple[int, np.dtype]], root: int, call: str
    ) -> list[Any]:
        """The arrays of rank `root`; kinds: (length, dtype) of each, which all ranks know; other ranks pass none."""
        self._check(call)
        start = time.perf_counter()
        size = sum(count * dtype.itemsize for count, dtype in kinds)
        made = self._empty([] if self.rank == root else kinds, size, call) or list(arrays)
        with self._queueing(call) as stream:
            for array in made:
                if array.size:
                    pointer = self._device.pointer(array)
                    self._nccl.broadcast(pointer, pointer, array.nbytes, self._uint8, root, stream)
        self._count(size * (self.size - 1) * (self.rank == root), size * (self.rank != root), start)
        return made

    def lend(self, size: int, call: str) -> Lent | None:
        """Memory of all devices for a launch that exchanges within it; None on every rank where there is none."""
        self._check(call)
        if not self._asked_for_peers:
            self._peers, self._asked_for_peers = self._device.windows(self.host), True
        return None if self._peers is None else self._peers.lend(size, call)

    @contextmanager
    def launching(self, call: str) -> Iterator[None]:
        """The block queues a launch that waits for those of the other ranks; the thread looks after it."""
        self._check(call)
        with self._queueing(call):
            yield

    def wait(self, call: str, timeout: float | None = None) -> None:
        """Return when the exchanges that are queued are complete.  Raises: DistributedError where they cannot be."""
        start = time.perf_counter()
        while self._queued and self._reason is None and (timeout is None or time.perf_counter() - start < timeout):
            self._look()
            time.sleep(0)
        self.seconds += time.perf_counter() - start
        self._look()  # what has been aborted elsewhere may be complete here
        self._check(call)

    def _empty(self, kinds: Sequence[tuple[int, np.dtype]], most: int, call: str) -> list[Any]:
        """Arrays of those lengths and dtypes to receive in; most: the bytes that any rank asks for, on which all agree.

        Of much memory a rank that has it not fails before anything is queued; of little it ends all, since others may
        have queued an exchange with it.
        """
        try:
            made = [self._device.empty(count, dtype, call) for count, dtype in kinds]
        except Exception as error:
            if most < CHECKED_BYTES:
                self.abort(f"{call}: {base.error_text(error)}")
            else:
                self.host.fail(error, call)
            raise
        if most >= CHECKED_BYTES:
            self.host.barrier(call)
        return made

    def _pairs(self, transfers: Sequence[tuple[Any, Any]], stream: int) -> None:
        """Send and receive, in one group, (address, bytes) for each rank; nothing where there is nothing.

        What is for this rank itself is copied.
        """
        for sends, receives in transfers:
            self._device.copy(receives[self.rank][0], *sends[self.rank], stream)
        if not transfers or self.size == 1:
            return
        self._device.nccl.groupStart()
        try:
            for sends, receives in transfers:
                for step in range(1, self.size):
                    source, target = (self.rank - step) % self.size, (self.rank + step) % self.size
                    if receives[source][1]:
                        self._nccl.recv(*receives[source], self._uint8, source, stream)
                    if sends[target][1]:
                        self._nccl.send(*sends[target], self._uint8, target, stream)
        finally:
            self._device.nccl.groupEnd()

    def _queueing(self, call: str) -> Queueing:
        """The block gives the stream work that ends when all ranks have come; the thread looks after it.

        An error in it ends all ranks, since others may have queued their part.
        """
        return Queueing(self, call)

    # ---------------------------------------------------------------- what is queued

    def _watch(self) -> None:
        """The thread: look until the communicator is closed or aborted."""
        self._device.bind()
        while self._reason is None and not self._stopped.wait(SECONDS_BETWEEN_LOOKS):
            self.host.look_at_announced()
            self._look()

    def _look(self) -> None:
        """Forget what is complete.  What has failed, or is late, ends all ranks' waits."""
        with self._lock:
            while self._queued and self._queued[0].is_done():
                self._queued.popleft()
            first = self._queued[0] if self._queued else None
            if self._reason is not None:
                return
            reason = self.host.reason()
            if reason is not None:
                self._reason = reason
                self._end_waits()
                return
            if first is None:
                return
            found = self._fault(first.call, time.monotonic() - first.start)
        if found is not None:
            self.abort(found)

    def _fault(self, call: str, waited: float) -> str | None:
        """Why what was queued so many seconds ago cannot be completed; None where it may."""
        try:
            self._nccl.check_async_error()
        except Exception as error:  # noqa: BLE001  # NcclError
            return f"{call}: {base.error_text(error)}"
        if waited > min(SECONDS_WITHOUT, self.timeout) and (gone := self.host.gone()):
            return str(base.ended(call, gone))
        return str(base.late(call, self.timeout, None)) if waited > self.timeout else None

    def _check(self, call: str) -> None:
        if self._reason is not None:
            raise base.aborted(call, self._reason)

    @property
    def host_bytes(self) -> int:
        return self.host.bytes_received - self._device_bytes

    def _count(self, sent: int, received: int, start: float) -> None:
        self._device_bytes += received
        self.bytes_sent += sent
        self.bytes_received += received
        self.seconds += time.perf_counter() - start

    # ---------------------------------------------------------------- the host's

    def allgather(self, item: Any, call: str) -> list[Any]:
        return self.host.allgather(item, call)

    def allgather_array(self, array: np.ndarray, call: str) -> list[np.ndarray]:
        return self.host.allgather_array(array, call)

    def alltoall(self, pieces: Sequence[np.ndarray], call: str) -> list[np.ndarray]:
        return self.host.alltoall(pieces, call)

    def broadcast(self, item: Any, root: int, call: str) -> Any:
        return self.host.broadcast(item, root, call)

    def gather(self, item: Any, root: int, call: str) -> list[Any] | None:
        return self.host.gather(item, root, call)

    def barrier(self, call: str) -> None:
        self.host.barrier(call)

    def fail(self, error: BaseException, call: str) -> None:
        self.host.fail(error, call)

    def abort(self, reason: str) -> None:
        with self._lock:
            if self._reason is not None:
                return
            self._reason = f"by rank {self.rank}: {reason}"
        self.host.abort(reason)
        self._end_waits()

    def _end_waits(self) -> None:
        """End the kernels that wait on this device."""
        if self._peers is not None:
            self._peers.stop()
        self._nccl.abort()

    def reason(self) -> str | None:
        return self._reason or self.host.reason()

    def note(self, fact: str) -> None:
        self.host.note(fact)

    def announce(self, call: str, kind: str) -> None:
        self.host.announce(call, kind)

    def gone(self) -> tuple[int, ...]:
        return self.host.gone()

    def close(self) -> None:
        """Leave NCCL and the host communicator, when what is queued is complete, or after SECONDS_TO_CLOSE."""
        if self._stopped.is_set():
            return
        atexit.unregister(self.close)
        try:
            self.wait("close", SECONDS_TO_CLOSE)
        except DistributedError:
            pass  # the exchange before it has raised, or nobody asks for its result
        finally:
            self._stopped.set()
            with self._lock:  # the thread asks NCCL for errors within it, and no more once there is a reason
                is_open = self._reason is None
                self._reason = self._reason or f"rank {self.rank} has closed its communicator"
            if is_open:
                if self._peers is not None:
                    self._peers.close()
                self._nccl.abort()  # `destroy` waits for all ranks of the host, one of which may have failed
            self.host.close()
