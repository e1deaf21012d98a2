"""A Matrix from checked arrays: from tuples by SciPy's counting sort, or over CSR arrays without a copy."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.io.errors import RepeatedEdges

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

    from .annotations import DTypeLike, DupOp

SPREAD = 4  # the counting sort is used while nrows <= SPREAD * entries


def matrix_from_triples(
    nrows: int,
    ncols: int,
    rows: Any,
    cols: Any,
    values: Any,
    *,
    dtype: DTypeLike | None = None,
    dup_op: DupOp | None = None,
    name: str | None = None,
) -> Matrix:
    """A(rows[k], cols[k]) = values[k], or one value for all; `dup_op` combines duplicates.

    `dup_op="ignore"`, for one value only: duplicates are one entry.
    SciPy's counting sort is several times faster than a comparison sort; it is used if SciPy is installed and the row
    pointers are not much larger than the entries.  SciPy adds duplicates, so lists with duplicates go through
    Matrix.from_coo, which applies dup_op, or without one raises with the first duplicate.
    """
    from grb_tile import Matrix

    scalar = values[0] if values.shape[0] == 1 and rows.shape[0] != 1 else None
    if nrows <= SPREAD * rows.shape[0] + 1024 and ncols < 2**31:
        counted = _counted(nrows, ncols, rows, cols, None if scalar is not None else values, dup_op == "ignore")
        if counted is not None:
            indptr, indices, sorted_values = counted
            if scalar is not None:
                sorted_values = values[:1]
            return adopt_csr(
                nrows, ncols, indptr, indices, sorted_values, iso=scalar is not None, dtype=dtype, name=name
            )
    if dup_op == "ignore":
        return Matrix.from_coo(rows, cols, values[0], dtype=dtype, nrows=nrows, ncols=ncols, name=name)
    values = np.broadcast_to(values, rows.shape) if scalar is not None else values
    return Matrix.from_coo(rows, cols, values, dtype=dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)


def matrix_of_edges(
    shape: tuple[int, int],
    rows: Any,
    cols: Any,
    weights: Any,
    *,
    directed: bool,
    dtype: DTypeLike | None = None,
    dup_op: DupOp | None = None,
    name: str | None = None,
) -> Matrix:
    """A(i, j) = the weight of the edge from i to j, and A(j, i), too, if not `directed`; `weights` None: true.

    Repeated edges without weights are one entry.  With weights `dup_op` combines them, and "error" raises ValueError.
    None: the minimum is stored (complex weights have none and raise), and RepeatedEdges warns with their number.
    """
    edges = rows.shape[0]
    if isinstance(dup_op, str) and dup_op != "error":
        from grb_tile import binary

        binary.from_string(dup_op)  # an unknown one is an error, whether edges repeat or not
    if not directed:
        # i -> j is followed by j -> i, so that both entries get the weights in the order of the list
        ends = np.stack([rows, cols], axis=1)
        kept = np.stack([np.ones(edges, bool), rows != cols], axis=1).ravel()
        rows, cols = ends.ravel()[kept], ends[:, ::-1].ravel()[kept]
        weights = None if weights is None else np.repeat(weights, 2)[kept]
    if weights is None:
        return matrix_from_triples(*shape, rows, cols, np.ones(1, bool), dtype=dtype, dup_op="ignore", name=name)
    op: Any = dup_op
    if dup_op is None and weights.dtype.kind != "c":
        op = "min"
    elif isinstance(dup_op, str) and dup_op == "error":
        op = None
    A = matrix_from_triples(*shape, rows, cols, weights, dtype=dtype, dup_op=op, name=name)
    if dup_op is None and A.nvals < rows.shape[0]:
        found = A.nvals if directed else (A.nvals + A.diag().nvals) // 2
        warnings.warn(RepeatedEdges(edges - found, edges), stacklevel=_level_of_user())
    return A


def _level_of_user() -> int:
    """The stacklevel, from the caller, of the first frame outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "grb_tile":
        frame, level = frame.f_back, level + 1
    return level


def _counted(nrows, ncols, rows, cols, values, merge=False):
    """indptr, indices, values of the CSR; None without SciPy, or with duplicates (unless merge)."""
    try:
        import scipy.sparse
    except ImportError:  # pragma: no cover
        return None
    if values is None:
        values = np.ones(rows.shape[0], bool)
    matrix = scipy.sparse.coo_array((values, (rows, cols)), shape=(nrows, ncols)).tocsr()
    if matrix.nnz != rows.shape[0] and not merge:
        return None
    matrix.sort_indices()
    return matrix.indptr, matrix.indices, matrix.data


def adopt_csr(
    nrows: int,
    ncols: int,
    indptr: Any,
    indices: Any,
    values: Any,
    *,
    iso: bool = False,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Matrix:
    """Matrix over CSR arrays with ascending columns and no duplicates (not checked); shared where their types fit."""
    from grb_tile import Matrix
    from grb_tile.dtypes import cast, lookup_dtype
    from grb_tile.storage.store import Compressed, index_dtype

    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    dtype = lookup_dtype(values.dtype if dtype is None else dtype)
    values = np.ascontiguousarray(cast(values, dtype))
    indptr = np.ascontiguousarray(indptr, np.int64)
    indices = np.ascontiguousarray(indices, index_dtype(ncols))
    matrix = Matrix(dtype, nrows, ncols, name=name)
    matrix._store = Compressed(nrows, ncols, dtype, indptr, indices, values, iso)
    matrix._store.shared = True  # the arrays may be the caller's
    return matrix
