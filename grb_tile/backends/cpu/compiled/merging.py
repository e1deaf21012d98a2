"""Merges of two operands' entries through compiled kernels: specialisation, row lists, load balancing, packing.

Both kinds of operands are merged row by row (templates/merge_rows.py): CSR and DCSR matrices over one list of rows,
sparse vectors over ranges of their indices.  Threads take chunks of rows with about equal work.  Inside a mask only its
entries are looked up in both matrices (templates/merge_masked.py).
"""

from typing import NamedTuple

import numpy as np

from grb_tile.dtypes import cast
from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format, to_csr, without_empty_rows
from grb_tile.storage.sorting import find, merge
from grb_tile.storage.store import Compressed, SparseVector

from ..jit import cache as jit
from ..jit.merges import merge_recipe, structure_only
from ..jit.operators import NotLowerable
from . import gather
from .bound import Bound, KernelError, matrix_kind

CHUNKS_PER_THREAD = 4

_TRUE = np.ones(1, np.bool_)  # stands for values that are not read
_kernels = jit.memo()


class Merge(NamedTuple):
    """What a merge computes; mode is "union", "meet" or "difference"."""

    op: object
    mode: str
    dtype: object
    one: object = None  # the value of all results, in an array of length 1; None where they differ
    defaults: tuple | None = None  # (x's, y's) where only the other is present: cast to op.type and op.type2

    @classmethod
    def of(cls, op, mode, dtype, one, left_default=None, right_default=None):
        if left_default is None or one is not None:
            return cls(op, mode, dtype, one)
        defaults = cast(np.array([left_default]), op.type), cast(np.array([right_default]), op.type2)
        return cls(op, mode, dtype, one, defaults)

    @property
    def np_type(self):
        return self.dtype.np_type


def merge_functions(template, what, x, y, count, seconds, **flags):
    """(kernel, its functions) of a template for a Merge of x and y with `count` entries; (None, None): NumPy's work.

    Few entries do not pay for a compilation, but use a kernel that is loaded.
    """
    if what.one is not None:
        key = (template, what.mode, None, None, None, None, None, True, True, *flags.values())
    else:
        key = (template, what.mode, what.op, x.dtype, y.dtype, what.dtype, what.defaults is not None,
               bool(x.iso), bool(y.iso), *flags.values())  # fmt: skip
    kernel = _kernels.get(key, key)
    if kernel is key or kernel is not None and kernel.functions is None:
        if count < tuning.COMPILED_ENTRIES and jit.mode() != "always":
            return None, None
        if kernel is key:
            kernel = merge_kernel(key, flags)
    return (None, None) if kernel is None else (kernel, kernel.functions_for(seconds))


def merge_kernel(key, flags):
    """The Kernel of a specialisation, or None when the operator or a type cannot be lowered.

    key: (template, mode, operator, type of x, of y, of the result, are there defaults, is x iso, is y iso, *the values
    of `flags`); the operator is None where all results are one value.
    """
    if key in _kernels:
        return _kernels[key]
    template, mode, op, x_type, y_type, dtype, defaults, x_iso, y_iso, *_ = key
    flags = dict(flags, UNION=mode == "union", DIFFERENCE=mode == "difference", ISO_OUT=op is None)
    flags.update(X_ISO=x_iso, Y_ISO=y_iso)
    if op is None:
        recipe = structure_only(template, {**flags, **dict.fromkeys(("X", "Y", "Z", "X_DEFAULT", "Y_DEFAULT"), "?")})
    else:
        types = [x_type, y_type, dtype, *((op.type, op.type2) if defaults else (x_type, y_type))]
        characters = (each.np_type.char for each in types)
        types = dict(zip(("X", "Y", "Z", "X_DEFAULT", "Y_DEFAULT"), characters, strict=True))
        try:
            recipe = merge_recipe(template, {**flags, **types}, op, x_type, y_type, dtype, defaults)
        except NotLowerable:
            recipe = None
    made = _kernels[key] = None if recipe is None else jit.kernel(key, recipe)
    return made


