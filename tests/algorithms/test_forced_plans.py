"""Every algorithm is right whatever the planner is made to do: compiled kernels, NumPy, plain loops, row-wise,
column-wise."""

import pytest
from checkers import (
    check_components,
    check_distances,
    check_levels,
    check_parents,
    check_predecessors,
    check_ranks,
    check_triangles,
)
from samples import edges, karate, matrix, random_graph

import grb_tile as gb
from grb_tile.algorithms import (
    bfs,
    bfs_multi,
    connected_components,
    hello,
    pagerank,
    sssp,
    triangle_count,
    triangles,
)

PLANS = ["numba", "numpy", "reference", "rows", "cols"]
GRAPHS = {
    "karate": karate,
    "directed": lambda: matrix(random_graph(71)),
    "undirected": lambda: matrix(random_graph(72, undirected=True)),
    "chain": lambda: edges([(i, i + 1) for i in range(69)], 70, 3),
    "star": lambda: edges([(0, i) for i in range(1, 130)], 131, 2, both=True),
}


@pytest.fixture(params=PLANS)
def plan(request):
    with gb.plan(force=request.param):
        yield request.param


@pytest.fixture(params=GRAPHS)
def A(request):
    return GRAPHS[request.param]()


def test_bfs(plan, A):
    for source in (0, A.nrows - 1):
        found = bfs(A, source, parents=True)
        check_levels(A, source, found.levels)
        check_parents(A, source, found.parents)
        stepped = bfs(A, source, parents=True, callback=lambda record: False)
        check_parents(A, source, stepped.parents)
        assert stepped.levels.isequal(found.levels)
        check_levels(A, source, bfs(A, source, max_level=1).levels, max_level=1)


def test_bfs_target(plan, A):
    for source in (0, A.nrows - 1):
        for target in (0, 1, A.nrows - 1):
            whole = bfs(A, source, target=target).levels
            loop = bfs(A, source, target=target, callback=lambda record: False).levels
            assert whole.to_dict() == loop.to_dict(), (source, target)


def test_bfs_multi(plan, A):
    found = bfs_multi(A, [0, A.nrows - 1], parents=True)
    for k, source in enumerate((0, A.nrows - 1)):
        check_levels(A, source, found.levels[k, :].new())
        check_parents(A, source, found.parents[k, :].new())


def test_sssp(plan, A):
    for method in ("delta", "bellman_ford"):
        found = sssp(A, 0, method=method, predecessors=True)
        check_distances(A, 0, found.distances)
        check_predecessors(A, 0, found.distances, found.predecessors)


def test_pagerank(plan, A):
    for method in ("standard", "adaptive"):
        check_ranks(A, pagerank(A, method=method, tol=1e-9, max_iter=500).ranks, 1e-6)
    check_ranks(A, pagerank(A, method="gap").ranks, 1e-4, sinks=False)
    single = pagerank(A, dtype="FP32", method="gap").ranks
    assert single.isclose(pagerank(A, method="gap").ranks, rel_tol=1e-4)


def test_connected_components(plan, A):
    check_components(A, connected_components(A).labels)


def test_triangles(plan, A):
    U = gb.binary.any(A | A.T).new()
    for presort in (False, True):
        check_triangles(U, triangle_count(U, presort=presort))
    check_triangles(U, each=triangles(U).values)


def test_hello(plan, A):
    expected = hello(A, 3).values
    with gb.plan(force="reference"):
        assert hello(A, 3).values.isequal(expected)
