"""Several arrays in one allocation: their addresses are known before the arrays exist.

A launch needs addresses alone; CuPy's objects are made after it, while the device works.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ALIGNMENT = 256  # bytes, as CuPy's allocations have it


class Layout(NamedTuple):
    """Arrays of one dimension in one allocation: (length,), type, first byte (None: no array) of each; bytes in all."""

    shapes: tuple
    dtypes: tuple
    starts: tuple
    total: int


def layout(*fields: tuple[int, np.dtype] | None) -> Layout:
    """The Layout of arrays given as (length, dtype), or None for no array.

    Each array has whole words of 4 bytes for itself, because atomics on 1 and 2 bytes write the word around them.
    """
    shapes, dtypes, starts, total = [], [], [], 0
    for field in fields:
        count, dtype = (0, None) if field is None else field
        shapes.append((count,))
        dtypes.append(dtype)
        starts.append(None if field is None else total)
        if field is not None:
            total += (count * dtype.itemsize + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    return Layout(tuple(shapes), tuple(dtypes), tuple(starts), total)


class ArrayBlock:
    """Uninitialised arrays of a Layout on the device.  addresses: 0 for no array."""

    __slots__ = ("_arrays", "_layout", "_make", "_memory", "addresses")

    def __init__(self, xp: Any, layout: Layout) -> None:
        self._make, self._layout, self._arrays = xp.ndarray, layout, [None] * len(layout.starts)
        self._memory = memory = xp.cuda.alloc(layout.total)
        base = memory.ptr
        self.addresses = [0 if start is None else base + start for start in layout.starts]

    def array(self, k: int) -> Any:
        """The k-th array, None for no array; made at the first call."""
        found = self._arrays[k]
        if found is None and (start := self._layout.starts[k]) is not None:
            shapes, dtypes, *_ = self._layout
            found = self._arrays[k] = self._make(shapes[k], dtypes[k], self._memory + start)
        return found

    def arrays(self) -> list:
        """All of the arrays."""
        return [self.array(k) for k in range(len(self._arrays))]
