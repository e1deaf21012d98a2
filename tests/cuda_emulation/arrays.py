"""Device arrays of the CPU emulation: NumPy arrays of a class of their own that refuse to meet NumPy's, as CuPy's do.

A primitive that hands a host array to a kernel, adds a host array to a device array, or reads a device array as a host
array would fail on a GPU; here it raises TypeError (numpy.asarray is wrapped for that).  As with CuPy, elements and
reductions are arrays of no dimension, `get()` copies to the host, `data.ptr` is the address, `xp` has the functions
of the array module, and `xp.cuda` what the library calls of CuPy's run-time: one stream, where every copy is complete
at once.

>>> import numpy as np
>>> x = xp.arange(3)
>>> x + np.arange(3)
Traceback (most recent call last):
    ...
TypeError: add: a host array met a device array
>>> (x + 1).get().tolist(), type(x.sum()).__name__
([1, 2, 3], 'DeviceArray')
"""

import ctypes
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from grb_tile.exceptions import CaptureError

from . import memory

_thread = threading.local()  # number: of the thread's current device


class Traffic:
    """Bytes copied from the host to devices, and back, since the process began."""

    to_device = 0
    to_host = 0


def current_number():
    """The number of the calling thread's current device."""
    return getattr(_thread, "number", 0)


def bind(number):
    """Make the device of that number the calling thread's current one."""
    _thread.number = number


@contextmanager
def bound(number):
    """Within the block the device of that number is the calling thread's current one."""
    before = current_number()
    bind(number)
    try:
        yield
    finally:
        bind(before)


_held = None  # what `recording` keeps


@contextmanager
def recording(held):
    """Within it memory of arrays that are made is put into `held`, and nothing may be computed with arrays."""
    global _held
    _held = held
    try:
        yield
    finally:
        _held = None


def keep(made):
    """Put arrays that were made into what `recording` keeps."""
    if _held is not None:
        _held.extend(made)


@contextmanager
def emulating():
    """Within it what the emulation itself does to arrays may be done."""
    global _held
    before, _held = _held, None
    try:
        yield
    finally:
        _held = before


def _refuse_recorded(what):
    """Raises: CaptureError for what a device would do and a recorded turn lacks."""
    if _held is not None:
        raise CaptureError(f"programs: {what} is not a launch of the library's")


class Address(int):
    """The address of a DeviceArray, with what a kernel's parameter is checked against; it keeps nothing alive."""

    def __new__(cls, array):
        self = int.__new__(cls, array.ctypes.data)
        self.dtype, self.is_contiguous, self.device_id = array.dtype, array.flags.c_contiguous, array.device_id
        return self


class Pointer:
    """The address of a DeviceArray, `ptr`, and of which device it is."""

    def __init__(self, array):
        self.ptr, self.device_id = Address(array), array.device_id

    def memset_async(self, byte, count):
        """Set `count` bytes at once.  Raises: IndexError where that leaves the array."""
        _refuse_recorded("memset")
        if not memory.is_inside(int(self.ptr), count):
            raise IndexError(f"{count} bytes from {int(self.ptr):x} on end outside the array")
        ctypes.memset(int(self.ptr), byte, count)


