"""select, apply and reduce to a scalar on the device.  Semantics: backends/protocol.py.

Kernels: elementwise/apply.cuh, elementwise/select.cuh, elementwise/reduce.cuh, and elementwise/union_values.cuh for a
binary operator with a bound scalar (an iso operand).

Read-backs: select of a list or a matrix reads the size of its result, reduce its value, apply none.
"""

import numpy as np

from ....dtypes import cast as host_cast
from ....storage.convert import share
from ..runtime.mailbox import OnDevice
from ..structure.arrays import counted_later, index_type
from ..structure.merging import merges
from ..structure.positions import diagonal_entries, empty_like, flags_within, is_empty, is_matrix, keep_flagged, view
from . import bound
from .elementwise import restrict
from .values import (
    all_plain,
    base_of,
    combined,
    entry_positions,
    functor_text,
    like,
    op_is_plain,
    position_values,
    values_as,
)

_AHEAD = 4  # as in reduce.cuh
_ONE_BLOCK, _REDUCE_BLOCK = 1024, 256  # threads: where one block reads all in one turn, where the grid has many
_BLOCKS_PER_PROCESSOR = 4


def thunk_of(device, op, thunk):
    """The scalar as a device array of length 1, of the operator's thunk type."""
    value = np.zeros(1, op.thunk_type.np_type) if thunk is None else host_cast(np.array([thunk]), op.thunk_type)
    return device.constant(value[0])


def _indexed_call(device, x, op, thunk):
    """(arguments up to the thunk, template up to the thunk's type, count) for kernels that read positions."""
    if x.format == "bitmap":
        where, words, n, index = (None, None, 0, None), x.words, x.size, "int32_t"
    else:
        where, words, n, index = view(x), None, x.nvals, index_type(x.indices)
        if 1 not in op.uses:  # rows, which the kernel searches for
            where = (*where[:2], -1, where[3])
    values = values_as(device, x, op.type) if op.uses_values else None
    arguments = (*where, words, n, values, x.iso, thunk_of(device, op, thunk))
    return arguments, (index, op.type.cuda_type, op.thunk_type.cuda_type), n


# ---------------------------------------------------------------------- select


def select(device, x, op, thunk, mask):
    if mask is None:
        found = bound.of_indexed(device, x, op, thunk, True)
        if found is not None:
            return found
    if not all_plain(x.dtype, op.type, op.thunk_type, op.return_type):
        return NotImplemented
    functors = functor_text(op, op.return_type)
    if mask is not None and (x.format == "bitmap" or merges(device, x, mask.pattern)):
        x, mask = restrict(device, x, mask), None
    if is_empty(x):
        return x
    if mask is None and op.name == "diag" and op.parent._builtin and is_matrix(x):
        return diagonal_entries(device, x, int(thunk))
    flags = None
    if mask is not None:
        if is_empty(mask.pattern):
            if not mask.complement:
                return empty_like(device, x, x.dtype)
        else:
            flags = flags_within(device, x, mask)
    arguments, template, n = _indexed_call(device, x, op, thunk)
    kernel = device.launcher.kernel("elementwise/select.cuh", "select_flags", functors, (*template, "Op"))
    rounded = (n + 63) & ~63
    if x.format != "bitmap":
        join = flags is not None
        flags = device.empty(n, np.bool_) if flags is None else flags
        kernel.over(rounded, (*arguments, join, flags, None, None))
        return keep_flagged(device, x, flags)
    words, count = device.empty((n + 63) >> 6, np.uint64), device.counters()
    kernel.over(rounded, (*arguments, False, None, words, count))
    return share(x, counted_later(device, n, x.dtype, words, x.values, count, x.iso))


# ---------------------------------------------------------------------- apply


def apply(device, x, op, mask, left, right, thunk):
    dtype = op.return_type
    if mask is None:
        found = bound.of_one(device, x, op, left, right)
        if found is not None:
            return found
    indexed = op.opclass == "IndexUnaryOp" or op.opclass == "SelectOp"
    if indexed and mask is None:
        found = bound.of_indexed(device, x, op, thunk, False)
        if found is not None:
            return found
    if not all_plain(x.dtype) or not op_is_plain(op) or indexed and not all_plain(op.thunk_type):
        return NotImplemented
    positional = None if indexed else op.positional
    if positional is None:
        functor_text(op, dtype)
    if mask is not None:
        x = restrict(device, x, mask)
    if is_empty(x):
        return empty_like(device, x, dtype)
    if positional is not None:
        base, one = base_of(positional)
        values, iso = position_values(device, entry_positions(device, x, base), one, dtype)
        return like(x, dtype, values, iso)
    if indexed:
        arguments, template, n = _indexed_call(device, x, op, thunk)
        out = device.empty(n, dtype.np_type)
        kernel = device.launcher.kernel(
            "elementwise/apply.cuh", "apply_positions", functor_text(op, dtype), (*template, dtype.cuda_type, "Op")
        )
        kernel.over(n, (*arguments, out))
        return like(x, dtype, out, False)
    values, iso = _mapped(device, x, op, dtype, left, right)
    return like(x, dtype, values, iso)


