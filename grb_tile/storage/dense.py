"""Dense forms of matrices (`Dense` in store.py): conversions, order, and the choice by density.

    bitmapr   bitmapc   fullr   fullc        a value for each position, r: row-major, c: column-major

A dense matrix is a vector of nrows * ncols positions and a shape, so that what works position by position (union,
intersection, apply, masks, reduction to a scalar) is the method of vectors (backends/dense.py).

Which form a matrix has depends on its density and, as in SuiteSparse:GraphBLAS, on its lesser dimension:

    sparse -> bitmap   nvals > switch * nrows * ncols         bitmap -> sparse   nvals < switch / 2 * nrows * ncols
    bitmap -> full     every position has an entry

    lesser dimension   1     2     3-4   5-8   9-16  17-32 33-64 more
    switch             0.04  0.05  0.06  0.08  0.10  0.20  0.30  0.40

Source of the switches: SuiteSparse:GraphBLAS, GB_Global.c (bitmap_switch), user guide, GxB_BITMAP_SWITCH.

A result of sparse operands stays sparse: the row-wise methods of sparse products, masks and traversals read CSR, and a
conversion costs as much as most of them.  Results of dense operands change between these forms by the rule above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InvalidValue
from . import bits, holders
from .constructors import empty_matrix
from .convert import choose_format, compressed as compressed_of, share, to_bitmap, to_sparse, transpose_of, wants_dcsr
from .host_memory import check_memory
from .place import at, backend_of, is_host
from .store import BitmapVector, Compressed, Dense, SparseVector, StoredMask, forms_of, index_dtype

if TYPE_CHECKING:
    from collections.abc import Callable


DENSE_FORMATS = ("bitmapr", "bitmapc", "fullr", "fullc")
BITMAP_SWITCH = (0.04, 0.05, 0.06, 0.08, 0.10, 0.20, 0.30, 0.40)  # for lesser dimensions up to 1, 2, 4, ... 64, more
MOST_POSITIONS = 2**62  # positions are int64


def bitmap_switch(nrows: int, ncols: int) -> float:
    """The density above which a matrix of this shape is a bitmap.

    >>> bitmap_switch(3, 1000), bitmap_switch(100, 100)
    (0.06, 0.4)
    """
    return BITMAP_SWITCH[min((min(nrows, ncols) - 1).bit_length(), 7)]


# ---------------------------------------------------------------------- order


def in_order(A: Dense, by_columns: bool) -> Dense:
    """A in row-major or column-major order: itself, or a copy, kept with A."""
    if A.by_columns == by_columns:
        return A
    forms = forms_of(A)
    found = forms.get("other_order")
    if found is None:
        found = forms["other_order"] = Dense(A.nrows, A.ncols, _reordered(A), by_columns)
    return found


def writable_flat(A: Dense, by_columns: bool) -> BitmapVector:
    """The flat vector of A in that order, `shared` where something beside A refers to it: for writes in place.

    What is derived from A is forgotten: it has A's arrays, and does not outlive a write.
    """
    A.forms = None
    if holders.count_of(A.flat) > holders.ONE:
        A.shared = True
    flat = in_order(A, by_columns).flat
    A.forms = None
    return flat


def _reordered(A):
    """The flat vector of A in the other order."""
    flat = A.flat
    lines, width = (A.ncols, A.nrows) if A.by_columns else (A.nrows, A.ncols)
    if flat.words is None and (flat.iso or lines == 1 or width == 1):
        return flat
    if flat.words is None:

        def move(xp):
            values = flat.values.reshape(lines, width, *flat.values.shape[1:])
            return xp.ascontiguousarray(values.swapaxes(0, 1)).reshape(flat.values.shape)

        return BitmapVector(flat.size, flat.dtype, None, at(A, move), flat.size)
    check_memory(flat.size * 8, f"the positions of a bitmap of {A.nrows} x {A.ncols}")
    positions = at(A, lambda xp: xp.arange(flat.size, dtype=np.int64).reshape(lines, width).T.reshape(-1))
    if is_host(A):
        values = flat.values if flat.iso else flat.values[positions]
        flags = bits.to_bool(flat.words, flat.size)[positions]
        return BitmapVector(flat.size, flat.dtype, bits.from_bool(flags), values, flat.nvals, flat.iso)
    return to_bitmap(backend_of(A).gather_vector(flat, positions))


def transposed(A: Dense) -> Dense:
    """A': the same arrays, the other order."""
    result = Dense(A.ncols, A.nrows, A.flat, not A.by_columns)
    result.shared = True
    return result


def in_two_dimensions(A: Dense, array: Any) -> Any:
    """`array`, which has an element for each position of A in A's order, as a view of nrows x ncols."""
    return array.reshape(A.ncols, A.nrows).T if A.by_columns else array.reshape(A.nrows, A.ncols)


# ---------------------------------------------------------------------- dense and compressed


def by_rows(A: Dense) -> Compressed:
    """The entries of A as CSR, kept in A's forms until memory is short.

    Raises: OutOfMemory where the indices do not fit in memory.
    """
    found = forms_of(A).get("csr")
    if found is None:
        found = at(A, lambda xp: _by_rows(in_order(A, False), xp))
        forms_of(A)["csr"] = found
    return found


