// One entry of a store: A(i, j), u(i).
//
// Result: the first words of `out` have the value's bytes; out[3] = 1 if there is an entry (all are 0 before).
// Caller: backends/cuda/elementwise/element.py.
// Launch: one thread; two binary searches at most.
#pragma once
#include "base/views.cuh"

namespace grb {

// A vector is a row (indptr null: its entries are the `count` of the list).
template <class I, class T>
__global__ void element_of_list(const int64_t* indptr, const int64_t* rows, int64_t count, const I* indices,
                                const T* values, bool iso, int64_t i, int64_t j, word* out) {
  int64_t start = 0, stop = count;
  if (indptr != nullptr) row_range(indptr, rows, count, i, start, stop);
  int64_t at = find(indices, start, stop, j);
  if (at < 0) return;
  memcpy(out, values + (iso ? 0 : at), sizeof(T));
  out[3] = 1;
}

template <class T>
__global__ void element_of_bitmap(const word* words, const T* values, bool iso, int64_t i, word* out) {
  if (!has_or_all(words, i)) return;
  memcpy(out, values + (iso ? 0 : i), sizeof(T));
  out[3] = 1;
}

}  // namespace grb
