"""Kernels of kernels/*.cuh compiled by NVRTC, with a cache of cubins on disk.

    header text, flattened  +  functors  ->  NVRTC  ->  cubin, cached on disk

Which are compiled together: ahead.py.  Those of a release: package.py.  Loading and launching: launch.py.

A kernel is a template over index types, value types and functors, with plain pointers, in namespace grb:

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

A kernel without parameters is a template too (`template <int = 0>`), because a function that is none is compiled with
every instance of its header.

CuPy's RawModule is not used because it adds -ftz=true, which flushes FP32 subnormals.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .... import kernels
from ....exceptions import JitError
from ...kernel_cache import KernelCache

if TYPE_CHECKING:
    from ....planner.device_limits import DeviceLimits
    from .package import Package

Compile: TypeAlias = Callable[[str, str, str, tuple[str, ...]], tuple[str, bytes]]  # as in_process

OPTIONS = ("-std=c++17", "--device-as-default-execution-space", "-DGRB_CUDA=1")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.MULTILINE)


def options_for(limits: DeviceLimits) -> tuple[str, ...]:
    """The options of a device besides OPTIONS and its architecture."""
    return () if limits.reduce_sync else ("-DGRB_NO_REDUCE_SYNC=1",)


# ---------------------------------------------------------------------- source


def flattened(text: str) -> str:
    """`text` with every `#include "file"` of kernels/ replaced by that file, once each.

    A flat text is its own cache key: a change in a header touches only the kernels that include it.
    """
    return "".join(_flat(_INCLUDE.split(text), set()))


def _flat(pieces, seen):
    """The parts of a flat text.  pieces: text, the file that is included after it, text, file, ..., text."""
    yield pieces[0]
    for name, rest in zip(pieces[1::2], pieces[2::2]):
        if name not in seen:
            seen.add(name)
            yield f'#line 1 "{name}"\n'
            yield from _flat(_pieces(name), seen)
            yield '\n#line 1 "rest"'
        yield rest


@cache
def _pieces(name):
    return _INCLUDE.split(_ONCE.sub("", kernels.source(name)))


def source_text(header: str | None, name: str, functors: str = "", template: tuple[str, ...] = ()) -> tuple[str, str]:
    """(text, expression): the flat source of one instance and the C++ expression that names it."""
    includes = "" if header is None else "".join(f'#include "{h}"\n' for h in header.split())
    text = flattened(f"{includes}{functors}\nusing namespace grb;\n")
    return text, f"{name}<{', '.join(template)}>"


def blocks_for(n: int, block: int, most: int) -> int:
    """How many blocks of `block` threads serve n items, at most `most` of them."""
    return max(1, min((n + block - 1) // block, most))


# ---------------------------------------------------------------------- compilation


def library_headers() -> str:
    """Folder of <cuda/std/...>, which CuPy brings along."""
    spec = importlib.util.find_spec("cupy")
    if spec is None:
        raise JitError(
            "kernels are compiled with NVRTC through CuPy, which is not installed: pip install '.[cuda13]' in a "
            "checkout of grb_tile"
        )
    return str(Path(spec.origin).parent / "_core" / "include" / "cupy" / "_cccl" / "libcudacxx")


def compiler() -> Any:
    """CuPy's binding of NVRTC.  Raises: JitError that names the remedy when the library cannot be loaded."""
    try:
        import cupy  # noqa: F401  (finds NVRTC's library)
        from cupy_backends.cuda.libs import nvrtc

        nvrtc.getVersion()
    except (ImportError, OSError, RuntimeError) as error:
        raise JitError(
            f"kernels are compiled with NVRTC through CuPy, and that cannot be loaded ({error}): "
            "pip install '.[cuda13]' in a checkout of grb_tile (or cuda12, as the driver needs it)"
        ) from error
    return nvrtc


