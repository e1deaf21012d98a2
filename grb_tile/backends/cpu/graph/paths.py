"""Shortest paths from many sources, each one compiled loop; threads share the sources.  Meanings: backends/graph.py."""

import numpy as np

from .compiled import run


def distances(A, sources, target, parents):
    n = A.nrows
    D = np.full((sources.size, n), -1, A.dtype.np_type)
    P = np.full(n if parents else 0, -1)

    def workspace(thread):
        return np.full(n, -1), *np.empty((2, n), np.int64), np.empty(0)

    each, flags = ("run", sources.size, workspace), {"COUNT": False, "PARENTS": parents}
    if run("dijkstra", [A], (sources, target, D.reshape(-1), P), each, flags) is NotImplemented:
        return NotImplemented
    return D, P if parents else None


def floyd_warshall(D):
    return run("floyd_warshall", [], (D.reshape(-1), D.shape[0]))


def dependencies(A, sources, weighted, endpoints, by_edge):
    """Sums of threads are added in one order, so that the same number of threads gives the same result."""
    n, scores = A.nrows, {}

    def workspace(thread):
        scores[thread] = np.zeros(A.nvals if by_edge else n)
        if weighted:
            return scores[thread], np.full(n, -1), *np.empty((2, n), np.int64), *np.empty((3, n))
        return scores[thread], np.full(n, -1), np.empty(n, np.int64), *np.empty((2, n))

    name, function, flags = "brandes", "run", None
    if weighted:
        name, function, flags = "dijkstra", "dependencies", {"COUNT": True, "PARENTS": False}
    each = function, sources.size, workspace
    if run(name, [A], (sources, int(endpoints), int(by_edge)), each, flags) is NotImplemented:
        return NotImplemented
    return sum(scores[thread] for thread in sorted(scores))
