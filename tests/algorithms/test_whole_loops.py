"""gb.graph itself: lists of neighbours in an order of their own, reports, and operands that it refuses."""

import collections

import numpy as np
import pytest
from samples import karate

import grb_tile as gb
from grb_tile import algorithms as alg, graph
from grb_tile.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from grb_tile.graph.lists import Lists
from grb_tile.graph.report import LoopReport
from support.seeds import generator


def lists_of(rng, n, share):
    """(Lists with neighbours in any order, the same as Python lists)."""
    found = [rng.permutation(np.flatnonzero(rng.random(n) < share)).tolist() for _ in range(n)]
    indptr = np.cumsum([0, *map(len, found)])
    return Lists(indptr, np.array([j for row in found for j in row], np.int64)), found


@pytest.mark.parametrize("share", [0.0, 0.08, 0.3])
@pytest.mark.parametrize("limit", [0, 1, 2, 99])
def test_breadth_first_by_a_queue(engine, share, limit):
    rng = generator("queue", share, limit)
    lists, neighbours = lists_of(rng, 25, share)
    for sources in ([3], [7, 2, 11]):
        found = graph.breadth_first(lists, np.array(sources), limit)
        if found is None:
            assert engine != "compiled"
            continue
        level, parent, order = dict.fromkeys(sources, 0), {}, list(sources)
        queue = collections.deque(sources)
        while queue:
            i = queue.popleft()
            for j in neighbours[i]:
                if j not in level and level[i] < limit:
                    level[j], parent[j] = level[i] + 1, i
                    queue.append(j)
                    order.append(j)
        assert found[0].tolist() == order and found[1].tolist() == [level.get(i, -1) for i in range(25)]
        assert {i: p for i, p in enumerate(found[2].tolist()) if p >= 0} == parent


def test_topological_orders_of_lists(engine):
    rng = generator("order of lists")
    for cyclic in (False, True):
        n = 20
        neighbours = [[j for j in rng.permutation(n).tolist() if j > i and rng.random() < 0.2] for i in range(n)]
        if cyclic:
            neighbours[12].append(5)
            neighbours[5].append(12)
        lists = Lists(np.cumsum([0, *map(len, neighbours)]), np.array([j for row in neighbours for j in row], np.int64))
        found = graph.topological_order(lists)
        if found is None:
            assert engine != "compiled"
            continue
        waits = collections.Counter(j for row in neighbours for j in row)
        level = {i: 0 for i in range(n) if not waits[i]}
        order = list(level)
        for i in order:
            for j in neighbours[i]:
                waits[j] -= 1
                if not waits[j]:
                    level[j] = level[i] + 1
                    order.append(j)
        assert found[0].tolist() == [level.get(i, -1) for i in range(n)]
        assert sorted(found[1].tolist()) == sorted(order)
        place = {i: k for k, i in enumerate(found[1].tolist())}
        assert all(place[i] < place[j] for i in place for j in neighbours[i] if j in place)


def test_what_lists_and_their_arguments_must_be():
    two = Lists(np.array([0, 1, 2]), np.array([1, 0]))
    assert (two.nrows, two.nvals, two.rows) == (2, 2, None)
    for indptr, indices, error in (
        ([1, 1, 2], [1, 0], InvalidValue), ([0, 1, 3], [1, 0], InvalidValue), ([0, 2, 1], [1], InvalidValue),
        ([0, 1, 2], [1, 2], IndexOutOfBound), ([0, 1, 2], [-1, 0], IndexOutOfBound),
    ):  # fmt: skip
        with pytest.raises(error):
            Lists(np.array(indptr), np.array(indices))
    for sources, error in (([0, 0], ValueError), ([2], IndexOutOfBound), ([-1], IndexOutOfBound), ([0.5], TypeError)):
        with pytest.raises(error, match="sources"):
            graph.breadth_first(two, np.array(sources), 1)
    state, good = np.zeros(1, np.int64), np.array([0, 1])
    for order, label, error in (
        ([0, 0], good, ValueError), ([0], good, ValueError), ([0, 1], np.array([0]), DimensionMismatch),
        ([0, 1], np.array([0, 2]), IndexOutOfBound), ([0, 1], np.array([-1, 0]), IndexOutOfBound),
    ):  # fmt: skip
        with pytest.raises(error):
            graph.label_turns(two, np.array(order), label, state)


