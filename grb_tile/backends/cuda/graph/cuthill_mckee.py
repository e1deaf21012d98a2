"""Cuthill-McKee order on the device: vertices numbered by degree, searches for the starts, one launch for the order.

Kernel: kernels/graph/cuthill_mckee.cuh; searches: bfs.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import BOOL, INT64
from ....storage.store import BitmapVector, Compressed
from ..runtime.errors import on_device
from ..structure.gather import gather_matrix
from ..structure.sorting import sorted_by_key
from . import bfs
from .components import connected_components

if TYPE_CHECKING:
    from ..runtime.device import Device

BLOCK = 1024
NO_PARENT = 2**31 - 1


@on_device
def cuthill_mckee(device: Device, A: Compressed) -> Any:
    """(order, positions) or None, see GraphOperations.cuthill_mckee (backends/graph.py), or NotImplemented.

    Memory: a copy of the matrix without values, 52 bytes a vertex, and what a search takes.
    """
    n = A.nrows
    if A.rows is not None or not 0 < n < 2**31 - 128 or A.nvals >= bfs.MAX_ENTRIES:
        return NotImplemented
    A, xp = device.to_device(A), device.xp
    # B = P(q, q) with q by ascending degree: from here on the lesser number is the lesser degree
    q = sorted_by_key(device, xp.diff(A.indptr), n, [device.arange(n)])[1]
    pattern = Compressed(n, n, BOOL, A.indptr, A.indices, device.array(np.ones(1, np.bool_)), True)
    order = _by_levels(device, gather_matrix(device, pattern, q, q))
    if order is None:
        return None
    order = q[order][::-1].copy()
    positions = device.empty(n, np.int64)
    positions[order] = device.arange(n)
    return BitmapVector(n, INT64, None, order, n), BitmapVector(n, INT64, None, positions, n)


def _by_levels(device: Device, A: Compressed) -> Any:
    """The vertices in Cuthill-McKee order, component by component; of several, the least number comes first.

    None where a vertex is not reached from its component's first, because A is not symmetric.
    """
    n, xp = A.nrows, device.xp
    least = connected_components(device, A, lambda: A)[0].values.astype(np.int32)
    nodes = device.arange(n, np.int32)
    roots = xp.flatnonzero(least == nodes).astype(np.int32)
    number = xp.cumsum(least == nodes, dtype=np.int32)[least] - 1
    starts = _peripheral(device, A, roots, number)
    if starts is None:
        return None
    count = starts.shape[0]
    order, position = device.empty(n, np.int32), device.full(n, -1, np.int32)
    order[:count] = starts
    position[starts] = device.arange(count, np.int32)
    kernel = device.launcher.kernel("graph/cuthill_mckee.cuh", "cuthill_mckee")
    threads = device.launcher.threads(BLOCK)
    most = min(kernel.resident_blocks(threads), device.launcher.processors)
    blocks = device.launcher.blocks(most, n + threads - 1, threads)
    kernel(blocks, threads, (
        A.indptr, A.indices, count, order, position, device.full(n, NO_PARENT, np.int32), device.empty(n, np.int32),
        device.empty(blocks, np.uint32), device.counters(),
    ), 0, True)  # fmt: skip
    if bool((position < 0).any()):  # no path leads there, and a place of `order` was never written
        return None
    if count > 1:
        order = order[xp.argsort(number[order], kind="stable")]
    return order


def _peripheral(device: Device, A: Compressed, roots: Any, number: Any) -> Any:
    """A vertex far from others in each component, all components at once: George and Liu's search.  None: see above.

    roots: a vertex of each component, ascending; number: the component of each vertex.
    """
    xp, n = device.xp, A.nrows
    nodes, starts = device.arange(n, np.int32), roots
    depth = device.full(roots.shape[0], -1, np.int32)
    while True:
        # one source may take the kernel for graphs of high diameter
        sources = int(starts[0]) if starts.shape[0] == 1 else xp.sort(starts)
        found = bfs.traverse(device, A, A, sources, True, False, None, None, None)[0]
        if found.nvals < n:  # the values of absent levels may be anything
            return None
        level = found.values
        if roots.shape[0] == 1:  # no atomics that all meet at one number
            farthest = level.max().reshape(1)
        else:
            farthest = xp.zeros(roots.shape[0], np.int32)
            xp.maximum.at(farthest, number, level)
        grows = farthest > depth
        if not bool(grows.any()):
            return starts
        # where the search went deeper: the first vertex of the last level
        last = xp.where(level == farthest[number], nodes, np.int32(n))
        if roots.shape[0] == 1:
            first = last.min().reshape(1)
        else:
            first = device.full(roots.shape[0], n, np.int32)
            xp.minimum.at(first, number, last)
        starts, depth = xp.where(grows, first, starts), xp.maximum(farthest, depth)
