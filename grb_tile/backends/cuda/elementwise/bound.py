"""Bound element-wise calls: what an operator does with vectors of given types and forms is decided once and kept.

A call of the kinds below is then a look-up, an array and a launch; for other kinds the functions return None, and the
general forms of elementwise.py and mapping.py run.  Kinds: no mask; vectors without gaps, or bitmaps that are not iso,
of any types: the operator's code casts them to its own.  The prepared functions are kept with the device, under the
operator and the kinds of its operands.
"""

import numpy as np

from ....dtypes import cast as host_cast
from ....storage.convert import share
from ....storage.store import BitmapVector
from ..structure.arrays import counted_later
from ..structure.positions import OR, join_words
from .values import casts_within, functor_text, op_is_plain

MOST = 2048  # prepared functions of a device
_MOVES = ("pair", "first", "second", "any", "one")  # kinds that need no operator's code


def keep(device, key, function):
    """Keep a prepared function under `key`; returns it."""
    kept = device.prepared
    while len(kept) >= MOST:
        kept.pop(next(iter(kept)), None)
    kept[key] = function
    return function


def _none(*operands):
    """The prepared function of kinds for which there is none."""
    return None


def computes(op, dtype):
    """Is the operator one whose code runs on numbers, with a result of that type?"""
    return op is not None and op_is_plain(op) and op.positional is None and not dtype._is_udt


# ---------------------------------------------------------------------- two vectors


def of_pair(device, x, y, op, dtype):
    """x (op) y of two vectors without gaps: their union and their intersection."""
    if x.format != "bitmap" or y.format != "bitmap" or x.words is not None or y.words is not None or not x.size:
        return None
    key = "pair", op, dtype, x.dtype, y.dtype, x.iso, y.iso
    return (device.prepared.get(key) or keep(device, key, _pair(device, op, dtype, x, y)))(x, y)


def _pair(device, op, dtype, x, y):
    if not computes(op, dtype) or op.kind in _MOVES or x.iso and y.iso:
        return _none
    if not (casts_within(x.dtype, op.type) and casts_within(y.dtype, op.type2)):
        return _none
    over, np_type, x_iso, y_iso = _combine(device, op, dtype, x.dtype, y.dtype).over, dtype.np_type, x.iso, y.iso
    empty = device.array_class

    def run(x, y):
        n = x.size
        out = empty(n, np_type)
        over(n, (None, None, None, None, n, x.values, x_iso, y.values, y_iso, None, None, None, None, out))
        return BitmapVector(n, dtype, None, out, n)

    return run


def _combine(device, op, dtype, left, right):
    types = "int32_t", left.cuda_type, right.cuda_type, dtype.cuda_type, "Op"
    text = functor_text(op, dtype, (left, right))
    return device.launcher.kernel("elementwise/union_values.cuh", "combine", text, types)


def of_union(device, x, y, op, dtype):
    """The union of two bitmaps of the operator's one type, none of them known to be empty."""
    if x.format != "bitmap" or y.format != "bitmap" or x.iso or y.iso:
        return None
    if x.words is y.words or x.nvals_if_read == 0 or y.nvals_if_read == 0:
        return None
    key = "union", op, dtype, x.dtype, y.dtype
    return (device.prepared.get(key) or keep(device, key, _union(device, op, dtype, x, y)))(x, y)


def _union(device, op, dtype, x, y):
    if not computes(op, dtype) or any(t is not dtype for t in (op.type, op.type2, x.dtype, y.dtype)):
        return _none
    over, np_type, empty = _combine(device, op, dtype, dtype, dtype).over, dtype.np_type, device.array_class

    def run(x, y):
        n, a, b, words, count = x.size, x.values, y.values, None, None
        x_words, y_words = x.words, y.words
        if x_words is not None and y_words is not None:
            words, count = join_words(device, x_words, y_words, n, OR)
        out = empty(n, np_type)
        over(n, (None, None, x_words, y_words, n, a, False, b, False, a, b, None, None, out))
        if words is None:
            return BitmapVector(n, dtype, None, out, n)
        return counted_later(device, n, dtype, words, out, count)

    return run


# ---------------------------------------------------------------------- one vector


