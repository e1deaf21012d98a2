"""Element-wise operations on matrices through compiled kernels: union, intersection, mask, select by column range.

Rows are merged two by two (templates/merge_matrices.py); each thread takes a chunk of rows with about equal work.
"""

import numpy as np

from grb_tile.dtypes import cast
from grb_tile.operators import get_typed_op
from grb_tile.storage.convert import choose_format
from grb_tile.storage.store import Compressed, same_structure
from grb_tile.storage.work import row_counts

from ..jit import cache as jit
from ..jit.operators import NotLowerable, operator_text
from ..vectorised.elementwise import _iso_union, combine, restrict as restrict_in_numpy
from .entries import CALL_SECONDS_NUMPY
from .gather import balanced, runs

UNION_SECONDS_NUMPY = 80e-9  # NumPy's time per entry: union, intersection, select
MEET_SECONDS_NUMPY = 25e-9
SELECT_SECONDS_NUMPY = 8e-9
MINIMUM_ENTRIES = 2048  # fewer entries are left to NumPy
FAR = 1 << 62  # beyond any column

# kind: (low, high, slope) of templates/gather.py for a thunk k
RANGES = {
    "tril": lambda k: (-FAR, k + 1, 1), "triu": lambda k: (k, FAR, 1), "diag": lambda k: (k, k + 1, 1),
    "colle": lambda k: (-FAR, k + 1, 0), "colgt": lambda k: (k + 1, FAR, 0),
}  # fmt: skip
_TRUE = np.ones(1, np.bool_)  # values that are not read
_merges = jit.memo()


def _suits(*stores):
    """Are all stores CSR, with values of a built-in type and indices of one type?"""
    first = stores[0].indices.dtype
    return all(s.rows is None and s.indices.dtype == first and s.values.dtype.names is None for s in stores)


def union(A, B, op, allow=None):
    """C[i,j] = A[i,j] (op) B[i,j] where both are present, the one entry where only one is; op None: B's entry wins."""
    dtype = A.dtype if op is None else op.return_type
    if not A.dtype is B.dtype is dtype or op is not None and (op.positional or not op.type is op.type2 is dtype):
        return NotImplemented  # an entry of one operand is cast otherwise than a combined one
    if A.nvals + B.nvals < MINIMUM_ENTRIES or not _suits(A, B):
        return NotImplemented
    if allow is not None:
        A, B = _within(A, allow), _within(B, allow)
    if A.nvals == 0 or B.nvals == 0 or same_structure(A, B) or not _suits(A, B):
        return NotImplemented
    one = _iso_union(A, B, op, dtype, None, None, True)
    return _merged(A, B, get_typed_op("second", dtype, kind="binary") if op is None else op, "union", one)


def intersect(A, B, op, allow=None):
    """C[i,j] = A[i,j] (op) B[i,j] where both are present."""
    if op.positional or A.nvals + B.nvals < MINIMUM_ENTRIES or not _suits(A, B):
        return NotImplemented
    if allow is not None:
        A = _within(A, allow)
    if A.nvals == 0 or B.nvals == 0 or same_structure(A, B) or not _suits(A, B):
        return NotImplemented
    reads_a, reads_b = op.kind not in ("pair", "second", "any"), op.kind not in ("pair", "first")
    one = None
    if (A.iso or not reads_a) and (B.iso or not reads_b):
        one = combine(op, op.return_type, A, None, B, None, None)[0]
    return _merged(A, B, op, "meet", one)


def restrict(A, allow):
    """C[i,j] = A[i,j] where the mask `allow` admits (i,j)."""
    pattern = allow.pattern
    if A.nvals + pattern.nvals < MINIMUM_ENTRIES or A.nvals == 0 or pattern.nvals == 0 or same_structure(A, pattern):
        return NotImplemented
    if not _suits(A) or pattern.rows is not None or pattern.indices.dtype != A.indices.dtype:
        return NotImplemented
    lone = Compressed(A.nrows, A.ncols, A.dtype, pattern.indptr, pattern.indices, A.values[:1], True)
    op = get_typed_op("first", A.dtype, kind="binary")
    return _merged(A, lone, op, "difference" if allow.complement else "meet", A.values[:1] if A.iso else None)


