"""t = x (op) y over two vectors: intersection, or union (UNION), where an entry of one operand is copied.

Bitmaps are combined word by word, over a range of words; sparse vectors are merged in one pass.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    ADD,
    INDEX,
    NONE,
    SPARSE,
    UNION,
    WORD,
    X_FULL,
    X_ISO,
    Y_FULL,
    Y_ISO,
    X,
    Y,
    Z,
    bit,
    ones,
    trailing_zeros,
)

if SPARSE:

    def sparse(x_indices: INDEX, x_values: X, y_indices: INDEX, y_values: Y, out_indices: INDEX, out_values: Z):
        """Merge two sorted lists; returns the number of results."""
        p = 0
        q = 0
        at = 0
        x = x_values[0]
        y = y_values[0]
        x_count = x_indices.shape[0]
        y_count = y_indices.shape[0]
        while p < x_count and q < y_count:
            i = x_indices[p]
            j = y_indices[q]
            if i == j:
                if not X_ISO:
                    x = x_values[p]
                if not Y_ISO:
                    y = y_values[q]
                out_indices[at] = i
                out_values[at] = ADD(x, y)
                at += 1
                p += 1
                q += 1
            elif i < j:
                if UNION:
                    if not X_ISO:
                        x = x_values[p]
                    out_indices[at] = i
                    out_values[at] = x
                    at += 1
                p += 1
            else:
                if UNION:
                    if not Y_ISO:
                        y = y_values[q]
                    out_indices[at] = j
                    out_values[at] = y
                    at += 1
                q += 1
        if UNION:
            while p < x_count:
                if not X_ISO:
                    x = x_values[p]
                out_indices[at] = x_indices[p]
                out_values[at] = x
                at += 1
                p += 1
            while q < y_count:
                if not Y_ISO:
                    y = y_values[q]
                out_indices[at] = y_indices[q]
                out_values[at] = y
                at += 1
                q += 1
        return at

else:

    def bitmaps(
        x_words: WORD, x_values: X, y_words: WORD, y_values: Y, out_words: WORD, out_values: Z, first: int, last: int
    ):
        """Words first..last; words of a full vector are not read.  Returns the number of results."""
        count = 0
        x = x_values[0]
        y = y_values[0]
        size = out_values.shape[0]
        for w in range(first, last):
            base = w * 64
            mine = ~NONE
            theirs = ~NONE
            if not X_FULL:
                mine = x_words[w]
            if not Y_FULL:
                theirs = y_words[w]
            if size - base < 64:
                inside = bit(size - base) - np.uint64(1)
                mine &= inside
                theirs &= inside
            both = mine & theirs
            out = both
            if both == ~NONE:
                for i in range(base, base + 64):
                    if not X_ISO:
                        x = x_values[i]
                    if not Y_ISO:
                        y = y_values[i]
                    out_values[i] = ADD(x, y)
            else:
                while both != NONE:
                    i = base + trailing_zeros(both)
                    both &= both - np.uint64(1)
                    if not X_ISO:
                        x = x_values[i]
                    if not Y_ISO:
                        y = y_values[i]
                    out_values[i] = ADD(x, y)
                if UNION:
                    out = mine | theirs
                    lone = mine & ~theirs
                    while lone != NONE:
                        i = base + trailing_zeros(lone)
                        lone &= lone - np.uint64(1)
                        if not X_ISO:
                            x = x_values[i]
                        out_values[i] = x
                    lone = theirs & ~mine
                    while lone != NONE:
                        i = base + trailing_zeros(lone)
                        lone &= lone - np.uint64(1)
                        if not Y_ISO:
                            y = y_values[i]
                        out_values[i] = y
            out_words[w] = out
            count += ones(out)
        return count
