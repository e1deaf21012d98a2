"""Stable sorts on the device: by a range of bits, with payloads of 4 or 8 bytes (kernels/structure/radix_sort.cuh).

A pass moves 2 (key + payload) bytes of an entry for 8 bits of the key: 120 bytes for 40 bits with the input order as a
payload of 4 bytes.  CuPy's argsort, without a range of bits and with a payload of 8 bytes, moves 256.  CuPy sorts
small inputs, where launches take most of the time.
"""

import numpy as np

from ....planner import tuning
from ....storage.store import index_dtype
from .arrays import gather, index_type

RADIX, ITEMS, BITS = 256, 16, 8  # as in radix_sort.cuh
_UNSIGNED = {4: ("uint32_t", np.uint32), 8: ("word", np.uint64)}
_LIMIT = 63  # bits of a key
_STATES = 64 << 20  # bytes up to which the states of all passes are zeroed by one launch


def sorted_by_key(device, keys, bound, payloads=()):
    """[keys ascending, payloads in their order]; equal keys in input order.

    Types: keys integers of 4 or 8 bytes in 0 .. bound-1; payloads at most two arrays, of 4 or 8 bytes.
    payloads None: [keys, order], the permutation that sorts, of UINT32 (UINT64 from 2^32 keys on).
    """
    count = keys.shape[0]
    if count <= device.launcher.size(tuning.GPU_SORTED_KEYS, 64):
        order = device.xp.argsort(keys)  # CuPy's is always stable
        taken = [order] if payloads is None else [gather(device, payload, order) for payload in payloads]
        return [gather(device, keys, order), *taken]
    types = [keys.dtype, *([_order_type(count)] if payloads is None else [payload.dtype for payload in payloads])]
    arrays = [keys, *([None] if payloads is None else payloads)]
    bits = max(int(bound - 1).bit_length(), 1)
    passes = -(-bits // BITS)
    width = -(-bits // passes)
    launcher, names = device.launcher, [_UNSIGNED[dtype.itemsize][0] for dtype in types]
    threads = launcher.threads(256)
    histograms = device.zeros(passes * RADIX, np.uint64)
    kernel = launcher.kernel("structure/radix_sort.cuh", "radix_histograms", "", tuple(names[:1]))
    kernel(
        launcher.blocks(8 * launcher.processors, count, threads), threads, (keys, count, 0, width, passes, histograms)
    )
    template = (*(names + ["NoPayload"] * 2)[:3], str(width))
    kernel = launcher.kernel("structure/radix_sort.cuh", "radix_pass", "", template)
    tiles = -(-count // (threads * ITEMS))
    words = tiles * RADIX + 1  # the states of a pass, and the ticket
    at_once = passes if 8 * words * passes <= _STATES else 1
    states = device.zeros(at_once * words, np.uint64)
    spare = [[device.empty(count, dtype) for dtype in types] for _ in range(min(passes, 2))]
    shared = threads * ITEMS * max(dtype.itemsize for dtype in types)
    blocks = launcher.blocks(min(tiles, 4 * launcher.processors))
    for turn in range(passes):
        outputs = spare[turn & 1]
        if turn >= at_once:
            states[:] = 0
        now = states[turn % at_once * words :]
        a, b = ([*some, None, None][:3] for some in (arrays, outputs))
        kernel(blocks, threads, (
            *a, count, turn * width, *b, histograms[turn * RADIX :], now, now[tiles * RADIX :],
        ), shared=shared)  # fmt: skip
        arrays = outputs
    return arrays


def _order_type(count):
    return np.dtype(np.uint32 if count < 1 << 32 else np.uint64)


def _moves(values):
    """Do the values move with the keys?  Others are gathered by the order, which takes 32 bytes of DRAM an entry."""
    return values.dtype.itemsize in _UNSIGNED


def stable_order(device, keys, bound=None):
    """The permutation that sorts `keys`, equal keys in input order; integers of at most `bound` - 1."""
    if keys.dtype.itemsize < 4:
        return device.xp.argsort(keys)
    return sorted_by_key(device, keys, 1 << _LIMIT if bound is None else bound, None)[1]


def sorted_with(device, keys, bound, values=None):
    """(keys ascending, values in their order); equal keys in input order.  values may be None."""
    if values is None:
        return *sorted_by_key(device, keys, bound), None
    if _moves(values):
        return sorted_by_key(device, keys, bound, [values])
    keys, order = sorted_by_key(device, keys, bound, None)
    return keys, gather(device, values, order)


def sorted_pairs(device, rows, cols, nrows, ncols, values=None):
    """(rows, cols, values) sorted by row, then column; equal pairs in input order.  values may be None.

    Types: rows and columns come out as index_dtype of nrows and ncols.
    """
    shift = max(int(ncols - 1).bit_length(), 1)
    bits = shift + max(int(nrows - 1).bit_length(), 1)
    if bits > _LIMIT:
        order = _order_of_two(device, rows, cols, nrows, ncols)
        rows, cols = gather(device, rows, order), gather(device, cols, order)
        return rows, cols, None if values is None else gather(device, values, order)
    keys, values = sorted_with(device, _pair_keys(device, rows, cols, shift, bits), 1 << bits, values)
    return *split_pairs(device, keys, shift, nrows, ncols), values


def split_pairs(device, keys, shift, nrows, ncols):
    """(rows, columns) of keys row << shift | column; index_dtype of nrows and ncols."""
    count = keys.shape[0]
    rows, cols = device.empty(count, index_dtype(nrows)), device.empty(count, index_dtype(ncols))
    template = (_UNSIGNED[keys.dtype.itemsize][0], index_type(rows), index_type(cols))
    kernel = device.launcher.kernel("structure/radix_sort.cuh", "split_keys", "", template)
    kernel.over(count, (keys, count, shift, rows, cols))
    return rows, cols


def pair_order(device, rows, cols, nrows, ncols):
    """The stable permutation that sorts pairs by row, then column."""
    shift = max(int(ncols - 1).bit_length(), 1)
    bits = shift + max(int(nrows - 1).bit_length(), 1)
    if bits > _LIMIT:
        return _order_of_two(device, rows, cols, nrows, ncols)
    return stable_order(device, _pair_keys(device, rows, cols, shift, bits), 1 << bits)


def _pair_keys(device, rows, cols, shift, bits):
    """Sort keys row << shift | column, of 4 bytes where `bits` bits are enough."""
    name, kind = _UNSIGNED[4 if bits <= 32 else 8]
    keys = device.empty(cols.shape[0], kind)
    template = (index_type(rows), index_type(cols), name)
    kernel = device.launcher.kernel("structure/build.cuh", "pair_keys", "", template)
    kernel.over(cols.shape[0], (rows, cols, cols.shape[0], shift, keys))
    return keys


def _order_of_two(device, rows, cols, nrows, ncols):
    first = stable_order(device, cols, ncols)
    return gather(device, first, stable_order(device, gather(device, rows, first), nrows))


def transposed_entries(device, cols, rows, ncols, values=None):
    """(columns ascending, rows, values) of entries given by rows; equal columns in input order.  values may be None."""
    if values is None or _moves(values):
        found = sorted_by_key(device, cols, ncols, [rows] if values is None else [rows, values])
        return *found, *([None] * (3 - len(found)))
    lines, order = sorted_by_key(device, cols, ncols, None)
    return lines, gather(device, rows, order), gather(device, values, order)
