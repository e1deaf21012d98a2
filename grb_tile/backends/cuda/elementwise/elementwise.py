"""Union, intersection and masking (restrict) on the device.  Semantics: backends/protocol.py.

Unions, and intersections of stores of similar size, are merged (structure/merging.py).  Where one operand of an
intersection is much shorter, its entries are found in the longer by binary search, one thread for each: first positions
(structure/positions.py), then values (elementwise/values.py).  Bitmaps are combined word by word.  CSR and DCSR may be
mixed.

Read-backs: one for each list or matrix whose size is not known (and one for each that is masked before a union).  The
entry count of a bitmap stays on the device until it is read.
"""

import numpy as np

from ....dtypes import cast as host_cast
from ....planner import tuning
from ....storage.convert import share
from ....storage.store import BitmapVector, index_dtype, same_structure
from ..structure.arrays import as_type, counted_later, gather, progression, to_bitmap, vector_of, words_of
from ..structure.formats import choose_format
from ..structure.merging import Merge, merges
from ..structure.positions import (
    AND,
    OR,
    WITHOUT,
    empty_like,
    flags_within,
    is_empty,
    is_matrix,
    join_words,
    keep_flagged,
    keep_matrix_entries,
    locate,
    member_flags,
)
from ..structure.prefix_sums import listed
from . import bound
from .values import (
    all_plain,
    base_of,
    combined,
    common_values,
    entry_positions,
    functor_text,
    like,
    on_host,
    op_is_plain,
    overlaid,
    position_values,
    values_as,
)


def require_functor(op, dtype):
    """Raises: UdfParseError when the operator has no device form, whatever the operands hold."""
    if op is not None and op.positional is None:
        functor_text(op, dtype)


# ---------------------------------------------------------------------- restrict


def restrict(device, x, mask):
    if not all_plain(x.dtype):
        return NotImplemented
    pattern, complement = mask.pattern, mask.complement
    if is_empty(x):
        return x
    if is_empty(pattern):
        return x if complement else empty_like(device, x, x.dtype)
    if same_structure(x, pattern):
        return empty_like(device, x, x.dtype) if complement else x
    few = is_matrix(x) and not complement and pattern.nvals * tuning.GPU_RESTRICT_LOOK_UP < x.nvals
    if not few and merges(device, x, pattern):
        return _merged_restriction(device, x, pattern, WITHOUT if complement else AND)
    if few:
        at, hit = locate(device, pattern, x, at_type=index_dtype(x.nvals))
        return keep_matrix_entries(device, x, gather(device, at, listed(device, hit)))
    if x.format != "bitmap":
        if pattern.format == "bitmap" and pattern.words is None:
            return empty_like(device, x, x.dtype) if complement else x
        return keep_flagged(device, x, flags_within(device, x, mask))
    return _restrict_bitmap(device, x, pattern, complement)


def _merged_restriction(device, x, pattern, mode):
    merge = Merge(device, x, pattern, mode)
    values = x.values if x.iso else overlaid(device, None, x.values, False, None, False, merge=merge)
    if merge.count == x.indices.shape[0]:
        return x
    if merge.count == 0:
        return empty_like(device, x, x.dtype)
    result = merge.store(x.dtype, values, x.iso)
    return share(x, result) if x.iso else result


def _restrict_bitmap(device, x, pattern, complement):
    size = x.size
    if pattern.format == "sparse" and not complement:
        at = pattern.indices
        if x.words is not None:
            at = gather(device, at, listed(device, member_flags(device, at, x.words)))
        if at.shape[0] == 0:
            return empty_like(device, x, x.dtype)
        values = x.values if x.iso else gather(device, x.values, at)
        result = share(pattern, vector_of(device, size, x.dtype, at, values, x.iso))
        return share(x, result) if x.iso else result
    words = words_of(device, pattern)
    if words is None:
        return empty_like(device, x, x.dtype) if complement else x
    words, count = join_words(device, x.words, words, size, WITHOUT if complement else AND)
    return share(x, counted_later(device, size, x.dtype, words, x.values, count, x.iso))


# ---------------------------------------------------------------------- intersect


