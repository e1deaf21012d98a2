"""SciPy's .npz files of sparse matrices (scipy.sparse.save_npz)."""

from __future__ import annotations

import io
import math
import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.core.arguments import flags
from grb_tile.io.errors import BadFile, bad_file, missing_library
from grb_tile.io.labels import labels_array, matrix_and_labels
from grb_tile.io.pandas_frames import LabelledMatrix
from grb_tile.io.scipy_sparse import from_scipy_sparse, to_scipy_sparse
from grb_tile.io.streams import LARGEST_RATIO, Target, opened

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

    from .annotations import DupOp, Readable, Writable

MOST_TEXT = 1 << 20  # bytes of texts of one length that are written whatever their own lengths
ALLOWED = "biufcSU"  # kinds of NumPy types: numbers, and the text of the member "format"


def load_npz(path: Readable, *, dup_op: DupOp | None = None, name: str | None = None) -> Matrix | LabelledMatrix:
    """The Matrix saved with scipy.sparse.save_npz, in any of its formats.  Objects in the file are never unpickled.

    LabelledMatrix(matrix, labels) where save_npz had labels to write.

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
            labels = _labels(file, array.shape, source.name)
            if hasattr(array, "check_format"):
                array.check_format()
        except BadFile:
            raise
        except Exception as error:  # NumPy, zipfile and zlib raise many types for damaged archives
            if isinstance(error, OSError) and error.errno is not None:
                raise  # a failing disk
            raise _no_matrix(source.name, f"{type(error).__name__}: {error}") from None
    matrix = from_scipy_sparse(array, dup_op=dup_op, name=name)
    return matrix if labels is None else LabelledMatrix(matrix, labels)


def _labels(file, shape, name):
    """The array "labels" beside the matrix as a list; None where there is none."""
    file.seek(0)
    with np.load(file, allow_pickle=False) as members:
        if "labels" not in members:
            return None
        labels = members["labels"]
    if labels.shape != (max(shape),) or labels.dtype.kind not in "iuU":
        raise _no_matrix(name, f"labels of {labels.dtype} and shape {labels.shape} for a matrix of shape {shape}")
    return labels.tolist()


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


def save_npz(path: Writable, matrix: Any, *, compressed: bool = True) -> None:
    """Write `matrix` as scipy.sparse.save_npz does, in CSR; the file appears complete or not at all.

    Labels of a Graph, EdgeList or LabelledMatrix, all str or all int, are an array more, "labels", which SciPy ignores.
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
    matrix, labels = matrix_and_labels(matrix)
    array = None if labels is None else _texts(labels_array(labels, max(matrix.shape)))
    with Target(path) as target:
        if array is None:
            scipy.sparse.save_npz(target.stream, to_scipy_sparse(matrix, "csr"), compressed=compressed)
            return
        made = io.BytesIO()
        scipy.sparse.save_npz(made, to_scipy_sparse(matrix, "csr"), compressed=compressed)
        with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
            with archive.open("labels.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        target.stream.write(made.getbuffer())


def _texts(labels):
    """Labels as NumPy saves them: every text has the length of the longest."""
    if labels.dtype.kind == "i":
        return labels
    longest = max(map(len, labels), default=0)
    lost = next((text for text in labels if text.endswith("\0")), None)
    if lost is not None or 4 * longest * len(labels) > max(MOST_TEXT, 64 * sum(map(len, labels))):
        what = f"{lost!r} ends with a NUL" if lost is not None else f"the longest has {longest} characters"
        raise ValueError(f"labels: {what}, and NumPy gives all texts one length: save a .grb file")
    return labels.astype(f"U{max(longest, 1)}")
