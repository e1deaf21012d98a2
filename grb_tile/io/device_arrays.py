"""Arrays that lie on the GPU: CuPy, cupyx.scipy.sparse, and whatever offers `__cuda_array_interface__` or DLPack there.

Nothing is copied where types fit, so change the arrays neither here nor there afterwards; work is ordered by CuPy's
current
stream, as CuPy's own is.  Objects made so live on the device whichever backend is in use.
"""

import functools

import numpy as np

from grb_tile.backends import select
from grb_tile.backends.cuda.runtime.errors import on_device
from grb_tile.dtypes import lookup_dtype
from grb_tile.storage.store import BitmapVector, Compressed, SparseVector, index_dtype


def _backend():
    """The CUDA backend; its error names what is missing."""
    backend = select.current()
    return backend if backend.on_device else select.named("cuda")


def _reported(function):
    """CuPy's errors leave `function` as the library's: OutOfMemory after room was made and a second try."""

    @functools.wraps(function)
    def inner(device, *args, **kwargs):
        return function(*args, **kwargs)

    inner = on_device(inner)

    @functools.wraps(function)
    def call(*args, **kwargs):
        return inner(_backend().device, *args, **kwargs)

    return call


def as_device(x, device=None):
    """`x` as an array of the device: itself, or a view of what `__cuda_array_interface__` or DLPack offers."""
    device = _backend().device if device is None else device
    if isinstance(x, device.array_class):
        return x
    if hasattr(x, "__cuda_array_interface__"):
        return device.xp.asarray(x)
    if hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray):
        return device.xp.from_dlpack(x)
    raise TypeError(f"{type(x).__name__} does not lie on the GPU: give a CuPy array, or use from_numpy for host arrays")


@_reported
def from_cupy(x, *, name=None):
    """Vector of a one-dimensional device array (every place present), Matrix of a cupyx.scipy.sparse CSR, CSC or COO matrix.

    Parameters
    ----------
    x : cupy.ndarray, an object with `__cuda_array_interface__` or `__dlpack__`, or a cupyx.scipy.sparse matrix
    name : of the object

    A CSR matrix must have its column indices sorted and without duplicates (`x.sum_duplicates()` brings that about); a
    COO
    matrix is sorted here.  Row pointers become int64, which copies that one array.

    Raises: ValueError for arrays of other dimensions and for a CSR that is not in order; TypeError for host arrays.
    """
    from grb_tile import Matrix, Vector

    backend = _backend()
    device = backend.device
    format = getattr(x, "format", None)
    if format is None:
        values = device.array(as_device(x, device))
        if values.ndim != 1:
            raise ValueError(
                f"x must have one dimension or be a cupyx.scipy.sparse matrix, not an array of shape {values.shape}"
            )
        store = BitmapVector(values.shape[0], lookup_dtype(values.dtype), None, values, values.shape[0])
        store.shared = True
        return Vector._from_store(store, name=name)
    if format == "coo":
        return from_cupy_coo(x.row, x.col, x.data, shape=x.shape, name=name)
    nrows, ncols = x.shape if format == "csr" else x.shape[::-1]
    if format not in ("csr", "csc"):
        raise ValueError(f"x is a {format} matrix; convert it with x.tocsr() first")
    store = _csr_store(device, x.indptr, x.indices, x.data, nrows, ncols)
    return Matrix._from_store(store if format == "csr" else backend.transpose(store), name=name)


@_reported
def from_cupy_csr(indptr, indices, values, *, shape, name=None):
    """Matrix over the device arrays of a CSR: row i holds values[k] at (i, indices[k]), indptr[i] <= k < indptr[i + 1].

    For what cupyx.scipy.sparse has no matrix of: other value types, 2**31 entries and more, one value for all.

    Parameters
    ----------
    indptr, indices : device arrays of whole numbers; shared where the types fit (int64; int32, int64 from 2**31 columns
    on)
    values : a device array as long as `indices`, shared; or a Python or NumPy number, stored once for all entries
    shape : (nrows, ncols)

    Raises: ValueError for arrays that make no CSR with ascending, distinct columns; TypeError for host arrays.
    """
    from grb_tile import Matrix

    device = _backend().device
    indptr, indices = as_device(indptr, device), as_device(indices, device)
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise ValueError(f"indptr and indices must hold whole numbers, not {indptr.dtype} and {indices.dtype}")
    nrows, ncols = shape
    if isinstance(values, (bool, int, float, complex, np.generic)):
        values = device.array(np.array([values]))
        store = _csr_store(device, indptr, indices, values, nrows, ncols, iso=True)
    else:
        store = _csr_store(device, indptr, indices, as_device(values, device), nrows, ncols)
    return Matrix._from_store(store, name=name)


