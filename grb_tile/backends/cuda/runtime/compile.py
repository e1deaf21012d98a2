"""Kernels from kernels/*.cuh, compiled when first asked for, kept on disk, launched lightly.

    header text, flattened  +  functors  ->  NVRTC  ->  cubin, kept on disk  ->  loaded module  ->  Kernel

How to write one: a template over index types, value types and functors, with plain pointers, in namespace grb.

    // kernels/structure/gather.cuh
    #pragma once
    #include "base/launch.cuh"
    namespace grb {
    template <class I, class T, class Op>          // y[k] = op(x[at[k]])
    __global__ void gather_apply(const I* at, const T* x, typename Op::result_type* y, int64_t n) {
      Op op;
      GRB_EACH(k, n) y[k] = op(x[at[k]]);
    }
    }

How to compile and launch it (`device` is what every primitive gets, see runtime/device.py):

    functors = to_cuda.includes(op) + "\\n" + to_cuda.functor(op, "Op")
    kernel = device.launcher.kernel("structure/gather.cuh", "gather_apply", functors, ("int32_t", op.type.cuda_type,
    "Op"))
    kernel.over(n, (at, x, y, n))                    # n items, a grid-stride loop inside (GRB_EACH)
    kernel(grid, block, (at, x, y, n), shared=0)     # or with a grid and a block of your own

Arguments: arrays of the launcher's array module (C-contiguous), None (a null pointer), Python int (int64_t), float
(double), bool, or NumPy scalars of exactly the parameter's type.  The compiled form is looked up by a tuple of strings,
so
keep the Kernel where a call is hot.  CuPy's RawModule is not used: it adds -ftz=true, which flushes FP32 subnormals.
"""

import ctypes
import hashlib
import importlib.util
import os
import re
import struct
import tempfile
import threading
from pathlib import Path

from .... import kernels
from ....exceptions import JitError

OPTIONS = ("-std=c++17", "--device-as-default-execution-space", "-DGRB_CUDA=1")
MAX_CACHE_BYTES = 512 << 20
SHARED_LIMIT = 48 << 10  # bytes of dynamic shared memory that every launch may ask for
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*$', re.MULTILINE)
_bound = threading.local()  # here: has this thread been given its context?
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.MULTILINE)


# ---------------------------------------------------------------------- source


def flattened(text, seen=None):
    """`text` with every `#include "file"` of kernels/ replaced by that file, once each.

    A flat text is its own cache key: a change in a header touches only the kernels that include it.
    """
    seen = set() if seen is None else seen

    def replacement(match):
        name = match.group(1)
        if name in seen:
            return ""
        seen.add(name)
        body = _ONCE.sub("", flattened(kernels.source(name), seen))
        return f'#line 1 "{name}"\n{body}\n#line 1 "rest"'

    return _INCLUDE.sub(replacement, text)


def source_text(header, name, functors="", template=()):
    """(text, expression): the flat source of one instance and the C++ expression that names it."""
    includes = "" if header is None else "".join(f'#include "{h}"\n' for h in header.split())
    text = flattened(f"{includes}{functors}\nusing namespace grb;\n")
    return text, f"{name}<{', '.join(template)}>" if template else name


