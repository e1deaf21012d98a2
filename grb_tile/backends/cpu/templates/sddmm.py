"""SDDMM: C<M> = A B for full A (row-major) and full B (column-major), at the entries of the mask M only.

    C(i, j) = (+)_l A[i, l] (x) B[l, j]      for each entry (i, j) of M, one dot product of two contiguous rows

Four totals are kept, because in a single chain each addition waits for the one before.
Work: depth times the entries of M.
Source: Nisa, Sukumaran-Rajam, Kurt, Hong, Sadayappan, "Sampled dense matrix multiplication for high-performance machine
learning" (2018), section 2.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    A_ISO,
    ADD,
    ANY,
    B_ISO,
    INDEX,
    INT64,
    MUL,
    X,
    Y,
    Z,
)


def dot(a, p, b, q, i, j, depth):
    """(+)_l a[p + l] (x) b[q + l]; an iso operand has one value."""
    s = 1
    t = 1
    if A_ISO:
        p = 0
        s = 0
    if B_ISO:
        q = 0
        t = 0
    total = MUL(a[p], b[q], i, 0, j)
    if not ANY:
        l = 1
        if depth >= 8:
            second = MUL(a[p + s], b[q + t], i, 1, j)
            third = MUL(a[p + 2 * s], b[q + 2 * t], i, 2, j)
            fourth = MUL(a[p + 3 * s], b[q + 3 * t], i, 3, j)
            l = 4
            while l + 4 <= depth:
                total = ADD(total, MUL(a[p + l * s], b[q + l * t], i, l, j))
                second = ADD(second, MUL(a[p + (l + 1) * s], b[q + (l + 1) * t], i, l + 1, j))
                third = ADD(third, MUL(a[p + (l + 2) * s], b[q + (l + 2) * t], i, l + 2, j))
                fourth = ADD(fourth, MUL(a[p + (l + 3) * s], b[q + (l + 3) * t], i, l + 3, j))
                l += 4
            total = ADD(ADD(total, second), ADD(third, fourth))
        while l < depth:
            total = ADD(total, MUL(a[p + l * s], b[q + l * t], i, l, j))
            l += 1
    return total


def entries(
    indptr: INT64,
    indices: INDEX,
    a_values: X,
    b_values: Y,
    depth: int,
    out_values: Z,
    first: int,
    last: int,
):
    """Rows first..last of M; `depth` is at least 1."""
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[e])
            out_values[e] = dot(a_values, i * depth, b_values, j * depth, i, j, depth)
