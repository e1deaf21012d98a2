"""Copies of large arrays between host and device, through page-locked buffers.

A copy from or to pageable memory goes through one small buffer of the driver, on one core: 3 to 10 GB/s where the bus
carries 55.  Here threads copy parts of the array from or to page-locked buffers of their own, which the device reads
and writes meanwhile: to the device 20 GB/s at 16 MB, 35 at 64, 45 at 256; to the host 20, 15 to 18, and 20 to 25, where
most of the time is that of the new array's pages (H200, PCIe 5, 16 cores).  The arrays themselves are ordinary
memory: a process that forks keeps them, and nothing is locked but the buffers, 8 MB a thread.

Parts of 1 MB for 16 threads took four times as long at 16 MB: a thread of Python begins and ends in 0.1 ms.
tests/benchmarks/gpu/bench_copies.py tries other sizes.
"""

from __future__ import annotations

import ctypes
import os
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

FETCHED_FROM = 1 << 18  # bytes of an array that comes to the host through a buffer
THREADS_FROM = 8 << 20  # bytes; what is smaller is copied before the threads have begun
PART = 4 << 20  # bytes of a thread's part at least: 1 ms, where it begins within 0.1
CHUNK = 4 << 20  # bytes of a buffer; each thread has two
MOST_FEW = 4096  # bytes of small arrays that are copied together
LINE = 64  # bytes; parts and chunks begin at multiples
THREADS = min(8, os.cpu_count() or 1)
TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost


def is_ordinary(array: np.ndarray) -> bool:
    """Does the array, or the one that it is a view of, own its memory?  Others may lie in page-locked memory.

    An asynchronous copy from pageable memory has read its source when it returns, one from page-locked memory has not.
    """
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.base is None


class HostCopies:
    """The copies of one device."""

    def __init__(self, xp: Any, number: int) -> None:
        self._cuda, self._number = xp.cuda, number
        self._lock = threading.Lock()  # of the buffers
        self._workers: ThreadPoolExecutor | None = None
        self._stages: list[_Stage] = []
        self._few = ctypes.create_string_buffer(MOST_FEW)
        self._few_lock, self._few_at = threading.Lock(), ctypes.addressof(self._few)

    def few(self, address: int, content: bytes) -> None:
        """Copy at most MOST_FEW bytes to an address of the device, by one call of the driver."""
        with self._few_lock:  # asking NumPy for an address takes longer than copying them once more
            self._few[: len(content)] = content
            stream = self._cuda.get_current_stream()
            self._cuda.runtime.memcpyAsync(address, self._few_at, len(content), TO_DEVICE, stream.ptr)

    def to_host(self, array: Any) -> np.ndarray:
        """A copy of a device array; synchronises with the current stream."""
        if array.nbytes < FETCHED_FROM or not array.flags.c_contiguous:
            return array.get()
        made: np.ndarray = np.empty(array.shape, array.dtype)
        return made if self._copy(_Stage.fetch, made, array.data.ptr) else array.get()

    def to_device(self, array: Any, data: np.ndarray) -> None:
        """Copy a contiguous host array into a device array of its size, after what the current stream was given."""
        if data.nbytes < THREADS_FROM or not self._copy(_Stage.send, data, array.data.ptr):
            stream = self._cuda.get_current_stream()
            self._cuda.runtime.memcpyAsync(array.data.ptr, data.ctypes.data, data.nbytes, TO_DEVICE, stream.ptr)
            if not is_ordinary(data):
                stream.synchronize()

    def _copy(self, step, host, address):
        """Whether `step` has copied all parts of a host array, from or to an address of the device.

        What was asked of threads has ended when this returns or raises.
        """
        size, jobs, interrupt = host.nbytes, [], None
        raw, count = host.reshape(-1).view(np.uint8), 1
        if size >= THREADS_FROM:
            count = max(1, min(THREADS, size // PART))
        cuts = [*(size * k // count // LINE * LINE for k in range(count)), size]
        with self._lock:
            try:
                stages = self._stages_of(count)
                begin = self._cuda.get_current_stream().record(self._cuda.Event(disable_timing=True))
                if count == 1:
                    step(stages[0], raw, address, begin)
                    return True
                for stage, a, b in zip(stages, cuts, cuts[1:], strict=False):
                    jobs.append(self._workers.submit(step, stage, raw[a:b], address + a, begin))
            except RuntimeError:  # CuPy's where no memory can be locked, the executor's when the interpreter ends
                count = 0
            finally:
                while jobs:  # they read and write the arrays, whatever happens here
                    try:
                        wait(jobs)
                        break
                    except BaseException as error:  # noqa: BLE001 - of a signal; raised below
                        interrupt = error
        if interrupt is not None:
            raise interrupt
        for job in jobs:
            job.result()
        return count > 0

    def _stages_of(self, count):
        if self._workers is None:
            self._workers = ThreadPoolExecutor(THREADS, "grb_tile copy")
        while len(self._stages) < count:
            self._stages.append(_Stage(self._cuda, self._number))
        return self._stages[:count]


def _chunk_of(size):
    """Bytes of the chunks of a part of `size` bytes: half of it, but neither tiny nor more than a buffer has."""
    half = -(-size // (2 * LINE)) * LINE
    return min(CHUNK, max(half, PART // 2))


class _Stage:
    """Two page-locked buffers and the stream that copies from and to them."""

    def __init__(self, cuda, number):
        self._cuda, self._number = cuda, number
        self._memory = cuda.alloc_pinned_memory(2 * CHUNK)
        whole = np.ndarray(2 * CHUNK, np.uint8, buffer=self._memory)
        self._halves = whole[:CHUNK], whole[CHUNK:]
        self._stream = cuda.Stream(non_blocking=True)

    def send(self, data, to, begin):
        """Copy bytes to a device address, after the event `begin`; returns when they are there."""
        copied, chunk = [None, None], _chunk_of(data.size)
        self._begin(begin)
        for k, at in enumerate(range(0, data.size, chunk)):
            part, half = data[at : at + chunk], self._halves[k % 2]
            if copied[k % 2] is not None:
                copied[k % 2].synchronize()
            half[: part.size] = part
            copied[k % 2] = self._queue(to + at, half.ctypes.data, part.size, TO_DEVICE)
        self._stream.synchronize()

    def fetch(self, data, source, begin):
        """Copy bytes from a device address, after the event `begin`; returns when they are there."""
        before, chunk = None, _chunk_of(data.size)
        self._begin(begin)
        for k, at in enumerate(range(0, data.size, chunk)):
            part, half = data[at : at + chunk], self._halves[k % 2]
            copied = self._queue(half.ctypes.data, source + at, part.size, TO_HOST)
            if before is not None:
                self._take(*before)
            before = part, half, copied
        self._take(*before)

    def _begin(self, begin):
        self._cuda.runtime.setDevice(self._number)
        self._stream.synchronize()  # an interrupt may have left copies
        self._stream.wait_event(begin)

    def _queue(self, to, source, size, kind):
        self._cuda.runtime.memcpyAsync(to, source, size, kind, self._stream.ptr)
        return self._stream.record(self._cuda.Event(disable_timing=True))

    @staticmethod
    def _take(part, half, copied):
        copied.synchronize()
        part[:] = half[: part.size]
