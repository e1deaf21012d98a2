"""The build of the wheel: the packages of pyproject.toml and, for a release, kernels compiled ahead of time.

GRB_TILE_PREBUILD=1 asks for the kernels (grb_tile/backends/cpu/jit/prebuild.py), a minute or two with NumPy and Numba
in the environment of the build: `GRB_TILE_PREBUILD=1 python -m build --no-isolation`.  They are data that systems other
than Linux on x86-64 do not read, so one wheel serves all.  Without them kernels are compiled when they are used.
"""

import os
import pathlib
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent


class BuildWithKernels(build_py):
    """build_py, then the kernels into the tree that becomes the wheel."""

    def run(self):
        super().run()
        if self.editable_mode or os.environ.get("GRB_TILE_PREBUILD") != "1":
            return
        target = pathlib.Path(self.build_lib).resolve() / "grb_tile" / "backends" / "cpu" / "prebuilt"
        command = [sys.executable, "-m", "grb_tile.backends.cpu.jit.prebuild", str(target)]
        search = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": search}, check=True)


setup(cmdclass={"build_py": BuildWithKernels})