def operand_arrays(what, x, y):
    """((x's values, x's default), (y's values, y's default)) as kernels take them."""
    if what.one is not None:
        return (_TRUE, _TRUE), (_TRUE, _TRUE)
    x_default, y_default = what.defaults or (x.values, y.values)  # without defaults they are not read
    return (jit.plain(x.values), jit.plain(x_default)), (jit.plain(y.values), jit.plain(y_default))


# ---------------------------------------------------------------------- matrices


def merge_matrices(A, B, what, mask=None):
    """The merge of two matrices, at the entries of the matrix `mask` if it is given, or NotImplemented."""
    count = A.indices.shape[0] + B.indices.shape[0]
    work = count if mask is None else tuning.LOOKED_UP * mask.indices.shape[0]
    if work <= tuning.BOUND_SIZE and work < tuning.PARALLEL_ROWS:
        kinds = matrix_kind(A), matrix_kind(B), None if mask is None else matrix_kind(mask)
        if kinds[0] is not None and kinds[1] is not None and (mask is None or kinds[2] is not None):
            op = None if what.one is not None else what.op
            C = _merges[what.mode, op, what.dtype, what.defaults is None, *kinds](A, B, what, mask)
            if C is not NotImplemented:
                return C
    seconds = jit.numpy_seconds(count, tuning.NUMPY_UNION_NS if what.mode == "union" else tuning.NUMPY_MEET_NS)
    template = "merge_rows" if mask is None else "merge_masked"
    kernel, functions = merge_functions(template, what, A, B, count, seconds, INDEX=A.indices.dtype.char)
    if functions is None:
        return NotImplemented
    if mask is None:
        return jit.attempt(kernel, lambda: _matrices(functions, A, B, what))
    return jit.attempt(kernel, lambda: _inside(functions, A, B, what, mask))


def _prepare(mode, op, dtype, plain, a, b, m):
    """The merge of small CSR matrices of these kinds (bound.py), a function of A, B, the Merge and the mask."""
    (a_type, a_iso, index), (b_type, b_iso, b_index) = a, b
    if index != b_index or a_type._is_udt or b_type._is_udt or m is not None and m[2] != index:
        return None
    template = "merge_rows" if m is None else "merge_masked"
    if op is None:
        key = (template, mode, None, None, None, None, None, True, True, index)
    else:
        key = (template, mode, op, a_type, b_type, dtype, not plain, a_iso, b_iso, index)
    kernel = merge_kernel(key, {"INDEX": index})
    if kernel is None:
        return None
    one, np_type, np_index = op is None, dtype.np_type, np.dtype(index)

    def run(A, B, what, M):
        functions = kernel.functions or kernel.of_small_calls(tuning.SMALL_MERGE_SECONDS)
        if functions is None:
            return NotImplemented
        of_a, of_b = A.indices.shape[0], B.indices.shape[0]
        capacity = of_a + of_b if mode == "union" else of_a if mode == "difference" else min(of_a, of_b)
        inside = ()
        if M is not None:
            inside, capacity = (M.indptr, M.indices), min(capacity, M.indices.shape[0])
        indptr, indices = np.empty(A.nrows + 1, np.int64), np.empty(capacity, np_index)
        if one:
            a_values = b_values = a_default = b_default = values = _TRUE
        else:
            a_values, b_values, values = A.values, B.values, np.empty(capacity, np_type)
            a_default, b_default = (a_values, b_values) if plain else what.defaults
        try:
            count = functions.matrices(
                A.indptr, A.indices, a_values, a_default, B.indptr, B.indices, b_values, b_default, *inside,
                indptr, indices, values,
            )  # fmt: skip
        except KernelError:  # the general form finds out what the kernel refuses
            return NotImplemented
        if one:
            values = what.one if count else what.one[:0]
        elif count < capacity:
            values = fitting(values, count)
        indices = indices if count == capacity else fitting(indices, count)
        return choose_format(Compressed(A.nrows, A.ncols, dtype, indptr, indices, values, one and count > 0))

    return run


_merges = Bound(_prepare)


