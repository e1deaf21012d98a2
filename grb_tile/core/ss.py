"""The useful part of python-graphblas's `.ss`: concat, split, diag, reshape, sort, selectk, compactify, scan.

`A.ss` and `v.ss` give these as methods, `gb.ss` has `concat` and `diag`; import and export are in ss_formats.py.
Serialisation is in ss_serialize.py, configuration in ss_settings.py; contexts and burble are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import operations as ops
from ..dtypes import UINT64, lookup_dtype
from ..exceptions import EmptyObject
from ..operators import get_typed_op
from ..storage.place import first_value
from . import kinds
from .arguments import check_options, expect_op, expect_type, indices_array
from .build import check_empty
from .lines import axis_chunks, check_how, normalize_chunks, ordered, ranks, scan_lines, sorted_by
from .matrix_export import check_order
from .ss_formats import (
    MATRIX_FORMATS,
    VECTOR_FORMATS,
    add_formats,
    export_matrix,
    export_vector,
    import_matrix,
    import_vector,
)
from .ss_serialize import reader, serialize
from .ss_settings import ObjectConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .annotations import Array, ArrayLike, DTypeLike, MatrixLike, OperatorLike, VectorLike
    from .matrix import Matrix
    from .scalar import Scalar
    from .vector import Vector

version_major = 9  # the SuiteSparse:GraphBLAS whose semantics are followed


# ---------------------------------------------------------------- gb.ss


def concat(tiles: Sequence[Any], dtype: DTypeLike | None = None, *, name: str | None = None, **opts: Any) -> Any:
    """A new Matrix of a list of lists of tiles (a Vector is a column), or a new Vector of a list of Vectors."""
    if opts:
        check_options(opts)
    tiles, is_matrix = _check_tiles(tiles)
    first = tiles[0][0] if is_matrix else tiles[0]
    dtype = first.dtype if dtype is None else lookup_dtype(dtype)
    if is_matrix:
        return kinds.Matrix._from_store(ops.concat_matrices(_matrix_stores(tiles), dtype), dtype, name)
    return kinds.Vector._from_store(ops.concat_vectors([v._store for v in tiles], dtype), dtype, name)


def diag(x: Any, k: int = 0, dtype: DTypeLike | None = None, *, name: str | None = None, **opts: Any) -> Any:
    """The Matrix with Vector x on its k-th diagonal, or the k-th diagonal of Matrix x as a Vector."""
    if opts:
        check_options(opts)
    x = expect_type(x, x, (kinds.Matrix, kinds.TransposedMatrix, kinds.Vector), within="diag", argname="x")
    if type(x) is kinds.Vector:
        out = x.diag(int(k), name=name)
        return out if dtype is None else out.dup(dtype, name=name)
    return x.diag(int(k), dtype, name=name)


def _check_tiles(tiles, is_matrix=None):
    """(tiles with expressions computed, whether they make a Matrix)"""
    if not isinstance(tiles, (list, tuple)):
        raise TypeError(f"tiles argument must be list or tuple; got: {type(tiles)}")
    tiles = _with_vectors(tiles)
    if not tiles:
        raise ValueError("tiles argument must not be empty")
    nested = [isinstance(row, (list, tuple)) for row in tiles]
    if is_matrix is None:
        is_matrix = any(nested)
        if not is_matrix and not any(type(tile) is kinds.Vector or getattr(tile, "ndim", 0) == 1 for tile in tiles):
            raise TypeError(f"tiles must be lists or tuples; got: {type(tiles[0])}")
    if not is_matrix:
        return [expect_type(tile, tile, kinds.Vector, within="ss.concat", argname="tiles") for tile in tiles], False
    if not all(nested):
        raise TypeError("tiles must be lists or tuples of objects, all of them")
    if not all(tiles):
        raise ValueError("tiles must not be empty")
    if len({len(row) for row in tiles}) > 1:
        raise ValueError("tiles must all be the same length")
    accepted = (kinds.Matrix, kinds.TransposedMatrix, kinds.Vector)
    return [[expect_type(t, t, accepted, within="ss.concat", argname="tiles") for t in row] for row in tiles], True


def _with_vectors(tiles):
    """Scalars as vectors of size 1."""
    if isinstance(tiles, (list, tuple)):
        return [_with_vectors(tile) for tile in tiles]
    return tiles._as_vector() if getattr(tiles, "_is_scalar", False) else tiles


def _matrix_stores(tiles):
    def store(tile):
        if tile.ndim == 1:
            tile = tile._as_matrix()
        return tile.new()._store if tile._is_transposed else tile._store

    return [[store(tile) for tile in row] for row in tiles]


class _Tools:
    """What `.ss` of a Matrix and of a Vector share."""

    __slots__ = ("_parent",)

    def __init__(self, parent):
        self._parent = parent

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays of the store."""
        return self._parent.nbytes

    @property
    def is_iso(self) -> bool:
        """Whether one value is stored for all entries."""
        return bool(self._parent._store.iso)

    @property
    def iso_value(self) -> Scalar:
        """The Scalar that all entries equal.  Raises: ValueError unless is_iso."""
        parent = self._parent
        if not (self.is_iso and parent.nvals):
            raise ValueError(f"{type(parent).__name__} is not iso-valued")
        return kinds.Scalar._from_value(first_value(parent._store), parent.dtype, False, "")

    @property
    def format(self) -> str:
        """The storage format, as SuiteSparse names it."""
        parent = self._parent
        form = parent._store.format
        if form == "bitmap" and parent._store.words is None:
            return "full"
        return {"dcsr": "hypercsr"}.get(form, form)

    @property
    def config(self) -> Any:
        """How the object is stored, as SuiteSparse's settings; see ss_settings.py."""
        return ObjectConfig(self._parent)

    serialize = serialize

    def itervalues(self, seek: int = 0) -> Iterator[Any]:
        """The values, from entry number `seek` on (negative: from the end)."""
        yield from _sought(self._parent._tuples()[-1].tolist(), seek)

    def iteritems(self, seek: int = 0) -> Iterator[Any]:
        """(position..., value) of the entries, from entry number `seek` on."""
        yield from _sought(list(zip(*(part.tolist() for part in self._parent._tuples()), strict=True)), seek)

    def head(self, n: int = 10, dtype: DTypeLike | None = None, *, sort: bool = False) -> tuple[Array, ...]:
        """(positions..., values) of the first n entries."""
        *positions, values = self._parent.to_coo(dtype)
        return (*(p[:n] for p in positions), values[:n])

    def _become(self, name, store):
        """Replace the parent's store; name: of the call.  Raises: DimensionMismatch for another shape."""
        ops.checks.output_shape(name, self._parent.shape, store.shape)
        self._parent.clear()
        self._parent._store = store