def intersect(device, x, y, op, mask):
    dtype = op.return_type
    if mask is None:
        found = bound.of_pair(device, x, y, op, dtype)
        if found is not None:
            return found
    if not (all_plain(x.dtype, y.dtype) and op_is_plain(op)):
        return NotImplemented
    require_functor(op, dtype)
    if is_empty(x) or is_empty(y):
        return empty_like(device, x, dtype)
    if same_structure(x, y):
        x = x if mask is None else restrict(device, x, mask)
        if is_empty(x):
            return empty_like(device, x, dtype)
        if same_structure(x, y):
            values, iso = common_values(
                device, op, dtype, _length(x), x, y, words=_words(x), positions=_positions_of(device, x)
            )
            y.shared = True
            return like(x, dtype, values, iso)
    if x.format == "bitmap" and y.format == "bitmap":
        return _intersect_bitmaps(device, x, y, op, mask)
    thin, wide = (x, y) if _is_thinner(x, y) else (y, x)
    if merges(device, thin, wide):
        return _merged_intersection(device, x, y, op, mask)
    at_type = index_dtype(x.size if not is_matrix(x) else max(x.nvals, y.nvals))
    if wide.format == "bitmap":
        flags = member_flags(device, thin.indices, wide.words)
        at_wide = None
    else:
        at_wide, flags = locate(device, thin, wide, at_type=at_type)
    if mask is not None:
        if is_empty(mask.pattern) and not mask.complement:
            return empty_like(device, x, dtype)
        flags = flags_within(device, thin, mask, flags)
    kept = listed(device, flags, at_type)
    count = kept.shape[0]
    if count == 0:
        return empty_like(device, x, dtype)
    if is_matrix(x):
        found = keep_matrix_entries(
            device, like(thin, thin.dtype, device.constant(thin.dtype.np_type.type(0)), True), kept
        )
        indices = found.indices
    else:
        indices = gather(device, thin.indices, kept)
    at_wide = as_type(device, indices, at_type) if at_wide is None else gather(device, at_wide, kept)
    at_x, at_y = (kept, at_wide) if thin is x else (at_wide, kept)
    if is_matrix(x):
        values, iso = common_values(device, op, dtype, count, x, y, at_x, at_y, positions=_positions_of(device, found))
        return like(found, dtype, values, iso)
    values, iso = common_values(
        device, op, dtype, count, x, y, at_x, at_y, positions=lambda base: _vector_positions(indices, base)
    )
    result = vector_of(device, x.size, dtype, indices, values, iso)
    result.shared = True
    return result


def _merged_intersection(device, x, y, op, mask):
    if mask is not None:
        return intersect(device, restrict(device, x, mask), y, op, None)
    dtype, merge = op.return_type, Merge(device, x, y, AND)
    values, iso = common_values(device, op, dtype, None, x, y, positions=_positions_in(device, merge), merge=merge)
    if merge.count == 0:
        return empty_like(device, x, dtype)
    result = merge.store(dtype, values, iso)
    result.shared = True
    return result


def _is_thinner(x, y):
    """Are x's entries looked up in y, not y's in x?"""
    if x.format == "bitmap" or y.format == "bitmap":
        return y.format == "bitmap"
    return x.indices.shape[0] <= y.indices.shape[0]


def _vector_positions(indices, base):
    return indices.astype(np.int64) if base == "i" else None


def _length(x):
    """How many values the store has when it is not iso."""
    return x.size if x.format == "bitmap" else x.nvals


def _words(x):
    return x.words if x.format == "bitmap" else None


def _positions_of(device, x):
    return lambda base: entry_positions(device, x, base)


def _positions_in(device, merge):
    """_positions_of of the merge's result."""
    return lambda base: entry_positions(device, merge.pattern(), base)


def _intersect_bitmaps(device, x, y, op, mask):
    size, dtype = x.size, op.return_type
    if mask is not None:
        x = restrict(device, x, mask)
        if x.format != "bitmap":
            return intersect(device, x, y, op, None)
    structure, count = (y if x.words is None else x), None
    words = structure.words
    if x.words is not None and y.words is not None:
        words, count = join_words(device, x.words, y.words, size, AND)
    values, iso = common_values(
        device,
        op,
        dtype,
        size,
        x,
        y,
        words=words,
        positions=lambda base: _vector_positions(progression(device, size, np.dtype(np.int64)), base),
    )
    if count is None:
        return choose_format(device, share(x, y, structure.with_values(dtype, values, iso)))
    return share(x, y, counted_later(device, size, dtype, words, values, count, iso))


# ---------------------------------------------------------------------- union


def union(device, x, y, op, mask, left_default, right_default, dtype):
    if dtype is None:
        dtype = x.dtype if op is None else op.return_type
    if mask is None and op is not None:
        found = bound.of_pair(device, x, y, op, dtype)
        if found is None and left_default is None and right_default is None:
            found = bound.of_union(device, x, y, op, dtype)
        if found is not None:
            return found
    if not (all_plain(x.dtype, y.dtype, dtype) and op_is_plain(op)):
        return NotImplemented
    require_functor(op, dtype)
    if mask is not None:
        x, y = restrict(device, x, mask), restrict(device, y, mask)
    if is_empty(x):
        return _lone(device, y, op, dtype, left_default, True)
    if is_empty(y):
        return _lone(device, x, op, dtype, right_default, False)
    defaults = left_default, right_default
    if same_structure(x, y):
        y.shared = True
        if op is None:
            return like(y, dtype, values_as(device, y, dtype), y.iso)
        values, iso = common_values(
            device, op, dtype, _length(x), x, y, words=_words(x), positions=_positions_of(device, x)
        )
        return like(x, dtype, values, iso)
    if is_matrix(x) or (x.format == "sparse" and y.format == "sparse"):
        merge = Merge(device, x, y, OR)
        positions = _positions_in(device, merge)
        values, iso = _union_values(device, op, dtype, None, x, y, (None, None), defaults, positions, merge)
        if not iso and merge.count == x.nvals + y.nvals:  # no entry is of both
            one = _iso_union(device, x, y, op, dtype, defaults, False)
            values, iso = (values, False) if one is None else (device.constant(one), True)
        return merge.store(dtype, values, iso)
    return _union_bitmaps(device, to_bitmap(device, x), to_bitmap(device, y), op, dtype, defaults)


