"""Plots of the command, read back from matplotlib's figure: data, axes, texts, and how they are written."""

import numpy as np
import pytest

from grb_tile.cli import plots
from support.seeds import generator

figures = pytest.importorskip("matplotlib.figure")


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draws a plot and gives its axes, after a look at what all plots share."""
    saved = []
    monkeypatch.setattr(figures.Figure, "savefig", lambda self, file, **how: saved.append((self, how)))

    def draw(function, *arguments, ending="png", texts=("across", "up")):
        saved.clear()
        function(str(tmp_path / f"x.{ending}"), *arguments[:1], "a title", *arguments[1:])
        ((figure, how),) = saved
        (axes,) = figure.axes
        assert how == {"dpi": 120, "format": ending.lower()} and figure.get_size_inches().tolist() == [7, 4.2]
        assert axes.get_title("left") == "a title" and axes.get_title() == "" and axes.title.get_size() == 12
        assert axes._left_title.get_size() == 10 and (axes.get_xlabel(), axes.get_ylabel()) == texts
        assert [axes.spines[side].get_visible() for side in ("top", "right", "left", "bottom")] == [False] * 2 + [
            True
        ] * 2
        lines = axes.yaxis.get_gridlines()
        assert (
            lines[0].get_visible() and lines[0].get_alpha() == 0.3 and not axes.xaxis.get_gridlines()[0].get_visible()
        )
        assert type(figure.canvas).__name__ == "FigureCanvasAgg"
        return axes

    return draw


@pytest.mark.parametrize("ending", ["png", "svg", "PDF"])
def test_levels(drawn, ending):
    axes = drawn(plots.levels, [1, 5, 3, 2], ending=ending, texts=("level", "nodes reached at this level"))
    (area,) = axes.collections
    points = area.get_paths()[0].vertices
    heights = {x: max(y for at, y in points if at == x) for x in (0.0, 3.0)}
    assert heights == {0.0: 1, 3.0: 2} and area.get_alpha() == 0.8
    assert sorted({y for _, y in points}) == [0, 1, 2, 3, 5] and {0.5, 1.5, 2.5} <= {x for x, _ in points}


@pytest.mark.parametrize("most, count", [(3, 30), (9, 30), (10, 30), (250, 40), (250, 1000), (5000, 9000)])
def test_whole_distances(drawn, most, count):
    """Bars of equal whole width, each value in the middle of a step, and as few as the values allow."""
    values = np.append(generator("distances", most, count).integers(0, most, count), most)
    axes = drawn(plots.distances, values, texts=("distance", "nodes"))
    left = np.array([bar.get_x() for bar in axes.patches])
    width = np.array([bar.get_width() for bar in axes.patches])
    bars = min(100, max(10, (count + 1) // 50))
    step = -(-(most + 1) // bars)
    assert np.allclose(left, np.arange(len(left)) * step - 0.5) and np.allclose(width, step)
    assert left[-1] <= most < left[-1] + 2 * step and len(left) <= bars + 1
    wanted = [((values >= x) & (values < x + step)).sum() for x in left]
    assert [bar.get_height() for bar in axes.patches] == wanted and sum(wanted) == count + 1


@pytest.mark.parametrize(
    "count, bars", [(1, 10), (499, 10), (549, 10), (550, 11), (4999, 99), (5000, 100), (9000, 100)]
)
def test_distances_with_fractions(drawn, count, bars):
    values = generator("distances", count).random(count)
    axes = drawn(plots.distances, values, texts=("distance", "nodes"))
    assert len(axes.patches) == bars
    assert [bar.get_height() for bar in axes.patches] == np.histogram(values, bars)[0].tolist()


def test_ranks(drawn):
    axes = drawn(plots.ranks, np.array([0.25, 4, 1, 2]), texts=("position", "rank"))
    assert axes.lines[0].get_xydata().tolist() == [[1, 4], [2, 2], [3, 1], [4, 0.25]]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    drawn(plots.ranks, np.array([1.0, 2]), "score", texts=("position", "score"))


@pytest.mark.parametrize("count, scale", [(3, "linear"), (20, "linear"), (21, "log")])
def test_sizes(drawn, count, scale):
    axes = drawn(plots.sizes, np.arange(1, count + 1), texts=("by size", "nodes"))
    (line,) = axes.lines
    assert line.get_xydata().tolist() == [[k + 1, count - k] for k in range(count)]
    assert (axes.get_xscale(), axes.get_yscale()) == (scale, scale)
    assert (line.get_marker(), line.get_markersize(), line.get_linestyle()) == ("o", 3, "-")
    if scale == "linear":
        assert axes.get_ylim()[0] == 0 and axes.get_xticks().tolist() == list(range(1, count + 1))


@pytest.mark.parametrize("most, scale", [(50, "linear"), (51, "symlog")])
def test_counts(drawn, most, scale):
    axes = drawn(plots.counts, np.array([0, 2, 2, 7, most, most, most]), "degree", texts=("degree", "nodes"))
    (line,) = axes.lines
    assert line.get_xydata().tolist() == [[0, 1], [2, 2], [7, 1], [most, 3]]
    assert (line.get_marker(), line.get_markersize(), line.get_linestyle()) == ("o", 3, "None")
    assert (axes.get_xscale(), axes.get_yscale()) == (scale, "log")
    if scale == "symlog":
        assert axes.xaxis.get_transform().linthresh == 1


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf", ".PNG"])
def test_endings_that_can_be_drawn(ending):
    plots.check(f"x{ending}")
    with pytest.raises(ValueError, match=r"the ending must be one of \.png, \.svg, \.pdf"):
        plots.check(f"x{ending}x")
