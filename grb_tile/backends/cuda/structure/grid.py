"""One matrix of a grid of matrices, and a matrix cut into such a grid, on the device (kernels/structure/grid.cuh).

Tiles of few entries for the rows of the whole, which is then DCSR, are joined by a sort.
"""

import numpy as np

from ....storage.convert import share, wants_dcsr
from ....storage.store import Compressed, index_dtype
from .arrays import compressed, is_plain, moved_type, repeated, row_ids
from .formats import cast, choose_format
from .prefix_sums import prepared_sums
from .sorting import sorted_pairs

_HEADER = "structure/grid.cuh"
MOST_TILES = 16  # of a launch, as in grid.cuh


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
    if all(A.rows is None for A, _, _ in used) or not wants_dcsr(nrows, sum(A.indices.shape[0] for A, _, _ in used)):
        return choose_format(device, _joined(device, tiles, dtype, values[0] if iso else None))
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


def _joined(device, tiles, dtype, value):
    """The CSR matrix of a grid of tiles; value: of all entries, None where they differ."""
    if sum(map(len, tiles)) > MOST_TILES:  # halves of the grid, each made one matrix
        if len(tiles) > 1:
            half = len(tiles) // 2
            tiles = [[_joined(device, part, dtype, value)] for part in (tiles[:half], tiles[half:])]
        else:
            row, half = tiles[0], len(tiles[0]) // 2
            tiles = [[_joined(device, [part], dtype, value) for part in (row[:half], row[half:])]]
    nrows, ncols = sum(row[0].nrows for row in tiles), sum(A.ncols for A in tiles[0])
    total = sum(A.indices.shape[0] for row in tiles for A in row)
    indptr, columns = device.empty(nrows + 1, np.int64), device.empty(total, index_dtype(ncols))
    values = device.empty(total, dtype.np_type) if value is None else device.constant(value)
    of_starts, of_entries, top = [], [], 0
    for row in tiles:
        left, height = 0, row[0].nrows
        for A in row:
            if A.indices.shape[0]:
                starts = None if A.rows is None else device.empty(height + 1, np.int64)
                of_starts.append((top, height, A.indptr.shape[0] - 1, A.indptr, A.rows, starts))
                starts = A.indptr if starts is None else starts
                of_entries.append((top, height, left, starts, A.indices, _is_wide(A.indices), A.values, A.iso))
            left += A.ncols
        top += height
    count = len(of_starts)
    kernel = device.launcher.kernel(_HEADER, "joined_starts", "", ("void",))
    kernel.over(nrows + 1, (count, nrows, indptr, *_fields(of_starts, 6)))
    whole = nrows, total, indptr[1:], columns, _is_wide(columns), values if value is None else None
    kernel = device.launcher.kernel(_HEADER, "joined_entries", "", (moved_type(values),))
    kernel.over(total, (count, *whole, *_fields(of_entries, 8)))
    iso = value is not None and total > 0
    result = Compressed(nrows, ncols, dtype, indptr, columns, values if total else values[:0], iso)
    result.shared = iso
    return result


def split_matrix(device, A, heights, widths):
    """See protocol.Backend.split_matrix; one read-back.  NotImplemented where A has few entries for its rows."""
    if not is_plain(A.dtype) or wants_dcsr(A.nrows * len(widths), A.indices.shape[0]) or device.turns is not None:
        return NotImplemented
    if len(heights) * len(widths) == 1:
        return [[A]]
    return [[choose_format(device, tile) for tile in row] for row in _cut(device, A, heights, widths)]


def _cut(device, A, heights, widths):
    """The grid of A's tiles, CSR."""
    if len(heights) * len(widths) > MOST_TILES:  # halves of the grid, each cut
        if len(heights) > 1:
            half = len(heights) // 2
            parts = _cut(device, A, [sum(heights[:half]), sum(heights[half:])], [A.ncols])
            return _cut(device, parts[0][0], heights[:half], widths) + _cut(device, parts[1][0], heights[half:], widths)
        half = len(widths) // 2
        ((left, right),) = _cut(device, A, heights, [sum(widths[:half]), sum(widths[half:])])
        return [_cut(device, left, heights, widths[:half])[0] + _cut(device, right, heights, widths[half:])[0]]
    places, top = [], 0
    for height in heights:
        left = 0
        for width in widths:
            places.append((top, height, left, width))
            left += width
        top += height
    count, n, total, stored = len(places), A.nrows * len(widths), A.indices.shape[0], A.indptr.shape[0] - 1
    firsts = np.cumsum([0, *(height for _, height, _, _ in places)]).tolist()
    starts = device.zeros(1, np.int64) if n == 0 else device.empty(n + 1, np.int64)
    if n:
        blocks, threads, states = prepared_sums(device, n)
        given = A.indptr, A.rows, stored, A.indices, _is_wide(A.indices), starts
        kernel = device.launcher.kernel(_HEADER, "tile_starts", "", ("void",))
        kernel(blocks, threads, (count, n, *given, *states, None, *_fields(places, 4)))
    before = device.read(*(starts[first : first + 1] for first in firsts))
    found, of_entries = [], []
    for k, (top, height, left, width) in enumerate(places):
        entries = before[k + 1] - before[k]
        indptr, columns = device.empty(height + 1, np.int64), device.empty(entries, index_dtype(width))
        values = A.values[:0] if entries == 0 else A.values if A.iso else device.empty(entries, A.values.dtype)
        of_entries.append((
            top, height, left, starts[firsts[k] :], indptr, columns, _is_wide(columns),
            None if A.iso or entries == 0 else values,
        ))  # fmt: skip
        found.append(Compressed(height, width, A.dtype, indptr, columns, values, A.iso and entries > 0))
        if found[-1].iso:
            share(A, found[-1])
    kernel = device.launcher.kernel(_HEADER, "tile_entries", "", (moved_type(A.values),))
    kernel.over(max(total, max(heights) + 1), (
        count, stored, total, A.indptr[1:], A.rows, A.indices, _is_wide(A.indices), A.values, *_fields(of_entries, 8),
    ))  # fmt: skip
    across = len(widths)
    return [found[k : k + across] for k in range(0, count, across)]


def _is_wide(columns):
    return columns.dtype.itemsize == 8


def _fields(tiles, width):
    """The fields of the tiles, and zeros for those that a launch has no more of."""
    return [field for tile in tiles for field in tile] + [0] * (width * (MOST_TILES - len(tiles)))


def _values(device, A, count):
    return repeated(device, A.values, count) if A.iso else A.values[:count]
