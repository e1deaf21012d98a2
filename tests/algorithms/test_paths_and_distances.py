"""Reachability, shortest paths, all pairs, eccentricity, diameter and radius against NetworkX and SciPy."""

import networkx as nx
import numpy as np
import pytest
from samples import edges, karate, matrix, pair, random_graph
from scipy.sparse import csgraph

import grb_tile as gb
from grb_tile import algorithms as alg

SEEDS = range(8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
def test_reachability(seed, directed, base_seed):
    A, N = pair(base_seed * 1000 + seed, directed)
    G = alg.Graph(A, directed)
    for v in range(0, A.nrows, 5):
        assert set(alg.descendants(G, v).to_dict()) == nx.descendants(N, v)
        assert set(alg.ancestors(G, v).to_dict()) == nx.ancestors(N, v)
        for t in range(0, A.nrows, 7):
            assert alg.has_path(G, v, t) == nx.has_path(N, v, t)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_shortest_paths(seed, weighted, base_seed):
    A, N = pair(base_seed * 1000 + 20 + seed, True, weights="int")
    G, weight = alg.Graph(A, directed=True), "weight" if weighted else None
    lengths = dict(nx.all_pairs_dijkstra_path_length(N, weight="weight" if weighted else lambda u, v, d: 1))
    for s in range(0, A.nrows, 4):
        assert alg.shortest_path_length(G, s, weighted=weighted).to_dict() == lengths[s]
        for t in range(0, A.nrows, 3):
            if t not in lengths[s]:
                for function in (alg.shortest_path, alg.shortest_path_length):
                    with pytest.raises(alg.NoPathError, match=f"no path leads from {s} to {t}"):
                        function(G, s, t, weighted=weighted)
                continue
            path = alg.shortest_path(G, s, t, weighted=weighted)
            assert path[0] == s and path[-1] == t and nx.is_path(N, path)
            steps = [1 if weight is None else N[u][v]["weight"] for u, v in zip(path, path[1:], strict=False)]
            assert sum(steps) == lengths[s][t] == alg.shortest_path_length(G, s, t, weighted=weighted)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
def test_ego_graphs(seed, directed, base_seed):
    A, N = pair(base_seed * 1000 + 40 + seed, directed)
    G = alg.Graph(A, directed)
    for radius in range(4):
        for undirected in (False, True):
            expected = nx.ego_graph(N, 0, radius, undirected=undirected)
            E = alg.ego_graph(G, 0, radius, undirected=undirected)
            assert E.labels == sorted(expected) and E.directed == directed
            i, j, _ = E.A.to_coo()
            found = {(E.labels[u], E.labels[v]) for u, v in zip(i.tolist(), j.tolist(), strict=True)}
            both = set(expected.edges) | (set() if directed else {(v, u) for u, v in expected.edges})
            assert found == both


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_all_pairs(seed, weighted, base_seed, monkeypatch):
    monkeypatch.setattr("grb_tile.algorithms.distances.BATCH", 6)
    S = random_graph(base_seed * 1000 + 60 + seed, weights="float")
    expected = csgraph.shortest_path(S, unweighted=not weighted)
    found = alg.apsp(matrix(S), weighted=weighted)
    dense = found.values.dup("FP64").to_dense(np.inf)
    np.testing.assert_allclose(dense, expected, rtol=1e-12)
    some = [2, 0, 2] if S.shape[0] > 2 else [0]
    found = alg.apsp(matrix(S), sources=some, weighted=weighted)
    np.testing.assert_allclose(found.values.dup("FP64").to_dense(np.inf), expected[some], rtol=1e-12)
    assert set(found.to_dict()) == set(some)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dtype", ["INT8", "INT64", "FP32", "FP64"])
def test_floyd_warshall(seed, dtype, engine, base_seed):
    S = random_graph(base_seed * 1000 + 90 + seed)
    A = matrix(S, dtype)
    for weighted in (False, True):
        by_search = alg.apsp(A, method="search", weighted=weighted).values
        found = alg.apsp(A, method="floyd_warshall", weighted=weighted).values
        assert found.dtype == by_search.dtype and found.isequal(by_search)
    for sources in ([0], list(range(A.nrows))[::-1]):
        some = alg.apsp(A, method="floyd_warshall", weighted=True, sources=sources).values
        assert some.isequal(by_search[sources, :].new())
    # A(i, j) + p(i) - p(j): paths from i to j are longer by p(i) - p(j), and cycles are as long as before
    i, j, x = matrix(S, int).to_coo()
    p = np.random.default_rng(seed).integers(-30, 30, A.nrows)
    shifted = gb.Matrix.from_coo(
        i, j, x + p[i] - p[j], "INT64" if dtype == "INT8" else dtype, nrows=A.nrows, ncols=A.nrows
    )
    i, j, d = by_search.to_coo()
    expected = dict(zip(zip(i.tolist(), j.tolist()), (d + p[i] - p[j]).tolist(), strict=True))
    found = alg.apsp(shifted, weighted=True).values
    assert dict(zip(zip(*(a.tolist() for a in found.to_coo()[:2])), found.to_coo()[2].tolist())) == expected


def test_floyd_warshall_and_cycles_of_negative_weight(engine):
    A = edges([(0, 1), (2, 3), (3, 2)], 4, [5, 1, -2])
    with pytest.raises(alg.NegativeCycleError, match="vertex 'd' is on a cycle") as caught:
        alg.apsp(alg.Graph(A, labels=list("abcd")), weighted=True, method="floyd_warshall")
    assert caught.value.node == 3
    with pytest.raises(OverflowError, match="use FP64 weights"):
        alg.apsp(edges([(0, 1)], 3, 2**62), weighted=True, method="floyd_warshall")
    far = alg.apsp(edges([(0, 1), (1, 2)], 3, 2**60), weighted=True, method="floyd_warshall")
    assert far.values[0, 2].value == 2**61
    inf = alg.apsp(edges([(0, 1), (1, 2)], 3, [np.inf, 1.0]), weighted=True, method="floyd_warshall")
    assert inf.values[0, 2].value == np.inf and (2, 0) not in inf.values
    with pytest.raises(ValueError, match="method: expected one of 'auto', 'search', 'floyd_warshall', got 'fw'"):
        alg.apsp(A, method="fw")


def test_all_pairs_that_do_not_fit_are_refused_before():
    A = gb.Matrix.from_coo([0], [1], 1, nrows=10**6, ncols=10**6)
    with pytest.raises(
        gb.exceptions.OutOfMemory, match=r"1000000 sources x 1000000 vertices need up to 12,000,000,000,000"
    ):
        alg.apsp(A)
    with pytest.raises(gb.exceptions.OutOfMemory, match="memory allows 100; give fewer sources, or raise memory"):
        alg.apsp(karate(), memory=100)
    with pytest.raises(gb.exceptions.OutOfMemory):  # all rows are computed, however few are asked for
        alg.apsp(karate(), method="floyd_warshall", sources=[0], memory=12 * 34)
    with pytest.raises(ValueError, match="memory: expected 0 or more bytes, got -1"):
        alg.apsp(karate(), memory=-1)
    assert alg.apsp(A, sources=[0]).to_dict() == {0: {0: 0, 1: 1}}


def test_all_pairs_with_negative_weights_and_wrong_ones():
    A = edges([(0, 1), (1, 2), (2, 0)], 3, [3, -1, 2])
    assert alg.apsp(A, weighted=True).to_numpy().tolist() == [[0, 3, 2], [1, 0, -1], [2, 5, 0]]
    with pytest.raises(alg.NegativeCycleError):
        alg.apsp(edges([(0, 1), (1, 0)], 2, [1, -2]), weighted=True)
    with pytest.raises(ValueError, match="the weight of the edge 0 -> 1 is NaN"):
        alg.apsp(edges([(0, 1)], 2, np.nan), weighted=True, sources=[])


# ---------------------------------------------------------------------- eccentricity, diameter, radius


def connected(seed, directed):
    """A (strongly) connected graph: a circle and random edges, weights above 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    N = nx.cycle_graph(n, create_using=nx.DiGraph if directed else nx.Graph)
    N.add_edges_from(rng.integers(0, n, (int(rng.integers(0, n)), 2)).tolist())
    for u, v in N.edges:
        N[u][v]["weight"] = float(rng.random() + 0.1)
    return alg.Graph(N), N


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("directed", [False, True])
def test_eccentricity(seed, directed, base_seed):
    G, N = connected(base_seed * 1000 + seed, directed)
    expected = nx.eccentricity(N)
    assert alg.eccentricity(G).to_dict() == expected
    assert alg.eccentricity(G, [1, 0, 1]).to_dict() == {0: expected[0], 1: expected[1]}
    assert alg.diameter(G) == nx.diameter(N) and alg.radius(G) == nx.radius(N)
    assert alg.diameter(G) / 2 <= alg.diameter(G, method="estimate") <= alg.diameter(G) or directed
    weighted = nx.eccentricity(N, weight="weight")
    assert alg.eccentricity(G, weighted=True).to_dict() == pytest.approx(weighted)
    assert alg.diameter(G, weighted=True) == pytest.approx(max(weighted.values()))
    assert alg.radius(G, weighted=True) == pytest.approx(min(weighted.values()))
    assert alg.diameter(G, method="estimate", weighted=True) <= alg.diameter(G, weighted=True) * (1 + 1e-12)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT8", "UINT64", "FP32", "FP64"])
def test_eccentricities_have_the_type_of_the_distances(dtype):
    A = gb.Matrix.from_coo([0, 1], [1, 0], 1, dtype, nrows=2, ncols=2)
    wanted = alg.sssp(A, 0).distances.dtype
    assert alg.eccentricity(A, weighted=True).values.dtype == wanted
    assert alg.eccentricity(A, [], weighted=True).values.dtype == wanted
    assert alg.eccentricity(A, []).values.dtype == alg.eccentricity(A).values.dtype == gb.dtypes.INT32


def test_bounds_save_searches():
    N = nx.random_regular_graph(3, 300, seed=1)
    N.add_edges_from(nx.utils.pairwise(range(300, 340)))
    N.add_edge(0, 300)
    found = alg.eccentricity(alg.Graph(N, labels=None))
    assert found.to_dict() == nx.eccentricity(N) and found.report.iterations < 200
    assert type(alg.diameter(N)) is int and alg.diameter(N, method="estimate") == alg.diameter(N)


def test_graphs_that_are_not_connected():
    A = edges([(0, 1)], 3, both=True)
    for function in (alg.eccentricity, alg.diameter, alg.radius):
        with pytest.raises(ValueError, match="reaches . of 3 vertices, so that its eccentricity is infinite"):
            function(A)
        with pytest.raises(
            ValueError, match="vertex 1 reaches 1 of 2 vertices.*give a graph that is strongly connected"
        ):
            function(edges([(0, 1)], 2))
    with pytest.raises(ValueError, match="reaches . of 3 vertices"):
        alg.diameter(A, method="estimate")


@pytest.mark.parametrize("weighted", [False, True])
def test_of_chosen_vertices_the_one_that_reaches_few_is_named(weighted):
    with pytest.raises(ValueError, match="vertex 3 reaches 1 of 4 vertices"):
        alg.eccentricity(edges([(1, 2)], 4, both=True), [3], weighted=weighted)


def test_small_graphs_and_arguments():
    empty, one = gb.Matrix(bool, 0, 0), edges([(0, 0)], 1)
    assert alg.eccentricity(empty).to_dict() == {} and alg.apsp(empty).to_dict() == {}
    assert alg.eccentricity(one).to_dict() == {0: 0} and alg.diameter(one) == alg.radius(one) == 0
    for function in (alg.diameter, alg.radius):
        with pytest.raises(ValueError, match="a graph without vertices has no diameter"):
            function(empty)
    A = karate()
    assert alg.shortest_path(A, 3, 3) == [3] and alg.shortest_path_length(A, 3, 3) == 0 and alg.has_path(A, 3, 3)
    assert alg.shortest_path(alg.Graph(edges([(0, 1)], 2), labels=["x", "y"]), 0, 1) == ["x", "y"]
    for call in (
        lambda: alg.has_path(A, 0, 34),
        lambda: alg.shortest_path(A, 0, 34),
        lambda: alg.shortest_path_length(A, 0, 34),
        lambda: alg.descendants(A, 34),
        lambda: alg.ancestors(A, 34),
        lambda: alg.ego_graph(A, 34),
        lambda: alg.apsp(A, sources=[34]),
        lambda: alg.eccentricity(A, [34]),
    ):
        with pytest.raises(IndexError, match="34 is out of range for a graph of 34 nodes"):
            call()
    with pytest.raises(ValueError, match="method: expected one of 'exact', 'estimate', got 'x'"):
        alg.diameter(A, method="x")
    with pytest.raises(ValueError, match="radius: expected 0 or more, got -1"):
        alg.ego_graph(A, 0, -1)
    found = alg.eccentricity(A, callback=lambda record: True)
    assert found.report.stopped_by == "callback" and len(found.to_dict()) < 34
    assert alg.apsp(A, callback=lambda record: True).report.stopped_by == "callback"


def test_all_pairs_of_integer_weights_beyond_their_sums():
    """Where n weights may leave the type each source is searched by itself: an overflow is an error, never a wrap."""
    A = edges([(0, 1), (1, 2)], 3, [2**62, 2**62 - 1])
    assert alg.apsp(A, weighted=True).to_dict() == {
        0: {0: 0, 1: 2**62, 2: 2**63 - 1},
        1: {1: 0, 2: 2**62 - 1},
        2: {2: 0},
    }
    with pytest.raises(OverflowError, match="a path by way of node 1 has length"):
        alg.apsp(edges([(0, 1), (1, 2)], 3, [2**62, 2**62]), weighted=True)


def test_hypersparse_graphs():
    n = 2**40
    A = gb.Matrix.from_coo([5, 2**39], [2**39, 7], [1.0, 2.0], nrows=n, ncols=n)
    assert alg.sssp(A, 5, predecessors=True).predecessors.to_dict() == {5: 5, 7: 2**39, 2**39: 5}
    for weighted in (False, True):
        assert alg.shortest_path(A, 5, 7, weighted=weighted) == [5, 2**39, 7]
    assert alg.sssp(A, 5).distances.to_dict() == {5: 0.0, 7: 3.0, 2**39: 1.0}
    assert gb.graph.components(A) is None and gb.graph.dependencies(A, [5]) is None


@pytest.mark.parametrize("weighted", [False, True])
def test_apsp_stopped_between_batches(weighted):
    """The rows that there are belong to the sources that were searched from."""
    A = edges([(k, k + 1) for k in range(299)], 300)
    found = alg.apsp(A, weighted=weighted, callback=lambda record: True)
    assert 0 < found.values.nrows < 300 and len(found.sources) == found.values.nrows
    assert list(found.to_dict()) == list(range(found.values.nrows))
