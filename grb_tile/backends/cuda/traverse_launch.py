"""The shortest way from Python to a launch: arguments of 8 bytes each in one kept array, the driver called directly.

CuPy's own launch converts every argument to an object first, which for a traversal costs as long as a level does.
"""
import threading

import numpy as np


class QuickLaunch:
    """Launches one kernel with a fixed configuration; all of its parameters are pointers or int64_t."""

    def __init__(self, kernel, count, blocks, block, shared=0, cooperative=False):
        from cupy_backends.cuda.api import driver

        self._kernel = kernel          # keeps the module loaded
        self._values = np.zeros(count, np.int64)
        self._pointers = self._values.ctypes.data + 8 * np.arange(count, dtype=np.uint64)
        self._lock = threading.Lock()
        configuration = (kernel.function.ptr, blocks, 1, 1, block, 1, 1, shared)
        parameters = self._pointers.ctypes.data
        if cooperative:
            self._launch = lambda stream: driver.launchCooperativeKernel(*configuration, stream, parameters)
        else:
            self._launch = lambda stream: driver.launchKernel(*configuration, stream, parameters, 0)

    def __call__(self, stream, *arguments):
        with self._lock:               # the driver has copied the arguments when it returns
            self._values[:] = arguments
            self._launch(stream)


class PlainLaunch:
    """The same for arrays, through the launcher: the CPU shim."""

    def __init__(self, kernel, blocks, block, shared=0):
        self._kernel = kernel
        self._configuration = blocks, block
        self._shared = shared

    def __call__(self, stream, *arguments):
        self._kernel(*self._configuration, arguments, self._shared, True)


class Results:
    """The arrays that a traversal writes, in one block of memory: level, parent (None where not asked for), words, record."""

    def __init__(self, device, n, levels, parents, record):
        sizes = [n * 4 if levels else 0, n * 8 if parents else 0, ((n + 63) >> 6) * 8, record * 8]
        self._shapes = [(n,), (n,), ((n + 63) >> 6,), (record,)]
        self._device = device
        self.n = n
        if device.is_shim:
            self._arrays = self.addresses = [
                device.empty(shape[0], dtype) if size else None
                for size, shape, dtype in zip(sizes, self._shapes, _TYPES, strict=True)
            ]
            return
        self._arrays = None
        starts, total = [], 0
        for size in sizes:
            starts.append(total)
            total += (size + 255) & ~255
        device.check_room(total, "traverse")
        self._memory = memory = device.xp.cuda.alloc(total)
        self._starts = starts
        base = memory.ptr
        self.addresses = [base + start if size else 0 for size, start in zip(sizes, starts, strict=True)]

    def arrays(self):
        """[level, parent, words, record]; made after the launch, while the device works."""
        if self._arrays is None:
            make, memory = self._device.xp.ndarray, self._memory
            self._arrays = [
                make(shape, dtype, memory + start) if address else None
                for shape, dtype, start, address in zip(self._shapes, _TYPES, self._starts, self.addresses, strict=True)
            ]
        return self._arrays


_TYPES = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.int64)
