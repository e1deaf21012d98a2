"""Whole loops of graphs with as many vertices as 32-bit numbers do not hold: left to the algorithm's own loop.

The row pointers are one zero, shown 2^31 times, so that such a graph takes no memory; what looked at them would.
"""

import numpy as np

from cuda_emulation.backend import using_shim
from grb_tile import dtypes
from grb_tile.storage.store import Compressed, index_dtype

MOST = 2**31 - 128  # vertices: kernels add up to 127 to the number of one
LOOPS = {
    "bfs": lambda b, A: b.bfs(A, None, 0),
    "bfs, both ways": lambda b, A: b.bfs(A, A, 0, parents=True),
    "bfs_multi": lambda b, A: b.bfs_multi(A, A, [0, 1]),
    "sssp": lambda b, A: b.sssp(A, lambda: A, 0, 1.0),
    "dependencies": lambda b, A: b.dependencies(A, np.array([0]), False, False, False),
    "components": lambda b, A: b.components(A, lambda: A, True),
    "strong_components": lambda b, A: b.strong_components(A, lambda: A),
    "core_numbers": lambda b, A: b.core_numbers(A, None),
    "topological_levels": lambda b, A: b.topological_levels(A),
    "cuthill_mckee": lambda b, A: b.cuthill_mckee(A),
    "greedy_colours": lambda b, A: b.greedy_colours(A, b.xp.arange(5)),
    "independent_set": lambda b, A: b.independent_set(A, b.xp.arange(5), None),
}


def edgeless(n, rows=None):
    pointers = np.broadcast_to(np.int64(0), ((n if rows is None else len(rows)) + 1,))
    return Compressed(n, n, dtypes.FP64, pointers, np.zeros(0, index_dtype(n)), np.zeros(0), rows=rows)


def test_graphs_of_too_many_vertices():
    with using_shim() as backend:
        for name, call in LOOPS.items():
            for A in (edgeless(MOST), edgeless(2**31), edgeless(2**40, np.zeros(0, np.int64)), edgeless(0)):
                assert call(backend, A) is NotImplemented, (name, A.nrows)
            assert call(backend, edgeless(5)) is not NotImplemented, name
