"""pagerank in its four forms against NetworkX and a loop over the edges."""

import networkx as nx
import numpy as np
import pytest
from checkers import check_ranks
from samples import edges, karate, matrix, random_graph

import grb_tile as gb
from grb_tile.algorithms import ConvergenceFailure, Graph, pagerank, pagerank_multi

SEEDS = range(20)


def networkx_ranks(S, **options):
    graph = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
    ranks = nx.pagerank(graph, tol=1e-13, max_iter=1000, **options)
    return np.array([ranks[node] for node in range(S.shape[0])])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", ["standard", "adaptive"])
def test_random_graphs(seed, method, base_seed):
    S = random_graph(base_seed * 1000 + seed, weights="one")
    A = matrix(S)
    found = pagerank(A, method=method, tol=1e-11, max_iter=1000)
    assert found.converged and found.residual < 1e-11 * A.nrows
    check_ranks(A, found.ranks, 1e-9)
    np.testing.assert_allclose(found.ranks.to_dense(), networkx_ranks(S, weight=None), rtol=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_weights(seed, base_seed):
    S = random_graph(base_seed * 1000 + seed, weights="float")
    found = pagerank(matrix(S), weighted=True, tol=1e-12, max_iter=1000)
    np.testing.assert_allclose(found.ranks.to_dense(), networkx_ranks(S), rtol=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_personalization_dangling_and_start(seed, base_seed):
    rng = np.random.default_rng(base_seed * 1000 + seed)
    S = random_graph(base_seed * 1000 + seed, weights="one")
    n = S.shape[0]
    p, q, start = rng.random(n) + 0.1, rng.random(n) + 0.1, rng.random(n) + 0.1
    expected = networkx_ranks(
        S, weight=None, personalization=dict(enumerate(p.tolist())), dangling=dict(enumerate(q.tolist())), alpha=0.6
    )
    options = {"alpha": 0.6, "tol": 1e-12, "max_iter": 1000, "nstart": start.tolist()}
    A = matrix(S)
    for form in (np.asarray, lambda x: dict(enumerate(x.tolist())), gb.Vector.from_dense):
        found = pagerank(A, personalization=form(p), dangling=form(q), **options)
        np.testing.assert_allclose(found.ranks.to_dense(), expected, rtol=1e-7)
    p = p / p.sum()
    check_ranks(A, pagerank(A, personalization=p, **options).ranks, 1e-9, alpha=0.6, personalization=p)


@pytest.mark.parametrize("seed", SEEDS)
def test_gap_loses_the_rank_of_sinks(seed, base_seed):
    A = matrix(random_graph(base_seed * 1000 + seed))
    found = pagerank(A, method="gap")
    check_ranks(A, found.ranks, 1e-4, sinks=False)
    assert found.converged and found.residual < 1e-4


def test_gap_in_fp32():
    found = pagerank(karate(), method="gap", dtype="FP32")
    assert found.ranks.dtype == "FP32"
    check_ranks(karate(), found.ranks, 1e-4, sinks=False)


def test_ldbc_makes_the_number_of_iterations_asked_for():
    A = edges([(0, 1), (1, 2), (3, 2)], 4)
    r = np.full(4, 0.25)
    for iterations in range(5):
        found = pagerank(A, method="ldbc", max_iter=iterations)
        assert found.iterations == iterations and found.converged
        np.testing.assert_allclose(found.ranks.to_dense(), r, rtol=1e-14)
        r = 0.15 / 4 + 0.85 * (np.array([0, r[0], r[1] + r[3], 0]) + r[2] / 4)


@pytest.mark.parametrize("method", ["standard", "gap", "adaptive"])
def test_no_tolerance_means_a_fixed_number_of_iterations(method):
    found = pagerank(karate(), method=method, tol=0, max_iter=7)
    assert found.iterations == 7 and found.report.stopped_by == "iterations" and found.residual is None
    if method != "gap":
        expected = pagerank(karate(), method="ldbc", max_iter=7).ranks
        np.testing.assert_allclose(found.ranks.to_dense(), expected.to_dense(), rtol=1e-14)


@pytest.mark.parametrize("method", ["standard", "gap", "ldbc", "adaptive"])
def test_edge_cases(method):
    assert pagerank(gb.Matrix(int, 0, 0), method=method).ranks.size == 0
    np.testing.assert_allclose(pagerank(edges([(0, 0)], 1), method=method).ranks.to_dense(), [1.0], rtol=1e-2)
    ranks = pagerank(gb.Matrix(int, 4, 4), method=method).ranks.to_dense()
    np.testing.assert_allclose(ranks, 0.25 if method != "gap" else 0.15 / 4)
    np.testing.assert_allclose(pagerank(karate(), method=method, alpha=0).ranks.to_dense(), 1 / 34)


def test_karate_against_networkx():
    expected = nx.pagerank(nx.karate_club_graph(), weight=None, tol=1e-12)
    found = pagerank(karate(), tol=1e-12)
    np.testing.assert_allclose(found.ranks.to_dense(), [expected[i] for i in range(34)], rtol=1e-8)


def test_convergence_failure_carries_the_result():
    with pytest.raises(ConvergenceFailure, match="max_iter=2 iterations.*strict=False") as caught:
        pagerank(karate(), max_iter=2, tol=1e-12)
    assert caught.value.iterations == 2 and caught.value.residual > 1e-12 * 34
    reached = pagerank(karate(), max_iter=2, tol=1e-12, strict=False)
    assert not reached.converged and reached.iterations == 2
    assert caught.value.result.ranks.isclose(reached.ranks)


def test_callback_may_stop():
    residuals = []
    found = pagerank(karate(), callback=lambda record: residuals.append(record["residual"]) or len(residuals) == 3)
    assert found.iterations == 3 and not found.converged and found.report.stopped_by == "callback"
    assert residuals == sorted(residuals, reverse=True)


def test_an_interrupt_leaves_the_graph_whole():
    def interrupt(record):
        if record["iteration"] == 2:
            raise KeyboardInterrupt

    G = Graph(karate())
    with pytest.raises(KeyboardInterrupt) as caught:
        pagerank(G, callback=interrupt)
    assert caught.value.report.iterations == 2
    check_ranks(G.A, pagerank(G, tol=1e-10).ranks, 1e-8)


@pytest.mark.parametrize("method", ["standard", "adaptive"])
def test_given_vectors_are_not_changed(method):
    start, p = gb.Vector.from_scalar(1.0, 34), gb.Vector.from_scalar(2.0, 34)
    pagerank(karate(), nstart=start, personalization=p, method=method)
    assert start.to_dense().tolist() == [1.0] * 34 and p.to_dense().tolist() == [2.0] * 34


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"alpha": 1}, ValueError, "alpha: expected a number from 0 up to but without 1, got 1"),
        ({"alpha": "x"}, TypeError, "alpha: expected a number"),
        ({"method": "fast"}, ValueError, "method: expected one of 'standard', 'gap', 'ldbc', 'adaptive'"),
        ({"tol": -1}, ValueError, "tol: expected 0 or more"),
        ({"max_iter": None}, ValueError, "max_iter: None would never end"),
        ({"max_iter": 2.5}, TypeError, "max_iter: expected an int"),
        ({"dtype": int}, TypeError, "dtype: ranks are FP32 or FP64, got INT64"),
        ({"dtype": "FP32", "method": "ldbc"}, ValueError, "computes in FP64"),
        ({"personalization": [1.0, 2.0]}, ValueError, "personalization: expected 34 places"),
        ({"personalization": {99: 1.0}}, IndexError, "personalization, key 99: 99 is out of range"),
        ({"nstart": {0: 0.0}}, ValueError, "nstart: expected numbers >= 0 with a positive sum"),
        ({"dangling": {0: -1.0, 1: 3.0}}, ValueError, "dangling: expected numbers >= 0"),
    ],
)
def test_arguments(options, error, text):
    with pytest.raises(error, match=text):
        pagerank(karate(), **options)


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match="the weight -1 is negative"):
        pagerank(edges([(0, 1)], 2, [-1]), weighted=True)


