"""SpGEMM by Gustavson's algorithm, C<M> = A B: row i of C sums the rows k of B at the columns k of row i of A.

Paper: Gustavson, "Two fast algorithms for sparse matrices" (ACM TOMS 4, 1978).
Dense accumulator (SPA): `total` has the sums, `words` a presence bit for each column, `summary` a bit for each word in
use.  `words` and `summary` are zero between rows, so that clearing costs O(row), and `total` is arbitrary where absent.
MASK "none": all columns; "pattern": those in row i of M, tested before the product is formed, by `allowed`, the bits of
M's row; "complement": all others, the bits of M's row are deleted from those of C's.  A row of at most FEW columns is
sorted by insertion; longer ones are read from the bits in order.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    A_ISO,
    ADD,
    ANY,
    B_INDEX,
    B_ISO,
    INDEX,
    INT64,
    M_INDEX,
    MASK,
    MUL,
    NONE,
    OUT_INDEX,
    WORD,
    X,
    Y,
    Z,
    bit,
    sort_few,
    take_bits,
)

FEW = 24  # columns of a row of C up to which insertion sort is faster than a scan of the summary


def multiply(
    a_ptr: INT64,
    a_indices: INDEX,
    a_values: X,
    b_ptr: INT64,
    b_indices: B_INDEX,
    b_values: Y,
    m_ptr: INT64,
    m_indices: M_INDEX,
    words: WORD,
    summary: WORD,
    total: Z,
    allowed: WORD,
    counts: INT64,
    out_indices: OUT_INDEX,
    out_values: Z,
    first: int,
    last: int,
):
    """Rows first..last, packed from position 0 of the outputs; counts[i]: entries of row i; returns their sum."""
    a = a_values[0]
    b = b_values[0]
    at = 0
    for i in range(first, last):
        start = at
        a_lo = a_ptr[i]
        a_hi = a_ptr[i + 1]
        if a_lo == a_hi:
            counts[i] = 0
            continue
        if MASK == "pattern":
            if m_ptr[i] == m_ptr[i + 1]:
                counts[i] = 0
                continue
            for p in range(m_ptr[i], m_ptr[i + 1]):
                j = m_indices[p]
                allowed[j >> 6] |= bit(np.int64(j))
        for p in range(a_lo, a_hi):
            k = a_indices[p]
            if not A_ISO:
                a = a_values[p]
            for q in range(b_ptr[k], b_ptr[k + 1]):
                j = b_indices[q]
                w = j >> 6
                mask = bit(np.int64(j))
                if MASK == "pattern" and not allowed[w] & mask:
                    continue
                present = words[w]
                if present & mask:
                    if not ANY:
                        if not B_ISO:
                            b = b_values[q]
                        t = MUL(a, b, i, k, j)
                        total[j] = ADD(total[j], t)
                else:
                    words[w] = present | mask
                    if not B_ISO:
                        b = b_values[q]
                    total[j] = MUL(a, b, i, k, j)
                    if MASK != "pattern":
                        if present == NONE:
                            summary[w >> 6] |= bit(np.int64(w))
                        if at - start < FEW:
                            out_indices[at] = j
                        at += 1
        if MASK == "pattern":
            for p in range(m_ptr[i], m_ptr[i + 1]):
                j = m_indices[p]
                if words[j >> 6] & bit(np.int64(j)):
                    out_indices[at] = j
                    out_values[at] = total[j]
                    at += 1
            for p in range(m_ptr[i], m_ptr[i + 1]):
                w = m_indices[p] >> 6
                words[w] = NONE
                allowed[w] = NONE
        else:
            if MASK == "complement":
                for p in range(m_ptr[i], m_ptr[i + 1]):
                    j = m_indices[p]
                    words[j >> 6] &= ~bit(np.int64(j))
            if at - start <= FEW:
                sort_few(out_indices, start, at)
                if MASK == "complement":
                    end = at
                    at = start
                    for p in range(start, end):
                        j = out_indices[p]
                        summary[j >> 12] = NONE
                        if words[j >> 6] & bit(np.int64(j)):
                            out_indices[at] = j
                            at += 1
                for p in range(start, at):
                    j = out_indices[p]
                    words[j >> 6] = NONE
                    summary[j >> 12] = NONE
            else:
                at = take_bits(words, summary, out_indices, start, 0, summary.shape[0])
            for p in range(start, at):
                out_values[p] = total[out_indices[p]]
        counts[i] = at - start
    return at


def distinct(
    a_ptr: INT64,
    a_indices: INDEX,
    a_values: X,
    b_ptr: INT64,
    b_indices: B_INDEX,
    b_values: Y,
    out_ptr: INT64,
    out_indices: OUT_INDEX,
    out_values: Z,
    first: int,
    last: int,
):
    """Rows first..last where the products of a row have distinct, ascending columns: each product is an entry of C."""
    a = a_values[0]
    b = b_values[0]
    for i in range(first, last):
        at = out_ptr[i]
        for p in range(a_ptr[i], a_ptr[i + 1]):
            k = a_indices[p]
            if not A_ISO:
                a = a_values[p]
            for q in range(b_ptr[k], b_ptr[k + 1]):
                j = b_indices[q]
                if not B_ISO:
                    b = b_values[q]
                out_indices[at] = j
                out_values[at] = MUL(a, b, i, k, j)
                at += 1


def work(a_ptr: INT64, a_indices: INDEX, b_ptr: INT64, ncols: int, products: INT64, bounds: INT64):
    """Upper bounds in place of a symbolic phase: products[i] multiplications, bounds[i] entries of row i of C."""
    everything = 0
    for i in range(a_ptr.shape[0] - 1):
        flops = 0
        for p in range(a_ptr[i], a_ptr[i + 1]):
            k = a_indices[p]
            flops += b_ptr[k + 1] - b_ptr[k]
        everything += flops
        products[i] = flops
        bounds[i] = min(flops, ncols)
    return everything


def add_up(counts: INT64):
    """Row pointers of the numbers of entries counts[1:], after a 0, in place."""
    total = 0
    for i in range(1, counts.shape[0]):
        total += counts[i]
        counts[i] = total
    return total
