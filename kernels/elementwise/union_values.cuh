// Values of intersections and Kronecker products, and of unions of bitmaps (those of lists: elementwise/merge.cuh).
//
// Result: out[k] = op(x, y) where both are present; where only one is, its value in the result's type (lone_x,
//   lone_y), or op of it and the default of the missing operand; 0 where neither is present, or nothing is given
//   for a lone entry.
// Callers: backends/cuda/elementwise/values.py, for intersect, union, kronecker and apply with a bound scalar (an iso
//   operand); mapping.py.  One instance for each operator serves vectors, matrices and bitmaps.
// Positions: result k reads entry at_x[k] of x, -1 for none; at_x null: entry k if bit k of words_x is
//   set (null: all are).
// Iso operands are read at index 0.  Launch: one thread for each k; reads of at_x and writes of out are coalesced.
#pragma once
#include "base/scalar.cuh"
#include "base/views.cuh"

namespace grb {

template <class P> GRB_DEVICE int64_t entry_at(const P* at, const word* words, int64_t k) {
  if (at != nullptr) return at[k];
  return has_or_all(words, k) ? k : -1;
}

template <class P, class X, class Y, class D, class Op>
GRB_DEVICE void combine_at(int64_t k, const P* at_x, const P* at_y, const word* words_x, const word* words_y, int64_t,
                           const X* x, bool iso_x, const Y* y, bool iso_y, const D* lone_x, const D* lone_y,
                           const X* left_default, const Y* right_default, D* out) {
  Op op;
  int64_t a = entry_at(at_x, words_x, k), b = entry_at(at_y, words_y, k);
  D value = D();
  if (a >= 0 && b >= 0) value = op(x[iso_x ? 0 : a], y[iso_y ? 0 : b]);
  else if (a >= 0) {
    if (right_default != nullptr) value = op(x[iso_x ? 0 : a], *right_default);
    else if (lone_x != nullptr) value = lone_x[iso_x ? 0 : a];
  } else if (b >= 0) {
    if (left_default != nullptr) value = op(*left_default, y[iso_y ? 0 : b]);
    else if (lone_y != nullptr) value = lone_y[iso_y ? 0 : b];
  }
  out[k] = value;
}
template <class P, class X, class Y, class D, class Op>
__global__ void combine(const P* at_x, const P* at_y, const word* words_x, const word* words_y, int64_t n, const X* x,
                        bool iso_x, const Y* y, bool iso_y, const D* lone_x, const D* lone_y, const X* left_default,
                        const Y* right_default, D* out) {
  GRB_EACH(k, n)
    combine_at<P, X, Y, D, Op>(k, at_x, at_y, words_x, words_y, n, x, iso_x, y, iso_y, lone_x, lone_y, left_default,
                               right_default, out);
}

// The same of bitmaps, without an operator: common[k] where both are present (y's value when common is null).  Values
// are moved as unsigned integers of their size.
template <class D>
__global__ void overlay(const word* words_x, const word* words_y, int64_t n, const D* x, bool iso_x, const D* y,
                        bool iso_y, const D* common, bool iso_common, D* out) {
  GRB_EACH(k, n) {
    const bool of_x = has_or_all(words_x, k), of_y = has_or_all(words_y, k);
    D value = D();
    if (of_x && of_y && common != nullptr) value = common[iso_common ? 0 : k];
    else if (of_y) value = y[iso_y ? 0 : k];
    else if (of_x) value = x[iso_x ? 0 : k];
    out[k] = value;
  }
}

}  // namespace grb
