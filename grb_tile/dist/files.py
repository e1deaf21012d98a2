"""Files that ranks read and write together: each reads its share of the bytes, or files of its own.

A = gb.dist.read("graph.mtx")           # Matrix Market: cut at line ends
A = gb.dist.read("edges.txt")           # an edge list of whole numbers
gb.dist.write("graph.parts", A)         # a folder with a file of each rank
A = gb.dist.read("graph.parts")         # by any number of ranks
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import io as files
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import BOOL, lookup_dtype
from ..exceptions import InvalidValue
from ..io.dialect import dialect_of
from ..io.edge_chunks import Chunks, joined_weights
from ..io.errors import bad_file
from ..io.market_header import read_header
from ..io.market_read import read_share
from ..io.streams import HEAD, Source
from .build import distribute, from_coo
from .world import local, world

if TYPE_CHECKING:
    from ..core.annotations import DTypeLike, OperatorLike

INDEX = "parts.json"  # in a folder of parts: the class, shape, type and the first row of each part
COUNTED = 1 << 20  # bytes read at a time where lines are counted


def read(
    path: str | os.PathLike[str],
    *,
    dtype: DTypeLike | None = None,
    dup_op: OperatorLike | None = None,
    size: int | None = None,
    base: int | None = None,
    directed: bool = True,
    name: str | None = None,
) -> Any:
    """The distributed matrix in a file that every rank can read; each reads a share of it and has only its rows.

    path: Matrix Market (coordinate format), an edge list of whole numbers, or a folder of `write`.  Compressed files
        and other formats are read by rank 0 alone, which then needs the memory, and distributed.
    dup_op: combines repeated entries; None: an error in Matrix Market, the minimum in edge lists.
    size, base, directed: of edge lists: the number of vertices (by default one more than the greatest), the number of
        the first (by default 1 where 0 does not occur), False: each edge both ways.  Unlike `gb.io.read`, numbers
        that do not occur stay vertices without edges.
    Raises: BadFile with the line, FileNotFoundError ...; the error of any rank on all of them.
    Cost: bytes / ranks are read by each; each entry moves once.
    """
    backend = world()._backend
    kind, plain = backend.together(lambda: _kind(path), "read", Exception)
    if kind == "parts":
        return _read_parts(backend, Path(path), name)
    if kind == "mtx":
        return _read_market(backend, path, plain, dtype, dup_op, name)
    if kind == "edges":
        return _read_edges(backend, path, plain, dtype, dup_op, size, base, directed, name)

    def alone() -> Any:
        with local():
            if backend.rank != 0:
                return None
            found = files.read(path, dup_op=dup_op).obj
            return found if dtype is None else found.dup(dtype)

    return distribute(backend.together(alone, "read", Exception), name=name)


def write(path: str | os.PathLike[str], x: Matrix | Vector) -> None:
    """Write a distributed object to the folder `path`, a .grb file for each rank; `read` takes it, with any ranks.

    Raises: OSError, on every rank, where a rank cannot write.
    """
    backend, folder = world()._backend, Path(path)
    first, part = x.local

    def own() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with local():
            files.save(folder / f"part-{backend.rank:05}.grb", part)

    backend.together(own, "write", Exception)
    firsts = backend.comm.allgather(first, "write")
    if backend.rank == 0:
        about = {"class": type(x).__name__, "shape": x.shape, "dtype": x.dtype.name, "first_rows": firsts}
        (folder / INDEX).write_text(json.dumps(about), encoding="utf-8")
    backend.comm.barrier("write")


def _kind(path):
    """(format, can ranks read shares of its bytes?); "whole" is a format of which they cannot."""
    path = Path(path)
    if path.is_dir():
        if not (path / INDEX).is_file():
            raise InvalidValue(f"{path}: a folder without {INDEX}, which gb.dist.write makes")
        return "parts", True
    with Source(path) as source:
        found, plain = files.detect_format(source), source.plain_size is not None
        if found not in ("mtx", "edges") or found == "mtx" and read_header(source).format != "coordinate":
            found = "whole"
        return found, plain


class _Bytes(io.RawIOBase):
    """The bytes start .. stop - 1 of a file."""

    def __init__(self, path, start, stop):
        self.file, self.left = open(path, "rb"), max(0, stop - start)  # noqa: SIM115  (closed by close)
        self.file.seek(start)

    def readable(self):
        return True

    def readinto(self, into):
        data = self.file.read(min(len(into), self.left))
        into[: len(data)] = data
        self.left -= len(data)
        return len(data)

    def close(self):
        self.file.close()
        super().close()


def _share(path, begin, rank, size):
    """(start, stop): the bytes of whole lines of a rank, of those from `begin` on."""
    end = os.path.getsize(path)
    cuts = [begin + (end - begin) * r // size for r in (rank, rank + 1)]
    with open(path, "rb") as file:
        for k, cut in enumerate(cuts):
            if begin < cut < end:
                file.seek(cut - 1)
                file.readline()
                cuts[k] = min(file.tell(), end)
    return cuts[0], cuts[1]


def _lines_before(path, stop):
    with open(path, "rb") as file:
        count = 0
        while stop > 0 and (block := file.read(min(COUNTED, stop))):
            count, stop = count + block.count(b"\n"), stop - len(block)
    return count


def _read_market(backend, path, plain, dtype, dup_op, name):
    def share():
        with Source(path) as source:
            header = read_header(source)
            if not plain:
                with Source(io.BytesIO()) as nothing:
                    mine = source if backend.rank == 0 else nothing
                    return header, *read_share(mine, header, str(path), header.lines)
        with open(path, "rb") as file:
            for _ in range(header.lines):
                file.readline()
            begin = file.tell()
        start, stop = _share(path, begin, backend.rank, backend.size)
        with _Bytes(path, start, stop) as some, Source(some) as source:
            try:
                return header, *read_share(source, header, str(path), header.lines)
            except ValueError:
                if start == begin:
                    raise
        with _Bytes(path, start, stop) as some, Source(some) as source:  # again, for the right number of the line
            return header, *read_share(source, header, str(path), _lines_before(path, start))

    header, triples, count = backend.together(share, "read", Exception)
    total = backend.total(count, "read")
    if total != header.entries:
        raise bad_file(str(path), None, f"{total} entries, its header has {header.entries}", "The file is truncated")
    pattern = header.field == "pattern"
    if dtype is None:
        dtype = lookup_dtype(triples.values.dtype)
    values = np.ones((), lookup_dtype(dtype).np_type) if pattern else triples.values
    return from_coo(
        triples.rows, triples.cols, values, dtype, nrows=header.nrows, ncols=header.ncols, dup_op=dup_op, name=name
    )


def _read_edges(backend, path, plain, dtype, dup_op, size, base, directed, name):
    def share():
        with Source(path) as source:
            dialect = dialect_of(source.head, len(source.head) < HEAD, str(path))
            chunks = Chunks(str(path), dialect, False, 0)
            if not plain and backend.rank == 0:
                for text in source.lines_in_chunks():
                    chunks.take(text)
        start, stop = _share(path, 0, backend.rank, backend.size) if plain else (0, 0)
        if start:
            chunks.skip_header, chunks.lines = False, _lines_before(path, start)
        with _Bytes(path, start, stop) as some, Source(some) as source:
            for text in source.lines_in_chunks():
                chunks.take(text)
        parts = chunks.parts
        rows, cols = (np.concatenate([part[k] for part in parts] or [np.zeros(0, np.int64)]) for k in (0, 1))
        weights = joined_weights([part[2] for part in parts], str(path)) if chunks.weighted and parts else None
        return rows, cols, weights, chunks.weighted, dialect

    rows, cols, weights, weighted, dialect = backend.together(share, "read", Exception)
    least = int(min(rows.min(initial=1), cols.min(initial=1)))
    if base is None:
        base = min(backend.comm.allgather(least, "read")) if dialect.base is None else dialect.base
    rows, cols = rows - base, cols - base
    if not (directed and dialect.directed is not False):
        off = rows != cols
        rows, cols = np.concatenate([rows, cols[off]]), np.concatenate([cols, rows[off]])
        weights = weights if weights is None else np.concatenate([weights, weights[off]])
    if size is None:
        most = int(max(rows.max(initial=-1), cols.max(initial=-1))) + 1
        size = max(most for most in backend.comm.allgather(most, "read"))
    if not weighted:
        return from_coo(rows, cols, True, dtype or BOOL, nrows=size, ncols=size, name=name)
    kinds = backend.comm.allgather(None if weights is None else weights.dtype.str, "read")
    common = np.result_type(*[np.dtype(kind) for kind in kinds if kind] or [np.float64])
    weights = np.zeros(0, common) if weights is None else weights.astype(common)
    return from_coo(rows, cols, weights, dtype, nrows=size, ncols=size, dup_op=dup_op or "min", name=name)


def _read_parts(backend, folder, name):
    def own():
        about = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        with local():
            found = [
                (first, files.load(folder / f"part-{k:05}.grb").to_coo())
                for k, first in enumerate(about["first_rows"])
                if k % backend.size == backend.rank
            ]
        return about, found

    about, found = backend.together(own, "read", Exception)
    dtype = lookup_dtype(about["dtype"])
    *positions, values = (
        np.concatenate([np.asarray(arrays[k]) for _, arrays in found] or [np.zeros(0, np.int64)])
        for k in range(len(about["shape"]) + 1)
    )
    firsts = np.repeat([first for first, _ in found] or [0], [len(arrays[0]) for _, arrays in found] or [0])
    positions = [np.asarray(x, np.int64) for x in positions]
    positions[0] = positions[0] + firsts.astype(np.int64)
    values = values.astype(dtype.np_type)
    if about["class"] == "Vector":
        A = from_coo(positions[0], np.zeros_like(positions[0]), values, dtype, nrows=about["shape"][0], ncols=1)
        return A[:, 0].new(name=name)
    return from_coo(*positions, values, dtype, nrows=about["shape"][0], ncols=about["shape"][1], name=name)
