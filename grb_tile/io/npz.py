"""SciPy's .npz files of sparse matrices (scipy.sparse.save_npz)."""

from __future__ import annotations

import math
import os
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from grb_tile.core.arguments import flags
from grb_tile.io.errors import BadFile, bad_file, missing_library
from grb_tile.io.scipy_sparse import from_scipy_sparse, to_scipy_sparse
from grb_tile.io.streams import LARGEST_RATIO, Target, opened

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

    from .annotations import DupOp, Readable, Writable

ALLOWED = "biufcSU"  # kinds of NumPy types: numbers, and the text of the member "format"


def load_npz(path: Readable, *, dup_op: DupOp | None = None, name: str | None = None) -> Matrix:
    """The Matrix saved with scipy.sparse.save_npz, in any of its formats.  Objects in the file are never unpickled.

    Raises: BadFile for a damaged archive or one without a sparse matrix; ImportError where SciPy is missing.
    """
    try:
        import scipy.sparse
    except ImportError:  # pragma: no cover
        raise missing_library("scipy", "read .npz files") from None
    with opened(path) as source:
        try:
            file = source.seekable()
            _check_members(file, source.name)
            array = scipy.sparse.load_npz(file)
            if hasattr(array, "check_format"):
                array.check_format()
        except BadFile:
            raise
        except Exception as error:  # NumPy, zipfile and zlib raise many types for damaged archives
            if isinstance(error, OSError) and error.errno is not None:
                raise  # a failing disk
            raise _no_matrix(source.name, f"{type(error).__name__}: {error}") from None
    return from_scipy_sparse(array, dup_op=dup_op, name=name)


def _no_matrix(name, reason):
    what = f"no sparse matrix of scipy.sparse.save_npz ({reason})"
    return bad_file(name, None, what, "Write it with scipy.sparse.save_npz(path, A)")


def _check_members(file, name):
    """Raises: BadFile unless each array is as long as its header states: NumPy allocates that before it reads."""
    total = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            with archive.open(member) as stream:
                version = np.lib.format.read_magic(stream)
                header = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
                if version[0] not in header:
                    raise _no_matrix(name, f"{member.filename} has the unknown version {version}")
                shape, _, dtype = header[version[0]](stream)
                size = math.prod(shape) * dtype.itemsize
                if dtype.kind not in ALLOWED or size != member.file_size - stream.tell():
                    raise _no_matrix(name, f"{member.filename} is no array of {shape} values of type {dtype}")
                if size > LARGEST_RATIO * total:
                    raise _no_matrix(name, f"{total} bytes cannot hold the {size} of {member.filename}")
    file.seek(0)


def save_npz(path: Writable, matrix: Matrix, *, compressed: bool = True) -> None:
    """Write `matrix` as scipy.sparse.save_npz does, in CSR; the file appears complete or not at all.

    `.npz` is appended to a path with another ending.
    """
    flags(compressed=compressed)
    try:
        import scipy.sparse
    except ImportError:  # pragma: no cover
        raise missing_library("scipy", "write .npz files") from None
    if not hasattr(path, "write"):
        path = os.fsdecode(path)
        special = os.path.exists(path) and not os.path.isfile(path)
        path += "" if path.endswith(".npz") or special else ".npz"
    with Target(path) as target:
        scipy.sparse.save_npz(target.stream, to_scipy_sparse(matrix, "csr"), compressed=compressed)
