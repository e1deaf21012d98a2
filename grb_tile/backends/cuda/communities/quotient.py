"""The graph of classes of equal labels: entries relabelled, sorted and combined, as a build with duplicates.

A product with the matrix of labels would put each row's entries into hash tables, most of which are large; a radix sort
streams.  Sums of whole numbers are formed by blocks in shared memory before the sort, which is then of few where
classes are few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import FP64, UINT32
from ....storage.store import Compressed, index_dtype
from ..structure.arrays import cast_array, compressed, gather, ranges, row_ids, segment_starts
from ..structure.build import build_matrix, fold
from ..structure.prefix_sums import Flagged
from ..structure.sorting import sorted_by_key, split_pairs
from .row_labels import long_row, whole_weights

if TYPE_CHECKING:
    from ..runtime.device import Device

BYTES = 64  # for an entry, at most: two labels, keys and values before and after the sort
THREADS, SLOTS = 512, 8192  # of a block that sums entries: tables of 96 KiB, two of which a multiprocessor has room for


def quotient(device: Device, A: Compressed, labels: Any, count: int, dup: Any, inner: bool = True) -> Any:
    """See GraphOperations.quotient; NotImplemented where memory is short."""
    if A.nvals * BYTES > device.memory()[0]:
        return NotImplemented
    plain = A.rows is None and A.indices.dtype == np.int32 == index_dtype(count)
    if plain and dup.name == "plus" and A.dtype is FP64 and 0 < A.nvals < 2**31:
        kind, weights, least = whole_weights(device, A)
        if kind != "STORED":
            return _summed(device, A, labels.astype(np.int32), count, dup, inner, kind, weights)
    values = A.values[:1] if A.iso else A.values
    if inner or A.rows is not None or A.indices.dtype != np.int32:
        rows, cols = gather(device, labels, row_ids(device, A)), gather(device, labels, A.indices)
        if not inner:
            kept = Flagged(device, rows != cols)
            (rows, cols), values = kept.of(rows, cols), values if A.iso else kept.of(None, values)[1]
    else:
        label = labels.astype(np.int32)
        kept = _flagged(device, A, label, False)
        columns, found = kept.of(A.indices, None if A.iso else values)
        values, cols = values if A.iso else found, gather(device, label, columns)
        ends = kept.starts(A.indptr)[1:]
        rows = ranges(device, None, ends, kept.count, names=label, segment_dtype=np.int32, want_at=False)[0]
    return build_matrix(device, count, count, rows, cols, values, dup, A.dtype)


def entries_inside(device: Device, A: Compressed, labels: Any) -> Any:
    """See GraphOperations.entries_inside."""
    if A.indices.dtype == np.int32:
        kept = _flagged(device, A, labels.astype(np.int32), True)
    else:
        kept = Flagged(device, gather(device, labels, row_ids(device, A)) == gather(device, labels, A.indices))
    indices, values = kept.of(A.indices, None if A.iso else A.values)
    iso = A.iso and kept.count > 0
    values = A.values[: int(iso)] if A.iso else values
    return Compressed(A.nrows, A.ncols, A.dtype, kept.starts(A.indptr), indices, values, iso)


def _flagged(device: Device, A: Compressed, label: Any, within: bool) -> Flagged:
    """The entries within classes, or those between them; label: int32."""
    flags = device.empty(A.indices.shape[0], np.bool_)
    kernel = device.launcher.kernel("communities/quotient.cuh", "between_classes")
    kernel.over(32 * A.nrows, (A.indptr, A.indices, label, A.nrows, within, long_row(device), flags))
    return Flagged(device, flags)


def _summed(device: Device, A: Compressed, labels: Any, count: int, dup: Any, inner: bool, kind: str, weights: Any):
    """The quotient of weights that are equal or whole numbers."""
    launcher, entries = device.launcher, A.indices.shape[0]
    shift = max(int(count - 1).bit_length(), 1)
    pairs, sums, listed = device.empty(entries, np.uint64), device.empty(entries, np.uint32), device.counters()
    threads, slots = launcher.threads(THREADS), launcher.size(launcher.limits.power_of_two_with(SLOTS, 12), 1024)
    kernel = launcher.kernel("communities/quotient.cuh", "class_entries", "", (kind,))
    operands = A.indptr, A.indices, weights, labels, A.nrows, entries, slots, shift, inner, pairs, sums, listed
    kernel(kernel.resident_blocks(threads, 12 * slots), threads, operands, 12 * slots)
    total = device.read_count(listed)
    pairs, sums = pairs[:total], sums[:total]
    values = None
    if total > 1:
        pairs, sums = sorted_by_key(device, pairs, 1 << 2 * shift, [sums])
        starts = segment_starts(device, None, pairs.view(np.int64))
        if starts.shape[0] < total:
            values, _ = fold(device, sums, False, starts, total, dup, A.dtype)
            pairs = gather(device, pairs, starts)
    if values is None:
        values = cast_array(device, sums, UINT32, A.dtype)
    if A.iso:
        values *= device.iso_value(A)  # of counts
    return compressed(device, count, count, A.dtype, *split_pairs(device, pairs, shift, count, count), values)
