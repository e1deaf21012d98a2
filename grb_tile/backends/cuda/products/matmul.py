"""C<M> = A (+.x) B on the device (SpGEMM).  Meanings: backends/protocol.py.

dot         a mask that is no complement: row i of A with row j of BT for each of its entries; rows of the mask are
            pushed instead where that takes less time and B is there by rows too (products/masked.py)
gustavson   row by row, by one of four kernels (products/inner_windows.py has another for few rows and columns):
            two_phases      accumulators in shared memory, exact allocation (products/spgemm.py)
            tile_pairs      without a mask: pairs of 8 x 8 tiles (products/tile_pairs.py)
            merge_at_mask   under a mask that is no complement: products are merged into a table of the mask's row
                            (products/masked.py)
            esc             at most EXPAND products at a time are expanded, sorted by (i,j) and combined; when forced
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import tuning
from ....planner.choose_kernel import has_capacity, spgemm_kernel
from ....planner.record import UNRECORDED
from ....storage.convert import cached_transpose
from ....storage.store import index_dtype
from ..elementwise.mapping import select
from ..lowering.semirings import lowered
from ..structure.arrays import compressed, empty_vector, gather, index_type, row_ids, segment_starts
from ..structure.formats import choose_format, transpose
from ..structure.prefix_sums import numbers_of, running_sums
from ..structure.sorting import pair_order
from . import tile_pairs
from .epilogue import BY_COLUMN, epilogue
from .masked import masked_product
from .matvec import operand_types
from .spgemm import matmul_two_phases

if TYPE_CHECKING:
    from ....planner import Plan
    from ....storage.store import Compressed, StoredMask
    from ..runtime.device import Device

EXPAND = 1 << 26  # products expanded at once


def matmul(
    device: Device, A: Compressed, B: Compressed | None, semiring: Any, mask: StoredMask | None = None,
    plan: Plan | None = None, BT: Compressed | None = None, keep: tuple[Any, Any] | None = None,
) -> Any:  # fmt: skip
    """C, or NotImplemented for operand types that have no device form; B may be given as its transpose BT."""
    if keep is not None:
        C = _product(device, A, B, semiring, mask, plan, BT, (keep,))
        if C is not NotImplemented:
            return C
    C = _product(device, A, B, semiring, mask, plan, BT)
    return C if keep is None or C is NotImplemented else select(device, C, *keep, None)


def reduce_matmul(
    device: Device, A: Compressed, B: Compressed | None, semiring: Any, monoid: Any, axis: int | None,
    mask: StoredMask | None, plan: Plan | None, BT: Compressed | None, keep: tuple[Any, Any] | None,
) -> Any:  # fmt: skip
    """(+)_ij, (+)_j or (+)_i of C, which is not formed; NotImplemented where only products at a mask are supported."""
    return _product(device, A, B, semiring, mask, plan, BT, (keep, monoid, axis))


def _product(device, A, B, semiring, mask, plan, BT, chain=None):
    """C; with a chain the epilogue's result (see `epilogue`), or NotImplemented where the kernel has no such form."""
    given = B if BT is None else BT
    if not operand_types(semiring, A, given):
        return NotImplemented
    if chain is not None and (mask is None or mask.complement or mask.pattern.indices.shape[0] == 0):
        return NotImplemented
    plan = plan or UNRECORDED
    nrows, ncols = A.nrows, B.ncols if BT is None else BT.nrows
    dtype = semiring.return_type
    if A.indices.shape[0] == 0 or given.indices.shape[0] == 0:
        if chain is not None:
            return NotImplemented
        return empty_matrix(device, nrows, ncols, dtype)
    if mask is not None and mask.pattern.indices.shape[0] == 0:
        if not mask.complement:
            return empty_matrix(device, nrows, ncols, dtype)
        mask = None
    s = lowered(device, semiring, A.dtype, A.iso, given.dtype, given.iso)
    following = None
    if chain is not None:
        following = epilogue(device, s, *chain)
        if following is None or (following.into == BY_COLUMN and not has_capacity(ncols, mask.pattern.nvals)):
            return NotImplemented
    if plan.method == "dot" and mask is not None and not mask.complement:
        BT = transpose(device, B) if BT is None else BT
        rows = None if plan.rule == "forced" else B or cached_transpose(BT)
        return masked_product(device, A, rows, BT, s, mask.pattern, plan, following)
    B = transpose(device, BT) if B is None else B
    by_mask = mask is not None and not mask.complement and B.indices.dtype == np.int32
    tiles = None
    if mask is None and tile_pairs.serves(A, B):
        tiles = partial(tile_pairs.facts, device, A, B, s, semiring)
    chosen = spgemm_kernel(plan, by_mask, tiles)
    if chosen == "merge_at_mask":
        return masked_product(device, A, B, None, s, mask.pattern, plan, following)
    if chain is not None:
        return NotImplemented
    if chosen == "tile_pairs":
        return tile_pairs.matmul_tile_pairs(device, A, B, s, semiring, plan)
    if chosen == "two_phases":
        return matmul_two_phases(device, A, B, s, mask, plan)
    lengths = device.empty(A.indices.shape[0], np.int64)
    kernel = device.launcher.kernel("products/matmul_rows.cuh", "row_lengths", "", (index_type(A.indices),))
    kernel.over(A.indices.shape[0], (A.indices, A.indices.shape[0], B.indptr, B.rows, _stored_rows(B), lengths))
    ends, total = running_sums(device, lengths, total=True)
    if total == 0:
        return empty_matrix(device, nrows, ncols, dtype)
    return _by_sorting(device, A, B, s, mask, ends, total)


