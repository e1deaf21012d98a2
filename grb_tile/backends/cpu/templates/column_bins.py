"""Entries of a matrix in the order of bins of rows, in a bin by slabs of columns, in a slab as they are stored.

Threads take bins.  `cells[b * slabs + s]` is first the number of entries of bin b in slab s, then the next
free position.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import CODE, INDEX, INT64, VALUE


def count(indptr: INT64, indices: INDEX, cells: INT64, slabs: int, slab: int, rows: int, first: int, last: int):
    """Entries of each cell of the bins first..last, of 2^rows rows each; 2^slab columns are a slab."""
    n = indptr.shape[0] - 1
    for b in range(first, last):
        base = b * slabs
        for e in range(indptr[b << rows], indptr[min(n, (b + 1) << rows)]):
            cells[base + (np.int64(indices[e]) >> slab)] += 1


def place(
    indptr: INT64,
    indices: INDEX,
    cells: INT64,
    slabs: int,
    slab: int,
    rows: int,
    out_columns: CODE,
    out_rows: CODE,
    first: int,
    last: int,
):
    """Column in the slab and row in the bin of each entry; 2^rows is added to the row of a row's first entry."""
    n = indptr.shape[0] - 1
    inside = (1 << slab) - 1
    for b in range(first, last):
        base = b * slabs
        row = b << rows
        for i in range(row, min(n, (b + 1) << rows)):
            code = (i - row) | (1 << rows)
            for e in range(indptr[i], indptr[i + 1]):
                k = np.int64(indices[e])
                cell = base + (k >> slab)
                at = cells[cell]
                cells[cell] = at + 1
                out_columns[at] = k & inside
                out_rows[at] = code
                code = i - row


def place_values(
    indptr: INT64,
    indices: INDEX,
    values: VALUE,
    cells: INT64,
    slabs: int,
    slab: int,
    rows: int,
    out_values: VALUE,
    first: int,
    last: int,
):
    """The values, in the same order."""
    n = indptr.shape[0] - 1
    for b in range(first, last):
        base = b * slabs
        for e in range(indptr[b << rows], indptr[min(n, (b + 1) << rows)]):
            cell = base + (np.int64(indices[e]) >> slab)
            at = cells[cell]
            cells[cell] = at + 1
            out_values[at] = values[e]
