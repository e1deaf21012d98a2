"""The device as primitives see it: arrays, stores moved there, counts read back, constants.

`Device(launcher)` has the launcher's array module as `xp`: CuPy with jit.Launcher, NumPy when the kernels' source runs on
the CPU (tests/simt).  Primitives take the device as their first argument, use `device.xp` for arrays and whole-array
functions, and `device.launcher.kernel(...)` for kernels; they never name CuPy or NumPy's functions on device arrays.

    A = device.own(A)                                  # the store with device arrays (moved once, kept with the store)
    t = device.empty(n, np.int64)                      # uninitialised; device.zeros(n, dtype), device.full(n, value, dtype)
    one = device.constant(np.float32(1))               # a kept array of length 1: the values of an iso store
    nvals, edges = device.read(counts)                 # Python ints; ONE synchronisation for all counts
    value = device.iso_value(store)                    # NumPy scalar of an iso store, synchronises at most once
"""
import threading

import numpy as np

from ...exceptions import OutOfMemory
from ...storage.place import with_arrays
from ...storage.store import Allow
from .errors import ErrorWord, HostOnly, on_device
from .memory import drop_forms

_PINNED_BYTES = 4096
_MOST_CONSTANTS = 4096
_COUNTERS = 256
_SMALL_REQUEST = 64 << 20        # bytes that are not asked about beforehand: asking the driver costs more than they do


