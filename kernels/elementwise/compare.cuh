// The number of positions in which two vectors agree.
//
//   two bitmaps (or full vectors) of n positions: both lack position k, or both have it and test(u(k), v(k)) holds
//   a list of n entries and anything else:        v has the position of entry k of u, and test(u(k), v(k)) holds
//
// The vectors are equal if the count is n and, where u is a list, v has n entries too.
// Algorithm: single-pass reduction with a ticket counter (elementwise/reduce.cuh).
// Arguments: I and indices as in products/inner.cuh; iso: one value in all; Test: struct with types A and X and
//   bool operator()(A, X), whose members rel and tol get the bytes of these arguments.
// Result and launch: as reduce_values.
// Caller: backends/cuda/elementwise/compare.py.
#pragma once
#include "elementwise/reduce.cuh"

namespace grb {

// |x - y| <= max(rel max(|x|, |y|), tol), or x = y; infinities are close to themselves only, NaN to nothing.
// R: float or double; T: R or its complex type.
template <class R, class T> GRB_DEVICE bool close(T x, T y, double rel, double tol) {
  if (x == y) return true;
  const T p = x - x, q = y - y;
  if (!(p == p) || !(q == q)) return false;
  const R largest = abs(x) > abs(y) ? R(abs(x)) : R(abs(y)), scaled = R(rel) * largest;
  return R(abs(x - y)) <= (scaled > R(tol) ? scaled : R(tol));
}

struct Plus {
  GRB_DEVICE int64_t operator()(int64_t p, int64_t q) const { return p + q; }
};

// Do two bitmaps agree at position k?  As in a fused pass of a persistent kernel (programs/persistent.cuh).
template <class I, class J, class Test>
GRB_DEVICE Part<int64_t> agreeing_at(int64_t k, const I*, const word* u_words, const typename Test::A* u, bool u_iso,
                                     int64_t, const J*, const word* v_words, const typename Test::X* v, bool v_iso,
                                     int64_t, int64_t rel, int64_t tol, word*, word*, word*) {
  Test test;
  memcpy(&test.rel, &rel, 8);
  memcpy(&test.tol, &tol, 8);
  const bool here = has_or_all(u_words, k), there = has_or_all(v_words, k);
  return {here && there ? int64_t(test(u[u_iso ? 0 : k], v[v_iso ? 0 : k])) : int64_t(here == there), true};
}

template <class I, class J, class Test>
__global__ void __launch_bounds__(1024)
agreeing(const I* u_indices, const word* u_words, const typename Test::A* u, bool u_iso, int64_t n,
         const J* v_indices, const word* v_words, const typename Test::X* v, bool v_iso, int64_t count,
         int64_t rel, int64_t tol, word* parts, word* finished, word* out) {
  Test test;
  memcpy(&test.rel, &rel, 8);
  memcpy(&test.tol, &tol, 8);
  int64_t agreeing = 0;
  GRB_EACH(p, n) {
    int64_t q = p;
    bool here = has_or_all(u_words, p), there;
    if constexpr (is_same<J, void>) {
      if constexpr (!is_same<I, void>) q = u_indices[p];
      there = has_or_all(v_words, q);
    } else {
      if constexpr (!is_same<I, void>) q = u_indices[p];
      q = find(v_indices, int64_t(0), count, q);
      there = q >= 0;
    }
    if (here && there) agreeing += test(u[u_iso ? 0 : p], v[v_iso ? 0 : q]);
    else if constexpr (is_same<I, void> && is_same<J, void>) agreeing += here == there;
  }
  reduce_grid(agreeing, true, parts, finished, out, Plus());
}

}  // namespace grb
