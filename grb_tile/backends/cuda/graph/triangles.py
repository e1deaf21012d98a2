"""Triangles at each vertex, and supports of edges as edges go, on the device.

Kernels: kernels/products/masked_rows.cuh; kernels/graph/truss.cuh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import INT64
from ....operators import get_typed_op
from ....storage.convert import share
from ....storage.store import BitmapVector, Compressed
from ..lowering.semirings import lowered
from ..products.masked import corner_counts
from ..runtime.errors import on_device
from ..structure.arrays import row_ids
from ..structure.positions import keep_flagged

if TYPE_CHECKING:
    from ..runtime.device import Device

BLOCK = 256
HEADER = "graph/truss.cuh"
CONTROL_WORDS = 4  # TrussControl has 32 bytes
MOST = 2**31 - 2**20


@on_device
def triangle_corners(device: Device, L: Compressed) -> Any:
    """The store of counts, or NotImplemented.  Memory: 12 bytes for each entry and for each word of 64 columns."""
    if L.rows is not None or not 0 < L.nrows < MOST or L.indices.shape[0] == 0:
        return NotImplemented
    L = device.to_device(L)
    pair = get_typed_op("plus_pair", INT64, kind="semiring")
    values = corner_counts(device, L, lowered(device, pair, L.dtype, L.iso, L.dtype, L.iso))
    return BitmapVector(L.nrows, INT64, None, values, L.nrows)


@on_device
def peel_truss(device: Device, C: Compressed, S: Compressed, least: int) -> Any:
    """(supports of the edges that stay, removed), or NotImplemented.

    Memory: 4 bytes for each entry of C, 20 for each edge.
    """
    edges = S.indices.shape[0]
    if C.rows is not None or not 0 < edges < MOST or C.nrows >= MOST:
        return NotImplemented
    C, S = device.to_device(C), device.to_device(S)
    if S.iso:
        support = device.full(edges, int(device.host(S.values)[0]), np.int32)
    else:
        support = S.values.astype(np.int32)
    launcher, rows = device.launcher, row_ids(device, S, np.int32)
    link, gone = device.full(C.indices.shape[0], -1, np.int32), device.zeros(edges, np.int32)
    launcher.kernel(HEADER, "truss_link").over(edges, (C.indptr, C.indices, rows, S.indices, edges, link))
    kernel = launcher.kernel(HEADER, "truss_peel")
    threads = launcher.threads(BLOCK)
    blocks = launcher.blocks(kernel.resident_blocks(threads), edges + threads - 1, threads)
    kernel(blocks, threads, (
        C.indptr, C.indices, link, rows, S.indices, edges, min(least, MOST), support, gone,
        device.empty(edges, np.int32), device.zeros(CONTROL_WORDS, np.uint64),
    ), 0, True)  # fmt: skip
    counted = Compressed(S.nrows, S.ncols, INT64, S.indptr, S.indices, support.astype(np.int64), False, S.rows)
    share(S, counted)
    return keep_flagged(device, counted, gone == 0), lambda: device.host(device.xp.bincount(gone))[1:].tolist()
