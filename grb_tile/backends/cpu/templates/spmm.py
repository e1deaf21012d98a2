"""SpMM, row-wise: C = A X, A in CSR, X and C dense and row-major with n columns; a row of A is read once for all.

    C[i, :] = (+)_k A[i,k] (x) X[k, :]      row k of X is added to row i of C, which stays in the first cache

X_FULL: every position of X is present, and so is every position of a row of C whose row of A has entries.  Otherwise
out_flags (zero at first) gets which positions of C are present.  Values at absent positions are arbitrary.
Work: n times the entries of A.
Source: Yang, Buluc, Owens, "Design principles for sparse matrix multiplication on the GPU" (2018), section 4 (row
splitting), with a thread's rows in place of a warp's.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    A_ISO,
    ADD,
    ANY,
    FLAG,
    INDEX,
    INT64,
    MUL,
    NONE,
    WORD,
    X_FULL,
    X_ISO,
    X,
    Y,
    Z,
    bit,
)


def rows(
    indptr: INT64,
    indices: INDEX,
    a_values: X,
    x_words: WORD,
    x_values: Y,
    n: int,
    out_flags: FLAG,
    out_values: Z,
    first: int,
    last: int,
):
    """Rows first..last of C."""
    a = a_values[0]
    b = x_values[0]
    for i in range(first, last):
        lo = indptr[i]
        hi = indptr[i + 1]
        if hi == lo:
            continue
        out = out_values[i * n : i * n + n]
        if X_FULL:
            k = np.int64(indices[lo])
            if not A_ISO:
                a = a_values[lo]
            if X_ISO:
                for j in range(n):
                    out[j] = MUL(a, b, i, k, j)
            else:
                x = x_values[k * n : k * n + n]
                for j in range(n):
                    out[j] = MUL(a, x[j], i, k, j)
            if not ANY:
                for e in range(lo + 1, hi):
                    k = np.int64(indices[e])
                    if not A_ISO:
                        a = a_values[e]
                    if X_ISO:
                        for j in range(n):
                            out[j] = ADD(out[j], MUL(a, b, i, k, j))
                    else:
                        x = x_values[k * n : k * n + n]
                        for j in range(n):
                            out[j] = ADD(out[j], MUL(a, x[j], i, k, j))
        else:
            met = out_flags[i * n : i * n + n]
            for e in range(lo, hi):
                k = np.int64(indices[e])
                if not A_ISO:
                    a = a_values[e]
                for j in range(n):
                    p = k * n + j
                    if x_words[p >> 6] & bit(p) != NONE:
                        if not X_ISO:
                            b = x_values[p]
                        if not met[j]:
                            out[j] = MUL(a, b, i, k, j)
                            met[j] = True
                        elif not ANY:
                            out[j] = ADD(out[j], MUL(a, b, i, k, j))
