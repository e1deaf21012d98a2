// The matrices of many traversals: a row for each source, made of the cells that many_levels left (traverse_many.cuh).
//
// Result: rows of (vertex, level) and (vertex, parent), vertices ascending.  Who calls: backends/cuda/traverse_many.py.
// Launch cooperatively.  Chunks of a vertex a thread go round among the blocks.  These count what each source reached in theirs
// and wait; sums of the counts, a warp a source, say where a chunk's stretches of the rows begin; all wait again.  Then each
// warp writes for a source at a time: what it writes is one stretch, so that no part of a cache line waits for its neighbours,
// and all blocks write near each other.  What the next chunks need is loaded while one is written.
#pragma once
#include "bits.cuh"
#include "traverse_state.cuh"
#include "warp.cuh"

namespace grb {

// The lowest eight bits of x, four places apart.
GRB_DEVICE unsigned spread(unsigned x) {
  x = (x | x << 12) & 0x000f000fu;
  x = (x | x << 6) & 0x03030303u;
  return (x | x << 3) & 0x11111111u;
}

// The word that all lanes hold which hold any, 0 for none; `same`: is there but one?
GRB_DEVICE word common_of(word mine, unsigned there, bool& same) {
  const word common = there ? shuffle(mine, __ffs(int(there)) - 1) : 0;
  same = __all_sync(ALL_LANES, mine == 0 || mine == common);
  return common;
}

// record[1]: the last level.  levels: null where not wanted; parents_of: 64 a vertex (many_parents.cuh).  counts: `count` for each
// chunk, totals: 64.  counters: many_levels' ManyControl, of which arrivals and departures are zero before and after.
// Shared memory, in ints: 10 a thread, with parents 75.  The block is a multiple of 64.
template <bool PARENTS>
__global__ void __launch_bounds__(512, PARENTS ? 1 : 2)
many_rows(const word* seen, const word* cells, const int32_t* place, int64_t n, int64_t count, const int64_t* record,
          const int32_t* parents_of, int32_t* counts, int32_t* totals, void* counters, int64_t* indptr, int32_t* indices,
          int32_t* levels, int64_t* parents) {
  extern __shared__ int32_t lists[];
  __shared__ word row_at[64];                  // where each source's row begins
  __shared__ word words[32];                   // of each warp: its common word,
  __shared__ int reached[32];                  // how many vertices have one; -1 - that where they differ
  const int step = blockDim.x, lane = lane_number(), warp = threadIdx.x >> 5, warps = blockDim.x >> 5, me = threadIdx.x;
  int32_t *vertex = lists, *where = vertex + step, *digits = where + step, *turned = digits + 8 * step;
  const int64_t chunks = (n + step - 1) / step, round = int64_t(gridDim.x) * step, begin = int64_t(blockIdx.x) * step;
  const int last = int(record[1]) + 1;
  const bool deep = last >= 16;
  unsigned *arrivals = static_cast<unsigned*>(counters), goal = 0;

  // How many vertices of each chunk each source reached: a warp a chunk.
  constexpr int TURN = 8;
  GRB_EACH_WARP(c, chunks) {
    int mine[2] = {0, 0};
    for (int64_t v0 = c * step; v0 < c * step + step && v0 < n; v0 += TURN * 32) {
      word held[TURN];
#pragma unroll
      for (int k = 0; k < TURN; k++) {
        const int64_t v = v0 + k * 32 + lane;
        held[k] = v < n && v < c * step + step ? seen[place[v]] : 0;
      }
#pragma unroll
      for (int k = 0; k < TURN; k++) {
        const unsigned there = __ballot_sync(ALL_LANES, held[k] != 0);
        bool same;
        const word common = common_of(held[k], there, same);
        if (same) {                            // most often all sources reached the same
          mine[0] += common >> lane & 1 ? __popc(there) : 0;
          mine[1] += common >> (lane + 32) & 1 ? __popc(there) : 0;
        } else {
          for (int s = 0; s < 64; s++) {
            int here = __popc(__ballot_sync(ALL_LANES, held[k] >> s & 1));
            if (lane == (s & 31)) mine[s >> 5] += here;
          }
        }
      }
    }
    if (lane < count) counts[lane * chunks + c] = mine[0];
    if (lane + 32 < count) counts[(lane + 32) * chunks + c] = mine[1];
  }
  level_barrier(arrivals, goal);

  // Where each chunk's stretches begin within the row.
  auto add = [](int a, int b) { return a + b; };
  for (int64_t s = int64_t(warp) * gridDim.x + blockIdx.x; s < count; s += warp_count()) {
    int before = 0;
    int32_t* row = counts + s * chunks;
    for (int64_t c0 = 0; c0 < chunks; c0 += TURN * 32) {
      int held[TURN];
#pragma unroll
      for (int k = 0; k < TURN; k++) held[k] = c0 + k * 32 + lane < chunks ? fresh(row + c0 + k * 32 + lane) : 0;
#pragma unroll
      for (int k = 0; k < TURN; k++) {
        const int sum = warp_scan(held[k], add);
        if (c0 + k * 32 + lane < chunks) row[c0 + k * 32 + lane] = before + sum - held[k];
        before += __shfl_sync(ALL_LANES, sum, 31);
      }
    }
    if (lane == 0) totals[s] = before;
  }
  level_barrier(arrivals, goal);
  if (warp == 0) {
    const word one = 2 * lane < count ? word(fresh(totals + 2 * lane)) : 0;
    const word two = one + (2 * lane + 1 < count ? word(fresh(totals + 2 * lane + 1)) : 0);
    const word sum = warp_scan(two, [](word a, word b) { return a + b; }), at = sum - two;
    row_at[2 * lane] = at;
    row_at[2 * lane + 1] = at + one;
    if (blockIdx.x == 0) {
      if (2 * lane < count) indptr[2 * lane + 1] = int64_t(at + one);
      if (2 * lane + 1 < count) indptr[2 * lane + 2] = int64_t(sum);
      if (lane == 0) indptr[0] = 0;
    }
  }

  // A vertex a thread: its place two chunks ahead, its word one chunk, its cell when it is this one's.
  auto place_at = [&](int64_t v) { return v < n ? place[v] : -1; };
  int p = place_at(begin + me), p1 = place_at(begin + round + me);
  word have = p >= 0 ? seen[p] : 0;
  ulonglong2 low = make_ulonglong2(0, 0), high = low;
  auto load_cell = [&] {
    if (have) {
      const ulonglong2* cell = reinterpret_cast<const ulonglong2*>(cells) + 2 * int64_t(p);
      low = cell[0];
      high = cell[1];
    }
  };
  load_cell();
  word have1 = p1 >= 0 ? seen[p1] : 0;
  int p2 = place_at(begin + 2 * round + me);
  for (int64_t v0 = begin; v0 < n; v0 += round) {
    const unsigned there = __ballot_sync(ALL_LANES, have != 0);
    bool same;
    word common = common_of(have, there, same);
    if (lane == 0) words[warp] = common, reached[warp] = same ? __popc(there) : -1 - __popc(there);
    __syncthreads();
    int of_warp = lane < warps ? reached[lane] : 0;
    bool mixed = of_warp < 0;
    of_warp = mixed ? -1 - of_warp : of_warp;
    common = common_of(of_warp ? words[lane] : 0, __ballot_sync(ALL_LANES, of_warp != 0), same);
    mixed = __any_sync(ALL_LANES, mixed) || !same;
    int sum = warp_scan(of_warp, [](int a, int b) { return a + b; });
    const int held = __shfl_sync(ALL_LANES, sum, 31);
    const int first = __shfl_sync(ALL_LANES, sum - of_warp, warp);
    if (have) {
      const int at = first + __popc(there & lanes_below());
      vertex[at] = int32_t(v0 + me);
      where[at] = p;
      const word w[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
      for (int e = 0; e < 8; e++) {            // four digits of eight sources in an int
        unsigned some = 0;
#pragma unroll
        for (int d = 0; d < 4; d++) some |= spread(unsigned(w[d] >> 8 * e) & 255) << d;
        digits[e * step + at] = int(some);
      }
    }
    p = p1, have = have1, p1 = p2;
    load_cell();
    have1 = p1 >= 0 ? seen[p1] : 0;
    p2 = place_at(v0 + 3 * round + me);
    __syncthreads();
    if (PARENTS) {
      for (int k = warp; k < held; k += warps) {
        const int32_t* line = parents_of + int64_t(where[k]) * 64;
        turned[k * 65 + lane] = line[lane];
        turned[k * 65 + lane + 32] = line[lane + 32];
      }
      __syncthreads();
    }
    const int64_t c = v0 / step;
    for (int s = warp; s < count; s += warps) {
      int64_t at = int64_t(row_at[s]) + counts[s * chunks + c];
      const int32_t* digit = digits + (s >> 3) * step;
      const int shift = 4 * (s & 7);
      auto level_of = [&](int k) {             // level + 1; 0 where s did not come
        int level = digit[k] >> shift & 15;
        if (deep) {
          const int64_t u = where[k];
          for (int g = 1; last >> 4 * g; g++)
            for (int d = 0; d < 4; d++) level |= int(cells[(g * n + u) * 4 + d] >> s & 1) << (4 * g + d);
          if (!(seen[u] >> s & 1)) level = 0;
        }
        return level;
      };
      auto write = [&](int64_t to, int k, int level) {
        indices[to] = vertex[k];
        if (levels) levels[to] = level - 1;
        if (PARENTS) parents[to] = turned[k * 65 + s];
      };
      if (!mixed) {                            // most often; whole cache lines then
        if (!(common >> s & 1)) continue;
        int32_t *to = indices + at, *level_to = levels + at;
        const int start = lane - int(at & 31);
        if (PARENTS || deep || levels == nullptr) {
          for (int k = start; k < held; k += 32)
            if (k >= 0) write(at + k, k, level_of(k));
        } else {
#pragma unroll 4
          for (int k = start; k < held; k += 32)
            if (k >= 0) {
              to[k] = vertex[k];
              level_to[k] = (digit[k] >> shift & 15) - 1;
            }
        }
      } else {
        for (int k0 = 0; k0 < held; k0 += 32) {
          const int k = k0 + lane, level = k < held ? level_of(k) : 0;
          const unsigned row = __ballot_sync(ALL_LANES, level != 0);
          if (level) write(at + __popc(row & lanes_below()), k, level);
          at += __popc(row);
        }
      }
    }
  }
  __syncthreads();
  if (me == 0) {
    __threadfence();
    if (atomicAdd(arrivals + 1, 1u) == gridDim.x - 1) arrivals[0] = arrivals[1] = 0;
  }
}

}  // namespace grb
