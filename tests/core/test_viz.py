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


def every_picture():
    A = gb.Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 2], [3.0, -4.0, 5.0, 7.0], nrows=3, ncols=3)
    with gb.plan(force="rows"):
        A.mxv(gb.Vector.from_scalar(1.0, 3)).new()
    found = algorithms.bfs(generators.grid(3, 3), 0)
    return {
        "draw": lambda **how: gb.viz.draw(A, **how), "spy": lambda ax, **how: gb.viz.spy(A, axes=ax, **how),
        "datashade": lambda **how: gb.viz.datashade(A, **how), "tiles": lambda **how: gb.viz.tiles(A, **how),
        "degrees": lambda **how: gb.viz.degrees(A, **how), "frontier": lambda **how: gb.viz.frontier(found, **how),
        "timeline": lambda **how: gb.viz.timeline(gb.explain(last=1), **how),
    }  # fmt: skip


PICTURES = ("draw", "spy", "datashade", "tiles", "degrees", "frontier", "timeline")
LABELS = {
    "degrees": ("degree", "vertices"), "frontier": ("level", "vertices in the frontier"), "timeline": ("ms", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_a_window_is_opened_where_there_are_windows(name, axes, monkeypatch):
    """Unless show is false, or matplotlib only writes files; the texts of the axes."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(name))
    picture = every_picture()[name]
    for backend, how, wanted in (("QtAgg", {}, 1), ("QtAgg", {"show": True}, 1), ("QtAgg", {"show": False}, 0),
                                 ("agg", {}, 0), ("SVG", {"show": True}, 0)):  # fmt: skip
        monkeypatch.setattr(pyplot, "get_backend", lambda backend=backend: backend)
        axes.clear()
        picture(ax=axes, **how)
        assert len(shown) == wanted, (backend, how)
        shown.clear()
    assert (axes.get_xlabel(), axes.get_ylabel()) == LABELS.get(name, ("", ""))
    if name in ("tiles", "degrees"):
        assert axes._left_title.get_size() == 10 and axes.get_title() == ""


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("shape", [(7, 4), (1, 9), (600, 2)])
def test_spy(axes, shape, centered):
    """A mark at the column and row of each entry, rows downwards, each position within the limits."""
    nrows, ncols = shape
    at = [0, nrows - 1], [ncols - 1, 0]
    A = gb.Matrix.from_coo(*at, [1, 1], nrows=nrows, ncols=ncols)
    assert gb.viz.spy(A, axes=axes, centered=centered) is axes.figure
    (marks,) = axes.collections
    down, across = (nrows / 2, ncols / 2) if centered else (0, 0)
    assert sorted(marks.get_offsets().tolist()) == sorted([j - across, i - down] for i, j in zip(*at))
    assert axes.get_xlim() == (-0.5 - across, ncols - 0.5 - across)
    assert axes.get_ylim() == (nrows - 0.5 - down, -0.5 - down)
    assert marks.get_sizes()[0] == max(1.0, (250 / max(*shape, 1)) ** 2) and marks.get_linewidths()[0] == 0
    assert axes.get_aspect() == 1 and axes.xaxis.get_ticks_position() == "top"


@pytest.mark.parametrize("agg", ["count", "sum", "mean", "max", "min"])
@pytest.mark.parametrize("size", [(2, 2), (3, 5), (400, 400)])
def test_datashade(axes, agg, size):
    """Each cell has the figure of the entries whose positions fall into it."""
    rng = np.random.default_rng(size[0])
    rows, columns = np.nonzero(rng.random((6, 10)) < 0.4)
    A = gb.Matrix.from_coo(rows, columns, rng.integers(-9, 9, rows.size), nrows=6, ncols=10)
    assert gb.viz.datashade(A, agg, height=size[0], width=size[1], ax=axes) is axes
    height, width = min(size[0], 6), min(size[1], 10)
    held = {}
    for i, j, value in zip(*A.to_coo()):
        held.setdefault((int(i) * height // 6, int(j) * width // 10), []).append(int(value))
    figure = {"count": len, "sum": sum, "mean": np.mean, "max": max, "min": min}[agg]
    image = np.ma.filled(axes.images[0].get_array().astype(float), np.nan)
    wanted = [[figure(held[i, j]) if (i, j) in held else np.nan for j in range(width)] for i in range(height)]
    assert np.allclose(image, wanted, equal_nan=True) and axes.images[0].get_extent() == [0, 10, 6, 0]
    assert axes.figure.axes[1].get_ylabel() == agg and axes.xaxis.get_ticks_position() == "top"


def test_what_pictures_refuse(axes):
    A = gb.Matrix.from_coo([0], [1], [1], nrows=2, ncols=3)
    with pytest.raises(ValueError, match="draw needs a square Matrix"):
        gb.viz.draw(A, ax=axes)
    with pytest.raises(ValueError, match='agg must be "count"'):
        gb.viz.datashade(A, "median", ax=axes)
    for given, name in (({"nt": 0}, "nt"), ({"width": 0}, "width"), ({"nt": float("nan")}, "nt")):
        with pytest.raises(ValueError, match=f"{name}: expected 1 or more"):
            gb.viz.tiles(A, ax=axes, **given)
