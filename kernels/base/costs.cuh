// Micro-benchmarks of one kind of work each: reads of DRAM, gathers and atomics in L2, grid-wide barriers.
//
// Caller: backends/cuda/runtime/costs.py, once for each device of which planner/device_profile.py has no figures.
// The results are written only because the compiler would remove the loops otherwise.
// Launch: any grid; count_barriers: resident blocks (cooperative).
#pragma once
#include "base/launch.cuh"

namespace grb {

GRB_DEVICE void keep(word sum, word* out) {
  if (sum == 0x9E3779B97F4A7C15ull) *out = sum;
}

// n words in order.
template <int = 0>
__global__ void read_words(const word* data, int64_t n, word* out) {
  word sum = 0;
  const ulonglong2* pairs = reinterpret_cast<const ulonglong2*>(data);
#pragma unroll 4
  GRB_EACH(k, n >> 1) {
    ulonglong2 pair = pairs[k];
    sum ^= pair.x ^ pair.y;
  }
  keep(sum, out);
}

// n words of `table`, 2^bits of them, in no order (multiplicative hashing: Knuth, volume 3, section 6.4).
GRB_DEVICE int64_t scattered(int64_t k, int bits) { return word(k) * 0x9E3779B97F4A7C15ull >> (64 - bits); }

template <int = 0>
__global__ void gather_words(const word* table, int64_t bits, int64_t n, word* out) {
  word sum = 0;
#pragma unroll 4
  GRB_EACH(k, n) sum ^= table[scattered(k, int(bits))];
  keep(sum, out);
}

template <int = 0>
__global__ void add_words(word* table, int64_t bits, int64_t n) {
  GRB_EACH(k, n) atomicAdd(table + scattered(k, int(bits)), word(1));
}

// `count` barriers of the grid; counter: 0 before.
template <int = 0>
__global__ void count_barriers(word* counter, int64_t count) {
  for (int64_t k = 0; k < count; k++) grid_barrier(reinterpret_cast<unsigned*>(counter));
}

}  // namespace grb
