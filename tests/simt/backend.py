"""The CUDA backend over the CPU shim: `shim()` is a CudaBackend whose kernels run as fibers on NumPy arrays.

With GRB_TILE_TEST_DEVICE=cuda in the environment it is the real one: the tests of this folder then run on the GPU.

    with using_shim():
        ...                      # gb code runs on it as on "cuda"
"""
import os
from contextlib import contextmanager
from functools import lru_cache

from grb_tile.backends import select
from grb_tile.backends.cuda.backend import CudaBackend

from .launcher import SimtLauncher


@lru_cache(maxsize=1)
def shim():
    """The one CudaBackend over the shim (or over the GPU, see above)."""
    if os.environ.get("GRB_TILE_TEST_DEVICE") == "cuda":
        return select.named("cuda")
    made = CudaBackend(SimtLauncher())
    select._made["cuda"] = made          # host backends take device stores from now on
    return made


@contextmanager
def using_shim():
    """Within the block the backend in use is the shim's; yields it."""
    shim()
    with select.using("cuda") as backend:
        yield backend
