// Access to stores: binary searches, rows of CSR and DCSR, membership in masks, regions of indices.
//
// Included by kernels that take a store's arrays.  Stores are passed as plain pointers; `iso` is a bool argument
// (uniform over the grid, so the branch is cheap); masks are (words or indices, complement).
#pragma once
#include "base/bits.cuh"

namespace grb {

// Lower bound: the first position in ascending list[low .. high-1] whose element is >= key (high when there is none).
template <class I, class K> GRB_DEVICE int64_t lower_bound(const I* list, int64_t low, int64_t high, K key) {
  while (low < high) {
    int64_t middle = low + ((high - low) >> 1);
    if (list[middle] < key) low = middle + 1; else high = middle;
  }
  return low;
}
// Upper bound: the first position whose element is > key.
template <class I, class K> GRB_DEVICE int64_t upper_bound(const I* list, int64_t low, int64_t high, K key) {
  while (low < high) {
    int64_t middle = low + ((high - low) >> 1);
    if (key < list[middle]) high = middle; else low = middle + 1;
  }
  return low;
}
// The position of key in list[low .. high-1], or -1.
template <class I, class K> GRB_DEVICE int64_t find(const I* list, int64_t low, int64_t high, K key) {
  int64_t at = lower_bound(list, low, high, key);
  return at < high && list[at] == key ? at : -1;
}
// The row r with indptr[r] <= k < indptr[r+1].
template <class P> GRB_DEVICE int64_t row_of(const P* indptr, int64_t rows, int64_t k) {
  return upper_bound(indptr, int64_t(0), rows + 1, k) - 1;
}
// (start, stop) of row i: rows is null for CSR, else the ascending numbers of the stored rows (DCSR).
template <class P> GRB_DEVICE void row_range(const P* indptr, const int64_t* rows, int64_t count, int64_t i,
                                             int64_t& start, int64_t& stop) {
  int64_t r = rows == nullptr ? i : find(rows, int64_t(0), count, i);
  start = r < 0 ? 0 : int64_t(indptr[r]);
  stop = r < 0 ? 0 : int64_t(indptr[r + 1]);
}
// Is position i in the mask's structure (words, or an ascending list; all positions when both are null)?
template <class I> GRB_DEVICE bool in_pattern(const word* words, const I* indices, int64_t count, int64_t i) {
  if (words != nullptr) return has(words, i);
  return indices == nullptr || find(indices, int64_t(0), count, i) >= 0;
}

// One dimension of a region of indices: place k is position list[k], or first + k * step where there is no list.
// last (null: not asked for): the last place of each position, which counts where the list has it twice.
struct Axis {
  const int64_t* list;
  int64_t first, step;
  const int* last;
  // The position of place k, or -1 where a later place is the same position.
  GRB_DEVICE int64_t at(int64_t k) const {
    const int64_t i = list == nullptr ? first + k * step : list[k];
    return last == nullptr || last[i] == k ? i : -1;
  }
};

}  // namespace grb
