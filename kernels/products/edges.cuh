// The number of entries of the rows in a list or a bitmap: the cost of a push, for the planner.
//
// Caller: backends/cuda/products/columns.py.  Launch: one thread for each index, or one warp for WORDS_OF_WARP words;
// one atomic a block.
#pragma once
#include "base/views.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int WORDS_OF_WARP = 8;

// *sum += lengths of the rows indices[0 .. n-1].
template <class P, class I>
__global__ void edges_of(const I* indices, int64_t n, const P* indptr, unsigned long long* sum) {
  unsigned long long mine = 0;
  GRB_EACH(t, n) {
    int64_t i = indices[t];
    mine += indptr[i + 1] - indptr[i];
  }
  add_to_count(mine, sum);
}

// *sum += lengths of the rows whose bits are set in `words` (null: of all `size` rows); lanes read neighbouring row
// pointers.
template <class P>
__global__ void edges_of_members(const word* words, int64_t size, const P* indptr, unsigned long long* sum) {
  unsigned long long mine = 0;
  GRB_EACH_RUN(first, end, WORDS_OF_WARP, (size + 63) >> 6) {
    const int64_t w = first + lane_number();
    const word held = lane_number() < WORDS_OF_WARP && w < end ? words ? words[w] : ~word(0) : word(0);
    for_each_lane(held != 0, [&](int k) {
      const word bits = shuffle(held, k);
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const int b = lane_number() + 32 * half;
        const int64_t i = (first + k) * 64 + b;
        if (bits >> b & 1 && i < size) mine += indptr[i + 1] - indptr[i];
      }
    });
  }
  add_to_count(mine, sum);
}

}  // namespace grb
