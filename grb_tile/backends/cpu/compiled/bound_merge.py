"""Bound calls of unions and intersections of small vectors, and of their entries inside a mask (bound.py).

    union(x, y, op)        t[p] = x[p] (op) y[p] where both are present, the one entry where only one is
    intersect(x, y, op)    t[p] = x[p] (op) y[p] where both are present
    restrict(x, mask)      t[p] = x[p] where the mask admits p
    fill(c, value, at)     c with `value` at each entry of `at`
    apply(x, op)           t[p] = op(x[p])

Two lists are merged (templates/merge_rows.py); where one operand is a bitmap the other is made one, and the words are
merged (templates/merge_bitmaps.py).  Kernels and results are those of transpose_and_merge.py.
"""

import numpy as np

from grb_tile.dtypes import cast
from grb_tile.operators import get_typed_op
from grb_tile.planner import tuning
from grb_tile.storage.convert import BITMAP_TO_SPARSE, TINY, share
from grb_tile.storage.store import BitmapVector, SparseVector, same_structure

from .bound import (
    ABSENT,
    FULL,
    INDEX,
    MOST_POSITIONS,
    NO_WORDS,
    SOME,
    Bound,
    KernelError,
    listed,
    mask_words,
    result_of,
    sparse_result,
    spread_words,
    vector_kernel,
    vector_kind,
)
from .merging import merge_kernel

_START = np.zeros(1, np.int64)


def union(x, y, op, dtype, left_default=None, right_default=None):
    """x (op) y on the union, in `dtype`; NotImplemented where no call of these kinds is prepared."""
    a, b = vector_kind(x), vector_kind(y)
    if a is None or b is None or (left_default is None) != (right_default is None):
        return NotImplemented
    if same_structure(x, y) and not _few_and_full(x, op):
        return NotImplemented if op is None else _pairs[op, dtype, a, b](x, y)
    if op is None:
        op, left_default = _seconds[(dtype,)], None
    try:
        if left_default is None:
            return _unions[op, dtype, a, b, False](x, y, x.values, y.values)
        defaults = cast(np.array([left_default]), op.type), cast(np.array([right_default]), op.type2)
        return _unions[op, dtype, a, b, True](x, y, *defaults)
    except KernelError:
        return NotImplemented


def intersect(x, y, op):
    """x (op) y on the intersection; NotImplemented where no call of these kinds is prepared."""
    a, b = vector_kind(x), vector_kind(y)
    if a is None or b is None:
        return NotImplemented
    if same_structure(x, y) and not _few_and_full(x, op):
        return _pairs[op, op.return_type, a, b](x, y)
    try:
        return _meets[op, op.return_type, a, b, False](x, y, x.values, y.values)
    except KernelError:
        return NotImplemented


def _few_and_full(x, op):
    """Takes a kernel less than NumPy's function and its guards against warnings?  x: shares its structure, full."""
    return x.size <= tuning.MERGED_SIZE and op is not None and type(x) is BitmapVector and x.words is None


def _prepare(mode, op, dtype, x, y, defaults):
    """The merge of vectors of these kinds, a function of x, y and the values that stand for a missing x or y."""
    (x_form, x_type, x_iso, x_filled), (y_form, y_type, y_iso, y_filled) = x, y
    if ABSENT in (x_filled, y_filled) or x_iso and y_iso or op.positional or x_type._is_udt or y_type._is_udt:
        return None
    if mode == "meet" and op.kind in ("pair", "first", "second", "any"):  # one operand's values are copied
        return None
    types = mode, op, x_type, y_type, dtype, defaults, bool(x_iso), bool(y_iso)
    if x_form is SparseVector and y_form is SparseVector:
        kernel = merge_kernel(("merge_rows", *types, INDEX.char), {"INDEX": INDEX.char})
        return None if kernel is None else _lists(kernel, mode, dtype)
    flags = {"X_FULL": x_filled == FULL, "Y_FULL": y_filled == FULL}
    kernel = merge_kernel(("merge_bitmaps", *types, *flags.values()), flags)
    if kernel is None:
        return None
    parts = _parts(*x), _parts(*y)
    return _bitmaps(kernel, *parts, dtype, mode == "meet" and (x_form is SparseVector or y_form is SparseVector))


def _lists(kernel, mode, dtype):
    np_type, empty, meets = dtype.np_type, np.empty, mode == "meet"

    def run(x, y, x_default, y_default):
        functions = kernel.functions or kernel.of_small_calls(tuning.SMALL_MERGE_SECONDS)
        if functions is None:
            return NotImplemented
        of_x, of_y = x.indices.shape[0], y.indices.shape[0]
        capacity = min(of_x, of_y) if meets else of_x + of_y
        ends = np.array((of_x, of_y, 0))
        indices, values = empty(capacity, INDEX), empty(capacity, np_type)
        count = functions.rows(
            _START, ends[:1], x.indices, x.values, x_default, _START, ends[1:2], y.indices, y.values, y_default,
            indices, values, ends[2:], 0, 1, 0,
        )  # fmt: skip
        if count < capacity:
            indices, values = indices[:count].copy(), values[:count].copy()
        return sparse_result(x.size, dtype, indices, values, False)

    return run


