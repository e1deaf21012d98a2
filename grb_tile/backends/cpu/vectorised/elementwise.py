"""Union, intersection and masking (restrict) in NumPy.  Semantics: backends/protocol.py.

Two sparse vectors are merged as sorted sets of integers (sorting.merge, sorting.find), and two matrices through the
keys row * ncols + column of their entries; bitmap vectors are combined word by word.  Stores that share the arrays of
their structure are combined value by value, without a merge.
"""

import numpy as np

from ....dtypes import cast
from ....storage import bits
from ....storage.convert import (
    all_positions,
    choose_format,
    compressed,
    occupied,
    row_ids,
    share,
    take_rows,
    to_sparse,
    words_of,
)  # fmt: skip
from ....storage.sorting import find, merge
from ....storage.store import BitmapVector, same_structure
from .entries import empty_like, is_matrix, joint_keys, keep_entries, like, members, same_value, vector_of
from .union_of_blocks import are_blocks, union_of_blocks

# ---------------------------------------------------------------------- values at common positions


def combine(op, dtype, x, at_x, y, at_y, positions):
    """(values, iso) of x[at_x] (op) y[at_y].

    at_x, at_y None: all values in order; positions() gives (i, j) to positional ops.
    """
    positional = op.positional
    if positional is not None:
        i, j = positions()
        position = i if positional.rstrip("1")[-1] == "i" else j
        iso = position is None
        if iso:
            position = np.zeros(1, np.int64)
        return cast(cast(position + (positional[-1] == "1"), op.return_type), dtype), iso
    kind = op.kind
    if kind == "pair":
        return np.ones(1, dtype.np_type), True
    if kind == "first":
        values = x.values[:1] if x.iso else x.values if at_x is None else x.values[at_x]
        return cast(cast(cast(values, op.type), op.return_type), dtype), x.iso
    if kind == "second" or kind == "any":
        values = y.values[:1] if y.iso else y.values if at_y is None else y.values[at_y]
        return cast(cast(cast(values, op.type2), op.return_type), dtype), y.iso
    a = x.values[:1] if x.iso else x.values if at_x is None else x.values[at_x]
    b = y.values[:1] if y.iso else y.values if at_y is None else y.values[at_y]
    return cast(op.numpy(cast(a, op.type), cast(b, op.type2)), dtype), x.iso and y.iso


# ---------------------------------------------------------------------- intersect


def intersect(x, y, op, mask=None):
    if x.nvals == 0 or y.nvals == 0:
        return empty_like(x, op.return_type)
    if is_matrix(x):
        return _intersect_matrices(x, y, op, mask)
    if mask is not None:
        x = restrict(x, mask)
    size, dtype = x.size, op.return_type
    if x.format == "bitmap" and y.format == "bitmap":
        wx, wy = x.words, y.words
        words = wy if wx is None else wx if wy is None or wx is wy else wx & wy
        full = words is None
        count = size if full else x.nvals if words is wx else y.nvals if words is wy else bits.popcount(words)
        if full or (count * 4 > size and getattr(op, "lowerable", True)):
            values, iso = combine(op, dtype, x, None, y, None, lambda: (all_positions(size), None))
            result = BitmapVector(size, dtype, words, values, count, iso)
            result.shared = True
            x.shared = y.shared = True
            return choose_format(result)
        at = bits.to_indices(words, size)
        values, iso = combine(op, dtype, x, at, y, at, lambda: (at, None))
        return vector_of(size, dtype, at, values, iso)
    if x.format == "bitmap" or y.format == "bitmap":
        thin, wide = (y, x) if x.format == "bitmap" else (x, y)
        at = thin.indices
        where = None
        if wide.words is not None:
            where = members(wide, at).nonzero()[0]
            at = at[where] if where.shape[0] != at.shape[0] else at
        at_x, at_y = (at, where) if thin is y else (where, at)
        values, iso = combine(op, dtype, x, at_x, y, at_y, lambda: (at, None))
        if values is thin.values or at is thin.indices:
            thin.shared = True
            result = vector_of(size, dtype, at, values, iso)
            result.shared = True
            return result
        return vector_of(size, dtype, at, values, iso)
    if x.indices is y.indices:
        values, iso = combine(op, dtype, x, None, y, None, lambda: (x.indices, None))
        y.shared = True
        return choose_format(like(x, dtype, values, iso))
    if x.indices.shape[0] <= y.indices.shape[0]:
        at_y, hit = find(x.indices, y.indices)
        at_x = hit.nonzero()[0]
        at_y = at_y[at_x]
    else:
        at_x, hit = find(y.indices, x.indices)
        at_y = hit.nonzero()[0]
        at_x = at_x[at_y]
    at = x.indices[at_x]
    values, iso = combine(op, dtype, x, at_x, y, at_y, lambda: (at, None))
    return vector_of(size, dtype, at, values, iso)


