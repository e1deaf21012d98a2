"""Core numbers, strongly connected components, Cuthill-McKee: the kernels run as fibers, against NetworkX and SciPy."""

import networkx as nx
import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED, shim, using_shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile import algorithms, graph
from grb_tile.backends.cuda.graph import cores, strong_components
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.storage import place
from support import seeds
from support.graph_loops import edges as entries, generations
from support.graphs import GRAPHS, graph_of, power_law, random_graph, transposed


def without_loops(A):
    rows, cols = entries(A)
    return graph_of(A.nrows, rows[rows != cols], cols[rows != cols], symmetric=False)


def check_cores(A, AT=None, device=None):
    """AT: None for a symmetric A."""
    G = nx.Graph() if AT is None else nx.DiGraph()
    G.add_nodes_from(range(A.nrows))
    G.add_edges_from(zip(*(x.tolist() for x in entries(A)), strict=True))
    wanted = nx.core_number(G)
    found = place.host(cores.core_numbers(device or shim().device, A, AT)).values
    assert found.tolist() == [wanted[v] for v in range(A.nrows)]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_core_numbers(name, symmetric):
    A = without_loops(GRAPHS[name]())
    if symmetric:
        check_cores(A)
    else:
        A = graph_of(A.nrows, *(x[::3] for x in entries(A)), symmetric=False)
        check_cores(A, transposed(A))


@pytest.mark.parametrize("salt", range(4))
def test_cores_of_many_degrees(salt):
    """Levels that remove nothing, cascades, and a queue that overflows (96 vertices in the emulation)."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 40 + salt])
    n = int(rng.integers(300, 1200))
    A = without_loops(random_graph(n, int(n * rng.uniform(1, 12)), 50 + salt, True))
    check_cores(A)
    clique = np.arange(60)
    rows, cols = entries(A)
    i, j = np.repeat(clique, 60), np.tile(clique, 60)
    check_cores(graph_of(n, np.concatenate((rows, i[i != j])), np.concatenate((cols, j[i != j]))))


def test_a_path_is_one_cascade():
    n = 1500
    order = np.random.default_rng(3).permutation(n)
    check_cores(graph_of(n, order[:-1], order[1:]))


def test_random_orders_of_threads():
    if not EMULATED:
        pytest.skip("the order of threads can be chosen in the CPU emulation only")
    for seed in (3, 4):
        check_cores(without_loops(power_law(900, 4000, 5)), device=Device(EmulatedLauncher(seed=seed)))


def check_strong(A, device=None):
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    plain = csr_array((np.ones(A.nvals), A.indices, A.indptr), A.shape)
    count, wanted = connected_components(plain, directed=True, connection="strong")
    store, found = strong_components.strong_components(device or shim().device, A, lambda: transposed(A))
    least = np.full(count, A.nrows)
    np.minimum.at(least, wanted, np.arange(A.nrows))
    assert found == count and place.host(store).values.tolist() == least[wanted].tolist()


@pytest.mark.parametrize("name", GRAPHS)
def test_strong_components(name):
    A = GRAPHS[name]()
    check_strong(A)
    check_strong(graph_of(A.nrows, *(x[::3] for x in entries(A)), symmetric=False))


@pytest.mark.parametrize("salt", range(6))
def test_strong_components_of_all_sizes(salt):
    """About as many edges as vertices, and cycles joined by edges that lead one way, in any order of numbers."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 60 + salt])
    n = int(rng.integers(100, 900))
    check_strong(random_graph(n, int(n * rng.uniform(0.8, 2.5)), 70 + salt, False))
    number, rows, cols, first = rng.permutation(n), [], [], 0
    while first < n:
        cycle = number[first : first + int(rng.integers(1, 40))]
        rows += [*cycle, cycle[0]]
        cols += [*np.roll(cycle, 1), number[int(rng.integers(0, first + 1))]]  # to a cycle before
        first += cycle.size
    check_strong(graph_of(n, np.array(rows), np.array(cols), symmetric=False))


