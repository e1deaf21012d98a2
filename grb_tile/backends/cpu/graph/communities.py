"""Rounds of local moves between communities, each kind one compiled loop.  Meanings: backends/graph.py."""

import numpy as np

from ....community_rounds import FEW_JOIN, ROUNDING, ROUNDS_WITHOUT_GAIN
from ....hashing import FACTORS, key_of
from ....planner import tuning
from ....storage.store import MAX_INT32_DIMENSION, Compressed, forms_of
from ..jit import cache as jit
from .compiled import functions_for, run, values_of

CHUNKS = 64  # parts of the active vertices with as many entries, which threads share
SHARED = 16 * tuning.PARALLEL_ROWS  # entries of a round whose votes threads share; fewer rounds are one call
ROUNDS = 256  # of a call
WRONG = 1 << 40  # what a settling that finds wrong gains returns, less than 0


def move_rounds(B, x, u, k, rule, seed, first, each):
    """Rounds in one call; where threads share the votes, two calls a round."""
    n = B.nrows
    if n > MAX_INT32_DIMENSION:
        return NotImplemented
    loaded = functions_for("move_rounds", [B], n)
    if loaded is None:
        return NotImplemented
    kernel, functions = loaded
    measure, clear, share = rule
    label = np.arange(n, dtype=np.int32) if x is None else x.astype(np.int32)
    K = k.copy() if x is None else np.bincount(x, k, n)
    sums = np.array([0.0, float((K * K).sum()), *measure, 0.0, 0.0, clear, share, ROUNDING, ROUNDS_WITHOUT_GAIN])
    active, best, following, looked_at, touched = np.empty((5, n), np.int32)
    active[:], looked_at[:] = np.arange(n), 0
    kept, (slack, used, total), within = label.copy(), np.zeros((3, n)), np.zeros(1)
    hashing, state = _hashing(seed, first), np.array([n, 0, 0, 0])
    quality, moved = np.empty(1 if each else ROUNDS), np.empty(1 if each else ROUNDS, np.int64)
    graph, alone = (jit.plain(B.indptr), jit.plain(B.indices), _values(B)), int(x is None)
    given = active, best, slack, used
    record = hashing, state, sums

    def whole():
        return functions.run(
            *graph, u, k, label, K, *given, looked_at, following, kept, *record, within, total, touched, quality, moved,
            alone,
        )  # fmt: skip

    def shared():
        """A round whose votes threads share."""
        at = active[: state[0]]
        bounds = _bounds(B, at, CHUNKS)
        place = {}

        def some(chunk, worker):
            if worker not in place:
                place[worker] = np.zeros(1), np.zeros(n), np.empty(n, np.int32)
            inside, *work = place[worker]
            first, last = int(bounds[chunk]), int(bounds[chunk + 1])
            functions.vote(*graph, u, k, label, K, *given, inside, alone * int(not state[1]), first, last, *work)
            return inside[0]

        inside = sum(jit.share_out(some, CHUNKS, jit.thread_count()))
        if not state[1]:
            sums[0] = inside
        before = int(state[1])
        ends = functions.move(
            *graph, k, label, K, *given, looked_at, following, kept, *record, quality, moved, 0
        )  # fmt: skip
        rounds = int(state[1]) - before
        return -1 - rounds if ends else rounds

    def step():
        if jit.thread_count() == 1 or state[0] * B.nvals < SHARED * n:
            return whole()
        return shared()

    return _stepped(kernel, step, lambda done: (kept.astype(np.int64), float(sums[5]), _records(quality, moved, done)))


def _bounds(B, at, chunks):
    """Where the chunks of the vertices `at` begin and end."""
    ends = np.concatenate([[0], np.cumsum(np.diff(B.indptr)[at])])
    bounds = np.searchsorted(ends, np.linspace(0, ends[-1], chunks + 1)).astype(np.int64)
    bounds[-1] = at.size  # the last vertices may have no entries
    return bounds


