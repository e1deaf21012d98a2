"""Edge lists: one edge per line, `source target [weight]`, in the dialects of SNAP, Konect, CSV files and DIMACS.

Whole numbers are vertices unless labels=True; other names are labels, numbered in order of appearance.  A list whose
numbers are not 0 .. n - 1 gets labels, too, so that the matrix has no vertex that the file does not have.
docs/FORMATS.md has the rules.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.core.arguments import flags_or_none
from grb_tile.io.build import matrix_of_edges
from grb_tile.io.dialect import dialect_of
from grb_tile.io.edge_chunks import LARGEST_SIZE, Chunks, joined_weights
from grb_tile.io.errors import bad_file
from grb_tile.io.labels import labels_text
from grb_tile.io.progress import Progress, wanted
from grb_tile.io.streams import HEAD, opened

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

    from .annotations import DTypeLike, DupOp, Readable

SPREAD = 4  # a table over the vertex numbers is used while it has at most SPREAD elements for each edge
SAMPLE, REPEATED = 1 << 16, 0.98  # numbers looked at; where fewer are distinct, a hash table is faster than a sort

Edges = namedtuple("Edges", "sources targets weights labels size base shape directed dtype")
Edges.__doc__ = """Arrays of an edge list: int64 `sources` and `targets`, `weights` or None, `labels` (a list, or a
range for numbers from 1) or None, `size`, `base`, the number of the first vertex in the file, `shape` of the matrix,
`directed` (False where the format says that an edge has no direction) and `dtype` (where a comment names it), or
None."""


class EdgeList(namedtuple("EdgeList", "matrix labels")):
    """A `matrix` and the `labels` of its rows and columns (a sequence), None where the file has indices."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"EdgeList(labels={labels_text(self.labels)}, matrix=\n{self.matrix!r})"


def read_edge_list(
    source: Readable,
    *,
    weights: bool | None = None,
    labels: bool | None = None,
    base: int | None = None,
    directed: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    size: int | None = None,
    dtype: DTypeLike | None = None,
    dup_op: DupOp | None = None,
    name: str | None = None,
    progress: bool | None = None,
) -> EdgeList:
    """A(i, j) = weight of the edge i -> j; read from lines `i j` or `i j weight`.

    Parameters
    ----------
    source : path or open file, plain or .gz/.bz2/.xz
    weights : True, False or None; None: the column named weight, or the third one, if there is one; it must
        hold numbers
    labels : True (every name is a label), False (whole numbers only, which are indices) or None: detected
    base : 0 or 1: vertices are indices from there on; None: detected
    directed : False enters each edge in both directions; None: False for DIMACS `edge` files
        and Konect's `sym` files, else True
    delimiter : what separates the columns; None: detected (tab, semicolon, comma or blanks)
    header : does the first line name the columns?  None: detected
    size : number of vertices (indices then count from base, or 0); default: as the file has them
    dtype : of the matrix; default INT64 (UINT64 beyond 2^63), FP64, FC64 or BOOL as the weights are written, BOOL (all
        true) without weights
    dup_op : combines the weights of repeated edges (gb.binary.plus, "first" ...); "error": they are an error; None: the
        minimum is stored, and a RepeatedEdges warning has their number.  Without weights they are one entry

    Returns
    -------
    EdgeList(matrix, labels)
        labels is None where the vertices are numbered 0 .. n - 1; range(1, n + 1) where they are from 1; a list of
        integers, ascending, where numbers are missing; a list of str, in order of appearance, for names.

    Raises
    ------
    BadFile : names the file, the line and what is wrong with it

    >>> import io
    >>> from grb_tile.io import read_edge_list
    >>> A, labels = read_edge_list(io.StringIO("# who knows whom\\nann bob 2\\nbob cyd 5\\n"))
    >>> A.nvals, A.dtype.name, labels
    (2, 'INT64', ['ann', 'bob', 'cyd'])
    >>> A, labels = read_edge_list(io.StringIO("1 2\\n2 3\\n"))
    >>> A.shape, labels
    ((3, 3), range(1, 4))
    """
    flags_or_none(directed=directed)
    edges = read_edges(
        source,
        weights=weights,
        labels=labels,
        base=base,
        delimiter=delimiter,
        header=header,
        size=size,
        progress=progress,
    )
    return EdgeList(matrix_from_edges(edges, directed=directed, dtype=dtype, dup_op=dup_op, name=name), edges.labels)


def matrix_from_edges(
    edges: Edges,
    *,
    directed: bool | None = None,
    dtype: DTypeLike | None = None,
    dup_op: DupOp | None = None,
    name: str | None = None,
) -> Matrix:
    """The Matrix of the arrays `edges`; the options are those of read_edge_list."""
    flags_or_none(directed=directed)
    if directed is False and edges.shape[0] != edges.shape[1]:
        raise ValueError(
            f"directed=False: the file's matrix has {edges.shape[0]} rows and {edges.shape[1]} columns, which are no "
            "vertices of one graph; leave it out"
        )
    return matrix_of_edges(
        edges.shape,
        edges.sources,
        edges.targets,
        edges.weights,
        directed=bool(edges.directed if directed is None else directed),
        dtype=dtype or edges.dtype,
        dup_op=dup_op,
        name=name,
    )


