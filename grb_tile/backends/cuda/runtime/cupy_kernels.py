"""CuPy's own kernels (sums, sorts, comparisons of arrays) that programs ask for: recorded, and compiled ahead.

CuPy compiles a kernel at its first use, a third of a second each, in the calling thread, and keeps it in its own folder
($CUPY_CACHE_DIR).  A compilation ahead makes the same entry there: what CuPy looks up later is then on disk.

cupy_kernels.json.xz beside this file, made by tests/benchmarks/gpu/record_cupy_kernels.py on a device:

    "cupy"       the version whose sources these are; for another one nothing is compiled ahead
    "kernels"    [source, options that CuPy does not add itself, further arguments]
    "programs"   {name: numbers of the kernels that it asks for}, by the names of kernel_groups.py
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from .compile import remember, remembers

RECORD = Path(__file__).with_name("cupy_kernels.json.xz")
_NONE: dict[str, Any] = {"cupy": None, "kernels": [], "programs": {}}


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
    """Numbers of the kernels that at least half of the programs ask for."""
    counts: dict[int, int] = {}
    known = [recorded()["programs"][name] for name in programs if name in recorded()["programs"]]
    for numbers in known:
        for number in numbers:
            counts[number] = counts.get(number, 0) + 1
    return [number for number, count in counts.items() if 2 * count >= len(known)]


def compile_kernel(number: int, arch: int, device: int) -> None:
    """Have CuPy compile a kernel of the record for the device, unless it was done before.  Raises: CuPy's errors."""
    source, options, rest = recorded()["kernels"][number]
    text = f"{recorded()['cupy']} {arch} {options} {rest} {source}"
    name = f"cupy-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    if remembers(name):
        return
    import cupy
    from cupy._core import core

    with cupy.cuda.Device(device):
        cupy.cuda.runtime.memGetInfo()  # binds the device's context to this thread
        cupy.cuda.compiler._compile_module_with_cache(
            source, core.assemble_cupy_compiler_options(tuple(options)), extra_source=core._get_header_source(), **rest
        )
    remember(name)
