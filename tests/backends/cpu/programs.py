"""Programs in processes of their own."""

import os
import subprocess
import sys
import textwrap

# the compiler process at the priority of the tests: at its own, other work on the machine could hold it up for minutes
AT_ONCE = "from grb_tile.backends.cpu.jit import compiler_process; compiler_process.current().is_awaited = True"

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.getcwd()}


def run(program, cache, timeout=90, **options):
    """The finished process of a program (text) with a cache folder."""
    environment = {**ENVIRONMENT, "GRB_TILE_CACHE": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment, capture_output=True, text=True, timeout=timeout, check=False, **options,
    )  # fmt: skip
