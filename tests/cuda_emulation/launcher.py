"""Compiles kernels with g++ over engine.h and calls them: the interface of
grb_tile.backends.cuda.runtime.launch.Launcher.

>>> from cuda_emulation.launcher import EmulatedLauncher
>>> launcher = EmulatedLauncher()
>>> source = 'template <class T> __global__ void twice(T* x, int64_t n) { GRB_EACH(i, n) x[i] += x[i]; }'
>>> from cuda_emulation.arrays import xp
>>> x = xp.arange(5)
>>> launcher.kernel("base/launch.cuh", "twice", source, ("int64_t",)).over(5, (x, 5))
>>> x.tolist()
[0, 2, 4, 6, 8]
"""

import ctypes
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import threading
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path

import numpy as np

from grb_tile.backends.cuda.runtime.compile import blocks_for, source_text
from grb_tile.backends.cuda.runtime.mailbox import PinnedAddress
from grb_tile.planner import device_profile
from grb_tile.planner.device_limits import LIMITS, THREADS_OF_BLOCK
from support import seeds

from . import arrays, memory, schedule
from .arrays import Address, DeviceArray, xp
from .shared_memory import without_shared

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("GRB_TILE_SIMT_CACHE", os.path.join(tempfile.gettempdir(), f"grb-tile-simt-{os.getuid()}")))
SOURCES = ("engine.cpp", "faults.cpp", "guards.cpp")
HEADERS = ("engine.h", "cuda_names.h")
SHARED = (*HEADERS, "guards.h", "running.h", *SOURCES)
THREADS, BLOCKS = 64, 4  # the largest block and grid
FLAGS = [
    "g++", "-std=c++20", "-march=native", "-g1", "-fPIC", "-pthread", "-fvisibility=hidden", "-fno-plt",
    "-fno-strict-aliasing", "-ffp-contract=off", "-Wno-unknown-pragmas", "-Wno-attributes",
    "-fsanitize=alignment,bounds", "-fsanitize-undefined-trap-on-error",
    *(["-mtls-dialect=gnu2"] if platform.machine() == "x86_64" else []),
]  # fmt: skip


class EmulationError(RuntimeError):
    """A kernel does not compile, or breaks a rule of CUDA while it runs."""


class Launch(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint64),
        ("seed", ctypes.c_uint64), ("switches", ctypes.c_uint64), ("os_threads", ctypes.c_int),
        ("cooperative", ctypes.c_int), ("addresses", ctypes.c_void_p), ("address_count", ctypes.c_int),
        ("error", ctypes.c_char * 512),
    ]  # fmt: skip


def compile_cpp(options, *arguments, what):
    """Run g++.  Raises: EmulationError with its complaints."""
    done = subprocess.run([*FLAGS, *options, *map(str, arguments)], check=False, capture_output=True, text=True)
    if done.returncode:
        raise EmulationError(f"{what} does not compile:\n{done.stderr[:6000]}")


@lru_cache(maxsize=8)
def _digest(files, options):
    """Of those of this folder's files and of the compiler's options."""
    state = "\0".join([*((HERE / name).read_text() for name in files), *FLAGS, *options])
    return hashlib.sha256(state.encode()).hexdigest()[:16]


@lru_cache(maxsize=8)
def engine(options):
    """The folder of what all kernels share, compiled ahead: cuda_names.h as a precompiled header, and engine.so.

    Kernels find the engine in the process, so that they need not be compiled anew when it changes.
    """
    target = CACHE / f"engine-{_digest(SHARED, options)}"
    if not target.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=CACHE))
        for name in SHARED:
            (fresh / name).write_text((HERE / name).read_text())
        sources = (fresh / name for name in SOURCES)
        compile_cpp(("-shared", *options, "-O2"), *sources, "-o", fresh / "engine.so", what="the CPU emulation")
        header = fresh / "cuda_names.h"
        compile_cpp(options, "-x", "c++-header", header, "-o", f"{header}.gch", what="the CPU emulation")
        try:
            fresh.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(fresh)
    ctypes.CDLL(str(target / "engine.so"), ctypes.RTLD_GLOBAL)
    return target


