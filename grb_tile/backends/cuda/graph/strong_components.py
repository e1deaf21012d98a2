"""Strongly connected components on the device: two searches from a pivot, one launch for the rest, one count read back.

Kernel: kernels/graph/strong_components.cuh; searches: bfs.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import INT64
from ....storage.store import BitmapVector, forms_of
from ..runtime.errors import on_device
from . import bfs

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....storage.store import Compressed
    from ..runtime.device import Device

BLOCK = 512
CONTROL_WORDS = 8  # StrongControl has 64 bytes
HEADER = "graph/strong_components.cuh"


@on_device
def strong_components(device: Device, A: Compressed, in_edges: Callable[[], Compressed]) -> Any:
    """(store of labels: the least vertex of each vertex's component, number of components), or NotImplemented.

    in_edges(): the store of A'; A itself where symmetric.
    Memory: 28 bytes a vertex, 8 of them the result, and what two searches take.
    """
    n = A.nrows
    if A.rows is not None or not 0 < n < 2**31 - 128 or A.nvals >= bfs.MAX_ENTRIES:
        return NotImplemented
    AT = in_edges()
    if AT.rows is not None:
        return NotImplemented
    same = AT is A
    A = device.to_device(A)
    AT = A if same else device.to_device(AT)
    launcher = device.launcher
    forward = backward = None
    pivot = _pivot(device, A, AT)
    if pivot is not None:
        forward = bfs.traverse(device, A, AT, pivot, True, False, None, None, None)[0].words
        backward = forward
        if not same:
            backward = bfs.traverse(device, AT, A, pivot, True, False, None, None, None)[0].words
    kernel = launcher.kernel(HEADER, "strong_components")
    threads = launcher.threads(BLOCK)
    blocks = launcher.blocks(min(kernel.resident_blocks(threads), 2 * launcher.processors), n + threads - 1, threads)
    ints = device.empty(5 * n, np.int32)
    labels, control = device.empty(n, np.int64), device.zeros(CONTROL_WORDS, np.uint64)
    kernel(blocks, threads, (
        A.indptr, A.indices, AT.indptr, AT.indices, n, forward, backward,
        *(ints[k * n : (k + 1) * n] for k in range(5)), labels, control,
    ), 0, True)  # fmt: skip
    return BitmapVector(n, INT64, None, labels, n), device.read(control[1:2])[0]


def _pivot(device: Device, A: Compressed, AT: Compressed) -> int | None:
    """The vertex with the most pairs of an in-edge and an out-edge, None without such; kept with A.

    It is probably in the greatest component.
    """
    forms = forms_of(A)
    if "strong_pivot" not in forms:
        best = device.zeros(1, np.uint64)
        kernel = device.launcher.kernel(HEADER, "strong_pivot")
        kernel.over(A.nrows, (A.indptr, AT.indptr, A.nrows, best), most=device.launcher.processors)
        degree, v = divmod(device.read(best)[0], 1 << 32)
        forms["strong_pivot"] = 2**32 - 1 - v if degree else None
    return forms["strong_pivot"]
