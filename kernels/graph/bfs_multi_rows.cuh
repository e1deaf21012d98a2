// Long rows of the multi-source kernels: segments of SEGMENT_ENTRIES entries, dealt to groups of 8 to 32 lanes.
//
// The segments are tasks made by graph/bfs_multi_prepare.cuh; a warp loads 32 tasks and runs up to four at once.
// Who includes it: graph/bfs_multi.cuh, graph/bfs_multi_parents.cuh.
#pragma once
#include "base/warp.cuh"
#include "graph/bfs_multi_prepare.cuh"

namespace grb {

// visit(row, is_later, bits, i, end, lanes) for the segments of long rows whose word_of(row) is not 0: `i` is this
// lane's first entry, and it takes WIDTH entries of every WIDTH * lanes.  range_of(row, begin, end) gives the row.  Up
// to four segments run at once, with 8 to 32 lanes each.  The warp calls together, and all of its lanes visit.
template <class P, int WIDTH, class Range, class Word, class Visit>
GRB_DEVICE void for_each_segment(const word* tasks, int64_t count, unsigned warp, unsigned warps, Range range_of,
                                 Word word_of, Visit visit) {
  const int lane = lane_number();
  for (unsigned t0 = warp; t0 < count; t0 += warps * 32) {
    unsigned t = t0 + lane * warps;
    word task = t < count ? tasks[t] : 0, bits = t < count ? word_of(int(unsigned(task))) : 0;
    P begin = 0, end = 0;
    if (bits) {
      range_of(int(unsigned(task)), begin, end);
      begin += P(task >> 32) * SEGMENT_ENTRIES;
      if (end - begin > SEGMENT_ENTRIES) end = begin + SEGMENT_ENTRIES;
    }
    for (unsigned left = __ballot_sync(ALL_LANES, bits != 0); left;) {
      const int digits = __popc(left) > 2 ? 3 : __popc(left) == 2 ? 4 : 5, lanes = 1 << digits;
      unsigned mine = left;
#pragma unroll
      for (int k = 0; k < 3; k++) mine = lane >> digits > k ? mine & (mine - 1) : mine;
#pragma unroll
      for (int k = 0; k < 4; k++) left &= left - 1;
      int who = mine ? __ffs(int(mine)) - 1 : 0;
      word theirs = shuffle(bits, who), what = shuffle(task, who);
      P i = shuffle(begin, who), stop = shuffle(end, who);
      const P first = i + (lane & (lanes - 1)) * WIDTH;
      visit(int(unsigned(what)), what >> 32 != 0, mine ? theirs : 0, first, mine ? stop : i, lanes);
      __syncwarp();
    }
  }
}

// Column indices are read once a level; __ldcs keeps them from evicting words from L1.
GRB_DEVICE int4 load_four(const int32_t* near) { return __ldcs(reinterpret_cast<const int4*>(near)); }
GRB_DEVICE uint4 load_eight(const uint16_t* near) { return __ldcs(reinterpret_cast<const uint4*>(near)); }
// 16 indices, a sector of 32 bytes; at the end of a row the last eight twice.
struct Sector {
  uint4 low, high;
  Sector() = default;
  template <class P> GRB_DEVICE Sector(const uint16_t* near, P k, P end) : low(load_eight(near + k)), high(low) {
    if (k + 8 < end) high = load_eight(near + k + 8);
  }
};

// The union over the groups of `lanes` neighbouring lanes.
GRB_DEVICE word union_of_group(word bits, int lanes) {
  for (int by = 1; by < lanes; by <<= 1) bits |= __shfl_xor_sync(ALL_LANES, bits, by);
  return bits;
}

}  // namespace grb
