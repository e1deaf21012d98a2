"""Orders, greedy loops along one, and matchings, each one compiled loop.  Meanings: backends/graph.py."""

import numpy as np

from ....dtypes import INT64
from ....storage.store import index_dtype
from .compiled import run
from .components import full


def topological_levels(A):
    found = topological_order(A)
    return NotImplemented if found is NotImplemented else full(INT64, found[0])


def topological_order(A):
    n = A.nrows
    waits = np.bincount(A.indices, minlength=n).astype(np.int64, copy=False)
    level, queue = np.full(n, -1, np.int64), np.empty(n, np.int64)
    found = run("topological_levels", [A], (waits, level, queue))
    return NotImplemented if found is NotImplemented else (level, queue[:found])


def cuthill_mckee(A):
    """The template's search starts from the vertex of least rank and goes on from the least of the last level while the
    levels become more; neighbours by ascending rank.
    """
    n = A.nrows
    by_degree = np.argsort(np.diff(A.indptr), kind="stable")
    rank = np.empty(n, np.int64)
    rank[by_degree] = np.arange(n)
    ptr, columns = np.empty(n + 1, np.int64), np.empty(A.nvals, index_dtype(n))
    order = np.empty(n, np.int64)
    found = run("cuthill_mckee", [A], (by_degree, rank, ptr, columns, np.zeros(n, np.int64), order))
    if found is NotImplemented:
        return NotImplemented
    if found < n:
        return None
    order = by_degree[order[::-1]]
    position = np.empty(n, np.int64)
    position[order] = np.arange(n)
    return full(INT64, order), full(INT64, position)


def greedy_colours(A, order):
    colour = np.full(A.nrows, -1, np.int64)
    count = run("greedy_colouring", [A], (order, colour, np.zeros(A.nrows + 1, np.int64)))
    return NotImplemented if count is NotImplemented else (colour, count)


def independent_set(A, order, left_out):
    state = np.zeros(A.nrows, np.int32)
    if left_out is not None:
        state[left_out] = 2
    found = run("independent_set", [A], (order, state))
    return NotImplemented if found is NotImplemented else np.flatnonzero(state == 1)


def bipartite_matching(B):
    mates = np.full(B.nrows, -1, np.int64), np.full(B.ncols, -1, np.int64)
    found = run("bipartite_matching", [B], (*mates, *np.empty((4, B.nrows), np.int64)))
    return NotImplemented if found is NotImplemented else mates


def breadth_first(lists, sources, limit):
    n = lists.nrows
    level, (order, parent) = np.full(n, -1, np.int64), np.full((2, n), -1)
    level[sources] = 0
    order[: sources.size] = sources
    found = run("breadth_first", [lists], (sources.size, limit, level, order, parent))
    return NotImplemented if found is NotImplemented else (order[:found], level, parent)


def label_turns(lists, order, label, state):
    return run("label_turns", [lists], (order, label, np.zeros(label.size, np.int64), state))
