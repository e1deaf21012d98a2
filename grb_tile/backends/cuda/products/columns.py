"""SpMSpV on the device: products merged into a clean accumulator by atomics, or sorted by row and combined (ESC).

Kernels: products/columns.cuh. Where a bitmap costs less than a list (planner: stays_bitmap), the accumulator becomes
the result, its entries are counted on the device, and the same launch clears the accumulator of the next product: one
launch, no read-back. Otherwise the result is compacted into a list, which clears the entries that the product wrote,
and the accumulator is kept.
"""

import numpy as np

from ....planner.record import UNRECORDED
from ....storage import convert as conversions
from ....storage.store import BitmapVector, SparseVector, index_dtype
from ..runtime.late_vector import LateVector
from ..structure.arrays import (
    as_type,
    empty_vector,
    gather,
    index_type,
    ranges,
    segment_starts,
    to_sparse,
    vector_of,
    words_of,
)
from ..structure.formats import convert
from ..structure.prefix_sums import numbers_of
from ..structure.rows import longest_row, summed_rows
from ..structure.sorting import stable_order
from .column_launch import merge_of
from .row_schedule import pointers

PART = 256  # words that one warp compacts, at least
MOST_PARTS = 4096


def merged(device, AT, x, s, mask, plan=UNRECORDED):
    """The product merged by atomics; plan: records the kernel."""
    size = AT.ncols
    mask_words, complement = None, False
    if mask is not None:
        pattern, complement = mask.pattern, mask.complement
        mask_words = pattern.words if pattern.format == "bitmap" else words_of(device, pattern)
    x_indices, x_words, x_values, count = None, None, x.values, x.size
    if x.format == "sparse":
        x_indices = x.indices
        count = x_indices.shape[0]
    elif x.words is not None:
        x_words = x.words
    elif AT.rows is not None:
        if s.reads_x and not s.x_iso:
            x_values = gather(device, x_values, AT.rows)
        x_indices, count = AT.rows, AT.rows.shape[0]
    kind = "b" if x_words is not None else "f" if x_indices is None else x_indices.dtype.char
    merge = merge_of(device, AT, s, mask_words is not None, kind)
    edges = int(x.estimated_nvals * merge.mean)
    renew = merge.stays_bitmap or device.turns is not None
    space = merge(
        x_indices, x_words, x_values if s.reads_x else None, count, edges, mask_words, complement, renew, plan
    )
    if not renew:
        return _taken(device, merge, size, s, AT, x, space, *space.arrays())
    estimate = edges + 1 if edges < size else size
    if not s.structure_only:
        return LateVector.of_arrays(device, size, s.dtype, space.arrays, space.counted, estimate)
    value = merge.value
    if value is None:
        value = s.value(device, AT, x)
        if s.one.fixed:  # the same constant for all
            merge.value = value
    result = LateVector(device, size, s.dtype, space.words(), value, space.counted, True, estimate)
    result.shared = True
    return result


