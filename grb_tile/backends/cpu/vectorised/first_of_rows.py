"""The first k entries of each row by value: NumPy's partition of rows of about the same length, on all cores."""

import numpy as np

from ....hashing import hashes
from ....storage.convert import choose_format, to_sparse
from ....storage.store import SparseVector
from ..jit import cache as jit
from .entries import empty_like, is_matrix, keep_entries

BLOCK = 1 << 16  # values that are partitioned at once, in a core's cache


def first_of_rows(x, how, k, seed=0):
    """See backends/protocol.py."""
    if x.format == "bitmap":
        x = to_sparse(x)
    count = x.nvals
    indptr = x.indptr if is_matrix(x) else np.array([0, count])
    lengths = np.diff(indptr)
    if int(lengths.max(initial=0)) <= k:
        return x
    if k == 0:
        return empty_like(x, x.dtype)
    from_end = how in ("last", "largest")
    if how == "random":
        kept = _selected(indptr, lengths, hashes(np, 0, count, seed, 0), False, k)
    elif how in ("smallest", "largest") and not x.iso:
        select = _selected if x.values.dtype.kind in "biuf" else _sorted
        kept = select(indptr, lengths, x.values, from_end, k)
    else:
        taken = np.minimum(lengths, k)
        starts = indptr[1:] - taken if from_end else indptr[:-1]
        kept = np.repeat(starts - np.concatenate([[0], taken.cumsum()[:-1]]), taken) + np.arange(taken.sum())
    if is_matrix(x):
        return keep_entries(x, kept)
    values = x.values[:1].copy() if x.iso else x.values[kept]
    return choose_format(SparseVector(x.size, x.dtype, x.indices[kept], values, x.iso))


def _sorted(indptr, lengths, values, largest, k):
    """As _selected, for types that NumPy sorts and does not compare in their order: complex numbers, records."""
    order = values.argsort(kind="stable")
    rows = np.repeat(np.arange(lengths.shape[0]), lengths)
    order = order[rows[order].argsort(kind="stable")]
    rank = np.arange(values.shape[0]) - np.repeat(indptr[:-1], lengths)
    return np.sort(order[rank >= np.repeat(lengths - k, lengths) if largest else rank < k])


def _selected(indptr, lengths, values, largest, k):
    """Ascending: the numbers of the k smallest (largest) of each row, NaN being the greatest."""
    keep = np.ones(values.shape[0], bool)
    long = np.flatnonzero(lengths > k)
    classes = np.frexp(lengths[long].astype(float))[1]
    jobs = []
    for each in np.unique(classes):
        rows = long[classes == each]
        together = max(1, BLOCK >> int(each))
        jobs += [rows[begin : begin + together] for begin in range(0, rows.shape[0], together)]
    jit.share_out(
        lambda job, worker: _mark(indptr[jobs[job]], lengths[jobs[job]], values, largest, k, keep),
        len(jobs),
        jit.thread_count(),
    )
    return np.flatnonzero(keep)


def _mark(starts, lengths, values, largest, k, keep):
    """keep[p] = whether entry p is among the k smallest (largest) of its row, in rows longer than k."""
    width = int(lengths.max())
    if int(lengths.min()) == width and int(starts[-1] - starts[0]) == (starts.shape[0] - 1) * width:
        at = slice(int(starts[0]), int(starts[-1]) + width)  # rows of an array already
        inside, block = None, values[at].reshape(-1, width)
    else:
        inside = np.arange(width) < lengths[:, None]
        at = (starts[:, None] + np.arange(width))[inside]
        block = np.full(inside.shape, _worst(values.dtype, largest), values.dtype)
        block[inside] = values[at]
    place = width - k if largest else k - 1
    bound = np.partition(block, place, axis=1)[:, place : place + 1]
    before, equal = (block > bound if largest else block < bound), block == bound
    if block.dtype.kind == "f":  # NaN are equal, and greater than all others
        no_bound = bound != bound
        if no_bound.any() or largest:
            nan = block != block
            equal |= nan & no_bound
            before |= nan & ~no_bound if largest else ~nan & no_bound
    if inside is not None:
        before &= inside
        equal &= inside
    need = k - before.sum(axis=1)
    (tied,) = np.nonzero(equal.sum(axis=1) > need)
    if tied.shape[0]:
        some = equal[tied][:, ::-1] if largest else equal[tied]
        some = some & (some.cumsum(axis=1) <= need[tied, None])
        equal[tied] = some[:, ::-1] if largest else some
    before |= equal
    keep[at] = before.reshape(-1) if inside is None else before[inside]


def _worst(dtype, largest):
    """A value that no other is behind: what stands in rows that are shorter than the longest."""
    if dtype.kind == "f":
        return -np.inf if largest else np.nan
    if dtype.kind == "b":
        return not largest
    return np.iinfo(dtype).min if largest else np.iinfo(dtype).max
