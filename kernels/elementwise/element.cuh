// One entry of a store: A(i, j), u(i), by binary search.
//
// Result: out[0] and out[1] have the value's bytes, out[2] whether there is an entry (as elementwise/reduce.cuh).
// Caller: backends/cuda/elementwise/element.py.
// Launch: one thread; two binary searches at most.
#pragma once
#include "elementwise/reduce.cuh"

namespace grb {

// A vector is a row (indptr null: its entries are the `count` of the list).
template <class I, class T>
__global__ void element_of_list(const int64_t* indptr, const int64_t* rows, int64_t count, const I* indices,
                                const T* values, bool iso, int64_t i, int64_t j, word* out) {
  int64_t start = 0, stop = count;
  if (indptr != nullptr) row_range(indptr, rows, count, i, start, stop);
  int64_t at = find(indices, start, stop, j);
  write_scalar(out, at < 0 ? T() : values[iso ? 0 : at], at >= 0);
}

template <class T>
__global__ void element_of_bitmap(const word* words, const T* values, bool iso, int64_t i, word* out) {
  write_scalar(out, values[iso ? 0 : i], has_or_all(words, i));
}

}  // namespace grb
