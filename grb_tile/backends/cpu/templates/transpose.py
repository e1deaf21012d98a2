"""T[j,i] = A[i,j] by counting sort: a histogram of the columns, its exclusive scan, then a scatter of the entries.

Threads take blocks of rows; `counts[t]` is first the number of entries of block t in each column, then the next free
position of block t in each column, so that the entries of a column stay in the order of their rows (stable).
"""

from grb_tile.backends.cpu.templates.placeholders import A_ISO, INDEX, INT64, INT64_2D, OUT_INDEX, VALUE


def count(indices: INDEX, counts: INT64, first: int, last: int):
    """Histogram of the columns of the entries first..last."""
    for e in range(first, last):
        counts[indices[e]] += 1


def scan(counts: INT64_2D, indptr: INT64):
    """Exclusive scan of the counts of all blocks (one row each) into first positions; fills indptr."""
    at = 0
    blocks = counts.shape[0]
    for j in range(counts.shape[1]):
        indptr[j] = at
        for t in range(blocks):
            mine = counts[t, j]
            counts[t, j] = at
            at += mine
    indptr[counts.shape[1]] = at


def scatter(
    indptr: INT64,
    indices: INDEX,
    values: VALUE,
    free: INT64,
    out_indices: OUT_INDEX,
    out_values: VALUE,
    first: int,
    last: int,
):
    """The entries of rows first..last to their positions in T."""
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            at = free[j]
            free[j] = at + 1
            out_indices[at] = i
            if not A_ISO:
                out_values[at] = values[e]