def _csr_store(device, indptr, indices, values, nrows, ncols, iso=False):
    """Compressed that shares device arrays where their types fit; two read-backs check them.

    Raises: ValueError unless they are CSR with ascending, distinct, valid columns.
    """
    from grb_tile.backends.cuda.structure.entries import order_facts, row_ids

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
    if device.read(device.array(bad).reshape(1))[0]:
        raise ValueError(
            f"the arrays are no CSR of {nrows} x {ncols}: row pointers must rise from 0 to {count} and columns be "
            f"below {ncols}"
        )
    values = device.array(values)
    store = Compressed(
        nrows,
        ncols,
        lookup_dtype(values.dtype),
        device.array(indptr, np.int64),
        device.array(indices, index_dtype(ncols)),
        values,
        iso and count > 0,
    )
    descents, repeats, _ = order_facts(device, row_ids(device, store), store.indices)
    if descents or repeats:
        raise ValueError(
            "columns must ascend within each row and not repeat: sort them first (cupyx.scipy.sparse: "
            "x.sum_duplicates())"
        )
    store.shared = True
    return store


@_reported
def from_cupy_coo(rows, cols, values, *, shape, dup_op=None, name=None):
    """Matrix of entries values[k] at (rows[k], cols[k]), all device arrays; sorted and combined on the device.

    dup_op : how entries of one place combine; None: they are an error
    Raises: ValueError for lengths that differ or duplicates; IndexOutOfBound for positions outside `shape`.
    """
    from grb_tile import Matrix
    from grb_tile.core.build import guarded
    from grb_tile.exceptions import IndexOutOfBound
    from grb_tile.operators import get_typed_op

    backend = _backend()
    device = backend.device
    rows, cols = (device.array(as_device(part, device).astype(np.int64)) for part in (rows, cols))  # copies
    values = device.array(as_device(values, device))
    if not rows.shape == cols.shape == values.shape or rows.ndim != 1:
        raise ValueError(
            f"rows, cols and values must be as long as one another: {rows.shape}, {cols.shape}, {values.shape}"
        )
    nrows, ncols = shape
    if rows.shape[0]:
        outside = (rows < 0).sum() + (rows >= nrows).sum() + (cols < 0).sum() + (cols >= ncols).sum()
        outside = device.read(device.array(outside).reshape(1))[0]
        if outside:
            raise IndexOutOfBound(f"{outside} of {rows.shape[0]} positions lie outside {nrows} x {ncols}")
    dtype = lookup_dtype(values.dtype)
    dup = None if dup_op is None else get_typed_op(dup_op, dtype, kind="binary")
    store = guarded(lambda: backend.build_matrix(nrows, ncols, rows, cols, values, dup, dtype))
    return Matrix._from_store(store, dtype, name)


@_reported
def to_cupy(x, fill_value=None):
    """The values of a Vector as a device array of its size; absent places hold `fill_value`.

    Shares the vector's array where every place is present: change neither afterwards.
    Raises: ValueError when places are absent and no fill_value is given.
    """
    backend = _backend()
    device = backend.device
    store = backend.own(x._store)
    if store.nvals == store.size and not store.iso:
        if store.format == "bitmap":
            store.shared = x._store.shared = True
            return store.values
        return store.values.copy()
    if store.nvals < store.size and fill_value is None:
        raise ValueError(f"{store.size - store.nvals} of {store.size} places are absent: give a fill_value")
    out = device.full(store.size, 0 if fill_value is None else fill_value, x.dtype.np_type)
    entries = backend.convert(store, "sparse")
    out[entries.indices] = entries.values
    return out


@_reported
def entries_on_device(x):
    """(indices, values) of a Vector, (rows, cols, values) of a Matrix: fresh device arrays, indices int64, sorted."""
    from grb_tile.backends.cuda.structure import structure

    backend = _backend()
    store = backend.own(x._store)
    tuples = structure.tuples_vector if len(x.shape) == 1 else structure.tuples_matrix
    return tuples(backend.device, store)


@_reported
def to_cupyx_sparse(A):
    """cupyx.scipy.sparse.csr_matrix of a Matrix; column indices and values are shared where CuPy takes their types.

    Raises: TypeError for value types that cupyx has no matrices of (it has BOOL, FP32, FP64, FC32, FC64); ValueError
    for shapes and numbers of entries past its 32 bits.
    """
    backend = _backend()
    from cupyx.scipy.sparse import csr_matrix

    if A.dtype.np_type.char not in "?fdFD":
        raise TypeError(f"cupyx.scipy.sparse holds no {A.dtype}: A.dup(dtype) to FP32 or FP64 first")
    if max(A.nvals, *A.shape) >= 2**31:
        raise ValueError(
            f"cupyx.scipy.sparse counts in 32 bits, too few for {A.nvals} entries in {A.nrows} x {A.ncols}: take "
            "gb.io.entries_on_device(A)"
        )
    store = backend.convert(backend.own(A._store), "csr")
    values = backend.device.full(store.nvals, 0, A.dtype.np_type) if store.iso else store.values
    if store.iso and store.nvals:
        values[:] = store.values
    store.shared = A._store.shared = True
    return csr_matrix((values, store.indices, store.indptr.astype(np.int32)), shape=store.shape)


@_reported
def vector_of_entries(indices, values, *, size, name=None):
    """Vector of ascending, distinct device `indices` and their `values`, shared where the types fit (unchecked)."""
    from grb_tile import Vector

    device = _backend().device
    values = device.array(as_device(values, device))
    store = SparseVector(
        size, lookup_dtype(values.dtype), device.array(as_device(indices, device), index_dtype(size)), values
    )
    store.shared = True
    return Vector._from_store(store, name=name)
