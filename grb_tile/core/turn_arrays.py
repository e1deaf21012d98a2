"""to_coo, to_dense and from_coo of vectors in a loop that runs on the device: TurnArrays in place of NumPy's arrays."""

from __future__ import annotations

from typing import Any

from ..backends.select import current
from ..dtypes import BOOL, lookup_dtype
from ..exceptions import CaptureError
from ..operators import get_typed_op
from ..storage.constructors import full_vector
from ..storage.place import is_host
from ..storage.turn_array import TurnArray
from . import elements, kinds, tracing
from .arguments import literal
from .build import build_operator, refuse_with_scalar
from .index import Resolved
from .number import Number


def in_turn(vector: Any) -> bool:
    """Are the entries of the vector on the device, in a loop that runs there?"""
    return tracing.current() is not None and vector.ndim == 1 and not is_host(vector._store)


def entries(vector: Any, indices: bool, values: bool, dtype: Any) -> tuple[Any, Any]:
    """What to_coo gives: (positions, values), None for what is not wanted."""
    store = vector._store
    held = store if dtype is None else current().cast(store, lookup_dtype(dtype))
    return TurnArray(store, True) if indices else None, TurnArray(held) if values else None


def dense(vector: Any, fill: Any, dtype: Any) -> Any:
    """What to_dense gives.  Raises: TypeError for a vector that may have gaps, without a value for these."""
    store, dtype = vector._store, vector.dtype if dtype is None else lookup_dtype(dtype)
    if store.nvals_if_read != store.size:
        if fill is None:
            raise TypeError("fill_value must be given in `to_dense` when there are missing values")
        second = get_typed_op("second", dtype, kind="binary")
        store = current().union(full_vector(store.size, dtype, literal(fill, dtype)[0]), store, second, dtype=dtype)
    elif dtype is not store.dtype:
        store = current().cast(store, dtype)
    return TurnArray(store)


def as_region(target: Any, resolved: Any, value: Any) -> tuple[Any, Any]:
    """(the indices, what is written) of `target[indices] << value`: one position of the loop becomes a region, and a
    number of the loop a vector.
    """
    positions = [axis.index for axis in resolved.indices if type(axis.index) is TurnArray]
    if type(value) is not Number and not positions:
        return resolved, value
    if target.ndim != 1:
        raise CaptureError("programs: at positions of the loop, or with a number of it, a part of a Matrix is written")
    axis = resolved.indices[0]
    if axis.size is None:
        start = 0 if positions else axis.index
        resolved = Resolved(target, slice(start, start + 1))
        if positions:
            resolved.indices[0].index = axis.index
    if type(value) is not Number:
        return resolved, value
    if not positions:
        return resolved, value.spread(resolved.shape[0], target.dtype)
    spread = value.spread(axis.index.store.size, target.dtype)
    return resolved, TurnArray(spread._store, repeated=True)


def element(parent: Any, resolved: Any) -> Any:
    """The Number of `parent[k]`, of a vector without gaps on the device; None where it is another element."""
    index = resolved.indices[0].index
    if parent.ndim == 2:
        if any(type(axis.index) is TurnArray for axis in resolved.indices):
            raise CaptureError("programs: an element of a Matrix at a number of the loop: write A[k, :]")
        return None
    store = parent._store
    if not in_turn(parent) or store.nvals_if_read != store.size:
        if type(index) is TurnArray:
            raise CaptureError("programs: an element of a vector that may have gaps, at a number of the loop")
        return None
    at = range(index, index + 1) if type(index) is int else index
    return Number(kinds.Vector._from_store(current().gather_vector(store, at), parent.dtype))


EXTREMES = {"argmin": "min", "argmax": "max"}


def place_of_extreme(vector: Any, name: str) -> Any:
    """The expression of the first position of the least or greatest value; None where the host can tell."""
    if vector.ndim != 1 or tracing.current() is None or vector.dtype.np_type.kind == "c":
        return None
    extreme = vector.reduce(name).new()
    if type(extreme) is not Number:
        return None
    return vector.select("==", extreme).apply("rowindex").new().reduce("min")


