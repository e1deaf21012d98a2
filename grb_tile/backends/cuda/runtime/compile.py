"""Kernels of kernels/*.cuh compiled by NVRTC, with a cache of cubins on disk.  Loading and launching: launch.py.

    header text, flattened  +  functors  ->  NVRTC  ->  cubin, cached on disk

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
from pathlib import Path
from typing import Any

from .... import kernels
from ....exceptions import JitError
from ...kernel_cache import KernelCache

OPTIONS = ("-std=c++17", "--device-as-default-execution-space", "-DGRB_CUDA=1")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.MULTILINE)


# ---------------------------------------------------------------------- source


def flattened(text: str, seen: set[str] | None = None) -> str:
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
            "kernels are compiled with NVRTC through CuPy, which is not installed: pip install grb-tile[cuda13]"
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
            'pip install "grb-tile[cuda13]" (or cuda12, as the driver needs it)'
        ) from error
    return nvrtc


def compile_cubin(text: str, expression: str, arch: int, options: tuple[str, ...] = ()) -> tuple[str, bytes]:
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


_disk = KernelCache("cuda")


def compiled(text: str, expression: str, arch: int, options: tuple[str, ...] = ()) -> tuple[str, bytes]:
    """compile_cubin, through the verified cache on disk (backends/kernel_cache.py)."""
    state = "\0".join([text, expression, str(arch), *OPTIONS, *options, str(compiler().getVersion())])
    key = f"{hashlib.sha256(state.encode()).hexdigest()[:32]}.cubin"
    stored = _disk.get(key)
    if stored is not None:
        lowered, _, cubin = stored.partition(b"\n")
        return lowered.decode(), cubin
    name, cubin = compile_cubin(text, expression, arch, options)
    _disk.put(key, name.encode() + b"\n" + cubin)
    return name, cubin
