"""Bound calls of w<mask> = A x (bound.py): the products of matvec.py for small operands, on one thread.

Kernels, the order of their sums and the forms of the results are those of matvec.py.
"""

from time import perf_counter

import numpy as np

from grb_tile.dtypes import cast
from grb_tile.planner import tuning
from grb_tile.planner.choose_matvec import Settled
from grb_tile.storage.convert import SPARSE_TO_BITMAP, TINY, cached_transpose
from grb_tile.storage.store import BitmapVector, SparseVector

from ..jit.operators import result_value
from . import matvec
from .bound import (
    ABSENT,
    FULL,
    INDEX,
    MOST_POSITIONS,
    NO_FLIP,
    NO_WORDS,
    TRUE,
    Bound,
    KernelError,
    listed,
    mask_kind,
    mask_words,
    matrix_kind,
    result_of,
    sparse_result,
    spread_words,
    vector_kernel,
    vector_kind,
)
from .dense_sums import identities

_LISTED = (SparseVector, False)  # the kind of a mask whose rows are read one by one


def matvec_rows(A, x, semiring, mask):
    """w<mask>[i] = (+)_k A[i,k] (x) x[k], A by rows; NotImplemented where no call of these kinds is prepared."""
    a, b = matrix_kind(A), vector_kind(x)
    if a is None or b is None:
        return NotImplemented
    try:
        return _rows[semiring, a, b, mask_kind(mask)](A, x, mask)
    except KernelError:  # the general form finds out what the kernel refuses
        return NotImplemented


def matvec_cols(AT, x, semiring, mask):
    """w<mask>[i] = (+)_k A[i,k] (x) x[k], A by columns; NotImplemented where no call of these kinds is prepared."""
    a, b = matrix_kind(AT), vector_kind(x)
    if a is None or b is None:
        return NotImplemented
    try:
        return _cols[semiring, a, b, mask_kind(mask)](AT, x, mask)
    except KernelError:
        return NotImplemented


def bind(backend, A, transposed, u, semiring, mask):
    """The function of (A, u, mask) for w<mask> = E u (E = A or its transpose) of these kinds, which a backend keeps.

    None for kinds without bound calls, and until both methods' kernels are compiled.
    """
    if matrix_kind(A) is None or vector_kind(u) is None or not _is_here(u, mask):
        return None
    if not all(backend.is_ready(name, A, u, semiring, mask) for name in ("matvec_rows", "matvec_cols")):
        return None
    choose = Settled(A, u, semiring).choose

    def run(A, u, mask):
        if not _is_here(u, mask) or u.size > MOST_POSITIONS:
            return NotImplemented
        transpose = cached_transpose(A)
        plan = choose(A, transposed, transpose, u, mask, backend)
        rows = plan.method == "rows"
        E = A if rows != transposed else transpose or backend.transpose(A)
        w = (matvec_rows if rows else matvec_cols)(E, u, semiring, mask)
        if w is NotImplemented:
            w = (backend.matvec_rows if rows else backend.matvec_cols)(E, u, semiring, mask, plan)
            plan.done(backend)
        else:
            plan.engine = "numba"
            plan.seconds = perf_counter() - plan.started
        return w

    return run


def _is_here(u, mask):
    """Are the operands' arrays NumPy's?"""
    return type(u.values) is np.ndarray and (mask is None or type(mask.pattern.values) is np.ndarray)


def reader(store_type, op_type, used):
    """(values of a store as a kernel reads them: a function, or None for the store's own; the one that stands for all).

    The second is None where the values are read.
    """
    if not used:
        return None, np.ones(1, op_type.np_type)
    if store_type is op_type or store_type.np_type == op_type.np_type:
        return None, None
    return lambda values: cast(values, op_type), None