class DeviceArray(np.ndarray):
    """An array on the "device" that was current when it was made; it may be computed with while that is current."""

    def __new__(cls, *args, **kwargs):
        made = np.ndarray(*args, **kwargs)
        if _held is None:
            return np.ndarray.__new__(cls, *args, **kwargs)
        _held.append(made)
        return made.view(cls)

    def __array_finalize__(self, other):
        self.device_id = other.device_id if isinstance(other, DeviceArray) else current_number()

    def get(self):
        """A copy on the host."""
        Traffic.to_host += self.nbytes
        return np.array(self.view(np.ndarray))

    @property
    def data(self):
        """As CuPy's: data.ptr is the address, data.memset_async(byte, count) writes there."""
        return Pointer(self)

    def tolist(self):
        return self.get().tolist()

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        _refuse_recorded(ufunc.__name__)
        _refuse_host(ufunc.__name__, inputs)
        if out is not None:
            _refuse_host(ufunc.__name__, out)
            kwargs["out"] = tuple(_plain(x) for x in out)
        with np.errstate(all="ignore"):  # a device does not warn
            found = getattr(ufunc, method)(*map(_plain, inputs), **{k: _plain(v) for k, v in kwargs.items()})
        return out[0] if out is not None else to_device(found)

    def __array_function__(self, function, types, args, kwargs):
        _refuse_recorded(function.__name__)
        _refuse_host(function.__name__, _leaves((args, tuple(kwargs.values()))))
        _refuse_options(function.__name__, kwargs)
        return to_device(function(*_map(args), **{k: _map(v) for k, v in kwargs.items()}))

    def __getitem__(self, key):
        _refuse_host("index", _leaves(key))
        found = to_device(self.view(np.ndarray)[_map(key)])
        found.device_id = self.device_id
        return found

    def __setitem__(self, key, value):
        _refuse_recorded("assignment")
        _refuse_host("assignment", _leaves((key, value)))
        self.view(np.ndarray)[_map(key)] = _plain(value)


def _refuse_options(what, options):
    """Raise TypeError for what NumPy's reductions take and CuPy's do not."""
    for name in ("initial", "where"):
        if name in options:
            raise TypeError(f"{what}() got an unexpected keyword argument {name!r}")


def _method(name):
    def call(self, *args, **kwargs):
        _refuse_recorded(name)
        _refuse_host(name, _leaves((args, tuple(kwargs.values()))))
        _refuse_options(name, kwargs)
        plain = {k: _map(v) for k, v in kwargs.items()}
        return to_device(getattr(self.view(np.ndarray), name)(*_map(args), **plain))

    return call


def _refused(name):
    """The method of that name, which is not recorded."""
    plain = getattr(np.ndarray, name)

    def call(self, *args, **kwargs):
        _refuse_recorded(name)
        return plain(self, *args, **kwargs)

    return call


def _read(name):
    def call(self):
        return getattr(self.get(), name)()

    return call


for _name in ("item", "__bool__", "__complex__", "__float__", "__index__", "__int__"):
    setattr(DeviceArray, _name, _read(_name))
for _name in (
    "nonzero",
    "searchsorted",
    "take",
    "argsort",
    "cumsum",
    "sum",
    "max",
    "min",
    "any",
    "all",
    "argmax",
    "argmin",
):
    setattr(DeviceArray, _name, _method(_name))


for _name in ("astype", "copy", "fill"):
    setattr(DeviceArray, _name, _refused(_name))


def _plain(x):
    return x.view(np.ndarray) if isinstance(x, DeviceArray) else x


def _map(x):
    if isinstance(x, (tuple, list)):
        return type(x)(_map(part) for part in x)
    return _plain(x)


def _leaves(x):
    if isinstance(x, (tuple, list)):
        for part in x:
            yield from _leaves(part)
    else:
        yield x


def _refuse_host(what, values):
    for x in values:
        if type(x) is np.ndarray:
            raise TypeError(f"{what}: a host array met a device array")
        if isinstance(x, DeviceArray) and x.device_id != current_number():
            raise TypeError(f"{what}: an array of device {x.device_id} while device {current_number()} is current")


def to_device(x):
    """Arrays and NumPy scalars as DeviceArrays (no copy); tuples of them too."""
    if isinstance(x, tuple):
        return tuple(to_device(part) for part in x)
    if isinstance(x, np.ndarray):
        keep([x])
        return x.view(DeviceArray)
    return np.array(x).view(DeviceArray) if isinstance(x, np.generic) else x


def _asarray(data, *args, _asarray=np.asarray, **kwargs):
    """numpy.asarray from now on: it sees a DeviceArray as an array like any other, where CuPy's arrays raise."""
    if isinstance(data, DeviceArray):
        raise TypeError("asarray: implicit conversion of a device array; use get()")
    return _asarray(data, *args, **kwargs)


np.asarray = _asarray


