"""Compiles kernels with g++ over engine.h and calls them: the interface of grb_tile.backends.cuda.runtime.compile.Launcher.

>>> from simt.launcher import SimtLauncher
>>> launcher = SimtLauncher()
>>> source = 'template <class T> __global__ void twice(T* x, int64_t n) { GRB_EACH(i, n) x[i] += x[i]; }'
>>> from simt.arrays import xp
>>> x = xp.arange(5)
>>> launcher.kernel("base/launch.cuh", "twice", source, ("int64_t",)).over(5, (x, 5))
>>> x.tolist()
[0, 2, 4, 6, 8]

Out-of-bounds accesses of kernels, found by GCC's sanitizer:

    GRB_TILE_SIMT_FLAGS="-O1 -fsanitize=address" LD_PRELOAD=$(gcc -print-file-name=libasan.so) \\
        ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 pytest tests/backends/cuda
"""

import ctypes
import hashlib
import os
import platform
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from grb_tile.backends.cuda.runtime.compile import blocks_for, source_text

from .arrays import DeviceArray, xp

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("GRB_TILE_SIMT_CACHE", os.path.join(tempfile.gettempdir(), f"grb-tile-simt-{os.getuid()}")))
DYNAMIC = re.compile(r"extern\s+__shared__\s+(?:__align__\(\d+\)\s+)?([\w: ]+?)\s+(\w+)\s*\[\s*\]\s*;")
SHIM = ("engine.h", "cuda_names.h")
FLAGS = [
    "g++", "-std=c++20", "-march=native", "-g1", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-fno-plt",
    "-fno-strict-aliasing", "-ffp-contract=off", "-Wno-unknown-pragmas", "-Wno-attributes",
    *(["-mtls-dialect=gnu2"] if platform.machine() == "x86_64" else []),
]  # fmt: skip


class SimtError(RuntimeError):
    """A kernel does not compile, or breaks a rule of CUDA while it runs."""


class Launch(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint64),
        ("seed", ctypes.c_uint64), ("switches", ctypes.c_uint64), ("os_threads", ctypes.c_int),
        ("cooperative", ctypes.c_int), ("error", ctypes.c_char * 512),
    ]  # fmt: skip


def without_dynamic_shared(text):
    """`extern __shared__ T name[];` becomes a pointer into the block's shared memory."""
    return DYNAMIC.sub(r"\1* \2 = (\1*)simt::block->shared;", text)


def precompiled(shim, options):
    """The folder of cuda_names.h, compiled ahead: what every kernel includes costs more than the kernel itself."""
    state = "\0".join([shim, *FLAGS, *options])
    target = CACHE / f"shim-{hashlib.sha256(state.encode()).hexdigest()[:16]}"
    if not target.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=CACHE))
        for name in SHIM:
            (fresh / name).write_text((HERE / name).read_text())
        command = [*(f for f in FLAGS if f != "-shared"), *options, "-x", "c++-header", str(fresh / SHIM[-1])]
        done = subprocess.run([*command, "-o", f"{fresh / SHIM[-1]}.gch"], check=False, capture_output=True, text=True)
        if done.returncode:
            raise SimtError(f"the shim does not compile:\n{done.stderr[:6000]}")
        try:
            fresh.rename(target)
        except OSError:  # another process was faster
            for path in fresh.iterdir():
                path.unlink()
            fresh.rmdir()
    return target