def in_process(source: str, file: str, expression: str, options: tuple[str, ...]) -> tuple[str, bytes]:
    """(lowered name of the expression, cubin) by NVRTC in this process.  Raises: JitError with the compiler's log."""
    nvrtc = compiler()
    program = nvrtc.createProgram(source, file, (), ())
    try:
        nvrtc.addNameExpression(program, expression)
        try:
            nvrtc.compileProgram(program, options)
        except nvrtc.NVRTCError as error:
            raise JitError(f"{error}\n{nvrtc.getProgramLog(program)}") from None
        return nvrtc.getLoweredName(program, expression), nvrtc.getCUBIN(program)
    finally:
        nvrtc.destroyProgram(program)


def compile_cubin(
    text: str, expression: str, arch: int, options: tuple[str, ...] = (), compile_source: Compile = in_process
) -> tuple[str, bytes]:
    """(lowered name, cubin) of one kernel for compute capability `arch` (90 for sm_90); needs no GPU.

    compile_source: what runs NVRTC, called as in_process is.
    Raises: JitError with the compiler's log.
    """
    flags = (*OPTIONS, *options, f"-arch=sm_{arch}", f"-I{library_headers()}")
    try:
        return compile_source(text, "grb_tile.cu", expression, tuple(dict.fromkeys(flags)))
    except JitError as error:
        raise JitError(f"{expression} does not compile for sm_{arch}: {str(error)[:6000]}") from None


_disk = KernelCache("cuda")


def key_of(text: str, expression: str, arch: int, options: tuple[str, ...] = (), compiler_version: str = "") -> str:
    """The name of an entry.  compiler_version: of NVRTC for entries of the cache, none for those of the package."""
    state = "\0".join([text, expression, str(arch), *OPTIONS, *options, compiler_version])
    return f"{hashlib.sha256(state.encode()).hexdigest()[:32]}.cubin"


def stored(
    text: str, expression: str, arch: int, options: tuple[str, ...] = (), package: Package | None = None
) -> tuple[str, bytes] | None:
    """(lowered name, cubin) from the cache on disk, else from the package."""
    return on_disk(text, expression, arch, options) or in_package(text, expression, options, package)


def on_disk(text: str, expression: str, arch: int, options: tuple[str, ...]) -> tuple[str, bytes] | None:
    """(lowered name, cubin) from the verified cache on disk (backends/kernel_cache.py)."""
    entry = _disk.get(key_of(text, expression, arch, options, str(compiler().getVersion())))
    return None if entry is None else unpacked(entry)


def in_package(
    text: str, expression: str, options: tuple[str, ...], package: Package | None
) -> tuple[str, bytes] | None:
    """(lowered name, cubin) from the package."""
    entry = None if package is None else package.get(key_of(text, expression, package.arch, options))
    return None if entry is None else unpacked(entry)


def compiled(text: str, expression: str, arch: int, options: tuple[str, ...] = ()) -> tuple[str, bytes]:
    """What the cache on disk has, else compile_and_store.  Raises: JitError with the compiler's log."""
    return stored(text, expression, arch, options) or compile_and_store(text, expression, arch, options)


def compile_and_store(
    text: str, expression: str, arch: int, options: tuple[str, ...] = (), compile_source: Compile = in_process
) -> tuple[str, bytes]:
    """compile_cubin, into the cache on disk.  Raises: JitError with the compiler's log."""
    found = compile_cubin(text, expression, arch, options, compile_source)
    _disk.put(key_of(text, expression, arch, options, str(compiler().getVersion())), packed(*found))
    return found


def remembers(name: str) -> bool:
    """Has the cache on disk a mark of that name?"""
    return _disk.get(name) is not None


def remember(name: str) -> None:
    """Put a mark into the cache on disk."""
    _disk.put(name, b"")


def packed(name: str, cubin: bytes) -> bytes:
    """The payload of an entry: the kernel's lowered name, a line's end, its cubin."""
    return name.encode() + b"\n" + cubin


def unpacked(entry: bytes) -> tuple[str, bytes]:
    """(lowered name, cubin) of a payload."""
    name, _, cubin = entry.partition(b"\n")
    return name.decode(), cubin
