"""select, apply and reduce to a scalar in NumPy.  Semantics: backends/protocol.py."""

import numpy as np

from ....dtypes import cast
from ....operators import ANY
from ....operators.to_numpy import ufunc_of
from ....storage import bits
from ....storage.convert import all_positions, choose_format, row_ids, share, to_sparse
from ....storage.host_memory import check_memory
from ....storage.store import BitmapVector, Compressed, full_values
from .entries import empty_like, is_idempotent, is_matrix, keep_entries, like, vector_of
from .in_chunks import LEAST, mapped, reduced, reduced_bits, releases_the_lock

MAX_SIZE = 2**60
VALUE_KINDS = {
    "valueeq": np.equal, "valuene": np.not_equal, "valuelt": np.less, "valuele": np.less_equal, "valuegt": np.greater,
    "valuege": np.greater_equal,
}  # fmt: skip
_ZERO = np.zeros(1, np.int64)
_ROW_KINDS = {"rowle": np.less_equal, "rowgt": np.greater}
_COLUMN_KINDS = {"colle": np.less_equal, "colgt": np.greater}
_DIAGONAL_KINDS = {"tril": np.less_equal, "triu": np.greater_equal, "diag": np.equal, "offdiag": np.not_equal}


# ---------------------------------------------------------------------- select


def select(x, op, thunk):
    if x.nvals == 0:
        return x
    if x.iso and op.kind in VALUE_KINDS:
        return x if _keeps(op, x.values[:1], thunk) else empty_like(x, x.dtype)
    if is_matrix(x):
        if op.kind in _ROW_KINDS:
            limit = min(max(int(thunk) + 1, 0), x.nrows)  # the rows 0..thunk, or those that follow
            return _some_rows(x, 0, limit) if op.kind == "rowle" else _some_rows(x, limit, x.nrows)
        kept = kept_of(op, x.values, row_ids(x), x.indices, thunk, x.indices.shape[0])
        return x if kept is None else keep_entries(x, kept)
    if x.format == "bitmap" and not x.iso and getattr(op, "lowerable", True) and x.nvals * 8 > x.size:
        return _select_bits(x, op, thunk)
    if x.format == "bitmap" and x.words is not None:
        at = bits.to_indices(x.words, x.size)
        values = x.values if x.iso else x.values[at]
    elif x.format == "bitmap" and x.iso and op.kind in _RANGES:
        return _select_range(x, range(x.size)[_RANGES[op.kind](int(_thunk(op, thunk)))])
    else:
        at = x.indices if x.format == "sparse" else all_positions(x.size)
        values = x.values
    kept = kept_of(op, values, at, None, thunk, at.shape[0])
    if kept is None:
        return x
    if x.format == "bitmap" and kept.shape[0] * 64 >= x.size:
        words = bits.from_indices(at[kept], x.size)
        result = BitmapVector(x.size, x.dtype, words, x.values, kept.shape[0], x.iso)
        share(x, result)
        return choose_format(result)
    result = vector_of(x.size, x.dtype, at[kept], values if x.iso else values[kept], x.iso)
    if x.iso:
        share(x, result)
    return result


def _keeps(op, value, thunk):
    """Does an operator that reads the value only keep an entry of `value` (an array of one)?"""
    zero = np.zeros(1, np.int64)
    return bool(np.asarray(op.numpy(cast(value, op.type), zero, zero, _thunk(op, thunk)))[0])


def _from(k):
    return slice(max(k, 0), None)


def _up_to(k):
    return slice(0, max(k + 1, 0))


# the positions i of a vector (j = 0) that an operator keeps, as a slice
_RANGES = {
    "rowle": _up_to, "rowgt": lambda k: _from(k + 1), "tril": lambda k: _from(-k), "triu": lambda k: _up_to(-k),
    "colle": lambda k: _from(0 if k >= 0 else MAX_SIZE), "colgt": lambda k: _from(0 if k < 0 else MAX_SIZE),
    "diag": lambda k: slice(-k, 1 - k) if k <= 0 else _up_to(-1),
}  # fmt: skip


def _select_range(x, kept):
    """The entries of a full iso vector at a range of positions."""
    if len(kept) == x.size:
        return x
    check_memory(len(kept) * 8, f"select: {len(kept)} entries of a full vector")
    result = vector_of(
        x.size, x.dtype, np.arange(kept.start, kept.stop), x.values[:1] if len(kept) else x.values[:0], len(kept) > 0
    )
    return share(x, result)


