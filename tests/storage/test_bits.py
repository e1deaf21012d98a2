"""Words of bits against Python sets."""

import numpy as np
import pytest

from grb_tile.storage import bits

SIZES = [0, 1, 63, 64, 65, 128, 200, 5000]


def some(size, share, seed=1):
    return np.flatnonzero(np.random.default_rng(seed).random(size) < share)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [0.0, 0.005, 0.4, 1.0])
def test_indices_words_and_back(size, share):
    indices = some(size, share)
    words = bits.from_indices(indices, size)
    assert words.dtype == np.uint64 and words.shape == (bits.word_count(size),)
    assert words.base is None and words.flags.writeable
    assert sum(int(word) << (64 * k) for k, word in enumerate(words)) == sum(1 << int(i) for i in indices)
    assert bits.to_indices(words, size).tolist() == indices.tolist()
    flags = np.zeros(size, bool)
    flags[indices] = True
    assert (bits.from_bool(flags) == words).all()
    assert (bits.to_bool(words, size) == flags).all()
    assert bits.popcount(words) == indices.shape[0]


@pytest.mark.parametrize("size", SIZES)
def test_set_operations(size):
    a, b = some(size, 0.5, 2), some(size, 0.3, 3)
    wa, wb = bits.from_indices(a, size), bits.from_indices(b, size)
    sa, sb = set(a.tolist()), set(b.tolist())
    assert bits.to_indices(bits.union(wa, wb), size).tolist() == sorted(sa | sb)
    assert bits.to_indices(bits.intersection(wa, wb), size).tolist() == sorted(sa & sb)
    assert bits.to_indices(bits.difference(wa, wb), size).tolist() == sorted(sa - sb)
    assert bits.to_indices(bits.complement(wa, size), size).tolist() == sorted(set(range(size)) - sa)
    assert bits.popcount(bits.complement(wa, size)) == size - len(sa)
    assert bits.to_indices(bits.full(size), size).tolist() == list(range(size))
    everywhere = np.arange(size)
    assert bits.test(wa, everywhere).tolist() == [i in sa for i in range(size)]


@pytest.mark.parametrize("size", [1, 64, 65, 1000])
def test_rank_and_select_are_inverse(size):
    members = some(size, 0.3, 4)
    words = bits.from_indices(members, size)
    assert bits.rank(words, np.arange(size + 1)).tolist() == [int((members < i).sum()) for i in range(size + 1)]
    assert bits.select(words, np.arange(members.shape[0])).tolist() == members.tolist()


@pytest.mark.parametrize("present", [True, False])
def test_scatter_words_changes_only_what_it_says(present):
    size = 700
    before, at = some(size, 0.5, 5), some(size, 0.2, 6)
    words = bits.from_indices(before, size)
    expected = set(before.tolist()) | set(at.tolist()) if present else set(before.tolist()) - set(at.tolist())
    changed = bits.scatter_words(words, at, present)
    assert bits.to_indices(words, size).tolist() == sorted(expected)
    assert changed == abs(len(expected) - before.shape[0])
    assert bits.scatter_words(words, at[:0], present) == 0


def test_as_many_indices_as_positions_may_repeat():
    assert bits.from_indices(np.array([1, 1, 1]), 3).tolist() == [2]
    assert bits.from_indices(np.array([2, 1, 0]), 3).tolist() == [7]
