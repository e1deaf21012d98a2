"""Greedy loops in a given order of the vertices on the device.  Kernels: kernels/graph/ordered.cuh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.errors import on_device
from ..structure.arrays import index_type
from ..structure.prefix_sums import numbers_of

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

BLOCK = 256
HEADER = "graph/ordered.cuh"
COLOURS = 2048  # bits of a warp in shared memory: 16 KiB a block


class Earlier:
    """For each vertex its neighbours that come earlier in `order`; workspace of 4 bytes an entry and 12 a vertex."""

    def __init__(self, device: Device, A: Compressed, order: Any) -> None:
        n, entries = A.nrows, A.indices.shape[0]
        self.order = order.astype(np.int32)
        self.rank = device.empty(n, np.int32)
        self.rank[self.order] = device.arange(n, np.int32)
        self.neighbours, self.count = device.empty(entries, np.int32), device.zeros(n, np.int32)
        kernel = device.launcher.kernel(HEADER, "earlier_neighbours", "", (index_type(A.indices),))
        kernel.over(entries // 32 + 32, (A.indptr, A.indices, self.rank, n, entries, self.neighbours, self.count))


def suits(A: Compressed) -> bool:
    """Has the matrix a form for these kernels?"""
    return A.rows is None and 0 < A.nrows < 2**31 - 128


@on_device
def greedy_colours(device: Device, A: Compressed, order: Any) -> Any:
    """(colours, int64, how many), or NotImplemented."""
    if not suits(A):
        return NotImplemented
    A, n = device.to_device(A), A.nrows
    earlier, found = Earlier(device, A, order), device.full(n, -1, np.int32)
    kernel = device.launcher.kernel(HEADER, "greedy_colours", "", (index_type(A.indices), str(COLOURS)))
    _launch(device, kernel, n, (A.indptr, A.indices, earlier.order, earlier.rank, n, earlier.neighbours, earlier.count,
                                found))  # fmt: skip
    return found.astype(np.int64), device.read(found.max().reshape(1))[0] + 1


@on_device
def independent_set(device: Device, A: Compressed, order: Any, left_out: Any) -> Any:
    """The members, ascending, or NotImplemented."""
    if not suits(A):
        return NotImplemented
    A, n = device.to_device(A), A.nrows
    earlier = Earlier(device, A, order)
    found = device.full(n, -1, np.int32)
    if left_out is not None:
        found[left_out] = 0
    kernel = device.launcher.kernel(HEADER, "independent_set")
    _launch(device, kernel, n, (A.indptr, earlier.order, n, earlier.neighbours, earlier.count, found))
    return numbers_of(device, found == 1)


def _launch(device, kernel, n, args):
    threads = device.launcher.threads_that_wait(BLOCK)
    blocks = device.launcher.blocks(kernel.resident_blocks(threads), n * 32 + threads - 1, threads)
    kernel(blocks, threads, args, 0, True)