def join_rounds(B, x, k, scale, seed, first):
    n = B.nrows
    if n > MAX_INT32_DIMENSION:
        return NotImplemented
    y, active, following, best, touched = np.empty((5, n), np.int32)
    y[:] = active[:] = np.arange(n)
    size, asks, looked_at = np.ones(n, np.int64), *np.zeros((2, n), np.int64)
    given = _values(B), x.astype(np.int32), scale * k, k, np.bincount(x, k, n), float(scale), FEW_JOIN
    work = _hashing(seed, first), y, active, following, best, touched, size, asks, looked_at
    rounds = run("join_rounds", [B], (*given, *work, np.zeros(n), np.empty(n), k.copy(), np.empty(n)))
    return NotImplemented if rounds is NotImplemented else (y.astype(np.int64), rounds)


def settle(B, x, u, k, rule, each):
    """Rounds in one call."""
    n = B.nrows
    if n > MAX_INT32_DIMENSION:
        return NotImplemented
    loaded = functions_for("settle", [B], n)
    if loaded is None:
        return NotImplemented
    kernel, functions = loaded
    measure, least, greatest, confirm = rule
    label = x.astype(np.int32)
    active, following, target, first, looked_at, touched = np.empty((6, n), np.int32)
    active[:], first[:], looked_at[:] = np.arange(n), n, 0
    state, sums = np.array([n, 1, 0, 0]), np.array([least, *measure, greatest, 0.0])
    quality, moved = np.empty(1 if each else ROUNDS), np.empty(1 if each else ROUNDS, np.int64)
    operands = (
        jit.plain(B.indptr), jit.plain(B.indices), _values(B), u, k, label, np.bincount(x, k, n),
        np.bincount(x, minlength=n), active, following, target, first, looked_at, np.empty(n), np.zeros(n), touched,
        state, sums, quality, moved,
    )  # fmt: skip

    def step():
        count = functions.run(*operands)
        confirm(count > -WRONG)
        return count

    return _stepped(kernel, step, lambda done: (label.astype(np.int64), _records(quality, moved, done)))


def _stepped(kernel, step, result):
    """What result(rounds) gives after each step(), which returns a count of rounds, -1 less that where none follows."""
    count = jit.attempt(kernel, step)
    if count is NotImplemented:
        return NotImplemented

    def steps(count):
        while count >= 0:
            yield result(count)
            count = step()
        yield result(-1 - count)

    return steps(count)


def _records(quality, moved, done):
    return list(zip(quality[:done].tolist(), moved[:done].tolist(), strict=True))


def quotient(A, labels, count, dup, inner=True):
    """The graph of classes without the entries within them; others are products."""
    if inner or dup.name != "plus" or A.dtype.np_type.char != "d" or A.nrows > MAX_INT32_DIMENSION:
        return NotImplemented
    label = labels.astype(np.int32)
    begins = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(labels, minlength=count), out=begins[1:])
    starts, columns, weights = np.zeros(count + 1, np.int64), np.empty(A.nvals, np.int32), np.empty(A.nvals)
    indices, values = np.empty(A.nvals, np.int32), np.empty(A.nvals)
    work = starts, np.empty(count, np.int64), np.zeros(count), columns, weights
    members = np.argsort(label, kind="stable")
    nvals = run("quotient", [A], (_values(A), label, members, begins, *work, indices, values))
    if nvals is NotImplemented or nvals < 0:
        return NotImplemented
    return Compressed(count, count, A.dtype, starts, indices[:nvals].copy(), values[:nvals].copy())


def _hashing(seed, first):
    """The key of a round, what the next one has more, the constants of hashing.mixed_by, and a place for products."""
    return np.array((key_of(seed, first), key_of(0, 1) - 1, *FACTORS, 0), np.uint64).view(np.int64)


def _values(B):
    """The values of the entries, one each, kept with B."""
    if not B.iso:
        return jit.plain(B.values)
    forms = forms_of(B)
    if "values" not in forms:
        forms["values"] = values_of(B)
    return forms["values"]