def build(text, expression, options=("-O2",)):
    """The shared object that holds the kernel `expression` of `text`; compiled unless it lies in the cache."""
    text = (
        without_shared(text)
        + f"""
extern "C" __attribute__((visibility("default"))) int simt_launch(simt::Launch *l, void **a) {{
  return simt::launch(&{expression}, l, a);
}}
extern "C" __attribute__((visibility("default"))) const char *simt_signature() {{
  return simt::signature(&{expression});
}}
"""
    )
    shared = engine(options)
    key = hashlib.sha256(f"{text}{_digest(HEADERS, options)}".encode()).hexdigest()
    target = CACHE / f"{key[:24]}.so"
    if not target.exists():
        own = f".{os.getpid()}-{threading.get_ident()}"  # ranks may be threads
        path, fresh = (target.with_suffix(f"{own}{suffix}") for suffix in (".cpp", ".so"))
        path.write_text(text)
        files = "-include", shared / "cuda_names.h", path, "-o", fresh
        compile_cpp(("-shared", *options), *files, what=expression)
        os.replace(fresh, target)
        path.unlink()
    return target


class EmulatedKernel:
    """One kernel; the interface of launch.Kernel.  seed: of the order of the threads, 0 for that of their numbers, None
    for one that each launch draws (schedule.py)."""

    limits = LIMITS[90]

    def __init__(self, library, expression):
        self.name = expression
        self.launches = {}
        self.library = library
        library.simt_signature.restype = ctypes.c_char_p
        self.signature = library.simt_signature().decode().split()
        self.switches = 0
        self.seed = None
        self.number = 0
        self.most_blocks, self.most_threads = BLOCKS, THREADS

    def __call__(self, grid, block, args, shared=0, cooperative=False, direct=False):
        """See launch.Kernel.__call__; direct: the call of a kept launch, which takes any address."""
        if self.launcher.recorder is not None:
            self.launcher.recorder.note(self, grid, args, shared, known=not direct)
            return
        grid = (grid,) if isinstance(grid, int) else grid
        block = (block,) if isinstance(block, int) else block
        fields = 8 * len(args)
        if len(args) != len(self.signature) and self.signature != [f"s{fields}"]:
            raise TypeError(f"{self.name}: {len(args)} arguments for {self.signature}")
        if self.number != arrays.current_number():
            raise EmulationError(f"{self.name}: of device {self.number}, launched on {arrays.current_number()}")
        if min(grid) < 1 or min(block) < 1 or np.prod(block) > THREADS_OF_BLOCK:
            raise EmulationError(f"{self.name}: no launch of {grid} blocks of {block} threads")
        self.allow_shared(shared)
        kernel = self.name.partition("<")[0]
        self.launches[kernel] = max(shared, self.launches.get(kernel, 0))
        if self.signature == [f"s{fields}"]:  # one struct of 8-byte fields
            kept = [(ctypes.c_int64 * len(args))(*map(_field, args))]
        else:
            kept = [self._argument(k, a, s, direct) for k, (a, s) in enumerate(zip(args, self.signature, strict=True))]
        pointers = (ctypes.c_void_p * max(1, len(kept)))(*map(ctypes.addressof, kept))
        addresses = (ctypes.c_uint64 * max(1, len(args)))(*_addresses(kept))
        launch = Launch(
            grid=_three(grid),
            block=_three(block),
            shared=shared,
            seed=schedule.seed_of(self.name) if self.seed is None else self.seed,
            os_threads=os.cpu_count() or 1,
            cooperative=cooperative,
            addresses=ctypes.addressof(addresses),
            address_count=len(addresses),
        )
        bad = self.library.simt_launch(ctypes.byref(launch), pointers)
        self.switches = launch.switches
        if bad:
            raise EmulationError(f"{self.name}: {self._explained(launch.error.decode(), args, addresses)}")

    def _explained(self, message, args, addresses):
        """The engine's message, with the argument in the place of an address and the line in that of its code."""

        def argument(match):
            start = int(match[1], 16)
            for k, (address, a) in enumerate(zip(addresses, args, strict=False)):
                if memory.start_of(address) == start:
                    kind = f", {a.dtype}[{a.size}]" if isinstance(a, DeviceArray) else ""
                    return f"(argument {k}{kind})"
            return "(no argument)"

        def line(match):
            command = ["addr2line", "-e", self.library._name, match[1]]
            found = subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
            return f" at {found}"

        return re.sub(r" \[code (\w+)\]", line, re.sub(r"<(\w+)>", argument, message))

    def launch(self, count, blocks, threads, shared=0, cooperative=False, fixed=()):
        """See launch.Kernel.launch."""
        self.allow_shared(shared)
        return EmulatedLaunch(self, count, blocks, threads, shared, cooperative, fixed)

    def over(self, n, args, block=256, most=None, shared=0):
        """See launch.Kernel.over.  Few threads, because fibers are slow."""
        if n > 0:
            block = min(block, self.most_threads)
            limit, most = most, self.most_blocks if most is None else min(most, self.most_blocks)
            blocks = blocks_for(n, block, most)
            if self.launcher.recorder is not None:
                self.launcher.recorder.note(self, blocks, args, shared, n, limit)
            else:
                self(blocks, block, args, shared)

    def allow_shared(self, count):
        """Raises: EmulationError for more dynamic shared memory than a block of the emulated device may have."""
        if count > self.limits.shared_per_block:
            raise EmulationError(
                f"{self.name}: {count} bytes of shared memory, sm_{self.limits.arch} has {self.limits.shared_per_block}"
            )

    def resident_blocks(self, threads, shared=0):
        """How many blocks of a cooperative launch are resident at once: an odd number, so that chunks end unevenly."""
        self.allow_shared(shared)
        return max(self.most_blocks - 1, 1)

    def _argument(self, k, a, wanted, direct):
        if a is None:
            if wanted[0] != "p":
                raise TypeError(f"{self.name}: argument {k} is None, the kernel wants {wanted}")
            return ctypes.c_void_p(0)
        if type(a) is PinnedAddress and wanted == "p8" or type(a) is int and wanted[0] == "p" and direct:
            return ctypes.c_void_p(a)
        if type(a) is np.ndarray and a.ndim:
            raise TypeError(f"{self.name}: argument {k} is a host array")
        if isinstance(a, DeviceArray):
            a = Address(a)
        if type(a) is Address:
            if a.device_id != self.number:
                raise TypeError(f"{self.name}: argument {k} is on device {a.device_id}, the kernel on {self.number}")
            if wanted[0] != "p" or wanted[1:] not in ("0", str(a.dtype.itemsize)):
                raise TypeError(f"{self.name}: argument {k} is a {a.dtype} array, the kernel wants {wanted}")
            if not a.is_contiguous:
                raise TypeError(f"{self.name}: argument {k} is not contiguous")
            return ctypes.c_void_p(int(a))
        a = np.asarray(a)  # as CuPy passes them: int is int64, float is double, bool is bool
        if a.dtype.kind not in {"i": "iu", "f": "f", "b": "b"}.get(wanted[0], "") or str(a.itemsize) != wanted[1:]:
            raise TypeError(f"{self.name}: argument {k} is a {a.dtype} scalar, the kernel wants {wanted}")
        return (ctypes.c_char * a.itemsize).from_buffer_copy(a.tobytes())


