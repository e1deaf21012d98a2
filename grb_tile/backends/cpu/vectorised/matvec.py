"""w = A (+.x) x in NumPy: row-wise (dot, pull) or column-wise (saxpy, push).  Semantics: backends/protocol.py.

Row-wise: the entries of the rows that the mask admits are looked up in x, and their products combined by segmented
reduction (reduceat).  Column-wise: the rows of AT at x's entries are expanded and reduced by key (dense accumulator, or
radix sort).  Work: entries of these rows or columns; sparse operands need no array of a dimension's length.
"""

import numpy as np

from ....dtypes import cast
from ....planner import tuning
from ....storage import bits
from ....storage.convert import occupied, row_ids, rows_csr, to_sparse
from ....storage.sorting import find, ranges
from .elementwise import restrict
from .entries import empty_vector, members, members_of_words, reduce_by_key, reduce_segments, vector_of


def allowed_rows(A, mask):
    """The allowed rows to compute (int64, ascending), or None: compute all rows and apply the mask afterwards."""
    pattern, complement = mask.pattern, mask.complement
    size = pattern.size
    rows = occupied(A)[0]
    if pattern.format == "sparse" and not complement:
        if pattern.nvals * 8 < rows.shape[0]:
            return pattern.indices.astype(np.int64, copy=False)
    elif pattern.format == "bitmap" and rows.shape[0] * 8 > size:
        count = size - pattern.nvals if complement else pattern.nvals
        if count * tuning.NUMPY_MASK_ROWS > rows.shape[0]:
            return None
        words = pattern.words
        if words is None:
            return np.empty(0, np.int64) if complement else None
        return bits.to_indices(bits.complement(words, size) if complement else words, size)
    hit = members(pattern, rows)
    return rows[~hit if complement else hit]


def matvec_rows(A, x, semiring, mask=None, plan=None):
    size, dtype = A.nrows, semiring.return_type
    count = A.indices.shape[0]
    if count == 0 or x.nvals == 0:
        return empty_vector(size, dtype)
    at = None
    cols = A.indices
    filter_after = False
    rows, starts = occupied(A)
    if mask is not None:
        wanted = allowed_rows(A, mask)
        if wanted is None:
            filter_after = True
        elif wanted.shape[0] != rows.shape[0]:
            rows = wanted
            first, lengths = rows_csr(A, rows)
            used = lengths.nonzero()[0]
            if used.shape[0] != rows.shape[0]:
                rows, first, lengths = rows[used], first[used], lengths[used]
            if rows.shape[0] == 0:
                return empty_vector(size, dtype)
            at = ranges(first, lengths)
            starts = lengths.cumsum() - lengths
            cols = cols[at]
    x_at = None
    if x.format == "sparse" and x.indices.shape[0] != x.size:
        if cols.shape[0] < 512 or x.size > 64 * (cols.shape[0] + x.indices.shape[0]):
            x_at, hit = find(cols, x.indices)
        else:
            position = np.full(x.size, -1, np.int64)
            position[x.indices] = np.arange(x.indices.shape[0])
            x_at = position[cols]
            hit = x_at >= 0
    elif x.format == "bitmap" and x.words is not None:
        hit = members_of_words(x.words, x.size, cols)
    else:
        hit = None
    if hit is not None:
        kept = hit.nonzero()[0]
        total = kept.shape[0]
        if total == 0:
            return empty_vector(size, dtype)
        if total != cols.shape[0]:
            at = kept if at is None else at[kept]
            cols = cols[kept]
            if x_at is not None:
                x_at = x_at[kept]
            begin = kept.searchsorted(starts)
            used = np.empty(begin.shape[0], np.bool_)
            np.not_equal(begin[1:], begin[:-1], out=used[:-1])
            used[-1] = begin[-1] != total
            used = used.nonzero()[0]
            rows, starts = rows[used], begin[used]
    total = cols.shape[0]
    products = _row_products(A, x, semiring.binaryop, at, cols, cols if x_at is None else x_at)
    values, iso = reduce_segments(products, starts, total, semiring.monoid)
    w = vector_of(size, dtype, rows, values, iso)
    return restrict(w, mask) if filter_after else w