def _taken(device, merge, size, s, AT, x, space, w, words):
    """The result: the accumulator itself, or a list compacted from it; then the accumulator is cleared and kept."""
    iso = s.structure_only
    count = words.shape[0]
    part = max(PART, -(-count // MOST_PARTS))
    parts = -(-count // part)
    numbers = device.empty(parts, np.int64)
    launcher = device.launcher
    launcher.kernel("products/columns.cuh", "part_members").over(parts * 32, (words, count, part, parts, numbers))
    found = device.read(space.counted())[0]
    if found == 0:
        merge.keep(space)
        return empty_vector(device, size, s.dtype)
    if found == size or found * conversions.SPARSE_TO_BITMAP > size and found >= conversions.TINY:
        values = s.value(device, AT, x) if iso else w
        result = BitmapVector(size, s.dtype, None if found == size else words, values, found, iso)
        result.shared = iso
        return result
    indices = device.empty(found, index_dtype(size))
    values = None if iso else device.empty(found, s.dtype.np_type)
    kernel = s.kernel(launcher, "products/columns.cuh", "compact_words", (index_type(indices), "S"))
    kernel.over(parts * 32, (words, count, part, parts, numbers, w, indices, values))
    merge.keep(space)
    result = SparseVector(size, s.dtype, indices, s.value(device, AT, x) if iso else values, iso)
    result.shared = iso
    return result


def edges_of(device, AT, u, at_most=False):
    """Entries of the rows of AT at u's entries, counted on the device and read back; kept with u.

    at_most: if each of these rows were as long as the longest, which is read back once a matrix.
    """
    if at_most:
        return min(u.nvals * longest_row(device, AT), AT.indices.shape[0])
    forms = conversions.forms_of(u)
    known = forms.get("edges")
    if known is not None and known[0] is AT.indices:
        return known[1]
    total = device.counters()
    indices, words = (u.indices, None) if u.format == "sparse" else (None, u.words)
    add_edges(device, AT, indices, words, u.size if indices is None else indices.shape[0], total)
    found = float(device.read(total)[0])
    forms["edges"] = AT.indices, found
    return found


def add_edges(device, AT, indices, words, count, total):
    """total[0] += entries of the rows of AT at `count` indices, or at the members of `words` (None: all), `count`
    positions.
    """
    ptr = pointers(device, AT)
    if indices is None:
        kernel = device.launcher.kernel("products/edges.cuh", "edges_of_members", "", (index_type(ptr),))
        kernel.over(-(-count // (64 * 8)) * 32, (words, count, ptr, total))  # a warp has 8 words
    else:
        kernel = device.launcher.kernel("products/edges.cuh", "edges_of", "", (index_type(ptr), index_type(indices)))
        kernel.over(count, (indices, count, ptr, total))


def sorted_products(device, AT, x, s, mask):
    """Expand, sort, compress (ESC): any type and operator, workspace of the number of products."""
    size = AT.ncols
    full = x.nvals == x.size
    if full and AT.rows is None and AT.nrows > 64 * AT.indices.shape[0] + 4096:
        AT = convert(device, AT, "dcsr")
    if full:
        held, starts, indptr, total = AT.rows, AT.indptr[:-1], AT.indptr, AT.indices.shape[0]
        values = x.values
        if held is not None and s.reads_x and not s.x_iso:
            values = gather(device, values, held)
        x_indices = held
    else:
        u = to_sparse(device, x)
        count = u.indices.shape[0]
        if count == 0:
            return empty_vector(device, size, s.dtype)
        wanted, values, x_indices = as_type(device, u.indices, np.dtype(np.int64)), u.values, u.indices
        starts, indptr, total = summed_rows(device, AT, wanted)
    if total == 0:
        return empty_vector(device, size, s.dtype)
    segment, at = ranges(device, device.array(starts), indptr[1:], total)
    products = None if s.structure_only else device.empty(total, s.dtype.np_type)
    keep = device.empty(total, np.bool_)
    mask_words = mask_indices = None
    mask_count = 0
    if mask is not None:
        if mask.pattern.format == "bitmap":
            mask_words = mask.pattern.words
        else:
            mask_indices = mask.pattern.indices
            mask_count = mask_indices.shape[0]
    kernel = device.launcher.kernel("products/columns.cuh", "column_products", s.text, (
        index_type(AT.indices), "int64_t" if x_indices is None else index_type(x_indices),
        "int32_t" if mask_indices is None else index_type(mask_indices), "S"))  # fmt: skip
    kernel.over(total, (
        segment, at, total, x_indices, values if s.reads_x else None, AT.indices, AT.values if s.reads_a else None,
        mask_words, mask_indices, mask_count, mask is not None, mask is not None and mask.complement, products, keep,
    ))  # fmt: skip
    rows = gather(device, AT.indices, at)
    if mask is not None:
        kept = numbers_of(device, keep)
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
    kernel = device.launcher.kernel("products/columns.cuh", "combine_groups", s.text, (index_type(order), "S"))
    kernel.over(groups * 32, (products, order, starts, groups, total, out))
    return found, out, False
