"""Components, cores and spanning forests, each one compiled loop.  Meanings: backends/graph.py."""

import numpy as np

from ....dtypes import INT64, UINT64
from ....storage.store import BitmapVector
from ...outcome import LoopOutcome
from .compiled import run


def full(dtype, values):
    """The full vector of these values."""
    return BitmapVector(values.shape[0], dtype, None, values, values.shape[0])


def components(A, in_edges, symmetric):
    label = np.arange(A.nrows)
    count = run("union_find", [A], (int(symmetric), label))
    if count is NotImplemented:
        return NotImplemented
    return full(UINT64, label.view(np.uint64)), count, LoopOutcome("numba", "union-find", list, A.format, A.nrows)


def strong_components(A, in_edges):
    n = A.nrows
    label = np.empty(n, np.int64)
    work = np.zeros(n, np.int64), np.empty(n, np.int32), *np.empty((3, n), np.int64)
    count = run("strong_components", [A], (*work, label))
    return NotImplemented if count is NotImplemented else (full(INT64, label), count)


def core_numbers(A, AT):
    if AT is not None and AT.rows is not None:
        return NotImplemented
    core = np.diff(A.indptr)
    if AT is not None:
        core += np.diff(AT.indptr)
    bins = np.zeros(int(core.max(initial=0)) + 2, np.int64)
    work = core, *np.empty((2, core.size), np.int64), bins
    found = run("core_numbers", [A, A if AT is None else AT], (0 if AT is None else 1, *work))
    return NotImplemented if found is NotImplemented else full(INT64, core)


def spanning_forest(n, heads, tails, keys):
    tree, kept = np.arange(n), np.empty(max(n - 1, 0), np.int64)
    count = run("spanning_forest", [], (heads, tails, keys, np.arange(heads.size), tree, np.empty(n, np.int64), kept))
    return NotImplemented if count is NotImplemented else (kept[:count], tree)
