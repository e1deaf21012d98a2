"""w = A (+.x) x on the device: by rows of A, or by the columns that x holds.  Meanings: backends/protocol.py.

By rows (kernels/matvec_rows.cuh): rows are shared out by their lengths, the mask is asked before a row is read, terminal
monoids stop early.  x is wanted full or as a bitmap; its values, A's values and w's are touched only where they matter:

    x full, no mask        w's pattern is that of the rows that hold something: known, nothing is counted or read back
    structure only         bits of presence alone; w is iso
    mask a short list      only the listed rows

By columns (kernels/matvec_cols.cuh): entries of the columns that x holds are merged into a kept accumulator by atomics; the
count is read back once and decides the format of w.  Where a value has no atomic, or nothing of w's size may be allocated,
the products are sorted by row and combined.
"""
import numpy as np

from ...storage import convert as conversions
from ...storage.store import BitmapVector, SparseVector, index_dtype
from . import columns, tiles
from .entries import empty_vector, gather, index_type, is_plain, to_bitmap, vector_of, words_of
from .row_schedule import chosen_rows, pointers, schedule_of
from .semirings import lowered
from .structure import settle

FEW_ROWS = 8                 # the rows of a listed mask are walked alone when they are fewer than 1/FEW_ROWS of the rows held


def roomy(size, entries):
    """May something of `size` places be allocated beside a matrix of `entries` entries?"""
    return size <= 1 << 24 or size <= 64 * entries


def operand_types(semiring, *stores):
    return all(map(is_plain, (semiring.return_type, semiring.type, semiring.type2, *(s.dtype for s in stores))))


def matvec_rows(device, A, x, semiring, allow=None, plan=None):
    if not operand_types(semiring, A, x):
        return NotImplemented
    size, dtype = A.nrows, semiring.return_type
    count = A.indices.shape[0]
    if count == 0 or x.nvals == 0:
        return empty_vector(device, size, dtype)
    format = plan if type(plan) is str else getattr(plan, "format", None)
    if format is not None and format != "csr":
        w = tiles.matvec(device, A, x, semiring, allow, format)
        if w is not NotImplemented:
            return w
    s = lowered(device, semiring, A.dtype, A.iso, x.dtype, x.iso)
    entries = count + x.nvals + (0 if allow is None else allow.pattern.nvals)
    if not (roomy(size, entries) and (roomy(x.size, entries) or x.format == "bitmap")):
        return _held_rows(device, A, x, s, allow)
    return _scheduled_rows(device, A, x, s, allow)


def _scheduled_rows(device, A, x, s, allow):
    size = A.nrows
    full = x.nvals == x.size
    x_words, x_values = None, x.values
    if not full:
        if s.reads_x and not x.iso:
            x = to_bitmap(device, x)
            x_values = x.values
        x_words = words_of(device, x)
    early = s.structure_only or s.any or s.has_terminal and s.dtype.np_type.kind == "b"
    mask, complement, rows = None, False, None
    if allow is not None:
        pattern, complement = allow.pattern, allow.complement
        if pattern.nvals == 0 or pattern.nvals == size:
            if (pattern.nvals == 0) != complement:
                return empty_vector(device, size, s.dtype)
            allow = None
        elif not complement and pattern.format == "sparse" and pattern.nvals * FEW_ROWS < A.indptr.shape[0]:
            rows = pattern.indices.astype(np.int64, copy=False)
        else:
            mask = words_of(device, pattern)
    if rows is not None:
        schedule = chosen_rows(device, A, rows, A.indices.shape[0] / max(A.indptr.shape[0] - 1, 1))
    else:
        schedule = schedule_of(device, A, "early" if early else "all")
    known = occupied_words(device, A) if full and allow is None else None
    counted = known is None
    w_words = device.zeros((size + 63) >> 6, np.uint64) if counted else None
    found = device.zeros(1, np.uint64) if counted else None
    w = None
    if not s.structure_only:
        w = device.empty(size, s.dtype.np_type)
    if counted or not s.structure_only:
        _run(device, A, s, schedule, full, x_words, x_values, mask, complement, w, w_words, found)
    if counted:
        held, words = device.read(found)[0], w_words
    else:
        held, words = known
    if held == 0:
        return empty_vector(device, size, s.dtype)
    if s.structure_only:
        w = s.value(device, A, x)
    result = BitmapVector(size, s.dtype, None if held == size else words, w, held, s.structure_only)
    result.shared = s.structure_only or not counted and words is not None
    return settle(device, result) if held * conversions.BITMAP_TO_SPARSE < size else result


