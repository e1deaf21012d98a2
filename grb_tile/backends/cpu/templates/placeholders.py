"""What templates see before they are specialised: plus_times over ordinary Python numbers, every flag at its plainest.

They let a template be imported, read and run as plain Python (tests do); jit/cache.py never uses them.
"""

import numpy as np

NONE = np.uint64(0)
IDENTITY = 0
TERMINAL = 0
EXIT = False  # stop a row when its total is TERMINAL
STRIDE = 1  # entries between two such tests
LISTED = False
ANY = False  # the monoid keeps whichever value comes first
A_ISO = B_ISO = X_ISO = Y_ISO = False
Y_FULL = False
UNION = False
LACKING = False
X_FULL = False
ISO_OUT = False  # all results are one value: only the pattern is asked for
MASK = "none"  # or "pattern", "complement"
COUNT = False  # plus over pair
LEVELS = True
PARENTS = False


def ADD(x, y):
    return x + y


def MUL(x, y, i, k, j):
    """Multiply of A's entry x at (i, k) with the entry y at (k, j)."""
    return x * y


def RESULT(x):
    """x in the type of the result."""
    return x


def trailing_zeros(word):
    word = int(word)
    return (word & -word).bit_length() - 1


def ones(word):
    return int(word).bit_count()


def bit(position):
    """Word with the bit of this position set."""
    return np.uint64(1 << (int(position) & 63))


def first_at_least(indices, lo, hi, k):
    """The first place of lo..hi whose index is not below k; hi when there is none."""
    while lo < hi:
        middle = (lo + hi) >> 1
        if indices[middle] < k:
            lo = middle + 1
        else:
            hi = middle
    return lo


def cycles():
    return 0
