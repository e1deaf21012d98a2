"""The two ways by columns: products merged into a kept accumulator by atomics, or sorted by row and combined.

Kernels: matvec_cols.cuh.  The accumulator (values that hold the monoid's start, words that hold nothing) is kept with the
device between calls: the call that used it cleans what it touched, or takes it along as the result's arrays.
"""
import numpy as np

from ...storage import convert as conversions
from ...storage.store import BitmapVector, SparseVector, index_dtype
from .entries import (
    counted_later,
    empty_vector,
    gather,
    index_type,
    ranges,
    segment_starts,
    stable_order,
    to_sparse,
    vector_of,
    words_of,
)
from .row_schedule import pointers
from .structure import convert

LONGEST = 1024               # entries of a column that one warp merges by itself
PART = 256                   # words that one warp compacts
UNREAD = 1 << 16             # places up to which a bitmap costs less than reading the count back
_KEPT = 8                    # accumulators kept


def merged(device, AT, ptr, x, s, allow):
    """The product by atomics; ptr: AT.indptr, narrowed where that fits (row_schedule.pointers)."""
    size = AT.ncols
    mask, complement = None, False
    if allow is not None:
        mask, complement = words_of(device, allow.pattern), allow.complement
    x_indices, x_values = None, x.values
    if x.nvals != x.size:
        x = to_sparse(device, x)
        x_indices, x_values = x.indices, x.values
    x_count = x.nvals
    x_values = x_values if s.reads_x else None
    a_values = AT.values if s.reads_a else None
    if x_indices is None and AT.rows is not None:
        if s.reads_x and not s.x_iso:
            x_values = gather(device, x_values, AT.rows)
        x_indices, x_count = AT.rows, AT.rows.shape[0]
    kind = _space_key(size, s)
    w, words = _take_space(device, kind, size, s)
    longest = _longest(device, AT)
    counts = device.counters()
    first = length = entry = None
    if longest > LONGEST:
        room = AT.indices.shape[0] // LONGEST * 2 + 1
        first, length, entry = device.empty(room, np.int64), device.empty(room, np.int32), device.empty(room, np.int64)
    lanes = device.launcher.processors * 32
    group = 1
    while group < 32 and x_count > group * lanes:
        group *= 2
    index, masked = index_type(AT.indices), "false" if mask is None else "true"
    x_index = "int32_t" if x_indices is None else index_type(x_indices)
    launcher = device.launcher
    kernel = s.kernel(launcher, "matvec_cols.cuh", "merge_columns", (index, index_type(ptr), x_index, "S", masked))
    kernel.over(-(-x_count // group) * 32, (
        x_indices, x_values, x_count, group, ptr, AT.rows, AT.indptr.shape[0] - 1, AT.indices, a_values, mask, complement,
        w, words, counts, LONGEST, first, length, entry))  # fmt: skip
    if longest > LONGEST:
        kernel = s.kernel(launcher, "matvec_cols.cuh", "merge_pieces", (index, x_index, "S", masked))
        kernel.over(lanes * 32, (
            x_indices, x_values, AT.indices, a_values, mask, complement, w, words, counts, first, length, entry))
    if size <= UNREAD:
        iso = s.structure_only
        result = counted_later(device, size, s.dtype, words, s.value(device, AT, x) if iso else w, counts, iso)
        result.shared = iso
        return result
    found = device.read(counts)[0]
    return _taken(device, kind, size, s, AT, x, w, words, found)


