"""What every backend's rounds of local moves between communities share: who waits, and when rounds end.

waits       one vertex in eight of those that want to move stays in a round, so that of two vertices that would swap
            their communities for ever one moves alone in the end
Measure     the modularity
Progress    that of rounds, the best of them, and whether they still gain
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .hashing import mixed_by

WAITS = 61, 7  # a vertex waits where the first three bits of its hash are 1
ROUNDS_WITHOUT_GAIN = 3  # rounds without a clear gain before a level ends
ROUNDING = 1e-12  # modularities of equal communities differ by less, in whichever order a backend adds their terms
FEW_JOIN = 1 / 64  # of the vertices that want to join in the first round: rounds end, and those stay parts of their own


class Measure(NamedTuple):
    """Q = (within + loops) / total - gamma squares / total^2, within: entries in communities, squares: [+_c K(c)^2]."""

    loops: float
    total: float
    gamma: float

    def modularity(self, within: float, squares: float) -> float:
        return (within + self.loops) / self.total - self.gamma * squares / (self.total * self.total)


class Progress:
    """Of the rounds of a level.  clear: the least clear gain; share: of what the level has gained, a clear gain."""

    def __init__(self, quality: float, clear: float, share: float) -> None:
        self.best = self.first = quality
        self.clear, self.share, self.since = clear, share, 0

    def better(self, quality: float) -> bool:
        """Note the modularity after a round: is it the best so far?"""
        gains = quality > self.best + max(self.clear, self.share * (self.best - self.first))
        self.since = 0 if gains else self.since + 1
        if quality <= self.best + ROUNDING:
            return False
        self.best = quality
        return True

    @property
    def ends(self) -> bool:
        return self.since >= ROUNDS_WITHOUT_GAIN


def waits(vertices: Any, key: int) -> Any:
    """Which of the vertices (an array) stay in the round of this key."""
    shift, ones = WAITS
    return mixed_by(vertices.astype(np.uint64), key) >> np.uint64(shift) == ones
