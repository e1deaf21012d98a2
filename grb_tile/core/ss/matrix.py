"""`A.ss`: python-graphblas's SuiteSparse methods of a Matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import operations as ops
from ...backends.select import current
from ...dtypes import UINT64
from ...exceptions import EmptyObject
from ...operators import get_typed_op
from .. import kinds
from ..arguments import check_options, dimension, expect_type, indices_array
from ..build import check_empty
from ..lines import (
    check_count,
    check_how,
    first_of_lines,
    lines_of,
    normalize_chunks,
    ranked_lines,
    sorted_lines,
)
from ..matrix_export import check_order
from .formats import MATRIX_FORMATS, add_formats, export_matrix, import_matrix
from .serialize import reader
from .tools import Tools, check_tiles, matrix_stores, scan_monoid, sought

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..annotations import ArrayLike, OperatorLike, VectorLike
    from ..matrix import Matrix
    from ..vector import Vector


class MatrixTools(Tools):
    """`A.ss`: methods on the Matrix A."""

    __slots__ = ()
    deserialize = reader("Matrix")

    @property
    def orientation(self) -> str:
        """ "rowwise", or "columnwise" for a dense matrix in column-major order."""
        return "columnwise" if self._parent._store.format in ("bitmapc", "fullc") else "rowwise"

    def iterkeys(self, seek: int = 0) -> Iterator[Any]:
        """(row, column) of the entries, from entry number `seek` on (negative: from the end)."""
        rows, columns, _ = self._parent.to_coo(values=False)
        yield from sought(list(zip(rows.tolist(), columns.tolist(), strict=True)), seek)

    def concat(self, tiles: Sequence[Any], **opts: Any) -> None:
        """A = [[tiles[0][0], tiles[0][1], ...], ...].  Raises: DimensionMismatch unless A has their shape."""
        if opts:
            check_options(opts)
        tiles, _ = check_tiles(tiles, is_matrix=True)
        store = ops.concat_matrices(matrix_stores(tiles), self._parent.dtype)
        self._become("concat", store)

    def split(self, chunks: Any, *, name: str | None = None, **opts: Any) -> list[list[Matrix]]:
        """A cut into a list of lists of Matrices of the given heights and widths; see normalize_chunks."""
        if opts:
            check_options(opts)
        parent = self._parent
        stem = parent.name if name is None else name
        heights, widths = normalize_chunks(chunks, parent.shape)
        return [
            [kinds.Matrix._from_store(store, parent.dtype, f"{stem}_{i}x{j}") for j, store in enumerate(row)]
            for i, row in enumerate(ops.split_matrix(parent._store, heights, widths))
        ]

    def build_diag(self, vector: VectorLike, k: int = 0, **opts: Any) -> None:
        """A = the square matrix with `vector` on its k-th diagonal.  Raises: DimensionMismatch for other shapes."""
        if opts:
            check_options(opts)
        vector = expect_type(self._parent, vector, kinds.Vector, within="ss.build_diag", argname="vector")
        store = ops.diagonal_matrix(vector._store, int(k), self._parent.dtype)
        self._become("build_diag", store)

    def build_scalar(self, rows: ArrayLike, columns: ArrayLike, value: Any) -> None:
        """A(rows[k], columns[k]) = value; repeated positions are one entry.  Raises: OutputNotEmpty, EmptyObject."""
        parent = self._parent
        rows, columns = indices_array(rows, "row indices"), indices_array(columns, "column indices")
        if rows.size != columns.size:
            raise ValueError(f"`rows` and `columns` lengths must match: {rows.size}, {columns.size}")
        if value is None or getattr(value, "is_empty", False):
            raise EmptyObject("build_scalar needs a value; got none")
        check_empty(parent, parent._store)
        values = np.array([value], parent.dtype.np_type)
        parent._build(rows, columns, values, get_typed_op("any", parent.dtype, kind="binary"))

    def reshape(
        self,
        nrows: Any,
        ncols: int | None = None,
        order: str = "rowwise",
        *,
        inplace: bool = False,
        name: str | None = None,
        **opts: Any,
    ) -> Matrix | None:
        """The nrows by ncols Matrix of the same entries in row-major (column-major) order; one size may be -1.

        inplace   A itself gets the new shape, and None is returned
        Raises: ValueError unless nrows * ncols is the size of A.
        """
        if opts:
            check_options(opts)
        parent = self._parent
        columnwise = check_order(order) == "columnwise"
        shape = _new_shape(parent.shape, nrows, ncols)
        store, backend = parent._store, current()
        if columnwise:
            store = backend.transpose(backend.reshape_matrix(backend.transpose(store), shape[1], shape[0]))
        else:
            store = backend.reshape_matrix(store, *shape)
        if not inplace:
            return kinds.Matrix._from_store(store, parent.dtype, name)
        parent._store = store
        parent._set_shape(*shape)
        return None

    def flatten(self, order: str = "rowwise", *, name: str | None = None, **opts: Any) -> Vector:
        """w(i * ncols + j) = A(i, j), or for order="columnwise" w(j * nrows + i) = A(i, j); size nrows * ncols."""
        if opts:
            check_options(opts)
        nrows, ncols = self._parent.shape
        out = self.reshape(nrows * ncols, 1, order)._as_vector()
        if name is not None:
            out.name = name
        return out

    def scan(
        self, op: OperatorLike | None = None, order: str = "rowwise", *, name: str | None = None, **opts: Any
    ) -> Matrix:
        """C(i, j) = A(i, first) (+) ... (+) A(i, j) over the entries of each row (column); monoid.plus by default."""
        if opts:
            check_options(opts)
        op = scan_monoid(self._parent, op, "scan")
        backend, store = current(), self._parent._store
        if check_order(order) == "columnwise":
            store = backend.transpose(backend.scan(backend.transpose(store), op))
        else:
            store = backend.scan(store, op)
        return kinds.Matrix._from_store(store, op.return_type, name)

    def selectk(self, how: str, k: int, order: str = "rowwise", *, name: str | None = None) -> Matrix:
        """At most k entries of each row (or column); how: "first", "last", "smallest", "largest" or "random"."""
        how, k = check_how(how), check_count(k)
        columnwise = check_order(order) == "columnwise"
        store = first_of_lines(lines_of(self._parent, columnwise), how, k)
        store = current().transpose(store) if columnwise else store
        return kinds.Matrix._from_store(store, self._parent.dtype, name)

    def compactify(
        self,
        how: str = "first",
        k: int | None = None,
        order: str = "rowwise",
        *,
        reverse: bool = False,
        asindex: bool = False,
        name: str | None = None,
    ) -> Matrix:
        """C(i, r) = the r-th value of row i in the order `how` (see selectk); with asindex=True its column, UINT64.

        order="columnwise": C(r, j) of column j.  k: the number of columns (rows) of C; None: the longest row (column)
        """
        how, columnwise = check_how(how), check_order(order) == "columnwise"
        k = None if k is None else check_count(k)
        store = ranked_lines(self._parent, how, k, reverse, columnwise, asindex)
        return kinds.Matrix._from_store(store, UINT64 if asindex else self._parent.dtype, name)

    def sort(
        self,
        op: OperatorLike = "lt",
        order: str = "rowwise",
        *,
        values: bool = True,
        permutation: bool = True,
        **opts: Any,
    ) -> tuple[Matrix | None, Matrix | None]:
        """(C, P): C(i, r) is the r-th smallest value of row i in the order `op`, P(i, r) its column; shapes as A.

        order="columnwise": C(r, j) of column j, P(r, j) its row.
        """
        if opts:
            check_options(opts)
        columnwise, dtype = check_order(order) == "columnwise", self._parent.dtype
        C, P = sorted_lines(self._parent, op, columnwise, values, permutation)
        return (
            None if C is None else kinds.Matrix._from_store(C, dtype, "Values"),
            None if P is None else kinds.Matrix._from_store(P, UINT64, "Permutation"),
        )


def _new_shape(old, nrows, ncols):
    if isinstance(nrows, (list, tuple)):
        if ncols is not None or len(nrows) not in (1, 2):
            raise ValueError(f"Shape tuple must be of length 2, not {len(nrows)}")
        nrows, ncols = (*nrows, None)[:2]
    size = old[0] * old[1]
    if nrows == -1 and ncols:
        nrows = size // ncols
    elif ncols == -1 and nrows:
        ncols = size // nrows
    if ncols is None or nrows * ncols != size:
        shown = (nrows,) if ncols is None else (nrows, ncols)
        raise ValueError(f"cannot reshape array of size {size} into shape {shown}")
    return dimension(nrows, "nrows"), dimension(ncols, "ncols")


add_formats(MatrixTools, export_matrix, import_matrix, MATRIX_FORMATS)
ss = MatrixTools  # the name that python-graphblas gives the class in this module
