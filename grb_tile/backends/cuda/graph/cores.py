"""Core numbers on the device: one launch, nothing read back.  Kernel: kernels/graph/cores.cuh."""

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
QUEUE = 6144  # vertices in the queue of a block: 24 KiB
CONTROL_WORDS = 8  # CoresControl has 56 bytes


@on_device
def core_numbers(device: Device, A: Compressed, AT: Compressed | None) -> Any:
    """The store of core numbers, or NotImplemented; A without loops, AT: in-edges count too.

    Memory: 32 bytes a vertex, 8 of them the result.
    """
    n = A.nrows
    if A.rows is not None or (AT is not None and AT.rows is not None) or not 0 < n < 2**31 - 128:
        return NotImplemented
    back = None if AT is None else device.to_device(AT)
    A = device.to_device(A)
    launcher = device.launcher
    kernel = launcher.kernel("graph/cores.cuh", "core_numbers", "", (str(launcher.size(QUEUE, 96)),))
    threads = launcher.threads(BLOCK)
    blocks = launcher.blocks(min(kernel.resident_blocks(threads), launcher.processors), n + threads - 1, threads)
    ints = device.empty(6 * n, np.int32)
    result = device.empty(n, np.int64)
    kernel(blocks, threads, (
        A.indptr, A.indices, None if back is None else back.indptr, None if back is None else back.indices, n,
        *(ints[k * n : (k + 1) * n] for k in range(6)), result, device.zeros(CONTROL_WORDS, np.uint64),
    ), 0, True)  # fmt: skip
    return BitmapVector(n, INT64, None, result, n)