def _sought(entries, seek):
    return entries[max(0, seek + len(entries)) if seek < 0 else seek :]


class VectorTools(_Tools):
    """`v.ss`"""

    __slots__ = ()
    deserialize = reader("Vector")

    def iterkeys(self, seek: int = 0) -> Iterator[Any]:
        """The positions, from entry number `seek` on."""
        yield from _sought(self._parent._tuples()[0].tolist(), seek)

    def concat(self, tiles: Sequence[Any], **opts: Any) -> None:
        """Make this vector the concatenation of a list of Vectors."""
        if opts:
            check_options(opts)
        tiles, _ = _check_tiles(tiles, is_matrix=False)
        store = ops.concat_vectors([v._store for v in tiles], self._parent.dtype)
        self._become("concat", store)

    def split(self, chunks: Any, *, name: str | None = None, **opts: Any) -> list[Vector]:
        """A list of Vectors of the given sizes (or all of one size); see normalize_chunks."""
        if opts:
            check_options(opts)
        parent = self._parent
        stem = parent.name if name is None else name
        sizes = axis_chunks(parent.size, chunks)
        return [
            kinds.Vector._from_store(store, parent.dtype, f"{stem}_{i}")
            for i, store in enumerate(ops.split_vector(parent._store, sizes))
        ]

    def build_diag(self, matrix: MatrixLike, k: int = 0, **opts: Any) -> None:
        """Make this vector the k-th diagonal of a matrix."""
        if opts:
            check_options(opts)
        matrix = expect_type(
            self._parent, matrix, (kinds.Matrix, kinds.TransposedMatrix), within="ss.build_diag", argname="matrix"
        )
        found = matrix.diag(int(k), self._parent.dtype)
        self._become("build_diag", found._store)

    def build_scalar(self, indices: ArrayLike, value: Any) -> None:
        """Put entries of one value into the empty vector; repeated positions count once."""
        parent = self._parent
        check_empty(parent, parent._store)
        indices = indices_array(indices, "indices")
        values = np.array([value], parent.dtype.np_type)
        parent._build(indices, values, get_typed_op("any", parent.dtype, kind="binary"))

    def reshape(
        self, nrows: Any, ncols: int | None = None, order: str = "rowwise", *, name: str | None = None, **opts: Any
    ) -> Matrix:
        """A Matrix of the same entries; see MatrixTools.reshape."""
        return self._parent._as_matrix().ss.reshape(nrows, ncols, order, name=name, **opts)

    def scan(self, op: OperatorLike | None = None, *, name: str | None = None, **opts: Any) -> Vector:
        """w(i) = v(first) (+) ... (+) v(i) over the entries; monoid.plus by default."""
        if opts:
            check_options(opts)
        parent = self._parent
        indices, values = parent._tuples()
        op = _scan_monoid(parent, op, "scan")
        scanned = scan_lines(np.zeros(indices.size, np.int64), values, op)
        return kinds.Vector.from_coo(indices, scanned, op.return_type, size=parent.size, name=name)

    def selectk(self, how: str, k: int, *, name: str | None = None) -> Vector:
        """k of the entries: the first, last, smallest, largest, or random ones."""
        if k < 0:
            raise ValueError("negative k is not allowed")
        parent, how = self._parent, check_how(how)
        indices, values = parent._tuples()
        picked = np.sort(ordered(np.zeros(indices.size, np.int64), indices, values, how)[:k])
        return kinds.Vector.from_coo(indices[picked], values[picked], parent.dtype, size=parent.size, name=name)

    def compactify(
        self,
        how: str = "first",
        size: int | None = None,
        *,
        reverse: bool = False,
        asindex: bool = False,
        name: str | None = None,
    ) -> Vector:
        """The entries moved to the left, in the order that `how` says; their old positions with asindex=True."""
        parent, how = self._parent, check_how(how)
        indices, values = parent._tuples()
        size = indices.size if size is None else size
        order = ordered(np.zeros(indices.size, np.int64), indices, values, how)[:size]
        if reverse:
            order = order[::-1]
        kept, dtype = (indices.astype(np.uint64), UINT64) if asindex else (np.asarray(values), parent.dtype)
        return kinds.Vector.from_coo(np.arange(order.size), kept[order], dtype, size=size, name=name)

    def sort(
        self, op: OperatorLike = "lt", *, values: bool = True, permutation: bool = True, **opts: Any
    ) -> tuple[Vector | None, Vector | None]:
        """(sorted values, their old positions) as Vectors of the same size; `op` says what comes before what."""
        if opts:
            check_options(opts)
        parent = self._parent
        indices, held = parent._tuples()
        order = sorted_by(parent, op, np.zeros(indices.size, np.int64), indices, held)
        places = np.arange(order.size)
        w = kinds.Vector.from_coo(places, np.asarray(held)[order], parent.dtype, size=parent.size) if values else None
        p = kinds.Vector.from_coo(places, indices[order].astype(np.uint64), size=parent.size) if permutation else None
        return w, p


