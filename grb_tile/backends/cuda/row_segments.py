"""The entries of a matrix in equal shares, with a bit where each row begins: made once, kept in A.forms["segments"].

Schema of RowSegments (R rows that hold something; N slices of SLICE entries; kernels/matvec_segments.cuh reads it)

    begins     uint8 [32 N + 4]     bit k: a row begins with entry k; one bit more behind the last entry
    before     int32 or int64 [N + 1]  rows begun before each slice
    names      the same type [R]    the rows that hold something; None: all
    columns    None until the matrix has been multiplied PATIENCE times; then a Columns
    arrived    uint32 [1]           zero, before and after every launch

Schema of Columns: how x is found

    kind       PLAIN: A.indices
               SHORT: offsets uint16 [256 N] from bases int32 [N] (-1: this slice by A.indices); where most slices span less
               than 2^16 columns: 2 bytes to read for an entry instead of 4
               RANKED: codes int32 [entries], the columns' ranks by falling number of entries, and order int32 [columns],
               the column of each rank; where few columns hold many of the entries: their x lies in shared memory
"""
import numpy as np

from .entries import gather, index_type
from .row_schedule import pointers

LANE_ENTRIES = 8
SLICE = 32 * LANE_ENTRIES
PATIENCE = 3                  # products by the plain columns before others are made
SHORT_SHARE = 0.9             # of the slices must be short
RANKED_ENTRIES = 1 << 23      # fewer entries do not pay for filling shared memory
RANKED_SHARE = 0.25           # of the entries must lie in hot columns
HOT = 40 << 10                # columns that are hot, for values of 4 bytes
ROOM = 3                      # of the form's size must be free
THREADS, BLOCKS = 512, 4      # of a block; blocks for a multiprocessor, if they fit
TABLE_THREADS = 1024
SHARED = 227 << 10            # bytes of a multiprocessor's shared memory that one block may have
PLAIN, SHORT, RANKED = range(3)


class RowSegments:
    """See the schema at the head of this file."""

    __slots__ = ("arrived", "before", "begins", "columns", "entries", "held", "names", "parts", "slices", "uses")


class Columns:
    """See the schema at the head of this file."""

    __slots__ = ("bases", "codes", "kind", "offsets", "order")

    def __init__(self, kind, codes, offsets=None, bases=None, order=None):
        self.kind, self.codes, self.offsets, self.bases, self.order = kind, codes, offsets, bases, order


def segments_of(device, A):
    """The RowSegments of A, kept in A.forms."""
    forms = A.forms
    if forms is None:
        forms = A.forms = {}
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
    device.launcher.kernel("matvec_segments.cuh", "mark_begins", "", (index_type(starts),)).over(
        held + 1, (starts, held, entries, begins))
    result.begins = begins.view(np.uint8)
    ends = device.arange(slices + 1) * SLICE
    result.before = xp.searchsorted(starts, ends.astype(starts.dtype), side="left").astype(row_type)
    result.arrived, result.parts = device.zeros(1, np.uint32), {}
    result.columns, result.uses = Columns(PLAIN, A.indices), 0
    return result


def occupied(device, A):
    """(places among A's rows, numbers) of the rows that hold something, int64; None where all do, all rows are there."""
    starts = pointers(device, A)
    places = device.xp.nonzero(starts[1:] != starts[:-1])[0]
    if places.shape[0] == starts.shape[0] - 1:
        return None, A.rows
    return places, places if A.rows is None else A.rows[places]


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
    if _short_share(device, A, form) >= SHORT_SHARE:
        if not _roomy(device, 2 * entries):
            return plain
        offsets = device.empty(form.slices * SLICE, np.uint16)
        bases = device.empty(form.slices, np.int32)
        device.launcher.kernel("matvec_segments.cuh", "short_columns", "", (index_type(cols),)).over(
            form.slices * 32, (cols, entries, form.slices, offsets, bases))
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


def _short_share(device, A, form):
    """Share of sampled slices whose columns span less than 2^16."""
    if A.ncols <= 1 << 16:
        return 1.0
    count = min(form.slices - 1, 512)
    if count <= 0:
        return 0.0
    starts = device.arange(count) * ((form.slices - 1) // count) * SLICE
    sample = A.indices[starts[:, None] + device.arange(SLICE)[None, :]]
    short = sample.max(axis=1) - sample.min(axis=1) < 1 << 16
    return device.read(short.sum().reshape(1))[0] / count


def _roomy(device, count):
    return count < 1 << 26 or device.memory()[0] > ROOM * count


def multiply(device, A, s, x_values, w):
    """w[rows that hold something] = A (+.x) x for a full x."""
    form = segments_of(device, A)
    gathers = s.reads_x and not s.x_iso
    columns = columns_of(device, A, form) if gathers else None
    kind = PLAIN if columns is None else columns.kind
    names, before = form.names, form.before
    kernel = s.kernel(device.launcher, "matvec_segments.cuh", "matvec_segments", (
        index_type(A.indices), index_type(before), "S", "PLAIN_COLUMNS SHORT_COLUMNS RANKED_COLUMNS".split()[kind]))
    item = s.dtype.np_type.itemsize
    wide = item > 8 or A.values.dtype.itemsize > 8
    hot, shared, threads = 0, 0, THREADS
    if kind == RANKED:
        x_values = gather(device, x_values, columns.order)
        threads = 512 if wide else TABLE_THREADS
        room = SHARED - threads * LANE_ENTRIES * item
        hot = min(A.ncols, room // x_values.dtype.itemsize, HOT * 4 // x_values.dtype.itemsize)
        shared = -(-hot * x_values.dtype.itemsize // 16) * 16
    shared += threads * LANE_ENTRIES * item
    most = min(kernel.resident_blocks(threads, shared), BLOCKS * device.launcher.processors)
    blocks = max(1, min(most, -(-form.slices * 32 // threads)))
    parts = form.parts.get((s.dtype, most))
    if parts is None:
        parts = form.parts[s.dtype, most] = device.empty(2 * most, s.dtype.np_type), device.empty(most, np.uint8)
    kernel(blocks, threads, (
        form.begins, before, names, form.held, form.entries, form.slices, A.indices if columns is None else columns.codes,
        None if columns is None else columns.offsets, None if columns is None else columns.bases,
        A.values if s.reads_a else None, x_values if s.reads_x else None, hot, w, parts[0], parts[1], form.arrived,
    ), shared=shared)  # fmt: skip