class Device:
    """Arrays of one device and the launcher that runs kernels on them."""

    def __init__(self, launcher):
        self.launcher = launcher
        self.xp = xp = launcher.xp
        self.is_shim = launcher.is_shim
        self.array_class = xp.ndarray
        self._constants = {}
        self._constant_of = {}
        self._counters = []
        self._pinned = None
        self._lock = threading.Lock()          # of the pinned buffer: threads may read at the same time
        self.current_stream = _no_stream if self.is_shim else xp.cuda.get_current_stream
        self.stream = None                     # the one that was given work last
        self.errors = ErrorWord(self)

    # ------------------------------------------------------------------ arrays

    def array(self, data, dtype=None):
        """`data` as a contiguous device array (itself when it is one of that dtype)."""
        if isinstance(data, self.array_class):
            array = data if dtype is None or data.dtype == dtype else data.astype(dtype)
            return array if array.flags.c_contiguous else self.xp.ascontiguousarray(array)
        return self.xp.asarray(np.ascontiguousarray(data, dtype))

    def empty(self, count, dtype):
        """`count` places, not written yet."""
        return self.xp.empty(count, dtype)

    def zeros(self, count, dtype):
        """`count` zeros."""
        return self.xp.zeros(count, dtype)

    def counters(self):
        """A fresh array of four zeros (uint64), for counts that kernels add to: costs no launch, zeros(4) does."""
        try:
            return self._counters.pop()
        except IndexError:
            block = self.xp.zeros(4 * _COUNTERS, np.uint64)
            self._counters = [block[k:k + 4] for k in range(0, 4 * _COUNTERS, 4)]
            return self._counters.pop()

    def full(self, count, value, dtype):
        """`count` places that hold `value`."""
        return self.xp.full(count, value, dtype)

    def arange(self, count, dtype=np.int64):
        """0, 1, ..., count - 1."""
        return self.xp.arange(count, dtype=dtype)

    def host(self, array):
        """A device array as a NumPy array (a copy; synchronises)."""
        if type(array) is np.ndarray:
            return array
        self.in_order()
        return array.get()

    def constant(self, value, np_type=None):
        """A device array of length 1 that holds `value` and must not be written to; made once for each value."""
        value = np.asarray(value) if np_type is None else np.asarray(value, np_type)
        key = value.dtype.str, value.tobytes()
        found = self._constants.get(key)
        if found is None:
            found = self.xp.asarray(value.reshape(1))
            if len(self._constants) < _MOST_CONSTANTS:
                self._constants[key] = found
                self._constant_of[self._address(found)] = value.reshape(1)[0]
        return found

    def known_constant(self, values):
        """The NumPy scalar of a length-1 array where that is known without synchronisation, else None."""
        if type(values) is np.ndarray:
            return values[0]
        return self._constant_of.get(self._address(values))

    def iso_value(self, store):
        """The value of all entries of an iso store as a NumPy scalar; known without synchronisation for constants."""
        values = store.values
        known = self.known_constant(values)
        if known is not None:
            return known
        forms = store.forms
        if forms is None:
            forms = store.forms = {}
        if "iso_value" not in forms:
            forms["iso_value"] = self.host(values[:1])[0]
        return forms["iso_value"]

    def _address(self, array):
        return array.ctypes.data if self.is_shim else array.data.ptr

    # ------------------------------------------------------------------ stores

    def own(self, store):
        """`store` with device arrays: itself, or the copy that is made at first use and kept in its forms.

        Raises: HostOnly for user-defined types, which have no device form.
        """
        array_class = self.array_class
        if isinstance(store.values, array_class) and not store.dtype._is_udt:
            format = store.format
            if format == "bitmap":
                if store.words is None or isinstance(store.words, array_class):
                    return store
            elif isinstance(store.indices, array_class) and (format == "sparse" or (
                isinstance(store.indptr, array_class) and (store.rows is None or isinstance(store.rows, array_class))
            )):
                return store
        if store.dtype._is_udt:
            raise HostOnly
        forms = store.forms
        if forms is None:
            forms = store.forms = {}
        found = forms.get("device")
        if found is None:
            found = forms["device"] = move_store(self, store)
            store.forms = forms          # making room may have left another in its place
        return found

    def own_allow(self, allow):
        """The Allow whose pattern lies on the device; None for None."""
        if allow is None:
            return None
        pattern = self.own(allow.pattern)
        return allow if pattern is allow.pattern else Allow(pattern, allow.complement)

    def _move(self, array):
        return array if isinstance(array, self.array_class) else self.xp.asarray(np.ascontiguousarray(array))

    # ------------------------------------------------------------------ reading back

    def read(self, *arrays):
        """The elements of small device arrays of integers as a flat list of Python ints; one synchronisation for all.

        Counts are best kept in one array: one copy then.  An error that a kernel reported is raised here.
        """
        self.in_order()
        errors = self.errors
        if errors.armed:
            arrays = (*arrays, errors.word)
        if self.is_shim or sum(array.nbytes + 8 for array in arrays) > _PINNED_BYTES:
            numbers = [int(x) for array in arrays for x in self.host(array).ravel()]
        else:
            with self._lock:
                numbers = self._read_pinned(arrays)
        if errors.armed:
            numbers, report = numbers[:-errors.SIZE], numbers[-errors.SIZE:]
            errors.check(report)
        return numbers

    def _read_pinned(self, arrays):
        if self._pinned is None:
            self._pinned = self.xp.cuda.alloc_pinned_memory(_PINNED_BYTES)
            self._view = np.frombuffer(self._pinned, np.uint8, _PINNED_BYTES)
        stream = self.xp.cuda.get_current_stream()
        start, places = 0, []
        for array in arrays:
            size = array.nbytes
            array.data.copy_to_host_async(self._pinned.ptr + start, size, stream)
            places.append((start, size, array.dtype))
            start += (size + 7) & ~7
        stream.synchronize()
        view = self._view
        return [x for at, size, dtype in places for x in view[at:at + size].view(dtype).tolist()]

    def synchronize(self):
        """Wait for all that was launched; raises what kernels reported."""
        self.in_order()
        if not self.is_shim:
            self.xp.cuda.get_current_stream().synchronize()
        if self.errors.armed:
            self.read()

    # ------------------------------------------------------------------ streams

    def in_order(self):
        """What is queued next comes after all work that was given to the device."""
        if self.current_stream() is not self.stream:
            self.follow()

    def follow(self):
        """CuPy's current stream has changed: it waits for what was queued on the one before.

        So objects, and what the library keeps with them, may be used from any stream.
        """
        now, before = self.current_stream(), self.stream
        self.stream = now
        if before is None or before.ptr == now.ptr:
            return
        try:
            event = self.xp.cuda.Event(disable_timing=True)
            event.record(before)
            now.wait_event(event)
        except self.xp.cuda.runtime.CUDARuntimeError:          # another library's stream, destroyed since
            self.xp.cuda.runtime.deviceSynchronize()

    # ------------------------------------------------------------------ memory

    def memory(self):
        """(free, total) bytes of the device, the pool's unused blocks counted as free."""
        if self.is_shim:
            return (1 << 40, 1 << 40)
        free, total = self.xp.cuda.runtime.memGetInfo()
        return free + self.xp.get_default_memory_pool().free_bytes(), total

    def make_room(self):
        """Drop what can be derived again and give unused blocks back to the driver.  Returns whether there was anything."""
        if self.is_shim:
            return drop_forms() > 0
        pool = self.xp.get_default_memory_pool()
        before = pool.used_bytes()
        drop_forms()          # and what is not reachable any more
        pool.free_all_blocks()
        return pool.used_bytes() < before

    def check_room(self, bytes_wanted, what):
        """Raises: OutOfMemory when `bytes_wanted` cannot fit, before anything is allocated."""
        if bytes_wanted < _SMALL_REQUEST:
            return
        free, total = self.memory()
        if bytes_wanted > free:
            raise OutOfMemory(
                f"{what}: {bytes_wanted} bytes asked for on the device, {free} of {total} free; the operands are unchanged. "
                "Use a smaller mask, free objects, or compute on the host: gb.config.set(backend='cpu')"
            )


@on_device
def move_store(device, store):
    """The store with device arrays."""
    moved = with_arrays(store, device._move)
    moved.shared = True
    if store.iso and store.nvals and type(store.values) is np.ndarray:
        moved.values = device.constant(store.values[0])
    return moved


def _no_stream():
    """The shim's stream: there is one only."""
