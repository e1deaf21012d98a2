"""Export of a Matrix or a TransposedMatrix: NumPy arrays and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import operations as ops
from ..backends.select import current
from ..dtypes import cast, lookup_dtype
from ..storage.host_memory import check_memory
from ..storage.place import host, host_array
from ..storage.store import Dense, full_values
from . import kinds
from .arguments import check_options, name_of_choice, whole_number
from .build import fill_dtype, filled, put_bitmap
from .collection import bound_scalar

if TYPE_CHECKING:
    from typing import Any

    from .annotations import Array, DTypeLike, ScalarLike
    from .vector import Vector

_ORDERS = {
    **dict.fromkeys(("c", "row", "rows", "rowwise"), "rowwise"),
    **dict.fromkeys(("f", "col", "cols", "column", "columns", "colwise", "columnwise"), "columnwise"),
}  # fmt: skip


def check_order(order: str) -> str:
    """ "rowwise" or "columnwise", from any of their names."""
    found = _ORDERS.get(name_of_choice(order, "order"))
    if found is None:
        raise ValueError(
            f'Bad value for order: {order!r}.  Expected "rowwise", "columnwise", "rows", "columns", "C", or "F"'
        )
    return found


def _positions(array):
    """A copy as uint64 on the host, made where the array resides."""
    return host_array(array.astype(np.uint64))


class MatrixExport:
    """Mixin: exporters, all of them copies.  Positions come as uint64."""

    __slots__ = ()

    def to_coo(
        self,
        dtype: DTypeLike | None = None,
        *,
        rows: bool = True,
        columns: bool = True,
        values: bool = True,
        sort: bool = True,
    ) -> tuple[Any, ...]:
        """(rows, columns, values), sorted by rows, then columns; None for parts that are not requested."""
        return self._positions_and_values((rows, columns), values, dtype)

    def to_edgelist(
        self, dtype: DTypeLike | None = None, *, values: bool = True, sort: bool = True
    ) -> tuple[Array, Any]:
        """(array of (row, column) pairs, values)"""
        rows, columns, held = self.to_coo(dtype, values=values, sort=sort)
        return np.column_stack([rows, columns]), held

    def _lined(self, columnwise=False):
        """The store whose rows are this matrix's rows, or columns."""
        store = (self._matrix if self._is_transposed else self)._store
        return store if columnwise == self._is_transposed else current().transpose(store)  # cached with the store

    def _by_lines(self, columnwise, dtype):
        """(major, minor, values) sorted by `major`: rows, or columns when columnwise."""
        major, minor, values = current().tuples_matrix(self._lined(columnwise))
        return major, minor, values if dtype is None else cast(values, lookup_dtype(dtype))

    def _arrays(self, columnwise, dtype, format):
        """The store of `format`, where it resides, and its values, a copy on the host."""
        store = current().convert(self._lined(columnwise), format)
        if dtype is not None:
            store = current().cast(store, lookup_dtype(dtype))
        held = host_array(store.values)
        values = full_values(store.with_values(store.dtype, held, store.iso))
        return store, np.array(values) if store.iso or held is store.values else values

    def _compressed(self, columnwise, dtype):
        store, values = self._arrays(columnwise, dtype, "csr")
        return _positions(store.indptr), _positions(store.indices), values

    def _doubly_compressed(self, columnwise, dtype):
        store, values = self._arrays(columnwise, dtype, "dcsr")
        return _positions(store.rows), _positions(store.indptr), _positions(store.indices), values

    def to_csr(self, dtype: DTypeLike | None = None, *, sort: bool = True) -> tuple[Array, Array, Array]:
        """(indptr, col_indices, values): row i is col_indices[indptr[i]:indptr[i + 1]]."""
        return self._compressed(False, dtype)

    def to_csc(self, dtype: DTypeLike | None = None, *, sort: bool = True) -> tuple[Array, Array, Array]:
        """(indptr, row_indices, values): column j is row_indices[indptr[j]:indptr[j + 1]]."""
        return self._compressed(True, dtype)

    def to_dcsr(self, dtype: DTypeLike | None = None, *, sort: bool = True) -> tuple[Array, Array, Array, Array]:
        """(compressed_rows, indptr, col_indices, values): only the rows with entries."""
        return self._doubly_compressed(False, dtype)

    def to_dcsc(self, dtype: DTypeLike | None = None, *, sort: bool = True) -> tuple[Array, Array, Array, Array]:
        """(compressed_cols, indptr, row_indices, values): only the columns with entries."""
        return self._doubly_compressed(True, dtype)

    def to_dicts(self, order: str = "rowwise") -> dict[int, dict[int, Any]]:
        """{row: {column: value}}, or {column: {row: value}} for order="columnwise"."""
        store, values = self._arrays(check_order(order) == "columnwise", None, "dcsr")
        lines, pointers, minor = map(host_array, (store.rows, store.indptr, store.indices))
        pointers, minor, values = pointers.tolist(), minor.tolist(), values.tolist()
        return {
            line: dict(zip(minor[start:stop], values[start:stop], strict=True))
            for line, start, stop in zip(lines.tolist(), pointers[:-1], pointers[1:], strict=True)
        }

    def to_dense(self, fill_value: ScalarLike | None = None, dtype: DTypeLike | None = None, **opts: Any) -> Array:
        """A two-dimensional array, `fill_value` standing for what is missing (required when something is)."""
        if opts:
            check_options(opts)
        nrows, ncols = self.shape
        if self._is_transposed:
            return np.ascontiguousarray(self._matrix.to_dense(fill_value, dtype).swapaxes(0, 1))
        if type(self._store) is Dense:
            found = self._full_array(None if dtype is None else lookup_dtype(dtype))
            if found is not None:
                return found
        if self.nvals == nrows * ncols:
            v = self._tuples()[2]
            v = v if dtype is None else cast(v, lookup_dtype(dtype))
            return np.array(v).reshape(nrows, ncols, *v.shape[1:])
        if fill_value is None:
            raise TypeError("fill_value must be given in `to_dense` when there are missing values")
        fill, fill_type, _ = bound_scalar(self, fill_value, "to_dense", "fill_value", None, fill_dtype(self))
        out, dtype = filled(self.shape, fill, fill_type, self.dtype, dtype)
        if type(self._store) is Dense:
            shape, view = (nrows, ncols), out
            if self._store.by_columns:
                shape, view = (ncols, nrows), out.swapaxes(0, 1)
            put_bitmap(view, shape, self._store.flat, dtype)
        else:
            i, j, v = self._tuples()
            out[i, j] = cast(v, dtype)
        return out

    def _full_array(self, dtype):
        """The values of a full matrix as a two-dimensional array of its own; None where an entry is missing."""
        store = self._store
        if store.flat.words is not None:
            return None
        own = self.dtype if dtype is None else dtype
        check_memory(store.flat.size * own.np_type.itemsize, f"to_dense: an array of {store.flat.size} values")
        flat = host(store).flat
        values = full_values(flat) if dtype is None else cast(full_values(flat), dtype)
        lines, width = (store.ncols, store.nrows) if store.by_columns else (store.nrows, store.ncols)
        values = values.reshape(lines, width, *values.shape[1:])
        return np.array(values.swapaxes(0, 1) if store.by_columns else values, order="C")

    def diag(self, k: int = 0, dtype: DTypeLike | None = None, *, name: str | None = None, **opts: Any) -> Vector:
        """The k-th diagonal as a Vector (k > 0: above the main one)."""
        if opts:
            check_options(opts)
        dtype = self.dtype if dtype is None else lookup_dtype(dtype)
        k = whole_number(k, "k")
        source, k = (self._matrix, -k) if self._is_transposed else (self, k)
        store = ops.diagonal(source._store, k, dtype)
        return kinds.Vector._from_store(store, dtype, name)
