"""w = A (+.x) x on the device: row-wise (SpMV) or column-wise (SpMSpV). Meanings: backends/protocol.py.

Row-wise (kernels/products/rows.cuh): rows are binned by length, the mask is tested before a row is read, terminal
monoids stop early. x is full or a bitmap; values of A, x and w are read and written only where the result depends on
them. The planner (planner/choose_kernel.py) chooses the kernel:

    segments            all entries are read: entries are balanced, not rows (products/segments.py); x full or with
                        gaps, no mask or one that admits many rows, which selects among the results; bit_blocks: the
                        same over 8 x 8 bitmap blocks, x full and no mask (products/bitblocks.py)
    pull_early_exit     one match decides a row (any monoid, structure only): most rows end at their first lookup
                        (products/pull.py)
    listed_rows         the mask is a short list: only its rows
    binned_rows         all else; with a full x and no mask the pattern of w is known and nothing is counted
    hypersparse_rows    nothing of the size of a dimension may be allocated: a result for each stored row

Column-wise (kernels/products/columns.cuh): the columns at x's entries are merged by atomics into a clean accumulator.
The accumulator becomes w, a bitmap counted on the device; where a list costs less, the count is read back and the
accumulator compacted. Where a value has no atomic, or nothing of w's size may be allocated, the products are sorted by
row and combined (sort_products).
"""

from functools import partial

import numpy as np

from ....planner import tuning
from ....planner.choose_kernel import has_capacity, hypersparse_kernel, rows_kernel, sorts_products
from ....planner.choose_precision import precision_of
from ....planner.record import UNRECORDED
from ....storage import convert as conversions
from ....storage.store import BitmapVector, SparseVector, forms_of, index_dtype
from ..lowering.semirings import lowered_plain
from ..structure.arrays import as_type, counted_later, empty_vector, gather, index_type, to_bitmap, vector_of, words_of
from ..structure.formats import choose_format
from ..structure.prefix_sums import numbers_of
from ..structure.rows import longest_row
from . import bitblocks, columns, pull, segments as row_segments, tiles
from .bound_rows import bind_rows, bound_rows
from .row_schedule import chosen_rows, schedule_of

PLAIN = {"most": 1 << 24}  # blocks of plain sums: a warp for each task; fewer where each block adds to one counter


def operand_types(semiring, *stores):
    """Have all types a device form?"""
    for store in stores:
        if store.dtype._is_udt:
            return False
    return not (semiring.return_type._is_udt or semiring.type._is_udt or semiring.type2._is_udt)


def matvec_rows(device, A, x, semiring, mask=None, plan=None):
    size, count, held = A.nrows, A.indices.shape[0], known_count(x)
    if count == 0 or held == 0:
        return empty_vector(device, size, semiring.return_type) if operand_types(semiring, A, x) else NotImplemented
    s = lowered_plain(device, semiring, A.dtype, A.iso, x.dtype, x.iso)
    if s is None:
        return NotImplemented
    plan = plan or UNRECORDED
    as_step = device.turns is not None and device.turns.as_step(A, s)
    if mask is None and held == x.size and plan.format == "csr" and not as_step:
        run = bound_rows(A, s)
        if run is not None:
            return run(x, plan)
    if plan.format != "csr":
        if plan.format == "bitblock":
            w = _by_blocks(device, A, x, held, s, mask, precision_of(semiring, A.dtype, x.dtype), plan)
        else:
            w = tiles.matvec(device, A, x, semiring, mask, plan.format)
        if w is not NotImplemented:
            return w
        plan.use_plain_rows()
    if size > tuning.ALWAYS_ALLOCATED or x.size > tuning.ALWAYS_ALLOCATED:
        entries = count + (0 if held is None or held == x.size else held)
        if not has_capacity(size, entries) or not (has_capacity(x.size, entries) or x.format == "bitmap"):
            hypersparse_kernel(plan, size, entries)
            return _hypersparse_rows(device, A, x, s, mask)
    return multiply_rows(device, A, x, held, s, mask, plan, precision_of(semiring, A.dtype, x.dtype))


def known_count(u):
    """Entries of a vector, or None where the number is on the device only (a bitmap with words)."""
    return u.nvals_if_read


def mask_of(device, mask):
    """(StoredMask or None, is nothing admitted?); None also for a mask that admits every position."""
    if mask is not None:
        pattern = mask.pattern
        held = pattern.nvals_if_read
        if held == 0 or held == pattern.size:
            return None, (held == 0) != mask.complement
    return mask, False


