"""One device as primitives see it: arrays, stores moved there, counts read back, constants.

`Device(launcher)` has the launcher's array module as `xp`: CuPy, or NumPy in the CPU emulation of CUDA threads
(tests/cuda_emulation).  Primitives take the device as their first argument, use `device.xp` for arrays and whole-array
functions, and `device.launcher.kernel(...)` for kernels; they never name CuPy or NumPy's functions on device arrays.

    A = device.to_device(A)                                  # the store with device arrays (moved once, then kept)
    t = device.empty(n, np.int64)                      # uninitialised; also zeros(n, dtype), full(n, value, dtype)
    one = device.constant(np.float32(1))               # a kept array of length 1: the values of an iso store
    nvals, edges = device.read(counts)                 # Python ints; ONE synchronisation for all counts
    value = device.iso_value(store)                    # NumPy scalar of an iso store, synchronises at most once

All that a Device keeps (constants, counters, the mailbox, accumulators) is used under its lock, which each primitive
holds (errors.py): threads share a device, one primitive at a time.
"""

from __future__ import annotations

import threading
import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ....exceptions import CaptureError, InvalidValue, OutOfMemory
from ....storage.place import number_of
from ....storage.store import StoredMask, forms_of
from .costs import profile_of_device
from .errors import HostOnly
from .host_copies import HostCopies
from .mailbox import NOT_WRITTEN, Mailbox, OnDevice, PinnedAddress
from .memory import drop_forms
from .moves import move_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from .launch import Launcher

_READ = "a number is read from the device: compare it within the loop's condition, or read it after the loop"
_PINNED_BYTES = 4096
_FEW_WORDS = 8
_TO_HOST = 2  # cudaMemcpyKind
_FEW_BYTES = 256
_TYPES = frozenset("?bBhHiIlLqQefdFD")  # of NumPy, which CuPy has, too
_MOST_CONSTANTS = 4096
_COUNTERS = 256
_BY_COLUMNS = 1 << 20  # bytes above which a two-dimensional array is put in order on the device, not on the host
_SMALL_REQUEST = 64 << 20  # bytes below which the free memory is not looked up, because that is a call of the driver


class Kept:
    """Something that launches of several matrices leave for one another: `item`, or None when it is in use."""

    __slots__ = ("__weakref__", "item")

    def __init__(self) -> None:
        self.item: Any = None


