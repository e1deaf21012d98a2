"""select by column range: tril, triu, diag, colle, colgt.

Row i keeps the columns in [low + slope * i, high + slope * i): one run of its entries, because columns ascend.
"""

from grb_tile.backends.cpu.templates.placeholders import X_ISO, first_at_least


def find(indptr, indices, low, high, slope, starts, counts, first, last):
    """First pass, rows first..last: starts[i], counts[i] of each run by binary search."""
    for i in range(first, last):
        begin = first_at_least(indices, indptr[i], indptr[i + 1], low + slope * i)
        starts[i] = begin
        counts[i] = first_at_least(indices, begin, indptr[i + 1], high + slope * i) - begin


def copy(indices, values, starts, out_ptr, out_indices, out_values, first, last):
    """Second pass, rows first..last: copy the runs to the output."""
    for i in range(first, last):
        shift = starts[i] - out_ptr[i]
        for p in range(out_ptr[i], out_ptr[i + 1]):
            out_indices[p] = indices[p + shift]
            if not X_ISO:
                out_values[p] = values[p + shift]
