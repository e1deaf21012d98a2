"""Programs in processes of their own."""

import os
import subprocess
import sys
import textwrap

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.getcwd()}


def run(program, cache, timeout=90, **options):
    """The finished process of a program (text) with a cache folder."""
    environment = {**ENVIRONMENT, "GRB_TILE_CACHE": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment, capture_output=True, text=True, timeout=timeout, check=False, **options,
    )  # fmt: skip
