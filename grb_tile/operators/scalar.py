"""Scalar meanings of the primitives for Numba: plain Python that Numba compiles, and that runs uncompiled just as well.

Each function stands alone (it calls nothing of this module, since generated files compile one at a time), takes and
returns scalars, raises nothing and divides by nothing that may be 0: Numba's Python error model would raise there.
NumPy's vectorised meanings (vectorised.py) and the C++ ones (kernels/base/scalar.cuh) agree; tests/operators holds them
to it.
"""

import math

import numpy as np


def cdiv_signed(x, y, low, high):
    if y == 0:
        return x if x == 0 else low if x < 0 else high
    if y == -1:
        return -x
    q = x // y
    return q + 1 if q * y != x and (x < 0) != (y < 0) else q


def cdiv_unsigned(x, y, high):
    if y == 0:
        return x if x == 0 else high
    return x // y


def floordiv_integer(x, y):
    if y == 0:
        return x - x
    if y == -1 and y < 0:
        return -x
    return x // y


def mod_integer(x, y):
    if y == 0 or (y == -1 and y < 0):
        return x - x
    return x % y


def fmod_integer(x, y):
    if y == 0 or y == -1:
        return x - x
    r = x % y
    return r - y if r != 0 and (x < 0) != (y < 0) else r


def fdiv(x, y):
    return np.true_divide(x, y)


def floordiv_float(x, y):
    if y == 0:
        return np.true_divide(x, y)
    if x - x != 0 or y != y:
        return math.nan
    r = np.fmod(x, y)
    q = np.true_divide(x - r, y)
    if r != 0 and (r < 0) != (y < 0):
        q -= 1.0
    if q == 0:
        return math.copysign(0.0, np.true_divide(x, y))
    f = math.floor(q) if abs(q) < 4503599627370496.0 else q
    return f + 1.0 if q - f > 0.5 else float(f)


def mod_float(x, y):
    if y == 0 or x - x != 0 or y != y:
        return math.nan
    r = np.fmod(x, y)
    if r == 0:
        return math.copysign(0.0, y)
    return r + y if (r < 0) != (y < 0) else r


def fmod_float(x, y):
    if y == 0 or x - x != 0 or y != y:
        return math.nan
    return np.fmod(x, y)


def ieee_remainder(x, y):
    """C's remainder: x - y * (x/y rounded to even), with the sign of x."""
    if y == 0 or x - x != 0 or y != y:
        return math.nan
    if y - y != 0:
        return x
    size = abs(y)
    r = np.fmod(abs(x), 2.0 * size) if size <= 8.98846567431158e307 else abs(x)
    if size <= 8.98846567431158e307:
        if r + r > size:
            r -= size
            if r + r >= size:
                r -= size
    else:
        half = 0.5 * size
        if r > half:
            r -= size
            if r >= half:
                r -= size
    if r == 0:
        return math.copysign(0.0, x)
    return r if math.copysign(1.0, x) > 0 else -r


def integer_power(x, y, low, high):
    z = np.power(np.float64(x), np.float64(y))
    if z != z:
        return np.int64(0)
    z = np.rint(z) if y >= 0 else np.trunc(z)
    if z <= np.float64(low):
        return np.int64(low)
    if z >= np.float64(high):
        return np.int64(high)
    return np.int64(z)


def unsigned_power(x, y, high):
    z = np.rint(np.power(np.float64(x), np.float64(y)))
    if z >= np.float64(high):
        return np.uint64(high)
    return np.uint64(z)


def float_power(x, y):
    if x != x or y != y:
        return np.nan
    return np.power(x, y)


def plain_power(x, y):
    return np.power(x, y)


def wrapping_power(x, y):
    """x ** y in 64 bits, wrapping; for y < 0 only 1 and -1 have a power."""
    one = np.int64(1)
    base = np.int64(x)
    if y < 0:
        if base == 1:
            return one
        if base == -1:
            return one if y % 2 == 0 else -one
        return one - one
    result = one
    left = np.int64(y)
    while left > 0:
        if left & 1:
            result = result * base
        base = base * base
        left = left >> 1
    return result


def wrapping_power_unsigned(x, y):
    result = np.uint64(1)
    base = np.uint64(x)
    left = np.uint64(y)
    while left > np.uint64(0):
        if left & np.uint64(1):
            result = result * base
        base = base * base
        left = left >> np.uint64(1)
    return result


def fmin(x, y):
    return x if x <= y or y != y else y


def fmax(x, y):
    return x if x >= y or y != y else y


def nan_min(x, y):
    return x if x <= y or x != x else y


def nan_max(x, y):
    return x if x >= y or x != x else y


def shift_left(x, y, bits):
    if y < 0 or y >= bits:
        return np.int64(0)
    return np.int64(x) << np.int64(y)


def shift_left_unsigned(x, y, bits):
    if y >= bits:
        return np.uint64(0)
    return np.uint64(x) << np.uint64(y)


def shift_right(x, y, bits):
    if y < 0 or y >= bits:
        return np.int64(-1) if x < 0 else np.int64(0)
    return np.int64(x) >> np.int64(y)


def shift_right_unsigned(x, y, bits):
    if y >= bits:
        return np.uint64(0)
    return np.uint64(x) >> np.uint64(y)


