"""Reading and writing files of any supported format, recognised by content, otherwise by ending."""

from __future__ import annotations

import os
from collections import namedtuple
from typing import TYPE_CHECKING, Any, cast

from grb_tile.io.edge_list import matrix_from_edges, read_edges, write_edge_list
from grb_tile.io.matrix_market import mmread, mmwrite
from grb_tile.io.npz import load_npz, save_npz
from grb_tile.io.serialize import MAGIC, load, save
from grb_tile.io.streams import Source

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.scalar import Scalar
    from grb_tile.core.vector import Vector

    from .annotations import DupOp, PathLike

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

Read = namedtuple("Read", "obj labels format base")
Read.__doc__ = """The result of `read`: the object, `labels` of its rows (a list) or None, the file's format,
and `base`, the number of the first node in the file (0 in formats other than edge lists)."""


def detect_format(path: PathLike) -> str:
    """ "mtx", "grb", "npz" or "edges"; by the first bytes, after decompression.

    Raises FileNotFoundError, or IsADirectoryError, as open does.
    """
    with Source(path) as source:
        head = source.read(64)
    if head.startswith(MAGIC):
        return "grb"
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if head.lstrip().lower().startswith((b"%%matrixmarket", b"%matrixmarket")) or _ending(path) == ".mtx":
        return "mtx"
    return "edges"


def _ending(path):
    name = os.fspath(path).lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[1]


def read(
    path: PathLike,
    *,
    format: str | None = None,
    dup_op: DupOp | None = None,
    progress: bool | None = None,
    **edge_options: Any,
) -> Read:
    """Read(obj, labels, format, base) from a Matrix Market file, an edge list, a .npz or a .grb file.

    Parameters
    ----------
    path : path of the file; text formats may be compressed (.gz, .bz2, .xz)
    format : "mtx", "edges", "npz" or "grb"; None: as detect_format says
    dup_op : how equal entries combine, where the format permits them
    edge_options : of read_edge_list (weights, labels, base, directed, delimiter, size)
    """
    format = format or detect_format(path)
    if format == "mtx":
        return Read(mmread(path, dup_op=dup_op, progress=progress), None, format, 0)
    if format == "edges":
        directed = edge_options.pop("directed", True)
        edges = read_edges(path, progress=progress, **edge_options)
        matrix = matrix_from_edges(edges, directed=directed, dup_op=dup_op)
        return Read(matrix, edges.labels, format, edges.base if edges.labels is None else 0)
    if format == "npz":
        return Read(load_npz(path, dup_op=dup_op), None, format, 0)
    if format == "grb":
        return Read(load(path), None, format, 0)
    raise ValueError(f"unknown format {format!r}: expected mtx, edges, npz or grb")


def write(path: PathLike, obj: Matrix | Vector | Scalar, *, format: str | None = None, **options: Any) -> None:
    """Write `obj` in the format of the path's ending: .mtx, .grb, .npz, or an edge list (.txt, .csv, .el ...)."""
    ending = _ending(path)
    if format is None:
        if ending not in ENDINGS:
            raise ValueError(
                f"{os.fspath(path)}: cannot tell the format from the ending {ending!r}: "
                f"use one of {', '.join(sorted(ENDINGS))}"
            )
        format = ENDINGS[ending][0]
    if format == "grb":
        save(obj, path, **options)
        return
    if len(obj.shape) != 2:
        raise TypeError(f"{format} files hold matrices, not a {type(obj).__name__}: use .grb")
    matrix = cast("Matrix", obj)
    if format == "mtx":
        mmwrite(path, matrix, **options)
    elif format == "npz":
        save_npz(path, matrix, **options)
    elif format == "edges":
        write_edge_list(
            path, matrix, delimiter="," if ending == ".csv" else "\t" if ending == ".tsv" else " ", **options
        )
    else:
        raise ValueError(f"unknown format {format!r}: expected mtx, edges, npz or grb")
