"""Stand-ins for what a template is specialised by: plus_times over Python numbers, and a default for every flag.

With them a template can be imported and run as plain Python, as tests do; jit/cache.py does not use them.
"""

import numpy as np

# Types of the parameters of functions that are called from outside a template: arrays of one dimension (two: _2D) with
# these elements, or the numbers int (int64), float and np.uint64.  A name without a fixed type is a constant of the
# specialisation, a character of NumPy's types: X and Y are those of the operands' values, Z that of the result's.
INT32, INT64, INT64_2D, WORD = np.int32, np.int64, np.int64, np.uint64
INDEX = B_INDEX = M_INDEX = X_INDEX = IN_INDEX = OUT_INDEX = ROWS = NUMBER = np.int32
VALUE = THUNK = X = Y = Z = X_DEFAULT = Y_DEFAULT = np.float64
LEVEL, FLAG, CODE = np.uint8, np.bool_, np.uint16

NONE = np.uint64(0)
IDENTITY = 0
TERMINAL = 0
EXIT = False  # early exit: a row ends when its total is TERMINAL
BOOLEAN = False  # the monoid is over BOOL, and not `any`
STRIDE = 1  # entries between two tests for TERMINAL
LISTED = False  # the mask is a list of rows, not bits
ANY = False  # the monoid is `any`: the first value is the result
A_ISO = B_ISO = X_ISO = Y_ISO = False
X_FULL = Y_FULL = False  # every position of the vector is present
UNION = False
DIFFERENCE = False
ISO_OUT = False  # all results are one value: only the structure is computed
MASK = "none"  # or "pattern", "complement"
COUNT = False  # the semiring is plus_pair
LEVELS = True  # BFS writes levels
PARENTS = False  # BFS writes parents


def ADD(x, y):
    return x + y


def KEEP(x, thunk, i, j):
    """Does select keep the entry x at (i, j)?"""
    return x != thunk


def LONE_X(x, y_default):
    """The result of x's entry where y has none."""
    return x


def LONE_Y(y, x_default):
    """The result of y's entry where x has none."""
    return y


def MUL(x, y, i, k, j):
    """The product of A's entry x at (i, k) and B's entry y at (k, j)."""
    return x * y


def RESULT(x):
    """x cast to the type of the result."""
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
    """Lower bound by binary search: the first position in lo..hi whose index is at least k; hi when there is none."""
    while lo < hi:
        middle = (lo + hi) >> 1
        if indices[middle] < k:
            lo = middle + 1
        else:
            hi = middle
    return lo


def sort_few(indices, first, last):
    """Insertion sort of indices[first:last]: faster than a scan of bits for a few."""
    indices[first:last] = sorted(indices[first:last])


def take_bits(words, summary, indices, at, first, last):
    """The positions of the bits under the summary words first..last, ascending, to indices[at:]; returns their end.

    Clears words and summary.
    """
    for s in range(first, last):
        for w in range(s * 64, min(s * 64 + 64, words.shape[0])):
            for b in range(64):
                if int(words[w]) >> b & 1:
                    indices[at] = w * 64 + b
                    at += 1
            words[w] = NONE
        summary[s] = NONE
    return at


def cycles():
    return 0
