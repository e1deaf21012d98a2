"""Pictures: `draw` a small graph, `spy` the pattern of a matrix, `datashade` a large one, `tiles` that hold entries;
`degrees` of a graph, the `frontier` of a search level by level, the `timeline` of a run.

matplotlib, networkx and SciPy are imported when needed; nothing else of grb_tile needs them.
"""

import numpy as np


def _needs(what, *modules):
    """The modules, imported.  Raises: ImportError that names the function and the missing package."""
    from importlib import import_module

    found = []
    for name in modules:
        try:
            found.append(import_module(name))
        except ImportError as exc:
            package = name.split(".")[0]
            raise ImportError(f"grb_tile.viz.{what} needs {package}: pip install {package}") from exc
    return found[0] if len(found) == 1 else found


def _show(pyplot, show):
    """Open the window, unless matplotlib only writes files."""
    if show and pyplot.get_backend().lower() not in ("agg", "pdf", "svg", "ps", "cairo", "template"):
        pyplot.show()


def to_networkx(m, edge_attribute="weight"):
    """A networkx.DiGraph with an edge i -> j for every entry m(i, j), its value under `edge_attribute`."""
    from .io import to_networkx as convert

    return convert(m, edge_attribute=edge_attribute)


def to_scipy_sparse(A, format="csr"):
    """A SciPy sparse array with the entries of A."""
    from .io import to_scipy_sparse as convert

    return convert(A, format=format)


def draw(m, *, show=True, ax=None, seed=1, **kwargs):
    """Draw the graph of a small matrix: a node per row, an arrow per entry, labelled with its value.

    m: a square Matrix, or a Graph of grb_tile.algorithms, whose labels the nodes have.
    ax: matplotlib's axes to draw on, the current ones without.  show: open a window, where matplotlib has one.
    seed: where the layout starts.  Further keywords go to networkx.draw_networkx.
    """
    networkx, pyplot = _needs("draw", "networkx", "matplotlib.pyplot")
    names, m = getattr(m, "labels", None), getattr(m, "A", m)
    if m.nrows != m.ncols:
        raise ValueError(f"draw needs a square Matrix, for its rows and columns are one set of nodes; got {m.shape}")
    rows, columns, values = m.to_coo()
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(m.nrows))
    for i, j, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
        graph.add_edge(i, j, weight=value)
    place = networkx.spring_layout(graph, seed=seed)
    ax = pyplot.gca() if ax is None else ax
    options = {"node_color": "lightblue", "connectionstyle": "arc3,rad=0.1"} | kwargs
    if names is not None:
        options.setdefault("labels", {k: str(name) for k, name in enumerate(names)})
    networkx.draw_networkx(graph, place, ax=ax, **options)
    labels = networkx.get_edge_attributes(graph, "weight")
    networkx.draw_networkx_edge_labels(graph, place, edge_labels=labels, ax=ax)
    ax.set_axis_off()
    _show(pyplot, show)


def spy(M, *, centered=False, show=True, figure=None, axes=None, figsize=None, **kwargs):
    """Plot the pattern of M: a mark at (column, row) of every entry, rows downwards.  Returns the figure.

    centered: positions count from the middle.  figure, axes, figsize: where to draw.  Further keywords go to
    matplotlib's scatter.
    """
    pyplot = _needs("spy", "matplotlib.pyplot")
    rows, columns, _ = M.to_coo(values=False)
    rows, columns = rows.astype(np.int64), columns.astype(np.int64)
    if axes is None:
        figure = pyplot.figure(figsize=figsize) if figure is None else figure
        axes = figure.add_subplot()
    ax = axes
    size = max(M.nrows, M.ncols, 1)
    options = {"marker": "s", "s": max(1.0, (250.0 / size) ** 2), "linewidths": 0} | kwargs
    top, left = (M.nrows / 2, M.ncols / 2) if centered else (0, 0)
    ax.scatter(columns - left, rows - top, **options)
    ax.set_xlim(-0.5 - left, M.ncols - 0.5 - left)
    ax.set_ylim(M.nrows - 0.5 - top, -0.5 - top)
    ax.set_aspect("equal")
    ax.xaxis.tick_top()
    _show(pyplot, show)
    return ax.figure


