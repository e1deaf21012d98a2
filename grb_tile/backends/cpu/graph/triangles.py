"""Triangles at each vertex, supports of edges as edges go: each one compiled loop.  Meanings: backends/graph.py."""

import numpy as np

from ....dtypes import INT64
from ....storage.store import Compressed
from .compiled import run
from .components import full


def triangle_corners(L):
    n, counts = L.nrows, {}

    def workspace(thread):
        counts[thread] = np.zeros(n, np.int64)
        return counts[thread], np.full(n, -1)

    found = run("triangle_corners", [L], (), ("run", n, workspace))
    return NotImplemented if found is NotImplemented else full(INT64, sum(counts[t] for t in sorted(counts)))


def peel_truss(C, S, least):
    if S.rows is not None:
        return NotImplemented
    edges = S.indices.shape[0]
    support = np.full(edges, S.values[0]) if S.iso else S.values.copy()
    gone = np.zeros(edges, np.int64)
    work = np.empty(edges, np.int64), np.full(C.indices.shape[0], -1), support, gone, np.empty(edges, np.int64)
    if run("peel_truss", [C, S], (least, *work)) is NotImplemented:
        return NotImplemented
    stays = gone == 0
    before = np.concatenate(([0], np.cumsum(stays)))
    kept = Compressed(S.nrows, S.ncols, INT64, before[S.indptr], S.indices[stays], support[stays])
    return kept, lambda: np.bincount(gone)[1:].tolist()