def read_edges(
    source: Readable,
    *,
    weights: bool | None = None,
    labels: bool | None = None,
    base: int | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    size: int | None = None,
    progress: bool | None = None,
) -> Edges:
    """The arrays of an edge list; the options are those of read_edge_list."""
    flags_or_none(weights=weights, labels=labels, header=header, progress=progress)
    if isinstance(base, bool) or base not in (None, 0, 1):
        raise ValueError(f"base must be 0 or 1, not {base!r}")
    with (
        opened(source) as stream,
        Progress(f"Reading {stream.name}", stream.size, wanted(progress, stream.size)) as bar,
    ):
        complete = len(stream.head) < HEAD
        dialect = dialect_of(stream.head, complete, stream.name, delimiter=delimiter, header=header, weights=weights)
        first = dialect.base if dialect.kind is not None or base is None else base
        reader = Chunks(stream.name, dialect, dialect.named or None if labels is None else labels, first or 0)
        for text in stream.lines_in_chunks():
            reader.take(text)
            bar.update(stream.done)
        given = first is not None or size is not None or labels is False
        return _finished(reader, given, size)


def _finished(reader, given, size):
    """The Edges of all chunks.  given: numbers are indices, because the caller or the file states their base."""
    name, dialect = reader.name, reader.dialect
    rows = np.concatenate([part[0] for part in reader.parts] or [np.zeros(0, np.int64)])
    cols = np.concatenate([part[1] for part in reader.parts] or [np.zeros(0, np.int64)])
    values = joined_weights([part[2] for part in reader.parts], name) if reader.weighted and reader.parts else None
    if dialect.edges is not None and rows.shape[0] != dialect.edges:
        raise bad_file(
            name,
            None,
            f"the file has {rows.shape[0]} edges, its header `p {dialect.kind}` {dialect.edges}",
            "The file is truncated, or its header is malformed",
        )
    base, labels = reader.base, None
    if reader.labels is not None:
        labels = _texts(reader.labels)
        count = len(labels)
    elif dialect.bipartite:
        count = int(rows.max(initial=-1)) + 1
    elif given:
        count = int(max(rows.max(initial=-1), cols.max(initial=-1))) + 1
    else:
        rows, cols, labels, count = numbered(rows, cols, dialect.nodes)
        base = 1 if isinstance(labels, range) else 0
    shape = dialect.shape if size is None and labels is None else None
    if dialect.bipartite and reader.labels is None and shape is None and size is None:
        shape = count, int(cols.max(initial=-1)) + 1
    shape = shape or (count if size is None else size,) * 2
    for what, ends, limit in (("row", rows, shape[0]), ("column", cols, shape[1])):
        if ends.max(initial=-1) >= limit:
            of = f"the {limit} vertices of " + ("size=" if size is not None else "the header")
            what = "vertex" if shape[0] == shape[1] else what
            raise bad_file(name, None, f"{what} {int(ends.max()) + base} is outside {of}", "Correct the size")
    if max(shape) > LARGEST_SIZE:
        raise bad_file(name, None, f"{max(shape)} vertices are more than 2**60", "Pass labels=True")
    dtype = _known_type(dialect, values, name)
    return Edges(rows, cols, values, labels, shape[0], base, shape, dialect.directed, dtype)


def _known_type(dialect, values, name):
    """The DataType in write_edge_list's comment, or None."""
    if dialect.type_name is None:
        return None
    from grb_tile.dtypes import BUILTIN

    found = next((dtype for dtype in BUILTIN if dtype.name == dialect.type_name), None)
    if found is None:
        names = ", ".join(dtype.name for dtype in BUILTIN)
        raise bad_file(name, None, f"unknown type {dialect.type_name} in the comment", f"Expected one of {names}")
    return found


def _texts(labels):
    """Labels as str: all as UTF-8, or all as Latin-1 where one is not UTF-8, so that none become equal."""
    try:
        return [label.decode() for label in labels]
    except UnicodeDecodeError:
        return [label.decode("latin-1") for label in labels]


def numbered(rows: Any, cols: Any, nodes: int | None) -> tuple[Any, Any, Any, int]:
    """(rows, cols, labels, count) with the vertices that occur numbered from 0; `nodes`: their count in a comment.

    Numbers 0 .. n - 1 are kept, without labels; 1 .. n get range(1, n + 1) as labels, others the list of them.
    """
    if not rows.shape[0]:
        return rows, cols, None, nodes or 0
    last = int(max(rows.max(), cols.max()))
    first = int(min(rows.min(), cols.min()))
    if nodes is not None and last < nodes:  # isolated vertices are part of the graph where the file counts them
        return rows, cols, None, nodes
    if nodes is not None and first and last == nodes:
        return rows - 1, cols - 1, range(1, nodes + 1), nodes
    if last > SPREAD * rows.shape[0] + 1024:
        codes, occur = _ranks(np.concatenate([rows, cols]))
        return codes[: rows.shape[0]], codes[rows.shape[0] :], occur.tolist(), occur.shape[0]
    marked = np.zeros(last + 1, bool)
    marked[rows] = marked[cols] = True
    occur = np.flatnonzero(marked)
    count = occur.shape[0]
    if first == 0 and last == count - 1:
        return rows, cols, None, count
    if first == 1 and last == count:
        return rows - 1, cols - 1, range(1, count + 1), count
    place = np.cumsum(marked) - 1
    return place[rows], place[cols], occur.tolist(), count


def _ranks(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the rank of each number among those that occur, those ascending): by pandas' hash table where many repeat."""
    some = numbers[:: max(numbers.shape[0] // SAMPLE, 1)]
    if np.unique(some).shape[0] < REPEATED * some.shape[0]:
        try:
            import pandas
        except ImportError:  # pragma: no cover
            pass
        else:
            codes, found = pandas.factorize(numbers)
            order = np.argsort(found)
            rank = np.empty_like(order)
            rank[order] = np.arange(order.shape[0])
            return rank[codes], found[order]
    order = np.argsort(numbers)
    ascending = numbers[order]
    fresh = np.concatenate([[True], ascending[1:] != ascending[:-1]])
    codes = np.empty(numbers.shape[0], np.int64)
    codes[order] = np.cumsum(fresh) - 1
    return codes, ascending[fresh]