class EmulatedLaunch:
    """The interface of launch.Launch."""

    def __init__(self, kernel, count, blocks, threads, shared, cooperative, fixed):
        self.kernel, self.count, self.fixed = kernel, count, tuple(fixed)
        self.configuration = blocks, threads
        self.more = shared, cooperative

    @property
    def name(self):
        return self.kernel.name

    def __call__(self, stream, *arguments):
        if len(arguments) != self.count or not all(isinstance(a, (int, np.integer)) for a in arguments):
            raise TypeError(f"{self.name}: a kept launch takes {self.count} addresses and integers, not {arguments}")
        self.kernel(*self.configuration, (*self.fixed, *arguments), *self.more, direct=True)


class SeparateArrays:
    """The interface of array_block.ArrayBlock; each array has an allocation of its own, between guard zones."""

    def __init__(self, xp, layout):
        self._memory = [None if field is None else _whole_words(field[0][0], field[1]) for field in layout.fields]
        self._number = arrays.current_number()
        self.addresses = [0 if memory is None else memory.ctypes.data for memory in self._memory]
        arrays.keep([memory.base for memory in self._memory if memory is not None])

    def array(self, k, count=None):
        memory = self._memory[k]
        if memory is None:
            return None
        found = memory[:count].view(DeviceArray)
        found.device_id = self._number
        return found

    def staged(self, given):
        """Arrays that are apart are written here: nothing is left to copy."""
        for k, array in enumerate(given):
            if array is not None:
                self._memory[k].view(np.uint8)[:] = np.frombuffer(array.tobytes(), np.uint8)
                arrays.Traffic.to_device += array.nbytes
        return 0, b""

    def arrays(self):
        return [self.array(k) for k in range(len(self._memory))]


