"""Sorting and searching integer keys: stable sorts, merges of sorted sets, concatenated ranges.

NumPy sorts 64-bit integers by vector instructions (10 ns per entry; AVX-512, AVX2 or NEON), but its argsort and its
stable sort are slower (20 and 120 ns per entry).  So a key and its position are sorted as one integer of 64 bits, which
is stable, too; where both do not fit, keys are sorted in passes of 16 bits (LSD radix sort, 12 ns per entry and pass).
"""

import numpy as np

MAX_KEY = 2**63 - 1
_SMALL = 2048


def stable_order(keys, bound):
    """The permutation that sorts `keys` (integers in 0 .. bound-1), equal keys in input order.

    >>> stable_order(np.array([2, 0, 2, 1]), 3).tolist()
    [1, 3, 0, 2]
    """
    if keys.shape[0] < _SMALL:
        return keys.argsort(kind="stable")
    if bound <= 1 << 16:
        return keys.astype(np.uint16).argsort(kind="stable")
    if fits_with_positions(bound, keys.shape[0]):
        width = np.uint64(keys.shape[0].bit_length())
        pairs = keys.astype(np.uint64)
        pairs <<= width
        pairs |= np.arange(keys.shape[0], dtype=np.uint64)
        pairs.sort()
        pairs &= (np.uint64(1) << width) - np.uint64(1)
        return pairs.view(np.int64)
    if bound > 1 << 48:
        return keys.argsort(kind="stable")
    order = (keys & 0xFFFF).astype(np.uint16).argsort(kind="stable")
    shift = 16
    while bound >> shift:
        digits = ((keys >> shift) & 0xFFFF).astype(np.uint16)
        order = order[digits[order].argsort(kind="stable")]
        shift += 16
    return order


def fits_with_positions(bound, count):
    """Do a key in 0 .. bound-1 and the position of one of `count` keys fit into 64 bits?

    >>> fits_with_positions(1 << 40, 1000), fits_with_positions(1 << 40, 1 << 24)
    (True, False)
    """
    return (int(bound) - 1).bit_length() + count.bit_length() <= 64


def ranges(starts, lengths):
    """starts[0] .. starts[0]+lengths[0]-1, then the range of starts[1], and so on (int64).

    >>> ranges(np.array([5, 9, 2]), np.array([2, 0, 3])).tolist()
    [5, 6, 2, 3, 4]
    """
    ends = lengths.cumsum()
    total = int(ends[-1]) if ends.shape[0] else 0
    return np.arange(total, dtype=np.int64) + (starts - ends + lengths).repeat(lengths)


def segment_starts(keys):
    """The start of each segment of equal keys in `keys` (non-empty, equal keys adjacent): positions, the first is 0.

    >>> segment_starts(np.array([3, 3, 5, 7, 7])).tolist()
    [0, 2, 3]
    """
    fresh = np.empty(keys.shape[0], np.bool_)
    fresh[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return fresh.nonzero()[0]


def find(needles, haystack):
    """(positions, hit): where each needle is, or is to be inserted, in the ascending `haystack`; is it there?

    >>> at, hit = find(np.array([1, 4]), np.array([1, 3, 5]))
    >>> at.tolist(), hit.tolist()
    ([0, 2], [True, False])
    """
    at = haystack.searchsorted(needles)
    if haystack.shape[0] == 0:
        return at, np.zeros(needles.shape[0], np.bool_)
    return at, haystack.take(at, mode="clip") == needles


def merge(a, b):
    """The union of the ascending, distinct keys `a` and `b`: (count, at_a, at_b, hit).

    at_a, at_b: the position of each key of a and of b in the union of `count` keys; hit: is b[k] in a too?

    >>> count, at_a, at_b, hit = merge(np.array([1, 4]), np.array([0, 4, 9]))
    >>> count, at_a.tolist(), at_b.tolist(), hit.tolist()
    (4, [1, 2], [0, 2, 3], [False, True, False])
    """
    if b.shape[0] > a.shape[0]:
        count, at_b, at_a, hit_a = merge(b, a)
        hit = np.zeros(count, np.bool_)
        hit[at_a[hit_a]] = True
        return count, at_a, at_b, hit[at_b]
    at, hit = find(b, a)
    lone = (~hit).nonzero()[0]
    if lone.shape[0] == 0:
        return a.shape[0], np.arange(a.shape[0]), at, hit
    count = a.shape[0] + lone.shape[0]
    at_lone = at[lone] + np.arange(lone.shape[0])
    of_a = np.ones(count, np.bool_)
    of_a[at_lone] = False
    at_a = of_a.nonzero()[0]
    at_b = at_a.take(at, mode="clip") if a.shape[0] else at.copy()
    at_b[lone] = at_lone
    return count, at_a, at_b, hit