def _matrices(functions, A, B, what):
    rows, of_a, of_b = _common_rows(A, B, what.mode)
    indptr = np.zeros(of_a[0].shape[0] + 1, np.int64)
    indices, values = merge_rows(functions, A, of_a, B, of_b, what, indptr[1:])
    indptr.cumsum(out=indptr)
    if rows is not None and what.mode != "union":
        rows, indptr = without_empty_rows(rows, indptr)
    iso = what.one is not None and indices.shape[0] > 0
    return choose_format(Compressed(A.nrows, A.ncols, what.dtype, indptr, indices, values, iso, rows))


def _inside(functions, A, B, what, M):
    """The merge of A and B at the entries of M."""
    if M.rows is None:
        A, B = to_csr(A), to_csr(B)
    indptr, indices, iso = np.zeros_like(M.indptr), np.empty_like(M.indices), what.one is not None
    values = _TRUE if iso else np.empty(indices.shape[0], what.np_type)
    arguments = *_operands(A, spans(A, M.rows), B, spans(B, M.rows), what), *spans(M, M.rows), jit.plain(M.indices)
    cuts, threads = gather.balanced(M.indptr[1:] * tuning.LOOKED_UP)
    starts = M.indptr[cuts[:-1]].tolist()

    def job(chunk, worker):
        return functions.rows(*arguments, indices, values, indptr[1:], cuts[chunk], cuts[chunk + 1], starts[chunk])

    found = jit.share_out(job, len(starts), threads)
    indices, values = packed(indices, what.one if iso else values, starts, found, iso)
    rows, indptr = without_empty_rows(M.rows, indptr.cumsum())
    return choose_format(
        Compressed(A.nrows, A.ncols, what.dtype, indptr, indices, values, iso and indices.shape[0] > 0, rows)
    )


def _common_rows(A, B, mode):
    """(the rows to merge, ascending, or None for all; their spans in A and in B)."""
    a, b = A.rows, B.rows
    if a is not None and b is not None and a is not b and mode != "difference":
        if mode == "union":
            count, at_a, at_b, _ = merge(a, b)
            rows = np.empty(count, np.int64)
            rows[at_a], rows[at_b] = a, b
            return rows, _spread(A.indptr, at_a, count), _spread(B.indptr, at_b, count)
        swapped = b.shape[0] < a.shape[0]
        few, many = (B, A) if swapped else (A, B)
        at, hit = find(few.rows, many.rows)
        kept = slice(None) if hit.all() else hit.nonzero()[0]
        at = at[kept]
        starts, ends = jit.plain(few.indptr[:-1][kept]), jit.plain(few.indptr[1:][kept])
        found = (starts, ends), (many.indptr[at], many.indptr[at + 1])
        return few.rows[kept], *(found[::-1] if swapped else found)
    if mode == "union":
        rows = a if a is b else None
    else:
        rows = b if a is None and mode == "meet" else a
    if rows is None:
        A, B = to_csr(A), to_csr(B)
    return rows, spans(A, rows), spans(B, rows)


def _spread(indptr, at, count):
    """(starts, ends) of `count` rows: those at the positions `at` have entries, as `indptr` says."""
    starts, ends = np.zeros(count, np.int64), np.zeros(count, np.int64)
    starts[at], ends[at] = indptr[:-1], indptr[1:]
    return starts, ends


def spans(A, rows):
    """(starts, ends) of these rows of A in its entries; rows None: all rows of a CSR matrix."""
    if rows is None or rows is A.rows:
        return jit.plain(A.indptr[:-1]), jit.plain(A.indptr[1:])
    if A.rows is None:
        return A.indptr[rows], A.indptr[rows + 1]
    at, hit = find(rows, A.rows)
    return A.indptr[at], A.indptr[at + hit]


# ---------------------------------------------------------------------- sparse vectors


def merge_lists(x, y, what):
    """The merge of two sparse vectors, or NotImplemented."""
    count = x.indices.shape[0] + y.indices.shape[0]
    seconds = jit.numpy_seconds(count, tuning.NUMPY_UNION_NS)
    kernel, functions = merge_functions("merge_rows", what, x, y, count, seconds, INDEX=x.indices.dtype.char)
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: _lists(functions, x, y, what))