def empty_matrix(device: Device, nrows: int, ncols: int, dtype: Any) -> Compressed:
    """A matrix of no entries."""
    nothing = device.empty(0, np.int64)
    return compressed(device, nrows, ncols, dtype, nothing, nothing, empty_vector(device, 0, dtype).values)


def _stored_rows(A):
    return A.indptr.shape[0] - 1


def _values(s, A, B):
    return A.values if s.reads_a else None, B.values if s.reads_x else None


def _by_sorting(device, A, B, s, mask, ends, total):
    nrows, ncols, xp = A.nrows, B.ncols, device.xp
    a_rows = row_ids(device, A)
    parts = [
        _block(device, A, B, s, mask, ends, a_rows, *bounds) for bounds in _blocks(device, A, ends, total)
    ]  # fmt: skip
    parts = [part for part in parts if part is not None]
    if not parts:
        return empty_matrix(device, nrows, ncols, s.dtype)
    rows, cols = (xp.concatenate([part[n] for part in parts]) if len(parts) > 1 else parts[0][n] for n in (0, 1))
    if s.structure_only:
        values = s.value(device, A, B)
    else:
        values = xp.concatenate([part[2] for part in parts]) if len(parts) > 1 else parts[0][2]
    result = choose_format(device, compressed(device, nrows, ncols, s.dtype, rows, cols, values, s.structure_only))
    result.shared = s.structure_only
    return result


def _blocks(device, A, ends, total):
    """(first entry, entry after the last, products before, products) of blocks of whole rows of A."""
    if total <= EXPAND:
        return [(0, A.indices.shape[0], 0, total)]
    at = device.host(A.indptr)
    done = np.concatenate(([0], device.host(ends)))[at]  # products before each stored row
    blocks, row, last = [], 0, at.shape[0] - 1
    while row < last:
        stop = min(max(int(done.searchsorted(done[row] + EXPAND, "right")) - 1, row + 1), last)
        if done[stop] > done[row]:
            blocks.append((int(at[row]), int(at[stop]), int(done[row]), int(done[stop] - done[row])))
        row = stop
    return blocks


def _block(device, A, B, s, mask, ends, a_rows, first, stop, before, count):
    """(rows, cols, values) of the products of A's entries first .. stop-1, sorted, combined; None if masked out."""
    rows, cols = device.empty(count, index_dtype(A.nrows)), device.empty(count, B.indices.dtype)
    products = None if s.structure_only else device.empty(count, s.dtype.np_type)
    keep, m_ptr, m_rows, m_stored, m_cols, complement = None, None, None, 0, None, False
    if mask is not None:
        keep, pattern, complement = device.empty(count, np.bool_), mask.pattern, mask.complement
        m_ptr, m_rows, m_stored, m_cols = pattern.indptr, pattern.rows, _stored_rows(pattern), pattern.indices
    a_values, b_values = _values(s, A, B)
    launcher = device.launcher
    kernel = launcher.kernel("products/matmul_rows.cuh", "expand_products", s.text, (
        index_type(A.indices), index_type(B.indices), "int32_t" if m_cols is None else index_type(m_cols),
        index_type(rows), "S"))  # fmt: skip
    kernel.over(count, (
        ends, first, stop, before, count, a_rows, A.indices, a_values, B.indptr, B.rows, _stored_rows(B),
        B.indices, b_values, m_ptr, m_rows, m_stored, m_cols, complement, rows, cols, products, keep))  # fmt: skip
    if keep is not None:
        kept = numbers_of(device, keep)
        if kept.shape[0] == 0:
            return None
        rows, cols = gather(device, rows, kept), gather(device, cols, kept)
        products = None if products is None else gather(device, products, kept)
        count = kept.shape[0]
    order = pair_order(device, rows, cols, A.nrows, B.ncols)
    rows, cols = gather(device, rows, order), gather(device, cols, order)
    starts = segment_starts(device, rows, cols)
    groups = starts.shape[0]
    out = None
    if products is not None:
        out = device.empty(groups, products.dtype)
        arguments = (products, order, starts, groups, count, out)
        if count <= tuning.GPU_COMBINED_BY_THREAD * groups:
            kernel = launcher.kernel("products/matmul_rows.cuh", "combine_few", s.text, (index_type(order), "S"))
            kernel.over(groups, arguments)
        else:
            kernel = launcher.kernel("products/columns.cuh", "combine_groups", s.text, (index_type(order), "S"))
            kernel.over(groups * 32, arguments)
    return gather(device, rows, starts).astype(np.int64, copy=False), gather(device, cols, starts), out
