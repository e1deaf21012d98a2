"""Algorithms with NaN, infinities, sums beyond a type and empty graphs: a defined answer or a clear error, the same
for every method."""

from functools import partial

import numpy as np
import pytest
from checkers import check_distances, check_predecessors
from samples import edges, matrix, random_graph

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.algorithms import (
    Graph,
    NegativeCycleError,
    bfs,
    bfs_multi,
    connected_components,
    pagerank,
    sssp,
    triangle_count,
    triangles,
)

NAN, INF = float("nan"), float("inf")
SSSP = ["auto", "delta", "bellman_ford"]
RANKS = ["standard", "gap", "ldbc", "adaptive"]
FLOATS = ["FP32", "FP64"]
LENGTHS = {name: partial(getattr(alg, name), weighted=True) for name in (
    "apsp", "betweenness", "closeness", "diameter", "eccentricity", "edge_betweenness", "harmonic", "radius",
)} | {
    "shortest_path": lambda A: alg.shortest_path(A, 0, 2, weighted=True), "sssp": lambda A: alg.sssp(A, 3),
    "apsp of some": lambda A: alg.apsp(A, sources=[3, 0], weighted=True),
}  # fmt: skip


def outcome(call):
    """(class of the error, its text) or ("", result as a dictionary)."""
    try:
        return "", call()
    except Exception as error:
        return type(error).__name__, str(error)


# ---------------------------------------------------------------------- SSSP


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("method", SSSP)
@pytest.mark.parametrize("bad", [NAN, -INF])
@pytest.mark.parametrize("rest", [[1.0, 2.0], [-1.0, 3.0], [INF, 1.0], [INF, -1.0], [NAN, NAN]])
def test_sssp_refuses_weights_that_are_not_ordered(dtype, method, bad, rest):
    """On a cycle, on a path, and where no path leads; the error names an edge."""
    for pairs in ([(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3)], [(2, 3), (0, 1), (1, 0)]):
        A = edges(pairs, 4, [bad, *rest], dtype)
        with pytest.raises(ValueError, match=r"G: the weight of the edge \d -> \d is (NaN|-inf).*remove the edge") as e:
            sssp(A, 0, method=method, predecessors=True)
        i, j = (int(x) for x in str(e.value).split("edge ")[1].split(" is")[0].split(" -> "))
        value = A[i, j].value
        assert np.isnan(value) or value == -INF
        found = outcome(lambda A=A: gb.graph.sssp(A, 0))
        assert found[0] == "ValueError" and "needs weights >= 0" in found[1]


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("bad", [NAN, -INF])
def test_the_edge_whose_weight_has_no_order_is_named_as_it_was_given(name, bad):
    """Whichever way the paths are followed: from tail to head."""
    text = "NaN" if bad != bad else "-inf"
    A = edges([(0, 1), (1, 2), (2, 0), (3, 2)], 4, [1.0, bad, 2.0, 1.0])
    with pytest.raises(ValueError, match=f"G: the weight of the edge 1 -> 2 is {text}"):
        LENGTHS[name](A)


