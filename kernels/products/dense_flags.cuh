// A product of bitmaps as one of full matrices: zeros stand for absent entries, and where all that are present are
// finite, a product with such a zero is 0.  C has an entry where the product of the matrices of flags is above 0.
//
// Caller: backends/cuda/products/dense.py.
// Phases: filled_values      values with zeros, flags as numbers; counts values that are not finite
//         words_of_counts    presence words of C from sums of flags
// Launch: one thread for each position; words_of_counts: whole warps over n rounded up to 64.
#pragma once
#include "base/bits.cuh"
#include "base/scalar.cuh"
#include "base/warp.cuh"

namespace grb {

// words null: all are present, and neither out nor flags is written.
template <class T>
__global__ void filled_values(const word* words, const T* values, int64_t n, T* out, float* flags,
                              unsigned long long* infinite) {
  unsigned long long found = 0;
  GRB_EACH(k, n) {
    const bool there = has_or_all(words, k);
    const T value = there ? values[k] : T(0);
    found += !is_finite_real(value);
    if (words == nullptr) continue;
    out[k] = value;
    flags[k] = there ? 1.0f : 0.0f;
  }
  add_to_count(found, infinite);
}

// The bit of (i, j) of a matrix of `ncols` columns: is counts[i * of_row + j * of_column] above 0?  How many are is
// added to *count.
template <class = void>
__global__ void words_of_counts(const float* counts, int64_t n, int64_t ncols, int64_t of_row, int64_t of_column,
                                word* words, unsigned long long* count) {
  unsigned long long found = 0;
  GRB_EACH(k, (n + 63) & ~int64_t(63)) {
    const int64_t i = k / ncols, j = k - i * ncols;
    const bool there = k < n && counts[i * of_row + j * of_column] > 0.0f;
    write_flags(words, k, there);
    found += there;
  }
  add_to_count(found, count);
}

}  // namespace grb
