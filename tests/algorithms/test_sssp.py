"""sssp against SciPy's Dijkstra and Bellman-Ford, and the checkers."""

import itertools
import sys

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from checkers import check_distances, check_predecessors
from samples import edges, karate, matrix, random_graph
from scipy.sparse import csgraph

import grb_tile as gb
from grb_tile.algorithms import Graph, NegativeCycleError, apsp, bfs, sssp
from grb_tile.backends.cpu.jit import cache as jit

SEEDS = range(25)
METHODS = ["auto", "delta", "bellman_ford"]


@pytest.fixture(autouse=True)
def dijkstra():
    """The compiled loop is there, so that "auto" is Dijkstra's algorithm on the CPU."""
    for value, parents in itertools.product("di", (False, True)):
        flags = {"INDEX": "i", "VALUE": value, "Z": "d", "COUNT": False, "PARENTS": parents}
        assert jit.plain_kernel("dijkstra", **flags).load() is not None


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", METHODS)
def test_random_integer_weights(seed, method, base_seed):
    A = matrix(random_graph(base_seed * 1000 + seed, undirected=seed % 2 == 0))
    source = seed % A.nrows
    found = sssp(A, source, method=method, predecessors=True)
    assert found.distances.dtype == gb.dtypes.INT64
    check_distances(A, source, found.distances)
    check_predecessors(A, source, found.distances, found.predecessors)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_random_real_weights(seed, method, dtype, base_seed):
    S = random_graph(base_seed * 1000 + seed, weights="float")
    A = matrix(S, dtype)
    source = seed % A.nrows
    found = sssp(A, source, method=method, predecessors=True)
    assert found.distances.dtype == dtype
    rel = 1e-5 if dtype == "FP32" else 1e-12
    check_distances(A, source, found.distances, rel=rel)
    check_predecessors(A, source, found.distances, found.predecessors, rel=rel)
    np.testing.assert_allclose(found.distances.to_dense(np.inf), csgraph.dijkstra(S, indices=source), rtol=rel)


@pytest.mark.parametrize("delta", [1e-3, 0.5, 1, 7, 1e9])
def test_any_delta_gives_the_same(delta):
    A = matrix(random_graph(3))
    expected = sssp(A, 0, method="bellman_ford").distances
    assert sssp(A, 0, delta=delta).distances.isequal(expected)
    R = matrix(random_graph(3, weights="float"))
    assert sssp(R, 0, delta=delta).distances.isequal(sssp(R, 0, method="bellman_ford").distances)


@pytest.mark.parametrize("seed", SEEDS)
def test_negative_weights_without_a_cycle(seed, base_seed):
    rng = np.random.default_rng(base_seed * 1000 + seed)
    n = int(rng.integers(2, 30))
    i, j = np.sort(rng.integers(0, n, (2, 3 * n)), axis=0)
    _, once = np.unique((i * n + j)[i < j], return_index=True)
    i, j = i[i < j][once], j[i < j][once]
    w = rng.integers(-9, 10, i.size)
    A = gb.Matrix.from_coo(i, j, w, nrows=n, ncols=n)
    found = sssp(A, 0, predecessors=True)
    check_distances(A, 0, found.distances)
    check_predecessors(A, 0, found.distances, found.predecessors)
    # SciPy takes a stored 0 for no edge in some of its functions: weights shifted by a potential avoid 0
    shifted = sp.csr_array((w.astype(float) + 1000.0 * (j - i), (i, j)), shape=(n, n))
    expected = csgraph.bellman_ford(shifted, indices=0) - 1000.0 * np.arange(n)
    expected[~np.isfinite(expected)] = np.inf
    np.testing.assert_allclose(found.distances.to_dense(np.inf, dtype=float), expected)


@pytest.mark.parametrize("weights", [[1, -3, 1], [1.0, -3.0, 1.0], [0, 0, -1]])
def test_negative_cycle_names_a_node(weights):
    A = edges([(0, 1), (1, 2), (2, 3), (3, 1), (4, 0)], 6, [5, *weights, 1])
    text = r"negative total weight .* node [123] has no shortest distance"
    with pytest.raises(NegativeCycleError, match=text) as caught:
        sssp(A, 0)
    assert caught.value.node in (1, 2, 3)
    with pytest.raises(NegativeCycleError):
        sssp(A, 4, predecessors=True)


def test_negative_cycle_out_of_reach():
    A = edges([(0, 1), (2, 3), (3, 2)], 4, [5, -1, -1])
    assert sssp(A, 0).distances.to_dict() == {0: 0, 1: 5}


