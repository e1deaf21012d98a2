"""The entries of a matrix in equal shares, with a bit where each row begins: made once, kept in A.forms["segments"].

Schema of RowSegments (R rows that hold something; N slices of SLICE entries; kernels/products/segments.cuh reads it)

    begins     uint8 [32 N + 4]     bit k: a row begins with entry k; one bit more behind the last entry
    before     int32 or int64 [N + 1]  rows begun before each slice
    names      the same type [R]    the rows that hold something; None: all
    columns    None until the matrix has been multiplied PATIENCE times; then a Columns
    arrived    uint32 [1]           zero, before and after every launch

Schema of Columns: how x is found

    kind       PLAIN: A.indices
               SHORT: offsets uint16 [256 N] from bases int32 [N] (-1: this slice by A.indices); where most slices span
               less than 2^16 columns: 2 bytes to read for an entry instead of 4
               RANKED: codes int32 [entries], the columns' ranks by falling number of entries, and order int32
               [columns], the column of each rank; where few columns hold many of the entries: their x lies in shared
               memory
"""

import numpy as np

from ....storage.store import forms_of
from ..structure.entries import gather, index_type
from .row_schedule import pointers

LANE_ENTRIES = 8
SLICE = 32 * LANE_ENTRIES
PATIENCE = 3  # products by the plain columns before others are made
SHORT_SHARE = 0.5  # of the slices must be short
RANKED_ENTRIES = 1 << 23  # fewer entries do not pay for filling shared memory
RANKED_SHARE = 0.25  # of the entries must lie in hot columns
HOT = 48 << 10  # columns that may be hot: what fits in shared memory at 4 bytes each
TABLE_THREADS = 512  # of a block with a table
TABLE_SHARE = 27 / 32  # of a block's shared memory for buffers and table: more leaves the first cache too little
ROOM = 3  # of the form's size must be free
BLOCKS = {
    1: (1024, 1),
    2: (1024, 1),
    4: (1024, 1),
    8: (768, 1),
    16: (512, 1),
}  # by bytes of a value: threads of a block,
#                               blocks for a multiprocessor: as many warps as there are registers for
STEP = 128  # entries that a walk that stops early has on the way at once
PLAIN, SHORT, RANKED = range(3)
NAMES = ("PLAIN_COLUMNS", "SHORT_COLUMNS", "RANKED_COLUMNS")


class RowSegments:
    """See the schema at the head of this file."""

    __slots__ = (
        "arrived",
        "before",
        "begins",
        "columns",
        "entries",
        "held",
        "launches",
        "names",
        "plain",
        "slices",
        "uses",
    )


class Columns:
    """See the schema at the head of this file."""

    __slots__ = ("bases", "codes", "kind", "offsets", "order")

    def __init__(self, kind, codes, offsets=None, bases=None, order=None):
        self.kind, self.codes, self.offsets, self.bases, self.order = kind, codes, offsets, bases, order