def _parts(form, dtype, iso, filled):
    """A function of a vector of this kind: its (words, values) as a bitmap, None while there is no kernel for it.

    None for full bitmaps.
    """
    if form is BitmapVector:
        return None if filled == FULL else lambda u: (u.words, u.values)
    if iso:
        return lambda u: (spread_words(u), u.values)
    kernel, np_type = vector_kernel(False, dtype.np_type), dtype.np_type

    def parts(u):
        functions = kernel.functions or kernel.of_small_calls(tuning.SMALL_FORM_SECONDS)
        if functions is None:
            return None, None
        words, values = np.zeros((u.size + 63) >> 6, np.uint64), np.empty(u.size, np_type)
        functions.spread(u.indices, u.values, words, values)
        return words, values

    return parts


def _all_present(u):
    return NO_WORDS, u.values


def _bitmaps(kernel, x_parts, y_parts, dtype, is_list):
    """is_list: the result is as small as a list, and is one unless it has many entries.  parts None: of full bitmaps,
    whose values are all that is read.
    """
    np_type, empty = dtype.np_type, np.empty

    def full(x, y, x_default, y_default):
        functions = kernel.functions or kernel.of_small_calls(tuning.SMALL_MERGE_SECONDS)
        if functions is None:
            return NotImplemented
        size = x.size
        n_words = (size + 63) >> 6
        values = empty(size, np_type)
        functions.bitmaps(
            NO_WORDS, x.values, x_default, NO_WORDS, y.values, y_default, empty(n_words, np.uint64), values, 0, n_words
        )
        return BitmapVector(size, dtype, None, values, size)

    if x_parts is y_parts is None:
        return full
    if x_parts is None or y_parts is None:
        x_parts, y_parts = x_parts or _all_present, y_parts or _all_present

    def run(x, y, x_default, y_default):
        functions = kernel.functions or kernel.of_small_calls(tuning.SMALL_MERGE_SECONDS)
        if functions is None:
            return NotImplemented
        (x_words, x_values), (y_words, y_values) = x_parts(x), y_parts(y)
        if x_words is None or y_words is None:
            return NotImplemented
        size = x.size
        n_words = (size + 63) >> 6
        words, values = empty(n_words, np.uint64), empty(size, np_type)
        count = functions.bitmaps(x_words, x_values, x_default, y_words, y_values, y_default, words, values, 0, n_words)
        if is_list and count < TINY and count != size:
            return listed(BitmapVector(size, dtype, words, values, count))
        return result_of(size, dtype, words, values, count, False)

    return run


def _prepare_pairs(op, dtype, x, y):
    """The operator on the values of two vectors that share a structure: one call of its NumPy function."""
    (form, x_type, x_iso, filled), (_, y_type, y_iso, _) = x, y
    if filled == ABSENT or x_iso and y_iso or op.positional or op.kind in ("pair", "first", "second", "any"):
        return None
    if x_type._is_udt or y_type._is_udt or dtype._is_udt:
        return None
    if form is BitmapVector and filled == SOME and not op.lowerable:  # a Python function sees stored values only
        return None
    compute, plain = op.numpy, dtype is op.return_type
    same = x_type is op.type and y_type is op.type2
    left, right = op.type, op.type2

    def run(x, y):
        values = compute(x.values, y.values) if same else compute(cast(x.values, left), cast(y.values, right))
        if not plain or values.dtype != dtype.np_type:
            values = cast(values, dtype)
        x.shared = y.shared = True  # the result has x's structure, and may have its values
        if form is SparseVector:
            result = SparseVector(x.size, dtype, x.indices, values)
        else:
            result = BitmapVector(x.size, dtype, x.words, values, x.nvals)
        result.shared = True
        return result

    return run


def _prepare_union(op, dtype, x, y, defaults):
    return _prepare("union", op, dtype, x, y, defaults)


def _prepare_meet(op, dtype, x, y, defaults):
    return _prepare("meet", op, dtype, x, y, defaults)


_unions = Bound(_prepare_union)
_meets = Bound(_prepare_meet)
_pairs = Bound(_prepare_pairs)
_seconds = Bound(lambda dtype: get_typed_op("second", dtype, kind="binary"))  # of a type


# ---------------------------------------------------------------------- one operand


