"""How a Matrix is made of arrays, lists and dicts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import operations as ops
from ..backends.select import current
from ..dtypes import lookup_dtype
from ..exceptions import IndexOutOfBound, InvalidObject, InvalidValue
from ..operators import get_typed_op
from ..storage.constructors import empty_matrix, full_matrix
from ..storage.store import BitmapVector, Dense
from . import elements
from .arguments import check_options, dimension, indices_array, scalar_of, values_array
from .build import build_operator, check_bounds, check_empty, guarded, leave_out, refuse_with_scalar
from .collection import bound_scalar
from .device_input import line_numbers, on_device
from .matrix_export import check_order

if TYPE_CHECKING:
    from typing import Any, Self

    from .annotations import ArrayLike, DTypeLike, OperatorLike, ScalarLike


class MatrixBuild:
    """Mixin: constructors of Matrix, and `build`."""

    __slots__ = ()

    def build(
        self,
        rows: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        *,
        dup_op: OperatorLike | None = None,
        clear: bool = False,
        nrows: int | None = None,
        ncols: int | None = None,
    ) -> None:
        """Put entries into an empty matrix; `from_coo` is the usual way.

        dup_op: combines values of equal positions; without it they are an error.
        clear: remove the present entries first.  nrows, ncols: change the shape first.
        Raises: ValueError for lengths that differ or duplicates; OutputNotEmpty; IndexOutOfBound.
        The matrix is then unchanged: it is cleared and resized only if the entries can be built.

        Examples:
        >>> A = gb.Matrix(int, 2, 2)
        >>> A.build([0, 1, 1], [1, 0, 0], [5, 6, 7], dup_op=gb.binary.plus)
        >>> A.to_dicts()
        {0: {1: 5}, 1: {0: 13}}
        """
        rows = indices_array(rows, "row indices")
        columns = indices_array(columns, "column indices")
        values, _ = values_array(values, self.dtype)
        check_lengths(rows, columns, values)
        resized = nrows is not None or ncols is not None
        shape = (
            self._nrows if nrows is None else dimension(nrows, "nrows"),
            self._ncols if ncols is None else dimension(ncols, "ncols"),
        )
        store = empty_matrix(*shape, self.dtype) if clear else self._store
        if resized and not clear:
            store = ops.resize_matrix(store, *shape)
        if rows.size:
            dup = build_operator(self, dup_op)
            check_bounds(rows, shape[0], "row index")
            check_bounds(columns, shape[1], "column index")
            check_empty(self, store)
            store = guarded(lambda: current().build_matrix(*shape, rows, columns, values, dup, self.dtype))
        elements.reset(self, store)
        self._set_shape(*shape)
        if clear:
            self._log("clear")
        if resized:
            self._log("resize", f"{shape[0]}, {shape[1]}")
        if rows.size:
            self._log(f"build_{self.dtype}", f"..., {rows.size}")

    def _build(self, rows, columns, values, dup):
        """Build into a new, empty matrix."""
        check_bounds(rows, self._nrows, "row index")
        check_bounds(columns, self._ncols, "column index")
        self._store = guarded(
            lambda: current().build_matrix(self._nrows, self._ncols, rows, columns, values, dup, self.dtype)
        )
        self._log(f"build_{self.dtype}", f"..., {rows.size}")

    @classmethod
    def from_coo(
        cls,
        rows: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike = 1.0,
        dtype: DTypeLike | None = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        dup_op: OperatorLike | None = None,
        name: str | None = None,
    ) -> Self:
        """A matrix of entries values[k] at (rows[k], columns[k]); a scalar stands for all values and stores one.

        nrows, ncols: one more than the greatest index by default.
        dup_op: combines values of equal positions, which are an error without it.

        Examples:
        >>> A = gb.Matrix.from_coo([0, 0, 2], [1, 2, 0], [1.5, 2.5, 3.5])
        >>> A.shape, A.nvals, A.dtype
        ((3, 3), 3, FP64)
        """
        rows = indices_array(rows, "row indices")
        columns = indices_array(columns, "column indices")
        values, dtype = values_array(values, dtype, subarray_after=1)
        if nrows is None:
            if rows.size == 0:
                raise ValueError("No row indices provided. Unable to infer nrows.")
            nrows = int(rows.max()) + 1
        if ncols is None:
            if columns.size == 0:
                raise ValueError("No column indices provided. Unable to infer ncols.")
            ncols = int(columns.max()) + 1
        out = cls(dtype, nrows, ncols, name=name)
        if values.ndim == 0:
            refuse_with_scalar(dup_op)
            if rows.size != columns.size:
                raise ValueError(f"`rows` and `columns` lengths must match: {rows.size}, {columns.size}")
            if rows.size:
                out._build(rows, columns, values.reshape(1), get_typed_op("any", dtype, kind="binary"))
        else:
            check_lengths(rows, columns, values)
            if rows.size:
                out._build(rows, columns, values, build_operator(out, dup_op))
        return out

    @classmethod
    def from_edgelist(
        cls,
        edgelist: Any,
        values: ArrayLike | None = None,
        dtype: DTypeLike | None = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        dup_op: OperatorLike | None = None,
        name: str | None = None,
    ) -> Self:
        """A matrix of (row, column) pairs or (row, column, value) triples; see from_coo.

        Examples:
        >>> gb.Matrix.from_edgelist([(0, 1, 5), (1, 2, 6)]).to_dicts()
        {0: {1: 5}, 1: {2: 6}}
        """
        own_values = None
        if isinstance(edgelist, np.ndarray):
            if edgelist.ndim != 2:
                raise ValueError(f"edgelist array must have 2 dimensions (nvals x 2); got {edgelist.ndim}")
            if edgelist.shape[1] == 3:
                raise ValueError(
                    "edgelist as NumPy array only supports ``(row, column)``; values must be passed separately."
                )
            if edgelist.shape[1] != 2:
                raise ValueError(
                    f"Last dimension of edgelist array must be length 2 (for row and column); got {edgelist.shape[1]}"
                )
            there = on_device(edgelist)
            pairs = edgelist if there is None else there
            rows, columns = pairs[:, 0], pairs[:, 1]
        else:
            parts = list(zip(*edgelist, strict=True))
            if len(parts) not in (0, 2, 3):
                raise ValueError(
                    "Each item in the edgelist must have two or three elements "
                    f"(for row and column index, and maybe values); got {len(parts)}"
                )
            found: Any = (*parts, None)[:3] if parts else ((), (), None)
            rows, columns, own_values = found
        if values is None:
            values = 1.0 if own_values is None else own_values
        elif own_values is not None:
            raise TypeError("Too many sources of values: from `edgelist` triples and from `values=` argument")
        return cls.from_coo(rows, columns, values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)

    @classmethod
    def from_csr(
        cls,
        indptr: ArrayLike,
        col_indices: ArrayLike,
        values: ArrayLike = 1.0,
        dtype: DTypeLike | None = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Self:
        """A matrix of the arrays of CSR; see to_csr.

        Examples:
        >>> gb.Matrix.from_csr([0, 2, 3], [0, 1, 1], [1, 2, 3]).to_dicts()
        {0: {0: 1, 1: 2}, 1: {1: 3}}
        """
        return cls._from_compressed(indptr, col_indices, values, dtype, nrows, ncols, name, False)

    @classmethod
    def from_csc(
        cls,
        indptr: ArrayLike,
        row_indices: ArrayLike,
        values: ArrayLike = 1.0,
        dtype: DTypeLike | None = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Self:
        """A matrix of the arrays of CSC; see to_csc."""
        return cls._from_compressed(indptr, row_indices, values, dtype, ncols, nrows, name, True)

    @classmethod
    def _from_compressed(cls, indptr, indices, values, dtype, lines, width, name, columnwise):
        line, other = ("col", "row") if columnwise else ("row", "col")
        indptr = indices_array(indptr, "index pointers")
        indices = indices_array(indices, f"{'row' if columnwise else 'column'} indices")
        values, dtype = values_array(values, dtype, subarray_after=1)
        if indptr.size == 0:
            raise InvalidValue("indptr array must not be empty")
        if lines is not None and indptr.size - 1 != lines:
            raise ValueError(
                f"n{line}s must be None or equal to len(indptr) - 1; expected {lines}, got {indptr.size - 1}"
            )
        _check_pointers(indptr, indices, values)
        lines = indptr.size - 1
        if width is None:
            width = int(indices.max()) + 1 if indices.size else 0
        major = line_numbers(current().array(indptr), lines, None, indices.size)
        return cls._from_lines(major, indices, values, dtype, lines, width, name, columnwise, other)

    @classmethod
    def _from_lines(cls, major, minor, values, dtype, lines, width, name, columnwise, other):
        width = dimension(width, f"n{other}s")
        try:
            check_bounds(minor, width, f"{other} index")
        except IndexOutOfBound as exc:
            raise InvalidObject(f"the arrays make no matrix: {exc}") from None
        if columnwise:
            return cls.from_coo(minor, major, values, dtype, nrows=width, ncols=lines, name=name)
        return cls.from_coo(major, minor, values, dtype, nrows=lines, ncols=width, name=name)

    @classmethod
    def from_dcsr(
        cls,
        compressed_rows: ArrayLike,
        indptr: ArrayLike,
        col_indices: ArrayLike,
        values: ArrayLike = 1.0,
        dtype: DTypeLike | None = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Self:
        """A matrix of the arrays of DCSR; see to_dcsr."""
        return cls._from_doubly(compressed_rows, indptr, col_indices, values, dtype, nrows, ncols, name, False)

    @classmethod
    def from_dcsc(
        cls,
        compressed_cols: ArrayLike,
        indptr: ArrayLike,
        row_indices: ArrayLike,
        values: ArrayLike = 1.0,
        dtype: DTypeLike | None = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Self:
        """A matrix of the arrays of DCSC; see to_dcsc."""
        return cls._from_doubly(compressed_cols, indptr, row_indices, values, dtype, ncols, nrows, name, True)

    @classmethod
    def _from_doubly(cls, compressed, indptr, indices, values, dtype, lines, width, name, columnwise):
        other = "row" if columnwise else "col"
        indptr = indices_array(indptr, "indptr")
        compressed = indices_array(compressed, f"compressed {'cols' if columnwise else 'rows'}")
        indices = indices_array(indices, f"{other} indices")
        values, dtype = values_array(values, dtype, subarray_after=1)
        if indptr.size == 0:
            raise InvalidValue("indptr array must not be empty")
        if compressed.size != indptr.size - 1:
            raise InvalidValue(
                f"indptr must have one more place than the list of lines: {indptr.size}, {compressed.size}"
            )
        _check_pointers(indptr, indices, values)
        if lines is None:
            lines = int(compressed.max()) + 1 if compressed.size else 0
        if width is None:
            width = int(indices.max()) + 1 if indices.size else 0
        major = line_numbers(current().array(indptr), lines, compressed, indices.size)
        return cls._from_lines(major, indices, values, dtype, lines, width, name, columnwise, other)

    @classmethod
    def from_scalar(
        cls, value: Any, nrows: int, ncols: int, dtype: DTypeLike | None = None, *, name: str | None = None, **opts: Any
    ) -> Self:
        """A matrix with `value` everywhere; one value is stored.

        Examples:
        >>> gb.Matrix.from_scalar(7, 2, 3).to_dense().tolist()
        [[7, 7, 7], [7, 7, 7]]
        """
        if opts:
            check_options(opts)
        value, found, _ = bound_scalar(cls(), value, "from_scalar", "value", None, dtype)
        dtype = found if dtype is None else lookup_dtype(dtype)
        nrows, ncols = dimension(nrows, "nrows"), dimension(ncols, "ncols")
        return cls._from_store(full_matrix(nrows, ncols, dtype, scalar_of(value, dtype)), dtype, name)

    @classmethod
    def from_dense(
        cls,
        values: ArrayLike,
        missing_value: ScalarLike | None = None,
        *,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Self:
        """A matrix of a two-dimensional array or a list of lists; elements equal to `missing_value` are left out.

        Examples:
        >>> gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0).to_dicts()
        {0: {0: 1, 1: 2}, 1: {1: 3}}
        """
        if opts:
            check_options(opts)
        values, dtype = values_array(values, dtype, subarray_after=2)
        if values.ndim == 0:
            raise TypeError(
                "values must be an array or list, not a scalar. "
                "To create a dense Matrix from a scalar, use `Matrix.from_scalar`."
            )
        if values.ndim == 1:
            raise ValueError("A 2d array or scalar is required to create a dense Matrix")
        if values.ndim == 2 and dtype.np_type.subdtype is not None:
            raise ValueError("A >2d array is required to create a dense Matrix with subdtype")
        if values.ndim > 2 and dtype.np_type.subdtype is None:
            raise ValueError(f"values array must be 2d to create dense Matrix with dtype {dtype}")
        nrows, ncols = values.shape[:2]
        if nrows == 0 or ncols == 0:
            return cls(dtype, nrows, ncols, name=name)  # no entries: nothing as long as a dimension
        flat = values.flatten() if values.ndim == 2 else values.copy().reshape(nrows * ncols, *values.shape[2:])
        store = Dense(nrows, ncols, BitmapVector(nrows * ncols, dtype, None, flat, nrows * ncols))
        return leave_out(cls._from_store(store, dtype, name), missing_value, "Matrix.from_dense")

    @classmethod
    def from_dicts(
        cls,
        nested_dicts: Any,
        dtype: DTypeLike | None = None,
        *,
        order: str = "rowwise",
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Self:
        """A matrix of {row: {column: value}} or [{column: value}, ...]; columns first with order="columnwise".

        Examples:
        >>> gb.Matrix.from_dicts({0: {1: 5}, 1: {2: 6}}, nrows=3).shape
        (3, 3)
        """
        columnwise = check_order(order) == "columnwise"
        is_list = isinstance(nested_dicts, Sequence)
        dicts = nested_dicts if is_list else list(nested_dicts.values())
        lengths = np.fromiter(map(len, dicts), np.int64, len(dicts))
        minor = list(itertools.chain.from_iterable(dicts))
        values = list(itertools.chain.from_iterable(d.values() for d in dicts))
        values, dtype = values_array(values, dtype, subarray_after=1)
        pointers = np.concatenate([[0], np.cumsum(lengths)])
        lines, width = (ncols, nrows) if columnwise else (nrows, ncols)
        if is_list:
            if lines is not None and lines != len(dicts):
                raise ValueError(
                    f"{'ncols' if columnwise else 'nrows'} must be None or equal to len(nested_dicts); "
                    f"expected {len(dicts)}, got {lines}"
                )
            return cls._from_compressed(pointers, minor, values, dtype, lines, width, name, columnwise)
        return cls._from_doubly(
            list(nested_dicts.keys()), pointers, minor, values, dtype, lines, width, name, columnwise
        )


def check_lengths(rows: Any, columns: Any, values: Any) -> None:
    """Raises: ValueError unless there is a value for each position."""
    count = values.shape[0] if values.ndim else -1
    if rows.size != count or columns.size != count:
        raise ValueError(
            f"`rows` and `columns` and `values` lengths must match: {rows.size}, {columns.size}, {values.size}"
        )


def _check_pointers(indptr, indices, values):
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise InvalidValue("indptr must begin with 0 and must not decrease")
    if indptr[-1] != indices.size:
        raise InvalidValue(f"the last of indptr ({indptr[-1]}) must be the number of indices ({indices.size})")
    if values.ndim and values.shape[0] != indices.size:
        raise InvalidValue(f"there must be a value for each index: {values.shape[0]} values, {indices.size} indices")