def line(A: Any, first: Any, second: Any) -> Any:
    """The expression of A[k, :], or A[:, k], for a number k of the loop: a product with a vector of one entry."""
    axis, other = (first, second) if type(first.index) is TurnArray else (second, first)
    if axis.size is not None or other.index is not None:
        raise CaptureError("programs: a part of a Matrix at positions of the loop; one row or one column is captured")
    at = current().expand_vector(full_vector(1, BOOL, True), axis.index, axis.dimsize)
    one = kinds.Vector._from_store(at)
    return one.vxm(A, "any_second") if axis is first else A.mxv(one, "any_first")


def assigned(resolved: Any, value: TurnArray) -> Any:
    """The Vector of `target[indices] << value`.  Raises: CaptureError where there is no value for each position."""
    index = resolved.indices[0].index
    if value.is_index or len(resolved.indices) != 1 or type(index) is TurnArray and not index.fits(value):
        raise CaptureError("programs: an array of the loop that has no value for each of the positions is assigned")
    if type(index) is not TurnArray and value.shape != resolved.shape:
        raise CaptureError("programs: an array of another size than the region is assigned")
    return kinds.Vector._from_store(value.store)


def type_of(values: Any, dtype: Any) -> Any:
    """The type of a vector of these values."""
    if dtype is not None:
        return lookup_dtype(dtype)
    return lookup_dtype(values.dtype) if type(values) is TurnArray else literal(values)[1]


def of_dense(values: TurnArray, dtype: Any, name: str | None) -> Any:
    """Vector.from_dense(values)"""
    if values.has_gaps or values.is_index:
        raise CaptureError("programs: from_dense of an array that is not of a full vector's values")
    dtype = type_of(values, dtype)
    store = values.store if dtype is values.store.dtype else current().cast(values.store, dtype)
    return kinds.Vector._from_store(store, dtype, name)


def build(vector: Any, indices: Any, values: Any, dup_op: Any, clear: bool, size: int | None) -> None:
    """Vector.build"""
    if size not in (None, vector.size) or not clear and vector._store.nvals_if_read != 0:
        raise CaptureError("programs: `build` in a loop needs clear=True and the size that the vector has")
    elements.note_write(vector)
    made = built(kinds.Vector(vector.dtype, vector.size), indices, values, vector.size, dup_op)
    elements.reset(vector, made._store)


def from_coo(
    cls: Any, indices: Any, values: Any, dtype: Any, size: int | None, dup_op: Any, name: str | None
) -> Any:  # fmt: skip
    """Vector.from_coo"""
    return built(cls(type_of(values, dtype), size or 0, name=name), indices, values, size, dup_op)


def built(out: Any, indices: Any, values: Any, size: int | None, dup_op: Any) -> Any:
    """`out`, empty, of a type and a size, as from_coo(indices, values, ...) makes it.

    Raises: CaptureError for arrays that are not of the entries of one vector, or of full ones.
    """
    if type(indices) is not TurnArray or size is None:
        raise CaptureError("programs: from_coo of values of the loop needs positions of the loop, too, and size=...")
    if indices.dtype.kind not in "iu":
        raise ValueError(f"indices must be integers, not {indices.dtype.name}")
    if type(values) is TurnArray:
        if not indices.fits(values):
            raise CaptureError("programs: from_coo of arrays of different vectors that have gaps, or of other sizes")
        store = values.store
        if values.is_index:
            number = get_typed_op("positioni", store.dtype, kind="unary")
            store = current().apply(store, number, None)
        store = store if store.dtype is out.dtype else current().cast(store, out.dtype)
        dup = build_operator(out, dup_op)
    else:
        refuse_with_scalar(dup_op)
        store = full_vector(indices.store.size, out.dtype, literal(values, out.dtype)[0])
        dup = get_typed_op("any", out.dtype, kind="binary")
    out._store = current().build_vector(size, indices, store, dup, out.dtype)
    return out
