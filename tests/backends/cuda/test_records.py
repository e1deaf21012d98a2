"""Reports of searches with more levels than their record has space for: all are counted, and what is known is given."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile.algorithms import Graph, bfs, bfs_multi, sssp
from grb_tile.backends.cpu.graph import bfs_numpy as plain
from grb_tile.backends.cuda.graph import bfs as by_rows, bfs_multi as multi, bfs_tiles, outcome, sssp as paths
from support.graphs import grid, path

SPACE = 4


@pytest.fixture(autouse=True)
def _short_records(monkeypatch):
    for module in (by_rows, multi, bfs_tiles, outcome):
        monkeypatch.setattr(module, "RECORD_LEVELS", SPACE)
    monkeypatch.setattr(paths, "RECORD_ROUNDS", SPACE)


def check_rows(found, report, counted):
    """The levels of the plain loop; beyond the record only what `counted` levels give."""
    wanted = report.rows()
    rows = found.rows()
    assert len(wanted) > SPACE and len(rows) == len(wanted) and found.expanded() == sum(r["frontier"] for r in wanted)
    for k, (row, other) in enumerate(zip(rows, wanted, strict=True)):
        assert row["level"] == k and (row["direction"] == "not recorded") == (k >= SPACE)
        assert (row["ms"] is None) == (k >= SPACE - 1)
        late = k >= SPACE and not counted
        assert row["frontier"] == (None if late else other["frontier"])
        if counted:
            assert row["edges"] == other["edges"]


@pytest.mark.parametrize("kernel", ["grid", "high_diameter", "tiles"])
@pytest.mark.parametrize("levels", [True, False])
def test_breadth_first_search(kernel, levels, monkeypatch):
    monkeypatch.setitem(by_rows.LAUNCH, "high_diameter", kernel == "high_diameter")
    for A, source in ((path(60), 0), (path(60), 20), (grid(9, 9), 3)):
        args = A, A, source, levels, not levels, None, None, None
        run = bfs_tiles.traverse if kernel == "tiles" else by_rows.traverse
        found = run(shim().device, *args, *((16,) if kernel == "tiles" else ()))
        check_rows(found[2], plain.bfs(A, None, np.array([source]), True, True, None, None)[2], levels)


def test_multi_source_search():
    A = path(60)
    report = plain.bfs(A, None, np.array([0]), True, False, None, None)[2]
    check_rows(multi.traverse_many(shim().device, A, A, [0], None, None, True, False)[2][0], report, False)


@pytest.mark.parametrize("high_diameter", [True, False])
def test_shortest_paths(high_diameter, monkeypatch):
    monkeypatch.setitem(paths.LAUNCH, "high_diameter", high_diameter)
    A = path(60)
    found = paths.shortest_paths(shim().device, A, lambda: A, 0, 1, 1.0, False)[2]
    rows = found.rows()
    assert len(rows) == found.head[1] >= 59 and found.reached == 60
    assert all(row["frontier"] > 0 and row["direction"] != "not recorded" for row in rows[:SPACE])
    assert all(row["frontier"] is None and row["direction"] == "not recorded" for row in rows[SPACE:])


@pytest.mark.parametrize("levels", [True, False])
def test_reports_of_algorithms(levels):
    """How many iterations there were, and whether a limit cut the search short."""
    rows = np.arange(59)
    A = gb.Matrix.from_coo(np.r_[rows, rows + 1], np.r_[rows + 1, rows], 1, nrows=60, ncols=60)
    with using_shim():
        G = Graph(A)
        whole = bfs(G, 0, levels=levels, parents=True)
        assert whole.report.iterations == 60 and whole.report.stopped_by == "converged"
        assert "60 reached in 60 levels" in repr(gb.graph.bfs(A, 0, symmetric=True, levels=levels, parents=True).report)
        for most, expected in ((30, "max_level"), (59, "max_level"), (60, "converged"), (99, "converged")):
            options = {"levels": levels, "parents": True, "max_level": most}
            found = bfs(G, 0, **options).report
            assert found.stopped_by == expected and found.iterations == min(most, 60), most
            assert bfs_multi(G, [0, 0], **options).report.stopped_by == expected
        assert bfs(G, 0, levels=levels, parents=True, target=30).report.stopped_by == "target"
        assert bfs(G, 0, levels=levels, parents=True, target=59).report.iterations in (59, 60)
        assert sssp(G, 0, delta=1).report.iterations >= 59
