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

// What is known of the order of positions: how often position k is below position k-1, how often they are equal, the
// first k that equals k-1 (2^63 - 1: none), and 2^63 + the least and the greatest column.
struct OrderFacts {
  word below = 0, equal = 0, first = ~word(0) >> 1, least = ~word(0), most = 0;
  GRB_DEVICE void add(const OrderFacts& o) {
    below += o.below, equal += o.equal;
    first = min(first, o.first), least = min(least, o.least), most = max(most, o.most);
  }
};

GRB_DEVICE int64_t from_end(int64_t place, int64_t size) { return place < 0 ? place + size : place; }

// The facts of the whole block, in thread 0.
GRB_DEVICE OrderFacts block_facts(OrderFacts f, OrderFacts* of_warps) {
  f.below = warp_sum(f.below), f.equal = warp_sum(f.equal);
  f.first = warp_min(f.first), f.least = warp_min(f.least), f.most = warp_max(f.most);
  __syncthreads();
  if (lane_number() == 0) of_warps[threadIdx.x >> 5] = f;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < int(blockDim.x >> 5); w++) f.add(of_warps[w]);
  return f;
}

// sent: the five facts.  parts: five words for each block.  finished: counts blocks, 0 before and after.
// kept (null: not wanted; may be cols): the columns, of which negative ones count from `size`; order and repeats are
// theirs, the least and the greatest those of the columns as they are given.
template <class R, class C>
__global__ void order_facts(const R* rows, const C* cols, int64_t n, int64_t size, int64_t* kept, word* parts,
                            word* finished, word* sent) {
  __shared__ word raw[32 * (sizeof(OrderFacts) / sizeof(word))];
  OrderFacts* of_warps = reinterpret_cast<OrderFacts*>(raw);
  OrderFacts f;
  GRB_EACH(k, n) {
    const int64_t given = int64_t(cols[k]), here = from_end(given, size);
    const word place = word(given) ^ (word(1) << 63);
    f.least = min(f.least, place), f.most = max(f.most, place);
    if (kept != nullptr) kept[k] = here;
    if (k == 0) continue;
    const bool same_row = rows == nullptr || rows[k] == rows[k - 1];
    const int64_t before = from_end(int64_t(cols[k - 1]), size);
    if (same_row && here == before) {
      f.equal++;
      f.first = min(f.first, word(k));
    } else if (same_row ? here < before : rows[k] < rows[k - 1]) {
      f.below++;
    }
  }
  f = block_facts(f, of_warps);
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) reinterpret_cast<OrderFacts*>(parts)[blockIdx.x] = f;
    if (!is_last_block(finished)) return;
    f = OrderFacts();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) f.add(reinterpret_cast<OrderFacts*>(parts)[b]);
    f = block_facts(f, of_warps);
  }
  if (threadIdx.x == 0) *reinterpret_cast<OrderFacts*>(sent) = f;
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
