"""The build of the wheel: the packages of pyproject.toml, and kernels compiled ahead of time.

GRB_TILE_PREBUILD   unset   the kernels that a newcomer's first programs use: 10 to 25 s on two cores
                    0       none
                    1       the whole list of a release, a minute or two, and with CuPy that of GPUs, some minutes;
                            the build fails where a kernel does

grb_tile/backends/cpu/jit/prebuild.py and grb_tile/backends/cuda/prebuild.py compile them.  They are data that systems
other than Linux on x86-64, and GPUs of other architectures, do not read, so one wheel serves all.  Without them kernels
are compiled when they are used.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent
LISTS = {"": "install", "0": None, "1": "release"}
MOST_SECONDS = "120"  # of the build without GRB_TILE_PREBUILD: on a slow machine the kernels are left out


class BuildWithKernels(build_py):
    """build_py, then the kernels into the tree that becomes the wheel."""

    def run(self):
        super().run()
        chosen = os.environ.get("GRB_TILE_PREBUILD", "")
        if chosen not in LISTS:
            raise SystemExit(f"GRB_TILE_PREBUILD={chosen!r} is unknown: expected 0, 1 or nothing")
        if self.editable_mode:
            return
        folder = pathlib.Path(self.build_lib).resolve() / "grb_tile" / "backends" / "cpu" / "prebuilt"
        for earlier in (folder, folder.parents[1] / "cuda" / "prebuilt"):  # build/ outlives a build
            if chosen != "1":
                shutil.rmtree(earlier, ignore_errors=True)
        if LISTS[chosen] is None:
            return
        required = chosen == "1"
        command = [sys.executable, "-m", "grb_tile.backends.cpu.jit.prebuild", str(folder), LISTS[chosen]]
        command += [] if required else [MOST_SECONDS]
        search = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        options = {"cwd": ROOT, "env": {**os.environ, "PYTHONPATH": search}, "check": True}
        try:
            subprocess.run(command, **options)
            if required:
                folder = folder.parents[1] / "cuda" / "prebuilt"
                subprocess.run([sys.executable, "-m", "grb_tile.backends.cuda.prebuild", str(folder)], **options)
        except (OSError, subprocess.SubprocessError) as error:
            if required:
                raise
            self.warn(f"not all kernels were compiled ahead ({error}); they are compiled when they are used")


setup(cmdclass={"build_py": BuildWithKernels})
