"""Bound calls of C<mask> = A B (bound.py): the products of matmul.py for small operands, on one thread.

Kernels and the order of their sums are those of matmul.py.
"""

import numpy as np

from grb_tile.operators.iso_products import uses
from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format
from grb_tile.storage.store import Compressed

from .bound import INDEX, NO_WORDS, Bound, KernelError, matrix_kind
from .bound_matvec import reader
from .matmul import NO_INDPTR, dots_kernel, rows_kernel


def matmul(A, B, semiring, mask, dot):
    """C<mask>[i,j] = (+)_k A[i,k] (x) B[k,j]; dot: by dot products, B is B's transpose then.

    NotImplemented where no call of these kinds is prepared.
    """
    a, b = matrix_kind(A), matrix_kind(B)
    if a is None or b is None:
        return NotImplemented
    m = None
    if mask is not None:
        m = matrix_kind(mask.pattern)
        if m is None:
            return NotImplemented
        m = m[2], mask.complement
    try:
        return _products[semiring, a, b, m, dot](A, B, mask)
    except KernelError:
        return NotImplemented


def _prepare(semiring, a, b, mask, dot):
    """The product of these kinds, a function of A, B (its transpose with `dot`) and the mask."""
    (a_type, a_iso, index), (b_type, b_iso, b_index) = a, b
    if a_type._is_udt or b_type._is_udt or dot and (mask is None or mask[1]):
        return None
    multiply = semiring.binaryop
    reads_a, reads_b = uses(multiply)
    values = reader(a_type, multiply.type, reads_a), reader(b_type, multiply.type2, reads_b)
    indices = index, b_index, b_index if mask is None else mask[0], INDEX.char
    if dot:
        kernel = dots_kernel(semiring, indices, a_iso, b_iso)
        return None if kernel is None else _dots(kernel, semiring.return_type, *values, a_iso or not reads_a)
    kind = "none" if mask is None else "complement" if mask[1] else "pattern"
    kernel = rows_kernel(semiring, indices, kind, a_iso, b_iso)
    return None if kernel is None else _rows(kernel, semiring.return_type, kind, *values)


def _rows(kernel, dtype, kind, of_a, of_b):
    """Gustavson's method, row by row."""
    (cast_a, a_one), (cast_b, b_one), np_type, empty = of_a, of_b, dtype.np_type, np.empty
    zeros = np.zeros
    kept = []  # accumulators of the last call: (columns, words, summary, totals, allowed), all but totals zero

    def run(A, B, mask):
        functions = kernel.functions or kernel.of_small_calls(tuning.SMALL_PRODUCT_SECONDS)
        if functions is None:
            return NotImplemented
        nrows, ncols = A.nrows, B.ncols
        a_values = A.values if a_one is None else a_one
        if cast_a is not None:
            a_values = cast_a(a_values)
        b_values = B.values if b_one is None else b_one
        if cast_b is not None:
            b_values = cast_b(b_values)
        work = empty((2, nrows), np.int64)
        total = functions.work(A.indptr, A.indices, B.indptr, ncols, work[0], work[1])
        if total >= tuning.PARALLEL_MATMUL:
            return NotImplemented
        if kind == "none":
            m_indptr, m_indices, capacity = NO_INDPTR, B.indices[:0], total
        else:
            pattern = mask.pattern
            m_indptr, m_indices = pattern.indptr, pattern.indices
            capacity = m_indices.shape[0] if kind == "pattern" else total
        try:
            held = kept.pop()  # one step: no other thread has it
        except IndexError:
            held = (None,)
        if held[0] != ncols:
            n_words = (ncols + 63) >> 6
            held = (
                ncols, np.zeros(n_words, np.uint64), np.zeros((n_words + 63) >> 6, np.uint64), empty(ncols, np_type),
                NO_WORDS if kind == "none" else np.zeros(n_words, np.uint64),
            )  # fmt: skip
        indptr = zeros(nrows + 1, np.int64)
        indices, values = empty(capacity, INDEX), empty(capacity, np_type)
        count = functions.multiply(
            A.indptr, A.indices, a_values, B.indptr, B.indices, b_values, m_indptr, m_indices, *held[1:],
            indptr[1:], indices, values, 0, nrows,
        )  # fmt: skip
        kept.append(held)
        functions.add_up(indptr)
        return _result(nrows, ncols, dtype, indptr, indices, values, count)

    return run


def _dots(kernel, dtype, of_a, of_b, a_stands):
    """One dot product for each entry of the mask.  a_stands: one value stands for all of A's."""
    (cast_a, a_one), (cast_b, b_one), np_type, empty = of_a, of_b, dtype.np_type, np.empty
    zeros = np.zeros

    def run(A, BT, mask):
        functions = kernel.functions or kernel.of_small_calls(tuning.SMALL_PRODUCT_SECONDS)
        if functions is None:
            return NotImplemented
        pattern = mask.pattern
        a_values = A.values if a_one is None else a_one
        if cast_a is not None:
            a_values = cast_a(a_values)
        b_values = BT.values if b_one is None else b_one
        if cast_b is not None:
            b_values = cast_b(b_values)
        work, capacity = empty(A.nrows, np.int64), pattern.indices.shape[0]
        if functions.work(pattern.indptr, pattern.indices, BT.indptr, work) >= tuning.PARALLEL_MATMUL:
            return NotImplemented
        words = np.zeros((A.ncols + 63) >> 6, np.uint64)
        row = a_values if a_stands else empty(A.ncols, a_values.dtype)
        indptr = zeros(A.nrows + 1, np.int64)
        indices, values = empty(capacity, INDEX), empty(capacity, np_type)
        count = functions.dots(
            A.indptr, A.indices, a_values, BT.indptr, BT.indices, b_values, pattern.indptr, pattern.indices,
            words, row, indices, values, indptr[1:], 0, A.nrows, 0,
        )  # fmt: skip
        functions.add_up(indptr)
        return _result(A.nrows, BT.nrows, dtype, indptr, indices, values, count)

    return run


def _result(nrows, ncols, dtype, indptr, indices, values, count):
    """The matrix of the first `count` entries."""
    if count * 5 < indices.shape[0] * 4:
        indices, values = indices[:count].copy(), values[:count].copy()
    elif count < indices.shape[0]:
        indices, values = indices[:count], values[:count]
    return choose_format(Compressed(nrows, ncols, dtype, indptr, indices, values))


_products = Bound(_prepare)
