"""8 x 8 bit blocks with values (storage/bit_tiles.py, BitBlockMatrix) made on the device.

Kernels: products/bitblock_build.cuh, products/bit_tiles_build.cuh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....storage.bit_tiles import BLOCK, BitBlockMatrix
from ....storage.store import forms_of
from ..structure.arrays import gather, index_type, moved_type
from ..structure.formats import convert
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


def merged_blocks(
    device: Device, indptr: Any, indices: Any, values: Any, least: int, by_rows: bool = False
) -> tuple[Callable[..., None], list[Any], Any]:
    """(merge, (blocks, entries in them, entries of the remainder) of each task, task_ptr) of the rows of `indptr`.

    merge("true", where those of each task begin, ...) writes them.  Blocks of fewer than `least` entries are the
    remainder; by_rows: the order of the bits (products/bitblock_build.cuh).
    """
    nrows = indptr.shape[0] - 1
    tasks, task_ptr, owner = _merging_tasks(device, indptr, BLOCK)
    counts = [device.zeros(tasks + 1, np.int64) for _ in range(3)]
    types = index_type(indices), "uint8_t" if values is None else moved_type(values)

    def merge(fill, *arrays):
        template = *types, fill, "true" if by_rows else "false"
        kernel = device.launcher.kernel("products/bitblock_build.cuh", "merge_blocks", "", template)
        kernel.over(tasks * BLOCK, (indptr, indices, values, nrows, least, tasks, task_ptr, owner, *arrays))

    merge("false", *(count[1:] for count in counts), None, None, None, None, None, None)
    return merge, counts, task_ptr


def _bit_blocks(device, A):
    if A.rows is not None:
        A = convert(device, A, "csr")
    values = None if A.iso else A.values.view(_MOVED[A.values.dtype.itemsize])
    merge, counts, task_ptr = merged_blocks(device, A.indptr, A.indices, values, 0, by_rows=True)
    ptr, starts = (device.xp.cumsum(count) for count in counts[:2])
    blocks = device.read(ptr[-1:])[0]
    device.check_room(blocks * 20 + (0 if values is None else values.nbytes), f"{blocks} blocks of 8 x 8")
    col, map_ = device.empty(blocks, np.int32), device.empty(blocks, np.uint64)
    value_ptr = device.empty(blocks + 1, np.int64)
    packed = None if values is None else device.empty(values.shape[0], values.dtype)
    merge("true", ptr, starts, counts[2], map_, col, packed, None, None, value_ptr)
    value_ptr[-1:] = A.indices.shape[0]
    A.shared = A.shared or A.iso
    return BitBlockMatrix(
        A.nrows, A.ncols, A.dtype, ptr if task_ptr is None else gather(device, ptr, task_ptr), col, map_, value_ptr,
        A.values if A.iso else packed.view(A.values.dtype), A.iso,
    )  # fmt: skip
