"""Launches: arguments packed as 8 bytes each in a kept buffer, then one direct call of the driver.

    kernel = device.launcher.kernel("structure/gather.cuh", "gather_apply", functors, ("int32_t", "double", "Op"))
    kernel.over(n, (at, x, y, n))                    # n items, a grid-stride loop inside (GRB_EACH)
    kernel(blocks, threads, (at, x, y, n), shared=0, cooperative=False)
    launch = kernel.launch(4, blocks, threads, cooperative=True)  # kept by whoever launches it often
    launch(stream, at.data.ptr, x.data.ptr, y.data.ptr, n)

`over` and a call take arrays (C-contiguous), None (the null pointer), addresses, Python int (int64_t), float (double),
bool, and NumPy scalars of the parameter's type.  A kept launch takes addresses, ints and bools alone, has a fixed
configuration, and may keep the first arguments.

The driver reads as many of an argument's 8 bytes as the parameter has, which is right for pointers, integers and bool
on a little-endian machine.  It has copied them when it returns, so one buffer serves every launch, under a lock.
CuPy's own launch makes an object of every argument first, which takes longer than a level of a traversal.

Launcher describes the device: multiprocessors, shared memory, sizes of blocks and grids, streams.  The CPU
emulation (tests/cuda_emulation/launcher.py) is another Launcher with the same methods and smaller sizes.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....planner.device_limits import ENVIRONMENT, MOST_STATIC, DeviceLimits, limits_of, restricted
from ....planner.device_profile import MEASURED_SHARE, DeviceProfile, profile_of
from .ahead import Compilations
from .array_block import ArrayBlock
from .compile import options_for, source_text
from .package import package_for
from .side_streams import SideStreams

# Bytes of dynamic shared memory that a launch may have without an attribute of the kernel: 48 KiB less static ones.
SHARED_LIMIT = (48 << 10) - MOST_STATIC
BLOCKS_PER_PROCESSOR = 32  # at most, of a grid-stride loop
_preparing = threading.Lock()
_context = threading.local()  # numbers: of the devices whose context the run-time has given this thread
_HERE = nullcontext()


class Arguments:
    """`count` arguments after `fixed` ones, 8 bytes each, and the array of their addresses that the driver takes.

    pack(*integers) writes the arguments; the caller holds `lock` until the driver has returned.
    """

    __slots__ = ("_pointers", "_values", "address", "lock", "pack")

    def __init__(self, count: int, fixed: tuple[int, ...] = ()) -> None:
        total = len(fixed) + count
        self._values = (ctypes.c_int64 * total)(*fixed)
        start = ctypes.addressof(self._values)
        self._pointers = (ctypes.c_int64 * total)(*(start + 8 * k for k in range(total)))
        self.address = ctypes.addressof(self._pointers)
        self.pack = partial(struct.Struct(f"{count}q").pack_into, self._values, 8 * len(fixed))
        self.lock = threading.Lock()


class Launch:
    """One kernel with a fixed configuration and the first of its arguments; the rest comes with each call."""

    __slots__ = ("_arguments", "_fixed", "_kernel", "_lock", "_pack", "_rest", "_shape", "_start")

    def __init__(
        self,
        kernel: Kernel,
        count: int,
        blocks: int,
        threads: int,
        shared: int,
        cooperative: bool,
        fixed: tuple[int, ...],
    ) -> None:
        self._kernel = kernel  # keeps the module loaded
        self._arguments = arguments = Arguments(count, fixed)
        self._pack, self._lock = arguments.pack, arguments.lock
        launcher = kernel.launcher
        start = launcher.launch_cooperative if cooperative else launcher.launch
        self._start = partial(start, kernel.function.ptr, blocks, 1, 1, threads, 1, 1, shared)
        self._rest = (arguments.address,) if cooperative else (arguments.address, 0)
        self._fixed, self._shape = fixed, (blocks, shared)

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._kernel.name

    def __call__(self, stream: int, *arguments: int) -> None:
        """Launch on the stream of that handle; arguments: addresses, ints, bools."""
        recorder = self._kernel.launcher.recorder
        if recorder is not None:
            blocks, shared = self._shape
            recorder.note(self._kernel, blocks, (*self._fixed, *arguments), shared, known=False)
            return
        with self._lock:
            self._pack(*arguments)
            try:
                self._start(stream, *self._rest)
            except RuntimeError as error:
                self._kernel.bind(error)
                self._start(stream, *self._rest)


class Kernel:
    """One compiled kernel, loaded."""

    __slots__ = (
        "_allowed",
        "_arguments",
        "_array_class",
        "_kept",
        "_module",
        "_most",
        "_resident",
        "function",
        "key",
        "launcher",
        "name",
    )

    def __init__(self, name: str, function: Any, module: Any, launcher: Launcher, key: tuple = ()) -> None:
        self.name = name
        self.key = key  # what Launcher.kernel was given
        self.function = function
        self.launcher = launcher
        self._module = module  # unloading it would take the function away
        self._array_class = launcher.xp.ndarray
        self._most = launcher.processors * BLOCKS_PER_PROCESSOR
        self._kept = None  # what _prepared returns
        self._resident = {}
        self._allowed = SHARED_LIMIT

    def launch(
        self, count: int, blocks: int, threads: int, shared: int = 0, cooperative: bool = False,
        fixed: tuple[int, ...] = (),
    ) -> Launch:  # fmt: skip
        """A Launch to keep.  count: arguments of each call, after the `fixed` ones."""
        self.allow_shared(shared)
        return Launch(self, count, blocks, threads, shared, cooperative, fixed)

    def __call__(self, blocks: int, threads: int, args: tuple, shared: int = 0, cooperative: bool = False) -> None:
        """Launch `blocks` blocks of `threads` threads on CuPy's current stream.

        None is the null pointer, which kernels give a meaning; the pointer of an empty array, which is null in CuPy,
        becomes the address of the launcher's `hole`.
        """
        if self.launcher.recorder is not None:
            self.launcher.recorder.note(self, blocks, args, shared)
            return
        pack, lock, address, function, hole, launch, stream = self._kept or self._prepared(len(args))
        arrays, extra = self._array_class, (0,)
        if shared > self._allowed:
            self.allow_shared(shared)
        if cooperative:
            launch, extra = self.launcher.launch_cooperative, ()
        try:
            with lock:
                pack(*[(a.data.ptr or hole) if type(a) is arrays else 0 if a is None else a for a in args])
                launch(function, blocks, 1, 1, threads, 1, 1, shared, stream().ptr, address, *extra)
        except struct.error:  # a float among them, or a count of arguments that is not the kernel's
            self(blocks, threads, self._as_integers(args), shared, cooperative)
        except RuntimeError as error:
            self.bind(error)
            self(blocks, threads, args, shared, cooperative)

    def over(self, n: int, args: tuple, block: int = 256, most: int | None = None, shared: int = 0) -> None:
        """Launch at most `most` blocks of `block` threads for `n` items, for a grid-stride loop; none for no items."""
        if n <= 0:
            return
        blocks, arrays = (n + block - 1) // block, self._array_class
        if most is None:
            most = self._most
        if blocks > most:
            blocks = most
        if self.launcher.recorder is not None:
            limit = None if most == self._most else most
            self.launcher.recorder.note(self, blocks, args, shared, n, limit)
            return
        pack, lock, address, function, hole, launch, stream = self._kept or self._prepared(len(args))
        try:
            with lock:
                pack(*[(a.data.ptr or hole) if type(a) is arrays else 0 if a is None else a for a in args])
                launch(function, blocks, 1, 1, block, 1, 1, shared, stream().ptr, address, 0)
        except struct.error:
            self(blocks, block, self._as_integers(args), shared)
        except RuntimeError as error:
            self.bind(error)
            self(blocks, block, args, shared)

    def _prepared(self, count: int) -> tuple:
        """What a launch of `count` arguments takes: kept."""
        with _preparing:  # once only, because another thread may use the addresses already
            if self._kept is None:
                self._arguments = arguments = Arguments(count)
                launcher = self.launcher
                self._kept = (
                    arguments.pack, arguments.lock, arguments.address, self.function.ptr, launcher.hole.data.ptr,
                    launcher.launch, launcher.current_stream,
                )  # fmt: skip
        return self._kept

    def _as_integers(self, args: tuple) -> tuple:
        """The arguments with floats as the 8 bytes that a double has, and unsigned integers of 64 bits as signed ones.

        Raises: TypeError where that changes nothing.
        """
        changed = tuple(map(_as_integer, args))
        if all(a is b for a, b in zip(args, changed, strict=True)):
            raise TypeError(f"{self.name}: no arguments of this kernel: {', '.join(type(a).__name__ for a in args)}")
        return changed

    def bind(self, error: RuntimeError) -> None:
        """Give this thread the device's context, without which a direct call of the driver fails in a new thread.

        Raises: `error` when it is another one, or comes again.
        """
        numbers, number = getattr(_context, "numbers", ()), self.launcher.number
        if "CUDA_ERROR_INVALID_CONTEXT" not in str(error) or number in numbers:
            raise error
        _context.numbers = {*numbers, number}
        self.launcher.xp.cuda.runtime.memGetInfo()  # any call of the run-time binds the context

    def allow_shared(self, count: int) -> None:
        """Let launches have `count` bytes of dynamic shared memory: more than 48 KiB is an attribute of the kernel."""
        if count > self._allowed:
            from cupy_backends.cuda.api import driver

            driver.funcSetAttribute(self.function.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, count)
            self._allowed = count

    def resident_blocks(self, threads: int, shared: int = 0) -> int:
        """How many blocks of a cooperative launch are resident at once on the whole device."""
        key = threads, shared
        found = self._resident.get(key)
        if found is None:
            from cupy_backends.cuda.api import driver

            try:
                self.allow_shared(shared)
                each = driver.occupancyMaxActiveBlocksPerMultiprocessor(self.function.ptr, threads, shared)
            except RuntimeError as error:
                self.bind(error)
                return self.resident_blocks(threads, shared)
            if self.launcher.limits.restricted:
                each = min(each, self.launcher.limits.resident_blocks(threads, shared))
            found = self._resident[key] = each * self.launcher.processors
        return found


class Launcher:
    """Compiles, loads and keeps kernels for one device, and describes the device.

    number: the device's, which is CuPy's current one whenever a method is called that computes or allocates.  several:
    has the machine other devices, so that another may be current?  limits: what the device allows
    (planner/device_limits.py), restricted to less where GRB_TILE_DEVICE_LIMITS says so.
    """

    array_block = ArrayBlock
    has_graphs = True  # may launches be captured (programs/graph.py)?
    recorder: Any = None  # notes launches in place of running them (programs/steps.py)

    def __init__(self, number: int = 0) -> None:
        import cupy

        self.xp = cupy
        self.number = number
        self.several = cupy.cuda.runtime.getDeviceCount() > 1
        self.current_number = cupy.cuda.runtime.getDevice
        self._device = cupy.cuda.Device
        with self.bound():
            self._describe(cupy)

    def _describe(self, cupy: Any) -> None:
        from cupy_backends.cuda.api import driver

        self.beside = SideStreams(cupy.cuda)
        self.launch, self.launch_cooperative = driver.launchKernel, driver.launchCooperativeKernel
        self.current_stream = cupy.cuda.get_current_stream
        device = cupy.cuda.Device(self.number)
        self.limits = limits = restricted(_limits_of(device), os.environ.get(ENVIRONMENT, ""))
        self.arch, self.processors = limits.arch, limits.processors
        self.shared = limits.shared_per_block  # bytes that a block may have
        package = package_for(self.arch, self.driver_version())
        self._compilations = Compilations(self.arch, options_for(limits), package, self.number)
        self._compilations.begin()
        self.hole = cupy.zeros(64, cupy.uint64)  # what kernels get for empty arrays
        self._kernels = {}
        self._lock = threading.Lock()

    def bound(self) -> AbstractContextManager:
        """Within it this device is CuPy's current one in the calling thread."""
        return self._device(self.number) if self.several else _HERE

    def bind(self) -> None:
        """Make this device CuPy's current one in the calling thread."""
        if self.several:
            self._device(self.number).use()

    def kernel(self, header: str, name: str, functors: str = "", template: tuple[str, ...] = ()) -> Kernel:
        """The Kernel `name<template...>` of `header` (one file of kernels/, or several names with blanks between).

        functors: C++ text put after the header (structs that the template arguments name; #include lines are welcome).
        template: tuple of C++ types or constants as text.
        The compiled kernel is looked up by these texts: keep the Kernel where a call is hot.
        Raises: JitError with the compiler's log.
        """
        key = header, name, functors, template
        found = self._kernels.get(key)
        return found if found is not None else self._load(key)

    def is_ready(self, *key: Any) -> bool:
        """Would `kernel` return at once, with these arguments?  Else a thread compiles it from now on."""
        return key in self._kernels or self._compilations.is_ready(key)  # type: ignore[arg-type]

    def _load(self, key: tuple) -> Kernel:
        from cupy.cuda.function import Module

        lowered, cubin = self._compilations.get(key)
        with self._lock:
            found = self._kernels.get(key)
            if found is None:
                module = Module()
                module.load(cubin)
                found = self._kernels[key] = Kernel(
                    source_text(*key)[1], module.get_function(lowered), module, self, key
                )
        self._compilations.drop(key)
        return found

    def device_name(self) -> str:
        """As the driver has it."""
        return self.xp.cuda.runtime.getDeviceProperties(self.number)["name"].decode()

    def identity(self) -> str:
        """Of the device among all of this machine, whatever CUDA_VISIBLE_DEVICES hides."""
        runtime = self.xp.cuda.runtime
        return f"{runtime.deviceGetPCIBusId(self.number)} {runtime.getDeviceProperties(self.number)['uuid'].hex()}"

    def driver_version(self) -> int:
        """The version of CUDA that the driver has, 13000 for 13.0."""
        return self.xp.cuda.runtime.driverGetVersion()

    def profile(self) -> DeviceProfile:
        """What this device costs by the table, else by its facts (planner/device_profile.py)."""
        runtime, number = self.xp.cuda.runtime, self.number
        clock = runtime.deviceGetAttribute(runtime.cudaDevAttrMemoryClockRate, number)  # kHz, two transfers a cycle
        width = runtime.deviceGetAttribute(runtime.cudaDevAttrGlobalMemoryBusWidth, number)  # bits
        bandwidth = clock * width / 4e6 * MEASURED_SHARE
        name = f"{self.device_name()} {self.limits.restricted}".strip()
        return profile_of(name, self.processors, bandwidth, self.shared)

    def threads(self, wanted: int) -> int:
        """Threads of a block whose kernel works with any number of them."""
        return wanted

    def threads_that_wait(self, wanted: int) -> int:
        """Threads of a block whose warps wait for each other without a barrier."""
        return wanted

    def blocks(self, most: int, work: int | None = None, grain: int = 1) -> int:
        """Blocks of a grid: `most`, fewer where each would get less than `grain` of `work` items, at least one."""
        return most if work is None else max(1, min(most, work // grain))

    def few_blocks(self, wanted: int) -> int:
        """Blocks of a kernel that a few blocks run together."""
        return wanted

    def size(self, wanted: int, small: int) -> int:
        """The size of a table or a chunk; the CPU emulation takes `small`, which the small inputs of tests exceed."""
        return wanted

    def is_whole(self, array: Any) -> bool:
        """Does the array have its memory for itself, not as a part of another?"""
        return array.base is None

    def release_memory(self, drop: Any) -> bool:
        """Call drop(), give unused memory back to the driver; is less in use than before?"""
        pool = self.xp.get_default_memory_pool()
        before = pool.used_bytes()
        drop()
        pool.free_all_blocks()
        return pool.used_bytes() < before

    def memory(self) -> tuple[int, int]:
        """(free, total) bytes of the device, the pool's unused blocks counted as free."""
        free, total = self.xp.cuda.runtime.memGetInfo()
        return free + self.xp.get_default_memory_pool().free_bytes(), total


def bits_of(x: float) -> int:
    """The signed integer of the same 8 bytes as a float, or as an int below 2^64: what a launch packs at once."""
    return struct.unpack("q", struct.pack("Q" if isinstance(x, int) else "d", x))[0]


def _as_integer(a: Any) -> Any:
    """A float, or an unsigned integer of 64 bits, as the signed integer of the same bytes; anything else itself."""
    if isinstance(a, (float, np.floating)) or type(a) is np.uint64:
        return int.from_bytes(np.asarray(a).tobytes().ljust(8, b"\0"), "little", signed=True)
    return a


def _limits_of(device: Any) -> DeviceLimits:
    """The limits of a CuPy device: its architecture's, and what the driver says of it."""
    arch, of = int(device.compute_capability), device.attributes
    return replace(
        limits_of(arch),
        arch=arch,
        processors=of["MultiProcessorCount"],
        shared_per_block=of["MaxSharedMemoryPerBlockOptin"],
        shared_per_processor=of["MaxSharedMemoryPerMultiprocessor"],
        threads_per_processor=of["MaxThreadsPerMultiProcessor"],
        cache=of["L2CacheSize"],
    )
