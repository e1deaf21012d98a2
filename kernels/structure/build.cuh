// GraphBLAS build from tuples: sortedness test, segment flags, sort keys, and a fold of each segment of duplicates.
//
// Phases: order_facts     are the positions sorted, are there duplicates, which is the least, which the greatest?
//         pair_keys       (row, column) pairs as sort keys, for structure/radix_sort.cuh
//         segment_flags   where a segment of equal positions begins, after the sort
//         fold_segments   duplicates folded from left to right
// Callers: backends/cuda/structure/build.py, arrays.py (segments, facts), sorting.py (keys).
// Positions are one list (rows null) or (row, column) pairs.  Precondition: segment_flags and fold_segments: sorted.
// Launch: one thread for each entry; fold_segments: one for each distinct position.
#pragma once
#include "base/launch.cuh"
#include "base/scalar.cuh"
#include "base/warp.cuh"

namespace grb {

// facts[0] = how often position k is below position k-1, facts[1] = how often they are equal,
// facts[2] = the first k that equals k-1 (initialised to 2^63 - 1), facts[3] and facts[4] = 2^63 + the least and the
// greatest of cols (initialised to 2^64 - 1 and 0).
template <class R, class C>
__global__ void order_facts(const R* rows, const C* cols, int64_t n, unsigned long long* facts) {
  unsigned long long below = 0, equal = 0, first = ~0ull >> 1, least = ~0ull, most = 0;
  GRB_EACH(k, n) {
    const unsigned long long place = (unsigned long long)int64_t(cols[k]) ^ (1ull << 63);
    least = place < least ? place : least;
    most = place > most ? place : most;
    if (k == 0) continue;
    bool same_row = rows == nullptr || rows[k] == rows[k - 1];
    if (same_row && cols[k] == cols[k - 1]) {
      equal++;
      if ((unsigned long long)k < first) first = k;
    } else if (same_row ? cols[k] < cols[k - 1] : rows[k] < rows[k - 1]) {
      below++;
    }
  }
  below = warp_sum(below);
  equal = warp_sum(equal);
  first = warp_min(first);
  least = warp_min(least);
  most = warp_max(most);
  if (lane_number() == 0) {
    if (least < facts[3]) atomicMin(&facts[3], least);
    if (most > facts[4]) atomicMax(&facts[4], most);
    if (below) atomicAdd(&facts[0], below);
    if (equal) {
      atomicAdd(&facts[1], equal);
      atomicMin(&facts[2], first);
    }
  }
}

// fresh[k]: does a segment of equal positions start at k?
template <class R, class C>
__global__ void segment_flags(const R* rows, const C* cols, int64_t n, bool* fresh) {
  GRB_EACH(k, n) fresh[k] = k == 0 || cols[k] != cols[k - 1] || (rows != nullptr && rows[k] != rows[k - 1]);
}

// Sort keys: row << shift | column for each pair.  Precondition: they fit in K, columns in `shift` bits.
template <class R, class C, class K>
__global__ void pair_keys(const R* rows, const C* cols, int64_t n, int64_t shift, K* keys) {
  GRB_EACH(k, n) keys[k] = K(word(rows[k]) << shift | word(cols[k]));
}

// out[s] = values[starts[s]] (op) values[starts[s] + 1] (op) ...   left to right, each step cast to the result's type.
template <class V, class T, class X, class Y, class Op>
__global__ void fold_segments(const V* values, bool iso, const int64_t* starts, int64_t segments, int64_t total,
                              T* out) {
  Op op;
  GRB_EACH(s, segments) {
    int64_t k = starts[s], stop = s + 1 < segments ? starts[s + 1] : total;
    T folded = cast<T>(values[iso ? 0 : k]);
    for (k++; k < stop; k++) folded = cast<T>(op(cast<X>(folded), cast<Y>(values[iso ? 0 : k])));
    out[s] = folded;
  }
}

}  // namespace grb
