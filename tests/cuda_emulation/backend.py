"""The CUDA backend over the CPU emulation: `shim()` is a CudaBackend whose kernels run as fibers on NumPy arrays.

With GRB_TILE_TEST_DEVICE=cuda in the environment it is the real one (EMULATED is False): the same tests then run on
the GPU.  Values of a bitmap's absent entries, which may be anything, are filled with bytes of 0xA5 by the emulation, so
that no result can depend on them; with GRB_TILE_TEST_FILLED=1 they are zeros on a GPU, so that initcheck reports
nothing else.

    with using_shim():
        ...                      # gb code runs on it as on "cuda"
"""

import os
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from grb_tile.backends import select
from grb_tile.backends.cuda.backend import CudaBackend

from .arrays import emulating
from .launcher import EmulatedLauncher

EMULATED = os.environ.get("GRB_TILE_TEST_DEVICE") != "cuda"


@lru_cache(maxsize=1)
def shim():
    """The one CudaBackend over the emulation (or over the GPU, see above)."""
    if not EMULATED:
        found = select.named("cuda")
        if os.environ.get("GRB_TILE_TEST_FILLED"):
            found.device.places = found.device.zeros
        return found
    made = CudaBackend(launcher=EmulatedLauncher())
    made.device.places = lambda count, dtype: rubbish(made.device, count, np.dtype(dtype))
    return select.register("cuda", made)


def rubbish(device, count, dtype):
    """`count` values that no test would expect."""
    values = device.empty(count, dtype)
    with emulating():
        if dtype.kind == "b":
            values[:] = True
        else:
            values.view(np.uint8)[:] = 0xA5
    return values


@contextmanager
def using_shim():
    """Within the block the backend in use is shim(); yields it."""
    shim()
    with select.using("cuda") as backend:
        yield backend
