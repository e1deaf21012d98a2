"""SciPy's .npz files of sparse matrices (scipy.sparse.save_npz)."""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

from grb_tile.io.errors import bad_file, missing_library
from grb_tile.io.scipy_sparse import from_scipy_sparse, to_scipy_sparse

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

    from .annotations import DupOp, PathLike


def load_npz(path: PathLike, *, dup_op: DupOp | None = None, name: str | None = None) -> Matrix:
    """Matrix saved with scipy.sparse.save_npz (any of its formats).  Objects in the file are never unpickled."""
    try:
        import scipy.sparse
    except ImportError:  # pragma: no cover
        raise missing_library("scipy", "read .npz files") from None
    try:
        if hasattr(path, "read"):
            array = scipy.sparse.load_npz(path)
        else:
            with open(path, "rb") as file:  # numpy.load leaves the file open when it is no zip archive
                array = scipy.sparse.load_npz(file)
        if hasattr(array, "check_format"):
            array.check_format()
    except (ValueError, KeyError, zipfile.BadZipFile, EOFError, NotImplementedError, AttributeError) as error:
        raise bad_file(
            os.fspath(path) if isinstance(path, (str, os.PathLike)) else "<file>",
            None,
            f"no sparse matrix of scipy.sparse.save_npz ({type(error).__name__}: {error})",
            "Write it with scipy.sparse.save_npz(path, A)",
        ) from None
    return from_scipy_sparse(array, dup_op=dup_op, name=name)


def save_npz(path: PathLike, matrix: Matrix, *, compressed: bool = True) -> None:
    """Write `matrix` as scipy.sparse.save_npz does, in CSR."""
    try:
        import scipy.sparse
    except ImportError:  # pragma: no cover
        raise missing_library("scipy", "write .npz files") from None
    scipy.sparse.save_npz(path, to_scipy_sparse(matrix, "csr"), compressed=compressed)
