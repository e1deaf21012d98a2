"""Checks of the operands of this package's operations, before a backend is called."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.select import current
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import INT64
from ..exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from ..operators import get_typed_op
from ..storage import properties
from ..storage.convert import cached_transpose, keep_symmetric

EACH_ONCE = "each once"


def store_of(A: Any) -> Any:
    """The store of a Matrix.  Raises: TypeError for anything else."""
    if not isinstance(A, Matrix):
        raise TypeError(f"A: expected a Matrix, got {type(A).__name__}; make one with .new() or Matrix.from_coo(...)")
    return A._store


def square_store(name: str, A: Any) -> Any:
    """The store of a square Matrix.  Raises: TypeError, DimensionMismatch."""
    store = store_of(A)
    check_square(name, store)
    return store


def check_square(name: str, A: Any, AT: Any = None) -> None:
    """Raises: DimensionMismatch where A is not square, or AT of another shape."""
    if A.ncols != A.nrows or (AT is not None and AT is not A and AT.shape != A.shape):
        more = "" if AT is None or AT is A else f" and AT {AT.nrows} x {AT.ncols}"
        raise DimensionMismatch(f"{name}: A is {A.nrows} x {A.ncols}{more}; expected square matrices of one size")


def in_edges(store: Any, symmetric: bool) -> Any:
    """The store of A': A itself where they are equal, else the transpose, which is kept with A."""
    if symmetric or store.nrows != store.ncols or not store.dtype._is_udt and own_transpose(store):
        return store
    return cached_transpose(store) or current().transpose(store)


def own_transpose(store: Any) -> bool:
    """Is A = A', in structure and values?  Kept with A; where it is, no transpose is."""
    return properties.cached(store, "is_symmetric", lambda: _compare_with_transpose(store))


def _compare_with_transpose(store: Any) -> bool:
    if store.nrows != store.ncols:
        return False
    backend = current()
    transpose = cached_transpose(store) or backend.transpose(store)
    if transpose is store:
        return True
    if not backend.is_equal(store, transpose, get_typed_op("eq", store.dtype, store.dtype, kind="binary")):
        return False
    for each in (store, backend.to_device(store)):
        if each.forms is not None:
            each.forms.pop("transpose", None)
        keep_symmetric(each)
    return True


def vertices(name: str, given: Any, n: int) -> np.ndarray:
    """A vertex or a sequence of them as an int64 array.  Raises: TypeError where one is no integer, IndexOutOfBound."""
    values = np.asarray(given)
    if values.size == 0:
        return values.astype(np.int64)
    if values.dtype.kind not in "iu" or values.ndim > 1:
        raise TypeError(f"{name}: expected vertices, which are integers, got {given!r}; convert with int()")
    if values.min() < 0 or values.max() >= n:
        bad = int(values.min() if values.min() < 0 else values.max())
        expected = f"vertices 0 to {n - 1}" if n else "none, because the graph has no vertices"
        raise IndexOutOfBound(f"{name} has {bad}; expected {expected}")
    return values.astype(np.int64, copy=False)


def limit(name: str, max_level: int | None) -> None:
    """Raises: InvalidValue for a negative number of levels."""
    if max_level is not None and max_level < 0:
        raise InvalidValue(f"{name}: max_level is {max_level}; expected 0 or more, or None")


def order_of(order: Vector, n: int) -> Any:
    """The vertices in that order as an array of the backend in use.  Raises: DimensionMismatch, ValueError."""
    if order.size != n:
        raise DimensionMismatch(f"order: expected a Vector of size {n}, got {order.size}")
    store = (order if order.dtype is INT64 else order.dup(INT64))._store
    x = current().tuples(store)[1]
    if not properties.known(store).get(EACH_ONCE):
        each_once(x, n, "order")
    return x


def mark_each_once(order: Vector) -> Vector:
    """`order`, which has each vertex once because of the way it was made, so that nobody looks."""
    properties.cached(order._store, EACH_ONCE, lambda: True)
    return order


def each_once(x: Any, n: int, name: str) -> Any:
    """The array x of INT64 if it has each of the vertices 0 .. n - 1 once."""
    if n and x.shape == (n,):
        xp = current().xp if type(x) is not np.ndarray else np
        seen = xp.zeros(n, np.bool_)
        seen[xp.clip(x, 0, n - 1)] = True
        if bool(seen.all() & (x.min() >= 0) & (x.max() < n)):
            return x
    elif not n and not x.size:
        return x
    # a loop would write beyond its arrays, a kernel wait for ever for a vertex that never comes
    raise ValueError(f"{name}: expected each of the {n} vertices once, got others; graph.random_order makes one")


def of_length(x: Any, n: int, name: str) -> None:
    """Raises: DimensionMismatch where the array has not a number for each vertex."""
    if x.shape != (n,):
        raise DimensionMismatch(f"{name}: expected {n} numbers, one for each vertex, got an array of shape {x.shape}")


def by_vertex(x: np.ndarray, n: int, name: str, low: int, high: int) -> np.ndarray:
    """x as INT64, a number from low to high for each of n vertices: what a loop takes for positions of its arrays."""
    of_length(x, n, name)
    if n and not low <= x.min() <= x.max() <= high:
        raise IndexOutOfBound(f"{name}: expected numbers from {low} to {high}, got {x.min()} to {x.max()}")
    return x.astype(np.int64, copy=False)