def test_the_search_names_nan_also_among_larger_weights():
    A = edges([(0, 1), (1, 2)], 3, [2.0, NAN])
    with pytest.raises(ValueError, match="A: a weight is nan; graph.sssp needs weights >= 0"):
        gb.graph.sssp(A, 0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_infinite_and_negative_weights_together(dtype):
    A = edges([(0, 1), (1, 2), (0, 3), (3, 2)], 4, [INF, -5.0, 2.0, -1.0], dtype)
    for method in ("auto", "bellman_ford"):
        assert sssp(A, 0, method=method).distances.to_dict() == {0: 0.0, 1: INF, 2: 1.0, 3: 2.0}
    least = -float(np.finfo(dtype.replace("FP", "float")).max)
    B = edges([(0, 1), (1, 2), (2, 3)], 4, [least, least, INF], dtype)  # -inf + inf would be NaN
    for method in SSSP:
        with pytest.raises(OverflowError, match=f"may leave {dtype}, and lengths of inf and -inf cannot be added"):
            sssp(B, 0, method=method)


@pytest.mark.parametrize("method", ["delta", "bellman_ford", "auto"])
def test_a_sum_beyond_the_float_type_is_infinite(method):
    A = edges([(0, 1), (1, 2), (2, 3)], 4, [3e38, 3e38, 1.0], "FP32")
    assert sssp(A, 0, method=method).distances.to_dict() == {0: 0.0, 1: np.float32(3e38), 2: INF, 3: INF}


@pytest.mark.parametrize("seed", range(20))
def test_methods_agree_with_infinities(seed, base_seed):
    rng = np.random.default_rng(base_seed * 1000 + seed)
    S = random_graph(base_seed * 1000 + seed, weights="float")
    S.data[rng.random(S.nnz) < 0.2] = INF
    A = matrix(S)
    found = [sssp(A, 0, method=m, predecessors=True) for m in SSSP]
    for other in found[1:]:
        assert other.distances.isclose(found[0].distances)
        p = other.predecessors.to_dict()
        assert set(p) == set(other.distances.to_dict()) and p[0] == 0
    whole = gb.graph.sssp(A, 0)
    assert whole is None or whole.distances.isclose(found[0].distances)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_a_negative_cycle_is_found_after_n_relaxations_and_a_path_of_n_nodes_is_none(n):
    """The cycle's length falls by 1 a turn, so that only the number of relaxations can prove it in time."""
    path = edges([(k, k + 1) for k in range(n - 1)], n, -1)
    assert sssp(path, 0).distances.to_dict() == {k: -k for k in range(n)}
    cycle = edges([(k, (k + 1) % n) for k in range(n)], n, [0] * (n - 1) + [-1])
    with pytest.raises(NegativeCycleError, match=f"after {n} relaxations"):
        sssp(cycle, 0)


@pytest.mark.parametrize("tiny", [-1e-9, -1e-300])
def test_a_negative_cycle_of_tiny_weight_is_found_by_the_number_of_relaxations(tiny):
    """Its length would need more than 10^9 turns to be proof."""
    A = edges([(0, 1), (1, 0), (1, 2)], 5, [0.0, tiny, 1.0])
    with pytest.raises(NegativeCycleError, match="relaxations") as caught:
        sssp(A, 0, callback=lambda record: record["iteration"] > 50)
    assert caught.value.node in (0, 1, 2)


def test_a_negative_cycle_of_great_weight_is_found_by_its_length():
    n = 3000
    A = edges([(0, 1), (1, 0)] + [(k, k + 1) for k in range(1, n - 1)], n, [-10.0, -10.0] + [1.0] * (n - 2))
    with pytest.raises(NegativeCycleError, match=r"after [1-9] relaxations"):
        sssp(A, 0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rounding_on_a_long_path_is_no_negative_cycle(dtype):
    """The rounded length of a path is less than the exact sum of its weights: found by trying weights."""
    n, kind = 500, np.float32 if dtype == "FP32" else np.float64
    tried = 0
    for weight in np.arange(0.1, 2.0, 0.1):
        w = np.full(n - 1, -weight, kind)
        rounded = np.cumsum(w, dtype=kind)[-1]
        if float(rounded) < float(np.sum(w.astype(np.longdouble))):
            A = edges([(k, k + 1) for k in range(n - 1)], n, w, dtype)
            assert sssp(A, 0).distances[n - 1].value == rounded
            tried += 1
            break
    assert tried


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_that_32_bits_do_not_hold(sign):
    """Weights that fit 32 bits, paths that do not; and a graph where n weights just fit."""
    n = 9
    A = edges([(k, k + 1) for k in range(n - 1)], n, np.full(n - 1, sign * 2**30))
    assert sssp(A, 0, method="bellman_ford").distances.to_dict() == {k: sign * k * 2**30 for k in range(n)}
    # one weight of the other sign: the greatest absolute weight is the least or the greatest weight
    D = edges([(k, k + 1) for k in range(n - 1)] + [(0, 8)], n, np.array([sign * 2**30] * (n - 1) + [-sign]))
    expected = -1 if sign == 1 else -8 * 2**30
    assert sssp(D, 0, method="bellman_ford").distances[8].value == expected
    w = (2**31 - 1) // n
    B = edges([(k, k + 1) for k in range(n - 1)], n, np.full(n - 1, sign * w, np.int64))
    assert sssp(B, 0, method="bellman_ford").distances[n - 1].value == sign * (n - 1) * w
    C = edges([(k, k + 1) for k in range(n - 1)], n, np.full(n - 1, sign * (w + 1), np.int64))
    assert sssp(C, 0, method="bellman_ford").distances[n - 1].value == sign * (n - 1) * (w + 1)


def test_a_length_below_int64_is_an_error():
    low = -(2**63)
    fits = edges([(0, 1), (1, 2)], 4, np.array([low + 5, -5], np.int64))
    assert sssp(fits, 0).distances.to_dict() == {0: 0, 1: low + 5, 2: low}
    for weights in ([low + 5, -6], [low, -1]):
        with pytest.raises(OverflowError, match="by way of node 1 has length -9223372036854775809, beyond INT64"):
            sssp(edges([(0, 1), (1, 2), (1, 3)], 4, np.array([*weights, 7], np.int64)), 0)


@pytest.mark.parametrize("method", SSSP)
@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "INT64", "FP32", "FP64"])
def test_graphs_without_edges(method, dtype):
    for n, source in ((1, 0), (3, 2)):
        found = sssp(gb.Matrix(dtype, n, n), source, method=method, predecessors=True)
        assert found.distances.to_dict() == {source: 0} and found.predecessors.to_dict() == {source: source}
    with pytest.raises(IndexError, match="the graph has none"):
        sssp(gb.Matrix(dtype, 0, 0), 0, method=method)


