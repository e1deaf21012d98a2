"""What results convert to, with and without labels of the vertices, and the labels of a Graph."""

import io

import networkx as nx
import numpy as np
import pytest
from samples import edges, karate

import grb_tile as gb
from grb_tile import algorithms as alg

NAMES = ["ann", "bob", "cyd", "dan", "eve"]


@pytest.fixture
def G():
    return alg.Graph(edges([(0, 1), (1, 2), (2, 3)], 5, [2.0, 0.5, 1.0]), labels=NAMES)


def test_values_by_label(G):
    assert alg.bfs(G, 0).to_dict() == {"ann": 0, "bob": 1, "cyd": 2, "dan": 3}
    assert alg.bfs(G, 0, levels=False, parents=True).to_dict() == {
        "ann": "ann",
        "bob": "ann",
        "cyd": "bob",
        "dan": "cyd",
    }
    assert alg.sssp(G, 1).to_dict() == {"bob": 0.0, "cyd": 0.5, "dan": 1.5}
    assert alg.connected_components(G).to_dict() == dict(zip(NAMES, [0, 0, 0, 0, 4], strict=True))
    assert set(alg.pagerank(G).to_dict()) == set(NAMES)
    assert alg.hello(G, 1).to_dict() == dict(zip(NAMES, [1, 1, 1, 0, 0], strict=True))


def test_numbers_where_there_are_no_labels():
    A = karate()
    found = alg.triangles(A)
    assert found.to_dict() == dict(enumerate(found.to_numpy().tolist()))
    assert all(type(key) is int and type(value) is int for key, value in found.to_dict().items())
    assert all(type(key) is int and type(value) is int for key, value in found.top(3))


def test_the_greatest_of_vertices_some_of_which_have_no_value():
    A = edges([(1, 4), (2, 4), (3, 1)], 5, 1.0)
    assert alg.in_degree(A).top(2) == [(4, 2), (1, 1)]
    assert alg.bfs(A, 3).top(9, smallest=True) == [(3, 0), (1, 1), (4, 2)]
    assert alg.bfs(alg.Graph(A, labels=NAMES), 3).top(2) == [("eve", 2), ("bob", 1)]


@pytest.mark.parametrize("callback", [None, lambda record: False])
def test_rows_of_a_matrix_bear_the_labels_of_their_sources(G, callback):
    found = alg.bfs_multi(G, [2, 4], parents=True, callback=callback)
    assert found.to_dict() == {"cyd": {"cyd": 0, "dan": 1}, "eve": {"eve": 0}}
    assert found.to_numpy(-1).tolist() == [[-1, -1, 0, 1, -1], [-1, -1, -1, -1, 0]]
    frame = found.to_pandas()
    assert frame.columns.tolist() == ["source", "vertex", "levels", "parents"]
    assert frame[frame.source == "cyd"].vertex.tolist() == ["cyd", "dan"]
    with pytest.raises(TypeError, match=r"top: values is a Matrix.*values\[0, :\]"):
        found.top(1)


def test_absent_values_need_a_name(G):
    found = alg.bfs(G, 0)
    assert found.to_numpy(-1).tolist() == [0, 1, 2, 3, -1]
    with pytest.raises(ValueError, match=r"fill: 1 of 5 values are absent.*to_numpy\(-1\)"):
        found.to_numpy()


def test_frames(G):
    frame = alg.bfs(G, 0, parents=True).to_pandas()
    assert frame.index.tolist() == NAMES[:4] and frame.index.name == "vertex"
    assert frame.columns.tolist() == ["levels", "parents"] and frame.parents.tolist() == ["ann", "ann", "bob", "cyd"]
    frame = alg.pagerank(G).to_pandas()
    assert frame.columns.tolist() == ["ranks"] and frame.index.tolist() == NAMES
    assert alg.triangles(karate()).to_pandas().columns.tolist() == ["triangles"]


@pytest.mark.parametrize("directed", [False, True])
def test_frames_of_edges_name_both_ends(directed):
    A = edges([(0, 1), (1, 2), (2, 3)], 5, 1.0, both=not directed)
    found = alg.edge_betweenness(alg.Graph(A, directed=directed, labels=NAMES))
    frame = found.to_pandas()
    assert frame.columns.tolist() == ["source", "target", found.values.name]
    assert list(zip(frame.source, frame.target)) == [("ann", "bob"), ("bob", "cyd"), ("cyd", "dan")]
    assert dict(zip(zip(frame.source, frame.target), frame[found.values.name])) == found.to_dict()


@pytest.mark.parametrize("smallest", [False, True])
def test_top_is_the_order_of_a_stable_sort(smallest, base_seed):
    rng = np.random.default_rng(base_seed)
    for _ in range(50):
        n = int(rng.integers(1, 30))
        kind = int(rng.integers(3))
        x = rng.integers(-3, 3, n).astype(float) if kind else rng.random(n)
        x[rng.random(n) < 0.1] = np.nan if kind == 1 else np.inf
        found = alg.VertexResult(gb.Vector.from_dense(x), None)
        order = [(i, v) for i, v in enumerate(x.tolist()) if v == v]
        order.sort(key=lambda pair: pair[1] if smallest else -pair[1])
        for k in (0, 1, 2, 5, n, n + 7):
            assert found.top(k, smallest=smallest) == order[:k], (x, k)


def test_top_of_unsigned_and_least_numbers():
    found = alg.VertexResult(gb.Vector.from_dense(np.array([0, 2**64 - 1, 5], np.uint64)), None)
    assert found.top(2) == [(1, 2**64 - 1), (2, 5)] and found.top(1, smallest=True) == [(0, 0)]
    for k, error, message in (
        (-1, ValueError, "k: expected 0 or more, got -1"),
        (1.0, TypeError, "k: expected an int, got 1.0"),
        (True, TypeError, "k: expected an int, got True"),
    ):
        with pytest.raises(error, match=message):
            found.top(k)


# ---------------------------------------------------------------------- labels of a Graph


def test_labels_come_from_edge_lists_and_networkx():
    G = alg.Graph(gb.io.read_edge_list(io.StringIO("1 2\n2 3\n")))
    assert G.n == 3 and list(G.labels) == [1, 2, 3] and G.vertex(3) == 2
    assert alg.bfs(G, G.vertex(2)).to_dict() == {2: 0, 3: 1}
    G = alg.Graph(nx.Graph([("b", "a"), ("a", 7)]))
    assert G.labels == ["b", "a", 7] and not G.directed
    assert alg.Graph(nx.path_graph(3)).labels is None
    assert alg.Graph(nx.path_graph(3), labels="xyz".split() * 3).labels == ["xyz"] * 3


def test_labels_are_checked():
    A = edges([(0, 1)], 2)
    for labels, error, message in (
        (["a"], ValueError, "labels: expected 2 names, one per node, got 1"),
        ("ab", TypeError, "labels: expected a sequence of 2 names, got 'ab'"),
        (5, TypeError, "labels: expected a sequence of 2 names, got 5"),
    ):
        with pytest.raises(error, match=message):
            alg.Graph(A, labels=labels)
    G = alg.Graph(A, labels=np.array([10, 20]))
    assert G.vertex(20) == 1 and alg.bfs(G, 0).to_dict() == {10: 0, 20: 1}
    with pytest.raises(KeyError, match="no node is called 30"):
        G.vertex(30)
    assert alg.Graph(A).vertex(1) == 1
