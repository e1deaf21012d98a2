"""Graph: cached properties, what it reads, and what it refuses."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from every_algorithm import EVERY, alike, outcome
from samples import edges, karate, matrix, random_graph

import grb_tile as gb
from grb_tile.algorithms import Graph, as_graph

SEEDS = range(12)


def test_properties_of_a_directed_graph():
    G = Graph(edges([(0, 1), (0, 2), (2, 0), (3, 3)], 5, [4, -2, 7, 1]), name="small")
    assert (G.n, G.nedges, G.directed, G.nself) == (5, 4, True, 1)
    assert G.out_degree.to_dict() == {0: 2, 2: 1, 3: 1}
    assert G.in_degree.to_dict() == {0: 1, 1: 1, 2: 1, 3: 1}
    assert (G.emin, G.emax) == (-2, 7)
    assert not G.is_symmetric and not G.is_symmetric_structure
    assert G.AT.isequal(G.A.T.new())
    assert "small" in repr(G) and "5 nodes" in repr(G) and "directed" in repr(G)


def test_properties_of_an_undirected_graph():
    G = Graph(edges([(0, 1), (1, 2), (2, 2)], 4, 3, both=True))
    assert (G.nedges, G.directed, G.nself) == (3, False, 1)
    assert G.is_symmetric and G.is_symmetric_structure
    assert G.AT is G.A


def test_structure_may_be_symmetric_where_values_are_not():
    G = Graph(edges([(0, 1), (1, 0)], 2, [1, 2]))
    assert G.is_symmetric_structure and not G.is_symmetric and G.directed
    assert G.AT.to_dicts() == {0: {1: 2}, 1: {0: 1}}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("undirected", [False, True])
def test_properties_of_random_graphs(seed, undirected, base_seed):
    S = random_graph(base_seed * 1000 + seed, undirected=undirected)
    G = Graph(matrix(S))
    rows, cols = sp.coo_array(S).coords
    pattern = set(zip(rows.tolist(), cols.tolist(), strict=True))
    assert G.is_symmetric_structure == (pattern == {(j, i) for i, j in pattern})
    out, into = np.bincount(rows, minlength=G.n), np.bincount(cols, minlength=G.n)
    assert G.out_degree.to_dict() == {i: d for i, d in enumerate(out.tolist()) if d}
    assert G.in_degree.to_dict() == {i: d for i, d in enumerate(into.tolist()) if d}
    assert G.nself == sum(i == j for i, j in pattern)
    if S.nnz:
        assert (G.emin, G.emax) == (S.data.min(), S.data.max())


def test_cached_properties_are_computed_once_and_forgotten():
    G = Graph(edges([(0, 1)], 2))
    assert G.out_degree is G.out_degree and G.AT._store is G.AT._store
    degree = G.out_degree
    G.A[1, 0] = 1
    G.forget()
    assert G.out_degree is not degree and G.out_degree.nvals == 2


def test_forget_drops_the_direction_that_was_found_out():
    G = Graph(edges([(0, 1), (1, 2)], 3, both=True))
    assert not G.directed and G.in_degree.to_dict() == {0: 1, 1: 2, 2: 1}
    del G.A[1, 0], G.A[2, 1]
    G.forget()
    assert G.directed and not G.known_symmetric and not G.is_symmetric_structure
    assert G.in_degree.to_dict() == {1: 1, 2: 1} and G.AT.to_dicts() == {1: {0: 1}, 2: {1: 1}}
    G.A[1, 0] = G.A[2, 1] = 1
    G.forget()
    assert not G.directed and G.nedges == 2


def test_forget_keeps_what_was_declared():
    G = Graph(edges([(0, 1)], 2, both=True), directed=True, name="two", labels=["a", "b"])
    G.forget()
    assert G.directed and (G.name, G.labels, G.vertex("b")) == ("two", ["a", "b"], 1)
    G = Graph(edges([(0, 1), (1, 2)], 3, both=True), directed=False)
    G.A[0, 0] = 5
    G.forget()
    assert not G.directed and G.nself == 1 and G.nedges == 3
    del G.A[1, 0]
    with pytest.raises(ValueError, match="directed=False: the structure of A.*not symmetric; pass directed=True"):
        G.forget()
    G = Graph.of_symmetric(edges([(0, 1)], 2, both=True))
    G.forget()
    assert not G.directed and G.known_symmetric and G.is_symmetric_structure
    G = Graph(nx.path_graph(3))
    G.A[0, 2] = 1
    with pytest.raises(ValueError, match="directed=False: the structure of A"):
        G.forget()


def test_forget_checks_the_shape_anew():
    G = Graph(edges([(0, 1)], 2), labels=["a", "b"])
    G.A.resize(3, 3)
    with pytest.raises(ValueError, match="labels: expected 3 names, one per node, got 2"):
        G.forget()
    G.A.resize(3, 2)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="square matrix, got 3 x 2"):
        G.forget()


def test_empty_and_single():
    G = Graph(gb.Matrix(gb.dtypes.FP64, 3, 3))
    assert (G.n, G.nedges, G.directed, G.emin, G.emax, G.out_degree.nvals) == (3, 0, False, None, None, 0)
    assert Graph(edges([(0, 0)], 1)).nedges == 1


def test_explicit_zeros_are_edges():
    G = Graph(gb.Matrix.from_coo([0], [1], [False], nrows=2, ncols=2))
    assert G.nedges == 1 and G.out_degree.to_dict() == {0: 1}


def test_reads_scipy_networkx_numpy_and_files(tmp_path):
    D = np.array([[0, 2.0], [3.0, 0]])
    expected = gb.Matrix.from_coo([0, 1], [1, 0], [2.0, 3.0])
    assert Graph(sp.csr_array(D)).A.isequal(expected)
    assert Graph(sp.csr_matrix(D)).A.isequal(expected)
    assert Graph(D).A.isequal(expected)
    path = tmp_path / "two.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 2.0\n2 1 3.0\n")
    G = Graph(path)
    assert G.A.isequal(expected) and G.name == "two.mtx"
    directed = nx.DiGraph()
    directed.add_weighted_edges_from([(0, 1, 2.0), (1, 0, 3.0)])
    assert Graph(directed).A.isequal(expected) and Graph(directed).directed
    assert not Graph(nx.path_graph(3)).directed and Graph(nx.path_graph(3)).nedges == 2
    assert Graph(karate().T).A.isequal(karate())


def test_as_graph_passes_graphs_through():
    G = Graph(karate())
    assert as_graph(G) is G
    assert as_graph(G.A).A is G.A


def test_refuses_what_is_not_square():
    text = r"square matrix, got 2 x 3; resize it \(A.resize\(3, 3\)\)"
    with pytest.raises(gb.exceptions.DimensionMismatch, match=text):
        Graph(gb.Matrix(int, 2, 3))


def test_refuses_an_undirected_graph_that_is_not_symmetric():
    with pytest.raises(ValueError, match="structure of A.*not symmetric; pass directed=True"):
        Graph(edges([(0, 1)], 2), directed=False)
    with pytest.raises(ValueError, match="values of A"):
        Graph(edges([(0, 1), (1, 0)], 2, [1, 2]), directed=False)


def test_refuses_other_types():
    with pytest.raises(TypeError, match="cannot read a graph from list"):
        Graph([(0, 1)])
    with pytest.raises(TypeError, match="directed: expected True, False or None"):
        Graph(edges([(0, 1)], 2), directed="yes")
    with pytest.raises(FileNotFoundError, match="no file 'nowhere.mtx'"):
        Graph("nowhere.mtx")


@pytest.mark.parametrize("seed", range(3))
def test_results_after_a_change_are_those_of_a_new_graph(seed, base_seed):
    """Every algorithm before and after writes to its matrix, and G.forget() between: nothing kept outlives a change."""
    rng = np.random.default_rng([base_seed, seed])
    A = matrix(random_graph(base_seed * 1000 + seed, undirected=seed % 2 == 0))
    A.resize(max(A.nrows, 3), max(A.nrows, 3))
    G = Graph(A)
    for _ in range(3):
        for name in EVERY:
            rows, columns, values = A.to_coo()
            fresh = Graph(gb.Matrix.from_coo(rows, columns, values, A.dtype, nrows=A.nrows, ncols=A.ncols))
            assert alike(outcome(name, G), outcome(name, fresh)), name
        for i, j in rng.integers(0, A.nrows, (4, 2)).tolist():  # elements, whole rows, and values in place
            A[i, j] = int(rng.integers(1, 9))
        if A.nvals:
            del A[*(int(index[0]) for index in A.to_coo(values=False)[:2])]
        A(accum=gb.binary.plus)[0, :] << 1
        G.forget()