def segments_of(device, A):
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
    result.held = held = starts.shape[0]
    begins = device.zeros(slices * (SLICE // 32) + 1, np.uint32)
    device.launcher.kernel("products/segments.cuh", "mark_begins", "", (index_type(starts),)).over(
        held + 1, (starts, held, entries, begins)
    )
    result.begins = begins.view(np.uint8)
    ends = device.arange(slices + 1) * SLICE
    result.before = xp.searchsorted(starts, ends.astype(starts.dtype), side="left").astype(row_type)
    result.arrived, result.launches, result.uses = device.zeros(1, np.uint32), {}, 0
    result.columns = result.plain = Columns(PLAIN, A.indices)
    return result


def occupied(device, A):
    """(places among A's rows, numbers) of the rows that hold something, int64; None where all do, all rows are there."""
    starts = pointers(device, A)
    places = device.xp.nonzero(starts[1:] != starts[:-1])[0]
    if places.shape[0] == starts.shape[0] - 1:
        return None, A.rows
    return places, places if A.rows is None else A.rows[places]


def reads_most(device, A):
    """Must a walk that stops early read half of the entries or more all the same, as rows are short?  Kept in A.forms."""
    forms = forms_of(A)
    found = forms.get("reads_most")
    if found is None:
        ptr = pointers(device, A)
        read = device.xp.minimum(ptr[1:] - ptr[:-1], STEP).sum()
        found = forms["reads_most"] = 2 * device.read(read.reshape(1))[0] >= A.indices.shape[0]
    return found


def columns_of(device, A, form):
    """How this product finds x: the plain columns at first, then what suits the matrix."""
    if form.uses <= PATIENCE:
        form.uses += 1
        if form.uses == PATIENCE + 1:
            form.columns = _columns(device, A, form)
    return form.columns


def _columns(device, A, form):
    xp, cols, entries = device.xp, A.indices, form.entries
    plain = form.columns
    if cols.dtype != np.int32:
        return plain
    short = device.counters()
    bases = device.empty(form.slices, np.int32)
    _short_columns(device, form, None, bases, short)
    if device.read(short[:1])[0] >= SHORT_SHARE * form.slices:
        if not _roomy(device, 2 * entries):
            return plain
        offsets = device.empty(form.slices * SLICE, np.uint16)
        _short_columns(device, form, offsets, bases, None)
        return Columns(SHORT, cols, offsets, bases)
    if entries < RANKED_ENTRIES or not _roomy(device, 4 * entries + 32 * A.ncols):
        return plain
    counts = xp.bincount(cols, minlength=A.ncols)
    order = xp.argsort(-counts).astype(np.int32)
    share = device.read(counts[order[:HOT]].sum().reshape(1))[0] / entries
    if share < RANKED_SHARE:
        return plain
    ranks = device.empty(A.ncols, np.int32)
    ranks[order] = device.arange(A.ncols, np.int32)
    return Columns(RANKED, gather(device, ranks, cols), order=order)


def _short_columns(device, form, offsets, bases, count):
    cols = form.plain.codes
    device.launcher.kernel("products/segments.cuh", "short_columns", "", (index_type(cols),)).over(
        form.slices * 32, (cols, form.entries, form.slices, offsets, bases, count)
    )


def _roomy(device, count):
    return count < 1 << 26 or device.memory()[0] > ROOM * count


def multiply(device, A, s, x_values, w):
    """w[rows that hold something] = A (+.x) x for a full x."""
    form = segments_of(device, A)
    columns = columns_of(device, A, form) if s.reads_x and not s.x_iso else form.plain
    launch = form.launches.get((s, columns.kind))
    if launch is None:
        launch = form.launches[s, columns.kind] = _launch(device, A, form, s, columns.kind, x_values)
    kernel, blocks, threads, shared, hot, parts, flags = launch
    if columns.order is not None:
        x_values = gather(device, x_values, columns.order)
    kernel(blocks, threads, (
        form.begins, form.before, form.names, form.held, form.entries, form.slices, columns.codes, columns.offsets, columns.bases,
        A.values if s.reads_a else None, x_values if s.reads_x else None, hot, w, parts, flags, form.arrived,
    ), shared=shared)  # fmt: skip


def _launch(device, A, form, s, kind, x_values):
    """(kernel, blocks, threads, bytes of shared memory, hot columns, room for the ends of blocks, their flags)."""
    item = s.dtype.np_type.itemsize
    wide = max(item, A.values.dtype.itemsize if s.reads_a else 1, x_values.dtype.itemsize if s.reads_x else 1)
    threads, each = (min(TABLE_THREADS, BLOCKS[wide][0]), 1) if kind == RANKED else BLOCKS[wide]
    kernel = s.kernel(
        device.launcher,
        "products/segments.cuh",
        "matvec_segments",
        (index_type(A.indices), index_type(form.before), "S", NAMES[kind], str(threads), str(each)),
    )
    shared, hot = threads * LANE_ENTRIES * item, 0
    if kind == RANKED:
        x_item = x_values.dtype.itemsize
        hot = max(0, min(A.ncols, HOT, (int(device.launcher.shared * TABLE_SHARE) - shared) // x_item))
        shared += -(-hot * x_item // 16) * 16
    most = min(kernel.resident_blocks(threads, shared), threads)
    blocks = max(1, min(most, -(-form.slices * 32 // threads)))
    return (
        kernel,
        blocks,
        threads,
        shared,
        hot,
        device.empty(2 * blocks, s.dtype.np_type),
        device.empty(blocks, np.uint8),
    )
