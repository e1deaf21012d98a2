"""w<mask> = A x through compiled kernels: row-wise (dot, pull, SpMV) or column-wise (saxpy, push, SpMSpV).

Row-wise (templates/matvec_rows.py): each row of A that the mask admits is reduced on its own; threads take rows with
equal work.  Column-wise (templates/matvec_cols.py): the columns of A at x's entries are scattered into a dense
accumulator (SPA), one for each thread.  After NotImplemented NumPy computes the product.
"""

import os
import threading
from typing import Any, NamedTuple

import numpy as np

from grb_tile.dtypes import cast
from grb_tile.operators.iso_products import one_result, uses
from grb_tile.planner import tuning
from grb_tile.planner.choose_kernel import has_capacity
from grb_tile.planner.matvec_work import is_dense_sum
from grb_tile.storage import convert
from grb_tile.storage.store import BitmapVector, Compressed, SparseVector, index_dtype

from ..jit import cache as jit
from ..jit.operators import NotLowerable, result_value, semiring_recipe, structure_recipe
from .dense_sums import sum_columns

CHUNKS_PER_THREAD = 6
KEPT_BYTES = 512 << 20  # of accumulators kept between calls
NO_WORDS = np.zeros(0, np.uint64)
NO_FLIP, FLIP = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)

_TRUE = np.ones(1, np.bool_)

_plans = jit.memo()  # (template, semiring, flags) -> kernel, None when it cannot be lowered
_spare = {}  # (size, dtype) -> accumulators not in use
_spare_bytes = 0  # of all of them
_spare_lock = threading.Lock()


def semiring_kernel(template, semiring, a_dtype_index, **flags):
    """The Kernel of a template for a semiring, or None when the semiring cannot be lowered."""
    key = (template, semiring, a_dtype_index, *flags.values())
    try:
        return _plans[key]
    except KeyError:
        pass
    try:
        recipe = semiring_recipe(template, semiring, {**flags, "INDEX": a_dtype_index})
    except NotLowerable:
        made = None
    else:
        made = jit.kernel(key, recipe)
    _plans[key] = made
    return made


def structure_kernel(template, index, **flags):
    """The Kernel of a template for semirings whose results are iso; it computes the structure only."""
    key = (template, "structure", index, *flags.values())
    try:
        return _plans[key]
    except KeyError:
        recipe = structure_recipe(template, {**flags, "INDEX": index})
        made = _plans[key] = jit.kernel(key, recipe)
        return made


def operand(store, op_type, used):
    """(values as op_type, iso) of an operand; a single 1 where the multiply does not read its values."""
    if not used:
        return _one(op_type), True
    values = store.values
    if store.dtype is not op_type and values.dtype != op_type.np_type:
        values = cast(values, op_type)
    return jit.plain(values), store.iso


_ones = {}


def _one(dtype):
    found = _ones.get(dtype)
    if found is None:
        found = _ones[dtype] = np.ones(1, dtype.np_type)
    return found


