// Sums of what earlier parts of an array hold, while later parts are computed: decoupled look-back.
//
// Algorithm: Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back" (2016).  Part c publishes
//   its own number, then the sum up to its end, in states[c]; a state that holds neither is below COUNTED.
// Preconditions: states are zero before the launch; parts begin in the order of their numbers (a ticket assigns them),
//   so that a part waits only for parts that have begun.
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
  if (lane == 0) *(volatile word*)(states + c) = (c == 0 ? SUMMED : COUNTED) | mine;
  word before = 0;
  for (int64_t last = c - 1; last >= 0; last -= 32) {
    const word found = last >= lane ? published(states + last - lane) : SUMMED;
    const unsigned sums = __ballot_sync(ALL_LANES, found >= SUMMED);
    const int least = sums ? __ffs(int(sums)) - 1 : 31;
    before += warp_sum(lane <= least ? found & (COUNTED - 1) : word(0));
    if (sums) break;
  }
  if (lane == 0 && c) *(volatile word*)(states + c) = SUMMED | (before + mine);
  return before;
}

}  // namespace grb
