"""The common part of `.ss` of a Matrix and of a Vector, and `gb.ss.concat` and `gb.ss.diag`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import operations as ops
from ...backends.select import current
from ...dtypes import cast, lookup_dtype
from ...operators import get_typed_op
from ...storage.place import first_value, host_array
from .. import kinds
from ..arguments import check_options, expect_op, expect_type
from .config import ObjectConfig
from .serialize import serialize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..annotations import Array, DTypeLike
    from ..scalar import Scalar


def concat(tiles: Sequence[Any], dtype: DTypeLike | None = None, *, name: str | None = None, **opts: Any) -> Any:
    """The Matrix [[tiles[0][0], tiles[0][1], ...], ...] (a Vector is a column), or the Vector [tiles[0], ...].

    dtype   of the result; None: that of the first tile
    Raises: TypeError, ValueError for tiles that are no such lists; DimensionMismatch for shapes that do not fit.
    """
    if opts:
        check_options(opts)
    tiles, is_matrix = check_tiles(tiles)
    first = tiles[0][0] if is_matrix else tiles[0]
    dtype = first.dtype if dtype is None else lookup_dtype(dtype)
    if is_matrix:
        return kinds.Matrix._from_store(ops.concat_matrices(matrix_stores(tiles), dtype), dtype, name)
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


def check_tiles(tiles, is_matrix=None):
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


def matrix_stores(tiles):
    """The stores of a list of lists of tiles; a Vector is a column."""

    def store(tile):
        if tile.ndim == 1:
            tile = tile._as_matrix()
        return tile.new()._store if tile._is_transposed else tile._store

    return [[store(tile) for tile in row] for row in tiles]


def scan_monoid(parent, op, within):
    """`op` (monoid.plus when None) as a monoid of the parent's type.  Raises: TypeError for an operator without one."""
    op = get_typed_op("plus" if op is None else op, parent.dtype, kind="binary")
    if op.opclass == "BinaryOp" and op.monoid is not None:
        op = op.monoid
    expect_op(parent, op, "Monoid", within=within, argname="op")
    return op


class Tools:
    """The methods that `.ss` of a Matrix and of a Vector share."""

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
        """The one value of all entries as a Scalar.  Raises: ValueError unless is_iso."""
        parent = self._parent
        if not (self.is_iso and parent.nvals):
            raise ValueError(f"{type(parent).__name__} is not iso-valued")
        return kinds.Scalar._from_value(first_value(parent._store), parent.dtype, False, "")

    @property
    def format(self) -> str:
        """The storage format by SuiteSparse's name, such as "csr", "hypercsr", "bitmap", "full"."""
        parent = self._parent
        form = parent._store.format
        if form == "bitmap" and parent._store.words is None:
            return "full"
        return {"dcsr": "hypercsr"}.get(form, form)

    @property
    def config(self) -> Any:
        """How the object is stored, in the terms of SuiteSparse's settings; see ObjectConfig."""
        return ObjectConfig(self._parent)

    serialize = serialize

    def itervalues(self, seek: int = 0) -> Iterator[Any]:
        """The values, from entry number `seek` on (negative: from the end)."""
        yield from sought(host_array(current().tuples(self._parent._store)[-1]).tolist(), seek)

    def iteritems(self, seek: int = 0) -> Iterator[Any]:
        """(index..., value) of the entries, from entry number `seek` on (negative: from the end)."""
        yield from sought(list(zip(*(part.tolist() for part in self._parent._tuples()), strict=True)), seek)

    def head(self, n: int = 10, dtype: DTypeLike | None = None, *, sort: bool = False) -> tuple[Array, ...]:
        """(indices..., values) of the first n entries, as NumPy arrays; indices are uint64.  sort: no effect."""
        *positions, values = (host_array(part[:n]) for part in current().tuples(self._parent._store))
        values = values if dtype is None else cast(values, lookup_dtype(dtype))
        return (*(p.astype(np.uint64) for p in positions), values)

    def _become(self, name, store):
        """Replace the parent's store; name: of the call.  Raises: DimensionMismatch for another shape."""
        ops.checks.output_shape(name, self._parent.shape, store.shape)
        self._parent.clear()
        self._parent._store = store


def sought(entries, seek):
    return entries[max(0, seek + len(entries)) if seek < 0 else seek :]