def test_it_stops_at_the_first_change_below_n_tol():
    report = pagerank(karate(), tol=1e-4).report
    residuals = [record["residual"] for record in report.rounds]
    assert min(residuals[:-1]) >= 34 * 1e-4 > residuals[-1]


def exact(A, alpha, p):
    """The ranks by Gaussian elimination: (I - a (A' / d + p sinks')) r = (1 - a) p."""
    rows, cols, _ = A.to_coo()
    n = A.nrows
    P = np.zeros((n, n))
    P[cols, rows] = 1
    out = P.sum(axis=0)
    P = P / np.maximum(out, 1) + np.outer(p, out == 0)
    return np.linalg.solve(np.eye(n) - alpha * P, (1 - alpha) * p)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alpha", [0.5, 0.85, 0.99])
@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_adaptive_takes_about_as_many_iterations_as_standard(seed, alpha, dtype, base_seed):
    """Whatever waits is carried: ranks that were left out for good would keep the change from falling."""
    A = matrix(random_graph(base_seed * 1000 + seed, weights="one"))
    p = np.eye(A.nrows)[0]
    for given in (None, {0: 1.0}):
        options = {"alpha": alpha, "personalization": given, "dtype": dtype, "max_iter": 5000}
        steps = [pagerank(A, method=method, **options) for method in ("standard", "adaptive")]
        assert steps[1].iterations <= 2 * steps[0].iterations + 3
        wanted = exact(A, alpha, np.full(A.nrows, 1 / A.nrows) if given is None else p)
        for found in steps:  # the error is at most that of the last change
            off = np.abs(found.ranks.to_dense() - wanted).sum()
            rounding = 64 * np.finfo(found.ranks.dtype.np_type).eps
            assert off <= (found.residual + rounding) / (1 - alpha)


