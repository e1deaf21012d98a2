"""Topological generations on the device: one launch, nothing read back.  Kernel: kernels/graph/topological.cuh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import INT64
from ....storage.store import BitmapVector
from ..runtime.errors import on_device

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

BLOCK = 1024


@on_device
def topological_levels(device: Device, A: Compressed) -> Any:
    """The store of levels, see backends/graph.py, or NotImplemented.

    Memory: 16 bytes a vertex, 8 of them the result.
    """
    n = A.nrows
    if A.rows is not None or not 0 < n < 2**31 - 128:
        return NotImplemented
    A = device.to_device(A)
    kernel = device.launcher.kernel("graph/topological.cuh", "topological_levels")
    threads = device.launcher.threads(BLOCK)
    most = min(kernel.resident_blocks(threads), device.launcher.processors)
    blocks = device.launcher.blocks(most, n + threads - 1, threads)
    ints, level = device.empty(2 * n, np.int32), device.empty(n, np.int64)
    kernel(blocks, threads, (A.indptr, A.indices, n, ints[:n], ints[n:], level, device.counters()), 0, True)
    return BitmapVector(n, INT64, None, level, n)