def multiply_rows(device, A, x, held, s, mask, plan, precision):
    """Row-wise, by the kernel that the planner chooses from what is known of A, x and the mask."""
    size = A.nrows
    full = held == x.size
    x_words, x_values = None, x.values
    if not full:
        if s.reads_x and not x.iso:
            x = to_bitmap(device, x)
            x_values = x.values
        x_words = x.words if x.format == "bitmap" else words_of(device, x)
    mask_words, complement, rows, listed = None, False, None, None
    mask, nothing = mask_of(device, mask)
    if nothing:
        return empty_vector(device, size, s.dtype)
    if mask is not None:
        pattern, complement = mask.pattern, mask.complement
        if not complement and pattern.format == "sparse":
            listed = pattern.nvals
    streams = mask is None and full
    if not streams and not (s.structure_only or s.any):
        streams = mask is None or _admits_many(mask, size)
    as_step = device.turns is not None and device.turns.as_step(A, s)
    if as_step:
        streams = False
    kernel = rows_kernel(
        plan, A.indices.shape[0], A.indptr.shape[0], size, full, streams, s.early_exit, s.has_terminal,
        partial(row_segments.reads_most, device, A), pull.suits(A, s), listed, partial(longest_row, device, A),
    )  # fmt: skip
    if kernel == "segments":
        if full and mask is None:
            return _by_entries(device, A, x, s, plan, precision)
        selected = occupied_words(device, A)[1], None if mask is None else words_of(device, pattern), complement
        w = device.empty(size, s.dtype.np_type)
        given = None if full else x_words, x_values
        words, found = row_segments.multiply_rows(device, A, s, given, w, selected, plan, precision)
        return counted_later(device, size, s.dtype, words, w, found)
    if kernel == "listed_rows":
        rows = as_type(device, pattern.indices, np.dtype(np.int64))
    elif mask is not None:
        mask_words = pattern.words if pattern.format == "bitmap" else words_of(device, pattern)
    if kernel == "pull_early_exit":
        w, words, found = pull.pull(device, A, x_words, x_values, s, mask_words, complement)
        return _counted(device, A, x, s, w, words, found)
    if rows is not None:
        schedule = chosen_rows(device, A, rows, A.indices.shape[0] / max(A.indptr.shape[0] - 1, 1))
    else:
        schedule = schedule_of(device, A, "early" if s.early_exit else "step" if as_step else "all")
    w = None if s.structure_only else device.empty(size, s.dtype.np_type)
    if full and mask is None:  # w's pattern is the rows with entries, which are known
        if w is not None:
            _run(device, A, s, schedule, True, None, x_values, None, False, w, None, None)
        return _at_occupied_rows(device, A, x, s, w)
    words, found = device.zeros((size + 63) >> 6, np.uint64), device.counters()
    _run(device, A, s, schedule, full, x_words, x_values, mask_words, complement, w, words, found)
    return _counted(device, A, x, s, w, words, found)


def _counted(device, A, x, s, w, words, found):
    result = counted_later(device, A.nrows, s.dtype, words, s.value(device, A, x) if w is None else w, found, w is None)
    result.shared = result.shared or w is None
    return result


def _by_entries(device, A, x, s, plan, precision):
    """Every entry is read and x is full: entries are balanced, not rows (kernels/products/segments.cuh)."""
    w = device.empty(A.nrows, s.dtype.np_type)
    row_segments.multiply(device, A, s, x.values, w, plan, precision)
    if precision == "exact":
        bind_rows(device, A, s, occupied_words(device, A))
    return _at_occupied_rows(device, A, x, s, w)


def _admits_many(mask, size):
    """Is a product of all rows, of which the mask selects, at most what one row at a time costs for those selected?"""
    held = known_count(mask.pattern)
    if held is None:
        return False
    return (size - held if mask.complement else held) >= tuning.STREAMED_MASK * size


def _by_blocks(device, A, x, held, s, mask, precision, plan):
    """Over 8 x 8 bitmap blocks, for any x and mask; NotImplemented for matrices too large for them."""
    if not bitblocks.suits(A):
        return NotImplemented
    precision = bitblocks.precision_for(device, A, precision, plan)
    mask, nothing = mask_of(device, mask)
    if nothing:
        return empty_vector(device, A.nrows, s.dtype)
    if mask is not None or held != x.size:
        return _counted(device, A, x, s, *bitblocks.multiply(device, A, x, s, mask, precision))
    w = None
    if not s.structure_only:
        w = device.empty(A.nrows, s.dtype.np_type)
        bitblocks.multiply_full(device, A, s, x.values, w, precision)
    return _at_occupied_rows(device, A, x, s, w)


def _at_occupied_rows(device, A, x, s, w):
    """The result of full x without a mask: w (None: one value) at the rows of A with entries."""
    known, words = occupied_words(device, A)
    result = BitmapVector(A.nrows, s.dtype, words, s.value(device, A, x) if w is None else w, known, w is None)
    result.shared = w is None or words is not None
    return choose_format(device, result) if known * conversions.BITMAP_TO_SPARSE < A.nrows else result