def _mapped(device, x, op, dtype, left, right):
    """(values, iso) of op over the values of x, with a scalar bound to one side of a binary operator."""
    words = x.words if x.format == "bitmap" and not x.iso else None
    n = 1 if x.iso else x.size if x.format == "bitmap" else x.nvals
    kind = op.kind
    if left is None and right is None:
        if kind == "one":
            return device.constant(dtype.np_type.type(1)), True
        values = values_as(device, x, op.type)
        if op.expression is not None and op.expression.op == "arg" and op.type is dtype:
            return values, x.iso  # identity: nothing to compute
        out = device.empty(n, dtype.np_type)
        kernel = device.launcher.kernel(
            "elementwise/apply.cuh", "apply_values", functor_text(op, dtype), (op.type.cuda_type, dtype.cuda_type, "Op")
        )
        kernel.over(n, (values, words, n, out))
        return out, x.iso
    if kind == "pair":
        return device.constant(dtype.np_type.type(1)), True
    if left is not None:
        bound = host_cast(np.array([left]), op.type)
        if kind == "first":
            return device.constant(host_cast(bound, dtype)[0]), True
        a, a_iso, b, b_iso = device.constant(bound[0]), True, values_as(device, x, op.type2), x.iso
    else:
        bound = host_cast(np.array([right]), op.type2)
        if kind == "second" or kind == "any":
            return device.constant(host_cast(bound, dtype)[0]), True
        a, a_iso, b, b_iso = values_as(device, x, op.type), x.iso, device.constant(bound[0]), True
    return combined(device, op, dtype, n, a, a_iso, b, b_iso, words=(words, words)), x.iso


# ---------------------------------------------------------------------- reduce


def reduce(device, x, monoid):
    if x.format == "bitmap" and not x.iso and device.turns is None:
        key = "reduce", monoid, x.dtype
        found = (device.prepared.get(key) or bound.keep(device, key, _bound_reduce(device, monoid, x.dtype)))(x)
        if found is not NotImplemented:
            return found
    dtype, op = monoid.type, monoid.binaryop
    if not all_plain(x.dtype, dtype):
        return NotImplemented
    functors = functor_text(op, dtype)
    if is_empty(x):
        return None
    values = values_as(device, x, dtype)
    if x.iso:
        return _times(device, values, x.nvals, monoid) if x.nvals else None
    words = x.words if x.format == "bitmap" else None
    n = values.shape[0] if words is not None else x.nvals
    kernel = device.launcher.kernel("elementwise/reduce.cuh", "reduce_values", functors, (dtype.cuda_type, "Op"))
    found = reduced(device, kernel, n, (values, words, n), dtype.np_type)
    if type(found) is OnDevice and words is not None:  # without entries the identity, for which a turn needs no host
        identity = device.constant(dtype.np_type.type(monoid.identity))
        either = device.empty(1, dtype.np_type)
        kernel = device.launcher.kernel("programs/numbers.cuh", "number_or", "", (dtype.cuda_type,))
        kernel.over(1, (found.array, found.present, identity, either))
        found = OnDevice(either)
    return found


def _bound_reduce(device, monoid, dtype):
    """The reduction of bitmaps of the monoid's type that are not iso, a function kept with the device."""
    if monoid.type is not dtype or not all_plain(dtype):
        return lambda x: NotImplemented
    kernel = device.launcher.kernel(
        "elementwise/reduce.cuh", "reduce_values", functor_text(monoid.binaryop, dtype), (dtype.cuda_type, "Op")
    )
    np_type, few = dtype.np_type, _ONE_BLOCK * _AHEAD
    shapes = reduce_shape(device.launcher, few), reduce_shape(device.launcher)

    def run(x):
        if x.nvals_if_read == 0:
            return None
        n = x.size
        block, most = shapes[n > few]
        count = (n + _AHEAD - 1) // _AHEAD
        partial = (None, None) if count <= block else device.partial_results(3 * most)
        return device.read_scalar(kernel, count, (x.values, x.words, n, *partial), block, most, np_type)

    return run


def reduce_shape(launcher, n=None):
    """(threads of a block, most blocks) of a reduction of n positions; n None: many."""
    few = n is not None and n <= _ONE_BLOCK * _AHEAD
    return launcher.threads(_ONE_BLOCK if few else _REDUCE_BLOCK), launcher.processors * _BLOCKS_PER_PROCESSOR


def reduced(device, kernel, n, arguments, np_type):
    """The NumPy scalar of a launch that reduces n positions (kernels/elementwise/reduce.cuh), None for none."""
    block, most = reduce_shape(device.launcher, n)
    count = -(-n // _AHEAD)
    partial = (None, None) if count <= block else device.partial_results(3 * most)
    return device.read_scalar(kernel, count, (*arguments, *partial), block, most, np_type)


def _read_scalar(device, array):
    """The element of a length-1 array as a NumPy scalar.  One read-back, which raises errors of kernels."""
    return np.array(device.read(array.view(np.uint8)), np.uint8).view(array.dtype)[0]


def _times(device, values, count, monoid):
    """value (+) value (+) ... `count` times by repeated doubling; one read-back.

    On the host, which gets the result, because the steps on the device are 2 log2(count) launches.
    """
    op, dtype = monoid.binaryop, monoid.type
    if count == 1 or op.kind in ("first", "second", "any"):
        return _read_scalar(device, values[:1])
    if op.lowerable:
        known = device.known_constant(values)
        known = _read_scalar(device, values[:1]) if known is None else known
        return _doubled(np.array([known]), count, lambda a, b: host_cast(np.asarray(op.numpy(a, b)), dtype))[0]
    return _read_scalar(device, _doubled(values, count, lambda a, b: combined(device, op, dtype, 1, a, True, b, True)))


def _doubled(value, count, plus):
    """The combination of `count` copies, in about 2 log2(count) steps (the operator is associative)."""
    result = None
    while True:
        if count & 1:
            result = value if result is None else plus(result, value)
        count >>= 1
        if not count:
            return result
        value = plus(value, value)
