"""C<M> = A B where an operand is dense: which product of a backend computes it.

    sparse x dense   SpMM: C is dense                     dense x sparse   C' = B' A', SpMM over the transposed operands
    full x full      a product of two arrays, or SpMM      full x full<M>   SDDMM: dot products at M's entries only
    dense x dense    SpMM over the first operand's CSR;    full x vector    as a full matrix of one column (on a device)
                     arrays with zeros (on a device)

A mask is applied to the finished SpMM, which costs as much as writing it once more; where the mask admits few positions
the row-wise product of the operands' CSR is the cheaper one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..operators.iso_products import own_name
from ..planner import tuning
from ..storage.dense import by_rows, in_order, matrix_of, transposed
from ..storage.place import at
from ..storage.store import BitmapVector, Compressed, Dense, StoredMask, index_dtype

if TYPE_CHECKING:
    from .protocol import Backend

SEGMENTS = 8  # of a column-major product with a vector on a host: work for as many threads


def product(
    backend: Backend, A: Compressed, B: Compressed, semiring: Any, mask: StoredMask | None, notes: list | None
) -> tuple | None:
    """(C, "spmm", "sddmm" or "dense"), or None where the product over CSR is as good; one operand at least is dense."""
    size, both = A.nrows * B.ncols, _is_full(A) and _is_full(B)
    if size == 0 or A.ncols == 0:
        return None
    if mask is not None and not mask.complement and type(mask.pattern) is not Dense:
        if both:
            C = backend.sddmm(in_order(A, False), in_order(B, True), semiring, mask.pattern)
            if C is not NotImplemented:
                return C, "sddmm"
        if mask.pattern.nvals * tuning.DENSE_MASK < size:
            return None
    dense = both or backend.on_device and type(A) is type(B) is Dense
    C = backend.dense_matmul(A, B, semiring) if dense else NotImplemented
    method = "spmm" if C is NotImplemented else "dense"
    C = _spmm(backend, A, B, semiring, notes) if C is NotImplemented else C
    if C is NotImplemented:
        return None
    C = matrix_of(C.flat, C.nrows, C.ncols, C.by_columns)
    return (C if mask is None else backend.restrict(C, mask)), method


def matvec(backend: Backend, A: Dense, x: Any, semiring: Any, mask: StoredMask | None) -> Any:
    """w<mask> = A x for full A and x, by SDDMM of a full column or by SpMM of rows; NotImplemented elsewhere."""
    nrows, ncols = A.nrows, A.ncols
    if not (_is_full(A) and x.format == "bitmap" and nrows and ncols):
        return NotImplemented
    if x.words is not None:
        if x.nvals < ncols:
            return NotImplemented
        x = BitmapVector(ncols, x.dtype, None, x.values, ncols, x.iso)
    if semiring.binaryop.positional is not None or A.flat.iso:
        return NotImplemented
    if backend.on_device and nrows < tuning.DENSE_DOTS < ncols:
        A = in_order(A, True)
    if A.by_columns:  # w' = x' A', x in SEGMENTS rows, whose results are summed
        count = 1 if backend.on_device else min(SEGMENTS, ncols)
        cuts = np.arange(count + 1, dtype=np.int64) * ncols // count
        arrays = at(A, lambda xp: (xp.asarray(cuts), xp.arange(ncols, dtype=index_dtype(ncols))))
        rows, flipped = Compressed(count, ncols, x.dtype, *arrays, x.values, x.iso), semiring.flip()
        C = backend.spmm(rows, transposed(A), flipped)
        w = C if C is NotImplemented else C.flat if count == 1 else backend.reduce_lines(C, semiring.monoid, 0)
    else:
        arrays = at(A, lambda xp: (xp.arange(nrows + 1, dtype=np.int64), xp.zeros(nrows, index_dtype(1))))
        column = Compressed(nrows, 1, A.dtype, *arrays, A.flat.values[:1], True)
        C = backend.sddmm(A, Dense(ncols, 1, x, True), semiring, column)
        w = C if C is NotImplemented else BitmapVector(nrows, C.dtype, None, C.values, nrows, C.iso)
    return w if w is NotImplemented or mask is None else backend.restrict(w, mask)


def is_plus(monoid: Any) -> bool:
    """Is it the sum of FP32 or FP64 values?"""
    return monoid.type.np_type.kind == "f" and monoid.ufunc is np.add


def is_blas(semiring: Any, a: Any, b: Any) -> bool:
    """Is the product of these vectors' values plus_times of FP32 or FP64 values as they are stored?"""
    if not is_plus(semiring.monoid) or own_name(semiring.binaryop) != "times" or a.iso or b.iso:
        return False
    return a.values.dtype == b.values.dtype == semiring.monoid.type.np_type


def _is_full(A):
    return type(A) is Dense and A.flat.words is None


def _spmm(backend, A, B, semiring, notes):
    if type(B) is Dense:
        A = by_rows(A) if type(A) is Dense else A
        if A.rows is not None or A.nrows > tuning.DENSE_EMPTY_ROWS * A.nvals:
            return NotImplemented
        return backend.spmm(A, in_order(B, False), semiring, notes)
    if semiring.binaryop.positional is not None or B.rows is not None or B.ncols > tuning.DENSE_EMPTY_ROWS * B.nvals:
        return NotImplemented
    C = backend.spmm(backend.transpose(B), in_order(transposed(A), False), semiring.flip(), notes)
    return C if C is NotImplemented else transposed(C)
