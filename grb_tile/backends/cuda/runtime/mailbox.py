"""Page-locked words that the device writes and the host polls.

Polling takes half the time of cudaStreamSynchronize, because the driver is not called.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

import numpy as np

NOT_WRITTEN = 0x9E3779B97F4A7C15  # what a word holds until the device has written it
_UNWRITTEN = NOT_WRITTEN.to_bytes(8, "little")
_LOOKS = 20000  # about a millisecond
_POLLED_S, _PAUSE_S = 1e-3, 5e-5  # the host looks at the last word as long as the first, then after such pauses
_TO_HOST = 2  # cudaMemcpyDeviceToHost


class PinnedAddress(int):
    """The address of page-locked memory, as the argument of a launch."""


class Mailbox:
    """`count` words of page-locked memory: `words` as ctypes array, `ptr` their address for copies and kernels.

    One thread at a time: it calls expect(), queues a copy or a kernel that writes the words, and calls wait().
    """

    def __init__(self, xp: Any, count: int) -> None:
        self._synchronize = xp.cuda.runtime.streamSynchronize
        self.memory = memory = xp.cuda.alloc_pinned_memory(8 * count)
        self.ptr = PinnedAddress(memory.ptr)
        self.words = (ctypes.c_uint64 * count).from_address(memory.ptr)
        self._bytes = memoryview(self.words).cast("B")
        self._arrays: dict[np.dtype, np.ndarray] = {}

    def expect(self, count: int) -> None:
        """The first `count` words will be written."""
        self._bytes[: 8 * count] = _UNWRITTEN * count

    def array(self, dtype: np.dtype) -> np.ndarray:
        """The words as an array of that type: its elements are NumPy scalars, with no other conversion."""
        found = self._arrays.get(dtype)
        if found is None:
            found = self._arrays[dtype] = np.frombuffer(self._bytes, dtype)
        return found

    def wait(self, count: int, stream: int) -> None:
        """Return when the first `count` words have been written by work on the stream of this handle.

        After a millisecond the stream is waited for: a long kernel, an error, or a word that happens to be NOT_WRITTEN.
        So it is before an interrupt is raised, because what is queued must not write into the words of the next call.
        """
        words, looks = self.words, _LOOKS
        try:
            for k in range(count):
                while words[k] == NOT_WRITTEN:
                    looks -= 1
                    if looks <= 0:
                        self._synchronize(stream)
                        return
        except BaseException:
            self._synchronize(stream)
            raise


def wait_for(words: Any, place: int, stream: Any) -> None:
    """Return when work on the stream has written words[place], page-locked, or has ended.

    Raises: the device's error.
    """
    start = time.perf_counter()
    while not words[place]:
        if time.perf_counter() - start > _POLLED_S:
            if stream.done and not words[place]:  # raises the device's error, where there is one
                stream.synchronize()
                return
            time.sleep(_PAUSE_S)


class OnDevice:
    """A number that stays on the device, found in a turn of a captured loop.

    array: of length 1.  present: an array whose first element says whether there is one; None: there is.
    """

    __slots__ = ("array", "present")

    def __init__(self, array: Any, present: Any = None) -> None:
        self.array, self.present = array, present


class SentWords:
    """A copy of a small array of 64-bit words, queued now and waited for when it is read: later work is not."""

    def __init__(self, device: Any, array: Any) -> None:
        self._mailbox: Mailbox | None = None
        count = len(array)
        device.in_order()
        self._mailbox = Mailbox(device.xp, count)
        self._mailbox.expect(count)
        self._stream, self._count = device.stream, count
        copy = device.xp.cuda.runtime.memcpyAsync
        copy(self._mailbox.ptr, array.data.ptr, 8 * count, _TO_HOST, self._stream.ptr)

    def is_ready(self) -> bool:
        """Are the words on the host?"""
        return self._mailbox is None or NOT_WRITTEN not in self._mailbox.words[: self._count]

    def read(self) -> list[int]:
        """The words; once."""
        mailbox, self._mailbox = self._mailbox, None
        mailbox.wait(self._count, self._stream.ptr)
        return mailbox.words[: self._count]

    def __del__(self) -> None:
        if self._mailbox is not None:  # the copy must have been made before the memory has another use
            self.read()
