"""k-trusses against NetworkX, supports against a plain count."""

import networkx as nx
import numpy as np
import pytest
from samples import data_folder, edges, karate, pair

import grb_tile as gb
from grb_tile.algorithms import Graph, k_truss


def loopless(N):
    N = N.copy()
    N.remove_edges_from(list(nx.selfloop_edges(N)))
    return N


def check(A, N, k):
    found = k_truss(A, k)
    expected = nx.k_truss(loopless(N), k)
    assert set(found.to_dict()) == {(min(e), max(e)) for e in expected.edges}
    for (u, v), support in found.to_dict().items():
        assert support == len(set(expected[u]) & set(expected[v])) and support >= k - 2
    assert found.values.isequal(found.values.T.new()) and found.values.dtype == gb.dtypes.INT64


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs(seed, base_seed):
    A, N = pair(base_seed * 1000 + seed, False)
    for k in range(2, 6):
        check(A, N, k)


@pytest.mark.parametrize("seed", range(4))
def test_dense_graphs_take_several_rounds(seed, base_seed):
    """Few edges go in the later rounds: their supports are corrected, not counted anew."""
    N = nx.powerlaw_cluster_graph(120, 6, 0.7, seed=base_seed % 2**31 + seed)
    A = gb.Matrix.from_coo(*np.array([e for u, v in N.edges for e in ((u, v), (v, u))]).T, 1.0, nrows=120, ncols=120)
    for k in (3, 4, 5, 6):
        check(A, N, k)
    assert k_truss(A, 5).report.iterations > 2


def test_netscience_against_the_outputs_of_cugraph():
    folder = data_folder()
    if folder is None:
        pytest.skip("needs small/cugraph: set GRB_TILE_DATA")
    for name in ("netscience", "polbooks"):
        i, j = np.loadtxt(folder / "small" / "cugraph" / f"{name}.csv")[:, :2].astype(np.int64).T
        n = int(max(i.max(), j.max())) + 1
        A = gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], True, nrows=n, ncols=n)
        expected = np.loadtxt(folder / "small" / "cugraph" / "ref" / "ktruss" / f"{name}.csv")[:, :2].astype(int)
        pairs = {(min(u, v), max(u, v)) for u, v in expected.tolist()}
        assert set(k_truss(A, 5).to_dict()) == pairs


def test_edge_cases():
    assert k_truss(gb.Matrix(bool, 0, 0), 3).to_dict() == {}
    assert k_truss(edges([(0, 0), (0, 1)], 2, np.nan, both=True), 2).to_dict() == {(0, 1): 0}
    assert k_truss(edges([(0, 1)], 2, both=True), 3).to_dict() == {}
    assert k_truss(karate(), 40).to_dict() == {}


def test_callback_and_arguments():
    found = k_truss(karate(), 4, callback=lambda record: True)
    assert found.report.stopped_by == "callback" and len(found.to_dict()) > len(k_truss(karate(), 4).to_dict())
    for k, error, message in ((1, ValueError, "k: expected 2 or more, got 1"), (3.0, TypeError, "k: expected an int")):
        with pytest.raises(error, match=message):
            k_truss(karate(), k)
    with pytest.raises(ValueError, match="trusses need an undirected graph"):
        k_truss(edges([(0, 1)], 2), 3)
    named = Graph(edges([(0, 1), (1, 2), (2, 0)], 3, both=True), labels=["a", "b", "c"])
    assert k_truss(named, 3).to_dict() == {("a", "b"): 1, ("a", "c"): 1, ("b", "c"): 1}
