"""What random edges are drawn from: hashes of counters, so that any range of edges can be drawn by itself.

quadrants       ends of R-MAT edges                 uniform_ends    ends of uniform random edges
weights_of      a weight for each edge of a CSR     whole, check_seed   arguments
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dtypes
from .hashing import MASK, hashes, mixed

CHUNK = 1 << 22  # edges drawn at a time
LARGEST = 1 << 31  # vertices: rows x columns of an edge are one number of 64 bits
WEIGHTS, FIRST_DRAW = 1 << 21, 1  # streams of the hash


def quadrants(xp: Any, start: int, stop: int, seed: int, scale: int, bounds: Sequence[int]) -> tuple[Any, Any]:
    """Row and column of edges start .. stop - 1: for each bit a draw of 16 bits picks the quadrant."""
    rows, cols = xp.zeros(stop - start, np.int64), xp.zeros(stop - start, np.int64)
    for bit in range(scale):
        if bit % 4 == 0:
            bits = hashes(xp, start, stop, seed, FIRST_DRAW + bit // 4)
        draw = (bits >> np.uint64(bit % 4 * 16)).astype(np.uint16)
        below = draw >= bounds[1]
        rows |= below.astype(np.int64) << bit
        cols |= ((draw >= bounds[0]) & ~below | (draw >= bounds[2])).astype(np.int64) << bit
    return rows, cols


def uniform_ends(xp: Any, start: int, stop: int, seed: int, n: int) -> tuple[Any, Any]:
    """Row and column of edges start .. stop - 1, each one of n vertices."""
    rows, cols = ((hashes(xp, start, stop, seed, FIRST_DRAW + end) % np.uint64(n)).astype(np.int64) for end in (0, 1))
    return rows, cols


def weights_of(
    xp: Any, n: int, indptr: Any, indices: Any, symmetric: bool, weights: Any, dtype: Any, seed: int, first: int = 0
) -> tuple[Any, Any]:
    """(values, their type): for each entry a draw from the hash of its edge, whichever of its ends is the row.

    indptr, indices: CSR of the rows first, first + 1 ... of an n x n matrix.
    Raises: TypeError, ValueError for weights or dtype.
    """
    try:
        low, high = weights
        finite = math.isfinite(low) and math.isfinite(high)
    except (TypeError, ValueError):
        raise TypeError(f"weights: expected (low, high) or None, got {weights!r}") from None
    held = dtypes.lookup_dtype(dtypes.INT64 if dtype is None else dtype)
    kind = held.np_type.kind
    if kind not in "iuf":
        raise TypeError(f"dtype: expected an integer or floating-point type, got {held.name}")
    if not (finite and low <= high) or (kind in "iu" and (int(low) != low or int(high) != high)):
        wanted = "whole numbers low <= high" if kind in "iu" else "finite numbers low <= high"
        raise ValueError(f"weights: expected {wanted} for {held.name}, got {weights!r}")
    if kind in "iu" and not (np.iinfo(held.np_type).min <= low and high <= np.iinfo(held.np_type).max):
        raise ValueError(f"weights: {weights!r} are not all {held.name}; pass a wider dtype")
    if kind in "iu" and not (int(high) < 1 << 63 and int(high) - int(low) < (1 << 63) - 1):
        raise ValueError(f"weights: expected less than 2^63, and fewer than 2^63 of them, got {weights!r}")
    if kind == "f" and not max(abs(low), abs(high), high - low) <= float(np.finfo(held.np_type).max):
        raise ValueError(f"weights: {weights!r} are farther apart than {held.name} can hold; pass FP64, or others")
    values = xp.empty(indices.shape[0], held.np_type)
    for start in range(0, len(values), CHUNK):
        stop = min(len(values), start + CHUNK)
        rows, cols = xp.arange(start, stop, dtype=np.int64), indices[start:stop].astype(np.int64)
        rows = xp.searchsorted(indptr, rows, side="right") - 1 + first
        if symmetric:
            rows, cols = xp.minimum(rows, cols), xp.maximum(rows, cols)
        drawn = mixed((rows * n + cols).astype(np.uint64), seed, WEIGHTS)
        if kind in "iu":
            steps = (drawn >> np.uint64(1)) % np.uint64(int(high) - int(low) + 1)
            values[start:stop] = steps.astype(np.int64) + int(low)
        else:
            values[start:stop] = (drawn >> np.uint64(11)).astype(np.float64) * (2.0**-53 * (high - low)) + low
    return values, held


def whole(name: str, value: Any, low: int, high: int) -> int:
    """The value of argument `name`, a whole number from low to high, as an int: products of NumPy's wrap around.

    Raises: TypeError, ValueError for another value.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}: expected a whole number, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name}: expected {low} to {high}, got {value}")
    return int(value)


def checked_seed(seed: Any) -> int:
    """The seed, as an int.  Raises: TypeError, ValueError for a seed that is no number of 64 bits."""
    return whole("seed", seed, 0, MASK)