def bshift(x, y, bits):
    k = np.int64(y) & 255
    if k >= 128:
        k -= 256
    if k >= bits:
        return np.int64(0)
    if k >= 0:
        return np.int64(x) << np.int64(k)
    if k <= -bits:
        return np.int64(-1) if x < 0 else np.int64(0)
    return np.int64(x) >> np.int64(-k)


def bshift_unsigned(x, y, bits):
    k = np.int64(np.uint64(y) & np.uint64(255))
    if k >= 128:
        k -= 256
    if k >= bits or k <= -bits:
        return np.uint64(0)
    if k >= 0:
        return np.uint64(x) << np.uint64(k)
    return np.uint64(x) >> np.uint64(-k)


def bget(x, y, bits):
    if y < 1 or y > bits:
        return np.int64(0)
    return (np.int64(x) >> np.int64(y - 1)) & np.int64(1)


def bset(x, y, bits):
    if y < 1 or y > bits:
        return np.int64(x)
    return np.int64(x) | (np.int64(1) << np.int64(y - 1))


def bclr(x, y, bits):
    if y < 1 or y > bits:
        return np.int64(x)
    return np.int64(x) & ~(np.int64(1) << np.int64(y - 1))


def bget_unsigned(x, y, bits):
    if y < 1 or y > bits:
        return np.uint64(0)
    return (np.uint64(x) >> np.uint64(np.int64(y) - 1)) & np.uint64(1)


def bset_unsigned(x, y, bits):
    if y < 1 or y > bits:
        return np.uint64(x)
    return np.uint64(x) | (np.uint64(1) << np.uint64(np.int64(y) - 1))


def bclr_unsigned(x, y, bits):
    if y < 1 or y > bits:
        return np.uint64(x)
    return np.uint64(x) & ~(np.uint64(1) << np.uint64(np.int64(y) - 1))


def gcd(x, y):
    a, b = np.uint64(abs(np.int64(x))), np.uint64(abs(np.int64(y)))
    while b != np.uint64(0):
        a, b = b, a % b
    return a


def gcd_unsigned(x, y):
    a, b = np.uint64(x), np.uint64(y)
    while b != np.uint64(0):
        a, b = b, a % b
    return a


def lcm(x, y):
    p, q = np.uint64(abs(np.int64(x))), np.uint64(abs(np.int64(y)))
    a, b = p, q
    while b != np.uint64(0):
        a, b = b, a % b
    return p // a * q if a != np.uint64(0) else a


def lcm_unsigned(x, y):
    p, q = np.uint64(x), np.uint64(y)
    a, b = p, q
    while b != np.uint64(0):
        a, b = b, a % b
    return p // a * q if a != np.uint64(0) else a


def binom(n, k):
    if k > n or k < 0:
        return np.int64(0)
    value = np.int64(1)
    for i in range(min(k, n - k)):
        if value > 9223372036854775807 // (n - i):
            return np.int64(0)
        value = value * (n - i) // (i + 1)
    return value


def reciprocal_integer(x):
    if x == 1:
        return x
    return x if x == -1 and x < 0 else x - x


def c_round(x):
    if x - x != 0:
        return x
    t = np.trunc(x)
    if abs(x - t) >= 0.5:
        t += 1.0 if x > 0 else -1.0
    return math.copysign(t, x)


def signum(x):
    return 1.0 if x > 0 else -1.0 if x < 0 else x


def erf(x):
    return math.erf(x)


def erfc(x):
    return math.erfc(x)


def lgamma(x):
    if x != x:
        return x
    if x - x != 0 or (x <= 0 and x == np.floor(x)):
        return math.inf
    return math.lgamma(x)


def tgamma(x):
    if x == 0:
        return math.copysign(math.inf, x)
    if x != x:
        return x
    if x - x != 0:
        return x if x > 0 else math.nan
    if x < 0 and x == np.floor(x):
        return math.nan
    if x > 171.7:
        return math.inf
    if x < -184.0:
        return 0.0 if np.floor(x) % 2.0 == 0.0 else -0.0
    return math.gamma(x)


def frexpx(x):
    if x - x != 0:
        return x
    return math.frexp(x)[0]


def frexpe(x):
    if x - x != 0:
        return 0
    return math.frexp(x)[1]


def isinf(x):
    return math.isinf(x)


def isfinite(x):
    return math.isfinite(x)


def copysign(x, y):
    return math.copysign(x, y)


def atan2(x, y):
    return math.atan2(x, y)


def hypot(x, y):
    return np.hypot(x, y)


def logaddexp(x, y):
    return np.logaddexp(x, y)


def logaddexp2(x, y):
    return np.logaddexp2(x, y)


def ldexp_float(x, y):
    if x - x != 0:
        return x
    if y != y:
        return x
    e = -2147483648 if y >= 2147483648.0 or y <= -2147483648.0 else int(y)
    if x == 0 or e == 0:
        return x
    f, own = math.frexp(x)
    if own + e > 1100:
        return math.copysign(math.inf, x)
    if own + e < -1100:
        return math.copysign(0.0, x)
    return np.ldexp(f, np.int32(own + e))


def saturate(x, low, high):
    """A float as an integer of the range low to high: NaN is 0, what does not fit is the nearest end."""
    if x != x:
        return np.int64(0)
    if x <= np.float64(low):
        return np.int64(low)
    if x >= np.float64(high):
        return np.int64(high)
    return np.int64(x)


def saturate_unsigned(x, high):
    if not x > 0:
        return np.uint64(0)
    if x >= np.float64(high):
        return np.uint64(high)
    return np.uint64(x)
