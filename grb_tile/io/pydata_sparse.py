"""Arrays of the library `sparse` (https://sparse.pydata.org) to and from Matrix and Vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grb_tile.exceptions import GraphblasException
from grb_tile.io.build import matrix_from_triples
from grb_tile.io.errors import missing_library
from grb_tile.io.scipy_sparse import from_scipy_sparse, to_scipy_sparse

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.vector import Vector

    from .annotations import DupOp


def _sparse(purpose):
    try:
        import sparse
    except ImportError:
        raise missing_library("sparse", purpose) from None
    return sparse


def from_pydata_sparse(s: Any, *, dup_op: DupOp | None = None, name: str | None = None) -> Matrix | Vector:
    """Vector or Matrix of a one- or two-dimensional sparse.COO, DOK or GCXS array.

    dup_op : combines the values of one position; None: duplicates are an error

    Raises: TypeError for an object of another library; GraphblasException for another number of dimensions.
    """
    sparse = _sparse("import from pydata sparse")
    if not isinstance(s, sparse.SparseArray):
        raise TypeError(
            "from_pydata_sparse only accepts objects from the `sparse` library; see https://sparse.pydata.org"
        )
    if s.ndim not in (1, 2):
        raise GraphblasException(f"the array must have one or two dimensions, not {s.ndim}")
    if s.ndim == 2 and isinstance(s, sparse.GCXS):
        return from_scipy_sparse(s.to_scipy_sparse(), dup_op=dup_op, name=name)
    coo = s.asformat("coo")
    if s.ndim == 1:
        from grb_tile import Vector

        return Vector.from_coo(coo.coords[0], coo.data, dtype=coo.dtype, size=s.shape[0], dup_op=dup_op, name=name)
    (nrows, ncols), (rows, cols) = s.shape, coo.coords
    return matrix_from_triples(nrows, ncols, rows, cols, coo.data, dtype=coo.dtype, dup_op=dup_op, name=name)


def to_pydata_sparse(A: Matrix | Vector, format: str = "coo") -> Any:
    """sparse.COO, DOK or GCXS array of a Matrix or Vector; format is "coo", "dok" or "gcxs".

    Raises: ValueError for another format; ImportError where the library `sparse` is missing.
    """
    sparse = _sparse("export to pydata sparse")
    format = format.lower()
    if format not in ("coo", "dok", "gcxs"):
        raise ValueError(f"Invalid format: {format}")
    if len(A.shape) == 1:
        indices, values = A.to_coo()
        out = sparse.COO(indices.reshape(1, -1), values, shape=A.shape)
    else:
        out = sparse.COO.from_scipy_sparse(to_scipy_sparse(A, "coo"))
    return out.asformat(format)
