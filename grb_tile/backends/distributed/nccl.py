"""Arrays of devices over NCCL, everything else over a host communicator: one rank, one device.

No device has run this yet: tests run it over a stand-in for cupy.cuda.nccl that moves the bytes of host arrays.

An exchange of arrays is one of the host first, of lengths and types: its header says who has failed or is at another
call before any rank waits on its device.  Then, all queued on the current stream:

    allgather_array  ncclAllGather in place, each rank's segment padded to the longest; where padding costs more than
                     WASTE, sends and receives in one group
    alltoall         sends and receives in one group

Segments begin at multiples of 128 bytes, where NCCL is fast.  The caller goes on; a thread looks at the events that
follow the exchanges, and at check_async_error: after the timeout, or an error of another rank's device, it aborts NCCL
and the host communicator, which ends the waits of all.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from grb_tile.exceptions import DistributedError, InvalidValue

from . import communicator as base
from .communicator import Communicator

ALIGNMENT = 128  # bytes
WASTE = 1.25  # ncclAllGather of padded segments moves at most so many times the bytes
SMALL_BYTES = 1 << 16  # a segment below this costs latency, however it is padded
SECONDS_BETWEEN_LOOKS = 0.05


class CupyDevice:
    """What the communicator needs of CuPy and the current device; tests have another."""

    def __init__(self) -> None:
        import cupy
        from cupy.cuda import nccl

        if not getattr(nccl, "available", False):
            raise ImportError("CuPy has no NCCL: pip install nvidia-nccl-cu13 (nvidia-nccl-cu12 with CUDA 12)")
        self._cupy = cupy
        self.nccl = nccl

    def has(self, array: Any) -> bool:
        """Is it an array of the device?"""
        return isinstance(array, self._cupy.ndarray)

    def contiguous(self, array: Any) -> Any:
        return self._cupy.ascontiguousarray(array)

    def empty(self, length: int) -> Any:
        """Bytes, at a multiple of ALIGNMENT (of 512, as the device's allocator has it)."""
        return self._cupy.empty(length, np.uint8)

    def pointer(self, array: Any) -> int:
        return array.data.ptr

    def stream(self) -> int:
        return self._cupy.cuda.get_current_stream().ptr

    def event(self) -> Any:
        """An event after what the current stream has been given; `done` says whether that is complete."""
        made = self._cupy.cuda.Event(disable_timing=True)
        made.record()
        return made

    def thread(self) -> Any:
        """A function that another thread calls first: that thread uses the device of this one."""
        return self._cupy.cuda.Device().use


class NcclCommunicator(Communicator):
    """The ranks of a host communicator, each with the current device of its thread.  Making one is collective.

    Two ranks must not have the same device.
    """

    def __init__(self, host: Communicator, device: Any = None) -> None:
        super().__init__(host.rank, host.size, host.timeout)
        self.host = host
        try:
            self._device = device or CupyDevice()
            mine = self._device.nccl.get_version()
            identity = self._device.nccl.get_unique_id() if host.rank == 0 else None
        except Exception as error:
            host.fail(error, "init")
            raise
        versions = host.allgather(mine, "init")
        if len(set(versions)) > 1:
            found = ", ".join(f"rank {rank}: {version}" for rank, version in enumerate(versions))
            raise DistributedError(
                f"init: the ranks have different versions of NCCL ({found}); install one on all hosts"
            )
        self._nccl = self._device.nccl.NcclCommunicator(host.size, host.broadcast(identity, 0, "init"), host.rank)
        self._uint8 = self._device.nccl.NCCL_UINT8
        self._reason: str | None = None
        self._queued: collections.deque[tuple[Any, float, str]] = collections.deque()  # event, latest time, call
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, args=(self._device.thread(),), name="grb_tile NCCL", daemon=True).start()

    # ---------------------------------------------------------------- exchanges of arrays

    def allgather_array(self, array: Any, call: str) -> list[Any]:
        if not self._device.has(array):
            return self.host.allgather_array(array, call)
        array = self._checked(array, "allgather_array")
        sent = array.view(np.uint8)
        lengths = self._told(sent.size, array.dtype, call)
        start = time.perf_counter()
        offsets, padded = segments(lengths)
        whole = self._empty(offsets[-1], call)
        parts = [whole[at : at + length] for at, length in zip(offsets, lengths)]
        parts[self.rank][...] = sent
        if padded:
            self._all_gather(whole, offsets[1], call)
        else:
            self._pairs([sent] * self.size, parts, call)
        self._count(sent.size * (self.size - 1), sum(lengths) - sent.size, start)
        return [part.view(array.dtype) for part in parts]

    def alltoall(self, pieces: Sequence[Any], call: str) -> list[Any]:
        if not any(self._device.has(piece) for piece in pieces):
            return self.host.alltoall(pieces, call)
        if len(pieces) != self.size:
            raise InvalidValue(f"alltoall: {len(pieces)} pieces for {self.size} ranks; pass one for each rank")
        pieces = [self._checked(piece, f"alltoall: pieces[{r}]") for r, piece in enumerate(pieces)]
        dtype = pieces[0].dtype
        if any(piece.dtype != dtype for piece in pieces):
            raise InvalidValue("alltoall: pieces of several types; cast them to one")
        sends = [piece.view(np.uint8) for piece in pieces]
        self._told(0, dtype, call)
        found = self.host.alltoall([np.array([sent.size]) for sent in sends], call)
        lengths = [int(length[0]) for length in found]
        start = time.perf_counter()
        offsets, _ = segments(lengths, padded=False)
        whole = self._empty(offsets[-1], call)
        parts = [whole[at : at + length] for at, length in zip(offsets, lengths)]
        parts[self.rank][...] = sends[self.rank]
        self._pairs(sends, parts, call)
        mine = sends[self.rank].size
        self._count(sum(sent.size for sent in sends) - mine, sum(lengths) - mine, start)
        return [part.view(dtype) for part in parts]

    def wait(self, call: str) -> None:
        """Return when the exchanges that are queued are complete.  Raises: DistributedError where they cannot be."""
        start = time.perf_counter()
        while self._queued and self._reason is None:
            self._look()
            time.sleep(0)
        self.seconds += time.perf_counter() - start
        self._look()  # what has been aborted elsewhere may be complete here
        self._check(call)

    def _checked(self, array: Any, name: str) -> Any:
        if not self._device.has(array) or array.ndim != 1 or not array.dtype.itemsize:
            raise InvalidValue(
                f"{name}: expected a 1-D array of the device, as the others are; got {type(array).__name__}"
            )
        return self._device.contiguous(array)

    def _told(self, length: int, dtype: np.dtype, call: str) -> list[int]:
        """The lengths of all ranks.  Raises: DistributedError where one has failed, or has another type."""
        self._check(call)
        found = self.host.allgather((length, str(dtype)), call)
        if len({other for _, other in found}) > 1:
            texts = ", ".join(f"rank {rank}: {other}" for rank, (_, other) in enumerate(found))
            raise DistributedError(f"{call}: arrays of different types ({texts})", (), call)
        return [length for length, _ in found]

    def _empty(self, length: int, call: str) -> Any:
        """Memory to receive in; a rank that has none fails before anything is queued on any device."""
        error = None
        try:
            whole = self._device.empty(length)
        except MemoryError as no_memory:  # CuPy's is a subclass
            error = no_memory
            self.host.fail(error, call)
            raise
        self.host.barrier(call)
        return whole

    def _all_gather(self, whole: Any, stride: int, call: str) -> None:
        pointer = self._device.pointer(whole)
        if stride:
            self._queue(
                lambda stream: self._nccl.allGather(pointer + self.rank * stride, pointer, stride, self._uint8, stream),
                call,
            )

    def _pairs(self, sends: Sequence[Any], parts: Sequence[Any], call: str) -> None:
        """Send and receive in one group, nothing where there is nothing: the other rank knows the length."""

        def group(stream: int) -> None:
            self._device.nccl.groupStart()
            try:
                for step in range(1, self.size):
                    source, target = (self.rank - step) % self.size, (self.rank + step) % self.size
                    if parts[source].size:
                        received = self._device.pointer(parts[source])
                        self._nccl.recv(received, parts[source].size, self._uint8, source, stream)
                    if sends[target].size:
                        sent = self._device.pointer(sends[target])
                        self._nccl.send(sent, sends[target].size, self._uint8, target, stream)
            finally:
                self._device.nccl.groupEnd()

        self._queue(group, call)

    def _queue(self, work: Any, call: str) -> None:
        """Give the current stream work that ends when all ranks have come; the thread looks after it."""
        try:
            work(self._device.stream())
        except Exception as error:  # NcclError
            self.abort(f"{call}: {base.error_text(error)}")
            raise DistributedError(f"{call}: {base.error_text(error)}", (), call) from error
        with self._lock:
            self._queued.append((self._device.event(), time.monotonic() + self.timeout, call))

    # ---------------------------------------------------------------- what is queued

    def _watch(self, use_device: Any) -> None:
        """The thread: look until the communicator is closed or aborted."""
        use_device()
        while self._reason is None and not self._stopped.wait(SECONDS_BETWEEN_LOOKS):
            self._look()

    def _look(self) -> None:
        """Forget what is complete.  What has failed, or is late, ends all ranks' waits."""
        with self._lock:
            while self._queued and self._queued[0][0].done:
                self._queued.popleft()
            first = self._queued[0] if self._queued else None
            if self._reason is not None:
                return
            reason = self.host.reason()
            if reason is not None:
                self._reason = reason
                self._nccl.abort()
                return
            if first is None:
                return
            try:
                self._nccl.check_async_error()
            except Exception as error:
                reason = f"{first[2]}: {base.error_text(error)}"
            else:
                if time.monotonic() < first[1]:
                    return
                reason = str(base.late(first[2], self.timeout, None))
        self.abort(reason)

    def _check(self, call: str) -> None:
        if self._reason is not None:
            raise base.aborted(call, self._reason)

    def _count(self, sent: int, received: int, start: float) -> None:
        self.bytes_sent += sent
        self.bytes_received += received
        self.seconds += time.perf_counter() - start

    # ---------------------------------------------------------------- the host's

    def allgather(self, item: Any, call: str) -> list[Any]:
        return self.host.allgather(item, call)

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
        self._nccl.abort()  # ends the kernels that wait on this device

    def reason(self) -> str | None:
        return self._reason or self.host.reason()

    def close(self) -> None:
        """Wait for what is queued, then leave NCCL and the host communicator."""
        if not self._stopped.is_set():
            try:
                self.wait("close")
            finally:
                self._stopped.set()
                if self._reason is None:
                    self._reason = f"rank {self.rank} has closed its communicator"
                    self._nccl.destroy()
                self.host.close()


def segments(lengths: Sequence[int], padded: bool | None = None) -> tuple[list[int], bool]:
    """(offsets, padded): where each rank's segment begins, with the end of the last one.

    Padded, all have the length of the longest, as ncclAllGather asks for; padded=None: if that is no waste.

    >>> from grb_tile.backends.distributed.nccl import segments
    >>> segments([100_000, 99_000])
    ([0, 100096, 200192], True)
    >>> segments([100_000, 0])
    ([0, 100096, 100096], False)
    """
    aligned = [-(-length // ALIGNMENT) * ALIGNMENT for length in lengths]
    longest = max(aligned)
    if padded is None:
        padded = longest <= SMALL_BYTES or longest * len(lengths) <= WASTE * sum(aligned)
    if padded:
        aligned = [longest] * len(lengths)
    return [0, *np.cumsum(aligned).tolist()], padded
