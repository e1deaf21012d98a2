"""Stable sorts on the device: by a range of bits, with a payload of 4 or 8 bytes (kernels/structure/radix_sort.cuh).

A pass moves 2 (key + payload) bytes of an entry for 8 bits of the key: 120 bytes for 40 bits with the input order as a
payload of 4 bytes, where CuPy's argsort, which has no range of bits and a payload of 8 bytes, moves 256.  CuPy sorts
few keys, because then its launches are what takes time.
"""

import numpy as np

from .entries import gather, index_type

FEW = 1 << 16  # keys up to which 5 passes take less than the 30 us of their launches
RADIX, ITEMS, BITS = 256, 16, 8  # as in radix_sort.cuh
_UNSIGNED = {4: ("uint32_t", np.uint32), 8: ("word", np.uint64)}
_LIMIT = 63  # bits of a key


def sorted_by_key(device, keys, bound, payload=None, ordered=True):
    """(keys ascending, payload in their order); equal keys in input order.

    Types: keys integers of 4 or 8 bytes in 0 .. bound-1; payload numbers of 4 or 8 bytes.
    payload None: the permutation that sorts, of UINT32 (UINT64 from 2^32 keys on), or None with ordered=False.
    """
    count = keys.shape[0]
    if count <= device.launcher.size(FEW, 64):
        order = device.xp.argsort(keys)  # CuPy's is always stable
        taken = None if not ordered else order if payload is None else gather(device, payload, order)
        return gather(device, keys, order), taken
    key_name, key_type = _UNSIGNED[keys.dtype.itemsize]
    if not ordered:
        name, kind = "NoPayload", None
    else:
        name, kind = _UNSIGNED[8 if count >= 1 << 32 else 4] if payload is None else _payload_type(payload)
    bits = max(int(bound - 1).bit_length(), 1)
    passes = -(-bits // BITS)
    width = -(-bits // passes)
    launcher = device.launcher
    histograms = device.zeros(passes * RADIX, np.uint64)
    kernel = launcher.kernel("structure/radix_sort.cuh", "radix_histograms", "", (key_name,))
    threads = launcher.threads(256)
    blocks = launcher.blocks(8 * launcher.processors, count, threads)
    kernel(blocks, threads, (keys, count, 0, width, passes, histograms))
    kernel = launcher.kernel("structure/radix_sort.cuh", "radix_pass", "", (key_name, name, str(width)))
    tiles = -(-count // (threads * ITEMS))
    states = device.empty(tiles * RADIX + 1, np.uint64)  # and the ticket
    size = 0 if kind is None else np.dtype(kind).itemsize
    given = keys.dtype, None if payload is None else payload.dtype
    spare = [(device.empty(count, key_type), size and device.empty(count, kind)) for _ in range(min(passes, 2))]
    shared = threads * ITEMS * max(keys.dtype.itemsize, size)
    blocks = launcher.blocks(min(tiles, 4 * launcher.processors))
    for turn in range(passes):
        out_keys, out_payload = spare[turn & 1]
        states[:] = 0
        kernel(blocks, threads, (
            keys, payload, count, turn * width, out_keys, out_payload, histograms[turn * RADIX :], states,
            states[tiles * RADIX :],
        ), shared=shared)  # fmt: skip
        keys, payload = out_keys, out_payload if size else None
    return keys.view(given[0]), payload if given[1] is None else payload.view(given[1])


def _payload_type(payload):
    return _UNSIGNED[payload.dtype.itemsize]


def stable_order(device, keys, bound=None):
    """The permutation that sorts `keys`, equal keys in input order; integers of at most `bound` - 1."""
    if keys.dtype.itemsize < 4:
        return device.xp.argsort(keys)
    return sorted_by_key(device, keys, 1 << _LIMIT if bound is None else bound)[1]


def sorted_pairs(device, rows, cols, nrows, ncols, values=None):
    """(rows, cols, values) sorted by row, then column; equal pairs in input order.  values may be None."""
    count = cols.shape[0]
    shift = max(int(ncols - 1).bit_length(), 1)
    bits = shift + max(int(nrows - 1).bit_length(), 1)
    direct = values is not None and values.dtype.itemsize == 4 and values.dtype.kind in "iuf"
    if bits > _LIMIT:
        order = _order_of_two(device, rows, cols, nrows, ncols)
        rows, cols = gather(device, rows, order), gather(device, cols, order)
        return rows, cols, None if values is None else gather(device, values, order)
    keys = _pair_keys(device, rows, cols, shift, bits)
    payload = values if direct else None
    keys, order = sorted_by_key(device, keys, 1 << bits, payload, values is not None)
    rows, cols = device.empty(count, rows.dtype), device.empty(count, cols.dtype)
    template = (_UNSIGNED[keys.dtype.itemsize][0], index_type(rows), index_type(cols))
    kernel = device.launcher.kernel("structure/radix_sort.cuh", "split_keys", "", template)
    kernel.over(count, (keys, count, shift, rows, cols))
    if direct:
        return rows, cols, order
    return rows, cols, None if values is None else gather(device, values, order)


def pair_order(device, rows, cols, nrows, ncols):
    """The stable permutation that sorts pairs by row, then column."""
    shift = max(int(ncols - 1).bit_length(), 1)
    bits = shift + max(int(nrows - 1).bit_length(), 1)
    if bits > _LIMIT:
        return _order_of_two(device, rows, cols, nrows, ncols)
    return stable_order(device, _pair_keys(device, rows, cols, shift, bits), 1 << bits)


def _pair_keys(device, rows, cols, shift, bits):
    """Sort keys row << shift | column, of at most 4 bytes where `bits` bits allow it."""
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
    """(columns ascending, rows, values) of entries given by rows; equal columns in input order.  values may be None.

    Rows of 4 bytes move with the keys, values of 4 bytes beside them; other values are gathered by the order.
    """
    small = rows.dtype.itemsize == 4
    if values is None:
        return *sorted_by_key(device, cols, ncols, rows), None
    if not small or values.dtype.itemsize != 4:
        lines, order = sorted_by_key(device, cols, ncols)
        return lines, gather(device, rows, order), gather(device, values, order)
    count = cols.shape[0]
    both = device.empty(count, np.uint64)
    kernel = device.launcher.kernel("structure/radix_sort.cuh", "join_halves", "", ("uint32_t",))
    kernel.over(count, (rows, values, count, both))
    lines, both = sorted_by_key(device, cols, ncols, both)
    rows, values = device.empty(count, rows.dtype), device.empty(count, values.dtype)
    kernel = device.launcher.kernel("structure/radix_sort.cuh", "split_halves", "", ("uint32_t",))
    kernel.over(count, (both, count, rows, values))
    return lines, rows, values
