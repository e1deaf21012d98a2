"""The fused traversals, their kernels run as fibers, against the plain loop in NumPy."""

import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, shim, using_shim
from grb_tile import dtypes
from grb_tile.backends.cpu.graph import bfs_numpy as plain
from grb_tile.backends.cuda.graph import bfs as on_device, bfs_graph as traverse_graph
from grb_tile.backends.cuda.products import pull
from grb_tile.backends.cuda.runtime.late_vector import LateVector
from grb_tile.planner import force, tuning
from grb_tile.storage import place
from support import seeds
from support.graphs import GRAPHS, dense, graph_of, grid, power_law, random_graph, transposed

ROW_OF_LANE = 32  # of kernels/graph/bfs_pull.cuh


def check(A, AT, sources, direction=None, max_level=None, target=None, levels=True, parents=True):
    n = A.nrows
    device = shim().device
    one = sources if type(sources) is int else np.asarray(sources, np.int64)
    level, parent, outcome = on_device.traverse(device, A, AT, one, levels, parents, max_level, target, direction)
    want, _, report = plain.bfs(A, None, np.atleast_1d(one), True, True, max_level, target)
    expected, count = dense(want, n)
    assert outcome.reached == count
    rows = outcome.rows()
    assert [r["frontier"] for r in rows] == [r["frontier"] for r in report.rows()]
    if levels:
        got, held = dense(level, n)
        assert held == count and got.tolist() == expected.tolist()
        assert [r["edges"] for r in rows] == [r["edges"] for r in report.rows()]
    if parents:
        got, held = dense(parent, n)
        assert held == count and ((got >= 0) == (expected >= 0)).all()
        found = np.flatnonzero(got >= 0)
        start = np.isin(found, one)
        assert (got[found[start]] == found[start]).all()
        found = found[~start]
        assert (expected[got[found]] == expected[found] - 1).all()
        edges = {(i, int(j)) for i in range(n) for j in A.indices[A.indptr[i] : A.indptr[i + 1]]}
        assert all((int(got[v]), int(v)) in edges for v in found)
    workspace = outcome._graph._table[1]
    control = device.host(workspace["control"])
    assert not device.host(workspace["visited0"]).any() and not control[:2].any() and not control[6:18].any()
    return outcome


@pytest.mark.parametrize("longest", [0, np.inf], ids=["plain", "low_skew"])
@pytest.mark.parametrize("direction", [None, "pull", "push"])
def test_hubs_at_a_distance(direction, longest, monkeypatch):
    """Rows that all warps pull together (low skew): two hubs, reached by way of their last and their first leaf."""
    monkeypatch.setattr(tuning, "LOW_SKEW", longest)
    monkeypatch.setattr(tuning, "LOCAL_SHARE", 2)
    leaves = np.arange(2, 1500)
    rows = np.concatenate((np.zeros(leaves.size), np.ones(leaves.size - 1), [1499, 1500, 2]))
    cols = np.concatenate((leaves, leaves[1:], [1500, 1501, 1502]))
    A = graph_of(1510, rows, cols)
    for source in (1501, 1502):
        graph = check(A, A, source, direction)._graph
        assert graph.is_low_skew == (longest > 0)


def test_a_row_goes_on_behind_vertex_0():
    """Vertex 0 is the fifth of the neighbours that a pull looks up first; only one behind them is visited."""
    hubs = np.repeat((1, 2, 3, 4), 20)
    rows = np.concatenate((hubs, np.zeros(10), np.full(6, 10)))
    cols = np.concatenate((np.tile(np.arange(20, 40), 4), np.arange(20, 30), (1, 2, 3, 4, 0, 5)))
    A = graph_of(60, rows, cols)
    check(A, A, 5, "pull")


def test_a_queue_of_vertices_of_one_edge():
    """Warps whose 32 edges leave 32 vertices, and end where the last of these ends."""
    middle = np.arange(1, 201)
    A = graph_of(420, np.concatenate((np.zeros(200), middle)), np.concatenate((middle, middle + 200)), False)
    check(A, None, 0, "push")


