"""python-graphblas objects (SuiteSparse:GraphBLAS) to and from those of grb_tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grb_tile.io.errors import missing_library

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.scalar import Scalar
    from grb_tile.core.vector import Vector


def from_graphblas(x: Any, *, name: str | None = None) -> Matrix | Vector | Scalar:
    """The Matrix, Vector or Scalar with the type, shape and entries of the python-graphblas object `x`.

    A Matrix of at most 4 nvals + 1024 rows is exported as CSR, another one as tuples.
    """
    import grb_tile as gb

    dtype = x.dtype.name
    rank = len(x.shape)
    if rank == 0:
        return gb.Scalar(dtype, name=name) if x.is_empty else gb.Scalar.from_value(x.value, dtype, name=name)
    if rank == 1:
        indices, values = x.to_coo()
        return gb.Vector.from_coo(indices, values, dtype, size=x.shape[0], name=name)
    if x.shape[0] <= 4 * x.nvals + 1024:
        indptr, indices, values = x.to_csr()
        return gb.Matrix.from_csr(indptr, indices, values, dtype, ncols=x.shape[1], name=name)
    rows, cols, values = x.to_coo()
    return gb.Matrix.from_coo(rows, cols, values, dtype, nrows=x.shape[0], ncols=x.shape[1], name=name)


def to_graphblas(x: Any, *, name: str | None = None) -> Any:
    """The python-graphblas object with the type, shape and entries of `x`, a Matrix, Vector or Scalar of grb_tile.

    Raises: ImportError where python-graphblas is missing.
    """
    try:
        import graphblas
    except ImportError:
        raise missing_library("python-graphblas", "make its objects", "python-graphblas[default]") from None
    dtype = x.dtype.name
    rank = len(x.shape)
    if rank == 0:
        empty = x.is_empty
        return graphblas.Scalar(dtype, name=name) if empty else graphblas.Scalar.from_value(x.value, dtype, name=name)
    if rank == 1:
        indices, values = x.to_coo()
        return graphblas.Vector.from_coo(indices, values, dtype, size=x.shape[0], name=name)
    rows, cols, values = x.to_coo()
    return graphblas.Matrix.from_coo(rows, cols, values, dtype, nrows=x.shape[0], ncols=x.shape[1], name=name)
