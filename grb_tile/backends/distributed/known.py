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


def known_of_ordinary(store: Any, layout: Any) -> Known | None:
    """Known of the part of a store that all ranks have."""
    is_full = len(store.shape) == 1 and store.nvals == store.size
    return Known(layout.all_positions, not store.iso) if is_full else None


def known_of_elementwise(name: str, x: Any, y: Any, op: Any, options: dict[str, Any]) -> Known | None:
    """Known of the result of an element-wise primitive without a mask on vectors of one layout; None: nothing.

    Values of an operator that gives one whatever it reads are asked for again.
    """
    if name == "select" or len(x.shape) == 2 or name != "apply" and y.known.positions is not x.known.positions:
        return None
    bound = options.get("left") is not None or options.get("right") is not None
    gives_one = op is None or op.name in ("one", "pair", "oneb") or bound and op.name in ("first", "second", "any")
    if gives_one or name != "apply" and y.known is not x.known:
        return Known(x.known.positions)
    return x.known
