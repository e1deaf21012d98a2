"""w<allow> = A x by columns: only the columns k present in x are walked; `at` is A's transpose by rows.

Each thread collects into its own accumulator `total` with presence bits `words` and, so that sparse results need no
pass over all of them, a bit in `summary` for each word that has one.  Words and summary are all zero before and after.
ISO_OUT: all results are one value, known beforehand: only the bits are collected.
Work: entries of the columns in x.  `allow` is asked before anything is accumulated.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    A_ISO,
    ADD,
    ANY,
    ISO_OUT,
    MUL,
    NONE,
    X_ISO,
    bit,
    ones,
    trailing_zeros,
)


def scatter(indptr, indices, a_values, x_indices, x_values, allow, flip, words, summary, total, first, last):
    """Columns x_indices[first:last] into the accumulator; returns how many places were new."""
    count = 0
    a = a_values[0]
    b = x_values[0]
    masked = allow.shape[0] > 0
    for p in range(first, last):
        k = np.int64(x_indices[p])
        if not X_ISO:
            b = x_values[p]
        for e in range(indptr[k], indptr[k + 1]):
            i = indices[e]
            mask = bit(np.int64(i))
            w = i >> 6
            if masked and not (allow[w] ^ flip) & mask:
                continue
            present = words[w]
            if present & mask:
                if not ANY:
                    if not A_ISO:
                        a = a_values[e]
                    t = MUL(a, b, i, k, 0)
                    total[i] = ADD(total[i], t)
            else:
                if present == NONE:
                    summary[w >> 6] |= bit(np.int64(w))
                words[w] = present | mask
                count += 1
                if not ISO_OUT:
                    if not A_ISO:
                        a = a_values[e]
                    total[i] = MUL(a, b, i, k, 0)
    return count


def merge(words, summary, total, other_words, other_summary, other_total, first, last):
    """Another thread's accumulator into this one, over the summary words first..last; returns how many places were new."""
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


def gather(words, summary, total, out_indices, out_values, first, last, start):
    """The results of the summary words first..last, ascending, from place `start` on; leaves words and summary zero."""
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
