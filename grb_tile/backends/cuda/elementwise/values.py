"""Values of element-wise results on the device: operators as functors, operands cast to their types, iso results.

All functions take the Device first.  A typed operator is lowered to C++ text once (`functor_text`), and one kernel
instance then serves sparse vectors, matrices and bitmaps; operators that only move values (first, second, positional
ones) need no instance.
"""

from functools import lru_cache

import numpy as np

from ....dtypes import INT64, cast as host_cast
from ....operators import to_cuda
from ....storage.convert import share
from ..structure.arrays import (
    as_type,
    cast_array,
    cast_iso,
    gather,
    index_type,
    moved_type,
    progression,
    row_ids,
)


def all_plain(*dtypes):
    """Have all these types a device form?  None is skipped."""
    for dtype in dtypes:  # noqa: SIM110  a generator costs more than the tests
        if dtype is not None and dtype._is_udt:
            return False
    return True


def op_is_plain(op):
    """Are the types of the operator numbers and bool?"""
    return op is None or not (
        op.type._is_udt or op.return_type._is_udt or op.opclass == "BinaryOp" and op.type2._is_udt
    )


@lru_cache(maxsize=2048)
def functor_text(op, dtype, given=()):
    """C++ text of `struct Op`, the operator with its result cast to dtype.

    given: types of its first parameters, which it casts to its own (casts_within).
    Raises: UdfParseError for a user's function without C++ form, which names the remedy.
    """
    result, types = op.return_type, to_cuda.argument_types(op)
    given = (*given, *types[len(given) :])
    if result is dtype and given == types:
        return to_cuda.includes(op) + "\n" + to_cuda.functor(op, "Op")
    complex_result = dtype.np_type.kind == "c"
    includes = '#include "base/scalar_complex.cuh"' if complex_result else to_cuda.includes(op)
    names = [f"a{k}" for k in range(len(types))]
    parameters = ", ".join(f"{t.cuda_type} {a}" for t, a in zip(given, names, strict=True))
    arguments = [
        a if t is own else f"grb::cast<{own.cuda_type}>({a})" for a, t, own in zip(names, given, types, strict=True)
    ]
    cast = "complex_cast" if complex_result and result.np_type.kind != "c" else "cast"
    found = f"Inner()({', '.join(arguments)})"
    found = found if result is dtype else f"grb::{cast}<{dtype.cuda_type}>({found})"
    return "\n".join([
        includes, to_cuda.functor(op, "Inner"), "struct Op {",
        f"  __device__ __forceinline__ {dtype.cuda_type} operator()({parameters}) const {{",
        f"    return {found};", "  }", "};",
    ])  # fmt: skip


def casts_within(have, want):
    """May an operator's code cast a value of type `have` to `want`?  Complex ones are cast before."""
    return have is want or not (have._is_udt or want._is_udt or "c" in (have.np_type.kind, want.np_type.kind))


def like(x, dtype, values, iso):
    """The structure of x with other values (one each, per position in a bitmap, or one when iso)."""
    return share(x, x.with_values(dtype, values, iso))


def values_as(device, x, *dtypes):
    """The values of the store x cast to each of the types in turn."""
    values, have = x.values, x.dtype
    for want in dtypes:
        if x.iso:
            values = cast_iso(device, Values(values, have), want)
        else:
            values = cast_array(device, values, have, want)
        have = want
    return values


class Values:
    """The value and type of an iso store, for cast_iso."""

    __slots__ = ("dtype", "values")

    def __init__(self, values, dtype):
        self.values = values
        self.dtype = dtype


def entry_positions(device, x, base):
    """int64 row ("i") or column ("j") of each entry, per position in a bitmap; None where it is 0 for all."""
    if x.format[-1] == "r":
        return row_ids(device, x) if base == "i" else as_type(device, x.indices, np.dtype(np.int64))
    if base == "j":
        return None
    if x.format == "bitmap":
        return progression(device, x.size, np.dtype(np.int64))
    return as_type(device, x.indices, np.dtype(np.int64))


def position_values(device, positions, one, *dtypes):
    """(values, iso): positions (int64, None: 0) counted from `one`, cast to each of the types in turn."""
    if positions is None:
        value = np.array([one], np.int64)
        for want in dtypes:
            value = host_cast(value, want)
        return device.constant(value[0]), True
    values, have = positions + one if one else positions, INT64
    for want in dtypes:
        values, have = cast_array(device, values, have, want), want
    return values, False


def base_of(positional):
    """("i" or "j", 0 or 1): the coordinate that a positional operator returns, and the base of its count."""
    return positional.rstrip("1")[-1], int(positional[-1] == "1")