def build(text, expression, options=("-O2",)):
    """The shared object that holds the kernel `expression` of `text`; compiled unless it lies in the cache."""
    text = (
        without_dynamic_shared(text)
        + f"""
extern "C" __attribute__((visibility("default"))) int simt_launch(simt::Launch *l, void **a) {{
  return simt::launch(&{expression}, l, a);
}}
extern "C" __attribute__((visibility("default"))) const char *simt_signature() {{
  static std::string text = simt::signature(&{expression});
  return text.c_str();
}}
"""
    )
    shim = "".join((HERE / name).read_text() for name in SHIM)
    key = hashlib.sha256("\0".join([text, shim, *FLAGS, *options]).encode()).hexdigest()[:24]
    target = CACHE / f"{key}.so"
    if not target.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        path = CACHE / f"{key}.{os.getpid()}.cpp"
        path.write_text(text)
        fresh = CACHE / f"{key}.{os.getpid()}.so"
        done = subprocess.run(
            [*FLAGS, *options, "-include", str(precompiled(shim, options) / SHIM[-1]), str(path), "-o", str(fresh)],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SimtError(f"{expression} does not compile:\n{done.stderr[:6000]}")
        os.replace(fresh, target)
        path.unlink()
    return target


class SimtKernel:
    """One kernel; call it as a jit.Kernel.  `seed` other than 0 runs the threads in another order."""

    def __init__(self, library, expression):
        self.name = expression
        self.library = library
        library.simt_signature.restype = ctypes.c_char_p
        self.signature = library.simt_signature().decode().split()
        self.switches = 0
        self.seed = 0

    def __call__(self, grid, block, args, shared=0, cooperative=False):
        grid = (grid,) if isinstance(grid, int) else grid
        block = (block,) if isinstance(block, int) else block
        if len(args) != len(self.signature):
            raise TypeError(f"{self.name}: {len(args)} arguments for {self.signature}")
        if min(grid) < 1 or min(block) < 1 or np.prod(block) > 1024:
            raise SimtError(f"{self.name}: no launch of {grid} blocks of {block} threads")
        kept = [self._argument(k, a, s) for k, (a, s) in enumerate(zip(args, self.signature, strict=True))]
        pointers = (ctypes.c_void_p * max(1, len(kept)))(*map(ctypes.addressof, kept))
        launch = Launch(
            grid=_three(grid),
            block=_three(block),
            shared=shared,
            seed=self.seed,
            os_threads=os.cpu_count() or 1,
            cooperative=cooperative,
        )
        bad = self.library.simt_launch(ctypes.byref(launch), pointers)
        self.switches = launch.switches
        if bad:
            raise SimtError(f"{self.name}: {launch.error.decode()}")

    def over(self, n, args, block=256, most=None, shared=0):
        """Launch for `n` items, a grid-stride loop inside; nothing is launched for none.  Few threads: fibers are slow."""
        if n > 0:
            block = min(block, 64)
            self(blocks_for(n, block, 4 if most is None else min(most, 4)), block, args, shared)

    def resident_blocks(self, block, shared=0):
        """How many blocks of a cooperative launch are resident at once (the real launcher asks the occupancy)."""
        return 4

    def _argument(self, k, a, wanted):
        if a is None:
            if wanted[0] != "p":
                raise TypeError(f"{self.name}: argument {k} is None, the kernel wants {wanted}")
            return ctypes.c_void_p(0)
        if type(a) is np.ndarray and a.ndim:
            raise TypeError(f"{self.name}: argument {k} is a host array")
        if isinstance(a, DeviceArray):
            if wanted[0] != "p" or wanted[1:] not in ("0", str(a.itemsize)):
                raise TypeError(f"{self.name}: argument {k} is a {a.dtype} array, the kernel wants {wanted}")
            if not a.flags.c_contiguous:
                raise TypeError(f"{self.name}: argument {k} is not contiguous")
            return ctypes.c_void_p(a.ctypes.data)
        a = np.asarray(a)  # as CuPy passes them: int is int64, float is double, bool is bool
        if a.dtype.kind not in {"i": "iu", "f": "f", "b": "b"}.get(wanted[0], "") or str(a.itemsize) != wanted[1:]:
            raise TypeError(f"{self.name}: argument {k} is a {a.dtype} scalar, the kernel wants {wanted}")
        return (ctypes.c_char * a.itemsize).from_buffer_copy(a.tobytes())


class SimtLauncher:
    """The interface of jit.Launcher for the shim's arrays."""

    xp = xp
    is_shim = True
    arch = 90
    processors = 2
    shared = 227 << 10

    def __init__(self, options=None, seed=0):
        self.options = tuple(os.environ.get("GRB_TILE_SIMT_FLAGS", "-O1").split() if options is None else options)
        self.seed = seed
        self._kernels = {}

    def kernel(self, header, name, functors="", template=()):
        """See jit.Launcher.kernel."""
        key = header, name, functors, template
        found = self._kernels.get(key)
        if found is None:
            text, expression = source_text(header, name, functors, template)
            library = ctypes.CDLL(str(build(text, expression, self.options)))
            found = self._kernels[key] = SimtKernel(library, expression)
            found.seed = self.seed
        return found


def _three(sizes):
    return (ctypes.c_uint * 3)(*(tuple(sizes) + (1, 1, 1))[:3])
