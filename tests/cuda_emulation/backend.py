"""The CUDA backend over the CPU shim: `shim()` is a CudaBackend whose kernels run as fibers on NumPy arrays.

With GRB_TILE_TEST_DEVICE=cuda in the environment it is the real one: the tests of this folder then run on the GPU.
Values of a bitmap's absent entries, which may be anything, are rubbish on the shim, so that nothing can come to rest on
them; with GRB_TILE_TEST_FILLED=1 they are zeros on a GPU, so that initcheck speaks of the rest alone.

    with using_shim():
        ...                      # gb code runs on it as on "cuda"
"""

import os
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from grb_tile.backends import select
from grb_tile.backends.cuda.backend import CudaBackend

from .launcher import SimtLauncher


@lru_cache(maxsize=1)
def shim():
    """The one CudaBackend over the shim (or over the GPU, see above)."""
    if os.environ.get("GRB_TILE_TEST_DEVICE") == "cuda":
        found = select.named("cuda")
        if os.environ.get("GRB_TILE_TEST_FILLED"):
            found.device.places = found.device.zeros
        return found
    made = CudaBackend(SimtLauncher())
    made.device.places = lambda count, dtype: rubbish(made.device, count, np.dtype(dtype))
    return select.register("cuda", made)


def rubbish(device, count, dtype):
    """`count` values that no test would expect."""
    values = device.zeros(count, dtype)
    if dtype.kind == "b":
        values[:] = True
    else:
        values.view(np.uint8)[:] = 0xA5
    return values


@contextmanager
def using_shim():
    """Within the block the backend in use is the shim's; yields it."""
    shim()
    with select.using("cuda") as backend:
        yield backend