def _whole_words(count, dtype):
    """Atomics on 1 and 2 bytes write the word of 4 bytes around them."""
    size = count * dtype.itemsize
    return np.empty((size + 3) // 4 * 4, np.uint8)[:size].view(dtype)


class EmulatedLauncher:
    """The interface of launch.Launcher: a device of two multiprocessors whose grids and blocks are small.

    number, several: it is one of several devices, which differ by the arrays that reside there.
    """

    xp = xp
    array_block = SeparateArrays
    has_graphs = False
    recorder = None
    current_stream = staticmethod(xp.cuda.get_current_stream)

    current_number = staticmethod(arrays.current_number)

    def __init__(
        self, options=None, seed=None, number=0, several=False, limits=LIMITS[90], small=True, blocks=BLOCKS,
        threads=THREADS,
    ):  # fmt: skip
        """seed: of the order of the threads in all launches; each launch draws one without it (schedule.py).

        limits: of the device that is emulated (grb_tile/planner/device_limits.py), in particular shared memory.

        small: tables and chunks are as small as `size` says; else as on the device.

        blocks, threads: of a grid and of a block, at most.
        """
        self.small, self.most_blocks, self.most_threads = small, blocks, threads
        self.launches = {}  # kernel -> the greatest shared memory that a launch asked for
        self.options = tuple(os.environ.get("GRB_TILE_SIMT_FLAGS", "-O1").split() if options is None else options)
        self.seed, self.limits = seed, limits
        self.number, self.several = number, several
        self.arch, self.shared, self.processors = limits.arch, limits.shared_per_block, limits.processors or 2
        self._kernels = {}
        self.hole = xp.zeros(64, np.uint64)
        memory.install(engine(self.options) / "engine.so", seeds.SEED)

    def bound(self):
        """See launch.Launcher.bound."""
        return arrays.bound(self.number)

    def bind(self):
        """See launch.Launcher.bind."""
        arrays.bind(self.number)

    def kernel(self, header, name, functors="", template=()):
        """See launch.Launcher.kernel."""
        key = header, name, functors, template
        found = self._kernels.get(key)
        if found is None:
            text, expression = source_text(header, name, functors, template)
            if not self.limits.reduce_sync:
                text = f"#define GRB_NO_REDUCE_SYNC 1\n{text}"
            library = ctypes.CDLL(str(build(text, expression, self.options)))
            found = self._kernels[key] = EmulatedKernel(library, expression)
            found.seed, found.number, found.limits = self.seed, self.number, self.limits
            found.launcher, found.key = self, key
            found.launches = self.launches
            found.most_blocks, found.most_threads = self.most_blocks, self.most_threads
        return found

    def is_ready(self, *key):
        """See launch.Launcher.is_ready."""
        return True

    def threads(self, wanted):
        """At most two warps, unless the launcher was made for more."""
        return min(wanted, self.most_threads)

    def threads_that_wait(self, wanted):
        """One warp: those of an emulated block take turns at barriers only."""
        return 32

    def blocks(self, most, work=None, grain=1):
        """More than one block for the smallest work, so that tests see blocks work together; at most four."""
        return min(most, self.most_blocks)

    @contextmanager
    def beside(self, count):
        """One kernel after the other."""
        yield nullcontext

    @contextmanager
    def without_launching(self, held):
        """See launch.Launcher.without_launching."""
        with arrays.recording(held):
            yield

    def few_blocks(self, wanted):
        """Two blocks."""
        return min(wanted, 2)

    def size(self, wanted, small):
        """Small, so that the small inputs of tests exceed it."""
        return small if self.small else wanted

    def is_whole(self, array):
        """An array of the module's functions is a view of NumPy's result, as a whole."""
        base = array.base
        return base is None or type(base) is np.ndarray and base.nbytes == array.nbytes

    def release_memory(self, drop):
        """There is no pool to look at."""
        return drop() > 0

    def memory(self):
        """As if there were enough."""
        return 1 << 40, 1 << 40

    def identity(self):
        return f"emulated {self.number}"

    def driver_version(self):
        return 0

    def profile(self):
        return device_profile.EMULATED

    def device_name(self):
        return "the kernels' source on the CPU"


def _addresses(kept):
    """What may be an address among the arguments as C has them."""
    for argument in kept:
        if isinstance(argument, ctypes.Array) and argument._type_ is ctypes.c_int64:
            yield from (field & (1 << 64) - 1 for field in argument)
        else:
            yield (argument.value or 0) if isinstance(argument, ctypes.c_void_p) else 0


def _field(a):
    """An argument as 8 bytes of a struct: an address, or an integer."""
    return 0 if a is None else a.ctypes.data if isinstance(a, DeviceArray) else int(a)


def _three(sizes):
    return (ctypes.c_uint * 3)(*(tuple(sizes) + (1, 1, 1))[:3])
