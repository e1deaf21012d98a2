// One result for each entry: of its value, or of its value, its position and a scalar.
//
// Result: out[k] = op(x[k]); out[k] = op(x[k], i, j, *thunk); a zero at positions of a bitmap that are not present.
// Who calls: backends/cuda/elementwise/mapping.py.  A binary operator with a bound scalar is elementwise/union_values.cuh's `combine`.
// Places: entry k of a matrix (indptr, rows, held, indices) is (row, column); of a list (indptr null) it is (indices[k], 0);
//   of a bitmap (indices null) it is (k, 0) where `words` holds k.  x null: the operator looks at positions only.
// Threads: one for each entry.
#pragma once
#include "elementwise/intersect.cuh"
#include "base/scalar.cuh"

namespace grb {

template <class X, class D, class Op> __global__ void apply_values(const X* x, const word* words, int64_t n, D* out) {
  Op op;
  GRB_EACH(k, n) {
    D value = D();
    if (has_or_all(words, k)) value = op(x[k]);
    out[k] = value;
  }
}

template <class I> struct position { int64_t i, j; };

template <class I>
GRB_DEVICE position<I> position_of(const int64_t* indptr, const int64_t* rows, int64_t held, const I* indices, int64_t k) {
  if (indptr != nullptr) return {row_name(indptr, rows, held, k), int64_t(indices[k])};
  return {indices == nullptr ? k : int64_t(indices[k]), 0};
}

template <class I, class X, class T, class D, class Op>
__global__ void apply_places(const int64_t* indptr, const int64_t* rows, int64_t held, const I* indices, const word* words,
                             int64_t n, const X* x, bool iso, const T* thunk, D* out) {
  Op op;
  GRB_EACH(k, n) {
    D value = D();
    if (has_or_all(words, k)) {
      position<I> p = position_of(indptr, rows, held, indices, k);
      value = op(x == nullptr ? X() : x[iso ? 0 : k], p.i, p.j, *thunk);
    }
    out[k] = value;
  }
}

}  // namespace grb
