"""Building blocks of the NumPy kernels: results, keys, membership, segmented reduction, reduction by key."""

import numpy as np

from ....dtypes import cast
from ....operators import ANY
from ....storage import bits
from ....storage.convert import (
    choose_format,
    compressed,
    forms_of,
    occupied,
    row_ids,
    without_empty_rows,
    words_of,
)
from ....storage.sorting import MAX_KEY, find, segment_starts, stable_order
from ....storage.store import BitmapVector, Compressed, SparseVector, index_dtype

_IDEMPOTENT = frozenset((
    np.fmin, np.fmax, np.minimum, np.maximum, np.logical_or, np.logical_and, np.bitwise_or, np.bitwise_and,
))  # fmt: skip
_STRUCTURE_FORMS = ("row_ids", "occupied", "occupied_words")


def is_idempotent(monoid):
    """Is x (+) x = x?  Decided by the monoid's ufunc, because a user may give any name."""
    return monoid.ufunc in _IDEMPOTENT or monoid.terminal is ANY


def empty_vector(size, dtype):
    return SparseVector(size, dtype, np.empty(0, index_dtype(size)), np.empty(0, dtype.np_type))


def empty_matrix(nrows, ncols, dtype):
    rows = np.empty(0, np.int64)
    return compressed(nrows, ncols, dtype, rows, rows, np.empty(0, dtype.np_type))


def empty_like(x, dtype):
    """The store of x's shape with no entries."""
    return empty_matrix(x.nrows, x.ncols, dtype) if x.format[-1] == "r" else empty_vector(x.size, dtype)


def is_matrix(x):
    return x.format == "csr" or x.format == "dcsr"


def like(x, dtype, values, iso):
    """The structure of x with other values (one each, per position in a bitmap, or one when iso)."""
    result = x.with_values(dtype, values, iso)
    if x.forms is not None and type(x) is Compressed:
        keep = {key: x.forms[key] for key in _STRUCTURE_FORMS if key in x.forms}
        if keep:
            result.forms = keep
    x.shared = result.shared = True
    return result


def same_value(a, b):
    """Are two length-1 arrays of one dtype equal bit by bit (so that NaN equals itself)?"""
    return a.tobytes() == b.tobytes()


def vector_of(size, dtype, indices, values, iso=False):
    """The vector of entries in ascending order (indices of any integer type), in the format of choose_format."""
    count = indices.shape[0]
    if count == size and size:
        return BitmapVector(size, dtype, None, values, size, iso)
    want = index_dtype(size)
    if indices.dtype != want:
        indices = indices.astype(want)
    if count < 64 or count * 16 <= size:
        return SparseVector(size, dtype, indices, values, iso)
    return choose_format(SparseVector(size, dtype, indices, values, iso))


def pick(values, iso, at):
    """values[at], or the one value when iso."""
    return values if iso else values[at]


# ---------------------------------------------------------------------- keys of matrices


def joint_keys(*matrices):
    """One int64 key per entry for each matrix (equal shapes), ascending, equal exactly where positions are equal.

    row * ncols + column where that fits in int64; otherwise non-empty rows, and columns if needed, are renumbered.
    """
    first = matrices[0]
    nrows, ncols = first.nrows, first.ncols
    if nrows * ncols <= MAX_KEY:
        return [_plain_keys(A, ncols) for A in matrices]
    rows = [occupied(A)[0] for A in matrices]
    labels = np.unique(np.concatenate(rows))
    width = ncols
    cols = [A.indices for A in matrices]
    if labels.shape[0] * ncols > MAX_KEY:
        names = np.unique(np.concatenate(cols))
        cols = [names.searchsorted(c) for c in cols]
        width = max(names.shape[0], 1)
    return [labels.searchsorted(row_ids(A)) * width + c for A, c in zip(matrices, cols, strict=True)]


def _plain_keys(A, ncols):
    forms = A.forms
    if forms is not None:
        known = forms.get("keys")
        if known is not None:
            return known
    keys = row_ids(A) * ncols + A.indices
    if keys.shape[0] <= 1 << 14:
        forms_of(A)["keys"] = keys
    return keys


def order_pairs(rows, cols, nrows, ncols):
    """The stable permutation that sorts (row, column) pairs by rows; None when they are sorted."""
    if rows.shape[0] < 2:
        return None
    if nrows * ncols <= MAX_KEY:
        keys = rows * ncols + cols
        if (keys[1:] >= keys[:-1]).all():
            return None
        return stable_order(keys, nrows * ncols)
    return np.lexsort((cols, rows))


def keep_entries(A, kept):
    """The matrix of the entries of A numbered `kept` (ascending positions in A.indices)."""
    if kept.shape[0] == A.indices.shape[0]:
        return like(A, A.dtype, A.values, A.iso)
    indptr = kept.searchsorted(A.indptr)
    values = A.values if A.iso else A.values[kept]
    rows, indptr = without_empty_rows(A.rows, indptr.astype(np.int64, copy=False))
    return choose_format(Compressed(A.nrows, A.ncols, A.dtype, indptr, A.indices[kept], values, A.iso, rows))


