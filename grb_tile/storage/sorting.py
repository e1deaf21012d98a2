"""Order and position of integer keys: stable orders by radix passes, merges of sorted sets, concatenated ranges.

NumPy's stable sort of 16-bit integers is a radix sort (12 ns an entry); that of wider ones merges (85 ns).  So wide
keys are ordered in passes of 16 bits where their bound permits.
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
    """Where a new value starts in `keys` (non-empty, equal keys adjacent): positions, the first is 0.

    >>> segment_starts(np.array([3, 3, 5, 7, 7])).tolist()
    [0, 2, 3]
    """
    fresh = np.empty(keys.shape[0], np.bool_)
    fresh[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return fresh.nonzero()[0]


def find(needles, haystack):
    """(positions, hit): where each needle stands, or would be inserted, in the ascending `haystack`; is it there?

    >>> at, hit = find(np.array([1, 4]), np.array([1, 3, 5]))
    >>> at.tolist(), hit.tolist()
    ([0, 2], [True, False])
    """
    at = haystack.searchsorted(needles)
    if haystack.shape[0] == 0:
        return at, np.zeros(needles.shape[0], np.bool_)
    return at, haystack.take(at, mode="clip") == needles


def merge(a, b):
    """How the ascending, distinct keys `a` and `b` unite: (count, place_a, place_b, hit).

    place_a, place_b: where each of a and of b stands in the union of `count` keys; hit: is b[k] in a too?

    >>> count, at_a, at_b, hit = merge(np.array([1, 4]), np.array([0, 4, 9]))
    >>> count, at_a.tolist(), at_b.tolist(), hit.tolist()
    (4, [1, 2], [0, 2, 3], [False, True, False])
    """
    if b.shape[0] > a.shape[0]:
        count, place_b, place_a, hit_a = merge(b, a)
        hit = np.zeros(count, np.bool_)
        hit[place_a[hit_a]] = True
        return count, place_a, place_b, hit[place_b]
    at, hit = find(b, a)
    lone = (~hit).nonzero()[0]
    if lone.shape[0] == 0:
        return a.shape[0], np.arange(a.shape[0]), at, hit
    count = a.shape[0] + lone.shape[0]
    place_lone = at[lone] + np.arange(lone.shape[0])
    of_a = np.ones(count, np.bool_)
    of_a[place_lone] = False
    place_a = of_a.nonzero()[0]
    place_b = place_a.take(at, mode="clip") if a.shape[0] else at.copy()
    place_b[lone] = place_lone
    return count, place_a, place_b, hit