def apply(x, op):
    """op at every entry; NotImplemented for kinds with more to decide.  By NumPy's function, as mapping.py."""
    kind = vector_kind(x)
    return NotImplemented if kind is None else _maps[op, kind](x)


def _prepare_map(op, x):
    form, dtype, _, filled = x
    if filled == ABSENT or op.opclass != "UnaryOp" or op.positional is not None or op.kind == "one":
        return None
    if dtype._is_udt or op.return_type._is_udt or not op.lowerable:
        return None
    compute, wanted, want = op.numpy, op.type, op.return_type

    def run(x):
        count = x.nvals
        if count < x.size and form is BitmapVector and not x.iso and count * 2 < x.size:
            return NotImplemented  # at its entries alone
        given = x.values
        values = compute(given if dtype is wanted else cast(given, wanted))
        if values.dtype != want.np_type:
            values = cast(values, want)
        result = x.with_values(want, values, x.iso)
        if values is given or form is SparseVector or x.words is not None:
            x.shared = result.shared = True
        return result

    return run


_maps = Bound(_prepare_map)


# ---------------------------------------------------------------------- one value


def fill(c, value, at):
    """C with an entry `value`, a NumPy scalar of C's type, wherever `at` has one; NotImplemented for other kinds."""
    a, b = vector_kind(c), vector_kind(at)
    if a is None or b is None or c.dtype._is_udt:
        return NotImplemented
    if same_structure(c, at):
        result = c.with_values(c.dtype, np.array((value,), c.dtype.np_type), True)
        c.shared = at.shared = result.shared = True
        return result
    try:
        return _fills[a, b](c, value, at)
    except KernelError:
        return NotImplemented


def _prepare_fill(c, at):
    (form, dtype, iso, filled), (at_form, _, _, at_filled) = c, at
    if ABSENT in (filled, at_filled):
        return None
    np_type, second = dtype.np_type, _seconds[(dtype,)]
    if form is SparseVector or at_form is BitmapVector or iso:
        merge = _unions[second, dtype, (form, dtype, False, filled), (at_form, dtype, True, at_filled), False]

        def merged(c, value, at):
            values = np.array((value,), np_type)
            if iso:
                places = c.size if form is BitmapVector else c.indices.shape[0]
                c = c.with_values(dtype, c.values.repeat(places), False)
            return merge(c, at.with_values(dtype, values, True), c.values, values)

        return merged
    kernel = vector_kernel(True, np_type)

    def put(c, value, at):
        functions = kernel.functions or kernel.of_small_calls(tuning.SMALL_FORM_SECONDS)
        if functions is None:
            return NotImplemented
        words, values, count = c.words, c.values.copy(), c.nvals
        if words is None:
            values[at.indices] = value
        else:
            words = words.copy()
            count += functions.put_entries(at.indices, np.array((value,), np_type), words, values)
        return BitmapVector(c.size, dtype, None if count == c.size else words, values, count)

    return put


_fills = Bound(_prepare_fill)


# ---------------------------------------------------------------------- masks


def restrict(x, mask):
    """x inside the mask; a bitmap's result has its values, shared.  NotImplemented where no call is prepared."""
    kind = vector_kind(x)
    if kind is None or x.values.ndim != 1 or x.dtype._is_udt or mask.pattern.size > MOST_POSITIONS:
        return NotImplemented
    form, dtype, iso, filled = kind
    functions = vector_kernel(iso or form is BitmapVector, x.values.dtype).of_small_calls(tuning.SMALL_FORM_SECONDS)
    if functions is None:
        return NotImplemented
    words, flip = mask_words(mask)
    if filled == ABSENT or words is NO_WORDS:  # every position is admitted
        return x
    try:
        return (_admitted_entries if form is SparseVector else _admitted_bits)(functions, x, words, flip)
    except KernelError:
        return NotImplemented


def _admitted_bits(functions, x, allowed, flip):
    size = x.size
    words = np.empty((size + 63) >> 6, np.uint64)
    count = functions.admit_bits(NO_WORDS if x.words is None else x.words, allowed, flip, size, words)
    if count == x.nvals:
        return x
    if count * BITMAP_TO_SPARSE < size:
        return listed(BitmapVector(size, x.dtype, words, x.values, count, x.iso))
    return share(x, BitmapVector(size, x.dtype, words, x.values, count, x.iso))


def _admitted_entries(functions, x, allowed, flip):
    capacity = x.indices.shape[0]
    indices, values = np.empty(capacity, INDEX), x.values if x.iso else np.empty(capacity, x.values.dtype)
    count = functions.admit_entries(x.indices, x.values, allowed, flip, indices, values)
    if count == capacity:
        return x
    result = sparse_result(x.size, x.dtype, indices[:count].copy(), values if x.iso else values[:count].copy(), x.iso)
    return share(x, result) if x.iso else result
