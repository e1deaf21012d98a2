"""Several arrays in one allocation: their addresses are known before the arrays exist.

A launch needs addresses alone; CuPy's objects are made after it, while the device works.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ALIGNMENT = 256  # bytes, as CuPy's allocations have it


class Layout(NamedTuple):
    """Arrays of one dimension in one allocation: ((length,), type, first byte) or None for each; bytes in all."""

    fields: tuple
    total: int


def layout(*fields: tuple[int, np.dtype] | None) -> Layout:
    """The Layout of arrays given as (length, dtype), or None for no array.

    Each array has whole words of 4 bytes for itself, because atomics on 1 and 2 bytes write the word around them.
    """
    placed, total = [], 0
    for field in fields:
        if field is None:
            placed.append(None)
        else:
            count, dtype = field
            placed.append(((count,), dtype, total))
            total += (count * dtype.itemsize + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    return Layout(tuple(placed), total)


class ArrayBlock:
    """Uninitialised arrays of a Layout on the device.  addresses: 0 for no array."""

    __slots__ = ("_fields", "_make", "_memory", "addresses")

    def __init__(self, xp: Any, layout: Layout) -> None:
        self._make = xp.ndarray
        self._fields, total = layout
        self._memory = memory = xp.cuda.alloc(total)
        base, self.addresses = memory.ptr, []
        for field in self._fields:
            self.addresses.append(0 if field is None else base + field[2])

    def array(self, k: int, count: int | None = None) -> Any:
        """The k-th array, or its first `count` elements, None for no array: a new object over the same memory."""
        field = self._fields[k]
        if field is None:
            return None
        shape, dtype, start = field
        return self._make(shape if count is None else (count,), dtype, self._memory + start)

    def staged(self, arrays: Any) -> tuple[int, bytes]:
        """(the block's address, what a copy there writes) of NumPy arrays of the fields' types and lengths."""
        parts, end = [], 0
        for field, array in zip(self._fields, arrays, strict=True):
            if field is not None:
                parts += bytes(field[2] - end), array.tobytes()
                end = field[2] + array.nbytes
        return self._memory.ptr, b"".join(parts)

    def arrays(self) -> list:
        """All of the arrays, likewise."""
        return [self.array(k) for k in range(len(self._fields))]
