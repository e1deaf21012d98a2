// What a traversal keeps of a matrix: who has entries, each row's strongest neighbour, the first neighbours of each row.
//
// Who calls: backends/cuda/traversal/bfs_graph.py, pull.py and row_schedule.py, once for each matrix.
#pragma once
#include "base/bits.cuh"

namespace grb {

// live: rows with entries, as bits (places past n are 0); facts[0] = their number, facts[1] = the longest row.
// Threads: one for each place of `places` (a multiple of 128).
template <class P>
__global__ void row_facts(const P* start, int64_t n, int64_t places, unsigned* live, unsigned long long* facts) {
  unsigned long long longest = 0, count = 0;
  int64_t step = thread_count();
  for (int64_t i0 = thread_number() - lane_number(); i0 < places; i0 += step) {
    int64_t i = i0 + lane_number();
    unsigned long long length = i < n ? start[i + 1] - start[i] : 0;
    unsigned lanes = __ballot_sync(ALL_LANES, length > 0);
    if (lane_number() == 0) live[i0 >> 5] = lanes;
    count += length > 0;
    longest = length > longest ? length : longest;
  }
  if (count) atomicAdd(&facts[0], count);
  if (longest) atomicMax(&facts[1], longest);
}

// The five indices of row i whose out-rows are longest, -1 where there are fewer: the first in strongest[i], the others in
// next_strongest[4 i ..].  A warp for each row, once over the row for each of the five.
template <class P>
__global__ void strongest_neighbours(const P* start, const int32_t* indices, const P* out_start, int64_t n,
                                     int32_t* strongest, int32_t* next_strongest) {
  GRB_EACH_WARP(i, n) {
    unsigned long long before = ~0ull;     // key: (length + 1, ~index); the greatest below the one before wins
    for (int turn = 0; turn < 5; turn++) {
      unsigned long long best = 0;
      if (before)
        for (P k = start[i] + lane_number(); k < start[i + 1]; k += 32) {
          unsigned index = unsigned(indices[k]);
          unsigned long long length = out_start[index + 1] - out_start[index];
          if (length > 0x7ffffffe) length = 0x7ffffffe;
          unsigned long long key = (length + 1) << 32 | (0xffffffffu - index);
          best = key > best && key < before ? key : best;
        }
      for (int by = 16; by; by >>= 1) {
        unsigned long long other = __shfl_xor_sync(ALL_LANES, best, by);
        best = other > best ? other : best;
      }
      int32_t found = best ? int32_t(0xffffffffu - unsigned(best)) : -1;
      if (lane_number() == 0) {
        if (turn == 0) strongest[i] = found; else next_strongest[4 * i + turn - 1] = found;
      }
      before = best;
    }
  }
}

// heads[i * width + k]: entry k of row i, -1 where there is none; -2 in the last place of a row that has more than width
// entries (width - 1 of them are then in heads).
template <class P>
__global__ void first_neighbours(const P* start, const int32_t* indices, int64_t n, int64_t width, int32_t* heads) {
  GRB_EACH(k, n * width) {
    int64_t i = k / width, at = k - i * width, length = start[i + 1] - start[i];
    heads[k] = at >= length ? -1 : at == width - 1 && length > width ? -2 : indices[start[i] + at];
  }
}

}  // namespace grb