class Stream:
    """A stream, or an event: work is complete when its launch returns."""

    ptr = 0
    done = True

    def synchronize(self):
        """Nothing to wait for."""

    def record(self, event=None):
        """The event."""
        return event

    def wait_event(self, event):
        """Nothing to wait for."""


class Runtime:
    """What the library calls of cupy.cuda.runtime."""

    @staticmethod
    def memcpyAsync(to, source, count, kind, stream):
        """Copies at once.  Raises: IndexError where that leaves an array, ValueError for a direction that is none."""
        _refuse_recorded("a copy")
        if kind not in (1, 2, 3, 4):  # to the device, to the host, on the device, as the addresses say
            raise ValueError(f"{kind} is no direction of a copy")
        for address in int(to), int(source):
            if not memory.is_inside(address, count):
                raise IndexError(f"a copy of {count} bytes ends outside the array at {address:x}")
        if kind == 1:  # cudaMemcpyHostToDevice
            Traffic.to_device += count
        elif kind == 2:  # cudaMemcpyDeviceToHost
            Traffic.to_host += count
        ctypes.memmove(int(to), int(source), count)

    @staticmethod
    def deviceCanAccessPeer(number, other):
        """Devices of a process share its memory."""
        return number != other

    @staticmethod
    def deviceEnablePeerAccess(other):
        """They do so from the start."""

    @staticmethod
    def ipcGetMemHandle(pointer):
        """A handle of memory that no other process can map: ipcOpenMemHandle is missing."""
        return b"emulated"

    @staticmethod
    def setDevice(number):
        """Threads that copy name their device."""

    @staticmethod
    def streamSynchronize(stream):
        """Nothing to wait for."""


class Cuda:
    """What the library calls of cupy.cuda."""

    runtime = Runtime
    stream = Stream()

    class Memory:
        """Memory of its own; ptr is its address."""

        def __init__(self, size):
            self._array = np.full(size, 0xA5, np.uint8)
            self.ptr = self._array.ctypes.data

    @staticmethod
    def Stream(non_blocking):
        """Another stream."""
        return Stream()

    @staticmethod
    def Event(disable_timing):
        """What a stream may wait for."""
        return Stream()

    @classmethod
    def get_current_stream(cls):
        """The only stream."""
        return cls.stream

    @staticmethod
    def alloc_pinned_memory(count):
        """`count` bytes; ptr is their address."""
        memory = type("Pinned", (ctypes.c_char * count,), {})()
        memory.ptr = ctypes.addressof(memory)
        return memory


class ArrayModule:
    """NumPy's functions on DeviceArrays."""

    ndarray = DeviceArray
    cuda = Cuda

    def asarray(self, data, dtype=None):
        """Moves host data (a copy), leaves device arrays."""
        if isinstance(data, DeviceArray):
            return data if dtype is None or data.dtype == dtype else data.astype(dtype)
        moved = np.array(data, dtype).view(DeviceArray)
        Traffic.to_device += moved.nbytes
        return moved

    array = asarray

    def get_default_pinned_memory_pool(self):
        """A pool that keeps nothing."""
        return SimpleNamespace(free_all_blocks=lambda: None)

    def argsort(self, keys, kind=None):
        """Stable, as CuPy's is."""
        _refuse_host("argsort", (keys,))
        return keys.argsort(kind="stable")

    def __getattr__(self, name):
        function = getattr(np, name)
        if isinstance(function, type) or not callable(function):
            return function

        def call(*args, **kwargs):
            if name not in ("empty", "empty_like"):
                _refuse_recorded(name)
            _refuse_host(name, _leaves((args, tuple(kwargs.values()))))
            _refuse_options(name, kwargs)
            return to_device(function(*_map(args), **{k: _map(v) for k, v in kwargs.items()}))

        def at(*args):
            _refuse_host(f"{name}.at", _leaves(args))
            function.at(*_map(args))

        if isinstance(function, np.ufunc):
            call.at = at
        self.__dict__[name] = call
        return call


xp = ArrayModule()