def _intersect_matrices(A, B, op, mask):
    dtype = op.return_type
    if mask is not None:
        A = restrict(A, mask)
        if A.nvals == 0:
            return empty_like(A, dtype)
    if same_structure(A, B):
        values, iso = combine(op, dtype, A, None, B, None, lambda: (row_ids(A), A.indices))
        return like(A, dtype, values, iso)
    if A.indices.shape[0] <= B.indices.shape[0]:
        B = _rows_near(B, A)
        ka, kb = joint_keys(A, B)
        at_b, hit = find(ka, kb)
        at_a = hit.nonzero()[0]
        at_b = at_b[at_a]
    else:
        A = _rows_near(A, B)
        ka, kb = joint_keys(A, B)
        at_a, hit = find(kb, ka)
        at_b = hit.nonzero()[0]
        at_a = at_a[at_b]
    kept = keep_entries(_structure_only(A), at_a)
    values, iso = combine(op, dtype, A, at_a, B, at_b, lambda: (row_ids(A)[at_a], A.indices[at_a]))
    return like(kept, dtype, values, iso)


def _structure_only(A):
    return like(A, A.dtype, A.values[:1], True)


def _rows_near(wide, thin):
    """`wide`, or its rows that are non-empty in `thin` when thin is less than an eighth of it."""
    if thin.indices.shape[0] * 8 < wide.indices.shape[0]:
        return take_rows(wide, occupied(thin)[0])
    return wide


# ---------------------------------------------------------------------- restrict


def restrict(x, mask):
    pattern, complement = mask.pattern, mask.complement
    if x.nvals == 0:
        return x
    if pattern.nvals == 0:
        return x if complement else empty_like(x, x.dtype)
    if is_matrix(x):
        return _restrict_matrix(x, pattern, complement)
    if x.format == "sparse":
        hit = members(pattern, x.indices)
        kept = (~hit if complement else hit).nonzero()[0]
        if kept.shape[0] == x.indices.shape[0]:
            return x
        values = x.values if x.iso else x.values[kept]
        result = vector_of(x.size, x.dtype, x.indices[kept], values, x.iso)
        if x.iso:
            share(x, result)
        return result
    size = x.size
    if pattern.format == "sparse" and not complement:
        at = pattern.indices
        if x.words is not None:
            at = at[members(x, at)]
        result = vector_of(size, x.dtype, at, x.values if x.iso else x.values[at], x.iso)
        if at is pattern.indices or x.iso:
            share(x, pattern, result)
        return result
    words = words_of(pattern)
    if words is None:
        return empty_like(x, x.dtype) if complement else x
    own = x.words
    if complement:
        words = bits.complement(words, size) if own is None else own & ~words
    elif own is not None:
        words = own & words
    count = bits.popcount(words)
    if count == x.nvals:
        return x
    result = BitmapVector(size, x.dtype, words, x.values, count, x.iso)
    share(x, result)
    return choose_format(result)