def _by_rows(A, xp):
    nrows, ncols, flat = A.nrows, A.ncols, A.flat
    want = index_dtype(ncols)
    check_memory(8 * (nrows + 1) + flat.nvals * want.itemsize, f"the indices of a dense matrix of {nrows} x {ncols}")
    firsts = xp.arange(nrows + 1, dtype=np.int64) * ncols
    if flat.words is None:
        indices = xp.tile(xp.arange(ncols, dtype=want), nrows)
        return share(flat, Compressed(nrows, ncols, flat.dtype, firsts, indices, flat.values, flat.iso))
    entries = to_sparse(flat)
    if nrows == 1:
        firsts[1:] = entries.indices.shape[0]
        return share(flat, Compressed(1, ncols, flat.dtype, firsts, entries.indices, entries.values, flat.iso))
    indptr = xp.searchsorted(entries.indices, firsts.astype(entries.indices.dtype))
    indices = (entries.indices % ncols).astype(want)
    result = Compressed(nrows, ncols, flat.dtype, indptr.astype(np.int64), indices, entries.values, flat.iso)
    return share(flat, result) if flat.iso else result


Dense.by_rows = staticmethod(by_rows)


def compressed(x: Any) -> Any:
    """A dense matrix (or a StoredMask of one) by rows; everything else as it is."""
    if type(x) is Dense:
        return by_rows(x)
    if type(x) is StoredMask and type(x.pattern) is Dense:
        return StoredMask(by_rows(x.pattern), x.complement)
    return x


def flat_of(A: Compressed, line_numbers: Callable) -> SparseVector:
    """The sparse vector of nrows * ncols positions, row-major, of a Compressed; line_numbers: see protocol.py."""
    if type(A) is Dense:
        return in_order(A, False).flat
    size = A.nrows * A.ncols

    def make(xp):
        keys = line_numbers(A.indptr, A.rows, A.indices.shape[0]) * A.ncols + A.indices
        return SparseVector(size, A.dtype, keys.astype(index_dtype(size), copy=False), A.values, A.iso)

    return share(A, at(A, make))


def matrix_of(t: Any, nrows: int, ncols: int, by_columns: bool = False, dense: bool = False) -> Compressed:
    """The matrix of a vector of nrows * ncols positions: dense or compressed, as its density calls for.

    dense: a bitmap or full whatever its density.
    """
    if not t.size:
        return empty_matrix(nrows, ncols, t.dtype)
    if t.format == "bitmap":
        count = t.nvals_if_read  # on a device it may not have been read: the form stays
        if dense or count is None or count >= bitmap_switch(nrows, ncols) / 2 * t.size:
            return Dense(nrows, ncols, t, by_columns)
        t = to_sparse(t)
    elif dense or t.nvals > bitmap_switch(nrows, ncols) * t.size:
        return Dense(nrows, ncols, to_bitmap(t), by_columns)
    if not by_columns:
        return _compressed(t, nrows, ncols)
    A = _compressed(t, ncols, nrows)
    return transpose_of(A) if is_host(A) else backend_of(A).transpose(A)


def _compressed(t, nrows, ncols):
    """CSR or DCSR of a sparse vector of nrows * ncols positions, row-major."""
    if is_host(t):
        rows = t.indices.astype(np.int64) // ncols
        result = choose_format(compressed_of(nrows, ncols, t.dtype, rows, t.indices - rows * ncols, t.values, t.iso))
        return share(t, result)
    count = t.indices.shape[0]

    def make(xp):
        indices = (t.indices % ncols).astype(index_dtype(ncols))
        if not wants_dcsr(nrows, count):
            firsts = (xp.arange(nrows + 1, dtype=np.int64) * ncols).astype(t.indices.dtype)
            indptr = xp.searchsorted(t.indices, firsts).astype(np.int64)
            return Compressed(nrows, ncols, t.dtype, indptr, indices, t.values, t.iso)
        rows = t.indices.astype(np.int64) // ncols
        ends = xp.ones(count + 1, np.bool_)  # does a row begin, or the last one end, at this entry?
        ends[1:count] = rows[1:] != rows[:-1]
        indptr = xp.flatnonzero(ends).astype(np.int64)
        return Compressed(nrows, ncols, t.dtype, indptr, indices, t.values, t.iso, rows[indptr[:-1]])

    return share(t, at(t, make) if count else empty_matrix(nrows, ncols, t.dtype))


def to_dense(A: Compressed, format: str) -> Dense:
    """A as "bitmapr", "bitmapc", "fullr" or "fullc"; a full matrix is also the bitmap of its shape.

    A matrix without positions has no dense form: it stays compressed.

    Raises: InvalidValue for a full form where an entry is missing; OutOfMemory where it does not fit.
    """
    if format.startswith("full") and A.nvals != A.nrows * A.ncols:
        raise InvalidValue(
            f'format {format!r} needs an entry everywhere; the matrix has {A.nvals} of {A.nrows * A.ncols}: use "bitmap'
            f'{format[-1]}"'
        )
    if not A.nrows * A.ncols:
        return empty_matrix(A.nrows, A.ncols, A.dtype)
    if type(A) is not Dense:
        lines = line_numbers if is_host(A) else backend_of(A).line_numbers
        A = Dense(A.nrows, A.ncols, to_bitmap(flat_of(A, lines)))
    return in_order(A, format.endswith("c"))


def line_numbers(indptr: Any, names: Any = None, count: int | None = None) -> Any:
    """r[k] = i, or names[i], for indptr[i] <= k < indptr[i + 1], of NumPy arrays."""
    names = np.arange(indptr.shape[0] - 1, dtype=np.int64) if names is None else names
    return names.repeat(np.diff(indptr))
