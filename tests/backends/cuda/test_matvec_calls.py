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


@pytest.mark.parametrize("form", ["sparse", "bitmap", "full"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_edges_of_a_frontier_are_counted_on_the_device(form, dtype):
    """Exactly, for the matrix that is asked about: a count is kept with the vector."""
    rng, n = np.random.default_rng(3), 200
    graphs = [Matrix.from_coo(*rng.integers(0, n, (2, many)), True, nrows=n, ncols=n) for many in (900, 70)]
    at = np.arange(n) if form == "full" else np.sort(rng.permutation(n)[: 9 if form == "sparse" else 130])
    with using_shim() as backend:
        u = backend.convert(Vector.from_coo(at, True, size=n)._store, "sparse" if form == "sparse" else "bitmap")
        u = backend.store_to_device(u)
        if form == "sparse":
            u = type(u)(n, u.dtype, backend.device.array(at.astype(dtype)), u.values, u.iso)
        for A in (*graphs, graphs[0]):
            degrees = np.diff(A.to_csr()[0])
            assert backend.edges_of(backend.store_to_device(A._store), u) == degrees[at].sum()