def test_negative_loop():
    with pytest.raises(NegativeCycleError):
        sssp(edges([(0, 0)], 1, [-1]), 0)
    assert sssp(edges([(0, 0)], 1, [3]), 0).distances.to_dict() == {0: 0}


def test_negative_cycle_in_a_large_graph_is_found_early():
    n = 20000
    A = edges([(0, 1), (1, 0)] + [(i, i + 1) for i in range(1, n - 1)], n, [2, -3] + [1] * (n - 2))
    with pytest.raises(NegativeCycleError):
        sssp(A, 0)


def test_auto_chooses_by_the_weights_and_the_size():
    road = edges([(i, i + 1) for i in range(50)], 51, range(1, 51), both=True)
    dense = edges([(i, j) for i in range(12) for j in range(12)], 12, range(144))
    same = edges([(i, i + 1) for i in range(50)], 51, 3)
    negative = edges([(i, i + 1) for i in range(50)], 51, range(-1, 49))
    graphs = road, dense, same, negative
    loops = [sssp(A, 0, callback=lambda record: False).report.algorithm for A in graphs]
    assert loops == ["sssp (delta)", *["sssp (bellman_ford)"] * 3]
    chosen = [sssp(A, 0).report.algorithm for A in graphs]
    if gb.graph.sssp(same, 0) is not None:
        # A device's kernel raises its threshold in every round, so "auto" is delta-stepping there.
        assert chosen == [*["sssp (delta)"] * 3, "sssp (bellman_ford)"]
    else:  # on the CPU a compiled loop, once there is one for the type of the weights
        compiled = "sssp (dijkstra)"
        assert all(name in (loop, compiled) for name, loop in zip(chosen[:2], loops[:2], strict=True))
        assert chosen[2:] == ["sssp (bfs)", loops[3]]


@pytest.mark.parametrize("undirected", [False, True])
@pytest.mark.parametrize(
    "dtype, weight",
    [("BOOL", True), ("BOOL", False), ("INT8", 0), ("INT8", 127), ("UINT64", 2**40), ("FP32", 0.0), ("FP32", 3.0),
     ("FP32", 2.0**-149), ("FP64", 0.75), ("FP64", 1e5)],
)  # fmt: skip
def test_one_weight_is_a_search_by_levels(dtype, weight, undirected, base_seed):
    S = random_graph(base_seed * 1000 + 17, undirected=undirected)
    i, j = S.nonzero()
    A = gb.Matrix.from_coo(i, j, weight, dtype=dtype, nrows=S.shape[0], ncols=S.shape[0])
    found = sssp(A, 0, predecessors=True)
    assert (found.report.algorithm == "sssp (bfs)") == (gb.graph.sssp(A, 0) is None) and found.report.iterations > 0
    for method in ("delta", "bellman_ford"):
        other = sssp(A, 0, method=method)
        assert found.distances.isequal(other.distances, check_dtype=True), method
        assert other.report.algorithm != "sssp (bfs)"
    check_predecessors(A, 0, found.distances, found.predecessors)


@pytest.mark.parametrize("dtype, weight", [("FP64", 0.1), ("FP32", 0.1), ("FP32", 2.0**24 - 1), ("FP64", np.inf)])
def test_one_weight_whose_sums_are_rounded_is_added_edge_by_edge(dtype, weight):
    n = 40
    path = gb.Matrix.from_coo(range(n - 1), range(1, n), weight, dtype=dtype, nrows=n, ncols=n)
    found = sssp(path, 0)
    assert found.report.algorithm != "sssp (bfs)"
    exact = np.add.accumulate(np.array([0, *[weight] * (n - 1)], dtype=np.float64 if dtype == "FP64" else np.float32))
    np.testing.assert_allclose(found.distances.to_dense(), exact, rtol=1e-6)
    near = sssp(edges([(0, 1), (1, 2)], 3, weight).dup(dtype), 0, method="bellman_ford").distances
    assert sssp(edges([(0, 1), (1, 2)], 3, weight).dup(dtype), 0).distances.isequal(near)


def test_one_weight_beyond_the_type_is_refused_as_before():
    heavy = edges([(0, 1), (1, 2), (2, 3)], 4, 2**62)
    with pytest.raises(OverflowError):
        sssp(heavy, 0)


