"""C = kronecker(A, B): row i * n + k of C, n rows of B being stored, combines each entry of A's row i with B's row k.

Columns j * B.ncols + l ascend as j and l do, so that nothing is sorted.  ISO_OUT: only the structure is computed.
"""

from grb_tile.backends.cpu.templates.placeholders import (
    ADD,
    B_INDEX,
    INDEX,
    INT64,
    ISO_OUT,
    OUT_INDEX,
    X_ISO,
    Y_ISO,
    X,
    Y,
    Z,
)


def rows(
    a_ptr: INT64,
    a_indices: INDEX,
    a_values: X,
    b_ptr: INT64,
    b_indices: B_INDEX,
    b_values: Y,
    b_ncols: int,
    out_ptr: INT64,
    out_indices: OUT_INDEX,
    out_values: Z,
    first: int,
    last: int,
):
    """Rows first..last of the stored rows of C."""
    x = a_values[0]
    y = b_values[0]
    n = b_ptr.shape[0] - 1
    for r in range(first, last):
        i = r // n
        k = r - i * n
        q = out_ptr[r]
        for p in range(a_ptr[i], a_ptr[i + 1]):
            base = b_ncols * a_indices[p]
            if not X_ISO:
                x = a_values[p]
            for e in range(b_ptr[k], b_ptr[k + 1]):
                out_indices[q] = base + b_indices[e]
                if not ISO_OUT:
                    if not Y_ISO:
                        y = b_values[e]
                    out_values[q] = ADD(x, y)
                q += 1
