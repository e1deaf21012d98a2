"""Memory of the devices of one host that the others can write to: kernels of several ranks exchange what they find.

Each rank has a window: ARRIVAL_BYTES for each rank (kernels/graph/bfs_ranks.cuh says what is there), then two halves.
Launch k has half k mod 2 of all windows.  A half is used again two launches later: by then all ranks have met within
the launch between, which their streams did after they had read the half.

Vectors of products travel by NCCL all the same.  On two H200s a copy into a window moves 387 GB/s and NCCL's allgather
243, but what has come must be copied to where it is used: 4 MB took 82 us (NCCL 72), 64 MB 378 (366).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from socket import gethostname
from typing import Any, NamedTuple

import numpy as np

from .communicator import Communicator, error_text

ARRIVAL_BYTES = 128  # as kernels/graph/bfs_ranks.cuh has it
SMALLEST = 1 << 20  # bytes of a half of the first window
WINDOW_SHARE = 1 / 32  # of the memory of the smallest device, that a half may take
_PROCESS = os.urandom(8)
_abandoned: list[Any] = []  # windows of communicators that have ended: others may still write to them


class _Place(NamedTuple):
    """Where a rank computes, and what others need to map its window."""

    process: bytes
    device: int
    pointer: int
    handle: bytes


class Lent(NamedTuple):
    """windows: their addresses on this device; offset: of the half; stop: a word of the host that ends waits.

    threads: are ranks threads of one process?  Then none may go on before all have launched: the driver may load a
    kernel when a device is idle only, and keeps other threads of the process from launching until then.
    """

    windows: Any
    offset: int
    stop: int
    threads: bool
    owner: Any


class PeerWindows:
    """The windows of ranks whose devices are on one host.  Every method is collective; `join` makes one."""

    def __init__(self, host: Communicator, device: Any, limit: int) -> None:
        self.rank, self.size, self.limit = host.rank, host.size, limit
        self._host, self._device = host, device
        self._half = 0  # bytes
        self._number = 0
        self._window: Any = None
        self._bases: list[int] = []
        self._opened: list[int] = []
        self._stop = device.flag()
        self._are_threads = False

    @classmethod
    def join(cls, host: Communicator, device: Any) -> PeerWindows | None:
        """The windows of all ranks; None on every rank unless each device can write to all others."""
        mine = gethostname(), int(device.total_memory * WINDOW_SHARE)
        found = host.allgather(mine, "init")
        if host.size == 1 or len({name for name, _ in found}) > 1:
            return None
        made = cls(host, device, min(limit for _, limit in found))
        return made if made._grow(SMALLEST, "init") else None

    def lend(self, size: int, call: str) -> Lent | None:
        """A half of at least so many bytes for one launch; None on every rank where there is none."""
        if size > self.limit or size > self._half and not self._grow(1 << (size - 1).bit_length(), call):
            return None
        self._number += 1
        offset = ARRIVAL_BYTES * self.size + self._half * (self._number % 2)
        return Lent(self._table, offset, self._stop.ptr, self._are_threads, self)

    def stop(self) -> None:
        """End the waits of this rank's device: another rank does not come."""
        self._stop.words[0] = 1
        _abandoned.append(self._window)

    def _grow(self, half: int, call: str) -> bool:
        """Windows with halves of so many bytes; False on every rank where one has no memory, or cannot map them."""
        device, error = self._device, None
        device.synchronize()  # nothing of an exchange before is under way: all ranks come here with their streams empty
        self._host.barrier(call)
        self._unmap()
        self._host.barrier(call)  # no rank gives its window back while another has it mapped
        try:
            self._window = None
            self._window = window = device.window(ARRIVAL_BYTES * self.size + 2 * half, ARRIVAL_BYTES * self.size)
            mine = _Place(_PROCESS, device.number, window.ptr, device.handle(window.ptr))
        except Exception as found:  # noqa: BLE001  # CUDA's errors, and what a system without the calls raises
            error, mine = error_text(found), None
        places = self._host.allgather(mine, call)
        if error is None and None not in places:
            try:
                self._bases = [self._mapped(place, mine) for place in places]
                self._table = device.table(self._bases)
            except Exception as found:  # noqa: BLE001
                error = error_text(found)
        if any(text is not None for text in self._host.allgather(error, call)):
            self._unmap()
            self._half = self.limit = 0
            return False
        self._half, self._number = half, 0
        self._are_threads = len({place.process for place in places}) < self.size
        return True

    def _mapped(self, place: _Place, mine: _Place) -> int:
        """The address of a rank's window on this rank's device."""
        if place == mine:
            return place.pointer
        if place.process == mine.process:
            self._device.enable(place.device)
            return place.pointer
        opened = self._device.open(place.handle)
        self._opened.append(opened)
        return opened

    def _unmap(self) -> None:
        """Forget the windows of the others; what has been queued is complete."""
        opened, self._opened, self._bases = self._opened, [], []
        for pointer in opened:
            self._device.close(pointer)

    def close(self) -> None:
        """The end: the window stays until the process ends, since others may still have it mapped."""
        self._unmap()
        _abandoned.append(self._window)


class PeerDevice:
    """What windows need of the device of a backend; methods of BackendDevice, which has `_device`."""

    _device: Any

    @property
    def number(self) -> int:
        return self._device.launcher.number

    @property
    def total_memory(self) -> int:
        return self._device.total_memory

    def synchronize(self) -> None:
        self._device.synchronize()

    def flag(self) -> Any:
        """A page-locked word that is 0."""
        from grb_tile.backends.cuda.runtime.mailbox import Mailbox

        made = Mailbox(self._device.xp, 1)
        made.words[0] = 0
        return made

    def window(self, size: int, zeros: int) -> Any:
        """Memory of its own, the first `zeros` bytes 0; `ptr` is its address."""
        with self.in_order() as stream:
            made = self._device.xp.cuda.Memory(size)
            empty = self._device.xp.zeros(zeros, np.uint8)
            self.copy(made.ptr, self.pointer(empty), zeros, stream)
        self.synchronize()
        return made

    def handle(self, pointer: int) -> bytes:
        """By which another process maps it; nothing where there is no such call."""
        with self._device.bound():
            return self._device.xp.cuda.runtime.ipcGetMemHandle(pointer)

    def open(self, handle: bytes) -> int:
        with self._device.bound():
            return self._device.xp.cuda.runtime.ipcOpenMemHandle(handle)

    def close(self, pointer: int) -> None:
        with self._device.bound():
            self._device.xp.cuda.runtime.ipcCloseMemHandle(pointer)

    def enable(self, other: int) -> None:
        """This device may write to memory of another one of the process.  Raises: OSError where it cannot."""
        runtime = self._device.xp.cuda.runtime
        with self._device.bound():
            if not runtime.deviceCanAccessPeer(self.number, other):
                raise OSError(f"device {self.number} cannot write to memory of device {other}")
            try:
                runtime.deviceEnablePeerAccess(other)
            except Exception as error:
                if "AlreadyEnabled" not in str(error):
                    raise

    def table(self, addresses: Sequence[int]) -> Any:
        """The addresses as an array of the device."""
        with self.in_order():
            return self._device.xp.asarray(np.array(addresses, np.uint64))

    def in_order(self) -> Any:
        raise NotImplementedError

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        raise NotImplementedError

    def pointer(self, array: Any) -> int:
        raise NotImplementedError