def test_auto_takes_rounds_on_a_large_graph_with_hubs_alone(monkeypatch):
    monkeypatch.setattr(sys.modules[sssp.__module__], "LARGE", 40)
    star = edges([(0, i) for i in range(1, 90)], 90, range(1, 90), both=True)
    path = edges([(i, i + 1) for i in range(89)], 90, range(1, 90), both=True)
    assert sssp(star, 3).report.algorithm == "sssp (delta)"
    assert sssp(star, 3).distances.to_dict() == {v: v + 3 if v not in (0, 3) else 3 - v for v in range(90)}
    found = sssp(path, 3).report.algorithm
    assert found in ("sssp (dijkstra)", "sssp (delta)"), "the loop may be compiled by now"


@pytest.mark.parametrize("dtype", ["BOOL", "UINT8", "INT64", "UINT64", "FP32", "FP64"])
def test_a_target_ends_the_search(dtype):
    A = matrix(random_graph(11, undirected=True)).dup(dtype)
    every = sssp(A, 0, predecessors=True)
    for target, distance in every.distances.to_dict().items():
        found = sssp(A, 0, target=target, predecessors=True)
        assert found.distances[target].value == distance and found.distances.dtype == every.distances.dtype
        near = found.distances.to_dict()
        assert near.items() <= every.distances.to_dict().items()
        assert found.predecessors.to_dict().keys() == near.keys()
    with pytest.raises(IndexError, match=f"target: {A.nrows} is out of range"):
        sssp(A, 0, target=A.nrows)


def test_a_target_leaves_out_what_is_farther(engine):
    """Vertices that a nearer one has reached, without a final distance: neither distance nor predecessor."""
    found = sssp(edges([(0, 1), (0, 2), (0, 3), (1, 3)], 5, [1.0, 9.0, 5.0, 2.0]), 0, target=1, predecessors=True)
    assert found.distances[1].value == 1 and found.predecessors.to_dict().keys() == found.distances.to_dict().keys()


@pytest.mark.parametrize("seed", range(4))
def test_many_sources_on_many_threads(seed, base_seed, monkeypatch):
    monkeypatch.setattr("grb_tile.planner.tuning.PARALLEL_ROWS", 1)
    monkeypatch.setattr("grb_tile.backends.cpu.jit.threads._threads", 3)
    S = random_graph(base_seed * 1000 + seed, weights="float")
    expected = csgraph.dijkstra(S)
    np.testing.assert_allclose(apsp(matrix(S), weighted=True).values.to_dense(np.inf), expected, rtol=1e-12)
    with gb.plan(force="numpy"):
        np.testing.assert_allclose(apsp(matrix(S), weighted=True).values.to_dense(np.inf), expected, rtol=1e-12)


def test_negative_weights_refuse_delta():
    with pytest.raises(ValueError, match=r'method="delta": a weight is negative \(-1\); use method="bellman_ford"'):
        sssp(edges([(0, 1)], 2, [-1]), 0, method="delta")
    with pytest.raises(ValueError, match=r"delta: 3.5 was given, but a weight is negative \(-1\).*leave delta out"):
        sssp(edges([(0, 1)], 2, [-1]), 0, delta=3.5)
    assert sssp(edges([(0, 1)], 2, [-1]), 0).distances.to_dict() == {0: 0, 1: -1}


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_zero(method):
    A = edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 2)], 5, 0)
    found = sssp(A, 0, method=method, predecessors=True)
    assert found.distances.to_dict() == {0: 0, 1: 0, 2: 0, 3: 0}
    check_predecessors(A, 0, found.distances, found.predecessors)


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
@pytest.mark.parametrize("delta", [None, 0.5, 1e30])
def test_infinite_weights_are_gone_through(dtype, delta):
    """What only an infinite edge leads to is infinitely far, and so is what lies behind it."""
    A = gb.Matrix.from_coo(
        [0, 1, 2, 3, 0, 5], [1, 2, 3, 4, 5, 6], [1, np.inf, 2, 3, 4, 1e38], dtype=dtype, nrows=8, ncols=8
    )
    for options in ({"delta": delta, "method": "delta"}, {"method": "bellman_ford"}):
        found = sssp(A, 0, predecessors=True, **options)
        assert found.distances.isclose(
            gb.Vector.from_coo(range(7), [0, 1, np.inf, np.inf, np.inf, 4, 1e38], dtype=dtype, size=8)
        )
        assert found.predecessors.to_dict() == {0: 0, 1: 0, 2: 1, 3: 2, 4: 3, 5: 0, 6: 5}


def test_boolean_weights_are_0_and_1():
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], [True, False, True], nrows=4, ncols=4)
    assert sssp(A, 0).distances.to_dict() == {0: 0, 1: 1, 2: 1, 3: 2}