def mask_words_of(mask):
    """(words, flip) of a vector mask; no words when every position is allowed."""
    if mask is None:
        return NO_WORDS, NO_FLIP
    words = convert.words_of(mask.pattern)
    if words is None:  # a full pattern
        if not mask.complement:
            return NO_WORDS, NO_FLIP
        words = np.zeros((mask.pattern.size + 63) // 64, np.uint64)
        return words, NO_FLIP
    return jit.plain(words), (FLIP if mask.complement else NO_FLIP)


def result_vector(size, dtype, words, values, count, iso=False):
    """A bitmap result in the format that choose_format gives it."""
    if count == size:
        words = None
    return convert.choose_format(BitmapVector(size, dtype, words, values, count, iso))


# --- row-wise (dot, pull) ---


def matvec_rows(A, x, semiring, mask=None):
    """w<mask>[i] = (+)_k A[i,k] (x) x[k], A by rows.  See backends/protocol.py."""
    product = row_product(A, x, semiring, mask)
    if product.x_full and mask is None and A.indices.shape[0] and not semiring.binaryop.positional:
        if A.rows is not None:
            return _rows_packed(A, x, semiring)
        if product.one or product.counts:
            return by_row_lengths(A, x, semiring, product)
    if product.kernel is None or not _has_rows(A, x):
        return NotImplemented
    functions = product.kernel.functions_for(lambda: _rows_seconds(A, mask))
    if functions is None:
        return NotImplemented
    multiply, reads_a, reads_x = semiring.binaryop, product.reads_a, product.reads_x
    if not product.x_full and x.format == "sparse":
        if not may_be_dense(x.size, A):
            return NotImplemented
        x = spread(x, x.iso or not reads_x)

    def run():
        if product.one:
            a_values = x_values = _TRUE
            value = result_value(semiring, A, x)
        else:
            a_values, _ = operand(A, multiply.type, reads_a)
            x_values, _ = operand(x, multiply.type2, reads_x)
            value = None
        x_words = NO_WORDS if product.x_full else jit.plain(x.words)
        rows = _rows_listed if product.listed else _rows_all
        return rows(functions.matvec_rows, A, a_values, x_words, x_values, semiring.return_type, mask, value)

    return jit.attempt(product.kernel, run)


def by_row_lengths(A, x, semiring, product):
    """A x for a full x where the lengths of A's rows are all that matters: one value, or the numbers of entries."""
    dtype = semiring.return_type
    if product.one:
        values, iso = result_value(semiring, A, x), True
    else:
        values, iso = (A.indptr[1:] - A.indptr[:-1]).astype(dtype.np_type), False
    words, count = convert.occupied_words(A)
    result = BitmapVector(A.nrows, dtype, words, values, count, iso)
    result.shared = words is not None  # they are kept with A
    return convert.choose_format(result)


def _rows_packed(A, x, semiring):
    """A x for hypersparse A and a full x: the product of the rows listed."""
    listed = Compressed(A.rows.shape[0], A.ncols, A.dtype, A.indptr, A.indices, A.values, A.iso)
    w = matvec_rows(listed, x, semiring)
    if w is NotImplemented:
        return w
    w = convert.to_sparse(w)
    indices = A.rows[w.indices].astype(index_dtype(A.nrows), copy=False)
    return convert.choose_format(SparseVector(A.nrows, w.dtype, indices, w.values, w.iso))


def may_be_dense(size, *operands):
    """May an array of `size` positions be made for a product of these matrices?  Else NumPy computes it without one."""
    return has_capacity(size, sum(A.indices.shape[0] for A in operands))


def _is_listed(mask):
    return mask is not None and not mask.complement and mask.pattern.format == "sparse"


class RowProduct(NamedTuple):
    """What the kinds of the operands decide about a row-wise product, whatever their entries are.

    kernel            None where the semiring cannot be lowered
    one, counts       is the result iso; does it count the entries of rows?
    reads_a, reads_x  are the operands' values read?
    listed, x_full    does the mask list rows; has x all positions?
    """

    kernel: Any
    one: bool
    counts: bool
    reads_a: bool
    reads_x: bool
    listed: bool
    x_full: bool


_row_products = jit.memo()  # the arguments of row_product_of -> RowProduct
_col_products = jit.memo()  # the arguments of col_product_of -> what it returns


def row_product(A, x, semiring, mask):
    """The RowProduct of these operands."""
    listed = _is_listed(mask)
    index = A.indices.dtype.char
    rows = index_dtype(A.nrows).char if listed else index
    key = semiring, A.iso, x.iso, x.nvals == x.size, listed, index, rows
    return _row_products.get(key) or _row_products.setdefault(key, row_product_of(*key))


def row_product_of(semiring, a_iso, x_iso, x_full, listed, index, rows):
    reads_a, reads_x = uses(semiring.binaryop)
    flags = {"A_ISO": a_iso or not reads_a, "X_ISO": x_iso or not reads_x}
    one = one_result(semiring, *flags.values())
    flags |= {"X_FULL": x_full, "LISTED": listed, "ROWS": rows}
    if one:
        kernel = structure_kernel("matvec_rows", index, **flags)
    else:
        kernel = semiring_kernel("matvec_rows", semiring, index, **flags)
    counts = not (reads_a or reads_x) and semiring.monoid.ufunc is np.add and semiring.return_type.np_type.kind in "iuf"
    return RowProduct(kernel, one, counts, reads_a, reads_x, listed, x_full)


def _has_rows(A, x):
    """Has the product entries, and may there be an array of as many positions as A has rows?"""
    entries = A.indices.shape[0]
    return A.rows is None and entries != 0 and x.nvals != 0 and has_capacity(A.nrows, entries)


def rows_kernel(A, x, semiring, mask=None):
    """The Kernel of this row-wise product, or None where NumPy computes it."""
    return row_product(A, x, semiring, mask).kernel if _has_rows(A, x) else None


def _rows_seconds(A, mask):
    """NumPy's time: it reads the entries of the rows that the mask admits."""
    work = A.indices.shape[0]
    if mask is not None and mask.complement:
        work *= 1 - mask.pattern.nvals / max(A.nrows, 1)
    elif mask is not None:
        work = entries_named(A, mask.pattern)
    return jit.numpy_seconds(work, tuning.NUMPY_ENTRY_NS)


def entries_named(A, x):
    """Entries of the rows of A at x's entries; estimated by x's density for a bitmap vector."""
    if x.format == "sparse":
        return int((A.indptr[x.indices + 1] - A.indptr[x.indices]).sum())
    return A.indices.shape[0] * x.nvals // max(x.size, 1)


def _rows_all(function, A, a_values, x_words, x_values, dtype, mask, value):
    n = A.nrows
    n_words = (n + 63) // 64
    words, flip = mask_words_of(mask)
    out_words = np.empty(n_words, np.uint64)
    out_values = np.empty(n, dtype.np_type) if value is None else _TRUE
    indptr, indices = jit.plain(A.indptr), jit.plain(A.indices)
    threads = jit.thread_count()
    if threads == 1 or A.indices.shape[0] < tuning.PARALLEL_MATVEC:
        count = function(indptr, indices, a_values, x_words, x_values, words, flip, out_words, out_values, 0, n_words)
    else:
        cuts = even_words(indptr, n, threads * CHUNKS_PER_THREAD)

        def job(chunk, worker):
            return function(
                indptr, indices, a_values, x_words, x_values, words, flip, out_words, out_values,
                cuts[chunk], cuts[chunk + 1],
            )  # fmt: skip

        count = sum(jit.share_out(job, len(cuts) - 1, threads))
    return result_vector(n, dtype, out_words, out_values if value is None else value, count, value is not None)


def even_words(indptr, n, chunks):
    """Cuts between words of 64 rows: load balancing, about equal entries plus rows in each chunk."""
    n_words = (n + 63) // 64
    chunks = max(1, min(chunks, n_words))
    at = indptr[0 : n + 1 : 64]
    work = at + np.arange(at.shape[0], dtype=np.int64) * 64
    wanted = (int(indptr[n]) + n) * np.arange(1, chunks, dtype=np.int64) // chunks
    return [0, *np.searchsorted(work, wanted).tolist(), n_words]


def _rows_listed(function, A, a_values, x_words, x_values, dtype, mask, value):
    rows = jit.plain(mask.pattern.indices.astype(index_dtype(A.nrows), copy=False))
    total = rows.shape[0]
    out_indices = np.empty(total, index_dtype(A.nrows))
    out_values = np.empty(total, dtype.np_type) if value is None else _TRUE
    indptr, indices = jit.plain(A.indptr), jit.plain(A.indices)
    threads = jit.thread_count()
    if threads == 1 or total * (A.indices.shape[0] // max(A.nrows, 1) + 1) < tuning.PARALLEL_MATVEC:
        count = function(indptr, indices, a_values, x_words, x_values, rows, out_indices, out_values, 0, total)
    else:
        chunks = threads * CHUNKS_PER_THREAD
        cuts = [total * c // chunks for c in range(chunks + 1)]

        def job(chunk, worker):
            return function(
                indptr, indices, a_values, x_words, x_values, rows, out_indices, out_values,
                cuts[chunk], cuts[chunk + 1],
            )  # fmt: skip

        counts = jit.share_out(job, chunks, threads)
        count = counts[0]
        for c in range(1, chunks):  # close the gaps
            if count != cuts[c]:
                out_indices[count : count + counts[c]] = out_indices[cuts[c] : cuts[c] + counts[c]]
                if value is None:
                    out_values[count : count + counts[c]] = out_values[cuts[c] : cuts[c] + counts[c]]
            count += counts[c]
    if count < total:
        out_indices = out_indices[:count].copy()
        out_values = out_values[:count].copy() if value is None else out_values
    if value is not None:
        return convert.choose_format(SparseVector(A.nrows, dtype, out_indices, value, True))
    return convert.choose_format(SparseVector(A.nrows, dtype, out_indices, out_values))


_spreads = jit.memo()


def spread(x, x_iso):
    """A sparse vector as a bitmap (values are uninitialised where absent)."""
    key = (bool(x_iso), x.values.dtype.char, x.indices.dtype.char)
    kernel = _spreads.get(key)
    if kernel is None:
        kernel = _spreads[key] = jit.plain_kernel("vectors", X_ISO=key[0], VALUE=key[1], INDEX=key[2])
    functions = kernel.functions_for(jit.numpy_seconds(x.nvals, tuning.NUMPY_PUT_NS))
    if functions is None or x.values.dtype.names is not None:
        return convert.to_bitmap(x)
    words = np.zeros((x.size + 63) // 64, np.uint64)
    values = x.values[:1] if x_iso else np.empty(x.size, x.values.dtype)
    functions.spread(jit.plain(x.indices), jit.plain(x.values), words, values)
    return BitmapVector(x.size, x.dtype, words, values, x.nvals, x.iso or x_iso)


# --- column-wise (saxpy, push) ---


def take_accumulator(size, np_type):
    """A dense accumulator (words, summary, totals): words and summary zero, totals arbitrary (none without np_type)."""
    global _spare_bytes
    with _spare_lock:
        stack = _spare.get((size, np_type))
        if stack:
            _spare_bytes -= _bytes(size, np_type)
            return stack.pop()
    n_words = (size + 63) // 64
    total = _TRUE if np_type is None else np.empty(size, np_type)
    return np.zeros(n_words, np.uint64), np.zeros((n_words + 63) // 64, np.uint64), total


def give_back(size, np_type, accumulator):
    """Keep an accumulator (its words zero) for the next call, up to KEPT_BYTES."""
    global _spare_bytes
    wanted = _bytes(size, np_type)
    with _spare_lock:
        stack = _spare.setdefault((size, np_type), [])
        if _spare_bytes + wanted > KEPT_BYTES:
            for key in list(_spare):
                if key != (size, np_type):
                    del _spare[key]
            _spare_bytes = len(stack) * wanted
            if _spare_bytes + wanted > KEPT_BYTES:
                return
        stack.append(accumulator)
        _spare_bytes += wanted


def _bytes(size, np_type):
    return size // 8 + (0 if np_type is None else size * np_type.itemsize)


def _after_fork():
    global _spare_lock
    _spare_lock = threading.Lock()  # another thread of the parent may have had it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def drop_accumulators():
    """Release the accumulators kept between calls."""
    global _spare_bytes
    with _spare_lock:
        _spare.clear()
        _spare_bytes = 0


def matvec_cols(AT, x, semiring, mask=None):
    """w<mask>[i] = (+)_k A[i,k] (x) x[k], A given by columns.  See backends/protocol.py."""
    kernel, one = _cols_kernel(AT, x, semiring)
    if kernel is None:
        return NotImplemented
    functions = kernel.functions_for(lambda: jit.numpy_seconds(entries_named(AT, x), tuning.NUMPY_SCATTER_NS))
    if functions is None:
        return NotImplemented
    dense = not one and is_dense_sum(AT, x, semiring)
    x = x if dense else convert.to_sparse(x)
    size, dtype, multiply = AT.ncols, semiring.return_type, semiring.binaryop
    reads_a, reads_x = uses(multiply)

    def run():
        if one:
            a_values = x_values = _TRUE
            value = result_value(semiring, AT, x)
        else:
            a_values, _ = operand(AT, multiply.type, reads_a)
            x_values, _ = operand(x, multiply.type2, reads_x)
            value = None
        words, flip = mask_words_of(mask)
        if dense:
            return sum_columns(functions, AT, a_values, x, x_values, words, flip, dtype)
        indices = jit.plain(x.indices.astype(index_dtype(x.size), copy=False))
        return _cols(functions, AT, a_values, indices, x_values, words, flip, size, dtype, value)

    return jit.attempt(kernel, run)


def _cols_kernel(AT, x, semiring):
    """(kernel or None, is the result iso?) of a column-wise product."""
    if AT.rows is not None or AT.indices.shape[0] == 0 or x.nvals == 0 or not may_be_dense(AT.ncols, AT):
        return None, False
    key = semiring, AT.iso, x.iso, AT.indices.dtype.char, index_dtype(AT.nrows).char, index_dtype(AT.ncols).char
    return _col_products.get(key) or _col_products.setdefault(key, col_product_of(*key))


def col_product_of(semiring, a_iso, x_iso, index, x_index, out_index):
    reads_a, reads_x = uses(semiring.binaryop)
    a_iso, x_iso = a_iso or not reads_a, x_iso or not reads_x
    more = {"X_INDEX": x_index, "OUT_INDEX": out_index}
    if one_result(semiring, a_iso, x_iso):
        return structure_kernel("matvec_cols", index, A_ISO=True, X_ISO=True, **more), True
    return semiring_kernel("matvec_cols", semiring, index, A_ISO=a_iso, X_ISO=x_iso, **more), False


def cols_kernel(AT, x, semiring, mask=None):
    """The Kernel of this column-wise product, or None where NumPy computes it."""
    return _cols_kernel(AT, x, semiring)[0]


def _cols(functions, AT, a_values, columns, x_values, words, flip, size, dtype, value):
    np_type, iso = (dtype.np_type, False) if value is None else (None, True)
    indptr, indices = jit.plain(AT.indptr), jit.plain(AT.indices)
    n_columns, threads, cuts = columns.shape[0], jit.thread_count(), None
    if threads > 1 and n_columns > 1:
        mean = indices.shape[0] // AT.nrows + 1
        if n_columns * mean > tuning.PARALLEL_MATVEC // 8:  # perhaps enough: count exactly
            ends = np.cumsum(indptr[columns + 1] - indptr[columns])
            if int(ends[-1]) > tuning.PARALLEL_MATVEC:
                chunks = threads * CHUNKS_PER_THREAD
                wanted = int(ends[-1]) * np.arange(1, chunks, dtype=np.int64) // chunks
                cuts = [0, *np.searchsorted(ends, wanted).tolist(), n_columns]
    if cuts is None:
        first = take_accumulator(size, np_type)
        count = functions.scatter(indptr, indices, a_values, columns, x_values, words, flip, *first, 0, n_columns)
    else:
        first, count = _scatter_shared(
            functions, (indptr, indices, a_values, columns, x_values, words, flip), cuts, size, np_type, threads
        )
    if iso:
        count = functions.admit(first[0], first[1], words, flip, 0, first[1].shape[0])
    if count * convert.SPARSE_TO_BITMAP > size and (count >= convert.TINY or count == size):
        # the accumulator is the result
        return result_vector(size, dtype, first[0], value if iso else first[2], count, iso)
    out_indices = np.empty(count, index_dtype(size))
    out_values = _TRUE if iso else np.empty(count, np_type)
    functions.gather(*first, out_indices, out_values, 0, first[1].shape[0], 0)
    give_back(size, np_type, first)
    return SparseVector(size, dtype, out_indices, value if iso else out_values, iso)


def _scatter_shared(functions, arguments, cuts, size, np_type, threads):
    """Threads scatter chunks of columns into accumulators of their own, then merge these by ranges of summary words."""
    accumulators = [None] * threads

    def job(chunk, worker):
        mine = accumulators[worker]
        if mine is None:
            mine = accumulators[worker] = take_accumulator(size, np_type)
        return functions.scatter(*arguments, *mine, cuts[chunk], cuts[chunk + 1])

    counts = jit.share_out(job, len(cuts) - 1, threads)
    used = [a for a in accumulators if a is not None]
    if len(used) == 1:
        return used[0], sum(counts)
    first = used[0]
    n_summary = first[1].shape[0]
    parts = min(n_summary, threads * 4)

    def join(part, worker):
        begin, end = n_summary * part // parts, n_summary * (part + 1) // parts
        for other in used[1:]:
            functions.merge(*first, *other, begin, end)
        return int(np.bitwise_count(first[0][begin * 64 : end * 64]).sum())

    count = sum(jit.share_out(join, parts, threads))
    for other in used[1:]:
        give_back(size, np_type, other)
    return first, count