def _run(device, A, s, schedule, full, x_words, x_values, mask, complement, w, w_words, found):
    partial = have = None
    if schedule.pieces:
        have = device.empty(schedule.pieces, np.uint8)
        if not s.structure_only:
            partial = device.empty(schedule.pieces, s.dtype.np_type)
    kernel = device.launcher.kernel("matvec_rows.cuh", "matvec_rows", s.text, (
        index_type(A.indices), index_type(schedule.starts), "int64_t" if schedule.rows is None else index_type(schedule.rows),
        "S", "true" if full else "false", "false" if mask is None else "true"))  # fmt: skip
    limits = {} if found is not None else {"most": 1 << 24}          # counting wants few blocks, plain sums a block for each warp
    kernel.over(schedule.warps * 32, (
        schedule.rows, schedule.starts, schedule.stops, schedule.bins, schedule.warps, A.indices,
        A.values if s.reads_a else None, x_words, x_values if s.reads_x else None, mask, complement, w, w_words, found,
        schedule.piece, schedule.piece_ptr, schedule.owner, schedule.arrived, partial, have,
    ), **limits)  # fmt: skip


def occupied_words(device, A):
    """(how many rows hold something, their words or None when all do), kept in A.forms."""
    forms = A.forms
    if forms is None:
        forms = A.forms = {}
    found = forms.get("occupied_words")
    if found is None:
        schedule = schedule_of(device, A, "all")
        held = device.xp.nonzero(schedule.stops != schedule.starts)[0]
        count = held.shape[0]
        if count == A.nrows:
            found = count, None
        else:
            rows = held if schedule.rows is None else device.xp.sort(schedule.rows[held])
            pattern = SparseVector(A.nrows, A.dtype, rows.astype(index_dtype(A.nrows)), A.values[:1], True)
            found = count, words_of(device, pattern)
        forms["occupied_words"] = found
    return found


def _pattern_arrays(pattern):
    """(words, indices, count) of a vector's pattern; both None when it is full."""
    if pattern.format == "bitmap":
        return pattern.words, None, 0
    return None, pattern.indices, pattern.indices.shape[0]


def _held_rows(device, A, x, s, allow):
    """Nothing of the size of a dimension is allocated: one result for each row that A holds, look-ups by bisection."""
    from .structure import convert

    if A.rows is None and not roomy(A.nrows, A.indices.shape[0]):
        A = convert(device, A, "dcsr")
    held = A.indptr.shape[0] - 1
    hit = device.empty(held, np.bool_)
    out = None if s.structure_only else device.empty(held, s.dtype.np_type)
    x_words, x_indices, x_count = _pattern_arrays(x)
    mask = mask_indices = None
    mask_count, masked, complement = 0, False, False
    if allow is not None:
        masked, complement = True, allow.complement
        mask, mask_indices, mask_count = _pattern_arrays(allow.pattern)
    kernel = device.launcher.kernel("matvec_rows.cuh", "matvec_held_rows", s.text, (
        index_type(A.indices), "int32_t" if x_indices is None else index_type(x_indices),
        "int32_t" if mask_indices is None else index_type(mask_indices), "S"))  # fmt: skip
    kernel.over(held * 32, (
        A.rows, A.indptr, held, A.indices, A.values if s.reads_a else None, x_words, x_indices, x_count,
        x.values if s.reads_x else None, mask, mask_indices, mask_count, masked, complement, out, hit))  # fmt: skip
    places = device.xp.nonzero(hit)[0]
    rows = places if A.rows is None else gather(device, A.rows, places)
    if s.structure_only:
        return vector_of(device, A.nrows, s.dtype, rows, s.value(device, A, x), True)
    return vector_of(device, A.nrows, s.dtype, rows, gather(device, out, places))


# ---------------------------------------------------------------------- by columns


def matvec_cols(device, AT, x, semiring, allow=None, plan=None):
    if not operand_types(semiring, AT, x):
        return NotImplemented
    size, dtype = AT.ncols, semiring.return_type
    if AT.indices.shape[0] == 0 or x.nvals == 0:
        return empty_vector(device, size, dtype)
    if allow is not None:
        pattern = allow.pattern
        if pattern.nvals == 0 or pattern.nvals == size:
            if (pattern.nvals == 0) != allow.complement:
                return empty_vector(device, size, dtype)
            allow = None
    s = lowered(device, semiring, AT.dtype, AT.iso, x.dtype, x.iso)
    if s.atomic and roomy(size, AT.indices.shape[0]):
        return columns.merged(device, AT, pointers(device, AT), x, s, allow)
    return columns.sorted_products(device, AT, x, s, allow)
