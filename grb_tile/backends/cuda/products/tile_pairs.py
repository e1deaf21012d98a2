"""C = A (+.x) B over 8 x 8 bit blocks (TileSpGEMM): any semiring, no mask.  Kernels: products/tile_pairs.cuh,
products/tile_products.cuh.

    maps        blocks of C and the map of each: the product of the block layouts of A and B, in two phases, over the
                semiring of maps (products/tile_maps.cuh)
    rows        entries of each row; then one read-back, and C is allocated exactly
    products    values and columns, as CSR; FP64 plus_times by matrix instructions (tensor cores)

Workspace: 12 bytes for each block of C and 8 for each row, and the blocks of A and B, which are kept with them.
Paper: tilespgemm_ppopp22, 3.3.
"""

from __future__ import annotations

import functools
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import FP64, UINT64
from ....operators import get_typed_op
from ....planner.choose_kernel import TileFacts
from ....planner.record import UNRECORDED
from ....storage.store import Compressed, index_dtype
from ....storage.tiled import can_tile
from ..lowering.semirings import lowered
from ..structure.formats import choose_format, convert
from ..structure.prefix_sums import running_sums
from .spgemm import Product
from .tile_blocks import bit_blocks_of, entries_per_block

if TYPE_CHECKING:
    from ....planner import Plan
    from ....planner.device_limits import DeviceLimits
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

TILES_OF_TASK, THREADS = 256, 128  # as in tile_pairs.cuh
LEFT = 4  # tiles of the operands may take a share of 1 / LEFT of the free memory


def serves(A: Compressed, B: Compressed) -> bool:
    """Have A and B enough entries for their dimensions to justify arrays with an element for each block row?"""
    return can_tile(A) and can_tile(B)


def is_matrix_product(semiring: Any, A: Compressed, B: Compressed) -> bool:
    """Is the product FP64 plus_times of FP64 operands, for which there are matrix instructions?"""
    op, monoid = semiring.binaryop, semiring.monoid
    if op.name != "times" or not op.parent._builtin or monoid.ufunc is not np.add:
        return False
    return all(dtype is FP64 for dtype in (A.dtype, B.dtype, op.type, op.type2, semiring.return_type))


def mode_of(limits: DeviceLimits, s: Lowered, semiring: Any, A: Compressed, B: Compressed) -> str:
    """How values are computed: a name of the enumeration in tile_products.cuh."""
    if is_matrix_product(semiring, A, B) and limits.fp64_matrix:
        return "FP64_MATRIX"
    kinds = "iuf" if semiring.binaryop.kind == "pair" else "iu"  # floats: a multiple of 1 is rounded as their sum is
    counts = s.one is not None and semiring.monoid.ufunc is np.add and s.dtype.np_type.kind in kinds
    return "BIT_MATRIX" if counts else "ENTRIES"


def facts(device: Device, A: Compressed, B: Compressed, s: Lowered, semiring: Any) -> TileFacts | None:
    """What the planner compares (planner/choose_kernel.py); None for DCSR operands."""
    if A.rows is not None or B.rows is not None:
        return None
    mode = mode_of(device.launcher.limits, s, semiring, A, B)
    fresh = [X for X in {id(X): X for X in (A, B)}.values() if "tiles8" not in (X.forms or ())]
    made = sum(X.indices.shape[0] for X in fresh)
    row = B.indices.shape[0] / B.nrows

    def fill():
        if fresh and sum(X.indices.nbytes + X.values.nbytes for X in fresh) * LEFT > device.memory()[0]:
            return 0.0, 0.0  # C may need the memory
        return entries_per_block(device, A), entries_per_block(device, B)

    return TileFacts(A.indices.shape[0], A.nrows, row, made, s.structure_only, mode, fill)


def matmul_tile_pairs(
    device: Device, A: Compressed, B: Compressed, s: Lowered, semiring: Any, plan: Plan = UNRECORDED
) -> Compressed:
    """C = A (+.x) B.

    Raises: OutOfMemory, which says what C needs, before C is allocated.
    """
    left, right = bit_blocks_of(device, A), bit_blocks_of(device, B)
    C, pairs = _blocks_of_product(device, left, right)
    launcher, lines, blocks = device.launcher, C.nrows, C.indices.shape[0]
    counts = device.zeros(A.nrows + 2, np.int64)  # of no row, of each row, and the number of chunks
    chunks, more = device.empty(2 * (blocks // TILES_OF_TASK), np.int64), counts[-1:]
    kernel = launcher.kernel("products/tile_pairs.cuh", "tile_rows", "", ())
    kernel.over(lines * 32, (C.indptr, C.values, lines, A.nrows, counts[1:], more, chunks))
    indptr, total = running_sums(device, counts[:-1], total=True)
    plan.note = f"{pairs} pairs of tiles, {blocks} tiles, {total} entries"
    out = index_dtype(B.ncols)
    dtype = s.dtype.np_type
    device.check_room(
        total * (out.itemsize + (0 if s.structure_only else dtype.itemsize)), f"the {total} entries of C = A B"
    )
    cols = device.empty(total, out)
    values = None if s.structure_only else device.empty(total, dtype)
    if total:
        template = "int32_t" if out.itemsize == 4 else "int64_t", "S", mode_of(launcher.limits, s, semiring, A, B)
        kernel = launcher.kernel("products/tile_products.cuh", "tile_products", s.text, template)
        a_values, b_values = left.values if s.reads_a else None, right.values if s.reads_x else None
        threads, tasks = launcher.threads(THREADS), lines + blocks // TILES_OF_TASK
        kernel(launcher.blocks(max(1, min(-(-tasks * 32 // threads), 1 << 30))), threads, (
            left.block_ptr, left.block_col, left.block_map, left.value_ptr, a_values,
            right.block_ptr, right.block_col, right.block_map, right.value_ptr, b_values,
            C.indptr, C.indices, C.values, A.nrows, lines, more, chunks, indptr, cols, values,
        ))  # fmt: skip
    if s.structure_only:
        values = s.value(device, A, B) if total else device.empty(0, dtype)
    iso = s.structure_only and total > 0
    result = choose_format(device, Compressed(A.nrows, B.ncols, s.dtype, indptr, cols, values, iso))
    result.shared = iso
    return result


def _blocks_of_product(device, left, right):
    """(the blocks that C may have, a matrix in CSR whose values are their maps; pairs of blocks)."""
    operands = (
        Compressed(T.block_ptr.shape[0] - 1, -(-T.ncols // 8), UINT64, T.block_ptr, T.block_col, T.block_map)
        for T in (left, right)
    )
    product = Product(device, *operands, maps(), None)
    _, blocks, pairs = product.symbolic()
    C = convert(device, product.numeric(blocks), "csr")
    C.indices = C.indices.astype(np.int32, copy=False)
    return C, pairs


@functools.cache
def maps() -> Lowered:
    """The semiring of maps (products/tile_maps.cuh), lowered: (+) is OR, (x) product_of_maps."""
    s = copy(lowered(None, get_typed_op("bor_band", UINT64, kind="semiring"), UINT64, False, UINT64, False))
    s.kernels, and_of_words = {}, "grb::band(x, y)"
    assert and_of_words in s.text
    s.text = '#include "products/tile_maps.cuh"\n' + s.text.replace(and_of_words, "grb::product_of_maps(x, y)")
    return s
