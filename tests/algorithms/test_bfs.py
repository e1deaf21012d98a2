"""bfs and bfs_multi against a plain queue, GAP's validator and NetworkX."""

import networkx as nx
import numpy as np
import pytest
from checkers import check_levels, check_parents, reference_levels
from samples import edges, karate, matrix, random_graph

import grb_tile as gb
from grb_tile.algorithms import Graph, bfs, bfs_multi

SEEDS = range(25)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("undirected", [False, True])
def test_random_graphs(seed, undirected, base_seed):
    A = matrix(random_graph(base_seed * 1000 + seed, undirected=undirected))
    source = seed % A.nrows
    found = bfs(Graph(A), source, parents=True)
    check_levels(A, source, found.levels)
    check_parents(A, source, found.parents)
    assert found.levels.dtype == gb.dtypes.INT32 and found.parents.dtype == gb.dtypes.INT64


@pytest.mark.parametrize("seed", SEEDS)
def test_the_loop_and_the_whole_agree(seed, base_seed):
    G = Graph(matrix(random_graph(base_seed * 1000 + seed)))
    for options in ({}, {"max_level": 2}, {"target": G.n - 1}, {"max_level": 0}):
        whole = bfs(G, 0, parents=True, **options)
        loop = bfs(G, 0, parents=True, callback=lambda record: None, **options)
        assert whole.levels.isequal(loop.levels), options
        assert whole.parents.to_coo(values=False)[0].tolist() == loop.parents.to_coo(values=False)[0].tolist(), options
        for key in ("iterations", "stopped_by", "converged"):
            assert getattr(whole.report, key) == getattr(loop.report, key), (key, options)
        frontiers = [[record["frontier"] for record in found.report.rounds] for found in (whole, loop)]
        assert frontiers[0] == frontiers[1], options


def test_karate_against_networkx():
    A = karate()
    graph = nx.karate_club_graph()
    for source in range(34):
        assert bfs(A, source).levels.to_dict() == nx.single_source_shortest_path_length(graph, source)


def test_long_path():
    n = 300
    A = edges([(i, i + 1) for i in range(n - 1)], n)
    found = bfs(A, 0, parents=True)
    assert found.levels.to_coo()[1].tolist() == list(range(n))
    assert found.parents.to_coo()[1].tolist() == [0, *range(n - 1)]


def test_only_what_is_asked_for():
    A = karate()
    assert bfs(A, 0).parents is None
    found = bfs(A, 0, levels=False, parents=True)
    assert found.levels is None
    check_parents(A, 0, found.parents)
    with pytest.raises(ValueError, match="levels, parents: both are False"):
        bfs(A, 0, levels=False)


def test_max_level():
    A = karate()
    for limit in range(5):
        found = bfs(A, 16, parents=True, max_level=limit)
        check_levels(A, 16, found.levels, max_level=limit)
        check_parents(A, 16, found.parents, max_level=limit)


def test_target_ends_the_search_with_its_level_complete():
    A = edges([(0, 1), (0, 2), (1, 3), (2, 4), (3, 5)], 6)
    assert bfs(A, 0, target=3).levels.to_dict() == {0: 0, 1: 1, 2: 1, 3: 2, 4: 2}
    assert bfs(A, 0, target=0).levels.to_dict() == {0: 0}
    assert bfs(A, 3, target=0).levels.to_dict() == {3: 0, 5: 1}


def test_isolated_source_loops_and_single_node():
    assert bfs(edges([(0, 1), (2, 2)], 4), 3, parents=True).parents.to_dict() == {3: 3}
    assert bfs(edges([(0, 1), (2, 2)], 4), 2, parents=True).parents.to_dict() == {2: 2}
    assert bfs(edges([], 1), 0).levels.to_dict() == {0: 0}


def test_edges_of_value_false_are_edges():
    A = gb.Matrix.from_coo([0, 1], [1, 2], [False, False], nrows=3, ncols=3)
    assert bfs(A, 0).levels.to_dict() == {0: 0, 1: 1, 2: 2}


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32", "FC64"])
def test_any_type(dtype):
    A = karate().dup(dtype)
    assert bfs(A, 0).levels.isequal(bfs(karate(), 0).levels)