def _restrict_matrix(A, pattern, complement):
    if same_structure(A, pattern):
        return empty_like(A, A.dtype) if complement else A
    if not complement:
        A = _rows_near(A, pattern)
        if A.nvals == 0:
            return empty_like(A, A.dtype)
    ka, kp = joint_keys(A, pattern)
    if not complement and kp.shape[0] * 8 < ka.shape[0]:
        at, hit = find(kp, ka)
        return keep_entries(A, at[hit])
    hit = find(ka, kp)[1]
    return keep_entries(A, (~hit if complement else hit).nonzero()[0])


# ---------------------------------------------------------------------- union


def union(x, y, op, mask=None, left_default=None, right_default=None, dtype=None):
    if dtype is None:
        dtype = x.dtype if op is None else op.return_type
    if mask is not None:
        x, y = restrict(x, mask), restrict(y, mask)
    if x.nvals == 0:
        return _lone(y, op, dtype, left_default, True)
    if y.nvals == 0:
        return _lone(x, op, dtype, right_default, False)
    if same_structure(x, y):
        if op is None:
            return like(y, dtype, cast(y.values, dtype), y.iso)
        if x.format == "bitmap" and x.words is not None and not getattr(op, "lowerable", True):
            return _union_sparse(to_sparse(x), to_sparse(y), op, None, None, dtype)  # op sees stored values only
        values, iso = combine(op, dtype, x, None, y, None, lambda: _all_positions(x))
        y.shared = True
        return like(x, dtype, values, iso)
    if is_matrix(x):
        return _union_matrices(x, y, op, left_default, right_default, dtype)
    if x.format == "sparse" and y.format == "sparse":
        return _union_sparse(x, y, op, left_default, right_default, dtype)
    return _union_bitmaps(x, y, op, left_default, right_default, dtype)


def _all_positions(x):
    if is_matrix(x):
        return row_ids(x), x.indices
    return (x.indices if x.format == "sparse" else all_positions(x.size)), None


def _lone_values(values, op, dtype, default, default_on_left, positions=None):
    """Values of entries of one operand only: cast to dtype, or combined with the default of the missing side."""
    if default is None or op is None:
        return cast(values, dtype)
    if op.positional is not None:
        i, j = positions()
        position = i if op.positional.rstrip("1")[-1] == "i" else j
        position = np.zeros(1, np.int64) if position is None else position
        return cast(cast(position + (op.positional[-1] == "1"), op.return_type), dtype)
    default = np.array([default])
    a, b = (default, values) if default_on_left else (values, default)
    result = op.numpy(cast(a, op.type), cast(b, op.type2))
    return cast(result, dtype)


def _lone(x, op, dtype, default, default_on_left):
    """The union of x with an empty store."""
    if x.nvals == 0:
        return empty_like(x, dtype)
    values = _lone_values(x.values, op, dtype, default, default_on_left, lambda: _all_positions(x))
    if values is x.values:
        return x
    iso = values.shape[0] == 1 and (x.iso or x.nvals != 1)
    return like(x, dtype, values, iso)


def _iso_union(x, y, op, dtype, left_default, right_default, some_common):
    """The one value (length-1 array) of a union whose entries must all be equal, or None."""
    x_iso, y_iso = x.iso or x.nvals == 1, y.iso or y.nvals == 1
    if not (x.iso and y.iso) or not (x_iso and y_iso) or (op is not None and op.positional is not None):
        return None
    a = _lone_values(x.values[:1], op, dtype, right_default, False)
    b = _lone_values(y.values[:1], op, dtype, left_default, True)
    if not same_value(a, b):
        return None
    if some_common and op is not None:
        both = combine(op, dtype, x, None, y, None, None)[0]
        if not same_value(both, a):
            return None
    return a


def _fill(count, dtype, x, at_x, lone_x, y, at_y, lone_y, common, op, left_default, right_default, positions):
    """Values of a union of `count` positions.

    lone_x, lone_y: (which values of x or y, positions in the union); common: (which of x, which of y, positions).
    """
    values = np.empty(count, dtype.np_type)
    for operand, (which, at), default, on_left in (
        (x, lone_x, right_default, False), (y, lone_y, left_default, True),
    ):  # fmt: skip
        if at.shape[0]:
            chosen = operand.values[:1] if operand.iso else operand.values[which]
            values[at] = _lone_values(chosen, op, dtype, default, on_left, lambda at=at: positions(at))
    which_x, which_y, at = common
    if at.shape[0]:
        if op is None:
            values[at] = cast(y.values[:1] if y.iso else y.values[which_y], dtype)
        else:
            values[at] = combine(op, dtype, x, which_x, y, which_y, lambda: positions(at))[0]
    return values


