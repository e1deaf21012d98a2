"""What all ranks know of a vector's entries, so that they need not ask each other in each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Positions:
    """What every rank knows of the positions at which a vector has entries; of all vectors with the same positions.

    counts     how many each rank has; None: not known
    total      their sum
    joined     words, or indices, of all ranks, once they have travelled (movement.whole_vector)
    """

    __slots__ = ("counts", "joined", "total")

    def __init__(self, counts: Sequence[int] | None = None) -> None:
        self.total: int | None = None
        self.counts: tuple[int, ...] | None = None
        self.joined: Any = None
        if counts is not None:
            self.learn(counts)

    def learn(self, counts: Sequence[int]) -> None:
        """The number of entries of each rank."""
        self.counts, self.total = tuple(counts), sum(counts)


class Known:
    """What every rank knows of a vector's entries: their positions, and whether values travel as arrays.

    varied: on some rank, values have not been one value, or that is not worth a question.  The same on all ranks, and
    shared by vectors whose values come from each other's, so that a loop which makes a new vector in each turn asks in
    the first one alone.
    """

    __slots__ = ("positions", "varied")

    def __init__(self, positions: Positions | None = None, varied: bool = False) -> None:
        self.positions = positions or Positions()
        self.varied = varied
