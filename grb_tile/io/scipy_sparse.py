"""scipy.sparse arrays to and from Matrix; CSR arrays are shared where their types fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from grb_tile.io.build import adopt_csr, matrix_from_triples
from grb_tile.io.errors import missing_library
from grb_tile.io.symmetry import equal_bits

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.vector import Vector

    from .annotations import DupOp

FORMATS = ("bsr", "csr", "csc", "coo", "lil", "dia", "dok")


def from_scipy_sparse(A: Any, *, dup_op: DupOp | None = None, name: str | None = None) -> Matrix:
    """Matrix with the stored entries of `A`, explicit zeros included.

    Parameters
    ----------
    A : scipy.sparse array or matrix of any format
    dup_op : combines the duplicates of a COO array; None: they are an error
    name : of the matrix

    The arrays of a CSR array with sorted indices are shared where their types are those of the store (int32 indices
    below 2**31 columns, int64 row pointers): change neither object afterwards.

    >>> import scipy.sparse
    >>> from grb_tile.io import from_scipy_sparse
    >>> from_scipy_sparse(scipy.sparse.eye_array(3, format="csr")).nvals
    3
    """
    nrows, ncols = A.shape
    if A.format == "csc":
        return from_scipy_sparse(A.T, dup_op=dup_op).T.new(name=name)
    if A.format in ("bsr", "lil", "dia", "dok"):
        A = A.tocoo()
    if A.format == "coo":
        rows, cols = A.coords if hasattr(A, "coords") else (A.row, A.col)
        return matrix_from_triples(nrows, ncols, rows, cols, A.data, dtype=A.dtype, dup_op=dup_op, name=name)
    from grb_tile import Matrix

    if _is_sorted(A):
        values = A.data
        iso = values.shape[0] > 1 and bool(equal_bits(values, values[:1]).all())
        return adopt_csr(nrows, ncols, A.indptr, A.indices, values[:1] if iso else values, iso=iso, name=name)
    return Matrix.from_csr(A.indptr, A.indices, A.data, ncols=ncols, name=name)


def _is_sorted(A):
    """Is A a valid CSR whose rows ascend without duplicates?  Computed, because SciPy's flags may be wrong."""
    indptr, indices = A.indptr, A.indices
    count = indices.shape[0]
    if indptr[0] != 0 or indptr[-1] != count or A.data.shape[0] != count or (indptr[1:] < indptr[:-1]).any():
        return False
    if not count:
        return True
    if indices.min() < 0 or indices.max() >= A.shape[1]:
        return False
    rising = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    starts = starts[(starts > 0) & (starts < count)]
    rising[starts - 1] = True
    return bool(rising.all())


def to_scipy_sparse(A: Matrix | Vector, format: str = "csr") -> Any:
    """scipy.sparse array of a Matrix; a Vector becomes one row (one column for "csc").

    Parameters
    ----------
    A : Matrix or Vector
    format : "bsr", "csr", "csc", "coo", "lil", "dia" or "dok"

    Raises: ValueError for another format; ImportError where SciPy is missing.

    >>> import grb_tile as gb
    >>> from grb_tile.io import to_scipy_sparse
    >>> to_scipy_sparse(gb.Matrix.from_coo([0, 1], [1, 0], [5, 6])).toarray().tolist()
    [[0, 5], [6, 0]]
    """
    try:
        import scipy.sparse as ss
    except ImportError:  # pragma: no cover
        raise missing_library("scipy", "make scipy.sparse arrays") from None
    format = format.lower()
    if format not in FORMATS:
        raise ValueError(f"Invalid format: {format}")
    if len(A.shape) == 1:
        indices, data = A.to_coo()
        if format == "csc":
            return ss.csc_array((data, indices, [0, len(data)]), shape=(A.shape[0], 1))
        out = ss.csr_array((data, indices, [0, len(data)]), shape=(1, A.shape[0]))
        return out if format == "csr" else out.asformat(format)
    A = cast("Matrix", A)
    if format == "csc":
        indptr, rows, values = A.to_csc()
        return ss.csc_array((values, rows, _int32_if_possible(indptr, A.shape)), shape=A.shape)
    if format == "csr":
        indptr, cols, values = A.to_csr()
        return ss.csr_array((values, cols, _int32_if_possible(indptr, A.shape)), shape=A.shape)
    rows, cols, values = A.to_coo()
    out = ss.coo_array((values, (rows, cols)), shape=A.shape)
    return out if format == "coo" else out.asformat(format)


def _int32_if_possible(indptr, shape):
    """Row pointers as int32 if they fit: SciPy converts both index arrays in each call if their types differ."""
    small = max(shape) < 2**31 and indptr[-1] < 2**31
    return indptr.astype(np.int32) if small else indptr