def _merged(kx, ky):
    """(count, positions of x's, positions of y's, lone x, lone y, common) as _fill takes them."""
    count, at_x, at_y, hit = merge(kx, ky)
    common_y = hit.nonzero()[0]
    lone_y = (~hit).nonzero()[0]
    at_common = at_y[common_y]
    alone = np.ones(count, np.bool_)
    alone[at_y] = False
    lone_x = alone[at_x].nonzero()[0]
    common_x = (~alone[at_x]).nonzero()[0]
    return count, at_x, at_y, (lone_x, at_x[lone_x]), (lone_y, at_y[lone_y]), (common_x, common_y, at_common)


def _union_sparse(x, y, op, left_default, right_default, dtype):
    count, at_x, at_y, lone_x, lone_y, common = _merged(x.indices, y.indices)
    indices = np.empty(count, x.indices.dtype)
    indices[at_x] = x.indices
    indices[at_y] = y.indices
    one = _iso_union(x, y, op, dtype, left_default, right_default, common[2].shape[0] > 0)
    if one is not None:
        return vector_of(x.size, dtype, indices, one, True)
    values = _fill(
        count,
        dtype,
        x,
        at_x,
        lone_x,
        y,
        at_y,
        lone_y,
        common,
        op,
        left_default,
        right_default,
        lambda at: (indices[at], None),
    )
    return vector_of(x.size, dtype, indices, values)


def _union_matrices(A, B, op, left_default, right_default, dtype):
    if left_default is None and right_default is None and are_blocks(A, B):
        return choose_format(union_of_blocks(A, B, dtype, _iso_union(A, B, op, dtype, None, None, False)))
    ka, kb = joint_keys(A, B)
    count, at_a, at_b, lone_a, lone_b, common = _merged(ka, kb)
    cols = np.empty(count, A.indices.dtype)
    cols[at_a] = A.indices
    cols[at_b] = B.indices
    rows = np.empty(count, np.int64)
    rows[at_a] = row_ids(A)
    rows[at_b] = row_ids(B)
    one = _iso_union(A, B, op, dtype, left_default, right_default, common[2].shape[0] > 0)
    if one is not None:
        return choose_format(compressed(A.nrows, A.ncols, dtype, rows, cols, one, True))
    values = _fill(
        count,
        dtype,
        A,
        at_a,
        lone_a,
        B,
        at_b,
        lone_b,
        common,
        op,
        left_default,
        right_default,
        lambda at: (rows[at], cols[at]),
    )
    return choose_format(compressed(A.nrows, A.ncols, dtype, rows, cols, values))


def _union_bitmaps(x, y, op, left_default, right_default, dtype):
    size = x.size
    wx, wy = words_of(x), words_of(y)
    full = wx is None or wy is None
    words = None if full else wx | wy
    count = size if full else bits.popcount(words)
    if x.iso and y.iso:
        common = x.nvals + y.nvals > count
        one = _iso_union(x, y, op, dtype, left_default, right_default, common)
        if one is not None:
            return BitmapVector(size, dtype, words if count < size else None, one, count, True)
    if y.format == "sparse" or (op is None and x.format == "bitmap" and y.nvals * 8 < size):
        values = _union_into(x, y, op, dtype, right_default, left_default, False)
    elif x.format == "sparse":
        values = _union_into(y, x, op, dtype, left_default, right_default, True)
    elif left_default is None and right_default is None:
        values = _overlay(x, wx, y, wy, op, dtype)
    else:
        everywhere = bits.full(size)
        wx, wy = everywhere if wx is None else wx, everywhere if wy is None else wy
        lone_x, lone_y, at = (bits.to_indices(w, size) for w in (wx & ~wy, wy & ~wx, wx & wy))
        values = _fill(
            size,
            dtype,
            x,
            None,
            (lone_x, lone_x),
            y,
            None,
            (lone_y, lone_y),
            (at, at, at),
            op,
            left_default,
            right_default,
            lambda at: (at, None),
        )
        if count < size:
            _zero_absent(values, words)
    return BitmapVector(size, dtype, words if count < size else None, values, count)