def test_the_graph_is_not_changed():
    A = karate()
    before = A.dup()
    bfs(A, 0, parents=True)
    bfs_multi(A, [1, 2], parents=True)
    assert A.isequal(before, check_dtype=True)


def test_numpy_integers_are_sources():
    assert bfs(karate(), np.int32(3)).levels.isequal(bfs(karate(), 3).levels)


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (34, IndexError, "source: 34 is out of range for a graph of 34 nodes; nodes are 0 to 33"),
        (-1, IndexError, "source: -1 is out of range"),
        (True, TypeError, r"source: expected the number of a node, got the Boolean True; write int\(True\)"),
        (1.0, TypeError, r"source: .* got 1.0 of type float; write int\(source\)"),
        ("1", TypeError, "source: .* got '1' of type str"),
        (None, TypeError, "source: .* got None"),
    ],
)
def test_sources_that_are_none(source, error, text):
    with pytest.raises(error, match=text):
        bfs(karate(), source)


def test_other_arguments():
    A = karate()
    with pytest.raises(ValueError, match="max_level: expected 0 or more, got -1"):
        bfs(A, 0, max_level=-1)
    with pytest.raises(TypeError, match="max_level: expected an int or None"):
        bfs(A, 0, max_level=1.5)
    with pytest.raises(IndexError, match="target: 99 is out of range"):
        bfs(A, 0, target=99)
    with pytest.raises(TypeError, match="callback: expected a function"):
        bfs(A, 0, callback=1)
    with pytest.raises(IndexError, match="the graph has none"):
        bfs(gb.Matrix(int, 0, 0), 0)
    with pytest.raises(TypeError, match="cannot read a graph"):
        bfs([[0, 1]], 0)


def test_callback_sees_each_level_and_may_stop():
    A = edges([(0, 1), (1, 2), (2, 3), (3, 4)], 5)
    seen = []
    found = bfs(A, 0, callback=lambda record: seen.append(record["found"]))
    assert seen == [1, 1, 1, 1, 0] and found.report.converged
    found = bfs(A, 0, callback=lambda record: record["iteration"] == 2)
    assert found.levels.to_dict() == {0: 0, 1: 1, 2: 2}
    assert found.report.stopped_by == "callback"


def test_an_interrupt_carries_the_report():
    def interrupt(record):
        raise KeyboardInterrupt

    A = karate()
    G = Graph(A)
    with pytest.raises(KeyboardInterrupt) as caught:
        bfs(G, 0, callback=interrupt)
    assert caught.value.report.iterations == 1 and caught.value.report.stopped_by == "KeyboardInterrupt"
    check_levels(A, 0, bfs(G, 0).levels)


@pytest.mark.parametrize("seed", SEEDS)
def test_multi_rows_are_single_searches(seed, base_seed):
    A = matrix(random_graph(base_seed * 1000 + seed))
    sources = [seed % A.nrows, 0, seed % A.nrows]
    found = bfs_multi(A, sources, parents=True)
    assert found.levels.shape == found.parents.shape == (3, A.nrows)
    for k, source in enumerate(sources):
        check_levels(A, source, found.levels[k, :].new())
        check_parents(A, source, found.parents[k, :].new())
    assert bfs_multi(A, sources).levels.isequal(found.levels)


def test_multi_arguments():
    A = karate()
    assert bfs_multi(A, []).levels.shape == (0, 34)
    assert bfs_multi(A, np.array([3, 4])).levels.nvals == 68
    limited = bfs_multi(A, [16], max_level=1).levels[0, :].new()
    check_levels(A, 16, limited, max_level=1)
    with pytest.raises(TypeError, match=r"sources: expected a sequence of nodes, got 3; write \[3\]"):
        bfs_multi(A, 3)
    with pytest.raises(IndexError, match=r"sources\[1\]: 34 is out of range"):
        bfs_multi(A, [0, 34])
    with pytest.raises(ValueError, match="both are False"):
        bfs_multi(A, [0], levels=False)


def test_reference_levels_is_a_queue():
    assert reference_levels(edges([(0, 1), (1, 2)], 4), 0) == [0, 1, 2, -1]
