"""Brandes' dependencies, the kernel run as fibers, against NetworkX."""

import networkx as nx
import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, shim, using_shim
from grb_tile import Matrix
from grb_tile.algorithms import Graph, betweenness, edge_betweenness
from grb_tile.backends.cuda.graph import brandes
from support import seeds
from support.graph_loops import dependencies as expected
from support.graphs import GRAPHS, graph_of, path, power_law, random_graph


def check(A, sources, endpoints=False):
    device, want = shim().device, expected(A, sources, endpoints)
    for by_edge in (False, True):
        found = device.host(brandes.dependencies(device, A, np.asarray(sources), False, endpoints, by_edge))
        np.testing.assert_allclose(found, want[by_edge], rtol=1e-10, atol=1e-10, err_msg=f"seed {seeds.SEED}")


@pytest.mark.parametrize("name", GRAPHS)
def test_every_kind_of_graph(name):
    A = GRAPHS[name]()
    check(A, np.unique(np.linspace(0, A.nrows - 1, 3).astype(int)), endpoints=len(name) % 2 == 0)


@pytest.mark.parametrize("salt", range(4))
def test_random_graphs(salt):
    """Directed with loops, vertices without out-edges, rows longer than a chunk, more sources than groups."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 30 + salt])
    n = int(rng.integers(2, 200))
    A = random_graph(n, int(n * rng.uniform(0.5, 6)), 40 + salt, symmetric=salt % 2 == 0)
    check(A, rng.choice(n, min(n, 9), replace=False), endpoints=salt > 1)
    hub = np.arange(1, 300)
    star = graph_of(
        400, np.concatenate((np.zeros(299, int), hub, [5, 399])), np.concatenate((hub, hub % 50 + 300, [5, 0])),
        symmetric=False,
    )  # fmt: skip
    check(star, [399, 0, 7])


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_groups_of_blocks(blocks, monkeypatch):
    """One group of all blocks, several groups of one block, and a rest."""
    A = power_law(150, 900, 5)
    launcher = shim().device.launcher
    monkeypatch.setattr(type(launcher), "blocks", lambda self, most, work=None, grain=1: min(most, blocks))
    check(A, range(0, 150, 19))


def test_a_group_that_memory_has_no_room_for(monkeypatch):
    device = shim().device
    monkeypatch.setattr(type(device), "memory", lambda self: (0, 1 << 30))
    check(power_law(100, 500, 6), [1, 50, 99])


def test_as_many_levels_as_vertices():
    """Both ends of a path, each by a group of its own."""
    for n in (1, 2, 33, 64):
        check(path(n), [0, n - 1], endpoints=True)


def test_algorithms_reach_it():
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 33])
    i, j = rng.integers(0, 60, (2, 150))
    with using_shim() as backend:
        asked, calls = backend.dependencies, []
        backend.dependencies = lambda *given: calls.append(1) or asked(*given)
        try:
            A = Matrix.from_coo(np.r_[i, j], np.r_[j, i], 1.0, nrows=60, ncols=60)
            G = nx.Graph(zip(i.tolist(), j.tolist(), strict=True))
            G.add_nodes_from(range(60))
            found = betweenness(Graph(A, False), batch=25).to_dict()
            edges = edge_betweenness(Graph(A, False)).to_dict()
        finally:
            del backend.dependencies
    assert len(calls) == 3 + 1
    want = nx.betweenness_centrality(G)
    assert all(found[v] == pytest.approx(want[v], rel=1e-9, abs=1e-12) for v in G)
    for (v, w), value in nx.edge_betweenness_centrality(G).items():
        assert edges[min(v, w), max(v, w)] == pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.skipif(not EMULATED, reason="the emulation orders threads by a seed")
def test_random_orders_of_threads():
    from cuda_emulation.launcher import EmulatedLauncher
    from grb_tile.backends.cuda.runtime.device import Device

    A = power_law(90, 600, 7)
    want = expected(A, [3, 80])[0]
    for seed in range(1, 4):
        device = Device(EmulatedLauncher(seed=seed))
        found = device.host(brandes.dependencies(device, A, np.array([3, 80]), False, False, False))
        np.testing.assert_allclose(found, want, rtol=1e-10)
