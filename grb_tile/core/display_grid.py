"""The table of values of a vector or matrix as text: which positions are shown, and how they are laid out."""

import numpy as np

from ..backends.select import current

MAX_ROWS, MIN_ROWS = 60, 10  # rows shown; rows shown of a longer matrix
MAX_COLUMNS = 20
WIDTH = 100  # characters


def shown_positions(length, most, fewest):
    """Positions along a dimension to show; None stands for those left out."""
    if length <= most:
        return list(range(length))
    half = fewest // 2
    return [*range(half), None, *range(length - half, length)]


def cells(x, mask, rows, columns):
    """{(row, column): text} of the entries at the shown positions, for a vector with row 0."""
    rows, columns = ([k for k in keys if k is not None] for keys in (rows, columns))
    return {(i, j): cell_text(v, mask) for i, j, v in entries(x, rows, columns)}


def entries(x, rows, columns):
    """[(row, column, value)] at these positions, for a vector with row 0."""
    if not (rows and columns):
        return []
    if x.ndim == 1:
        at, values = current().tuples_vector(current().gather_vector(x._store, np.array(columns, np.int64)))
        return [(0, columns[k], v) for k, v in zip(at, values, strict=True)]
    transposed = x._is_transposed
    store = x._matrix._store if transposed else x._store
    first, second = (columns, rows) if transposed else (rows, columns)
    found = current().gather_matrix(store, np.array(first, np.int64), np.array(second, np.int64))
    triples = [(first[a], second[b], v) for a, b, v in zip(*current().tuples_matrix(found), strict=True)]
    return [(b, a, v) for a, b, v in triples] if transposed else triples


def cell_text(value, mask=None):
    """A value as it is shown; under a mask 1 where writing is permitted, else 0."""
    if mask is not None:
        allowed = mask.structure or bool(value)
        return str(int(allowed != mask.complement))
    if isinstance(value, np.floating):
        if np.isnan(value):
            return "nan"
        text = f"{value:.6f}" if 1e-4 <= abs(float(value)) < 1e7 or value == 0 else f"{value:.6g}"
        if "." in text and "e" not in text:
            text = text.rstrip("0")
            text += "0" if text.endswith(".") else ""
        return text
    return str(value.item() if isinstance(value, np.generic) and value.dtype.kind in "biuc" else value)


def first_entries(x, count, mask=None):
    """(positions..., values) of the first `count` entries; under a value mask, of those that are true."""
    *positions, values = x._tuples()
    if mask is not None and not mask.structure:
        true = np.flatnonzero(values)[:count]
        return [*(p[true] for p in positions), values[true]]
    return [*(p[:count] for p in positions), values[:count]]


def grid(x, mask=None, width=WIDTH):
    """(corner, column labels, row labels, rows of texts) of a grid, or of a list of entries that shows more."""
    if x.ndim == 1:
        rows, columns = [0], shown_positions(x.shape[0], MAX_COLUMNS, MAX_COLUMNS)
    else:
        rows = shown_positions(x.shape[0], MAX_ROWS, MIN_ROWS)
        columns = shown_positions(x.shape[1], MAX_COLUMNS, MAX_COLUMNS)
    table = cells(x, mask, rows, columns)
    cut = None in rows or None in columns
    count = x.nvals if x.nvals <= MAX_ROWS else MIN_ROWS
    if cut and min(x.nvals, count) > 2 * len(table):
        return _entry_list(x, mask, count)
    columns = _fitting(columns, table, width)
    body = [["..." if i is None or j is None else table.get((i, j), "") for j in columns] for i in rows]
    labels = ["value"] if x.ndim == 1 else ["..." if i is None else str(i) for i in rows]
    return "index" if x.ndim == 1 else "", ["..." if j is None else str(j) for j in columns], labels, body


def _entry_list(x, mask, count):
    *positions, values = first_entries(x, count, mask)
    names = ["index", "val"] if x.ndim == 1 else ["row", "col", "val"]
    body = [[*(str(p[k]) for p in positions), cell_text(values[k], mask)] for k in range(len(values))]
    labels = [str(k) for k in range(len(values))]
    if count < x.nvals:
        body.append(["..."] * len(names))
        labels.append("...")
    return "", names, labels, body


def _fitting(columns, table, width):
    """As many of the shown columns, from both ends, as fit into `width` characters."""
    widths = {j: len(str(j)) for j in columns if j is not None}
    for (_, j), text in table.items():
        widths[j] = max(widths[j], len(text))
    known = [j for j in columns if j is not None]
    if sum(widths[j] + 2 for j in known) + 8 <= width or len(known) < 3:
        return columns
    left, right, used = [], [], 12
    low, high = 0, len(known) - 1
    while low <= high:
        j = known[low] if len(left) <= len(right) else known[high]
        if used + widths[j] + 2 > width:
            break
        used += widths[j] + 2
        if len(left) <= len(right):
            left.append(j)
            low += 1
        else:
            right.append(j)
            high -= 1
    return [*left, None, *reversed(right)] if low <= high else columns


def format_grid(corner, columns, labels, body):
    """The grid as text, laid out as pandas does: columns to the right, one more space before numbers."""
    stub = max(map(len, [corner, *labels]), default=0)
    body = [[text if text in ("", "...") else f" {text}" for text in row] for row in body]
    widths = [max([len(columns[k])] + [len(row[k]) for row in body if row[k] != "..."]) for k in range(len(columns))]
    least = 2 if "..." in labels else 0  # the width of ".."
    widths = [4 if name == "..." else max(w, least) for w, name in zip(widths, columns, strict=True)]
    lines = [corner.ljust(stub) + "".join(" " + name.rjust(w) for name, w in zip(columns, widths, strict=True))]
    for label, row in zip(labels, body, strict=True):
        cut = label == "..."
        row = [".." if cut and w < 3 else text for text, w in zip(row, widths, strict=True)]
        label = ".." if cut and stub < 3 else label
        lines.append(label.ljust(stub) + "".join(" " + text.rjust(w) for text, w in zip(row, widths, strict=True)))
    return "\n".join(lines)
