// Numbers that a turn of a captured loop has on the device.
//
// Callers: backends/cuda/elementwise/compare.py, mapping.py, structure/arrays.py.  Launch: Kernel.over(1 or n, ...).
#pragma once
#include "base/warp.cuh"

namespace grb {

// out[0] = (found[0] = wanted).
template <int = 0> __global__ void equals_number(const int64_t* found, int64_t wanted, bool* out) {
  GRB_EACH(k, 1) out[k] = found[k] == wanted;
}

// out[0] = found[0] where present[0] is not 0, else other[0].
template <class T> __global__ void number_or(const T* found, const word* present, const T* other, T* out) {
  GRB_EACH(k, 1) out[k] = present[k] != 0 ? found[k] : other[k];
}

// out[k] = value[0] for all k < n.
template <class T> __global__ void repeat_number(const T* value, int64_t n, T* out) {
  GRB_EACH(k, n) out[k] = value[0];
}

#ifdef GRB_STEPS
// out[0] += the sum of the counts that each block of a persistent kernel has left in `parts`.  One warp.
template <int = 0> __global__ void sum_counts(const word* parts, word* out) {
  constexpr int TOGETHER = 9;  // loads that overlap: of two blocks a multiprocessor on most devices
  constexpr int NEXT = 32 * TOGETHER;
  word found = 0;
  const word* mine = parts + lane_number();
  for (int left = int(launched_blocks()) - lane_number(); left > 0; left -= NEXT, mine += NEXT) {
    word part[TOGETHER];
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) part[k] = left > 32 * k ? mine[32 * k] : 0;
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) found += part[k];
  }
  __syncwarp();
  found = warp_sum(found);
  if (lane_number() == 0) out[0] += found;
}
#endif

}  // namespace grb
