"""Dense arrays: NumPy, and objects with DLPack or `__array__`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.io.build import adopt_csr

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.vector import Vector

    from .annotations import DTypeLike


def as_numpy(x: Any) -> np.ndarray:
    """`x` as a NumPy array, without a copy if possible: DLPack first (PyTorch, JAX, ... on the CPU), then `__array__`.

    >>> import numpy as np
    >>> from grb_tile.io.arrays import as_numpy
    >>> a = np.arange(3)
    >>> as_numpy(a) is a
    True
    """
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "to_dense") and hasattr(x, "__array__"):  # a Vector or Matrix, on the host or a device
        return np.asarray(x)
    if hasattr(x, "__dlpack__") and not hasattr(x, "__cuda_array_interface__"):
        try:
            return np.from_dlpack(x)
        except (BufferError, RuntimeError, TypeError, ValueError):
            pass  # a type or device that DLPack or NumPy does not support: try `__array__`
    if hasattr(x, "__cuda_array_interface__"):
        raise TypeError(f"{type(x).__name__} is in GPU memory: copy it to the host first (`.get()` or `.cpu()`)")
    return np.asarray(x)


def from_numpy(
    values: Any, missing_value: Any = None, *, dtype: DTypeLike | None = None, name: str | None = None
) -> Matrix | Vector:
    """Vector or Matrix of a one- or two-dimensional array; positions equal to `missing_value` (None: none) are absent.

    Raises: ValueError for another number of dimensions; TypeError for an array in GPU memory.

    >>> import numpy as np
    >>> from grb_tile.io import from_numpy
    >>> from_numpy(np.array([[0, 3], [4, 0]]), 0).nvals
    2
    """
    from grb_tile import Matrix, Vector

    values = as_numpy(values)
    if values.ndim not in (1, 2):
        raise ValueError(f"values must have one or two dimensions, not {values.ndim} (shape {values.shape})")
    make = Vector if values.ndim == 1 else Matrix
    return make.from_dense(values, missing_value, dtype=dtype, name=name)


def to_numpy(x: Any, fill_value: Any = None, dtype: DTypeLike | None = None) -> np.ndarray:
    """Dense array of the shape of a Vector or Matrix; absent positions get `fill_value`.

    Raises: TypeError when positions are absent and fill_value is None.
    """
    return x.to_dense(fill_value, dtype)


def from_csr(
    indptr: Any,
    indices: Any,
    values: Any,
    *,
    ncols: int,
    nrows: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Matrix:
    """Matrix over CSR arrays that `as_numpy` accepts; rows must be sorted and without duplicates.

    Shared, not copied, where the types fit: int64 `indptr`, `indices` int32 (int64 from 2**31 columns on), values of a
    built-in type.  `values` may be one number for all entries.  Do not change the arrays afterwards.

    Raises: ValueError for arrays of other types or lengths; InvalidValue or InvalidIndex, as Matrix.from_csr, when the
    arrays are no valid CSR.
    """
    from grb_tile import Matrix
    from grb_tile.io.scipy_sparse import _is_sorted

    indptr, indices, values = as_numpy(indptr), as_numpy(indices), as_numpy(values)
    if indices.ndim == 1 and indices.shape[0] == 0:
        indices = indices.astype(np.int64)  # an empty list has no integer type
    iso = values.ndim == 0
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise ValueError(
            f"indptr and indices must be one-dimensional arrays of whole numbers, not {indptr.dtype} of shape "
            f"{indptr.shape} and {indices.dtype} of shape {indices.shape}"
        )
    if nrows is not None and nrows != indptr.shape[0] - 1:
        raise ValueError(f"indptr has length {indptr.shape[0]}, {nrows} rows need {nrows + 1}")
    parts = _Parts(
        indptr, indices, np.broadcast_to(values, indices.shape) if iso else values, (indptr.shape[0] - 1, ncols)
    )
    if indptr.shape[0] > 0 and parts.data.shape == indices.shape and _is_sorted(parts):
        return adopt_csr(
            indptr.shape[0] - 1,
            ncols,
            indptr,
            indices,
            values.reshape(1)[: len(indices)] if iso else values,
            iso=iso and len(indices) > 0,
            dtype=dtype,
            name=name,
        )
    return Matrix.from_csr(indptr, indices, parts.data, dtype, ncols=ncols, name=name)


class _Parts:
    """The attributes that _is_sorted reads."""

    def __init__(self, indptr, indices, data, shape):
        self.indptr, self.indices, self.data, self.shape = indptr, indices, data, shape
