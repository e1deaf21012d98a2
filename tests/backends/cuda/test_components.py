"""Connected components, the kernel run as fibers, against SciPy."""

import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, shim, using_shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile import dtypes
from grb_tile.backends.cuda.graph import components
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.storage import place
from support import seeds
from support.graphs import GRAPHS, graph_of, power_law, random_graph, transposed


def check(A, AT, device=None):
    """Labels and their number, edges followed both ways."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    plain = csr_array((np.ones(A.nvals), A.indices, A.indptr), A.shape)
    count, wanted = connected_components(plain, directed=True, connection="weak")
    store, held = components.connected_components(device or shim().device, A, lambda: AT)
    labels = place.host(store).values
    least = np.full(count, A.nrows)
    np.minimum.at(least, wanted, np.arange(A.nrows))
    assert held == count and labels.tolist() == least[wanted].tolist()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_connected_components(name, symmetric):
    A = GRAPHS[name]()
    if not symmetric:
        A = graph_of(
            A.nrows, *(x[::3] for x in (np.repeat(np.arange(A.nrows), np.diff(A.indptr)), A.indices)), symmetric=False
        )
    check(A, A if symmetric else transposed(A))


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("salt", range(6))
def test_random_graphs_of_many_components(salt, symmetric):
    """About as many edges as vertices: components of all sizes, and a largest one that samples may miss."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 70 + salt])
    n = int(rng.integers(50, 1500))
    A = random_graph(n, int(n * rng.uniform(0.2, 1.1)), 80 + salt, symmetric)
    check(A, A if symmetric else transposed(A))


def test_chains_in_any_order():
    """Paths whose numbers ascend, descend, alternate and are shuffled; long rows outside the largest component."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 90])
    n = 900
    orders = np.arange(n), np.arange(n)[::-1], np.argsort(np.arange(n) % 2, kind="stable"), rng.permutation(n)
    for order in orders:
        A = graph_of(n, order[:-1], order[1:])
        check(A, A)
    hubs = np.concatenate((np.full(200, 899), np.full(150, 898))), np.concatenate((np.arange(200), np.arange(300, 450)))
    A = graph_of(n, np.concatenate((hubs[0], np.arange(460, 890))), np.concatenate((hubs[1], np.arange(461, 891))))
    check(A, A)


def test_a_long_row_that_meets_the_largest_component_late():
    """Only entry 40 of a long row lies in the largest component, whose own rows are not read."""
    big, leaves = np.arange(41, 459), np.concatenate((np.arange(40), np.arange(460, 490)))
    rows = np.concatenate((big[:-1], np.full(leaves.size + 1, 499)))
    A = graph_of(500, rows, np.concatenate((big[1:], leaves, [50])))
    assert A.indices[A.indptr[499] + 40] == 50
    check(A, A)


def test_random_orders_of_threads():
    if not EMULATED:
        pytest.skip("the order of threads can be chosen in the CPU emulation only")
    for seed in (3, 4):
        device = Device(EmulatedLauncher(seed=seed))
        A = power_law(900, 1200, 5)
        check(A, A, device)


def test_components_through_the_algorithm():
    import grb_tile as gb
    from grb_tile.algorithms import connected_components

    M = gb.Matrix._from_store(random_graph(400, 420, 1), dtypes.BOOL)
    cpu = connected_components(M)
    with using_shim():
        found = connected_components(M)
        assert found.count == cpu.count and found.labels.isequal(cpu.labels)
