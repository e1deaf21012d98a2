"""Modules that are called otherwise now: the old names give the same results, with a DeprecationWarning."""

import inspect

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import algorithms as alg

A = gb.Matrix.from_coo([0, 0, 1, 2, 4], [1, 2, 3, 3, 0], [5, 1, 1, 2, 1], nrows=6, ncols=6)
LEVELS, DISTANCES = {0: 0, 1: 1, 2: 1, 3: 2}, {0: 0, 1: 5, 2: 1, 3: 3}


@pytest.fixture(params=["numpy", "numba"])
def engine(request):
    with gb.plan(force=request.param):
        yield request.param


def test_fused_has_a_result_always(engine):
    with pytest.warns(DeprecationWarning, match="grb_tile.fused.bfs is deprecated, use grb_tile.graph.bfs"):
        assert gb.fused.bfs(A, 0).levels.to_dict() == LEVELS
    with pytest.warns(DeprecationWarning):
        found = gb.fused.bfs_multi(A, [0, 5], parents=True)
        assert found.levels.to_dicts() == {0: LEVELS, 1: {5: 0}} and found.parents[0, 3].new().value in (1, 2)
        assert gb.fused.sssp(A, 0, predecessors=True).distances.to_dict() == DISTANCES
        assert gb.fused.components(A).labels.to_dense().tolist() == [0, 0, 0, 0, 0, 5]
        assert gb.fused.components(A).count == 2
        if engine == "numpy":
            assert gb.fused.components(A, fallback=False) is None and gb.fused.sssp(A, 0, fallback=False) is None


def test_sequential_has_arrays():
    with gb.plan(force="numba"), pytest.warns(DeprecationWarning):
        label, count = gb.sequential.strong_components(A)
        assert label.tolist() == list(range(6)) and label.dtype == np.int64 and count == 6
        assert gb.sequential.components(A)[0].tolist() == [0, 0, 0, 0, 0, 5]
        core = gb.sequential.core_numbers(A, A.T.new(), np.array([3, 2, 2, 2, 1, 0]))
        assert core.tolist() == alg.core_number(A).to_numpy().tolist()
        level, order = gb.sequential.topological_levels(A, np.zeros(6, np.int64))
        assert level.tolist() == [1, 2, 2, 3, 0, 0] and sorted(order.tolist()) == list(range(6))
        rows, columns = gb.sequential.bipartite_matching(A)
        assert all(columns[j] == i for i, j in enumerate(rows.tolist()) if j >= 0) and (rows >= 0).sum() == 3


@pytest.mark.parametrize("name", ["strong_components", "components"])
def test_the_old_names_hand_every_option_on(name, monkeypatch):
    options = {key: object() for key in inspect.signature(getattr(gb.graph, name)).parameters if key != "A"}
    asked = []
    monkeypatch.setattr(gb.graph, name, lambda A, **given: asked.append((A, given)))
    with pytest.warns(DeprecationWarning):
        assert getattr(gb.sequential, name)(A, **options) is None
    assert asked == [(A, options)]


def test_rowwise_and_names_that_never_were():
    with pytest.warns(DeprecationWarning, match="use grb_tile.graph.mode"):
        assert gb.rowwise.mode(A, gb.Vector.from_dense(np.zeros(6, np.int64))).to_dict() == {0: 0, 1: 0, 2: 0, 4: 0}
    for module in (gb.fused, gb.sequential, gb.rowwise):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            module.nothing  # noqa: B018


@pytest.mark.parametrize(
    "old, new", [("StrongComponentsResult", "ComponentsResult"), ("PageRankMultiResult", "PageRankResult")]
)
def test_records_that_are_one_now(old, new):
    with pytest.warns(DeprecationWarning, match=f"{old} is deprecated, use {new}"):
        assert getattr(alg, old) is getattr(alg, new)
    assert isinstance(alg.strongly_connected_components(A), alg.ComponentsResult)
    assert isinstance(alg.pagerank_multi(A, [0]), alg.PageRankResult)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        alg.nothing  # noqa: B018
