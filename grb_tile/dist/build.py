"""Distributed objects of what each rank has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arguments import dimension, indices_array, values_array
from ..core.build import build_operator, check_bounds, guarded, refuse_with_scalar
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..exceptions import DimensionMismatch, InvalidValue
from .world import owned, world

if TYPE_CHECKING:
    from ..core.annotations import ArrayLike, DTypeLike, OperatorLike


def from_coo(
    rows: ArrayLike,
    columns: ArrayLike,
    values: ArrayLike = 1.0,
    dtype: DTypeLike | None = None,
    *,
    nrows: int | None = None,
    ncols: int | None = None,
    dup_op: OperatorLike | None = None,
    name: str | None = None,
) -> Matrix:
    """The matrix of the entries that all ranks pass: each passes any part of them, which goes to the rows' owners.

    nrows, ncols: equal on all ranks; by default one more than the greatest index of any rank.
    dup_op: combines values of equal positions, in the order of ranks; without it they are an error.
    Types: the dtype of all ranks' values must be one.
    Raises: ValueError for duplicates, IndexOutOfBound; on every rank.
    Cost: each entry moves once.
    """
    backend = world()._backend

    def given() -> tuple[Any, ...]:
        i, j = indices_array(rows, "row indices"), indices_array(columns, "column indices")
        x, kind = values_array(values, dtype, subarray_after=1)
        one = x.ndim == 0
        if one:
            refuse_with_scalar(dup_op)
            x = x.reshape(1)
        if i.size != j.size or not one and x.shape[0] != i.size:
            raise ValueError(f"lengths must match: rows {i.size}, columns {j.size}, values {x.shape[0]}")
        sizes = [n if n is None else dimension(n, name) for n, name in ((nrows, "nrows"), (ncols, "ncols"))]
        return i, j, x, kind, one, sizes

    i, j, x, own, one, sizes = backend.together(given, "from_coo", Exception)
    kind = backend.agreed_type(own, x.tobytes() if one else None, not one and dtype is None and not i.size)
    if kind is not own:  # of a rank without entries
        x = np.zeros(0, kind.np_type)
    shape = backend.agreed_shape(*sizes, i, j)
    out = Matrix(kind, *shape, name=name)

    def check() -> None:
        check_bounds(i, shape[0], "row index")
        check_bounds(j, shape[1], "column index")

    backend.together(check, "from_coo")
    dup = build_operator(out, dup_op)
    store = guarded(lambda: backend.build_shared(*shape, i, j, x, dup, out.dtype, one))
    return Matrix._from_store(owned(backend, store), out.dtype, name)


def distribute(x: Matrix | Vector | None, root: int = 0, *, name: str | None = None) -> Any:
    """The distributed object of an ordinary one that rank `root` has; the others pass None, or anything.

        with gb.dist.local():
            A = gb.io.read("graph.mtx").matrix if world.rank == 0 else None
        A = gb.dist.distribute(A)

    Cost: each entry moves once, from that rank.
    """
    backend = world()._backend
    mine = x if backend.rank == root else None

    def check() -> None:
        if backend.rank == root and not isinstance(x, Matrix | Vector):
            raise TypeError(f"x: expected a Matrix or a Vector on rank {root}, got {type(x).__name__}")
        if mine is not None and mine.placement is not None and backend.size > 1:
            raise InvalidValue("x: expected an ordinary object, of gb.dist.local(); this one is distributed already")

    backend.together(check, "distribute", Exception)
    cls, dtype = backend.comm.broadcast(None if mine is None else (type(mine), mine.dtype), root, "distribute")
    store = backend.scattered(None if mine is None else mine._store, root, dtype)
    return cls._from_store(owned(backend, store), dtype, name)


def from_local(
    part: Matrix | Vector, first_row: int | None = None, nrows: int | None = None, *, name: str | None = None
) -> Any:
    """The matrix (vector) whose rows (positions) first_row, first_row + 1, ... of this rank are those of `part`.

    first_row: by default the parts follow one another in the order of ranks.
    nrows: rows of the whole, by default those of all parts; more are left without entries on the last rank.
    Raises: DimensionMismatch where the parts leave a gap or overlap, or differ in the number of columns.
    Cost: nothing moves where ranges are of a multiple of 64 rows; else each entry moves once.
    """
    backend = world()._backend

    def given() -> tuple[Any, ...]:
        sizes = [n if n is None else dimension(n, name) for n, name in ((first_row, "first_row"), (nrows, "nrows"))]
        return part._store, *sizes

    store = backend.of_parts(*backend.together(given, "from_local", Exception), DimensionMismatch)
    return type(part)._from_store(owned(backend, store), part.dtype, name)
