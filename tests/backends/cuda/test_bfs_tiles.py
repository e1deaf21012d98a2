"""Searches over bit tiles, their kernel run as fibers, against the plain loop in NumPy; and over all of their
directions."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED, shim, using_shim
from grb_tile import dtypes
from grb_tile.algorithms import Graph, bfs
from grb_tile.backends.cpu.graph import bfs_numpy as plain
from grb_tile.backends.cuda.graph import bfs_tiles as traverse_tiles
from grb_tile.backends.cuda.products import tiles
from support import searches as operation, seeds
from support.graphs import GRAPHS, dense, graph_of, grid, path, power_law, random_graph, star, transposed

DIRECTIONS = (None, *tiles.DIRECTIONS)
HELD = [name for name in GRAPHS if name not in ("one vertex", "no edges")]


def check(
    A, AT, sources, direction=None, width=32, max_level=None, target=None, levels=True, parents=True, device=None
):
    n = A.nrows
    device = device or shim().device
    one = sources if type(sources) is int else np.asarray(sources, np.int64)
    found = traverse_tiles.traverse(device, A, AT, one, levels, parents, max_level, target, direction, width)
    assert found is not NotImplemented
    level, parent, outcome = found
    want, _, report = plain.bfs(A, None, np.atleast_1d(one), True, True, max_level, target)
    expected, count = dense(want, n)
    rows = outcome.rows()
    assert outcome.reached == count and outcome.format == "bittiled"
    assert [r["frontier"] for r in rows] == [r["frontier"] for r in report.rows()]
    assert {r["direction"] for r in rows} <= ({direction} if direction else set(tiles.DIRECTIONS))
    if levels:
        got, held = dense(level, n)
        assert held == count and got.tolist() == expected.tolist()
        assert [r["edges"] for r in rows] == [r["edges"] for r in report.rows()]
    else:
        assert {r["edges"] for r in rows} <= {None}
    if parents:
        above, held = dense(parent, n)
        there = np.flatnonzero(above >= 0)
        start = np.isin(there, one)
        assert held == count and ((above >= 0) == (expected >= 0)).all() and (above[there[start]] == there[start]).all()
        there = there[~start]
        assert (expected[above[there]] == expected[there] - 1).all()
        edges = {(i, int(j)) for i in range(n) for j in A.indices[A.indptr[i] : A.indptr[i + 1]]}
        assert all((int(above[v]), int(v)) in edges for v in there)
    kept = outcome._graph._table[1]
    for name in ("visited", "parts0", "parts1", "parts2", "control"):
        assert not device.host(kept[name]).any(), f"{name} is not clean after a search"
    return outcome


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", HELD)
def test_symmetric(name, direction, width):
    A = GRAPHS[name]()
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, len(name)])
    for source in {0, A.nrows - 1, int(rng.integers(A.nrows))}:
        outcome = check(A, A, source, direction, width)
    assert outcome._graph.tiles.symmetric


def test_the_forced_size_of_tiles():
    A = random_graph(200, 700, 2)
    for nt in (16, 32, 64):
        with gb.plan(force=f"bittiled nt{nt}"):
            assert check(A, A, 3, width=None)._graph.nt == nt


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_directed(direction):
    for salt in range(3):
        A = random_graph(300, 900, 10 + salt, symmetric=False)
        assert not check(A, transposed(A), salt, direction)._graph.tiles.symmetric
        check(A, None, 5, direction, 16)


@pytest.mark.parametrize("width", [16, 64])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_long_lines_of_tiles_are_split(direction, width, monkeypatch):
    """Hubs whose tile rows are split into chunks: in both directions, found in several chunks at once."""
    rng = np.random.default_rng(4)
    n = tiles.TILES_OF_CHUNK * width * 2 + 77
    hubs = rng.integers(0, n, 3)
    rows = np.concatenate((hubs.repeat(n // 2), rng.integers(0, n, 500)))
    cols = np.concatenate([rng.choice(n, n // 2, replace=False) for _ in hubs] + [rng.integers(0, n, 500)])
    A = graph_of(n, rows, cols)
    outcome = check(A, A, int(hubs[0]), direction, width, parents=False)
    assert tiles.chunks_of(shim().device, outcome._graph.tiles, False)[2] is not None
    check(A, A, int(rows[-1]), direction, width, parents=False)
    B = graph_of(n, rows, cols, symmetric=False)
    check(B, None, int(hubs[1]), direction, width, parents=False)


def test_limits():
    A, B = grid(20, 17), power_law(900, 6000, 3)
    for direction in DIRECTIONS:
        for limit in (0, 1, 5):
            check(A, A, 37, direction, max_level=limit)
        for limit in (0, 1, 2):
            check(B, B, 800, direction, max_level=limit)
        for target in (37, 38, 300):
            check(A, A, 37, direction, target=target)
            check(B, B, 37, direction, target=target, parents=False)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_several_sources(direction):
    A, B = random_graph(400, 420, 1), power_law(900, 6000, 3)
    check(A, A, [3, 50, 399], direction)
    check(B, B, list(range(0, 900, 7)), direction)


def test_levels_or_parents_alone():
    A = power_law(900, 6000, 3)
    for direction in DIRECTIONS:
        check(A, A, 5, direction, parents=False)
        check(A, A, 5, direction, levels=False)


def test_the_device_chooses_by_the_frontier_and_by_what_is_left(monkeypatch):
    A = power_law(900, 6000, 3)
    monkeypatch.setitem(traverse_tiles.LAUNCH, "sparse", 3)
    turns = [r["direction"] for r in check(A, A, 5, width=16).rows()]
    assert turns[0] == "push_csc" and "pull_csc" in turns
    monkeypatch.setitem(traverse_tiles.LAUNCH, "sparse", 10**6)
    monkeypatch.setitem(traverse_tiles.LAUNCH, "few", 10**6)
    assert {r["direction"] for r in check(A, A, 5, width=16).rows()[:2]} == {"push_csr"}


def test_random_orders_of_threads():
    """Fibers in another order: what a missing barrier would break."""
    from cuda_emulation.launcher import EmulatedLauncher
    from grb_tile.backends.cuda.runtime.device import Device

    if not EMULATED:
        pytest.skip("the order of threads can be chosen in the CPU emulation only")
    device = Device(EmulatedLauncher(seed=5))
    for direction in DIRECTIONS:
        check(power_law(900, 6000, 3), None, 7, direction, device=device)


@pytest.mark.parametrize("direction", ["bittiled", *tiles.DIRECTIONS])
def test_forced_plans_reach_it_and_say_so(direction):
    M = gb.Matrix._from_store(power_law(900, 6000, 3), dtypes.BOOL)
    G = Graph(M, directed=False)
    cpu = bfs(G, 5, parents=True)
    with using_shim() as backend, gb.plan(force=direction):
        backend.detours.clear()
        found = bfs(G, 5, parents=True)
        assert found.levels.isequal(cpu.levels) and not backend.detours
        assert found.report.iterations == cpu.report.iterations
        directions = {row["direction"] for row in found.report.rounds}
        assert directions == {direction} if direction != "bittiled" else directions <= set(tiles.DIRECTIONS)
        plan = next(plan for plan in reversed(gb.explain(0).plans) if plan.operation == "bfs")
        assert plan.format == "bittiled" and plan.method == ("by level" if direction == "bittiled" else direction)
        _, _, report = operation.bfs(M._store, M._store, 5)  # the plan counts while the report lives
        pulled = sum(row["direction"].startswith("pull") for row in report.levels)
        assert f"{len(report)} levels, {pulled} of them pulled" in str(gb.explain())


def test_what_has_no_tiles_goes_over_rows():
    A = graph_of(70, [], [])
    with using_shim(), gb.plan(force="push_csr"):
        level, _, report = operation.bfs(A, A, 3)
        assert report.format == "csr" and level.nvals == 1


def blocks_of(n, size):
    """Cliques of `size` vertices in a row, linked one to the next: full tiles."""
    at = np.arange(n)
    rows, cols = (x.ravel() for x in np.broadcast_arrays(at[:, None], at[:, None] // size * size + np.arange(size)))
    kept = cols < n
    return graph_of(n, np.concatenate((rows[kept], at[:-1])), np.concatenate((cols[kept], at[1:])))


def test_the_planner_takes_tiles_where_entries_cluster(monkeypatch):
    from grb_tile.planner import tuning

    monkeypatch.setattr(tuning, "TILES_ENTRIES", 1000)
    full, thin = blocks_of(600, 20), random_graph(600, 5000, 5)
    chain = path(3000)
    device = shim().device
    assert tiles.entries_per_tile(device, device.to_device(full), 16) > tuning.TILES_FULL
    assert tiles.entries_per_tile(device, device.to_device(thin), 16) < tuning.TILES_FULL
    with using_shim():
        for A, format in ((full, "bittiled"), (thin, "csr"), (chain, "csr")):
            want, _, _ = plain.bfs(A, None, np.array([3]), True, False, None, None)
            for _ in range(2):
                level, _, report = operation.bfs(A, A, 3)
                assert report.format == format and dense(level, A.nrows)[0].tolist() == dense(want, A.nrows)[0].tolist()
                plan = gb.explain().plans[0]
                assert plan.format == format and plan.rule == ("tiles_full" if format == "bittiled" else "by_level")
        operation.bfs(full, full, 3)
        assert "tile holds" in str(gb.explain())
        for direction in ("push", "pull"):
            with gb.plan(force=direction):
                assert operation.bfs(full, full, 3)[2].format == "csr"
        with gb.plan(force="csr"):
            assert operation.bfs(full, full, 3)[2].format == "csr"
        assert operation.bfs(full, None, 3)[2].format == "csr"
    monkeypatch.setattr(tuning, "TILES_ENTRIES", 10**9)
    small = blocks_of(600, 20)
    with using_shim():
        assert operation.bfs(small, small, 3)[2].format == "csr"


def test_occupancy_of_a_sample_is_near(monkeypatch):
    device = shim().device
    A = device.to_device(blocks_of(4000, 20))
    exact = tiles.entries_per_tile(device, A, 16)
    monkeypatch.setattr(tiles, "SAMPLE", 512)
    near = tiles.entries_per_tile(device, A, 16)
    assert near != exact and abs(near - exact) < exact / 5


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_more_lines_than_the_queue_of_a_warp_holds(direction):
    """A warp finds more lines of tiles in a level than its queue holds."""
    A = star(100_000)
    check(A, A, 0, direction, 16, parents=False)
    check(A, A, 77_777, direction, 16, parents=False)
