"""Traversals from many sources at once, their kernels run as fibers, against the plain loop in NumPy for each
source."""

import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, shim, using_shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile import Matrix, dtypes
from grb_tile.backends.cpu.graph import bfs_numpy as plain
from grb_tile.backends.cuda.graph import bfs_multi as traverse_many, bfs_multi_graph as many_graph
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.storage import place
from support import seeds
from support.graphs import GRAPHS, dense, graph_of, grid, path, power_law, random_graph, transposed


def check(A, AT, sources, limit=None, direction=None, levels=True, parents=True, device=None):
    n = A.nrows
    device = device or shim().device
    level, parent, outcomes = traverse_many.traverse_many(device, A, AT, sources, limit, direction, levels, parents)
    assert (level is not None) == levels and (parent is not None) == parents
    assert len(outcomes) == -(-len(sources) // 64)
    edges = set(zip(np.repeat(np.arange(n), np.diff(A.indptr)).tolist(), A.indices.tolist(), strict=True))
    stores = [place.host(store) for store in (level, parent) if store is not None]
    frontiers = {}
    for s, source in enumerate(sources):
        want, _, report = plain.bfs(A, None, np.array([source]), True, False, limit, None)
        for k, row in enumerate(report.rows()):
            frontiers[s // 64, k] = frontiers.get((s // 64, k), 0) + row["frontier"]
        expected, _ = dense(want, n)
        reached = np.flatnonzero(expected >= 0)
        for C in stores:
            row = slice(int(C.indptr[s]), int(C.indptr[s + 1]))
            assert C.nrows == len(sources) and C.indices[row].tolist() == reached.tolist()
            values = C.values[row]
            if C.dtype is dtypes.INT32:
                assert values.tolist() == expected[reached].tolist()
            else:
                assert C.dtype is dtypes.INT64
                for v, above in zip(reached.tolist(), values.tolist(), strict=True):
                    assert above == v == source or (expected[above] == expected[v] - 1 >= 0 and (above, v) in edges)
    for b, outcome in enumerate(outcomes):
        counts = [row["frontier"] for row in outcome.rows()]
        assert counts == [frontiers[b, k] for k in range(len(counts))]
        assert limit is not None or outcome.reached == sum(counts)
    own = device.to_device(A)
    graph = many_graph.multi_graph_of(device, own, own if AT is A else None if AT is None else device.to_device(AT))
    assert not device.host(graph.control).any()


@pytest.mark.parametrize("direction", [None, "push", "pull"])
@pytest.mark.parametrize("name", ["one vertex", "no edges", "path", "star", "random", "power law", "grid", "sparse"])
def test_many_sources(name, direction):
    A = GRAPHS[name]()
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, len(name)])
    for count, limit in ((3, None), (64, None), (70, 2), (33, 0)):
        check(A, A, rng.integers(0, A.nrows, count).tolist(), limit, direction)


def test_levels_or_parents_alone():
    A = power_law(900, 6000, 3)
    check(A, A, [5, 6, 5], parents=False)
    check(A, A, [5, 6, 5], levels=False)


@pytest.mark.parametrize("name", ["one vertex", "no edges", "path", "star", "sparse"])
def test_levels_alone(name):
    """Their rows are written by teams of warps: of components, of all, cut at a level."""
    A = GRAPHS[name]()
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, len(name), 1])
    for count, limit in ((1, None), (64, None), (66, 2)):
        check(A, A, rng.integers(0, A.nrows, count).tolist(), limit, parents=False)


def test_levels_alone_in_many_chunks():
    """More vertices than the blocks hold at once; a few of them apart, so that some chunks are reached by other
    sources."""
    A = power_law(2900, 9000, 5)
    rows = np.repeat(np.arange(2900), np.diff(A.indptr))
    B = graph_of(3000, np.concatenate((rows, [2950, 2951, 2999])), np.concatenate((A.indices, [2951, 2952, 2998])))
    check(B, B, [1, 2, 2951, 2998, 7, 2900], parents=False)
    check(B, B, list(range(64)), parents=False)


@pytest.mark.parametrize("direction", [None, "push", "pull"])
def test_a_directed_graph_with_a_long_row(direction):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 8])
    A = graph_of(
        2600,
        np.concatenate((np.zeros(2500), rng.integers(0, 2600, 1500))),
        np.concatenate((np.arange(100, 2600), rng.integers(0, 2600, 1500))),
        symmetric=False,
    )
    check(A, transposed(A), [0, 7, 2000], direction=direction)
    check(transposed(A), A, [0, 7, 2000, *range(100, 150)], direction=direction)


