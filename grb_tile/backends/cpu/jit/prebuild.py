"""Kernels compiled ahead of time, for the wheel: `python -m grb_tile.backends.cpu.jit.prebuild FOLDER`.

The list of specialisations is common_kernels.json beside this file: what tests/benchmarks/common_programs.py asks for.
The code is for BASELINE, which every x86-64 processor since 2013 (Intel) and 2015 (AMD) can run; it has no reference to
a version of Python or NumPy, so one set serves all.  With the cache of an earlier run, nothing is compiled twice.
"""

import json
import multiprocessing
import os
import pathlib
import subprocess
import sys

from ...kernel_cache import KernelCache, write_entry
from .load import links_here
from .recipe import Recipe
from .threads import thread_count
from .worker import BASELINE, build

LIST = pathlib.Path(__file__).with_name("common_kernels.json")
# Numba vectorises for the processor that these name
VARIABLES = {"NUMBA_CPU_NAME": BASELINE, "NUMBA_CPU_FEATURES": "+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt"}


def recipes():
    """The recipes of the list."""
    return [Recipe(**data) for data in json.loads(LIST.read_text(encoding="utf-8"))]


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


def prebuild(folder):
    """Compile the list into `folder`, on all cores; returns (how many, those that failed with the reason)."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed, wanted = [], set()
    with multiprocessing.get_context("spawn").Pool(thread_count()) as pool:
        for key, payload, reason in pool.imap_unordered(_entry, recipes()):
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


def main(folder):
    """Run `prebuild` in a process whose compiler is set to BASELINE; returns the exit status.

    Nothing is made where kernels are not stored as shared objects; the package works all the same.
    """
    if not links_here():
        print("no kernels are compiled ahead of time on this system")
        return 0
    if any(os.environ.get(name) != value for name, value in VARIABLES.items()):
        command = [sys.executable, "-m", __spec__.name, str(folder)]
        return subprocess.run(command, env={**os.environ, **VARIABLES}, check=False).returncode
    count, failed = prebuild(folder)
    print(f"{count} kernels for {BASELINE} in {folder}; {len(failed)} failed")
    for key, reason in failed:
        print(f"  {key}: {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
