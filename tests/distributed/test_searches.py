"""Searches by kernels that exchange through memory of other devices (distributed/searches.py), on emulated devices."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.arrays import Cuda
from cuda_emulation.backend import EMULATED
from grb_tile import algorithms, dist, generators, graph
from grb_tile.backends.cuda.graph import bfs as one_device
from grb_tile.backends.distributed import peers, searches
from grb_tile.backends.distributed.nccl import BackendDevice
from grb_tile.exceptions import DistributedError
from grb_tile.planner import choose_ranks, tuning
from grb_tile.storage.store import forms_of
from support.emulated_devices import emulated_devices
from support.seeds import generator

pytestmark = pytest.mark.skipif(not EMULATED, reason="tests/gpu/test_ranks.py has these on devices")


@pytest.fixture
def searched(monkeypatch):
    """Searches over ranks wherever they can be; the list gets what each gave: True, or why not."""
    monkeypatch.setattr(choose_ranks, "saved_by_whole", lambda *facts: 0.0)
    made, asked = searches.Searches.search, []

    def search(self, *args):
        found = made(self, *args)
        asked.append(found is not NotImplemented)
        return found

    monkeypatch.setattr(searches.Searches, "search", search)
    return asked


def star(n):
    """One vertex with an edge to each other, of which some go on: more edges than a warp expands alone."""
    rows = np.concatenate([np.full(n - 1, 70), np.arange(0, n - 1, 7)])
    cols = np.concatenate([np.delete(np.arange(n), 70), np.arange(0, n - 1, 7) + 1])
    return rows, cols, n


def path(n):
    order = generator("path", n).permutation(n)
    return order[:-1], order[1:], n


def random(n, count):
    rng = generator("random", n, count)
    rows, cols = rng.integers(0, n, (2, count))
    return rows, np.minimum(cols, n - 40), n  # no edge leads to the last ones


GRAPHS = {
    "star": star(6000), "path": path(70), "sparse": random(700, 900), "dense": random(500, 9000),
    "few in one rank": random(65, 200), "no edges": (np.zeros(0, int), np.zeros(0, int), 200),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", (2, 3, 4))
@pytest.mark.parametrize("name", GRAPHS)
def test_levels(name, size, searched):
    rows, cols, n = GRAPHS[name]
    sources = sorted({0, 69, 70, n - 1, int(generator("source", name).integers(n))} & set(range(n)))
    whole = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
    both = gb.binary.any(whole | whole.T).new()
    want = [algorithms.bfs(A, s).levels.to_dict() for A in (whole, both) for s in sources]
    short = [algorithms.bfs(whole, s, max_level=k).levels.to_dict() for s in sources for k in (0, 1, 2)]

    def program(world):
        mine = slice(world.rank, None, size)
        ones = np.ones(rows[mine].size, bool)
        A = dist.from_coo(rows[mine], cols[mine], ones, nrows=n, ncols=n, dup_op=gb.binary.any)
        B = gb.binary.any(A | A.T).new()
        found = [algorithms.bfs(X, s).levels for X in (A, B) for s in sources]
        counts = [levels.nvals for levels in found]
        cut = [algorithms.bfs(A, s, max_level=k).levels.to_dict() for s in sources for k in (0, 1, 2)]
        pushed = [graph.bfs(A, s, pull=False).levels.to_dict() for s in sources]
        return [levels.to_dict() for levels in found], counts, cut, pushed

    with emulated_devices(size):
        for found, counts, cut, pushed in dist.run(size, program, devices=size):
            assert found == want and counts == [len(levels) for levels in want]
            assert cut == short and pushed == want[: len(sources)]
    assert all(searched) and len(searched) == size * len(sources) * 6


def test_levels_are_pushed_and_pulled_as_on_one_device(searched, monkeypatch):
    """The rule is that of one device, whatever alpha."""

    def program(world):
        A = dist.rmat(10, 8, directed=False, seed=3)
        return [(row["frontier"], row["direction"]) for row in graph.bfs(A, 1, symmetric=True).report.levels]

    for alpha in (2, tuning.BFS_ALPHA, 10**6):
        monkeypatch.setattr(tuning, "BFS_ALPHA", alpha)
        monkeypatch.setitem(one_device.LAUNCH, "alpha", alpha)
        with emulated_devices(2):
            with gb.config.set(backend="cuda"):
                A0 = generators.rmat(10, 8, directed=False, seed=3)
                alone = graph.bfs(A0, 1, symmetric=True).report.levels
                want = [(row["frontier"], row["direction"]) for row in alone]
            assert dist.run(2, program, devices=2) == [want, want]
            assert {row[1] for row in want} == {"push", "pull"}
    assert all(searched)


def test_search_after_search_in_windows_that_grow(searched, monkeypatch):
    """Halves and meetings go on from launch to launch, and begin again in larger windows."""
    monkeypatch.setattr(peers, "SMALLEST", 1 << 10)
    graphs = [generators.rmat(scale, 6, directed=False, seed=scale) for scale in (8, 13, 9, 14, 8)]
    sources = [5, 0, 200, 3]
    want = [[algorithms.bfs(A, s).levels.to_dict() for s in sources] for A in graphs]

    def program(world):
        parts = [dist.distribute(A if world.rank == 0 else None) for A in graphs]
        found = [[algorithms.bfs(A, s).levels for s in sources] for A in parts]
        return [[levels.to_dict() for levels in each] for each in found], world._backend.comm._peers._half

    with emulated_devices(2):
        for found, half in dist.run(2, program, devices=2):
            assert found == want and half > 1 << 10
    assert all(searched)


def test_graphs_that_have_the_rows_of_one_rank_in_common(searched):
    """A rank keeps its store where a result has new entries in others' rows alone, which say how many all have."""
    n, rng = 640, generator("rows in common")
    first = rng.integers(0, 300, (2, 1500))
    more = rng.integers(400, n, (2, 9000))

    def whole(*edges):
        rows, cols = np.concatenate(edges, axis=1)
        A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
        return gb.binary.any(A | A.T).new()

    A0, B0 = whole(first, [[310], [410]]), whole(more)
    both = gb.binary.any(A0 | B0).new()
    sources = (0, 5, 310, 450)
    want = [algorithms.bfs(X, s).levels.to_dict() for s in sources for X in (A0, both)]

    def program(world):
        world._backend.set_layout([0, 320, n])
        A, B = (dist.distribute(X if world.rank == 0 else None) for X in (A0, B0))
        D = gb.binary.any(A | B).new()
        return [graph.bfs(X, s, symmetric=True).levels.to_dict() for s in sources for X in (A, D)]

    with emulated_devices(2):
        for found in dist.run(2, program, devices=2):
            assert found == want
    assert all(searched)


