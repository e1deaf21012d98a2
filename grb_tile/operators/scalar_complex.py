"""Scalar meanings of the primitives on complex numbers; see scalar.py for the rules that these functions keep too."""

import math

import numpy as np


def complex_min(x, y):
    if x != x:
        return x
    if y != y:
        return y
    return x if x.real < y.real or (x.real == y.real and x.imag <= y.imag) else y


def complex_max(x, y):
    if x != x:
        return x
    if y != y:
        return y
    return x if x.real > y.real or (x.real == y.real and x.imag >= y.imag) else y


def isinf_complex(x):
    return math.isinf(x.real) or math.isinf(x.imag)


def isfinite_complex(x):
    return math.isfinite(x.real) and math.isfinite(x.imag)


def carg(x):
    return math.atan2(x.imag, x.real)


def complex_div(x, y):
    """SuiteSparse's division: Smith's method in double, real and imaginary divisors apart."""
    xr, xi, yr, yi = np.float64(x.real), np.float64(x.imag), np.float64(y.real), np.float64(y.imag)
    if yi == 0:
        zr, zi = np.true_divide(xr, yr), np.true_divide(xi, yr)
    elif yr == 0:
        zr, zi = np.true_divide(xi, yi), np.true_divide(-xr, yi)
    elif math.isinf(yi) and math.isinf(yr):
        if (yr > 0) == (yi > 0):
            zr, zi = np.true_divide(xr + xi, yr), np.true_divide(xi - xr, yr)
        else:
            zr, zi = np.true_divide(xr - xi, yr), np.true_divide(xi + xr, yr)
    elif abs(yr) >= abs(yi):
        r = np.true_divide(yi, yr)
        d = yr + r * yi
        zr, zi = np.true_divide(xr + xi * r, d), np.true_divide(xi - xr * r, d)
    else:
        r = np.true_divide(yr, yi)
        d = r * yr + yi
        zr, zi = np.true_divide(xr * r + xi, d), np.true_divide(xi * r - xr, d)
    return complex(zr, zi)


def complex_power(x, y):
    if x != x or y != y:
        return complex(math.nan, math.nan)
    if y == 0:
        return complex(1.0, 0.0)
    if x.imag == 0 and y.imag == 0 and (x.real >= 0 or y.real == np.trunc(y.real)):
        return complex(np.power(np.float64(x.real), np.float64(y.real)), 0.0)
    if x == 0:
        return complex(0.0, 0.0) if y.real > 0 else complex(math.nan, math.nan)
    return np.exp(np.complex128(y) * np.log(np.complex128(x)))


def complex_round(x):
    re, im = x.real, x.imag
    if re - re == 0:
        t = np.trunc(re)
        re = math.copysign(t + (math.copysign(1.0, re) if abs(re - t) >= 0.5 else 0.0), re)
    if im - im == 0:
        t = np.trunc(im)
        im = math.copysign(t + (math.copysign(1.0, im) if abs(im - t) >= 0.5 else 0.0), im)
    return complex(re, im)


def complex_rint(x):
    return complex(np.rint(x.real), np.rint(x.imag))


def complex_ceil(x):
    return complex(np.ceil(x.real), np.ceil(x.imag))


def complex_floor(x):
    return complex(np.floor(x.real), np.floor(x.imag))


def complex_trunc(x):
    return complex(np.trunc(x.real), np.trunc(x.imag))


def complex_signum(x):
    size = abs(x)
    if size == 0:
        return complex(0.0, 0.0)
    return complex(np.true_divide(x.real, size), np.true_divide(x.imag, size))


def complex_sqrt(x):
    return np.sqrt(x)


def complex_exp(x):
    return np.exp(x)


def complex_exp2(x):
    return np.exp(np.complex128(x) * 0.6931471805599453)


def complex_expm1(x):
    return np.exp(x) - 1.0


def complex_log(x):
    return np.log(x)


def complex_log1p(x):
    return np.log(x + 1.0)


def complex_log2(x):
    z = np.log(x)
    return complex(z.real / 0.6931471805599453, z.imag / 0.6931471805599453)


def complex_log10(x):
    z = np.log(x)
    return complex(z.real / 2.302585092994046, z.imag / 2.302585092994046)


def complex_sin(x):
    return np.sin(x)


def complex_cos(x):
    return np.cos(x)


def complex_tan(x):
    return np.tan(x)


def complex_asin(x):
    return np.arcsin(x)


def complex_acos(x):
    return np.arccos(x)


def complex_atan(x):
    return np.arctan(x)


def complex_sinh(x):
    return np.sinh(x)


def complex_cosh(x):
    return np.cosh(x)


def complex_tanh(x):
    if math.isinf(x.real) and x.imag - x.imag == 0:
        return complex(math.copysign(1.0, x.real), math.copysign(0.0, np.sin(2.0 * x.imag)))
    return complex(np.tanh(x))


def complex_asinh(x):
    return np.arcsinh(x)


def complex_acosh(x):
    return np.arccosh(x)


def complex_atanh(x):
    return np.arctanh(x)