def combined(
    device,
    op,
    dtype,
    n,
    x,
    x_iso,
    y,
    y_iso,
    *,
    at=(None, None),
    words=(None, None),
    lone=(None, None),
    defaults=(None, None),
    merge=None,
    given=(),
):
    """op over n positions; x, y: arrays of op.type and op.type2 (see elementwise/union_values.cuh), or of `given`.

    merge: the Merge (structure/merging.py) whose entries the positions are, instead of `at` and `words`.
    """
    if merge is not None:
        return _write_combined(op, dtype, merge, (x, x_iso, y, y_iso), lone, defaults, given)
    out = device.empty(n, dtype.np_type)
    if n:
        at_type = "int32_t" if at[0] is None and at[1] is None else index_type(at[0] if at[0] is not None else at[1])
        kernel = device.launcher.kernel(
            "elementwise/union_values.cuh",
            "combine",
            functor_text(op, dtype, given),
            (at_type, *(t.cuda_type for t in given or (op.type, op.type2)), dtype.cuda_type, "Op"),
        )
        kernel.over(n, (*at, *words, n, x, x_iso, y, y_iso, *lone, *defaults, out))
    return out


def _write_combined(op, dtype, merge, operands, lone, defaults, given):
    """The values of a merge's result; without lone values and defaults every entry is of both operands."""
    text = functor_text(op, dtype, given)
    types = ", ".join([*(t.cuda_type for t in given or (op.type, op.type2)), dtype.cuda_type, "Op"])
    of_both = all(given is None for given in (*lone, *defaults))
    if of_both or lone[0] is operands[0] and lone[1] is operands[2] and op.type is dtype and op.type2 is dtype:
        return merge.write(text, f"JoinedValues<{types}, {str(of_both).lower()}>", *operands, dtype=dtype.np_type)
    return merge.write(text, f"CombinedValues<{types}>", *operands, *lone, *defaults, dtype=dtype.np_type)


def overlaid(device, n, x, x_iso, y, y_iso, *, words=(None, None), common=None, common_iso=False, merge=None):
    """`common` where both are present (y's value when None), otherwise the present one's; arrays of one type.

    merge: as in combined; then x or y may be None, and the other one is present everywhere.
    """
    like_it = y if x is None else x
    if merge is not None:
        values = f"MovedValues<{moved_type(like_it)}>"
        return merge.write("", values, x, x_iso, y, y_iso, common, common_iso, dtype=like_it.dtype)
    out = device.empty(n, like_it.dtype)
    if n:
        kernel = device.launcher.kernel("elementwise/union_values.cuh", "overlay", "", (moved_type(out),))
        kernel.over(n, (*words, n, x, x_iso, y, y_iso, common, common_iso, out))
    return out


def on_host(op, a, b, dtype):
    """op of two NumPy arrays, cast to dtype."""
    return host_cast(np.asarray(op.numpy(host_cast(a, op.type), host_cast(b, op.type2))), dtype)


def common_values(device, op, dtype, n, x, y, at_x=None, at_y=None, words=None, positions=None, merge=None):
    """(values, iso) of x[at_x] (op) y[at_y] at n positions where both are present.

    at_x, at_y None: all values in order.  words: the positions of a bitmap to compute (None: all).  merge: as in
    combined, instead of both.
    positions(base): int64 rows ("i") or columns ("j") of the positions, or None for 0; called for positional operators.
    """
    if op.positional is not None:
        base, one = base_of(op.positional)
        return position_values(device, positions(base), one, op.return_type, dtype)
    kind = op.kind
    if kind == "pair":
        return device.constant(dtype.np_type.type(1)), True
    if kind == "first" or kind in ("second", "any"):
        chosen, at, own = (x, at_x, op.type) if kind == "first" else (y, at_y, op.type2)
        values = values_as(device, chosen, own, op.return_type, dtype)
        if values is chosen.values:
            chosen.shared = True
        if merge is not None and not chosen.iso:
            pair = (values, None) if kind == "first" else (None, values)
            return overlaid(device, n, pair[0], False, pair[1], False, merge=merge), False
        return values if chosen.iso or at is None else gather(device, values, at), chosen.iso
    given = tuple(
        s.dtype if not s.iso and casts_within(s.dtype, own) else own for s, own in ((x, op.type), (y, op.type2))
    )
    a, b = (s.values if t is s.dtype else values_as(device, s, t) for s, t in zip((x, y), given, strict=True))
    if x.iso and y.iso:
        known = device.known_constant(a), device.known_constant(b)
        if op.lowerable and None not in known:
            return device.constant(on_host(op, *map(np.atleast_1d, known), dtype)[0]), True
        return combined(device, op, dtype, 1, a, True, b, True), True
    more = {"at": (at_x, at_y), "words": (words, words), "merge": merge, "given": given}
    return combined(device, op, dtype, n, a, x.iso, b, y.iso, **more), False
