"""Pictures of graphs and runs: what they show, read back from matplotlib's objects."""

import types

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import algorithms, generators

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib.figure import Figure  # noqa: E402  (after the choice of where to draw)


@pytest.fixture
def axes():
    return Figure().subplots()


def test_degrees(axes):
    A = gb.Matrix.from_coo([0, 0, 0, 1, 2], [1, 2, 3, 0, 0], 1, nrows=6, ncols=6)
    assert gb.viz.degrees(A, ax=axes) is axes
    (line,) = axes.lines
    assert line.get_xydata().tolist() == [[1, 2], [3, 1]]
    assert axes.get_title("left") == "6 vertices, 3 of degree 0"
    again = Figure().subplots()
    gb.viz.degrees(algorithms.Graph(A), ax=again)
    assert np.array_equal(again.lines[0].get_xydata(), line.get_xydata())


def test_draw_has_the_labels_of_a_graph(axes):
    A = gb.Matrix.from_coo([0, 1], [1, 2], [5, 7], nrows=3, ncols=3)
    for drawn, names in ((algorithms.Graph(A, labels=["ann", "bob", 3]), {"ann", "bob", "3"}), (A, {"0", "1", "2"})):
        axes.clear()
        gb.viz.draw(drawn, ax=axes, show=False)
        assert {text.get_text() for text in axes.texts} == names | {"5", "7"}


def test_frontier(axes):
    found = algorithms.bfs(generators.grid(4, 4), 0)
    gb.viz.frontier(found, ax=axes)
    heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in axes.patches}
    assert heights == {k: row["frontier"] for k, row in enumerate(found.report.rounds)} and len(heights) >= 7
    with pytest.raises(ValueError, match="found: expected a search"):
        gb.viz.frontier(algorithms.pagerank(generators.grid(3, 3)), ax=axes)


def test_frontiers_that_were_not_counted(axes):
    """A search of a GPU may leave a level's frontier uncounted: that level has no bar."""
    rounds = [{"frontier": count, "direction": "push"} for count in (1, None, 5)]
    gb.viz.frontier(types.SimpleNamespace(rounds=rounds), ax=axes)
    assert {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in axes.patches} == {0: 1, 2: 5}


@pytest.mark.parametrize("width", [400, 2])
def test_tiles(axes, width):
    A = gb.Matrix.from_coo([0, 1, 0, 7, 9], [0, 1, 5, 7, 0], 1, nrows=10, ncols=9)
    gb.viz.tiles(A, 4, width=width, ax=axes)
    image = axes.images[0].get_array().filled(np.nan) if np.ma.isMA(axes.images[0].get_array()) else None
    image = np.asarray(axes.images[0].get_array(), float) if image is None else image
    if width == 400:
        nan = np.nan
        assert np.array_equal(image, [[2, 1, nan], [nan, 1, nan], [1, nan, nan]], equal_nan=True)
    else:
        assert image.shape == (2, 2) and image[0, 0] == pytest.approx(4 / 3) and image[1, 0] == 1
    assert axes.get_title("left") == "4 of 9 tiles of 4 x 4, 1.25 entries each"
    with pytest.raises(ValueError, match="nt: expected 1 or more, got 0"):
        gb.viz.tiles(A, 0)


def test_tiles_of_a_matrix_without_entries(axes):
    gb.viz.tiles(gb.Matrix(float, 5, 5), ax=axes)
    assert axes.get_title("left") == "0 of 1 tiles of 16 x 16"
    gb.viz.tiles(gb.Matrix(float, 0, 0), ax=Figure().subplots())


def test_timeline(axes):
    A = generators.grid(5, 5)
    u = gb.Vector.from_scalar(1.0, 25)
    for force in ("rows", "cols", "rows"):
        with gb.plan(force=force):
            A.mxv(u, gb.semiring.plus_second).new()
    report = gb.explain(last=3)
    gb.viz.timeline(report, ax=axes)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["matvec: rows", "matvec: cols"]
    spans = [path.get_extents() for drawn in axes.collections for path in drawn.get_paths()]
    plans = sorted(report, key=lambda plan: plan.method != "rows")
    begin = min(plan.started for plan in plans)
    assert [span.x0 for span in spans] == pytest.approx([(plan.started - begin) * 1e3 for plan in plans])
    assert [span.width for span in spans] == pytest.approx([plan.seconds * 1e3 for plan in plans])
    with pytest.raises(ValueError, match="no plan of it is complete"):
        gb.viz.timeline([])
