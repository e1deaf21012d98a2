"""Labels of vertices as arrays of the backend in use, so that nothing is copied from a GPU.

    sums_by_label, labels_in_order, quotient, inside

Rounds in which they change are in local_moves.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import binary, select, semiring
from ..backends.select import current
from ..core.arguments import flags
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import FP64, INT64
from ..storage.convert import keep_symmetric
from ..storage.store import BitmapVector, index_dtype


def vector_of(values: Any) -> Vector:
    """The full vector of an array of int64 or float64."""
    dtype = INT64 if values.dtype.kind == "i" else FP64
    return Vector._from_store(BitmapVector(values.shape[0], dtype, None, values, values.shape[0]))


def array_of(labels: np.ndarray) -> Any:
    """A NumPy array of int64 as an array of the backend in use."""
    return current().array(labels, np.int64)


def positions(v: Vector) -> Any:
    """The positions of a vector's entries, ascending, INT64."""
    return current().tuples(v._store)[0]


def entries(v: Vector) -> Any:
    """The values of a vector's entries by ascending position."""
    store = v._store
    plain = store.format == "sparse" or (store.words is None and store.nvals == store.size)
    return store.values if plain and not store.iso and not store.is_part else current().tuples(store)[1]


def dense(v: Vector) -> Any:
    """The values of a vector by position, 0 where it has no entry."""
    values = current().xp.zeros(v.size, v.dtype.np_type)
    at, found = current().tuples(v._store)
    values[at] = found
    return values


def sums_by_label(labels: Any, values: Any, size: int) -> Any:
    """t(c) = [+_k values(k) over labels(k) = c]; FP64."""
    return current().sum_by_label(labels, values, size)


def labels_in_order(labels: Any) -> tuple[Any, int]:
    """(the labels, each 0 .. n - 1, as numbers 0, 1, 2 ... in the order of their first nodes; how many)."""
    xp, n = current().xp, labels.shape[0]
    if not n:
        return labels, 0
    labels = current().array(labels)
    nodes, backend = xp.arange(n, dtype=index_dtype(n)), current()
    head = backend.first_by_label(backend.array(labels, np.int64), n)[labels]  # the first node of each node's label
    number = xp.cumsum(head == nodes) - 1
    return number[head], int(number[-1]) + 1


def array_namespace() -> Any:
    """The module of the arrays that labels are: NumPy, or CuPy where a GPU computes."""
    return current().xp


def symmetric_rows(A: Matrix) -> Matrix:
    """A, which is symmetric, as CSR and known to be: kernels of rows have none for a matrix that lists its rows."""
    if A._store.format != "csr":
        A = Matrix._from_store(current().convert(A._store, "csr"), name=A.name)
    keep_symmetric(A._store)
    return A


def inside(B: Matrix, x: Any) -> Matrix:
    """E(i, j) = B(i, j) where x(i) = x(j), for a symmetric B; CSR."""
    backend, B = current(), symmetric_rows(B)
    found = backend.entries_inside(B._store, backend.array(x, np.int64))
    if found is not NotImplemented:
        return symmetric_rows(Matrix._from_store(found, name="E"))
    c = vector_of(x)
    X = semiring.any_first[INT64](c.diag() @ B).new(name="X")
    same = select.valueeq(binary.eq(X & c).new(), True).new(name="same")
    return symmetric_rows(binary.first(B & same).new(name="E"))


def quotient(B: Matrix, labels: Any, count: int, plus: str = "plus", *, inner: bool = True) -> Matrix:
    """C = S' B S over the monoid named `plus`, S(i, labels(i)) = 1: the `count` classes of equal labels as vertices.

    inner   False: without the entries within classes, C(c, c), of a symmetric B
    """
    n, backend = labels.shape[0], current()
    flags(inner=inner)
    found = backend.quotient(B._store, backend.array(labels, np.int64), count, getattr(binary, plus)[B.dtype], inner)
    if found is not NotImplemented:
        return Matrix._from_store(found, name="quotient")
    S = Matrix.from_coo(current().xp.arange(n), labels, True, nrows=n, ncols=count, name="S")
    # S' (B S) by (+).first and (+).second, which leave B's values as they are
    first, second = (getattr(semiring, f"{plus}_{op}")[B.dtype] for op in ("first", "second"))
    C = second(S.T @ first(B @ S).new()).new(name="quotient")
    return C if inner else select.offdiag(C).new(name="quotient")
