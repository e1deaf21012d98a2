"""Rounds of local moves between communities, each one compiled loop.  Meanings: backends/graph.py."""

import numpy as np

from ....dtypes import BOOL
from ....hashing import FACTORS, key_of, mixed_by
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


def join_rounds(B, x, level, seed, first):
    n = B.nrows
    u, k, within, whole, joined, scale = level
    keys = key_of(seed, first), key_of(0, 1) - 1, *FACTORS
    hashing = np.array(keys, np.uint64).view(np.int64)
    y, active, size = np.arange(n), np.arange(n), np.ones(n, np.int64)
    work = y, active, *np.empty((3, n), np.int64), size, *np.zeros((2, n), np.int64), *np.zeros((2, n))
    given = _values(B), x, u, k, within, whole, joined.astype(np.int64), float(scale), hashing
    rounds = run("join_rounds", [B], (*given, *work, k.copy(), within.copy()))
    return NotImplemented if rounds is NotImplemented else (y, rounds)


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
