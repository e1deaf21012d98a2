"""NumPy functions of the primitives that no ufunc computes: SuiteSparse's integer division, shifts, powers, bits.

Each takes arrays (or NumPy scalars) of one type and is total (no input raises).  NumPy may warn; callers disable the
warnings for the types that primitives.py lists.
"""

import math

import numpy as np

from ..dtypes import cast, lookup_dtype


def _limits(x):
    info = np.iinfo(x.dtype)
    return x.dtype.type(info.min), x.dtype.type(info.max), 8 * x.dtype.itemsize


def cdiv(x, y):
    """C's truncating division of integers; x/-1 wraps, 0/0 is 0, x/0 the least (x < 0) or greatest value."""
    low, high, _ = _limits(x)
    one = x.dtype.type(1)
    zero = y == 0
    if x.dtype.kind == "u":
        return np.where(zero, np.where(x == 0, x, high), x // np.where(zero, one, y))
    minus = y == -1
    safe = np.where(zero | minus, one, y)
    q = x // safe
    q = q + ((q * safe != x) & ((x < 0) != (safe < 0)))
    q = np.where(minus, np.negative(x), q)
    return np.where(zero, np.where(x == 0, x, np.where(x < 0, low, high)), q)


def floordiv(x, y):
    """Python's //; x // 0 is 0 for integers and as in NumPy for floats."""
    return np.floor_divide(x, y)


def trunc_mod(x, y):
    """C's fmod, with the sign of x; 0 for integers with y = 0."""
    return np.fmod(x, y)


def integer_power(x, y):
    """SuiteSparse's pow of integers: computed in FP64, rounded, then cast with saturation."""
    dtype = lookup_dtype(x.dtype)
    wide = np.power(x.astype(np.float64), y.astype(np.float64))
    # A vectorised pow may be off by one unit in the last place, so powers with y >= 0 are rounded to integers.
    return cast(np.asarray(np.where(np.asarray(y) >= 0, np.rint(wide), np.trunc(wide))), dtype)


def float_power(x, y):
    """SuiteSparse's pow of floats: NaN wherever an operand is NaN, then 1 where y is 0."""
    return np.where(np.isnan(x) | np.isnan(y), x.dtype.type(np.nan), power(x, y))


def power(x, y):
    """C's pow.  NumPy computes a repeated exponent 0.5 as sqrt, which is wrong for -inf and -0."""
    z = np.power(x, y)
    half = y == 0.5
    if np.any(half):
        z = np.where(half & (x == 0), x.dtype.type(0), np.where(half & (x == -np.inf), x.dtype.type(np.inf), z))
    return z


def complex_power(x, y):
    bad = np.isnan(x) | np.isnan(y)
    z = np.where(y == 0, 1.0, np.exp(np.asarray(y, np.complex128) * np.log(np.asarray(x, np.complex128))))
    real = (x.imag == 0) & (y.imag == 0) & ((x.real >= 0) | (y.real == np.trunc(y.real)))
    z = np.where(real, np.power(x.real, y.real), z)
    z = np.where(
        (x == 0) & (y != 0) & ~real, np.where(y.real > 0, x.dtype.type(0), x.dtype.type(complex(np.nan, np.nan))), z
    )
    return np.where(bad, x.dtype.type(complex(np.nan, np.nan)), z).astype(x.dtype, copy=False)


def wrapping_power(x, y):
    """x ** y by squaring in the integer type, wrapping; a negative y truncates 1 / x**-y, and 0 ** -1 is 0."""
    x, y = np.broadcast_arrays(np.asarray(x), np.asarray(y))
    one = x.dtype.type(1)
    result = np.full(x.shape, one)
    base, left = x.copy(), np.where(y < 0, y.dtype.type(0), y)
    while left.any():
        result = np.where(left & 1, result * base, result)
        base = base * base
        left = left >> 1
    if x.dtype.kind == "i":
        odd = np.where((y & 1) != 0, x, one)
        result = np.where(y < 0, np.where(x == 1, one, np.where(x == -1, odd, x.dtype.type(0))), result)
    return result


def complex_div(x, y):
    """SuiteSparse's complex division: Smith's method, with separate cases for real and imaginary divisors."""
    wide = np.complex128
    a, b = np.broadcast_arrays(np.asarray(x, wide), np.asarray(y, wide))
    xr, xi, yr, yi = a.real, a.imag, b.real, b.imag
    big = np.abs(yr) >= np.abs(yi)
    r = np.where(big, yi / yr, yr / yi)
    d = np.where(big, yr + r * yi, r * yr + yi)
    zr = np.where(big, xr + xi * r, xr * r + xi) / d
    zi = np.where(big, xi - xr * r, xi * r - xr) / d
    both = np.isinf(yr) & np.isinf(yi)
    same = np.signbit(yr) == np.signbit(yi)
    zr = np.where(both, np.where(same, xr + xi, xr - xi) / yr, zr)
    zi = np.where(both, np.where(same, xi - xr, xi + xr) / yr, zi)
    real, imaginary = yi == 0, (yr == 0) & (yi != 0)
    zr = np.where(real, xr / yr, np.where(imaginary, xi / yi, zr))
    zi = np.where(real, xi / yr, np.where(imaginary, -xr / yi, zi))
    return _complex(zr, zi).astype(x.dtype, copy=False)


def _complex(real, imag):
    # not real + 1j * imag, which turns an infinite part into NaN
    z = np.empty(np.shape(real), np.complex128)
    z.real, z.imag = real, imag
    return z


def cmplx(x, y):
    """The complex number x + y i."""
    x, y = np.broadcast_arrays(x, y)
    z = np.empty(x.shape, np.complex64 if x.dtype.itemsize == 4 else np.complex128)
    z.real, z.imag = x, y
    return z


def bshift(x, y):
    """x shifted left by the int8 value of y, or right (arithmetically) when that is negative.

    Beyond the width: 0 or -1.
    """
    bits = 8 * x.dtype.itemsize
    k = np.asarray(y).astype(np.int8)
    left = np.clip(k, 0, bits - 1).astype(x.dtype)
    right = np.clip(-k.astype(np.int16), 0, bits - 1).astype(x.dtype)
    shifted = np.where(k >= 0, np.where(k >= bits, x.dtype.type(0), x << left), x >> right)
    if x.dtype.kind == "u":
        shifted = np.where(k <= -bits, x.dtype.type(0), shifted)
    return shifted.astype(x.dtype, copy=False)


def _bit(x, y):
    """(the mask of bit number y, from 1; is 1 <= y <= the number of bits?)"""
    bits = 8 * x.dtype.itemsize
    y = np.asarray(y)
    inside = (y >= 1) & (y <= bits)
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    shift = (np.where(inside, y, y.dtype.type(1)) - y.dtype.type(1)).astype(unsigned)
    return (unsigned.type(1) << shift).astype(x.dtype), inside


def bget(x, y):
    mask, inside = _bit(x, y)
    return (inside & ((x & mask) != 0)).astype(x.dtype)


def bset(x, y):
    mask, inside = _bit(x, y)
    return np.where(inside, x | mask, x)


def bclr(x, y):
    mask, inside = _bit(x, y)
    return np.where(inside, x & ~mask, x)


def shift_left(x, y):
    """x << y; 0 where y is negative or at least the width of the type."""
    return np.left_shift(x, y)


def shift_right(x, y):
    return np.right_shift(x, y)


def ieee_remainder(x, y):
    """C's remainder: x - y * (x/y rounded to even)."""
    x, y = np.broadcast_arrays(np.asarray(x), np.asarray(y))
    size = np.abs(y)
    r = np.abs(np.fmod(x, np.where(size <= np.finfo(x.dtype).max / 2, 2 * size, size)))
    big_enough = size <= np.finfo(x.dtype).max / 2
    half = size / 2
    above = np.where(big_enough, r + r > size, r > half)
    r1 = np.where(above, r - size, r)
    again = above & (r1 + r1 >= size)
    r1 = np.where(again, r1 - size, r1)
    out = np.where(np.signbit(x), -r1, r1)
    out = np.where(np.isinf(y) & np.isfinite(x), x, out)
    return np.where(r1 == 0, np.copysign(x.dtype.type(0), x), out).astype(x.dtype, copy=False)


def c_round(x):
    """C's round: halves away from zero."""
    t = np.trunc(x)
    return np.copysign(np.where(np.abs(x - t) >= 0.5, t + np.copysign(x.dtype.type(1), x), t), x)


def by_part(function):
    """The complex version of a real function, which is applied to each part."""

    def apply(x):
        x = np.asarray(x)
        z = np.empty(x.shape, x.dtype)
        z.real, z.imag = function(x.real), function(x.imag)
        return z

    return apply


def signum(x):
    return np.where(np.isnan(x), x, np.sign(x)).astype(x.dtype, copy=False)


def complex_signum(x):
    size = np.abs(x)
    return np.where(size == 0, x.dtype.type(0), _complex(x.real / size, x.imag / size)).astype(x.dtype, copy=False)


def complex_exp2(x):
    return np.exp(np.asarray(x, np.complex128) * math.log(2)).astype(x.dtype)


def complex_expm1(x):
    return np.exp(x) - x.dtype.type(1)


def complex_log1p(x):
    return np.log(x + x.dtype.type(1))


def complex_log2(x):
    return _scaled_log(x, math.log(2))


def complex_log10(x):
    return _scaled_log(x, math.log(10))


def _scaled_log(x, by):
    z = np.log(x)
    return _complex(z.real / by, z.imag / by).astype(x.dtype, copy=False)


def complex_minv(x):
    return complex_div(np.asarray(x).dtype.type(1), x)


def carg(x):
    return np.arctan2(x.imag, x.real)


def real_part(x):
    return np.ascontiguousarray(np.real(x))


def imaginary_part(x):
    return np.ascontiguousarray(np.imag(x))


def frexpx(x):
    return np.frexp(x)[0]


def frexpe(x):
    return np.frexp(x)[1].astype(x.dtype)


def ldexp(x, y):
    """x * 2**y, the exponent truncated to C's int; INT_MIN where it is too large, as in SuiteSparse on x86."""
    y = np.asarray(y)
    exponent = cast(y, lookup_dtype(np.int32))
    return np.ldexp(x, np.where(y >= 2147483648.0, np.int32(-(2**31)), exponent))


def _lgamma(x):
    if math.isnan(x):
        return x
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def _tgamma(x):
    if x == 0:
        return math.copysign(math.inf, x)
    try:
        return math.gamma(x)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf if x > 0 or math.floor(x) % 2 == 0 else -math.inf


def scalar_loop(function):
    """A function of arrays that calls a scalar function of the math module for each element (without SciPy)."""
    one_by_one = np.frompyfunc(function, 1, 1)

    def apply(x):
        return np.asarray(one_by_one(np.asarray(x, np.float64))).astype(x.dtype)

    return apply


erf, erfc, lgamma, tgamma = map(scalar_loop, (math.erf, math.erfc, _lgamma, _tgamma))


def gcd(x, y):
    return np.gcd(x, y)


def binom(n, k):
    """n! / (k! (n - k)!) in INT64; 0 for k < 0, k > n, and coefficients that exceed INT64."""

    def one(a, b):
        if b > a or b < 0:
            return 0
        value = 1
        for i in range(min(b, a - b)):
            if value > (2**63 - 1) // (a - i):
                return 0
            value = value * (a - i) // (i + 1)
        return value

    n, k = np.broadcast_arrays(n, k)
    return np.array([one(int(a), int(b)) for a, b in zip(n.ravel(), k.ravel())], np.int64).reshape(n.shape)


def python_min(x, y):
    """Python's min(x, y): y only where y < x."""
    return np.where(y < x, y, x)


def python_max(x, y):
    return np.where(y > x, y, x)


def reciprocal_integer(x):
    """1 / x truncated towards 0: x for 1 and -1, otherwise 0; 0 for x = 0."""
    if x.dtype.kind == "u":
        return (x == 1).astype(x.dtype)
    return np.where((x == 1) | (x == -1), x, x.dtype.type(0))
