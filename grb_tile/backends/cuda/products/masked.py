"""C<M> = A (+.x) B for a mask that is no complement, by dot products of A's and B's rows (B given as B').

    rows of the mask   each with its table of A's row in shared memory (kernels/products/masked_rows.cuh)
    positions          bisection of the shorter row in the longer one (kernels/products/matmul_dot.cuh), where rows have
                       so few lookups that a table costs more

Workspace: 9 bytes for each stored row of the mask, and
what C takes before the positions without a product are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import tuning
from ....storage.convert import share
from ....storage.store import Compressed
from ..structure.entries import index_type, row_ids
from ..structure.positions import keep_matrix_entries, listed
from .spgemm import MOST_BLOCKS, PRODUCTS, THREADS, TOTALS, Bins, power_between

if TYPE_CHECKING:
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

SEARCHED, HASH, BITMAP = 0, 1, 2  # tables, as in masked_rows.cuh
BINS = (0, 2, 8, 14)  # the first of each table, and the end
MOST_PARTS = 64  # blocks of a row
WAVES = 4  # of blocks, where rows are few: the longest row is then shared by several


def masked_dots(
    device: Device, A: Compressed, BT: Compressed, s: Lowered, pattern: Compressed, plan: Any = None
) -> Compressed:
    """C<pattern> = A (+.x) BT'."""
    count = pattern.indices.shape[0]
    out = None if s.structure_only else device.empty(count, s.dtype.np_type)
    hit = device.zeros(count, np.bool_)
    rows = _Rows(device, A, BT, s, pattern)
    if rows.lookups < tuning.GPU_TABLE_LOOKUPS * rows.stored:
        _by_positions(device, A, BT, s, pattern, rows.lanes, out, hit)
    else:
        rows.run(out, hit)
    if plan is not None and type(plan) is not str:
        plan.note = rows.note()
    return of_hits(device, s, A, BT, pattern, out, hit)


def of_hits(
    device: Device, s: Lowered, A: Compressed, B: Compressed, pattern: Compressed, out: Any, hit: Any
) -> Compressed:
    """The matrix of those entries of the mask that were hit."""
    values = s.value(device, A, B) if s.structure_only else out
    whole = Compressed(
        pattern.nrows, pattern.ncols, s.dtype, pattern.indptr, pattern.indices, values, s.structure_only, pattern.rows
    )
    result = keep_matrix_entries(device, whole, listed(device, hit))
    if result is whole:
        share(pattern, result)
    result.shared = result.shared or result.iso
    return result


def _by_positions(device, A, BT, s, pattern, lanes, out, hit):
    count = pattern.indices.shape[0]
    kernel = device.launcher.kernel(
        "products/matmul_dot.cuh",
        "dot_places",
        s.text,
        (index_type(A.indices), index_type(BT.indices), index_type(pattern.indices), "S"),
    )
    kernel.over(-(-count * lanes // 32) * 32, (
        row_ids(device, pattern), pattern.indices, count, lanes, *_operands(A, s.reads_a), *_operands(BT, s.reads_x),
        out, hit,
    ))  # fmt: skip


def _operands(A, reads):
    return A.indptr, A.rows, A.indptr.shape[0] - 1, A.indices, A.values if reads else None


class _Rows:
    """The stored rows of a mask, binned by lookups and by the table of A's row."""

    def __init__(self, device, A, BT, s, pattern):
        self.device, self.A, self.BT, self.s, self.pattern = device, A, BT, s, pattern
        launcher = device.launcher
        shared = launcher.size(launcher.limits.dynamic_shared, 1024)  # bytes that a block may have
        self.least = launcher.size(shared // 32 // 128 * 128, 128)  # of a warp: so that 32 are resident
        self.shared = min(shared, self.least << 5)  # of the last bin, which the longest table fits
        self.stored = stored = pattern.indptr.shape[0] - 1
        count = pattern.indices.shape[0]
        bins, self.list = device.empty(stored, np.uint8), device.empty(stored, np.int64)
        totals = device.zeros(2 * TOTALS, np.uint64)
        lanes = power_between(count / stored, 1, 32)
        kernel = launcher.kernel(
            "products/masked_rows.cuh", "masked_analyse", "", (index_type(A.indices), index_type(pattern.indices))
        )
        kernel.over(-(-stored * lanes // 32) * 32, (
            pattern.indptr, pattern.rows, pattern.indices, stored, A.indptr, A.rows, A.indptr.shape[0] - 1, A.indices,
            BT.indptr, BT.rows, BT.indptr.shape[0] - 1, lanes, s.reads_a and not s.a_iso, self.least, self.shared,
            bins, totals,
        ))  # fmt: skip
        threads = launcher.threads(256)
        kernel = launcher.kernel("products/spgemm.cuh", "spgemm_list", "", ())
        blocks = launcher.blocks(8 * launcher.processors, stored, threads)
        kernel(blocks, threads, (bins, stored, totals, totals[TOTALS:], self.list, None, None))
        found = device.read(totals[:TOTALS])
        self.bins, self.lookups = Bins(found), found[PRODUCTS]
        self.lanes = power_between(self.lookups / count / 16, 1, 32)  # a lane reads four entries ahead, four times

    def note(self):
        searched, hashed, bitmaps = (sum(self.bins.counts[BINS[k] : BINS[k + 1]]) for k in range(3))
        return f"{self.lookups} lookups; rows: {searched} by bisection, {hashed} hashed, {bitmaps} as bitmaps"

    def run(self, out, hit):
        """Launch the kernel of each bin."""
        launcher, shared = self.device.launcher, self.shared
        processors, most = launcher.processors, launcher.limits.threads_per_processor
        for table in (SEARCHED, HASH, BITMAP):
            levels = range(BINS[table + 1] - BINS[table])
            capacities = [min(self.least << level, shared) if table else 0 for level in levels]
            threads = [32, *THREADS[1:]] if table else [32, THREADS[2]]
            resident = [
                processors * min(most // threads[level], shared // max(capacities[level], 1)) for level in levels
            ]
            for level, first, count in self.bins.launches(BINS[table], BINS[table + 1], resident):
                self._launch(
                    out, hit, first, count, table, level > 0, threads[level] if level else THREADS[0],
                    capacities[level], resident[level],
                )  # fmt: skip

    def _launch(self, out, hit, first, count, table, by_blocks, threads, capacity, resident):
        A, BT, s, pattern, launcher = self.A, self.BT, self.s, self.pattern, self.device.launcher
        parts = min(max(WAVES * resident // count, 1), MOST_PARTS) if by_blocks else 1
        form = "BY_ATOMICS" if by_blocks else "BY_WARP"
        template = (
            index_type(A.indices),
            index_type(BT.indices),
            index_type(pattern.indices),
            "S",
            form,
            str(max(self.lanes, 4)),
        )
        kernel = s.kernel(launcher, "products/masked_rows.cuh", "masked_rows", template)
        threads = launcher.threads(threads)
        rows = 1 if by_blocks else threads // 32
        arguments = (
            pattern.indptr, pattern.rows, pattern.indices, *_operands(A, s.reads_a), *_operands(BT, s.reads_x), out,
            hit, self.list[first : first + count], count, table, capacity, parts,
        )  # fmt: skip
        blocks = launcher.blocks(min(-(-count * parts // rows), MOST_BLOCKS))
        kernel(blocks, threads, arguments, shared=rows * capacity)