def _lists(functions, x, y, what):
    longer = x.indices if x.indices.shape[0] >= y.indices.shape[0] else y.indices
    count = longer.shape[0]
    chunks = jit.thread_count() * CHUNKS_PER_THREAD if count >= tuning.PARALLEL_ROWS // 2 else 1
    borders = longer[count * np.arange(1, chunks) // chunks]
    of_x, of_y = (_ranges(u.indices, borders) for u in (x, y))
    indices, values = merge_rows(functions, x, of_x, y, of_y, what, np.empty(of_x[0].shape[0], np.int64))
    iso = what.one is not None and indices.shape[0] > 0
    return choose_format(SparseVector(x.size, what.dtype, indices, values, iso))


def _ranges(indices, borders):
    """(starts, ends) of the ranges of ascending `indices` that `borders` separate."""
    cuts = np.empty(borders.shape[0] + 2, np.int64)
    cuts[0], cuts[-1] = 0, indices.shape[0]
    cuts[1:-1] = indices.searchsorted(borders)
    return cuts[:-1], cuts[1:]


# ---------------------------------------------------------------------- rows


def _operands(x, of_x, y, of_y, what):
    """The arguments of a kernel for the spans of_x of x's entries and of_y of y's."""
    (x_values, x_default), (y_values, y_default) = operand_arrays(what, x, y)
    return (
        *of_x, jit.plain(x.indices), x_values, x_default, *of_y,
        jit.plain(y.indices.astype(x.indices.dtype, copy=False)), y_values, y_default,
    )  # fmt: skip


def merge_rows(functions, x, of_x, y, of_y, what, counts):
    """(indices, values): the merge of the spans of_x of x's entries and of_y of y's; counts: filled, results a row."""
    arguments = _operands(x, of_x, y, of_y, what)
    iso = what.one is not None
    n, many = of_x[0].shape[0], x.indices.shape[0] + y.indices.shape[0]
    if many < tuning.PARALLEL_ROWS or jit.thread_count() == 1 or n < 2:
        capacity = many if what.mode == "union" else x.indices.shape[0]
        if what.mode == "meet":
            capacity = min(capacity, y.indices.shape[0])
        indices = np.empty(capacity, x.indices.dtype)
        values = what.one if iso else np.empty(capacity, what.np_type)
        found = functions.rows(*arguments, indices, _TRUE if iso else values, counts, 0, n, 0)
        values = fitting(values, found) if not iso else values if found else values[:0]
        return fitting(indices, found), values
    cuts, starts, capacity, threads = _chunks(of_x, of_y, what.mode)
    indices = np.empty(capacity, x.indices.dtype)
    values = _TRUE if iso else np.empty(capacity, what.np_type)

    def job(chunk, worker):
        return functions.rows(*arguments, indices, values, counts, cuts[chunk], cuts[chunk + 1], starts[chunk])

    found = jit.share_out(job, len(starts), threads)
    return packed(indices, what.one if iso else values, starts, found, iso)


def _chunks(of_x, of_y, mode):
    """(cuts between rows, first position of each chunk's results, capacity of all results, threads)."""
    of_x, of_y = of_x[1] - of_x[0], of_y[1] - of_y[0]
    work = of_x + of_y
    results = work if mode == "union" else of_x if mode == "difference" else np.minimum(of_x, of_y)
    of_work = work.cumsum()
    cuts, threads = gather.balanced(of_work)
    ends = of_work if mode == "union" else results.cumsum()
    return cuts, [0, *ends[np.asarray(cuts[1:-1], np.int64) - 1].tolist()], int(ends[-1]), threads


def packed(indices, values, starts, found, iso):
    """(indices, values) without the gaps between chunks: chunk c has found[c] results from starts[c] on."""
    at = 0
    for begin, count in zip(starts, found, strict=True):
        if begin != at and count:
            indices[at : at + count] = indices[begin : begin + count]
            if not iso:
                values[at : at + count] = values[begin : begin + count]
        at += count
    return fitting(indices, at), (values if at else values[:0]) if iso else fitting(values, at)


def fitting(array, count):
    """The first `count` elements: a view, or a copy when the view would keep more than 1/8 of unused memory."""
    return array[:count] if count * 8 > array.shape[0] * 7 else array[:count].copy()
