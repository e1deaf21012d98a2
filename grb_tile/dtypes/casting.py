"""Typecasts between scalar types, as in SuiteSparse:GraphBLAS.

    from          to integer                 to BOOL    to real            to complex
    BOOL          0 or 1                     same       0 or 1             0 or 1
    integer       wraps                      x != 0     nearest            nearest
    real          saturates, NaN becomes 0   x != 0     nearest, may be inf  nearest
    complex       the real part's            x != 0     the real part's    nearest

Spec: GraphBLAS C API 2.1, section 3.3 leaves these to C, where out-of-range float to integer is undefined;
SuiteSparse:GraphBLAS 9.4 user guide, section 2.4, is followed.
"""

import numpy as np

from .types import lookup_dtype


def cast(array, dtype):
    """`array` as `dtype`; the same array when it has that type.  Raises no NumPy warning.

    >>> import numpy as np
    >>> from grb_tile import dtypes
    >>> dtypes.cast(np.array([300.7, -1.5, np.nan]), dtypes.UINT8).tolist()
    [255, 0, 0]
    """
    want = dtype.np_type
    have = array.dtype
    if have == want:
        return array
    to, source = want.kind, have.kind
    if dtype._is_udt and want.subdtype is not None:  # NumPy arrays of it have the base type and further dimensions
        base = want.subdtype[0]
        return array if have == base else array.astype(base)
    if to == "V":  # a record: every field gets the value
        records = np.empty(array.shape, want)
        records[...] = array
        return records
    if to == "b":
        return array != 0
    if source == "c" and to != "c":
        return cast(array.real, dtype)
    if source == "f":
        if to in "iu":
            return _saturate(array, want)
        if to in "fc" and have.itemsize > (want.itemsize if to == "f" else want.itemsize // 2):
            with np.errstate(over="ignore", under="ignore"):
                return array.astype(want)
    elif source == "c" and have.itemsize > want.itemsize:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # signalling NaN at absent positions
            return array.astype(want)
    return array.astype(want)


def cast_scalar(value, dtype):
    """A NumPy scalar of `dtype` from any scalar, by the rules of `cast`; 64-bit Python ints wrap into narrower types.

    Raises: OverflowError for a Python int outside the 64-bit integers of the type's signedness, as SuiteSparse.

    >>> from grb_tile import dtypes
    >>> int(dtypes.cast_scalar(257, dtypes.UINT8))
    1
    """
    want = dtype.np_type
    if type(value) is want.type:
        return value
    kind = type(value)
    if kind is int or kind is bool:
        if want.kind in "iu":
            if not -(1 << 63) <= value < (1 << 64 if want.kind == "u" else 1 << 63):
                bounds = "-2^63 .. 2^64 - 1" if want.kind == "u" else "-2^63 .. 2^63 - 1"
                raise OverflowError(
                    f"{value} is too large for {dtype.name}: a value must be in {bounds}; use FP64 for more"
                )
            bits = 8 * want.itemsize
            value &= (1 << bits) - 1
            if want.kind == "i" and value >> (bits - 1):
                value -= 1 << bits
            return want.type(value)
        if want.kind == "b":
            return np.bool_(value != 0)
        return want.type(value)
    return cast(np.asarray(value), dtype)[()]


def _saturate(array, want):
    info = np.iinfo(want)
    low, high = float(info.min), float(info.max)
    if array.size == 0:
        return array.astype(want)
    # NaN fails both comparisons, so arrays in range cost two reductions and one astype.
    if array.min() > low and array.max() < high:
        return array.astype(want)
    below, above = array <= low, array >= high
    out = np.where(below | above | (array != array), array.dtype.type(0), array).astype(want)
    out = np.asarray(out)
    out[below] = info.min
    out[above] = info.max
    return out


__all__ = ["cast", "cast_scalar", "lookup_dtype"]
