// GraphBLAS apply: one result for each entry, of its value, or of its value, its position and a scalar (thunk).
//
// Result: out[k] = op(x[k]); out[k] = op(x[k], i, j, *thunk); 0 at absent positions of a bitmap.
// Callers: backends/cuda/elementwise/mapping.py; backends/cuda/structure/arrays.py (typecasts of complex numbers).
//   A binary operator with a bound scalar runs `combine` of elementwise/union_values.cuh.
// Positions: entry k of a matrix (indptr, rows, stored, indices) is at (row, column); of a sparse vector
//   (indptr null) at (indices[k], 0); of a bitmap (indices null) at (k, 0) if bit k of `words` is set.  x null:
//   op reads positions only.
// Launch: one thread for each entry.
#pragma once
#include "elementwise/intersect.cuh"
#include "base/scalar.cuh"

namespace grb {

template <class X, class D, class Op>
GRB_DEVICE void apply_values_at(int64_t k, const X* x, const word* words, int64_t, D* out) {
  Op op;
  D value = D();
  if (has_or_all(words, k)) value = op(x[k]);
  out[k] = value;
}
template <class X, class D, class Op> __global__ void apply_values(const X* x, const word* words, int64_t n, D* out) {
  GRB_EACH(k, n) apply_values_at<X, D, Op>(k, x, words, n, out);
}

template <class I> struct position { int64_t i, j; };

template <class I>
GRB_DEVICE position<I> position_of(const int64_t* indptr, const int64_t* rows, int64_t stored, const I* indices,
                                   int64_t k) {
  if (indptr != nullptr) return {stored < 0 ? 0 : row_number(indptr, rows, stored, k), int64_t(indices[k])};
  return {indices == nullptr ? k : int64_t(indices[k]), 0};
}

template <class I, class X, class T, class D, class Op>
__global__ void apply_positions(const int64_t* indptr, const int64_t* rows, int64_t stored, const I* indices,
                                const word* words, int64_t n, const X* x, bool iso, const T* thunk, D* out) {
  Op op;
  GRB_EACH(k, n) {
    D value = D();
    if (has_or_all(words, k)) {
      position<I> p = position_of(indptr, rows, stored, indices, k);
      value = op(x == nullptr ? X() : x[iso ? 0 : k], p.i, p.j, *thunk);
    }
    out[k] = value;
  }
}

}  // namespace grb
