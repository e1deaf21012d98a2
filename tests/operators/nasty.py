"""Operands that break careless operators, per type, and how results are compared."""

import numpy as np

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.7, -3.7, 7.0, 2.0, 100.25, np.nan, np.inf, -np.inf,
    1e30, -1e30,
    1e-30, 1e-42, 65536.0, 3.0e38,
]  # fmt: skip
COMPLEX = [
    0, 1, -1, 1j, -1j, 1 + 1j, -2.5 + 0.5j, 3 - 4j, complex(np.inf, 0), complex(0, -np.inf), complex(np.nan, 1),
    1e-3 + 1e3j,
    complex(-0.0, 2), 0.25, -7,
]  # fmt: skip


def operands(dtype):
    """A short array of nasty values of a NumPy dtype."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [
            0,
            1,
            2,
            3,
            5,
            7,
            8,
            9,
            16,
            31,
            32,
            33,
            63,
            64,
            65,
            100,
            info.max,
            info.max - 1,
            info.min,
            info.min + 1,
        ]
        if dtype.kind == "i":
            values += [-1, -2, -3, -7, -8, -31, -32, -63, -64, -65, -100]
        return np.array(sorted({v for v in values if info.min <= v <= info.max}), dtype)
    if dtype.kind == "c":
        return np.array(COMPLEX, dtype)
    with np.errstate(over="ignore"):
        return np.array(FLOATS, dtype)


def pairs(dtype):
    """All ordered pairs of them, as two arrays."""
    values = operands(dtype)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def differences(got, expected, rtol):
    """Where two result arrays differ: exactly for integers, within rtol for floats (NaN is NaN, infinities by sign)."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.dtype.kind == "c":
        return (
            differences(got.real, expected.real, rtol) | differences(got.imag, expected.imag, rtol)
            if rtol == 0
            else (_far(got, expected, rtol))
        )
    if got.dtype.kind != "f":
        return got != expected
    with np.errstate(all="ignore"):
        near = np.abs(got - expected) <= rtol * np.maximum(np.abs(expected), np.finfo(got.dtype).tiny * 8)
    return ~(near | (got == expected) | (np.isnan(got) & np.isnan(expected)))


def _far(got, expected, rtol):
    with np.errstate(all="ignore"):
        near = np.abs(got - expected) <= rtol * np.maximum(np.abs(expected), 1e-30)
    # a complex number with any NaN part is "not a number", and with any infinite part "infinite": C leaves the rest
    # open
    same = (np.isnan(got) & np.isnan(expected)) | (np.isinf(got) & np.isinf(expected)) | (got == expected)
    return ~(near | same)
