"""Plots of results by matplotlib, which is imported only here and draws to files, without a display."""

import os

from grb_tile.io.streams import Target

ENDINGS = (".png", ".svg", ".pdf")


def check(path):
    """Check the ending and matplotlib before the algorithm runs.  Raises: ValueError, ImportError."""
    if not path.lower().endswith(ENDINGS):
        raise ValueError(f"--plot {path}: the ending must be one of {', '.join(ENDINGS)}")
    _figure()


def _figure():
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("--plot needs matplotlib: install it with `pip install matplotlib`") from None
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure, axes, path, title, across, up):
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.3)
    with Target(path) as target:
        figure.savefig(target.stream, dpi=120, format=os.path.splitext(path)[1][1:].lower())


def levels(path, per_level, title):
    """The number of nodes at each level of a breadth-first search."""
    figure = _figure()
    axes = figure.subplots()
    axes.fill_between(range(len(per_level)), per_level, step="mid", alpha=0.8)
    _save(figure, axes, path, title, "level", "nodes reached at this level")


def distances(path, values, title):
    """A histogram of the distances."""
    figure = _figure()
    axes = figure.subplots()
    bins = min(100, max(10, len(values) // 50))
    if values.dtype.kind in "iu":  # bars of equal integer width
        import numpy as np

        step = max(1, -(-(int(values.max()) + 1) // bins))
        bins = np.arange(0, int(values.max()) + 1 + step, step) - 0.5
    axes.hist(values.astype(float), bins=bins)
    _save(figure, axes, path, title, "distance", "nodes")


def ranks(path, values, title, what="rank"):
    """Values from the highest to the lowest, on logarithmic axes."""
    figure = _figure()
    axes = figure.subplots()
    ordered = sorted(values.tolist(), reverse=True)
    axes.loglog(range(1, len(ordered) + 1), ordered)
    _save(figure, axes, path, title, "position", what)


def sizes(path, values, title):
    """Sizes of components or groups from the largest to the smallest."""
    figure = _figure()
    axes = figure.subplots()
    ordered = sorted(values.tolist(), reverse=True)
    axes.plot(range(1, len(ordered) + 1), ordered, marker="o", markersize=3, linestyle="-")
    if len(ordered) > 20:
        axes.set_xscale("log")
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
        axes.set_xticks(range(1, len(ordered) + 1))
    _save(figure, axes, path, title, "by size", "nodes")


def counts(path, values, title, what):
    """A histogram of counts per node (degrees, triangles)."""
    import numpy as np

    figure = _figure()
    axes = figure.subplots()
    present, nodes = np.unique(values, return_counts=True)
    axes.plot(present, nodes, marker="o", markersize=3, linestyle="")
    if present[-1] > 50:
        axes.set_xscale("symlog", linthresh=1)
    axes.set_yscale("log")
    _save(figure, axes, path, title, what, "nodes")
