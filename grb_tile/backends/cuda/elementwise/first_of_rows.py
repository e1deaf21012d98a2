"""The first k entries of each row by value on the device.  Semantics: backends/protocol.py.

Kernels: elementwise/first_of_rows.cuh; structure/transpose.cuh for the first and the last by place.  Read-backs: the
size of the result, the length of the longest row; the number of long rows, and of their pieces, where there are some.
"""

import numpy as np

from ....hashing import key_of
from ....storage.convert import share
from ....storage.store import index_dtype
from ..runtime.launch import bits_of
from ..runtime.moves import copied
from ..structure.arrays import gather, progression, ranges, to_sparse, vector_of
from ..structure.positions import empty_like, is_matrix, keep_matrix_entries
from ..structure.prefix_sums import numbers_of, running_sums
from ..structure.rows import capped_rows, longest_row
from ..structure.sorting import sorted_by_key
from .values import all_plain

WARP_ROW = 1024  # entries of a row for a warp
PIECE = 1 << 14  # entries of a long row for a block: the first k of each piece, then those of the row among them
SHRINK = 16  # pieces have that many times k entries, so that few rounds suffice
LONE_ROW = 1 << 17  # entries of a single row that one block selects from in the time of a sort by all


def first_of_rows(device, x, how, k, seed):
    is_ordered = how in ("smallest", "largest")
    if not all_plain(x.dtype) or is_ordered and x.dtype.np_type.kind == "c":
        return NotImplemented
    if x.format == "bitmap" and x.words is not None:
        x = to_sparse(device, x)
    count = x.nvals
    if count == 0:
        return x
    if k == 0:
        return empty_like(device, x, x.dtype)
    k, from_end, matrix = min(k, count), how in ("last", "largest"), is_matrix(x)
    by_place = how != "random" and (x.iso or not is_ordered)
    if matrix and by_place:
        return capped_rows(device, x, k, from_end)
    if not matrix and count <= k:
        return x
    if by_place:
        return _part(device, x, count - k if from_end else 0, k)
    indptr, longest = x.indptr if matrix else device.array(np.array([0, count], np.int64)), count
    if matrix:
        longest = longest_row(device, x)
        if longest <= k:
            return x
    keys = ("uint64_t", None, key_of(seed, 0), False) if how == "random" else (x.dtype.cuda_type, x.values, 0, from_end)
    kept = _selected(device, indptr, longest, keys, k)
    if matrix:
        return keep_matrix_entries(device, x, kept)
    values = x.values if x.iso else gather(device, x.values, kept)
    indices = kept if x.format == "bitmap" else gather(device, x.indices, kept)
    result = vector_of(device, x.size, x.dtype, indices, values, x.iso)
    return share(x, result) if x.iso else result


def _part(device, x, start, count):
    """The vector of `count` entries from the one numbered `start` on."""
    part = slice(start, start + count)
    if x.format == "bitmap":
        indices = progression(device, count, index_dtype(x.size), start)
    else:
        indices = copied(device, x.indices[part])
    values = x.values if x.iso else copied(device, x.values[part])
    result = vector_of(device, x.size, x.dtype, indices, values, x.iso)
    return share(x, result) if x.iso else result


def _selected(device, indptr, longest, keys, k):
    """The numbers of the entries that are kept, ascending.

    keys: (C++ type, values or None for hashes of the entries' numbers, key of the hashes, whether the largest are kept)
    """
    piece, entries = max(device.launcher.size(PIECE, 64), SHRINK * k), None
    if longest <= 4 * piece and indptr.shape[0] == 2 and longest > device.launcher.size(LONE_ROW, 100):
        return _sorted(device, longest, keys, k)
    while longest > 4 * piece:
        last, pieces = running_sums(device, (indptr[1:] - indptr[:-1] + (piece - 1)) // piece, total=True)
        row, number = ranges(device, device.zeros(last.shape[0], np.int64), last, pieces)
        starts = device.empty(pieces + 1, np.int64)
        starts[:-1] = gather(device, indptr, row) + number * piece
        starts[-1:] = indptr[-1:]
        entries, ends = _select(device, starts, piece, entries, keys, k)
        indptr = gather(device, ends, device.xp.concatenate((device.zeros(1, last.dtype), last)))
        longest = min(longest, k * -(-longest // piece))
    return _select(device, indptr, longest, entries, keys, k)[0]


def _sorted(device, n, keys, k):
    """_selected of a single row of n entries, many of which are kept: the keys are sorted, by all blocks."""
    name, values, key, largest = keys
    order = order_of_keys(device, n, name, values, key, largest, largest)[:k].astype(np.int64)
    return device.xp.sort(n - 1 - order if largest else order)


def order_of_keys(device, n, name, values, key, backwards, descending):
    """The permutation of n entries, counted from the last one if `backwards`, that sorts their keys.

    values: of C++ type `name`; None, with uint64_t: keys are hashes of the entries' numbers under `key`.
    """
    keys = device.empty(n, np.uint32 if values is not None and values.dtype.itemsize <= 4 else np.uint64)
    kernel = device.launcher.kernel("elementwise/first_of_rows.cuh", "keys_of_row", "", (name,))
    kernel.over(n, (values, bits_of(key), backwards, descending, n, keys))
    return sorted_by_key(device, keys, 1 << (8 * keys.dtype.itemsize), None)[1]


def _select(device, indptr, longest, entries, keys, k):
    """(numbers of the entries that are kept, where those of each row begin)"""
    n, launcher = indptr.shape[0] - 1, device.launcher
    lengths = indptr[1:] - indptr[:-1]
    out = device.zeros(n + 1, np.int64)
    out[1:], found = running_sums(device, device.xp.minimum(lengths, k), total=True)
    kept = device.empty(found, np.int64)
    of_warp = launcher.size(WARP_ROW, 64)
    name, values, key, largest = keys
    rest = (entries, values, bits_of(key), largest, k, out, kept)
    if longest > of_warp:
        rows = numbers_of(device, lengths > of_warp)
        kernel = launcher.kernel("elementwise/first_of_rows.cuh", "first_of_rows", "", (name, "true"))
        blocks = launcher.blocks(min(rows.shape[0], 8 * launcher.processors))
        kernel(blocks, launcher.threads(1024), (indptr, rows, rows.shape[0], of_warp, *rest))
        if rows.shape[0] == n:
            return kept, out
    kernel = launcher.kernel("elementwise/first_of_rows.cuh", "first_of_rows", "", (name, "false"))
    kernel.over(32 * n, (indptr, None, n, of_warp, *rest))
    return kept, out
