"""Markov clustering against the same steps in dense NumPy."""

import numpy as np
import pytest
from samples import edges, karate, pair

import grb_tile as gb
from grb_tile.algorithms import ConvergenceFailure, Graph, mcl
from grb_tile.algorithms.markov_clustering import _attractors


def dense_steps(D, expansion, inflation, prune, steps):
    M = D.T.copy()
    np.fill_diagonal(M, 1.0)
    M /= M.sum(axis=0)
    for _ in range(steps):
        M = np.linalg.matrix_power(M, expansion) ** inflation
        M /= M.sum(axis=0)
        M[(M < prune) & (M < M.max(axis=0))] = 0
        M /= M.sum(axis=0)
    return M


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_random_graphs(seed, directed, weighted, base_seed):
    A, _ = pair(base_seed * 1000 + seed, directed, weights="float")
    D = np.zeros(A.shape)
    i, j, w = A.to_coo()
    D[i, j] = w if weighted else 1
    for expansion, inflation, prune in ((2, 2.0, 1e-4), (3, 1.7, 0.01), (2, 3.0, 0.0)):
        options = {"expansion": expansion, "inflation": inflation, "prune": prune}
        found = mcl(Graph(A, directed), weighted=weighted, max_iter=4, strict=False, tol=0, **options)
        M = dense_steps(D, expansion, inflation, prune, found.report.iterations)
        clusters, largest = found.to_numpy(), M >= M.max(axis=0) * (1 - 1e-9)
        assert found.values.dtype == gb.dtypes.INT64 and (clusters[clusters] == clusters).all()
        for j, cluster in enumerate(clusters.tolist()):  # that of a row of the largest entries
            assert cluster in clusters[largest[:, j]]


def test_clusters_of_two_cliques():
    pairs = [(u, v) for base in (0, 6) for u in range(base, base + 6) for v in range(u) if v >= base]
    A = edges([*pairs, (5, 6)], 13, both=True)
    found = mcl(A)
    clusters = found.to_numpy()
    assert found.report.converged and len(set(clusters[:6])) == len(set(clusters[6:12])) == 1
    assert clusters[0] != clusters[6] and clusters[12] == 12
    assert len(set(mcl(karate(), inflation=1.4).to_numpy())) <= len(set(mcl(karate(), inflation=4.0).to_numpy()))


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
@pytest.mark.parametrize("expansion", [2, 3, 4])
def test_a_cluster_is_named_by_one_of_its_vertices(expansion, first):
    """Two attractors of one cluster whose flows differ by rounding, and flows that the limit of iterations stops."""
    pairs = [(0, 1), (0, 3), (1, 4), (2, 3), (2, 5), (3, 4), (4, 5)]
    for seed in range(first, 60, 3):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 16))
        D = rng.random((n, n)) < rng.choice([0.1, 0.2, 0.4])
        A = gb.Matrix.from_dense(D | D.T if seed % 2 else D, missing_value=False)
        for inflation, prune in ((1.3, 0.1), (2.0, 1e-4), (4.0, 0.0)):
            found = mcl(A, expansion=expansion, inflation=inflation, prune=prune, max_iter=20, strict=False)
            clusters = found.to_numpy()
            assert (clusters[clusters] == clusters).all(), (seed, inflation, prune)
    assert len(set(mcl(edges(pairs, 6, both=True), expansion=expansion, inflation=1.2, strict=False).to_numpy())) == 1


def test_edge_cases_and_arguments():
    assert mcl(gb.Matrix(bool, 0, 0)).to_dict() == {} and mcl(edges([], 2)).to_dict() == {0: 0, 1: 1}
    A = karate()
    assert mcl(edges([(0, 1), (0, 0)], 2, np.nan, both=True)).to_dict() == mcl(edges([(0, 1)], 2, both=True)).to_dict()
    with pytest.raises(ConvergenceFailure, match="mcl: the change is still .* after max_iter=1 iterations"):
        mcl(A, max_iter=1)
    assert mcl(A, callback=lambda record: record["iteration"] == 2).report.stopped_by == "callback"
    for options, error, message in (
        ({"expansion": 1}, ValueError, "expansion: expected 2 or more, got 1"),
        ({"expansion": 2.5}, TypeError, "expansion: expected an int, got 2.5"),
        ({"inflation": 1.0}, ValueError, "inflation: expected a number above 1, got 1.0"),
        ({"loops": 0}, ValueError, "loops: expected a number above 0, got 0"),
        ({"prune": 1.0}, ValueError, "prune: expected a number from 0 up to but without 1"),
        ({"max_iter": None}, ValueError, "max_iter: None would never end"),
    ):
        with pytest.raises(error, match=message):
            mcl(A, **options)
    for weight, message in ((-1.0, "the weight -1.0 is negative"), (np.nan, "sum to nan"), (np.inf, "sum to inf")):
        with pytest.raises(ValueError, match=message):
            mcl(edges([(0, 1)], 2, weight), weighted=True)


def test_attractors_of_every_cycle_and_path():
    """Steps are doubled until all vertices have been met: of any count, in any order."""
    rng = np.random.default_rng(8)
    for n in range(1, 20):
        order = rng.permutation(n)
        for follows in (np.roll(order, -1), np.append(order[1:], order[-1])):  # a cycle; a path to its last vertex
            M = gb.Matrix.from_coo(follows, order, 1.0, nrows=n, ncols=n)
            least = 0 if follows[-1] == order[0] else order[-1]
            assert _attractors(M).to_dense().tolist() == [least] * n, (n, order)
