// Sums of what earlier parts of an array hold, while later parts are computed: decoupled look-back.
//
// Algorithm: Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back" (2016).  Part c
//   publishes its own number, then the sum up to its end, in states[c]; a state that holds neither is below COUNTED.
// Use: for (int64_t turn = 0;; turn++) { c = next_part(...); if (c >= parts) break; ... sum_before_part(...) ... },
//   then clear_states.  Tickets assign the parts in order, so that a part waits only for parts that have begun.
// Preconditions: states, one of each part and a ticket, are zero before a launch, and after it; not read for one part.
//   Sums are below 2^61, or negative and above -2^61.
#pragma once
#include "base/warp.cuh"

namespace grb {

constexpr word COUNTED = word(1) << 62, SUMMED = word(2) << 62;  // state: of the part alone; of all parts up to it

// The state of a part that has begun, once it is published.
GRB_DEVICE word published(const word* state) {
  word found;
  while ((found = *(volatile const word*)state) < COUNTED) {
#ifdef SIMT_CPU
    __nanosleep(20);
#endif
  }
  return found;
}

// In lane 0 the sum of the parts before part c, which has `mine`: for a whole warp, which reads 32 states at a time.
GRB_DEVICE word sum_before(word* states, int64_t c, word mine) {
  const int lane = lane_number();
  mine &= COUNTED - 1;
  if (lane == 0) *(volatile word*)(states + c) = (c == 0 ? SUMMED : COUNTED) | mine;
  word before = 0;
  for (int64_t last = c - 1; last >= 0; last -= 32) {
    const word found = last >= lane ? published(states + last - lane) : SUMMED;
    const unsigned sums = __ballot_sync(ALL_LANES, found >= SUMMED);
    const int least = sums ? __ffs(int(sums)) - 1 : 31;
    before += warp_sum(lane <= least ? found & (COUNTED - 1) : word(0));
    if (sums) break;
  }
  if (lane == 0 && c) *(volatile word*)(states + c) = SUMMED | ((before + mine) & (COUNTED - 1));
  return word(int64_t(before << 2) >> 2);
}

// The part that the block computes next: `parts` or more when none is left.  The block calls together.
GRB_DEVICE int64_t next_part(word* states, int64_t parts, int64_t turn) {
  __shared__ int64_t taken;
  __syncthreads();
  if (threadIdx.x == 0) taken = parts == 1 ? turn : int64_t(atomicAdd(states + parts, word(1)));
  __syncthreads();
  return taken;
}

// The sum of the parts before part c, which has `mine`, in all threads.  The block calls together, once a part.
GRB_DEVICE int64_t sum_before_part(word* states, int64_t parts, int64_t c, int64_t mine) {
  __shared__ int64_t before;
  if (threadIdx.x < 32) {
    const word found = parts == 1 ? 0 : sum_before(states, c, word(mine));
    if (threadIdx.x == 0) before = int64_t(found);
  }
  __syncthreads();
  return before;
}

// The states are zeros again when the kernel ends.  finished: counts blocks, 0 before and after.
GRB_DEVICE void clear_states(word* states, int64_t parts, word* finished) {
  if (parts == 1 || !is_last_block(finished)) return;
  for (int64_t k = threadIdx.x; k <= parts; k += blockDim.x) states[k] = 0;
}

}  // namespace grb
