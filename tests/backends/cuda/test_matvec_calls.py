"""Calls of Matrix and Vector that are products of matrix and vector on the CUDA backend; kernels run as fibers."""

from contextlib import nullcontext

import numpy as np
import pytest

from cuda_emulation.backend import using_shim
from grb_tile import Matrix, Vector, monoid, plan, semiring
from grb_tile.planner import tuning
from support import seeds


def test_sums_by_rows_of_a_matrix():
    A = Matrix.from_coo([0, 0, 3], [1, 2, 0], [1.5, 2.5, 4.0], nrows=5, ncols=3)
    with using_shim():
        w = A.reduce_rowwise(monoid.plus).new()
        assert dict(zip(*map(list, w.to_coo()), strict=True)) == {0: 4.0, 3: 4.0}


@pytest.mark.parametrize("force", [None, "rows", "cols"])
def test_a_search_in_a_host_loop(force, monkeypatch):
    """Levels by masked products, the direction chosen on the device (all figures counted) or forced."""
    for name, value in (
        ("GPU_SMALL_MATRIX", 0),
        ("GPU_UNCOUNTED", 0),
        ("GPU_PUSH_NS", 0),
        ("GPU_CLAIM_PUSH_NS", 0),
        ("GPU_COUNT_EDGES_NS", 0),
        ("GPU_TRANSPOSE_NS", 0.0),
    ):
        monkeypatch.setattr(tuning, name, value)
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 31])
    n = 400
    rows, cols = rng.integers(0, n, 900), rng.integers(0, n, 900)
    graph = [[] for _ in range(n)]
    for i, j in zip(rows, cols, strict=True):
        graph[i].append(j)
    want, front, depth = {0: 0}, [0], 0
    while front:
        depth += 1
        front = [j for i in front for j in graph[i] if j not in want and want.setdefault(j, depth) == depth]
    A = Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
    level, q, depth = Vector(int, n), Vector(bool, n), 0
    q[0] = True
    with using_shim(), plan(force=force) if force else nullcontext():
        while q.nvals:
            level(q.S)[:] = depth
            q(~level.S, replace=True) << q.vxm(A, semiring.any_pair)
            depth += 1
    assert dict(zip(*(part.tolist() for part in level.to_coo()), strict=True)) == want