def test_operands_of_whole_loops_are_checked():
    A, B = karate(), gb.Matrix(float, 3, 4)
    for call, error, text in (
        (lambda: graph.bfs(B, 0), DimensionMismatch, "bfs: A is 3 x 4"),
        (lambda: graph.bfs(gb.Vector(float, 3), 0), TypeError, "expected a Matrix, got Vector"),
        (lambda: graph.bfs(A, 34), IndexOutOfBound, "has 34; expected vertices 0 to 33"),
        (lambda: graph.bfs(A, -1), IndexOutOfBound, "has -1"), (lambda: graph.bfs(A, 0.5), TypeError, "integers"),
        (lambda: graph.bfs(A, 0, max_level=-1), InvalidValue, "max_level is -1"),
        (lambda: graph.bfs(A, 0, levels=False), InvalidValue, "neither levels nor parents"),
        (lambda: graph.bfs(gb.Matrix(float, 0, 0), 0), IndexOutOfBound, "the graph has no vertices"),
        (lambda: graph.sssp(B, 0), DimensionMismatch, "sssp"), (lambda: graph.sssp(A, 99), IndexOutOfBound, "99"),
        (lambda: graph.mex(A, gb.Vector(int, 3)), DimensionMismatch, "colours"),
        (lambda: graph.mex(A, gb.Vector(float, 34)), TypeError, "colours: expected INT64, got FP64"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            call()
    nothing = graph.bfs(A, [], parents=True)
    assert nothing.levels.nvals == nothing.parents.nvals == 0 == nothing.report.reached == len(nothing.report)
    assert graph.bfs(A, [], levels=False, parents=True).levels is None and graph.bfs(A, []).parents is None
    assert graph.mex(A, gb.Vector("INT8", 34)).to_dict() == dict.fromkeys(range(34), 0)


def test_reports_read_what_a_loop_recorded_when_it_is_looked_at():
    rows = [{"frontier": 1, "direction": "push"}, {"frontier": 5, "direction": "pull"}, {"frontier": 2}]
    asked = []

    class Outcome:
        engine, method, format, reached, seconds = "compiled", "by level", "csr", 8, 0.0125

        def rows(self):
            asked.append(1)
            return rows

    report = LoopReport(Outcome())
    assert (report.engine, report.method, report.format, report.reached, report.seconds) == (
        "compiled", "by level", "csr", 8, 0.0125
    )  # fmt: skip
    assert not asked and report.levels == rows and report.expanded == 8 and len(report) == 3 and asked == [1]
    assert repr(report) == "8 reached in 3 levels (1 pulled), compiled, 12.500 ms"
    Outcome.seconds, Outcome.expanded = None, lambda self: 77
    assert repr(report) == "8 reached in 3 levels (1 pulled), compiled" and report.expanded == 77


SYMMETRIC = {  # the algorithm's call -> the operation that is told whether the matrix is symmetric
    "bfs": (lambda G: alg.bfs(G, 0), "bfs"),
    "bfs_multi": (lambda G: alg.bfs_multi(G, [0, 2]), "bfs_multi"),
    "connected_components": (alg.connected_components, "components"),
    "descendants": (lambda G: alg.descendants(G, 0), "bfs"),
    "sssp": (lambda G: alg.sssp(G, 0), "sssp"),
    "strongly_connected_components": (alg.strongly_connected_components, "strong_components"),
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_loop_is_told_of_symmetry_only_where_it_is_known(name, monkeypatch):
    """A loop on a device reads the rows for the columns then."""
    call, operation = SYMMETRIC[name]
    told = []
    monkeypatch.setattr(graph, operation, lambda *args, symmetric=False, **options: told.append(symmetric))
    one_way = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=4, ncols=4)
    both = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1.0, 1.0, 2.0, 2.0], nrows=4, ncols=4)
    for G, known in ((one_way, False), (alg.Graph(one_way), False), (alg.Graph(both, directed=False), True)):
        told.clear()
        call(G)
        assert told and all(bool(symmetric) == known for symmetric in told), (name, known, told)