def datashade(M, agg="count", *, width=None, height=None, opts_kwargs=None, show=True, ax=None, **kwargs):
    """Show a large matrix as an image of width x height cells, each with a figure of the entries that fall into it.

    width, height: 400 unless given.  agg: "count" of the entries, or the "sum", "max", "min" or "mean" of their values.
    opts_kwargs and further keywords go to matplotlib's imshow.  Returns the axes.
    """
    pyplot = _needs("datashade", "matplotlib.pyplot")
    image = _binned(M, agg, min(height or 400, max(M.nrows, 1)), min(width or 400, max(M.ncols, 1)))
    ax = pyplot.gca() if ax is None else ax
    options = {"cmap": "viridis", "interpolation": "nearest", "aspect": "auto"} | (opts_kwargs or {}) | kwargs
    shown = ax.imshow(image, extent=(0, M.ncols, M.nrows, 0), **options)
    ax.figure.colorbar(shown, ax=ax, label=agg)
    ax.xaxis.tick_top()
    _show(pyplot, show)
    return ax


def tiles(A, nt=16, *, width=400, show=True, ax=None, **kwargs):
    """Show how full the nt x nt tiles of A are: entries in each tile that holds any, in a cell of the image.

    Where A has more tiles than `width` along an axis, a cell is the mean over its tiles that hold entries.  The title
    gives the number of these tiles and their mean.  Further keywords go to matplotlib's imshow.  Returns the axes.
    Raises: ValueError unless nt and width are at least 1.
    """
    for name, value in (("nt", nt), ("width", width)):
        if not value >= 1:
            raise ValueError(f"{name}: expected 1 or more, got {value!r}")
    pyplot = _needs("tiles", "matplotlib.pyplot")
    rows, columns, _ = A.to_coo(values=False)
    down, across = -(-A.nrows // nt), -(-A.ncols // nt)
    held, entries = np.unique(rows.astype(np.int64) // nt * across + columns.astype(np.int64) // nt, return_counts=True)
    height, wide = min(width, max(down, 1)), min(width, max(across, 1))
    cell = (held // max(across, 1)) * height // max(down, 1) * wide + (held % max(across, 1)) * wide // max(across, 1)
    count = np.bincount(cell, minlength=height * wide)
    total = np.bincount(cell, weights=entries, minlength=height * wide)
    image = np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(height, wide)
    ax = pyplot.gca() if ax is None else ax
    options = {"cmap": "viridis", "interpolation": "nearest", "aspect": "auto", "vmin": 1, "vmax": nt * nt} | kwargs
    shown = ax.imshow(image, extent=(0, max(A.ncols, 1), max(A.nrows, 1), 0), **options)
    ax.figure.colorbar(shown, ax=ax, label="entries in a tile")
    mean = f", {A.nvals / len(held):.2f} entries each" if len(held) else ""
    ax.set_title(f"{len(held):,} of {down * across:,} tiles of {nt} x {nt}{mean}", loc="left", fontsize=10)
    _show(pyplot, show)
    return ax


def degrees(G, *, show=True, ax=None, **kwargs):
    """Plot how many vertices have each degree (entries of a row), on logarithmic axes.  Returns the axes.

    G: a Matrix, or a Graph of grb_tile.algorithms.  Vertices without entries are counted in the title.  Further
    keywords go to matplotlib's plot.
    """
    from . import agg

    pyplot = _needs("degrees", "matplotlib.pyplot")
    A = getattr(G, "A", G)
    counts = A.reduce_rowwise(agg.count).new().to_coo(indices=False)[1]
    present, vertices = np.unique(counts, return_counts=True)
    ax = pyplot.gca() if ax is None else ax
    ax.plot(present, vertices, **({"marker": "o", "markersize": 3, "linestyle": ""} | kwargs))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("degree")
    ax.set_ylabel("vertices")
    ax.set_title(f"{A.nrows:,} vertices, {A.nrows - len(counts):,} of degree 0", loc="left", fontsize=10)
    _show(pyplot, show)
    return ax


def frontier(found, *, show=True, ax=None):
    """Plot the vertices that each level of a search begins with; the colour is the direction, push or pull.

    found: the result of algorithms.bfs or sssp, or its report.  Returns the axes.
    Raises: ValueError when the report has no frontiers, as that of PageRank.
    """
    pyplot = _needs("frontier", "matplotlib.pyplot")
    rounds = getattr(found, "report", found).rounds
    if not rounds or any("frontier" not in record for record in rounds):
        raise ValueError(f"found: expected a search with a frontier in each round, got {found!r:.80}")
    ax = pyplot.gca() if ax is None else ax
    kinds = [str(record.get("direction", "push")).split(",")[0] for record in rounds]
    for kind in dict.fromkeys(kinds):
        places = [k for k, each in enumerate(kinds) if each == kind and rounds[k]["frontier"] is not None]
        ax.bar(places, [rounds[k]["frontier"] for k in places], label=kind)
    ax.set_yscale("log")
    ax.set_xlabel("level")
    ax.set_ylabel("vertices in the frontier")
    ax.legend()
    _show(pyplot, show)
    return ax


def timeline(report, *, show=True, ax=None):
    """Plot when each plan of `gb.explain(last=...)` ran and for how long, a row for each method.  Returns the axes.

    Raises: ValueError when no plan of the report is complete.

    >>> import grb_tile as gb
    >>> axes = gb.viz.timeline(gb.explain(last=20))     # doctest: +SKIP
    """
    pyplot = _needs("timeline", "matplotlib.pyplot")
    plans = [plan for plan in report if plan.seconds is not None]
    if not plans:
        raise ValueError("report: no plan of it is complete; run products first, then pass gb.explain(last=20)")
    ax = pyplot.gca() if ax is None else ax
    begin = min(plan.started for plan in plans)
    kinds = list(dict.fromkeys(f"{plan.operation}: {plan.method}" for plan in plans))
    for row, kind in enumerate(kinds):
        spans = [
            ((plan.started - begin) * 1e3, plan.seconds * 1e3)
            for plan in plans
            if f"{plan.operation}: {plan.method}" == kind
        ]
        ax.broken_barh(spans, (row - 0.4, 0.8), facecolors=f"C{row % 10}")
    ax.set_yticks(range(len(kinds)), kinds)
    ax.invert_yaxis()
    ax.set_xlabel("ms")
    _show(pyplot, show)
    return ax


def _binned(A, agg, height, width):
    rows, columns, values = A.to_coo()
    i = (rows.astype(np.float64) * height / max(A.nrows, 1)).astype(np.int64)
    j = (columns.astype(np.float64) * width / max(A.ncols, 1)).astype(np.int64)
    cell = i * width + j
    count = np.bincount(cell, minlength=height * width).astype(np.float64)
    if agg == "count":
        image = count
    elif agg in ("sum", "mean"):
        image = np.bincount(cell, weights=values.astype(np.float64), minlength=height * width)
        if agg == "mean":
            image = image / np.maximum(count, 1)
    elif agg in ("max", "min"):
        image = np.full(height * width, -np.inf if agg == "max" else np.inf)
        getattr(np, f"{agg}imum").at(image, cell, values.astype(np.float64))
    else:
        raise ValueError(f'agg must be "count", "sum", "mean", "max" or "min"; got {agg!r}')
    return np.where(count > 0, image, np.nan).reshape(height, width)


__all__ = [
    "datashade", "degrees", "draw", "frontier", "spy", "tiles", "timeline", "to_networkx", "to_scipy_sparse",
]  # fmt: skip
