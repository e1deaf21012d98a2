"""Rows: the partition of a dimension into one range of positions for each rank.

    rank r owns the positions starts[r] .. starts[r + 1] - 1        0 = starts[0] <= ... <= starts[size] = length

Vectors and the rows of matrices are cut alike, so that a result is where its operands are.  A range ends at a multiple
of GRAIN positions, a word of a bitmap, so that bitmaps of ranks are joined word by word; the last one at the length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .known import Positions

if TYPE_CHECKING:
    from collections.abc import Sequence

GRAIN = 64  # positions of a word of a bitmap
# A position costs as much as an entry: an H200 takes 7 ps for the element-wise calls of a turn of PageRank, and 9 ps
# for an entry of its product (R-MAT 25).
EDGES_OF_POSITION = 1


class Rows:
    """The ranges of all ranks, and `first`, `stop`: that of this rank."""

    __slots__ = ("all_positions", "first", "has_whole_words", "is_aligned", "lengths", "rank", "starts", "stop")

    def __init__(self, starts: Sequence[int], rank: int) -> None:
        self.starts = np.asarray(starts, np.int64)
        self.rank = rank
        self.first, self.stop = int(self.starts[rank]), int(self.starts[rank + 1])
        self.lengths: list[int] = np.diff(self.starts).tolist()
        self.all_positions = Positions(self.lengths)  # of full vectors
        inner = self.starts[self.starts != self.starts[-1]]
        self.has_whole_words = not (inner % GRAIN).any()  # is each word of bits one rank's alone?
        self.is_aligned = not (self.starts[:-1] % GRAIN).any()  # do all ranges begin at a word of a bitmap?

    @property
    def length(self) -> int:
        """The length of the dimension."""
        return int(self.starts[-1])

    @property
    def own(self) -> range:
        """The positions of this rank."""
        return range(self.first, self.stop)

    def __len__(self) -> int:
        return self.stop - self.first

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, Rows) and np.array_equal(self.starts, other.starts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Rows({len(self.starts) - 1})"

    def owner_of(self, position: int) -> int:
        """The rank that owns a position."""
        return int(self.starts[1:].searchsorted(position, "right"))

    def owners(self, positions: np.ndarray) -> np.ndarray:
        """The rank that owns each position."""
        return self.starts[1:].searchsorted(positions, "right")

    def cuts(self, positions: np.ndarray) -> np.ndarray:
        """Where ascending positions pass from one rank's range to the next: size + 1 offsets into `positions`."""
        return positions.searchsorted(self.starts)


def equal_ranges(length: int, size: int) -> list[int]:
    """The starts of ranges of equal length, rounded up to GRAIN.

    >>> equal_ranges(200, 3)
    [0, 128, 200, 200]
    """
    width = -(-length // size)
    width = -(-width // GRAIN) * GRAIN
    return [min(r * width, length) for r in range(size)] + [length]


def balanced_ranges(rows: np.ndarray, length: int, size: int, count: int | None = None) -> list[int]:
    """The starts of ranges with equal sums of entries and EDGES_OF_POSITION times positions, rounded to GRAIN.

    rows: the row of each entry, in any order, or of a sample of `count` entries.

    >>> balanced_ranges(np.zeros(200, np.int64), 640, 2)
    [0, 192, 640]
    """
    ordered = np.sort(rows)
    position = EDGES_OF_POSITION * max(1, rows.size) / max(1, count or rows.size)  # in entries of the sample
    total = rows.size + position * length
    starts = [0]
    for r in range(1, size):
        low, high = starts[-1], length  # the first start whose rows before it cost at least r shares
        while low < high:
            middle = (low + high) // 2
            if (int(ordered.searchsorted(middle)) + position * middle) * size < r * total:
                low = middle + 1
            else:
                high = middle
        starts.append(min(max(starts[-1], round(low / GRAIN) * GRAIN), length))
    return [*starts, length]
