// Greedy loops over the vertices in a given order, run in parallel: colouring and maximal independent set.
//
//   colour(v) = the least number that no earlier neighbour of v has
//   v is in the set when no earlier neighbour is                                (each decides once all of them have)
// Algorithm: vertices are dealt to the warps in turn by their position, and a warp, vertex by vertex, waits for the
//   neighbours that come earlier: no rounds, no barriers.  Synchronization-free scheme of Liu, Li,
//   Hogg, Duff, Vinter, "A synchronization-free algorithm for parallel sparse triangular solves" (Euro-Par 2016) for
//   the orders of Jones and Plassmann (SIAM J. Sci. Comput. 14, 1993).
// Phases: earlier_neighbours lists, for each vertex, the neighbours that come earlier, at the start of its row's
//   entries; greedy_colours, independent_set decide.
// Launch: backends/cuda/graph/ordered.py; earlier_neighbours any grid, the others cooperative, because a warp waits for
//   vertices of other warps.
// Preconditions: A has no loops or they may be ignored; rank is a permutation; count, state as below.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

constexpr int ENTRIES_OF_WARP = 1024;  // a chunk: long rows are shared by many warps
constexpr int WARPS_OF_BLOCK = 8;

// The row in [low, high] that has entry e: the last one that starts at or before it.
GRB_DEVICE int64_t row_of_entry(const int64_t* start, int64_t low, int64_t high, int64_t e) {
  while (low < high) {
    int64_t middle = (low + high + 1) >> 1;
    if (start[middle] <= e) low = middle;
    else high = middle - 1;
  }
  return low;
}

// earlier[start[v] ...], count[v] of them (0 before): the neighbours u of v with rank[u] < rank[v], in any order.
template <class I>
__global__ void earlier_neighbours(const int64_t* start, const I* indices, const int32_t* rank, int64_t n,
                                   int64_t entries, int32_t* earlier, int32_t* count) {
  GRB_EACH_WARP(chunk, (entries + ENTRIES_OF_WARP - 1) / ENTRIES_OF_WARP) {
    int64_t from = chunk * ENTRIES_OF_WARP, to = min(entries, from + ENTRIES_OF_WARP);
    int64_t first = row_of_entry(start, 0, n - 1, from), last = row_of_entry(start, first, n - 1, to - 1);
    for (int64_t base = from; base < to; base += 32) {
      int64_t e = base + lane_number(), row = -1;
      int u = 0;
      bool take = false;
      if (e < to) {
        row = row_of_entry(start, first, last, e);
        u = int(indices[e]);
        take = rank[u] < rank[row];
      }
      unsigned peers = __match_any_sync(ALL_LANES, take ? int(row) : -1);  // one atomic for each row
      int leader = __ffs(int(peers)) - 1, at = 0;
      if (take && lane_number() == leader) at = atomicAdd(&count[row], __popc(peers));
      at = __shfl_sync(ALL_LANES, at, leader);
      if (take) earlier[start[row] + at + rank_in(peers)] = u;
    }
  }
}

// The warp waits until every vertex of the list is decided, and takes each value once; STOPS: take(value) may return
// true, when the other values do not matter, which ends the wait at once.  Undecided ones stay at the front of the
// list, so that the last one to be decided is read at once.
template <bool STOPS, class Take>
GRB_DEVICE void await_earlier(int32_t* list, int count, const volatile int32_t* state, Take take) {
  while (count > 0) {
    int kept = 0;
    for (int base = 0; base < count; base += 32) {
      int at = base + lane_number(), u = at < count ? list[at] : -1;
      int value = u >= 0 ? state[u] : 0;
      bool open = u >= 0 && value < 0, enough = false;
      if (u >= 0 && !open) enough = take(value);
      if constexpr (STOPS)
        if (__any_sync(ALL_LANES, enough)) return;  // of a hub's list little is read
      unsigned still = __ballot_sync(ALL_LANES, open);
      if (open) list[kept + rank_in(still)] = u;  // at or before `at`, and this part has been read
      kept += __popc(still);
      __syncwarp();
    }
    if (kept == count) __nanosleep(40);
    count = kept;
  }
}

// The greedy colours in the given order: colour[v], all -1 before.
// order[k]: the vertex at position k; rank its inverse.  COLOURS: bits of a warp in shared memory, a multiple of 32;
// where a vertex needs more, its row is read again.
template <class I, int COLOURS>
__global__ void __launch_bounds__(256)
greedy_colours(const int64_t* start, const I* indices, const int32_t* order, const int32_t* rank, int64_t n,
               int32_t* earlier, const int32_t* count, int32_t* colour) {
  __shared__ unsigned used_of[WARPS_OF_BLOCK][COLOURS / 32];
  unsigned* used = used_of[threadIdx.x >> 5];
  GRB_EACH_WARP(k, n) {
    int v = order[k], before = count[v], found = -1;
    for (int low = 0; found < 0; low += COLOURS) {
      int words = min(COLOURS / 32, ((before - low) >> 5) + 1);  // no more than `before` colours are taken
      auto take = [&](int c) {
        if (unsigned(c - low) < unsigned(words) * 32) atomicOr(&used[(c - low) >> 5], 1u << ((c - low) & 31));
        return false;
      };
      for (int w = lane_number(); w < words; w += 32) used[w] = 0;
      __syncwarp();
      if (low == 0) {
        await_earlier<false>(earlier + start[v], before, colour, take);
      } else {  // all are decided by now, and their list is gone
        for (int64_t e = start[v] + lane_number(); e < start[v + 1]; e += 32)
          if (rank[indices[e]] < int(k)) take(((const volatile int32_t*)colour)[indices[e]]);
      }
      __syncwarp();
      for (int base = 0; base < words && found < 0; base += 32) {
        unsigned open = base + lane_number() < words ? ~used[base + lane_number()] : 0;
        unsigned lanes = __ballot_sync(ALL_LANES, open != 0);
        if (lanes) {
          int at = __ffs(int(lanes)) - 1;
          found = low + (base + at) * 32 + __ffs(int(__shfl_sync(ALL_LANES, open, at))) - 1;
        }
      }
      __syncwarp();
    }
    if (lane_number() == 0) ((volatile int32_t*)colour)[v] = found;
  }
}

// The maximal independent set that comes first in the given order.  state[v]: -1 before, 1 in the set, 0 not; before, 0
// for vertices that may not be in it.
template <int = 0>
__global__ void __launch_bounds__(256)
independent_set(const int64_t* start, const int32_t* order, int64_t n, int32_t* earlier, const int32_t* count,
                int32_t* state) {
  GRB_EACH_WARP(k, n) {
    int v = order[k];
    if (((const volatile int32_t*)state)[v] >= 0) continue;  // left out
    bool beside = false;
    await_earlier<true>(earlier + start[v], count[v], state, [&](int in) { return beside |= in == 1; });
    beside = __any_sync(ALL_LANES, beside);
    if (lane_number() == 0) ((volatile int32_t*)state)[v] = beside ? 0 : 1;
    __syncwarp();
  }
}

}  // namespace grb