def _some_rows(A, first, stop):
    """The entries of the rows first..stop of A."""
    if A.rows is not None:
        first, stop = A.rows.searchsorted((first, stop)).tolist()
    begin, end = int(A.indptr[first]), int(A.indptr[stop])
    if end - begin == A.indices.shape[0]:
        return A
    if end == begin:
        return empty_like(A, A.dtype)
    indptr, rows = A.indptr.clip(begin, end) - begin, A.rows
    if rows is not None:
        rows, indptr = rows[first:stop], indptr[first : stop + 1]
    values = A.values[:1] if A.iso else A.values[begin:end]
    indices = A.indices[begin:end].copy()
    return choose_format(Compressed(A.nrows, A.ncols, A.dtype, indptr, indices, values.copy(), A.iso, rows))


def _select_bits(x, op, thunk):
    """select on a bitmap, at all positions at once; the values at absent ones are arbitrary."""
    at = _ZERO if op.kind in VALUE_KINDS else all_positions(x.size)
    words = bits.from_bool(_flags(op, x.values, at, None, thunk, x.size))
    if x.words is not None:
        words &= x.words
    count = bits.popcount(words)
    if count == x.nvals:
        return x
    result = BitmapVector(x.size, x.dtype, words, x.values, count, x.iso)
    share(x, result)
    return choose_format(result)


def kept_of(op, values, i, j, thunk, count):
    """Which of `count` entries the operator keeps (ascending positions), or None when it keeps all."""
    kept = _flags(op, values, i, j, thunk, count).nonzero()[0]
    return None if kept.shape[0] == count else kept


def _flags(op, values, i, j, thunk, count):
    """bool array: which of `count` entries does the operator keep?"""
    kind = op.kind
    thunk = _thunk(op, thunk)
    if kind in _ROW_KINDS:
        flags = _ROW_KINDS[kind](i, int(thunk))
    elif kind in _COLUMN_KINDS:
        flags = _COLUMN_KINDS[kind](_ZERO if j is None else j, int(thunk))
    elif kind in _DIAGONAL_KINDS:
        flags = _DIAGONAL_KINDS[kind]((_ZERO if j is None else j.astype(np.int64)) - i, int(thunk))
    elif kind in VALUE_KINDS and op.type.np_type.kind in "biuf":
        flags = VALUE_KINDS[kind](cast(values, op.type), thunk)
    else:
        i = i.astype(np.int64, copy=False)
        j = _ZERO if j is None else j.astype(np.int64)
        flags = np.asarray(op.numpy(cast(values, op.type) if op.uses_values else values, i, j, thunk))
        if flags.dtype.kind != "b":
            flags = flags != 0
    return np.broadcast_to(flags, (count,)) if flags.shape[0] != count else flags


def _thunk(op, thunk):
    if thunk is None:
        return None
    wanted = op.thunk_type
    if wanted is None or getattr(thunk, "dtype", None) == wanted.np_type:
        return thunk
    return cast(np.asarray(thunk), wanted)[()]


# ---------------------------------------------------------------------- apply


def apply(x, op, left=None, right=None, thunk=None, rows_of=row_ids):
    dtype = op.return_type
    if x.nvals == 0:
        return empty_like(x, dtype)
    indexed = op.opclass == "IndexUnaryOp" or op.opclass == "SelectOp"
    positional = None if indexed else op.positional
    if positional is not None:
        i, j = _entry_positions(x, rows_of)
        base = positional.rstrip("1")[-1]
        position = i if base == "i" else j
        return _positions(x, (np.int64(0) if position is None else position) + (positional[-1] == "1"), dtype)
    if indexed:
        if is_matrix(x):
            i = rows_of(x) if 1 in op.uses else _ZERO
            j = x.indices.astype(np.int64, copy=False) if 2 in op.uses else _ZERO
        else:
            i, j = _entry_positions(x, rows_of)[0].astype(np.int64, copy=False), _ZERO
        values = x.values
        if x.format == "bitmap" and x.words is not None and not x.iso:
            values = values[i]
        if not op.uses_values:
            values = np.zeros(1, op.type.np_type)
        result = np.asarray(op.numpy(cast(values, op.type), i, j, _thunk(op, thunk)))
        return _positions(x, cast(result, dtype), dtype)
    values, at = x.values, None
    if (
        x.format == "bitmap"
        and x.words is not None
        and not x.iso
        and (x.nvals * 2 < x.size or not getattr(op, "lowerable", True))
    ):
        at = bits.to_indices(x.words, x.size)  # values at absent positions are arbitrary: not for a user's function
        values = values[at]
    result = _call(op, values, left, right)
    iso = x.iso
    if not iso and result.shape[0] == 1 and values.shape[0] != 1:
        iso = True
    elif at is not None:
        spread = np.zeros((x.size, *result.shape[1:]), result.dtype)
        spread[at] = result
        result = spread
    return like(x, dtype, result, iso)