def test_without_in_edges():
    A = random_graph(300, 900, 10, symmetric=False)
    check(A, None, [0, 7, 200], parents=False)
    assert traverse_many.traverse_many(shim().device, A, None, [0], None, parents=True) is NotImplemented


def test_long_rows_in_pieces():
    """Rows of several pieces: sources that hang on few of their entries."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 9])
    n = 3000
    hubs = np.repeat(np.arange(4), 1800)
    A = graph_of(
        n,
        np.concatenate((hubs, rng.integers(0, n, 2000))),
        np.concatenate((rng.integers(4, n, hubs.size), rng.integers(0, n, 2000))),
    )
    for direction in (None, "pull", "push"):
        check(A, A, rng.integers(0, n, 64).tolist(), direction=direction)


def test_many_levels():
    """Levels of more than four and eight binary digits; vertices without edges among the sources."""
    A = graph_of(330, np.arange(299), np.arange(1, 300))
    for direction in (None, "push", "pull"):
        check(A, A, [0, 299, 150, 310, 310, 329, 17], direction=direction)
    check(A, A, [0, 299, 150, 310, 310, 329, 17], parents=False)
    B = grid(60, 5)
    check(B, B, [0, 299, 3])
    check(B, B, [0, 299, 3, 0], parents=False)
    C = path(20)
    for limit in (13, 14, 15, 16):
        check(C, C, [0, 19], limit)
        check(C, C, [0, 19], limit, parents=False)


@pytest.mark.parametrize("alpha", [1, 1000])
@pytest.mark.sampled(1)
def test_each_source_chooses_its_direction(alpha, monkeypatch):
    """Sources in a core, on a tail that leads there, and apart."""
    monkeypatch.setitem(traverse_many.LAUNCH, "alpha", alpha)
    core = power_law(500, 5000, 4)
    rows = np.repeat(np.arange(500), np.diff(core.indptr))
    tail = np.arange(500, 520)
    A = graph_of(
        530, np.concatenate((rows, [3], tail[:-1], [522])), np.concatenate((core.indices, [500], tail[1:], [523]))
    )
    check(A, A, [0, 1, 490, 519, 510, 522, 529])


def test_more_room_than_entries(monkeypatch):
    A = power_law(900, 6000, 3)
    check(A, A, [3, 4, 5], limit=1)  # arrays are cut and copied
    monkeypatch.setattr(traverse_many, "MOST_SPARE", 0)
    check(A, A, [3, 4, 5])  # the number of entries is asked for first
    check(A, A, list(range(66)))


def test_random_orders_of_threads():
    if not EMULATED:
        pytest.skip("the order of threads can be chosen in the CPU emulation only")
    device = Device(EmulatedLauncher(seed=7))
    A = power_law(900, 6000, 3)
    for direction in (None, "pull"):
        check(A, A, list(range(0, 900, 15)), direction=direction, device=device)


def test_through_the_algorithm():
    import grb_tile as gb
    from grb_tile.algorithms import Graph, bfs, bfs_multi

    G = Graph(gb.Matrix._from_store(power_law(900, 6000, 3), dtypes.BOOL), directed=False)
    cpu = bfs_multi(G, [5, 7, 5])
    with using_shim() as backend:
        backend.detours.clear()
        found = bfs_multi(G, [5, 7, 5], parents=True)
        assert found.levels.isequal(cpu.levels)
        assert [r["frontier"] for r in found.report.rounds] == [r["frontier"] for r in cpu.report.rounds]
        only = bfs_multi(G, [5, 7], levels=False, parents=True, max_level=1)
        assert only.levels is None and only.report.stopped_by == "max_level"
        assert only.parents[0, :].new().nvals == bfs(G, 5, max_level=1).levels.nvals
        assert not backend.detours


@pytest.mark.parametrize("leaves", [9, 700])
@pytest.mark.sampled(1)
def test_edges_to_vertices_that_should_have_none(leaves):
    """All edges lead to vertex 0, which has none itself by the promise that A is symmetric: it has its place, too."""
    n = leaves + 5
    A = Matrix.from_coo(np.arange(1, leaves + 1), np.zeros(leaves, int), True, nrows=n, ncols=n)._store
    device = shim().device
    level, _, _ = traverse_many.traverse_many(device, A, A, [1, 0, leaves], None, None, True, False)
    rows = np.split(place.host(level).indices, place.host(level).indptr[1:-1])
    assert all(
        {source, 0} <= set(row.tolist()) <= set(range(leaves + 1))
        for source, row in zip((1, 0, leaves), rows, strict=True)
    )
    graph = many_graph.multi_graph_of(device, device.to_device(A), device.to_device(A))
    assert graph.live == A.nrows and device.host(graph.out.near).max() < graph.live
