"""C = A (op) B row by row: intersection, union (UNION), or the entries of A that B does not have (DIFFERENCE).

Row r of A is its entries x_starts[r]..x_ends[r], so that A and B may be CSR or DCSR, or sparse vectors cut into ranges.
Two rows of ascending columns are merged.  Where one row is more than LOPSIDED times longer, the columns of the shorter
are found in it by binary search.  ADD casts its operands and its result; LONE_X and LONE_Y are the result of an entry
of one operand: cast, or combined with the default of the other.  ISO_OUT: only the structure is computed.
"""

from grb_tile.backends.cpu.templates.placeholders import (
    ADD,
    DIFFERENCE,
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

FEW = 3  # ratio of row lengths from which the entries of the longer row are copied up to the next of the shorter
LOPSIDED = 12  # ratio of row lengths from which the shorter row is searched in the longer one


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
        p = x_starts[i]
        p_end = x_ends[i]
        q = y_starts[i]
        q_end = y_ends[i]
        if not UNION and q_end - q > LOPSIDED * (p_end - p):
            while p < p_end:
                j = x_indices[p]
                q = first_at_least(y_indices, q, q_end, j)
                if (q < q_end and y_indices[q] == j) != DIFFERENCE:
                    out_indices[at] = j
                    if not ISO_OUT:
                        if not X_ISO:
                            x = x_values[p]
                        if DIFFERENCE:
                            out_values[at] = LONE_X(x, y_default)
                        else:
                            if not Y_ISO:
                                y = y_values[q]
                            out_values[at] = ADD(x, y)
                    at += 1
                p += 1
        elif not UNION and not DIFFERENCE and p_end - p > LOPSIDED * (q_end - q):
            while q < q_end:
                j = y_indices[q]
                p = first_at_least(x_indices, p, p_end, j)
                if p < p_end and x_indices[p] == j:
                    out_indices[at] = j
                    if not ISO_OUT:
                        if not X_ISO:
                            x = x_values[p]
                        if not Y_ISO:
                            y = y_values[q]
                        out_values[at] = ADD(x, y)
                    at += 1
                q += 1
        elif (UNION or DIFFERENCE) and p_end - p > FEW * (q_end - q):
            while q < q_end:
                k = y_indices[q]
                while p < p_end and x_indices[p] < k:
                    out_indices[at] = x_indices[p]
                    if not ISO_OUT:
                        if not X_ISO:
                            x = x_values[p]
                        out_values[at] = LONE_X(x, y_default)
                    at += 1
                    p += 1
                both = p < p_end and x_indices[p] == k
                if UNION:
                    out_indices[at] = k
                    if not ISO_OUT:
                        if not Y_ISO:
                            y = y_values[q]
                        if both:
                            if not X_ISO:
                                x = x_values[p]
                            out_values[at] = ADD(x, y)
                        else:
                            out_values[at] = LONE_Y(y, x_default)
                    at += 1
                p += both
                q += 1
        else:
            while p < p_end and q < q_end:
                j = x_indices[p]
                k = y_indices[q]
                if not X_ISO:
                    x = x_values[p]
                if not Y_ISO:
                    y = y_values[q]
                if UNION:
                    out_indices[at] = min(j, k)
                    if not ISO_OUT:
                        if j == k:
                            out_values[at] = ADD(x, y)
                        elif j < k:
                            out_values[at] = LONE_X(x, y_default)
                        else:
                            out_values[at] = LONE_Y(y, x_default)
                    at += 1
                else:
                    out_indices[at] = j
                    if DIFFERENCE:
                        if not ISO_OUT:
                            out_values[at] = LONE_X(x, y_default)
                        at += j < k
                    else:
                        if not ISO_OUT and j == k:
                            out_values[at] = ADD(x, y)
                        at += j == k
                p += j <= k
                q += k <= j
        if UNION or DIFFERENCE:
            while p < p_end:
                out_indices[at] = x_indices[p]
                if not ISO_OUT:
                    if not X_ISO:
                        x = x_values[p]
                    out_values[at] = LONE_X(x, y_default)
                at += 1
                p += 1
        if UNION:
            while q < q_end:
                out_indices[at] = y_indices[q]
                if not ISO_OUT:
                    if not Y_ISO:
                        y = y_values[q]
                    out_values[at] = LONE_Y(y, x_default)
                at += 1
                q += 1
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
    out_ptr: INT64,
    out_indices: INDEX,
    out_values: Z,
):
    """All rows of two CSR matrices; out_ptr becomes the row pointers of the result.  Returns its number of entries."""
    n = x_ptr.shape[0] - 1
    count = rows(
        x_ptr[:-1], x_ptr[1:], x_indices, x_values, x_defaults, y_ptr[:-1], y_ptr[1:], y_indices, y_values, y_defaults,
        out_indices, out_values, out_ptr[1:], 0, n, 0,
    )  # fmt: skip
    total = 0
    out_ptr[0] = 0
    for i in range(1, n + 1):
        total += out_ptr[i]
        out_ptr[i] = total
    return count
