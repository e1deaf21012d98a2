"""The table of values through pandas, once a program has imported it: pandas' display options limit what is shown.

pandas is never imported from here; without it display.py draws the same table itself.
"""

import sys

import numpy as np

from . import display_grid

WIDEST = 150  # columns offered where pandas fits them to the terminal


def _ends(length, fewest, most):
    """(labels, {index of a label: position}) of what can be shown: all, or both ends and enough for pandas to cut."""
    if length <= most:
        return list(range(length)), dict(enumerate(range(length)))
    half = fewest // 2
    labels = list(range(most + 1))
    labels[most + 1 - half :] = range(length - half, length)
    places = {k: k for k in range(half)} | {most + 1 - half + k: length - half + k for k in range(half)}
    return labels, places


def _cell(value, mask):
    if mask is not None:
        return int((mask.structure or bool(value)) != mask.complement)
    if isinstance(value, np.inexact) and np.isnan(value):
        return "nan"
    return value.item() if isinstance(value, np.generic) else value.tolist()


def frame(x, mask=None):
    """A pandas DataFrame of what is shown of a vector or matrix; None unless pandas is loaded."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "options"):
        return None
    options = pandas.options.display
    most_rows, fewest_rows = options.max_rows or sys.maxsize, options.min_rows or options.max_rows
    most_columns = WIDEST if options.max_columns == 0 else options.max_columns or sys.maxsize
    shape = (1, *x.shape) if x.ndim == 1 else x.shape
    rows, row_places = _ends(shape[0], fewest_rows, most_rows)
    columns, column_places = _ends(shape[1], most_columns, most_columns)
    table = np.full((len(rows), len(columns)), "", object)
    row_of = {position: place for place, position in row_places.items()}
    column_of = {position: place for place, position in column_places.items()}
    entries = display_grid.entries(x, list(row_of), list(column_of))
    for i, j, value in entries:
        table[row_of[i], column_of[j]] = _cell(value, mask)
    count = x.nvals if x.nvals <= most_rows else fewest_rows
    if table.shape != shape and min(x.nvals, count) > 2 * len(entries):
        return _list(pandas, x, mask, count)
    if x.ndim == 1:
        return pandas.DataFrame(table, index=["value"], columns=pandas.Index(columns, name="index"))
    return pandas.DataFrame(table, index=rows, columns=columns)


def _list(pandas, x, mask, count):
    """The first entries as a list, where a grid would show next to nothing."""
    *positions, values = display_grid.first_entries(x, count, mask)
    names = ["index", "val"] if x.ndim == 1 else ["row", "col", "val"]
    if mask is not None:
        values = [_cell(value, mask) for value in values]
    elif values.ndim > 1 or values.dtype.names:
        values = list(values)
    data = pandas.DataFrame(dict(zip(names, [*positions, values], strict=True)))
    if count < x.nvals:
        data.loc["..."] = ["..."] * len(names)
    return data


def as_text(x, mask=None):
    """The table as text, or None unless pandas is loaded."""
    return _rendered(x, mask, "__repr__")


def as_html(x, mask=None):
    """The table as HTML, or None unless pandas is loaded."""
    return _rendered(x, mask, "_repr_html_")


def _rendered(x, mask, method):
    data = frame(x, mask)
    if data is None:
        return None
    if method == "_repr_html_" and data.columns.name == "index":  # a row of cells needs no words there
        data = data.set_axis([""]).rename_axis(columns=None)
    context = sys.modules["pandas"].option_context("display.show_dimensions", False, "display.large_repr", "truncate")
    with context:
        return getattr(data, method)()
