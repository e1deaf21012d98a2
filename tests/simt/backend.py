"""The CUDA backend over the CPU shim: `shim()` is a CudaBackend whose kernels run as fibers on NumPy arrays.

    with using_shim():
        ...                      # gb code runs on it as on "cuda"
"""
from contextlib import contextmanager
from functools import lru_cache

from grb_tile.backends import select
from grb_tile.backends.cuda.backend import CudaBackend

from .launcher import SimtLauncher


@lru_cache(maxsize=1)
def shim():
    """The one CudaBackend over the shim."""
    return CudaBackend(SimtLauncher())


@contextmanager
def using_shim():
    """Within the block the backend in use is the shim's; yields it."""
    before = select._active
    select._active = shim()
    try:
        yield select._active
    finally:
        select._active = before
