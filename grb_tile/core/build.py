"""The common parts of building a Vector and a Matrix: the duplicate operator, bounds, emptiness; pickling."""

import math

import numpy as np

from ..dtypes import cast, lookup_dtype, unify
from ..exceptions import IndexOutOfBound, InvalidValue, OutputNotEmpty
from ..operators import get_typed_op
from ..storage import bits
from ..storage.host_memory import check_memory
from ..storage.place import host
from ..storage.store import BitmapVector, Compressed, Dense, SparseVector, full_values
from .arguments import FEW, expect_op, scalar_of


def build_operator(self, dup_op):
    """The typed BinaryOp for duplicates, None when they are an error."""
    if dup_op is None:
        return None
    op = get_typed_op(dup_op, self.dtype, kind="binary")
    if op.opclass == "Monoid":
        return op.binaryop
    expect_op(self, op, "BinaryOp", within="build", argname="dup_op")
    return op


def check_bounds(indices, size, what):
    """Raises: IndexOutOfBound naming the first position outside 0 .. size - 1."""
    few = indices.tolist() if type(indices) is np.ndarray and indices.size <= FEW else None
    if few is not None:
        inside = not few or min(few) >= 0 and max(few) < size
    else:
        long = indices.dtype.itemsize == 8  # as unsigned integers, negative ones are above any size
        inside = (
            not indices.size
            or (long or indices.min() >= 0)
            and (indices.view(np.uint64) if long else indices).max() < size
        )
    if not inside:
        bad = indices[(indices < 0) | (indices >= size)][0]
        allowed = f"it must be in 0 .. {size - 1}" if size else "the dimension is 0, which has no positions"
        raise IndexOutOfBound(f"{what} {bad} is out of bounds: {allowed}")


def check_empty(self, store):
    """Raises: OutputNotEmpty when `store`, what `self` would hold before it is built, has entries."""
    if store.nvals:
        raise OutputNotEmpty(
            f"{self.name} has {store.nvals} entries: build needs an empty object; use clear=True, or `<<` to merge"
        )


def fill_dtype(self):
    """The type to read a fill value with: the object's own when its values are arrays, else the value's (None)."""
    return self.dtype if self.dtype.np_type.subdtype is not None else None


def filled(shape, fill, fill_type, own, dtype):
    """(array of `fill`, its DataType) for to_dense of an object of type `own`; `dtype` is the requested type."""
    places = math.prod(shape) if isinstance(shape, tuple) else shape
    check_memory(places * own.np_type.itemsize, f"to_dense: an array of {places} values")
    if own.np_type.subdtype is not None:
        out = np.empty(shape, own.np_type)  # NumPy adds the sub-array's dimensions
        out[...] = fill
        return out, own
    dtype = unify(fill_type, own, is_left_scalar=True) if dtype is None else lookup_dtype(dtype)
    return np.full(shape, scalar_of(fill, dtype), dtype.np_type), dtype


def put_bitmap(out, shape, flat, dtype):
    """out[p] = u[p] for the entries of a bitmap vector u, whose positions are those of an array of `shape`."""
    flat = host(flat)
    at = bits.to_indices(flat.words, flat.size)
    where = at if isinstance(shape, int) else np.divmod(at, shape[1])
    out[where] = cast(full_values(flat)[at], dtype)


def guarded(function):
    """function(); an error about duplicates is raised as ValueError that names `dup_op`."""
    try:
        return function()
    except InvalidValue as exc:
        raise ValueError(f"Duplicate indices found, must provide `dup_op` BinaryOp ({exc})") from None


def refuse_with_scalar(dup_op):
    """One value for all leaves nothing to combine."""
    if dup_op is not None:
        raise ValueError(
            "dup_op must be None if values is a scalar so that all "
            "values can be identical.  Duplicate indices will be ignored."
        )


def pickled_store(store):
    """(format, its parts): what `restore` makes the same store of, iso ones as small as they are."""
    store = host(store)
    if store.format == "sparse":
        return "sparse", store.size, store.indices, store.values, store.iso
    if store.format == "bitmap":
        return "bitmap", store.size, store.words, store.values, store.nvals, store.iso
    if type(store) is Dense:
        return "dense", store.nrows, store.ncols, store.by_columns, pickled_store(store.flat)
    return "rows", store.nrows, store.ncols, store.indptr, store.indices, store.values, store.iso, store.rows


def restore(cls, parts, dtype, name):
    """The Vector or Matrix that was pickled."""
    return cls._from_store(_restored(parts, dtype), dtype, name)


def _restored(parts, dtype):
    kind, *parts = parts
    if kind == "dense":
        nrows, ncols, by_columns, flat = parts
        return Dense(nrows, ncols, _restored(flat, dtype), by_columns)
    if kind == "rows":
        nrows, ncols, *parts = parts
        return Compressed(nrows, ncols, dtype, *parts)
    size, *parts = parts
    return (SparseVector if kind == "sparse" else BitmapVector)(size, dtype, *parts)
