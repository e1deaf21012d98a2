"""C = A (op) B row by row: where both hold an entry, where either does (UNION), or A where B holds none (LACKING).

UNION: lone entries are copied, so all types are the operator's.  Rows of ascending columns are merged; where one row is
far
shorter than the other, its columns are searched in the longer one instead.  ISO_OUT: only the pattern is wanted.
"""

from grb_tile.backends.cpu.templates.placeholders import ADD, ISO_OUT, LACKING, UNION, X_ISO, Y_ISO, first_at_least

LOPSIDED = 12


def rows(x_ptr, x_indices, x_values, y_ptr, y_indices, y_values, out_indices, out_values, counts, first, last, start):
    """Rows first..last; results are packed from place `start` on; returns how many."""
    at = start
    x = x_values[0]
    y = y_values[0]
    for i in range(first, last):
        begin = at
        p = x_ptr[i]
        p_end = x_ptr[i + 1]
        q = y_ptr[i]
        q_end = y_ptr[i + 1]
        if not UNION and q_end - q > LOPSIDED * (p_end - p):
            while p < p_end:
                j = x_indices[p]
                q = first_at_least(y_indices, q, q_end, j)
                if (q < q_end and y_indices[q] == j) != LACKING:
                    out_indices[at] = j
                    if not ISO_OUT:
                        if not X_ISO:
                            x = x_values[p]
                        if LACKING:
                            out_values[at] = x
                        else:
                            if not Y_ISO:
                                y = y_values[q]
                            out_values[at] = ADD(x, y)
                    at += 1
                p += 1
        elif not UNION and not LACKING and p_end - p > LOPSIDED * (q_end - q):
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
                            out_values[at] = x
                        else:
                            out_values[at] = y
                    at += 1
                else:
                    out_indices[at] = j
                    if LACKING:
                        if not ISO_OUT:
                            out_values[at] = x
                        at += j < k
                    else:
                        if not ISO_OUT and j == k:
                            out_values[at] = ADD(x, y)
                        at += j == k
                p += j <= k
                q += k <= j
        if UNION or LACKING:
            while p < p_end:
                out_indices[at] = x_indices[p]
                if not ISO_OUT:
                    if not X_ISO:
                        x = x_values[p]
                    out_values[at] = x
                at += 1
                p += 1
        if UNION:
            while q < q_end:
                out_indices[at] = y_indices[q]
                if not ISO_OUT:
                    if not Y_ISO:
                        y = y_values[q]
                    out_values[at] = y
                at += 1
                q += 1
        counts[i] = at - begin
    return at - start
