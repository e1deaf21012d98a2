"""The model of times over ranks: which numbers of ranks pay, and its agreement with the figures it is made of."""

import pytest

from grb_tile.planner import choose_ranks as model

SIZES = (1, 2, 4, 8)


def times(task, link=model.NVLINK, sizes=SIZES):
    return [model.nanoseconds(task, ranks, link) for ranks in sizes]


def test_products_of_large_graphs_take_all_ranks_and_roads_one():
    assert model.best(model.spmv(1 << 26, 1 << 31), SIZES, model.NVLINK) == 8
    assert model.best(model.spmv(1 << 25, 1 << 30, turns=20), SIZES, model.NVLINK) == 8
    road_levels = model.levels_of(24_000_000, 58_000_000)
    for loop in model.LOOPS.values():
        assert model.best(loop(24_000_000, 58_000_000, road_levels), SIZES, model.NVLINK) == 1
    assert model.best(model.spmv(1000, 10_000), SIZES, model.NVLINK) == 1


def test_a_slower_link_never_pays_for_more_ranks():
    for task in (model.spmv(1 << 22, 1 << 27), model.matmul(1e9, 1 << 26), model.bfs(1 << 26, 1 << 31, 8)):
        at = [model.best(task, SIZES, link) for link in (model.NVLINK, model.PCIE, model.HOST)]
        assert at == sorted(at, reverse=True)
        for slow, fast in zip(times(task, model.HOST), times(task, model.NVLINK), strict=True):
            assert slow >= fast


@pytest.mark.parametrize(
    ("scale", "search", "components", "iteration"),
    [(22, 0.145, 0.33, 0.66), (24, 0.31, 1.2, 2.9), (25, 0.51, 2.5, 7.1), (26, 0.93, 5.0, 17.2)],
)
def test_work_of_one_device_is_what_was_measured(scale, search, components, iteration):
    """One H200, R-MAT of edge factor 16, undirected, ms: within a quarter."""
    n, nvals = 1 << scale, 31 << scale
    assert model.bfs(n, nvals, 1).alone == pytest.approx(search * 1e6, rel=0.25)
    assert model.components(n, nvals, 8).alone == pytest.approx(components * 1e6, rel=0.25)
    assert model.spmv(n, nvals).alone == pytest.approx(iteration * 1e6, rel=0.25)


def test_a_copy_pays_for_itself_where_the_loop_over_ranks_is_slower():
    n, nvals = 1 << 21, 180_000_000
    saved = model.saved_by_whole("bfs", n, nvals, 2, model.NVLINK)
    assert 0 < saved < model.cost_of_whole(8 * nvals, 2, model.NVLINK) < 10 * saved
    assert model.saved_by_whole("sssp", 1 << 10, 1 << 14, 2, model.HOST) > 0
