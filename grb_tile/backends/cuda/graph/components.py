"""Connected components on the device: one launch, one count read back.  Kernel: kernels/graph/components.cuh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import UINT64
from ....storage.store import BitmapVector
from ..runtime.errors import on_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....storage.store import Compressed
    from ..runtime.device import Device

BLOCK = 512


@on_device
def connected_components(device: Device, A: Compressed, in_edges: Callable[[], Compressed]) -> Any:
    """(store of labels: the smallest vertex of each vertex's component, number of components), or NotImplemented.

    A: out-edges by rows; in_edges(): the store of A', A itself where symmetric.
    Memory: 12 bytes a vertex, 8 of them the result.
    """
    n = A.nrows
    if A.rows is not None or not 0 < n < 2**31 - 128:
        return NotImplemented
    AT = in_edges()
    if AT.rows is not None:
        return NotImplemented
    back = None if AT is A else device.to_device(AT)
    A = device.to_device(A)
    kernel = device.launcher.kernel("graph/components.cuh", "components", "", ("int64_t",))
    threads = device.launcher.threads(BLOCK)
    blocks = device.launcher.blocks(kernel.resident_blocks(threads), n + threads - 1, threads)
    control = device.counters()  # arrivals and the component left out; the number of components
    labels = device.empty(n, np.uint64)
    kernel(blocks, threads, (
        A.indptr, A.indices, None if back is None else back.indptr, None if back is None else back.indices, n,
        device.empty(n, np.int32), labels, control,
    ), 0, True)  # fmt: skip
    return BitmapVector(n, UINT64, None, labels, n), device.read(control[1:2])[0]
