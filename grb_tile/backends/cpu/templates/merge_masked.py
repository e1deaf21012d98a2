"""C<M> = A (op) B row by row at the entries of a mask M: union (UNION) or intersection.

Rows are spans of entries, and ADD, LONE_X, LONE_Y, ISO_OUT are as in merge_rows.py.  Each column of M's row is looked
up in the rows of A and B: from where the one before was found, entry by entry, or by binary search where the row is
more than LOPSIDED times longer than M's.  Work: O(entries of M), at most times the logarithm of a row's length; where
A and B have no entries that M does not have, O(entries of M, A and B).
"""

from grb_tile.backends.cpu.templates.placeholders import (
    ADD,
    INDEX,
    INT64,
    ISO_OUT,
    LONE_X,
    LONE_Y,
    UNION,
    X_DEFAULT,
    X_ISO,
    Y_DEFAULT,
    Y_ISO,
    X,
    Y,
    Z,
    first_at_least,
)

LOPSIDED = 12  # ratio of row lengths from which the columns of the mask are searched in the longer row


def reached(indices, lo, hi, k, is_long):
    """The first position in lo..hi whose index is at least k."""
    if is_long:
        return first_at_least(indices, lo, hi, k)
    while lo < hi and indices[lo] < k:
        lo += 1
    return lo


def rows(
    x_starts: INT64,
    x_ends: INT64,
    x_indices: INDEX,
    x_values: X,
    x_defaults: X_DEFAULT,
    y_starts: INT64,
    y_ends: INT64,
    y_indices: INDEX,
    y_values: Y,
    y_defaults: Y_DEFAULT,
    m_starts: INT64,
    m_ends: INT64,
    m_indices: INDEX,
    out_indices: INDEX,
    out_values: Z,
    counts: INT64,
    first: int,
    last: int,
    start: int,
):
    """Rows first..last; results are packed from position `start` on; returns how many."""
    at = start
    x = x_values[0]
    y = y_values[0]
    x_default = x_defaults[0]
    y_default = y_defaults[0]
    for i in range(first, last):
        begin = at
        m = m_starts[i]
        m_end = m_ends[i]
        if m < m_end:
            p = x_starts[i]
            p_end = x_ends[i]
            q = y_starts[i]
            q_end = y_ends[i]
            x_is_long = p_end - p > LOPSIDED * (m_end - m)
            y_is_long = q_end - q > LOPSIDED * (m_end - m)
            while m < m_end:
                k = m_indices[m]
                p = reached(x_indices, p, p_end, k, x_is_long)
                in_x = p < p_end and x_indices[p] == k
                if UNION or in_x:
                    q = reached(y_indices, q, q_end, k, y_is_long)
                    in_y = q < q_end and y_indices[q] == k
                    if in_y or UNION and in_x:
                        out_indices[at] = k
                        if not ISO_OUT:
                            if not X_ISO and in_x:
                                x = x_values[p]
                            if not Y_ISO and in_y:
                                y = y_values[q]
                            if not UNION:
                                out_values[at] = ADD(x, y)
                            elif in_x and in_y:
                                out_values[at] = ADD(x, y)
                            elif in_x:
                                out_values[at] = LONE_X(x, y_default)
                            else:
                                out_values[at] = LONE_Y(y, x_default)
                        at += 1
                m += 1
        counts[i] = at - begin
    return at - start


def matrices(
    x_ptr: INT64,
    x_indices: INDEX,
    x_values: X,
    x_defaults: X_DEFAULT,
    y_ptr: INT64,
    y_indices: INDEX,
    y_values: Y,
    y_defaults: Y_DEFAULT,
    m_ptr: INT64,
    m_indices: INDEX,
    out_ptr: INT64,
    out_indices: INDEX,
    out_values: Z,
):
    """All rows of CSR matrices; out_ptr becomes the row pointers of the result.  Returns its number of entries."""
    n = m_ptr.shape[0] - 1
    count = rows(
        x_ptr[:-1], x_ptr[1:], x_indices, x_values, x_defaults, y_ptr[:-1], y_ptr[1:], y_indices, y_values, y_defaults,
        m_ptr[:-1], m_ptr[1:], m_indices, out_indices, out_values, out_ptr[1:], 0, n, 0,
    )  # fmt: skip
    total = 0
    out_ptr[0] = 0
    for i in range(1, n + 1):
        total += out_ptr[i]
        out_ptr[i] = total
    return count