@pytest.mark.parametrize("has_room", (True, False))
@pytest.mark.parametrize("symmetric", (True, False))
def test_rows_are_moved_where_one_rank_has_most_vertices(symmetric, has_room, searched, monkeypatch):
    n, rng = 1280, generator("moved rows", symmetric)
    rows, cols = rng.integers(0, n, (2, 3 * n))
    rows, cols = (np.concatenate((rows, cols)), np.concatenate((cols, rows))) if symmetric else (rows, cols)
    A0 = gb.Matrix.from_coo(rows, cols, 1.0, nrows=n, ncols=n)
    want = [algorithms.bfs(A0, s).levels for s in (0, 70, n - 1)]
    other = gb.Vector.from_dense(np.arange(float(n)))
    sums = [(levels + other).new().to_dict() for levels in want]

    def program(world):
        backend = world._backend
        backend.set_layout([0, 128, 128, n])
        A = dist.distribute(A0 if world.rank == 0 else None)
        monkeypatch.setattr(backend, "has_room", lambda *matrices: has_room)
        found = [algorithms.bfs(A, s).levels for s in (0, 70, n - 1)]
        lengths = [len(levels._store.layout) for levels in found]
        kept = forms_of(A._store)["search_graph"][1]
        counted = [levels.nvals for levels in found], [(levels + other).new().to_dict() for levels in found]
        return lengths, kept.nvals, [levels.to_dict() for levels in found], *counted

    with emulated_devices(3):
        ended = dist.run(3, program, devices=3)
    for lengths, _, found, counts, added in ended:
        assert found == [levels.to_dict() for levels in want] and counts == [levels.nvals for levels in want]
        assert added == sums and (300 < lengths[0] < 600) == has_room
    assert all(searched) and sum(entries for _, entries, *_ in ended) == A0.nvals


@pytest.mark.parametrize("fault", ("no access", "no memory", "another host", "no room"))
def test_without_windows_on_every_rank_where_one_has_none(fault, searched, monkeypatch):
    if fault == "no access":
        monkeypatch.setattr(Cuda.runtime, "deviceCanAccessPeer", staticmethod(lambda number, other: number == 0))
    if fault == "no memory":
        window = BackendDevice.window
        monkeypatch.setattr(BackendDevice, "window", lambda self, *of: window(self, *of) if self.number else [].pop())
    if fault == "another host":
        names = iter("abc")
        monkeypatch.setattr(peers, "gethostname", lambda: next(names))
    if fault == "no room":
        monkeypatch.setattr(peers, "WINDOW_SHARE", 1e-12)

    def program(world):
        A = dist.rmat(8, 8, directed=False, seed=3)
        return algorithms.bfs(A, 1).levels.to_dict()

    want = algorithms.bfs(generators.rmat(8, 8, directed=False, seed=3), 1).levels.to_dict()
    with emulated_devices(3):
        assert dist.run(3, program, devices=3) == [want] * 3
    assert not any(searched)


def test_what_is_asked_for_otherwise(searched):
    """Parents, several sources, a target: the loop of calls."""

    def program(world):
        A = dist.rmat(7, 8, directed=False, seed=3)
        world._backend.replicates = False
        found = algorithms.bfs(A, 1, parents=True)
        return found.levels.to_dict(), algorithms.bfs(A, 1, target=9).levels.get(9), found.parents.nvals

    A0 = generators.rmat(7, 8, directed=False, seed=3)
    want = algorithms.bfs(A0, 1).levels
    with emulated_devices(2):
        for found in dist.run(2, program, devices=2):
            assert found == (want.to_dict(), want.get(9), want.nvals)
    assert not any(searched)


def test_a_rank_that_does_not_launch_ends_the_others_waits(searched, monkeypatch):
    """Rank 1 meets the others on the host and ends then: their kernels wait for it, until the thread stops them."""

    def program(world):
        A, local = dist.rmat(8, 8, directed=False, seed=3), world._backend.local
        if world.rank == 1:

            def fails(*args):
                args[-1]()
                raise ValueError("rank 1 has had enough")

            monkeypatch.setattr(local, "bfs_of_ranks", fails, raising=False)
        return algorithms.bfs(A, 1).levels.to_dict()

    with emulated_devices(3), pytest.raises((ValueError, DistributedError), match="had enough"):
        dist.run(3, program, devices=3, timeout=20)