def _union_bitmaps(device, x, y, op, dtype, defaults):
    size, words, count = x.size, None, None
    if x.words is not None and y.words is not None:
        words, count = join_words(device, x.words, y.words, size, OR)
    values, iso = _union_values(
        device,
        op,
        dtype,
        size,
        x,
        y,
        (x.words, y.words),
        defaults,
        lambda base: _vector_positions(progression(device, size, np.dtype(np.int64)), base),
    )
    if words is None:
        return BitmapVector(size, dtype, None, values, size, iso)
    return counted_later(device, size, dtype, words, values, count, iso)


def _union_values(device, op, dtype, n, x, y, words, defaults, positions, merge=None):
    """(values, iso) of a union of n positions, those of bitmaps with `words` or those of a Merge."""
    one = _iso_union(device, x, y, op, dtype, defaults, True)
    if one is not None:
        return device.constant(one), True
    left_default, right_default = defaults
    if op is not None and op.positional is not None:
        base, one = base_of(op.positional)
        common, iso = position_values(device, positions(base), one, op.return_type, dtype)
        if left_default is not None and right_default is not None:
            return common, iso
        return _overlaid(device, n, x, y, dtype, words=words, common=common, common_iso=iso, merge=merge), False
    if op is None:
        return _overlaid(device, n, x, y, dtype, words=words, merge=merge), False
    left, right = values_as(device, x, op.type), values_as(device, y, op.type2)
    lone = (
        None if right_default is not None else left if op.type is dtype else values_as(device, x, dtype),
        None if left_default is not None else right if op.type2 is dtype else values_as(device, y, dtype),
    )
    defaults = (
        None if left_default is None else _scalar(device, left_default, op.type),
        None if right_default is None else _scalar(device, right_default, op.type2),
    )
    return combined(
        device, op, dtype, n, left, x.iso, right, y.iso, words=words, lone=lone, defaults=defaults, merge=merge
    ), False


def _overlaid(device, n, x, y, dtype, **more):
    return overlaid(device, n, values_as(device, x, dtype), x.iso, values_as(device, y, dtype), y.iso, **more)


def _scalar(device, value, dtype):
    """A host scalar cast to dtype, as a device array of length 1."""
    return device.constant(host_cast(np.array([value]), dtype)[0])


def _lone(device, x, op, dtype, default, default_on_left):
    """The union of x with an empty store."""
    if is_empty(x):
        return empty_like(device, x, dtype)
    if default is None or op is None:
        values = values_as(device, x, dtype)
        return x if values is x.values and x.dtype is dtype else like(x, dtype, values, x.iso)
    if op.positional is not None:
        base, one = base_of(op.positional)
        values, iso = position_values(device, entry_positions(device, x, base), one, op.return_type, dtype)
        return like(x, dtype, values, iso)
    n = 1 if x.iso else _length(x)
    words = None if x.iso else _words(x)
    if default_on_left:
        a, a_iso, b, b_iso = _scalar(device, default, op.type), True, values_as(device, x, op.type2), x.iso
    else:
        a, a_iso, b, b_iso = values_as(device, x, op.type), x.iso, _scalar(device, default, op.type2), True
    return like(x, dtype, combined(device, op, dtype, n, a, a_iso, b, b_iso, words=(words, words)), x.iso)


def _iso_union(device, x, y, op, dtype, defaults, some_common):
    """The one value (NumPy scalar) of a union whose entries must all be equal, or None; reads nothing back."""
    if not (x.iso and y.iso) or op is not None and (op.positional is not None or not op.lowerable):
        return None
    a, b = device.known_constant(x.values), device.known_constant(y.values)
    if a is None or b is None:
        return None
    a, b = np.array([a]), np.array([b])
    left_default, right_default = defaults
    lone_x, lone_y = host_cast(a, dtype), host_cast(b, dtype)
    if op is not None and right_default is not None:
        lone_x = on_host(op, a, np.array([right_default]), dtype)
    if op is not None and left_default is not None:
        lone_y = on_host(op, np.array([left_default]), b, dtype)
    if lone_x.tobytes() != lone_y.tobytes():
        return None
    if some_common and op is not None and on_host(op, a, b, dtype).tobytes() != lone_x.tobytes():
        return None
    return lone_x[0]
