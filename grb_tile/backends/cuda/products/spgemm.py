"""C<M> = A (+.x) B in two phases (kernels/products/spgemm.cuh): any semiring and type, any mask.

    analysis         products and span of columns of each row of C, rows in bins
    symbolic phase   entries of each row of C; then one read-back, and C is allocated exactly
    numeric phase    columns, ascending in each row, and values

The bins of a phase run concurrently: the end of a bin, where few of its rows are left, overlaps with the next one.
Workspace: 29 bytes for each stored row of A, and bitmaps of rows with millions of products (spgemm_split.py).  Values
of a monoid with an atomic are merged by several warps, those of other monoids by one row of B after the other.  For a
product without values (any_pair), the symbolic phase keeps each row's bitmap or list of columns if they fit into a
share of the free memory, and the numeric phase copies them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....planner import tuning
from ....planner.record import UNRECORDED
from ....storage import convert as conversions
from ....storage.store import Compressed, index_dtype
from ..structure.arrays import index_type, stored_rows
from ..structure.formats import choose_format
from .spgemm_split import SplitRows

if TYPE_CHECKING:
    from ....planner import Plan
    from ....storage.store import StoredMask
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

COPIED, HASHED, WINDOWED, BINS, SPLIT = 0, 1, 6, 12, 12  # as in spgemm.cuh; BINS: the end of those of one block
PRODUCTS, KEPT_WORDS, SURE_PRODUCTS, SURE_ENTRIES, TOTALS = 20, 21, 22, 23, 32
KEPT_SHARE = 8  # of the free memory may be what the symbolic phase keeps of a product without values
KEPT_UNASKED = 1 << 26  # bytes of it that are allocated, or not, without asking: that takes 10 to 25 us
SAMPLED = 4096  # entries of a row of A from which its work is estimated
SLOTS = (32, 64, 128, 256, 512)  # of the hash table in each hashed bin
LEAST_LANES = (4, 4, 8, 16, 32)  # of a group in each hashed bin
THREADS = (128, 128, 256, 512, 1024, 1024)  # of a block in each windowed bin; a warp for each row in the first
MOST_COLUMNS = 1 << 31  # the kernels' columns of B are 32-bit
MOST_BLOCKS = 1 << 30  # of a grid, which may have 2^31 - 1; blocks of more rows take several
FORMS = ("BY_WARP", "BY_ATOMICS", "IN_ORDER")


class Bins:
    """Rows of each bin."""

    def __init__(self, totals):
        self.counts = totals[:PRODUCTS]

    def launches(self, low, high, resident):
        """(level, first position in the list, rows) of each launch for the bins low .. high-1.

        A bin's rows join those of the next bin, whose kernel serves both, where `resident` rows of that bin are
        processed at once, because two launches in turn take longer.
        """
        first, count = sum(self.counts[:low]), 0
        for level, here in enumerate(self.counts[low:high]):
            count += here
            following = resident[level + 1] if low + level + 1 < high else 0
            if count and (2 * count > following or not any(self.counts[low + level + 1 : high])):
                yield level, first, count
                first, count = first + count, 0

    def __str__(self):
        counts = self.counts
        windowed, split = sum(counts[WINDOWED:BINS]), counts[SPLIT]
        of_blocks = f", {split} split among blocks" if split else ""
        return f"{counts[0]} copied, {sum(counts[HASHED:WINDOWED])} hashed, {windowed} in windows{of_blocks}"


def matmul_two_phases(
    device: Device, A: Compressed, B: Compressed, s: Lowered, mask: StoredMask | None = None, plan: Plan = UNRECORDED
) -> Compressed:
    """C<mask> = A (+.x) B.

    Raises: OutOfMemory, which says what C needs, before anything else is allocated.
    """
    product = Product(device, A, B, s, mask)
    bins, total, products = product.symbolic()
    plan.note = f"{products} products, {total} entries; rows: {bins}"
    return product.numeric(total)


class Product:
    """One product: its operands as the kernels take them, and its rows."""

    def __init__(self, device, A, B, s, mask):
        self.device, self.A, self.B, self.s = device, A, B, s
        self.out = index_dtype(B.ncols)
        self.names, self.columns = None, B.indices
        if (
            B.ncols >= MOST_COLUMNS
            or B.ncols > tuning.ALLOCATED_PER_ENTRY * B.indices.shape[0] + conversions.SMALL_ROWS
        ):
            names = device.xp.unique(B.indices)
            self.columns = device.xp.searchsorted(names, B.indices)
            self.names = names.astype(self.out, copy=False)
        self.span = B.ncols if self.names is None else self.names.shape[0]  # columns that C may have entries in
        if self.columns.dtype != np.int32:
            self.columns = self.columns.astype(np.int32)
        self.mask = (None, None, 0, None, 0)
        if mask is not None:
            M = mask.pattern
            cols = M.indices if M.indices.dtype == self.out else M.indices.astype(self.out)
            self.mask = (M.indptr, M.rows, M.indptr.shape[0] - 1, cols, int(mask.complement))
        self.masked = mask is not None
        self.stored = A.indptr.shape[0] - 1
        self.names_of_types = index_type(A.indices), "int32_t" if self.out.itemsize == 4 else "int64_t"
        launcher = device.launcher
        self.shared = launcher.size(launcher.limits.dynamic_shared, 1024)  # bytes that a block may have
        self.kept = self.kept_at = self.split = None
        self.threads = launcher.threads(256)
        self.blocks = launcher.blocks(8 * launcher.processors, self.stored, self.threads)
        self.least = launcher.size(self.shared // 32 // 128 * 128, 128)  # of a warp: so that 32 are resident

    def symbolic(self):
        """(the bins, the entries of C, products): counts the entries of each row."""
        device, A, B = self.device, self.A, self.B
        stored = self.stored
        self.spans, self.work = device.empty(stored, np.uint64), device.empty(stored, np.uint32)
        self.bins, self.list = device.empty(stored, np.uint8), device.empty(stored, np.int64)
        self.c_ptr = device.empty(stored + 1, np.int64)
        totals = self.totals = device.zeros(4 * TOTALS, np.uint64)
        if self.s.structure_only:
            self.kept_at = device.empty(stored, np.int64)
        lanes = power_between(A.indices.shape[0] / stored, 1, 32)
        split_work = device.launcher.size(tuning.GPU_SPLIT_PRODUCTS, 1200) if self.s.merges_by_atomics else 1 << 62
        kernel = self._kernel("spgemm_analyse", (index_type(A.indices),))
        kernel.over(-(-stored * lanes // 32) * 32, (
            A.indptr, A.indices, stored, B.indptr, B.rows, B.indptr.shape[0] - 1, self.columns, lanes, self.masked,
            self.least, split_work, device.launcher.size(SAMPLED, 64), self.span, self.spans, self.work, self.bins,
            self.c_ptr, self.kept_at, totals))  # fmt: skip
        self._make_list(totals, totals[TOTALS:], None)
        first = device.read(totals[:TOTALS])
        # entries of a row of B, weighted by products; a long row of A that names one of B's is not extrapolated
        sure = first[SURE_ENTRIES]
        self.mean = first[SURE_PRODUCTS] / sure if sure else first[PRODUCTS] / A.indices.shape[0]
        if first[SPLIT]:
            self.split = SplitRows.where_they_fit(self, sum(first[:SPLIT]), first[SPLIT])
        if self.s.structure_only and (self.split or not first[SPLIT]):
            kept = first[KEPT_WORDS] * 8
            if kept <= KEPT_UNASKED or kept * KEPT_SHARE <= device.memory()[0]:
                try:
                    self.kept = device.empty(first[KEPT_WORDS], np.uint64)
                except MemoryError:  # the structure is computed again
                    self.kept = None
        self._run(Bins(first), None, self.c_ptr)
        return self._count(first[PRODUCTS])

    def _count(self, products):
        """Row pointers, and the bins of the numeric phase."""
        device, s, totals = self.device, self.s, self.totals[2 * TOTALS :]
        sums = device.empty(self.blocks, np.int64)
        value = 0 if s.structure_only else s.dtype.np_type.itemsize
        kernel = self._kernel("spgemm_rebin")
        kernel(self.blocks, self.threads, (
            self.c_ptr, self.stored, self.spans, self.work, self.masked, self.kept is not None, self.least,
            _word_bytes(s), value, self.bins, totals, sums,
        ))  # fmt: skip
        self._make_list(totals, totals[TOTALS:], sums)
        *found, total = device.read(totals[:TOTALS], self.c_ptr[-1:])
        self.rows_of_bins = Bins(found)
        return self.rows_of_bins, total, products

    def numeric(self, total):
        """C, whose entries the symbolic phase has counted."""
        device, A, B, s = self.device, self.A, self.B, self.s
        dtype = s.dtype.np_type
        width = self.out.itemsize + (0 if s.structure_only else dtype.itemsize)
        device.check_room(total * width, f"the {total} entries of C = A B")
        cols = device.empty(total, self.out)
        if s.structure_only:
            values, iso = s.value(device, A, B), total > 0
            values = values if iso else device.empty(0, dtype)
        else:
            values, iso = device.accumulators(total, dtype), False
        self._run(self.rows_of_bins, s, self.c_ptr, cols, None if s.structure_only else values)
        rows, indptr = stored_rows(device, A.rows, self.c_ptr, total)
        result = choose_format(device, Compressed(A.nrows, B.ncols, s.dtype, indptr, cols, values, iso, rows))
        result.shared = iso
        return result

    def _make_list(self, totals, cursors, sums):
        kernel, stored = self._kernel("spgemm_list"), self.stored
        kernel(self.blocks, self.threads, (self.bins, stored, totals, cursors, self.list, sums, self.c_ptr))

    def _kernel(self, name, template=(), functors="", header="products/spgemm.cuh"):
        return self.device.launcher.kernel(header, name, functors, template)

    def _run(self, bins, s, c_ptr, cols=None, values=None):
        """Launch the kernel of each bin: of the symbolic phase where s is None."""
        A, B = self.A, self.B
        text, struct = ("", "Structure") if s is None else (s.text, "S")
        numeric = "false" if s is None else "true"
        value = 0 if s is None or s.structure_only else s.dtype.np_type.itemsize
        template = (*self.names_of_types, struct)
        operands = (
            A.indptr, A.rows, A.indices, A.values if s is not None and s.reads_a else None,
            B.indptr, B.rows, B.indptr.shape[0] - 1, self.columns, B.values if s is not None and s.reads_x else None,
            self.names, *self.mask, self.spans, c_ptr, cols, values,
        )  # fmt: skip
        lanes = power_between(self.mean, 4, 32)
        if self.split is not None:
            self._split(operands, template, text, s)
        if bins.counts[COPIED] and s is not None:
            count = bins.counts[COPIED]
            kernel = self._kernel("spgemm_copy", template, text)
            kernel.over(count * lanes, (*operands, self.list[:count], count, lanes, 0, None, None))
        if self.kept is not None and s is not None:
            self._expand(bins, operands, template, text)
            return
        lists = s is not None or self.kept is not None
        tables, windows = [], []
        if any(bins.counts[HASHED:WINDOWED]):
            hashed = [self._table(level, value, lists) for level in range(WINDOWED - HASHED)]
            tables += bins.launches(HASHED, WINDOWED, [groups for *_, groups in hashed])
        if any(bins.counts[WINDOWED:BINS]):
            windows += bins.launches(WINDOWED, BINS, self._resident_rows())
        with self.device.launcher.beside(len(tables) + len(windows)) as aside:
            for level, first, count in tables:
                arguments = (*operands, self.list[first : first + count], count)
                with aside():
                    self._hash(*hashed[level][:3], count, arguments, template, text, "true" if lists else "false")
            for level, first, count in windows:
                arguments = (*operands, self.list[first : first + count], count)
                with aside():
                    self._windows(level, count, arguments, template, text, numeric, s)
        if bins.counts[SPLIT] and self.split is None:
            first, count = sum(bins.counts[:SPLIT]), bins.counts[SPLIT]
            arguments = (*operands, self.list[first : first + count], count)
            self._windows(5, count, arguments, template, text, numeric, s)

    def _split(self, operands, template, text, s):
        """The rows that several blocks compute each."""
        lanes = power_between(self.mean / 1.25, 4, 32)  # a few longer rows of B take a second step
        if s is None:
            self.split.symbolic(operands, template, lanes)
            return
        kernel, rest = self._kernel("spgemm_expand", (*template, FORMS[1]), text), self.split.columns()
        launcher = self.device.launcher
        kernel(launcher.blocks(rest[1]), launcher.threads(256), (*operands, *rest))
        if not s.structure_only:
            self.split.numeric(operands, template, text, lanes, s.has_start)

    def _expand(self, bins, operands, template, text):
        """Columns of C from what the symbolic phase kept."""
        launcher, counts = self.device.launcher, bins.counts
        for low, high, form in ((HASHED, WINDOWED, 0), (WINDOWED, WINDOWED + 2, 0), (WINDOWED + 2, BINS, 1)):
            first, count = sum(counts[:low]), sum(counts[low:high])
            if count:
                kernel = self._kernel("spgemm_expand", (*template, FORMS[form]), text)
                threads = launcher.threads(256)
                rows = threads // 32 if form == 0 else 1
                rest = self.list[first : first + count], count, int(low == WINDOWED or form), 0, self.kept, self.kept_at
                kernel(launcher.blocks(min(-(-count // rows), MOST_BLOCKS)), threads, (*operands, *rest))

    def _table(self, level, value, numeric):
        """(slots, bytes, lanes, groups resident on the device at once) of a hashed bin."""
        slots, launcher = SLOTS[level], self.device.launcher
        size = slots * 4 + numeric * slots * 2 + (slots * (value + 1) if value else 0)
        size = (size + 15) // 16 * 16
        lanes = power_between(self.mean, LEAST_LANES[level], 32)
        return (
            slots,
            size,
            lanes,
            launcher.processors * min(launcher.limits.threads_per_processor // lanes, self.shared // size),
        )

    def _resident_rows(self):
        """Rows of each windowed bin that are resident on the device at once."""
        processors, resident = self.device.launcher.processors, self.device.launcher.limits.threads_per_processor
        threads = (32, *THREADS[1:])
        return [
            processors * min(resident // threads[level], self.shared // min(self.least << level, self.shared))
            for level in range(5)
        ] + [0]  # rows of the last bin alone are processed by windows

    def _hash(self, slots, table, lanes, count, arguments, template, text, numeric):
        launcher = self.device.launcher
        threads = launcher.threads(256)
        while threads > 32 and threads // lanes * table > self.shared // 8:  # eight blocks are resident
            threads //= 2
        groups = threads // lanes
        kernel = self._kernel("spgemm_hash", (*template, str(lanes), numeric), text, "products/spgemm_hash.cuh")
        kernel(
            launcher.blocks(min(-(-count // groups), MOST_BLOCKS)),
            threads,
            (*arguments, slots, 0, self.kept, self.kept_at),
            shared=groups * table,
        )

    def _windows(self, level, count, arguments, template, text, numeric, s):
        launcher = self.device.launcher
        form = 0 if level == 0 else 1 if s is None or self.s.merges_by_atomics else 2
        threads = launcher.threads(THREADS[level])
        capacity = min(self.least << level, self.shared) if level < 5 else self.shared
        word = 8 if s is None else _word_bytes(s)
        window = capacity // word // 4 * 256
        if level == 5:  # a quarter of the memory is left for values
            window = launcher.size(window * 3 // 4 // 256 * 256, 64)
        kernel = self._kernel("spgemm_windows", (*template, FORMS[form], numeric), text, "products/spgemm_windows.cuh")
        rows = threads // 32 if form == 0 else 1
        kernel(
            launcher.blocks(min(-(-count // rows), MOST_BLOCKS)),
            threads,
            (*arguments, capacity, window, self.kept, self.kept_at),
            shared=rows * capacity,
        )


def _word_bytes(s):
    """Shared memory for each 64 columns of a bitmap in the numeric phase."""
    return 8 if s.structure_only else 12 if s.has_start or s.any else 20


def power_between(number, least, most):
    """The least power of two that is not below `number`, within bounds that are powers of two."""
    found = least
    while found < number and found < most:
        found *= 2
    return found
