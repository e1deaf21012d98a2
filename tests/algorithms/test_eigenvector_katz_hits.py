"""Eigenvector, Katz and HITS scores against NetworkX and against their defining equations in NumPy."""

import networkx as nx
import numpy as np
import pytest
from samples import data_folder, edges, karate, pair

import grb_tile as gb
from grb_tile.algorithms import ConvergenceFailure, Graph, eigenvector, hits, katz

SEEDS = range(10)
NAN, INF = float("nan"), float("inf")


def dense(A, weighted):
    D = np.zeros(A.shape)
    i, j, w = A.to_coo()
    D[i, j] = w if weighted else 1
    return D


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_eigenvector(seed, directed, weighted, base_seed):
    A, N = pair(base_seed * 1000 + seed, directed, weights="float")
    weight = "weight" if weighted else None
    try:
        expected = nx.eigenvector_centrality(N, max_iter=300, weight=weight)
    except nx.PowerIterationFailedConvergence:
        with pytest.raises(ConvergenceFailure, match="eigenvector: the change is still"):
            eigenvector(Graph(A, directed), max_iter=300, weighted=weighted)
        return
    found = eigenvector(Graph(A, directed), max_iter=300, weighted=weighted)
    assert found.report.converged
    assert found.to_dict() == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_katz(seed, directed, weighted, base_seed):
    A, N = pair(base_seed * 1000 + 20 + seed, directed, weights="float")
    D = dense(A, weighted)
    radius = np.abs(np.linalg.eigvals(D)).max()
    alpha = 0.8 / max(radius, 1)
    rng = np.random.default_rng(seed)
    for beta in (1.0, dict(enumerate(rng.random(A.nrows).tolist()))):
        options = {"alpha": alpha, "beta": beta, "tol": 1e-9}
        expected = nx.katz_centrality(N, weight="weight" if weighted else None, **options)
        assert katz(Graph(A, directed), weighted=weighted, **options).to_dict() == pytest.approx(expected, rel=1e-7)
        b = np.full(A.nrows, 1.0) if beta == 1.0 else np.array(list(beta.values()))
        exact = np.linalg.solve(np.eye(A.nrows) - alpha * D.T, b)
        found = katz(Graph(A, directed), weighted=weighted, normalized=False, **options).to_numpy()
        np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize("name", ["karate", "dolphins", "netscience", "polbooks"])
def test_katz_against_the_outputs_of_cugraph(name):
    """The nodes of the greatest scores in their order, with alpha = 1 / (largest degree + 1)."""
    folder = data_folder()
    if folder is None:
        pytest.skip("needs small/cugraph: set GRB_TILE_DATA")
    rows = np.loadtxt(folder / "small" / "cugraph" / f"{name}.csv")
    i, j = rows[:, :2].astype(np.int64).T
    n = int(max(i.max(), j.max())) + 1
    A = gb.Matrix.from_coo(i, j, 1.0, nrows=n, ncols=n)
    expected = np.loadtxt(folder / "small" / "cugraph" / "ref" / "katz" / f"{name}.csv", dtype=int).tolist()
    found = katz(A, alpha=1 / (np.bincount(i).max() + 1), tol=1e-9)
    scores = [score for _, score in found.top(len(expected))]
    # nodes whose scores differ by rounding alone have no order
    assert found.to_numpy()[expected].tolist() == pytest.approx(scores, rel=1e-7)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_hits(seed, directed, weighted, base_seed):
    A, _ = pair(base_seed * 1000 + 40 + seed, directed, weights="float")
    D = dense(A, weighted)
    h, a = np.full(A.nrows, 1 / A.nrows), np.zeros(A.nrows)
    for _ in range(20):
        a = D.T @ h
        h = D @ a
        h /= h.max() or 1
    found = hits(Graph(A, directed), max_iter=20, tol=0, weighted=weighted, strict=False)
    assert found.report.iterations == 20
    np.testing.assert_allclose(found.hubs.to_dense(), h / (h.sum() or 1), rtol=1e-12)
    np.testing.assert_allclose(found.authorities.to_dense(), a / (a.sum() or 1), rtol=1e-12)


def test_hits_of_karate():
    A = karate()
    N = nx.from_scipy_sparse_array(gb.io.to_scipy_sparse(A))
    hubs, authorities = nx.hits(N)
    found = hits(A, weighted=True, max_iter=1000)
    assert found.to_dict() == pytest.approx(hubs, rel=1e-5)
    assert dict(enumerate(found.authorities.to_dense().tolist())) == pytest.approx(authorities, rel=1e-5)
    assert found.to_pandas().columns.tolist() == ["hubs", "authorities"]
    largest = hits(A, normalized=False, max_iter=1000)
    assert largest.hubs.reduce(gb.monoid.max).new().value == 1