# ---------------------------------------------------------------------- PageRank


@pytest.mark.parametrize("method", RANKS)
@pytest.mark.parametrize("weights", [[NAN, 1.0], [INF, 1.0], [1e308, 1e308], [5e-324, 0.0]])
def test_pagerank_refuses_weights_that_cannot_be_divided_by(method, weights):
    A = edges([(1, 0), (1, 2), (2, 1)], 3, [*weights, 1.0])
    with pytest.raises(ValueError, match="weighted=True: the weights of node 1 sum to .*weighted=False"):
        pagerank(A, weighted=True, method=method)
    assert pagerank(A, method=method).ranks.nvals == 3  # without weights their values do not matter


@pytest.mark.parametrize("method", RANKS)
def test_pagerank_refuses_negative_and_complex_weights(method):
    for weights in ([-INF, 1.0], [NAN, -1.0], [-1.0, 3.0]):
        with pytest.raises(ValueError, match="is negative"):
            pagerank(edges([(0, 1), (1, 0)], 2, weights), weighted=True, method=method)
    with pytest.raises(TypeError, match="weights must be real, got FC64"):
        pagerank(edges([(0, 1), (1, 0)], 2, [1j, 1]), weighted=True, method=method)


@pytest.mark.parametrize("method", ["standard", "ldbc", "adaptive"])
def test_a_node_whose_weights_sum_to_0_is_a_sink(method):
    """Its rank goes where a node's without edges goes."""
    with_zero = edges([(0, 1), (1, 2), (2, 0), (2, 1)], 3, [1.0, 2.0, 0.0, 0.0])
    without = edges([(0, 1), (1, 2)], 3, [1.0, 2.0])
    options = {"weighted": True, "method": method, "tol": 1e-10, "max_iter": 200}
    found, expected = (pagerank(A, **options).ranks.to_dense() for A in (with_zero, without))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found.sum() == pytest.approx(1.0)


def test_the_rank_of_many_sinks_is_summed_in_fp64():
    """A million equal ranks added one by one in FP32 are 0.3 % off: the ranks would not sum to 1."""
    n = 1_000_003
    A = gb.Matrix.from_coo([0], [1], True, nrows=n, ncols=n)
    with gb.plan(force="numba"):  # one by one; NumPy adds pairwise
        ranks = pagerank(A, dtype="FP32", max_iter=3, tol=0).ranks.to_dense()
    assert float(ranks.astype(np.float64).sum()) == pytest.approx(1.0, abs=1e-4)
    exact = pagerank(A, dtype="FP64", max_iter=3, tol=0).ranks.to_dense()
    np.testing.assert_allclose(ranks, exact, rtol=1e-4)


def test_pagerank_without_iterations():
    A = edges([(0, 1), (1, 0)], 2)
    for method in ("standard", "gap", "adaptive"):
        with pytest.raises(gb.algorithms.ConvergenceFailure, match="the change is unknown after max_iter=0"):
            pagerank(A, method=method, max_iter=0)
        assert pagerank(A, method=method, max_iter=0, strict=False).ranks.to_dense().tolist() == [0.5, 0.5]
    for name in ("personalization", "dangling", "nstart"):
        for values in ([NAN, 1.0], [INF, 1.0], [-INF, 1.0]):
            with pytest.raises(ValueError, match=f"{name}: expected numbers >= 0 with a positive sum"):
                pagerank(A, **{name: values})


