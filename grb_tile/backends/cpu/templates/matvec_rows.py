"""Row-wise matrix-vector product (dot, pull; SpMV for a full x): w<mask> = A x, one dot product for each admitted row.

Two forms: over words of rows (LISTED False; `mask` empty or words, read through `flip`) and over a list of rows.
ISO_OUT: all results are one value, known beforehand; only the structure is computed.
Early exit of a row: at the first product (ANY), or at the terminal value (EXIT), tested at each entry of BOOL, and
every STRIDE entries of numbers, which seldom reach it.
Work: entries of the rows that the mask admits.
Paper: push_pull_graphblas_icpp18, sections 5.2 (masking) and 5.3 (early exit).
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    A_ISO,
    ADD,
    ANY,
    BOOLEAN,
    EXIT,
    IDENTITY,
    INDEX,
    INT64,
    ISO_OUT,
    LISTED,
    MUL,
    NONE,
    ROWS,
    STRIDE,
    TERMINAL,
    WORD,
    X_FULL,
    X_ISO,
    X,
    Y,
    Z,
    bit,
    ones,
    trailing_zeros,
)


def row_product(i, lo, hi, indices, a_values, x_words, x_values):
    """(any common index?, (+)_k A[i,k] (x) x[k]): the dot product of row i, entries lo..hi, with x."""
    a = a_values[0]
    b = x_values[0]
    if X_FULL:
        k = indices[lo]
        if not A_ISO:
            a = a_values[lo]
        if not X_ISO:
            b = x_values[k]
        total = MUL(a, b, i, k, 0)
        if not ANY:
            if EXIT and BOOLEAN:
                e = lo + 1
                while e < hi and total != TERMINAL:
                    k = indices[e]
                    if not A_ISO:
                        a = a_values[e]
                    if not X_ISO:
                        b = x_values[k]
                    t = MUL(a, b, i, k, 0)
                    total = ADD(total, t)
                    e += 1
            else:
                end = hi
                if EXIT:
                    end = min(hi, lo + STRIDE)
                for e in range(lo + 1, end):
                    k = indices[e]
                    if not A_ISO:
                        a = a_values[e]
                    if not X_ISO:
                        b = x_values[k]
                    t = MUL(a, b, i, k, 0)
                    total = ADD(total, t)
                if EXIT:
                    while end < hi and total != TERMINAL:
                        begin = end
                        end = min(hi, end + STRIDE)
                        for e in range(begin, end):
                            k = indices[e]
                            if not A_ISO:
                                a = a_values[e]
                            if not X_ISO:
                                b = x_values[k]
                            t = MUL(a, b, i, k, 0)
                            total = ADD(total, t)
        return True, total
    total = IDENTITY
    met = False
    if BOOLEAN:  # without branches, which cost more than the products of entries that x does not have
        e = lo
        while e < hi and not (EXIT and total == TERMINAL):
            k = indices[e]
            present = (x_words[k >> 6] & bit(np.int64(k))) != NONE
            if not A_ISO:
                a = a_values[e]
            if not X_ISO:
                b = x_values[k]
            t = MUL(a, b, i, k, 0)
            more = ADD(total, t)
            total = (more & present) | (total & (not present))
            met = met | present
            e += 1
        return met, total
    for e in range(lo, hi):
        k = indices[e]
        if x_words[k >> 6] & bit(np.int64(k)):
            if not A_ISO:
                a = a_values[e]
            if not X_ISO:
                b = x_values[k]
            t = MUL(a, b, i, k, 0)
            if ANY:
                return True, t
            if met:
                total = ADD(total, t)
            else:
                total = t
                met = True
            if EXIT and total == TERMINAL:
                break
    return met, total


if LISTED:

    def matvec_rows(
        indptr: INT64,
        indices: INDEX,
        a_values: X,
        x_words: WORD,
        x_values: Y,
        rows: ROWS,
        out_indices: ROWS,
        out_values: Z,
        first: int,
        last: int,
    ):
        """Rows rows[first:last]; results are packed from position `first` on; returns how many."""
        count = first
        for r in range(first, last):
            i = np.int64(rows[r])
            lo = indptr[i]
            hi = indptr[i + 1]
            if hi > lo:
                met, total = row_product(i, lo, hi, indices, a_values, x_words, x_values)
                if met:
                    out_indices[count] = i
                    if not ISO_OUT:
                        out_values[count] = total
                    count += 1
        return count - first

else:

    def matvec_rows(
        indptr: INT64,
        indices: INDEX,
        a_values: X,
        x_words: WORD,
        x_values: Y,
        mask: WORD,
        flip: np.uint64,
        out_words: WORD,
        out_values: Z,
        first: int,
        last: int,
    ):
        """Rows of the words first..last; returns how many results there are."""
        n = indptr.shape[0] - 1
        masked = mask.shape[0] > 0
        count = 0
        for w in range(first, last):
            base = w * 64
            got = NONE
            if X_FULL and not masked:  # every row: no bits to test
                end = min(base + 64, n)
                lo = indptr[base]
                for i in range(base, end):
                    hi = indptr[i + 1]
                    if ISO_OUT:
                        got |= np.uint64(hi > lo) << np.uint64(i - base)
                    elif hi > lo:
                        met, total = row_product(i, lo, hi, indices, a_values, x_words, x_values)
                        got |= bit(i)
                        out_values[i] = total
                    lo = hi
                out_words[w] = got
                count += ones(got)
                continue
            todo = ~NONE
            if masked:
                todo = mask[w] ^ flip
            if n - base < 64:
                todo &= bit(n - base) - np.uint64(1)
            while todo != NONE:
                b = trailing_zeros(todo)
                todo &= todo - np.uint64(1)
                i = base + b
                lo = indptr[i]
                hi = indptr[i + 1]
                if hi > lo:
                    met, total = row_product(i, lo, hi, indices, a_values, x_words, x_values)
                    if met:
                        got |= bit(b)
                        if not ISO_OUT:
                            out_values[i] = total
            out_words[w] = got
            count += ones(got)
        return count
