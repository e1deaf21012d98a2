"""Random walks on the device: one launch, and one before it for weights.  Kernels: kernels/graph/random_walks.cuh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.errors import on_device
from ..runtime.launch import bits_of
from ..structure.arrays import index_type

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

HEADER = "graph/random_walks.cuh"
PROPOSALS = 64  # as algorithms/random_walks.py


@on_device
def random_walks(
    device: Device, A: Compressed, starts: np.ndarray, length: int, seed: int, weighted: bool, p: float, q: float,
    restart: float,
) -> Any:  # fmt: skip
    """See backends/graph.py.

    Memory: 8 bytes a vertex of each walk; weighted: 8 to 16 bytes an entry.  Read back: the walks.
    """
    if A.rows is not None or not A.nrows or (weighted and A.values.dtype.kind not in "biuf"):
        return NotImplemented
    A, count = device.to_device(A), starts.size
    weights = sums = None
    if weighted:
        values = A.values
        weights = device.full(A.nvals, device.iso_value(A), np.float64) if A.iso else values.astype(np.float64)
        sums, refused = device.empty(A.nvals, np.float64), device.zeros(1, np.uint64)
        kernel = device.launcher.kernel(HEADER, "sums_of_rows")
        kernel.over(32 * A.nrows, (A.indptr, A.nrows, weights, sums, refused))
        if device.read_count(refused):
            return NotImplemented
    walks = device.empty(count * (length + 1), np.int64)
    if count:
        least = min(1.0, q)
        kept = least / np.array([max(p, least), 1.0, q])  # see algorithms/random_walks.py
        parts, powers = np.frexp([p, 1.0, q])
        kernel = device.launcher.kernel(HEADER, "random_walks", "", (index_type(A.indices),))
        kernel.over(count, (
            A.indptr, A.indices, weights, sums, device.array(starts), count, length, bits_of(seed % 2**64),
            bits_of(float(restart)), PROPOSALS if p != 1 or q != 1 else 0, bits_of(float(p)), bits_of(float(least)),
            *map(bits_of, kept.tolist()), *map(bits_of, parts.tolist()), *powers.tolist(), walks,
        ))  # fmt: skip
    return device.host(walks).reshape(count, length + 1)
