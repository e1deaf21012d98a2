"""Random walks as one operation of the backend in use."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.select import current
from ..core.arguments import flags
from ..core.matrix import Matrix
from .operands import square_store


def fresh_seed() -> int:
    """A seed below 2^62 from the system's entropy; ranks that compute together get one and the same."""
    return int(current().agreed(int(np.random.default_rng().integers(1 << 62))))


def random_walks(
    A: Matrix, starts: Any, length: int, seed: int, *, weighted: bool = False, p: float = 1.0, q: float = 1.0,
    restart: float = 0.0,
) -> np.ndarray | None:  # fmt: skip
    """walk(k, 0) = starts[k], walk(k, s + 1) = an out-neighbour of walk(k, s) drawn at random; -1 behind an end.

    starts   vertices, an integer array    weighted   edges are drawn in proportion to their values, which are >= 0
    p, q     node2vec: > 0                 restart    the probability with which a step leads back to the start

    Shapes: A n x n; the result a NumPy array of INT64, len(starts) x (length + 1): a function of the arguments, the
    same on every backend.  Raises: TypeError, DimensionMismatch; IndexError for starts.
    None where the backend in use has no loop for A, on the CPU always, and where weights are no finite numbers >= 0;
    algorithms.random_walks says what is drawn, and draws in NumPy then.
    Source: Grover and Leskovec, "node2vec: scalable feature learning for networks" (KDD 2016).
    """
    flags(weighted=weighted)
    store = square_store("random_walks", A)
    starts = np.asarray(starts, np.int64)
    if starts.size and not (0 <= starts.min() and starts.max() < A.nrows):
        raise IndexError(f"starts: expected vertices from 0 to {A.nrows - 1}, got {starts.min()} to {starts.max()}")
    found = current().random_walks(store, starts, length, seed, weighted, p, q, restart)
    return None if found is NotImplemented else found
