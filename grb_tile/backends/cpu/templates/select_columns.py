"""The entries of each row whose columns lie in a range that may shift with the row: tril, triu, diag, colle, colgt.

Row i keeps the columns from low + slope * i to before high + slope * i: a run of it, since columns ascend.
"""

from grb_tile.backends.cpu.templates.placeholders import X_ISO, first_at_least


def find(indptr, indices, low, high, slope, starts, counts, first, last):
    """starts[i], counts[i]: the run of rows first..last."""
    for i in range(first, last):
        begin = first_at_least(indices, indptr[i], indptr[i + 1], low + slope * i)
        starts[i] = begin
        counts[i] = first_at_least(indices, begin, indptr[i + 1], high + slope * i) - begin


def copy(indices, values, starts, out_ptr, out_indices, out_values, first, last):
    """The runs of rows first..last to their places."""
    for i in range(first, last):
        shift = starts[i] - out_ptr[i]
        for p in range(out_ptr[i], out_ptr[i + 1]):
            out_indices[p] = indices[p + shift]
            if not X_ISO:
                out_values[p] = values[p + shift]