def test_the_last_entry_of_a_hub(monkeypatch):
    """All warps pull a hub's row; only its last entry is visited, and others are looked up first for their degrees."""
    monkeypatch.setattr(tuning, "LOW_SKEW", np.inf)
    monkeypatch.setattr(tuning, "LOCAL_SHARE", 2)
    leaves, heavy = np.arange(1, 601), np.arange(1, 9)
    ends = np.arange(602, 602 + 3 * heavy.size)
    rows = np.concatenate((np.zeros(leaves.size), [600], heavy.repeat(3)))
    A = graph_of(640, rows, np.concatenate((leaves, [601], ends)))
    outcome = check(A, A, 601, "pull")
    assert outcome._graph.is_low_skew and [row["frontier"] for row in outcome.rows()][:4] == [1, 1, 1, 599]


@pytest.mark.parametrize("length", [ROW_OF_LANE + k for k in (-1, 0, 1, 2, 31, 32, 33)])
@pytest.mark.sampled(1)
def test_only_the_last_entry_of_a_row_is_visited(length):
    """Rows that a lane searches alone and rows of which it leaves a few entries to the warp."""
    leaves, heavy = np.arange(1, length + 1), np.arange(1, 9)
    ends = np.arange(length + 2, length + 2 + 3 * heavy.size)
    rows = np.concatenate((np.zeros(leaves.size), [length], heavy.repeat(3)))
    A = graph_of(length + 40, rows, np.concatenate((leaves, [length + 1], ends)))
    outcome = check(A, A, length + 1, "pull")
    assert [row["frontier"] for row in outcome.rows()][:4] == [1, 1, 1, length - 1]


@pytest.fixture
def high_diameter(monkeypatch):
    """Even small graphs take the high-diameter kernel."""
    monkeypatch.setattr(tuning, "HIGH_DIAMETER_VERTICES", 0)


def test_room_for_the_results_is_asked_for(monkeypatch):
    """Before anything is allocated: levels, parents, bits and the record."""
    A, asked = GRAPHS["path"](), []
    monkeypatch.setattr(shim().device, "check_room", lambda wanted, what: asked.append((what, wanted)))
    for each in (4, 8, 12):
        check(A, A, 0, levels=each != 8, parents=each != 4)
        ((what, wanted),) = asked
        assert what == "traverse" and wanted > A.nrows * (each + 1 / 8)
        asked.clear()


def test_several_sources_in_a_graph_of_high_diameter(high_diameter):
    """The kernel of few blocks has one source; several are the grid's, after it and before it on one graph."""
    A = GRAPHS["path"]()
    for sources in ([0, A.nrows - 1], 3, [5], [A.nrows // 2, 0]):
        for direction in (None, "push"):
            check(A, A, sources, direction)


@pytest.mark.parametrize("direction", [None, "push", "pull"])
@pytest.mark.parametrize("name", GRAPHS)
def test_symmetric(name, direction):
    A = GRAPHS[name]()
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, len(name)])
    for source in {0, A.nrows - 1, int(rng.integers(A.nrows))}:
        check(A, A, source, direction)


@pytest.mark.parametrize("direction", [None, "push", "pull"])
def test_directed(direction):
    for salt in range(3):
        A = random_graph(300, 900, 10 + salt, symmetric=False)
        check(A, transposed(A), salt, direction)
    check(A, None, 5, "push")
    check(A, None, 5)


@pytest.mark.parametrize("name", ["path", "grid", "sparse", "self loops", "no edges", "random"])
def test_high_diameter(name, high_diameter):
    A = GRAPHS[name]()
    outcome = check(A, A, 0)
    graph = on_device.graph_of(shim().device, shim().store_to_device(A), shim().store_to_device(A))
    assert graph.is_high_diameter or name == "random"
    check(A, A, A.nrows - 1, max_level=3)
    assert outcome.seconds == 0 if EMULATED else outcome.seconds > 0  # the emulated clock stands still


