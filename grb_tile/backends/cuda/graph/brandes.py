"""Brandes' dependencies of many sources: one launch.  Kernel: kernels/graph/brandes.cuh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..products.row_schedule import pointers
from ..runtime.errors import on_device
from ..structure.arrays import index_type
from .bfs_graph import CHUNK, MAX_ENTRIES

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

BLOCK = 512  # threads
EDGES_PER_BLOCK = 16384  # a group of blocks has one for so many entries: a level of fewer is over before a barrier is
CONTROL_WORDS = 13  # BrandesControl
ARGUMENTS = 18  # fields of BrandesArguments
SHARE_OF_MEMORY = 4  # groups take at most a quarter of the free memory


@on_device
def dependencies(
    device: Device, A: Compressed, sources: np.ndarray, weighted: bool, endpoints: bool, by_edge: bool
) -> Any:
    """The sums over the sources, FP64, by vertex or by entry of A.

    NotImplemented for edges with lengths and for 64-bit vertices.

    Memory: 44 bytes a vertex, two row pointers and 1/32 of a byte an entry, for each group.
    """
    n, launcher = A.nrows, device.launcher
    if weighted or A.rows is not None or not 0 < n < 2**31 - 128 or A.nvals >= MAX_ENTRIES:
        return NotImplemented
    A = device.to_device(A)
    start = pointers(device, A)
    kernel = launcher.kernel("graph/brandes.cuh", "brandes", "", (index_type(start), "true" if by_edge else "false"))
    threads = launcher.threads(BLOCK)
    resident = kernel.resident_blocks(threads)
    chunks = A.nvals // CHUNK + n + 2
    each = n * (40 + 2 * start.dtype.itemsize) + 4 * chunks + 8 * CONTROL_WORDS
    most = max(1, device.memory()[0] // SHARE_OF_MEMORY // each)
    group_blocks = launcher.blocks(resident, A.nvals, EDGES_PER_BLOCK)
    groups = max(1, min(resident // group_blocks, sources.size, most))
    score = device.zeros(A.nvals if by_edge else n, np.float64)
    given = device.array(sources, np.int32)
    arrays = (
        device.xp.full(groups * n, -1, np.int32), device.zeros(groups * n, np.float64),
        device.empty(groups * n * 2, np.float64), device.empty(groups * n, np.int32),
        device.empty(groups * n, start.dtype), device.empty(groups * n, start.dtype),
        device.empty(groups * chunks, np.int32),
    )  # fmt: skip
    sizes = device.empty(groups * (n + 1), np.uint64)
    control = device.zeros(groups * CONTROL_WORDS, np.uint64)
    launch = kernel.launch(ARGUMENTS, groups * group_blocks, threads, cooperative=True)
    launch(
        device.current_stream().ptr, device.address(start), device.address(A.indices), n, device.address(given),
        sources.size, group_blocks, int(endpoints), device.address(score), *map(device.address, arrays), chunks,
        device.address(sizes), device.address(control),
    )  # fmt: skip
    return score
