"""8 x 8 bit blocks with values (storage/bit_tiles.py, BitBlockMatrix) made on the device.

Kernels: products/tile_blocks.cuh, products/bit_tiles_build.cuh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....storage.bit_tiles import BLOCK, BitBlockMatrix
from ....storage.store import forms_of
from ..structure.entries import gather, index_type, moved_type
from ..structure.structure import convert
from .tiles import _MOVED, _merging_tasks, entries_per_tile

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device


def bit_blocks_of(device: Device, A: Compressed) -> BitBlockMatrix:
    """A's BitBlockMatrix with device arrays, kept in A.forms["tiles8"].

    Precondition: storage.tiled.can_tile(A).  Raises: OutOfMemory, before anything is kept.
    """
    forms = forms_of(A)
    found = forms.get("tiles8")
    if found is None:
        found = forms["tiles8"] = _bit_blocks(device, A)
    return found


def entries_per_block(device: Device, A: Compressed) -> float:
    """Mean entries of a non-empty 8 x 8 block, from a sample of the block rows; kept in A.forms."""
    forms = forms_of(A)
    found = forms.get("entries_per_block")
    if found is None:
        blocks = forms.get("tiles8")
        found = entries_per_tile(device, A, BLOCK) if blocks is None else A.indices.shape[0] / max(blocks.ntiles, 1)
        forms["entries_per_block"] = found
    return found


def _bit_blocks(device, A):
    if A.rows is not None:
        A = convert(device, A, "csr")
    entries = A.indices.shape[0]
    tasks, task_ptr, owner = _merging_tasks(device, A.indptr, BLOCK)
    values = None if A.iso else A.values.view(_MOVED[A.values.dtype.itemsize])
    counts = device.zeros(tasks + 1, np.int64)

    def merge(fill, counts, *arrays):
        kernel = device.launcher.kernel(
            "products/tile_blocks.cuh",
            "merge_block_row",
            "",
            (index_type(A.indices), "uint8_t" if values is None else moved_type(values), fill),
        )
        kernel.over(tasks * BLOCK, (A.indptr, A.indices, values, A.nrows, tasks, task_ptr, owner, counts, *arrays))

    merge("false", counts[1:], *[None] * 4)
    ptr = device.xp.cumsum(counts)
    blocks = device.read(ptr[-1:])[0]
    device.check_room(blocks * 20 + (0 if values is None else values.nbytes), f"{blocks} blocks of 8 x 8")
    col, map_ = device.empty(blocks, np.int32), device.empty(blocks, np.uint64)
    value_ptr = device.empty(blocks + 1, np.int64)
    packed = None if values is None else device.empty(entries, values.dtype)
    merge("true", ptr, col, map_, value_ptr, packed)
    value_ptr[-1:] = entries
    A.shared = A.shared or A.iso
    return BitBlockMatrix(
        A.nrows, A.ncols, A.dtype, ptr if task_ptr is None else gather(device, ptr, task_ptr), col, map_, value_ptr,
        A.values if A.iso else packed.view(A.values.dtype), A.iso,
    )  # fmt: skip
