"""Masked SpGEMM by dot products, C<M> = A B: for each (i,j) of the mask, row i of A times row j of BT (column j of B).

Paper: push_pull_graphblas_icpp18, sections 5.2 (masking) and 5.3 (early exit).
Row i of A is scattered once into a dense bitmap (`words`, `row`); then the indices of each row j of BT are looked up in
it.  Where row j of BT is more than LOPSIDED times longer, the indices of A's row are found in it by binary search.
COUNT: plus_pair, which counts common indices.  Early exit: at the first product (ANY) or at the terminal value (EXIT).
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    A_ISO,
    ADD,
    ANY,
    B_INDEX,
    B_ISO,
    COUNT,
    EXIT,
    IDENTITY,
    INDEX,
    INT64,
    M_INDEX,
    MUL,
    NONE,
    OUT_INDEX,
    RESULT,
    TERMINAL,
    WORD,
    X,
    Y,
    Z,
    bit,
    first_at_least,
)

LOPSIDED = 12  # ratio of row lengths from which the shorter row is searched in the longer one


def dots(
    a_ptr: INT64,
    a_indices: INDEX,
    a_values: X,
    b_ptr: INT64,
    b_indices: B_INDEX,
    b_values: Y,
    m_ptr: INT64,
    m_indices: M_INDEX,
    words: WORD,
    row: X,
    out_indices: OUT_INDEX,
    out_values: Z,
    counts: INT64,
    first: int,
    last: int,
    begin: int,
):
    """Mask rows first..last; results are packed from position `begin` on; returns how many."""
    a = a_values[0]
    b = b_values[0]
    at = begin
    for i in range(first, last):
        start = at
        a_lo = a_ptr[i]
        a_hi = a_ptr[i + 1]
        if a_hi > a_lo and m_ptr[i + 1] > m_ptr[i]:
            for p in range(a_lo, a_hi):
                k = a_indices[p]
                words[k >> 6] |= bit(np.int64(k))
                if not A_ISO:
                    row[k] = a_values[p]
            lowest = a_indices[a_lo]
            highest = a_indices[a_hi - 1]
            for p in range(m_ptr[i], m_ptr[i + 1]):
                j = m_indices[p]
                b_lo = b_ptr[j]
                b_hi = b_ptr[j + 1]
                if b_lo == b_hi or b_indices[b_lo] > highest or b_indices[b_hi - 1] < lowest:
                    continue
                if COUNT:
                    hits = 0
                    if b_hi - b_lo > LOPSIDED * (a_hi - a_lo):
                        lo = b_lo
                        for e in range(a_lo, a_hi):
                            k = a_indices[e]
                            lo = first_at_least(b_indices, lo, b_hi, k)
                            if lo < b_hi and b_indices[lo] == k:
                                hits += 1
                    else:
                        for q in range(b_lo, b_hi):
                            k = b_indices[q]
                            hits += np.int64((words[k >> 6] >> np.uint64(k & 63)) & np.uint64(1))
                    if hits > 0:
                        out_indices[at] = j
                        out_values[at] = RESULT(hits)
                        at += 1
                else:
                    total = IDENTITY
                    met = False
                    if b_hi - b_lo > LOPSIDED * (a_hi - a_lo):
                        lo = b_lo
                        for e in range(a_lo, a_hi):
                            k = a_indices[e]
                            lo = first_at_least(b_indices, lo, b_hi, k)
                            if lo < b_hi and b_indices[lo] == k:
                                if not A_ISO:
                                    a = a_values[e]
                                if not B_ISO:
                                    b = b_values[lo]
                                t = MUL(a, b, i, k, j)
                                if met:
                                    total = ADD(total, t)
                                else:
                                    total = t
                                    met = True
                                if ANY:
                                    break
                                if EXIT and total == TERMINAL:
                                    break
                    else:
                        for q in range(b_lo, b_hi):
                            k = b_indices[q]
                            if words[k >> 6] & bit(np.int64(k)):
                                if not A_ISO:
                                    a = row[k]
                                if not B_ISO:
                                    b = b_values[q]
                                t = MUL(a, b, i, k, j)
                                if met:
                                    total = ADD(total, t)
                                else:
                                    total = t
                                    met = True
                                if ANY:
                                    break
                                if EXIT and total == TERMINAL:
                                    break
                    if met:
                        out_indices[at] = j
                        out_values[at] = total
                        at += 1
            for p in range(a_lo, a_hi):
                words[a_indices[p] >> 6] = NONE
        counts[i] = at - start
    return at - begin


def work(m_ptr: INT64, m_indices: M_INDEX, b_ptr: INT64, products: INT64):
    """products[i]: entries of the rows of BT that row i of the mask names; returns their sum."""
    everything = 0
    for i in range(m_ptr.shape[0] - 1):
        mine = 0
        for p in range(m_ptr[i], m_ptr[i + 1]):
            j = m_indices[p]
            mine += b_ptr[j + 1] - b_ptr[j]
        products[i] = mine
        everything += mine
    return everything


def add_up(counts: INT64):
    """Row pointers of the numbers of entries counts[1:], after a 0, in place."""
    total = 0
    for i in range(1, counts.shape[0]):
        total += counts[i]
        counts[i] = total
    return total