def _within(A, allow):
    found = restrict(A, allow)
    return restrict_in_numpy(A, allow) if found is NotImplemented else found


def _merge_kernel(A, B, op, mode, iso):
    key = ("merge_matrices", None if iso else op, A.iso, B.iso, mode, A.indices.dtype.char)
    try:
        return _merges[key]
    except KeyError:
        pass
    flags = {"X_ISO": iso or bool(A.iso), "Y_ISO": iso or bool(B.iso), "UNION": mode == "union",
             "DIFFERENCE": mode == "difference", "ISO_OUT": iso, "INDEX": A.indices.dtype.char}  # fmt: skip
    try:
        if iso:
            made = jit.plain_kernel("merge_matrices", **flags, X="?", Y="?", Z="?")
        else:
            text = operator_text("merge_matrices", flags, ADD=op)
            made = jit.kernel(key, "merge_matrices", lambda: text)
    except NotLowerable:
        made = None
    _merges[key] = made
    return made


def _merged(A, B, op, mode, one):
    kernel = _merge_kernel(A, B, op, mode, one is not None)
    if kernel is None:
        return NotImplemented
    each = UNION_SECONDS_NUMPY if mode == "union" else MEET_SECONDS_NUMPY
    functions = kernel.functions_for(CALL_SECONDS_NUMPY + (A.nvals + B.nvals) * each)
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: _rows(functions, A, B, op, mode, one))


def _rows(functions, A, B, op, mode, one):
    dtype = op.return_type
    a = (jit.plain(A.indptr), jit.plain(A.indices), _TRUE if one is not None else jit.plain(cast(A.values, op.type)))
    b = (jit.plain(B.indptr), jit.plain(B.indices), _TRUE if one is not None else jit.plain(cast(B.values, op.type2)))
    capacity = a[0] + b[0] if mode == "union" else a[0]  # upper bound of the position where each row's results begin
    indices = np.empty(int(capacity[-1]), A.indices.dtype)
    values = np.empty(indices.shape[0], dtype.np_type) if one is None else np.empty(1, np.bool_)
    counts = np.empty(A.nrows, np.int64)
    work = row_counts(A) + row_counts(B)
    cuts, threads = balanced(work)

    def job(chunk, worker):
        first, last = cuts[chunk], cuts[chunk + 1]
        return functions.rows(*a, *b, indices, values, counts, first, last, int(capacity[first]))

    at = 0
    for chunk, found in enumerate(jit.share_out(job, len(cuts) - 1, threads)):  # close the gaps between the chunks
        begin = int(capacity[cuts[chunk]])
        if begin != at and found:
            indices[at : at + found] = indices[begin : begin + found]
            if one is None:
                values[at : at + found] = values[begin : begin + found]
        at += found
    indptr = np.zeros(A.nrows + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    indices = _fitting(indices, at)
    values = _fitting(values, at) if one is None else one if at else one[:0]
    return choose_format(Compressed(A.nrows, A.ncols, dtype, indptr, indices, values, one is not None and at > 0))


def _fitting(array, count):
    """The first `count` elements: a view, or a copy when the view would keep more than 1/8 of unused memory."""
    return array[:count] if count * 8 > array.shape[0] * 7 else array[:count].copy()


def select(A, op, thunk):
    """The entries of each row in a range of columns; see RANGES."""
    kind = RANGES.get(op.kind)
    count = A.indices.shape[0]
    if kind is None or count < MINIMUM_ENTRIES or A.rows is not None:
        return NotImplemented
    low, high, slope = kind(int(thunk))
    seconds = CALL_SECONDS_NUMPY + count * SELECT_SECONDS_NUMPY
    return runs(A, A.shape, None, A.indptr[:-1], row_counts(A), (low, high, slope), 0, seconds)
