"""C[i,j] = A[i,j] where KEEP(A[i,j], thunk, i, j) is true, in two passes: each row is counted, then copied.

Row r is the entries starts[r]..ends[r]; it is row r of the matrix, or row rows[r] (LISTED: a DCSR matrix).
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64, KEEP, LISTED, THUNK, X_ISO, X


def count(
    starts: INT64,
    ends: INT64,
    rows: INT64,
    indices: INDEX,
    values: X,
    thunks: THUNK,
    counts: INT64,
    first: int,
    last: int,
):
    """Rows first..last: how many entries of each are kept."""
    x = values[0]
    thunk = thunks[0]
    for r in range(first, last):
        i = r
        if LISTED:
            i = rows[r]
        found = 0
        for p in range(starts[r], ends[r]):
            if not X_ISO:
                x = values[p]
            j = np.int64(indices[p])
            found += KEEP(x, thunk, i, j)
        counts[r] = found


def copy(
    starts: INT64,
    ends: INT64,
    rows: INT64,
    indices: INDEX,
    values: X,
    thunks: THUNK,
    out_ptr: INT64,
    out_indices: INDEX,
    out_values: X,
    first: int,
    last: int,
):
    """Rows first..last: the kept entries of row r to out_ptr[r] and on."""
    x = values[0]
    thunk = thunks[0]
    for r in range(first, last):
        i = r
        if LISTED:
            i = rows[r]
        at = out_ptr[r]
        end = out_ptr[r + 1]
        if at == end:
            continue
        for p in range(starts[r], ends[r]):
            if not X_ISO:
                x = values[p]
            j = np.int64(indices[p])
            if KEEP(x, thunk, i, j):
                out_indices[at] = indices[p]
                if not X_ISO:
                    out_values[at] = x
                at += 1
