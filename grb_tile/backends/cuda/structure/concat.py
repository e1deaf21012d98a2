"""One matrix of a grid of matrices, on the device: entries are copied, and sorted where rows have several parts."""

import numpy as np

from .arrays import compressed, is_plain, repeated, row_ids
from .formats import cast, choose_format
from .sorting import sorted_pairs


def concat_matrices(device, tiles, dtype):
    """See protocol.Backend.concat_matrices; no read-back but that of values which all entries of a tile share."""
    if not is_plain(dtype):
        return NotImplemented
    tiles = [[cast(device, A, dtype) for A in row] for row in tiles]
    heights, widths = [row[0].nrows for row in tiles], [A.ncols for A in tiles[0]]
    nrows, ncols, xp = sum(heights), sum(widths), device.xp
    used = [
        (A, sum(heights[:r]), sum(widths[:c]))
        for r, row in enumerate(tiles)
        for c, A in enumerate(row)
        if A.indices.shape[0]
    ]
    if not used:
        nothing = device.empty(0, np.int64)
        return compressed(device, nrows, ncols, dtype, nothing, nothing, device.empty(0, dtype.np_type))
    values = [device.iso_value(A) if A.iso else None for A, _, _ in used]
    iso = values[0] is not None and all(x is not None and x.tobytes() == values[0].tobytes() for x in values)
    rows = xp.concatenate([row_ids(device, A) + top for A, top, _ in used])
    cols = xp.concatenate([A.indices.astype(np.int64) + left for A, _, left in used])
    if iso:
        values, used[0][0].shared = used[0][0].values, True
    else:
        values = xp.concatenate([_values(device, A, A.indices.shape[0]) for A, _, _ in used])
    if len(widths) > 1:
        rows, cols, moved = sorted_pairs(device, rows, cols, nrows, ncols, None if iso else values)
        values = values if iso else moved
    return choose_format(device, compressed(device, nrows, ncols, dtype, rows, cols, values, iso))


def _values(device, A, count):
    return repeated(device, A.values, count) if A.iso else A.values[:count]
