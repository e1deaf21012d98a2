"""Rounds of local moves between communities, each one compiled loop.  Meanings: backends/graph.py."""

import numpy as np

from ....dtypes import BOOL
from ....hashing import FACTORS, key_of, mixed_by
from ....planner import tuning
from ....storage.store import SparseVector, forms_of, index_dtype
from ..jit import cache as jit
from ..vectorised.structure import tuples_vector
from .compiled import run, values_of

CHUNKS = 64  # parts of the active vertices with as many entries, which threads share


def local_round(B, x, u, k, own, active, key):
    """GraphOperations.local_round, compiled: the votes, then the moves; NotImplemented where either is not."""
    n = B.nrows
    at = np.arange(n) if active is None else tuples_vector(active)[0].astype(np.int64, copy=False)
    own, best, K = own.copy(), np.empty(n, np.int64), np.bincount(x, k, n)
    chunks = CHUNKS if B.nvals * at.size >= tuning.PARALLEL_ROWS * n and jit.thread_count() > 1 else 1
    given = _values(B), x, u, k, K, at, _bounds(B, at, chunks), own, best
    each = "vote", chunks, lambda thread: (np.zeros(n), np.empty(n, np.int64))
    if run("local_round", [B], given, each) is NotImplemented:
        return NotImplemented
    stays = mixed_by(at.astype(np.uint64), key) >> np.uint64(63)
    after, near, sums = x.copy(), np.zeros(n, np.int64), np.empty(3)
    moving = run("local_round", [B], (K, own, at, stays.astype(np.int64), best, after, near, sums))
    if moving is NotImplemented:
        return NotImplemented
    return after, own, _flagged(near != 0), *sums[:2].tolist(), int(sums[2]), moving


def _bounds(B, at, chunks):
    """Where the chunks of the vertices `at` begin and end."""
    if chunks == 1:
        return np.array([0, at.size])
    ends = np.concatenate([[0], np.cumsum(np.diff(B.indptr)[at])])
    bounds = np.searchsorted(ends, np.linspace(0, ends[-1], chunks + 1)).astype(np.int64)
    bounds[-1] = at.size  # the last vertices may have no entries
    return bounds


def join_rounds(B, x, level, seed, first):
    n = B.nrows
    u, k, within, whole, joined, scale = level
    keys = key_of(seed, first), key_of(0, 1) - 1, *FACTORS, 0
    hashing = np.array(keys, np.uint64).view(np.int64)
    y, active, size = np.arange(n), np.arange(n), np.ones(n, np.int64)
    work = y, active, *np.empty((3, n), np.int64), size, *np.zeros((2, n), np.int64), *np.zeros((2, n))
    given = _values(B), x, u, k, within, whole, joined.astype(np.int64), float(scale), hashing
    rounds = run("join_rounds", [B], (*given, *work, k.copy(), within.copy()))
    return NotImplemented if rounds is NotImplemented else (y, rounds)


def _flagged(flags):
    """The vector with an entry for each vertex whose flag is not 0."""
    return SparseVector(
        flags.size, BOOL, np.flatnonzero(flags).astype(index_dtype(flags.size), copy=False), np.ones(1, np.bool_), True
    )


def _values(B):
    """The values of the entries, one each, kept with B."""
    if not B.iso:
        return B.values
    forms = forms_of(B)
    if "values" not in forms:
        forms["values"] = values_of(B)
    return forms["values"]
