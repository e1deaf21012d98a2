"""Sets of positions as 64-bit words: bit i is bit i % 64 of words[i // 64], bits past the size are 0.

Words are uint64 arrays of length word_count(size) that own their memory, so that they can be updated in place.  A byte
has 8 consecutive positions, as numpy.packbits makes it with bitorder="little".
"""

import numpy as np

WORD = 64
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


def word_count(size):
    """How many words hold `size` bits.

    >>> word_count(65)
    2
    """
    return (size + 63) >> 6


def empty(size):
    """Words of the empty set."""
    return np.zeros((size + 63) >> 6, np.uint64)


def full(size):
    """Words of the set of all `size` positions.

    >>> [hex(word) for word in full(68)]
    ['0xffffffffffffffff', '0xf']
    """
    words = np.full((size + 63) >> 6, _ONES, np.uint64)
    return clear_past(words, size)


def clear_past(words, size):
    """Clear, in place, the bits at and past `size`; return `words`."""
    rest = size & 63
    if rest:
        words[-1] &= np.uint64((1 << rest) - 1)
    return words


def from_bool(flags):
    """Words of the positions where `flags` (a bool array) is True.

    >>> from_bool(np.array([True, False, True])).tolist()
    [5]
    """
    size = flags.shape[0]
    words = np.zeros((size + 63) >> 6, np.uint64)
    words.view(np.uint8)[: (size + 7) >> 3] = np.packbits(flags, bitorder="little")
    return words


def from_indices(indices, size):
    """Words of the set `indices` (any order, repeats allowed, each in 0 .. size-1).

    >>> from_indices(np.array([0, 2, 64]), 66).tolist()
    [5, 1]
    """
    count = indices.shape[0]
    if count == size and count and bool((indices[1:] > indices[:-1]).all()):
        return full(size)
    words = np.zeros((size + 63) >> 6, np.uint64)
    flags = np.zeros(words.shape[0] << 6, np.bool_)
    flags[indices] = True
    words.view(np.uint8)[:] = np.packbits(flags, bitorder="little")
    return words


def scatter_words(words, indices, present):
    """Set (or clear, unless `present`) the bits of the ascending, distinct `indices`, in place; how many bits changed.

    >>> words = np.array([5], np.uint64)
    >>> scatter_words(words, np.array([1, 2]), True), words.tolist()
    (1, [7])
    """
    if indices.shape[0] == 0:
        return 0
    at = indices >> 6
    bits = np.left_shift(np.uint64(1), (indices & 63).astype(np.uint64))
    starts = np.concatenate(([0], (at[1:] != at[:-1]).nonzero()[0] + 1))
    at = at[starts]
    touched = np.bitwise_or.reduceat(bits, starts)
    old = words[at]
    new = (old | touched) if present else (old & ~touched)
    words[at] = new
    return int(np.bitwise_count(old ^ new).sum(dtype=np.int64))


def to_bool(words, size):
    """The set as a bool array of length `size` (a new array).

    >>> to_bool(np.array([5], np.uint64), 3).tolist()
    [True, False, True]
    """
    return np.unpackbits(words.view(np.uint8), count=size, bitorder="little").view(np.bool_)


def to_indices(words, size, dtype=np.int64):
    """The positions of the set in ascending order.

    Zero words are skipped, so that a sparse set costs O(words), not O(size).

    >>> to_indices(np.array([5, 0, 2], np.uint64), 130).tolist()
    [0, 2, 129]
    """
    if words.shape[0] > 64:
        used = words.nonzero()[0]
        if used.shape[0] * 2 < words.shape[0]:
            octets = words[used].view(np.uint8)
            local = np.unpackbits(octets, bitorder="little").view(np.bool_).nonzero()[0]
            return ((used[local >> 6] << 6) + (local & 63)).astype(dtype, copy=False)
    flags = np.unpackbits(words.view(np.uint8), count=size, bitorder="little").view(np.bool_)
    return flags.nonzero()[0].astype(dtype, copy=False)


def popcount(words):
    """How many positions are in the set.

    >>> popcount(np.array([5, 2], np.uint64))
    3
    """
    return int(np.bitwise_count(words).sum(dtype=np.int64))


def test(words, indices):
    """bool array: is indices[k] in the set?

    >>> test(np.array([5], np.uint64), np.array([0, 1, 2])).tolist()
    [True, False, True]
    """
    return ((words.view(np.uint8)[indices >> 3] >> (indices & 7).astype(np.uint8)) & 1).view(np.bool_)


test.__test__ = False  # a membership test, not a test for pytest


def intersection(a, b):
    """Positions in both."""
    return a & b


def union(a, b):
    """Positions in either."""
    return a | b


def difference(a, b):
    """Positions in `a` and not in `b`."""
    return a & ~b


def complement(words, size):
    """Positions 0 .. size-1 that are not in the set."""
    return clear_past(~words, size)


def rank_table(words):
    """Exclusive scan of the popcounts: ranks[k] positions are in the words before words[k]; the last is the total.

    >>> rank_table(np.array([5, 2], np.uint64)).tolist()
    [0, 2, 3]
    """
    ranks = np.zeros(words.shape[0] + 1, np.int64)
    np.cumsum(np.bitwise_count(words), dtype=np.int64, out=ranks[1:])
    return ranks


def rank(words, indices, table=None):
    """How many members are smaller than indices[k]: its position, or point of insertion, in the sorted list.

    >>> rank(np.array([5, 2], np.uint64), np.array([0, 2, 3, 65, 66])).tolist()
    [0, 1, 2, 2, 3]
    """
    if table is None:
        table = rank_table(words)
    at = indices >> 6
    below = (np.uint64(1) << (indices & 63).astype(np.uint64)) - np.uint64(1)
    inside = at < words.shape[0]
    if words.shape[0] == 0:
        return table[at]
    return table[at] + np.where(inside, np.bitwise_count(words[np.where(inside, at, 0)] & below), 0)


def select(words, ranks):
    """The position of the member number ranks[k] (counted from 0): the inverse of `rank`.

    >>> select(np.array([5, 2], np.uint64), np.array([0, 1, 2])).tolist()
    [0, 2, 65]
    """
    ranks = np.asarray(ranks, np.int64)
    table = rank_table(words)
    at = np.searchsorted(table, ranks, side="right") - 1
    flags = np.unpackbits(words[at].view(np.uint8), bitorder="little").reshape(-1, WORD)
    within = np.cumsum(flags, axis=1) == (ranks - table[at] + 1)[:, None]
    return (at << 6) + within.argmax(axis=1)
