"""Independent sets, colourings, matchings, forests and orders: what makes them right, and the same on every engine."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from samples import edges, karate, matrix, random_graph
from scipy.sparse import csgraph
from structure_checkers import check_colouring, check_forest, check_independent_set, check_matching, neighbours

import grb_tile as gb
from grb_tile.algorithms import (
    Graph,
    bipartite_matching,
    coloring,
    maximal_independent_set,
    minimum_spanning_forest,
    rcm,
)

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))]
GO_ON = [None, lambda record: False]


def undirected(seed, **options):
    return matrix(random_graph(seed, undirected=True, **options))


# ---------------------------------------------------------------------- maximal independent sets


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("callback", GO_ON)
def test_independent_sets(seed, callback, engine, base_seed):
    A = undirected(base_seed * 1000 + seed)
    ignore = np.random.default_rng(seed).integers(0, A.nrows, 3).tolist()
    for left_out in (None, ignore):
        found = maximal_independent_set(A, seed=seed, ignore=left_out, callback=callback)
        check_independent_set(A, found.to_dict(), left_out or ())
        assert found.count == len(found.to_dict()) and found.report.converged


@pytest.mark.parametrize("callback", GO_ON)
def test_the_set_follows_the_seed_alone(callback, engine):
    A = karate()
    sets = [[sorted(maximal_independent_set(A, seed=s, callback=callback).to_dict()) for s in range(5)]]
    for name in ("numpy", "rows", "cols"):
        with gb.plan(force=name):
            sets.append([sorted(maximal_independent_set(A, seed=s, callback=callback).to_dict()) for s in range(5)])
    assert all(each == sets[0] for each in sets)
    assert len({tuple(each) for each in sets[0]}) > 1


# ---------------------------------------------------------------------- colourings


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", ["jp_ldf", "jp_random"])
@pytest.mark.parametrize("callback", GO_ON)
def test_colourings(seed, method, callback, engine, base_seed):
    A = undirected(base_seed * 1000 + seed)
    found = coloring(A, method=method, seed=seed, callback=callback)
    check_colouring(A, found.to_numpy().tolist())
    assert found.count == len(set(found.to_numpy().tolist()))


@pytest.mark.parametrize("callback", GO_ON)
def test_a_greedy_loop_gives_the_same_colours(callback, engine):
    A, seed = karate(), 4
    near = neighbours(A)
    random = gb.graph.random_order(34, seed).to_dense().tolist()
    colour = {}
    for node in sorted(random, key=lambda i: -len(near[i])):
        colour[node] = next(c for c in range(35) if c not in {colour.get(j) for j in near[node]})
    assert coloring(A, seed=seed, callback=callback).to_dict() == colour


def test_colours_in_a_given_order(engine):
    A = karate()
    near = neighbours(A)
    order = np.random.default_rng(7).permutation(34).tolist()
    colour = {}
    for node in order:
        colour[node] = next(c for c in range(35) if c not in {colour.get(j) for j in near[node]})
    for callback in GO_ON:
        found = coloring(A, order=order, callback=callback)
        assert found.to_dict() == colour and found.report.algorithm == "coloring (given order)"
    for wrong in (order[1:], [*order[1:], order[1]]):
        with pytest.raises(ValueError, match="order: expected each of the 34 nodes once, got 33 in 3[34] numbers"):
            coloring(A, order=wrong)


def test_more_than_64_colours(engine):
    n = 150
    A = matrix(sp.csr_array(np.ones((n, n))))
    for callback in GO_ON:
        found = coloring(A, callback=callback)
        assert found.count == n and sorted(found.to_numpy().tolist()) == list(range(n))


def test_sets_and_colours_of_little_graphs(engine):
    for callback in GO_ON:
        assert maximal_independent_set(gb.Matrix(int, 0, 0), callback=callback).count == 0
        assert maximal_independent_set(edges([(0, 0)], 1), callback=callback).to_dict() == {0: True}
        assert coloring(gb.Matrix(int, 0, 0), callback=callback).count == 0
        assert coloring(edges([(0, 0)], 2), callback=callback).to_numpy().tolist() == [0, 0]


def test_sets_and_colours_stop_and_refuse():
    A = karate()
    part = maximal_independent_set(A, callback=lambda record: True)
    assert part.report.stopped_by == "callback" and part.count < maximal_independent_set(A).count
    assert 0 < len(coloring(A, callback=lambda record: True).to_dict()) < 34
    one_way = edges([(0, 1)], 2)
    for algorithm in (maximal_independent_set, coloring):
        with pytest.raises(ValueError, match="G: .* an undirected graph, and this one .* has edges that go one way"):
            algorithm(one_way)
        with pytest.raises(ValueError, match="seed: expected 0 or more, got -1"):
            algorithm(A, seed=-1)
    with pytest.raises(ValueError, match="method: expected one of 'jp_ldf', 'jp_random', got 'mis'"):
        coloring(A, method="mis")
    with pytest.raises(IndexError, match=r"ignore\[1\]: 34 is out of range"):
        maximal_independent_set(A, ignore=[0, 34])


# ---------------------------------------------------------------------- matchings


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("callback", GO_ON)
def test_matchings(seed, callback, engine, base_seed):
    rng = np.random.default_rng(base_seed * 1000 + seed)
    nrows, ncols = rng.integers(1, 40, 2)
    count = int(rng.integers(0, 3 * max(nrows, ncols)))
    S = sp.coo_array((np.ones(count), (rng.integers(0, nrows, count), rng.integers(0, ncols, count))), (nrows, ncols))
    S = sp.csr_array(S)
    found = bipartite_matching(matrix(S), callback=callback)
    size = int((csgraph.maximum_bipartite_matching(S, "column") >= 0).sum())
    check_matching(matrix(S), found.to_dict(), found.mate_col.to_dict(), size)
    assert found.count == size


def test_a_long_augmenting_path(engine):
    """Rows 0 .. n - 1 hold columns i and i + 1; the last row only column 0: every pair has to move."""
    n = 200
    B = edges([(i, i) for i in range(n)] + [(i, i + 1) for i in range(n)] + [(n, 0)], n + 1)
    for callback in GO_ON:
        assert bipartite_matching(B, callback=callback).count == n + 1


def test_matchings_of_little_matrices(engine):
    for callback in GO_ON:
        assert bipartite_matching(gb.Matrix(int, 0, 0), callback=callback).count == 0
        assert bipartite_matching(gb.Matrix(int, 0, 3), callback=callback).mate_col.size == 3
        assert bipartite_matching(gb.Matrix.from_coo([1], [0], nrows=3, ncols=1), callback=callback).to_dict() == {1: 0}
    with pytest.raises(TypeError, match="B: cannot read a graph from list"):
        bipartite_matching([[1]])


def test_a_matching_that_is_stopped_is_one():
    B = matrix(random_graph(11))
    found = bipartite_matching(B, callback=lambda record: True)
    check_matching(B, found.to_dict(), found.mate_col.to_dict(), found.count)
    assert found.report.stopped_by == "callback"


# ---------------------------------------------------------------------- spanning forests


def triples(M):
    return list(zip(*(x.tolist() for x in M.to_coo()), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("weights", ["int", "float"])
@pytest.mark.parametrize("callback", GO_ON)
def test_forests(seed, both, weights, callback, engine, base_seed):
    A = matrix(random_graph(base_seed * 1000 + seed, undirected=both, weights=weights))
    for maximum in (False, True):
        found = minimum_spanning_forest(A, maximum=maximum, callback=callback)
        check_forest(A, triples(found.edges), found.weight, found.labels.to_dense().tolist(), maximum)
        assert found.count == A.nrows - found.edges.nvals


def test_the_forest_is_the_same_on_every_engine(engine):
    for weights in ("int", "one"):
        A = matrix(random_graph(8, undirected=True, weights=weights))
        results = [[triples(minimum_spanning_forest(A, maximum=m).edges) for m in (False, True)]]
        for name in ("numpy", "rows", "cols"):
            for callback in GO_ON:
                with gb.plan(force=name):
                    results.append(
                        [triples(minimum_spanning_forest(A, maximum=m, callback=callback).edges) for m in (False, True)]
                    )
        assert all(result == results[0] for result in results)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32", "FP64"])
def test_types_of_weights(dtype, engine):
    A = edges([(0, 1), (1, 2), (2, 0)], 3, [1, 0, 1], dtype, both=True)
    found = minimum_spanning_forest(A)
    assert found.edges.dtype == A.dtype and found.weight == 1 and found.edges[1, 2].value == 0
    assert minimum_spanning_forest(A, maximum=True).weight == 2


@pytest.mark.parametrize(
    "dtype, low, high", [("INT64", -(2**63), 2**63 - 1), ("UINT64", 0, 2**64 - 1), ("FP64", -1e300, 5e-324)]
)
def test_extreme_weights_are_in_order(dtype, low, high, engine):
    for weights in ([low, high, high], [high, low, high], [high, high, low]):
        A = edges(
            [(0, 1), (1, 2), (0, 2)], 3, np.array(weights, gb.dtypes.lookup_dtype(dtype).np_type), dtype, both=True
        )
        assert low in [w for *_, w in triples(minimum_spanning_forest(A).edges)]
        assert [w for *_, w in triples(minimum_spanning_forest(A, maximum=True).edges)] == [high, high]


def test_zeros_of_both_signs_are_equal(engine):
    A = edges([(0, 1), (0, 2), (1, 2)], 3, [0.0, 0.0, -0.0], both=True)
    for maximum in (False, True):
        assert [e[:2] for e in triples(minimum_spanning_forest(A, maximum=maximum).edges)] == [(0, 1), (0, 2)]


def test_sums_beyond_the_type_of_the_weights(engine):
    A = edges([(0, 1), (1, 2)], 3, 100, "INT8", both=True)
    assert minimum_spanning_forest(A).weight == 200


@pytest.mark.parametrize(
    "dtype, weights",
    [
        ("INT64", [2**62] * 3),
        ("INT64", [-(2**63)] * 3),
        ("INT64", [2**63 - 1, -(2**63), 5]),
        ("UINT64", [2**64 - 1] * 3),
        ("UINT64", [2**63, 2**62, 2**62]),
        ("INT32", [2**31 - 1] * 3),
        ("INT8", [-128] * 3),
    ],
)
@pytest.mark.parametrize("callback", GO_ON)
def test_sums_beyond_64_bits_are_exact(dtype, weights, callback, engine):
    A = edges([(0, 1), (1, 2), (2, 3)], 4, np.array(weights, gb.dtypes.lookup_dtype(dtype).np_type), dtype, both=True)
    for maximum in (False, True):
        weight = minimum_spanning_forest(A, maximum=maximum, callback=callback).weight
        assert type(weight) is int and weight == sum(weights)


def test_infinite_negative_and_missing_weights(engine):
    inf = float("inf")
    A = edges([(0, 1), (1, 2), (2, 0)], 3, [inf, -inf, -2.0], both=True)
    assert minimum_spanning_forest(A).weight == -inf
    assert {e[:2] for e in triples(minimum_spanning_forest(A, maximum=True).edges)} == {(0, 1), (0, 2)}
    with pytest.raises(ValueError, match="G: the weight of 0 - 1 is NaN"):
        minimum_spanning_forest(Graph(edges([(0, 1)], 2, float("nan"), both=True), True))
    with pytest.raises(TypeError, match="G: weights must be real numbers, got FC64"):
        minimum_spanning_forest(A.dup("FC64"))
    with pytest.raises(TypeError, match="maximum: expected True or False, got 1"):
        minimum_spanning_forest(A, maximum=1)


def test_forests_of_little_graphs(engine):
    for callback in GO_ON:
        assert minimum_spanning_forest(gb.Matrix(int, 0, 0), callback=callback).count == 0
        found = minimum_spanning_forest(edges([(0, 0)], 2), callback=callback)
        assert found.count == 2 and found.weight == 0 and found.to_dict() == {0: {}, 1: {}}


# ---------------------------------------------------------------------- reverse Cuthill-McKee


def bandwidth(A, order):
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    i, j, _ = A.to_coo()
    return int(np.abs(position[i.astype(int)] - position[j.astype(int)]).max(initial=0))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("both", [False, True])
def test_orders(seed, both, engine, base_seed):
    A = matrix(random_graph(base_seed * 1000 + seed, undirected=both))
    found = rcm(A)
    assert sorted(found.order.tolist()) == list(range(A.nrows))
    assert found.order[found.to_numpy()].tolist() == list(range(A.nrows))
    assert rcm(A, callback=lambda record: False).order.tolist() == found.order.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_a_shuffled_grid_gets_its_bandwidth_back(seed, engine):
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 8))
    shuffled = np.random.default_rng(seed).permutation(240)
    S = nx.to_scipy_sparse_array(grid, dtype=float)[shuffled][:, shuffled]
    order = csgraph.reverse_cuthill_mckee(sp.csr_matrix(S), symmetric_mode=True)
    A = matrix(S)
    assert bandwidth(A, rcm(A).order) <= max(9, bandwidth(A, order))


def test_orders_of_little_graphs(engine):
    assert rcm(gb.Matrix(int, 0, 0)).order.tolist() == []
    assert rcm(edges([(0, 0)], 1)).order.tolist() == [0]
    assert sorted(rcm(gb.Matrix(int, 3, 3)).order.tolist()) == [0, 1, 2]
    stopped = rcm(karate(), callback=lambda record: True)
    assert stopped.report.stopped_by == "callback" and sorted(stopped.order.tolist()) == list(range(34))
