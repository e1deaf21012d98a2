"""pagerank_multi: each row against NetworkX and against `pagerank` of that row."""

import networkx as nx
import numpy as np
import pytest
from samples import matrix, random_graph

import grb_tile as gb
from grb_tile.algorithms import ConvergenceFailure, Graph, pagerank, pagerank_multi

SEEDS = range(10)


def networkx_ranks(S, p, **options):
    graph = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
    ranks = nx.pagerank(graph, personalization=p, tol=1e-13, max_iter=1000, **options)
    return np.array([ranks[node] for node in range(S.shape[0])])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_each_source_is_networkx(seed, weighted, base_seed):
    S = random_graph(base_seed * 1000 + seed, weights="float" if weighted else "one")
    n, rng = S.shape[0], np.random.default_rng(seed)
    sources = rng.choice(n, min(n, 7), replace=False).tolist()
    found = pagerank_multi(matrix(S), sources, weighted=weighted, alpha=0.7, tol=1e-13, max_iter=1000, batch=3)
    assert found.converged and found.ranks.nvals == len(sources) * n
    for row, source in zip(found.ranks.to_dense(), sources, strict=True):
        expected = networkx_ranks(S, {source: 1}, alpha=0.7, weight="weight" if weighted else None)
        np.testing.assert_allclose(row, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_distributions_and_dangling(seed, base_seed):
    S = random_graph(base_seed * 1000 + seed, weights="one")
    n, rng = S.shape[0], np.random.default_rng(seed)
    p, q = rng.random((4, n)) * (rng.random((4, n)) < 0.5) + 1e-3 * np.eye(4, n), rng.random(n) + 0.1
    A, options = matrix(S), {"tol": 1e-13, "max_iter": 1000}
    forms = (
        gb.Matrix.from_dense(p, missing_value=0),
        [dict(enumerate(row.tolist())) for row in p],
        [gb.Vector.from_dense(row) for row in p],
    )
    for given in forms:
        found = pagerank_multi(A, given, dangling=q, **options).ranks.to_dense()
        for row, alone in zip(found, p, strict=True):
            expected = networkx_ranks(
                S, dict(enumerate(alone.tolist())), weight=None, dangling=dict(enumerate(q.tolist()))
            )
            np.testing.assert_allclose(row, expected, rtol=1e-7, atol=1e-10)
    before = forms[0].dup()
    pagerank_multi(A, forms[0], **options)
    assert forms[0].isequal(before)


def test_the_rows_of_pagerank_and_its_iterations():
    A = matrix(random_graph(3, weights="one"))
    n = A.nrows
    found = pagerank_multi(A, [0, n - 1], tol=0, max_iter=7)
    assert found.iterations == 7
    for k, source in enumerate((0, n - 1)):
        alone = pagerank(A, personalization={source: 1}, tol=0, max_iter=7).ranks
        np.testing.assert_allclose(found.ranks.to_dense()[k], alone.to_dense(), rtol=1e-12, atol=1e-15)
    assert pagerank_multi(A, [0], dtype="FP32", tol=1e-5).ranks.dtype == gb.dtypes.FP32


def test_labels_reports_and_stops():
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=3, ncols=3)
    G = Graph(A, labels=["ann", "bob", "cyd"])
    named = pagerank_multi(G, [2, 0]).to_dict()
    assert list(named) == ["cyd", "ann"] and list(named["cyd"]) == ["ann", "bob", "cyd"]
    assert list(pagerank_multi(G, [{1: 1}]).to_dict()) == [0]
    with pytest.raises(ConvergenceFailure):
        pagerank_multi(A, [0], max_iter=2, tol=1e-12)
    reached = pagerank_multi(A, [0], max_iter=2, tol=1e-12, strict=False)
    assert not reached.converged and reached.iterations == 2
    assert pagerank_multi(A, [0, 1], callback=lambda record: True, batch=1).report.stopped_by == "callback"
    assert pagerank_multi(A, []).ranks.shape == (0, 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([3], "3"), ([{0: -1, 1: 2}], "least"), ([{}], "sum"), (gb.Matrix("FP64", 2, 3), "row 0"),
        (gb.Matrix.from_scalar(1.0, 1, 4), "3 columns"),
        (gb.Matrix.from_dense([[1.0, 0.0, 0.0], [1.0, -0.5, 0.0]]), "row 1 .*least number -0.5"),
    ],
)  # fmt: skip
def test_errors(given, message):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=3, ncols=3)
    with pytest.raises((ValueError, IndexError), match=message):
        pagerank_multi(A, given)


@pytest.mark.parametrize(
    "given", [3, None, "ab", {0: 1}, gb.Vector.from_dense([1.0, 2.0, 0.0]), [0, {1: 1}],
              gb.Matrix.from_coo([0], [1], [1j], nrows=1, ncols=3)],
)  # fmt: skip
def test_what_is_no_sequence_of_starts(given):
    """The message names the argument; a part of complex numbers is not dropped."""
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=3, ncols=3)
    with pytest.raises(TypeError, match="^personalization"):
        pagerank_multi(A, given)


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_tolerances_finer_than_the_type(dtype):
    A = matrix(random_graph(3))
    found = pagerank_multi(A, [0, 1, 2], alpha=0.9, tol=1e-300, dtype=dtype, max_iter=3000)
    assert found.converged and (found.report.stopped_by == "resolution" or found.residual == 0)
    single = pagerank_multi(A, [0, 1, 2], alpha=0.9, tol=1e-10, max_iter=3000)
    np.testing.assert_allclose(found.ranks.to_dense(), single.ranks.to_dense(), atol=1e-5 if dtype == "FP32" else 1e-8)


def test_rows_that_are_no_vertices_have_numbers_and_columns_labels():
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=3, ncols=3)
    G = Graph(A, labels=["ann", "bob", "cyd"])
    found = pagerank_multi(G, [{"ann": 1}, {"bob": 1, "cyd": 1}])
    plainly = pagerank_multi(A, [{0: 1}, {1: 1, 2: 1}]).to_dict()
    assert found.to_dict() == {k: {G.label(v): x for v, x in row.items()} for k, row in plainly.items()}
    assert found.to_pandas()["source"].tolist() == [0, 0, 0, 1, 1, 1]
    assert found.to_pandas()["vertex"].tolist() == ["ann", "bob", "cyd"] * 2
    assert list(pagerank_multi(G, ["cyd", "ann"]).to_dict()) == ["cyd", "ann"]