# ---------------------------------------------------------------------- algorithms that read no values


@pytest.mark.parametrize("value", [NAN, INF, -INF, 0.0])
def test_values_do_not_matter_to_the_structure(value):
    pairs = [(0, 1), (1, 2), (2, 0), (3, 4)]
    A, ones = edges(pairs, 6, value, "FP64", both=True), edges(pairs, 6, 1.0, both=True)
    assert bfs(A, 0).levels.isequal(bfs(ones, 0).levels)
    assert bfs_multi(A, [0, 3]).levels.isequal(bfs_multi(ones, [0, 3]).levels)
    assert connected_components(A).labels.isequal(connected_components(ones).labels)
    assert triangle_count(A) == 1 and triangles(A).values.isequal(triangles(ones).values)


def test_graphs_without_nodes():
    A = gb.Matrix(float, 0, 0)
    assert connected_components(A).count == 0 and triangle_count(A) == 0 and triangles(A).values.size == 0
    assert pagerank(A, weighted=True).ranks.size == 0 and bfs_multi(A, []).levels.shape == (0, 0)
    for search in (bfs, sssp):
        with pytest.raises(IndexError, match="source: 0 names no node, for the graph has none"):
            search(A, 0)


def test_triangles_of_nodes_in_any_order_and_repeated():
    A = edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)], 5, both=True)
    every = {0: 2, 1: 1, 2: 2, 3: 1, 4: 0}
    for nodes in ([2, 0], [3, 3, 3], [4, 2, 0, 2], [0, 1, 2, 3, 4, 4], (), range(4, 1, -1)):
        assert triangles(A, nodes).to_dict() == {k: every[k] for k in nodes}, nodes


@pytest.mark.parametrize("method", ["auto", "fastsv"])
def test_components_follow_edges_both_ways(method):
    """Every edge points to the lesser node: followed one way only, no component would be found from below."""
    pairs = [(k + 1, k) for k in range(5)] + [(9, 7), (8, 7)]
    for A in (edges(pairs, 11), edges([(j, i) for i, j in pairs], 11)):
        for G in (A, Graph(A, directed=True)):
            found = connected_components(G, method=method)
            assert found.labels.to_dense().tolist() == [0] * 6 + [6, 7, 7, 7, 10] and found.count == 4


def test_the_search_of_components_is_told_of_directed_edges(monkeypatch):
    """On a device the edges into each node are a second operand: only a symmetric structure may leave it out."""
    seen = []
    monkeypatch.setattr(gb.graph, "components", lambda A, symmetric, AT: seen.append(AT() is A))
    with gb.plan(force="numpy"):  # without the compiled loop
        connected_components(edges([(1, 0)], 3))
        connected_components(edges([(1, 0)], 3, both=True))
    assert seen == [False, True]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("dtype", ["INT64", "FP64"])
def test_negative_weights_without_negative_cycles(seed, dtype, base_seed):
    """Weights w + h(i) - h(j) for potentials h: the same shortest paths as w, many edges negative."""
    rng = np.random.default_rng(base_seed * 1000 + seed)
    S = random_graph(base_seed * 1000 + seed).tocoo()
    h = rng.integers(0, 30, S.shape[0])
    S.data = S.data + h[S.row] - h[S.col]
    A = matrix(S, dtype)
    found = sssp(A, 0, predecessors=True)
    check_distances(A, 0, found.distances)
    check_predecessors(A, 0, found.distances, found.predecessors)


@pytest.mark.parametrize("method", ["auto", "delta", "bellman_ford"])
def test_sums_beyond_32_bits_are_exact(method):
    A = gb.Matrix.from_coo([0, 1], [1, 2], [2**30, 2**30], nrows=3, ncols=3)
    assert sssp(A, 0, method=method).distances.to_dict() == {0: 0, 1: 2**30, 2: 2**31}


@pytest.mark.parametrize("method", ["auto", "delta", "bellman_ford"])
def test_a_path_goes_on_from_the_greatest_distance(method):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], [2**62, 2**62 - 1, 0], nrows=4, ncols=4)
    assert sssp(A, 0, method=method).distances.to_dict() == {0: 0, 1: 2**62, 2: 2**63 - 1, 3: 2**63 - 1}
