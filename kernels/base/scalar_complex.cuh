// Complex functions of the operators; real ones: base/scalar.cuh; equal to grb_tile/operators/vectorised.py.
// Division is SuiteSparse's (Smith's algorithm in double), multiplication that of C99.
#pragma once
#include "base/scalar.cuh"
#ifdef __CUDACC_RTC__
#include <cuda/std/complex>
namespace grb_std = cuda::std;
#else
#include <complex>
namespace grb_std = std;
#endif

namespace grb {

template <class R> using complex = grb_std::complex<R>;
template <class R> using Z = complex<R>;

template <class R> GRB_FN Z<R> cmplx_of(R re, R im) { return Z<R>(re, im); }
template <class R> GRB_FN Z<R> nan_pair() { return Z<R>(nan_of(R()), nan_of(R())); }
template <class R> GRB_FN bool has_nan(Z<R> x) { return x.real() != x.real() || x.imag() != x.imag(); }
template <class R> GRB_FN bool is_zero(Z<R> x) { return x.real() == R(0) && x.imag() == R(0); }

template <class To> GRB_FN To cast(Z<float> x) {
  if constexpr (is_same<To, bool>) return !is_zero(x);
  else if constexpr (is_same<To, Z<double>>) return To(double(x.real()), double(x.imag()));
  else return cast<To, float>(x.real());
}
template <class To> GRB_FN To cast(Z<double> x) {
  if constexpr (is_same<To, bool>) return !is_zero(x);
  else if constexpr (is_same<To, Z<float>>) return To(float(x.real()), float(x.imag()));
  else return cast<To, double>(x.real());
}
template <class C, class From> GRB_FN C complex_cast(From x) {
  return C(typename C::value_type(x), typename C::value_type(0));
}

template <class R> GRB_FN Z<R> add(Z<R> x, Z<R> y) { return Z<R>(x.real() + y.real(), x.imag() + y.imag()); }
template <class R> GRB_FN Z<R> sub(Z<R> x, Z<R> y) { return Z<R>(x.real() - y.real(), x.imag() - y.imag()); }
template <class R> GRB_FN Z<R> mul(Z<R> x, Z<R> y) { return x * y; }
template <class R> GRB_FN Z<R> neg(Z<R> x) { return Z<R>(-x.real(), -x.imag()); }
template <class R> GRB_FN R abs(Z<R> x) { return hypot(x.real(), x.imag()); }
template <class R> GRB_FN Z<R> cdiv(Z<R> x, Z<R> y) {
  double xr = x.real(), xi = x.imag(), yr = y.real(), yi = y.imag(), zr, zi;
  if (yi == 0) { zr = xr / yr; zi = xi / yr; }
  else if (yr == 0) { zr = xi / yi; zi = -xr / yi; }
  else if (grb::isinf(yi) && grb::isinf(yr)) {
    if ((yr > 0) == (yi > 0)) { zr = (xr + xi) / yr; zi = (xi - xr) / yr; }
    else { zr = (xr - xi) / yr; zi = (xi + xr) / yr; }
  } else if (::fabs(yr) >= ::fabs(yi)) {
    double r = yi / yr, d = yr + r * yi;
    zr = (xr + xi * r) / d; zi = (xi - xr * r) / d;
  } else {
    double r = yr / yi, d = r * yr + yi;
    zr = (xr * r + xi) / d; zi = (xi * r - xr) / d;
  }
  return Z<R>(R(zr), R(zi));
}
template <class R> GRB_FN Z<R> minv_complex(Z<R> x) { return grb::cdiv(Z<R>(R(1), R(0)), x); }
template <class R> GRB_FN Z<R> pow(Z<R> x, Z<R> y) {
  if (has_nan(x) || has_nan(y)) return nan_pair<R>();
  if (is_zero(y)) return Z<R>(R(1), R(0));
  if (x.imag() == R(0) && y.imag() == R(0) && (x.real() >= R(0) || y.real() == R(::trunc(y.real()))))
    return Z<R>(R(::pow(x.real(), y.real())), R(0));
  if (is_zero(x)) return y.real() > R(0) ? Z<R>(R(0), R(0)) : nan_pair<R>();
  Z<double> z = grb_std::exp(Z<double>(y.real(), y.imag()) * grb_std::log(Z<double>(x.real(), x.imag())));
  return Z<R>(R(z.real()), R(z.imag()));
}
template <class R> GRB_FN Z<R> wpow(Z<R> x, Z<R> y) { return grb::pow(x, y); }
template <class R> GRB_FN Z<R> nmin(Z<R> x, Z<R> y) {
  if (has_nan(x)) return x;
  if (has_nan(y)) return y;
  return x.real() < y.real() || (x.real() == y.real() && x.imag() <= y.imag()) ? x : y;
}
template <class R> GRB_FN Z<R> nmax(Z<R> x, Z<R> y) {
  if (has_nan(x)) return x;
  if (has_nan(y)) return y;
  return x.real() > y.real() || (x.real() == y.real() && x.imag() >= y.imag()) ? x : y;
}
template <class R> GRB_FN bool eq(Z<R> x, Z<R> y) { return x.real() == y.real() && x.imag() == y.imag(); }
template <class R> GRB_FN bool ne(Z<R> x, Z<R> y) { return !eq(x, y); }

#define GRB_COMPLEX(NAME) template <class R> GRB_FN Z<R> NAME(Z<R> x) { return grb_std::NAME(x); }
GRB_COMPLEX(sqrt) GRB_COMPLEX(exp) GRB_COMPLEX(log) GRB_COMPLEX(sin) GRB_COMPLEX(cos) GRB_COMPLEX(tan) GRB_COMPLEX(asin)
GRB_COMPLEX(acos) GRB_COMPLEX(atan) GRB_COMPLEX(sinh) GRB_COMPLEX(cosh) GRB_COMPLEX(tanh) GRB_COMPLEX(asinh)
GRB_COMPLEX(acosh) GRB_COMPLEX(atanh)
#undef GRB_COMPLEX
#define GRB_PARTS(NAME) \
  template <class R> GRB_FN Z<R> NAME(Z<R> x) { return Z<R>(grb::NAME(x.real()), grb::NAME(x.imag())); }
GRB_PARTS(ceil) GRB_PARTS(floor) GRB_PARTS(trunc) GRB_PARTS(round) GRB_PARTS(rint)
#undef GRB_PARTS
template <class R> GRB_FN Z<R> exp2(Z<R> x) {
  Z<double> z = grb_std::exp(Z<double>(x.real(), x.imag()) * Z<double>(0.693147180559945309417, 0.0));
  return Z<R>(R(z.real()), R(z.imag()));
}
template <class R> GRB_FN Z<R> expm1(Z<R> x) { return grb::sub(grb::exp(x), Z<R>(R(1), R(0))); }
template <class R> GRB_FN Z<R> log1p(Z<R> x) { return grb::log(grb::add(x, Z<R>(R(1), R(0)))); }
template <class R> GRB_FN Z<R> log_by(Z<R> x, R by) { Z<R> z = grb::log(x); return Z<R>(z.real() / by, z.imag() / by); }
template <class R> GRB_FN Z<R> log2(Z<R> x) { return grb::log_by(x, R(0.693147180559945309417)); }
template <class R> GRB_FN Z<R> log10(Z<R> x) { return grb::log_by(x, R(2.302585092994045684018)); }
template <class R> GRB_FN Z<R> signum(Z<R> x) {
  R size = grb::abs(x);
  return size == R(0) ? Z<R>(R(0), R(0)) : Z<R>(x.real() / size, x.imag() / size);
}
template <class R> GRB_FN bool isnan(Z<R> x) { return has_nan(x); }
template <class R> GRB_FN bool isinf(Z<R> x) { return grb::isinf(x.real()) || grb::isinf(x.imag()); }
template <class R> GRB_FN bool isfinite(Z<R> x) { return is_finite_real(x.real()) && is_finite_real(x.imag()); }
template <class R> GRB_FN Z<R> conj(Z<R> x) { return Z<R>(x.real(), -x.imag()); }
template <class R> GRB_FN R creal(Z<R> x) { return x.real(); }
template <class R> GRB_FN R cimag(Z<R> x) { return x.imag(); }
template <class R> GRB_FN R carg(Z<R> x) { return R(::atan2(x.imag(), x.real())); }
template <class R> GRB_FN Z<R> cmplx(R x, R y) { return Z<R>(x, y); }

}  // namespace grb