# ---------------------------------------------------------------------- membership


def members(u, indices):
    """bool array: has the vector u an entry at indices[k]?"""
    if u.format == "sparse":
        if u.indices.shape[0] == 0:
            return np.zeros(indices.shape[0], np.bool_)
        if u.size > 64 * (indices.shape[0] + u.indices.shape[0]) + 4096:
            return find(indices, u.indices)[1]
    return members_of_words(words_of(u), u.size, indices)


def members_of_words(words, size, indices):
    """bool array: are the indices in the set `words` of `size` positions (None: all of them)?"""
    if words is None:
        return np.ones(indices.shape[0], np.bool_)
    if size <= 8 * indices.shape[0] + 4096:
        return bits.to_bool(words, size)[indices]
    return bits.test(words, indices)


# ---------------------------------------------------------------------- reduction


def reduce_segments(products, starts, total, monoid):
    """Segmented reduction: (values, iso) of products[starts[s]:starts[s+1]] for each s; segments are not empty.

    `products` has length `total`, or 1 when all products are equal.
    """
    if products.shape[0] != total:
        if is_idempotent(monoid):
            return cast(products, monoid.return_type), True
        if monoid.ufunc is np.add and products.dtype.kind != "b":
            counts = np.empty(starts.shape[0], np.int64)
            np.subtract(starts[1:], starts[:-1], out=counts[:-1])
            counts[-1] = total - starts[-1]
            return _times(counts, products[0], monoid), False
        products = np.broadcast_to(products, (total,))
    if starts.shape[0] == total or monoid.terminal is ANY:
        return (products if starts.shape[0] == total else products[starts]), False
    return monoid.reduceat(products, starts), False


def _times(counts, value, monoid):
    """counts[s] * value, the sum of counts[s] equal values, in the monoid's type."""
    counts = counts.astype(monoid.return_type.np_type)
    if value == 1:
        return counts
    with np.errstate(all="ignore"):
        if counts.dtype.kind == "c":  # by parts, like the sum: a complex product turns infinities into NaN
            result = np.empty_like(counts)
            result.real, result.imag = counts.real * value.real, counts.real * value.imag
            return result
        return counts * value


def can_scatter(monoid, bound, total):
    """Is a dense accumulator of length `bound` with ufunc.at the faster reduction (NumPy's own ufuncs only)?"""
    if bound > 8 * total + 256:
        return False
    if monoid.terminal is ANY:
        return True
    ufunc = monoid.ufunc
    return isinstance(ufunc, np.ufunc) and len(ufunc.types) > 1 and monoid.return_type.np_type.kind in "iufb"


def reduce_by_key(keys, products, bound, monoid):
    """Reduction by key: (distinct keys ascending, values, iso); products with equal keys are combined in input order.

    Dense accumulator (can_scatter), otherwise stable sort and segmented reduction.
    keys: integers in 0 .. bound-1, not empty; products: one each, or one for all.
    """
    total = keys.shape[0]
    one = products.shape[0] != total
    if one and is_idempotent(monoid):
        return distinct_keys(keys, bound), cast(products, monoid.return_type), True
    if can_scatter(monoid, bound, total):
        if one and monoid.ufunc is np.add and monoid.terminal is not ANY:
            counts = np.bincount(keys, minlength=bound)
            found = counts.nonzero()[0]
            return found, _times(counts[found], products[0], monoid), False
        seen = np.zeros(bound, np.bool_)
        seen[keys] = True
        found = seen.nonzero()[0]
        if monoid.terminal is ANY:
            gathered = np.empty((bound, *products.shape[1:]), products.dtype)
            gathered[keys] = products
        else:
            dtype = monoid.return_type.np_type
            # fmin and fmax ignore NaN, so NaN is their neutral start; a result of NaNs alone stays NaN.
            start = np.nan if monoid.ufunc is np.fmin or monoid.ufunc is np.fmax else monoid.identity
            gathered = np.full(bound, start, dtype)
            if one:
                products = np.broadcast_to(products, (total,))
            if dtype.kind == "f" and start == start:  # fmin and fmax do not warn
                with np.errstate(all="ignore"):
                    monoid.ufunc.at(gathered, keys, products)
            else:
                monoid.ufunc.at(gathered, keys, products)
        return found, gathered[found], False
    order = stable_order(keys, bound)
    keys = keys[order]
    starts = segment_starts(keys)
    values, iso = reduce_segments(products if one else products[order], starts, total, monoid)
    return keys[starts], values, iso


def distinct_keys(keys, bound):
    """The distinct keys (integers in 0 .. bound-1), ascending."""
    if bound <= 16 * keys.shape[0] + 256:
        seen = np.zeros(bound, np.bool_)
        seen[keys] = True
        return seen.nonzero()[0]
    if keys.shape[0] == 0:
        return keys
    keys = np.sort(keys)
    return keys[segment_starts(keys)]
