"""t = x (op) y over two bitmaps, word by word: intersection, or union (UNION).

ADD casts its operands and its result; LONE_X and LONE_Y are the result of an entry of one operand: cast, or combined
with the default of the other.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    ADD,
    LONE_X,
    LONE_Y,
    NONE,
    UNION,
    WORD,
    X_DEFAULT,
    X_FULL,
    X_ISO,
    Y_DEFAULT,
    Y_FULL,
    Y_ISO,
    X,
    Y,
    Z,
    bit,
    ones,
    trailing_zeros,
)


def bitmaps(
    x_words: WORD,
    x_values: X,
    x_defaults: X_DEFAULT,
    y_words: WORD,
    y_values: Y,
    y_defaults: Y_DEFAULT,
    out_words: WORD,
    out_values: Z,
    first: int,
    last: int,
):
    """Words first..last; words of a full vector are not read.  Returns the number of results."""
    count = 0
    x = x_values[0]
    y = y_values[0]
    x_default = x_defaults[0]
    y_default = y_defaults[0]
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
                    out_values[i] = LONE_X(x, y_default)
                lone = theirs & ~mine
                while lone != NONE:
                    i = base + trailing_zeros(lone)
                    lone &= lone - np.uint64(1)
                    if not Y_ISO:
                        y = y_values[i]
                    out_values[i] = LONE_Y(y, x_default)
        out_words[w] = out
        count += ones(out)
    return count