def _row_products(A, x, op, at, cols, x_at):
    """A[i,k] (x) x[k] for the entries `at` of A (None: all), x[k] = x.values[x_at]; one value when all are equal."""
    positional = op.positional
    if positional is not None:
        base = positional.rstrip("1")
        if base == "firsti":
            position = row_ids(A) if at is None else row_ids(A)[at]
        elif base == "secondj":
            position = np.zeros(1, np.int64)
        else:
            position = cols
        return _position_values(position, positional, op)
    kind = op.kind
    if kind == "pair":
        return np.ones(1, op.return_type.np_type)
    if kind != "second" and kind != "any":
        a = A.values[:1] if A.iso else A.values if at is None else A.values[at]
        a = cast(a, op.type)
        if kind == "first":
            return cast(a, op.return_type)
    b = x.values[:1] if x.iso else x.values[x_at]
    b = cast(b, op.type2)
    if kind == "second" or kind == "any":
        return cast(b, op.return_type)
    return op.numpy(a, b)


def _position_values(position, positional, op):
    return cast(position.astype(np.int64) + 1 if positional[-1] == "1" else position, op.return_type)


def matvec_cols(AT, x, semiring, mask=None, plan=None):
    size, dtype = AT.ncols, semiring.return_type
    if AT.indices.shape[0] == 0 or x.nvals == 0:
        return empty_vector(size, dtype)
    if x.format == "bitmap" and x.words is None:  # full, perhaps iso of size 2^60: use the non-empty rows of AT
        k, starts = occupied(AT)
        lengths = np.empty(k.shape[0], np.int64)
        np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
        lengths[-1] = AT.indices.shape[0] - starts[-1]
        x_values = x.values if x.iso else x.values[k]
    else:
        u = to_sparse(x)
        k, x_values = u.indices, u.values
        starts, lengths = rows_csr(AT, k)
    total = int(lengths.sum())
    if total == 0:
        return empty_vector(size, dtype)
    whole = total == AT.indices.shape[0]  # every entry takes part, in the stored order
    at = slice(None) if whole else ranges(starts, lengths)
    rows = AT.indices[at]
    which = None
    if mask is not None:
        hit = members(mask.pattern, rows)
        kept = (~hit if mask.complement else hit).nonzero()[0]
        if kept.shape[0] == 0:
            return empty_vector(size, dtype)
        if kept.shape[0] != total:
            at, rows = kept if whole else at[kept], rows[kept]
            total = kept.shape[0]
            which = kept
    op = semiring.binaryop
    positional, kind = op.positional, op.kind
    if positional is not None:
        base = positional.rstrip("1")
        position = (
            rows if base == "firsti" else np.zeros(1, np.int64) if base == "secondj" else _repeated(k, lengths, which)
        )
        products = _position_values(position, positional, op)
    elif kind == "pair":
        products = np.ones(1, op.return_type.np_type)
    else:
        if kind != "second" and kind != "any":
            a = cast(AT.values[:1] if AT.iso else AT.values[at], op.type)
        if kind != "first":
            b = x_values[:1] if x.iso else _repeated(x_values, lengths, which)
            b = cast(b, op.type2)
        products = (
            cast(a, op.return_type)
            if kind == "first"
            else (cast(b, op.return_type) if kind == "second" or kind == "any" else op.numpy(a, b))
        )
    monoid = semiring.monoid
    if k.shape[0] == 1:
        return vector_of(size, dtype, rows, cast(products, dtype), products.shape[0] != total)
    found, values, iso = reduce_by_key(rows, products, size, monoid)
    return vector_of(size, dtype, found, values, iso)


def _repeated(values, lengths, which):
    spread = values.repeat(lengths, axis=0)
    return spread if which is None else spread[which]