class Device:
    """Arrays of one device and the launcher that runs kernels on them.

    number: the device's.  several: are there other devices on this machine?  lock: of the thread whose primitive runs.
    """

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher
        self.xp = xp = launcher.xp
        self.number: int = launcher.number
        self.several: bool = launcher.several
        self.lock = threading.RLock()
        self.array_class = xp.ndarray
        self._constants = {}
        self._constant_of = {}
        self.single_indices = {}  # see structure/build.py
        self.cast_constants = {}  # (address of a constant, DataType) -> the constant cast
        self.prepared = {}  # functions that do an element-wise call of given kinds (elementwise/bound.py)
        self._counters = []
        self._kept = weakref.WeakValueDictionary()
        self._positions = {}  # id of a host array -> (its copy, a weak reference to it)
        self._ascending = {}  # id of an index array -> (does it ascend without repeats?, a weak reference to it)
        self.partial: Any = None  # what partial_results gives
        self.states: Any = None  # what look_back of structure/prefix_sums.py gives
        self._mailbox = None
        self.copies = HostCopies(xp, self.number)
        self.current_stream, self.current_number = launcher.current_stream, launcher.current_number
        self.stream = None  # the one that was given work last, by any thread
        self.turns: Any = None  # the DeviceLoop whose turn runs or is captured (programs/turns.py)
        self.profile = profile_of_device(self)  # what this device costs, for the planner

    # ------------------------------------------------------------------ arrays

    def array(self, data: Any, dtype: Any = None) -> Any:
        """`data` as a contiguous device array (itself when it is one of that dtype)."""
        if isinstance(data, self.array_class):
            if self.several:
                self._check_here(data)
            array = data if dtype is None or data.dtype == dtype else data.astype(dtype)
            return array if array.flags.c_contiguous else self.xp.ascontiguousarray(array)
        if type(data) is np.ndarray and data.nbytes > _BY_COLUMNS and data.flags.fnc and data.ndim == 2:
            return self.array(self.xp.ascontiguousarray(self.upload(data.T).T), dtype)
        return self.upload(np.ascontiguousarray(data, dtype))

    def positions(self, I: np.ndarray) -> Any:
        """`I` as int64 on the device, not to be written to.

        The copy of an array that cannot be written to is made once and lives as long as the array.
        """
        if I.flags.writeable:
            return self.array(I, np.int64)
        key = id(I)
        found = self._positions.get(key)
        if found is None:
            found = self.array(I, np.int64), weakref.ref(I, lambda _: self._positions.pop(key, None))
            self._positions[key] = found
        return found[0]

    def note_order(self, I: Any, ascends: bool) -> Any:
        """`I`, an index array on the device that nobody writes to: whether it ascends without repeats is known now."""
        key = id(I)
        self._ascending[key] = ascends, weakref.ref(I, lambda _: self._ascending.pop(key, None))
        return I

    def known_order(self, I: Any) -> bool | None:
        """Does `I` ascend without repeats?  None where `note_order` was not told."""
        found = self._ascending.get(id(I))
        return None if found is None else found[0]

    def upload(self, data: np.ndarray) -> Any:
        """A copy of a contiguous NumPy array on the device; a small one by one call of the driver."""
        if data.nbytes:
            self.needs_host("an array of the host is copied to the device: make it before the loop")
        if data.dtype.char not in _TYPES or not data.dtype.isnative:
            return self.xp.asarray(data)
        if data.nbytes == 0:
            return self.empty(data.shape, data.dtype)
        array = self.array_class(data.shape, data.dtype)
        if data.nbytes > _FEW_BYTES:
            self.copies.to_device(array, data)
        else:
            self.copies.few(array.data.ptr, data.tobytes())
        return array

    def empty(self, count: Any, dtype: Any) -> Any:
        """`count` values, uninitialised."""
        return self.array_class(count, dtype)  # xp.empty looks at the order of the axes first

    def accumulators(self, count: int, dtype: np.dtype) -> Any:
        """`count` values to merge into by atomics; of whole words of 4 bytes, which atomics write."""
        whole = -(-count * dtype.itemsize // 4) * 4 // dtype.itemsize
        return self.xp.empty(count, dtype) if dtype.itemsize >= 4 else self.zeros(whole, dtype)[:count]

    def zeros(self, count: Any, dtype: Any) -> Any:
        """`count` zeros."""
        return self.xp.zeros(count, dtype) if self.launcher.recorder is None else self.clear(self.empty(count, dtype))

    def clear(self, array: Any) -> Any:
        """The contiguous array with zeros in it, without a kernel of CuPy's."""
        if self.launcher.recorder is not None:
            self.launcher.recorder.clear(array)
        elif array.nbytes:
            array.data.memset_async(0, array.nbytes)
        return array

    def counters(self) -> Any:
        """A fresh array of four zeros (uint64), for counts that kernels add to: costs no launch, zeros(4) does."""
        if self.turns is not None and self.turns.capturing:
            return self.zeros(4, np.uint64)  # in each turn
        try:
            return self._counters.pop()
        except IndexError:
            block = self.xp.zeros(4 * _COUNTERS, np.uint64)
            self._counters = [block[k : k + 4] for k in range(0, 4 * _COUNTERS, 4)]
            return self._counters.pop()

    def partial_results(self, count: int) -> tuple[Any, Any]:
        """(`count` words, a word that is 0) for what blocks hand to the last one, which leaves the word 0.

        The next launch of that count gets the same.  0: no words.
        """
        words, finished = self.partial or (None, self.zeros(1, np.uint64))
        if count and (words is None or words.shape[0] != count):
            words = self.empty(count, np.uint64)
        self.partial = words, finished
        return self.partial

    def full(self, count: int, value: Any, dtype: Any) -> Any:
        """`count` times `value`."""
        return self.xp.full(count, value, dtype)

    def arange(self, count: int, dtype: Any = np.int64) -> Any:
        """0, 1, ..., count - 1."""
        return self.xp.arange(count, dtype=dtype)

    def host(self, array: Any) -> np.ndarray:
        """A device array as a NumPy array (a copy; synchronises)."""
        if type(array) is np.ndarray:
            return array
        self.needs_host(_READ)
        with self.bound():
            self.in_order()
            return self.copies.to_host(array)

    def constant(self, value: Any, np_type: Any = None) -> Any:
        """A device array of length 1 that holds `value` and must not be written to; made once for each value."""
        if np_type is not None or not isinstance(value, np.generic):
            value = np.asarray(value, np_type)[()]
        key = value.dtype, value.tobytes()
        found = self._constants.get(key)
        if found is None:
            with self.bound():
                found = self.upload(value.reshape(1))
            if len(self._constants) < _MOST_CONSTANTS:
                # another thread's, if it was first, because what is known by its address must never be freed
                found = self._constants.setdefault(key, found)
                self._constant_of[self.address(found)] = value
        return found

    def known_constant(self, values: Any) -> np.generic | None:
        """The NumPy scalar of a length-1 array where that is known without synchronisation, else None."""
        if type(values) is np.ndarray:
            return values[0]
        return self._constant_of.get(self.address(values))

    def iso_value(self, store: Any) -> np.generic:
        """The value of all entries of an iso store as a NumPy scalar; known without synchronisation for constants."""
        values = store.values
        known = self.known_constant(values)
        if known is not None:
            return known
        forms = forms_of(store)
        if "iso_value" not in forms:
            forms["iso_value"] = self.host(values[:1])[0]
        return forms["iso_value"]

    def address(self, array: Any) -> int:
        """The address of an array's first element, which a kept launch takes; 0 for None."""
        return 0 if array is None else array.data.ptr

    # ------------------------------------------------------------------ stores

    def to_device(self, store: Any) -> Any:
        """`store` with device arrays: itself, or the copy that is made at first use and kept in its forms.

        Raises: HostOnly for user-defined types, which have no device form.
        """
        array_class = self.array_class
        values = store.values
        if type(values) is array_class:  # then of a type that has a device form
            if self.several and values.data.device_id != self.number:
                self._check_here(values)
            format = store.format
            if format == "bitmap":
                if store.words is None or type(store.words) is array_class:
                    return store
            elif type(store.indices) is array_class and (
                format == "sparse"
                or (type(store.indptr) is array_class and (store.rows is None or type(store.rows) is array_class))
            ):
                return store
        if store.dtype._is_udt:
            raise HostOnly
        forms, key = forms_of(store), ("device", self.number)
        found = forms.get(key)
        if found is None:
            found = forms[key] = move_store(self, store)
            store.forms = forms  # release_memory may have replaced it
        return found

    def operands_to_device(self, A: Any, x: Any, mask: StoredMask | None) -> tuple:
        """to_device(A), to_device(x), mask_to_device(mask): few tests where all are on the device already."""
        here = self.array_class
        if (
            type(A.values) is not here
            or type(A.indptr) is not here
            or type(A.indices) is not here
            or A.rows is not None
        ):
            A = self.to_device(A)
        if type(x.values) is not here or type(x.words if x.format == "bitmap" else x.indices) is not here:
            x = self.to_device(x)
        if mask is not None:
            pattern = mask.pattern
            structure = pattern.words if pattern.format == "bitmap" else pattern.indices
            if type(pattern.values) is not here or type(structure) is not here:
                mask = self.mask_to_device(mask)
        if self.several:
            for store in (A, x) if mask is None else (A, x, mask.pattern):
                self._check_here(store.values)
        return A, x, mask

    def mask_to_device(self, mask: StoredMask | None) -> StoredMask | None:
        """The StoredMask whose pattern is on the device; None for None."""
        if mask is None:
            return None
        pattern = self.to_device(mask.pattern)
        return mask if pattern is mask.pattern else StoredMask(pattern, mask.complement)

    def _check_here(self, array):
        """Raises: InvalidValue for an array of another device."""
        number = number_of(array)
        if number != self.number:
            raise InvalidValue(
                f"an operand resides on cuda:{number}, and cuda:{self.number} computes: copy it there with "
                f'x.to_device("cuda:{self.number}"), or compute within `with gb.device({number}):`'
            )

    # ------------------------------------------------------------------ reading back

    def read(self, *arrays: Any) -> list[int]:
        """The elements of small device arrays of integers as a flat list of Python ints; one synchronisation for all.

        Counts are best kept in one array: one copy then.
        """
        self.needs_host(_READ)
        if self.several and self.is_elsewhere():
            with self.bound():
                return self.read(*arrays)
        with self.lock:
            if self.current_stream() is not self.stream:
                self.wait_stream()
            mailbox, stream = self._mailbox or self._make_mailbox(), self.stream.ptr
            parts, count, polled = [], 0, True
            for array in arrays:
                parts.append((array, count))
                count += (array.nbytes + 7) >> 3
                polled = polled and array.dtype.itemsize >= 4
            if 8 * count > _PINNED_BYTES:
                return [int(x) for array in arrays for x in self.host(array).ravel()]
            polled = polled and count <= _FEW_WORDS  # more are waited for with the stream
            if polled:
                mailbox.expect(count)
            for array, first in parts:
                self._copy(mailbox.ptr + 8 * first, array.data.ptr, array.nbytes, _TO_HOST, stream)
            if polled:
                mailbox.wait(count, stream)
            else:
                self.xp.cuda.runtime.streamSynchronize(stream)
            numbers = []
            for array, first in parts:
                start = 8 * first // array.dtype.itemsize
                numbers += mailbox.array(array.dtype)[start : start + array.size].tolist()
            return numbers

    def read_count(self, counts: Any) -> int:
        """read(counts)[0] of an array of integers of 64 bits, by the shortest way."""
        mailbox = self._mailbox
        if mailbox is None or self.turns is not None or self.several and self.is_elsewhere():
            return self.read(counts)[0]
        words = mailbox.words
        with self.lock:
            if self.current_stream() is not self.stream:
                self.wait_stream()
            stream = self.stream.ptr
            words[0] = NOT_WRITTEN
            self._copy(mailbox.ptr, counts.data.ptr, 8, _TO_HOST, stream)
            if words[0] == NOT_WRITTEN:
                mailbox.wait(1, stream)
            return words[0]

    def sent(self, launch: Callable[[PinnedAddress], None], count: int = 1) -> list[int]:
        """launch(address), and the `count` numbers that its kernel writes to the page-locked words from there on."""
        self.needs_host(_READ)
        with self.lock:
            if self.current_stream() is not self.stream:
                self.wait_stream()
            mailbox = self._mailbox or self._make_mailbox()
            mailbox.expect(count)
            launch(mailbox.ptr)
            mailbox.wait(count, self.stream.ptr)
            return mailbox.words[:count]

    def read_scalar(self, kernel: Any, n: int, args: tuple, block: int, most: int | None, np_type: np.dtype) -> Any:
        """kernel.over(n, (*args, out), block, most), and the NumPy scalar that it writes to `out`, None for none.

        out: page-locked memory; write_scalar of kernels/elementwise/reduce.cuh writes it.
        Within a primitive: the caller's stream is the device's.  In a turn of a loop the words stay on the device, and
        the result is OnDevice.
        """
        if self.turns is not None:
            out = self.zeros(3, np.uint64)
            kernel.over(n, (*args, out), block, most)
            return OnDevice(out[:2].view(np_type)[:1], out[2:])
        mailbox = self._mailbox or self._make_mailbox()
        mailbox.expect(3)
        kernel.over(n, (*args, mailbox.ptr), block, most)
        mailbox.wait(3, self.stream.ptr)
        return mailbox.array(np_type)[0] if mailbox.words[2] else None

    def needs_host(self, what: str) -> None:
        """Raises: CaptureError in a captured turn, which the device repeats without the host."""
        if self.turns is not None and self.turns.capturing:
            raise CaptureError(f"programs: {what}")

    def _make_mailbox(self):
        mailbox = Mailbox(self.xp, _PINNED_BYTES // 8)
        self._copy = self.xp.cuda.runtime.memcpyAsync
        self._mailbox = mailbox  # last, because read_count looks at it without the lock
        return mailbox

    def synchronize(self) -> None:
        """Wait for all that was launched."""
        with self.bound():
            self.in_order()
            self.xp.cuda.get_current_stream().synchronize()

    # ------------------------------------------------------------------ devices and streams

    def bound(self) -> AbstractContextManager:
        """Within it this device is the calling thread's current one, of which CuPy and the driver take everything."""
        return self.launcher.bound()

    def is_elsewhere(self) -> bool:
        """Is another device the calling thread's current one?"""
        return self.current_number() != self.number

    def in_order(self) -> None:
        """What the calling thread queues next, on any device, comes after all work that was given to this one."""
        with self.lock:
            if self.several and self.is_elsewhere():  # the thread's stream is another device's
                self.synchronize()
            elif self.current_stream() is not self.stream:
                self.wait_stream()

    def wait_stream(self) -> None:
        """CuPy's current stream has changed: it waits for what was queued on the one before.

        So objects, and what the library keeps with them, may be used from any stream.
        """
        with self.lock:
            now, before = self.current_stream(), self.stream
            if before is not None and before.ptr != now.ptr:
                try:
                    event = self.xp.cuda.Event(disable_timing=True)
                    event.record(before)
                    now.wait_event(event)
                except self.xp.cuda.runtime.CUDARuntimeError:  # another library's stream, destroyed since
                    self.xp.cuda.runtime.deviceSynchronize()
            self.stream = now

    # ------------------------------------------------------------------ memory

    def memory(self) -> tuple[int, int]:
        """(free, total) bytes of the device, the pool's unused blocks counted as free."""
        with self.bound():
            return self.launcher.memory()

    @cached_property
    def total_memory(self) -> int:
        """Bytes of the device, free or not."""
        return self.memory()[1]

    def all_kept(self) -> list[Kept]:
        """Of all keys."""
        with self.lock:
            return list(self._kept.values())

    def kept(self, key: Any) -> Kept:
        """The Kept of that key: the same for all who refer to it at the same time, gone when none does."""
        with self.lock:
            found = self._kept.get(key)
            if found is None:
                found = self._kept[key] = Kept()
            return found

    def make_room(self) -> bool:
        """Drop what can be derived again and give unused blocks back to the driver.  Was there anything?"""
        return self.launcher.release_memory(self._drop)

    def _drop(self):
        for kept in self.all_kept():
            kept.item = None
        return drop_forms(self._has)  # and what is not reachable any more

    def _has(self, array):
        """Is it an array of this device?"""
        return isinstance(array, self.array_class) and not (self.several and number_of(array) != self.number)

    def check_room(self, bytes_wanted: int, what: str) -> None:
        """Raises: OutOfMemory when `bytes_wanted` cannot fit, before anything is allocated."""
        if bytes_wanted < _SMALL_REQUEST:
            return
        free, total = self.memory()
        if bytes_wanted > free:
            raise OutOfMemory(
                f"{what}: {bytes_wanted} bytes asked for on the device, {free} of {total} free; the operands are "
                "unchanged. Use a smaller mask, free objects, or compute on the host: gb.config.set(backend='cpu')"
            )
