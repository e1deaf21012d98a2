"""Random bits by hashes of counters: each number has its own, on every backend, in any order.

    mixed(counters, seed, stream)           64 well mixed bits for each counter
    hashes(xp, start, stop, seed, stream)   the same for start .. stop - 1; distinct numbers have distinct hashes

Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

GOLDEN, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
FACTORS = GOLDEN, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of a counter, and of the two steps of mixed_by


def hashes(xp: Any, start: int, stop: int, seed: int, stream: int) -> Any:
    """64 well mixed bits for each of the numbers start .. stop - 1; distinct numbers have distinct hashes."""
    return mixed(xp.arange(start, stop, dtype=np.uint64), seed, stream)


def mixed(counters: Any, seed: int, stream: int) -> Any:
    """64 well mixed bits for each counter (an array of uint64)."""
    return mixed_by(counters, key_of(seed, stream))


def key_of(seed: int, stream: int) -> int:
    """The key of a seed's stream, below 2^64."""
    return (seed * 0xD1342543DE82EF95 + stream * 0xA0761D6478BD642F + 1) & MASK


def mixed_by(counters: Any, key: int) -> Any:
    """splitmix64's finaliser of counter x golden ratio + key, for each counter; as kernels/base/hashing.cuh.

    Reference: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), figure 14.
    """
    x = counters * np.uint64(GOLDEN) + np.uint64(key)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
