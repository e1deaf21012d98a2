"""Writing edge lists: `source target [weight]` lines, CSV with a header, and DIMACS shortest-path files."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.core.arguments import flags, flags_or_none
from grb_tile.dtypes import BUILTIN
from grb_tile.io.labels import matrix_and_labels
from grb_tile.io.streams import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grb_tile.core.matrix import Matrix

    from .annotations import Writable

LINES = 1 << 17  # lines formatted at a time


def write_edge_list(
    target: Writable,
    matrix: Any,
    *,
    weights: bool | None = None,
    delimiter: str = " ",
    base: int = 0,
    labels: Sequence[Any] | None = None,
    comment: bool = True,
) -> None:
    """Write the entries of `matrix` by rows, a line `row col [value]` each; compressed as the ending says (.gz ...).

    Parameters
    ----------
    target : path or file open for writing bytes
    matrix : Matrix of a built-in type; or a Graph or what a reader gave, with its labels
    weights : write the values?  None: yes, except for a BOOL matrix whose entries are all true
    delimiter : between the columns; with a comma the first line is `source,target[,weight]`
    base : number of the first row and column, 0 or 1
    labels : labels of rows and columns, written in place of numbers; None: those of a Graph or of what was read
    comment : begin with a comment that states shape and type for read_edge_list (never in CSV, which has no comments)

    Raises: ValueError for labels that the format cannot hold, or too few of them; TypeError for user-defined types.

    >>> import io, grb_tile as gb
    >>> file = io.BytesIO()
    >>> gb.io.write_edge_list(file, gb.Matrix.from_coo([0], [1], [2.5], nrows=2, ncols=2))
    >>> print(file.getvalue().decode(), end="")
    # grb_tile: 2 rows, 2 columns, from 0, FP64
    0 1 2.5
    """
    flags(comment=comment)
    flags_or_none(weights=weights)
    if isinstance(base, bool) or base not in (0, 1):
        raise ValueError(f"base must be 0 or 1, not {base!r}")
    matrix, own = matrix_and_labels(matrix)
    labels = own if labels is None else labels
    rows, cols, values = _entries(matrix)
    weights = not (matrix.dtype.name == "BOOL" and values.all()) if weights is None else weights
    if labels is None:
        ends = [(rows + base).tolist(), (cols + base).tolist()]
    else:
        if len(labels) < max(matrix.shape):
            raise ValueError(f"labels has {len(labels)} names for a matrix of shape {matrix.shape}")
        texts = [_quoted(str(label), delimiter) for label in labels]
        ends = [[texts[k] for k in end.tolist()] for end in (rows, cols)]
    head = ""
    if delimiter == ",":
        head = "source,target,weight\n" if weights else "source,target\n"
    elif comment:
        ends_are = f"{matrix.nrows} rows, {matrix.ncols} columns, from {base}"
        if labels is not None:
            ends_are = "numbers" if all(isinstance(label, (int, np.integer)) for label in labels) else "names"
        head = f"# grb_tile: {ends_are}, {matrix.dtype.name}\n"
    _write(target, head, delimiter.join(["%s"] * (3 if weights else 2)), *ends, *([values.tolist()] * weights))


def write_dimacs(target: Writable, matrix: Matrix) -> None:
    """Write a square matrix as a DIMACS shortest-path file: `p sp VERTICES ARCS`, then lines `a u v weight`, from 1.

    Raises: ValueError for a matrix that is not square.
    Reference: the 9th DIMACS Implementation Challenge, file formats.
    """
    if matrix.nrows != matrix.ncols:
        raise ValueError(
            f"DIMACS files hold graphs, whose matrix is square; this one is {matrix.nrows} by {matrix.ncols}"
        )
    rows, cols, values = _entries(matrix)
    if matrix.dtype.name == "BOOL":
        values = values.astype(int)
    head = f"c grb_tile: {matrix.nrows} rows, {matrix.ncols} columns, from 1, {matrix.dtype.name}\n"
    head += f"p sp {matrix.nrows} {matrix.nvals}\n"
    _write(target, head, "a %s %s %s", (rows + 1).tolist(), (cols + 1).tolist(), values.tolist())


def _entries(matrix):
    if matrix.dtype not in BUILTIN:
        raise TypeError(f"edge lists do not support the user-defined type {matrix.dtype.name}")
    return matrix.to_coo()


def _write(target, head, line, *columns):
    with Target(target) as out:
        out.stream.write(head.encode())
        items = zip(*columns, strict=True)
        while chunk := list(itertools.islice(items, LINES)):
            out.stream.write("".join([f"{line}\n" % item for item in chunk]).encode())


def _quoted(label, delimiter):
    """The label, in quotation marks where a reader that detects the delimiter needs them.

    Raises: ValueError for a label that quotation marks cannot protect.
    """
    impossible = not label or label.strip() != label or "\n" in label or "\r" in label
    blanks = delimiter.isspace() and delimiter != "\t"
    if not impossible and not label.startswith(("#", "%", "//")) and '"' not in label:
        if not any(mark in label for mark in (delimiter, *"\t;,")) and not (blanks and len(label.split()) > 1):
            return label
    if impossible or blanks:
        raise ValueError(f"the label {label!r} cannot be written with the delimiter {delimiter!r}: pass delimiter=','")
    return '"' + label.replace('"', '""') + '"'
