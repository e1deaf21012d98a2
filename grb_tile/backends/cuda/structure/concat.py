"""One matrix of a grid of matrices, on the device (kernels/structure/concat.cuh); sorted where the result is DCSR."""

import numpy as np

from ....storage.convert import wants_dcsr
from ....storage.store import Compressed, index_dtype
from ..runtime.moves import copied
from .arrays import compressed, index_type, is_plain, moved_type, ranges, repeated, row_ids
from .formats import cast, choose_format, convert
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
    if all(A.rows is None for A, _, _ in used) or not wants_dcsr(nrows, sum(A.indices.shape[0] for A, _, _ in used)):
        tiles = [[convert(device, A, "csr") if A.indices.shape[0] else A for A in row] for row in tiles]
        return _concat_csr(device, tiles, dtype, values[0] if iso else None)
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


def _concat_csr(device, tiles, dtype, value):
    """concat_matrices of CSR tiles, or empty ones; value: of all entries, None where they differ."""
    nrows, ncols = sum(row[0].nrows for row in tiles), sum(A.ncols for A in tiles[0])
    total = sum(A.indices.shape[0] for row in tiles for A in row)
    columns, indptr = device.empty(total, index_dtype(ncols)), device.empty(nrows + 1, np.int64)
    values = device.constant(value) if value is not None else device.empty(total, dtype.np_type)
    launch = _Launches(device, columns, values if value is None else None)
    top = first = 0
    for row in tiles:
        used, left, height = [], 0, row[0].nrows
        for A in row:
            if A.indices.shape[0]:
                used.append((A, left))
            left += A.ncols
        starts = indptr[top : top + height + 1]
        for k, (A, _) in enumerate(used or [(None, 0)]):
            launch.add_starts(A and A.indptr, first if k == 0 else 0, k > 0, starts)
        cursors = copied(device, starts[:height]) if len(used) > 1 else None
        for A, left in used:
            launch.put(A, left, first, cursors)
        top, first = top + height, first + sum(A.indices.shape[0] for A, _ in used)
    result = Compressed(nrows, ncols, dtype, indptr, columns, values, value is not None)
    result.shared = result.iso
    return choose_format(device, result)


class _Launches:
    """The kernels of kernels/structure/concat.cuh, into these arrays of the result; values None: one for all."""

    def __init__(self, device, columns, values):
        self.device, self.columns, self.values = device, columns, values

    def _over(self, name, template, n, *arguments):
        self.device.launcher.kernel("structure/concat.cuh", name, "", template).over(n, arguments)

    def add_starts(self, starts, first, more, out):
        """The row pointers of a row of tiles are `starts`, from `first` on; more: these are added."""
        self._over("add_starts", ("void",), out.shape[0], starts, out.shape[0], first, more, out)

    def put(self, A, left, first, cursors):
        """Copy a tile's entries; cursors: where each of its rows goes on, moved behind them; None: from `first`."""
        device, n, at = self.device, A.indices.shape[0], None
        if cursors is not None:
            at = ranges(device, cursors, A.indptr[1:], n, want_segment=False)[1]
        template = index_type(A.indices), index_type(self.columns), moved_type(A.values)
        self._over(
            "put_entries", template, n, at, n, first, A.indices, left, A.values, A.iso, self.columns, self.values
        )  # fmt: skip
        if cursors is not None:
            self._over("move_cursors", ("void",), A.nrows, A.indptr, A.nrows, cursors)


def _values(device, A, count):
    return repeated(device, A.values, count) if A.iso else A.values[:count]