def of_one(device, x, op, left, right):
    """op over a bitmap's values; left, right: a NumPy scalar bound to a side of a binary operator, or None."""
    if x.format != "bitmap" or x.iso or x.nvals_if_read == 0:
        return None
    key = "one", op, x.dtype, left is None, right is None
    return (device.prepared.get(key) or keep(device, key, _one(device, op, x, left, right)))(x, left, right)


def _one(device, op, x, left, right):
    dtype = op.return_type
    if op.opclass not in ("UnaryOp", "BinaryOp") or not computes(op, dtype) or op.kind in _MOVES:
        return _none
    np_type, empty = dtype.np_type, device.array_class
    if left is None and right is None:
        identity = op.expression is not None and op.expression.op == "arg"
        if identity or not casts_within(x.dtype, op.type):
            return _none
        types, text = (x.dtype.cuda_type, dtype.cuda_type, "Op"), functor_text(op, dtype, (x.dtype,))
        over = device.launcher.kernel("elementwise/apply.cuh", "apply_values", text, types).over

        def unary(x, left, right):
            n, words = x.size, x.words
            out = empty(n, np_type)
            over(n, (x.values, words, n, out))
            return _like(x, words, dtype, out)

        return unary
    own, bound_type = (op.type2, op.type) if right is None else (op.type, op.type2)
    if not casts_within(x.dtype, own):
        return _none
    left_type, right_type = (bound_type, x.dtype) if right is None else (x.dtype, bound_type)
    over = _combine(device, op, dtype, left_type, right_type).over

    def binary(x, left, right):
        n, words = x.size, x.words
        out = empty(n, np_type)
        value = left if right is None else right
        if type(value) is not bound_type.np_type.type:
            value = host_cast(np.array([value]), bound_type)[0]
        one = device.constant(value)
        a, b = (one, x.values) if right is None else (x.values, one)
        over(n, (None, None, words, words, n, a, right is None, b, right is not None, None, None, None, None, out))
        return _like(x, words, dtype, out)

    return binary


def _like(x, words, dtype, values):
    """x with other values; without gaps it shares nothing with x."""
    if words is None:
        return BitmapVector(x.size, dtype, None, values, x.size)
    return share(x, x.with_values(dtype, values, False))


# ---------------------------------------------------------------------- operators that read positions


def of_indexed(device, x, op, thunk, selects):
    """op(x[p], i, j, thunk) over a bitmap that is not iso: the entries that it selects, or its results."""
    if x.format != "bitmap" or x.iso or x.nvals_if_read == 0:
        return None
    key = "indexed", op, x.dtype, selects
    return (device.prepared.get(key) or keep(device, key, _indexed(device, op, x, selects)))(x, thunk)


def _indexed(device, op, x, selects):
    dtype, bound_type = op.return_type, op.thunk_type
    of_values = x.dtype if op.uses_values else op.type
    if any(t._is_udt for t in (op.type, bound_type, dtype)) or not casts_within(of_values, op.type):
        return _none
    types, text = ("int32_t", of_values.cuda_type, bound_type.cuda_type), functor_text(op, dtype, (of_values,))
    header, name, more = ("select", "select_flags", ()) if selects else ("apply", "apply_positions", (dtype.cuda_type,))
    kernel = device.launcher.kernel(f"elementwise/{header}.cuh", name, text, (*types, *more, "Op"))
    over, reads, np_type, empty = kernel.over, op.uses_values, dtype.np_type, device.array_class
    of_thunk, none = bound_type.np_type.type, bound_type.np_type.type(0)

    def arguments(x, thunk):
        value = none if thunk is None else thunk
        if type(value) is not of_thunk:
            value = host_cast(np.array([value]), bound_type)[0]
        return None, None, 0, None, x.words, x.size, x.values if reads else None, False, device.constant(value)

    def select(x, thunk):
        n = x.size
        words, count = empty((n + 63) >> 6, np.uint64), device.counters()
        over((n + 63) & ~63, (*arguments(x, thunk), False, None, words, count))
        return share(x, counted_later(device, n, x.dtype, words, x.values, count))

    def apply(x, thunk):
        out = empty(x.size, np_type)
        over(x.size, (*arguments(x, thunk), out))
        return _like(x, x.words, dtype, out)

    return select if selects else apply