def _prepare_rows(semiring, a, x, mask):
    """The row-wise product of these kinds, a function of A, x and the mask."""
    (a_type, a_iso, index), (form, x_type, x_iso, filled) = a, x
    if filled == ABSENT or x_type._is_udt or a_type._is_udt:
        return None
    full, by_list = filled == FULL, mask == _LISTED
    what = matvec.row_product_of(semiring, a_iso, x_iso, full, by_list, index, INDEX.char if by_list else index)
    if full and mask is None and not semiring.binaryop.positional and (what.one or what.counts):
        return lambda A, x, mask: matvec.by_row_lengths(A, x, semiring, what)
    kernel, one, dtype = what.kernel, what.one, semiring.return_type
    if kernel is None:
        return None
    multiply, np_type, empty = semiring.binaryop, dtype.np_type, np.empty
    cast_a, a_one = reader(a_type, multiply.type, what.reads_a)
    cast_x, x_one = reader(x_type, multiply.type2, what.reads_x)
    if one:
        a_one = x_one = TRUE
    bits_only = x_iso or x_one is not None
    spreads = not full and form is SparseVector
    read_type = (x_type if cast_x is None else multiply.type2).np_type
    spread = vector_kernel(False, read_type) if spreads and not bits_only else None

    def run(A, x, mask):
        functions = kernel.functions
        if functions is None:
            return NotImplemented
        a_values = A.values if a_one is None else a_one
        if cast_a is not None:
            a_values = cast_a(a_values)
        x_values = x.values if x_one is None else x_one
        if cast_x is not None and x_one is None:
            x_values = cast_x(x_values)
        if full:
            x_words = NO_WORDS
        elif not spreads:
            x_words = x.words
        elif bits_only:
            x_words = spread_words(x)
            if x_words is None:
                return NotImplemented
        else:
            made = spread.of_small_calls(tuning.SMALL_FORM_SECONDS)
            if made is None:
                return NotImplemented
            given, x_values = x_values, empty(x.size, read_type)
            x_words = np.zeros((x.size + 63) >> 6, np.uint64)
            made.spread(x.indices, given, x_words, x_values)
        n = A.nrows
        if by_list:
            rows = mask.pattern.indices
            total = rows.shape[0]
            indices, values = empty(total, INDEX), TRUE if one else empty(total, np_type)
            count = functions.matvec_rows(
                A.indptr, A.indices, a_values, x_words, x_values, rows, indices, values, 0, total
            )
            if count < total:
                indices, values = indices[:count].copy(), TRUE if one else values[:count].copy()
            return sparse_result(n, dtype, indices, result_value(semiring, A, x) if one else values, one)
        n_words = (n + 63) >> 6
        words, values = empty(n_words, np.uint64), TRUE if one else empty(n, np_type)
        allowed, flip = (NO_WORDS, NO_FLIP) if mask is None else mask_words(mask)
        count = functions.matvec_rows(
            A.indptr, A.indices, a_values, x_words, x_values, allowed, flip, words, values, 0, n_words
        )
        return result_of(n, dtype, words, result_value(semiring, A, x) if one else values, count, one)

    return run


def _prepare_cols(semiring, a, x, mask):
    """The column-wise product of these kinds, a function of A's transpose, x and the mask."""
    (a_type, a_iso, index), (form, x_type, x_iso, filled) = a, x
    if filled == ABSENT or x_type._is_udt or a_type._is_udt:
        return None
    kernel, one = matvec.col_product_of(semiring, a_iso, x_iso, index, INDEX.char, INDEX.char)
    if kernel is None:
        return None
    multiply, dtype, empty = semiring.binaryop, semiring.return_type, np.empty
    reads_a, reads_x = matvec.uses(multiply)
    np_type = dtype.np_type
    cast_a, a_one = reader(a_type, multiply.type, reads_a)
    cast_x, x_one = reader(x_type, multiply.type2, reads_x)
    if one:
        a_one = x_one = TRUE
    sums = not one and form is BitmapVector and semiring.monoid.binaryop.name == "plus" and np_type.kind in "iuf"
    kept = []  # an accumulator of the last call: (size, words, summary, totals), words and summary zero

    def run(AT, x, mask):
        functions = kernel.functions
        if functions is None:
            return NotImplemented
        size = AT.ncols
        a_values = AT.values if a_one is None else a_one
        if cast_a is not None:
            a_values = cast_a(a_values)
        dense = sums and 2 * x.nvals >= x.size and AT.indices.shape[0] >= size  # planner/matvec_work.py: is_dense_sum
        if not dense and form is BitmapVector:
            x = listed(x)
        x_values = x.values if x_one is None else x_one
        if cast_x is not None and x_one is None:
            x_values = cast_x(x_values)
        allowed, flip = (NO_WORDS, NO_FLIP) if mask is None else mask_words(mask)
        if dense:
            words, totals = np.zeros((size + 63) >> 6, np.uint64), identities(size, np_type)
            functions.sum_columns(
                AT.indptr, AT.indices, a_values, NO_WORDS if x.words is None else x.words, x_values, words, totals,
                0, AT.nrows,
            )  # fmt: skip
            return result_of(size, dtype, words, totals, functions.admit_words(words, allowed, flip), False)
        try:
            held = kept.pop()  # one step: no other thread has it
        except IndexError:
            held = (None,)
        if held[0] != size:
            n_words = (size + 63) >> 6
            held = (
                size, np.zeros(n_words, np.uint64), np.zeros((n_words + 63) >> 6, np.uint64),
                TRUE if one else empty(size, np_type),
            )  # fmt: skip
        _, words, summary, totals = held
        columns = x.indices
        count = functions.scatter(
            AT.indptr, AT.indices, a_values, columns, x_values, allowed, flip, words, summary, totals,
            0, columns.shape[0],
        )  # fmt: skip
        if one:
            count = functions.admit(words, summary, allowed, flip, 0, summary.shape[0])
        values = result_value(semiring, AT, x) if one else totals
        if count * SPARSE_TO_BITMAP > size and (count >= TINY or count == size):
            return result_of(size, dtype, words, values, count, one)  # the accumulator is the result
        indices, found = empty(count, INDEX), TRUE if one else empty(count, np_type)
        functions.gather(words, summary, totals, indices, found, 0, summary.shape[0], 0)
        kept.append(held)
        return SparseVector(size, dtype, indices, values if one else found, one)

    return run


_rows = Bound(_prepare_rows)
_cols = Bound(_prepare_cols)