def _run(device, A, s, schedule, full, x_words, x_values, mask, complement, w, w_words, found):
    partial = have = None
    if schedule.pieces:
        have = device.empty(schedule.pieces, np.uint8)
        if w is not None:
            partial = device.empty(schedule.pieces, s.dtype.np_type)
    kernel = s.kernel(device.launcher, "products/rows.cuh", "matvec_rows", (
        index_type(A.indices), index_type(schedule.starts),
        "int64_t" if schedule.rows is None else index_type(schedule.rows),
        "S", "true" if full else "false", "false" if mask is None else "true",
    ))  # fmt: skip
    limits = PLAIN if found is None else {}
    kernel.over(schedule.warps * 32, (
        schedule.rows, schedule.starts, schedule.stops, schedule.bins, schedule.warps, A.indices,
        A.values if s.reads_a else None, x_words, x_values if s.reads_x else None, mask, complement, w, w_words, found,
        schedule.piece, schedule.piece_ptr, schedule.owner, schedule.arrived, partial, have,
    ), **limits)  # fmt: skip


def occupied_words(device, A):
    """(number of rows with entries, their words or None when all have some), cached in A.forms."""
    forms = forms_of(A)
    found = forms.get("occupied_words")
    if found is None:
        rows = row_segments.occupied(device, A)[1]
        if rows is None or rows.shape[0] == A.nrows:
            found = A.nrows, None
        else:
            pattern = SparseVector(A.nrows, A.dtype, rows.astype(index_dtype(A.nrows)), A.values[:1], True)
            found = rows.shape[0], words_of(device, pattern)
        forms["occupied_words"] = found
    return found


def _pattern_arrays(pattern):
    """(words, indices, count) of a vector's pattern; both None when it is full."""
    if pattern.format == "bitmap":
        return pattern.words, None, 0
    return None, pattern.indices, pattern.indices.shape[0]


def _hypersparse_rows(device, A, x, s, mask):
    """Nothing of the size of a dimension is allocated: one result for each stored row, look-ups by bisection."""
    from ..structure.formats import convert

    if A.rows is None and not has_capacity(A.nrows, A.indices.shape[0]):
        A = convert(device, A, "dcsr")
    held = A.indptr.shape[0] - 1
    hit = device.empty(held, np.bool_)
    out = None if s.structure_only else device.empty(held, s.dtype.np_type)
    x_words, x_indices, x_count = _pattern_arrays(x)
    mask_words = mask_indices = None
    mask_count, masked, complement = 0, False, False
    if mask is not None:
        masked, complement = True, mask.complement
        mask_words, mask_indices, mask_count = _pattern_arrays(mask.pattern)
    kernel = device.launcher.kernel("products/rows.cuh", "matvec_held_rows", s.text, (
        index_type(A.indices), "int32_t" if x_indices is None else index_type(x_indices),
        "int32_t" if mask_indices is None else index_type(mask_indices), "S"))  # fmt: skip
    kernel.over(held * 32, (
        A.rows, A.indptr, held, A.indices, A.values if s.reads_a else None, x_words, x_indices, x_count,
        x.values if s.reads_x else None, mask_words, mask_indices, mask_count, masked, complement, out, hit,
    ))  # fmt: skip
    places = numbers_of(device, hit)
    rows = places if A.rows is None else gather(device, A.rows, places)
    if s.structure_only:
        return vector_of(device, A.nrows, s.dtype, rows, s.value(device, A, x), True)
    return vector_of(device, A.nrows, s.dtype, rows, gather(device, out, places))


# ---------------------------------------------------------------------- by columns


def lacks_atomic(device, A, x, semiring):
    """Does the product have values without an atomic, so that a column-wise product is sorted?"""
    s = lowered_plain(device, semiring, A.dtype, A.iso, x.dtype, x.iso)
    return s is not None and not s.atomic


def matvec_cols(device, AT, x, semiring, mask=None, plan=None):
    s = lowered_plain(device, semiring, AT.dtype, AT.iso, x.dtype, x.iso)
    if s is None:
        return NotImplemented
    size, dtype = AT.ncols, s.dtype
    if AT.indices.shape[0] == 0 or known_count(x) == 0:
        return empty_vector(device, size, dtype)
    if mask is not None:
        mask, nothing = mask_of(device, mask)
        if nothing:
            return empty_vector(device, size, dtype)
    plan = plan or UNRECORDED
    if sorts_products(plan, s.atomic, size, AT.indices.shape[0]):
        return columns.sorted_products(device, AT, x, s, mask)
    return columns.merged(device, AT, x, s, mask, plan)
