"""Sorting and searching integer keys: stable radix sort, merges of sorted sets, concatenated ranges.

NumPy's stable sort is a radix sort for 16-bit integers (12 ns per entry) and a merge sort for wider ones (85 ns), so
wide keys are sorted in passes of 16 bits (LSD radix sort) where their bound permits.
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
    if bound > 1 << 48:
        return keys.argsort(kind="stable")
    order = (keys & 0xFFFF).astype(np.uint16).argsort(kind="stable")
    shift = 16
    while bound >> shift:
        digits = ((keys >> shift) & 0xFFFF).astype(np.uint16)
        order = order[digits[order].argsort(kind="stable")]
        shift += 16
    return order


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
