// Facts of a matrix that traversals and pulls keep: rows with entries, highest-degree neighbours, first neighbours.
//
// row_facts                  rows with entries (by ballot), their number, the longest row
// highest_degree_neighbours  the five neighbours of highest degree of each row, by selection: five passes over the row
// first_neighbours           a fixed number of entries of each row, stored where no row start is needed to read them
// Callers: backends/cuda/graph/bfs_graph.py, products/pull.py, products/row_schedule.py, once for each matrix.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"

namespace grb {

// live: rows with entries, as bits (bits from n on are 0); facts[0] = their number, facts[1] = the longest row.
// Launch: a thread for each of `padded` rows (n rounded up to a multiple of 128).
template <class P>
__global__ void row_facts(const P* start, int64_t n, int64_t padded, unsigned* live, word* facts) {
  word longest = 0, count = 0;
  int64_t step = thread_count();
  for (int64_t i0 = thread_number() - lane_number(); i0 < padded; i0 += step) {
    int64_t i = i0 + lane_number();
    word length = i < n ? start[i + 1] - start[i] : 0;
    unsigned lanes = __ballot_sync(ALL_LANES, length > 0);
    if (lane_number() == 0) live[i0 >> 5] = lanes;
    count += length > 0;
    longest = length > longest ? length : longest;
  }
  if (count) atomicAdd(&facts[0], count);
  if (longest) atomicMax(&facts[1], longest);
}

// The five neighbours of highest degree (length of their out-rows) in row i, -1 where there are fewer: the first in
// top[i], the others in next_four[4 i ..].  A warp for each row reads it once for each of the five.
template <class P>
__global__ void highest_degree_neighbours(const P* start, const int32_t* indices, const P* out_start, int64_t n,
                                          int32_t* top, int32_t* next_four) {
  GRB_EACH_WARP(i, n) {
    word before = ~0ull;     // key: (length + 1, ~index); each turn selects the greatest key below the last one
    for (int turn = 0; turn < 5; turn++) {
      word best = 0;
      if (before)
        for (P k = start[i] + lane_number(); k < start[i + 1]; k += 32) {
          unsigned index = unsigned(indices[k]);
          word length = out_start[index + 1] - out_start[index];
          if (length > 0x7ffffffe) length = 0x7ffffffe;
          word key = (length + 1) << 32 | (0xffffffffu - index);
          best = key > best && key < before ? key : best;
        }
      best = warp_max(best);
      int32_t found = best ? int32_t(0xffffffffu - unsigned(best)) : -1;
      if (lane_number() == 0) {
        if (turn == 0) top[i] = found; else next_four[4 * i + turn - 1] = found;
      }
      before = best;
    }
  }
}

// first[i * width + k] = entry k of row i, -1 where there is none.  A row of more than `width` entries has width - 1 of
// them and -2 at the end.
template <class P>
__global__ void first_neighbours(const P* start, const int32_t* indices, int64_t n, int64_t width, int32_t* first) {
  GRB_EACH(k, n * width) {
    int64_t i = k / width, at = k - i * width, length = start[i + 1] - start[i];
    first[k] = at >= length ? -1 : at == width - 1 && length > width ? -2 : indices[start[i] + at];
  }
}

}  // namespace grb
