"""Arrays on the GPU: CuPy, cupyx.scipy.sparse, and objects with `__cuda_array_interface__` or DLPack.

Arrays are shared where types fit: change neither the array nor the object afterwards.  Work is ordered by CuPy's
current stream.  The objects have device arrays, whichever backend is in use.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.backends import select
from grb_tile.dtypes import lookup_dtype
from grb_tile.storage.store import BitmapVector, Compressed, Dense, SparseVector, index_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grb_tile import Matrix, Vector
    from grb_tile.backends.protocol import Backend


def _reported(function: Callable) -> Callable:
    """`function`, with CuPy's errors raised as the library's: OutOfMemory after freeing memory and a second attempt.

    Pending writes of the operands are merged first, because a merge takes the device's lock, which is taken while
    `function` runs.
    """

    @functools.wraps(function)
    def call(*args, **kwargs):
        for x in (*args, *kwargs.values()):
            getattr(x, "_store", None)
        return select.on_device().run_reported(lambda: function(*args, **kwargs), function.__name__)

    return call


def as_device(x: Any, backend: Backend | None = None) -> Any:
    """`x` as a device array: itself, or a view through `__cuda_array_interface__` or DLPack.

    Raises: TypeError for an array in host memory.
    """
    backend = select.on_device() if backend is None else backend
    offers = hasattr(x, "__cuda_array_interface__") or hasattr(x, "__dlpack__")
    if backend.is_array(x) or (offers and not isinstance(x, np.ndarray)):
        return backend.array(x)
    raise TypeError(f"{type(x).__name__} is not on the GPU: give a CuPy array, or use from_numpy for host arrays")


@_reported
def from_cupy(x: Any, *, name: str | None = None) -> Vector | Matrix:
    """Vector or Matrix (full) of a device array of one or two dimensions, Matrix of one of cupyx.scipy.sparse.

    Parameters
    ----------
    x : cupy.ndarray, an object with `__cuda_array_interface__` or `__dlpack__`, or a cupyx.scipy.sparse matrix
    name : of the object

    A CSR matrix must have its column indices sorted and without duplicates (`x.sum_duplicates()` does both); a COO
    matrix is sorted here.  Row pointers are copied to int64.

    Raises: ValueError for another number of dimensions and for a CSR without that order; TypeError for host arrays.
    """
    from grb_tile import Matrix, Vector

    backend = select.on_device()
    format = getattr(x, "format", None)
    if format is None:
        values = as_device(x, backend)
        if values.ndim not in (1, 2):
            raise ValueError(
                f"x must have one or two dimensions or be a cupyx.scipy.sparse matrix, not the shape {values.shape}"
            )
        flat = values if values.ndim == 1 else values.reshape(-1)
        store = BitmapVector(flat.shape[0], lookup_dtype(values.dtype), None, flat, flat.shape[0])
        store.shared = True
        if values.ndim == 1:
            return Vector._from_store(store, name=name)
        if values.size == 0:
            return Matrix(store.dtype, *values.shape, name=name)
        nrows, ncols = values.shape
        return Matrix._from_store(Dense(nrows, ncols, store), name=name)
    if format == "coo":
        return from_cupy_coo(x.row, x.col, x.data, shape=x.shape, name=name)
    nrows, ncols = x.shape if format == "csr" else x.shape[::-1]
    if format not in ("csr", "csc"):
        raise ValueError(f"x is a {format} matrix; convert it with x.tocsr() first")
    by_rows = _csr_store(backend, x.indptr, x.indices, x.data, nrows, ncols)
    return Matrix._from_store(by_rows if format == "csr" else backend.transpose(by_rows), name=name)


@_reported
def from_cupy_csr(indptr: Any, indices: Any, values: Any, *, shape: tuple[int, int], name: str | None = None) -> Matrix:
    """Matrix over the device arrays of a CSR: A(i, indices[k]) = values[k] for indptr[i] <= k < indptr[i + 1].

    It serves where cupyx.scipy.sparse has no matrix: other value types, 2**31 entries and more, one value for all.

    Parameters
    ----------
    indptr, indices : device arrays of whole numbers; shared where the types fit (int64; int32, int64 from 2**31 columns
    on)
    values : a device array as long as `indices`, shared; or a Python or NumPy number, stored once for all entries
    shape : (nrows, ncols)

    Raises: ValueError unless the arrays are a CSR with ascending, distinct columns; TypeError for host arrays.
    """
    from grb_tile import Matrix

    backend = select.on_device()
    indptr, indices = as_device(indptr, backend), as_device(indices, backend)
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise ValueError(f"indptr and indices must hold whole numbers, not {indptr.dtype} and {indices.dtype}")
    nrows, ncols = shape
    if isinstance(values, (bool, int, float, complex, np.generic)):
        values = backend.array(np.array([values]))
        store = _csr_store(backend, indptr, indices, values, nrows, ncols, iso=True)
    else:
        store = _csr_store(backend, indptr, indices, as_device(values, backend), nrows, ncols)
    return Matrix._from_store(store, name=name)


def _csr_store(
    backend: Backend, indptr: Any, indices: Any, values: Any, nrows: int, ncols: int, iso: bool = False
) -> Compressed:
    """The Compressed store over device arrays, shared where their types fit; two read-backs check them.

    Raises: ValueError unless they are CSR with ascending, distinct, valid columns.
    """
    count = indices.size
    if indptr.shape != (nrows + 1,) or indices.shape != (count,) or not (iso or values.shape == (count,)):
        raise ValueError(f"CSR of {nrows} rows needs {nrows + 1} row pointers and a value for each of {count} indices")
    bad = (
        (indptr[1:] < indptr[:-1]).sum()
        + (indptr[:1] != 0).sum()
        + (indptr[-1:] != count).sum()
        + (indices < 0).sum()
        + (indices >= ncols).sum()
    )
    if int(bad):
        raise ValueError(
            f"the arrays are no CSR of {nrows} x {ncols}: row pointers must rise from 0 to {count} and columns be "
            f"below {ncols}"
        )
    values = backend.array(values)
    store = Compressed(
        nrows,
        ncols,
        lookup_dtype(values.dtype),
        backend.array(indptr, np.int64),
        backend.array(indices, index_dtype(ncols)),
        values,
        iso and count > 0,
    )
    if not backend.has_ascending_columns(store):
        raise ValueError(
            "columns must ascend within each row and not repeat: sort them first (cupyx.scipy.sparse: "
            "x.sum_duplicates())"
        )
    store.shared = True
    return store


@_reported
def from_cupy_coo(
    rows: Any, cols: Any, values: Any, *, shape: tuple[int, int], dup_op: Any = None, name: str | None = None
) -> Matrix:
    """A(rows[k], cols[k]) = values[k], all device arrays; sorted and combined on the device.

    dup_op : combines the values of one position; None: duplicates are an error
    Raises: ValueError for lengths that differ, and for duplicates without dup_op; IndexOutOfBound for
    positions outside `shape`.
    """
    from grb_tile import Matrix
    from grb_tile.core.build import guarded
    from grb_tile.exceptions import IndexOutOfBound
    from grb_tile.operators import get_typed_op

    backend = select.on_device()
    rows, cols = (as_device(part, backend).astype(np.int64) for part in (rows, cols))  # copies
    values = as_device(values, backend)
    if not rows.shape == cols.shape == values.shape or rows.ndim != 1:
        raise ValueError(
            f"rows, cols and values must be as long as one another: {rows.shape}, {cols.shape}, {values.shape}"
        )
    nrows, ncols = shape
    if rows.shape[0]:
        outside = (rows < 0).sum() + (rows >= nrows).sum() + (cols < 0).sum() + (cols >= ncols).sum()
        outside = int(outside)
        if outside:
            raise IndexOutOfBound(f"{outside} of {rows.shape[0]} positions are outside {nrows} x {ncols}")
    dtype = lookup_dtype(values.dtype)
    dup = None if dup_op is None else get_typed_op(dup_op, dtype, kind="binary")
    store = guarded(lambda: backend.build_matrix(nrows, ncols, rows, cols, values, dup, dtype))
    return Matrix._from_store(store, dtype, name)


@_reported
def to_cupy(x: Vector | Matrix, fill_value: Any = None) -> Any:
    """The values of a Vector or Matrix as a device array of its shape and type; absent positions get `fill_value`.

    The array of a full object is shared: change neither afterwards.
    Raises: ValueError when positions are absent and no fill_value is given.
    """
    backend = select.on_device()
    store = _numeric(backend, x)
    if len(store.shape) == 2:
        if store.nrows * store.ncols == 0:
            return backend.xp.zeros(store.shape, x.dtype.np_type)
        dense = backend.convert(store, "bitmapr")
        dense.shared = x._store.shared = True
        return _on_positions(backend, dense.flat, fill_value).reshape(store.shape)
    x._store.shared = True
    return _on_positions(backend, store, fill_value)


def _on_positions(backend: Backend, store: Any, fill_value: Any) -> Any:
    """The values of a vector store at all its positions."""
    if store.nvals == store.size and not store.iso:
        if store.format == "bitmap":
            store.shared = True
            return store.values
        return store.values.copy()
    if store.nvals < store.size and fill_value is None:
        raise ValueError(f"{store.size - store.nvals} of {store.size} positions are absent: give a fill_value")
    out = backend.xp.full(store.size, 0 if fill_value is None else fill_value, store.dtype.np_type)
    entries = backend.convert(store, "sparse")
    out[entries.indices] = entries.values
    return out


@_reported
def entries_on_device(x: Vector | Matrix) -> Sequence[Any]:
    """(indices, values) of a Vector, (rows, cols, values) of a Matrix: new device arrays, indices int64, sorted.

    Raises: TypeError for a user-defined type.
    """
    backend = select.on_device()
    return backend.tuples(_numeric(backend, x))


def _numeric(backend: Backend, x: Any) -> Any:
    """The store of `x`, copied to the device.  Raises: TypeError for a user-defined type, which has no device form."""
    if x.dtype._is_udt:
        raise TypeError(f"values of type {x.dtype} have no device form: use x.to_coo() for host arrays")
    return backend.to_device(x._store)


@_reported
def to_cupyx_sparse(A: Matrix) -> Any:
    """cupyx.scipy.sparse.csr_matrix of a Matrix; column indices and values are shared where CuPy takes their types.

    Raises: TypeError for value types other than BOOL, FP32, FP64, FC32, FC64, which cupyx does not have; ValueError for
    shapes and numbers of entries from 2**31 on, because cupyx has 32-bit indices.
    """
    backend = select.on_device()
    from cupyx.scipy.sparse import csr_matrix

    if A.dtype.np_type.char not in "?fdFD":
        raise TypeError(f"cupyx.scipy.sparse holds no {A.dtype}: A.dup(dtype) to FP32 or FP64 first")
    if max(A.nvals, *A.shape) >= 2**31:
        raise ValueError(
            f"cupyx.scipy.sparse counts in 32 bits, too few for {A.nvals} entries in {A.nrows} x {A.ncols}: take "
            "gb.io.entries_on_device(A)"
        )
    store = backend.convert(backend.to_device(A._store), "csr")
    values = backend.xp.full(store.nvals, 0, A.dtype.np_type) if store.iso else store.values
    if store.iso and store.nvals:
        values[:] = store.values
    store.shared = A._store.shared = True
    return csr_matrix((values, store.indices, store.indptr.astype(np.int32)), shape=store.shape)


@_reported
def vector_of_entries(indices: Any, values: Any, *, size: int, name: str | None = None) -> Vector:
    """v(indices[k]) = values[k], device arrays, shared where the types fit; `indices` ascend and differ (unchecked)."""
    from grb_tile import Vector

    backend = select.on_device()
    values = as_device(values, backend)
    store = SparseVector(
        size, lookup_dtype(values.dtype), backend.array(as_device(indices, backend), index_dtype(size)), values
    )
    store.shared = True
    return Vector._from_store(store, name=name)
