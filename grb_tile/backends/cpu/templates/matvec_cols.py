"""SpMSpV, column-wise (saxpy, push): w<mask> = A x, only the columns k present in x are read; arrays of A's transpose.

Dense accumulator (SPA) of each thread: `total` has the sums, `words` the presence bits, `summary` a bit for each word
in use, so that a sparse result costs no pass over all words.  Words and summary are zero before and after.
Sums over most columns need no presence bits in the accumulator: `sum_columns` starts from identities.
Work: entries of the columns in x.  The mask is tested before a product is formed.
ISO_OUT: all results are one value, known beforehand; only the bits are computed, without a branch that mask or
presence decide (a mispredicted one costs 4 to 7 ns an edge), and `admit` applies the mask to whole words afterwards.
Paper: push_pull_graphblas_icpp18, section 6.2 (column-based masked matvec).
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    A_ISO,
    ADD,
    ANY,
    INDEX,
    INT64,
    ISO_OUT,
    MUL,
    NONE,
    OUT_INDEX,
    WORD,
    X_INDEX,
    X_ISO,
    X,
    Y,
    Z,
    bit,
    ones,
    trailing_zeros,
)


def scatter(
    indptr: INT64,
    indices: INDEX,
    a_values: X,
    x_indices: X_INDEX,
    x_values: Y,
    mask: WORD,
    flip: np.uint64,
    words: WORD,
    summary: WORD,
    total: Z,
    first: int,
    last: int,
):
    """Scatter the columns x_indices[first:last] into the accumulator; returns how many positions were new.

    ISO_OUT: the mask is not applied and 0 is returned; `admit` does both.
    """
    count = 0
    a = a_values[0]
    b = x_values[0]
    masked = mask.shape[0] > 0
    for p in range(first, last):
        k = np.int64(x_indices[p])
        if not X_ISO:
            b = x_values[p]
        for e in range(indptr[k], indptr[k + 1]):
            i = indices[e]
            flag = bit(np.int64(i))
            w = i >> 6
            if ISO_OUT:
                present = words[w]
                if present == NONE:
                    summary[w >> 6] |= bit(np.int64(w))
                words[w] = present | flag
                continue
            if masked and not (mask[w] ^ flip) & flag:
                continue
            present = words[w]
            if present & flag:
                if not ANY:
                    if not A_ISO:
                        a = a_values[e]
                    t = MUL(a, b, i, k, 0)
                    total[i] = ADD(total[i], t)
            else:
                if present == NONE:
                    summary[w >> 6] |= bit(np.int64(w))
                words[w] = present | flag
                count += 1
                if not A_ISO:
                    a = a_values[e]
                total[i] = MUL(a, b, i, k, 0)
    return count


def sum_columns(
    indptr: INT64,
    indices: INDEX,
    a_values: X,
    x_words: WORD,
    x_values: Y,
    words: WORD,
    total: Z,
    first: int,
    last: int,
):
    """Add the columns first..last times x to `total`, which holds identities where nothing was added, and set `words`.

    x is a bitmap, all of it present where x_words has no words.
    """
    a = a_values[0]
    b = x_values[0]
    partial = x_words.shape[0] > 0
    for k in range(first, last):
        if partial and not x_words[k >> 6] & bit(k):
            continue
        if not X_ISO:
            b = x_values[k]
        for e in range(indptr[k], indptr[k + 1]):
            i = indices[e]
            words[i >> 6] |= bit(np.int64(i))
            if not A_ISO:
                a = a_values[e]
            t = MUL(a, b, i, k, 0)
            total[i] = ADD(total[i], t)


def admit(words: WORD, summary: WORD, mask: WORD, flip: np.uint64, first: int, last: int):
    """Clear the bits outside the mask, over the summary words first..last; returns how many are left."""
    count = 0
    masked = mask.shape[0] > 0
    for s in range(first, last):
        some = summary[s]
        while some != NONE:
            w = s * 64 + trailing_zeros(some)
            some &= some - np.uint64(1)
            if masked:
                words[w] &= mask[w] ^ flip
            count += ones(words[w])
    return count


def admit_words(words: WORD, mask: WORD, flip: np.uint64):
    """Clear the bits outside the mask, over all words; returns how many are left."""
    count = 0
    masked = mask.shape[0] > 0
    for w in range(words.shape[0]):
        if masked:
            words[w] &= mask[w] ^ flip
        count += ones(words[w])
    return count


def merge(
    words: WORD, summary: WORD, total: Z, other_words: WORD, other_summary: WORD, other_total: Z, first: int, last: int
):
    """Add another thread's accumulator, over the summary words first..last; returns how many positions were new."""
    count = 0
    for s in range(first, last):
        some = other_summary[s]
        other_summary[s] = NONE
        summary[s] |= some
        while some != NONE:
            w = s * 64 + trailing_zeros(some)
            some &= some - np.uint64(1)
            theirs = other_words[w]
            other_words[w] = NONE
            mine = words[w]
            words[w] = mine | theirs
            count += ones(theirs & ~mine)
            if not ISO_OUT:
                while theirs != NONE:
                    i = w * 64 + trailing_zeros(theirs)
                    theirs &= theirs - np.uint64(1)
                    if mine & bit(i):
                        if not ANY:
                            t = other_total[i]
                            total[i] = ADD(total[i], t)
                    else:
                        total[i] = other_total[i]
    return count


def gather(
    words: WORD, summary: WORD, total: Z, out_indices: OUT_INDEX, out_values: Z, first: int, last: int, start: int
):
    """The results of the summary words first..last, ascending, from position `start` on; clears words and summary."""
    at = start
    for s in range(first, last):
        some = summary[s]
        summary[s] = NONE
        while some != NONE:
            w = s * 64 + trailing_zeros(some)
            some &= some - np.uint64(1)
            rest = words[w]
            words[w] = NONE
            while rest != NONE:
                i = w * 64 + trailing_zeros(rest)
                rest &= rest - np.uint64(1)
                out_indices[at] = i
                if not ISO_OUT:
                    out_values[at] = total[i]
                at += 1
    return at - start
