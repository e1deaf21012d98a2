"""out[e] = i for the entries e of row i of a CSR matrix, or rows[i] for DCSR (LISTED)."""

from grb_tile.backends.cpu.templates.placeholders import INT64, LISTED


def fill(indptr: INT64, rows: INT64, out: INT64, first: int, last: int):
    """Rows first..last."""
    for r in range(first, last):
        i = r
        if LISTED:
            i = rows[r]
        for e in range(indptr[r], indptr[r + 1]):
            out[e] = i