def _taken(device, kind, size, s, AT, x, w, words, found):
    """The result out of the accumulator, which is given away or cleaned and kept."""
    iso = s.structure_only
    if found == 0:
        _keep_space(device, kind, w, words)
        return empty_vector(device, size, s.dtype)
    if found == size or found * conversions.SPARSE_TO_BITMAP > size and found >= conversions.TINY:
        values = s.value(device, AT, x) if iso else w
        result = BitmapVector(size, s.dtype, None if found == size else words, values, found, iso)
        result.shared = iso
        return result
    count = words.shape[0]
    parts = -(-count // PART)
    numbers = device.empty(parts, np.int64)
    launcher = device.launcher
    launcher.kernel("matvec_cols.cuh", "part_members").over(parts * 32, (words, count, PART, parts, numbers))
    ends = device.xp.cumsum(numbers) if parts > 1 else numbers
    indices = device.empty(found, index_dtype(size))
    values = None if iso else device.empty(found, s.dtype.np_type)
    kernel = s.kernel(launcher, "matvec_cols.cuh", "compact_words", (index_type(indices), "S"))
    kernel.over(parts * 32, (words, count, PART, parts, ends, w, indices, values))
    _keep_space(device, kind, w, words)
    result = SparseVector(size, s.dtype, indices, s.value(device, AT, x) if iso else values, iso)
    result.shared = iso
    return result


def _space_key(size, s):
    start = None if s.start is None or not s.has_start else np.asarray(s.start).tobytes()
    return size, None if s.structure_only else s.dtype, start


def _take_space(device, kind, size, s):
    """(values that hold the start, empty words): kept ones when there are, else fresh ones."""
    spaces = device.__dict__.setdefault("product_spaces", {})
    found = spaces.pop(kind, None)
    if found is not None:
        return found
    words = device.zeros((size + 63) >> 6, np.uint64)
    if s.structure_only:
        return None, words
    w = (device.accumulators if s.has_start else device.places)(size, s.dtype.np_type)
    if s.has_start:
        device.launcher.kernel("matvec_cols.cuh", "fill_start", s.text, ("S",)).over(size, (w, size))
    return w, words


def _keep_space(device, kind, w, words):
    spaces = device.product_spaces
    while len(spaces) >= _KEPT:
        spaces.pop(next(iter(spaces)))
    spaces[kind] = w, words


def _longest(device, A):
    """Entries of the fullest row, kept with A."""
    forms = A.forms
    if forms is None:
        forms = A.forms = {}
    found = forms.get("largest_degree")
    if found is None:
        found = forms["largest_degree"] = device.read((A.indptr[1:] - A.indptr[:-1]).max().reshape(1))[0]
    return found


def edges_of(device, AT, u):
    """Entries of the rows of AT that u names, counted on the device and read back; kept with u."""
    forms = conversions.forms_of(u)
    known = forms.get("edges")
    if known is not None and known[0] is AT.indices:
        return known[1]
    ptr = pointers(device, AT)
    total = device.counters()
    indices, words = (u.indices, None) if u.format == "sparse" else (None, u.words)
    count = u.size if indices is None else indices.shape[0]
    kernel = device.launcher.kernel("edges.cuh", "edges_of", "", (
        index_type(ptr), "int32_t" if indices is None else index_type(indices)))
    kernel.over(count, (indices, words, count, ptr, total))
    found = float(device.read(total)[0])
    forms["edges"] = AT.indices, found
    return found


def sorted_products(device, AT, x, s, allow):
    """Every product laid out, ordered by row, neighbours combined: any type and operator, no more room than products."""
    size = AT.ncols
    full = x.nvals == x.size
    if full and AT.rows is None and AT.nrows > 64 * AT.indices.shape[0] + 4096:
        AT = convert(device, AT, "dcsr")
    if full:
        held, starts, lengths = AT.rows, AT.indptr[:-1], AT.indptr[1:] - AT.indptr[:-1]
        values = x.values
        if held is not None and s.reads_x and not s.x_iso:
            values = gather(device, values, held)
        x_indices = held
    else:
        u = to_sparse(device, x)
        count = u.indices.shape[0]
        wanted, values, x_indices = u.indices.astype(np.int64, copy=False), u.values, u.indices
        starts, lengths = device.empty(count, np.int64), device.empty(count, np.int64)
        kernel = device.launcher.kernel("transpose.cuh", "pick_rows", "", (index_type(AT.indptr),))
        kernel.over(count, (wanted, count, AT.indptr, AT.rows, AT.indptr.shape[0] - 1, starts, lengths))
    ends = device.xp.cumsum(lengths)
    total = device.read(ends[-1:])[0]
    if total == 0:
        return empty_vector(device, size, s.dtype)
    segment, at = ranges(device, device.array(starts), ends, total)
    products = None if s.structure_only else device.empty(total, s.dtype.np_type)
    keep = device.empty(total, np.bool_)
    mask = mask_indices = None
    mask_count = 0
    if allow is not None:
        if allow.pattern.format == "bitmap":
            mask = allow.pattern.words
        else:
            mask_indices = allow.pattern.indices
            mask_count = mask_indices.shape[0]
    kernel = device.launcher.kernel("matvec_cols.cuh", "column_products", s.text, (
        index_type(AT.indices), "int64_t" if x_indices is None else index_type(x_indices),
        "int32_t" if mask_indices is None else index_type(mask_indices), "S"))  # fmt: skip
    kernel.over(total, (
        segment, at, total, x_indices, values if s.reads_x else None, AT.indices, AT.values if s.reads_a else None,
        mask, mask_indices, mask_count, allow is not None, allow is not None and allow.complement, products, keep,
    ))  # fmt: skip
    rows = gather(device, AT.indices, at)
    if allow is not None:
        kept = device.xp.nonzero(keep)[0]
        if kept.shape[0] == 0:
            return empty_vector(device, size, s.dtype)
        rows = gather(device, rows, kept)
        products = None if products is None else gather(device, products, kept)
    found, values, iso = combined(device, rows, products, s)
    return vector_of(device, size, s.dtype, found, s.value(device, AT, x) if iso else values, iso)


def combined(device, keys, products, s):
    """(distinct keys ascending, their combined products, structure only?)"""
    order = stable_order(device, keys)
    ordered = gather(device, keys, order)
    starts = segment_starts(device, None, ordered)
    found = gather(device, ordered, starts)
    if products is None:
        return found, None, True
    groups, total = starts.shape[0], keys.shape[0]
    out = device.empty(groups, products.dtype)
    kernel = device.launcher.kernel("matvec_cols.cuh", "combine_groups", s.text, (index_type(order), "S"))
    kernel.over(groups * 32, (products, order, starts, groups, total, out))
    return found, out, False