@pytest.mark.parametrize("dtype", ["INT8", "INT16", "INT32", "UINT8", "UINT16", "UINT32"])
@pytest.mark.parametrize("method", METHODS)
def test_narrow_integers_do_not_wrap(dtype, method):
    top = int(np.iinfo(gb.dtypes.lookup_dtype(dtype).np_type).max)
    A = edges([(i, i + 1) for i in range(9)], 10, [top] * 9, dtype)
    found = sssp(A, 0, method=method)
    assert found.distances.to_coo()[1].tolist() == [k * top for k in range(10)]


@pytest.mark.parametrize("method", ["delta", "bellman_ford"])
@pytest.mark.parametrize("dtype", ["INT64", "UINT64"])
def test_the_largest_distance_is_exact_and_one_more_is_an_error(method, dtype):
    top = int(np.iinfo(gb.dtypes.lookup_dtype(dtype).np_type).max)
    fits = edges([(0, 1), (1, 2), (0, 2)], 3, np.array([top - 5, 5, top], gb.dtypes.lookup_dtype(dtype).np_type), dtype)
    assert sssp(fits, 0, method=method).distances.to_dict() == {0: 0, 1: top - 5, 2: top}
    A = edges([(0, 1), (1, 2)], 3, np.array([top - 5, 6], gb.dtypes.lookup_dtype(dtype).np_type), dtype)
    with pytest.raises(OverflowError, match=rf"by way of node 1 has length {top + 1}, beyond {dtype}.*use FP64"):
        sssp(A, 0, method=method)


def test_isolated_source_and_single_node():
    found = sssp(edges([(0, 1)], 3), 2, predecessors=True)
    assert found.distances.to_dict() == {2: 0} and found.predecessors.to_dict() == {2: 2}
    assert sssp(gb.Matrix(float, 1, 1), 0).distances.to_dict() == {0: 0.0}
    assert sssp(gb.Matrix(int, 4, 4), 1, method="delta").distances.to_dict() == {1: 0}


def test_unit_weights_are_levels():
    A = karate()
    assert sssp(A, 3).distances.isequal(bfs(A, 3).levels)


def test_karate_against_networkx():
    rng = np.random.default_rng(5)
    graph = nx.karate_club_graph()
    for _, _, data in graph.edges(data=True):
        data["weight"] = int(rng.integers(1, 256))
    A = gb.io.from_networkx(graph)
    for source in (0, 11, 33):
        assert sssp(A, source).distances.to_dict() == nx.single_source_dijkstra_path_length(graph, source)


def test_the_graph_is_not_changed():
    G = Graph(matrix(random_graph(8)))
    before = G.A.dup()
    sssp(G, 0, predecessors=True)
    assert G.A.isequal(before, check_dtype=True)


def test_callback_may_stop():
    A = edges([(i, i + 1) for i in range(9)], 10, 2)
    found = sssp(A, 0, method="bellman_ford", callback=lambda record: record["iteration"] == 3)
    assert found.report.stopped_by == "callback" and found.report.converged is False
    assert found.distances.to_dict() == {0: 0, 1: 2, 2: 4, 3: 6}


def test_arguments():
    A = karate()
    for source, error in ((34, IndexError), (True, TypeError), (0.0, TypeError)):
        with pytest.raises(error, match="source: "):
            sssp(A, source)
    with pytest.raises(ValueError, match="method: expected one of 'auto', 'delta', 'bellman_ford', got 'dijkstra'"):
        sssp(A, 0, method="dijkstra")
    for delta in (0, -1.0):
        with pytest.raises(ValueError, match="delta: expected a number above 0"):
            sssp(A, 0, delta=delta)
    with pytest.raises(TypeError, match="delta: expected a number, got 'x'"):
        sssp(A, 0, delta="x")
    with pytest.raises(TypeError, match="need real weights, got FC64"):
        sssp(A.dup("FC64"), 0)


@pytest.mark.parametrize("dtype, greatest", [("INT64", 2**62), ("UINT64", 2**63)])
def test_lengths_beyond_the_type_are_refused(dtype, greatest):
    """graph.sssp: n times the greatest weight must fit in the type of the weights."""
    A = gb.Matrix.from_coo([0, 1], [1, 2], [greatest, 1], dtype, nrows=3, ncols=3)
    with pytest.raises(OverflowError, match="may exceed the type"):
        gb.graph.sssp(A, 0)
    found = gb.graph.sssp(gb.Matrix.from_coo([0, 1], [1, 2], [greatest // 4, 1], dtype, nrows=3, ncols=3), 0)
    assert found is None or found.distances.to_dict() == {0: 0, 1: greatest // 4, 2: greatest // 4 + 1}
