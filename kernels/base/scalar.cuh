// Scalar functions of the operators: one for each row of grb_tile/operators/primitives.py, with its name.
//
// Result: equal to grb_tile/operators/vectorised.py and scalar.py: integers wrap, x / 0 is SuiteSparse's, fmin and fmax
//   treat NaN alike, shifts beyond the width are defined.  Transcendental functions agree to a few units
//   in the last place.
// Compiles under NVRTC, nvcc and any C++17 compiler (tests use g++).  Operands have one type T, bool included.
// Complex numbers: include base/scalar_complex.cuh as well.
// Spec: GraphBLAS C API 2.1, tables 3.5 to 3.9; SuiteSparse:GraphBLAS 9.4.5 user guide, chapter 6.
#pragma once
#include "base/types.cuh"
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define GRB_FN __device__ __forceinline__
#else
#define GRB_FN inline
#endif

namespace grb {

template <class T> constexpr bool is_signed = T(-1) < T(0);
template <class T> constexpr int bits_of = 8 * sizeof(T);
// Integer arithmetic is in an unsigned type at least as wide as int: signed overflow is
// undefined, narrow types promote.
template <class T> using wide_t = choose<(sizeof(T) < 8), uint32_t, uint64_t>;
template <class T> GRB_FN constexpr T highest_int() {
  return is_signed<T> ? T((uint64_t(1) << (bits_of<T> - 1)) - 1) : T(~T(0));
}
template <class T> GRB_FN constexpr T lowest_int() { return is_signed<T> ? T(-highest_int<T>() - 1) : T(0); }

#ifdef __CUDACC_RTC__
GRB_FN float nan_of(float) { return __int_as_float(0x7fc00000); }
GRB_FN double nan_of(double) { return __longlong_as_double(0x7ff8000000000000LL); }
GRB_FN float inf_of(float) { return __int_as_float(0x7f800000); }
GRB_FN double inf_of(double) { return __longlong_as_double(0x7ff0000000000000LL); }
#else
GRB_FN float nan_of(float) { return float(NAN); }
GRB_FN double nan_of(double) { return double(NAN); }
GRB_FN float inf_of(float) { return float(INFINITY); }
GRB_FN double inf_of(double) { return double(INFINITY); }
#endif
template <class T> GRB_FN bool is_finite_real(T x) { return x - x == T(0); }

// ---- casts: grb_tile/dtypes/casting.py
template <class To, class From> GRB_FN To cast(From x) {
  if constexpr (is_same<To, bool>) {
    return x != From(0);
  } else if constexpr (is_float<From> && !is_float<To>) {
    if (!(x == x)) return To(0);
    if (x <= From(lowest_int<To>())) return lowest_int<To>();
    if (x >= From(highest_int<To>())) return highest_int<To>();
    return To(x);
  } else {
    return To(x);
  }
}
template <class T> GRB_FN T where(bool c, T a, T b) { return c ? a : b; }

// ---- arithmetic
template <class T> GRB_FN T add(T x, T y) {
  if constexpr (is_float<T>) return x + y; else return T(wide_t<T>(x) + wide_t<T>(y));
}
template <class T> GRB_FN T sub(T x, T y) {
  if constexpr (is_float<T>) return x - y; else return T(wide_t<T>(x) - wide_t<T>(y));
}
template <class T> GRB_FN T mul(T x, T y) {
  if constexpr (is_float<T>) return x * y; else return T(wide_t<T>(x) * wide_t<T>(y));
}
template <class T> GRB_FN T neg(T x) {
  if constexpr (is_float<T>) return -x; else return T(wide_t<T>(0) - wide_t<T>(x));
}
template <class T> GRB_FN T abs(T x) {
  if constexpr (is_float<T>) return T(::fabs(x)); else return is_signed<T> && x < T(0) ? neg(x) : x;
}
template <class T> GRB_FN T cdiv(T x, T y) {
  if constexpr (is_float<T>) return x / y;
  else {
    if (y == T(0)) return x == T(0) ? T(0) : is_signed<T> && x < T(0) ? lowest_int<T>() : highest_int<T>();
    if (is_signed<T> && y == T(-1)) return neg(x);
    return T(x / y);
  }
}
template <class T> GRB_FN T mod(T x, T y) {
  if constexpr (is_float<T>) {
    if (y == T(0) || !is_finite_real(x) || y != y) return nan_of(T());
    T r = T(::fmod(x, y));
    if (r == T(0)) return T(::copysign(T(0), y));
    return (r < T(0)) != (y < T(0)) ? r + y : r;
  } else {
    if (y == T(0) || (is_signed<T> && y == T(-1))) return T(0);
    T r = T(x % y);
    return r != T(0) && is_signed<T> && (r < T(0)) != (y < T(0)) ? T(r + y) : r;
  }
}
template <class T> GRB_FN T floordiv(T x, T y) {
  if constexpr (is_float<T>) {
    if (y == T(0)) return x / y;
    if (!is_finite_real(x) || y != y) return nan_of(T());
    T r = T(::fmod(x, y));
    T q = (x - r) / y;
    if (r != T(0) && (r < T(0)) != (y < T(0))) q -= T(1);
    if (q == T(0)) return T(::copysign(T(0), x / y));
    T f = T(::floor(q));
    return q - f > T(0.5) ? f + T(1) : f;
  } else {
    if (y == T(0)) return T(0);
    if (is_signed<T> && y == T(-1)) return neg(x);
    T q = T(x / y);
    return is_signed<T> && x % y != 0 && (x < T(0)) != (y < T(0)) ? T(q - 1) : q;
  }
}
template <class T> GRB_FN T fmod(T x, T y) {
  if constexpr (is_float<T>) return T(::fmod(x, y));
  else return y == T(0) || (is_signed<T> && y == T(-1)) ? T(0) : T(x % y);
}
template <class T> GRB_FN T remainder(T x, T y) { return T(::remainder(x, y)); }
template <class T> GRB_FN T pow(T x, T y) {
  if constexpr (is_float<T>) {
    if (x != x || y != y) return nan_of(T());
    return T(::pow(x, y));
  } else {
    double z = ::pow(double(x), double(y));
    return cast<T>(is_signed<T> && y < T(0) ? ::trunc(z) : ::rint(z));
  }
}
template <class T> GRB_FN T wpow(T x, T y) {
  if constexpr (is_float<T>) return T(::pow(x, y));
  else {
    if (is_signed<T> && y < T(0)) return x == T(1) ? T(1) : x == T(-1) ? (y % 2 == 0 ? T(1) : T(-1)) : T(0);
    wide_t<T> result = 1, base = wide_t<T>(x);
    for (uint64_t left = uint64_t(y); left != 0; left >>= 1) {
      if (left & 1) result *= base;
      base *= base;
    }
    return T(result);
  }
}
template <class T> GRB_FN T reciprocal_integer(T x) { return x == T(1) || (is_signed<T> && x == T(-1)) ? x : T(0); }

// ---- extremes: f ignores NaN, n propagates it, p is Python's (the second only where it is smaller, or larger)
template <class T> GRB_FN T fmin(T x, T y) { return x <= y || y != y ? x : y; }
template <class T> GRB_FN T fmax(T x, T y) { return x >= y || y != y ? x : y; }
template <class T> GRB_FN T nmin(T x, T y) { return x <= y || x != x ? x : y; }
template <class T> GRB_FN T nmax(T x, T y) { return x >= y || x != x ? x : y; }
template <class T> GRB_FN T pmin(T x, T y) { return y < x ? y : x; }
template <class T> GRB_FN T pmax(T x, T y) { return y > x ? y : x; }

// ---- comparison and logic
template <class T> GRB_FN bool lt(T x, T y) { return x < y; }
template <class T> GRB_FN bool le(T x, T y) { return x <= y; }
template <class T> GRB_FN bool gt(T x, T y) { return x > y; }
template <class T> GRB_FN bool ge(T x, T y) { return x >= y; }
template <class T> GRB_FN bool eq(T x, T y) { return x == y; }
template <class T> GRB_FN bool ne(T x, T y) { return x != y; }
GRB_FN bool land(bool x, bool y) { return x && y; }
GRB_FN bool lor(bool x, bool y) { return x || y; }
GRB_FN bool lxor(bool x, bool y) { return x != y; }
GRB_FN bool lnot(bool x) { return !x; }

// ---- bits
template <class T> GRB_FN T band(T x, T y) { return T(x & y); }
template <class T> GRB_FN T bor(T x, T y) { return T(x | y); }
template <class T> GRB_FN T bxor(T x, T y) { return T(x ^ y); }
template <class T> GRB_FN T bnot(T x) { return T(~x); }
template <class T> GRB_FN T shift_by(T x, int k) {  // |k| < width; left for k >= 0, arithmetic right otherwise
  return k >= 0 ? T(wide_t<T>(x) << k) : T(x >> -k);
}
template <class T> GRB_FN T shl(T x, T y) {
  return (is_signed<T> && y < T(0)) || uint64_t(y) >= bits_of<T> ? T(0) : shift_by(x, int(y));
}
template <class T> GRB_FN T shr(T x, T y) {
  if ((is_signed<T> && y < T(0)) || uint64_t(y) >= bits_of<T>) return is_signed<T> && x < T(0) ? T(-1) : T(0);
  return T(x >> int(y));
}
template <class T> GRB_FN T bshift(T x, T y) {
  int k = int8_t(uint8_t(uint64_t(y) & 255));
  if (k >= bits_of<T>) return T(0);
  if (k <= -bits_of<T>) return is_signed<T> && x < T(0) ? T(-1) : T(0);
  return shift_by(x, k);
}
template <class T> GRB_FN bool has_bit(T y) { return y >= T(1) && uint64_t(y) <= bits_of<T>; }
template <class T> GRB_FN T bget(T x, T y) { return has_bit(y) ? T((uint64_t(x) >> (uint64_t(y) - 1)) & 1) : T(0); }
template <class T> GRB_FN T bset(T x, T y) {
  return has_bit(y) ? T(uint64_t(x) | (uint64_t(1) << (uint64_t(y) - 1))) : x;
}
template <class T> GRB_FN T bclr(T x, T y) {
  return has_bit(y) ? T(uint64_t(x) & ~(uint64_t(1) << (uint64_t(y) - 1))) : x;
}

// ---- whole numbers
template <class T> GRB_FN uint64_t magnitude(T x) {
  return is_signed<T> && x < T(0) ? uint64_t(0) - uint64_t(int64_t(x)) : uint64_t(x);
}
GRB_FN uint64_t gcd_of(uint64_t a, uint64_t b) {
  while (b != 0) { uint64_t r = a % b; a = b; b = r; }
  return a;
}
template <class T> GRB_FN T gcd(T x, T y) { return T(gcd_of(magnitude(x), magnitude(y))); }
template <class T> GRB_FN T lcm(T x, T y) {
  uint64_t g = gcd_of(magnitude(x), magnitude(y));
  return g == 0 ? T(0) : T(magnitude(x) / g * magnitude(y));
}
GRB_FN int64_t binom(int64_t n, int64_t k) {
  if (k > n || k < 0) return 0;
  int64_t value = 1, steps = k < n - k ? k : n - k;
  for (int64_t i = 0; i < steps; i++) {
    if (value > int64_t(9223372036854775807LL) / (n - i)) return 0;
    value = value * (n - i) / (i + 1);
  }
  return value;
}

// ---- real functions
#define GRB_REAL(NAME, CALL) \
  GRB_FN float NAME(float x) { return float(CALL(x)); } \
  GRB_FN double NAME(double x) { return CALL(x); }
GRB_REAL(sqrt, ::sqrt) GRB_REAL(exp, ::exp) GRB_REAL(exp2, ::exp2) GRB_REAL(expm1, ::expm1) GRB_REAL(log, ::log)
GRB_REAL(log2, ::log2) GRB_REAL(log10, ::log10) GRB_REAL(log1p, ::log1p) GRB_REAL(sin, ::sin) GRB_REAL(cos, ::cos)
GRB_REAL(tan, ::tan) GRB_REAL(asin, ::asin) GRB_REAL(acos, ::acos) GRB_REAL(atan, ::atan) GRB_REAL(sinh, ::sinh)
GRB_REAL(cosh, ::cosh) GRB_REAL(tanh, ::tanh) GRB_REAL(asinh, ::asinh) GRB_REAL(acosh, ::acosh) GRB_REAL(atanh, ::atanh)
GRB_REAL(ceil, ::ceil) GRB_REAL(floor, ::floor) GRB_REAL(trunc, ::trunc) GRB_REAL(round, ::round) GRB_REAL(rint, ::rint)
GRB_REAL(cbrt, ::cbrt) GRB_REAL(erf, ::erf) GRB_REAL(erfc, ::erfc) GRB_REAL(lgamma, ::lgamma) GRB_REAL(tgamma, ::tgamma)
#undef GRB_REAL
template <class T> GRB_FN T signum(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x; }
template <class T> GRB_FN T frexpx(T x) { int e; return is_finite_real(x) ? T(::frexp(x, &e)) : x; }
template <class T> GRB_FN T frexpe(T x) { int e = 0; if (is_finite_real(x)) ::frexp(x, &e); return T(e); }
template <class T> GRB_FN T nextafter(T x, T y) { return T(::nextafter(x, y)); }
GRB_FN float nextafter(float x, float y) { return ::nextafterf(x, y); }
template <class T> GRB_FN T spacing(T x) {
  return is_finite_real(x) ? nextafter(x, T(::copysign(inf_of(T()), x))) - x : nan_of(T());
}
template <class T> GRB_FN bool isnan(T x) { return x != x; }
template <class T> GRB_FN bool isinf(T x) { return x == x && !is_finite_real(x); }
template <class T> GRB_FN bool isfinite(T x) { return is_finite_real(x); }
template <class T> GRB_FN bool signbit(T x) { return ::copysign(T(1), x) < T(0); }
template <class T> GRB_FN T atan2(T x, T y) { return T(::atan2(x, y)); }
// sqrt(x x + y y), correctly rounded; glibc's differs for 1 in 200 doubles (never for floats), CUDA's for more.
// float: both squares are exact in double.  double: double-double arithmetic keeps the rounding errors of the squares
// and of the sum, and one Newton step corrects the root by its residual (exact by fma).
GRB_FN float hypot(float x, float y) {
  if (isinf(x) || isinf(y)) return inf_of(float());
  return float(::sqrt(double(x) * double(x) + double(y) * double(y)));
}
GRB_FN double exact_product(double x, double y) {  // not contracted to an fma with a following addition
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  return __dmul_rn(x, y);
#else
  return x * y;
#endif
}
GRB_FN double hypot(double x, double y) {
  if (isinf(x) || isinf(y)) return inf_of(double());
  if (x != x || y != y) return nan_of(double());
  x = ::fabs(x);
  y = ::fabs(y);
  double large = x < y ? y : x, small = x < y ? x : y, back = 1;
  if (small <= large * 0x1p-54) return large;          // the smaller one is lost in rounding; both may be 0
  if (large > 0x1p500) { large *= 0x1p-600; small *= 0x1p-600; back = 0x1p600; }
  else if (large < 0x1p-400) { large *= 0x1p600; small *= 0x1p600; back = 0x1p-600; }
  double p = exact_product(large, large), q = exact_product(small, small), sum = p + q;
  double lost = (p - sum + q) + (::fma(large, large, -p) + ::fma(small, small, -q));
  double root = ::sqrt(sum);
  return (root + (::fma(-root, root, sum) + lost) / (2 * root)) * back;
}
template <class T> GRB_FN T copysign(T x, T y) { return T(::copysign(x, y)); }
template <class T> GRB_FN T ldexp(T x, T y) {
  return T(::ldexp(x, y >= T(2147483648.0) ? int32_t(-2147483647 - 1) : cast<int32_t>(y)));
}
template <class T> GRB_FN T logaddexp(T x, T y) {
  if (x == y) return x + T(0.693147180559945309417);
  T d = x - y;
  return d > T(0) ? x + T(::log1p(::exp(-d))) : d <= T(0) ? y + T(::log1p(::exp(d))) : d;
}
template <class T> GRB_FN T logaddexp2(T x, T y) {
  if (x == y) return x + T(1);
  T d = x - y;
  const T e = T(1.44269504088896340736);
  return d > T(0) ? x + e * T(::log1p(::exp2(-d))) : d <= T(0) ? y + e * T(::log1p(::exp2(d))) : d;
}
template <class T> GRB_FN T conj(T x) { return x; }

}  // namespace grb