def _call(op, values, left, right):
    """One result for each value; or one for all where the operator reads the bound scalar only."""
    kind = getattr(op, "kind", None)
    before, after, wanted = (), (), op.type
    if left is None and right is None:
        if kind == "one":
            return np.ones(1, op.return_type.np_type)
    elif kind == "pair":
        return np.ones(1, op.return_type.np_type)
    elif left is not None:
        if kind == "first":
            return cast(cast(np.array([left]), op.type), op.return_type)
        before, wanted = (cast(np.array([left]), op.type),), op.type2
    else:
        if kind == "second" or kind == "any":
            return cast(cast(np.array([right]), op.type2), op.return_type)
        after = (cast(np.array([right]), op.type2),)
    if not getattr(op, "lowerable", True):
        return op.numpy(*before, cast(values, wanted), *after)
    ufunc = ufunc_of(op.numpy) if values.dtype == wanted.np_type else None
    into = None if ufunc is None else lambda part, out: ufunc(*before, part, *after, out=out)
    return mapped(lambda part: op.numpy(*before, cast(part, wanted), *after), values, into)


def _entry_positions(x, rows_of):
    if is_matrix(x):
        return rows_of(x), x.indices
    if x.format == "sparse":
        return x.indices, None
    if x.words is None:
        return all_positions(x.size), None
    return bits.to_indices(x.words, x.size), None


def _positions(x, values, dtype):
    """The structure of x with one value per entry; `values` may be one for all."""
    values = cast(np.atleast_1d(values), dtype)
    count = x.nvals
    if values.shape[0] != count:
        return like(x, dtype, values, True)
    if x.format == "bitmap" and x.words is not None:
        spread = np.zeros((x.size, *values.shape[1:]), values.dtype)
        spread[bits.to_indices(x.words, x.size)] = values
        values = spread
    return like(x, dtype, values, False)


# ---------------------------------------------------------------------- reduce


def reduce(x, monoid):
    count = x.nvals
    if count == 0:
        return None
    values = x.values
    if x.iso:
        one = cast(values[:1], monoid.type)
        return one[0] if count == 1 or is_idempotent(monoid) else monoid.reduce_equal(one, count)
    words = x.words if x.format == "bitmap" else None
    if words is None and count < LEAST and x.dtype is monoid.type and monoid.terminal is not ANY:
        return monoid.reduce(values)  # as below, without what is asked before
    if monoid.terminal is ANY:
        first = 0 if words is None else int(bits.to_indices(words, x.size)[0])
        return cast(values[first : first + 1], monoid.type)[0]
    function = lambda part: monoid.reduce(cast(part, monoid.type))  # noqa: E731
    if not releases_the_lock(monoid.ufunc):
        return function(values if words is None else values[bits.to_indices(words, x.size)])
    if words is None:
        return reduced(function, values, monoid.terminal)
    return reduced_bits(function, words, values, monoid.terminal)


def scan(x, monoid):
    if x.format == "bitmap" and x.words is not None:
        x = to_sparse(x)
    values = cast(full_values(x), monoid.type)
    if not is_matrix(x) and releases_the_lock(monoid.ufunc):
        with np.errstate(all="ignore"):
            values = cast(monoid.ufunc.accumulate(values, dtype=values.dtype), monoid.type)
    else:
        values = _scanned(row_ids(x) if is_matrix(x) else np.zeros(x.nvals, np.int64), values, monoid.binaryop.numpy)
    return like(x, monoid.type, values, False)


def _scanned(lines, values, function):
    """Prefix results within each line in log2(longest line) vectorised steps."""
    out, step = np.array(values), 1
    while step < out.shape[0]:
        same = lines[step:] == lines[:-step]
        if not same.any():
            break
        before = out.copy()
        out[step:] = np.where(same, function(before[:-step], before[step:]), before[step:])
        step *= 2
    return out
