"""Triangles at vertices and supports as edges go: the kernels run as fibers, against plain loops."""

import networkx as nx
import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, shim, using_shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile import Matrix, algorithms, dtypes, graph
from grb_tile.backends.cuda.graph import triangles
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.storage import place
from support import graph_loops as plain, seeds
from support.graphs import GRAPHS, clique, graph_of, power_law, random_graph

CASES = {
    **{name: GRAPHS[name] for name in ("one vertex", "no edges", "path", "star", "clique", "random", "power law")},
    "dense": lambda: random_graph(90, 2500, 7), "hubs": lambda: power_law(700, 9000, 4),
}  # fmt: skip


def loopless(A):
    rows, cols = plain.edges(A)
    return graph_of(A.nrows, rows[rows != cols], cols[rows != cols])


def lower(A):
    rows, cols = plain.edges(A)
    return graph_of(A.nrows, rows[rows > cols], cols[rows > cols], symmetric=False)


@pytest.mark.parametrize("name", CASES)
def test_corners(name):
    L = lower(CASES[name]())
    found = triangles.triangle_corners(shim().device, L)
    if L.nvals == 0:
        assert found is NotImplemented
    else:
        assert place.host(found).values.tolist() == plain.corners(L).tolist()


def test_corners_in_rows_without_a_table():
    """A row over more columns than shared memory has words for, and one of few lookups."""
    n = 400_000
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 5])
    below = np.unique(rng.integers(0, n - 1, 30_000))
    few = below[:: below.size // 60]
    i, j = (x.ravel() for x in np.meshgrid(few, few))
    i, j = i[i > j], j[i > j]
    short = np.r_[below[:: below.size // 5], n - 1]  # rows that are looked up in the long one
    rows = np.r_[np.full(below.size, n - 1), i, np.full(short.size, n), np.full(2, n + 1)]
    L = graph_of(n + 2, rows, np.r_[below, j, short, n - 1, below[7]], symmetric=False)
    wanted = plain.corners(L)
    assert wanted.sum() and place.host(triangles.triangle_corners(shim().device, L)).values.tolist() == wanted.tolist()


def check_peel(A, least, rng, device=None):
    A = loopless(A)
    found = plain.supports(A, rng.random(A.nvals // 2) < 0.5)
    if not found:
        return
    wanted, rounds = plain.peeled(A, found, least)
    i, j = np.array(list(found)).T
    S = Matrix.from_coo(i, j, np.array(list(found.values()), np.int64), nrows=A.nrows, ncols=A.nrows)._store
    left, removed = triangles.peel_truss(device or shim().device, A, S, least)
    left = Matrix._from_store(place.host(left))
    assert dict(zip(zip(*(x.tolist() for x in left.to_coo()[:2]), strict=True), left.to_coo()[2].tolist())) == wanted
    assert removed() == rounds


@pytest.mark.parametrize("least", [1, 2, 3, 6])
@pytest.mark.parametrize("name", ["clique", "random", "power law", "dense", "hubs"])
def test_supports_as_edges_go(name, least):
    check_peel(CASES[name](), least, np.random.default_rng([seeds.SEED & 0xFFFFFFFF, least]))


def test_one_edge_a_round_and_long_rows(monkeypatch):
    """A strip of triangles, which goes edge by edge from its ends; rows that a block shares."""
    n = 60
    i = np.arange(n - 1)
    strip = graph_of(n, np.r_[i, i[:-1]], np.r_[i + 1, i[:-1] + 2])
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 8])
    check_peel(strip, 2, rng)
    hubs = np.arange(4, 1300)
    ends = np.repeat(np.arange(4), hubs.size)
    more = rng.choice(hubs, (2, 500))
    A = graph_of(1300, np.r_[ends, 0, more[0]], np.r_[np.tile(hubs, 4), 1, more[1]])
    for least in (2, 3, 1200):
        check_peel(A, least, rng)


def test_random_orders_of_threads():
    if not EMULATED:
        pytest.skip("the order of threads can be chosen in the CPU emulation only")
    A = power_law(300, 3000, 5)
    for seed in (3, 4):
        device, rng = Device(EmulatedLauncher(seed=seed)), np.random.default_rng(seed)
        check_peel(A, 3, rng, device)
        L = lower(A)
        assert place.host(triangles.triangle_corners(device, L)).values.tolist() == plain.corners(L).tolist()


def test_algorithms_on_the_device():
    """Clustering, triangles and trusses by these loops, the records of a truss as those of the products."""
    N = nx.powerlaw_cluster_graph(150, 7, 0.7, seed=seeds.SEED % 2**31)
    i, j = np.array(N.edges).T
    with using_shim():
        A = Matrix.from_coo(np.r_[i, j], np.r_[j, i], True, dtypes.BOOL, nrows=150, ncols=150)
        t, c = algorithms.triangles(A).to_dict(), algorithms.clustering(A).to_dict()
        for k in (3, 4, 5):
            whole = algorithms.k_truss(A, k)
            seen = []
            parts = algorithms.k_truss(A, k, callback=seen.append)
            assert whole.to_dict() == parts.to_dict() and len(seen) == whole.report.iterations
            for mine, theirs in zip(whole.report.rounds, seen, strict=True):
                assert (mine["edges"], mine["removed"]) == (theirs["edges"], theirs["removed"])
            assert whole.report.stopped_by == "converged"
    assert t == nx.triangles(N)
    assert c == pytest.approx(nx.clustering(N))


def test_operands_without_such_a_loop():
    with using_shim():
        n = 2**40
        A = Matrix.from_coo([0, n - 1], [n - 1, 0], True, nrows=n, ncols=n)
        assert graph.triangle_corners(A) is None and graph.peel_truss(A, A, 1) is None
        assert graph.triangle_corners(Matrix._from_store(lower(clique(5)))).to_dense().tolist() == [6] * 5
