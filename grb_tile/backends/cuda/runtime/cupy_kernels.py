"""CuPy's own kernels (sums, sorts, comparisons of arrays) that programs use: recorded, and compiled ahead of use.

CuPy compiles a kernel at its first use, a third of a second each, in the calling thread, and keeps it in its own folder
($CUPY_CACHE_DIR).  A compilation ahead makes the same entry there, and CuPy finds it on disk later.  CuPy's own code
makes the options, the entry's name and the entry; only NVRTC runs in a worker (nvrtc_workers.py).

cupy_kernels.json.xz in this folder, made by tests/benchmarks/gpu/record_cupy_kernels.py on a device:

    "cupy"       the version whose sources these are; for another one nothing is compiled ahead
    "kernels"    [source, options that CuPy does not add itself, further arguments]
    "programs"   {name: numbers of the kernels that it uses}, by the names of kernel_groups.py
"""

from __future__ import annotations

import hashlib
import json
import lzma
import threading
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from .compile import remember, remembers
from .nvrtc_workers import Compiler

RECORD = Path(__file__).with_name("cupy_kernels.json.xz")
_NONE: dict[str, Any] = {"cupy": None, "kernels": [], "programs": {}}
_thread = threading.local()  # .compiler: of a thread that compiles a kernel of the record


@lru_cache(maxsize=1)
def recorded() -> dict[str, Any]:
    """The record that comes with the package; an empty one where CuPy has another version."""
    import cupy

    try:
        found = json.loads(lzma.decompress(RECORD.read_bytes()))
    except (OSError, ValueError, lzma.LZMAError):
        return _NONE
    return found if found["cupy"] == cupy.__version__ else _NONE


def asked_by(programs: Iterable[str]) -> list[int]:
    """Numbers of the kernels that at least half of the programs use."""
    counts: dict[int, int] = {}
    known = [recorded()["programs"][name] for name in programs if name in recorded()["programs"]]
    for numbers in known:
        for number in numbers:
            counts[number] = counts.get(number, 0) + 1
    return [number for number, count in counts.items() if 2 * count >= len(known)]


def usual() -> list[int]:
    """Numbers of the kernels that at least a third of all programs use, those of most programs first."""
    counts = Counter(number for numbers in recorded()["programs"].values() for number in numbers)
    return [number for number, count in counts.most_common() if 3 * count >= len(recorded()["programs"])]


def is_begun(arch: int) -> bool:
    """Has a process of this cache on disk called this before?  The usual kernels are then compiled, or being so."""
    import cupy

    mark = f"cupy-{cupy.__version__}-{arch}"
    begun = remembers(mark)
    if not begun:
        remember(mark)
    return begun


def compile_kernel(number: int, arch: int, device: int, compiler: Compiler) -> None:
    """Have CuPy compile a kernel of the record for the device, unless it was done before.

    Raises: JitError, CuPy's errors.
    """
    source, options, rest = recorded()["kernels"][number]
    text = f"{recorded()['cupy']} {arch} {options} {rest} {source}"
    name = f"cupy-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    if remembers(name):
        return
    import cupy
    from cupy._core import core

    _use_workers()
    _thread.compiler = compiler
    try:
        with cupy.cuda.Device(device):
            cupy.cuda.runtime.memGetInfo()  # binds the device's context to this thread
            cupy.cuda.compiler._compile_module_with_cache(
                source,
                core.assemble_cupy_compiler_options(tuple(options)),
                extra_source=core._get_header_source(),
                **rest,
            )
    finally:
        _thread.compiler = None
    remember(name)


@lru_cache(maxsize=1)
def _use_workers() -> None:
    """Have CuPy's compilations of a thread that has `_thread.compiler` run in its worker; others are as they were."""
    from cupy.cuda.compiler import _NVRTCProgram

    in_process = _NVRTCProgram.compile

    def compile_program(program, options=(), log_stream=None):
        compiler = getattr(_thread, "compiler", None)
        method = "cubin" if any(option.startswith("-arch=sm_") for option in options) else "ptx"
        known = program.method == method and not program.name_expressions and log_stream is None
        if compiler is not None and known and "-DCUPY_USE_JITIFY" not in options:  # Jitify hands headers to NVRTC
            made = compiler.in_worker(program.src, program.name, "", options)
            if made is not None:
                return made[1], None
        return in_process(program, options, log_stream)

    _NVRTCProgram.compile = compile_program
