"""Reading and writing files of any supported format, recognised by content, otherwise by ending."""

from __future__ import annotations

import os
from collections import namedtuple
from typing import TYPE_CHECKING, Any

from grb_tile.core.arguments import flags_or_none
from grb_tile.io.edge_list import matrix_from_edges, read_edges
from grb_tile.io.edge_write import write_dimacs, write_edge_list
from grb_tile.io.labels import labels_text, matrix_and_labels, matrix_counted_from_one
from grb_tile.io.matrix_market import mmread, mmwrite
from grb_tile.io.metis import read_metis
from grb_tile.io.npz import load_npz, save_npz
from grb_tile.io.serialize import MAGIC, load, save
from grb_tile.io.streams import opened

if TYPE_CHECKING:
    from .annotations import DupOp, PathLike, Readable

FORMATS = ("mtx", "edges", "metis", "npz", "grb")
METIS_ENDINGS = (".graph", ".metis")  # a METIS file begins with two numbers, as an edge list does
COMPRESSED = (".gz", ".bz2", ".xz")
# ending: (format, description)
ENDINGS = {
    ".mtx": ("mtx", "Matrix Market"),
    ".grb": ("grb", "grb_tile's own format"),
    ".npz": ("npz", "scipy.sparse.save_npz"),
    ".txt": ("edges", "edge list"),
    ".el": ("edges", "edge list"),
    ".wel": ("edges", "edge list with weights"),
    ".csv": ("edges", "edge list"),
    ".tsv": ("edges", "edge list"),
    ".edges": ("edges", "edge list"),
    ".gr": ("edges", "DIMACS graph"),
}


class Read(namedtuple("Read", "obj labels format base")):
    """The result of `read`: the object, `labels` of its rows (a list) or None, the file's format, and `base`, the
    number of the first node in the file (0 where `labels` has the numbers)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return (
            f"Read(format={self.format!r}, base={self.base!r}, labels={labels_text(self.labels)}, obj=\n{self.obj!r})"
        )


def detect_format(path: Readable) -> str:
    """ "mtx", "grb", "npz", "metis" or "edges", by the first bytes after decompression; "metis" by the ending.

    Raises: FileNotFoundError or IsADirectoryError, as `open`.
    """
    with opened(path) as source:
        return _format(source)


def _format(source):
    if source.head.startswith(MAGIC):
        return "grb"
    if source.head.startswith(b"PK\x03\x04"):
        return "npz"
    head = source.head[:64].lstrip().lower()
    if head.startswith((b"%%matrixmarket", b"%matrixmarket")) or ending_of(source.name) == ".mtx":
        return "mtx"
    return "metis" if ending_of(source.name) in METIS_ENDINGS else "edges"


def format_of_ending(path: PathLike) -> str:
    """The format in which `write` writes a file of this name.  Raises: ValueError for an unknown ending."""
    ending = ending_of(path)
    if ending not in ENDINGS:
        raise ValueError(
            f"{os.fsdecode(path)}: cannot tell the format from the ending {ending!r}: "
            f"use one of {', '.join(sorted(ENDINGS))}"
        )
    return ENDINGS[ending][0]


def ending_of(path: PathLike) -> str:
    """The ending of the path in lower case, without that of a compression."""
    name = os.fsdecode(path).lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[1]


def read(
    path: Readable,
    *,
    format: str | None = None,
    dup_op: DupOp | None = None,
    progress: bool | None = None,
    **edge_options: Any,
) -> Read:
    """Read(obj, labels, format, base) from a Matrix Market file, an edge list, a METIS, .npz or .grb file.

    Parameters
    ----------
    path : path of the file, or an open file; text formats may be compressed (.gz, .bz2, .xz).  It is opened once, so
        that a pipe can be read
    format : "mtx", "edges", "metis", "npz" or "grb"; None: detect_format decides
    dup_op : combines duplicates, where the format permits them; None: an error, for edge lists see read_edge_list
    progress : True, False, or None: on stderr when that is a terminal and the file is large
    edge_options : of read_edge_list (weights, labels, base, directed, delimiter, header, size)

    Raises: ValueError for an unknown format; BadFile, or InvalidObject for .grb, when the file is damaged.
    """
    flags_or_none(progress=progress)
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: expected one of {', '.join(FORMATS)}")
    with opened(path) as source:
        format = format or _format(source)
        if format == "mtx":
            return Read(mmread(source, dup_op=dup_op, progress=progress), None, format, 0)
        if format == "metis":
            return Read(read_metis(source, dup_op=dup_op), None, format, 1)
        if format == "npz":
            return Read(*matrix_and_labels(load_npz(source, dup_op=dup_op)), format, 0)
        if format == "grb":
            return Read(*matrix_and_labels(load(source)), format, 0)
        directed = edge_options.pop("directed", None)
        edges = read_edges(source, progress=progress, **edge_options)
        matrix = matrix_from_edges(edges, directed=directed, dup_op=dup_op)
        return Read(matrix, edges.labels, format, edges.base if edges.labels is None else 0)


def write(path: PathLike, obj: Any, *, format: str | None = None, **options: Any) -> None:
    """Write `obj` in the format of the path's ending: .mtx, .grb, .npz, or an edge list (.txt, .csv, .el ...).

    obj : Matrix, Vector or Scalar; or a Graph or what a reader gave, with its labels
    options : of save, mmwrite, save_npz or write_edge_list
    Raises: ValueError for an unknown ending or format, and for labels that the format cannot hold; TypeError for a
    Vector or Scalar in another format than .grb.
    """
    if hasattr(path, "shape") or hasattr(path, "labels"):
        raise TypeError(f"path: expected the name of a file, got {type(path).__name__}; write gb.io.write(path, obj)")
    format = format_of_ending(path) if format is None else format
    if format == "grb":
        save(path, obj, **options)
        return
    matrix = matrix_and_labels(obj)[0]
    if len(matrix.shape) != 2:
        raise TypeError(f"{format} files hold matrices, not a {type(matrix).__name__}: use .grb")
    if format == "mtx":
        mmwrite(path, obj, **options)
    elif format == "npz":
        save_npz(path, obj, **options)
    elif format == "edges":
        ending = ending_of(path)
        if ending == ".gr":
            write_dimacs(path, matrix_counted_from_one(obj, "DIMACS"))
            return
        options.setdefault("delimiter", {".csv": ",", ".tsv": "\t"}.get(ending, " "))
        options.setdefault("comment", ending not in (".el", ".wel"))  # the readers of GAP's formats accept no comments
        options.setdefault("weights", True if ending == ".wel" else None)
        write_edge_list(path, obj, **options)
    else:
        raise ValueError(f"format {format!r} cannot be written: expected mtx, edges, npz or grb")