def test_adaptive_on_karate_from_one_node():
    assert pagerank(karate(), method="adaptive", personalization={0: 1}).iterations <= 40


@pytest.mark.parametrize("method", ["standard", "gap", "adaptive"])
@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
@pytest.mark.parametrize("alpha", [0.3, 0.85, 0.97])
def test_tolerances_finer_than_the_type(method, dtype, alpha, base_seed):
    """Rounding keeps the change above such a tolerance for ever; where it is all that is left, the iteration ends."""
    eps = float(np.finfo(gb.dtypes.lookup_dtype(dtype).np_type).eps)
    longest = 5 * np.log(eps * 1e-3) / np.log(alpha)
    pair = edges([(0, 1)], 2, both=True)  # the change alternates in sign: errors add up to 1 / (1 - alpha) times
    for A in (pair, karate(), *(matrix(random_graph(base_seed * 1000 + seed)) for seed in range(2))):
        found = pagerank(
            A, method=method, alpha=alpha, dtype=dtype, tol=1e-300, personalization={0: 1}, max_iter=int(longest)
        )
        assert found.converged
        assert found.report.stopped_by == "resolution" or found.residual == 0
        if method != "gap":
            off = np.abs(found.ranks.to_dense() - exact(A, alpha, np.eye(A.nrows)[0])).sum()
            assert off <= 64 * eps / (1 - alpha) ** 2


def test_fp32_with_the_default_tolerance():
    A = edges([(0, 1), (2, 3), (4, 5)], 6, both=True)
    found = pagerank(A, alpha=0.99, dtype="FP32", personalization={0: 1}, max_iter=3000)
    assert found.converged and found.residual < 1e-5


@pytest.mark.parametrize("method", ["ldbc", "gap"])
def test_these_start_uniformly(method):
    found = pagerank(karate(), method=method, personalization={0: 1}, max_iter=0, strict=False)
    np.testing.assert_allclose(found.ranks.to_dense(), 1 / 34)
    start = pagerank(karate(), method=method, personalization={0: 1}, nstart={3: 1}, max_iter=0, strict=False)
    assert start.ranks.to_dense()[3] == 1


@pytest.mark.parametrize("method", ["standard", "adaptive"])
@pytest.mark.parametrize("seed", range(3))
def test_the_default_tolerance_orders_the_first_ranks(method, seed):
    """Of 10,000 vertices with random edges, whose ranks are near each other; of a graph with hubs; on several rows."""
    for A in (
        gb.generators.uniform_random(10_000, 80_000, seed=seed),
        gb.generators.kronecker(13, 8, seed=seed),
    ):
        exact = pagerank(A, tol=1e-15, max_iter=1000)
        first = [vertex for vertex, _ in exact.top(10)]
        found = pagerank(A, method=method)
        assert [vertex for vertex, _ in found.top(10)] == first and found.residual < 1e-6
        many = pagerank_multi(A, [dict.fromkeys(range(A.nrows), 1.0)]).ranks[0, :].new()
        assert np.argsort(-many.to_dense(), kind="stable")[:10].tolist() == first
    loose = pagerank(A, tol=1e-6)  # NetworkX's rule
    assert loose.iterations < found.iterations
