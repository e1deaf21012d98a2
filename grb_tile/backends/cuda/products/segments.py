"""SpMV over equal shares of the entries: the form of a matrix, kept in A.forms["segments"], and its product.

Schema of RowSegments (R rows with entries; N slices of SLICE entries; kernels/products/segments.cuh reads it)

    begins     uint8 [32 N + 4]        bit k: a row begins with entry k; one bit more after the last entry
    before     int32 or int64 [N + 1]  rows begun before each slice
    names      the same type [R]       the rows with entries; None: all
    columns    Columns                 plain at first, after tuning.BUILD_AFTER products the planner's choice
    arrived    uint32 [1]              zero, before and after every launch

Schema of Columns: the encoding of the column indices, which locates x

    kind       PLAIN: A.indices
               DELTA: 16-bit delta-encoded column indices, offsets uint16 [256 N] from bases int32 [N] (-1: this slice
               by A.indices); where most slices span less than 2^16 columns: 2 bytes to read for an entry, not 4
               RELABELLED: codes int32 [entries], the columns' ranks by falling number of entries, and order int32
               [columns], the column of each rank; where few columns hold many of the entries: their x is in shared
               memory
               BINNED: 16-bit places in bins, which x fills before each product (binned_columns.py); where x does not
               fit a cache and nothing else helps

An x with gaps is copied with the value ABSENT in them (kernels/products/segment_gaps.cuh), or, where its values are not
gathered, read as presence bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....planner import tuning
from ....planner.choose_kernel import bins_cost, bins_pay, column_indices, forced_kernel
from ....planner.choose_precision import exact
from ....planner.record import UNRECORDED
from ....storage.store import forms_of
from ..structure.arrays import gather, index_type, moved_type
from ..structure.prefix_sums import stored_lines
from . import binned_columns, bitblocks
from .row_schedule import pointers

if TYPE_CHECKING:
    from ....planner import Plan
    from ....storage.store import Compressed
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

LANE_ENTRIES = 8
SLICE = 32 * LANE_ENTRIES
CACHED_COLUMNS = 48 << 10  # columns whose x may be in shared memory, at most: what fits into 227 KiB at 4 bytes each
TABLE_THREADS = 512  # threads of a block that caches x
TABLE_SHARE = 27 / 32  # of a block's shared memory for buffers and x, because more leaves the L1 cache too little
HUBS = (1 << 12, 1 << 13, 1 << 14, 3 << 13)  # of columns in bins: numbers of hubs that are weighed against each other
FREE_FACTOR = 3  # times the form's size must be free
BINS_FREE_FACTOR = 1.5  # times that of bins and of the values in them: making them takes little more
BLOCKS = {  # by bytes of a value: threads of a block, blocks for a multiprocessor, as far as registers reach
    1: (1024, 1),
    2: (1024, 1),
    4: (1024, 1),
    8: (768, 1),
    16: (512, 1),
}
PLAIN, DELTA, RELABELLED, BINNED = range(4)
NAMES = ("PLAIN_COLUMNS", "DELTA_COLUMNS", "RELABELLED_COLUMNS", "BINNED_COLUMNS")
HEADER, BUILD = "products/segments.cuh", "products/segments_build.cuh"
MARKED, BY_BITS = "MARKED_GAPS", "GAPS_BY_BITS"
KERNELS = ("segments", "segments_delta16", "segments_relabelled", "segments_binned")  # as the planner names them


class RowSegments:
    """See the schema at the head of this file."""

    __slots__ = (
        "arrived", "before", "begins", "bins", "by_bins", "by_blocks", "choice", "columns", "entries",
        "forced", "frequent", "ranked", "launches", "names",
        "plain", "rows", "saved_ns", "slices", "uses",
    )  # fmt: skip


class Frequent(NamedTuple):
    """Shares of the entries that the most frequent columns have."""

    table: float  # those whose x fits in shared memory
    cached: dict[int, float]  # by bytes of a value: those whose x the L2 cache holds
    hubs: dict[int, float]  # as many as the key
    columns: int  # columns that have entries


class Columns:
    """See the schema at the head of this file."""

    __slots__ = ("bases", "bins", "codes", "kind", "offsets", "order")

    def __init__(
        self, kind: int, codes: Any, offsets: Any = None, bases: Any = None, order: Any = None, bins: Any = None
    ) -> None:
        self.kind, self.codes, self.offsets, self.bases, self.order = kind, codes, offsets, bases, order
        self.bins = bins


def segments_of(device: Device, A: Compressed) -> RowSegments:
    """The RowSegments of A, kept in A.forms."""
    forms = forms_of(A)
    found = forms.get("segments")
    if found is None:
        found = forms["segments"] = _make(device, A)
    return found


def _make(device, A):
    xp, result = device.xp, RowSegments()
    ptr = pointers(device, A)
    entries = result.entries = A.indices.shape[0]
    result.slices = slices = -(-entries // SLICE)
    starts = ptr[:-1]
    places, names = occupied(device, A)
    row_type = np.int32 if A.nrows < 2**31 else np.int64
    result.names = None if names is None else names.astype(row_type)
    if places is not None:
        starts = starts[places]
    result.rows = rows = starts.shape[0]
    begins = device.zeros(slices * (SLICE // 32) + 1, np.uint32)
    device.launcher.kernel(BUILD, "mark_begins", "", (index_type(starts),)).over(
        rows + 1, (starts, rows, entries, begins)
    )
    result.begins = begins.view(np.uint8)
    ends = device.arange(slices + 1) * SLICE
    result.before = xp.searchsorted(starts, ends.astype(starts.dtype), side="left").astype(row_type)
    result.arrived, result.launches, result.uses = device.zeros(1, np.uint32), {}, 0
    result.columns = result.plain = Columns(PLAIN, A.indices)
    result.choice, result.forced = None, {}
    result.by_blocks, result.saved_ns = {}, 0.0
    result.bins, result.by_bins, result.frequent, result.ranked = {}, {}, None, None
    return result


def occupied(device: Device, A: Compressed) -> tuple:
    """(positions among A's stored rows, row numbers) of the rows with entries, int64; None: all."""
    starts = pointers(device, A)
    places = stored_lines(device, starts)
    if places.shape[0] == starts.shape[0] - 1:
        return None, A.rows
    return places, places if A.rows is None else A.rows[places]


def reads_most(device: Device, A: Compressed) -> bool:
    """Does a product with early exit read half of the entries or more, because rows are short?  Kept in A.forms."""
    forms = forms_of(A)
    found = forms.get("reads_most")
    if found is None:
        ptr = pointers(device, A)
        read = device.xp.minimum(ptr[1:] - ptr[:-1], tuning.EARLY_STEP).sum()
        share = device.read(read.reshape(1))[0] / max(A.indices.shape[0], 1)
        found = forms["reads_most"] = share >= tuning.READS_MOST
    return found


def gathers(s: Lowered) -> bool:
    """Are values of x gathered at the entries' columns?"""
    return s.reads_x and not s.x_iso


def columns_of(
    device: Device, A: Compressed, form: RowSegments, s: Lowered, item: int, plan: Plan = UNRECORDED
) -> Columns:
    """The Columns of this product with an x of `item` bytes a value, recorded in `plan`.

    The plain ones where no value of x is gathered, and at first; then the planner's choice.
    """
    if not gathers(s):
        plan.use_kernel(KERNELS[PLAIN], "columns_unread")
        return form.plain
    wanted = forced_kernel("rows")
    if wanted in KERNELS:
        return _forced(device, A, form, wanted, s, item, plan)
    if form.uses <= tuning.BUILD_AFTER:
        form.uses += 1
        if form.uses == tuning.BUILD_AFTER + 1:
            form.columns, form.choice = _columns(device, A, form)
    if form.choice is not None:
        columns = _binned(device, A, form, s, item, plan)
        form.ranked = None
        if columns is not None:
            return columns
    plan.use_kernel(*(form.choice or ("segments", "columns_plain", (form.uses, tuning.BUILD_AFTER))))
    return form.columns


def takes_blocks(
    device: Device, A: Compressed, form: RowSegments, s: Lowered, plan: Plan = UNRECORDED, precision: str = "exact"
) -> bool:
    """Does this product use 8 x 8 bitmap blocks?  Yes once the time lost without them exceeds that of building them."""
    wanted = forced_kernel("rows")
    choice = "bit_blocks", "forced", ()
    if wanted == "bit_blocks":
        if not bitblocks.suits(A):
            choice = KERNELS[PLAIN], "kernel_unsuited", (wanted,)
    elif wanted is not None or form.choice is None:
        return False
    else:
        if "bitblock" in A.forms and not bitblocks.has_values_in(device, A, precision):
            precision = "exact"
        if (s, precision) not in form.by_blocks:
            column_bytes = 2 if form.columns.kind == DELTA else 4
            form.by_blocks[s, precision] = bitblocks.pays(device, A, s, column_bytes, precision)
        figures = form.by_blocks[s, precision]
        if figures is None:
            return False
        if "bitblock" not in A.forms:
            blocks_ns, segments_ns, build_ns, _ = figures
            form.saved_ns += segments_ns - blocks_ns
            if form.saved_ns < build_ns:
                return False
        choice = "bit_blocks", "blocks_full", figures
    plan.use_kernel(*choice)
    return choice[0] == "bit_blocks"


def _columns(device, A, form):
    """(Columns, (kernel, rule, figures)) by the planner's choice."""
    if A.indices.dtype != np.int32:
        return form.plain, ("segments", "columns_wide", ())
    relabelling, bases = [], device.empty(form.slices, np.int32)

    def near_share():
        near = device.counters()
        _encode(device, form, None, bases, near)
        return device.read(near[:1])[0] / max(form.slices, 1)

    def hub_share():
        relabelling.append(_by_frequency(device, A, form)[0])
        return form.frequent.table

    choice = column_indices(form.entries, near_share, hub_share, lambda count: _is_free(device, count), A.ncols)
    if choice[0] == "segments_delta16":
        return _delta16(device, form, bases), choice
    if choice[0] == "segments_relabelled":
        return _relabelled(device, A, relabelling[0]), choice
    return form.plain, choice


def _forced(device, A, form, wanted, s, item, plan):
    """The Columns of a forced kernel, kept with the form; the plain ones where the matrix does not mask the kernel."""
    choice, columns = (wanted, "forced", ()), form.plain
    if wanted != KERNELS[PLAIN]:
        if A.indices.dtype != np.int32:
            choice = KERNELS[PLAIN], "kernel_unsuited", (wanted,)
        elif wanted == KERNELS[BINNED]:
            columns = _bins(device, A, form, s, item)
            if columns is None:
                choice, columns = (KERNELS[PLAIN], "kernel_unsuited", (wanted,)), form.plain
        elif wanted in form.forced:
            columns = form.forced[wanted]
        elif wanted == KERNELS[DELTA]:
            columns = form.forced[wanted] = _delta16(device, form, device.empty(form.slices, np.int32))
        else:
            columns = form.forced[wanted] = _relabelled(device, A, _by_frequency(device, A, form)[0])
            form.ranked = None
    plan.use_kernel(*choice)
    return columns


def _binned(device, A, form, s, item, plan):
    """The BINNED Columns where they cost less than the others, else None."""
    if form.frequent is None or item > 8:
        return None
    key = s, item
    if key not in form.by_bins:
        bins_ns, values, _ = _bins_plan(device, A, form, s, item)
        relabelled = form.choice[2][0] if form.columns.kind == RELABELLED else 0.0
        form.by_bins[key] = bins_pay(
            form.entries, relabelled, form.frequent.cached[max(item, 4)], bins_ns, device.profile,
            _is_free(device, int(form.entries * (values * (2.5 + item) + 2)), BINS_FREE_FACTOR),
        )  # fmt: skip
    figures = form.by_bins[key]
    columns = None if figures is None else _bins(device, A, form, s, item)
    if columns is not None:
        if form.columns.kind == RELABELLED:
            form.columns, form.choice = form.plain, (KERNELS[PLAIN], "columns_made_way", ())
        plan.use_kernel(KERNELS[BINNED], "x_streams", figures)
    return columns


def _bins_launch(device, A, form, s, item):
    """(blocks, threads, bytes of shared memory for a bin) of a product over bins."""
    threads, each = _threads(device, A, s, item)
    launcher = device.launcher
    room = launcher.limits.dynamic_shared // each - threads * LANE_ENTRIES * s.dtype.np_type.itemsize
    return max(1, min(launcher.processors * each, threads, -(-form.slices * 32 // threads))), threads, room


def _bins(device, A, form, s, item):
    """The BINNED Columns for an x of `item` bytes a value, kept with the form; None where there are none."""
    blocks, threads, room = _bins_launch(device, A, form, s, item)
    if item > 8 or room < item * binned_columns.chunk_of(item):
        return None
    key = item, blocks, threads, room
    if key not in form.bins:
        if form.frequent is None:
            _by_frequency(device, A, form)
        order, of_hubs = None, 0
        _, _, hubs = _bins_plan(device, A, form, s, item)
        if hubs or form.frequent.columns < A.ncols:
            order, of_hubs = binned_columns.order_of(device, *_by_frequency(device, A, form), hubs)
        form.ranked = None
        made = binned_columns.make(device, A, form.slices, threads, blocks, item, room, SLICE, order, hubs, of_hubs)
        form.bins[key] = made and Columns(BINNED, form.plain.codes, made.places, made.bases, None, made)
    return form.bins[key]


def _bins_plan(device, A, form, s, item):
    """(ns of a product over bins, values in bins over entries, hubs) of the BINNED Columns, expected."""
    blocks, _, room = _bins_launch(device, A, form, s, item)
    found = []
    for hubs, share in form.frequent.hubs.items():
        places = binned_columns.places_of(room, item, hubs)
        if hubs == 0 or places > 0:
            entries, columns = int(form.entries * (1 - share)), form.frequent.columns - hubs
            each = binned_columns.expected(device, entries, columns, item, blocks, max(places, 1))
            values = (1 - share) * each.padding
            cost = bins_cost(form.entries, item, values, each.run, each.steps, hubs > 0, device.profile)
            found.append((cost, values, hubs))
    return min(found)


def _delta16(device, form, bases):
    offsets = device.empty(form.slices * SLICE, np.uint16)
    _encode(device, form, offsets, bases, None)
    return Columns(DELTA, form.plain.codes, offsets, bases)


def _by_frequency(device, A, form):
    """(columns by falling number of entries, int32; the number of entries of each column).  Makes form.frequent.

    Both are in form.ranked until the columns are chosen.
    """
    if form.ranked is not None:
        return form.ranked
    launcher = device.launcher
    counts = device.xp.bincount(A.indices, minlength=A.ncols)
    order = device.xp.argsort(-counts).astype(np.int32)
    if form.frequent is None:
        cache = int(launcher.limits.cache * tuning.GPU_CACHED_SHARE)
        table = min(CACHED_COLUMNS, int(launcher.shared * TABLE_SHARE) // 4)
        hubs = [launcher.size(each, each >> 8) for each in HUBS]
        upto = counts[order].cumsum()
        places = [max(1, min(k, A.ncols)) - 1 for k in (table, cache // 4, cache // 8, *hubs)]
        found = device.read(*(upto[k : k + 1] for k in places), (counts > 0).sum().reshape(1))
        shares = [each / max(form.entries, 1) for each in found[:-1]]
        of_hubs = {k: share for k, share in zip(hubs, shares[3:], strict=True) if k < found[-1]}
        form.frequent = Frequent(shares[0], {4: shares[1], 8: shares[2]}, {0: 0.0} | of_hubs, found[-1])
    form.ranked = order, counts
    return form.ranked


def _relabelled(device, A, order):
    ranks = device.empty(A.ncols, np.int32)
    ranks[order] = device.arange(A.ncols, np.int32)
    return Columns(RELABELLED, gather(device, ranks, A.indices), order=order)


def _encode(device, form, offsets, bases, count):
    cols = form.plain.codes
    device.launcher.kernel(BUILD, "encode_columns", "", (index_type(cols),)).over(
        form.slices * 32, (cols, form.entries, form.slices, offsets, bases, count)
    )


def _is_free(device, count, factor=FREE_FACTOR):
    return count < 1 << 26 or device.memory()[0] > factor * count


def multiply(
    device: Device, A: Compressed, s: Lowered, x_values: Any, w: Any, plan: Plan = UNRECORDED, precision: str = "exact"
) -> None:
    """w[rows with entries] = A (+.x) x for a full x; plan: records the column indices.

    precision: of the values, which may be rounded to it; only bitmap blocks have a rounded form.
    """
    form = segments_of(device, A)
    columns = columns_of(device, A, form, s, x_values.dtype.itemsize, plan)
    if gathers(s):
        if takes_blocks(device, A, form, s, plan, precision):
            precision = bitblocks.precision_for(device, A, precision, plan)
            bitblocks.multiply_full(device, A, s, x_values, w, precision)
            return
        if precision != "exact":
            plan.use_precision(exact("bitmap blocks, which alone have rounded values, do not cost less than CSR here"))
    if columns.order is not None:
        x_values = gather(device, x_values, columns.order)
    if columns.bins is not None:
        x_values = binned_columns.fill(device, columns.bins, x_values)
    _run(device, A, form, s, columns, x_values, w)


def multiply_rows(
    device: Device, A: Compressed, s: Lowered, x: tuple[Any, Any], w: Any, rows: tuple[Any, Any, bool],
    plan: Plan = UNRECORDED, precision: str = "exact",
) -> tuple[Any, Any]:  # fmt: skip
    """w = A (+.x) x where x has gaps, rows are masked, or both: (words of w, counters: the first is w.nvals).

    x: (its presence words, None: all; its values, of any value at absent positions).  rows: (words of the rows with
    entries, None: all; words of the mask, None: none; is it complemented?).  Every row is computed.
    """
    (x_words, x_values), (occupied, mask, complement) = x, rows
    found, words = device.counters(), device.empty((A.nrows + 63) >> 6, np.uint64)
    marked, order, count = None, None, 0
    if x_words is None:
        multiply(device, A, s, x_values, w, plan, precision)
    else:
        if precision != "exact":
            plan.use_precision(exact("bitmap blocks, which alone have rounded values, are for full vectors here"))
        form, kind = segments_of(device, A), BY_BITS
        columns = columns_of(device, A, form, s, x_values.dtype.itemsize, plan)
        if gathers(s):
            kind, order, count = MARKED, columns.order, x_values.shape[0]
            marked = device.empty(count, x_values.dtype)
    device.launcher.kernel(BUILD, "mark_gaps", "", (moved_type(x_values),)).over(max(count, 2 * words.shape[0]), (
        _half_words(x_words), x_values, order, count, marked, _half_words(occupied), _half_words(mask), complement,
        A.nrows, _half_words(words), found,
    ))  # fmt: skip
    if x_words is not None:
        gaps = _half_words(x_words), order, _half_words(words), found
        if columns.bins is not None:
            marked = binned_columns.fill(device, columns.bins, marked)
        _run(device, A, form, s, columns, x_values if marked is None else marked, w, kind, gaps)
    return words, found


def _half_words(words):
    """Words of 64 bits as twice as many of 32."""
    return None if words is None else words.view(np.uint32)


def _run(device, A, form, s, columns, x_values, w, kind=None, gaps=()):
    """Launch the product; kind: how gaps of x are known (None: x is full), gaps: the further arguments."""
    launch = form.launches.get((s, columns.kind, kind))
    if launch is None:
        launch = form.launches[s, columns.kind, kind] = _launch(device, A, form, s, columns, x_values, kind)
    kernel, blocks, threads, shared, cached, parts, flags = launch
    x_values = x_values if s.reads_x else None
    first = arguments_of(A, form, s, columns)
    kernel(blocks, threads, (*first, x_values, cached, w, parts, flags, form.arrived, *gaps), shared=shared)


def arguments_of(A: Compressed, form: RowSegments, s: Lowered, columns: Columns) -> tuple:
    """The first arguments of the kernels, which are those of the matrix."""
    return (
        form.begins, form.before, form.names, form.rows, form.entries, form.slices, columns.codes, columns.offsets,
        columns.bases, A.values if s.reads_a else None,
    )  # fmt: skip


def _threads(device, A, s, x_item):
    """(threads of a block, blocks for a multiprocessor)"""
    item = s.dtype.np_type.itemsize
    wide = max(item, A.values.dtype.itemsize if s.reads_a else 1, x_item if s.reads_x else 1)
    threads, each = BLOCKS[wide]
    while threads * LANE_ENTRIES * item > device.launcher.shared:
        threads //= 2
    return threads, each


def _launch(device, A, form, s, columns, x_values, gaps):
    """(kernel, blocks, threads, bytes of shared memory, columns whose x is there or steps, ends of the blocks, their
    flags).
    """
    kind, bins, item = columns.kind, columns.bins, s.dtype.np_type.itemsize
    threads, each = _threads(device, A, s, x_values.dtype.itemsize)
    if kind == RELABELLED:
        threads, each = min(TABLE_THREADS, threads), 1
    name, kinds = ("matvec_segments", ()) if gaps is None else ("matvec_segments_gaps", (gaps,))
    types = index_type(A.indices), index_type(form.before), "S", NAMES[kind]
    kernel = s.kernel(device.launcher, HEADER, name, (*types, *kinds, str(threads), str(each)))
    shared, cached = threads * LANE_ENTRIES * item, 0
    if kind == RELABELLED:
        x_item = x_values.dtype.itemsize
        cached = max(0, min(A.ncols, CACHED_COLUMNS, (int(device.launcher.shared * TABLE_SHARE) - shared) // x_item))
        shared += -(-cached * x_item // 16) * 16
    if bins is not None:
        shared += (bins.hubs + bins.most * bins.chunk) * x_values.dtype.itemsize
        cached = bins.steps
    most = min(kernel.resident_blocks(threads, shared), threads)
    blocks = max(1, min(most, -(-form.slices * 32 // threads)))
    if bins is not None:
        if blocks < bins.blocks:
            raise RuntimeError(f"{kernel.name}: {blocks} blocks are resident, {bins.blocks} have bins")
        blocks = bins.blocks
    return (
        kernel,
        blocks,
        threads,
        shared,
        cached,
        device.empty(2 * blocks, s.dtype.np_type),
        device.empty(blocks, np.uint8),
    )