def test_strong_components_with_hubs_and_loops():
    """Rows longer than a lane reads, in both directions; vertices with nothing but a loop."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 68])
    n = 700
    hub, other = np.zeros(300, int), np.full(300, 1)
    to, back = rng.choice(np.arange(2, 400), 300, replace=False), rng.choice(np.arange(2, 400), 300, replace=False)
    loops = np.arange(380, 420)
    rows, cols = np.concatenate((hub, back, loops, [650, 651])), np.concatenate((to, other, loops, [651, 650]))
    check_strong(graph_of(n, rows, cols, symmetric=False))
    check_strong(graph_of(n, np.concatenate((rows, [1])), np.concatenate((cols, [0])), symmetric=False))


@pytest.mark.parametrize("cycles", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_topological_levels(name, cycles):
    A = GRAPHS[name]()
    rows, cols = entries(A)
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 7])
    rank = rng.permutation(A.nrows)
    kept = rank[rows] < rank[cols]
    if cycles:
        kept |= rng.random(rows.size) < 0.01
    rows, cols = rows[kept], cols[kept]
    with using_shim() as backend:
        backend.detours.clear()
        found = graph.topological_levels(gb.Matrix.from_coo(rows, cols, nrows=A.nrows, ncols=A.nrows))
        assert not backend.detours and found.nvals == A.nrows
    assert found.to_dense().tolist() == generations(A.nrows, rows, cols).tolist()


def test_a_row_that_the_warps_of_a_block_share():
    """Vertex 0 releases 2,500 vertices, and each of those the last one."""
    n = 2502
    rows = np.concatenate((np.zeros(2500, int), np.arange(1, 2501)))
    cols = np.concatenate((np.arange(1, 2501), np.full(2500, n - 1)))
    with using_shim():
        found = algorithms.topological_generations(gb.Matrix.from_coo(rows, cols, nrows=n, ncols=n))
    assert found.to_numpy().tolist() == [0] + [1] * 2500 + [2]


@pytest.mark.parametrize("name", GRAPHS)
def test_reverse_cuthill_mckee(name):
    """The order of the compiled loop on the CPU, whose rules are the same."""
    A = without_loops(GRAPHS[name]())
    rows, cols = entries(A)
    wanted = algorithms.rcm(gb.Matrix.from_coo(rows, cols, nrows=A.nrows, ncols=A.nrows)).order
    with using_shim() as backend:
        backend.detours.clear()
        found = algorithms.rcm(gb.Matrix.from_coo(rows, cols, nrows=A.nrows, ncols=A.nrows)).order
        assert not backend.detours
    assert found.tolist() == wanted.tolist()


def test_the_searches_for_first_vertices_end_component_by_component():
    """A path, whose search goes on, beside two trees: where a search has ended, its first vertex stays."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 8])
    for _ in range(3):
        near = np.concatenate((np.arange(14), [rng.integers(15, i) for i in range(16, 40)]))
        near = np.concatenate((near, [rng.integers(40, i) for i in range(41, 60)]))
        far = np.concatenate((np.arange(1, 15), np.arange(16, 40), np.arange(41, 60)))
        names = rng.permutation(60)
        rows, cols = names[np.concatenate((near, far))], names[np.concatenate((far, near))]
        wanted = algorithms.rcm(gb.Matrix.from_coo(rows, cols, nrows=60, ncols=60)).order
        with using_shim():
            found = algorithms.rcm(gb.Matrix.from_coo(rows, cols, nrows=60, ncols=60)).order
        assert found.tolist() == wanted.tolist()


def test_reverse_cuthill_mckee_of_what_is_not_symmetric():
    """Vertices that no path from their component's first reaches have no place in the order."""
    leaves = np.arange(1, 200)
    to, back = (gb.Matrix.from_coo(i, j, nrows=200, ncols=200) for i, j in ((leaves, 0 * leaves), (0 * leaves, leaves)))
    circle = gb.Matrix.from_coo(np.arange(200), np.roll(np.arange(200), -1), nrows=200, ncols=200)
    for A in (to, back):
        with using_shim(), pytest.raises(gb.exceptions.InvalidValue, match=r"cuthill_mckee: A has entries A\(i, j\)"):
            graph.cuthill_mckee(A.dup())
    with using_shim():
        order, positions = graph.cuthill_mckee(circle)
        assert sorted(order.to_dense().tolist()) == list(range(200))
        assert (order.to_dense()[positions.to_dense()] == np.arange(200)).all()


def test_matrices_that_are_not_square():
    """Columns beyond the rows would be vertices beyond the kernels' arrays."""
    long, small = gb.Matrix.from_coo([0, 0, 1], [1, 5, 7], nrows=3, ncols=9), gb.Matrix(bool, 3, 3)
    for call in (graph.strong_components, graph.core_numbers, graph.cuthill_mckee, graph.topological_levels):
        with using_shim(), pytest.raises(gb.exceptions.DimensionMismatch, match="A is 3 x 9"):
            call(long)
    with using_shim(), pytest.raises(gb.exceptions.DimensionMismatch, match="A is 3 x 3 and AT 9 x 9"):
        graph.core_numbers(small, gb.Matrix(bool, 9, 9))
