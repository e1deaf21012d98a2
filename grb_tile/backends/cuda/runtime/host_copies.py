"""Copies of large arrays between host and device, through page-locked memory at the speed of the bus.

A copy from or to pageable memory goes through one small buffer of the driver, on one core: 3 to 10 GB/s on a host whose
bus carries 55.  Here

    to_host     the copy lies in page-locked memory itself, which CuPy's pool lends and takes back when the array dies:
                1 MB 0.05 ms for 0.28, 64 MB 1.3 ms for 24 (H200, PCIe 5; the first of a size waits for the driver)
    to_device   threads copy parts into page-locked buffers, from where the device fetches them: 64 MB 2.5 ms for 8.4
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

LENT_FROM, LENT_MOST = 1 << 18, 1 << 30  # bytes of an array that lies in page-locked memory
LENT_IN_ALL = (
    1 << 32
)  # bytes of page-locked memory, CuPy's idle blocks too; what is more is copied into pageable memory
STAGED_FROM = 8 << 20  # bytes; what is smaller is copied before the threads have begun
CHUNK = 4 << 20  # bytes of a buffer; each thread has two
THREADS = min(8, os.cpu_count() or 1)  # 8 fill the bus
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
        self._xp, self._cuda, self._number = xp, xp.cuda, number
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._live: dict[int, int] = {}  # bytes of a block, a power of two: how many are lent
        self._most: dict[int, int] = {}  # how many were at once since the pool was emptied: it keeps that many
        self._returned: deque[int] = deque()
        self._workers: ThreadPoolExecutor | None = None
        self._stages: list[_Stage] = []

    def to_host(self, array: Any) -> np.ndarray:
        """A copy of a device array; synchronises with the current stream."""
        size = array.nbytes
        if not LENT_FROM <= size <= LENT_MOST or not array.flags.c_contiguous or not self._lend(size):
            return array.get()
        try:
            memory = self._cuda.alloc_pinned_memory(size)
        except RuntimeError:  # CuPy's: the host has no more memory that it can lock
            self._returned.append(size)
            return array.get()
        made: np.ndarray = np.ndarray(array.shape, array.dtype, buffer=memory)
        weakref.finalize(made, self._returned.append, size).atexit = False
        stream = self._cuda.get_current_stream()
        self._cuda.runtime.memcpyAsync(memory.ptr, array.data.ptr, size, TO_HOST, stream.ptr)
        stream.synchronize()
        return made

    def _lend(self, size):
        """May `size` more bytes be lent?  What was returned is counted here: arrays may die where the lock is held."""
        block = 1 << (size - 1).bit_length()  # CuPy's pool rounds up to powers of two
        with self._lock:
            while self._returned:
                self._live[1 << (self._returned.popleft() - 1).bit_length()] -= 1
            count = self._live.get(block, 0) + 1
            more = block * max(count - self._most.get(block, 0), 0)
            if more + self._bytes(self._most) > LENT_IN_ALL:
                self._xp.get_default_pinned_memory_pool().free_all_blocks()
                self._most = dict(self._live)
                if block + self._bytes(self._live) > LENT_IN_ALL:
                    return False
            self._live[block] = count
            self._most[block] = max(count, self._most.get(block, 0))
        return True

    @staticmethod
    def _bytes(blocks):
        return sum(block * count for block, count in blocks.items())

    def to_device(self, array: Any, data: np.ndarray) -> None:
        """Copy a contiguous host array into a device array of its size, after what the current stream was given."""
        if data.nbytes < STAGED_FROM or THREADS < 2 or not self._send(array, data):
            stream = self._cuda.get_current_stream()
            self._cuda.runtime.memcpyAsync(array.data.ptr, data.ctypes.data, data.nbytes, TO_DEVICE, stream.ptr)
            if not is_ordinary(data):
                stream.synchronize()

    def _send(self, array, data):
        """Copy by threads, which have ended when this returns or raises; False where there can be none."""
        size, jobs, interrupt = data.nbytes, [], None
        raw, count = data.reshape(-1).view(np.uint8), min(THREADS, -(-size // CHUNK))
        cuts = [size * k // count for k in range(count + 1)]
        with self._sending:
            try:
                stages = self._stages_of(count)
                begin = self._cuda.get_current_stream().record(self._cuda.Event(disable_timing=True))
                for stage, a, b in zip(stages, cuts, cuts[1:], strict=False):
                    jobs.append(self._workers.submit(stage.send, raw[a:b], array.data.ptr + a, begin))
            except RuntimeError:  # CuPy's where no memory can be locked, the executor's when the interpreter ends
                count = 0
            finally:
                while True:  # they write into `array`, whatever happens here
                    try:
                        wait(jobs)
                        break
                    except KeyboardInterrupt as error:
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


class _Stage:
    """Two page-locked buffers and the stream that copies from them."""

    def __init__(self, cuda, number):
        self._cuda, self._number = cuda, number
        self._memory = cuda.alloc_pinned_memory(2 * CHUNK)
        whole = np.ndarray(2 * CHUNK, np.uint8, buffer=self._memory)
        self._halves = whole[:CHUNK], whole[CHUNK:]
        self._stream = cuda.Stream(non_blocking=True)

    def send(self, data, to, begin):
        """Copy bytes to a device address, after the event `begin`; returns when they are there."""
        runtime, copied = self._cuda.runtime, [None, None]
        runtime.setDevice(self._number)
        self._stream.wait_event(begin)
        for k, at in enumerate(range(0, data.size, CHUNK)):
            part, half = data[at : at + CHUNK], self._halves[k % 2]
            if copied[k % 2] is not None:
                copied[k % 2].synchronize()
            half[: part.size] = part
            runtime.memcpyAsync(to + at, half.ctypes.data, part.size, TO_DEVICE, self._stream.ptr)
            copied[k % 2] = self._stream.record(self._cuda.Event(disable_timing=True))
        self._stream.synchronize()
