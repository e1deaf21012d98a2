// Pull with early exit: the first entry of a row that satisfies a predicate, searched by a lane or by a warp.
//
// Who includes it: graph/pull_four.cuh.
// A pull gives each row to one lane for its first entries and to a warp for the rest (for_each_lane of base/warp.cuh),
// because most rows end early and long ones must not delay 31 other lanes.  Pulls with another monoid keep loops of
// their own: sssp_pull.cuh (minimum: an entry prunes all heavier ones), bfs_multi.cuh (union of 64 sources: a row ends
// when no bit is missing), bfs_tiles.cuh (union over a tile's words).
#pragma once
#include "base/warp.cuh"

namespace grb {

// One lane, four entries at a time: is there a match among entries i .. end-1?  `who` becomes it.
template <class P, class Match> GRB_DEVICE bool first_match(const int32_t* in, P i, P end, int& who, Match match) {
  for (; i < end; i += 4) {
    int near[4];
#pragma unroll
    for (int k = 0; k < 4; k++) near[k] = in[i + k < end ? i + k : i];
    unsigned hits = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) hits |= unsigned(match(near[k])) << k;
    if (hits) {
      who = hits & 1 ? near[0] : hits & 2 ? near[1] : hits & 4 ? near[2] : near[3];
      return true;
    }
  }
  return false;
}

// The same by a warp, 64 entries at a time; result and `who` are the same in all lanes.
template <class P, class Match>
GRB_DEVICE bool first_match_by_warp(const int32_t* in, P i, P end, int& who, Match match) {
  for (; i < end; i += 64) {
    P a = i + lane_number(), b = a + 32;
    int x = a < end ? in[a] : -1, y = b < end ? in[b] : -1;
    bool hit_x = x >= 0 && match(x), hit_y = y >= 0 && match(y);
    unsigned hits = __ballot_sync(ALL_LANES, hit_x || hit_y);
    if (hits) {
      who = __shfl_sync(ALL_LANES, hit_x ? x : y, __ffs(int(hits)) - 1);
      return true;
    }
  }
  return false;
}

}  // namespace grb
