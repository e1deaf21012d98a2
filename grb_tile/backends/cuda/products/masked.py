"""C<M> = A (+.x) B for a mask that is no complement, row by row of the mask, each by the method of least cost.

    pull            dot products of A's row, in a table in shared memory, with the rows of B' at the mask's columns
                    (kernels/products/masked_rows.cuh); needs B'
    push            the rows of B at the columns of A's row, merged into a table of the mask's row
                    (kernels/products/masked_push.cuh); needs B by rows
    positions       bisection of the shorter row in the longer one (kernels/products/matmul_dot.cuh), where rows have
                    so few lookups that a table costs more; needs B'

Only methods whose form of B is stored are considered: nothing is transposed.  Workspace: 9 bytes for each stored row of
the mask, C at all positions of the mask before those without a product are dropped, and 12 bytes for each word, which
are kept with a matrix from its second product on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import tuning
from ....planner.record import UNRECORDED
from ....storage.convert import share
from ....storage.store import Compressed
from ..structure.arrays import compressed, gather, index_type, row_ids
from ..structure.positions import empty_like, keep_flagged
from ..structure.prefix_sums import stored_lines
from ..structure.rows import entries_of_rows
from .epilogue import AT_MASK, Epilogue, corners
from .rows_as_words import HEADER, counts_matches, kept_as_words, rows_as_words
from .spgemm import FORMS, MOST_BLOCKS, PRODUCTS, THREADS, TOTALS, Bins, power_between

if TYPE_CHECKING:
    from ....planner import Plan
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

SEARCHED, HASH, BITMAP, PUSH = 0, 1, 2, 3  # tables, as in masked_rows.cuh
BINS = (0, 2, 8, 14, 20)  # the first of each table and of the pushed rows, and the end
PUSHED = PRODUCTS + 1
NOTHING, POSITIONS, WORDS = 0, 1, 2  # what a lookup in a table gives, as in masked_table.cuh
STEPS = 16  # lookups of a lane at a position: it reads four entries ahead, four times
MOST_PARTS = 64  # blocks of a row
WAVES = 4  # of blocks, where rows are few: the longest row is then shared by several


def masked_product(
    device: Device,
    A: Compressed,
    B: Compressed | None,
    BT: Compressed | None,
    s: Lowered,
    pattern: Compressed,
    plan: Plan = UNRECORDED,
    epilogue: Epilogue | None = None,
) -> Any:
    """C<pattern> = A (+.x) B; B, its transpose or both are given; B alone needs columns below 2^31.

    epilogue: applied to the entries of C; the result is C, a selection from it, or a vector or scalar of its sums.
    """
    pattern, epilogue = _of_rows(device, pattern, A), epilogue or Epilogue(s)
    stored = epilogue.into == AT_MASK
    if pattern.indices.shape[0] == 0:
        return (
            empty_like(device, pattern, s.dtype) if stored else epilogue.nothing(device, pattern.nrows, pattern.ncols)
        )
    if B is not None and B.indices.dtype != np.int32 and BT is not None:
        B = None
    out, hit = epilogue.target(device, pattern)
    rows = _Rows(device, A, B, BT, epilogue, pattern)
    plain = BT is not None and rows.lookups + rows.pushed < tuning.GPU_TABLE_LOOKUPS * rows.stored
    if plain and epilogue.name != "E":
        _by_positions(device, A, BT, s, pattern, rows.lanes, out, hit)
    else:
        rows = rows.of_words() or rows
        rows.run(out, hit)
    plan.note = rows.note()
    if not stored:
        return epilogue.reduced(device, pattern, out, hit)
    return _of_hits(device, s, A, B or BT, pattern, out, hit)


def corner_counts(device: Device, L: Compressed, s: Lowered) -> Any:
    """t[v] = [+_j C(v,j)] + [+_i C(i,v)] + [+_ij L(i,v) x L(j,v)] over L(i,j), C<L> = L (+.x) L' that counts matches.

    An array of int64.  A match of rows i and j is counted at the entry of row j, because one at its column would have
    the columns of most matches wait for each other; these counts are added once.  Columns of L are 32-bit.
    """
    count = L.indices.shape[0]
    out, matches, first = device.zeros(L.nrows, np.int64), device.zeros(count, np.uint32), device.empty(count, np.int64)
    words = rows_as_words(device, L, first)
    rows = _Rows(device, words, None, words, corners(device, s), L, WORDS)
    rows.counted = first, matches
    rows.run(out, None)
    kernel = device.launcher.kernel(HEADER, "add_matches", "", (index_type(L.indices),))
    kernel.over(count, (L.indices, count, matches, out))
    return out


def _of_rows(device: Device, pattern: Compressed, A: Compressed) -> Compressed:
    """The entries of the pattern in the rows that A stores, where these are few: all others have no product."""
    if tuning.GPU_MASK_ROWS * min(A.indices.shape[0], A.indptr.shape[0]) > pattern.indptr.shape[0]:
        return pattern
    stored = stored_lines(device, A.indptr) if A.rows is None else A.rows
    line, at = entries_of_rows(device, pattern, stored)
    rows, cols = gather(device, stored, line), gather(device, pattern.indices, at)
    one = device.constant(pattern.dtype.np_type.type(0))
    return compressed(device, pattern.nrows, pattern.ncols, pattern.dtype, rows, cols, one, True)


def _of_hits(
    device: Device, s: Lowered, A: Compressed, B: Compressed, pattern: Compressed, out: Any, hit: Any
) -> Compressed:
    """The matrix of those entries of the mask that were hit."""
    values = s.value(device, A, B) if s.structure_only else out
    whole = Compressed(
        pattern.nrows, pattern.ncols, s.dtype, pattern.indptr, pattern.indices, values, s.structure_only, pattern.rows
    )
    result = keep_flagged(device, whole, hit)
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
    return *_lines(A), A.indices, A.values if reads else None


def _lines(A):
    """Row pointers of A, names of its rows, number of stored rows; of no matrix: none."""
    return (None, None, 0) if A is None else (A.indptr, A.rows, A.indptr.shape[0] - 1)


class _Rows:
    """The stored rows of a mask, binned by method, by work and by the table.

    gives: WORDS where A and BT are rows of words, else what the semiring needs.
    """

    counted = None, None  # of corners: the first entry of each word, the matches of each entry

    def __init__(self, device, A, B, BT, epilogue, pattern, gives=None):
        self.device, self.A, self.B, self.BT, self.epilogue, self.pattern = device, A, B, BT, epilogue, pattern
        self.s = s = epilogue.s
        self.gives = gives or (POSITIONS if s.reads_a and not s.a_iso else NOTHING)
        self.one = s.value(device, A, B or BT) if s.structure_only and not gives else None
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
            pattern.indptr, pattern.rows, pattern.indices, stored, *_lines(A), A.indices, *_lines(BT), *_lines(B),
            lanes, self.gives, 0 if s.structure_only else s.dtype.np_type.itemsize,
            round(256 * tuning.GPU_MASKED_PUSH_NS / tuning.GPU_DOT_NS), self.least, self.shared, bins, totals,
        ))  # fmt: skip
        threads = launcher.threads(256)
        kernel = launcher.kernel("products/spgemm.cuh", "spgemm_list", "", ())
        blocks = launcher.blocks(8 * launcher.processors, stored, threads)
        kernel(blocks, threads, (bins, stored, totals, totals[TOTALS:], self.list, None, None))
        found = device.read(totals[:TOTALS])
        self.bins, self.lookups, self.pushed = Bins(found), found[PRODUCTS], found[PUSHED]
        self.lanes = power_between(self.lookups / count / STEPS, 1, 32)

    def of_words(self):
        """The same with rows of words, where making and reading them takes less time; else None."""
        A, BT, device = self.A, self.BT, self.device
        if self.gives != NOTHING or BT is None or not counts_matches(self.s):
            return None
        if A.indices.dtype != np.int32 or BT.indices.dtype != np.int32:
            return None
        cost = self.lookups * tuning.GPU_DOT_NS + self.pushed * tuning.GPU_MASKED_PUSH_NS
        entries = A.indices.shape[0] + (0 if BT is A else BT.indices.shape[0])
        if cost < tuning.GPU_WORD_CALL_NS + entries * tuning.GPU_WORD_FORM_NS:
            return None
        words = kept_as_words(device, A)
        other = words if BT is A else kept_as_words(device, BT)
        found = _Rows(device, words, None, other, self.epilogue, self.pattern, WORDS)
        found.one = self.one
        return found if found.lookups * tuning.GPU_WORD_NS < cost else None

    def note(self):
        searched, hashed, bitmaps, pushed = (sum(self.bins.counts[BINS[k] : BINS[k + 1]]) for k in range(4))
        what = "lookups of words" if self.gives == WORDS else "lookups"
        text = f"{self.lookups} {what}; rows: {searched} by bisection, {hashed} hashed, {bitmaps} as bitmaps"
        if self.gives == WORDS:
            return text
        if self.BT is None:
            text = f"{self.pushed} products; rows: {pushed} pushed (none pulled: B' is not there)"
        elif self.B is None:
            text += " (none pushed: B is not there by rows)"
        elif pushed:
            text += f", {pushed} pushed ({self.pushed} products)"
        return text

    def run(self, out, hit):
        """Launch the kernel of each bin."""
        launcher, shared = self.device.launcher, self.shared
        sums, met = out, hit
        if self.epilogue.into != AT_MASK:  # rows of the last bin may have no table
            sums = met = None
            if self.bins.counts[BINS[PUSH + 1] - 1]:
                count = self.pattern.indices.shape[0]
                met = self.device.zeros(count, np.bool_)
                sums = None if self.s.structure_only else self.device.accumulators(count, self.s.dtype.np_type)
        targets = out, hit, sums, met, self.one, self.epilogue.thunk(self.device)
        processors, most = launcher.processors, launcher.limits.threads_per_processor
        launches = []
        for table in (SEARCHED, HASH, BITMAP, PUSH):
            levels = range(BINS[table + 1] - BINS[table])
            capacities = [min(self.least << level, shared) if table else 0 for level in levels]
            threads = [32, *THREADS[1:]] if table else [32, THREADS[2]]
            resident = [
                processors * min(most // threads[level], shared // max(capacities[level], 1)) for level in levels
            ]
            for level, first, count in self.bins.launches(BINS[table], BINS[table + 1], resident):
                arguments = self.list[first : first + count], count, table, capacities[level]
                block = threads[level] if level else THREADS[0]
                launches.append((level, (targets, arguments, table, level > 0, block, resident[level])))
        launches.sort(key=lambda one: -one[0])  # those with the longest rows first
        with launcher.beside(len(launches)) as aside:
            for _, arguments in launches:
                with aside():
                    self._launch(*arguments)

    def _launch(self, targets, arguments, table, by_blocks, threads, resident):
        A, s, pattern, launcher = self.A, self.s, self.pattern, self.device.launcher
        words, text, name = self.gives == WORDS, self.epilogue.text, self.epilogue.name
        _, count, _, capacity = arguments
        parts = min(max(WAVES * resident // count, 1), MOST_PARTS) if by_blocks and table != PUSH else 1
        B = self.B if table == PUSH else self.BT
        types = index_type(A.indices), index_type(pattern.indices)
        if table == PUSH:
            form = FORMS[0 if not by_blocks else 1 if s.merges_by_atomics else 2]
            kernel = launcher.kernel("products/masked_push.cuh", "masked_push", text, (*types, "S", form, name))
        else:
            form = FORMS[1 if by_blocks else 0]
            semiring = f"Words<{'true' if s.structure_only else 'false'}>" if words else "S"
            template = types[0], index_type(B.indices), types[1], semiring, form, str(max(self.lanes, 4)), name
            kernel = launcher.kernel("products/masked_rows.cuh", "masked_rows", text, template)
        threads = launcher.threads(threads)
        rows = 1 if by_blocks else threads // 32
        arguments = (
            pattern.indptr, pattern.rows, pattern.indices, *_operands(A, words or s.reads_a),
            *_operands(B, words or s.reads_x), *targets, *arguments, parts, *self.counted,
        )  # fmt: skip
        blocks = launcher.blocks(min(-(-count * parts // rows), MOST_BLOCKS))
        kernel(blocks, threads, arguments, shared=rows * capacity)
