"""`v.ss`: python-graphblas's SuiteSparse methods of a Vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import operations as ops
from ...backends.select import current
from ...dtypes import UINT64
from ...exceptions import EmptyObject
from ...operators import get_typed_op
from .. import kinds
from ..arguments import check_options, expect_type, indices_array
from ..build import check_empty
from ..lines import (
    axis_chunks,
    check_count,
    check_how,
    first_of_lines,
    ranked_lines,
    sorted_lines,
)
from .formats import VECTOR_FORMATS, add_formats, export_vector, import_vector
from .serialize import reader
from .tools import Tools, check_tiles, scan_monoid, sought

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..annotations import ArrayLike, MatrixLike, OperatorLike
    from ..matrix import Matrix
    from ..vector import Vector


class VectorTools(Tools):
    """`v.ss`: methods on the Vector v."""

    __slots__ = ()
    deserialize = reader("Vector")

    def iterkeys(self, seek: int = 0) -> Iterator[Any]:
        """The indices of the entries, from entry number `seek` on (negative: from the end)."""
        yield from sought(self._parent.to_coo(values=False)[0].tolist(), seek)

    def concat(self, tiles: Sequence[Any], **opts: Any) -> None:
        """v = [tiles[0], tiles[1], ...] for Vectors.  Raises: DimensionMismatch unless v has the sum of their sizes."""
        if opts:
            check_options(opts)
        tiles, _ = check_tiles(tiles, is_matrix=False)
        store = ops.concat_vectors([v._store for v in tiles], self._parent.dtype)
        self._become("concat", store)

    def split(self, chunks: Any, *, name: str | None = None, **opts: Any) -> list[Vector]:
        """The Vectors v(0:c0), v(c0:c0 + c1), ... for the sizes `chunks`, or one size for all; see normalize_chunks."""
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
        """v = the k-th diagonal of `matrix`.  Raises: DimensionMismatch unless v has the size of the diagonal."""
        if opts:
            check_options(opts)
        matrix = expect_type(
            self._parent, matrix, (kinds.Matrix, kinds.TransposedMatrix), within="ss.build_diag", argname="matrix"
        )
        found = matrix.diag(int(k), self._parent.dtype)
        self._become("build_diag", found._store)

    def build_scalar(self, indices: ArrayLike, value: Any) -> None:
        """v(indices[k]) = value; repeated indices are one entry.  Raises: OutputNotEmpty, EmptyObject."""
        parent = self._parent
        if value is None or getattr(value, "is_empty", False):
            raise EmptyObject("build_scalar needs a value; got none")
        check_empty(parent, parent._store)
        indices = indices_array(indices, "indices")
        values = np.array([value], parent.dtype.np_type)
        parent._build(indices, values, get_typed_op("any", parent.dtype, kind="binary"))

    def reshape(
        self, nrows: Any, ncols: int | None = None, order: str = "rowwise", *, name: str | None = None, **opts: Any
    ) -> Matrix:
        """The nrows by ncols Matrix of the same entries; see MatrixTools.reshape."""
        return self._parent._as_matrix().ss.reshape(nrows, ncols, order, name=name, **opts)

    def scan(self, op: OperatorLike | None = None, *, name: str | None = None, **opts: Any) -> Vector:
        """The prefix sums w(i) = v(first) (+) ... (+) v(i) over the entries of v; monoid.plus by default."""
        if opts:
            check_options(opts)
        op = scan_monoid(self._parent, op, "scan")
        return kinds.Vector._from_store(current().scan(self._parent._store, op), op.return_type, name)

    def selectk(self, how: str, k: int, *, name: str | None = None) -> Vector:
        """The Vector of at most k of the entries; how: "first", "last", "smallest", "largest" or "random"."""
        store = first_of_lines(self._parent._store, check_how(how), check_count(k))
        return kinds.Vector._from_store(store, self._parent.dtype, name)

    def compactify(
        self,
        how: str = "first",
        size: int | None = None,
        *,
        reverse: bool = False,
        asindex: bool = False,
        name: str | None = None,
    ) -> Vector:
        """w(r) = the r-th value of v in the order `how` (see selectk); with asindex=True its index in v, UINT64.

        size   of w; None: the number of entries.  reverse: the last of them first
        """
        parent, how = self._parent, check_how(how)
        size = None if size is None else check_count(size, "size")
        store = ranked_lines(parent, how, size, reverse, False, asindex)
        return kinds.Vector._from_store(store, UINT64 if asindex else parent.dtype, name)

    def sort(
        self, op: OperatorLike = "lt", *, values: bool = True, permutation: bool = True, **opts: Any
    ) -> tuple[Vector | None, Vector | None]:
        """(w, p): w(r) is the r-th smallest value in the order `op`, p(r) its index in v; both of the size of v."""
        if opts:
            check_options(opts)
        parent = self._parent
        w, p = sorted_lines(parent, op, False, values, permutation)
        return (
            None if w is None else kinds.Vector._from_store(w, parent.dtype, "values"),
            None if p is None else kinds.Vector._from_store(p, UINT64, "permutation"),
        )


add_formats(VectorTools, export_vector, import_vector, VECTOR_FORMATS)
ss = VectorTools  # the name that python-graphblas gives the class in this module