def blocks_for(n, block, most):
    """How many blocks of `block` threads serve n items, at most `most` of them."""
    return max(1, min((n + block - 1) // block, most))


# ---------------------------------------------------------------------- compilation


def library_headers():
    """Folder of <cuda/std/...>, which CuPy brings along."""
    spec = importlib.util.find_spec("cupy")
    if spec is None:
        raise JitError(
            "kernels are compiled with NVRTC through CuPy, which is not installed: pip install grb-tile[cuda13]"
        )
    return str(Path(spec.origin).parent / "_core" / "include" / "cupy" / "_cccl" / "libcudacxx")


def cache_folder():
    """Folder of compiled kernels: $GRB_TILE_CACHE/cuda, else `cuda` in the user's cache directory."""
    chosen = os.environ.get("GRB_TILE_CACHE")
    root = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grb_tile"
    folder = root / "cuda"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"grb_tile-{os.getuid()}" / "cuda"
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def compiler():
    """CuPy's binding of NVRTC.  Raises: JitError that names the remedy when the library cannot be loaded."""
    try:
        import cupy  # noqa: F401  (finds NVRTC's library)
        from cupy_backends.cuda.libs import nvrtc

        nvrtc.getVersion()
    except (ImportError, OSError, RuntimeError) as error:
        raise JitError(
            f"kernels are compiled with NVRTC through CuPy, and that cannot be loaded ({error}): "
            'pip install "grb-tile[cuda13]" (or cuda12, as the driver needs it)'
        ) from error
    return nvrtc


def compile_cubin(text, expression, arch, options=()):
    """(lowered name, cubin) of one kernel for compute capability `arch` (90 for sm_90); needs no GPU.

    Raises: JitError with the compiler's log.
    """
    nvrtc = compiler()
    program = nvrtc.createProgram(text, "grb_tile.cu", (), ())
    try:
        nvrtc.addNameExpression(program, expression)
        flags = (*OPTIONS, *options, f"-arch=sm_{arch}", f"-I{library_headers()}")
        try:
            nvrtc.compileProgram(program, tuple(dict.fromkeys(flags)))
        except nvrtc.NVRTCError as error:
            log = nvrtc.getProgramLog(program)
            raise JitError(f"{expression} does not compile for sm_{arch}: {error}\n{log[:6000]}") from None
        return nvrtc.getLoweredName(program, expression), nvrtc.getCUBIN(program)
    finally:
        nvrtc.destroyProgram(program)


def compiled(text, expression, arch, options=()):
    """compile_cubin, through the cache on disk: written to another name and renamed, so that readers see whole files."""
    state = "\0".join([text, expression, str(arch), *OPTIONS, *options, str(compiler().getVersion())])
    path = cache_folder() / f"{hashlib.sha256(state.encode()).hexdigest()[:32]}.cubin"
    try:
        lowered, _, cubin = path.read_bytes().partition(b"\n")
        if cubin:
            return lowered.decode(), cubin
    except OSError:
        pass
    lowered, cubin = compile_cubin(text, expression, arch, options)
    fresh = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    try:
        fresh.write_bytes(lowered.encode() + b"\n" + cubin)
        os.replace(fresh, path)
    except OSError:  # a full or read-only disk costs the next process a compilation, nothing else
        fresh.unlink(missing_ok=True)
    return lowered, cubin


def trim_cache(limit=MAX_CACHE_BYTES):
    """Delete the oldest compiled kernels until the folder holds at most `limit` bytes."""
    files = []
    for path in cache_folder().glob("*.cubin"):
        try:
            found = path.stat()
        except OSError:  # another process deleted it
            continue
        files.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files, key=lambda f: f[0]):
        if total <= limit:
            break
        path.unlink(missing_ok=True)
        total -= size


# ---------------------------------------------------------------------- launching


class Kernel:
    """One compiled kernel, loaded."""

    __slots__ = (
        "_allowed", "_array_class", "_hole", "_launcher", "_module", "_processors", "_quick", "_resident", "function", "name",
    )  # fmt: skip

    def __init__(self, name, function, module, launcher):
        self.name = name
        self.function = function
        self._module = module  # unloading it would take the function away
        self._processors = launcher.processors
        self._array_class = launcher.xp.ndarray
        self._hole = launcher.hole
        self._launcher = launcher
        self._quick = None
        self._resident = {}
        self._allowed = SHARED_LIMIT

    def allow_shared(self, count):
        """Let launches ask for `count` bytes of dynamic shared memory: more than 48 KiB must be announced once."""
        if count > self._allowed:
            from cupy_backends.cuda.api import driver

            driver.funcSetAttribute(self.function.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, count)
            self._allowed = count

    def __call__(self, grid, block, args, shared=0, cooperative=False):
        """Launch `grid` blocks of `block` threads (ints or tuples) on CuPy's current stream."""
        try:
            if shared > self._allowed:
                self.allow_shared(shared)
            self.function(
                grid if type(grid) is tuple else (int(grid),), block if type(block) is tuple else (int(block),),
                self._arguments(args), shared, None, cooperative,
            )  # fmt: skip
        except RuntimeError as error:
            self.bind(error)
            self(grid, block, args, shared, cooperative)

    def bind(self, error):
        """Give this thread the device's context: the driver, called directly, fails in a thread that the run-time knows not yet.

        Raises: `error` when it is another one, or comes again.
        """
        if "CUDA_ERROR_INVALID_CONTEXT" not in str(error) or getattr(_bound, "here", False):
            raise error
        _bound.here = True
        self._launcher.xp.cuda.runtime.memGetInfo()  # any call of the run-time does so

    def _arguments(self, args):
        """None is the null pointer, which kernels give a meaning; an empty array must not be one, as CuPy's is."""
        arrays, hole = self._array_class, self._hole
        return [(a if a.size else hole) if type(a) is arrays else (0 if a is None else a) for a in args]

    def over(self, n, args, block=256, most=None, shared=0):
        """Launch for `n` items, a grid-stride loop inside; nothing is launched for none.

        The driver is called directly, since CuPy makes an object of every argument first.  Each argument is put as 8
        bytes, of
        which the driver takes as many as the parameter has: right for pointers, integers and bool on a little-endian
        machine.
        """
        if n <= 0:
            return
        grid, arrays = (n + block - 1) // block, self._array_class
        if most is None:
            most = self._processors * 32
        if grid > most:
            grid = most
        pack, room, pointers, function, hole, launch, stream, lock = self._quick or self._prepared(len(args))
        try:
            with lock:  # the driver has copied the arguments when it returns
                pack(room, 0, *[
                    (a.data.ptr or hole) if type(a) is arrays else 0 if a is None else a for a in args
                ])  # fmt: skip
                launch(function, grid, 1, 1, block, 1, 1, shared, stream().ptr, pointers, 0)
        except struct.error:  # a float among them
            self(grid, block, args, shared)
        except RuntimeError as error:
            self.bind(error)
            self.over(n, args, block, most, shared)

    def _prepared(self, count):
        """What a launch of `count` arguments takes: kept."""
        room = ctypes.create_string_buffer(16 * count + 8)
        start = ctypes.addressof(room)
        for k in range(count):
            struct.pack_into("Q", room, 8 * (count + k), start + 8 * k)
        self._quick = (
            struct.Struct(f"{count}q").pack_into,
            room,
            start + 8 * count,
            self.function.ptr,
            self._hole.data.ptr,
            self._launcher.launch,
            self._launcher.current_stream,
            threading.Lock(),
        )
        return self._quick

    def resident_blocks(self, block, shared=0):
        """How many blocks of a cooperative launch are resident at once on the whole device."""
        key = block, shared
        found = self._resident.get(key)
        if found is None:
            from cupy_backends.cuda.api import driver

            try:
                self.allow_shared(shared)
                each = driver.occupancyMaxActiveBlocksPerMultiprocessor(self.function.ptr, block, shared)
            except RuntimeError as error:
                self.bind(error)
                return self.resident_blocks(block, shared)
            found = self._resident[key] = each * self._processors
        return found


class Launcher:
    """Compiles, loads and hands out kernels for CuPy's current device."""

    is_shim = False

    def __init__(self):
        import cupy
        from cupy_backends.cuda.api import driver

        self.xp = cupy
        self.launch, self.current_stream = driver.launchKernel, cupy.cuda.get_current_stream
        device = cupy.cuda.Device()
        self.arch = int(device.compute_capability)
        self.processors = device.attributes["MultiProcessorCount"]
        self.shared = device.attributes["MaxSharedMemoryPerBlockOptin"]  # bytes that a block may have
        self.hole = cupy.zeros(64, cupy.uint64)  # what kernels get for empty arrays
        self._kernels = {}
        self._lock = threading.Lock()
        trim_cache()

    def kernel(self, header, name, functors="", template=()):
        """The Kernel `name<template...>` of `header` (one file of kernels/, or several names with blanks between).

        functors: C++ text put after the header (structs that the template arguments name; #include lines are welcome).
        template: tuple of C++ types or constants as text.
        Raises: JitError with the compiler's log.
        """
        key = header, name, functors, template
        found = self._kernels.get(key)
        return found if found is not None else self._load(key)

    def _load(self, key):
        from cupy.cuda.function import Module

        with self._lock:
            found = self._kernels.get(key)
            if found is None:
                text, expression = source_text(*key)
                lowered, cubin = compiled(text, expression, self.arch)
                module = Module()
                module.load(cubin)
                found = Kernel(expression, module.get_function(lowered), module, self)
                self._kernels[key] = found
        return found
