"""Matrices that are kept whole on every rank: loops and products on them, and when; ranks are threads."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import algorithms, dist, generators
from grb_tile.backends.distributed.whole_loops import _drawn as drawn


def test_a_loop_runs_on_the_whole_graph_once_it_has_lost_as_much_time():
    A0 = generators.rmat(8, 8, directed=False, weights=(1, 9), seed=3)
    want = [
        algorithms.bfs(A0, 0).levels.to_dict(), algorithms.connected_components(A0).values.to_dict(),
        algorithms.sssp(A0, 0).distances.to_dict(),
    ]  # fmt: skip

    def call(world):
        A = dist.rmat(8, 8, directed=False, weights=(1, 9), seed=3)
        found = []
        for _ in range(3):
            found.append(
                [
                    algorithms.bfs(A, 0).levels.to_dict(), algorithms.connected_components(A).values.to_dict(),
                    algorithms.sssp(A, 0).distances.to_dict(),
                ]
            )  # fmt: skip
        before = world.traffic["bytes_received"]
        levels = algorithms.bfs(A, 0).levels
        moved = world.traffic["bytes_received"] - before
        assert levels.placement is not None and A._store.forms["kept_whole"].nvals == A.nvals
        return found, moved

    for found, moved in dist.run(3, call):
        assert found == [want] * 3 and moved == 0


def test_a_graph_that_does_not_fit_stays_distributed(monkeypatch):
    from grb_tile.backends.distributed import whole_loops

    monkeypatch.setattr(whole_loops, "free_bytes", lambda: 1000)

    def call(world):
        A = dist.rmat(8, 8, directed=False, seed=3)
        found = [algorithms.bfs(A, 0).levels.nvals for _ in range(3)]
        assert "kept_whole" not in A._store.forms
        return found

    assert len(set(map(tuple, dist.run(2, call)))) == 1


@pytest.mark.parametrize("size", (2, 3))
def test_triangles_are_shared_by_rows_of_a_matrix_kept_whole(size):
    """Rows are drawn by a hash: each is some rank's once, and the lookups are about the same."""
    A0 = generators.rmat(9, 8, directed=False, seed=3)
    L0 = gb.select.tril(A0, -1).new()
    product = gb.semiring.plus_pair[int]

    def triangles(L):
        return product(L @ L.T).select(L.S).reduce_scalar(gb.monoid.plus).new().value

    def call(world):
        L = gb.select.tril(dist.rmat(9, 8, directed=False, seed=3), -1).new()
        found = [triangles(L) for _ in range(3)]
        before = world.traffic["bytes_received"]
        found.append(triangles(L))
        return found, world.traffic["bytes_received"] - before, L._store.forms["drawn_rows"]

    counts = np.array([L0[i, :].new().nvals for i in range(L0.nrows)])
    rows, cols, _ = L0.to_coo()
    works, seen = [], []
    for rank, (found, moved, share) in enumerate(dist.run(size, call)):
        assert found == [triangles(L0)] * 4 and moved < 200 * size  # a number of each rank
        mine = drawn(np, L0.nrows, rank, size)
        assert share.nvals == counts[mine].sum() and share.nrows == mine.size
        works.append(counts[cols][np.isin(rows, mine)].sum())
        seen.extend(mine)
    assert sorted(seen) == list(range(L0.nrows))
    assert max(works) < 1.2 * sum(works) / size


@pytest.mark.parametrize("reach", (gb.semiring.any_pair, gb.semiring.ss.any_secondi, gb.semiring.min_first))
def test_only_the_structure_of_a_vector_travels_where_its_values_are_not_read(reach):
    """A bitmap of n / 8 bytes in place of n values of 8; values that differ, that are one, and none."""
    n = 1 << 12
    A0 = generators.rmat(12, 8, directed=False, weights=(1, 9), seed=3)
    vectors = [
        gb.Vector.from_dense(np.arange(n) % 7, missing_value=3), gb.Vector.from_coo(np.arange(0, n, 2), 5, size=n),
        gb.Vector.from_coo([n - 1], 5, size=n), gb.Vector(int, n),
    ]  # fmt: skip
    want = [A0.mxv(v, reach[int]).new() for v in vectors]
    later = [A0.mxv(v, gb.semiring.plus_times[int]).new().to_dict() for v in vectors]

    def call(world):
        A, found = dist.distribute(A0 if world.rank == 0 else None), []
        for v in vectors:
            u = dist.distribute(v if world.rank == 0 else None)
            before = world.traffic["bytes_received"]
            w = A.mxv(u, reach[int]).new()
            moved = world.traffic["bytes_received"] - before
            assert moved < n / 8 + 500, moved
            found.append((w.gather(), A.mxv(u, gb.semiring.plus_times[int]).new().to_dict()))
        return found

    for found in dist.run(2, call):
        for (w, sums), right, sums_wanted in zip(found, want, later, strict=True):
            assert w.isequal(right, check_dtype=True) and sums == sums_wanted
