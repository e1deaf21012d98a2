"""Orders, ranges and merges of integer keys against NumPy's own sort and Python sets."""

import numpy as np
import pytest

from grb_tile.storage.sorting import find, fits_with_positions, merge, ranges, segment_starts, stable_order


@pytest.mark.parametrize("bound", [1, 100, 2**16, 2**16 + 1, 2**31, 2**48, 2**62])
@pytest.mark.parametrize("count", [0, 1, 50, 5000])
def test_stable_order(bound, count):
    keys = np.random.default_rng(count).integers(0, bound, count) // 3
    keys[-1:] = bound - 1  # the greatest key that is allowed
    assert stable_order(keys, bound).tolist() == keys.argsort(kind="stable").tolist()
    if bound <= 2**31:
        assert stable_order(keys.astype(np.int32), bound).tolist() == keys.argsort(kind="stable").tolist()


@pytest.mark.parametrize(("bits", "count"), [(48, 1 << 16), (46, 1 << 18), (48, 100_000)])
def test_digits_where_a_key_and_its_position_take_more_than_64_bits(bits, count):
    """Keys whose low 32 bits are in the reverse order of the others, many of them equal."""
    assert not fits_with_positions(1 << bits, count)
    rng = np.random.default_rng(bits + count)
    high = rng.integers(0, 50, count)
    keys = (high << (bits - 6)) | (rng.integers(0, 3, count) << 16) | (50 - high)
    assert np.array_equal(stable_order(keys, 1 << bits), keys.argsort(kind="stable"))


def test_ranges():
    rng = np.random.default_rng(0)
    starts, lengths = rng.integers(0, 1000, 60), rng.integers(0, 5, 60)
    expected = [s + k for s, n in zip(starts, lengths, strict=True) for k in range(n)]
    assert ranges(starts, lengths).tolist() == expected
    assert ranges(starts[:0], lengths[:0]).shape == (0,)


@pytest.mark.parametrize("na,nb", [(0, 0), (0, 5), (5, 0), (40, 40), (100, 3), (3, 100)])
def test_merge_and_find(na, nb):
    rng = np.random.default_rng(na * 7 + nb)
    a, b = (np.sort(rng.choice(150, n, replace=False)) for n in (na, nb))
    count, at_a, at_b, hit = merge(a, b)
    both = sorted(set(a.tolist()) | set(b.tolist()))
    assert count == len(both)
    assert [both[k] for k in at_a] == a.tolist()
    assert [both[k] for k in at_b] == b.tolist()
    assert hit.tolist() == [k in set(a.tolist()) for k in b.tolist()]
    at, found = find(b, a)
    assert found.tolist() == hit.tolist()
    assert at.tolist() == [int((a < k).sum()) for k in b]


def test_segment_starts():
    assert segment_starts(np.array([4])).tolist() == [0]
    assert segment_starts(np.array([4, 4, 5, 5, 4])).tolist() == [0, 2, 4]