@pytest.mark.parametrize("function", [eigenvector, katz, hits])
def test_what_all_have_in_common(function):
    assert function(gb.Matrix(bool, 0, 0)).to_dict() == {}
    assert set(function(edges([], 1)).to_dict()) == {0} and set(function(edges([(0, 0)], 1), tol=1e-3).to_dict()) == {0}
    A = karate()
    options = {"alpha": 0.05} if function is katz else {}
    stopped = function(A, callback=lambda record: record["iteration"] == 2, **options)
    assert stopped.report.stopped_by == "callback" and stopped.report.iterations == 2
    with pytest.raises(
        ConvergenceFailure, match=f"{function.__name__}: the change is still .* after max_iter=1 iter"
    ) as e:
        function(A, max_iter=1, **options)
    assert e.value.iterations == 1 and e.value.residual > 0
    loose = function(A, max_iter=1, strict=False, **options)
    assert loose.values.isequal(e.value.result.values) and not loose.report.converged
    same = function(A, **options).to_dict()
    given = function(A, nstart=dict.fromkeys(range(34), 1.0), **options).to_dict()
    assert given == pytest.approx(same, rel=1e-3)
    for wrong, error, message in (
        ({"max_iter": None}, ValueError, "max_iter: None would never end"),
        ({"max_iter": -1}, ValueError, "max_iter: expected 0 or more, got -1"),
        ({"tol": -1.0}, ValueError, "tol: expected 0 or more, got -1.0"),
        ({"tol": NAN}, ValueError, "tol: expected a finite number"),
        ({"nstart": [1.0]}, ValueError, "nstart: expected 34 places, one per node, got 1"),
        ({"nstart": {34: 1.0}}, IndexError, "nstart, key 34: 34 is out of range"),
        ({"nstart": {3: INF}}, ValueError, "nstart: expected finite numbers, got inf for node 3"),
    ):
        with pytest.raises(error, match=message):
            function(A, **wrong)
    for weight in (NAN, INF):
        bad = edges([(0, 1)], 2, weight)
        with pytest.raises(ValueError, match="weighted=True: the absolute weights sum to"):
            function(bad, weighted=True)
        assert function(bad, strict=False).to_dict() == function(edges([(0, 1)], 2), strict=False).to_dict()
    with pytest.raises(TypeError, match="weighted=True: weights must be real, got FC64"):
        function(edges([(0, 1)], 2, 1j), weighted=True)


def test_scores_that_diverge():
    with pytest.raises(ConvergenceFailure, match="katz: the change is still inf after .* the iteration diverges"):
        katz(karate(), alpha=1.0, max_iter=100000)
    with pytest.raises(ValueError, match="nstart: all numbers are 0"):
        eigenvector(karate(), nstart=[0.0] * 34)


def test_an_interrupt_between_iterations_leaves_the_graph_whole():
    A = karate()
    before = A.dup()

    def interrupt(record):
        raise KeyboardInterrupt

    for function in (eigenvector, katz, hits):
        with pytest.raises(KeyboardInterrupt) as caught:
            function(A, callback=interrupt)
        assert caught.value.report.stopped_by == "KeyboardInterrupt" and A.isequal(before)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", [eigenvector, katz, hits])
def test_tolerances_finer_than_the_type(method, seed, base_seed):
    """Rounding keeps the change above such a tolerance for ever; where it is all that is left, the iteration ends."""
    graph = nx.gnp_random_graph(20, 0.3, seed=base_seed * 1000 + seed)
    A = edges(list(graph.edges), 20, both=True)
    options = {"alpha": 0.1} if method is katz else {}
    fine = method(A, tol=1e-300, max_iter=20000, **options)
    assert fine.report.converged
    assert fine.report.stopped_by == "resolution" or fine.report.residual == 0
    coarse = method(A, tol=1e-9, max_iter=20000, **options)
    np.testing.assert_allclose(fine.values.to_dense(), coarse.values.to_dense(), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("function", [eigenvector, hits])
def test_vertices_that_a_start_leaves_out_begin_with_0(function):
    A = gb.Matrix.from_coo([0, 0, 1, 2, 2], [1, 2, 2, 0, 1], 1.0, nrows=3, ncols=3)
    few, all_ = (
        function(A, nstart=start, max_iter=1, tol=0, strict=False).values.to_dense() for start in ({1: 2.0}, [0, 2, 0])
    )
    assert few.tolist() == all_.tolist()


@pytest.mark.parametrize("alpha", [0.6, 1.0, 7.0])
def test_an_iteration_that_overflows_has_not_converged(alpha):
    """Whether the entries, their sum or the change is the first that overflows: on ten copies of one graph."""
    for copies in (1, 2, 3, 10):
        pairs = [(4 * c + i, 4 * c + j) for c in range(copies) for i, j in ((0, 1), (1, 2), (2, 0), (2, 3), (1, 3))]
        A = edges([*pairs, *((j, i) for i, j in pairs)], 4 * copies)
        with pytest.raises(ConvergenceFailure, match="katz: .*the iteration diverges: take a smaller alpha"):
            katz(A, alpha=alpha, max_iter=5000)


def test_a_start_of_hits_from_which_nothing_leads_away():
    with pytest.raises(ValueError, match="nstart: all numbers are 0"):
        hits(karate(), nstart=[0.0] * 34)
