"""Rounds of local moves between communities, each one compiled loop.  Meanings: backends/graph.py."""

import numpy as np

from ....dtypes import BOOL
from ....hashing import mixed_by
from ....storage import bits
from ....storage.store import BitmapVector, forms_of
from ..vectorised.structure import tuples_vector
from .compiled import run, values_of


def local_round(B, x, u, k, own, active, key):
    n = B.nrows
    looked_at, stays = _active(n, active, key)
    after, near, sums, own = np.empty(n, np.int64), np.zeros(n, np.int64), np.empty(3), own.copy()
    work = after, near, *np.zeros((2, n)), np.empty(n, np.int64), sums
    moving = run("local_round", [B], (_values(B), x, u, k, stays, looked_at, own, *work))
    if moving is NotImplemented:
        return NotImplemented
    return after, own, _flagged(near), *sums[:2].tolist(), int(sums[2]), moving


def join_round(B, x, y, level, own, active, key):
    n = B.nrows
    looked_at, stays = _active(n, active, key)
    *given, joined, scale = level
    after, own = np.empty(n, np.int64), own.copy()
    near, asks, size = np.zeros((3, n), np.int64)
    work = after, near, asks, size, *np.zeros((3, n)), *np.empty((2, n), np.int64)
    given += joined.astype(np.int64), float(scale)
    wanting = run("join_round", [B], (_values(B), x, y, *given, stays, looked_at, own, *work))
    if wanting is NotImplemented:
        return NotImplemented
    return after, own, _flagged(near), wanting, int(np.count_nonzero(after != y))


def _active(n, active, key):
    """(1 for each vertex to look at, 0 where an active one is of the half that moves in the round of that key)."""
    at = np.arange(n) if active is None else tuples_vector(active)[0]
    looked_at, stays = np.zeros((2, n), np.int64)
    looked_at[at] = 1
    stays[at] = mixed_by(at.astype(np.uint64), key) >> np.uint64(63)
    return looked_at, stays


def _flagged(flags):
    """The vector with an entry for each vertex whose flag is not 0."""
    present = flags != 0
    count = int(np.count_nonzero(present))
    return BitmapVector(flags.size, BOOL, bits.from_bool(present), np.ones(1, np.bool_), count, True)


def _values(B):
    """The values of the entries, one each, kept with B."""
    if not B.iso:
        return B.values
    forms = forms_of(B)
    if "values" not in forms:
        forms["values"] = values_of(B)
    return forms["values"]
