"""Indices of extract and assign: primitives on arrays of positions, and their forms in NumPy, which a host's are.

A device backend has its own (cuda/structure/index_lists.py): there an array goes to the device once, where it is
checked, sorted and used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import IndexOutOfBound
from ..planner import tuning

if TYPE_CHECKING:
    Positions = np.ndarray | range | None


class IndexArrays:
    """Base of Backend: primitives that make and order arrays of positions, none of which is written to later."""

    def positions(self, I: Positions) -> Any:
        """A range or an array of positions as an int64 array of this backend's, not to be written to."""
        return np.arange(I.start, I.stop, I.step, dtype=np.int64) if type(I) is range else self.array(I, np.int64)

    def positions_in(self, array: Any, size: int) -> Any:
        """The positions `array` of a dimension of `size` as int64: a copy, where this backend wants to have it.

        array: one-dimensional, of integers, NumPy's or this backend's; negative ones count from the end.
        Raises: IndexOutOfBound, which names the index.
        """
        return positions_in(array, size)

    def bounds_of(self, array: Any) -> tuple[int, int]:
        """(the least, the greatest) of an array of integers of this backend's that is not empty."""
        return int(array.min()), int(array.max())

    def region_positions(self, I: Positions, J: Positions, width: int) -> Any:
        """I[k] * width + J[l] for each k, and for each l within it, as one array; I and J arrays or ranges."""
        return (self.positions(I)[:, None] * width + self.positions(J)).reshape(-1)

    def gather_region(self, u: Any, I: Positions, J: Positions, width: int) -> Any:
        """t[k * len(J) + l] = u[I[k] * width + J[l]]: a region of a vector of lines of `width` positions."""
        return self.gather_vector(u, self.region_positions(I, J, width))  # type: ignore[attr-defined]

    def last_of_each(self, I: Positions, size: int) -> tuple[Positions, Any]:
        """(the positions in I, below `size`, ascending without repeats; places in I of the last occurrence of each).

        (I, None) where no position is repeated and I is in order, short, a range or None: I serves as it is.
        """
        return last_of_each(I, size)

    def put_region(self, c: Any, t: Any, I: Positions, J: Positions, width: int, accum: Any) -> Any:
        """The store of C after C(I, J) (accum)= T, where C is a vector of lines of `width` positions each.

        t: a vector of len(I) * len(J) positions, line by line, of C's type; None: C's entries there are deleted.  I, J:
        ranges, or arrays of lines and of positions in a line, in any order; the last place of one that is repeated
        counts.  Of a matrix C: I and J are its rows and columns, None for all, and t is a matrix, or a vector where C
        is dense and one dimension has one position; width is not read.  C's arrays may be written into, as by
        `overwrite`.
        NotImplemented: the caller composes it.
        """
        return NotImplemented


def out_of_bound(low, high, size):
    """The error of positions from `low` to `high`, not all of which are in a dimension of `size`."""
    return IndexOutOfBound(f"Index out of range: index={high if high >= size else low}, size={size}")


def positions_in(array, size):
    """IndexArrays.positions_in of a NumPy array."""
    if array.size:
        low, high = int(array.min()), int(array.max())
        if high >= size or low < -size:
            raise out_of_bound(low, high, size)
        array = array.astype(np.int64, copy=True)
        if low < 0:
            array[array < 0] += size
    else:
        array = array.astype(np.int64)
    array.setflags(write=False)  # nobody changes it, so a device copies it once
    return array


def last_of_each(I, size):
    """IndexArrays.last_of_each of a NumPy array."""
    if I is None or type(I) is range or len(I) < 2:
        return I, None
    if len(I) <= tuning.SHORT_INDEX and len(set(I.tolist())) == len(I):
        return I, None
    if bool((I[1:] > I[:-1]).all()):
        return I, None
    if len(I) <= tuning.LISTED_INDEX and len(set(I.tolist())) == len(I):
        return I, None
    if size > tuning.INDEX_TABLE * len(I):
        last = len(I) - 1 - np.unique(I[::-1], return_index=True)[1]
    else:
        last = np.full(size, -1)
        last[I] = np.arange(len(I))  # of equal indices NumPy writes the last
        last = last[(last >= 0).nonzero()[0]]
    I = I[last]
    for array in (I, last):
        array.setflags(write=False)  # as above
    return I, last
