// Set operations on the presence bits of bitmap vectors, with the number of entries of the result.
//
// Result: out = x AND y (mode 0), x OR y (mode 1), x AND NOT y (mode 2); its popcount is added to *count.
// Caller: backends/cuda/structure/positions.py (join_words: restrict, intersect and union of bitmap vectors).
// Null stands for all `size` positions; bits past `size` of the result are 0.  Launch: one thread for each word.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"

namespace grb {

template <class = void>
__global__ void join_words(const word* x, const word* y, int64_t n, int64_t size, int64_t mode, word* out,
                           unsigned long long* count) {
  unsigned long long found = 0;
  GRB_EACH(w, n) {
    word all = size - w * 64 >= 64 ? ~word(0) : word_below(int(size - w * 64));
    word a = x == nullptr ? all : x[w], b = y == nullptr ? all : y[w];
    word joined = mode == 0 ? a & b : mode == 1 ? a | b : a & ~b;
    out[w] = joined;
    found += members(joined);
  }
  add_to_count(found, count);
}

}  // namespace grb
