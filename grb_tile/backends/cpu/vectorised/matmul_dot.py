"""SpGEMM by dot products in NumPy: C[i,j] = (+)_k A[i,k] (x) BT[j,k] at the entries of a mask.

For each (i,j) of the mask the columns of the shorter row of the two, A's i and BT's j, are looked up in the other:

    table     the positions of the entries of some longer rows in a dense table of (row, column), a few rows at a time,
              so that a look-up is one read from the cache
    search    by binary search, where the rows are too wide for that
"""

import numpy as np

from ....planner import tuning
from ....storage.convert import choose_format, compressed, occupied, row_ids, rows_csr
from ....storage.sorting import MAX_KEY, find, ranges, segment_starts
from ....storage.store import index_dtype
from .entries import empty_matrix, reduce_segments
from .multiply import products

EXPAND = 1 << 22  # look-ups of a block, by binary search
TABLE_LOOK_UPS = 1 << 18  # of a block over a table: 2 MB an array; 2^15 to 2^18 take the same time within 8 %
TABLE_CELLS = 1 << 22  # of 4 bytes


def matmul_dot(A, BT, semiring, mask):
    """C[i,j] = (+)_k A[i,k] (x) BT[j,k] at the entries of `mask` (no complement)."""
    nrows, ncols, dtype = A.nrows, BT.nrows, semiring.return_type
    pattern = mask.pattern
    if A.indices.shape[0] == 0 or BT.indices.shape[0] == 0 or pattern.indices.shape[0] == 0:
        return empty_matrix(nrows, ncols, dtype)
    i, j = row_ids(pattern), pattern.indices.astype(np.int64)
    a_first, a_length = rows_csr(A, i)
    b_first, b_length = rows_csr(BT, j)
    alive, is_short_a = np.minimum(a_length, b_length) > 0, a_length <= b_length
    keys, found = _Keys(A, BT), []
    for of_a, short, first, length, long, long_rows in (
        (True, A, a_first, a_length, BT, j),
        (False, BT, b_first, b_length, A, i),
    ):
        pairs = (alive & (is_short_a == of_a)).nonzero()[0]
        for block, at_short, at_long in _matches(pairs, short, first, length, long, long_rows, keys):
            at_a, at_b = (at_short, at_long) if of_a else (at_long, at_short)  # A and BT may be one object
            values = products(
                semiring.binaryop, A, lambda at_a=at_a: at_a, BT, at_b, lambda block=block: i[block],
                lambda at_a=at_a: A.indices[at_a], lambda block=block: j[block],
            )  # fmt: skip
            starts = segment_starts(block)
            found.append((block[starts], *reduce_segments(values, starts, block.shape[0], semiring.monoid)))
    if not found:
        return empty_matrix(nrows, ncols, dtype)
    iso = all(part[2] for part in found)
    which = np.concatenate([part[0] for part in found])
    order = which.argsort(kind="stable")
    which = which[order]
    if iso:
        values = found[0][1]
    else:
        values = np.concatenate([np.broadcast_to(v, at.shape) if same else v for at, v, same in found])[order]
    return choose_format(compressed(nrows, ncols, dtype, i[which], j[which].astype(index_dtype(ncols)), values, iso))


def _matches(pairs, short, first, length, long, long_rows, keys):
    """(pair, position in `short`, position in `long`) of the columns that the rows of each pair share, block by block.

    pairs: numbers of the mask's entries; first, length: the row of `short` of each; long_rows: the row of `long`.
    """
    if pairs.shape[0] == 0:
        return
    pairs = pairs[long_rows[pairs].argsort(kind="stable")]
    rows, counts = long_rows[pairs], length[pairs]
    starts = segment_starts(rows)
    total, width = int(counts.sum()), long.ncols
    rows_at_once = TABLE_CELLS // width if width else 0
    blocks = max(starts.shape[0] // max(rows_at_once, 1), total // TABLE_LOOK_UPS, 1)
    table = None
    if rows_at_once and total >= tuning.NUMPY_TABLE_LOOK_UPS * blocks and long.indices.shape[0] < 1 << 31:
        table = np.full(rows_at_once * width, -1, np.int32)
    ends = counts.cumsum()
    number = np.zeros(rows.shape[0], np.int64)  # of the row of `long`
    number[starts] = 1
    number = number.cumsum() - 1
    at, most = 0, EXPAND if table is None else TABLE_LOOK_UPS
    while at < pairs.shape[0]:
        before = int(ends[at - 1]) if at else 0
        stop = max(int(ends.searchsorted(before + most, "right")), at + 1)
        if table is not None:
            stop = min(stop, int(number.searchsorted(number[at] + rows_at_once)))
        block = slice(at, stop)
        at_short = ranges(first[pairs[block]], counts[block])
        columns = short.indices[at_short]
        if table is None:
            at_long, hit = keys.find(short, columns, rows[block], counts[block])
        else:
            named = starts[number[at] : number[stop - 1] + 1]
            at_long = _look_up(table, long, rows[named], (number[block] - number[at]).repeat(counts[block]), columns)
            hit = at_long >= 0
        hit = hit.nonzero()[0]
        if hit.shape[0]:
            yield pairs[block].repeat(counts[block])[hit], at_short[hit], at_long[hit]
        at = stop


def _look_up(table, long, rows, local, columns):
    """The position in `long` of the entry of row rows[local] in each column, or -1.  Leaves the table clear."""
    width = long.ncols
    first, lengths = rows_csr(long, rows)
    at = ranges(first, lengths)
    cells = (np.arange(rows.shape[0]) * width).repeat(lengths) + long.indices[at]
    table[cells] = at
    found = table[local * width + columns]
    table[cells] = -1
    return found


class _Keys:
    """Keys of (row, column), ascending, for binary search; renumbered where a key does not fit into 64 bits."""

    def __init__(self, A, BT):
        self._operands = A, BT
        self._keys = None

    def _make(self):
        A, BT = self._operands
        if max(A.nrows, BT.nrows) * A.ncols <= MAX_KEY:
            self._columns = None
            self._width = A.ncols
            self._keys = [row_ids(M) * A.ncols + M.indices for M in (A, BT)]
            return
        self._columns = np.unique(np.concatenate((A.indices, BT.indices)))
        self._rows = [occupied(M)[0] for M in (A, BT)]
        self._width = self._columns.shape[0]
        self._keys = [
            rows.searchsorted(row_ids(M)) * self._width + self._columns.searchsorted(M.indices)
            for rows, M in zip(self._rows, (A, BT))
        ]

    def find(self, short, columns, rows, counts):
        """(position, hit) in the operand that `short` is not: of `columns`, counts[k] of them in row rows[k]."""
        if self._keys is None:
            self._make()
        other = 1 if short is self._operands[0] else 0
        rows = rows.repeat(counts)
        if self._columns is not None:
            columns, rows = self._columns.searchsorted(columns), self._rows[other].searchsorted(rows)
        return find(rows * self._width + columns, self._keys[other])
