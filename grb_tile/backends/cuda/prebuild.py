"""Kernels compiled ahead of time, for the wheel: `python -m grb_tile.backends.cuda.prebuild FOLDER [ARCHITECTURE ...]`.

The list is runtime/common_kernels.json: what tests/benchmarks/gpu/record_kernels.py records.  FOLDER gets an archive
for each architecture (runtime/package.py).  No GPU is needed, only CuPy with its NVRTC; with the cache of an earlier
run, nothing is compiled twice.  NVRTC of CUDA 12 (12.8 on) makes archives that drivers of CUDA 12 and 13 load.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ...exceptions import JitError
from ...planner.device_limits import limits_of
from ..kernel_cache import print_prebuilt
from .runtime import compile as jit
from .runtime.ahead import compile_all
from .runtime.kernel_groups import Instance, recorded
from .runtime.package import write_package

ARCHITECTURES = (80, 90, 100, 120)  # A100, H100, B200, RTX 50; 86 and 89 run what is compiled for 80


def prebuild(
    folder: str | Path, architectures: Sequence[int] = ARCHITECTURES, threads: int | None = None,
    instances: Sequence[Instance] | None = None,
) -> tuple[int, list[tuple[str, str]]]:  # fmt: skip
    """Compile the recorded kernels for architectures into archives in `folder`.

    threads: all cores when left out.  instances: those of the record when left out.
    Returns (how many kernels the archives have, [(kernel, reason) of those that failed]).
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    nvrtc = jit.compiler().getVersion()
    payloads: dict[int, dict[str, bytes]] = {arch: {} for arch in architectures}
    failed = []

    def build(instance, arch):
        text, expression = jit.source_text(*instance)
        options = jit.options_for(limits_of(arch))
        found = jit.compiled(text, expression, arch, options)
        return jit.key_of(text, expression, arch, options), jit.packed(*found)

    wanted = recorded().by_cost() if instances is None else instances
    tasks = [(instance, arch) for instance in wanted for arch in architectures]
    for (instance, arch), made, error in compile_all(build, tasks, threads=threads):
        if error is None:
            payloads[arch].update([made])
        else:
            failed.append((f"{instance[1]} for sm_{arch}", error))
    for path in folder.glob("sm_*.kernels"):
        path.unlink()
    for arch, found in payloads.items():
        write_package(folder, arch, nvrtc, found)
    return sum(map(len, payloads.values())), failed


def main(folder: str, *architectures: str) -> int:
    """Run `prebuild`; returns the exit status.  The package works without these kernels."""
    try:
        jit.compiler()
    except JitError as error:
        print(f"no kernels for GPUs are compiled ahead of time: {error}")
        return 0
    count, failed = prebuild(folder, tuple(map(int, architectures)) or ARCHITECTURES)
    size = sum(path.stat().st_size for path in Path(folder).glob("sm_*.kernels"))
    return print_prebuilt(f"{count} kernels for GPUs in {folder}, {size / 1e6:.1f} MB", failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
