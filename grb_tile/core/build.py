"""The common parts of building a Vector and a Matrix: the duplicate operator, bounds, emptiness; pickling."""

import numpy as np

from ..backends.select import current
from ..dtypes import cast, lookup_dtype, unify
from ..exceptions import IndexOutOfBound, InvalidValue, OutOfMemory, OutputNotEmpty
from ..operators import get_typed_op
from ..storage import bits
from ..storage.constructors import full_vector
from ..storage.host_memory import check_memory
from ..storage.place import backend_of, host, is_copied_alone, own_values
from ..storage.store import BitmapVector, Compressed, Dense, SparseVector, full_values
from .arguments import FEW, expect_op, scalar_of


def leave_out(out, missing_value, within):
    """out = the elements other than `missing_value` (None: all).  Raises: TypeError for a value that none can equal."""
    if missing_value is None:
        return out
    if out.dtype._is_udt:
        raise TypeError(
            f"{within}: `missing_value`={missing_value!r} is not compared with elements of the type {out.dtype}; leave "
            "it out, or give an array of numbers with one dimension for a Vector and two for a Matrix"
        )
    try:
        out << out.select("!=", missing_value)
    except TypeError:
        raise TypeError(
            f"{within}: `missing_value` must be a value such as 0 or float('nan'); got {missing_value!r} of type "
            f"{type(missing_value).__name__}"
        ) from None
    return out


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
    if not indices.size:
        return
    if type(indices) is not np.ndarray:
        least, greatest = current().bounds_of(indices)
        inside = least >= 0 and greatest < size
    elif indices.size <= FEW:
        few = indices.tolist()
        inside = min(few) >= 0 and max(few) < size
    else:
        long = indices.dtype.itemsize == 8  # as unsigned integers, negative ones are above any size
        inside = (long or indices.min() >= 0) and (indices.view(np.uint64) if long else indices).max() < size
    if not inside:
        bad = indices[(indices < 0) | (indices >= size)][0]
        allowed = f"it must be in 0 .. {size - 1}" if size else "the dimension is 0, which has no positions"
        raise IndexOutOfBound(f"{what} {bad} is out of bounds: {allowed}")


def check_lengths(indices, values):
    """Raises: ValueError unless there is a value for each index."""
    if values.ndim == 0 or indices.size != values.shape[0]:
        raise ValueError(f"`indices` and `values` lengths must match: {indices.size} != {values.size}")


def check_empty(self, store):
    """Raises: OutputNotEmpty when `store`, what `self` would hold before it is built, has entries."""
    if store.nvals:
        raise OutputNotEmpty(
            f"{self.name} has {store.nvals} entries: build needs an empty object; use clear=True, or `<<` to merge"
        )


def fill_dtype(self):
    """The type to read a fill value with: the object's own when its values are arrays, else the value's (None)."""
    return self.dtype if self.dtype.np_type.subdtype is not None else None


def full_array(store, dtype=None):
    """The values of a store without gaps as an array of the caller's own, of type `dtype` if it is given.

    Its bytes are copied once: on the host, or from the device, which casts them.
    """
    dtype = store.dtype if dtype is None else lookup_dtype(dtype)
    check_memory(store.nvals * dtype.np_type.itemsize, f"to_dense: an array of {store.nvals} values")
    if not is_copied_alone(store):
        store = host(store)
    return own_values(store, dtype)


def filled(store, fill, fill_type, dtype):
    """The array of a vector store's values, of type `dtype` if it is given, with `fill` where there is none."""
    own = store.dtype
    check_memory(store.size * own.np_type.itemsize, f"to_dense: an array of {store.size} values")
    if own.np_type.subdtype is not None:
        out = np.empty(store.size, own.np_type)  # NumPy adds the sub-array's dimensions
        out[...] = fill
        return _put(out, store, own)
    dtype = unify(fill_type, own, is_left_scalar=True) if dtype is None else lookup_dtype(dtype)
    fill = scalar_of(fill, dtype)
    if is_copied_alone(store) and not dtype._is_udt:
        try:
            return own_values(_filled_there(store, fill, dtype), dtype)
        except OutOfMemory:
            pass  # the host may have room
    return _put(np.full(store.size, fill, dtype.np_type), store, dtype)


def _filled_there(store, fill, dtype):
    """The full vector of the store's values and of `fill`, on the device where the store resides."""
    backend = backend_of(store)
    second = get_typed_op("second", dtype, kind="binary")
    return backend.union(full_vector(store.size, dtype, fill), backend.cast(store, dtype), second)


def _put(out, store, dtype):
    """`out` with the values of a vector store at its entries."""
    store = host(store)
    at = bits.to_indices(store.words, store.size) if store.format == "bitmap" else store.indices
    values = full_values(store)
    out[at] = cast(values[at] if store.format == "bitmap" else values, dtype)
    return out


def guarded(function, *arguments):
    """function(*arguments); an error about duplicates is raised as ValueError that names `dup_op`."""
    try:
        return function(*arguments)
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
