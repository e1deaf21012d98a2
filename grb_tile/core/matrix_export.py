"""Export of a Matrix or a TransposedMatrix: NumPy arrays and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import operations as ops
from ..backends.select import current
from ..dtypes import cast, lookup_dtype
from ..storage.dense import flat_of, in_order, line_numbers
from ..storage.host_memory import check_memory
from ..storage.place import at, backend_of, host, host_array, is_copied_alone, is_host, own_values
from ..storage.store import Dense, full_values
from . import kinds
from .arguments import check_options, name_of_choice, whole_number
from .build import fill_dtype, filled, full_array
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
        """(rows, columns, values), sorted by rows, then columns; None for parts that are not requested.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> [x.tolist() for x in A.to_coo()]
        [[0, 0, 1], [0, 1, 1], [1, 2, 3]]
        """
        return self._positions_and_values((rows, columns), values, dtype)

    def to_edgelist(
        self, dtype: DTypeLike | None = None, *, values: bool = True, sort: bool = True
    ) -> tuple[Array, Any]:
        """(array of (row, column) pairs, values)

        Examples:
        >>> pairs, values = gb.Matrix.from_coo([0, 1], [1, 2], [5, 6]).to_edgelist()
        >>> pairs.tolist(), values.tolist()
        ([[0, 1], [1, 2]], [5, 6])
        """
        store = self._lined()
        if not is_copied_alone(store):
            rows, columns, held = self.to_coo(dtype, values=values, sort=sort)
            return np.column_stack([rows, columns]), held
        rows, columns, _ = backend_of(store).tuples(store)
        pairs = at(store, lambda xp: xp.stack((rows, columns), 1))  # one array to copy
        held = self._positions_and_values((False, False), True, dtype)[-1] if values else None
        return host_array(pairs).view(np.uint64), held

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
        store = self._lined(columnwise)
        if dtype is not None:  # first: what ranks convert is whole and ordinary, what they cast is distributed
            store = current().cast(store, lookup_dtype(dtype))
        store = current().convert(store, format)
        return store, own_values(store)

    def _compressed(self, columnwise, dtype):
        store, values = self._arrays(columnwise, dtype, "csr")
        return _positions(store.indptr), _positions(store.indices), values

    def _doubly_compressed(self, columnwise, dtype):
        store, values = self._arrays(columnwise, dtype, "dcsr")
        return _positions(store.rows), _positions(store.indptr), _positions(store.indices), values

    def to_csr(self, dtype: DTypeLike | None = None, *, sort: bool = True) -> tuple[Array, Array, Array]:
        """(indptr, col_indices, values): row i is col_indices[indptr[i]:indptr[i + 1]].

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> [x.tolist() for x in A.to_csr()]
        [[0, 2, 3], [0, 1, 1], [1, 2, 3]]
        """
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
        """{row: {column: value}}, or {column: {row: value}} for order="columnwise".

        Examples:
        >>> gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], [1, 2, 3]).to_dicts()
        {0: {0: 1, 1: 2}, 1: {1: 3}}
        """
        store, values = self._arrays(check_order(order) == "columnwise", None, "dcsr")
        lines, pointers, minor = map(host_array, (store.rows, store.indptr, store.indices))
        pointers, minor, values = pointers.tolist(), minor.tolist(), values.tolist()
        return {
            line: dict(zip(minor[start:stop], values[start:stop], strict=True))
            for line, start, stop in zip(lines.tolist(), pointers[:-1], pointers[1:], strict=True)
        }

    def to_dense(self, fill_value: ScalarLike | None = None, dtype: DTypeLike | None = None, **opts: Any) -> Array:
        """A two-dimensional array, `fill_value` standing for what is missing (required when something is).

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.to_dense(0).tolist()
        [[1, 2], [0, 3]]
        """
        if opts:
            check_options(opts)
        nrows, ncols = self.shape
        store, by_columns = self._positional()
        if self.nvals == nrows * ncols:
            if by_columns:
                values = full_values(host(store))  # copied below
                values = values if dtype is None else cast(values, lookup_dtype(dtype))
            else:
                values = full_array(store, dtype)
        else:
            if fill_value is None:
                raise TypeError("fill_value must be given in `to_dense` when there are missing values")
            fill, fill_type, _ = bound_scalar(self, fill_value, "to_dense", "fill_value", None, fill_dtype(self))
            check_memory(nrows * ncols * self.dtype.np_type.itemsize, f"to_dense: an array of {nrows * ncols} values")
            if store.format in ("csr", "dcsr"):
                store = store if is_copied_alone(store) else host(store)
                store = flat_of(store, line_numbers if is_host(store) else backend_of(store).line_numbers)
            values = filled(store, fill, fill_type, dtype)
        inner = values.shape[1:]  # of a sub-array type
        if by_columns:
            return np.array(values.reshape(ncols, nrows, *inner).swapaxes(0, 1), order="C")
        return values.reshape(nrows, ncols, *inner)

    def _positional(self):
        """(a store with the values line by line, are the lines columns?): of a dense matrix its vector.

        A device puts what is large in the order of rows.
        """
        transposed = self._is_transposed
        store = (self._matrix if transposed else self)._store
        alone = is_copied_alone(store)
        if type(store) is not Dense:
            return (backend_of(store).transpose(store), False) if transposed and alone else (store, transposed)
        by_columns = store.by_columns != transposed
        return (in_order(store, transposed).flat, False) if by_columns and alone else (store.flat, by_columns)

    def diag(self, k: int = 0, dtype: DTypeLike | None = None, *, name: str | None = None, **opts: Any) -> Vector:
        """The k-th diagonal as a Vector (k > 0: above the main one).

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.diag().to_dict(), A.diag(1).to_dict()
        ({0: 1, 1: 3}, {0: 2})
        """
        if opts:
            check_options(opts)
        dtype = self.dtype if dtype is None else lookup_dtype(dtype)
        k = whole_number(k, "k")
        source, k = (self._matrix, -k) if self._is_transposed else (self, k)
        store = ops.diagonal(source._store, k, dtype)
        return kinds.Vector._from_store(store, dtype, name)
