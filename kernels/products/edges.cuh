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
    word held = lane_number() < WORDS_OF_WARP && w < end ? words ? words[w] : ~word(0) : word(0);
    if (held == ~word(0) && (w + 1) * 64 <= size) {  // the rows of a word that is full lie together
      mine += indptr[(w + 1) * 64] - indptr[w * 64];
      held = 0;
    }
    const unsigned some = __ballot_sync(ALL_LANES, held != 0);
    constexpr int TOGETHER = 4;  // words whose loads overlap
#pragma unroll
    for (int k = 0; k < WORDS_OF_WARP; k += TOGETHER) {
      if ((some >> k & ((1u << TOGETHER) - 1)) == 0) continue;
      P begins[2 * TOGETHER], ends[2 * TOGETHER];
#pragma unroll
      for (int u = 0; u < 2 * TOGETHER; u++) {
        const word bits = shuffle(held, k + u / 2);
        const int b = lane_number() + 32 * (u % 2);
        const int64_t i = (first + k + u / 2) * 64 + b;
        const bool there = (bits >> b & 1) != 0 && i < size;
        begins[u] = there ? indptr[i] : P(0), ends[u] = there ? indptr[i + 1] : P(0);
      }
#pragma unroll
      for (int u = 0; u < 2 * TOGETHER; u++) mine += ends[u] - begins[u];
    }
  }
  add_to_count(mine, sum);
}

}  // namespace grb
