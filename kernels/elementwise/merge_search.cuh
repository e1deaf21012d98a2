// Lower bounds of all entries of one store in another of similar size: sorted search by merge path.
//
// Result: that of locate_entries (elementwise/intersect.cuh), which has a binary search for each entry.
// Algorithm: merge path (Green, McColl, Bader, ICS 2012; sorted search as in moderngpu): the merged sequence of both
//   stores, entries of `a` before equal ones of `b`, is cut into chunks of `items`; the entries of b in a chunk go to
//   shared memory, where those of a are looked up.
// Phases: merge_partition   how many entries of a come before each chunk, and the row in which it begins
//         merge_locate      the search, a block for each chunk
// Stores: CSR matrices of the same shape with 32-bit columns (indptr, nrows, indices), or sparse vectors (null, 1,
//   indices).  Launch: backends/cuda/structure/positions.py.
#pragma once
#include "base/views.cuh"

namespace grb {

constexpr int MERGE_ITEMS = 2048;  // of a chunk at most

// Keys ascend as entries do: (row, column) of a matrix, the position in a vector.
template <class I> GRB_DEVICE int64_t merge_key(int64_t row, I index) {
  if constexpr (sizeof(I) == 4) return row << 32 | int64_t(uint32_t(index));
  else return int64_t(index);
}

// splits[c]: entries of a among the first c * items of the merged sequence; rows[c]: the last row that begins there or
// before.
template <class I>
__global__ void merge_partition(const int64_t* indptr_a, const I* indices_a, int64_t n, const int64_t* indptr_b,
                                const I* indices_b, int64_t m, int64_t nrows, int64_t items, int64_t chunks,
                                int64_t* splits, int64_t* rows) {
  GRB_EACH(c, chunks + 1) {
    const int64_t before = min(c * items, n + m);
    int64_t row = 0, a = 0, b = 0, a_stop = n, b_stop = m;
    if (indptr_a != nullptr) {
      int64_t low = 0, high = nrows + 1;
      while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (indptr_a[middle] + indptr_b[middle] <= before) low = middle + 1; else high = middle;
      }
      row = low - 1;
      a = indptr_a[row], b = indptr_b[row];
      if (row < nrows) a_stop = indptr_a[row + 1], b_stop = indptr_b[row + 1];
    }
    const int64_t here = before - a - b;  // of the row
    int64_t low = max(int64_t(0), here - (b_stop - b)), high = min(here, a_stop - a);
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (indices_a[a + middle] <= indices_b[b + here - 1 - middle]) low = middle + 1; else high = middle;
    }
    splits[c] = a + low;
    rows[c] = row;
  }
}

// The row of entry k, which is one of first .. last.
GRB_DEVICE int64_t row_between(const int64_t* indptr, int64_t first, int64_t last, int64_t k) {
  return indptr == nullptr ? 0 : upper_bound(indptr, first + 1, last + 1, k) - 1;
}

// at[k], hit[k], complement, join: see locate_entries.
template <class I, class P>
__global__ void __launch_bounds__(256)
merge_locate(const int64_t* indptr_a, const I* indices_a, int64_t n, const int64_t* indptr_b, const I* indices_b,
             int64_t m, int64_t nrows, int64_t items, int64_t chunks, const int64_t* splits, const int64_t* rows,
             bool complement, bool join, P* at, bool* hit) {
  constexpr int64_t NONE = 0x7fffffffffffffff;
  __shared__ int64_t keys[MERGE_ITEMS + 1];
  for (int64_t c = blockIdx.x; c < chunks; c += gridDim.x) {
    const int64_t from = splits[c], to = splits[c + 1];
    const int64_t b_from = c * items - from, b_to = min((c + 1) * items, n + m) - to;
    const int64_t first = rows[c], last = min(rows[c + 1], nrows - 1);
    // The entry of b behind the chunk too, because an entry of a may be equal to it.
    const int count = int(b_to - b_from) + (b_to < m);
    for (int t = threadIdx.x; t < count; t += blockDim.x) {
      const int64_t k = b_from + t;
      const bool beyond = indptr_b != nullptr && k >= indptr_b[last + 1];
      keys[t] = beyond ? NONE : merge_key(row_between(indptr_b, first, last, k) - first, indices_b[k]);
    }
    __syncthreads();
    for (int64_t k = from + threadIdx.x; k < to; k += blockDim.x) {
      if (join && !hit[k]) continue;
      const int64_t key = merge_key(row_between(indptr_a, first, last, k) - first, indices_a[k]);
      const int64_t found = lower_bound(keys, 0, count, key);
      if (at != nullptr) at[k] = P(b_from + found);
      hit[k] = (found < count && keys[found] == key) != complement;
    }
    __syncthreads();
  }
}

}  // namespace grb
