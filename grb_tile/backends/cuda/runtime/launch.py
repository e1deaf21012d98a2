"""The shortest way from Python to a launch: arguments of 8 bytes each in one kept array, the driver called directly.

CuPy's own launch converts every argument to an object first, which for a traversal costs as long as a level does.
"""

import ctypes
import functools
import struct
import threading

import numpy as np


class QuickLaunch:
    """Launches one kernel with a fixed configuration; all of its parameters are pointers or int64_t."""

    def __init__(self, kernel, count, blocks, block, shared=0, cooperative=False):
        from cupy_backends.cuda.api import driver

        self._kernel = kernel  # keeps the module loaded
        self._values = (ctypes.c_int64 * count)()
        start = ctypes.addressof(self._values)
        self._pointers = (ctypes.c_int64 * count)(*(start + 8 * k for k in range(count)))
        self._pack = struct.Struct(f"{count}q").pack_into
        self._lock = threading.Lock()
        self._start = functools.partial(driver.launchCooperativeKernel if cooperative else driver.launchKernel,
                                        kernel.function.ptr, blocks, 1, 1, block, 1, 1, shared)  # fmt: skip
        self._rest = (ctypes.addressof(self._pointers),) if cooperative else (ctypes.addressof(self._pointers), 0)

    def __call__(self, stream, *arguments):
        with self._lock:  # the driver has copied the arguments when it returns
            self._pack(self._values, 0, *arguments)
            try:
                self._start(stream, *self._rest)
            except RuntimeError as error:
                self._kernel.bind(error)
                self._start(stream, *self._rest)


class PlainLaunch:
    """The same for arrays, through the launcher: the CPU shim."""

    def __init__(self, kernel, blocks, block, shared=0):
        self._kernel = kernel
        self._configuration = blocks, block
        self._shared = shared

    def __call__(self, stream, *arguments):
        self._kernel(*self._configuration, arguments, self._shared, True)


@functools.lru_cache(maxsize=64)
def _layout(n, levels, parents, record):
    """(shapes, starts, bytes in all) of the four arrays in one block of memory; the start of one not asked for is None."""
    shapes = (n,), (n,), ((n + 63) >> 6,), (record,)
    starts, total = [], 0
    for shape, dtype, wanted in zip(shapes, _TYPES, (levels, parents, True, True), strict=True):
        starts.append(total if wanted else None)
        total += (shape[0] * dtype.itemsize + 255) & ~255 if wanted else 0
    return shapes, tuple(starts), total


class Results:
    """The arrays that a traversal writes, in one block of memory: level, parent (None where not asked for), words, record.

    addresses: where they lie, 0 for None, as a launch takes them; under the shim the arrays themselves.
    """

    def __init__(self, device, n, levels, parents, record):
        shapes, starts, total = self._layout = _layout(n, levels, parents, record)
        self._device = device
        self.n = n
        if device.is_shim:
            self._arrays = self.addresses = [
                None if start is None else device.empty(shape[0], dtype)
                for shape, start, dtype in zip(shapes, starts, _TYPES, strict=True)
            ]
            return
        self._arrays = None
        device.check_room(total, "traverse")
        self._memory = device.xp.cuda.alloc(total)
        base = self._memory.ptr
        self.addresses = [0 if start is None else base + start for start in starts]

    def arrays(self):
        """[level, parent, words, record]; made after the launch, while the device works."""
        if self._arrays is None:
            make, memory = self._device.array_class, self._memory
            shapes, starts, _ = self._layout
            self._arrays = [
                None if start is None else make(shape, dtype, memory + start)
                for shape, dtype, start in zip(shapes, _TYPES, starts, strict=True)
            ]
        return self._arrays


_TYPES = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.int64)
