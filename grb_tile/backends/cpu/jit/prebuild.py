"""Kernels compiled ahead of time: into a package that is built, or into the cache of this machine.

    python -m grb_tile.backends.cpu.jit.prebuild FOLDER [install | release] [SECONDS]

The list of specialisations is common_kernels.json in this folder, made by tests/benchmarks/common_programs.py: what a
newcomer's first programs use ("install", which `pip install .` in a checkout makes), and what common programs use
("release": with the former the kernels of a release).  Packages get code for BASELINE, which every x86-64 processor
since 2013 (Intel) and 2015 (AMD) can run; it has no reference to a version of Python or NumPy, so one set serves all.
With the cache of an earlier run, nothing is compiled twice.
"""

import json
import math
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

from ...kernel_cache import KernelCache, print_prebuilt, write_entry
from .cache import Kernel
from .compiler_process import CompilerProcess
from .load import links_here
from .recipe import Recipe
from .threads import thread_count
from .worker import BASELINE, build

LIST = pathlib.Path(__file__).with_name("common_kernels.json")
# Numba vectorises for the processor that these name
VARIABLES = {"NUMBA_CPU_NAME": BASELINE, "NUMBA_CPU_FEATURES": "+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt"}


def recipes(which="release"):
    """The recipes of the list: those of "install", or all ("release").  Raises: ValueError."""
    lists = json.loads(LIST.read_text(encoding="utf-8"))
    if which not in lists:
        raise ValueError(f"list {which!r} is unknown: expected one of {', '.join(lists)}")
    chosen = lists["install"] if which == "install" else [data for found in lists.values() for data in found]
    return [Recipe(**data) for data in chosen]


def _entry(recipe):
    """(key, payload, reason why there is none) of one recipe, through a cache of its own."""
    cache, key = KernelCache("prebuilt"), recipe.key(BASELINE)
    payload, reason = cache.get(key), None
    if payload is None:
        try:
            payload = build(recipe, BASELINE)
        except Exception as error:  # noqa: BLE001 - the package works without this kernel
            reason = f"{type(error).__name__}: {error}"
        else:
            cache.put(key, payload)
    return key, payload, reason


def prebuild(folder, which="release", seconds=math.inf):
    """Compile a list into `folder`, on all cores; returns (how many, those that failed with the reason).

    What is not done after `seconds` counts as failed.
    """
    end = time.monotonic() + seconds
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed, wanted = [], set()
    with multiprocessing.get_context("spawn").Pool(thread_count()) as pool:
        chosen = recipes(which)
        results = pool.imap_unordered(_entry, chosen)
        for done in range(len(chosen)):
            try:
                key, payload, reason = results.next(max(end - time.monotonic(), 0.0) if end < math.inf else None)
            except multiprocessing.TimeoutError:
                failed.append((f"{len(chosen) - done} kernels", f"not compiled within {seconds:.0f} s"))
                break
            if payload is None:
                failed.append((key, reason))
                continue
            write_entry(folder, key, payload)
            (folder / key).chmod(0o644)  # whoever imports the package reads it
            wanted.add(key)
    for path in folder.iterdir():
        if path.name not in wanted:
            path.unlink()
    return len(wanted), failed


def fill_cache(progress=None):
    """Compile into the cache of this machine what a release has and neither cache nor package holds yet.

    progress(done, total): called after each kernel.
    Returns (how many were compiled, [(key, reason)] of those that failed, seconds).
    """
    start, failed = time.perf_counter(), []
    missing = [kernel for kernel in map(Kernel, recipes()) if kernel.is_missing()]
    process = CompilerProcess(is_awaited=True)

    def receive(reply, payload):
        if "error" in reply:
            failed.append((reply["key"], reply["error"]))
        elif payload:
            failed.append((reply["key"], "it could not be stored"))

    for kernel in missing:
        kernel.request_from(process, receive)
    while process.waiting:
        process.wait(next(iter(process.waiting)), 0.2)
        if progress is not None:
            progress(len(missing) - len(process.waiting), len(missing))
    process.stop()
    return len(missing) - len(failed), failed, time.perf_counter() - start


def main(folder, which="release", seconds="inf"):
    """Run `prebuild` in a process whose compiler is set to BASELINE; returns the exit status.

    Nothing is made where kernels are not stored as shared objects; the package works all the same.
    """
    if not links_here():
        print("no kernels are compiled ahead of time on this system")
        return 0
    if any(os.environ.get(name) != value for name, value in VARIABLES.items()):
        command = [sys.executable, "-m", __spec__.name, str(folder), which, seconds]
        return subprocess.run(command, env={**os.environ, **VARIABLES}, check=False).returncode
    count, failed = prebuild(folder, which, float(seconds))
    return print_prebuilt(f"{count} kernels for {BASELINE} in {folder}", failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
