"""Minimum spanning forest on the device: one read-back a round.  Kernels: kernels/graph/spanning_forest.cuh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.errors import on_device

if TYPE_CHECKING:
    from ..runtime.device import Device

HEADER = "graph/spanning_forest.cuh"
MOST_EDGES = 2**32 - 1


@on_device
def spanning_forest(device: Device, n: int, heads: Any, tails: Any, keys: Any) -> Any:
    """(edges of the forest, ascending, least vertex of each tree), or NotImplemented.

    Memory: 32 bytes an edge, 24 a vertex.  graph/connectivity.py says the rest.
    """
    count, xp = len(heads), device.xp
    if n >= 2**31 or count >= MOST_EDGES:
        return NotImplemented
    tree, kept = device.arange(n), device.empty(max(n - 1, 0), np.int64)
    if count == 0:
        return kept[:0], tree
    launcher = device.launcher
    least, greatest = device.read(xp.stack((keys.min(), keys.max())))
    if greatest - least >= 2**32:
        order = xp.argsort(keys, kind="stable")  # the rank of an edge fits the half of a word that its key does not
        keys = device.empty(count, np.int64)
        keys[order] = device.arange(count)
        least = 0
    parent = device.arange(n, np.int32)
    best = device.full(n, 2**64 - 1, np.uint64)
    sizes = device.zeros(2, np.uint64)  # edges left, edges of the forest
    lists = device.empty(2 * count, np.uint64), device.empty(2 * count, np.uint64)
    first, left = True, count
    while left:
        flag = ("true" if first else "false",)
        sizes[0] = 0
        launcher.kernel(HEADER, "least_edges", "", flag).over(
            left, (heads, tails, keys, least, lists[0], left, parent, lists[1], sizes[:1], best)
        )
        root = parent if first else parent.copy()
        launcher.kernel(HEADER, "hook_trees", "", flag).over(n, (heads, tails, root, n, best, parent, kept, sizes[1:]))
        launcher.kernel(HEADER, "compress_trees").over(n, (parent, n))
        best[:] = 2**64 - 1
        if not first:
            left = device.read_count(sizes[:1])
        lists, first = lists[::-1], False
    found = device.full(n, n, np.int32)
    launcher.kernel(HEADER, "least_vertices").over(n, (parent, n, found))
    launcher.kernel(HEADER, "label_vertices").over(n, (parent, found, n, tree))
    held = device.read(sizes[1:])[0]
    return xp.sort(kept[:held]), tree