class MatrixTools(_Tools):
    """`A.ss`"""

    __slots__ = ()
    deserialize = reader("Matrix")

    @property
    def orientation(self) -> str:
        """Always row-wise; a transpose is cached when it is first needed."""
        return "rowwise"

    def iterkeys(self, seek: int = 0) -> Iterator[Any]:
        """(row, column) of the entries, from entry number `seek` on."""
        rows, columns, _ = self._parent._tuples()
        yield from _sought(list(zip(rows.tolist(), columns.tolist(), strict=True)), seek)

    def concat(self, tiles: Sequence[Any], **opts: Any) -> None:
        """Make this matrix the concatenation of a list of lists of tiles."""
        if opts:
            check_options(opts)
        tiles, _ = _check_tiles(tiles, is_matrix=True)
        store = ops.concat_matrices(_matrix_stores(tiles), self._parent.dtype)
        self._become("concat", store)

    def split(self, chunks: Any, *, name: str | None = None, **opts: Any) -> list[list[Matrix]]:
        """A list of lists of Matrices of the given heights and widths; see normalize_chunks."""
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
        """Make this matrix the one with `vector` on its k-th diagonal."""
        if opts:
            check_options(opts)
        vector = expect_type(self._parent, vector, kinds.Vector, within="ss.build_diag", argname="vector")
        store = ops.diagonal_matrix(vector._store, int(k), self._parent.dtype)
        self._become("build_diag", store)

    def build_scalar(self, rows: ArrayLike, columns: ArrayLike, value: Any) -> None:
        """Put entries of one value into the empty matrix; repeated positions count once."""
        parent = self._parent
        rows, columns = indices_array(rows, "row indices"), indices_array(columns, "column indices")
        if rows.size != columns.size:
            raise ValueError(f"`rows` and `columns` lengths must match: {rows.size}, {columns.size}")
        if value is None:
            raise EmptyObject("build_scalar needs a value; got None")
        check_empty(parent, parent._store)
        values = np.array([value], parent.dtype.np_type)
        parent._build(rows, columns, values, get_typed_op("any", parent.dtype, kind="binary"))

    def _lines(self, order):
        """(columnwise, major, minor, values) sorted by line."""
        columnwise = check_order(order) == "columnwise"
        return columnwise, *self._parent._by_lines(columnwise, None)

    def _from_lines(self, columnwise, major, minor, values, dtype, shape, name):
        rows, columns = (minor, major) if columnwise else (major, minor)
        return kinds.Matrix.from_coo(rows, columns, values, dtype, nrows=shape[0], ncols=shape[1], name=name)

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
        """A Matrix of the same entries, read and written row after row (or column after column); one size may be -1."""
        if opts:
            check_options(opts)
        parent = self._parent
        columnwise = check_order(order) == "columnwise"
        shape = _new_shape(parent.shape, nrows, ncols)
        rows, columns, values = parent._tuples()
        old_rows, old_cols = parent.shape
        at = columns * old_rows + rows if columnwise else rows * old_cols + columns
        i, j = (at % shape[0], at // shape[0]) if columnwise else (at // shape[1], at % shape[1])
        out = kinds.Matrix.from_coo(i, j, values, parent.dtype, nrows=shape[0], ncols=shape[1], name=name)
        if not inplace:
            return out
        parent._store = out._store
        parent._set_shape(*shape)
        return None

    def flatten(self, order: str = "rowwise", *, name: str | None = None, **opts: Any) -> Vector:
        """The Vector of size nrows * ncols with the matrix row after row (or column after column)."""
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
        """The prefix sums of each row (or column) over its entries; monoid.plus by default."""
        if opts:
            check_options(opts)
        op = _scan_monoid(self._parent, op, "scan")
        columnwise, major, minor, values = self._lines(order)
        scanned = scan_lines(major, values, op)
        return self._from_lines(columnwise, major, minor, scanned, op.return_type, self._parent.shape, name)

    def selectk(self, how: str, k: int, order: str = "rowwise", *, name: str | None = None) -> Matrix:
        """Up to k entries of each row (or column): the first, last, smallest, largest, or random ones."""
        if k < 0:
            raise ValueError("negative k is not allowed")
        how = check_how(how)
        columnwise, major, minor, values = self._lines(order)
        picked = ordered(major, minor, values, how)
        picked = picked[ranks(major[picked]) < k]
        parent, major, minor = self._parent, major[picked], minor[picked]
        return self._from_lines(columnwise, major, minor, values[picked], parent.dtype, parent.shape, name)

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
        """The entries of each row moved to the left (of each column, up), in the order that `how` says."""
        how = check_how(how)
        columnwise, major, minor, values = self._lines(order)
        picked = ordered(major, minor, values, how)
        place = ranks(major[picked])
        k = int(place.max(initial=-1)) + 1 if k is None else k
        picked, place = picked[place < k], place[place < k]
        major = major[picked]
        if reverse and place.size:
            place = np.bincount(major)[major] - 1 - place
        kept, dtype = (minor.astype(np.uint64), UINT64) if asindex else (values, self._parent.dtype)
        nrows, ncols = self._parent.shape
        shape = (k, ncols) if columnwise else (nrows, k)
        return self._from_lines(columnwise, major, place, kept[picked], dtype, shape, name)

    def sort(
        self,
        op: OperatorLike = "lt",
        order: str = "rowwise",
        *,
        values: bool = True,
        permutation: bool = True,
        **opts: Any,
    ) -> tuple[Matrix | None, Matrix | None]:
        """(sorted values, their old positions) of each row (or column), as Matrices of the same shape."""
        if opts:
            check_options(opts)
        columnwise, major, minor, held = self._lines(order)
        picked = sorted_by(self._parent, op, major, minor, held)
        major, shape = major[picked], self._parent.shape
        place = ranks(major)
        C = P = None
        if values:
            C = self._from_lines(columnwise, major, place, held[picked], self._parent.dtype, shape, None)
        if permutation:
            minor = minor[picked].astype(np.uint64)
            P = self._from_lines(columnwise, major, place, minor, None, shape, None)
        return C, P


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
    return nrows, ncols


def _scan_monoid(parent, op, within):
    op = get_typed_op("plus" if op is None else op, parent.dtype, kind="binary")
    if op.opclass == "BinaryOp" and op.monoid is not None:
        op = op.monoid
    expect_op(parent, op, "Monoid", within=within, argname="op")
    return op


add_formats(MatrixTools, export_matrix, import_matrix, MATRIX_FORMATS)
add_formats(VectorTools, export_vector, import_vector, VECTOR_FORMATS)
__all__ = ["MatrixTools", "VectorTools", "concat", "diag", "normalize_chunks"]
