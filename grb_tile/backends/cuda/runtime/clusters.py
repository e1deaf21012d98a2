"""How many thread block clusters fit on the device: cuOccupancyMaxActiveClusters, which CuPy does not bind."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any

_CLUSTER_DIMENSION = 4  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute of cuda.h: the value is a union of 64 bytes."""

    _fields_ = (("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16))


class _Configuration(ctypes.Structure):
    """CUlaunchConfig of cuda.h."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint),
    )  # fmt: skip


@lru_cache(maxsize=1)
def _function() -> Any:
    """The driver's function, None where it has none (before CUDA 11.8)."""
    try:
        return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1").cuOccupancyMaxActiveClusters
    except (OSError, AttributeError):
        return None


def max_active_clusters(function: int, blocks: int, threads: int, shared: int) -> int:
    """How many clusters of `blocks` blocks of a kernel are resident at once; 0 where the driver refuses or is too old.

    function: the kernel's CUfunction.  A context must be current.
    """
    ask = _function()
    if ask is None:
        return 0
    attribute = _Attribute(_CLUSTER_DIMENSION, 0, (blocks, 1, 1))
    wanted = _Configuration((blocks, 1, 1), (threads, 1, 1), shared, None, ctypes.pointer(attribute), 1)
    count = ctypes.c_int(0)
    status = ask(ctypes.byref(count), ctypes.c_void_p(function), ctypes.byref(wanted))
    return count.value if status == 0 else 0