@pytest.mark.parametrize("degree", [33, 900])
def test_one_hub_does_not_lose_the_high_diameter_kernel(degree):
    """A grid with one vertex of `degree` neighbours: its row is long, its frontier hands over at run time if it
    must."""
    side = 60
    A = grid(side, side)
    rows, cols = np.repeat(np.arange(A.nrows), np.diff(A.indptr)), A.indices.astype(np.int64)
    ends = np.arange(1, degree + 1) * 3
    hub = np.full(degree, side * side // 2 + side // 2)
    keep = ends != hub
    B = graph_of(A.nrows, np.concatenate((rows, hub[keep])), np.concatenate((cols, ends[keep])))
    outcome = check(B, B, 0)
    assert outcome.choice.kernel == "blocks_high_diameter"
    check(B, B, int(hub[0]))


def test_many_long_rows_go_to_the_grid(high_diameter):
    rng = np.random.default_rng(4)
    A = graph_of(3000, rng.integers(0, 60, 4000), rng.integers(0, 3000, 4000))
    assert check(A, A, 1).choice.kernel != "blocks_high_diameter"


@pytest.mark.parametrize("kernel", ["grid_wide", "grid_low_skew", "blocks_high_diameter"])
@pytest.mark.parametrize("name", ["path", "grid", "random", "sparse"])
def test_forced_kernels(name, kernel):
    A = GRAPHS[name]()
    with force(kernel):
        assert check(A, A, 0).choice == (kernel, "forced", ())


def test_high_diameter_hands_over(high_diameter, monkeypatch):
    A = grid(25, 30)
    monkeypatch.setattr(traverse_graph.BfsGraph, "high_diameter_limit", lambda self, blocks: 12)
    check(A, A, 0)
    check(A, A, 300)


def test_high_diameter_queue_overflows():
    """A frontier that grows so fast that a block's queue spills."""
    A = random_graph(30000, 115000, 6)
    device = shim().device
    level, parent, outcome = on_device.traverse(device, A, A, 0, True, True, None, None, None)
    graph = on_device.graph_of(device, device.to_device(A), device.to_device(A))
    assert graph.is_high_diameter
    want, _, report = plain.bfs(A, None, np.array([0]), True, False, None, None)
    expected, count = dense(want, A.nrows)
    got, _ = dense(level, A.nrows)
    assert outcome.reached == count and got.tolist() == expected.tolist()
    assert [r["frontier"] for r in outcome.rows()] == [r["frontier"] for r in report.rows()]
    above, _ = dense(parent, A.nrows)
    found = np.flatnonzero(expected > 0)
    assert (expected[above[found]] == expected[found] - 1).all()


def test_long_rows_in_the_high_diameter_kernel(high_diameter):
    """Rows of more than `width` entries go on in the matrix."""
    rng = np.random.default_rng(3)
    A = graph_of(300, np.repeat(np.arange(30), 12), rng.integers(0, 300, 360))
    check(A, A, 0)


@pytest.mark.parametrize("direction", [None, "pull"])
@pytest.mark.sampled(1)
def test_limits(direction, high_diameter):
    A = grid(20, 17)
    for limit in (0, 1, 5, 100):
        check(A, A, 37, direction, max_level=limit)
    B = power_law(900, 6000, 3)
    for limit in (0, 1, 2):
        check(B, B, 800, direction, max_level=limit)
    for target in (37, 38, 300):
        check(A, A, 37, direction, target=target)
        check(B, B, 37, direction, target=target)


@pytest.mark.parametrize("direction", [None, "push", "pull"])
def test_several_sources(direction):
    A = random_graph(400, 420, 1)
    check(A, A, [3, 50, 399], direction)
    B = power_law(900, 6000, 3)
    check(B, B, list(range(0, 900, 7)), direction)


def test_levels_or_parents_alone():
    A = power_law(900, 6000, 3)
    check(A, A, 5, parents=False)
    check(A, A, 5, levels=False)


def test_changes_of_direction(monkeypatch):
    """Pushes, pulls, and pushes again along a tail."""
    core = power_law(800, 9000, 4)
    rows = np.repeat(np.arange(800), np.diff(core.indptr))
    tail = np.arange(800, 10200)
    A = graph_of(10300, np.concatenate((rows, [0], tail[:40])), np.concatenate((core.indices, [800], tail[1:41])))
    monkeypatch.setitem(on_device.LAUNCH, "alpha", 1000)
    outcome = check(A, A, 3)
    turns = "".join(row["direction"][2] for row in outcome.rows())
    assert turns.count("l") and turns.startswith("s")


def test_pushes_again_from_the_last_words_of_the_bitmap(monkeypatch):
    """A pull finds only the last vertex, whose number is in a word that is not full; what lies behind it is pushed."""
    n = 8517
    monkeypatch.setitem(on_device.LAUNCH, "alpha", 1000)
    core = np.triu_indices(41, 1)
    others = np.arange(42, n - 3).reshape(-1, 2)  # so many are left that a small frontier is pushed
    A = graph_of(
        n,
        np.concatenate((core[0], others[:, 0], [1, n - 1, n - 2])),
        np.concatenate((core[1], others[:, 1], [n - 1, n - 2, n - 3])),
    )
    with force("grid_wide"):
        outcome = check(A, A, 0)
    rows = outcome.rows()
    assert [row["direction"] for row in rows][:3] == ["push", "pull", "push"]
    assert [row["frontier"] for row in rows][:4] == [1, 40, 1, 1]


def test_random_orders_of_threads():
    """Fibers in another order: what a missing barrier would break."""
    from cuda_emulation.launcher import EmulatedLauncher
    from grb_tile.backends.cuda.runtime.device import Device

    if not EMULATED:
        pytest.skip("the order of threads can be chosen in the CPU emulation only")
    device = Device(EmulatedLauncher(seed=5))
    A = power_law(900, 6000, 3)
    want, _, _ = plain.bfs(A, None, np.array([7]), True, False, None, None)
    for mode in (None, "pull"):
        level, _, _ = on_device.traverse(device, A, A, 7, True, True, None, None, mode)
        assert dense(level, 900)[0].tolist() == dense(want, 900)[0].tolist()


def test_algorithms_reach_it():
    import grb_tile as gb
    from grb_tile.algorithms import Graph, bfs, bfs_multi

    A = power_law(900, 6000, 3)
    M = gb.Matrix._from_store(A, dtypes.BOOL) if hasattr(gb.Matrix, "_from_store") else None
    G = Graph(M, directed=False)
    cpu = bfs(G, 5, parents=True)
    with using_shim() as backend:
        backend.detours.clear()
        found = bfs(G, 5, parents=True)
        assert type(found.levels._store) is LateVector
        assert found.levels.isequal(cpu.levels)
        assert found.report.iterations == cpu.report.iterations
        assert [r["frontier"] for r in found.report.rounds] == [r["frontier"] for r in cpu.report.rounds]
        several = bfs_multi(G, [5, 7, 5])
        assert several.levels[0, :].new().isequal(cpu.levels) and several.report.stopped_by == "converged"
        assert bfs_multi(G, [5, 7], max_level=1).report.stopped_by == "max_level"
        limited = bfs(G, 5, max_level=1)
        assert limited.report.stopped_by == "max_level"
        assert "bfs" in str(gb.explain())


def test_bfs_and_products_share_the_highest_degree_neighbours():
    A = shim().store_to_device(random_graph(200, 900, 9, symmetric=False))
    transpose = shim().transpose(A)
    graph = traverse_graph.graph_of(shim().device, transpose, A)
    form = pull.form_of(shim().device, A)
    assert form.top_neighbour is graph.top_neighbour and form.next_neighbours is graph.next_neighbours
    lengths, starts = np.diff(place.host(transpose).indptr), place.host(A).indptr
    top = place.host_array(form.top_neighbour)
    for i in range(200):
        row = place.host(A).indices[starts[i] : starts[i + 1]]
        assert top[i] == (min(row, key=lambda k: (-lengths[k], k)) if row.size else -1)