def _overlay(x, wx, y, wy, op, dtype):
    """Values of the union of two bitmaps: x's over y's (y's over x's without op); common positions are combined."""
    size = x.size
    if op is None:
        below, above = cast(x.values, dtype), cast(y.values, dtype)
        if wy is None:
            return _of_size(above, size)
        values, at = _of_size(below, size), bits.to_indices(wy, size)
        values[at] = above if y.iso else above[at]
        return values
    fx = None if wx is None else bits.to_bool(wx, size)
    fy = None if wy is None else bits.to_bool(wy, size)
    if fx is None:
        values = _of_size(cast(x.values, dtype), size)
        at = fy.nonzero()[0]  # two full vectors have the same structure, handled before
    else:
        first, second = cast(x.values, dtype), cast(y.values, dtype)
        values = np.where(fx.reshape(size, *[1] * (first.ndim - 1)), first, second)
        at = (fx if fy is None else fx & fy).nonzero()[0]
    if at.shape[0]:
        values[at] = combine(op, dtype, x, at, y, at, lambda: (at, None))[0]
    return values


def _of_size(values, size):
    """A copy of values, or of the one value at each of `size` positions; entries of sub-array types are arrays."""
    return np.broadcast_to(values, (size, *values.shape[1:])).copy()


def _zero_absent(values, words):
    """Set the values at absent positions to 0, so that later casts do not warn."""
    values[bits.to_indices(bits.complement(words, values.shape[0]), values.shape[0])] = np.zeros((), values.dtype)


def _union_into(wide, thin, op, dtype, wide_default, thin_default, thin_first):
    """Values of the union of a bitmap with few entries: a copy of the bitmap's values, changed at thin's positions."""
    size = wide.size
    thin = to_sparse(thin)
    at = thin.indices
    if wide_default is not None:
        lone_wide = np.ones(size, np.bool_) if wide.words is None else bits.to_bool(wide.words, size)
        lone_wide[at] = False
        where = lone_wide.nonzero()[0]
        values = np.zeros(size, dtype.np_type)
        values[where] = _lone_values(
            wide.values[:1] if wide.iso else wide.values[where],
            op,
            dtype,
            wide_default,
            thin_first,
            lambda: (where, None),
        )
    else:
        values = cast(wide.values, dtype)
        values = _of_size(values[:1], size) if wide.iso else np.array(values)
    if op is None:
        if thin_first:  # the bitmap is y, whose entries win
            lone = (~members(wide, at)).nonzero()[0]
            values[at[lone]] = cast(thin.values[:1] if thin.iso else thin.values[lone], dtype)
        else:
            values[at] = cast(thin.values, dtype)
        return values
    if wide.words is None:
        x, at_x, y, at_y = (thin, None, wide, at) if thin_first else (wide, at, thin, None)
        values[at] = combine(op, dtype, x, at_x, y, at_y, lambda: (at, None))[0]
        return values
    hit = members(wide, at)
    lone = (~hit).nonzero()[0]
    if lone.shape[0]:
        chosen = thin.values[:1] if thin.iso else thin.values[lone]
        target = at[lone]
        values[target] = _lone_values(chosen, op, dtype, thin_default, not thin_first, lambda: (target, None))
    both = hit.nonzero()[0]
    if both.shape[0]:
        target = at[both]
        x, at_x, y, at_y = (thin, both, wide, target) if thin_first else (wide, target, thin, both)
        values[target] = combine(op, dtype, x, at_x, y, at_y, lambda: (target, None))[0]
    return values
